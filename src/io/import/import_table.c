/* SPDX-License-Identifier: MIT */
/*
 * The table that the rows go to: made after the file's columns, or there
 * already, with its columns paired by name (a header) or by position.
 */
#include "io/import/import_inner.h"
#include "io/out.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

unsigned import_table_find(vdbq *db, const char *name)
{
    unsigned tables = vdbq_tables(db), table = tables;
    while (table > 0 && strcasecmp(vdbq_table_name(db, table - 1), name) != 0)
        table--;
    return table > 0 ? table - 1 : tables;
}

/* How long the first of some types is: up to a comma outside of brackets. */
static size_t type_length(const char *types)
{
    size_t length = strcspn(types, "(,");
    if (types[length] == '(')
        length += strcspn(types + length, ")");
    return length + strcspn(types + length, ",");
}

/* The next of the types asked for, INTEGER or DECIMAL(9,2); false where it
 * can't be one. */
static bool add_type(struct out *sql, const char **types)
{
    const char *at = *types + strspn(*types, " ");
    size_t length = type_length(at);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)at[i]) && !strchr(" (,)", at[i]))
            return false;
    out_bytes(sql, at, length);
    *types = at[length] ? at + length + 1 : at + length;
    return length > 0;
}

static bool is_key(const struct import *import, unsigned column)
{
    const char *key = import->params->key;
    return key && strcasecmp(key, import->column[column].name) == 0;
}

static bool key_exists(const struct import *import)
{
    for (unsigned i = 0; i < import->columns; i++)
        if (is_key(import, i))
            return true;
    return !import->params->key;
}

static unsigned types_count(const char *types)
{
    unsigned count = 1;
    while (*(types += type_length(types))) {
        types++;
        count++;
    }
    return count;
}

static enum vdbq_status check_options(struct import *import)
{
    const struct import_params *params = import->params;
    if (!key_exists(import))
        return import_fail(import, VDBQ_UNKNOWN,
                           "the first line of the file names the columns; "
                           "without one they are c1, c2, ...",
                           "no column %s in the file for --key", params->key);
    if (params->types && types_count(params->types) != import->columns)
        return import_fail(import, VDBQ_TYPE, "",
                           "--types has %u types where the file has %u "
                           "columns",
                           types_count(params->types), import->columns);
    return VDBQ_OK;
}

/* CREATE TABLE "t" ("a" INTEGER PRIMARY KEY, "b" FLOAT) */
static enum vdbq_status write_create(struct import *import, struct out *sql)
{
    const char *types = import->params->types;
    out_text(sql, "CREATE TABLE ");
    import_add_name(sql, import->params->table);
    for (unsigned i = 0; i < import->columns; i++) {
        struct import_column *column = &import->column[i];
        out_text(sql, i ? ", " : " (");
        import_add_name(sql, column->name);
        out_char(sql, ' ');
        if (!types)
            out_text(sql, vdbq_type_name(import_seen_type(column->seen)));
        else if (!add_type(sql, &types))
            return import_fail(import, VDBQ_TYPE,
                               "types are SMALLINT, INTEGER, BIGINT, FLOAT, "
                               "DOUBLE, DECIMAL(9,2), BOOLEAN, DATE, "
                               "TIMESTAMP and TEXT",
                               "--types: type %u is none", i + 1);
        out_text(sql, is_key(import, i) ? " PRIMARY KEY" : "");
    }
    out_text(sql, ")");
    out_char(sql, 0);
    return VDBQ_OK;
}

static enum vdbq_status create(struct import *import)
{
    struct out sql;
    enum vdbq_status status = check_options(import);
    if (status != VDBQ_OK)
        return status;
    if (!out_open(&sql, -1))
        return import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    status = write_create(import, &sql);
    if (status == VDBQ_OK)
        status = import_make(import, sql.bytes);
    out_close(&sql);
    return status;
}

/* Takes the types of the table's columns that the file's were paired with. */
static void take_types(struct import *import, unsigned table)
{
    vdbq *db = import->params->db;
    for (unsigned i = 0; i < import->columns; i++) {
        struct import_column *column = &import->column[i];
        unsigned target = column->target;
        column->type = vdbq_table_column_type(db, table, target);
        column->precision = vdbq_table_column_precision(db, table, target);
        column->scale = vdbq_table_column_scale(db, table, target);
    }
}

static unsigned find_column(vdbq *db, unsigned table, const char *name)
{
    unsigned columns = vdbq_table_columns(db, table);
    for (unsigned i = 0; i < columns; i++)
        if (strcasecmp(vdbq_table_column_name(db, table, i), name) == 0)
            return i;
    return columns;
}

static enum vdbq_status pair_by_name(struct import *import, unsigned table)
{
    vdbq *db = import->params->db;
    for (unsigned i = 0; i < import->columns; i++) {
        struct import_column *column = &import->column[i];
        column->target = find_column(db, table, column->name);
        if (column->target == import->targets)
            return import_fail(import, VDBQ_UNKNOWN,
                               "--no-header, or HEADER false in COPY, takes "
                               "the first line as values; .schema shows the "
                               "table's columns",
                               "table %s has no column %s, which the file's "
                               "header names",
                               import->params->table, column->name);
    }
    return VDBQ_OK;
}

/* The file's column is that one of the table, by its name. */
static enum vdbq_status pair(struct import *import, unsigned table,
                             unsigned index, unsigned target)
{
    struct import_column *column = &import->column[index];
    free(column->name);
    column->name =
        strdup(vdbq_table_column_name(import->params->db, table, target));
    column->target = target;
    return column->name
               ? VDBQ_OK
               : import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
}

static enum vdbq_status pair_by_position(struct import *import, unsigned table)
{
    enum vdbq_status status = VDBQ_OK;
    if (import->columns != import->targets)
        return import_fail(import, VDBQ_TYPE,
                           "a first line with column names, or a list of "
                           "columns in COPY, lets the file have fewer columns "
                           "than the table",
                           "the file has %u columns where table %s has %u",
                           import->columns, import->params->table,
                           import->targets);
    for (unsigned i = 0; i < import->columns && status == VDBQ_OK; i++)
        status = pair(import, table, i, i);
    return status;
}

/* The file's columns are those of the list, whatever its header says. */
static enum vdbq_status pair_by_list(struct import *import, unsigned table)
{
    const struct import_params *params = import->params;
    enum vdbq_status status = VDBQ_OK;
    if (import->columns != params->column_count)
        return import_fail(import, VDBQ_TYPE,
                           "the list names every column of the file, in its "
                           "order",
                           "the file has %u columns where the list has %u",
                           import->columns, params->column_count);
    for (unsigned i = 0; i < import->columns && status == VDBQ_OK; i++) {
        unsigned target = find_column(params->db, table, params->columns[i]);
        status = target < import->targets
                     ? pair(import, table, i, target)
                     : import_fail(import, VDBQ_UNKNOWN, "",
                                   "table %s has no column %s", params->table,
                                   params->columns[i]);
    }
    return status;
}

enum vdbq_status import_table(struct import *import)
{
    vdbq *db = import->params->db;
    enum vdbq_status status = VDBQ_OK;
    unsigned table = import_table_find(db, import->params->table);
    bool exists = table < vdbq_tables(db);
    if (exists && (import->params->key || import->params->types))
        return import_fail(import, VDBQ_EXISTS, "",
                           "table %s exists: --key and --types are for a "
                           "new one",
                           import->params->table);
    if (!exists)
        status = create(import);
    if (status != VDBQ_OK)
        return status;
    table = import_table_find(db, import->params->table);
    import->targets = vdbq_table_columns(db, table);
    if (import->params->columns)
        status = pair_by_list(import, table);
    else
        status = exists && import->header ? pair_by_name(import, table)
                                          : pair_by_position(import, table);
    if (status == VDBQ_OK)
        take_types(import, table);
    return status;
}
