/* SPDX-License-Identifier: MIT */
/*
 * Column inputs: what the encodings (data/tablet/encoding.h) say of rows of a
 * column.
 */
#include "exec/launch/column_input.h"

#include <assert.h>

#include "data/tablet/tablet.h"

unsigned column_input_number(const struct table *table, int column)
{
    assert(column < (int)table->column_count);
    if (column < 0)
        return table->key;
    unsigned number =
        (unsigned)column
        + (table->key != NO_KEY && (unsigned)column >= table->key);
    return number < table->column_count ? number : NO_KEY;
}

struct column_input column_input_of(const struct tablet *tablet,
                                    unsigned column, u64 row)
{
    assert(column < tablet->columns);
    const struct tablet_column *from = tablet_column(tablet, column);
    struct column_input input = { .values = from->values,
                                  .nulls = from->nulls,
                                  .base = from->base,
                                  .width = from->width,
                                  .encoding = from->encoding,
                                  .bits = from->bits };
    if (from->nulls == 0 && from->null_count > 0)
        input.nulls = INPUT_ALL_NULL;
    return column_input_from(input, row);
}

struct column_input column_input_from(struct column_input input, u64 row)
{
    const struct encoding *encoding = encoding_at(input.encoding);

    assert(row % 64 == 0);
    if (input.nulls != 0 && input.nulls != INPUT_ALL_NULL)
        input.nulls += row / 8;
    if (encoding->slice != NULL)
        encoding->slice(&input, row);
    return input;
}

struct column_input column_input_numbers(u64 first)
{
    return (struct column_input){ .base = (i64)first,
                                  .width = sizeof(i64),
                                  .encoding = ENCODING_SEQUENCE };
}

u64 column_input_value_bytes(const struct column_input *input, u64 rows)
{
    const struct encoding *encoding = encoding_at(input->encoding);

    return encoding->bytes != NULL ? encoding->bytes(input, rows) : 0;
}

u64 column_input_null_bytes(const struct column_input *input, u64 rows)
{
    if (input->nulls == 0 || input->nulls == INPUT_ALL_NULL)
        return 0;
    return input->encoding == ENCODING_PLAIN && input->bits == 8
               ? rows
               : (rows + 7) / 8;
}
