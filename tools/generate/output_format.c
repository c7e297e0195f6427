/* SPDX-License-Identifier: MIT */
/*
 * Rows as lines of CSV. Hundreds of millions of them are written, so whole
 * numbers are printed here, not by printf.
 */
#include <stdlib.h>
#include <string.h>

#include "output.h"

enum { NUMBER_BYTES = VDBQ_VALUE_BYTES + 1 }; /* of a value with its comma */

static bool reserve(struct output_text *text, size_t more)
{
    if (text->size + more <= text->capacity)
        return true;
    size_t capacity = text->capacity * 2 + more;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes)
        return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void output_text_finish(struct output_text *text)
{
    free(text->bytes);
    *text = (struct output_text){ 0 };
}

/* Each print_x() writes a value and returns where it ends. */

static char *print_integer(char *to, int64_t value)
{
    char digits[20];
    unsigned count = 0;
    uint64_t rest = value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
    if (value < 0)
        *to++ = '-';
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

/* The shortest text that reads back as the same float. */
static char *print_float(char *to, float value)
{
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(to, NUMBER_BYTES, "%.*g", digits, (double)value);
        if (strtof(to, NULL) == value)
            break;
    }
    return to + strlen(to);
}

/* Without quotes, an empty text would be NULL. */
static bool needs_quotes(struct vdbq_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (strchr(",\"\n\r", text.bytes[i]))
            return true;
    return text.length == 0;
}

static char *print_words(char *to, struct vdbq_text text)
{
    if (!needs_quotes(text)) {
        memcpy(to, text.bytes, text.length);
        return to + text.length;
    }
    *to++ = '"';
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] == '"')
            *to++ = '"';
        *to++ = text.bytes[i];
    }
    *to++ = '"';
    return to;
}

static char *print_value(char *to, const struct vdbq_vector *vector,
                         uint64_t row)
{
    if (vector->nulls && vector->nulls[row])
        return to;
    switch (vector->type) {
    case VDBQ_TEXT:
        return print_words(to, ((const struct vdbq_text *)vector->values)[row]);
    case VDBQ_DECIMAL:
        return to
               + vdbq_value_print(VDBQ_DECIMAL, OUTPUT_SCALE,
                                  (const int64_t *)vector->values + row, to);
    case VDBQ_TIMESTAMP:
        return to
               + vdbq_value_print(VDBQ_TIMESTAMP, 0,
                                  (const int64_t *)vector->values + row, to);
    case VDBQ_BIGINT:
        return print_integer(to, ((const int64_t *)vector->values)[row]);
    case VDBQ_DATE:
        return to
               + vdbq_value_print(VDBQ_DATE, 0,
                                  (const int32_t *)vector->values + row, to);
    case VDBQ_FLOAT:
        return print_float(to, ((const float *)vector->values)[row]);
    default:
        return print_integer(to, ((const int32_t *)vector->values)[row]);
    }
}

/* More bytes than a row's text has. */
static size_t row_bytes(const struct output_table *table,
                        const struct output_batch *batch, uint64_t row)
{
    size_t bytes = table->columns * (size_t)NUMBER_BYTES;
    for (unsigned i = 0; i < table->columns; i++)
        if (table->types[i] == VDBQ_TEXT)
            bytes += 2
                     * ((const struct vdbq_text *)batch->vectors[i].values)[row]
                           .length;
    return bytes;
}

bool output_format(const struct output_table *table,
                   const struct output_batch *batch, struct output_text *text)
{
    for (uint64_t row = 0; row < batch->rows; row++) {
        if (!reserve(text, row_bytes(table, batch, row)))
            return false;
        char *to = text->bytes + text->size;
        for (unsigned i = 0; i < table->columns; i++) {
            to = print_value(to, &batch->vectors[i], row);
            *to++ = ',';
        }
        to[-1] = '\n';
        text->size = (size_t)(to - text->bytes);
    }
    return true;
}
