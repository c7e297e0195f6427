/* SPDX-License-Identifier: MIT */
/*
 * The grammar of one statement, without its semicolon. Each action is one
 * call of a constructor in ast.c. Operators bind as they do in SQLite.
 *
 * AND and OR join `term`s, so that the AND of BETWEEN is never theirs. The
 * NOT of IS NOT is a token of its own, made by the scanner: `a IS NOT b` is
 * never IS over a NOT.
 */
%code requires {
#include "parser/parser_inner.h"
}

%code {
static void *stack_alloc(struct parse *parse, size_t size);
static void sql_grammar_error(const struct span *at, struct parse *parse,
                              const char *message);

/* The stack grows on the heap. Nothing takes more than four symbols for a
 * level of nesting, so that a full stack means too deep. */
#define YYMALLOC(size) stack_alloc(parse, size)
#define YYFREE memory_release
#define YYMAXDEPTH (8 * SQL_DEPTH_MAX)

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
%define lr.type canonical-lr
%locations
%param {struct parse *parse}
%expect 0

/* In the order in which messages list them. */
%token
    END 0       "the end of the statement"
    SELECT      "SELECT"
    INSERT      "INSERT"
    CREATE      "CREATE"
    DROP        "DROP"
    EXPLAIN     "EXPLAIN"
    FROM        "FROM"
    WHERE       "WHERE"
    INTO        "INTO"
    VALUES      "VALUES"
    TABLE       "TABLE"
    PRIMARY     "PRIMARY"
    COMMA       ","
    LEFT        "("
    RIGHT       ")"
    STAR        "*"
    DOT         "."
    AS          "AS"
    NAME        "a name"
    ALL         "ALL"
    ANALYZE     "ANALYZE"
    CAST        "CAST"
    EXISTS      "EXISTS"
    FALSE       "FALSE"
    IF          "IF"
    KEY         "KEY"
    NULL        "NULL"
    TRUE        "TRUE"
    IS_NOT      "the NOT of IS NOT"
    INTEGER     "a number"
    DECIMAL     "a decimal number"
    STRING      "a text"
    QUOTED      "a quoted name"
    JOIN_WORD   "a word of joins"
    RESERVED    "a reserved word"
    BAD         "no token"
    /* the operators, together */
    OR          "OR"
    AND         "AND"
    NOT         "NOT"
    IS          "IS"
    ISNULL      "ISNULL"
    NOTNULL     "NOTNULL"
    BETWEEN     "BETWEEN"
    EQUAL       "="
    DIFFERENT   "<>"
    LESS        "<"
    LESS_EQUAL  "<="
    GREATER     ">"
    GREATER_EQUAL ">="
    PLUS        "+"
    MINUS       "-"
    SLASH       "/"
    PERCENT     "%"

%left OR
%left AND
%right NOT
%left IS ISNULL NOTNULL BETWEEN EQUAL DIFFERENT
%left LESS LESS_EQUAL GREATER GREATER_EQUAL
%left PLUS MINUS
%left STAR SLASH PERCENT
%precedence PREFIX

%type <name> name bare_name alias
%type <expression> expression term where
%type <names> names insert_columns
%type <values> values
%type <row> row
%type <rows> rows
%type <result> result
%type <results> results
%type <column> column
%type <columns> columns table_body
%type <table> from
%type <statement> statement select create drop insert
%type <type> type type_name
%type <explain> explain

%%

input:
    %empty             { ast_finish(parse, AST_RUN, ast_empty(parse)); }
  | explain statement  { ast_finish(parse, $explain, $statement); }

explain:
    %empty             { $$ = AST_RUN; }
  | EXPLAIN            { $$ = AST_EXPLAIN; }
  | EXPLAIN ANALYZE    { $$ = AST_EXPLAIN_ANALYZE; }

statement: select | create | drop | insert

/* --------------------------------------------------------- statements -- */

select:
    SELECT all results from where
        { $$ = ast_select(parse, $results, $from, $where); }

all: %empty | ALL

results:
    result             { $$ = ast_results((struct result_list){ 0 }, $1); }
  | results "," result { $$ = ast_results($1, $3); }

result:
    "*"                { $$ = ast_star(parse, @$, (struct ast_name){ 0 }); }
  | name "." "*"       { $$ = ast_star(parse, @$, $name); }
  | expression alias   { $$ = ast_result(parse, @$, $expression, $alias); }

alias:
    %empty             { $$ = (struct ast_name){ 0 }; }
  | AS name            { $$ = $name; }
  | bare_name

from:
    %empty             { $$ = NULL; }
  | FROM name alias    { $$ = ast_table(parse, $name, $alias); }

where:
    %empty             { $$ = NULL; }
  | WHERE expression   { $$ = $expression; }

create:
    CREATE TABLE name "(" table_body ")"
        { $$ = ast_create(parse, false, $name, $table_body); }
  | CREATE TABLE IF NOT EXISTS name "(" table_body ")"
        { $$ = ast_create(parse, true, $name, $table_body); }

table_body:
    columns
  | columns "," PRIMARY KEY "(" name ")"  { $$ = ast_key($columns, $name); }

columns:
    column             { $$ = ast_columns((struct column_list){ 0 }, $1); }
  | columns "," column { $$ = ast_columns($1, $3); }

column:
    name type
        { $$ = ast_column_made(parse, $name, $type, (struct position){ 0 }); }
  | name type PRIMARY KEY
        { $$ = ast_column_made(parse, $name, $type, @PRIMARY.at); }

type:
    type_name
  | type_name type_size
        { $$ = ast_type_sized(parse, @1, $type_name); }

type_name:
    bare_name            { $$ = ast_type(parse, $1); }
  | bare_name bare_name  { $$ = ast_type_pair(parse, $1, $2); }

type_size:
    "(" INTEGER ")"
  | "(" INTEGER "," INTEGER ")"

drop:
    DROP TABLE name            { $$ = ast_drop(parse, false, $name); }
  | DROP TABLE IF EXISTS name  { $$ = ast_drop(parse, true, $name); }

insert:
    INSERT INTO name insert_columns VALUES rows
        { $$ = ast_insert(parse, $name, $insert_columns, $rows); }

insert_columns:
    %empty             { $$ = (struct name_list){ 0 }; }
  | "(" names ")"      { $$ = $names; }

names:
    name               { $$ = ast_names(parse, (struct name_list){ 0 }, $1); }
  | names "," name     { $$ = ast_names(parse, $1, $3); }

rows:
    row                { $$ = ast_rows((struct row_list){ 0 }, $1); }
  | rows "," row       { $$ = ast_rows($1, $3); }

row:
    "(" values ")"     { $$ = ast_row(parse, @1, $values); }

values:
    expression
        { $$ = ast_values(parse, (struct value_list){ 0 }, $1); }
  | values "," expression
        { $$ = ast_values(parse, $1, $3); }

/* -------------------------------------------------------- expressions -- */

expression:
    term
  | expression OR expression
        { $$ = ast_binary(parse, operation(AST_OR, @2, @$), $1, $3); }
  | expression AND expression
        { $$ = ast_binary(parse, operation(AST_AND, @2, @$), $1, $3); }

term:
    INTEGER            { $$ = ast_integer(parse, @$); }
  | DECIMAL            { $$ = ast_decimal(parse, @$); }
  | STRING             { $$ = ast_string(parse, @$); }
  | NULL               { $$ = ast_null(parse, @$); }
  | TRUE               { $$ = ast_boolean(parse, @$, true); }
  | FALSE              { $$ = ast_boolean(parse, @$, false); }
  | name
        { $$ = ast_column(parse, @$, (struct ast_name){ 0 }, $1); }
  | name "." name      { $$ = ast_column(parse, @$, $1, $3); }
  | "(" expression ")" { $$ = ast_group(parse, @$, $2); }
  | CAST "(" expression AS type ")"
        { $$ = ast_cast(parse, @$, $expression, $type); }
  | NOT term
        { $$ = ast_unary(parse, operation(AST_NOT, @1, @$), $2); }
  | "-" term           %prec PREFIX
        { $$ = ast_unary(parse, operation(AST_MINUS, @1, @$), $2); }
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
  | term "+" term
        { $$ = ast_binary(parse, operation(AST_ADD, @2, @$), $1, $3); }
  | term "-" term
        { $$ = ast_binary(parse, operation(AST_SUB, @2, @$), $1, $3); }
  | term "*" term
        { $$ = ast_binary(parse, operation(AST_MUL, @2, @$), $1, $3); }
  | term "/" term
        { $$ = ast_binary(parse, operation(AST_DIV, @2, @$), $1, $3); }
  | term "%" term
        { $$ = ast_binary(parse, operation(AST_MOD, @2, @$), $1, $3); }
  | term IS term
        { $$ = ast_binary(parse, operation(AST_IS, @2, @$), $1, $3); }
  | term IS IS_NOT term %prec IS
        { $$ = ast_binary(parse, operation(AST_IS_NOT, @2, @$), $1, $4); }
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

/* -------------------------------------------------------------- names -- */

/* Words that are a name wherever nothing else is meant. */
name: bare_name | JOIN_WORD { $$ = ast_name(parse, @$); }

/* A name where `t LEFT JOIN u` must not take LEFT for one: an alias. */
bare_name: name_token { $$ = ast_name(parse, @$); }

name_token: NAME | QUOTED | ANALYZE | CAST | EXPLAIN | IF | KEY

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

static void *stack_alloc(struct parse *parse, size_t size)
{
    void *stack = memory_resize(NULL, size);

    if (stack == NULL)
        parse_no_memory(parse);
    return stack;
}

/* Called where the stack cannot grow; syntax errors are reported below. */
static void sql_grammar_error(const struct span *at, struct parse *parse,
                              const char *message)
{
    (void)message;
    parse_too_deep(parse, at->at);
}

/* ------------------------------------------------------ syntax errors -- */

/* Tokens that messages tell as a group. */
enum role {
    ROLE_OTHER,
    ROLE_WORD,    /* a name unless more is meant, see `name` */
    ROLE_OPERAND, /* starts an expression                    */
    ROLE_BOTH,    /* the same, or an operator                */
    ROLE_OPERATOR
};

static enum role role_of(yysymbol_kind_t token)
{
    switch (token) {
    case YYSYMBOL_ANALYZE: case YYSYMBOL_CAST: case YYSYMBOL_EXPLAIN:
    case YYSYMBOL_IF: case YYSYMBOL_KEY: case YYSYMBOL_QUOTED:
    case YYSYMBOL_JOIN_WORD:
        return ROLE_WORD;
    case YYSYMBOL_NAME: case YYSYMBOL_INTEGER: case YYSYMBOL_DECIMAL:
    case YYSYMBOL_STRING: case YYSYMBOL_NULL: case YYSYMBOL_TRUE:
    case YYSYMBOL_FALSE: case YYSYMBOL_LEFT: case YYSYMBOL_IS_NOT:
        return ROLE_OPERAND;
    case YYSYMBOL_NOT: case YYSYMBOL_PLUS: case YYSYMBOL_MINUS:
        return ROLE_BOTH;
    default:
        return token >= YYSYMBOL_OR && token <= YYSYMBOL_PERCENT
               ? ROLE_OPERATOR : ROLE_OTHER;
    }
}

/* What a message says of a token that would fit; NULL: nothing. `fits` says
 * of every token whether it would. */
static const char *told_name(yysymbol_kind_t token, const bool *fits)
{
    bool operand = fits[YYSYMBOL_INTEGER] && fits[YYSYMBOL_NULL];
    bool operator = fits[YYSYMBOL_PERCENT];
    bool type = fits[YYSYMBOL_PRIMARY] && fits[YYSYMBOL_RIGHT];
    enum role role = role_of(token);

    if (operand && token == YYSYMBOL_INTEGER)
        return "an expression";
    if (operand && (role == ROLE_OPERAND || role == ROLE_BOTH))
        return NULL;
    if (token == YYSYMBOL_AND && !fits[YYSYMBOL_OR])
        return "AND"; /* of BETWEEN */
    if (operator && token == YYSYMBOL_PERCENT)
        return "an operator";
    if (operator && (role == ROLE_OPERATOR || role == ROLE_BOTH
                     || token == YYSYMBOL_STAR || token == YYSYMBOL_DOT))
        return NULL;
    if (type && (token == YYSYMBOL_LEFT || token == YYSYMBOL_NAME))
        return NULL; /* a second word or a length, which few types take */
    if (fits[YYSYMBOL_NAME] && role == ROLE_WORD)
        return NULL;
    if (token == YYSYMBOL_YYEOF && fits[YYSYMBOL_SELECT])
        return NULL;
    return yysymbol_name(token);
}

static bool is_keyword(yysymbol_kind_t token)
{
    const char *name = yysymbol_name(token);

    return name[0] >= 'A' && name[0] <= 'Z';
}

static void list_expected(const yypcontext_t *context,
                          struct unexpected *found)
{
    yysymbol_kind_t tokens[YYNTOKENS];
    int count = yypcontext_expected_tokens(context, tokens, YYNTOKENS);
    bool fits[YYNTOKENS] = { false };

    for (int i = 0; i < count; i++)
        fits[tokens[i]] = true;
    for (int i = 0; i < count; i++) {
        /* the end, the first of all tokens, is told last */
        yysymbol_kind_t token = tokens[(i + fits[YYSYMBOL_YYEOF]) % count];
        const char *name = told_name(token, fits);
        if (name != NULL)
            found->expected[found->count++] = name;
        if (is_keyword(token))
            found->keywords[found->keyword_count++] = yysymbol_name(token);
    }
    found->operand_before = fits[YYSYMBOL_PERCENT];
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
    found.reserved = token == YYSYMBOL_RESERVED
                     || token == YYSYMBOL_JOIN_WORD;
    list_expected(context, &found);
    parse_unexpected(parse, &found);
    return 0;
}
