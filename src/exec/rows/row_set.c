/* SPDX-License-Identifier: MIT */
/*
 * Rows in memory. Columns grow together, by half of what they are, so that
 * large ones are moved by the system, page by page, and seldom.
 */
#include "exec/rows/row_set.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"

enum { ROWS_ROOM_FIRST = 64 };
enum {
    MOVED_BYTES = HOSTILE(64, 1 << 20), /* that threads copy apart        */
    MOVED_ROW = 16 /* bytes of them take as long as a row of other work */
};
enum { APPEND_ROWS = 1 << 20 }; /* of each column, between two asks to stop */

unsigned row_set_width(enum vdbq_type type)
{
    return type_width(step_machine_type(type));
}

enum vdbq_status row_set_init(struct row_set *row_set,
                              const struct step_column *columns, unsigned count,
                              struct error *error)
{
    *row_set = (struct row_set){ 0 };
    row_set->columns = memory_zeroed(count, sizeof *row_set->columns);
    if (row_set->columns == NULL)
        return error_no_memory(error);
    row_set->column_count = count;
    for (unsigned i = 0; i < count; i++) {
        row_set->columns[i].type = columns[i].type;
        row_set->columns[i].width = row_set_width(columns[i].type);
    }
    return VDBQ_OK;
}

enum vdbq_status row_set_init_like(struct row_set *row_set,
                                   const struct step_column *columns,
                                   unsigned count, const struct row_set *other,
                                   struct error *error)
{
    enum vdbq_status status = row_set_init(row_set, columns, count, error);
    assert(count <= other->column_count);
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++)
        row_set_dictionary(row_set, i,
                           dictionary_hold(other->columns[i].dictionary));
    return status;
}

void row_set_finish(struct row_set *row_set)
{
    for (unsigned i = 0; i < row_set->column_count; i++) {
        memory_release(row_set->columns[i].values);
        memory_release(row_set->columns[i].nulls);
        dictionary_release(row_set->columns[i].dictionary);
    }
    memory_release(row_set->columns);
    *row_set = (struct row_set){ 0 };
}

void row_set_clear(struct row_set *row_set)
{
    for (unsigned i = 0; i < row_set->column_count; i++) {
        memory_release(row_set->columns[i].values);
        memory_release(row_set->columns[i].nulls);
        row_set->columns[i].values = NULL;
        row_set->columns[i].nulls = NULL;
    }
    row_set->rows = row_set->rows_room = 0;
}

/* ---------------------------------------------------------------- room -- */

/* Bytes that go elsewhere. */
struct moving {
    char *to;
    const char *from;
    uint64_t bytes;
    unsigned threads; /* that share them */
};

static void move_share(void *context, unsigned share)
{
    const struct moving *moving = context;
    uint64_t first = moving->bytes * share / moving->threads;
    uint64_t end = moving->bytes * (share + 1) / moving->threads;
    memcpy(moving->to + first, moving->from + first, end - first);
}

/* `old`, of which `used` bytes count, with room for `size`, where it lies or
 * elsewhere: what is large is copied by several threads, which take its new
 * pages, too. NULL: no memory. */
static void *grow(void *old, uint64_t used, uint64_t size, unsigned threads)
{
    assert(size >= used && (old != NULL || used == 0));
    if (old == NULL || (used > 0 && used < MOVED_BYTES))
        return memory_spread(old, size);
    if (memory_extend(old, size))
        return old;
    struct moving moving = { .to = memory_spread(NULL, size),
                             .from = old,
                             .bytes = used,
                             .threads =
                                 parallel_threads(threads, used / MOVED_ROW) };
    if (moving.to == NULL)
        return NULL;
    if (used > 0)
        parallel_run(moving.threads, move_share, &moving);
    memory_release(old);
    return moving.to;
}

/* Gives a column room for `rows` rows; false: no memory. */
static bool column_room(const struct row_set *row_set,
                        struct row_set_column *column, uint64_t rows)
{
    uint64_t rows_before = row_set->rows_room;
    void *values = grow(column->values, row_set->rows * column->width,
                        rows * column->width, row_set->threads);
    if (values == NULL)
        return false;
    column->values = values;
    if (column->nulls == NULL)
        return true;
    uint8_t *nulls = memory_resize(column->nulls, rows);
    if (nulls == NULL)
        return false;
    column->nulls = nulls;
    memset(nulls + rows_before, 0, rows - rows_before);
    return true;
}

enum vdbq_status row_set_room(struct row_set *row_set, uint64_t rows,
                              struct error *error)
{
    uint64_t wanted = row_set->rows + rows;
    uint64_t room = row_set->rows_room + row_set->rows_room / 2;
    if (wanted <= row_set->rows_room)
        return VDBQ_OK;
    if (rows > ROW_SET_ROWS_MAX || wanted > ROW_SET_ROWS_MAX)
        return error_set(error, VDBQ_LIMIT,
                         "more than %u rows in memory for one step of a query",
                         ROW_SET_ROWS_MAX);
    room = room < ROWS_ROOM_FIRST ? ROWS_ROOM_FIRST : room;
    room = room < wanted ? wanted : room;
    assert(room >= wanted);
    for (unsigned i = 0; i < row_set->column_count; i++)
        if (!column_room(row_set, &row_set->columns[i], room))
            return error_no_memory(error);
    row_set->rows_room = room;
    return VDBQ_OK;
}

enum vdbq_status row_set_flags(struct row_set *row_set, unsigned column,
                               struct error *error)
{
    assert(column < row_set->column_count);
    struct row_set_column *to = &row_set->columns[column];
    if (to->nulls != NULL)
        return VDBQ_OK;
    to->nulls =
        memory_zeroed(row_set->rows_room > 0 ? row_set->rows_room : 1, 1);
    return to->nulls != NULL ? VDBQ_OK : error_no_memory(error);
}

/* ------------------------------------------------------------- append -- */

/* What threads append: each its share of the rows, of all columns. */
struct appending {
    struct row_set *to;             /* grows by `rows` */
    const struct vdbq_batch *batch; /* where the rows come from */
    uint64_t first, rows;           /* of the batch */
    unsigned threads;               /* that share the rows */
};

/* Copies values and NULL flags of a run of rows of one column. */
static void append_values(const struct row_set_column *to, uint64_t at,
                          const struct vdbq_vector *from, uint64_t first,
                          uint64_t rows)
{
    memcpy((char *)to->values + at * to->width,
           (const char *)from->values + first * to->width, rows * to->width);
    if (to->nulls == NULL)
        return;
    if (from->nulls != NULL)
        memcpy(to->nulls + at, from->nulls + first, rows);
    else
        memset(to->nulls + at, 0, rows);
}

/* One thread's share: a run of rows of every column. */
static void append_share(void *context, unsigned share)
{
    const struct appending *all = context;
    uint64_t first = all->rows * share / all->threads;
    uint64_t end = all->rows * (share + 1) / all->threads;
    for (uint64_t rows; first < end && !stop_asked(); first += rows) {
        rows = end - first < APPEND_ROWS ? end - first : APPEND_ROWS;
        for (unsigned i = 0; i < all->to->column_count; i++)
            append_values(&all->to->columns[i], all->to->rows + first,
                          &all->batch->column[i], all->first + first, rows);
    }
}

/* Makes the NULL flags that rows of a batch take. */
static enum vdbq_status append_flags(struct row_set *to,
                                     const struct vdbq_batch *batch,
                                     uint64_t first, uint64_t rows,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < to->column_count && status == VDBQ_OK; i++) {
        const uint8_t *nulls = batch->column[i].nulls;
        if (nulls != NULL && to->columns[i].nulls == NULL
            && memchr(nulls + first, 1, rows) != NULL)
            status = row_set_flags(to, i, error);
    }
    return status;
}

/* Makes room and appends the rows; nothing changes when it fails. */
static enum vdbq_status append(struct appending *all, struct error *error)
{
    if (all->rows == 0)
        return VDBQ_OK;
    enum vdbq_status status = row_set_room(all->to, all->rows, error);
    if (status == VDBQ_OK)
        status =
            append_flags(all->to, all->batch, all->first, all->rows, error);
    if (status != VDBQ_OK)
        return status;
    assert(all->to->rows + all->rows <= all->to->rows_room);
    parallel_run(all->threads, append_share, all);
    status = stop_pause(error);
    if (status == VDBQ_OK)
        all->to->rows += all->rows;
    return status;
}

enum vdbq_status row_set_append(struct row_set *row_set,
                                const struct vdbq_batch *batch,
                                unsigned threads, struct error *error)
{
    assert(batch->rows == 0 || batch->columns >= row_set->column_count);
    struct appending all = { .to = row_set,
                             .batch = batch,
                             .rows = batch->rows,
                             .threads =
                                 parallel_threads(threads, batch->rows) };
    row_set->threads = threads;
    return append(&all, error);
}

enum vdbq_status row_set_append_part(struct row_set *row_set,
                                     const struct vdbq_batch *batch,
                                     uint64_t first, uint64_t rows,
                                     struct error *error)
{
    struct appending all = { .to = row_set,
                             .batch = batch,
                             .first = first,
                             .rows = rows,
                             .threads = 1 };
    return append(&all, error);
}

/* What threads append of all batches. */
struct appending_all {
    struct row_set *to;
    const struct batches *batches;
    unsigned threads; /* that share the rows */
};

/* One thread's share. */
static void append_all_share(void *context, unsigned share)
{
    const struct appending_all *all = context;
    uint64_t rows = batches_rows(all->batches);
    uint64_t at = rows * share / all->threads;
    uint64_t end = rows * (share + 1) / all->threads;
    while (at < end) {
        struct batches_run run = batches_run_at(all->batches, at, end);
        for (unsigned i = 0; i < all->to->column_count; i++)
            append_values(&all->to->columns[i], all->to->rows + at,
                          &run.columns[i], run.start, run.rows);
        at += run.rows;
    }
}

enum vdbq_status row_set_append_all(struct row_set *row_set,
                                    const struct batches *batches,
                                    unsigned threads, struct error *error)
{
    assert(batches->columns >= row_set->column_count);
    uint64_t rows = batches_rows(batches);
    struct appending_all all = { .to = row_set,
                                 .batches = batches,
                                 .threads = parallel_threads(threads, rows) };
    row_set->threads = threads;
    enum vdbq_status status = row_set_room(row_set, rows, error);
    for (unsigned i = 0; i < batches->count && status == VDBQ_OK; i++)
        status = append_flags(row_set, &batches->batch[i], 0,
                              batches->batch[i].rows, error);
    if (status != VDBQ_OK)
        return status;
    parallel_run(all.threads, append_all_share, &all);
    row_set->rows += rows;
    return VDBQ_OK;
}

/* ---------------------------------------------------------------- pick -- */

/* Takes values by row number; every number names a row. */
static void pick_values(const struct row_set_column *from,
                        const struct row_set_column *to, uint64_t at,
                        const uint32_t *rows, uint64_t count)
{
    if (from->width == sizeof(u32)) {
        const u32 *source = from->values;
        u32 *target = (u32 *)to->values + at;
        for (uint64_t i = 0; i < count; i++)
            target[i] = source[rows[i]];
    } else {
        const u64 *source = from->values;
        u64 *target = (u64 *)to->values + at;
        for (uint64_t i = 0; i < count; i++)
            target[i] = source[rows[i]];
    }
}

/* ... where there may be no row. */
static void pick_values_or_none(const struct row_set_column *from,
                                const struct row_set_column *to, uint64_t at,
                                const uint32_t *rows, uint64_t count)
{
    if (from->width == sizeof(u32)) {
        const u32 *source = from->values;
        u32 *target = (u32 *)to->values + at;
        for (uint64_t i = 0; i < count; i++)
            target[i] = rows[i] == ROW_SET_NO_ROW ? 0 : source[rows[i]];
    } else {
        const u64 *source = from->values;
        u64 *target = (u64 *)to->values + at;
        for (uint64_t i = 0; i < count; i++)
            target[i] = rows[i] == ROW_SET_NO_ROW ? 0 : source[rows[i]];
    }
}

/* Takes NULL flags by row number; a row that lacks is NULL. */
static void pick_nulls(const struct row_set_column *from, uint8_t *nulls,
                       const uint32_t *rows, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        nulls[i] = rows[i] == ROW_SET_NO_ROW || row_set_is_null(from, rows[i]);
}

/* Whether anybody reads this column of the source. */
static bool is_read(const struct row_set_picking *picking, unsigned column)
{
    return picking->reads == NULL || picking->reads[column];
}

enum vdbq_status row_set_pick_flags(const struct row_set_picking *picking,
                                    struct error *error)
{
    assert(picking->first + picking->from->column_count
           <= picking->to->column_count);
    enum vdbq_status status = VDBQ_OK;
    const struct row_set *from = picking->from;
    for (unsigned i = 0; i < from->column_count && status == VDBQ_OK; i++)
        if (is_read(picking, i)
            && (picking->lacks || from->columns[i].nulls != NULL))
            status = row_set_flags(picking->to, picking->first + i, error);
    return status;
}

/* The same of so many rows that nobody waits for their end. */
static void pick_rows(const struct row_set_picking *picking, uint64_t at,
                      const uint32_t *rows, uint64_t count)
{
    for (unsigned i = 0; i < picking->from->column_count; i++) {
        const struct row_set_column *from = &picking->from->columns[i];
        const struct row_set_column *to =
            &picking->to->columns[picking->first + i];
        if (!is_read(picking, i))
            continue;
        (picking->lacks ? pick_values_or_none : pick_values)(from, to, at, rows,
                                                             count);
        if (to->nulls != NULL)
            pick_nulls(from, to->nulls + at, rows, count);
    }
}

void row_set_pick_part(const struct row_set_picking *picking, uint64_t at,
                       const uint32_t *rows, uint64_t count)
{
    assert(at + count <= picking->to->rows_room);
    for (uint64_t done = 0, some; done < count; done += some) {
        some = count - done < STOP_ROWS ? count - done : STOP_ROWS;
        if (done > 0 && stop_asked())
            return;
        pick_rows(picking, at + done, rows + done, some);
    }
}

/* What threads pick: each its share of the rows, of all columns. */
struct picking_shares {
    struct row_set_picking picking;
    const uint32_t *rows; /* numbers of the rows */
    uint64_t count;       /* ... how many        */
    unsigned threads;     /* that share them     */
};

/* One thread's share. */
static void pick_share(void *context, unsigned share)
{
    const struct picking_shares *all = context;
    uint64_t first = all->count * share / all->threads;
    uint64_t end = all->count * (share + 1) / all->threads;
    row_set_pick_part(&all->picking, all->picking.to->rows + first,
                      all->rows + first, end - first);
}

enum vdbq_status row_set_pick(struct row_set *row_set, unsigned first,
                              const struct row_set *from, const uint32_t *rows,
                              uint64_t count, unsigned threads,
                              struct error *error)
{
    struct picking_shares all = {
        .picking = { .to = row_set, .first = first, .from = from },
        .rows = rows,
        .count = count,
        .threads = parallel_threads(threads, count)
    };
    enum vdbq_status status = row_set_pick_flags(&all.picking, error);
    if (status != VDBQ_OK)
        return status;
    parallel_run(all.threads, pick_share, &all);
    return stop_pause(error);
}

void row_set_vectors(const struct row_set *row_set, uint64_t row,
                     struct vdbq_vector *vectors)
{
    assert(row <= row_set->rows);
    for (unsigned i = 0; i < row_set->column_count; i++) {
        const struct row_set_column *column = &row_set->columns[i];
        vectors[i] = (struct vdbq_vector){
            .type = column->type,
            .values = column->values != NULL
                          ? (const char *)column->values + row * column->width
                          : NULL, /* there are no rows */
            .nulls = column->nulls != NULL ? column->nulls + row : NULL,
        };
    }
}

void row_set_view(struct row_set *row_set, const struct vdbq_batch *batch,
                  uint64_t first, uint64_t rows)
{
    assert(row_set->column_count <= batch->columns);
    assert(first + rows <= batch->rows);
    row_set->rows = rows;
    for (unsigned i = 0; i < row_set->column_count; i++) {
        const struct vdbq_vector *from = &batch->column[i];
        struct row_set_column *to = &row_set->columns[i];
        to->values = (char *)from->values + first * to->width;
        to->nulls = from->nulls != NULL ? (uint8_t *)from->nulls + first : NULL;
    }
}

void row_set_view_finish(struct row_set *row_set)
{
    for (unsigned i = 0; i < row_set->column_count; i++) {
        row_set->columns[i].values = NULL;
        row_set->columns[i].nulls = NULL;
    }
    row_set_finish(row_set);
}

/* The values of a column that stay, and their NULL flags. */
static void keep_values(const struct row_set_column *column,
                        const uint32_t *list, uint32_t count)
{
    uint32_t *narrow = column->values;
    uint64_t *wide = column->values;
    for (uint32_t i = 0; i < count; i++) {
        assert(list[i] >= i);
        if (column->width == sizeof *narrow)
            narrow[i] = narrow[list[i]];
        else
            wide[i] = wide[list[i]];
        if (column->nulls != NULL)
            column->nulls[i] = column->nulls[list[i]];
    }
}

void row_set_keep(struct row_set *row_set, const uint32_t *list, uint32_t count)
{
    for (unsigned i = 0; i < row_set->column_count; i++)
        keep_values(&row_set->columns[i], list, count);
    row_set->rows = count;
}

void row_set_dictionary(struct row_set *row_set, unsigned column,
                        struct dictionary *dictionary)
{
    assert(column < row_set->column_count);
    assert(dictionary == NULL || row_set->columns[column].type == VDBQ_TEXT);
    dictionary_release(row_set->columns[column].dictionary);
    row_set->columns[column].dictionary = dictionary;
}
