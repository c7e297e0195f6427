/* SPDX-License-Identifier: MIT */
/*
 * What the values of the grammar's rules are, where these are no part of the
 * syntax tree yet: lists that grow, and what constructors take together.
 */
#ifndef VDBQ_PARSER_PARTS_H
#define VDBQ_PARSER_PARTS_H

#include "parser/ast.h"

/* The bytes of some text of the statement, and where it starts. */
struct span {
    size_t begin, end;
    struct position at;
};

/* Lists have a tail, so that long ones take linear time, and the greatest
 * depth of what is in them. */
struct name_list {
    struct ast_name *items; /* room for the next power of two */
    unsigned count;
};
struct value_list {
    struct ast_value *first, *last;
    unsigned count, depth;
};
struct item_list {
    struct ast_item *first, *last;
    unsigned count, depth;
};
struct row_list {
    struct ast_row *first, *last;
    size_t count;
    unsigned depth;
};
struct result_list {
    struct ast_result *first, *last;
    unsigned count, depth;
};
struct order_list {
    struct ast_order *first, *last;
    unsigned depth;
};
struct when_list {
    struct ast_when *first, *last;
    unsigned depth;
};
struct with_list {
    struct ast_with *first, *last;
    unsigned depth;
};
struct set_list {
    struct ast_set *first, *last;
};
struct column_list {
    struct ast_column *first, *last;
    unsigned count;
    struct ast_constraint *constraint, *last_constraint;
};

/* A row of VALUES and the depth of its deepest value. */
struct row {
    struct ast_row *row;
    unsigned depth;
};

/* An operator, where it is written, and the text with its operands. */
struct operation {
    enum ast_operator operator;
    struct position at;
    struct span whole;
};

/* value [NOT] BETWEEN low AND high */
struct between {
    struct ast_expression *value, *low, *high;
    bool not ;
};

/* value [NOT] LIKE pattern [ESCAPE escape] */
struct like {
    struct ast_expression *value, *pattern, *escape;
    bool not ;
    enum ast_match match;
};

/* What stands behind IN: values, or a query. */
struct in_items {
    struct item_list items;
    struct ast_query *query;
};

/* What stands in the parentheses of a function. */
struct call {
    struct value_list arguments;
    struct order_list order;
    bool star, distinct;
    bool ignores_nulls;   /* IGNORE NULLS */
    bool part;            /* with FROM: only some functions are written so */
    struct ast_name side; /* BOTH, LEADING or TRAILING of trim; or nothing */
};

/* What stands in the parentheses of OVER. */
struct window_parts {
    struct value_list partition;
    struct order_list order;
    struct ast_frame frame;
};

/* OVER (...) and the depth of its deepest expression. */
struct window {
    struct ast_window *over; /* NULL: none */
    unsigned depth;
};

struct named_window_list {
    struct ast_named_window *first, *last;
    unsigned depth;
};

struct function {
    struct ast_name name;
    struct call call;
    struct ast_expression *filter;
    struct window window;
};

/* GROUP BY */
struct group {
    struct value_list values;
    bool all;
};

/* DISTINCT, or DISTINCT ON (values) */
struct distinct {
    bool all;
    struct value_list on;
};

struct select_parts {
    struct distinct distinct;
    struct result_list results;
    struct ast_from *from;
    struct ast_expression *where;
    struct group group;
    struct ast_expression *having;
    struct named_window_list windows;
    struct ast_expression *qualify;
};

struct limits {
    struct ast_expression *limit, *offset;
    bool share; /* `limit` is per cent of the rows */
};

/* ORDER BY ... LIMIT of UPDATE and DELETE, and where it is written. */
struct few_rows {
    struct span at;
    struct order_list order;
    struct limits limits; /* without an expression: all rows */
};

/* An alias with names of columns. */
struct source {
    struct ast_name alias;
    struct name_list columns;
};

/* An option of COPY; no value: its text is NULL. */
struct ast_copy_option {
    struct ast_name name, value;
    struct ast_copy_option *next;
};
struct copy_option_list {
    struct ast_copy_option *first, *last;
};
struct copy_parts {
    bool from;
    struct ast_query *query;  /* TO */
    struct ast_name table;    /* FROM */
    struct name_list columns; /* likewise */
    struct span file;
    struct copy_option_list options;
};

struct join {
    enum ast_join kind;
    bool natural;
};
/* ON or USING. */
struct on {
    struct ast_expression *expression;
    struct name_list using;
};
struct joined {
    struct ast_from *left, *right;
    struct on on;
};

/* The numbers behind a type's name. */
struct type_size {
    unsigned count; /* 0, 1 or 2 of them */
    unsigned precision, scale;
};

/* What may stand behind a column's type. */
enum rule {
    RULE_NONE,
    RULE_KEY,
    RULE_NOT_NULL,
    RULE_UNIQUE,
    RULE_DEFAULT, /* value */
    RULE_COLLATE, /* collation */
    RULE_CHECK    /* value     */
};
struct column_rule {
    enum rule rule;
    struct position at;
    struct ast_expression *value;
    enum collation collation;
    struct ast_name name; /* behind CONSTRAINT; without text: none */
};

/* A name behind that of its schema, which has no text where none was written. */
struct table_name {
    struct ast_name schema, name;
};

/* A name with IF EXISTS, or with IF NOT EXISTS. */
struct target {
    struct ast_name name;
    bool exists;
    bool replaces; /* OR REPLACE ...                        */
    size_t begin;  /* ... where what stands behind it begins */
};

enum insert_verb { INSERT_PLAIN, INSERT_REPLACE, INSERT_IGNORE };

/* A name of a table, and what it is called in the statement. */
struct aliased {
    struct ast_name name, alias;
};

struct insert_parts {
    enum insert_verb verb;
    struct aliased into;
    struct name_list columns;
    struct ast_query *query;
    struct ast_conflict conflict;
};

#endif
