/* SPDX-License-Identifier: MIT */
/*
 * The syntax tree of expressions, of which ast.h has the statements around them.
 */
#ifndef VDBQ_PARSER_AST_EXPRESSION_H
#define VDBQ_PARSER_AST_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collation.h"
#include "base/error.h"

/* A name as written, without its quotes; text ends with a NUL. */
struct ast_name {
    const char *text; /* NULL: none was written             */
    struct position at;
    bool bare;          /* an alias without AS and quotes     */
    const char *schema; /* of what the database or the connection has: "main",
                           "temp"; NULL: none was written     */
};

enum ast_operator {
    /* two operands */
    AST_ADD,
    AST_SUB,
    AST_MUL,
    AST_DIV,
    AST_MOD,
    AST_EQ,
    AST_NEQ,
    AST_LT,
    AST_LE,
    AST_GT,
    AST_GE,
    AST_IS,
    AST_IS_NOT, /* as = and !=, but NULL is a value: SQLite's IS;
                           where `right` is AST_TRUE or AST_FALSE, whether
                           `left` is known and has that truth            */
    AST_AND,
    AST_OR,
    AST_CONCAT, /* ||                                            */
    AST_BIT_AND,
    AST_BIT_OR,
    AST_SHIFT_LEFT,
    AST_SHIFT_RIGHT,
    /* one operand, in `left` */
    AST_NOT,
    AST_MINUS,
    AST_PLUS,
    AST_BIT_NOT
};

/* A type as written: VARCHAR(10) is TEXT, DECIMAL(p,s) keeps both. */
struct ast_type {
    enum vdbq_type type;
    unsigned precision; /* VDBQ_DECIMAL: digits in all               */
    unsigned scale;     /* VDBQ_DECIMAL: digits behind the point     */
};

enum ast_expression_kind {
    AST_INTEGER, /* integer                                         */
    AST_DECIMAL, /* decimal: 1.5, 1e3, or a whole number past int64;
                      `begin` and `end` have its digits               */
    AST_STRING,  /* string: 'text', without quotes                  */
    AST_NULL,
    AST_TRUE,
    AST_FALSE,
    AST_INTERVAL,   /* INTERVAL '3' MONTH: integer, unit               */
    AST_COLUMN,     /* table (may be none), column                     */
    AST_PARAMETER,  /* ? (integer: its number from 1, in order of the
                      text), ?3 and $3 (integer), :name, $name and
                      @name (column.text)                             */
    AST_OPERATOR,   /* operator, left, right                           */
    AST_BETWEEN,    /* left, low in arguments, high behind it; negated */
    AST_CAST,       /* left, type; try                                 */
    AST_COLLATE,    /* left, collation                                 */
    AST_CASE,       /* left (the operand; NULL: none), whens,
                      right (ELSE; NULL: none)                        */
    AST_IN,         /* left, items or query; negated                   */
    AST_LIKE,       /* left, right, escape (NULL: none); negated, match */
    AST_FUNCTION,   /* column (its name), arguments, star, distinct,
                      filter, over                                    */
    AST_SUBQUERY,   /* query: its only value                           */
    AST_EXISTS,     /* query                                           */
    AST_QUANTIFIED, /* left operator ANY (query); negated: ALL        */
    AST_ROW,        /* items: (a, b), of two values at least; in GROUP BY
                      also of none                                    */
    AST_SETS,       /* arguments: GROUPING SETS (...), in GROUP BY alone */
    AST_DEFAULT     /* what the column has that it is a value for: in rows of
                      VALUES and in SET alone                         */
};

enum ast_unit {
    AST_YEAR,
    AST_MONTH,
    AST_DAY,
    AST_HOUR,
    AST_MINUTE,
    AST_SECOND
};

/* How a text is compared with a pattern. */
enum ast_match {
    AST_MATCH_LIKE,
    AST_MATCH_ILIKE,
    AST_MATCH_GLOB,
    AST_MATCH_REGEXP, /* also ~ and !~ */
    AST_MATCH_SIMILAR /* SIMILAR TO    */
};

/* One WHEN of a CASE. */
struct ast_when {
    struct ast_expression *when, *then;
    struct ast_when *next;
};

/* Where a window's frame begins or ends, the first place first. */
enum ast_bound_kind {
    AST_BOUND_START, /* UNBOUNDED PRECEDING */
    AST_BOUND_PRECEDING,
    AST_BOUND_CURRENT,
    AST_BOUND_FOLLOWING,
    AST_BOUND_END /* UNBOUNDED FOLLOWING */
};
struct ast_bound {
    enum ast_bound_kind kind;
    struct ast_expression *offset; /* of PRECEDING and FOLLOWING */
    struct position at;
};
/* ROWS or RANGE, BETWEEN begin AND end. */
struct ast_frame {
    bool written, range;
    struct ast_bound begin, end;
};

/* OVER name, or (name PARTITION BY ... ORDER BY ... frame). */
struct ast_window {
    struct ast_name base; /* of the clause WINDOW; no text: none         */
    bool whole;           /* without parentheses: it is that one         */
    struct ast_value *partition;
    struct ast_order *order;
    struct ast_frame frame;
};

/* The position is the operator's, or the first token's. `begin` and `end`
 * are the bytes of the statement's text that the expression covers, without
 * outer parentheses: the name of a result column without an alias. */
struct ast_expression {
    enum ast_expression_kind kind;
    enum ast_operator operator;
    struct ast_type type;     /* AST_CAST                              */
    enum ast_unit unit;       /* AST_INTERVAL                          */
    enum collation collation; /* AST_COLLATE                       */
    unsigned depth;           /* 1 + the deepest part's; parentheses
                             count, too                            */
    struct position at;
    size_t begin, end;
    int64_t integer;
    double decimal;
    const char *string; /* AST_STRING, ended by a NUL            */
    size_t string_length;
    struct ast_name table, column;
    struct ast_expression *left, *right;
    struct ast_expression *escape;
    struct ast_expression *filter; /* FILTER (WHERE ...); NULL: none */
    struct ast_order *order;       /* string_agg(x ORDER BY y)       */
    struct ast_value *arguments;
    unsigned argument_count;
    struct ast_item *items;
    unsigned item_count;
    struct ast_when *whens;
    struct ast_query *query;
    struct ast_window *over; /* NULL: not a window function    */
    bool negated;            /* NOT IN, NOT LIKE, NOT BETWEEN  */
    bool try;                /* TRY_CAST                       */
    enum ast_match match;    /* AST_LIKE                       */
    bool star;               /* count(*)                       */
    bool distinct;           /* count(DISTINCT x)              */
    bool ignores_nulls;      /* last_value(x IGNORE NULLS)     */
};

struct ast_value {
    struct ast_expression *expression;
    struct ast_value *next;
};

/* One of a list that may be long: of IN, or of a row of VALUES. A literal is
 * kept as its value alone, in a tenth of the memory of an expression. */
struct ast_item {
    struct ast_item *next;
    union {
        struct ast_expression *expression; /* of all other kinds           */
        int64_t integer;                   /* AST_INTEGER                  */
        double decimal;                    /* AST_DECIMAL                  */
        const char *string;                /* AST_STRING, ended by a NUL   */
    };
    struct position at;
    uint32_t begin;    /* of the statement's text, as of expressions ...    */
    uint32_t kind : 5; /* enum ast_expression_kind                         */
    uint32_t length : 27; /* ... and how many bytes from there on          */
};

/* Whether it is kept as its value alone. */
bool ast_item_is_literal(const struct ast_item *item);
/* The item as an expression: in `room` where it is a literal, and then as long
 * as that is there. */
const struct ast_expression *ast_item_read(const struct ast_item *item,
                                           struct ast_expression *room);

/* name AS (...) in the clause WINDOW. */
struct ast_named_window {
    struct ast_name name;
    struct ast_window *window;
    struct ast_named_window *next;
};

#endif
