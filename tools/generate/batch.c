/* SPDX-License-Identifier: MIT */
/* The values of rows that are made. Relies on vdbq.h alone. */
#include "batch.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"

/* ---------------------------------------------------------------- room -- */

static size_t value_bytes(enum vdbq_type type)
{
    switch (type) {
    case VDBQ_TEXT:
        return sizeof(struct vdbq_text);
    case VDBQ_BIGINT:
    case VDBQ_TIMESTAMP:
    case VDBQ_DECIMAL:
        return sizeof(int64_t);
    default:
        return sizeof(int32_t);
    }
}

bool batch_init(struct batch *batch, const struct output_table *table,
                uint64_t rows, size_t text_bytes)
{
    *batch = (struct batch){ .room_rows = rows };
    batch->room = malloc(rows * text_bytes + BATCH_TEXT_BYTES);
    bool room = batch->room != NULL;
    for (unsigned i = 0; i < table->columns && room; i++) {
        enum vdbq_type type = table->types[i];
        batch->values[i] = malloc(rows * value_bytes(type));
        batch->nulls[i] = calloc(rows, 1);
        batch->vectors[i] =
            (struct vdbq_vector){ .type = type, .values = batch->values[i] };
        room = batch->values[i] && batch->nulls[i];
    }
    return room;
}

void batch_finish(struct batch *batch)
{
    for (unsigned i = 0; i < OUTPUT_COLUMNS_MAX; i++) {
        free(batch->values[i]);
        free(batch->nulls[i]);
    }
    free(batch->room);
}

void batch_clear(struct batch *batch)
{
    batch->used = 0;
    for (unsigned i = 0; i < OUTPUT_COLUMNS_MAX; i++)
        if (batch->vectors[i].nulls) {
            memset(batch->nulls[i], 0, batch->room_rows);
            batch->vectors[i].nulls = NULL;
        }
}

/* -------------------------------------------------------------- values -- */

void batch_integer(struct batch *batch, unsigned column, uint64_t row,
                   int64_t value)
{
    if (value_bytes(batch->vectors[column].type) == sizeof value)
        ((int64_t *)batch->values[column])[row] = value;
    else
        ((int32_t *)batch->values[column])[row] = (int32_t)value;
}

void batch_null(struct batch *batch, unsigned column, uint64_t row)
{
    batch->vectors[column].nulls = batch->nulls[column];
    batch->nulls[column][row] = 1;
}

void batch_hundredths(struct batch *batch, unsigned column, uint64_t row,
                      int64_t value)
{
    ((int64_t *)batch->values[column])[row] = value;
}

void batch_text(struct batch *batch, unsigned column, uint64_t row,
                struct vdbq_text text)
{
    ((struct vdbq_text *)batch->values[column])[row] = text;
}

void batch_words(struct batch *batch, unsigned column, uint64_t row,
                 const char *words)
{
    batch_text(batch, column, row, (struct vdbq_text){ words, strlen(words) });
}

void batch_print(struct batch *batch, unsigned column, uint64_t row,
                 const char *format, ...)
{
    char *to = batch->room + batch->used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to, BATCH_TEXT_BYTES, format, arguments);
    va_end(arguments);
    batch_room(batch, column, row, (size_t)length);
}

char *batch_room(struct batch *batch, unsigned column, uint64_t row,
                 size_t length)
{
    char *to = batch->room + batch->used;
    batch_text(batch, column, row, (struct vdbq_text){ to, length });
    batch->used += length;
    return to;
}

/* -------------------------------------------------------------- random -- */

struct random random_start(uint64_t seed, const struct output_table *table,
                           uint64_t row)
{
    uint64_t stream =
        generate_mix(seed + table->columns * 256 + (uint64_t)table->name[0]);
    return (struct random){ generate_mix(stream + row) };
}

uint64_t random_bits(struct random *random)
{
    return random->state = generate_mix(random->state);
}

uint32_t random_below(struct random *random, uint32_t limit)
{
    return generate_below(random_bits(random), limit);
}

int64_t random_between(struct random *random, int64_t low, int64_t high)
{
    return low + random_below(random, (uint32_t)(high - low + 1));
}
