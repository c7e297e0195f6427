/* SPDX-License-Identifier: MIT */
/*
 * Gathering the rows of a transaction. At the commit the rows that are left
 * take the table's last tablets in, those that are not larger, as a binary
 * counter carries: so single-row commits neither leave thousands of tiny
 * tablets nor write a row again more than log2(tablet_rows) times. Rows
 * stay in the order in which they came.
 */
#include "data/transaction/new_rows.h"

#include <string.h>

#include "base/account.h"
#include "base/memory.h"
#include "base/os/os.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "data/tablet/page_sums.h"
#include "data/transaction/tablet_build.h"

enum {
    TEXT_BYTES_FULL = 256 << 20, /* of texts: a tablet is full ...        */
    FULL_PART = 12,              /* ... or of rows this part of VDBQ_MEMORY: to
                                    build it takes some times as much      */
    FULL_LEAST = 1 << 18,        /* bytes of rows that are few in any case */
    TOGETHER_PART = 4,           /* of such bytes come together           */
    BUILD_ROWS_MIN = 1 << 16,    /* that are worth a thread               */
    ADDED_ROWS = 1 << 16,        /* between two asks to stop              */
    BUILDS_MAX = 7,              /* tablets that threads build ...        */
    BUILDS_BYTES_MAX = 1 << 30,  /* ... of so many bytes of rows together */
    BUILDS_PART = 4,             /* ... or of this part of VDBQ_MEMORY    */
    WORK_TIMES = 7               /* what rows and builds take together, in bytes
                                    of the rows of one */
};

static enum vdbq_status check_keys(struct new_rows *new_rows,
                                   struct database *database,
                                   const struct table *table,
                                   struct error *error);
static size_t small_at_end(const struct table *table,
                           const struct writer *writer, uint32_t rows);
static enum vdbq_status take_in(struct rows *rows, struct database *database,
                                const struct table *table, size_t first,
                                struct error *error);
static enum vdbq_status build_tablet(struct new_rows *new_rows,
                                     const struct writer *writer,
                                     const struct table *table,
                                     struct error *error);
static enum vdbq_status write_built(struct new_rows *new_rows,
                                    struct writer *writer, size_t left,
                                    struct error *error);
static size_t builds_left(const struct new_rows *new_rows,
                          const struct writer *writer);

bool new_rows_init(struct new_rows *new_rows, const struct table *table)
{
    *new_rows = (struct new_rows){ .table_id = table->id,
                                   .builds = VECTOR(struct tablet_build *),
                                   .written = VECTOR(struct tablet_ref),
                                   .kept = table->tablet_count,
                                   .sampler = sampler_init(table) };
    if (table->key != NO_KEY)
        new_rows->keys = key_watch_init(table);
    return rows_init(&new_rows->rows, table);
}

static struct tablet_build *build_at(const struct new_rows *new_rows, size_t i)
{
    return *(struct tablet_build **)vector_at(&new_rows->builds, i);
}

void new_rows_finish(struct new_rows *new_rows)
{
    for (size_t i = 0; i < new_rows->builds.count; i++) {
        tablet_build_finish(build_at(new_rows, i));
        memory_release(build_at(new_rows, i));
    }
    vector_finish(&new_rows->builds);
    account_process_give(new_rows->work_bytes);
    rows_finish(&new_rows->rows);
    rows_finish(&new_rows->spare);
    key_watch_finish(&new_rows->keys);
    unique_set_finish(&new_rows->seen);
    sampler_finish(&new_rows->sampler);
    vector_finish(&new_rows->written);
    arena_finish(&new_rows->arena);
}

void new_rows_wait(struct new_rows *new_rows)
{
    for (size_t i = 0; i < new_rows->builds.count; i++)
        tablet_build_wait(build_at(new_rows, i));
}

bool new_rows_any(const struct new_rows *new_rows)
{
    return new_rows->rows.count > 0 || new_rows->builds.count > 0
           || new_rows->written.count > 0;
}

/* Notes the keys of rows that come next. */
static bool watch_keys(struct new_rows *new_rows, const struct table *table,
                       const struct vdbq_vector *vectors, uint64_t first,
                       uint32_t count)
{
    const struct rows *rows = &new_rows->rows;
    const char *values;

    if (table->key == NO_KEY || new_rows->claimed)
        return true;
    values = vectors[table->key].values;
    values += first * type_bytes(vectors[table->key].type);
    return key_watch_add(
        &new_rows->keys, (struct key_values){ values, count },
        (struct key_values){ rows->columns[table->key].values, rows->count },
        new_rows->written.count + new_rows->builds.count);
}

/* Bytes of rows that fill a tablet, however few these are. */
static uint64_t bytes_full(const struct writer *writer)
{
    const struct settings *settings = writer->database->file.settings;
    uint64_t part = settings->memory_bytes / FULL_PART;

    if (settings->memory_bytes == 0)
        return UINT64_MAX;
    return part > FULL_LEAST ? part : FULL_LEAST;
}

/* Bytes of texts that a tablet gets at most, by and large. */
static uint64_t bytes_most(const struct writer *writer)
{
    uint64_t full = bytes_full(writer);

    return full < TEXT_BYTES_FULL ? full : TEXT_BYTES_FULL;
}

/* How many of the next `count` rows, one at least, have no more than `most` bytes of
 * texts in a column. */
static uint32_t rows_within(const struct vdbq_vector *texts, uint64_t first,
                            uint32_t count, uint64_t most)
{
    const struct vdbq_text *values = texts->values;
    const uint8_t *nulls = texts->nulls;
    uint64_t bytes = 0;
    uint32_t within = 0;

    for (; within < count && bytes < most; within++)
        if (nulls == NULL || nulls[first + within] == 0)
            bytes += values[first + within].length;
    return within;
}

/* How many of the next `count` rows are added together: one at least, and few enough
 * that a tablet is not much larger than a full one. */
static uint32_t count_together(const struct table *table,
                               const struct vdbq_vector *vectors,
                               uint64_t first, uint32_t count, uint64_t full)
{
    uint64_t most = full / TOGETHER_PART / table->column_count, width = 0;

    for (unsigned i = 0; i < table->column_count; i++)
        width += type_bytes(vectors[i].type);
    if (count > full / TOGETHER_PART / width + 1)
        count = (uint32_t)(full / TOGETHER_PART / width + 1);
    for (unsigned i = 0; i < table->column_count; i++)
        if (vectors[i].type == VDBQ_TEXT)
            count = rows_within(&vectors[i], first, count, most);
    return count;
}

/* Builds a tablet of the rows that wait, if they fill one of `full` rows, and
 * writes those for which no thread is to be waited for. */
static enum vdbq_status build_full(struct new_rows *new_rows,
                                   struct writer *writer,
                                   const struct table *table, uint32_t full,
                                   struct error *error)
{
    const struct rows *rows = &new_rows->rows;
    enum vdbq_status status;

    if (rows->count < full && rows_text_bytes(rows) < TEXT_BYTES_FULL
        && rows_bytes(rows) < bytes_full(writer))
        return VDBQ_OK;
    status = build_tablet(new_rows, writer, table, error);
    if (status == VDBQ_OK)
        status =
            write_built(new_rows, writer, builds_left(new_rows, writer), error);
    return status;
}

enum vdbq_status new_rows_add(struct new_rows *new_rows, struct writer *writer,
                              const struct table *table, uint64_t rows,
                              const struct vdbq_vector *vectors,
                              struct error *error)
{
    const uint32_t full = database_tablet_rows(writer->database);
    const uint64_t most = bytes_most(writer);
    enum vdbq_status status = build_full(new_rows, writer, table, full, error);

    for (uint64_t at = 0; at < rows && status == VDBQ_OK;) {
        uint32_t room = full - new_rows->rows.count;
        uint32_t count = rows - at < room ? (uint32_t)(rows - at) : room;
        status = stop_pause(error);
        if (status != VDBQ_OK)
            break;
        count = count < ADDED_ROWS ? count : ADDED_ROWS;
        count = count_together(table, vectors, at, count, most);
        if (!watch_keys(new_rows, table, vectors, at, count)
            || !rows_add(&new_rows->rows, vectors, at, count)
            || !sampler_add(&new_rows->sampler, table, vectors, at, count))
            return error_no_memory(error);
        at += count;
        status = build_full(new_rows, writer, table, full, error);
    }
    return status;
}

enum vdbq_status new_rows_add_row(struct new_rows *new_rows,
                                  struct writer *writer,
                                  const struct table *table,
                                  const struct vdbq_vector *vectors,
                                  struct error *error)
{
    enum vdbq_status status = build_full(
        new_rows, writer, table, database_tablet_rows(writer->database), error);

    if (status != VDBQ_OK)
        return status;
    if (!watch_keys(new_rows, table, vectors, 0, 1)
        || !rows_add(&new_rows->rows, vectors, 0, 1))
        return error_no_memory(error);
    if (sampler_add(&new_rows->sampler, table, vectors, 0, 1))
        return VDBQ_OK;
    rows_take_back(&new_rows->rows, 1);
    return error_no_memory(error);
}

enum vdbq_status new_rows_cut(struct new_rows *new_rows, struct writer *writer,
                              const struct table *table, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (new_rows->rows.count > 0)
        status = build_tablet(new_rows, writer, table, error);
    return status == VDBQ_OK ? write_built(new_rows, writer, 0, error) : status;
}

enum vdbq_status new_rows_flush(struct new_rows *new_rows,
                                struct writer *writer,
                                const struct table *table, struct error *error)
{
    struct database *database = writer->database;
    struct rows *rows = &new_rows->rows;
    size_t small = 0;
    enum vdbq_status status = write_built(new_rows, writer, 0, error);

    if (status == VDBQ_OK)
        status = check_keys(new_rows, database, table, error);
    if (status != VDBQ_OK || rows->count == 0)
        return status;
    if (new_rows->written.count == 0 && new_rows->kept == table->tablet_count)
        small = small_at_end(table, writer, rows->count);
    if (small > 0)
        status = take_in(rows, database, table, new_rows->kept - small, error);
    if (status == VDBQ_OK) {
        new_rows->kept -= small;
        status = build_tablet(new_rows, writer, table, error);
    }
    if (status == VDBQ_OK)
        status = write_built(new_rows, writer, 0, error);
    return status;
}

static enum vdbq_status check_keys(struct new_rows *new_rows,
                                   struct database *database,
                                   const struct table *table,
                                   struct error *error)
{
    struct key_watch *keys = &new_rows->keys;
    enum vdbq_status status = VDBQ_OK;

    if (!keys->loose || key_count(keys) == 0)
        return VDBQ_OK;
    status = key_sort(keys, table, error);
    if (status == VDBQ_OK)
        status = key_compare(keys, database, table, table->tablets,
                             table->tablet_count, error);
    if (status == VDBQ_OK)
        status = key_compare(keys, database, table, new_rows->written.items,
                             keys->tablets_before, error);
    return status;
}

/* How many of the table's last tablets `rows` more rows take in. */
static size_t small_at_end(const struct table *table,
                           const struct writer *writer, uint32_t rows)
{
    const uint32_t tablet_rows = database_tablet_rows(writer->database);
    const uint64_t most = bytes_most(writer);
    uint64_t sum = rows, bytes = 0;
    size_t count = 0;

    while (count < table->tablet_count) {
        uint32_t last = table->tablets[table->tablet_count - 1 - count].rows;
        bytes += table->tablets[table->tablet_count - 1 - count].size_bytes;
        if (last > sum || last + sum > tablet_rows || bytes > most)
            break;
        sum += last;
        count++;
    }
    return count;
}

/* Adds `more` behind `rows`. */
static enum vdbq_status add_rows(struct rows *rows, const struct rows *more,
                                 struct error *error)
{
    struct vdbq_vector *vectors =
        memory_zeroed(more->column_count, sizeof *vectors);
    enum vdbq_status status = VDBQ_OK;

    if (vectors == NULL) {
        status = error_no_memory(error);
    } else {
        rows_vectors(more, vectors);
        if (!rows_add(rows, vectors, 0, more->count))
            status = error_no_memory(error);
    }
    memory_release(vectors);
    return status;
}

/* Puts the rows of the table's tablets from `first` on in front of `rows`. */
static enum vdbq_status take_in(struct rows *rows, struct database *database,
                                const struct table *table, size_t first,
                                struct error *error)
{
    struct rows all = { 0 };
    enum vdbq_status status = VDBQ_OK;

    if (!rows_init(&all, table))
        return error_no_memory(error);
    for (size_t i = first; i < table->tablet_count && status == VDBQ_OK; i++)
        status = rows_add_ref(&all, database, table, &table->tablets[i], error);
    if (status == VDBQ_OK)
        status = add_rows(&all, rows, error);
    if (status == VDBQ_OK) {
        struct rows before = *rows;
        *rows = all;
        all = before;
    }
    rows_finish(&all);
    return status;
}

/* -------------------------------------------------------------- build -- */

/* Words are packed where bytes go to a disk. */
static struct rows_form form_of(const struct database *database)
{
    enum encoding_choice choice = database->file.settings->encoding;
    bool on_disk = database->file.calls != &os_memory_files;

    return (struct rows_form){ .choice = choice,
                               .packs = choice == CHOOSE_PACKED
                                        || (choice == CHOOSE_AUTO && on_disk) };
}

/* One more build, of nothing yet; NULL: no memory. */
static struct tablet_build *add_build(struct new_rows *new_rows,
                                      const struct writer *writer,
                                      const struct table *table)
{
    struct tablet_build *build = memory_zeroed(1, sizeof *build);

    if (build == NULL)
        return NULL;
    *build = (struct tablet_build){
        .database = writer->database,
        .table = table,
        .form = form_of(writer->database),
        .facts = arena_alloc(&new_rows->arena,
                             table->column_count * sizeof *build->facts),
    };
    if (build->facts == NULL || !vector_append(&new_rows->builds, &build, 1)) {
        memory_release(build);
        return NULL;
    }
    return build;
}

/* Counts for what it takes to build tablets of so many bytes of rows, one after
 * another, so that the pool gives way. */
static void count_work(struct new_rows *new_rows, uint64_t bytes)
{
    uint64_t work = bytes * WORK_TIMES;

    if (work <= new_rows->work_bytes)
        return;
    account_process_take(work - new_rows->work_bytes);
    new_rows->work_bytes = work;
}

static void start_build(struct new_rows *new_rows, const struct writer *writer,
                        struct tablet_build *build)
{
    if (builds_left(new_rows, writer) > 0)
        tablet_build_start(build);
    else
        tablet_build_run(build);
}

/* Begins to build a tablet of the rows that wait. */
static enum vdbq_status build_tablet(struct new_rows *new_rows,
                                     const struct writer *writer,
                                     const struct table *table,
                                     struct error *error)
{
    struct tablet_build *build = NULL;

    if (new_rows->spare.columns != NULL || rows_init(&new_rows->spare, table))
        build = add_build(new_rows, writer, table);
    if (build == NULL)
        return error_no_memory(error);
    build->rows = new_rows->rows;
    new_rows->rows = new_rows->spare;
    new_rows->spare = (struct rows){ 0 };
    count_work(new_rows, rows_bytes(&build->rows));
    start_build(new_rows, writer, build);
    return VDBQ_OK;
}

enum vdbq_status
new_rows_add_edited(struct new_rows *new_rows, struct writer *writer,
                    const struct table *table, const struct tablet_ref *tablet,
                    const struct tablet_ref *edited, struct error *error)
{
    struct tablet_build *build;
    enum vdbq_status status = VDBQ_OK;

    if (new_rows->rows.count > 0)
        status = build_tablet(new_rows, writer, table, error);
    if (status != VDBQ_OK)
        return status;
    build = add_build(new_rows, writer, table);
    if (build == NULL)
        return error_no_memory(error);
    build->edited = *edited;
    build->edited.edit = edit_hold(edited->edit);
    build->base = tablet_base(tablet);
    start_build(new_rows, writer, build);
    return write_built(new_rows, writer, builds_left(new_rows, writer), error);
}

/* How many builds go on while the next rows come. */
static size_t builds_left(const struct new_rows *new_rows,
                          const struct writer *writer)
{
    const struct settings *settings = writer->database->file.settings;
    uint64_t bytes = 0, most = settings->memory_bytes > 0
                                   ? settings->memory_bytes / BUILDS_PART
                                   : BUILDS_BYTES_MAX;
    unsigned cores = settings->cores;
    size_t left = 0;

    for (size_t i = new_rows->builds.count; i > 0 && left < BUILDS_MAX; i--) {
        const struct tablet_build *build = build_at(new_rows, i - 1);
        bytes += tablet_build_bytes(build);
        if (tablet_build_rows(build) < BUILD_ROWS_MIN || bytes > most)
            break;
        left++;
    }
    if (left == 0)
        return 0;
    if (cores == 0)
        cores = os_cores();
    return left < cores ? left : cores - 1;
}

/* -------------------------------------------------------------- write -- */

/* Writes a block that holds a tablet, and notes it. */
static enum vdbq_status write_block(struct new_rows *new_rows,
                                    struct writer *writer, struct block *block,
                                    struct tablet_ref *tablet,
                                    struct error *error)
{
    uint64_t room = page_round(block->size);

    tablet->offset = space_take(&writer->space, room);
    tablet->size_bytes = block->size;
    tablet->checksum = page_sums_checksum(block);
    tablet->identity = identity_give(&writer->identities);
    enum vdbq_status status =
        file_write_block(&writer->database->file, block, tablet->offset, error);

    if (status == VDBQ_OK && !vector_append(&new_rows->written, tablet, 1))
        status = error_no_memory(error);
    return status;
}

/* Writes the tablet that was given first. */
static enum vdbq_status write_first(struct new_rows *new_rows,
                                    struct writer *writer,
                                    struct tablet_build *build,
                                    struct error *error)
{
    struct tablet_ref tablet = { .rows = tablet_build_rows(build),
                                 .facts = build->facts };
    enum vdbq_status status = VDBQ_OK;

    tablet_build_wait(build);
    if (build->block.bytes == NULL) /* perhaps there is memory now */
        tablet_build_run(build);
    if (build->block.bytes == NULL && build->error.status != VDBQ_OK)
        *error = build->error;
    if (build->block.bytes == NULL)
        return build->error.status != VDBQ_OK ? build->error.status
                                              : stop_or_no_memory(error);
    for (unsigned i = 0; build->edited.edit != NULL && status == VDBQ_OK
                         && i < build->table->column_count;
         i++)
        status =
            tablet_check_facts(writer->database, build->table, &build->edited,
                               build->block.bytes, i, error);
    if (status != VDBQ_OK)
        return status;
    writer->features |= build->features;
    return write_block(new_rows, writer, &build->block, &tablet, error);
}

/* Writes tablets, in the order of their rows, until so many builds are left. */
static enum vdbq_status write_built(struct new_rows *new_rows,
                                    struct writer *writer, size_t left,
                                    struct error *error)
{
    struct vector *builds = &new_rows->builds;
    enum vdbq_status status = VDBQ_OK;

    while (builds->count > left && status == VDBQ_OK) {
        struct tablet_build *build = build_at(new_rows, 0);
        status = write_first(new_rows, writer, build, error);
        rows_finish(&new_rows->spare);
        new_rows->spare = build->rows;
        rows_clear(&new_rows->spare);
        build->rows = (struct rows){ 0 };
        tablet_build_finish(build);
        memory_release(build);
        builds->count--;
        memmove(builds->items, (struct tablet_build **)builds->items + 1,
                builds->count * builds->width);
    }
    return status;
}
