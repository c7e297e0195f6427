/* SPDX-License-Identifier: MIT */
/*
 * Drawn tables: the formats that must see their rows before they write any,
 * for the widths. They keep the text of the rows that will be shown and only
 * count the others.
 */
#include "io/format.h"
#include "io/utf8.h"

#include <stdlib.h>
#include <string.h>

enum side { LEFT, CENTRE, RIGHT };

/* Column names are drawn as texts are. */
static void escape_names(struct format_result *result)
{
    for (unsigned i = 0; i < result->columns; i++) {
        struct out name;
        if (!out_open(&name, -1)) {
            result->failed = true;
            return;
        }
        format_box_text(&name, result->names[i], strlen(result->names[i]));
        out_char(&name, 0);
        char *copy = name.error ? NULL : strdup(name.bytes);
        out_close(&name);
        result->failed |= copy == NULL;
        if (copy == NULL)
            return;
        free(result->names[i]);
        result->names[i] = copy;
    }
}

void format_box_begin(struct format_result *result)
{
    if (!out_open(&result->cells, -1))
        result->failed = true;
    escape_names(result);
}

/* Line ends and other control characters would break the lines. */
void format_box_text(struct out *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x20 && c != 0x7f)
            out_char(out, bytes[i]);
        else if (c == '\n' || c == '\r' || c == '\t')
            out_text(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else
            out_print(out, "\\x%02x", c);
    }
}

static bool reserve(struct format_result *result, size_t cells)
{
    if (cells <= result->cells_capacity)
        return true;
    size_t capacity = cells * 2;
    size_t *ends = realloc(result->cell_ends, capacity * sizeof *ends);
    if (!ends)
        return false;
    result->cell_ends = ends;
    result->cells_capacity = capacity;
    return true;
}

static void keep_row(struct format_result *result,
                     const struct vdbq_batch *batch, uint64_t row)
{
    size_t cell = (size_t)result->rows * result->columns;
    if (result->failed || !reserve(result, cell + result->columns)) {
        result->failed = true;
        return;
    }
    for (unsigned i = 0; i < result->columns; i++) {
        format_value(result, &result->cells, batch, i, row);
        result->cell_ends[cell + i] = result->cells.length;
    }
    result->failed |= result->cells.error != 0;
}

void format_box_batch(struct format_result *result,
                      const struct vdbq_batch *batch)
{
    uint64_t rows = batch->rows, row = 0;
    for (; row < rows; row++) {
        if (result->rows_max && result->rows >= result->rows_max)
            break;
        keep_row(result, batch, row);
        result->rows++;
    }
    result->rows += rows - row;
}

static uint64_t rows_shown(const struct format_result *result)
{
    return result->rows_max && result->rows > result->rows_max
               ? result->rows_max
               : result->rows;
}

static const char *cell_text(const struct format_result *result, size_t cell,
                             size_t *length)
{
    size_t start = cell ? result->cell_ends[cell - 1] : 0;
    *length = result->cell_ends[cell] - start;
    return result->cells.bytes + start;
}

static void widen(size_t *width, const char *text, size_t length)
{
    size_t own = utf8_width(text, length);
    if (own > *width)
        *width = own;
}

static void measure(const struct format_result *result, size_t *widths)
{
    for (unsigned i = 0; i < result->columns && result->header; i++) {
        const char *type = vdbq_type_name(result->types[i]);
        widen(&widths[i], result->names[i], strlen(result->names[i]));
        if (result->format->frame->types)
            widen(&widths[i], type, strlen(type));
    }
    size_t cells = (size_t)rows_shown(result) * result->columns;
    for (size_t i = 0; i < cells; i++) {
        size_t length;
        const char *text = cell_text(result, i, &length);
        widen(&widths[i % result->columns], text, length);
    }
}

/* What a column takes where texts are cut at `limit`; numbers never are. */
static uint64_t cut_width(const struct format_result *result, unsigned column,
                          uint64_t width, uint64_t limit)
{
    bool cut = width > limit && result->types[column] == VDBQ_TEXT;
    return cut ? limit : width;
}

/* Cuts the widest texts to one width, so that lines keep to width_max. */
static void limit_widths(const struct format_result *result, size_t *widths)
{
    enum { LEAST = 6, EDGES = 3 };
    uint64_t room = result->width_max, limit = LEAST;
    bool fits = room > 0;
    if (!fits)
        return;
    for (uint64_t next = LEAST; fits && next < room; next++) {
        uint64_t all = 1;
        for (unsigned i = 0; i < result->columns; i++)
            all += EDGES + cut_width(result, i, widths[i], next);
        fits = all <= room;
        if (fits)
            limit = next;
    }
    for (unsigned i = 0; i < result->columns; i++)
        widths[i] = (size_t)cut_width(result, i, widths[i], limit);
}

static void draw_rule(struct format_result *result, const size_t *widths,
                      const char *const corners[3])
{
    out_text(result->out, corners[0]);
    for (unsigned i = 0; i < result->columns; i++) {
        if (i)
            out_text(result->out, corners[1]);
        out_repeat(result->out, result->format->frame->line, widths[i] + 2);
    }
    out_text(result->out, corners[2]);
    out_char(result->out, '\n');
}

/* Draws as much of a text as fits, and an ellipsis where that is not all;
 * returns its width. */
static size_t draw_cut(struct out *out, const char *text, size_t length,
                       size_t width)
{
    size_t used = 0, at = 0;
    while (at < length) {
        uint32_t character;
        size_t size = utf8_read(text + at, length - at, &character);
        size_t own = utf8_character_width(character);
        if (used + own + 1 > width)
            break;
        used += own;
        at += size;
    }
    out_bytes(out, text, at);
    out_text(out, "…");
    return used + 1;
}

static void draw_cell(struct format_result *result, const char *text,
                      size_t length, size_t width, enum side side)
{
    struct out *out = result->out;
    size_t own = utf8_width(text, length), before = 0;
    out_text(out, result->format->frame->bar);
    out_char(out, ' ');
    if (own > width) {
        own = draw_cut(out, text, length, width);
    } else {
        before = side == LEFT    ? 0
                 : side == RIGHT ? width - own
                                 : (width - own) / 2;
        out_repeat(out, " ", before);
        out_bytes(out, text, length);
    }
    out_repeat(out, " ", width - own - before + 1);
}

static void end_line(struct format_result *result)
{
    out_text(result->out, result->format->frame->bar);
    out_char(result->out, '\n');
}

/* Where a column's values stand. */
static enum side side_of(const struct format_result *result, unsigned column)
{
    return result->format->frame->centred || format_left(result->types[column])
               ? LEFT
               : RIGHT;
}

static void draw_header(struct format_result *result, const size_t *widths)
{
    const struct format_frame *frame = result->format->frame;
    for (unsigned i = 0; i < result->columns; i++)
        draw_cell(result, result->names[i], strlen(result->names[i]), widths[i],
                  frame->centred ? CENTRE : side_of(result, i));
    end_line(result);
    for (unsigned i = 0; i < result->columns && frame->types; i++) {
        const char *type = vdbq_type_name(result->types[i]);
        draw_cell(result, type, strlen(type), widths[i], side_of(result, i));
    }
    if (frame->types)
        end_line(result);
    draw_rule(result, widths, frame->middle);
}

static void draw_rows(struct format_result *result, const size_t *widths)
{
    size_t cell = 0;
    for (uint64_t row = 0; row < rows_shown(result); row++) {
        for (unsigned i = 0; i < result->columns; i++) {
            size_t length;
            const char *text = cell_text(result, cell++, &length);
            draw_cell(result, text, length, widths[i], side_of(result, i));
        }
        end_line(result);
    }
}

/* 1234567 as 1,234,567 */
static void write_count(struct out *out, uint64_t count)
{
    if (count >= 1000) {
        write_count(out, count / 1000);
        out_print(out, ",%03u", (unsigned)(count % 1000));
    } else {
        out_print(out, "%u", (unsigned)count);
    }
}

static void draw_footer(struct format_result *result)
{
    uint64_t shown = rows_shown(result);
    if (shown == result->rows)
        return;
    write_count(result->out, result->rows);
    out_text(result->out, " rows, ");
    write_count(result->out, result->rows - shown);
    out_text(result->out, " hidden (.maxrows 0 shows all)\n");
}

void format_box_end(struct format_result *result)
{
    size_t *widths = calloc(result->columns + 1, sizeof *widths);
    if (!widths || result->failed) {
        result->failed = true;
        free(widths);
        return;
    }
    measure(result, widths);
    limit_widths(result, widths);
    draw_rule(result, widths, result->format->frame->top);
    if (result->header)
        draw_header(result, widths);
    draw_rows(result, widths);
    draw_rule(result, widths, result->format->frame->bottom);
    draw_footer(result);
    free(widths);
}
