/* SPDX-License-Identifier: MIT */
/*
 * Texts are put in order once, among all of their column; from then on each is a
 * number, here and, once a tablet's dictionary was asked for each of them, there.
 */
#include "exec/seek/seek_rows.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_sort.h"
#include "exec/seek/seek_terms.h"
#include "exec/sort/sort.h"

/* The list while it is read. */
struct reading {
    struct seek_rows *rows;
    const struct seek_terms *terms;
    uint32_t *kept; /* rows of the list that have values ... */
    uint32_t count; /* ... so many                           */
    int64_t
        *orders[RUN_COLUMNS_MAX]; /* of these what they are ordered by     */
    uint32_t *order;              /* ... and their order                   */
};

static bool is_text(const struct seek_terms *terms, unsigned column)
{
    return seek_terms_is_text(terms, terms->step->equal_count + column);
}

/* ----------------------------------------------------------------- keep -- */

static bool has_value(const struct reading *reading, unsigned column,
                      uint64_t row)
{
    const struct vdbq_vector *list = &reading->terms->list[column];
    struct run_value ignored;

    return is_text(reading->terms, column)
               ? list->nulls == NULL || list->nulls[row] == 0
               : seek_terms_number(reading->terms, column, row, &ignored);
}

static bool keep_rows(struct reading *reading)
{
    uint64_t all = reading->terms->list_rows;

    reading->kept = memory_resize(NULL, (all + 1) * sizeof *reading->kept);
    for (uint64_t i = 0; reading->kept != NULL && i < all; i++) {
        bool has = true;
        for (unsigned c = 0; c < reading->rows->columns && has; c++)
            has = has_value(reading, c, i);
        if (has)
            reading->kept[reading->count++] = (uint32_t)i;
    }
    return reading->kept != NULL;
}

/* ---------------------------------------------------------------- order -- */

/* Signed, for the sort: its order is that of run_value_integer(). */
static int64_t order_of(uint64_t value)
{
    return (int64_t)(value ^ UINT64_C(1) << 63);
}

static void order_numbers(struct reading *reading, unsigned column)
{
    struct run_value value = { 0 };

    for (uint32_t i = 0; i < reading->count; i++) {
        seek_terms_number(reading->terms, column, reading->kept[i], &value);
        reading->orders[column][i] = order_of(value.value);
    }
}

/* Numbers texts, which are the column's different ones then. */
static void number_texts(struct reading *reading, unsigned column,
                         struct vdbq_text *texts, const struct vdbq_text *from,
                         const uint32_t *order)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < reading->count; i++) {
        struct vdbq_text text = from[reading->kept[order[i]]];
        if (count == 0 || text_compare(texts[count - 1], text) != 0)
            texts[count++] = text;
        reading->orders[column][order[i]] = count - 1;
    }
    reading->rows->text_count[column] = count;
}

static bool order_texts(struct reading *reading, unsigned column)
{
    const struct vdbq_text *from = reading->terms->list[column].values;
    size_t count = reading->count + (size_t)1;
    struct vdbq_text *texts = memory_resize(NULL, count * sizeof *texts);
    uint32_t *order = memory_resize(NULL, count * sizeof *order);
    bool done = texts != NULL && order != NULL;

    reading->rows->texts[column] = texts;
    for (uint32_t i = 0; done && i < reading->count; i++)
        texts[i] = from[reading->kept[i]];
    done = done && dictionary_sort(texts, reading->count, order);
    if (done)
        number_texts(reading, column, texts, from, order);
    memory_release(order);
    return done;
}

static bool order_columns(struct reading *reading)
{
    bool done = true;

    for (unsigned c = 0; c < reading->rows->columns && done; c++) {
        reading->orders[c] = memory_resize(
            NULL, (reading->count + (size_t)1) * sizeof **reading->orders);
        done = reading->orders[c] != NULL;
        if (done && is_text(reading->terms, c))
            done = order_texts(reading, c);
        else if (done)
            order_numbers(reading, c);
    }
    return done;
}

static enum vdbq_status order_rows(struct reading *reading, unsigned threads,
                                   struct error *error)
{
    struct sort_key keys[RUN_COLUMNS_MAX] = { 0 };

    for (unsigned c = 0; c < reading->rows->columns; c++)
        keys[c] =
            (struct sort_key){ .type = TYPE_I64, .values = reading->orders[c] };
    reading->order = memory_resize(NULL, (reading->count + (size_t)1)
                                             * sizeof *reading->order);
    return reading->order != NULL
               ? sort_order(keys, reading->rows->columns, reading->count,
                            threads, reading->order, error)
               : error_no_memory(error);
}

/* ---------------------------------------------------------------- write -- */

static bool is_same(const struct reading *reading, uint32_t a, uint32_t b)
{
    bool same = true;

    for (unsigned c = 0; c < reading->rows->columns; c++)
        same &= reading->orders[c][a] == reading->orders[c][b];
    return same;
}

static bool make_room(struct reading *reading)
{
    struct seek_rows *rows = reading->rows;
    size_t count = reading->count + (size_t)1;
    bool done;

    assert(rows->columns > 0 && rows->values == NULL);
    rows->values = memory_zeroed(count * rows->columns, sizeof *rows->values);
    done = rows->values != NULL;
    for (unsigned c = 0; c < rows->columns && done; c++) {
        if (!is_text(reading->terms, c))
            continue;
        rows->numbers[c] =
            memory_resize(NULL, count * sizeof *rows->numbers[c]);
        done = rows->numbers[c] != NULL;
    }
    return done;
}

/* Adds a row: what its columns are ordered by. */
static void write_row(struct reading *reading, uint32_t row)
{
    struct seek_rows *rows = reading->rows;
    struct run_value *to = rows->values + (size_t)rows->count * rows->columns;

    assert(row < reading->count && rows->count < reading->count);
    for (unsigned c = 0; c < rows->columns; c++) {
        int64_t order = reading->orders[c][row];
        to[c] = run_value_integer(order);
        if (rows->numbers[c] != NULL)
            rows->numbers[c][rows->count] = (uint32_t)order;
    }
    rows->count++;
}

static void write_rows(struct reading *reading)
{
    const uint32_t *order = reading->order;

    for (uint32_t i = 0; i < reading->count; i++)
        if (i == 0 || !is_same(reading, order[i - 1], order[i]))
            write_row(reading, order[i]);
}

enum vdbq_status seek_rows_init(struct seek_rows *rows,
                                const struct seek_terms *terms,
                                unsigned threads, struct error *error)
{
    struct reading reading = { .rows = rows, .terms = terms };
    enum vdbq_status status = VDBQ_OK;

    *rows = (struct seek_rows){ .columns = terms->step->list_columns };
    if (!keep_rows(&reading) || !order_columns(&reading)
        || !make_room(&reading))
        status = stop_or_no_memory(error);
    if (status == VDBQ_OK)
        status = order_rows(&reading, threads, error);
    if (status == VDBQ_OK)
        write_rows(&reading);
    memory_release(reading.kept);
    memory_release(reading.order);
    for (unsigned c = 0; c < rows->columns; c++)
        memory_release(reading.orders[c]);
    return status;
}

void seek_rows_finish(struct seek_rows *rows)
{
    memory_release(rows->values);
    for (unsigned c = 0; c < rows->columns; c++) {
        memory_release(rows->texts[c]);
        memory_release(rows->numbers[c]);
    }
    *rows = (struct seek_rows){ .count = 0 };
}

/* ------------------------------------------------------------ one tablet -- */

/* What the texts of a column are in a tablet; NULL: no memory. */
static struct run_value *texts_in(const struct seek_rows *rows,
                                  const struct seek_terms *terms,
                                  unsigned column, const void *block,
                                  const struct run *run)
{
    unsigned key = terms->step->equal_count + column;
    uint32_t count = rows->text_count[column];
    struct run_value *values =
        memory_resize(NULL, (count + (size_t)1) * sizeof *values);

    if (values != NULL)
        run_value_texts(block, terms->step->keys[key], rows->texts[column],
                        count, run != NULL ? &run->columns[key] : NULL, values);
    return values;
}

/* Fills in the texts of a column, in all rows. */
static bool put_texts(const struct seek_rows *rows,
                      const struct seek_terms *terms, unsigned column,
                      const void *block, const struct run *run,
                      struct run_value *list)
{
    struct run_value *values = texts_in(rows, terms, column, block, run);

    for (uint32_t i = 0; values != NULL && i < rows->count; i++)
        list[(size_t)i * rows->columns + column] =
            values[rows->numbers[column][i]];
    memory_release(values);
    return values != NULL && !stop_asked();
}

/* Keeps the rows of which the tablet has all texts. */
static uint32_t keep_exact(const struct seek_rows *rows, struct run_value *list)
{
    size_t bytes = rows->columns * sizeof *list;
    uint32_t count = 0;

    for (uint32_t i = 0; i < rows->count; i++) {
        const struct run_value *row = list + (size_t)i * rows->columns;
        bool exact = true;
        for (unsigned c = 0; c < rows->columns; c++)
            exact &= row[c].exact;
        if (exact)
            memmove(list + (size_t)count++ * rows->columns, row, bytes);
    }
    return count;
}

bool seek_rows_in(const struct seek_rows *rows, const struct seek_terms *terms,
                  const void *block, const struct run *run,
                  struct run_value **made, uint32_t *count)
{
    size_t bytes = (size_t)rows->count * rows->columns * sizeof **made;
    bool texts = false, done = true;

    *made = NULL;
    *count = rows->count;
    for (unsigned c = 0; c < rows->columns; c++)
        texts |= rows->texts[c] != NULL;
    if (!texts)
        return true;
    *made = memory_resize(NULL, bytes + 1);
    if (*made == NULL)
        return false;
    memcpy(*made, rows->values, bytes);
    for (unsigned c = 0; c < rows->columns && done; c++)
        if (rows->texts[c] != NULL)
            done = put_texts(rows, terms, c, block, run, *made);
    *count = done ? keep_exact(rows, *made) : 0;
    return done;
}
