/* SPDX-License-Identifier: MIT */
/*
 * A table as the CREATE TABLE statement that makes it, an index as its own:
 * SQL that SQLite reads as we do. A name is quoted unless it is plain letters,
 * digits and '_' and is no word of SQL.
 */
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "data/catalogue/catalogue.h"

#include "base/type.h"

static void print_columns(const struct table *table, const unsigned *columns,
                          const enum collation *collations, unsigned count,
                          struct text *text);
static void print_keys(const struct index *index, struct text *text);
static void print_collation(enum collation collation, enum collation meant,
                            struct text *text);
static void print_type(const struct column *column, struct text *text);
static void print_default(const char *sql, struct text *text);

void table_sql(const struct table *table, struct text *text)
{
    text_print(text, table_is_temporary(table->id) ? "CREATE TEMP TABLE "
                                                   : "CREATE TABLE ");
    name_sql(table->name, text);
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        text_print(text, i == 0 ? " (" : ", ");
        name_sql(column->name, text);
        print_type(column, text);
        print_collation(column->collation, COLLATION_BINARY, text);
        text_print(text, "%s%s%s", i == table->key ? " PRIMARY KEY" : "",
                   column->not_null ? " NOT NULL" : "",
                   column->unique ? " UNIQUE" : "");
        if (column->default_sql != NULL)
            print_default(column->default_sql, text);
    }
    for (unsigned i = 0; i < table->unique_count; i++) {
        text_print(text, ", UNIQUE ");
        print_columns(table, table->uniques[i].columns, NULL,
                      table->uniques[i].column_count, text);
    }
    for (unsigned i = 0; i < table->check_count; i++) {
        text_print(text, ", ");
        row_check_sql(&table->checks[i], text);
    }
    text_print(text, ")");
}

void index_sql(const struct catalogue *catalogue, const struct index *index,
               struct text *text)
{
    const struct table *table = catalogue_table_id(catalogue, index->table_id);
    assert(table != NULL);

    text_print(text, "CREATE %sINDEX ", index->unique ? "UNIQUE " : "");
    name_sql(index->name, text);
    text_print(text, " ON ");
    name_sql(table->name, text);
    text_print(text, " ");
    if (index->keys != NULL)
        print_keys(index, text);
    else
        print_columns(table, index->columns, index->collations,
                      index->column_count, text);
}

/* What an index says itself. An expression is in parentheses, so that it is read
 * as one whatever it is; a COLLATE behind it says what the index goes by. */
static void print_keys(const struct index *index, struct text *text)
{
    const struct index_keys *keys = index->keys;

    for (unsigned i = 0; i < index->column_count; i++)
        text_print(text, "%s%s", i == 0 ? "(" : ", ", keys->columns[i].name);
    text_print(text, ")");
    if (keys->where_sql != NULL)
        text_print(text, " WHERE %s", keys->where_sql);
}

/* Names of columns, in parentheses, with collations that are not their own;
 * `collations` NULL: all are. */
static void print_columns(const struct table *table, const unsigned *columns,
                          const enum collation *collations, unsigned count,
                          struct text *text)
{
    for (unsigned i = 0; i < count; i++) {
        const struct column *column = &table->columns[columns[i]];
        text_print(text, i == 0 ? "(" : ", ");
        name_sql(column->name, text);
        if (collations != NULL)
            print_collation(collations[i], column->collation, text);
    }
    text_print(text, ")");
}

/* COLLATE, unless it is the one that is meant anyway. */
static void print_collation(enum collation collation, enum collation meant,
                            struct text *text)
{
    if (collation != meant)
        text_print(text, " COLLATE %s", collation_name(collation));
}

/* Words that mean something in SQL. */
static const char *const words[] = {
    "abs",         "add",     "all",        "alter",     "analyze",
    "and",         "any",     "as",         "asc",       "avg",
    "begin",       "between", "bigint",     "bool",      "boolean",
    "by",          "case",    "cast",       "char",      "check",
    "coalesce",    "collate", "column",     "commit",    "constraint",
    "count",       "create",  "cross",      "current",   "date",
    "decimal",     "default", "delete",     "desc",      "distinct",
    "double",      "drop",    "else",       "end",       "escape",
    "except",      "exists",  "explain",    "false",     "fetch",
    "first",       "float",   "for",        "foreign",   "from",
    "full",        "glob",    "group",      "having",    "if",
    "ilike",       "in",      "index",      "inner",     "insert",
    "int",         "integer", "intersect",  "into",      "is",
    "isnull",      "join",    "key",        "last",      "left",
    "like",        "limit",   "max",        "min",       "natural",
    "not",         "notnull", "null",       "nulls",     "numeric",
    "offset",      "on",      "only",       "or",        "order",
    "outer",       "over",    "partition",  "precision", "primary",
    "qualify",     "real",    "references", "returning", "right",
    "rollback",    "row",     "rows",       "select",    "set",
    "smallint",    "some",    "sum",        "table",     "text",
    "then",        "time",    "timestamp",  "tinyint",   "to",
    "transaction", "trigger", "true",       "union",     "unique",
    "update",      "using",   "vacuum",     "values",    "varchar",
    "view",        "when",    "where",      "window",    "with"
};

/* Whether the name is a word of SQL, which must be quoted. */
static bool is_word(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (name_equal(words[i], name))
            return true;
    return false;
}

bool name_is_plain(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t length = strlen(name);

    return length > 0 && strspn(name, letters) > 0
           && strspn(name, rest) == length && !is_word(name);
}

void name_sql(const char *name, struct text *text)
{
    if (name_is_plain(name)) {
        text_add(text, name, strlen(name));
        return;
    }
    text_add(text, "\"", 1);
    for (; *name != '\0'; name++)
        text_add(text, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    text_add(text, "\"", 1);
}

/* The name of the type, and the digits of a DECIMAL. */
static void print_type(const struct column *column, struct text *text)
{
    text_print(text, " %s", type_name(column->type));
    if (column->type == VDBQ_DECIMAL)
        text_print(text, "(%u,%u)", column->precision, column->scale);
}

/* ------------------------------------------------------------ defaults -- */

/* Whether the text is one number: `1+2` and `0xe+1` are not. */
static bool is_number(const char *sql)
{
    size_t points = strspn(sql, ".");

    if (sql[0] == '0' && (sql[1] == 'x' || sql[1] == 'X')) {
        sql += 2;
        return sql[strspn(sql, "0123456789abcdefABCDEF")] == '\0';
    }
    if (sql[points] < '0' || sql[points] > '9')
        return false;
    sql += strspn(sql, "0123456789.");
    if (*sql == 'e' || *sql == 'E') {
        sql++;
        sql += *sql == '+' || *sql == '-';
        sql += strspn(sql, "0123456789");
    }
    return *sql == '\0';
}

/* Whether it is one text in quotes: `'a' || 'b'` is not. */
static bool is_quoted(const char *sql)
{
    if (*sql != '\'')
        return false;
    sql = strchr(sql + 1, '\'');
    while (sql != NULL && sql[1] == '\'') /* twice: one of the text's own */
        sql = strchr(sql + 2, '\'');
    return sql != NULL && sql[1] == '\0';
}

/* Whether it is one word: NULL, TRUE, CURRENT_DATE. */
static bool is_one_word(const char *sql)
{
    return sql[strspn(sql, "abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")]
           == '\0';
}

/* The catalogue keeps an expression without the parentheses around it; DEFAULT
 * needs them, unless it is a literal, perhaps with a sign, or a word. */
static void print_default(const char *sql, struct text *text)
{
    bool sign = *sql == '-' || *sql == '+';
    bool bare = is_number(sql + sign) || is_quoted(sql) || is_one_word(sql);

    text_print(text, bare ? " DEFAULT %s" : " DEFAULT (%s)", sql);
}
