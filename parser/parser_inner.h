/* SPDX-License-Identifier: MIT */
/*
 * What the scanner, the grammar and the constructors of the syntax tree
 * share. The first failure of a parse is kept in its error; after it the
 * scanner only says "end", and constructors give and accept NULL, so that no
 * action of the grammar has to look at a status.
 */
#ifndef VDBQ_PARSER_INNER_H
#define VDBQ_PARSER_INNER_H

#include "parser/ast.h"

enum {
    EXPECTED_MAX = 80,   /* more tokens than the grammar has       */
    SCANNER_BYTES = 1024 /* for flex's own structs, some 250 bytes */
};

/* The bytes of some text of the statement, and where it starts. */
struct span {
    size_t begin, end;
    struct position at;
};

/* One parse. */
struct parse {
    const char *sql;             /* the statement, without its semicolon */
    size_t length;
    struct arena *arena;         /* of the tree                          */
    struct error *error;         /* the first failure                    */
    struct ast_statement *statement; /* the result                       */
    /* the scanner's */
    void *scanner;               /* flex's                               */
    size_t offset;               /* of the next token                    */
    struct position here;        /* of the next token                    */
    struct span last, before;    /* the last token and the one before it */
    int last_token, before_token;
    max_align_t slab[SCANNER_BYTES / sizeof(max_align_t)];
    size_t slab_used;
};

/* ----------------------------------------- what the grammar's values are -- */

struct name_list {
    struct ast_name *items; /* room for the next power of two */
    unsigned count;
};
struct value_list {
    struct ast_value *first, *last;
    unsigned count;
};
struct row_list {
    struct ast_row *first, *last;
    size_t count;
};
struct result_list {
    struct ast_result *first, *last;
    unsigned count;
};
struct column_list {
    struct ast_column *first, *last;
    unsigned count;
    struct ast_name key;
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
    bool not;
};

/* -------------------------------------------------------- constructors -- */

/* Memory of the tree; NULL, and no memory is kept as the failure. */
void *parse_alloc(struct parse *parse, size_t size);
/* The span's text without its quotes, a doubled quote being one. */
const char *parse_unquoted(struct parse *parse, struct span span,
                           size_t *length);

struct ast_name ast_name(struct parse *parse, struct span span);

struct ast_expression *ast_integer(struct parse *parse, struct span span);
struct ast_expression *ast_decimal(struct parse *parse, struct span span);
struct ast_expression *ast_string(struct parse *parse, struct span span);
struct ast_expression *ast_null(struct parse *parse, struct span span);
struct ast_expression *ast_boolean(struct parse *parse, struct span span,
                                   bool value);
struct ast_expression *ast_column(struct parse *parse, struct span span,
                                  struct ast_name table,
                                  struct ast_name column);
struct operation operation(enum ast_operator operator, struct span at,
                           struct span whole);
struct ast_expression *ast_unary(struct parse *parse,
                                 struct operation operation,
                                 struct ast_expression *operand);
struct ast_expression *ast_binary(struct parse *parse,
                                  struct operation operation,
                                  struct ast_expression *left,
                                  struct ast_expression *right);
/* operand IS NULL or, by the operation, IS NOT NULL */
struct ast_expression *ast_null_test(struct parse *parse,
                                     struct operation operation,
                                     struct ast_expression *operand);
/* The operation only gives the place. */
struct ast_expression *ast_between(struct parse *parse,
                                   struct operation operation,
                                   struct between between);
struct ast_expression *ast_cast(struct parse *parse, struct span whole,
                                struct ast_expression *operand,
                                enum vdbq_type type);
/* An expression in parentheses. */
struct ast_expression *ast_group(struct parse *parse, struct span whole,
                                 struct ast_expression *inner);

enum vdbq_type ast_type(struct parse *parse, struct ast_name name);
/* DOUBLE PRECISION is the only type of two words. */
enum vdbq_type ast_type_pair(struct parse *parse, struct ast_name first,
                             struct ast_name second);
/* A type with a length, which none takes: a failure. */
enum vdbq_type ast_type_sized(struct parse *parse, struct span span,
                              enum vdbq_type type);

struct name_list ast_names(struct parse *parse, struct name_list list,
                           struct ast_name name);
struct value_list ast_values(struct parse *parse, struct value_list list,
                             struct ast_expression *value);
struct ast_row *ast_row(struct parse *parse, struct span open,
                        struct value_list values);
struct row_list ast_rows(struct row_list list, struct ast_row *row);
struct ast_result *ast_star(struct parse *parse, struct span span,
                            struct ast_name table);
struct ast_result *ast_result(struct parse *parse, struct span span,
                              struct ast_expression *expression,
                              struct ast_name alias);
struct result_list ast_results(struct result_list list,
                               struct ast_result *result);
struct ast_column *ast_column_made(struct parse *parse, struct ast_name name,
                                   enum vdbq_type type,
                                   struct position key_at);
struct column_list ast_columns(struct column_list list,
                               struct ast_column *column);
struct column_list ast_key(struct column_list list, struct ast_name key);
struct ast_table *ast_table(struct parse *parse, struct ast_name name,
                            struct ast_name alias);

struct ast_statement *ast_empty(struct parse *parse);
struct ast_statement *ast_select(struct parse *parse,
                                 struct result_list results,
                                 struct ast_table *from,
                                 struct ast_expression *where);
struct ast_statement *ast_create(struct parse *parse, bool if_not_exists,
                                 struct ast_name table,
                                 struct column_list columns);
struct ast_statement *ast_drop(struct parse *parse, bool if_exists,
                               struct ast_name table);
struct ast_statement *ast_insert(struct parse *parse, struct ast_name table,
                                 struct name_list columns,
                                 struct row_list rows);
/* Makes the statement the parse's result. */
void ast_finish(struct parse *parse, enum ast_explain explain,
                struct ast_statement *statement);

/* ------------------------------------------------------------- failures -- */

/* Whether a failure has been kept. */
bool parse_failed(const struct parse *parse);

/* Each keeps the failure unless there is one already. */
void parse_no_memory(struct parse *parse);
void parse_too_deep(struct parse *parse, struct position at);

/* A token that does not fit, and those that would, by name: keywords in
 * capitals, the rest in words or as it is written. */
struct unexpected {
    struct span at;
    bool end;            /* it is the end of the statement             */
    bool word;           /* it is a name without quotes                */
    bool opens;          /* it is an opening parenthesis               */
    bool reserved;       /* it is a word of SQL that is kept for later */
    bool word_before;    /* the token before it is a name              */
    bool comma_before;   /* or a comma                                 */
    bool operand_before; /* or the last of an operand                  */
    const char *expected[EXPECTED_MAX]; /* to tell, in order           */
    unsigned count;
    const char *keywords[EXPECTED_MAX]; /* all that would fit          */
    unsigned keyword_count;
};
void parse_unexpected(struct parse *parse, const struct unexpected *found);

/* A token that is none by itself, with the way to write it. */
void parse_bad_token(struct parse *parse, struct span at, const char *what,
                     const char *hint);

/* -------------------------------------------------------------- scanner -- */

/* Lets the scanner read `text`: the statement and two NULs. */
bool scanner_open(struct parse *parse, char *text);
void scanner_close(struct parse *parse);

/* --------------------------------------------------------------- values -- */

union sql_value {
    struct ast_name name;
    struct ast_expression *expression;
    struct name_list names;
    struct value_list values;
    struct ast_row *row;
    struct row_list rows;
    struct ast_result *result;
    struct result_list results;
    struct ast_column *column;
    struct column_list columns;
    struct ast_table *table;
    struct ast_statement *statement;
    enum vdbq_type type;
    enum ast_explain explain;
};

#endif
