/* SPDX-License-Identifier: MIT */
/*
 * Values as text, and the formats that stream: rows follow each other as they
 * come. Many rows are cut into parts, which the library's workers write each
 * into a buffer of its own; while some parts are made, those before them are
 * written out, in order.
 *
 * A buffer never grows: where a part's next row may not fit, that row and
 * those behind it are the caller's to write, and parts have fewer rows from
 * then on. So memory does not depend on what the rows hold.
 */
#include "io/format_inner.h"
#include "io/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PART_ROWS = 1024,    /* at first; a few ten us of work at least  */
    PARTS = 16,          /* made at a time ...                       */
    BUFFERS = 2 * PARTS, /* ... while as many are written out     */
    ESCAPE_MAX = 6,      /* bytes that one of a text becomes at most */
};

/* -------------------------------------------------------------- values -- */

static char *write_name(const struct format *format, double value, char *at)
{
    const char *name = format->names[isnan(value) ? 0 : value > 0 ? 1 : 2];
    size_t length = strlen(name);
    memcpy(at, name, length);
    return at + length;
}

static char *write_number(const struct format *format,
                          const struct vdbq_vector *vector, uint64_t row,
                          char *at)
{
    double real;
    switch (vector->type) {
    case VDBQ_INTEGER:
    case VDBQ_SMALLINT:
        return number_from_int(((const int32_t *)vector->values)[row], at);
    case VDBQ_BIGINT:
        return number_from_int(((const int64_t *)vector->values)[row], at);
    case VDBQ_FLOAT:
        real = (double)((const float *)vector->values)[row];
        return isfinite(real) ? number_from_float((float)real, at)
                              : write_name(format, real, at);
    case VDBQ_DOUBLE:
        real = ((const double *)vector->values)[row];
        return isfinite(real) ? number_from_double(real, at)
                              : write_name(format, real, at);
    default:
        return at;
    }
}

bool format_left(enum vdbq_type type)
{
    return type == VDBQ_TEXT || type == VDBQ_BOOLEAN || type == VDBQ_DATE
           || type == VDBQ_TIMESTAMP;
}

/* A value whose text form the library knows; false: it is another one. */
static bool write_other(const struct format_result *result, struct out *out,
                        const struct vdbq_vector *vector, unsigned scale,
                        uint64_t row)
{
    const int32_t *narrow = vector->values;
    const int64_t *wide = vector->values;
    enum vdbq_type type = vector->type;
    char room[VDBQ_VALUE_BYTES];
    size_t length;
    switch (type) {
    case VDBQ_BOOLEAN:
    case VDBQ_DATE:
        length = vdbq_value_print(type, 0, narrow + row, room);
        break;
    case VDBQ_DECIMAL:
    case VDBQ_TIMESTAMP:
        length = vdbq_value_print(type, scale, wide + row, room);
        break;
    default:
        return false;
    }
    if (type == VDBQ_DATE || type == VDBQ_TIMESTAMP)
        format_text(result, out, room, length);
    else
        out_bytes(out, room, length);
    return true;
}

void format_value(const struct format_result *result, struct out *out,
                  const struct vdbq_batch *batch, unsigned column, uint64_t row)
{
    const struct vdbq_vector *vector = &batch->column[column];
    if (vector->nulls && vector->nulls[row]) {
        out_text(out, result->null_text);
    } else if (vector->type == VDBQ_TEXT) {
        const struct vdbq_text *text = vector->values;
        format_text(result, out, text[row].bytes, text[row].length);
    } else if (!write_other(result, out, vector, result->scales[column], row)) {
        char *at = out_room(out, NUMBER_ROOM);
        out_used(out, write_number(result->format, vector, row, at));
    }
}

/* ---------------------------------------------------------------- rows -- */

static void stream_row(const struct format_result *result, struct out *out,
                       const struct vdbq_batch *batch, uint64_t row)
{
    size_t start = 0;
    if (result->rows + row > 0)
        out_text(out, result->format->between_rows);
    for (unsigned i = 0; i < result->columns; i++) {
        size_t end = result->prefix_ends[i];
        if (end == start + 1)
            out_char(out, result->prefixes.bytes[start]);
        else
            out_bytes(out, result->prefixes.bytes + start, end - start);
        format_value(result, out, batch, i, row);
        start = end;
    }
    out_text(out, result->format->end_row);
}

static void stream_rows(const struct format_result *result,
                        const struct vdbq_batch *batch, uint64_t first,
                        uint64_t end)
{
    for (uint64_t row = first; row < end; row++)
        stream_row(result, result->out, batch, row);
}

/* --------------------------------------------------------------- parts -- */

struct format_part {
    struct out out;
    uint64_t end; /* the row behind the last one that is in `out` */
};

/* Neighbouring parts, under way. */
struct round {
    const struct format_result *result;
    const struct vdbq_batch *batch;
    struct format_part *parts; /* of these buffers                         */
    unsigned count;            /* of them; 0: there is nothing to write    */
    uint64_t first;            /* row of the first of them                 */
    uint64_t rows;             /* of each of them; the last may be shorter */
    size_t room;               /* that a row needs beside its texts, at most */
    bool fits; /* once they are written out: all rows had room */
};

static bool is_text(const struct vdbq_vector *vector, uint64_t row)
{
    return vector->type == VDBQ_TEXT && !(vector->nulls && vector->nulls[row]);
}

/* The most that any row takes, or asks for at once, beside its texts. */
static size_t row_room(const struct format_result *result)
{
    const struct format *format = result->format;
    size_t null = strlen(result->null_text);
    size_t value = null > VDBQ_VALUE_BYTES ? null : VDBQ_VALUE_BYTES;
    if (value < NUMBER_ROOM)
        value = NUMBER_ROOM;
    return OUT_ROOM_MAX + result->prefixes.length + strlen(format->between_rows)
           + strlen(format->end_row) + result->columns * (value + 2);
}

/* Whether a row fits into what is left of a buffer, whatever it escapes. */
static bool row_fits(const struct round *round, const struct out *out,
                     uint64_t row)
{
    size_t left = out->capacity - out->length;
    if (round->room > left)
        return false;
    left = (left - round->room) / ESCAPE_MAX;
    for (unsigned i = 0; i < round->batch->columns; i++) {
        const struct vdbq_vector *vector = &round->batch->column[i];
        if (!is_text(vector, row))
            continue;
        size_t length = ((const struct vdbq_text *)vector->values)[row].length;
        if (length > left)
            return false;
        left -= length;
    }
    return true;
}

static uint64_t part_end(const struct round *round, unsigned i)
{
    uint64_t end = round->first + (i + 1) * round->rows;
    return end < round->batch->rows ? end : round->batch->rows;
}

/* A part, as far as there is room. */
static void make_part(const struct round *round, unsigned i)
{
    struct format_part *part = &round->parts[i];
    uint64_t row = round->first + i * round->rows;
    uint64_t end = part_end(round, i);
    part->out.length = 0;
    while (row < end && row_fits(round, &part->out, row))
        stream_row(round->result, &part->out, round->batch, row++);
    part->end = row;
}

/* Writes one out, and what had no room in it; false where there was such. */
static bool take_part(const struct round *round, unsigned i)
{
    const struct format_part *part = &round->parts[i];
    uint64_t end = part_end(round, i);
    out_through(round->result->out, part->out.bytes, part->out.length);
    stream_rows(round->result, round->batch, part->end, end);
    return part->end == end;
}

/* Writes all parts of a round out. */
static void take_round(struct round *round)
{
    round->fits = true;
    for (unsigned i = 0; i < round->count && !round->result->out->error; i++)
        round->fits = take_part(round, i) && round->fits;
}

/* A round that is made, and the one before it, which is written out meanwhile. */
struct two_rounds {
    struct round *before, *next;
};

/* On any thread. */
static void work_on(void *context, unsigned i)
{
    const struct two_rounds *both = context;
    if (i == 0)
        take_round(both->before);
    else
        make_part(both->next, i - 1);
}

/* Makes the round behind another one, from row `first` on, while that is written
 * out. */
static void run_round(struct format_result *result, struct round *before,
                      struct round *next, uint64_t first)
{
    uint64_t left = next->batch->rows - first;
    next->first = first;
    next->rows = result->part_rows;
    uint64_t wanted = (left + next->rows - 1) / next->rows;
    next->count = wanted < PARTS ? (unsigned)wanted : PARTS;
    vdbq_run_loop(next->count + 1, work_on,
                  &(struct two_rounds){ before, next });
    if (!before->fits && result->part_rows > 1)
        result->part_rows /= 2;
}

/* The parts' buffers, from the first time on that there are many rows. */
static bool open_parts(struct format_result *result)
{
    if (result->parts)
        return true;
    result->parts = calloc(BUFFERS, sizeof *result->parts);
    bool opened = result->parts != NULL;
    for (unsigned i = 0; i < BUFFERS && opened; i++)
        opened = out_open(&result->parts[i].out, -1);
    if (!opened)
        format_stream_close(result);
    result->part_rows = PART_ROWS;
    return opened;
}

void format_stream_close(struct format_result *result)
{
    for (unsigned i = 0; result->parts && i < BUFFERS; i++)
        out_close(&result->parts[i].out);
    free(result->parts);
    result->parts = NULL;
}

/* Makes all rows of a batch, round by round. */
static void stream_parts(struct format_result *result,
                         const struct vdbq_batch *batch)
{
    struct round rounds[2];
    uint64_t first = 0;
    for (unsigned i = 0; i < 2; i++)
        rounds[i] = (struct round){ .result = result,
                                    .batch = batch,
                                    .parts = result->parts + i * PARTS,
                                    .room = row_room(result),
                                    .fits = true };
    unsigned last = 0;
    while (first < batch->rows && !result->out->error) {
        run_round(result, &rounds[last], &rounds[!last], first);
        last = !last;
        first = part_end(&rounds[last], rounds[last].count - 1);
    }
    take_round(&rounds[last]);
}

void format_stream_batch(struct format_result *result,
                         const struct vdbq_batch *batch)
{
    if (batch->rows <= PART_ROWS)
        stream_rows(result, batch, 0, batch->rows);
    else if (!open_parts(result))
        result->failed = true;
    else
        stream_parts(result, batch);
    result->rows += batch->rows;
}
