/* SPDX-License-Identifier: MIT */
/*
 * The syntax tree of one SQL statement, as written: names are not looked up
 * and types are not known here. Everything lives in the caller's arena.
 */
#ifndef VDBQ_PARSER_AST_H
#define VDBQ_PARSER_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collation.h"
#include "base/error.h"
#include "base/memory.h"
#include "parser/ast_expression.h"

enum {
    SQL_BYTES_MAX = 64 << 20,  /* of one statement                        */
    SQL_DEPTH_MAX = 1000,      /* expressions and queries nested in one
                                 another                                 */
    SQL_PARAMETERS_MAX = 32766 /* the highest number of a parameter      */
};

/* A result column: `*` or `t.*` (star), or an expression with an alias. */
struct ast_result {
    bool star;
    struct ast_name table;     /* of `t.*`                             */
    struct ast_name *excluded; /* star: EXCLUDE, excluded_count of them */
    unsigned excluded_count;
    struct ast_result *replaced; /* star: REPLACE, by alias          */
    struct ast_expression *expression;
    struct ast_name alias;
    struct position at;
    unsigned depth; /* star: of what REPLACE says */
    struct ast_result *next;
};

/* A term of ORDER BY. */
struct ast_order {
    struct ast_expression *expression;
    bool descending;
    enum { AST_NULLS_DEFAULT, AST_NULLS_FIRST, AST_NULLS_LAST } nulls;
    bool all; /* it stands for all results; `expression` for the first one */
    struct ast_order *next;
};

/* What stands in FROM. */
enum ast_from_kind {
    AST_FROM_TABLE, /* schema, name, alias; also a view or a name of WITH */
    AST_FROM_FILE,  /* file: FROM 'file.csv'; alias               */
    AST_FROM_QUERY, /* query, alias, columns                      */
    AST_FROM_CALL,  /* name, arguments, alias, columns            */
    AST_FROM_JOIN   /* left, right, join, on or using             */
};
enum ast_join {
    AST_JOIN_COMMA,
    AST_JOIN_CROSS,
    AST_JOIN_INNER,
    AST_JOIN_SEMI, /* rows of `left`: `on` is EXISTS of `right`, ... */
    AST_JOIN_ANTI, /* ... or NOT EXISTS                            */
    AST_JOIN_LEFT,
    AST_JOIN_RIGHT,
    AST_JOIN_FULL
};
struct ast_from {
    enum ast_from_kind kind;
    unsigned depth;         /* as of expressions */
    struct ast_name schema; /* without text: none was written */
    struct ast_name name;
    struct ast_name alias;
    struct ast_value *arguments;
    const char *file;
    struct ast_from *next_file; /* of the statement's              */
    struct ast_query *query;
    struct ast_from *left, *right;
    enum ast_join join;
    bool natural;
    struct ast_expression *on; /* NULL: none                      */
    struct ast_name *columns;  /* USING (...), or alias(a, b ...) */
    unsigned column_count;
    struct position at;
};

struct ast_row {
    struct ast_item *items;
    unsigned item_count;
    struct position at; /* of its opening parenthesis */
    struct ast_row *next;
};

/* SELECT ... up to QUALIFY. */
struct ast_select {
    bool distinct;                 /* DISTINCT alone                  */
    struct ast_value *distinct_on; /* DISTINCT ON (...); NULL: none  */
    struct ast_result *results;
    unsigned result_count;
    struct ast_from *from;            /* NULL: no FROM              */
    struct ast_expression *where;     /* NULL: no WHERE             */
    struct ast_value *group;          /* GROUP BY; NULL: none       */
    bool group_all;                   /* GROUP BY ALL               */
    struct ast_expression *having;    /* NULL: none                 */
    struct ast_named_window *windows; /* WINDOW; NULL: none       */
    struct ast_expression *qualify;   /* NULL: none               */
};

/* A name of WITH. */
struct ast_with {
    struct ast_name name;
    struct ast_name *columns; /* column_count of them; NULL: the query's */
    unsigned column_count;
    struct ast_query *query;
    bool recursive; /* RECURSIVE: the query may read the name's rows   */
    bool once;      /* AS MATERIALIZED                                 */
    struct ast_with *next;
};

/* A query is a SELECT, a VALUES, or two queries joined by a set operator;
 * with what may stand around it. */
enum ast_query_kind {
    AST_QUERY_SELECT, /* select       */
    AST_QUERY_VALUES, /* rows         */
    AST_QUERY_UNION,
    AST_QUERY_UNION_ALL,
    AST_QUERY_INTERSECT,
    AST_QUERY_INTERSECT_ALL,
    AST_QUERY_EXCEPT,
    AST_QUERY_EXCEPT_ALL /* left, right */
};
struct ast_query {
    enum ast_query_kind kind;
    unsigned depth; /* as of expressions */
    struct ast_with *with;
    struct ast_select select;
    struct ast_row *rows;
    size_t row_count;
    struct ast_query *left, *right;
    bool by_name; /* UNION, UNION ALL: columns of one name meet */
    struct ast_order *order;
    struct ast_expression *limit, *offset; /* NULL: none */
    struct position at;
    size_t begin, end; /* of the statement's text, as of expressions */
};

struct ast_column {
    struct ast_name name;
    struct ast_type type;
    bool primary_key;
    bool not_null;
    bool unique;
    enum collation collation;
    struct ast_expression *default_value; /* NULL: none    */
    struct position key_at;               /* of PRIMARY    */
    struct ast_constraint *checks; /* CHECK (...) behind it; NULL: none */
    struct ast_constraint *last_check;
    struct ast_column *next;
};

/* PRIMARY KEY (a, b), UNIQUE (a, b) or CHECK (condition). */
struct ast_constraint {
    struct ast_name name;         /* behind CONSTRAINT; without text: none */
    struct ast_expression *check; /* the condition; NULL: it is no CHECK   */
    bool primary;
    struct ast_order *terms; /* columns, at least one, as an index has them;
                                of a CHECK none                            */
    struct position at;
    struct ast_constraint *next;
};

struct ast_create {
    struct ast_name table;
    bool if_not_exists;
    bool replaces; /* OR REPLACE */
    struct ast_column *columns;
    unsigned column_count;
    struct ast_constraint *constraints;
    struct ast_query *query; /* CREATE TABLE AS; NULL: none */
};

/* ALTER TABLE: one thing of a table. */
enum ast_alteration {
    AST_RENAME_TABLE,  /* to                                       */
    AST_RENAME_COLUMN, /* column, to                               */
    AST_ADD_COLUMN,    /* added; exists: IF NOT EXISTS             */
    AST_DROP_COLUMN    /* column; exists: IF EXISTS                */
};
struct ast_alter {
    enum ast_alteration what;
    struct ast_name table, column, to;
    struct ast_column *added;
    bool exists;
};

/* PRAGMA name(argument) */
struct ast_pragma {
    struct ast_name name;
    struct ast_name argument; /* without text: none */
};

/* DROP TABLE, VIEW, INDEX; REINDEX and ANALYZE, whose name has no text where it is of all
 * indexes. */
struct ast_drop {
    struct ast_name name;
    bool if_exists;
};

struct ast_view {
    struct ast_name name;
    bool if_not_exists;
    bool replaces; /* OR REPLACE ...                                  */
    size_t begin;  /* ... behind which the statement goes on with VIEW */
    struct ast_name *columns;
    unsigned column_count;
    struct ast_query *query;
};

struct ast_index {
    struct ast_name name;
    struct ast_name table;
    bool if_not_exists;
    bool unique;
    struct ast_order *terms;      /* columns, ASC or DESC */
    struct ast_expression *where; /* NULL: there is none */
};

/* One `column = expression` of SET, or one column of (a, b) = (SELECT ...):
 * that is column `number` of `width` of a subquery, `expression`. */
struct ast_set {
    struct ast_name column;
    struct ast_expression *expression;
    unsigned number, width; /* width 0: the expression is the value */
    struct ast_set *next;
};

/* What ON CONFLICT is about: as CREATE INDEX has it. */
struct ast_target {
    struct ast_order *terms;      /* NULL: any rule   */
    struct ast_expression *where; /* NULL: there is none */
};

/* ON CONFLICT. */
struct ast_conflict {
    struct position at; /* line 0: there is none                  */
    struct ast_target target;
    struct ast_set *sets;         /* DO UPDATE; NULL: DO NOTHING */
    struct ast_expression *where; /* ... NULL: none */
};

struct ast_insert {
    struct ast_name table;
    struct ast_name alias;
    bool replace;             /* REPLACE, INSERT OR REPLACE             */
    bool ignore;              /* INSERT OR IGNORE                       */
    struct ast_name *columns; /* column_count of them; NULL: all, in order */
    unsigned column_count;
    bool by_name;            /* BY NAME: those that the query's are called  */
    struct ast_query *query; /* VALUES or any other; NULL: DEFAULT VALUES */
    struct ast_conflict conflict;
};
struct ast_update {
    struct ast_name table;
    struct ast_name alias;
    struct ast_set *sets;
    struct ast_from *from; /* NULL: none */
    struct ast_expression *where;
};
struct ast_delete {
    struct ast_name table;
    struct ast_name alias;
    struct ast_from *from; /* USING; NULL: none */
    struct ast_expression *where;
};

/* COPY table (or a query) TO 'file.csv', COPY table FROM 'file.csv'. */
struct ast_copy {
    struct vdbq_copy said;    /* as a program is told                     */
    struct ast_query *query;  /* TO: of a table: SELECT * FROM it         */
    struct ast_name table;    /* FROM */
    struct ast_name *columns; /* likewise; column_count of them; NULL: none */
    unsigned column_count;
    struct position at; /* of the file's name */
};

/* PREPARE, EXECUTE, DEALLOCATE. */
struct ast_named {
    struct ast_name name;
    size_t word; /* EXECUTE: where that is in the statement's text        */
    size_t begin, end; /* likewise: of PREPARE the statement that gets the name,
                          of EXECUTE the values in its parentheses             */
    unsigned values; /* EXECUTE: how many                                     */
};

enum ast_statement_kind {
    AST_EMPTY,  /* only blanks, comments or a semicolon */
    AST_SELECT, /* query */
    AST_CREATE_TABLE,
    AST_DROP_TABLE,
    AST_CREATE_VIEW,
    AST_DROP_VIEW,
    AST_CREATE_INDEX,
    AST_ALTER,
    AST_DROP_INDEX,
    AST_REINDEX,
    AST_INSERT,
    AST_UPDATE,
    AST_DELETE,
    AST_BEGIN,
    AST_COMMIT,
    AST_ROLLBACK,
    AST_SAVEPOINT,
    AST_RELEASE,
    AST_ROLLBACK_TO,
    AST_VACUUM,
    AST_CHECK, /* PRAGMA integrity_check */
    AST_COPY,  /* TO */
    AST_COPY_FROM,
    AST_DESCRIBE,
    AST_SUMMARIZE, /* of a table: SELECT * FROM it */
    AST_PRAGMA,    /* SHOW TABLES is one, too */
    AST_ANALYZE,   /* `drop`, as REINDEX */
    AST_PREPARE,
    AST_EXECUTE,
    AST_DEALLOCATE /* of a name without text: ALL */
};
enum ast_explain {
    AST_RUN,
    AST_EXPLAIN,
    AST_EXPLAIN_ANALYZE,
    AST_EXPLAIN_TREE /* how the planner came to its steps */
};

struct ast_statement {
    enum ast_statement_kind kind;
    enum ast_explain explain;
    unsigned parameter_count;     /* the highest number of a parameter   */
    const char **parameter_names; /* one a number, from 1 at [0]; NULL: it
                                     has none; NULL: none has            */
    struct ast_from *files;       /* all of them; NULL: none             */
    struct ast_with *with;        /* of INSERT, UPDATE, DELETE; NULL: none */
    struct ast_result *returning; /* likewise */
    union {
        struct ast_query *query; /* SELECT, DESCRIBE, SUMMARIZE */
        struct ast_create create;
        struct ast_alter alter;
        struct ast_drop drop;
        struct ast_view view;
        struct ast_index index;
        struct ast_insert insert;
        struct ast_update update;
        struct ast_delete delete;
        struct ast_copy copy;
        struct ast_pragma pragma;
        struct ast_named named;
        struct ast_name savepoint; /* SAVEPOINT, RELEASE, ROLLBACK TO */
    };
};

/*
 * Parses the first statement of `sql`, `length` bytes. `*consumed` is set to
 * the bytes up to and with its semicolon (or all); after a syntax error, to
 * the bytes up to and with the next semicolon outside quotes and comments,
 * so that a script can go on. The tree lives in `arena`.
 * Fails with SYNTAX, LIMIT or NO_MEMORY; positions count from `sql`.
 */
enum vdbq_status sql_parse(const char *sql, size_t length, struct arena *arena,
                           struct ast_statement **statement, size_t *consumed,
                           struct error *error);

/*
 * Parses a text that is one expression without parameters and nothing else:
 * what the file keeps of a DEFAULT. Else as sql_parse().
 */
enum vdbq_status sql_parse_expression(const char *sql, size_t length,
                                      struct arena *arena,
                                      const struct ast_expression **expression,
                                      struct error *error);

/* Whether `sql` ends behind a statement. If not, it wants more text: a shell
 * then prompts for the next line. Blanks and comments alone are complete. */
bool sql_complete(const char *sql, size_t length);

#endif
