/* SPDX-License-Identifier: MIT */
/*
 * The first record: how many columns there are, and whether it holds their
 * names. It does where all of its values are text, or where one is text and
 * the value below it is not.
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

/* Reads the first record: a column, with its kind, for each of its fields. */
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
        import->column[import->columns - 1].kind = import_kind(&field);
    }
    return VDBQ_OK;
}

/* Whether a column that starts with text goes on with something else. The
 * reader is behind the first record. */
static bool changes(const struct import *import, struct csv_reader reader)
{
    struct csv_field field;
    enum csv_next next = csv_record(&reader) ? CSV_MORE : CSV_LAST;
    for (unsigned i = 0; i < import->columns && next == CSV_MORE; i++) {
        next = csv_next(&reader, &field);
        if (next == CSV_STRAY || next == CSV_OPEN)
            return false;
        enum value_kind kind = import_kind(&field);
        if (import->column[i].kind == VALUE_TEXT && kind != VALUE_TEXT
            && kind != VALUE_NOTHING)
            return true;
    }
    return false;
}

static bool has_names(const struct import *import,
                      const struct csv_reader *reader)
{
    bool any = false, all = true;
    for (unsigned i = 0; i < import->columns; i++) {
        enum value_kind kind = import->column[i].kind;
        any |= kind == VALUE_TEXT;
        all &= kind == VALUE_TEXT || kind == VALUE_NOTHING;
    }
    return any && (all || changes(import, *reader));
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
                         ? has_names(import, &reader)
                         : import->params->header > 0;
    if (import->header)
        import->body = reader.at;
    for (unsigned i = 0; i < import->columns; i++) {
        import->column[i].kind = VALUE_NOTHING;
        if (!name_column(import, i))
            return import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    }
    return VDBQ_OK;
}
