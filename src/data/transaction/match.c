/* SPDX-License-Identifier: MIT */
/*
 * A join gives rows in the order that it chose, and a row of the table as often
 * as it has partners. What becomes of it depends on neither: rows are ordered by
 * their numbers in the table, and then by the values that they are to get.
 */
#include "data/transaction/match.h"

#include <stdlib.h>
#include <string.h>

#include "data/database/rows_gather.h"
#include "base/type.h"
#include "data/tablet/dictionary_sort.h"

/* A row that was given. */
struct match {
    const struct vdbq_vector *values; /* that it is to get ... */
    unsigned value_count;
    uint64_t number; /* of the row in its table */
    uint32_t row;    /* among those given */
};

/* Of one type, none of them NULL. */
static int compare_values(enum vdbq_type type, const void *a, const void *b)
{
    int64_t whole[2];
    double real[2];

    if (type == VDBQ_TEXT)
        return text_compare(*(const struct vdbq_text *)a,
                            *(const struct vdbq_text *)b);
    if (type_is_real(type)) {
        bool small = type == VDBQ_FLOAT;
        real[0] = small ? (double)*(const float *)a : *(const double *)a;
        real[1] = small ? (double)*(const float *)b : *(const double *)b;
        return (real[0] > real[1]) - (real[0] < real[1]);
    }
    if (type_bytes(type) == sizeof(int32_t)) {
        whole[0] = *(const int32_t *)a;
        whole[1] = *(const int32_t *)b;
    } else {
        whole[0] = *(const int64_t *)a;
        whole[1] = *(const int64_t *)b;
    }
    return (whole[0] > whole[1]) - (whole[0] < whole[1]);
}

/* NULL comes first. */
static int compare_in(const struct vdbq_vector *vector, uint32_t a, uint32_t b)
{
    size_t width = type_bytes(vector->type);
    const char *values = vector->values;
    int nulls[2] = { vector->nulls != NULL && vector->nulls[a] != 0,
                     vector->nulls != NULL && vector->nulls[b] != 0 };

    if (nulls[0] || nulls[1])
        return nulls[1] - nulls[0];
    return compare_values(vector->type, values + a * width, values + b * width);
}

static int compare_matches(const void *left, const void *right)
{
    const struct match *a = left, *b = right;
    int order = (a->number > b->number) - (a->number < b->number);

    for (unsigned i = 0; order == 0 && i < a->value_count; i++)
        order = compare_in(&a->values[i], a->row, b->row);
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

/* Adds the first of each row of the table. */
static enum vdbq_status take_first(const struct match *matches, uint32_t count,
                                   const struct vdbq_vector *vectors,
                                   unsigned column_count, struct rows *taken,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (uint32_t i = 0; i < count && status == VDBQ_OK; i++)
        if (i == 0 || matches[i].number != matches[i - 1].number)
            status = rows_gather(taken, vectors, column_count, matches[i].row,
                                 1, error);
    return status;
}

/* Whether rows come as they should. */
static bool is_in_order(const uint64_t *numbers, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (numbers[i] <= numbers[i - 1])
            return false;
    return true;
}

static enum vdbq_status sort_rows(struct rows *rows, unsigned value_count,
                                  const struct vdbq_vector *vectors,
                                  const uint64_t *numbers, struct error *error)
{
    struct match *matches = memory_zeroed(rows->count, sizeof *matches);
    struct rows taken = { 0 };
    enum vdbq_status status;

    if (matches == NULL)
        return error_no_memory(error);
    for (uint32_t i = 0; i < rows->count; i++)
        matches[i] = (struct match){ vectors + 1, value_count, numbers[i], i };
    qsort(matches, rows->count, sizeof *matches, compare_matches);
    status = take_first(matches, rows->count, vectors, rows->column_count,
                        &taken, error);
    memory_release(matches);
    if (status != VDBQ_OK) {
        rows_finish(&taken);
        return status;
    }
    rows_finish(rows);
    *rows = taken;
    return VDBQ_OK;
}

enum vdbq_status match_rows(struct rows *rows, unsigned value_count,
                            struct error *error)
{
    struct vdbq_vector *vectors;
    const uint64_t *numbers;
    enum vdbq_status status = VDBQ_OK;

    if (rows->count <= 1)
        return VDBQ_OK;
    vectors = memory_zeroed(rows->column_count, sizeof *vectors);
    if (vectors == NULL)
        return error_no_memory(error);
    rows_vectors(rows, vectors);
    numbers = vectors[0].values;
    if (!is_in_order(numbers, rows->count))
        status = sort_rows(rows, value_count, vectors, numbers, error);
    memory_release(vectors);
    return status;
}
