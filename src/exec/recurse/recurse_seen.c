/* SPDX-License-Identifier: MIT */
/*
 * Rows of all rounds. A text is looked up by the hash of its bytes, and copied when it
 * comes first. Texts, and rows that are kept, are held in memory, whatever the account
 * says.
 */
#include "exec/recurse/recurse_seen.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "base/threads/stop.h"

enum { SLOTS_FIRST = 256 };

/* -------------------------------------------------------- init, finish -- */

enum vdbq_status recurse_seen_init(struct recurse_seen *seen,
                                   const struct step *step,
                                   struct account_share *memory, bool keeps,
                                   struct error *error)
{
    unsigned count = step->column_count;
    enum vdbq_status status;

    *seen = (struct recurse_seen){ .distinct = step->recurse.distinct,
                                   .keeps = keeps,
                                   .texts = VECTOR(struct vdbq_text),
                                   .memory = memory };
    seen->batch = memory_zeroed(count, sizeof *seen->batch);
    seen->numbers = memory_zeroed(count, sizeof *seen->numbers);
    if (seen->batch == NULL || seen->numbers == NULL)
        return error_no_memory(error);
    status = row_set_init(&seen->rows, step->columns, count, error);
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++)
        seen->batch[i] = seen->rows.columns[i];
    recurse_table_init(&seen->table, seen->batch, count, account_least(memory));
    return status;
}

void recurse_seen_finish(struct recurse_seen *seen)
{
    for (unsigned i = 0; seen->numbers && i < seen->rows.column_count; i++)
        memory_release(seen->numbers[i]);
    memory_release(seen->numbers);
    memory_release(seen->batch);
    memory_release(seen->slots);
    vector_finish(&seen->texts);
    arena_finish(&seen->arena);
    recurse_table_finish(&seen->table);
    memory_release(seen->is_new);
    row_set_finish(&seen->rows);
    *seen = (struct recurse_seen){ 0 };
}

/* --------------------------------------------------------------- texts -- */

static const struct vdbq_text *text_at(const struct recurse_seen *seen,
                                       uint32_t number)
{
    return vector_at(&seen->texts, number);
}

static bool same_text(const struct vdbq_text *a, const struct vdbq_text *b)
{
    return a->length == b->length
           && (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0);
}

/* The slot of a text: its own, or a free one. */
static uint32_t *slot_of(const struct recurse_seen *seen,
                         const struct vdbq_text *text)
{
    uint32_t mask = seen->slot_count - 1;
    uint32_t at = (uint32_t)text_hash(text->bytes, text->length) & mask;

    while (seen->slots[at] != 0
           && !same_text(text_at(seen, seen->slots[at] - 1), text))
        at = (at + 1) & mask;
    return &seen->slots[at];
}

/* Twice as many slots, before half of them are full. */
static bool grow_slots(struct recurse_seen *seen)
{
    uint32_t count = seen->slot_count > 0 ? seen->slot_count * 2 : SLOTS_FIRST;
    uint32_t *slots;

    if (seen->texts.count < seen->slot_count / 2)
        return true;
    slots = count > 0 ? memory_zeroed(count, sizeof *slots) : NULL;
    if (slots == NULL)
        return false;
    memory_release(seen->slots);
    seen->slots = slots;
    seen->slot_count = count;
    for (uint32_t i = 0; i < seen->texts.count; i++)
        *slot_of(seen, text_at(seen, i)) = i + 1;
    return true;
}

/* The number of a text; false: no memory. */
static bool number_text(struct recurse_seen *seen, struct vdbq_text text,
                        uint32_t *number)
{
    uint32_t *slot;

    if (!grow_slots(seen))
        return false;
    slot = slot_of(seen, &text);
    if (*slot == 0) {
        text.bytes = arena_copy(&seen->arena, text.bytes, text.length);
        if (text.bytes == NULL || !vector_append(&seen->texts, &text, 1))
            return false;
        *slot = (uint32_t)seen->texts.count;
    }
    *number = *slot - 1;
    return true;
}

/* ---------------------------------------------------------------- rows -- */

static bool make_room(struct recurse_seen *seen, uint64_t rows)
{
    for (unsigned i = 0; i < seen->rows.column_count && rows > seen->room;
         i++) {
        uint32_t *numbers;
        if (seen->rows.columns[i].type != VDBQ_TEXT)
            continue;
        numbers = memory_resize(seen->numbers[i], rows * sizeof *numbers);
        if (numbers == NULL)
            return false;
        seen->numbers[i] = numbers;
    }
    if (rows > seen->room) {
        bool *is_new = memory_resize(seen->is_new, rows * sizeof *is_new);
        if (is_new == NULL)
            return false;
        seen->is_new = is_new;
        seen->room = rows;
    }
    return true;
}

/* The numbers of a column's texts; false: no memory, or asked to stop. */
static bool number_texts(struct recurse_seen *seen, unsigned column,
                         const struct dictionary *dictionary, uint64_t rows)
{
    struct row_set_column *to = &seen->batch[column];
    const uint32_t *from = to->values;

    for (uint64_t i = 0; i < rows; i++) {
        seen->numbers[column][i] = 0;
        if (stop_at(i))
            return false;
        if (!row_set_is_null(to, i)
            && !number_text(seen, dictionary_text(dictionary, from[i]),
                            &seen->numbers[column][i]))
            return false;
    }
    to->values = seen->numbers[column];
    return true;
}

/* Counts what is held now. */
static void count_memory(struct recurse_seen *seen)
{
    uint64_t bytes = seen->texts.count * sizeof(struct vdbq_text)
                     + seen->slot_count * sizeof *seen->slots
                     + arena_bytes(&seen->arena);

    for (unsigned i = 0; i < seen->rows.column_count; i++)
        bytes += seen->rows.rows_room * (seen->rows.columns[i].width + 1);
    if (bytes > seen->counted)
        account_take_anyway(seen->memory, bytes - seen->counted);
    if (bytes > seen->counted)
        seen->counted = bytes;
}

enum vdbq_status recurse_seen_take(struct recurse_seen *seen,
                                   const struct vdbq_batch *batch,
                                   struct dictionary *const *dictionaries,
                                   struct error *error)
{
    if (!make_room(seen, batch->rows))
        return error_no_memory(error);
    for (unsigned i = 0; i < seen->rows.column_count; i++) {
        const struct vdbq_vector *vector = &batch->column[i];
        enum vdbq_type type = seen->rows.columns[i].type;
        seen->batch[i] = (struct row_set_column){
            .type = type,
            .width = row_set_width(type),
            .values = (void *)(uintptr_t)vector->values,
            .nulls = (uint8_t *)(uintptr_t)vector->nulls
        };
        if (type == VDBQ_TEXT
            && !number_texts(seen, i, dictionaries[i], batch->rows))
            return stop_or_no_memory(error);
    }
    count_memory(seen);
    return !seen->distinct
                   || recurse_table_add(&seen->table, batch->rows, seen->is_new)
               ? VDBQ_OK
               : stop_or_no_memory(error);
}

/* Copies row `row` of the batch at hand behind the others. */
static enum vdbq_status append_row(struct recurse_seen *seen, uint64_t row,
                                   struct error *error)
{
    struct row_set *rows = &seen->rows;
    bool grows = rows->rows == rows->rows_room;
    enum vdbq_status status = row_set_room(rows, 1, error);

    for (unsigned i = 0; i < rows->column_count && status == VDBQ_OK; i++) {
        const struct row_set_column *from = &seen->batch[i];
        struct row_set_column *to = &rows->columns[i];
        bool null = row_set_is_null(from, row);
        if (null)
            status = row_set_flags(rows, i, error);
        if (to->nulls != NULL)
            to->nulls[rows->rows] = null;
        memcpy((char *)to->values + rows->rows * to->width,
               (const char *)from->values + row * to->width, to->width);
    }
    if (status == VDBQ_OK)
        rows->rows++;
    if (grows)
        count_memory(seen);
    return status;
}

enum vdbq_status recurse_seen_add(struct recurse_seen *seen, uint64_t row,
                                  bool *is_new, struct error *error)
{
    *is_new = !seen->distinct || seen->is_new[row];
    return *is_new && seen->keeps ? append_row(seen, row, error) : VDBQ_OK;
}

/* ----------------------------------------------------------------- end -- */

enum vdbq_status recurse_seen_end(struct recurse_seen *seen,
                                  struct error *error)
{
    size_t count = seen->texts.count;
    uint32_t *numbers = memory_zeroed(count + 1, sizeof *numbers);
    struct dictionary *words =
        numbers != NULL ? dictionary_make(seen->texts.items, count, numbers)
                        : NULL;

    for (unsigned i = 0; words != NULL && i < seen->rows.column_count; i++) {
        struct row_set_column *column = &seen->rows.columns[i];
        uint32_t *values = column->values;
        if (column->type != VDBQ_TEXT)
            continue;
        for (uint64_t row = 0; row < seen->rows.rows && count > 0; row++)
            values[row] = numbers[values[row]];
        row_set_dictionary(&seen->rows, i, dictionary_hold(words));
    }
    dictionary_release(words);
    memory_release(numbers);
    return words != NULL ? VDBQ_OK : stop_or_no_memory(error);
}
