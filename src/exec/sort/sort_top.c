/* SPDX-License-Identifier: MIT */
/*
 * The first rows of an order: rows are kept until they are more than
 * twice as many as are asked for; then those that are not among the first are
 * dropped, and only the last one is known by its place. The first key of it is
 * the bound from then on: what is not before it need not be kept. Threads do so
 * each for a run of the rows; what they kept goes behind one another, so that
 * equal rows stay in their order.
 */
#include "exec/sort/sort.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/rows/order.h"

enum {
    BLOCK = 1024,
    MATERIALISED_MIN = 1024,
    ROUND_MIN = 1 << 17, /* rows of a round at least          */
    ROUND_MAX = 1 << 20, /* ... and at most, or ROUND_LIMITS ...  */
    ROUND_LIMITS = 4     /* ... in terms of those to be kept */
};

static enum vdbq_status shrink(struct sort_top *top, struct error *error);

enum vdbq_status sort_top_init(struct sort_top *top,
                               const struct step_key *keys, unsigned key_count,
                               uint64_t limit,
                               const struct step_column *columns,
                               unsigned column_count, unsigned threads,
                               struct error *error)
{
    assert(key_count > 0);
    *top = (struct sort_top){ .keys = keys,
                              .key_count = key_count,
                              .limit = limit,
                              .columns = columns,
                              .threads = threads };
    top->room = arena_alloc(&top->arena, (size_t)column_count * BLOCK * 9);
    if (top->room == NULL)
        return error_no_memory(error);
    return row_set_init(&top->rows, columns, column_count, error);
}

void sort_top_finish(struct sort_top *top)
{
    row_set_finish(&top->rows);
    arena_finish(&top->arena);
    *top = (struct sort_top){ 0 };
}

/* --------------------------------------------------- before the bound -- */

/* Whether a NULL may be among the first rows, and values if the bound is
 * NULL; `equal`: those that are as the bound may be. */
static bool may_null(const struct sort_top *top, bool equal)
{
    return top->bound_null ? equal : !top->keys[0].nulls_last;
}

/* Makes mark_<name>(): marks values whose order, turned around by `flip`, is
 * below `end`. */
#define MARK(name, type)                                                       \
    PARALLEL_CLONES                                                            \
    static void mark_##name(const void *values, uint64_t start,                \
                            unsigned count, uint64_t flip, uint64_t end,       \
                            uint8_t *kept)                                     \
    {                                                                          \
        for (unsigned i = 0; i < count; i++)                                   \
            kept[i] = (order_at(type, values, start + i) ^ flip) < end;        \
    }

MARK(i32, TYPE_I32)
MARK(i64, TYPE_I64)
MARK(f32, TYPE_F32)
MARK(f64, TYPE_F64)

/* Marks values that the bound, which is one, lets pass; `equal`: those that are
 * as the bound, too. */
static void mark_values(const struct sort_top *top, int type,
                        const void *values, uint64_t start, unsigned count,
                        bool equal, uint8_t *kept)
{
    uint64_t flip = top->keys[0].descending ? UINT64_MAX : 0;
    uint64_t end = top->bound + equal;
    if (end < top->bound)
        memset(kept, 1, count); /* none is behind the bound */
    else if (type == TYPE_I32)
        mark_i32(values, start, count, flip, end, kept);
    else if (type == TYPE_I64)
        mark_i64(values, start, count, flip, end, kept);
    else if (type == TYPE_F32)
        mark_f32(values, start, count, flip, end, kept);
    else
        mark_f64(values, start, count, flip, end, kept);
}

/* Marks the rows of a block that may be among the first ones. */
static void mark(const struct sort_top *top, const struct vdbq_vector *column,
                 uint64_t start, unsigned count, uint8_t *kept)
{
    assert(count <= BLOCK);
    const struct step_key *key = &top->keys[0];
    bool equal = top->key_count > 1;

    if (!top->bounded) {
        memset(kept, 1, count);
        return;
    }
    if (top->bound_null)
        memset(kept, key->nulls_last, count);
    else
        mark_values(top, sort_type(column->type), column->values, start, count,
                    equal, kept);
    for (unsigned i = 0; column->nulls != NULL && i < count; i++)
        if (column->nulls[start + i] != 0)
            kept[i] = may_null(top, equal);
}

/* ---------------------------------------------------------- taking -- */

/* Copies rows of a column, by their places, one behind the other. */
static struct vdbq_vector pick(const struct vdbq_vector *column, uint64_t start,
                               const uint16_t *places, uint64_t count,
                               uint8_t *room)
{
    unsigned width = row_set_width(column->type);
    assert(count <= BLOCK);
    const uint8_t *from = (const uint8_t *)column->values + start * width;
    uint8_t *nulls = room + (size_t)8 * BLOCK;
    struct vdbq_vector picked = { column->type, room, NULL };

    for (uint64_t i = 0; i < count; i++)
        memcpy(room + i * width, from + (size_t)places[i] * width, width);
    if (column->nulls == NULL)
        return picked;
    for (uint64_t i = 0; i < count; i++)
        nulls[i] = column->nulls[start + places[i]];
    picked.nulls = nulls;
    return picked;
}

/* Whether there are so many rows that most can be dropped. */
static bool is_full(const struct sort_top *top)
{
    return top->rows.rows > 2 * top->limit + MATERIALISED_MIN;
}

/* Adds those rows of a block that are to be kept. */
static enum vdbq_status
append_some(struct sort_top *top, const struct vdbq_vector *columns,
            uint64_t start, unsigned count, const uint8_t *kept,
            struct vdbq_vector *vectors, struct error *error)
{
    struct vdbq_batch picked = { .columns = top->rows.column_count,
                                 .column = vectors };
    uint16_t places[BLOCK];

    for (unsigned i = 0; i < count; i++) {
        places[picked.rows] = (uint16_t)i;
        picked.rows += kept[i];
    }
    for (unsigned i = 0; i < picked.columns; i++)
        vectors[i] = pick(&columns[i], start, places, picked.rows,
                          top->room + (size_t)i * BLOCK * 9);
    return row_set_append(&top->rows, &picked, 1, error);
}

/* Adds the rows of a block that may be among the first ones. */
static enum vdbq_status add_block(struct sort_top *top,
                                  const struct vdbq_vector *columns,
                                  uint64_t start, unsigned count,
                                  struct vdbq_vector *vectors,
                                  struct error *error)
{
    const struct vdbq_batch all = { .rows = start + count,
                                    .columns = top->rows.column_count,
                                    .column = columns };
    uint8_t kept[BLOCK];
    enum vdbq_status status;

    mark(top, &columns[top->keys[0].column], start, count, kept);
    if (memchr(kept, 1, count) == NULL)
        return VDBQ_OK;
    if (memchr(kept, 0, count) == NULL)
        status = row_set_append_part(&top->rows, &all, start, count, error);
    else
        status = append_some(top, columns, start, count, kept, vectors, error);
    if (status == VDBQ_OK && is_full(top))
        status = shrink(top, error);
    return status;
}

/* Adds rows [at, end) of batches. */
static enum vdbq_status add_rows(struct sort_top *top,
                                 const struct batches *batches, uint64_t at,
                                 uint64_t end, struct error *error)
{
    struct vdbq_vector *vectors =
        memory_zeroed(top->rows.column_count + 1, sizeof *vectors);
    enum vdbq_status status =
        vectors != NULL ? VDBQ_OK : error_no_memory(error);
    uint64_t since = 0;

    while (status == VDBQ_OK && at < end) {
        struct batches_run block =
            batches_run_at(batches, at, end - at < BLOCK ? end : at + BLOCK);
        status = add_block(top, block.columns, block.start,
                           (unsigned)block.rows, vectors, error);
        if (status == VDBQ_OK && stop_after(&since, block.rows))
            status = error_cancelled(error);
        at += block.rows;
    }
    memory_release(vectors);
    return status;
}

/* ------------------------------------------------------------- threads -- */

/* What threads add, each a run of the rows to rows of its own. */
struct sharing {
    const struct batches *batches;
    uint64_t first, rows; /* of these */
    unsigned threads;     /* that share the rows */
    struct {
        struct sort_top top; /* begins with the bound there is */
        enum vdbq_status status;
        struct error error; /* why, where it failed */
    } shares[];
};

/* One thread: finds the first rows of its share. */
static void add_share(void *context, unsigned share)
{
    struct sharing *sharing = context;
    struct sort_top *top = &sharing->shares[share].top;
    struct error *error = &sharing->shares[share].error;
    uint64_t first = sharing->first, rows = sharing->rows;
    enum vdbq_status status =
        add_rows(top, sharing->batches, first + rows * share / sharing->threads,
                 first + rows * (share + 1) / sharing->threads, error);
    sharing->shares[share].status = status;
}

/* Makes a thread's room, for a share of so many rows. */
static enum vdbq_status begin_share(const struct sort_top *top, uint64_t rows,
                                    struct sort_top *share, struct error *error)
{
    uint64_t most = 2 * top->limit + MATERIALISED_MIN + BLOCK;
    enum vdbq_status status =
        sort_top_init(share, top->keys, top->key_count, top->limit,
                      top->columns, top->rows.column_count, 1, error);
    share->bounded = top->bounded;
    share->bound_null = top->bound_null;
    share->bound = top->bound;
    if (status == VDBQ_OK)
        status = row_set_room(&share->rows, rows < most ? rows : most, error);
    return status;
}

/* Adds what a thread has found. */
static enum vdbq_status take_share(struct sort_top *top,
                                   const struct row_set *rows,
                                   struct error *error)
{
    struct vdbq_vector *vectors =
        memory_zeroed(rows->column_count + 1, sizeof *vectors);
    const struct vdbq_batch batch = { .rows = rows->rows,
                                      .columns = rows->column_count,
                                      .column = vectors };
    if (vectors == NULL)
        return error_no_memory(error);
    row_set_vectors(rows, 0, vectors);
    enum vdbq_status status =
        row_set_append(&top->rows, &batch, top->threads, error);
    memory_release(vectors);
    return status;
}

/* Lets threads find the first rows of their shares, and adds those. */
static enum vdbq_status add_shared(struct sort_top *top,
                                   struct sharing *sharing, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < sharing->threads && status == VDBQ_OK; i++)
        status = begin_share(top, sharing->rows / sharing->threads + 1,
                             &sharing->shares[i].top, error);
    if (status == VDBQ_OK)
        parallel_run(sharing->threads, add_share, sharing);
    for (unsigned i = 0; i < sharing->threads && status == VDBQ_OK; i++) {
        status = sharing->shares[i].status;
        if (status != VDBQ_OK)
            *error = sharing->shares[i].error;
        else
            status = take_share(top, &sharing->shares[i].top.rows, error);
    }
    if (status == VDBQ_OK && is_full(top))
        status = shrink(top, error);
    for (unsigned i = 0; i < sharing->threads; i++)
        sort_top_finish(&sharing->shares[i].top);
    return status;
}

/* Adds rows [first, end), which threads share. */
static enum vdbq_status add_round(struct sort_top *top,
                                  const struct batches *batches, uint64_t first,
                                  uint64_t end, struct error *error)
{
    unsigned threads = parallel_threads(top->threads, end - first);
    struct sharing *sharing;
    if (threads == 1)
        return add_rows(top, batches, first, end, error);
    sharing =
        memory_zeroed(1, sizeof *sharing + threads * sizeof sharing->shares[0]);
    if (sharing == NULL)
        return error_no_memory(error);
    sharing->batches = batches;
    sharing->first = first;
    sharing->rows = end - first;
    sharing->threads = threads;
    enum vdbq_status status = add_shared(top, sharing, error);
    memory_release(sharing);
    return status;
}

/* Whether the rows at hand give the first bound: threads may have found few more
 * than are asked for, each with a bound of its own. */
static bool can_bound(const struct sort_top *top)
{
    return !top->bounded && top->rows.rows > 0 && top->rows.rows >= top->limit;
}

/* Rows of the first round. */
static uint64_t round_least(uint64_t limit)
{
    uint64_t least = ROUND_LIMITS * limit;
    return least > ROUND_MIN ? least : ROUND_MIN;
}

uint64_t sort_top_rows(uint64_t limit)
{
    uint64_t round = round_least(limit);
    return 2 * (limit + BLOCK + (round > ROUND_MAX ? round : ROUND_MAX));
}

/* Rows go in by rounds, each of as many as came before: with their bound few of
 * them are kept. */
enum vdbq_status sort_top_add(struct sort_top *top,
                              const struct batches *batches,
                              struct error *error)
{
    uint64_t rows = batches_rows(batches), least = round_least(top->limit);
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t at = 0, round; at < rows && status == VDBQ_OK; at += round) {
        round = least > ROUND_MAX || top->seen < least ? least
                : top->seen < ROUND_MAX                ? top->seen
                                                       : ROUND_MAX;
        round = round < rows - at ? round : rows - at;
        status = add_round(top, batches, at, at + round, error);
        top->seen += round;
        if (status == VDBQ_OK && can_bound(top))
            status = shrink(top, error);
    }
    return status;
}

/* ---------------------------------------------------------- shrinking -- */

/* The last row gives the bound. */
static void set_bound(struct sort_top *top)
{
    assert(top->rows.rows > 0);
    const struct step_key *key = &top->keys[0];
    const struct row_set_column *column = &top->rows.columns[key->column];
    uint64_t last = top->rows.rows - 1;

    top->bounded = true;
    top->bound_null = row_set_is_null(column, last);
    top->bound = order_at(sort_type(column->type), column->values, last)
                 ^ (key->descending ? UINT64_MAX : 0);
}

/* With more keys than one those behind the first decide where it is as the
 * bound's. */
struct launch_bound sort_top_bound(const struct sort_top *top)
{
    u64 end = top->bound + (top->key_count > 1);
    return (struct launch_bound){
        .set = top->bounded && !top->bound_null && end >= top->bound,
        .end = end,
        .flip = top->keys[0].descending ? UINT64_MAX : 0
    };
}

/* Keeps the first `count` rows of an order. */
static enum vdbq_status keep(struct sort_top *top, const uint32_t *order,
                             uint64_t count, struct error *error)
{
    struct row_set kept = { 0 };
    enum vdbq_status status =
        row_set_init(&kept, top->columns, top->rows.column_count, error);

    if (status == VDBQ_OK)
        status = row_set_room(&kept, count, error);
    if (status == VDBQ_OK)
        status = row_set_pick(&kept, 0, &top->rows, order, count, top->threads,
                              error);
    if (status != VDBQ_OK) {
        row_set_finish(&kept);
        return status;
    }
    kept.rows = count;
    row_set_finish(&top->rows);
    top->rows = kept;
    return VDBQ_OK;
}

/* Keeps the first `count` rows of the order; `sorted`: and puts them into it. */
static enum vdbq_status arrange(struct sort_top *top, uint64_t count,
                                bool sorted, struct error *error)
{
    uint32_t rows = (uint32_t)top->rows.rows;
    uint32_t *order = memory_resize(NULL, (top->rows.rows + 1) * sizeof *order);
    struct sort_key *keys = memory_zeroed(top->key_count, sizeof *keys);
    enum vdbq_status status =
        order == NULL || keys == NULL ? error_no_memory(error) : VDBQ_OK;

    assert(count <= rows);
    if (status == VDBQ_OK) {
        sort_keys(&top->rows, top->keys, top->key_count, keys);
        status = sorted
                     ? sort_order(keys, top->key_count, rows, top->threads,
                                  order, error)
                     : sort_first(keys, top->key_count, rows, (uint32_t)count,
                                  top->threads, order, error);
    }
    if (status == VDBQ_OK)
        status = keep(top, order, count, error);
    memory_release(order);
    memory_release(keys);
    return status;
}

/* Drops the rows that are not among the first. */
static enum vdbq_status shrink(struct sort_top *top, struct error *error)
{
    assert(top->rows.rows >= top->limit);
    enum vdbq_status status = arrange(top, top->limit, false, error);
    if (status == VDBQ_OK && top->limit > 0)
        set_bound(top);
    return status;
}

enum vdbq_status sort_top_end(struct sort_top *top, struct error *error)
{
    enum vdbq_status status =
        top->rows.rows > top->limit ? shrink(top, error) : VDBQ_OK;
    return status == VDBQ_OK ? arrange(top, top->rows.rows, true, error)
                             : status;
}
