/* SPDX-License-Identifier: MIT */
/*
 * Cuts rows of a side of a join into partitions. Rows whose keys are equal, on
 * whichever side, go to the same partition. Rows that can have no partner, for
 * a NULL, are spread evenly.
 */
#include "exec/join/join_partitions.h"

#include <assert.h>

#include "base/paged.h"
#include "base/threads/stop.h"
#include "exec/dictionary/dictionary_table.h"
#include "exec/rows/row_index.h"

enum vdbq_status join_cut_init(struct join_partitions *partitions,
                               struct join_cut *cut, unsigned input,
                               struct error *error)
{
    struct stream *head = &partitions->join->head;
    const struct stream *from = head->inputs[input];
    const struct step_join *step = &head->step->join;
    cut->partitions = partitions;
    cut->keys = input == 0 ? &step->left_keys : &step->right_keys;
    /* the input is closed before its rows are read again */
    cut->reads = stream_copy_reads(from);
    if (cut->reads == NULL)
        return error_no_memory(error);
    enum vdbq_status status = row_set_init(&cut->rows, from->step->columns,
                                           from->step->column_count, error);
    if (status != VDBQ_OK)
        return status;
    status = spill_init(
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
    return status == VDBQ_OK ? spill_parts_init(
               &cut->parts, &cut->spill, partitions->join->threads, error)
                             : status;
}

void join_cut_finish(struct join_cut *cut)
{
    spill_parts_finish(&cut->parts);
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
        partitions->numbers[i] = memory_zeroed(
            spill_parts_room(&partitions->left.parts), sizeof(uint32_t));
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
    return partitions->keys && partitions->texts && partitions->numbers
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
    partitions->keys = NULL;
    partitions->numbers = NULL;
    spill_parts_finish(&partitions->left.parts);
    spill_parts_finish(&partitions->right.parts);
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

/* Whether words of a key are those of the other side, by their numbers there. */
static bool is_translated(const struct join_cut *cut, size_t key)
{
    const struct join_partitions *partitions = cut->partitions;
    return cut == &partitions->left && partitions->texts[key] != NULL;
}

/* Looks at the keys of the rows at hand. */
static void look_at_keys(struct join_partitions *partitions,
                         const struct join_cut *cut)
{
    const int *columns = VECTOR_ITEMS(cut->keys, int);
    for (size_t i = 0; i < cut->keys->count; i++) {
        partitions->keys[i] = cut->rows.columns[columns[i]];
        if (is_translated(cut, i))
            partitions->keys[i].values = partitions->numbers[i];
    }
}

/* Translates the words of a key. */
static void translate(const struct join_cut *cut, size_t key, uint64_t first,
                      uint64_t count)
{
    const struct join_partitions *partitions = cut->partitions;
    const struct row_set_column *column =
        &cut->rows.columns[VECTOR_ITEMS(cut->keys, int)[key]];
    const struct dictionary *from =
        partitions->join->left.columns[VECTOR_ITEMS(cut->keys, int)[key]]
            .dictionary;
    const struct dictionary_table table = { partitions->texts[key],
                                            from != NULL ? from->count : 0 };
    dictionary_follow(&table, (const uint32_t *)column->values + first, count,
                      partitions->numbers[key] + first);
}

/* Spreads rows without a partner by their numbers. */
static void spread_nulls(const struct join_cut *cut, uint64_t first,
                         uint64_t count, uint16_t *to)
{
    const struct join_partitions *partitions = cut->partitions;
    unsigned keys = (unsigned)cut->keys->count;
    bool any = false;
    for (unsigned i = 0; i < keys; i++)
        any |= partitions->keys[i].nulls != NULL;
    if (!any || partitions->join->head.step->join.nulls_match)
        return;
    for (uint64_t i = 0; i < count; i++)
        if (row_has_null(partitions->keys, keys, first + i))
            to[i] =
                (uint16_t)((cut->count + first + i) & (partitions->count - 1));
}

/* The partitions of rows at hand. */
static void find_partitions(const void *context, uint64_t first, uint64_t count,
                            uint16_t *to)
{
    const struct join_cut *cut = context;
    const struct join_partitions *partitions = cut->partitions;
    for (size_t i = 0; i < cut->keys->count; i++)
        if (is_translated(cut, i))
            translate(cut, i, first, count);
    row_partitions(partitions->keys, (unsigned)cut->keys->count, first, count,
                   partitions->count, to);
    spread_nulls(cut, first, count, to);
}

/* Adds the rows at hand to their partitions. */
static enum vdbq_status cut_rows(struct join_partitions *partitions,
                                 struct join_cut *cut, struct error *error)
{
    look_at_keys(partitions, cut);
    enum vdbq_status status =
        spill_parts_add(&cut->parts,
                        &(struct spill_slice){ .from = &cut->rows,
                                               .number = cut->count,
                                               .find = find_partitions,
                                               .context = cut },
                        error);
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
        rows = rows < spill_parts_room(&cut->parts)
                   ? rows
                   : spill_parts_room(&cut->parts);
        row_set_view(&cut->rows, batch, first, rows);
        status = cut_rows(partitions, cut, error);
    }
    return status;
}
