/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a file go through zlib or libzstd. A member (of gzip) or frame
 * (of zstd) may end anywhere in what was read, and another one may begin there.
 */
#include "io/packed/unpack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { INPUT_BYTES = 1 << 17 };

struct unpack {
    int fd;
    enum packing packing;
    uint64_t file_at;  /* what is read next of the file           */
    bool file_ended;   /* ... and nothing is left                 */
    bool inside;       /* of a member or frame                    */
    unsigned members;  /* that have ended, or one at least        */
    char *input;       /* INPUT_BYTES of room                     */
    size_t start, end; /* of what is not unpacked yet, in `input` */
    z_stream gzip;
    ZSTD_DStream *zstd;
    const char *hint;
    char message[160];
};

static enum vdbq_status fill(struct unpack *unpack);
static enum vdbq_status step(struct unpack *unpack, char *room, size_t size,
                             size_t *length);

struct unpack *unpack_open(int fd, enum packing packing)
{
    struct unpack *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->fd = fd;
    made->packing = packing;
    made->hint = "";
    made->input = malloc(INPUT_BYTES);
    bool good = made->input != NULL;
    if (packing == PACKED_ZSTD)
        good &= (made->zstd = ZSTD_createDStream()) != NULL;
    else /* windows of any size, and gzip's head and end */
        good &= inflateInit2(&made->gzip, MAX_WBITS + 16) == Z_OK;
    if (good)
        return made;
    unpack_close(made);
    return NULL;
}

void unpack_close(struct unpack *unpack)
{
    if (!unpack)
        return;
    ZSTD_freeDStream(unpack->zstd);
    inflateEnd(&unpack->gzip);
    free(unpack->input);
    free(unpack);
}

const char *unpack_message(const struct unpack *unpack)
{
    return unpack->message;
}

const char *unpack_hint(const struct unpack *unpack)
{
    return unpack->hint;
}

uint64_t unpack_taken(const struct unpack *unpack)
{
    return unpack->file_at - (unpack->end - unpack->start);
}

enum vdbq_status unpack_read(struct unpack *unpack, char *room, size_t size,
                             size_t *length)
{
    enum vdbq_status status = VDBQ_OK;
    bool more = true;
    *length = 0;
    while (more && *length < size && status == VDBQ_OK) {
        size_t before = *length;
        if (unpack->start == unpack->end)
            status = fill(unpack);
        bool input = unpack->start < unpack->end;
        if (status == VDBQ_OK && (input || unpack->inside))
            status = step(unpack, room, size, length);
        more = *length > before || unpack->start < unpack->end
               || !unpack->file_ended;
    }
    return status;
}

/* ------------------------------------------------------------- failures -- */

static enum vdbq_status fail(struct unpack *unpack, enum vdbq_status status,
                             const char *hint, const char *message,
                             const char *more)
{
    unpack->hint = hint;
    snprintf(unpack->message, sizeof unpack->message, "%s%s", message, more);
    return status;
}

static const char *tool(const struct unpack *unpack)
{
    return unpack->packing == PACKED_GZIP ? "gzip -t looks at all of it"
                                          : "zstd -t looks at all of it";
}

static enum vdbq_status fail_damaged(struct unpack *unpack, const char *what)
{
    return fail(unpack, VDBQ_CORRUPT, tool(unpack),
                "the packed file is damaged: ", what);
}

static enum vdbq_status fail_cut(struct unpack *unpack)
{
    return fail(unpack, VDBQ_CORRUPT, "its end is missing; get it again",
                "the packed file ends in the middle of its data", "");
}

/* ------------------------------------------------------------------ file -- */

static enum vdbq_status fill(struct unpack *unpack)
{
    ssize_t length;
    unpack->start = unpack->end = 0;
    if (unpack->file_ended)
        return VDBQ_OK;
    do
        length = pread(unpack->fd, unpack->input, INPUT_BYTES,
                       (off_t)unpack->file_at);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return fail(unpack, VDBQ_IO, "", "cannot read it: ", strerror(errno));
    unpack->file_ended = length == 0;
    unpack->end = (size_t)length;
    unpack->file_at += (uint64_t)length;
    return VDBQ_OK;
}

/* ------------------------------------------------------------------ gzip -- */

/* Before a member: zeros may fill up what stands behind the one before. */
static enum vdbq_status begin_member(struct unpack *unpack)
{
    while (unpack->members && unpack->start < unpack->end
           && unpack->input[unpack->start] == 0)
        unpack->start++;
    if (unpack->start == unpack->end)
        return VDBQ_OK;
    if (unpack->members && unpack->input[unpack->start] != '\x1f')
        return fail_damaged(unpack, "other bytes follow its end");
    unpack->inside = true;
    inflateReset(&unpack->gzip);
    return VDBQ_OK;
}

static enum vdbq_status step_gzip(struct unpack *unpack, char *room,
                                  size_t size, size_t *length)
{
    z_stream *gzip = &unpack->gzip;
    if (!unpack->inside)
        return begin_member(unpack);
    gzip->next_in = (unsigned char *)unpack->input + unpack->start;
    gzip->avail_in = (unsigned)(unpack->end - unpack->start);
    gzip->next_out = (unsigned char *)room + *length;
    gzip->avail_out = (unsigned)(size - *length);
    unsigned before = gzip->avail_out;
    int result = inflate(gzip, Z_NO_FLUSH);
    unpack->start = unpack->end - gzip->avail_in;
    *length += before - gzip->avail_out;
    if (result == Z_MEM_ERROR)
        return fail(unpack, VDBQ_NO_MEMORY, "", "out of memory", "");
    if (result == Z_STREAM_END) {
        unpack->inside = false;
        unpack->members = 1;
        return VDBQ_OK;
    }
    if (result != Z_OK && result != Z_BUF_ERROR)
        return fail_damaged(unpack, gzip->msg ? gzip->msg : "no gzip");
    return VDBQ_OK;
}

/* ------------------------------------------------------------------ zstd -- */

static enum vdbq_status fail_zstd(struct unpack *unpack, size_t result)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
        return fail(unpack, VDBQ_NO_MEMORY, "", "out of memory", "");
    case ZSTD_error_frameParameter_windowTooLarge:
        return fail(unpack, VDBQ_LIMIT,
                    "zstd -d --long=31 unpacks it; pack it without --long",
                    "unpacking it takes more than 128 MiB of memory", "");
    case ZSTD_error_prefix_unknown:
        return fail_damaged(
            unpack, unpack->members ? "other bytes follow its end" : "no zstd");
    default:
        return fail_damaged(unpack, ZSTD_getErrorName(result));
    }
}

static enum vdbq_status step_zstd(struct unpack *unpack, char *room,
                                  size_t size, size_t *length)
{
    ZSTD_inBuffer from = { unpack->input, unpack->end, unpack->start };
    ZSTD_outBuffer to = { room, size, *length };
    size_t result = ZSTD_decompressStream(unpack->zstd, &to, &from);
    if (ZSTD_isError(result))
        return fail_zstd(unpack, result);
    unpack->start = from.pos;
    *length = to.pos;
    unpack->inside = result != 0;
    unpack->members |= result == 0;
    return VDBQ_OK;
}

/* One call of the library. What is inside with nothing left to read, and gives
 * nothing, ends too early. */
static enum vdbq_status step(struct unpack *unpack, char *room, size_t size,
                             size_t *length)
{
    size_t before = *length;
    enum vdbq_status status = unpack->packing == PACKED_ZSTD
                                  ? step_zstd(unpack, room, size, length)
                                  : step_gzip(unpack, room, size, length);
    bool stuck = unpack->inside && *length == before
                 && unpack->start == unpack->end && unpack->file_ended;
    return status == VDBQ_OK && stuck ? fail_cut(unpack) : status;
}
