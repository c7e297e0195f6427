/* SPDX-License-Identifier: MIT */
/*
 * What each type asks of values that come from outside.
 */
#include "data/tablet/values.h"

#include <stdatomic.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "base/type.h"

/* A column's values. */
struct values {
    const struct table *table;
    const struct column *column;
    const struct vdbq_vector *vector;
    uint64_t rows;
    bool proves_nulls; /* a NULL that may not be fails */
};

static enum vdbq_status check_nulls(const struct values *values,
                                    struct error *error)
{
    for (uint64_t i = 0; i < values->rows; i++)
        if (vector_null(values->vector, i))
            return error_set(error, VDBQ_CONSTRAINT,
                             "table %s: column %s is NOT NULL, but is NULL in "
                             "row %llu of those to be added",
                             values->table->name, values->column->name,
                             (unsigned long long)i + 1);
    return VDBQ_OK;
}

static enum vdbq_status check_texts(const struct values *values,
                                    struct error *error)
{
    const struct vdbq_text *texts = values->vector->values;

    for (uint64_t i = 0; i < values->rows; i++) {
        if (stop_at(i))
            return error_cancelled(error);
        if (vector_null(values->vector, i))
            continue;
        if (texts[i].length > TEXT_BYTES_MAX)
            return error_set(error, VDBQ_RANGE,
                             "table %s, column %s: a text has %zu bytes, at "
                             "most %d are allowed",
                             values->table->name, values->column->name,
                             texts[i].length, (int)TEXT_BYTES_MAX);
        if (!text_is_utf8(texts[i].bytes, texts[i].length))
            return error_set(error, VDBQ_RANGE,
                             "table %s, column %s: the text in row %llu of "
                             "those to be added is not UTF-8",
                             values->table->name, values->column->name,
                             (unsigned long long)i + 1);
    }
    return VDBQ_OK;
}

static enum vdbq_status check_integers(const struct values *values,
                                       struct error *error)
{
    const struct column *column = values->column;
    const int32_t *narrow = values->vector->values;
    const int64_t *wide = values->vector->values;
    bool is_narrow = type_bytes(column->type) == sizeof *narrow;
    int64_t least, greatest;

    type_limits(column->type, &least, &greatest);
    if (column->type == VDBQ_DECIMAL && column->precision > 0) {
        greatest = decimal_power(column->precision) - 1;
        least = -greatest;
    }
    for (uint64_t i = 0; i < values->rows; i++) {
        int64_t value = is_narrow ? narrow[i] : wide[i];
        if ((value < least || value > greatest)
            && !vector_null(values->vector, i))
            return error_set(error, VDBQ_RANGE,
                             "table %s, column %s: %lld is no value of %s",
                             values->table->name, column->name,
                             (long long)value, type_name(column->type));
    }
    return VDBQ_OK;
}

static enum vdbq_status check_column(const struct values *values,
                                     struct error *error)
{
    enum vdbq_type type = values->column->type;
    enum vdbq_status status = VDBQ_OK;

    if (values->vector->type != type)
        return error_set(error, VDBQ_TYPE,
                         "table %s, column %s: the values to be added are "
                         "not of its type",
                         values->table->name, values->column->name);
    if (values->proves_nulls && values->column->not_null)
        status = check_nulls(values, error);
    if (status == VDBQ_OK && type == VDBQ_TEXT)
        status = check_texts(values, error);
    if (status == VDBQ_OK && type_is_integer(type) && type != VDBQ_INTEGER
        && type != VDBQ_BIGINT)
        status = check_integers(values, error);
    return status;
}

enum vdbq_status values_check_column(const struct table *table, unsigned column,
                                     uint64_t rows,
                                     const struct vdbq_vector *vector,
                                     struct error *error)
{
    return check_column(
        &(struct values){ table, &table->columns[column], vector, rows, true },
        error);
}

/* All columns, and the first of them that is found to fail. */
struct checking {
    const struct table *table;
    uint64_t rows;
    const struct vdbq_vector *vectors;
    bool proves_nulls;
    atomic_uint fault; /* behind the last: none */
};

static enum vdbq_status check_at(const struct checking *checking,
                                 unsigned column, struct error *error)
{
    return check_column(
        &(struct values){ checking->table, &checking->table->columns[column],
                          &checking->vectors[column], checking->rows,
                          checking->proves_nulls },
        error);
}

static void look_for_fault(void *context, unsigned column)
{
    struct checking *checking = context;
    struct error error;
    unsigned fault = atomic_load(&checking->fault);

    if (column > fault || check_at(checking, column, &error) == VDBQ_OK)
        return;
    while (column < fault
           && !atomic_compare_exchange_weak(&checking->fault, &fault, column))
        continue;
}

/* The first column that fails tells why. */
static enum vdbq_status check_all(struct checking *checking,
                                  struct error *error)
{
    unsigned count = checking->table->column_count, fault;

    atomic_init(&checking->fault, count);
    parallel_run_rows(count, checking->rows, look_for_fault, checking);
    fault = atomic_load(&checking->fault);
    return fault < count ? check_at(checking, fault, error) : VDBQ_OK;
}

enum vdbq_status values_check(const struct table *table, uint64_t rows,
                              const struct vdbq_vector *vectors,
                              struct error *error)
{
    return check_all(&(struct checking){ .table = table,
                                         .rows = rows,
                                         .vectors = vectors,
                                         .proves_nulls = true },
                     error);
}

enum vdbq_status values_check_others(const struct table *table, uint64_t rows,
                                     const struct vdbq_vector *vectors,
                                     struct error *error)
{
    return check_all(&(struct checking){ .table = table,
                                         .rows = rows,
                                         .vectors = vectors,
                                         .proves_nulls = false },
                     error);
}

void values_mark_nulls(const struct table *table, uint64_t rows,
                       const struct vdbq_vector *vectors, uint8_t *broken)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (table->columns[i].not_null && i != table->key)
            for (uint64_t row = 0; row < rows; row++)
                broken[row] |= vector_null(&vectors[i], row);
}
