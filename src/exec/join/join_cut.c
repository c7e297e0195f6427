/* SPDX-License-Identifier: MIT */
/*
 * Cuts rows of a side of a join into partitions. Rows whose keys are equal, on
 * whichever side, go to the same partition. Rows that can have no partner, for
 * a NULL, are spread evenly.
 */
#include "exec/join/join_partitions.h"

#include <assert.h>
#include <string.h>

#include "base/paged.h"
#include "base/threads/stop.h"
#include "exec/dictionary/dictionary_table.h"
#include "exec/rows/row_index.h"

enum { CUT_ROWS = 1 << 15 }; /* that are cut at once */

enum vdbq_status join_cut_init(struct join_partitions *partitions,
                               struct join_cut *cut, unsigned input,
                               struct error *error)
{
    struct stream *head = &partitions->join->head;
    const struct stream *from = head->inputs[input];
    const struct step_join *step = &head->step->join;
    cut->keys = input == 0 ? &step->left_keys : &step->right_keys;
    /* the input is closed before its rows are read again */
    cut->reads = stream_copy_reads(from);
    if (cut->reads == NULL)
        return error_no_memory(error);
    enum vdbq_status status = row_set_init(&cut->rows, from->step->columns,
                                           from->step->column_count, error);
    if (status != VDBQ_OK)
        return status;
    return spill_init(
        &cut->spill,
        &(struct spill_params){ .files = head->params->files,
                                .memory = &head->memory,
                                .columns = from->step->columns,
                                .column_count = from->step->column_count,
                                .reads = cut->reads,
                                .plain = partitions->any_order,
                                .partitions = partitions->count,
                                .block_bytes = partitions->block_bytes },
        error);
}

void join_cut_finish(struct join_cut *cut)
{
    spill_finish(&cut->spill);
    row_set_view_finish(&cut->rows);
    memory_release((void *)cut->reads);
}

enum vdbq_status join_cut_make_texts(struct join_partitions *partitions,
                                     struct error *error)
{
    const struct join_stream *join = partitions->join;
    const int *left = VECTOR_ITEMS(partitions->left.keys, int);
    const int *right = VECTOR_ITEMS(partitions->right.keys, int);
    for (size_t i = 0; i < partitions->left.keys->count; i++) {
        const struct row_set_column *from = &join->left.columns[left[i]];
        const struct row_set_column *to = &join->right.columns[right[i]];
        if (from->type != VDBQ_TEXT || from->dictionary == to->dictionary)
            continue;
        partitions->texts[i] = dictionary_translate(
            from->dictionary, to->dictionary, join->threads);
        partitions->numbers[i] = memory_zeroed(CUT_ROWS, sizeof(uint32_t));
        if (partitions->texts[i] == NULL || partitions->numbers[i] == NULL)
            return stop_or_no_memory(error);
    }
    return VDBQ_OK;
}

static size_t key_count(const struct join_partitions *partitions)
{
    return partitions->join->head.step->join.left_keys.count;
}

enum vdbq_status join_cut_make_room(struct join_partitions *partitions,
                                    struct error *error)
{
    size_t keys = key_count(partitions) + 1;
    partitions->keys = memory_zeroed(keys, sizeof *partitions->keys);
    partitions->texts = memory_zeroed(keys, sizeof *partitions->texts);
    partitions->numbers = memory_zeroed(keys, sizeof *partitions->numbers);
    partitions->rows = memory_zeroed(CUT_ROWS, sizeof *partitions->rows);
    partitions->rows_from =
        memory_zeroed(JOIN_PARTITIONS_MAX + 1, sizeof *partitions->rows_from);
    partitions->partitions = memory_zeroed(CUT_ROWS, 1);
    partitions->row_numbers =
        memory_zeroed(CUT_ROWS, sizeof *partitions->row_numbers);
    return partitions->keys && partitions->texts && partitions->numbers
                   && partitions->rows && partitions->rows_from
                   && partitions->partitions && partitions->row_numbers
               ? VDBQ_OK
               : error_no_memory(error);
}

void join_cut_end(struct join_partitions *partitions)
{
    for (size_t i = 0; partitions->numbers != NULL && i < key_count(partitions);
         i++)
        memory_release(partitions->numbers[i]);
    memory_release(partitions->keys);
    memory_release(partitions->numbers);
    memory_release(partitions->rows);
    memory_release(partitions->rows_from);
    memory_release(partitions->partitions);
    memory_release(partitions->row_numbers);
    partitions->keys = NULL;
    partitions->numbers = NULL;
    partitions->rows = partitions->rows_from = NULL;
    partitions->partitions = NULL;
    partitions->row_numbers = NULL;
}

void join_cut_texts_finish(struct join_partitions *partitions)
{
    for (size_t i = 0; partitions->texts != NULL && i < key_count(partitions);
         i++)
        paged_release(partitions->texts[i]);
    memory_release(partitions->texts);
    partitions->texts = NULL;
}

/* ---------------------------------------------------------------- rows -- */

/* Looks at the keys of the rows at hand. */
static void look_at_keys(struct join_partitions *partitions,
                         const struct join_cut *cut)
{
    assert(cut->rows.rows <= CUT_ROWS);
    const int *columns = VECTOR_ITEMS(cut->keys, int);
    for (size_t i = 0; i < cut->keys->count; i++) {
        partitions->keys[i] = cut->rows.columns[columns[i]];
        if (cut != &partitions->left || partitions->texts[i] == NULL)
            continue;
        const uint32_t *words = partitions->keys[i].values;
        uint32_t *numbers = partitions->numbers[i];
        const struct dictionary *from =
            partitions->join->left.columns[columns[i]].dictionary;
        const struct dictionary_table table = { partitions->texts[i],
                                                from != NULL ? from->count
                                                             : 0 };
        dictionary_follow(&table, words, cut->rows.rows, numbers);
        partitions->keys[i].values = numbers;
    }
}

/* The partition of a row at hand. */
static unsigned partition_of(const struct join_partitions *partitions,
                             const struct join_cut *cut, uint64_t row)
{
    unsigned keys = (unsigned)cut->keys->count;
    uint64_t hash = cut->count + row;
    if (keys > 0
        && (partitions->join->head.step->join.nulls_match
            || !row_has_null(partitions->keys, keys, row)))
        hash = row_hash(partitions->keys, keys, row) >> 32;
    return (unsigned)hash & (partitions->count - 1);
}

/* Orders the rows at hand by their partitions. */
static void order_rows(struct join_partitions *partitions,
                       const struct join_cut *cut)
{
    assert(cut->rows.rows <= CUT_ROWS);
    uint32_t *from = partitions->rows_from;
    memset(from, 0, (JOIN_PARTITIONS_MAX + 1) * sizeof *from);
    for (uint64_t i = 0; i < cut->rows.rows; i++) {
        unsigned partition = partition_of(partitions, cut, i);
        partitions->partitions[i] = (uint8_t)partition;
        partitions->row_numbers[i] = cut->count + i;
        from[partition + 1]++;
    }
    for (unsigned i = 0; i < partitions->count; i++)
        from[i + 1] += from[i];
    for (uint64_t i = cut->rows.rows; i-- > 0;)
        partitions->rows[--from[partitions->partitions[i] + 1]] = (uint32_t)i;
}

/* Adds the rows at hand to their partitions. */
static enum vdbq_status cut_rows(struct join_partitions *partitions,
                                 struct join_cut *cut, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    look_at_keys(partitions, cut);
    order_rows(partitions, cut);
    /* from[partition + 1] is now where the partition's rows start. */
    for (unsigned i = 0; i < partitions->count && status == VDBQ_OK; i++) {
        uint64_t first = partitions->rows_from[i + 1];
        uint64_t end = i + 1 < partitions->count ? partitions->rows_from[i + 2]
                                                 : cut->rows.rows;
        assert(first <= end);
        status =
            spill_add(&cut->spill, i,
                      &(struct spill_rows){ .from = &cut->rows,
                                            .rows = partitions->rows + first,
                                            .numbers = partitions->row_numbers,
                                            .count = end - first },
                      error);
    }
    cut->count += cut->rows.rows;
    return status;
}

enum vdbq_status join_cut_batch(struct join_partitions *partitions,
                                struct join_cut *cut,
                                const struct vdbq_batch *batch, uint64_t first,
                                struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t rows; first < batch->rows && status == VDBQ_OK;
         first += rows) {
        rows = batch->rows - first;
        rows = rows < CUT_ROWS ? rows : CUT_ROWS;
        row_set_view(&cut->rows, batch, first, rows);
        status = cut_rows(partitions, cut, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}
