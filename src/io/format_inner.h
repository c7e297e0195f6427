/* SPDX-License-Identifier: MIT */
/*
 * What the rows of the table of formats are made of; for the files of formats
 * alone.
 */
#ifndef VDBQ_IO_FORMAT_INNER_H
#define VDBQ_IO_FORMAT_INNER_H

#include "io/format.h"

#include <stddef.h>

/* format_text.c: a text of `length` bytes as the format has it. */
void format_plain_text(struct out *out, const char *bytes, size_t length);
void format_csv_text(struct out *out, const char *bytes, size_t length);
void format_tabs_text(struct out *out, const char *bytes, size_t length);
void format_json_text(struct out *out, const char *bytes, size_t length);
void format_quote_text(struct out *out, const char *bytes, size_t length);
void format_markdown_text(struct out *out, const char *bytes, size_t length);
/* As the result has it, whose style may ask for quotes where the format does
 * not. */
void format_text(const struct format_result *result, struct out *out,
                 const char *bytes, size_t length);
/* A text between `quote`s, with the quotes inside doubled. */
void format_doubled(struct out *out, const char *bytes, size_t length,
                    char quote);

/* format_head.c: fill the prefixes of the columns, and write what stands above
 * the rows. `separated`: csv, list, quote and their siblings. */
void format_separated_begin(struct format_result *result);
void format_markdown_begin(struct format_result *result);
void format_line_begin(struct format_result *result);
void format_insert_begin(struct format_result *result);
void format_json_begin(struct format_result *result);
void format_jsonlines_begin(struct format_result *result);

/* format_stream.c: the rows of a batch, on all cores where they are many; and
 * what that needs is freed. */
void format_stream_batch(struct format_result *result,
                         const struct vdbq_batch *batch);
void format_stream_close(struct format_result *result);
/* Writes out what batches have left for that. */
void format_stream_take(struct format_result *result);

#endif
