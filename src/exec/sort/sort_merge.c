/* SPDX-License-Identifier: MIT */
/*
 * Merging runs: see sort_merge.h. A heap has the runs by their next rows. Rows
 * are picked run by run and then copied column by column, at the latest when a
 * block of a run ends.
 */
#include "exec/sort/sort_merge.h"

#include <assert.h>

#include "base/memory.h"
#include "exec/rows/order.h"
#include "exec/sort/sort.h"

enum {
    PICKS = 1 << 12
}; /* rows that are picked at most before they are
                             copied                                       */

/* A run, and its next row. */
struct head {
    struct spill_reader reader;
    struct vdbq_batch batch; /* a block of the run */
    uint64_t at;             /* the next row of it */
    bool late;               /* ... its first key goes behind others as
                                a NULL does, or as no NULL does         */
    uint64_t code;           /* ... the order of that key               */
};

struct sort_merge {
    struct sort_merge_params params;
    struct head *heads;  /* of each run */
    uint32_t *heap;      /* heads; none goes before the one in the middle
                            of its number                                  */
    unsigned count;      /* ... of them: runs that have rows left */
    uint32_t *from;      /* picked rows: their heads ... */
    uint32_t *rows;      /* ... and rows of the blocks   */
    unsigned picks;      /* how many */
    const void **values; /* of one column, in each head's block */
    const uint8_t **nulls;
};

/* --------------------------------------------------------------- order -- */

/* Whether the key of a row is NULL. */
static bool is_null(const struct vdbq_vector *key, uint64_t row)
{
    return key->nulls != NULL && key->nulls[row] != 0;
}

/* The key of a head's row: a code, and whether that is compared behind others
 * (NULLs lie on one side of all values). */
static uint64_t code_of(const struct head *head, const struct step_key *key,
                        bool *late)
{
    const struct vdbq_vector *vector = &head->batch.column[key->column];
    bool null = is_null(vector, head->at);
    *late = null == key->nulls_last;
    if (null)
        return 0;
    uint64_t code = order_at(sort_type(vector->type), vector->values, head->at);
    return key->descending ? ~code : code;
}

/* Whether the row of head `a` goes before that of head `b`. */
static bool goes_before(const struct sort_merge *merge, uint32_t a, uint32_t b)
{
    const struct head *x = &merge->heads[a], *y = &merge->heads[b];
    if (x->late != y->late)
        return y->late;
    if (x->code != y->code)
        return x->code < y->code;
    for (unsigned i = 1; i < merge->params.key_count; i++) {
        const struct step_key *key = &merge->params.keys[i];
        bool late_x, late_y;
        uint64_t code_x = code_of(x, key, &late_x);
        uint64_t code_y = code_of(y, key, &late_y);
        if (late_x != late_y)
            return late_y;
        if (code_x != code_y)
            return code_x < code_y;
    }
    return a < b;
}

/* ---------------------------------------------------------------- heap -- */

/* Lets the head at a place sink until none below it goes before it. */
static void sink(struct sort_merge *merge, unsigned at)
{
    uint32_t *heap = merge->heap, head = heap[at];
    for (unsigned below = 2 * at + 1; below < merge->count;
         below = 2 * at + 1) {
        if (below + 1 < merge->count
            && goes_before(merge, heap[below + 1], heap[below]))
            below++;
        if (!goes_before(merge, heap[below], head))
            break;
        heap[at] = heap[below];
        at = below;
    }
    heap[at] = head;
}

/* Notes the first key of a head's row. */
static void note_key(const struct sort_merge *merge, struct head *head)
{
    assert(head->at < head->batch.rows);
    head->code = code_of(head, &merge->params.keys[0], &head->late);
}

/* Reads the next block of a head; it has no rows at the run's end. */
static enum vdbq_status read_block(const struct sort_merge *merge,
                                   struct head *head, struct error *error)
{
    head->at = 0;
    enum vdbq_status status = spill_read(&head->reader, &head->batch, error);
    if (status == VDBQ_OK && head->batch.rows > 0)
        note_key(merge, head);
    return status;
}

/* Brings the next row of the foremost run, of which a block has ended. */
static enum vdbq_status refill(struct sort_merge *merge, struct error *error)
{
    struct head *head = &merge->heads[merge->heap[0]];
    enum vdbq_status status = read_block(merge, head, error);
    if (status == VDBQ_OK && head->batch.rows == 0)
        merge->heap[0] = merge->heap[--merge->count];
    if (status == VDBQ_OK && merge->count > 0)
        sink(merge, 0);
    return status;
}

/* ---------------------------------------------------- create, destroy -- */

/* Opens all runs, and puts those that have rows into the heap. */
static enum vdbq_status open_heads(struct sort_merge *merge,
                                   struct error *error)
{
    const struct sort_merge_params *params = &merge->params;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < params->count && status == VDBQ_OK; i++) {
        struct head *head = &merge->heads[i];
        unsigned partition = params->first + i;
        status = spill_reader_init(
            &head->reader,
            &(struct spill_range){ .spill = params->spill,
                                   .partition = partition,
                                   .rows =
                                       spill_rows(params->spill, partition) },
            error);
        if (status == VDBQ_OK)
            status = read_block(merge, head, error);
        if (status == VDBQ_OK && head->batch.rows > 0)
            merge->heap[merge->count++] = i;
    }
    for (unsigned i = merge->count / 2; i-- > 0 && status == VDBQ_OK;)
        sink(merge, i);
    return status;
}

enum vdbq_status sort_merge_create(const struct sort_merge_params *params,
                                   struct sort_merge **merge,
                                   struct error *error)
{
    assert(params->key_count > 0 && params->spill->plain);
    struct sort_merge *made = memory_zeroed(1, sizeof *made);
    size_t count = params->count > 0 ? params->count : 1;
    *merge = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->params = *params;
    made->heads = memory_zeroed(count, sizeof *made->heads);
    made->heap = memory_zeroed(count, sizeof *made->heap);
    made->values = memory_zeroed(count, sizeof *made->values);
    made->nulls = memory_zeroed(count, sizeof *made->nulls);
    made->from = memory_zeroed(PICKS, sizeof *made->from);
    made->rows = memory_zeroed(PICKS, sizeof *made->rows);
    enum vdbq_status status = VDBQ_OK;
    if (!made->heads || !made->heap || !made->values || !made->nulls
        || !made->from || !made->rows)
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        status = open_heads(made, error);
    if (status == VDBQ_OK)
        *merge = made;
    else
        sort_merge_destroy(made);
    return status;
}

void sort_merge_destroy(struct sort_merge *merge)
{
    if (merge == NULL)
        return;
    for (unsigned i = 0; merge->heads != NULL && i < merge->params.count; i++)
        spill_reader_finish(&merge->heads[i].reader);
    memory_release(merge->heads);
    memory_release(merge->heap);
    memory_release((void *)merge->values);
    memory_release((void *)merge->nulls);
    memory_release(merge->from);
    memory_release(merge->rows);
    memory_release(merge);
}

/* ---------------------------------------------------------------- copy -- */

/* Looks at a column in all blocks; whether any has NULLs. */
static bool look_at(const struct sort_merge *merge, unsigned column)
{
    bool nulls = false;
    for (unsigned i = 0; i < merge->params.count; i++) {
        const struct vdbq_batch *batch = &merge->heads[i].batch;
        if (batch->rows == 0)
            continue;
        merge->values[i] = batch->column[column].values;
        merge->nulls[i] = batch->column[column].nulls;
        nulls |= merge->nulls[i] != NULL;
    }
    return nulls;
}

/* Copies the values of the picked rows behind the output's. */
static void copy_values(const struct sort_merge *merge,
                        const struct row_set_column *to, uint64_t at)
{
    const uint32_t *from = merge->from, *rows = merge->rows;
    uint32_t *narrow = (uint32_t *)to->values + at;
    uint64_t *wide = (uint64_t *)to->values + at;
    if (to->width == sizeof *narrow)
        for (unsigned i = 0; i < merge->picks; i++)
            narrow[i] = ((const uint32_t *)merge->values[from[i]])[rows[i]];
    else
        for (unsigned i = 0; i < merge->picks; i++)
            wide[i] = ((const uint64_t *)merge->values[from[i]])[rows[i]];
}

static void copy_nulls(const struct sort_merge *merge, uint8_t *to)
{
    for (unsigned i = 0; i < merge->picks; i++) {
        const uint8_t *nulls = merge->nulls[merge->from[i]];
        to[i] = nulls != NULL && nulls[merge->rows[i]] != 0;
    }
}

/* Copies what was picked; there is room. */
static enum vdbq_status copy_picks(struct sort_merge *merge,
                                   struct row_set *output, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    assert(output->rows + merge->picks <= output->rows_room);
    for (unsigned i = 0; i < output->column_count && status == VDBQ_OK; i++) {
        struct row_set_column *to = &output->columns[i];
        if (look_at(merge, i))
            status = row_set_flags(output, i, error);
        if (status != VDBQ_OK)
            break;
        copy_values(merge, to, output->rows);
        if (to->nulls != NULL)
            copy_nulls(merge, to->nulls + output->rows);
    }
    output->rows += merge->picks;
    merge->picks = 0;
    return status;
}

/* Picks rows until a block ends, or there are so many; whether one ended. */
static bool pick(struct sort_merge *merge, uint64_t most)
{
    while (merge->picks < most) {
        uint32_t first = merge->heap[0];
        struct head *head = &merge->heads[first];
        merge->from[merge->picks] = first;
        merge->rows[merge->picks++] = (uint32_t)head->at++;
        if (head->at == head->batch.rows)
            return true;
        note_key(merge, head);
        sink(merge, 0);
    }
    return false;
}

enum vdbq_status sort_merge_rows(struct sort_merge *merge, uint64_t rows,
                                 struct row_set *output, struct error *error)
{
    assert(output->rows == 0 && merge->picks == 0);
    enum vdbq_status status = row_set_room(output, rows, error);
    while (status == VDBQ_OK && merge->count > 0 && output->rows < rows) {
        uint64_t left = rows - output->rows;
        bool ended = pick(merge, left < PICKS ? left : PICKS);
        status = copy_picks(merge, output, error);
        if (status == VDBQ_OK && ended)
            status = refill(merge, error);
    }
    return status;
}
