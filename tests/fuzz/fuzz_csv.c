/* SPDX-License-Identifier: MIT */
/* CSV: the first byte says how the file is read, the second how it is packed,
 * the rest is the file, or what is packed in it. It is imported into a new table,
 * and then once more, by COPY, into the one that is there. */
#include "fuzz.h"

#include "io/import/import.h"
#include "io/packed/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* No mutations but libFuzzer's own. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned int seed)
{
    (void)seed;
    return LLVMFuzzerMutate(data, size, most);
}

static void import(vdbq *db, const char *file, unsigned how)
{
    struct import_params params = { .db = db,
                                    .file = file,
                                    .table = "n",
                                    .header = (int)(how % 3) - 1,
                                    .threads = 1 + how % 2 };
    struct import_report report;

    params.dialect.delimiter = "\0,;\t|"[how / 3 % 5];
    if (import_csv(&params, &report) != VDBQ_OK && report.message[0] == 0)
        abort();
}

static void copy(vdbq *db, const char *file, unsigned how)
{
    static const char *const options[] = {
        "", "(header, null 'x')", "(delimiter ';', escape '\\', quote '\"')",
        "(format tsv, header false, quote '', null '')"
    };
    char sql[300];

    snprintf(sql, sizeof sql, "copy n from '%s' %s", file, options[how % 4]);
    vdbq_on_copy(db, vdbq_copy_csv, NULL);
    fuzz_check_told(db, vdbq_execute(db, sql));
}

/* The bytes of a file in memory in which `data` is packed, in two pieces; the
 * last byte, if it is odd, says which of them is wrong. */
static const char *pack(const uint8_t *data, size_t size, enum packing packing)
{
    int fd = memfd_create("packed", 0);
    size_t part = size / 2;

    for (unsigned i = 0; i < 2; i++) {
        struct pack *made = pack_open(fd, packing);
        if (made == NULL)
            abort();
        pack_write(made, (const char *)data + i * part, i ? size - part : part);
        if (pack_close(made) != 0)
            abort();
    }
    size_t length = (size_t)lseek(fd, 0, SEEK_CUR);
    uint8_t *bytes = malloc(length);
    if (bytes == NULL || pread(fd, bytes, length, 0) != (ssize_t)length)
        abort();
    if (size > 0 && data[size - 1] % 2 == 1)
        bytes[data[size - 1] % length] ^= (uint8_t)(1 << size % 8);
    const char *file = fuzz_file(bytes, length);
    free(bytes);
    close(fd);
    return file;
}

/* What follows the head of a packed file. */
static const char *headed(const uint8_t *data, size_t size, unsigned how)
{
    static const uint8_t heads[][10] = { { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 },
                                         { 0x28, 0xb5, 0x2f, 0xfd } };
    size_t head = how % 2 ? 10 : 4;
    uint8_t *bytes = malloc(head + size);

    if (bytes == NULL)
        abort();
    memcpy(bytes, heads[how % 2 ? 0 : 1], head);
    memcpy(bytes + head, data, size);
    const char *file = fuzz_file(bytes, head + size);
    free(bytes);
    return file;
}

static const char *make_file(const uint8_t *data, size_t size, unsigned how)
{
    switch (how % 8) {
    case 0:
        return pack(data, size, PACKED_GZIP);
    case 1:
        return pack(data, size, PACKED_ZSTD);
    case 2:
    case 3:
        return headed(data, size, how);
    default:
        return fuzz_file(data, size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char look[] =
        "select * from n; select count(*), min(a), max(b) from n; "
        "select distinct * from n order by 1";
    vdbq *db = fuzz_open(NULL, 0);

    if (db == NULL || size < 2)
        return vdbq_close(db), 0;
    const char *file = make_file(data + 2, size - 2, data[1]);
    import(db, file, data[0]);
    import(db, file, data[0]);
    copy(db, file, data[0]);
    fuzz_run(db, look, strlen(look));
    vdbq_close(db);
    return 0;
}
