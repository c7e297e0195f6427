/* SPDX-License-Identifier: MIT */
/*
 * The first record: how many columns there are, and whether it holds their
 * names. It does where all of its values look like texts, or where one does
 * that stands above values that do not.
 */
#include "io/import/import_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Records of values that are looked at, if they are in the first part. */
enum { BELOW_MAX = 1000 };

/* A copy of the field as a name; NULL without memory. */
static char *name_of(const struct csv_field *field)
{
    char *name = malloc(field->length + 1);
    if (name)
        csv_copy(field, name, field->length + 1);
    return name;
}

/* Adds a column with what stands in the first record as its name; false
 * without memory. */
static bool add_column(struct import *import, const struct csv_field *field)
{
    size_t count = import->columns + (size_t)1;
    struct import_column *column =
        realloc(import->column, count * sizeof *column);
    if (!column)
        return false;
    import->column = column;
    column[import->columns] = (struct import_column){ .name = name_of(field) };
    return column[import->columns++].name != NULL;
}

/* Reads the first record: a column for each of its fields. */
static enum vdbq_status read_first(struct import *import,
                                   struct csv_reader *reader)
{
    struct csv_field field;
    enum csv_next next = CSV_MORE;
    while (next == CSV_MORE) {
        next = csv_next(reader, &field);
        if (next == CSV_STRAY || next == CSV_OPEN)
            return import_fail_at(
                import, &(struct import_fault){
                            .kind = next == CSV_OPEN ? FAULT_OPEN : FAULT_STRAY,
                            .place = field.bytes });
        if (import->params->header && memchr(field.bytes, 0, field.length))
            return import_fail(import, VDBQ_TYPE,
                               "--no-header, or HEADER false in COPY, reads "
                               "the first line as values, in which there may "
                               "be some",
                               "the first line holds a NUL byte");
        if (!add_column(import, &field))
            return import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    }
    return VDBQ_OK;
}

/* ------------------------------------------------- whether it holds names -- */

/* Looks at the next record: what its fields look like is added to `seen`, one
 * a column. False at the end and behind a fault. */
static bool look(const struct import *import, struct csv_reader *reader,
                 unsigned *seen, bool *quoted)
{
    struct csv_field field;
    enum csv_next next = csv_record(reader) ? CSV_MORE : CSV_OPEN;
    for (unsigned i = 0; next == CSV_MORE; i++) {
        next = csv_next(reader, &field);
        if (next == CSV_STRAY || next == CSV_OPEN)
            return false;
        if (i < import->columns && !import_is_null(import, &field))
            seen[i] |= import_seen(&field);
        *quoted &= field.quote != 0;
    }
    return next == CSV_LAST;
}

/* Names are texts: all of them, or one above values that are none. Names that
 * could be values are told by their quotes, where the values have none. */
static bool are_names(const struct import *import, struct csv_reader reader,
                      unsigned *first, unsigned *below)
{
    bool texts = true, differ = false, quoted = true, values_quoted = true;
    look(import, &reader, first, &quoted);
    reader.single = import->columns == 1;
    for (unsigned i = 0; i < BELOW_MAX; i++)
        if (!look(import, &reader, below, &values_quoted))
            break;
    for (unsigned i = 0; i < import->columns; i++) {
        bool text = first[i] == SEEN_TEXT;
        unsigned values = below[i] & ~(unsigned)SEEN_QUOTES;
        texts &= text;
        differ |= text && values && !(values & SEEN_TEXT);
    }
    return texts || differ || (quoted && !values_quoted);
}

/* Whether each field is a name of the table's columns. */
static bool are_columns(const struct import *import)
{
    vdbq *db = import->params->db;
    unsigned table = import_table_find(db, import->params->table);
    unsigned columns = vdbq_table_columns(db, table), found = 0;
    if (import->columns > columns)
        return false;
    for (unsigned i = 0; i < import->columns; i++)
        for (unsigned j = 0; j < columns; j++)
            if (strcasecmp(vdbq_table_column_name(db, table, j),
                           import->column[i].name)
                == 0) {
                found++;
                break;
            }
    return found == import->columns;
}

/* Whether the record that the reader is at holds names. */
static enum vdbq_status find_names(struct import *import,
                                   const struct csv_reader *reader)
{
    unsigned *seen = calloc(import->columns, 2 * sizeof *seen);
    if (!seen)
        return import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    import->header =
        are_columns(import)
        || are_names(import, *reader, seen, seen + import->columns);
    free(seen);
    return VDBQ_OK;
}

/* An empty line above the values of a single column is one of them; above
 * their name it is none. */
enum vdbq_status import_head(struct import *import)
{
    struct csv_reader reader =
        import_reader(import, import->body, import->text.first.end);
    if (!csv_record(&reader))
        return import_fail(import, VDBQ_TYPE, "", "the file is empty");
    const struct csv_reader first = reader;
    enum vdbq_status status = read_first(import, &reader);
    import->header = import->params->header > 0;
    if (status == VDBQ_OK && import->params->header < 0)
        status = find_names(import, &first);
    if (import->header || (status == VDBQ_OK && import->columns > 1))
        import->body = import->header ? reader.at : first.at;
    return status == VDBQ_OK ? import_names(import) : status;
}
