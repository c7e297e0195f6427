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
#include "parser/parts.h"

enum {
    EXPECTED_MAX = 200,    /* more tokens than the grammar has          */
    TOKEN_CODES_MAX = 512, /* more than the codes of tokens (TOKEN_...) */
    SCANNER_BYTES = 1024   /* for flex's own structs, some 250 bytes    */
};

/* One parse. */
struct parse {
    const char *sql; /* the statement, without its semicolon */
    size_t length;
    struct arena *arena;             /* of the tree                          */
    struct error *error;             /* the first failure                    */
    struct ast_statement *statement; /* the result: a statement ...      */
    struct ast_expression *expression; /* ... or an expression alone      */
    /* the scanner's */
    void *scanner;            /* flex's                               */
    int opening;              /* a token before the text's; 0: none   */
    size_t offset;            /* of the next token                    */
    struct position here;     /* of the next token                    */
    struct span last, before; /* the last token and the one before it */
    int last_token, before_token;
    unsigned altering; /* tokens from ALTER on; 0: there was none */
    enum { UNIT_NO, UNIT_AFTER_NEXT, UNIT_NEXT } unit; /* of INTERVAL 3 DAY */
    unsigned unit_depth;    /* of INTERVAL (n) DAY: parentheses that are open */
    struct ast_from *files; /* those read so far, the last one first */
    struct ast_expression *spare; /* given back, each with the next as `left` */
    /* of the parameters */
    struct parameter **parameters; /* named ones, by their names' hash   */
    unsigned parameter_count;      /* the highest number so far          */
    max_align_t slab[SCANNER_BYTES / sizeof(max_align_t)];
    size_t slab_used;
};

/* ---------------------------------------------- constructors: ast.c -- */

/* Memory of the tree; NULL, and no memory is kept as the failure. */
void *parse_alloc(struct parse *parse, size_t size);
/* The span's text without its quotes, a doubled quote being one. */
const char *parse_unquoted(struct parse *parse, struct span span,
                           size_t *length);
unsigned deeper(unsigned a, unsigned b);

struct ast_name ast_name(struct parse *parse, struct span span);
struct name_list ast_names(struct parse *parse, struct name_list list,
                           struct ast_name name);

/* The name of what is the database's own: that of another schema is a failure. */
struct ast_name ast_own(struct parse *parse, struct table_name table);
/* What CREATE makes, which TEMP may stand before: that of the connection alone then. */
struct target ast_temporary(struct parse *parse, bool temporary,
                            struct target target);

struct ast_statement *ast_empty(struct parse *parse);
/* A statement that is a query, or DESCRIBE or SUMMARIZE of one. */
struct ast_statement *ast_query_made(struct parse *parse,
                                     enum ast_statement_kind kind,
                                     struct ast_query *query);
/* BEGIN, COMMIT, ROLLBACK, VACUUM. */
struct ast_statement *ast_simple(struct parse *parse,
                                 enum ast_statement_kind kind);
/* SAVEPOINT, RELEASE, ROLLBACK TO. */
struct ast_statement *ast_savepoint(struct parse *parse,
                                    enum ast_statement_kind kind,
                                    struct ast_name name);
/* PREPARE name AS statement, which is `what`. */
struct ast_statement *ast_prepare(struct parse *parse, struct ast_name name,
                                  const struct ast_statement *statement,
                                  struct span what);
struct ast_statement *ast_execute(struct parse *parse, struct ast_name name,
                                  struct span word, struct span values,
                                  unsigned count);
struct ast_statement *ast_deallocate(struct parse *parse, struct ast_name name);
/* ast_change.c */
struct ast_statement *ast_insert(struct parse *parse,
                                 struct insert_parts parts);
/* Behind BY: NAME or POSITION. */
struct ast_statement *ast_insert_by(struct parse *parse, struct ast_name what,
                                    struct insert_parts parts);
struct ast_conflict ast_conflict(struct span at, struct ast_target target,
                                 struct set_list sets,
                                 struct ast_expression *where);
struct ast_statement *ast_update(struct parse *parse, struct ast_update update,
                                 struct few_rows few);
struct ast_statement *ast_delete(struct parse *parse, struct ast_delete delete,
                                 struct few_rows few);
/* column = expression, (columns) = (expressions), (columns) = (SELECT ...). */
struct set_list ast_set(struct parse *parse, struct ast_name column,
                        struct ast_expression *expression);
struct set_list ast_set_row(struct parse *parse, struct span at,
                            struct name_list columns, struct row row);
struct set_list ast_set_query(struct parse *parse, struct span at,
                              struct name_list columns,
                              struct ast_query *query);
struct set_list ast_sets(struct set_list list, struct set_list more);
/* Accept NULL. */
struct ast_statement *ast_returning(struct ast_statement *statement,
                                    struct result_list results);
struct ast_statement *ast_with_change(struct ast_statement *statement,
                                      struct with_list withs);
/* ast_copy.c */
struct ast_statement *ast_copy(struct parse *parse, struct copy_parts parts);
struct ast_query *ast_table_columns(struct parse *parse, struct span whole,
                                    struct table_name table,
                                    struct name_list columns);
/* PRAGMA; an empty span: it has no argument. */
/* SHOW TABLES; of another name as DESCRIBE. */
struct ast_statement *ast_show(struct parse *parse, struct span at,
                               struct ast_name name);
struct ast_statement *ast_pragma(struct parse *parse, struct ast_name name,
                                 struct span argument);
struct ast_copy_option *ast_copy_option(struct parse *parse, struct span name,
                                        struct span value);
struct copy_option_list ast_copy_options(struct copy_option_list list,
                                         struct ast_copy_option *option);
/* Makes the statement the parse's result. */
void ast_finish(struct parse *parse, enum ast_explain explain,
                struct ast_statement *statement);
/* Makes the expression the parse's result; it must have no parameters. */
void ast_finish_expression(struct parse *parse, struct span whole,
                           struct ast_expression *expression);

/* ---------------------------------------- constructors: ast_create.c -- */

struct ast_statement *make_statement(struct parse *parse,
                                     enum ast_statement_kind kind);

/* From the numbers' text; `scale` may be NULL. */
struct type_size ast_type_size(struct parse *parse, struct span precision,
                               const struct span *scale);
struct ast_type ast_type(struct parse *parse, struct ast_name name,
                         struct type_size size);

/* The collation of that name; a failure where there is none. */
enum collation ast_collation(struct parse *parse, struct ast_name name);
struct ast_column *ast_column_made(struct parse *parse, struct ast_name name,
                                   struct ast_type type);
struct ast_column *ast_column_ruled(struct parse *parse,
                                    struct ast_column *column,
                                    struct column_rule rule);
struct column_rule ast_rule_named(struct column_rule rule,
                                  struct ast_name name);
struct ast_constraint *ast_constraint(struct parse *parse, struct span at,
                                      bool primary, struct order_list terms);
struct ast_constraint *ast_check(struct parse *parse, struct position at,
                                 struct ast_expression *condition);
struct ast_constraint *ast_constraint_named(struct ast_constraint *constraint,
                                            struct ast_name name);
struct column_list ast_columns(struct column_list list,
                               struct ast_column *column);
struct column_list ast_constraints(struct column_list list,
                                   struct ast_constraint *constraint);
struct ast_statement *ast_create(struct parse *parse, struct target target,
                                 struct column_list columns);
/* That STRICT or WITHOUT ROWID stands behind a table; `second` NULL: one word does. */
void ast_table_option(struct parse *parse, struct ast_name first,
                      const struct ast_name *second);
struct ast_statement *ast_create_as(struct parse *parse, struct target target,
                                    struct ast_query *query);
struct ast_statement *ast_view(struct parse *parse, struct target target,
                               struct name_list columns,
                               struct ast_query *query);
struct ast_statement *ast_index(struct parse *parse, struct ast_index index);
struct ast_statement *ast_alter(struct parse *parse, struct ast_name table,
                                struct ast_alter alter);
struct ast_statement *ast_drop(struct parse *parse,
                               enum ast_statement_kind kind,
                               struct target target);
/* CASCADE or RESTRICT behind it; any other word fails. */
void ast_drop_how(struct parse *parse, struct ast_name how);

/* ----------------------------------------- constructors: ast_query.c -- */

struct row ast_row(struct parse *parse, struct span open,
                   struct item_list items);
struct row_list ast_rows(struct row_list list, struct row row);
struct ast_result *ast_star(struct parse *parse, struct span span,
                            struct ast_name table);
/* ... but for the columns that EXCLUDE names, and with what REPLACE says. */
struct ast_result *ast_star_changed(struct ast_result *star,
                                    struct name_list excluded,
                                    struct result_list replaced);
/* An alias that is written without AS. */
struct ast_name ast_bare_alias(struct parse *parse, struct span span,
                               struct ast_name alias);
/* `named`: AS and the alias. */
struct ast_result *ast_result(struct parse *parse, struct span named,
                              struct ast_expression *expression,
                              struct ast_name alias);
struct result_list ast_results(struct result_list list,
                               struct ast_result *result);
/* A `*` that is not written. */
struct result_list ast_all_columns(struct parse *parse, struct span span);
struct ast_order *ast_order(struct parse *parse,
                            struct ast_expression *expression, bool descending,
                            int nulls);
/* ORDER BY ALL, of a term that says how. */
struct order_list ast_order_all(struct ast_order *order);
struct order_list ast_orders(struct order_list list, struct ast_order *order);

struct ast_query *ast_select(struct parse *parse, struct span whole,
                             struct select_parts parts);
struct ast_query *ast_rows_query(struct parse *parse, struct span whole,
                                 struct row_list rows);
/* SELECT * FROM name */
struct ast_query *ast_whole_table(struct parse *parse, struct span whole,
                                  struct table_name table);
struct ast_query *ast_compound(struct parse *parse, struct span whole,
                               enum ast_query_kind kind, struct ast_query *left,
                               struct ast_query *right);
/* UNION BY NAME: columns of one name meet. */
struct ast_query *ast_by_name(struct ast_query *query);
/* A query with ORDER BY or LIMIT. One in parentheses that has them already
 * is read by another: SELECT * FROM (query). */
struct ast_query *ast_arranged(struct parse *parse, struct span whole,
                               struct ast_query *query, struct order_list order,
                               struct limits limits);
struct ast_query *ast_with_query(struct parse *parse, struct span whole,
                                 struct with_list withs,
                                 struct ast_query *query);
/* FETCH FIRST rows ROWS ONLY: `rows`; words that are none of these fail. */
struct ast_expression *ast_fetch(struct parse *parse, struct ast_name first,
                                 struct ast_expression *rows,
                                 struct ast_name only);
/* Whether a name is that word; it fails where it is not. */
bool ast_word_is(struct parse *parse, struct ast_name name, const char *word);
/* A query in parentheses. */
struct ast_query *ast_enclosed(struct parse *parse, struct span whole,
                               struct ast_query *query);
struct ast_with *ast_with(struct parse *parse, struct ast_name name,
                          struct name_list columns, struct ast_query *query);
/* AS MATERIALIZED, whose rows are made once. */
struct ast_with *ast_with_once(struct ast_with *with);
struct with_list ast_withs(struct with_list list, struct ast_with *with);
/* RECURSIVE: each name may be read in its own query. */
struct with_list ast_recursive(struct with_list list);

struct ast_from *ast_table(struct parse *parse, struct span whole,
                           struct table_name table, struct ast_name alias);
struct ast_from *ast_file(struct parse *parse, struct span file,
                          struct ast_name alias);
/* A function's rows. */
struct ast_from *ast_from_call(struct parse *parse, struct span whole,
                               struct ast_name name,
                               struct value_list arguments,
                               struct source source);
struct ast_from *ast_derived(struct parse *parse, struct span whole,
                             struct ast_query *query, struct source source);
struct ast_from *ast_join(struct parse *parse, struct span whole,
                          struct join join, struct joined joined);
/* A FROM in parentheses. */
struct ast_from *ast_from_enclosed(struct parse *parse, struct span whole,
                                   struct ast_from *from);

/* ------------------------------------ constructors: ast_expression.c -- */

/* Whether a depth is allowed; else the failure is kept. */
bool fits_depth(struct parse *parse, unsigned depth, struct position at);
unsigned depth_of(const struct ast_expression *expression); /* NULL: 0 */
struct ast_expression *make_expression(struct parse *parse,
                                       enum ast_expression_kind kind,
                                       struct span span);

struct value_list ast_values(struct parse *parse, struct value_list list,
                             struct ast_expression *value);
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
/* Here, and in the next three, the operation only gives the place. */
/* left operator ALL (query), or ANY. */
struct ast_expression *ast_quantified(struct parse *parse,
                                      struct operation operation,
                                      struct ast_expression *left,
                                      struct ast_query *query, bool all);
struct ast_expression *ast_between(struct parse *parse,
                                   struct operation operation,
                                   struct between between);
struct ast_expression *ast_in(struct parse *parse, struct operation operation,
                              struct ast_expression *value,
                              struct in_items items, bool not );
struct ast_expression *ast_row_value(struct parse *parse, struct span whole,
                                     struct item_list items);
/* GROUPING SETS (...) */
struct ast_expression *ast_grouping_sets(struct parse *parse, struct span whole,
                                         struct value_list sets);
struct ast_expression *ast_collate(struct parse *parse,
                                   struct operation operation,
                                   struct ast_expression *operand,
                                   enum collation collation);
struct ast_expression *ast_like(struct parse *parse, struct operation operation,
                                struct like like);
struct ast_expression *ast_cast(struct parse *parse, struct operation operation,
                                struct ast_expression *operand,
                                struct ast_type type);
/* TRY_CAST. */
struct ast_expression *ast_try_cast(struct parse *parse,
                                    struct operation operation,
                                    struct ast_expression *operand,
                                    struct ast_type type);
struct ast_expression *ast_subquery(struct parse *parse,
                                    enum ast_expression_kind kind,
                                    struct span whole, struct ast_query *query);
struct when_list ast_whens(struct parse *parse, struct when_list list,
                           struct ast_expression *when,
                           struct ast_expression *then);
struct ast_expression *ast_case(struct parse *parse, struct span whole,
                                struct ast_expression *operand,
                                struct when_list whens,
                                struct ast_expression *otherwise);
struct ast_expression *ast_function(struct parse *parse, struct span whole,
                                    struct function function);
/* f(value FROM start FOR length); length may be NULL. */
struct call ast_part(struct parse *parse, struct ast_expression *value,
                     struct ast_expression *start,
                     struct ast_expression *length);
/* trim(BOTH characters FROM value). */
struct call ast_side(struct parse *parse, struct span side,
                     struct ast_expression *characters,
                     struct ast_expression *value);
/* ast_forms.c: forms that mean calls. */
/* EXTRACT(field FROM value) is extract('field', value). */
struct ast_expression *ast_extract(struct parse *parse, struct span whole,
                                   struct span name, struct span field,
                                   struct ast_expression *value);
/* POSITION(part IN whole) is instr(whole, part). */
struct ast_expression *ast_position(struct parse *parse, struct span at,
                                    struct span name,
                                    struct ast_expression *part,
                                    struct ast_expression *whole);
/* x ^ y is power(x, y). */
struct ast_expression *ast_power(struct parse *parse, struct span whole,
                                 struct ast_expression *base,
                                 struct ast_expression *exponent);
/* INTERVAL (amount) MONTH is to_months(amount). */
struct ast_expression *ast_interval_of(struct parse *parse, struct span whole,
                                       struct ast_expression *amount,
                                       struct span unit);
/* f(...) WITHIN GROUP (ORDER BY ...) */
struct ast_expression *ast_within_group(struct parse *parse, struct span whole,
                                        struct function function,
                                        struct order_list order);
/* An expression in parentheses. */
struct ast_expression *ast_group(struct parse *parse, struct span whole,
                                 struct ast_expression *inner);

/* ---------------------------------------- constructors: ast_window.c -- */

/* A window of its own parts; `base` without text: it is not based on one. */
struct window ast_window(struct parse *parse, struct ast_name base,
                         struct window_parts parts);
/* The window of that name. */
struct window ast_window_named(struct parse *parse, struct ast_name name);
/* Adds one to the clause WINDOW. */
struct named_window_list ast_named_windows(struct parse *parse,
                                           struct named_window_list list,
                                           struct ast_name name,
                                           struct window window);
/* A bound, which is written there; `offset` NULL: it has none. */
struct ast_bound ast_bound(struct span whole, enum ast_bound_kind kind,
                           struct ast_expression *offset);

/* ------------------------------------------ constructors: ast_item.c -- */

/* Adds an item; what was made of a literal is given back. */
struct item_list ast_items(struct parse *parse, struct item_list list,
                           struct ast_expression *expression);

/* --------------------------------------- constructors: ast_literal.c -- */

/* The number 1, which nobody wrote. */
struct ast_expression *ast_one(struct parse *parse, struct span span);
struct ast_expression *ast_integer(struct parse *parse, struct span span);
struct ast_expression *ast_decimal(struct parse *parse, struct span span);
struct ast_expression *ast_string(struct parse *parse, struct span span);
/* NULL, TRUE, FALSE */
struct ast_expression *
ast_word(struct parse *parse, enum ast_expression_kind kind, struct span span);
/* DATE 'text' is CAST('text' AS DATE). */
struct ast_expression *ast_typed(struct parse *parse, struct span whole,
                                 struct span text, enum vdbq_type type);
/* INTERVAL amount unit; a unit without bytes is in the amount's text. */
struct ast_expression *ast_interval(struct parse *parse, struct span whole,
                                    struct span amount, struct span unit);
struct ast_expression *ast_parameter(struct parse *parse, struct span span);
/* Names of all parameters, by their numbers from 1 at [0]; NULL: none has one,
 * or there was no memory. */
const char **ast_parameter_names(struct parse *parse);
/* Whether the word is a unit of time: YEAR, MONTHS ... */
bool is_unit(const char *text, size_t length);

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
    bool reserved;       /* it is a word that is a name only in quotes */
    bool word_before;    /* the token before it is a name              */
    bool comma_before;   /* or a comma                                 */
    bool operand_before; /* or the last of an operand                  */
    bool may_end;        /* the end would fit, the last of `expected`  */
    const char *expected[EXPECTED_MAX]; /* to tell, in order           */
    unsigned count;
    const char *keywords[EXPECTED_MAX]; /* all that would fit          */
    unsigned keyword_count;
};
/* expected.c: fills in what is told of tokens that would fit, the end first. */
struct expected_token {
    int token;        /* TOKEN_... of sql_parser.h                     */
    const char *name; /* as for `expected`                             */
};
void parse_expected(const struct expected_token *tokens, unsigned count,
                    struct unexpected *found);
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
    struct table_name table;
    struct ast_expression *expression;
    struct name_list names;
    struct value_list values;
    struct item_list items;
    struct row row;
    struct row_list rows;
    struct ast_result *result;
    struct result_list results;
    struct ast_order *order;
    struct order_list orders;
    struct ast_column *column;
    struct column_list columns;
    struct column_rule rule;
    enum collation collation;
    struct ast_constraint *constraint;
    struct ast_from *from;
    struct source source;
    struct join join;
    struct on on;
    struct ast_query *query;
    struct ast_with *with;
    struct with_list withs;
    struct limits limits;
    struct few_rows few;
    struct distinct distinct;
    struct group group;
    struct call call;
    struct window window;
    struct named_window_list named_windows;
    struct ast_frame frame;
    struct ast_bound bound;
    struct in_items in_items;
    struct when_list whens;
    struct set_list sets;
    struct ast_conflict conflict;
    struct ast_target target_rule;
    struct aliased aliased;
    struct target target;
    struct ast_alter alter;
    struct ast_copy_option *copy_option;
    struct copy_option_list copy_options;
    struct ast_statement *statement;
    struct ast_type type;
    struct type_size size;
    enum ast_query_kind kind;
    enum ast_explain explain;
    enum insert_verb verb;
    int nulls;
    bool flag;
    enum ast_match match;
    enum ast_operator operator;
};

#endif
