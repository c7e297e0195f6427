/* SPDX-License-Identifier: MIT */
/*
 * Results as text: one table of formats, each of which writes the columns of
 * a query, its batches as they come, and an end.
 *
 *     format_begin(&result, format, &style, out, query);
 *     while (... vdbq_query_batch(query, &batch) ... batch.rows)
 *         format_batch(&result, &batch);
 *     format_end(&result);
 *
 * A format is a row of the table in format.c.
 */
#ifndef VDBQ_IO_FORMAT_H
#define VDBQ_IO_FORMAT_H

#include "api/vdbq.h"
#include "io/out.h"

#include <stdbool.h>
#include <stdint.h>

/* What the reader of the results chose. */
struct format_style {
    int header;            /* names above the rows: 1, 0; -1 the format's way */
    const char *null_text; /* for NULL; NULL: the format's own                */
    char delimiter;        /* csv, tsv: between values; 0: the format's own   */
    bool quote_null;       /* csv, tsv: texts that are as null_text is quoted */
    bool quote_names;      /* csv, tsv: names that could be values are quoted,
                              so that who reads them knows the one from the
                              other                                           */
    const char *table;     /* insert: the table's name; NULL: "table"         */
    uint64_t rows_max;     /* box, table: rows to show, the rest is counted;
                              0: all                                          */
    uint64_t width_max; /* likewise: of lines; values are cut; 0: any width */
};

struct format_result {
    const struct format *format;
    struct out *out;       /* the caller's                               */
    struct out prefixes;   /* what stands before each column's value     */
    size_t *prefix_ends;   /* in `prefixes`, one a column                */
    const char *null_text; /* for NULL                                   */
    const char *between;   /* between values, of each format             */
    char delimiter[2];     /* behind it, where the style says            */
    bool quote_null;       /* as in the style                            */
    bool header;           /* names are wanted                           */
    bool quote_names;      /* as in the style                            */
    const char *table;     /* likewise                                   */
    uint64_t rows;         /* seen so far                                */
    uint64_t rows_max;     /* as in the style                            */
    uint64_t width_max;    /* likewise                                   */
    unsigned columns;
    char **names;          /* copies, one a column                       */
    enum vdbq_type *types; /* one a column                               */
    unsigned *scales;      /* likewise, of DECIMAL                       */
    struct out cells;      /* drawn: texts of the rows that will be shown  */
    size_t *cell_ends;     /* drawn: in `cells`, one a cell                */
    size_t cells_capacity; /* drawn: room in cell_ends                     */
    struct format_part *parts; /* streamed: buffers, once rows are many    */
    struct format_part *full;  /* ... and of these the first of ...        */
    unsigned full_count;       /* ... those that are not written out yet   */
    uint64_t part_rows;        /* streamed: of each of them             */
    bool failed;               /* there was no memory; the result is short   */
};

/* What a drawn table is drawn with; corners are the left one, those between
 * columns, and the right one. */
struct format_frame {
    const char *line, *bar; /* of rules, between cells                     */
    const char *top[3], *middle[3], *bottom[3];
    bool types;   /* the columns' types stand below their names  */
    bool centred; /* names are centred, values stand at the left;
                               else both stand as their type says          */
};

struct format {
    const char *name;
    const char *meaning;      /* one phrase, for --help and .help           */
    bool header;              /* names are written unless told otherwise    */
    const char *null_text;    /* for NULL unless told otherwise             */
    const char *names[3];     /* for nan, inf, -inf                         */
    const char *begin_row;    /* before a row's first value                 */
    const char *between;      /* between values                             */
    const char *end_row;      /* after its last value                       */
    const char *between_rows; /* also after end_row, where a row follows */
    bool fixed_null;          /* null_text is part of the format's grammar  */
    const struct format_frame *frame; /* of a drawn table, else NULL        */
    void (*text)(struct out *out, const char *bytes, size_t length);
    void (*begin)(struct format_result *result);
    void (*batch)(struct format_result *result, const struct vdbq_batch *batch);
    void (*end)(struct format_result *result);
};

/* The format of that name, or NULL. */
const struct format *format_find(const char *name);
/* The formats one by one; NULL after the last. */
const struct format *format_at(unsigned index);

/* Starts a result: takes the query's column names and types, writes what
 * stands above the rows. False without memory. `out` must outlive it. */
bool format_begin(struct format_result *result, const struct format *format,
                  const struct format_style *style, struct out *out,
                  const vdbq_query *query);
void format_batch(struct format_result *result, const struct vdbq_batch *batch);
/* Writes what stands below the rows and frees the result; false where memory
 * has run out on the way. */
bool format_end(struct format_result *result);

/* Writes one value of a column; how the formats share it. Dates and times are
 * texts to them, decimals numbers, booleans true and false. */
void format_value(const struct format_result *result, struct out *out,
                  const struct vdbq_batch *batch, unsigned column,
                  uint64_t row);
/* Whether a column's values stand at the left. */
bool format_left(enum vdbq_type type);

/* Drawn tables, in format_box.c. */
void format_box_begin(struct format_result *result);
void format_box_batch(struct format_result *result,
                      const struct vdbq_batch *batch);
void format_box_end(struct format_result *result);
void format_box_text(struct out *out, const char *bytes, size_t length);

#endif
