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

#include "base/error.h"
#include "base/memory.h"

enum {
    SQL_BYTES_MAX = 64 << 20, /* of one statement                        */
    SQL_DEPTH_MAX = 1000,     /* expressions nested in one another       */
    SQL_NODES_MAX = 1 << 20   /* of one expression                       */
};

/* A name as written, without its quotes; text ends with a NUL. */
struct ast_name {
    const char *text; /* NULL: none was written */
    struct position at;
};

enum ast_operator {
    /* two operands */
    AST_ADD, AST_SUB, AST_MUL, AST_DIV, AST_MOD,
    AST_EQ, AST_NEQ, AST_LT, AST_LE, AST_GT, AST_GE,
    AST_IS, AST_IS_NOT, /* as = and !=, but NULL is a value: SQLite's IS */
    AST_AND, AST_OR,
    /* one operand, in `left` */
    AST_NOT, AST_MINUS, AST_PLUS
};

enum ast_expression_kind {
    AST_INTEGER,  /* integer                                         */
    AST_DECIMAL,  /* decimal: 1.5, 1e3, or a whole number past int64 */
    AST_STRING,   /* string: 'text', without quotes                  */
    AST_NULL,
    AST_COLUMN,   /* table (may be none), column                     */
    AST_OPERATOR, /* operator, left, right                           */
    AST_CAST      /* left, type                                      */
};

/* The position is the operator's, or the first token's. `begin` and `end`
 * are the bytes of the statement's text that the expression covers, without
 * outer parentheses: the name of a result column without an alias. */
struct ast_expression {
    enum ast_expression_kind kind;
    enum ast_operator operator;
    enum vdbq_type type;  /* AST_CAST                              */
    unsigned depth;       /* 1 + the deeper operand's; parentheses
                             count, too                            */
    unsigned nodes;       /* in it; BETWEEN shares an operand, which
                             counts each time                      */
    struct position at;
    size_t begin, end;
    int64_t integer;
    double decimal;
    const char *string;   /* AST_STRING, ended by a NUL            */
    size_t string_length;
    struct ast_name table, column;
    struct ast_expression *left, *right;
};

/* A result column: `*` or `t.*` (star), or an expression with an alias. */
struct ast_result {
    bool star;
    struct ast_name table; /* of `t.*`                             */
    struct ast_expression *expression;
    struct ast_name alias;
    struct position at;
    struct ast_result *next;
};

struct ast_table {
    struct ast_name name;
    struct ast_name alias;
};

struct ast_select {
    struct ast_result *results;
    unsigned result_count;
    struct ast_table *from;          /* NULL: no FROM              */
    struct ast_expression *where;    /* NULL: no WHERE             */
};

struct ast_column {
    struct ast_name name;
    enum vdbq_type type;
    bool primary_key;
    struct position key_at;          /* of PRIMARY                 */
    struct ast_column *next;
};

struct ast_create {
    struct ast_name table;
    bool if_not_exists;
    struct ast_column *columns;
    unsigned column_count;
    struct ast_name key; /* PRIMARY KEY (name) as a table constraint */
};

struct ast_drop {
    struct ast_name table;
    bool if_exists;
};

struct ast_value {
    struct ast_expression *expression;
    struct ast_value *next;
};
struct ast_row {
    struct ast_value *values;
    unsigned value_count;
    struct position at;  /* of its opening parenthesis */
    struct ast_row *next;
};
struct ast_insert {
    struct ast_name table;
    struct ast_name *columns; /* column_count of them; NULL: all, in order */
    unsigned column_count;
    struct ast_row *rows;
    size_t row_count;
};

enum ast_statement_kind {
    AST_EMPTY, /* only blanks, comments or a semicolon */
    AST_SELECT, AST_CREATE_TABLE, AST_DROP_TABLE, AST_INSERT
};
enum ast_explain { AST_RUN, AST_EXPLAIN, AST_EXPLAIN_ANALYZE };

struct ast_statement {
    enum ast_statement_kind kind;
    enum ast_explain explain;
    union {
        struct ast_select select;
        struct ast_create create;
        struct ast_drop drop;
        struct ast_insert insert;
    };
};

/*
 * Parses the first statement of `sql`, `length` bytes. `*consumed` is set to
 * the bytes up to and with its semicolon (or all); after a syntax error, to
 * the bytes up to and with the next semicolon outside quotes and comments,
 * so that a script can go on. The tree lives in `arena`.
 * Fails with SYNTAX, LIMIT or NO_MEMORY; positions count from `sql`.
 */
enum vdbq_status sql_parse(const char *sql, size_t length,
                           struct arena *arena,
                           struct ast_statement **statement,
                           size_t *consumed, struct error *error);

/* Whether `sql` ends behind a statement. If not, it wants more text: a shell
 * then prompts for the next line. Blanks and comments alone are complete. */
bool sql_complete(const char *sql, size_t length);

#endif
