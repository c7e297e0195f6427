/* SPDX-License-Identifier: MIT */
/*
 * One member of gzip or frame of zstd, with a checksum. Levels are those at
 * which packing is no slower than writing rows is, about.
 */
#include "io/packed/pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { OUTPUT_BYTES = 1 << 17, GZIP_LEVEL = 3, ZSTD_LEVEL = 3 };

struct pack {
    int fd;
    enum packing packing;
    int error; /* errno of the first failure, else 0 */
    char *output;
    z_stream gzip;
    ZSTD_CStream *zstd;
};

static bool open_zstd(struct pack *pack)
{
    pack->zstd = ZSTD_createCStream();
    return pack->zstd
           && !ZSTD_isError(ZSTD_CCtx_setParameter(
               pack->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL))
           && !ZSTD_isError(
               ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_checksumFlag, 1));
}

static void release(struct pack *pack)
{
    ZSTD_freeCStream(pack->zstd);
    deflateEnd(&pack->gzip);
    free(pack->output);
    free(pack);
}

struct pack *pack_open(int fd, enum packing packing)
{
    struct pack *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->fd = fd;
    made->packing = packing;
    made->output = malloc(OUTPUT_BYTES);
    bool good = made->output != NULL;
    if (packing == PACKED_ZSTD)
        good &= open_zstd(made);
    else
        good &= deflateInit2(&made->gzip, GZIP_LEVEL, Z_DEFLATED,
                             MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY)
                == Z_OK;
    if (good)
        return made;
    release(made);
    return NULL;
}

static void write_all(struct pack *pack, size_t length)
{
    const char *bytes = pack->output;
    while (length && !pack->error) {
        ssize_t written = write(pack->fd, bytes, length);
        if (written >= 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (errno != EINTR) {
            pack->error = errno;
        }
    }
}

/* zlib counts in 32 bits: the caller gives no more at once. */
static void run_gzip(struct pack *pack, const char *bytes, unsigned length,
                     bool end)
{
    z_stream *gzip = &pack->gzip;
    gzip->next_in = (unsigned char *)(uintptr_t)bytes;
    gzip->avail_in = length;
    do {
        gzip->next_out = (unsigned char *)pack->output;
        gzip->avail_out = OUTPUT_BYTES;
        deflate(gzip, end ? Z_FINISH : Z_NO_FLUSH);
        write_all(pack, OUTPUT_BYTES - gzip->avail_out);
    } while (gzip->avail_out == 0 && !pack->error);
}

static void run_zstd(struct pack *pack, const char *bytes, size_t length,
                     bool end)
{
    ZSTD_inBuffer from = { bytes, length, 0 };
    size_t left;
    do {
        ZSTD_outBuffer to = { pack->output, OUTPUT_BYTES, 0 };
        left = ZSTD_compressStream2(pack->zstd, &to, &from,
                                    end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            pack->error = ENOMEM;
        else
            write_all(pack, to.pos);
    } while (!pack->error && (end ? left > 0 : from.pos < from.size));
}

static int run(struct pack *pack, const char *bytes, size_t length, bool end)
{
    if (pack->packing == PACKED_ZSTD)
        run_zstd(pack, bytes, length, end);
    else
        run_gzip(pack, bytes, (unsigned)length, end);
    return pack->error;
}

int pack_write(struct pack *pack, const char *bytes, size_t length)
{
    enum { PIECE = 1 << 20 };
    while (length && !pack->error) {
        size_t piece = length < PIECE ? length : PIECE;
        run(pack, bytes, piece, false);
        bytes += piece;
        length -= piece;
    }
    return pack->error;
}

int pack_close(struct pack *pack)
{
    if (!pack)
        return 0;
    int error = pack->error ? pack->error : run(pack, "", 0, true);
    release(pack);
    return error;
}
