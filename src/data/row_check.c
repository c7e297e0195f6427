/* SPDX-License-Identifier: MIT */
/*
 * Checks of one column after the other.
 */
#include "data/row_check.h"

#include <math.h>

#include "data/key.h"

/* The least and the greatest number that a column takes. */
struct range {
    int64_t least, greatest;
};

static bool is_null(const struct vdbq_vector *vector, uint64_t row)
{
    if (vector->nulls != NULL && vector->nulls[row] != 0)
        return true;
    if (vector->type == VDBQ_FLOAT)
        return isnan(((const float *)vector->values)[row]);
    return vector->type == VDBQ_DOUBLE
        && isnan(((const double *)vector->values)[row]);
}

static enum vdbq_status check_nulls(const struct table *table,
                                    unsigned column, uint64_t rows,
                                    const struct vdbq_vector *vector,
                                    struct error *error)
{
    bool real = vector->type == VDBQ_FLOAT || vector->type == VDBQ_DOUBLE;

    for (uint64_t i = 0; i < rows && (vector->nulls != NULL || real); i++)
        if (is_null(vector, i))
            return error_set(error, VDBQ_CONSTRAINT,
                             "table %s: row %llu has no value for column %s, "
                             "which is NOT NULL", table->name,
                             (unsigned long long)i + 1,
                             table->columns[column].name);
    return VDBQ_OK;
}

/* False: all numbers that a vector can hold are good. */
static bool range_of(const struct column *column, struct range *range)
{
    int64_t limit = 1;

    switch (column->type) {
    case VDBQ_BOOLEAN:
        *range = (struct range){ 0, 1 };
        return true;
    case VDBQ_SMALLINT:
        *range = (struct range){ INT16_MIN, INT16_MAX };
        return true;
    case VDBQ_DECIMAL:
        for (unsigned i = 0; i < column->precision && i < 18; i++)
            limit *= 10;
        *range = (struct range){ 1 - limit, limit - 1 };
        return column->precision > 0;
    default:
        return false;
    }
}

static enum vdbq_status out_of_range(const struct table *table,
                                     const struct column *column,
                                     uint64_t row, struct error *error)
{
    if (column->type == VDBQ_DECIMAL)
        return error_set(error, VDBQ_RANGE,
                         "table %s: the value of row %llu does not fit column "
                         "%s, which is DECIMAL(%u,%u)", table->name,
                         (unsigned long long)row + 1, column->name,
                         column->precision, column->scale);
    return error_set(error, VDBQ_RANGE,
                     "table %s: the value of row %llu does not fit column %s, "
                     "which is %s", table->name, (unsigned long long)row + 1,
                     column->name, vdbq_type_name(column->type));
}

static enum vdbq_status check_range(const struct table *table,
                                    const struct column *column,
                                    uint64_t rows,
                                    const struct vdbq_vector *vector,
                                    struct error *error)
{
    const int32_t *narrow = vector->values;
    const int64_t *wide = vector->values;
    struct range range;

    if (!range_of(column, &range))
        return VDBQ_OK;
    for (uint64_t i = 0; i < rows; i++) {
        int64_t value = column->type == VDBQ_DECIMAL ? wide[i] : narrow[i];
        if ((value < range.least || value > range.greatest)
            && !is_null(vector, i))
            return out_of_range(table, column, i, error);
    }
    return VDBQ_OK;
}

enum vdbq_status row_check(const struct table *table, uint64_t rows,
                           const struct vdbq_vector *vectors,
                           struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++) {
        const struct column *column = &table->columns[i];
        if (vectors[i].type != column->type)
            return error_set(error, VDBQ_TYPE,
                             "table %s, column %s: the values to be added are "
                             "not of its type", table->name, column->name);
        if (column->not_null && i != table->key)
            status = check_nulls(table, i, rows, &vectors[i], error);
        if (status == VDBQ_OK)
            status = check_range(table, column, rows, &vectors[i], error);
    }
    if (status != VDBQ_OK || table->key == NO_KEY)
        return status;
    return key_check_nulls(table, rows, vectors, error);
}
