/* SPDX-License-Identifier: MIT */
/* What Tab offers: commands, keywords, tables with their columns, views. */
#include "shell_edit.h"

#include <string.h>
#include <strings.h>

static const char *const keywords[] = {
    "ADD",       "ALL",          "ALTER",     "ANALYZE",   "AND",
    "AS",        "ASC",          "BEGIN",     "BETWEEN",   "BIGINT",
    "BOOLEAN",   "BY",           "CASE",      "CAST",      "COALESCE",
    "COLLATE",   "COLUMN",       "COMMIT",    "COPY",      "COUNT",
    "CREATE",    "CROSS",        "CUBE",      "DATE",      "DECIMAL",
    "DEFAULT",   "DELETE",       "DESC",      "DESCRIBE",  "DISTINCT",
    "DOUBLE",    "DROP",         "ELSE",      "END",       "ESCAPE",
    "EXCEPT",    "EXISTS",       "EXPLAIN",   "EXTRACT",   "FALSE",
    "FILTER",    "FIRST",        "FLOAT",     "FROM",      "FULL",
    "GLOB",      "GROUP",        "HAVING",    "IF",        "IGNORE",
    "ILIKE",     "IN",           "INDEX",     "INNER",     "INSERT",
    "INTEGER",   "INTERSECT",    "INTERVAL",  "INTO",      "IS",
    "JOIN",      "KEY",          "LAST",      "LEFT",      "LIKE",
    "LIMIT",     "MATERIALIZED", "NATURAL",   "NOT",       "NULL",
    "NULLIF",    "NULLS",        "OFFSET",    "ON",        "OR",
    "ORDER",     "OUTER",        "OVER",      "PARTITION", "PRAGMA",
    "PRECISION", "PRIMARY",      "REAL",      "RECURSIVE", "REGEXP",
    "RELEASE",   "RENAME",       "REPLACE",   "RIGHT",     "ROLLBACK",
    "ROLLUP",    "SAVEPOINT",    "SELECT",    "SET",       "SIMILAR",
    "SMALLINT",  "SUBSTR",       "SUM",       "SUMMARIZE", "TABLE",
    "TEXT",      "THEN",         "TIMESTAMP", "TO",        "TRANSACTION",
    "TRUE",      "UNION",        "UNIQUE",    "UPDATE",    "USING",
    "VACUUM",    "VALUES",       "VARCHAR",   "VIEW",      "WHEN",
    "WHERE",     "WITH",
};

struct filter {
    const char *word;
    size_t length;
    shell_candidate add;
    void *context;
};

static void offer(const struct filter *filter, const char *candidate)
{
    if (strncasecmp(candidate, filter->word, filter->length) == 0)
        filter->add(filter->context, candidate);
}

/* Keywords in the case that the word is typed in. */
static void offer_keywords(const struct filter *filter)
{
    bool small = *filter->word >= 'a' && *filter->word <= 'z';
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        char keyword[16];
        size_t k = 0;
        for (; keywords[i][k]; k++)
            keyword[k] = (char)(keywords[i][k] | (small ? 0x20 : 0));
        keyword[k] = 0;
        offer(filter, keyword);
    }
}

static void offer_tables(struct shell *shell, const struct filter *filter)
{
    unsigned tables = vdbq_tables(shell->db);
    for (unsigned i = 0; i < tables; i++) {
        offer(filter, vdbq_table_name(shell->db, i));
        unsigned columns = vdbq_table_columns(shell->db, i);
        for (unsigned k = 0; k < columns; k++)
            offer(filter, vdbq_table_column_name(shell->db, i, k));
    }
    for (unsigned i = 0; i < vdbq_views(shell->db); i++)
        offer(filter, vdbq_view_name(shell->db, i));
}

void shell_complete(struct shell *shell, const char *word, bool first,
                    shell_candidate add, void *context)
{
    struct filter filter = { word, strlen(word), add, context };
    if (first && *word == '.') {
        const char *name;
        for (unsigned i = 0; (name = shell_command_name(NULL, i)); i++)
            offer(&filter, name);
        return;
    }
    if (*word)
        offer_keywords(&filter);
    offer_tables(shell, &filter);
}
