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
    uint64_t end;    /* the row behind the last one that is in `out`, ... */
    uint64_t wanted; /* ... and behind the last that is to be in it       */
};

/* Neighbouring parts, under way. */
struct round {
    struct format_result *result;
    const struct vdbq_batch *batch;
    struct format_part *parts; /* of these buffers                           */
    unsigned count;            /* of them                                    */
    uint64_t first;            /* row of the first of them                   */
    uint64_t rows;             /* of each of them; the last may be shorter   */
    size_t room;               /* that a row needs beside its texts, at most */
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

/* A part, as far as there is room. */
static void make_part(const struct round *round, unsigned i)
{
    struct format_part *part = &round->parts[i];
    uint64_t row = round->first + i * round->rows, end = row + round->rows;
    part->wanted = end < round->batch->rows ? end : round->batch->rows;
    part->out.length = 0;
    while (row < part->wanted && row_fits(round, &part->out, row))
        stream_row(round->result, &part->out, round->batch, row++);
    part->end = row;
}

void format_stream_take(struct format_result *result)
{
    for (unsigned i = 0; i < result->full_count && !result->out->error; i++)
        out_through(result->out, result->full[i].out.bytes,
                    result->full[i].out.length);
    result->full_count = 0;
}

/* On any thread: one of the parts of a round, or those before it are written out. */
static void work_on(void *context, unsigned i)
{
    const struct round *round = context;
    if (i == 0)
        format_stream_take(round->result);
    else
        make_part(round, i - 1);
}

/* Writes parts out, of which some had no room for all of their rows, with these. */
static void take_short(const struct round *round)
{
    struct format_result *result = round->result;
    for (unsigned i = 0; i < round->count && !result->out->error; i++) {
        const struct format_part *part = &round->parts[i];
        out_bytes(result->out, part->out.bytes, part->out.length);
        stream_rows(result, round->batch, part->end, part->wanted);
    }
    if (result->part_rows > 1)
        result->part_rows /= 2;
}

/* Leaves what was made to be written out while the next parts are made. */
static void leave_round(const struct round *round)
{
    struct format_result *result = round->result;
    bool fits = true;
    for (unsigned i = 0; i < round->count; i++)
        fits = fits && round->parts[i].end == round->parts[i].wanted;
    if (!fits) {
        take_short(round);
        return;
    }
    result->full = round->parts;
    result->full_count = round->count;
}

/* Makes the rows from the round's first one on, while those before are written out;
 * returns the row behind the last. */
static uint64_t run_round(struct round *round)
{
    struct format_result *result = round->result;
    uint64_t left = round->batch->rows - round->first;
    round->rows = result->part_rows;
    uint64_t wanted = (left + round->rows - 1) / round->rows;
    round->count = wanted < PARTS ? (unsigned)wanted : PARTS;
    round->parts =
        result->full == result->parts ? result->parts + PARTS : result->parts;
    vdbq_run_loop(round->count + 1, work_on, round);
    leave_round(round);
    return round->parts[round->count - 1].wanted;
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

void format_stream_batch(struct format_result *result,
                         const struct vdbq_batch *batch)
{
    struct round round = { .result = result,
                           .batch = batch,
                           .room = row_room(result) };
    if (batch->rows <= PART_ROWS) {
        format_stream_take(result);
        stream_rows(result, batch, 0, batch->rows);
    } else if (!open_parts(result)) {
        result->failed = true;
    } else {
        while (round.first < batch->rows && !result->out->error)
            round.first = run_round(&round);
    }
    result->rows += batch->rows;
}
