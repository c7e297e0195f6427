/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the data floor share: a disk in memory that can be cut,
 * killed and made to fail, a generator of random numbers with a seed, and
 * the whole content of a database as text, to be compared.
 */
#ifndef VDBQ_TESTS_DATA_FIXTURE_H
#define VDBQ_TESTS_DATA_FIXTURE_H

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "data/block.h"
#include "data/database.h"
#include "data/facts.h"
#include "data/tablet_inner.h"

/* ------------------------------------------------------------- chance -- */

static uint64_t chance_state;

/* The seed of this run: VDBQ_TEST_SEED, or the time; it is printed. */
static inline void chance_start(void)
{
    const char *text = getenv("VDBQ_TEST_SEED");

    chance_state =
        text != NULL ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    printf("VDBQ_TEST_SEED=%" PRIu64 "\n", chance_state);
}

static inline uint64_t chance(uint64_t below)
{
    uint64_t x = chance_state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % below;
}

/* A number from the environment, or `otherwise`. */
static inline unsigned setting(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* The bytes of a file under tests/fixtures. */
static inline bool read_fixture(const char *name, struct text *bytes)
{
    char path[512], part[4096];
    size_t got;
    FILE *file;

    snprintf(path, sizeof path, "%s/fixtures/%s", getenv("VDBQ_TEST_DATA"),
             name);
    file = fopen(path, "rb");
    *bytes = (struct text){ 0 };
    if (file == NULL)
        return false;
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        text_add(bytes, part, got);
    fclose(file);
    return !bytes->failed && bytes->length > 0;
}

/* --------------------------------------------------------------- disk -- */

enum { SECTOR = 512, DISK_FILES = 8 };

enum disk_call { DISK_READ = 1, DISK_WRITE = 2, DISK_SYNC = 4 };

struct disk_write {
    uint64_t offset;
    size_t size;
    uint8_t *bytes;
};

/* One file on one disk. Writes and syncs are counted as steps. */
static struct disk {
    uint8_t *bytes; /* what programs see */
    size_t size;
    uint8_t *durable; /* what was there at the last sync */
    size_t durable_size;
    struct disk_write *log; /* since then */
    size_t log_count;
    unsigned steps, syncs, writes, reads;
    uint64_t read_bytes, written_bytes;
    unsigned cut_at;  /* the step that is the last to arrive; 0: none    */
    bool dead;        /* after it: every call fails                      */
    unsigned fail_at; /* the n-th of fail_calls fails; 0: none           */
    bool fail_on;     /* and all after it                                */
    unsigned fail_calls;
    int fail_code;
    unsigned calls; /* of those */
} disk;

struct os_file {
    bool used;
    enum os_lock_kind held[32];
};
static struct os_file disk_handles[DISK_FILES];

static inline void disk_forget_log(void)
{
    for (size_t i = 0; i < disk.log_count; i++)
        free(disk.log[i].bytes);
    free(disk.log);
    disk.log = NULL;
    disk.log_count = 0;
}

/* A disk that holds a copy of these bytes, durably. */
static inline void disk_start(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + 1), *durable = malloc(size + 1);

    if (size > 0) {
        memcpy(copy, bytes, size);
        memcpy(durable, bytes, size);
    }
    disk_forget_log();
    free(disk.bytes);
    free(disk.durable);
    disk = (struct disk){
        .bytes = copy, .size = size, .durable = durable, .durable_size = size
    };
}

static inline void disk_end(void)
{
    disk_forget_log();
    free(disk.bytes);
    free(disk.durable);
    disk = (struct disk){ 0 };
}

/* Counts a call; the failure it has to report, or 0. */
static inline int disk_fault(enum disk_call call)
{
    if (disk.dead)
        return EIO;
    if ((disk.fail_calls & call) == 0 || disk.fail_at == 0)
        return 0;
    disk.calls++;
    if (disk.calls == disk.fail_at
        || (disk.fail_on && disk.calls > disk.fail_at))
        return disk.fail_code;
    return 0;
}

static inline void disk_set_size(size_t size)
{
    if (size > disk.size) {
        disk.bytes = realloc(disk.bytes, size);
        memset(disk.bytes + disk.size, 0, size - disk.size);
    }
    disk.size = size;
}

static inline int disk_open(const char *path, unsigned flags,
                            struct os_file **file)
{
    (void)path;
    if (disk.bytes == NULL && !(flags & OS_OPEN_CREATE))
        return ENOENT;
    for (size_t i = 0; i < DISK_FILES; i++)
        if (!disk_handles[i].used) {
            *file = &disk_handles[i];
            **file = (struct os_file){ .used = true };
            return 0;
        }
    return EMFILE;
}

static inline void disk_close(struct os_file *file)
{
    *file = (struct os_file){ 0 };
}

static inline int disk_read(struct os_file *file, void *bytes, size_t size,
                            uint64_t offset)
{
    int failure = disk_fault(DISK_READ);

    (void)file;
    if (failure != 0)
        return failure;
    if (offset > disk.size || size > disk.size - offset)
        return EIO;
    memcpy(bytes, disk.bytes + offset, size);
    disk.reads++;
    disk.read_bytes += size;
    return 0;
}

static inline int disk_write(struct os_file *file, const void *bytes,
                             size_t size, uint64_t offset)
{
    int failure = disk_fault(DISK_WRITE);
    struct disk_write write = { offset, size, malloc(size) };

    (void)file;
    if (failure != 0 && !disk.dead)
        size = size / SECTOR / 2 * SECTOR; /* it arrives in part */
    if (disk.dead) {
        free(write.bytes);
        return failure;
    }
    if (offset + size > disk.size)
        disk_set_size((size_t)offset + size);
    memcpy(disk.bytes + offset, bytes, size);
    write.size = size;
    memcpy(write.bytes, bytes, size);
    disk.log = realloc(disk.log, (disk.log_count + 1) * sizeof write);
    disk.log[disk.log_count++] = write;
    disk.writes++;
    disk.written_bytes += size;
    if (failure == 0 && ++disk.steps == disk.cut_at) {
        disk.dead = true;
        return EIO;
    }
    return failure;
}

/* A sync that fails may lose what it was to bring to the disk. */
static inline int disk_sync(struct os_file *file)
{
    int failure = disk_fault(DISK_SYNC);

    (void)file;
    if (failure != 0)
        return failure;
    disk.syncs++;
    if (++disk.steps == disk.cut_at) {
        disk.dead = true;
        return EIO;
    }
    disk.durable = realloc(disk.durable, disk.size + 1);
    memcpy(disk.durable, disk.bytes, disk.size);
    disk.durable_size = disk.size;
    disk_forget_log();
    return 0;
}

static inline int disk_size(struct os_file *file, uint64_t *size_bytes)
{
    (void)file;
    *size_bytes = disk.size;
    return disk.dead ? EIO : 0;
}

static inline int disk_truncate(struct os_file *file, uint64_t size_bytes)
{
    (void)file;
    if (disk.dead)
        return EIO;
    disk_set_size((size_t)size_bytes);
    return 0;
}

static inline int disk_lock(struct os_file *file, unsigned byte,
                            enum os_lock_kind kind)
{
    for (size_t i = 0; i < DISK_FILES && kind != OS_UNLOCKED; i++) {
        enum os_lock_kind held = disk_handles[i].held[byte];
        if (&disk_handles[i] != file && held != OS_UNLOCKED
            && (kind == OS_LOCK_EXCLUSIVE || held == OS_LOCK_EXCLUSIVE))
            return EAGAIN;
    }
    file->held[byte] = kind;
    return 0;
}

static inline bool disk_locked(struct os_file *file, unsigned first,
                               unsigned count)
{
    for (size_t i = 0; i < DISK_FILES; i++)
        for (unsigned k = first; k < first + count; k++)
            if (&disk_handles[i] != file
                && disk_handles[i].held[k] != OS_UNLOCKED)
                return true;
    return false;
}

static const struct os_file_calls disk_calls = { .open = disk_open,
                                                 .close = disk_close,
                                                 .read = disk_read,
                                                 .write = disk_write,
                                                 .sync = disk_sync,
                                                 .size = disk_size,
                                                 .truncate = disk_truncate,
                                                 .lock = disk_lock,
                                                 .locked = disk_locked,
                                                 .random = os_random };

/* ---------------------------------------------------------- databases -- */

static struct error failure_of_last_call;
#define ERROR (&failure_of_last_call)

static inline struct database_params on_disk(uint32_t tablet_rows)
{
    return (struct database_params){ .path = "disk",
                                     .flags = VDBQ_OPEN_CREATE,
                                     .files = &disk_calls,
                                     .tablet_rows = tablet_rows };
}

/* A table of the machine's types: id INTEGER (the key if `key`), big BIGINT,
 * f FLOAT, d DOUBLE, s TEXT. */
static inline enum vdbq_status make_table(struct transaction *transaction,
                                          const char *name, bool key)
{
    const struct column columns[] = { { .name = "id", .type = VDBQ_INTEGER },
                                      { .name = "big", .type = VDBQ_BIGINT },
                                      { .name = "f", .type = VDBQ_FLOAT },
                                      { .name = "d", .type = VDBQ_DOUBLE },
                                      { .name = "s", .type = VDBQ_TEXT } };

    return transaction_create_table(transaction, name, columns, 5,
                                    key ? 0 : NO_KEY, ERROR);
}

/* One of some texts: short and long, empty, of several bytes a letter. */
static inline struct vdbq_text some_text(unsigned number)
{
    static const char *const texts[] = {
        "",
        "a",
        "ab",
        "b",
        ("Gr\xc3\xb6\xc3\x9f"
         "e"),
        "\xf0\x9d\x84\x9e",
        "a word that is longer than a line of sixty-four bytes, by a little "
        "more",
    };
    const char *text = texts[number % (sizeof texts / sizeof *texts)];

    return (struct vdbq_text){ text, strlen(text) };
}

/* Appends rows first .. first + count - 1; what they hold follows from their
 * number and `salt`. */
static inline enum vdbq_status add_rows(struct transaction *transaction,
                                        const char *name, int32_t first,
                                        uint32_t count, int salt)
{
    const struct table *table =
        catalogue_table(transaction_catalogue(transaction), name);
    int32_t *id = malloc(count * sizeof *id + 1);
    int64_t *big = malloc(count * sizeof *big + 1);
    float *f = malloc(count * sizeof *f + 1);
    double *d = malloc(count * sizeof *d + 1);
    struct vdbq_text *s = malloc(count * sizeof *s + 1);
    uint8_t *nulls = calloc(count + 1, 1);
    const struct vdbq_vector vectors[] = { { VDBQ_INTEGER, id, NULL },
                                           { VDBQ_BIGINT, big, nulls },
                                           { VDBQ_FLOAT, f, NULL },
                                           { VDBQ_DOUBLE, d, nulls },
                                           { VDBQ_TEXT, s, nulls } };
    enum vdbq_status status;

    for (uint32_t i = 0; i < count; i++) {
        id[i] = first + (int32_t)i;
        big[i] = (int64_t)id[i] * 1000003 * salt;
        f[i] = (float)id[i] / 2 + (float)salt;
        d[i] = 1.0 / (id[i] + salt + 0.5);
        s[i] = some_text((unsigned)(id[i] + salt));
        nulls[i] = (id[i] + salt) % 5 == 0;
    }
    status = table == NULL ? VDBQ_UNKNOWN
                           : transaction_append(transaction, table->id, count,
                                                vectors, ERROR);
    free(id);
    free(big);
    free(f);
    free(d);
    free(s);
    free(nulls);
    return status;
}

static inline void print_word(const void *block, unsigned column, int32_t code,
                              struct text *text)
{
    struct words *words = words_of_tablet(block, column);
    struct vdbq_text word = words_text(words, (uint32_t)code);

    text_print(text, " '%.*s'", (int)word.length, word.bytes);
    words_release(words);
}

static inline void print_value(const void *block, unsigned column,
                               enum vdbq_type type, uint32_t row,
                               const void *values, struct text *text)
{
    if (tablet_null(block, column, row))
        text_print(text, " NULL");
    else if (type == VDBQ_INTEGER)
        text_print(text, " %" PRId32, ((const int32_t *)values)[row]);
    else if (type == VDBQ_BIGINT)
        text_print(text, " %" PRId64, ((const int64_t *)values)[row]);
    else if (type == VDBQ_FLOAT)
        text_print(text, " %a", (double)((const float *)values)[row]);
    else if (type == VDBQ_DOUBLE)
        text_print(text, " %a", ((const double *)values)[row]);
    else
        print_word(block, column, ((const int32_t *)values)[row], text);
}

static inline enum vdbq_status print_tablet(struct database *database,
                                            const struct table *table,
                                            const struct tablet_ref *tablet,
                                            struct text *text)
{
    struct block block = block_create(tablet->size_bytes);
    void **values = calloc(table->column_count, sizeof *values);
    enum vdbq_status status =
        tablet_load(database, table, tablet, block.bytes, ERROR);

    for (unsigned c = 0; c < table->column_count && status == VDBQ_OK; c++) {
        values[c] = malloc((size_t)tablet->rows * 8);
        tablet_values(block.bytes, c, values[c]);
    }
    for (uint32_t i = 0; i < tablet->rows && status == VDBQ_OK; i++) {
        for (unsigned c = 0; c < table->column_count; c++)
            print_value(block.bytes, c, table->columns[c].type, i, values[c],
                        text);
        text_print(text, "\n");
    }
    for (unsigned c = 0; c < table->column_count; c++)
        free(values[c]);
    free(values);
    block_destroy(&block);
    return status;
}

static inline enum vdbq_status print_snapshot(const struct snapshot *snapshot,
                                              struct text *text)
{
    const struct catalogue *catalogue = snapshot->catalogue;
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < catalogue->table_count && status == VDBQ_OK; i++) {
        const struct table *table = &catalogue->tables[i];
        table_sql(table, text);
        text_print(text, " -- %" PRIu64 "\n", table->rows);
        for (size_t k = 0; k < table->tablet_count && status == VDBQ_OK; k++)
            status = print_tablet(snapshot->database, table, &table->tablets[k],
                                  text);
    }
    text_add(text, "", 0);
    return status;
}

/* Everything in the database; finished with text_finish(). */
static inline enum vdbq_status print_database(struct database *database,
                                              struct text *text)
{
    struct snapshot snapshot;
    enum vdbq_status status = snapshot_open(database, &snapshot, ERROR);

    *text = (struct text){ 0 };
    text_print(text, "-- everything\n");
    if (status != VDBQ_OK)
        return status;
    status = print_snapshot(&snapshot, text);
    for (size_t i = 0; i < snapshot.catalogue->view_count; i++)
        text_print(text, "%s\n", snapshot.catalogue->views[i].sql);
    for (size_t i = 0; i < snapshot.catalogue->index_count; i++)
        text_print(text, "index %s of %u\n",
                   snapshot.catalogue->indexes[i].name,
                   (unsigned)snapshot.catalogue->indexes[i].table_id);
    snapshot_close(&snapshot);
    return status;
}

#endif
