/* SPDX-License-Identifier: MIT */
/*
 * The first record: how many columns there are, and whether it holds their
 * names. It does where all of its values look like texts, or where one does
 * that stands above something else.
 */
#include "io/import_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_ROOM = 256 };

static void skip_byte_order_mark(struct import *import)
{
    import->body = import->text;
    if (import->end - import->text >= 3
        && memcmp(import->text, "\xef\xbb\xbf", 3) == 0)
        import->body += 3;
}

/* Adds a column of that name; false without memory. */
static bool add_column(struct import *import, const char *name)
{
    size_t count = import->columns + 1;
    struct import_column *column =
        realloc(import->column, count * sizeof *column);
    if (!column)
        return false;
    import->column = column;
    column[import->columns] = (struct import_column){ .name = strdup(name) };
    return column[import->columns++].name != NULL;
}

/* Reads the first record: a column for each of its fields, with what that
 * looks like. */
static enum vdbq_status read_first(struct import *import,
                                   struct csv_reader *reader)
{
    struct csv_field field;
    enum csv_next next = CSV_MORE;
    char name[NAME_ROOM];
    while (next == CSV_MORE) {
        next = csv_next(reader, &field);
        if (next == CSV_STRAY || next == CSV_OPEN)
            return import_fail_at(import, &(struct import_fault){
                .kind = next == CSV_OPEN ? FAULT_OPEN : FAULT_STRAY,
                .place = field.bytes });
        csv_copy(&field, name, sizeof name);
        if (!add_column(import, name))
            return import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
        import->column[import->columns - 1].seen = import_seen(&field);
    }
    return VDBQ_OK;
}

/* Whether some field of the next record is no text but has one above it;
 * `none` where there is no next record. */
static bool differs(const struct import *import, struct csv_reader reader,
                    bool none)
{
    struct csv_field field;
    enum csv_next next = CSV_MORE;
    if (!csv_record(&reader))
        return none;
    for (unsigned i = 0; next == CSV_MORE && i < import->columns; i++) {
        next = csv_next(&reader, &field);
        if (next == CSV_STRAY || next == CSV_OPEN)
            break;
        unsigned below = import_seen(&field);
        if (import->column[i].seen == SEEN_TEXT && below && below != SEEN_TEXT)
            return true;
    }
    return false;
}

/* Whether the record before the reader holds names. */
static bool holds_names(const struct import *import,
                        const struct csv_reader *reader)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < import->columns; i++)
        seen |= import->column[i].seen;
    return seen == SEEN_TEXT || differs(import, *reader, seen & SEEN_TEXT);
}

static void trim(char *name)
{
    size_t blanks = strspn(name, " \t\r\n"), length = strlen(name);
    while (length > blanks && strchr(" \t\r\n", name[length - 1]))
        length--;
    memmove(name, name + blanks, length - blanks);
    name[length - blanks] = 0;
}

static bool is_taken(const struct import *import, unsigned before,
                     const char *name)
{
    for (unsigned i = 0; i < before; i++)
        if (strcasecmp(import->column[i].name, name) == 0)
            return true;
    return false;
}

/* A name for column `index`: the header's, made single, or c1, c2 ... */
static bool name_column(struct import *import, unsigned index)
{
    struct import_column *column = &import->column[index];
    char base[NAME_ROOM], name[NAME_ROOM + 16];
    snprintf(base, sizeof base, "%s", import->header ? column->name : "");
    trim(base);
    if (!*base)
        snprintf(base, sizeof base, "c%u", index + 1);
    snprintf(name, sizeof name, "%s", base);
    for (unsigned i = 2; is_taken(import, index, name); i++)
        snprintf(name, sizeof name, "%s_%u", base, i);
    free(column->name);
    column->name = strdup(name);
    return column->name != NULL;
}

enum vdbq_status import_head(struct import *import)
{
    skip_byte_order_mark(import);
    struct csv_reader reader = { import->body, import->end,
                                 import->delimiter };
    if (!csv_record(&reader))
        return import_fail(import, VDBQ_TYPE, "", "the file is empty");
    enum vdbq_status status = read_first(import, &reader);
    if (status != VDBQ_OK)
        return status;
    import->header = import->params->header < 0
                         ? holds_names(import, &reader)
                         : import->params->header > 0;
    if (import->header)
        import->body = reader.at;
    for (unsigned i = 0; i < import->columns; i++) {
        import->column[i].seen = 0;
        if (!name_column(import, i))
            return import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    }
    return VDBQ_OK;
}
