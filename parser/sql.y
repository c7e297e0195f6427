/* SPDX-License-Identifier: MIT */
/*
 * The grammar of one statement, without its semicolon. Each action is one
 * call of a constructor in ast*.c. Operators bind as they do in SQLite. The
 * grammar is one file: bison reads no more, and a rule may name any other.
 * expected.c and syntax.c say what is wrong with text that it refuses.
 *
 * AND and OR join `term`s, so that the AND of BETWEEN is never theirs. The
 * NOT of IS NOT is a token of its own, made by the scanner: `a IS NOT b` is
 * never IS over a NOT. So is the unit of an INTERVAL.
 *
 * `((SELECT 1))` may be read as a query in two pairs of parentheses or as an
 * expression in one around a query in another: parentheses belong to the
 * query as long as they can, which the precedence of ")" over ALONE says.
 */
%code requires {
#include "parser/parser_inner.h"
}

%code {
static void *stack_alloc(size_t size);
static void sql_grammar_error(const struct span *at, struct parse *parse,
                              const char *message);

/* The stack grows on the heap. Nothing takes more than a dozen symbols for a
 * level of nesting, so that a full stack means too deep. */
#define YYMALLOC(size) stack_alloc(size)
#define YYFREE memory_release
#define YYMAXDEPTH (16 * SQL_DEPTH_MAX)

#define YYLLOC_DEFAULT(whole, parts, count) \
    ((whole) = span_of(&YYRHSLOC(parts, 0), (size_t)(count)))

static struct span span_of(const struct span *before, size_t count);
}

%code provides {
int sql_grammar_lex(union sql_value *value, struct span *at,
                    struct parse *parse);
}

%define api.pure full
%define api.prefix {sql_grammar_}
%define api.token.prefix {TOKEN_}
%define api.value.type {union sql_value}
%define api.location.type {struct span}
%define parse.error custom
%define lr.type lalr
%define parse.lac full
%locations
%param {struct parse *parse}
%expect 0

/* In the order in which messages list them. */
%token
    END 0       "the end of the statement"
    SELECT      "SELECT"
    INSERT      "INSERT"
    UPDATE      "UPDATE"
    DELETE      "DELETE"
    CREATE      "CREATE"
    ALTER       "ALTER"
    DROP        "DROP"
    COMMIT      "COMMIT"
    WITH        "WITH"
    FROM        "FROM"
    WHERE       "WHERE"
    INTO        "INTO"
    VALUES      "VALUES"
    TABLE       "TABLE"
    INDEX       "INDEX"
    PRIMARY     "PRIMARY"
    UNIQUE      "UNIQUE"
    DEFAULT     "DEFAULT"
    CHECK       "CHECK"
    CONSTRAINT  "CONSTRAINT"
    SET         "SET"
    ON          "ON"
    ON_CONFLICT "ON CONFLICT"
    USING       "USING"
    RETURNING   "RETURNING"
    TO          "TO"
    /* only where ALTER TABLE has them: else names */
    ADD         "ADD"
    COLUMN      "COLUMN"
    RENAME      "RENAME"
    ANY         "ANY" /* behind a comparison, before a query: else a name */
    WHEN        "WHEN"
    THEN        "THEN"
    ELSE        "ELSE"
    COMMA       ","
    LEFT        "("
    RIGHT       ")"
    STAR        "*"
    DOT         "."
    AS          "AS"
    DISTINCT    "DISTINCT"
    ALL         "ALL"
    NULL        "NULL"
    TRUE        "TRUE"
    FALSE       "FALSE"
    CASE        "CASE"
    EXISTS      "EXISTS"
    IS_NOT      "the NOT of IS NOT"
    INTEGER     "a number"
    DECIMAL     "a decimal number"
    STRING      "a text"
    PARAMETER   "a parameter"
    UNIT        "a unit of time"
    TYPE_WORDS  "a type"
    TRANSACTION "TRANSACTION"
    /* the operators, together */
    OR          "OR"
    AND         "AND"
    NOT         "NOT"
    IS          "IS"
    ISNULL      "ISNULL"
    NOTNULL     "NOTNULL"
    BETWEEN     "BETWEEN"
    IN          "IN"
    LIKE        "LIKE"
    ILIKE       "ILIKE"
    GLOB        "GLOB"
    REGEXP      "REGEXP"
    SIMILAR     "SIMILAR"
    MATCHES     "~"
    MATCHES_NOT "!~"
    ESCAPE      "ESCAPE"
    COLLATE     "COLLATE"
    EQUAL       "="
    DIFFERENT   "<>"
    LESS        "<"
    LESS_EQUAL  "<="
    GREATER     ">"
    GREATER_EQUAL ">="
    PLUS        "+"
    MINUS       "-"
    SLASH       "/"
    CONCAT      "||"
    AMPERSAND   "&"
    BAR         "|"
    SHIFT_LEFT  "<<"
    SHIFT_RIGHT ">>"
    TYPED       "::"
    POWER       "^"
    PERCENT     "%"
    GROUP       "GROUP"
    GROUPING_SETS "GROUPING SETS"
    WITHIN_GROUP "WITHIN GROUP"
    IGNORE_NULLS "IGNORE NULLS"
    RESPECT_NULLS "RESPECT NULLS"
    HAVING      "HAVING"
    ORDER       "ORDER"
    LIMIT       "LIMIT"
    JOIN        "JOIN"
    SEMI        "SEMI" /* behind what is joined, before JOIN: else names */
    ANTI        "ANTI"
    UNION       "UNION"
    INTERSECT   "INTERSECT"
    EXCEPT      "EXCEPT"
    /* words that are names where nothing else is meant, together */
    NAME        "a name"
    QUOTED      "a quoted name"
    ANALYZE     "ANALYZE"
    ASC         "ASC"
    BEGIN       "BEGIN"
    BY          "BY"
    CAST        "CAST"
    COPY        "COPY"
    CROSS       "CROSS"
    CURRENT     "CURRENT"
    DATE        "DATE"
    DEFERRED    "DEFERRED"
    DESC        "DESC"
    DEALLOCATE  "DEALLOCATE"
    DESCRIBE    "DESCRIBE"
    DO          "DO"
    END_WORD    "END"
    EXCLUDE     "EXCLUDE"
    EXCLUSIVE   "EXCLUSIVE"
    EXECUTE     "EXECUTE"
    EXPLAIN     "EXPLAIN"
    EXTRACT     "EXTRACT"
    FETCH       "FETCH"
    FILTER      "FILTER"
    FIRST       "FIRST"
    FOLLOWING   "FOLLOWING"
    FOR         "FOR"
    FULL        "FULL"
    IF          "IF"
    IGNORE      "IGNORE"
    IMMEDIATE   "IMMEDIATE"
    INNER       "INNER"
    INTERVAL    "INTERVAL"
    KEY         "KEY"
    LAST        "LAST"
    LEFT_WORD   "LEFT"
    NATURAL     "NATURAL"
    NOTHING     "NOTHING"
    NULLS       "NULLS"
    OFFSET      "OFFSET"
    OUTER       "OUTER"
    OVER        "OVER"
    PARTITION   "PARTITION"
    POSITION    "POSITION"
    PRECEDING   "PRECEDING"
    PREPARE     "PREPARE"
    QUALIFY     "QUALIFY"
    RANGE       "RANGE"
    REINDEX     "REINDEX"
    RELEASE     "RELEASE"
    REPLACE     "REPLACE"
    RIGHT_WORD  "RIGHT"
    ROLLBACK    "ROLLBACK"
    ROW         "ROW"
    ROWS        "ROWS"
    PRAGMA      "PRAGMA"
    SAVEPOINT   "SAVEPOINT"
    MATERIALIZED "MATERIALIZED"
    RECURSIVE   "RECURSIVE"
    SHOW        "SHOW"
    START       "START"
    SUMMARIZE   "SUMMARIZE"
    TEMP        "TEMP"
    TIMESTAMP   "TIMESTAMP"
    TREE        "TREE"
    TRUNCATE    "TRUNCATE"
    TRY_CAST    "TRY_CAST"
    UNBOUNDED   "UNBOUNDED"
    VACUUM      "VACUUM"
    WINDOW      "WINDOW"
    VIEW        "VIEW"
    RESERVED    "a reserved word"
    BAD         "no token"
    /* before the first token of a text that is no statement: not written */
    ONE_EXPRESSION "one expression"

%precedence ALONE
%precedence QUALIFY WINDOW OFFSET FETCH /* behind a comma they are names */
%precedence RIGHT
%left OR
%left AND
%right NOT
%left IS ISNULL NOTNULL BETWEEN IN LIKE ILIKE GLOB REGEXP SIMILAR
      MATCHES MATCHES_NOT EQUAL DIFFERENT
%left LESS LESS_EQUAL GREATER GREATER_EQUAL
%precedence ESCAPE
%left AMPERSAND BAR SHIFT_LEFT SHIFT_RIGHT
%left PLUS MINUS
%left STAR SLASH PERCENT
%left POWER
%left CONCAT
%precedence COLLATE
%precedence PREFIX
%precedence TYPED

%type <name> name word alias function_name savepoint window_base own_table
%type <table> table_name
%type <expression> expression term primary literal case_operand else where having
%type <expression> frame_offset filter qualify default_value key_column key_name
%type <expression> grouping
%type <names> names name_list view_columns
%type <values> values groupings partition
%type <items> items
%type <row> row
%type <items> row_items
%type <expression> row_item
%type <rows> rows
%type <result> result
%type <results> results result_list replaced replacements
%type <names> excluded
%type <expression> fetch some_rows
%type <operator> comparison
%type <flag> quantifier
%type <result> replacement
%type <column> column
%type <rule> column_rule
%type <constraint> constraint
%type <columns> columns constraints table_body
%type <from> from from_list from_item
%type <source> from_alias
%type <join> join join_side
%type <on> on
%type <query> source query bare_query body operand core in_parentheses
%type <query> input_table
%type <with> with
%type <withs> withs
%type <orders> framed_order order orders query_order query_orders
%type <orders> order_terms order_list key_terms key_list
%type <order> order_term key_term
%type <nulls> nulls
%type <limits> limit some_limit limit_rows limit_count
%type <few> few_rows
%type <group> group
%type <call> call
%type <in_items> in_items
%type <whens> whens
%type <window> over window
%type <flag> null_values
%type <named_windows> named_windows named_window_list
%type <frame> frame
%type <bound> frame_bound
%type <flag> frame_unit
%type <sets> set sets
%type <conflict> conflict
%type <target_rule> conflict_target
%type <results> returning
%type <from> using
%type <aliased> into
%type <statement> statement create alter drop insert update delete transaction
%type <statement> change copy inspect named
%type <copy_option> copy_option
%type <copy_options> copy_options copy_list
%type <type> type
%type <collation> collation
%type <name> type_name pragma_name
%type <size> type_size
%type <kind> set_operator union_by_name
%type <verb> insert_verb
%type <distinct> distinct
%type <flag> unique descending temporary
%type <match> like match
%type <target> new_name old_name old_table new_table new_view
%type <alter> alteration

%%

input:
    %empty             { ast_finish(parse, AST_RUN, ast_empty(parse)); }
  | statement          { ast_finish(parse, AST_RUN, $1); }
  | EXPLAIN statement  { ast_finish(parse, AST_EXPLAIN, $2); }
  | EXPLAIN ANALYZE statement
                       { ast_finish(parse, AST_EXPLAIN_ANALYZE, $3); }
  | EXPLAIN "(" TREE ")" statement
                       { ast_finish(parse, AST_EXPLAIN_TREE, $5); }
  | EXPLAIN NAME[query] NAME[plan] statement
        { ast_word_is(parse, ast_name(parse, @query), "QUERY");
          ast_word_is(parse, ast_name(parse, @plan), "PLAN");
          ast_finish(parse, AST_EXPLAIN, $statement); }
  | ANALYZE
        { ast_finish(parse, AST_RUN,
                     ast_drop(parse, AST_ANALYZE, (struct target){ 0 })); }
  | ANALYZE own_table
        { ast_finish(parse, AST_RUN,
                     ast_drop(parse, AST_ANALYZE,
                              (struct target){ .name = $own_table })); }
  | ONE_EXPRESSION expression
                       { ast_finish_expression(parse, @$, $2); }

statement:
    query              { $$ = ast_query_made(parse, AST_SELECT, $query); }
  | change returning   { $$ = ast_returning($change, $returning); }
  | WITH withs change returning
        { $$ = ast_with_change(ast_returning($change, $returning), $withs); }
  | WITH RECURSIVE withs change returning
        { $$ = ast_with_change(ast_returning($change, $returning),
                               ast_recursive($withs)); }
  | create | alter | drop | transaction | copy | inspect | named

/* ------------------------------------------------------------- queries -- */

query: bare_query | in_parentheses

in_parentheses:
    "(" bare_query ")"      { $$ = ast_enclosed(parse, @$, $bare_query); }
  | "(" in_parentheses ")"  { $$ = ast_enclosed(parse, @$, $2); }

bare_query:
    body
  | operand query_orders limit
        { $$ = ast_arranged(parse, @$, $operand, $query_orders, $limit); }
  | operand some_limit
        { $$ = ast_arranged(parse, @$, $operand, (struct order_list){ 0 },
                            $some_limit); }
  | WITH withs operand query_order limit
        { $$ = ast_with_query(parse, @$, $withs,
               ast_arranged(parse, @$, $operand, $query_order, $limit)); }
  | WITH RECURSIVE withs operand query_order limit
        { $$ = ast_with_query(parse, @$, ast_recursive($withs),
               ast_arranged(parse, @$, $operand, $query_order, $limit)); }

body:
    core
  | operand set_operator core
        { $$ = ast_compound(parse, @$, $set_operator, $operand, $core); }
  | operand set_operator in_parentheses
        { $$ = ast_compound(parse, @$, $set_operator, $operand, $3); }
  | operand union_by_name core
        { $$ = ast_by_name(ast_compound(parse, @$, $2, $operand, $core)); }
  | operand union_by_name in_parentheses
        { $$ = ast_by_name(ast_compound(parse, @$, $2, $operand, $3)); }

operand: body | in_parentheses

set_operator:
    UNION              { $$ = AST_QUERY_UNION; }
  | UNION ALL          { $$ = AST_QUERY_UNION_ALL; }
  | INTERSECT          { $$ = AST_QUERY_INTERSECT; }
  | INTERSECT ALL      { $$ = AST_QUERY_INTERSECT_ALL; }
  | EXCEPT             { $$ = AST_QUERY_EXCEPT; }
  | EXCEPT ALL         { $$ = AST_QUERY_EXCEPT_ALL; }

union_by_name:
    UNION BY name
        { $$ = ast_word_is(parse, $name, "NAME") ? AST_QUERY_UNION
                                                 : AST_QUERY_UNION; }
  | UNION ALL BY name
        { $$ = ast_word_is(parse, $name, "NAME") ? AST_QUERY_UNION_ALL
                                                 : AST_QUERY_UNION_ALL; }

withs:
    with               { $$ = ast_withs((struct with_list){ 0 }, $1); }
  | withs "," with     { $$ = ast_withs($1, $3); }

with:
    name view_columns AS in_parentheses
        { $$ = ast_with(parse, $name, $view_columns, $in_parentheses); }
  | name view_columns AS MATERIALIZED in_parentheses
        { $$ = ast_with_once(ast_with(parse, $name, $view_columns,
                                      $in_parentheses)); }
  | name view_columns AS NOT MATERIALIZED in_parentheses
        { $$ = ast_with(parse, $name, $view_columns, $in_parentheses); }

core:
    SELECT distinct result_list from where group having named_windows qualify
        { $$ = ast_select(parse, @$, (struct select_parts){
               $distinct, $result_list, $from, $where, $group, $having,
               $named_windows, $qualify }); }
  | FROM from_list where group having named_windows qualify
        { $$ = ast_select(parse, @$, (struct select_parts){
               { 0 }, ast_all_columns(parse, @1), $from_list, $where, $group,
               $having, $named_windows, $qualify }); }
  | FROM from_list SELECT distinct result_list where group having named_windows
    qualify
        { $$ = ast_select(parse, @$, (struct select_parts){
               $distinct, $result_list, $from_list, $where, $group,
               $having, $named_windows, $qualify }); }
  | VALUES rows        { $$ = ast_rows_query(parse, @$, $rows); }
  | TABLE table_name   { $$ = ast_whole_table(parse, @$, $table_name); }

distinct:
    %empty             { $$ = (struct distinct){ 0 }; }
  | ALL                { $$ = (struct distinct){ 0 }; }
  | DISTINCT           { $$ = (struct distinct){ .all = true }; }
  | DISTINCT ON "(" values ")"
        { $$ = (struct distinct){ .on = $values }; }

result_list: results | results ","  %prec ALONE

results:
    result             { $$ = ast_results((struct result_list){ 0 }, $1); }
  | results "," result { $$ = ast_results($1, $3); }

result:
    "*" excluded replaced
        { $$ = ast_star_changed(ast_star(parse, @$, (struct ast_name){ 0 }),
                                $excluded, $replaced); }
  | name "." "*" excluded replaced
        { $$ = ast_star_changed(ast_star(parse, @$, $name), $excluded,
                                $replaced); }
  | name[schema] "." name[table] "." "*" excluded replaced
        { $$ = ast_star_changed(ast_star(parse, @$,
               ast_own(parse, (struct table_name){ $schema, $table })),
               $excluded, $replaced); }
  | expression alias
        { $$ = ast_result(parse, @alias, $expression, $alias); }

excluded:
    %empty                       { $$ = (struct name_list){ 0 }; }
  | EXCLUDE name
        { $$ = ast_names(parse, (struct name_list){ 0 }, $name); }
  | EXCLUDE "(" name_list ")"    { $$ = $name_list; }

replaced:
    %empty                       { $$ = (struct result_list){ 0 }; }
  | REPLACE "(" replacements ")" { $$ = $replacements; }

replacements:
    replacement
        { $$ = ast_results((struct result_list){ 0 }, $1); }
  | replacements "," replacement { $$ = ast_results($1, $3); }

replacement:
    expression AS name
        { $$ = ast_result(parse, @name, $expression, $name); }

alias:
    %empty             %prec ALONE { $$ = (struct ast_name){ 0 }; }
  | AS name            { $$ = $name; }
  | word               { $$ = ast_bare_alias(parse, @$, $word); }

where:
    %empty             { $$ = NULL; }
  | WHERE expression   { $$ = $expression; }

group:
    %empty             { $$ = (struct group){ 0 }; }
  | GROUP BY ALL       { $$ = (struct group){ .all = true }; }
  | GROUP BY groupings { $$ = (struct group){ .values = $groupings }; }
  | GROUP BY groupings ","  %prec ALONE
        { $$ = (struct group){ .values = $groupings }; }

groupings:
    grouping
        { $$ = ast_values(parse, (struct value_list){ 0 }, $1); }
  | groupings "," grouping
        { $$ = ast_values(parse, $1, $3); }

/* ROLLUP (...) and CUBE (...) are written as functions are. */
grouping:
    expression
  | "(" ")"            { $$ = ast_row_value(parse, @$, (struct item_list){ 0 }); }
  | GROUPING_SETS "(" groupings ")"
        { $$ = ast_grouping_sets(parse, @$, $groupings); }

having:
    %empty             { $$ = NULL; }
  | HAVING expression  { $$ = $expression; }

named_windows:
    %empty             { $$ = (struct named_window_list){ 0 }; }
  | WINDOW named_window_list  { $$ = $named_window_list; }

named_window_list:
    name AS window
        { $$ = ast_named_windows(parse, (struct named_window_list){ 0 },
                                 $name, $window); }
  | named_window_list "," name AS window
        { $$ = ast_named_windows(parse, $1, $name, $window); }

qualify:
    %empty             { $$ = NULL; }
  | QUALIFY expression { $$ = $expression; }

order:
    %empty             { $$ = (struct order_list){ 0 }; }
  | orders

orders: ORDER BY order_list  { $$ = $order_list; }

query_order:
    %empty             { $$ = (struct order_list){ 0 }; }
  | query_orders

query_orders:
    orders
  | ORDER BY ALL descending nulls
        { $$ = ast_order_all(ast_order(parse, ast_one(parse, @ALL),
                                       $descending, $nulls)); }

order_list: order_terms | order_terms ","  %prec ALONE

order_terms:
    order_term         { $$ = ast_orders((struct order_list){ 0 }, $1); }
  | order_terms "," order_term  { $$ = ast_orders($1, $3); }

order_term:
    expression descending nulls
        { $$ = ast_order(parse, $expression, $descending, $nulls); }

descending:
    %empty             { $$ = false; }
  | ASC                { $$ = false; }
  | DESC               { $$ = true; }

nulls:
    %empty             { $$ = AST_NULLS_DEFAULT; }
  | NULLS FIRST        { $$ = AST_NULLS_FIRST; }
  | NULLS LAST         { $$ = AST_NULLS_LAST; }

limit:
    %empty             { $$ = (struct limits){ 0 }; }
  | some_limit

some_limit:
    limit_rows
  | LIMIT ALL                         { $$ = (struct limits){ 0 }; }
  | LIMIT ALL OFFSET expression       { $$ = (struct limits){ .offset = $4 }; }
  | OFFSET expression rows_word       { $$ = (struct limits){ .offset = $2 }; }
  | fetch                             { $$ = (struct limits){ .limit = $1 }; }
  | OFFSET expression rows_word fetch { $$ = (struct limits){ $4, $2, false }; }

limit_rows:
    LIMIT limit_count                 { $$ = $limit_count; }
  | LIMIT limit_count OFFSET expression
        { $$ = $limit_count; $$.offset = $4; }
  | LIMIT expression "," expression   { $$ = (struct limits){ $4, $2, false }; }

/* Behind `%` the word OFFSET is no column that something is divided by. */
limit_count:
    term "%"  %prec RIGHT     { $$ = (struct limits){ $1, .share = true }; }
  | expression                { $$ = (struct limits){ .limit = $1 }; }
  | expression NAME[percent]
        { $$ = (struct limits){ $1, .share = ast_word_is(
               parse, ast_name(parse, @percent), "PERCENT") }; }

/* Those that UPDATE and DELETE are about, of all that WHERE is true of. */
few_rows:
    %empty             { $$ = (struct few_rows){ 0 }; }
  | order limit_rows   { $$ = (struct few_rows){ @$, $order, $limit_rows }; }

fetch:
    FETCH name some_rows name[only]
        { $$ = ast_fetch(parse, $2, $some_rows, $only); }

/* Not any expression, which might begin with the name ROW. */
some_rows:
    row_word                      { $$ = ast_one(parse, @$); }
  | INTEGER row_word              { $$ = ast_integer(parse, @INTEGER); }
  | PARAMETER row_word            { $$ = ast_parameter(parse, @PARAMETER); }
  | "(" expression ")" row_word   { $$ = ast_group(parse, @$, $2); }

row_word: ROW | ROWS

rows_word: %empty | row_word

rows:
    row                { $$ = ast_rows((struct row_list){ 0 }, $1); }
  | rows "," row       { $$ = ast_rows($1, $3); }

row:
    "(" row_items ")"  { $$ = ast_row(parse, @1, $row_items); }

row_items:
    row_item
        { $$ = ast_items(parse, (struct item_list){ 0 }, $1); }
  | row_items "," row_item
        { $$ = ast_items(parse, $1, $3); }

row_item:
    expression
  | DEFAULT            { $$ = ast_word(parse, AST_DEFAULT, @$); }

values:
    expression
        { $$ = ast_values(parse, (struct value_list){ 0 }, $1); }
  | values "," expression
        { $$ = ast_values(parse, $1, $3); }

/* As values, of lists that may be long. */
items:
    expression
        { $$ = ast_items(parse, (struct item_list){ 0 }, $1); }
  | items "," expression
        { $$ = ast_items(parse, $1, $3); }

/* ---------------------------------------------------------------- FROM -- */

from:
    %empty             { $$ = NULL; }
  | FROM from_list     { $$ = $from_list; }

from_list:
    from_item
  | from_list join from_item on
        { $$ = ast_join(parse, @$, $join, (struct joined){ $1, $3, $on }); }

from_item:
    table_name alias   { $$ = ast_table(parse, @$, $table_name, $alias); }
  | STRING alias       { $$ = ast_file(parse, @1, $alias); }
  | name "(" values ")" from_alias
        { $$ = ast_from_call(parse, @$, $name, $values, $from_alias); }
  | name "(" ")" from_alias
        { $$ = ast_from_call(parse, @$, $name, (struct value_list){ 0 },
                             $from_alias); }
  | in_parentheses from_alias
        { $$ = ast_derived(parse, @$, $in_parentheses, $from_alias); }
  | "(" from_list ")"  { $$ = ast_from_enclosed(parse, @$, $from_list); }

from_alias:
    alias
        { $$ = (struct source){ $alias, { 0 } }; }
  | word "(" name_list ")"
        { $$ = (struct source){ $word, $name_list }; }
  | AS name "(" name_list ")"
        { $$ = (struct source){ $name, $name_list }; }

join:
    ","                { $$ = (struct join){ AST_JOIN_COMMA, false }; }
  | CROSS JOIN         { $$ = (struct join){ AST_JOIN_CROSS, false }; }
  | SEMI JOIN          { $$ = (struct join){ AST_JOIN_SEMI, false }; }
  | ANTI JOIN          { $$ = (struct join){ AST_JOIN_ANTI, false }; }
  | join_side JOIN
  | NATURAL join_side JOIN  { $$ = (struct join){ $2.kind, true }; }

join_side:
    %empty             { $$ = (struct join){ AST_JOIN_INNER, false }; }
  | INNER              { $$ = (struct join){ AST_JOIN_INNER, false }; }
  | LEFT_WORD outer    { $$ = (struct join){ AST_JOIN_LEFT, false }; }
  | RIGHT_WORD outer   { $$ = (struct join){ AST_JOIN_RIGHT, false }; }
  | FULL outer         { $$ = (struct join){ AST_JOIN_FULL, false }; }

outer: %empty | OUTER

on:
    %empty             { $$ = (struct on){ 0 }; }
  | ON expression      { $$ = (struct on){ .expression = $2 }; }
  | USING "(" name_list ")"  { $$ = (struct on){ .using = $name_list }; }

/* -------------------------------------------------------- definitions -- */

create:
    CREATE new_table "(" table_body ")" table_options
        { $$ = ast_create(parse, $new_table, $table_body); }
  | CREATE new_table AS query
        { $$ = ast_create_as(parse, $new_table, $query); }
  | CREATE new_view view_columns AS query
        { $$ = ast_view(parse, $new_view, $view_columns,
                        $query); }
  | CREATE unique INDEX new_name ON own_table[table]
    "(" order_list ")" where
        { $$ = ast_index(parse, (struct ast_index){ $new_name.name, $table,
                         $new_name.exists, $unique, $order_list.first,
                         $where }); }

table_options: %empty | table_option_list

table_option_list: table_option | table_option_list "," table_option

table_option:
    NAME[first]        { ast_table_option(parse, ast_name(parse, @first), NULL); }
  | NAME[first] NAME[second]
        { struct ast_name second = ast_name(parse, @second);
          ast_table_option(parse, ast_name(parse, @first), &second); }

new_table:
    temporary TABLE new_name
        { $$ = ast_temporary(parse, $temporary, $new_name); }
  | OR REPLACE temporary TABLE own_table
        { $$ = ast_temporary(parse, $temporary, (struct target){
               .name = $own_table, .replaces = true }); }

new_view:
    temporary VIEW new_name
        { $$ = ast_temporary(parse, $temporary, $new_name); }
  | OR REPLACE temporary VIEW own_table
        { $$ = ast_temporary(parse, $temporary, (struct target){
               .name = $own_table, .replaces = true,
               .begin = $temporary ? @temporary.begin : @VIEW.begin }); }

temporary:
    %empty             { $$ = false; }
  | TEMP               { $$ = true; }

new_name:
    own_table          { $$ = (struct target){ .name = $own_table }; }
  | IF NOT EXISTS own_table
        { $$ = (struct target){ .name = $own_table, .exists = true }; }

unique:
    %empty             { $$ = false; }
  | UNIQUE             { $$ = true; }

view_columns:
    %empty             { $$ = (struct name_list){ 0 }; }
  | "(" name_list ")"  { $$ = $name_list; }

table_body: columns | columns "," | constraints | constraints ","

columns:
    column             { $$ = ast_columns((struct column_list){ 0 }, $1); }
  | columns "," column { $$ = ast_columns($1, $3); }

constraints:
    columns "," constraint      { $$ = ast_constraints($1, $3); }
  | constraints "," constraint  { $$ = ast_constraints($1, $3); }

column:
    name type          { $$ = ast_column_made(parse, $name, $type); }
  | column column_rule { $$ = ast_column_ruled(parse, $1, $2); }

column_rule:
    PRIMARY KEY        { $$ = (struct column_rule){ .rule = RULE_KEY, .at = @1.at }; }
  | NOT NULL
        { $$ = (struct column_rule){ .rule = RULE_NOT_NULL, .at = @1.at }; }
  | NULL               { $$ = (struct column_rule){ .rule = RULE_NONE, .at = @1.at }; }
  | UNIQUE             { $$ = (struct column_rule){ .rule = RULE_UNIQUE, .at = @1.at }; }
  | COLLATE collation
        { $$ = (struct column_rule){ .rule = RULE_COLLATE, .at = @1.at,
                                     .collation = $collation }; }
  | DEFAULT default_value
        { $$ = (struct column_rule){ .rule = RULE_DEFAULT, .at = @1.at,
                                     .value = $2 }; }
  | CHECK "(" expression ")"
        { $$ = (struct column_rule){ .rule = RULE_CHECK, .at = @1.at,
                                     .value = $expression }; }
  | CONSTRAINT name column_rule[rule]
        { $$ = ast_rule_named($rule, $name); }

default_value:
    literal
  | "-" literal
        { $$ = ast_unary(parse, operation(AST_MINUS, @1, @$), $2); }
  | "+" literal
        { $$ = ast_unary(parse, operation(AST_PLUS, @1, @$), $2); }
  | NAME /* CURRENT_DATE and its like */
        { $$ = ast_column(parse, @$, (struct ast_name){ 0 },
                          ast_name(parse, @1)); }
  | "(" expression ")" { $$ = ast_group(parse, @$, $2); }

constraint:
    PRIMARY KEY "(" key_list ")"
        { $$ = ast_constraint(parse, @1, true, $key_list); }
  | UNIQUE "(" key_list ")"
        { $$ = ast_constraint(parse, @1, false, $key_list); }
  | CHECK "(" expression ")"
        { $$ = ast_check(parse, @1.at, $expression); }
  | CONSTRAINT name constraint[rule]
        { $$ = ast_constraint_named($rule, $name); }

key_list: key_terms | key_terms ","

key_terms:
    key_term           { $$ = ast_orders((struct order_list){ 0 }, $1); }
  | key_terms "," key_term  { $$ = ast_orders($1, $3); }

key_term:
    key_column descending
        { $$ = ast_order(parse, $key_column, $descending, AST_NULLS_DEFAULT); }

key_column:
    key_name
  | key_name COLLATE collation
        { $$ = ast_collate(parse, operation(AST_PLUS, @2, @$), $key_name,
                           $collation); }

key_name:
    name               { $$ = ast_column(parse, @$, (struct ast_name){ 0 }, $name); }

type:
    type_name type_size { $$ = ast_type(parse, $type_name, $type_size); }

type_name: word | TYPE_WORDS { $$ = ast_name(parse, @$); }

type_size:
    %empty                         { $$ = (struct type_size){ 0 }; }
  | "(" INTEGER ")"
        { $$ = ast_type_size(parse, @INTEGER, NULL); }
  | "(" INTEGER "," INTEGER[scale] ")"
        { $$ = ast_type_size(parse, @2, &@scale); }

collation: name      { $$ = ast_collation(parse, $name); }

alter:
    ALTER TABLE own_table alteration
        { $$ = ast_alter(parse, $own_table, $alteration); }

alteration:
    RENAME TO name
        { $$ = (struct ast_alter){ .what = AST_RENAME_TABLE, .to = $name }; }
  | RENAME column_word name[from] TO name[to]
        { $$ = (struct ast_alter){ .what = AST_RENAME_COLUMN, .column = $from,
                                   .to = $to }; }
  | ADD column_word column
        { $$ = (struct ast_alter){ .what = AST_ADD_COLUMN, .added = $column }; }
  | ADD column_word IF NOT EXISTS column
        { $$ = (struct ast_alter){ .what = AST_ADD_COLUMN, .added = $column,
                                   .exists = true }; }
  | DROP column_word old_name
        { $$ = (struct ast_alter){ .what = AST_DROP_COLUMN,
                                   .column = $old_name.name,
                                   .exists = $old_name.exists }; }

column_word: %empty | COLUMN

drop:
    DROP TABLE old_table with_it
        { $$ = ast_drop(parse, AST_DROP_TABLE, $old_table); }
  | DROP VIEW old_table with_it
        { $$ = ast_drop(parse, AST_DROP_VIEW, $old_table); }
  | DROP INDEX old_table with_it
        { $$ = ast_drop(parse, AST_DROP_INDEX, $old_table); }
  | REINDEX
        { $$ = ast_drop(parse, AST_REINDEX, (struct target){ 0 }); }
  | REINDEX own_table
        { $$ = ast_drop(parse, AST_REINDEX,
                        (struct target){ .name = $own_table }); }

/* Nothing but a table's indexes goes with what goes. */
with_it:
    %empty
  | NAME               { ast_drop_how(parse, ast_name(parse, @$)); }

old_table:
    own_table            { $$ = (struct target){ .name = $own_table }; }
  | IF EXISTS own_table
        { $$ = (struct target){ .name = $own_table, .exists = true }; }

old_name:
    name               { $$ = (struct target){ .name = $name }; }
  | IF EXISTS name     { $$ = (struct target){ .name = $name, .exists = true }; }

/* -------------------------------------------------------------- changes -- */

change: insert | update | delete
  | TRUNCATE own_table
        { $$ = ast_delete(parse, (struct ast_delete){ .table = $own_table },
                          (struct few_rows){ 0 }); }
  | TRUNCATE TABLE own_table
        { $$ = ast_delete(parse, (struct ast_delete){ .table = $own_table },
                          (struct few_rows){ 0 }); }

insert:
    insert_verb INTO into source conflict
        { $$ = ast_insert(parse, (struct insert_parts){ $insert_verb, $into,
                          { 0 }, $source, $conflict }); }
  | insert_verb INTO into "(" name_list ")" source conflict
        { $$ = ast_insert(parse, (struct insert_parts){ $insert_verb, $into,
                          $name_list, $source, $conflict }); }
  | insert_verb INTO into BY name query conflict
        { $$ = ast_insert_by(parse, $name, (struct insert_parts){ $insert_verb,
                             $into, { 0 }, $query, $conflict }); }

into:
    own_table          { $$ = (struct aliased){ $own_table, { 0 } }; }
  | own_table AS name[alias]  { $$ = (struct aliased){ $1, $alias }; }

source:
    query
  | DEFAULT VALUES     { $$ = NULL; }

insert_verb:
    INSERT             { $$ = INSERT_PLAIN; }
  | INSERT OR REPLACE  { $$ = INSERT_REPLACE; }
  | INSERT OR IGNORE   { $$ = INSERT_IGNORE; }
  | REPLACE            { $$ = INSERT_REPLACE; }

conflict:
    %empty             { $$ = (struct ast_conflict){ 0 }; }
  | ON_CONFLICT conflict_target DO NOTHING
        { $$ = ast_conflict(@ON_CONFLICT, $conflict_target,
                            (struct set_list){ 0 }, NULL); }
  | ON_CONFLICT conflict_target DO UPDATE SET sets where
        { $$ = ast_conflict(@ON_CONFLICT, $conflict_target, $sets, $where); }

conflict_target:
    %empty                    { $$ = (struct ast_target){ 0 }; }
  | "(" order_list ")" where  { $$ = (struct ast_target){ $order_list.first,
                                     $where }; }

returning:
    %empty                 { $$ = (struct result_list){ 0 }; }
  | RETURNING result_list  { $$ = $result_list; }

update:
    UPDATE own_table alias SET sets from where few_rows
        { $$ = ast_update(parse, (struct ast_update){ $own_table, $alias,
                          $sets.first, $from, $where }, $few_rows); }

sets: set
  | sets "," set       { $$ = ast_sets($1, $3); }

set:
    name "=" row_item    { $$ = ast_set(parse, $name, $row_item); }
  | "(" name_list ")" "=" row
        { $$ = ast_set_row(parse, @name_list, $name_list, $row); }
  | "(" name_list ")" "=" in_parentheses
        { $$ = ast_set_query(parse, @in_parentheses, $name_list,
                             $in_parentheses); }

delete:
    DELETE FROM own_table alias using where few_rows
        { $$ = ast_delete(parse, (struct ast_delete){ $own_table, $alias,
                          $using, $where }, $few_rows); }

using:
    %empty             { $$ = NULL; }
  | USING from_list    { $$ = $from_list; }

transaction:
    BEGIN begin_how          { $$ = ast_simple(parse, AST_BEGIN); }
  | START TRANSACTION        { $$ = ast_simple(parse, AST_BEGIN); }
  | COMMIT of_transaction    { $$ = ast_simple(parse, AST_COMMIT); }
  | END_WORD of_transaction  { $$ = ast_simple(parse, AST_COMMIT); }
  | ROLLBACK of_transaction  { $$ = ast_simple(parse, AST_ROLLBACK); }
  | ROLLBACK of_transaction TO savepoint
        { $$ = ast_savepoint(parse, AST_ROLLBACK_TO, $savepoint); }
  | RELEASE savepoint
        { $$ = ast_savepoint(parse, AST_RELEASE, $savepoint); }
  | SAVEPOINT name
        { $$ = ast_savepoint(parse, AST_SAVEPOINT, $name); }
  | VACUUM                   { $$ = ast_simple(parse, AST_VACUUM); }

savepoint:
    name
  | SAVEPOINT name     { $$ = $name; }

begin_how: of_transaction | begin_kind of_transaction | TRANSACTION begin_kind

begin_kind: DEFERRED | IMMEDIATE | EXCLUSIVE

of_transaction: %empty | TRANSACTION

/* A statement that has a name. */
named:
    PREPARE name AS statement
        { $$ = ast_prepare(parse, $name, $4, @4); }
  | EXECUTE name
        { $$ = ast_execute(parse, $name, @EXECUTE, (struct span){ 0 }, 0); }
  | EXECUTE name "(" values ")"
        { $$ = ast_execute(parse, $name, @EXECUTE, @values, $values.count); }
  | DEALLOCATE name         { $$ = ast_deallocate(parse, $name); }
  | DEALLOCATE PREPARE name { $$ = ast_deallocate(parse, $name); }
  | DEALLOCATE ALL
        { $$ = ast_deallocate(parse, (struct ast_name){ 0 }); }

copy:
    COPY input_table TO STRING copy_options
        { $$ = ast_copy(parse, (struct copy_parts){
               .query = $input_table, .file = @STRING, .options = $5 }); }
  | COPY in_parentheses TO STRING copy_options
        { $$ = ast_copy(parse, (struct copy_parts){
               .query = $in_parentheses, .file = @STRING, .options = $5 }); }
  | COPY table_name "(" name_list ")" TO STRING copy_options
        { $$ = ast_copy(parse, (struct copy_parts){
               .query = ast_table_columns(parse, @table_name, $table_name,
                                          $name_list),
               .file = @STRING, .options = $copy_options }); }
  | COPY table_name view_columns FROM STRING copy_options
        { $$ = ast_copy(parse, (struct copy_parts){
               .from = true, .table = ast_own(parse, $table_name), .columns = $view_columns,
               .file = @STRING, .options = $copy_options }); }

copy_options:
    %empty             { $$ = (struct copy_option_list){ 0 }; }
  | "(" copy_list ")"       { $$ = $copy_list; }
  | WITH "(" copy_list ")"  { $$ = $copy_list; }

copy_list:
    copy_option
        { $$ = ast_copy_options((struct copy_option_list){ 0 }, $1); }
  | copy_list "," copy_option  { $$ = ast_copy_options($1, $3); }

copy_option:
    copy_word copy_value { $$ = ast_copy_option(parse, @1, @2); }

copy_word: name | NULL | ESCAPE

copy_value: %empty | STRING | INTEGER | TRUE | FALSE | ON | name

inspect:
    describe input_table   { $$ = ast_query_made(parse, AST_DESCRIBE, $2); }
  | describe query         { $$ = ast_query_made(parse, AST_DESCRIBE, $2); }
  | SUMMARIZE input_table  { $$ = ast_query_made(parse, AST_SUMMARIZE, $2); }
  | SUMMARIZE query        { $$ = ast_query_made(parse, AST_SUMMARIZE, $2); }
  | SHOW name              { $$ = ast_show(parse, @name, $name); }
  | PRAGMA pragma_name
        { $$ = ast_pragma(parse, $pragma_name, (struct span){ 0 }); }
  | PRAGMA pragma_name "(" pragma_value ")"
        { $$ = ast_pragma(parse, $pragma_name, @pragma_value); }
  | PRAGMA pragma_name "=" pragma_value
        { $$ = ast_pragma(parse, $pragma_name, @pragma_value); }

describe: DESCRIBE | DESC

pragma_name: name | name "." name  { $$ = $3; }

pragma_value: name | STRING | INTEGER | "-" INTEGER | TRUE | FALSE | ON

input_table:
    table_name         { $$ = ast_whole_table(parse, @$, $table_name); }

/* -------------------------------------------------------- expressions -- */

expression:
    term
  | expression OR expression
        { $$ = ast_binary(parse, operation(AST_OR, @2, @$), $1, $3); }
  | expression AND expression
        { $$ = ast_binary(parse, operation(AST_AND, @2, @$), $1, $3); }

literal:
    INTEGER            { $$ = ast_integer(parse, @$); }
  | DECIMAL            { $$ = ast_decimal(parse, @$); }
  | STRING             { $$ = ast_string(parse, @$); }
  | NULL               { $$ = ast_word(parse, AST_NULL, @$); }
  | TRUE               { $$ = ast_word(parse, AST_TRUE, @$); }
  | FALSE              { $$ = ast_word(parse, AST_FALSE, @$); }
  | DATE STRING        { $$ = ast_typed(parse, @$, @2, VDBQ_DATE); }
  | TIMESTAMP STRING   { $$ = ast_typed(parse, @$, @2, VDBQ_TIMESTAMP); }
  | INTERVAL STRING UNIT   { $$ = ast_interval(parse, @$, @2, @3); }
  | INTERVAL STRING UNIT "(" INTEGER ")"
        { $$ = ast_interval(parse, @$, @2, @3); }
  | INTERVAL INTEGER UNIT  { $$ = ast_interval(parse, @$, @2, @3); }
  | INTERVAL STRING
        { $$ = ast_interval(parse, @$, @2, (struct span){ 0 }); }

primary:
    literal
  | PARAMETER          { $$ = ast_parameter(parse, @$); }
  | name
        { $$ = ast_column(parse, @$, (struct ast_name){ 0 }, $1); }
  | name "." name      { $$ = ast_column(parse, @$, $1, $3); }
  | name "." name "." name
        { $$ = ast_column(parse, @$,
                          ast_own(parse, (struct table_name){ $1, $3 }),
                          $5); }
  | "(" expression ")" { $$ = ast_group(parse, @$, $2); }
  | "(" items "," expression ")"
        { $$ = ast_row_value(parse, @$, ast_items(parse, $2, $4)); }
  | in_parentheses     %prec ALONE
        { $$ = ast_subquery(parse, AST_SUBQUERY, @$, $1); }
  | EXISTS in_parentheses
        { $$ = ast_subquery(parse, AST_EXISTS, @$, $2); }
  | CAST "(" expression AS type ")"
        { $$ = ast_cast(parse, operation(AST_PLUS, @1, @$), $expression,
                        $type); }
  | TRY_CAST "(" expression AS type ")"
        { $$ = ast_try_cast(parse, operation(AST_PLUS, @1, @$), $expression,
                            $type); }
  | EXTRACT "(" name FROM expression ")"
        { $$ = ast_extract(parse, @$, @1, @name, $expression); }
  | INTERVAL "(" expression ")" UNIT
        { $$ = ast_interval_of(parse, @$, $expression, @UNIT); }
  | INTERVAL PARAMETER UNIT
        { $$ = ast_interval_of(parse, @$, ast_parameter(parse, @PARAMETER),
                               @UNIT); }
  | POSITION "(" primary[part] IN expression[whole] ")"
        { $$ = ast_position(parse, @$, @1, $part, $whole); }
  | CASE case_operand whens else END_WORD
        { $$ = ast_case(parse, @$, $case_operand, $whens, $else); }
  | function_name "(" call ")" filter over
        { $$ = ast_function(parse, @$, (struct function){ $1, $call,
                            $filter, $over }); }
  | function_name "(" call ")" WITHIN_GROUP "(" orders ")" filter over
        { $$ = ast_within_group(parse, @$, (struct function){ $1, $call,
                                $filter, $over }, $orders); }

term:
    primary
  | term "::" type
        { $$ = ast_cast(parse, operation(AST_PLUS, @2, @$), $1, $type); }
  | term COLLATE collation
        { $$ = ast_collate(parse, operation(AST_PLUS, @2, @$), $1,
                           $collation); }
  | NOT term
        { $$ = ast_unary(parse, operation(AST_NOT, @1, @$), $2); }
  | "-" term           %prec PREFIX
        { $$ = ast_unary(parse, operation(AST_MINUS, @1, @$), $2); }
  | "~" term           %prec PREFIX
        { $$ = ast_unary(parse, operation(AST_BIT_NOT, @1, @$), $2); }
  | "+" term           %prec PREFIX
        { $$ = ast_unary(parse, operation(AST_PLUS, @1, @$), $2); }
  | term "=" term
        { $$ = ast_binary(parse, operation(AST_EQ, @2, @$), $1, $3); }
  | term "<>" term
        { $$ = ast_binary(parse, operation(AST_NEQ, @2, @$), $1, $3); }
  | term "<" term
        { $$ = ast_binary(parse, operation(AST_LT, @2, @$), $1, $3); }
  | term "<=" term
        { $$ = ast_binary(parse, operation(AST_LE, @2, @$), $1, $3); }
  | term ">" term
        { $$ = ast_binary(parse, operation(AST_GT, @2, @$), $1, $3); }
  | term ">=" term
        { $$ = ast_binary(parse, operation(AST_GE, @2, @$), $1, $3); }
  | term comparison quantifier in_parentheses
        { $$ = ast_quantified(parse, operation($comparison, @comparison, @$),
                              $1, $4, $quantifier); }
  | term "+" term
        { $$ = ast_binary(parse, operation(AST_ADD, @2, @$), $1, $3); }
  | term "-" term
        { $$ = ast_binary(parse, operation(AST_SUB, @2, @$), $1, $3); }
  | term "*" term
        { $$ = ast_binary(parse, operation(AST_MUL, @2, @$), $1, $3); }
  | term "/" term
        { $$ = ast_binary(parse, operation(AST_DIV, @2, @$), $1, $3); }
  | term "^" term
        { $$ = ast_power(parse, @$, $1, $3); }
  | term "%" term
        { $$ = ast_binary(parse, operation(AST_MOD, @2, @$), $1, $3); }
  | term "||" term
        { $$ = ast_binary(parse, operation(AST_CONCAT, @2, @$), $1, $3); }
  | term "&" term
        { $$ = ast_binary(parse, operation(AST_BIT_AND, @2, @$), $1, $3); }
  | term "|" term
        { $$ = ast_binary(parse, operation(AST_BIT_OR, @2, @$), $1, $3); }
  | term "<<" term
        { $$ = ast_binary(parse, operation(AST_SHIFT_LEFT, @2, @$), $1, $3); }
  | term ">>" term
        { $$ = ast_binary(parse, operation(AST_SHIFT_RIGHT, @2, @$), $1, $3); }
  | term IS term
        { $$ = ast_binary(parse, operation(AST_IS, @2, @$), $1, $3); }
  | term IS IS_NOT term %prec IS
        { $$ = ast_binary(parse, operation(AST_IS_NOT, @2, @$), $1, $4); }
  | term IS DISTINCT FROM term %prec IS
        { $$ = ast_binary(parse, operation(AST_IS_NOT, @2, @$), $1, $5); }
  | term IS IS_NOT DISTINCT FROM term %prec IS
        { $$ = ast_binary(parse, operation(AST_IS, @2, @$), $1, $6); }
  | term ISNULL
        { $$ = ast_null_test(parse, operation(AST_IS, @2, @$), $1); }
  | term NOTNULL
        { $$ = ast_null_test(parse, operation(AST_IS_NOT, @2, @$), $1); }
  | term NOT NULL
        { $$ = ast_null_test(parse, operation(AST_IS_NOT, @2, @$), $1); }
  | term BETWEEN term AND term      %prec BETWEEN
        { $$ = ast_between(parse, operation(AST_AND, @2, @$),
                           (struct between){ $1, $3, $5, false }); }
  | term NOT BETWEEN term AND term  %prec BETWEEN
        { $$ = ast_between(parse, operation(AST_AND, @2, @$),
                           (struct between){ $1, $4, $6, true }); }
  | term IN in_items
        { $$ = ast_in(parse, operation(AST_EQ, @2, @$), $1, $3, false); }
  | term NOT IN in_items
        { $$ = ast_in(parse, operation(AST_EQ, @2, @$), $1, $4, true); }
  | term like term                  %prec LIKE
        { $$ = ast_like(parse, operation(AST_EQ, @2, @$),
                        (struct like){ $1, $3, NULL, false, $like }); }
  | term like term ESCAPE term      %prec ESCAPE
        { $$ = ast_like(parse, operation(AST_EQ, @2, @$),
                        (struct like){ $1, $3, $5, false, $like }); }
  | term NOT like term              %prec LIKE
        { $$ = ast_like(parse, operation(AST_EQ, @2, @$),
                        (struct like){ $1, $4, NULL, true, $like }); }
  | term NOT like term ESCAPE term  %prec ESCAPE
        { $$ = ast_like(parse, operation(AST_EQ, @2, @$),
                        (struct like){ $1, $4, $6, true, $like }); }
  | term match term                 %prec LIKE
        { $$ = ast_like(parse, operation(AST_EQ, @2, @$),
                        (struct like){ $1, $3, NULL, false, $match }); }
  | term NOT match term             %prec LIKE
        { $$ = ast_like(parse, operation(AST_EQ, @2, @$),
                        (struct like){ $1, $4, NULL, true, $match }); }
  | term "~" term
        { $$ = ast_like(parse, operation(AST_EQ, @2, @$),
                        (struct like){ $1, $3, NULL, false, AST_MATCH_REGEXP }); }
  | term "!~" term
        { $$ = ast_like(parse, operation(AST_EQ, @2, @$),
                        (struct like){ $1, $3, NULL, true, AST_MATCH_REGEXP }); }

comparison:
    "="                { $$ = AST_EQ; }
  | "<>"               { $$ = AST_NEQ; }
  | "<"                { $$ = AST_LT; }
  | "<="               { $$ = AST_LE; }
  | ">"                { $$ = AST_GT; }
  | ">="               { $$ = AST_GE; }

quantifier:
    ALL                { $$ = true; }
  | ANY                { $$ = false; }

like:
    LIKE               { $$ = AST_MATCH_LIKE; }
  | ILIKE              { $$ = AST_MATCH_ILIKE; }

match:
    GLOB               { $$ = AST_MATCH_GLOB; }
  | REGEXP             { $$ = AST_MATCH_REGEXP; }
  | SIMILAR TO         { $$ = AST_MATCH_SIMILAR; }

in_items:
    "(" ")"            { $$ = (struct in_items){ 0 }; }
  | "(" items ")"      { $$ = (struct in_items){ .items = $items }; }
  | "(" items "," ")"  { $$ = (struct in_items){ .items = $items }; }
  | in_parentheses     { $$ = (struct in_items){ .query = $1 }; }
  | input_table        { $$ = (struct in_items){ .query = $1 }; }

case_operand:
    %empty             { $$ = NULL; }
  | expression

whens:
    WHEN expression THEN expression
        { $$ = ast_whens(parse, (struct when_list){ 0 }, $2, $4); }
  | whens WHEN expression THEN expression
        { $$ = ast_whens(parse, $1, $3, $5); }

else:
    %empty             { $$ = NULL; }
  | ELSE expression    { $$ = $expression; }

call:
    %empty             { $$ = (struct call){ 0 }; }
  | "*"                { $$ = (struct call){ .star = true }; }
  | values order null_values
        { $$ = (struct call){ .arguments = $values, .order = $order,
                              .ignores_nulls = $null_values }; }
  | ALL values order   { $$ = (struct call){ .arguments = $values, .order = $order }; }
  | DISTINCT values order
        { $$ = (struct call){ .arguments = $values, .order = $order, .distinct = true }; }
  | expression[a] FROM expression[b]
        { $$ = ast_part(parse, $a, $b, NULL); }
  | expression[a] FROM expression[b] FOR expression[c]
        { $$ = ast_part(parse, $a, $b, $c); }
  | NAME[side] STRING FROM expression
        { $$ = ast_side(parse, @side, ast_string(parse, @STRING), $expression); }

null_values:
    %empty             { $$ = false; }
  | IGNORE_NULLS       { $$ = true; }
  | RESPECT_NULLS      { $$ = false; }

filter:
    %empty             { $$ = NULL; }
  | FILTER "(" WHERE expression ")"  { $$ = $expression; }

over:
    %empty             { $$ = (struct window){ 0 }; }
  | OVER window        { $$ = $window; }
  | OVER name          { $$ = ast_window_named(parse, $name); }

window:
    "(" window_base partition order ")"
        { $$ = ast_window(parse, $window_base, (struct window_parts){
                          .partition = $partition, .order = $order }); }
  | "(" window_base partition framed_order frame ")"
        { $$ = ast_window(parse, $window_base, (struct window_parts){
                          $partition, $framed_order, $frame }); }

window_base:
    %empty             { $$ = (struct ast_name){ 0 }; }
  | window_word        { $$ = ast_name(parse, @$); }

/* Without a last comma, behind which ROWS would be a name. */
framed_order:
    %empty                { $$ = (struct order_list){ 0 }; }
  | ORDER BY order_terms  { $$ = $order_terms; }

frame:
    frame_unit frame_bound
        { $$ = (struct ast_frame){ true, $1, $2,
              ast_bound(@2, AST_BOUND_CURRENT, NULL) }; }
  | frame_unit BETWEEN frame_bound[begin] AND frame_bound[end]
        { $$ = (struct ast_frame){ true, $1, $begin, $end }; }

frame_unit:
    ROWS               { $$ = false; }
  | RANGE              { $$ = true; }

frame_bound:
    UNBOUNDED PRECEDING
        { $$ = ast_bound(@$, AST_BOUND_START, NULL); }
  | UNBOUNDED FOLLOWING
        { $$ = ast_bound(@$, AST_BOUND_END, NULL); }
  | CURRENT ROW
        { $$ = ast_bound(@$, AST_BOUND_CURRENT, NULL); }
  | frame_offset PRECEDING
        { $$ = ast_bound(@$, AST_BOUND_PRECEDING, $1); }
  | frame_offset FOLLOWING
        { $$ = ast_bound(@$, AST_BOUND_FOLLOWING, $1); }

frame_offset:
    literal
  | PARAMETER          { $$ = ast_parameter(parse, @$); }

partition:
    %empty               { $$ = (struct value_list){ 0 }; }
  | PARTITION BY values  { $$ = $values; }

/* -------------------------------------------------------------- names -- */

name_list: names | names ","

names:
    name               { $$ = ast_names(parse, (struct name_list){ 0 }, $1); }
  | names "," name     { $$ = ast_names(parse, $1, $3); }

/* A table, a view or an index, perhaps with its schema. */
table_name:
    name               { $$ = (struct table_name){ { 0 }, $1 }; }
  | name "." name      { $$ = (struct table_name){ $1, $3 }; }

/* One of the database's own. */
own_table:
    table_name         { $$ = ast_own(parse, $table_name); }

/* Words that are a name wherever nothing else is meant. */
name: word | kept_word { $$ = ast_name(parse, @$); }

/* A name where `t LEFT JOIN u` must not take LEFT for one: an alias. */
word: free_word        { $$ = ast_name(parse, @$); }

free_word: window_word | PARTITION | RANGE | ROWS

/* Those that cannot begin a part of OVER. */
window_word:
    NAME | QUOTED | ANALYZE | ASC | BEGIN | BY | CAST | COPY | CURRENT | DATE
  | DEALLOCATE | DEFERRED | DESC | DESCRIBE | DO | EXCLUDE | EXCLUSIVE | EXECUTE | EXPLAIN
  | EXTRACT | FIRST
  | FOLLOWING | FOR | IF | IGNORE | IMMEDIATE | INTERVAL | KEY | LAST
  | MATERIALIZED | NOTHING | NULLS
  | POSITION | PRAGMA | PRECEDING | PREPARE | RECURSIVE | REINDEX | RELEASE | REPLACE
  | ROLLBACK | ROW | SAVEPOINT | SHOW | START | SUMMARIZE | TEMP | TIMESTAMP | TREE
  | TRUNCATE | TRY_CAST
  | UNBOUNDED | VACUUM | VIEW

kept_word:
    CROSS | END_WORD | FETCH | FILTER | FULL | GLOB | INNER | LEFT_WORD | NATURAL
  | OFFSET | OUTER | OVER | QUALIFY | REGEXP | RIGHT_WORD | SIMILAR | WINDOW

/* All of them but CAST, TRY_CAST, EXTRACT and POSITION, and LIKE, ILIKE. */
function_name: function_word  { $$ = ast_name(parse, @$); }

function_word:
    NAME | QUOTED | DATE | DO | FIRST | GLOB | IF | ILIKE | LAST | LEFT_WORD
  | LIKE | NOTHING | RANGE | REGEXP | REINDEX | REPLACE | RIGHT_WORD | SIMILAR
  | TIMESTAMP

%%

/* The place of a rule's symbols, `before` + 1 and on; an empty rule is at
 * the end of what comes before it. */
static struct span span_of(const struct span *before, size_t count)
{
    struct span span = before[count > 0];

    if (count > 0)
        span.end = before[count].end;
    else
        span.begin = span.end;
    return span;
}

/* Whether the stack could not grow for want of memory: bison does not say
 * why it could not. */
static _Thread_local bool no_memory;

static void *stack_alloc(size_t size)
{
    void *stack = memory_resize(NULL, size);

    no_memory = stack == NULL;
    return stack;
}

/* Called where the stack cannot grow; syntax errors are reported below. */
static void sql_grammar_error(const struct span *at, struct parse *parse,
                              const char *message)
{
    (void)message;
    if (no_memory)
        parse_no_memory(parse);
    else
        parse_too_deep(parse, at->at);
    no_memory = false;
}

/* ------------------------------------------------------ syntax errors -- */

/* The scanner's number of a symbol that is a token: both count the list of
 * tokens above. */
static int token_of(yysymbol_kind_t symbol)
{
    _Static_assert(TOKEN_VIEW - TOKEN_SELECT
                   == (int)YYSYMBOL_VIEW - (int)YYSYMBOL_SELECT,
                   "tokens and symbols are counted alike");
    _Static_assert((int)TOKEN_PREFIX < (int)TOKEN_CODES_MAX, "room for tokens");
    return symbol == YYSYMBOL_YYEOF ? TOKEN_END
           : TOKEN_SELECT + (int)symbol - (int)YYSYMBOL_SELECT;
}

static void list_expected(const yypcontext_t *context,
                          struct unexpected *found)
{
    yysymbol_kind_t symbols[YYNTOKENS];
    struct expected_token tokens[YYNTOKENS];
    int count = yypcontext_expected_tokens(context, symbols, YYNTOKENS);

    for (int i = 0; i < count; i++) {
        tokens[i].token = token_of(symbols[i]);
        tokens[i].name = yysymbol_name(symbols[i]);
    }
    parse_expected(tokens, count > 0 ? (unsigned)count : 0, found);
}

static int yyreport_syntax_error(const yypcontext_t *context,
                                 struct parse *parse)
{
    yysymbol_kind_t token = yypcontext_token(context);
    struct unexpected found = { .at = *yypcontext_location(context) };

    _Static_assert((int)YYNTOKENS < (int)EXPECTED_MAX, "no room for tokens");
    found.end = token == YYSYMBOL_YYEOF;
    found.word = token == YYSYMBOL_NAME;
    found.word_before = parse->before_token == TOKEN_NAME;
    found.comma_before = parse->before_token == TOKEN_COMMA;
    found.opens = token == YYSYMBOL_LEFT;
    found.reserved = token == YYSYMBOL_RESERVED;
    list_expected(context, &found);
    parse_unexpected(parse, &found);
    return 0;
}
