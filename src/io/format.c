/* SPDX-License-Identifier: MIT */
/*
 * The formats and what they share. All but the drawn tables stream: what stands
 * before a column's value is put together once (format_head.c), so that a row
 * costs a copy and a number for each value.
 */
#include "io/format.h"
#include "io/format_inner.h"

#include <stdlib.h>
#include <string.h>

static void stream_end(struct format_result *result);
static void json_end(struct format_result *result);

static const struct format_frame box_frame = {
    .line = "─",
    .bar = "│",
    .top = { "┌", "┬", "┐" },
    .middle = { "├", "┼", "┤" },
    .bottom = { "└", "┴", "┘" },
    .types = true,
};

static const struct format_frame table_frame = {
    .line = "-",
    .bar = "|",
    .top = { "+", "+", "+" },
    .middle = { "+", "+", "+" },
    .bottom = { "+", "+", "+" },
    .centred = true,
};

static const struct format formats[] = {
    { .name = "box",
      .meaning = "a drawn table, with the columns' types",
      .header = true,
      .null_text = "NULL",
      .names = { "nan", "inf", "-inf" },
      .frame = &box_frame,
      .text = format_box_text,
      .begin = format_box_begin,
      .batch = format_box_batch,
      .end = format_box_end },
    { .name = "csv",
      .meaning = "comma separated (RFC 4180), NULL is empty",
      .header = true,
      .null_text = "",
      .names = { "nan", "inf", "-inf" },
      .begin_row = "",
      .between = ",",
      .end_row = "\n",
      .between_rows = "",
      .text = format_csv_text,
      .begin = format_separated_begin,
      .batch = format_stream_batch,
      .end = stream_end },
    { .name = "insert",
      .meaning = "INSERT statements; .mode insert TABLE names the table",
      .null_text = "NULL",
      .names = { "NULL", "1e999", "-1e999" },
      .fixed_null = true,
      .between = ",",
      .end_row = ");\n",
      .between_rows = "",
      .text = format_quote_text,
      .begin = format_insert_begin,
      .batch = format_stream_batch,
      .end = stream_end },
    { .name = "json",
      .meaning = "one array of objects",
      .null_text = "null",
      .names = { "null", "1e999", "-1e999" },
      .fixed_null = true,
      .begin_row = "{",
      .between = ",",
      .end_row = "}",
      .between_rows = ",\n",
      .text = format_json_text,
      .begin = format_json_begin,
      .batch = format_stream_batch,
      .end = json_end },
    { .name = "jsonlines",
      .meaning = "one object a line",
      .null_text = "null",
      .names = { "null", "1e999", "-1e999" },
      .fixed_null = true,
      .begin_row = "{",
      .between = ",",
      .end_row = "}\n",
      .between_rows = "",
      .text = format_json_text,
      .begin = format_jsonlines_begin,
      .batch = format_stream_batch,
      .end = stream_end },
    { .name = "line",
      .meaning = "one value a line, as name = value",
      .null_text = "NULL",
      .names = { "nan", "inf", "-inf" },
      .begin_row = "",
      .between = "\n",
      .end_row = "\n",
      .between_rows = "\n",
      .text = format_plain_text,
      .begin = format_line_begin,
      .batch = format_stream_batch,
      .end = stream_end },
    { .name = "list",
      .meaning = "values separated by |",
      .header = true,
      .null_text = "",
      .names = { "nan", "inf", "-inf" },
      .begin_row = "",
      .between = "|",
      .end_row = "\n",
      .between_rows = "",
      .text = format_plain_text,
      .begin = format_separated_begin,
      .batch = format_stream_batch,
      .end = stream_end },
    { .name = "markdown",
      .meaning = "a table for Markdown",
      .header = true,
      .null_text = "NULL",
      .names = { "nan", "inf", "-inf" },
      .begin_row = "| ",
      .between = " | ",
      .end_row = " |\n",
      .between_rows = "",
      .text = format_markdown_text,
      .begin = format_markdown_begin,
      .batch = format_stream_batch,
      .end = stream_end },
    { .name = "quote",
      .meaning = "SQL literals, one row a line",
      .null_text = "NULL",
      .names = { "NULL", "1e999", "-1e999" },
      .fixed_null = true,
      .begin_row = "",
      .between = ",",
      .end_row = "\n",
      .between_rows = "",
      .text = format_quote_text,
      .begin = format_separated_begin,
      .batch = format_stream_batch,
      .end = stream_end },
    { .name = "table",
      .meaning = "a table drawn in ASCII",
      .header = true,
      .null_text = "NULL",
      .names = { "nan", "inf", "-inf" },
      .frame = &table_frame,
      .text = format_box_text,
      .begin = format_box_begin,
      .batch = format_box_batch,
      .end = format_box_end },
    { .name = "tsv",
      .meaning = "as csv, with tabs for commas",
      .header = true,
      .null_text = "",
      .names = { "nan", "inf", "-inf" },
      .begin_row = "",
      .between = "\t",
      .end_row = "\n",
      .between_rows = "",
      .text = format_csv_text,
      .begin = format_separated_begin,
      .batch = format_stream_batch,
      .end = stream_end },
    { .name = "tabs",
      .meaning = "values separated by tabs",
      .header = true,
      .null_text = "",
      .names = { "nan", "inf", "-inf" },
      .begin_row = "",
      .between = "\t",
      .end_row = "\n",
      .between_rows = "",
      .text = format_tabs_text,
      .begin = format_separated_begin,
      .batch = format_stream_batch,
      .end = stream_end },
};

enum { FORMATS = sizeof formats / sizeof *formats };

const struct format *format_find(const char *name)
{
    for (unsigned i = 0; i < FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

const struct format *format_at(unsigned index)
{
    return index < FORMATS ? &formats[index] : NULL;
}

/* ------------------------------------------------------------- results -- */

static bool take_columns(struct format_result *result, const vdbq_query *query)
{
    unsigned columns = vdbq_query_columns(query);
    result->names = calloc(columns + 1, sizeof *result->names);
    result->types = calloc(columns + 1, sizeof *result->types);
    result->scales = calloc(columns + 1, sizeof *result->scales);
    result->prefix_ends = calloc(columns + 1, sizeof *result->prefix_ends);
    if (!result->names || !result->types || !result->scales
        || !result->prefix_ends)
        return false;
    for (unsigned i = 0; i < columns; i++) {
        result->names[i] = strdup(vdbq_query_column_name(query, i));
        result->types[i] = vdbq_query_column_type(query, i);
        result->scales[i] = vdbq_query_column_scale(query, i);
        if (!result->names[i])
            return false;
        result->columns++;
    }
    return true;
}

static void finish(struct format_result *result)
{
    for (unsigned i = 0; i < result->columns; i++)
        free(result->names[i]);
    free(result->names);
    free(result->types);
    free(result->scales);
    free(result->prefix_ends);
    free(result->cell_ends);
    format_stream_close(result);
    out_close(&result->prefixes);
    out_close(&result->cells);
}

bool format_begin(struct format_result *result, const struct format *format,
                  const struct format_style *style, struct out *out,
                  const vdbq_query *query)
{
    *result = (struct format_result){
        .format = format,
        .out = out,
        .rows_max = style->rows_max,
        .width_max = style->width_max,
        .quote_names = style->quote_names,
        .table = style->table != NULL ? style->table : "table",
        .prefixes.fd = -1,
        .cells.fd = -1,
    };
    result->between = format->between;
    if (style->delimiter) {
        result->delimiter[0] = style->delimiter;
        result->between = result->delimiter;
    }
    result->quote_null = style->quote_null;
    result->header = style->header < 0 ? format->header : style->header > 0;
    result->null_text = style->null_text && !format->fixed_null
                            ? style->null_text
                            : format->null_text;
    if (!out_open(&result->prefixes, -1) || !take_columns(result, query)) {
        finish(result);
        return false;
    }
    format->begin(result);
    return true;
}

void format_batch(struct format_result *result, const struct vdbq_batch *batch)
{
    result->format->batch(result, batch);
}

bool format_end(struct format_result *result)
{
    format_stream_take(result);
    result->format->end(result);
    bool complete = !result->failed && !result->prefixes.error;
    finish(result);
    return complete;
}

/* ---------------------------------------------------------------- ends -- */

static void stream_end(struct format_result *result)
{
    (void)result;
}

static void json_end(struct format_result *result)
{
    out_text(result->out, "]\n");
}
