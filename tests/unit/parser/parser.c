/* SPDX-License-Identifier: MIT */
/*
 * The parser: trees, places, every kind of failure, the splitter, the
 * limits, and memory that runs out at each allocation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "parser/ast.h"
#include "fixtures/failing_memory.h"
#include "fixtures/tree.h"

/* ---------------------------------------------- expressions, as a text -- */

static void operators_bind_as_in_sqlite(void **state)
{
    (void)state;
    check_tree("1 + 2 * 3", "(+ 1 (* 2 3))");
    check_tree("1 - 2 - 3", "(- (- 1 2) 3)");
    check_tree("(1 - (2 - 3))", "(- 1 (- 2 3))");
    check_tree("a or b and not c = d", "(or a (and b (not (= c d))))");
    check_tree("a = b < c + d", "(= a (< b (+ c d)))");
    check_tree("a == b != c <> d", "(<> (<> (= a b) c) d)");
    check_tree("a >= b > c <= d", "(<= (> (>= a b) c) d)");
    check_tree("-a * +b % c / d", "(/ (% (* (neg a) (pos b)) c) d)");
    check_tree("- - a", "(neg (neg a))");
    check_tree("1 + not 2 = 3", "(+ 1 (not (= 2 3)))");
    check_tree("not not a and b", "(and (not (not a)) b)");
    check_tree("a is b", "(is a b)");
    check_tree("a is not b = c", "(= (isnot a b) c)");
    check_tree("a is /* no */ not null", "(isnot a null)");
    check_tree("a is null = b", "(= (is a null) b)");
    check_tree("a isnull", "(is a null)");
    check_tree("a + b notnull", "(isnot (+ a b) null)");
    check_tree("not a not null", "(not (isnot a null))");
    check_tree("x between 1 and 2 and y", "(and (between x 1 2) y)");
    check_tree("x not between 1 and 2 = y", "(= (notbetween x 1 2) y)");
    check_tree("x between a = b and c < d", "(between x (= a b) (< c d))");
    check_tree("cast(a + 1 as bigint) * 2", "(* (cast bigint (+ a 1)) 2)");
    check_tree("cast(a as double \n precision)", "(cast double a)");
    check_tree("-a || b * c || d", "(* (|| (neg a) b) (|| c d))");
    check_tree("-1::int + a::decimal(5, 2)::date",
               "(+ (neg (cast integer 1)) (cast date (cast decimal:5,2 a)))");
    check_tree("a in (1, 2,) = b", "(= (in a 1 2) b)");
    check_tree("not a in () and b not in (c)",
               "(and (not (in a)) (notin b c))");
    check_tree("a + 1 like b || c escape 'x' = d",
               "(= (like (+ a 1) (|| b c) escape 'x') d)");
    check_tree("a not ilike b or c not like d escape e",
               "(or (notilike a b) (notlike c d escape e))");
    check_tree("a is true", "(is a true)");
    check_tree("a is not false", "(isnot a false)");
    check_tree("a is distinct from b = c is not distinct from d",
               "(is (= (isnot a b) c) d)");
    check_tree("case when a then b when c then d end",
               "(case when a then b when c then d)");
    check_tree("case a or b when 1 then 2 else 3 + 4 end",
               "(case (or a b) when 1 then 2 else (+ 3 4))");
}

static void literals_are_read(void **state)
{
    (void)state;
    check_tree("9223372036854775807", "9223372036854775807");
    check_tree("9223372036854775808", "9.22337e+18d");
    check_tree("-9223372036854775808", "-9223372036854775808");
    check_tree("-(0009223372036854775808)", "-9223372036854775808");
    check_tree("-9223372036854775809", "(neg 9.22337e+18d)");
    check_tree("-5", "(neg 5)");
    check_tree("0x1F", "31");
    check_tree("0xffffffffffffffff", "-1");
    check_tree("0x00000000000000000000001", "1");
    check_tree("1.5", "1.5d");
    check_tree(".5", "0.5d");
    check_tree("5.", "5d");
    check_tree("1e3", "1000d");
    check_tree("1.5E-1", "0.15d");
    check_tree("true", "true");
    check_tree("FALSE", "false");
    check_tree("NULL", "null");
    check_tree("'it''s'", "'it's'");
    check_tree("''", "''");
    check_tree("''''", "'''");
    check_tree("'a;b--c/*'", "'a;b--c/*'");
}

static void names_are_read(void **state)
{
    (void)state;
    check_tree("t.a", "t.a");
    check_tree("t . \"a\"", "t.a");
    check_tree("\"a\"\"b\"", "a\"b");
    check_tree("[a b]", "a b");
    check_tree("`a``b`", "a`b");
    check_tree("_a$1", "_a$1");
    check_tree("\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9");
    check_tree("\"select\"", "select");
    check_tree("selects", "selects");
    check_tree("key + if * explain - analyze / cast",
               "(- (+ key (* if explain)) (/ analyze cast))");
    check_tree("left + right", "(+ left right)");
    check_tree("date + timestamp - interval * \"end\" + end",
               "(+ (- (+ date timestamp) (* interval end)) end)");
    check_tree("case end when filter then over else desc end",
               "(case end when filter then over else desc)");
    check_tree("year * t.month", "(* year t.month)");
    check_tree("a -- the first\n + /* and * / the ** second */ b", "(+ a b)");
    check_tree("a/**/+/***/b", "(+ a b)");
}

/* ------------------------------------------------------------- places -- */

static void check_at(struct position at, unsigned line, unsigned column)
{
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, column);
}

static void check_covers(const char *sql, const char *expected)
{
    struct ast_expression *tree = first_expression(sql);

    assert_int_equal(tree->end - tree->begin, strlen(expected));
    assert_memory_equal(sql + tree->begin, expected, strlen(expected));
}

static void expressions_know_their_text(void **state)
{
    struct ast_expression *tree;

    (void)state;
    check_covers("select ( (a + b) )", "a + b");
    check_covers("select (a) + (b) x", "(a) + (b)");
    check_covers("select (a + b)*c from t", "(a + b)*c");
    check_covers("select - (1)", "- (1)");
    check_covers("select cast( a as int ) , 2", "cast( a as int )");
    check_covers("select x between 1 and (2) ", "x between 1 and (2)");
    check_covers("select a is not null, 1", "a is not null");
    check_covers("select a isnull", "a isnull");
    tree = first_expression("  select\n\t a\r\n  + (b\n *'x\ny' )");
    check_at(tree->at, 3, 3);
    check_at(tree->left->at, 2, 3);
    check_at(tree->right->at, 4, 2);
    check_at(tree->right->left->at, 3, 6);
    check_at(tree->right->right->at, 4, 3);
    tree = first_expression("select not x between 1 and cast(2 as int)");
    check_at(tree->at, 1, 8);
    check_at(tree->left->at, 1, 14);
    check_at(tree->left->arguments->next->expression->at, 1, 28);
    assert_int_equal(tree->depth, 4);
    check_covers("select ( (select a) ) + 1", "( (select a) ) + 1");
    check_covers("select count( * ) over ( ) x", "count( * ) over ( )");
    check_covers("select case a when 1 then 2 end, 3",
                 "case a when 1 then 2 end");
}

/* --------------------------------------------------------- statements -- */

static void select_has_its_parts(void **state)
{
    struct ast_result *result;

    (void)state;
    assert_int_equal(parse("SELECT ALL *, t.*, a AS \"x y\", b z FROM main m "
                           "WHERE a > 1;"),
                     VDBQ_OK);
    assert_int_equal(parsed.statement->explain, AST_RUN);
    assert_int_equal(parsed.statement->query->select.result_count, 4);
    result = parsed.statement->query->select.results;
    assert_true(result->star && result->table.text == NULL);
    check_at(result->at, 1, 12);
    result = result->next;
    assert_true(result->star);
    assert_string_equal(result->table.text, "t");
    result = result->next;
    assert_false(result->star);
    assert_string_equal(result->alias.text, "x y");
    check_at(result->alias.at, 1, 25);
    result = result->next;
    assert_string_equal(result->alias.text, "z");
    assert_null(result->next);
    assert_string_equal(parsed.statement->query->select.from->name.text,
                        "main");
    assert_string_equal(parsed.statement->query->select.from->alias.text, "m");
    assert_int_equal(parsed.statement->query->select.where->operator, AST_GT);
    assert_int_equal(parse("select 1"), VDBQ_OK);
    assert_null(parsed.statement->query->select.from);
    assert_null(parsed.statement->query->select.where);
    assert_null(parsed.statement->query->select.results->alias.text);
    assert_int_equal(parse("select 1 where 0"), VDBQ_OK);
    assert_int_equal(parse("explain select 1"), VDBQ_OK);
    assert_int_equal(parsed.statement->explain, AST_EXPLAIN);
    assert_int_equal(parse("explain analyze drop table t"), VDBQ_OK);
    assert_int_equal(parsed.statement->explain, AST_EXPLAIN_ANALYZE);
}

static void create_has_its_parts(void **state)
{
    const struct ast_expression *key;
    static const char *const types[] = { "integer",
                                         "INT",
                                         "Int4",
                                         "bigint",
                                         "int8",
                                         "float",
                                         "float4",
                                         "real",
                                         "double",
                                         "double precision",
                                         "float8",
                                         "boolean",
                                         "bool",
                                         "smallint",
                                         "int2",
                                         "tinyint",
                                         "decimal(5)",
                                         "numeric",
                                         "date",
                                         "timestamp",
                                         "datetime",
                                         "text",
                                         "varchar(10)",
                                         "char(2)",
                                         "string",
                                         "clob",
                                         "character\tvarying (3)" };
    static const enum vdbq_type expected[] = {
        VDBQ_INTEGER,   VDBQ_INTEGER,  VDBQ_INTEGER,  VDBQ_BIGINT,
        VDBQ_BIGINT,    VDBQ_FLOAT,    VDBQ_FLOAT,    VDBQ_DOUBLE,
        VDBQ_DOUBLE,    VDBQ_DOUBLE,   VDBQ_DOUBLE,   VDBQ_BOOLEAN,
        VDBQ_BOOLEAN,   VDBQ_SMALLINT, VDBQ_SMALLINT, VDBQ_SMALLINT,
        VDBQ_DECIMAL,   VDBQ_DECIMAL,  VDBQ_DATE,     VDBQ_TIMESTAMP,
        VDBQ_TIMESTAMP, VDBQ_TEXT,     VDBQ_TEXT,     VDBQ_TEXT,
        VDBQ_TEXT,      VDBQ_TEXT,     VDBQ_TEXT
    };
    char sql[100];

    (void)state;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        snprintf(sql, sizeof sql, "create table t (a %s)", types[i]);
        assert_int_equal(parse(sql), VDBQ_OK);
        assert_int_equal(parsed.statement->create.columns->type.type,
                         expected[i]);
    }
    assert_int_equal(parse("create table if not exists if (\n"
                           "  key int primary key, b float,\n"
                           "  primary key (b))"),
                     VDBQ_OK);
    assert_int_equal(parsed.statement->kind, AST_CREATE_TABLE);
    assert_true(parsed.statement->create.if_not_exists);
    assert_string_equal(parsed.statement->create.table.text, "if");
    assert_int_equal(parsed.statement->create.column_count, 2);
    assert_string_equal(parsed.statement->create.columns->name.text, "key");
    assert_true(parsed.statement->create.columns->primary_key);
    check_at(parsed.statement->create.columns->key_at, 2, 11);
    assert_false(parsed.statement->create.columns->next->primary_key);
    assert_true(parsed.statement->create.constraints->primary);
    key = parsed.statement->create.constraints->terms->expression;
    assert_string_equal(key->column.text, "b");
    check_at(key->at, 3, 16);
    assert_int_equal(parse("create table if (a int)"), VDBQ_OK);
    assert_false(parsed.statement->create.if_not_exists);
    assert_null(parsed.statement->create.constraints);
}

static void drop_has_its_parts(void **state)
{
    (void)state;
    assert_int_equal(parse("drop table if exists t"), VDBQ_OK);
    assert_int_equal(parsed.statement->kind, AST_DROP_TABLE);
    assert_true(parsed.statement->drop.if_exists);
    assert_string_equal(parsed.statement->drop.name.text, "t");
    assert_int_equal(parse("drop table if"), VDBQ_OK);
    assert_false(parsed.statement->drop.if_exists);
    assert_string_equal(parsed.statement->drop.name.text, "if");
}

static void insert_has_its_parts(void **state)
{
    struct ast_row *row;

    (void)state;
    assert_int_equal(parse("insert into t (a, b, c, d, e) values (1, -2),\n"
                           "(3)"),
                     VDBQ_OK);
    assert_int_equal(parsed.statement->kind, AST_INSERT);
    assert_int_equal(parsed.statement->insert.column_count, 5);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(parsed.statement->insert.columns[i].text[0],
                         'a' + (int)i);
    assert_int_equal(parsed.statement->insert.query->row_count, 2);
    row = parsed.statement->insert.query->rows;
    assert_int_equal(row->item_count, 2);
    assert_int_equal(row->items->integer, 1);
    assert_int_equal(row->items->next->integer, -2);
    assert_int_equal(row->items->next->length, 2);
    check_at(row->next->at, 2, 1);
    assert_int_equal(row->next->item_count, 1);
    assert_null(row->next->next);
    assert_int_equal(parse("insert into t values (null)"), VDBQ_OK);
    assert_null(parsed.statement->insert.columns);
}

static void long_inserts_are_parsed(void **state)
{
    struct text sql = { 0 };
    size_t rows = 0;

    (void)state;
    text_print(&sql, "insert into t values (0, 0.5)");
    for (int i = 1; i < 100000; i++)
        text_print(&sql, ",\n(%d, 1.5)", i);
    assert_int_equal(parse_bytes(sql.bytes, sql.length), VDBQ_OK);
    assert_int_equal(parsed.statement->insert.query->row_count, 100000);
    for (struct ast_row *row = parsed.statement->insert.query->rows; row;
         row = row->next)
        assert_int_equal(row->items->integer, rows++);
    assert_int_equal(rows, 100000);
    assert_true(arena_bytes(&parsed.arena) < 16 << 20);
    text_finish(&sql);
}

static void long_lists_are_parsed(void **state)
{
    struct text sql = { 0 };

    (void)state;
    text_print(&sql, "select a in (0");
    for (int i = 1; i < 1200000; i++)
        text_add(&sql, ",1", 2);
    text_print(&sql, ")");
    assert_int_equal(parse_bytes(sql.bytes, sql.length), VDBQ_OK);
    assert_int_equal(
        parsed.statement->query->select.results->expression->item_count,
        1200000);
    text_finish(&sql);
}

/* ----------------------------------------------------------- failures -- */

/* What is told of a text: its place, a part of the message and the hint. */
struct failure {
    const char *sql;
    unsigned line, column;
    const char *message;
    const char *hint; /* NULL: none is given */
};

static const struct failure failures[] = {
    /* words */
    { "selct 1", 1, 1,
      "\"selct\": expected SELECT, INSERT, UPDATE, DELETE or "
      "CREATE",
      "did you mean SELECT?" },
    { "select *\n form t", 2, 2,
      "\"form\": expected FROM, WHERE, \",\", GROUP "
      "or the end of the statement",
      "did you mean FROM?" },
    { "select a fron t", 1, 10,
      "\"fron\": expected FROM, WHERE, \",\", GROUP "
      "or the end of the statement",
      "did you mean FROM?" },
    { "select a from t wehre a", 1, 17,
      "\"wehre\": expected WHERE, \",\", "
      "GROUP, HAVING or the end",
      "did you mean WHERE?" },
    { "select a where b adn c", 1, 18,
      "\"adn\": expected an operator, GROUP, "
      "HAVING, ORDER or the end of the statement",
      "did you mean AND?" },
    { "select a from t where a ordr by 1", 1, 25, "\"ordr\"",
      "did you mean ORDER?" },
    { "select a from t joni u on 1", 1, 17, "\"joni\"", "did you mean JOIN?" },
    { "drop tabel t", 1, 6, "expected TABLE, INDEX or VIEW",
      "did you mean TABLE?" },
    { "insert into t valus (1)", 1, 15,
      "expected SELECT, WITH, FROM, VALUES or TABLE", "did you mean VALUES?" },
    { "update t set a = 1 were b", 1, 20, "\"were\": expected FROM, WHERE",
      "did you mean WHERE?" },
    { "select a b c", 1, 12, "\"c\": expected FROM, WHERE", NULL },
    { "foreign", 1, 1, "\"foreign\"", "not supported" },
    { "select a from t references b", 1, 17, "\"references\"",
      "as a name it needs quotes: \"references\"" },
    { "select a.count(*) from t", 1, 15, "\"(\"", "no function count" },
    { "select lower(a from b)", 1, 8, "lower are written with commas", NULL },
    /* what is missing */
    { "select", 1, 7,
      "the statement is not complete: expected \"*\", ALL or "
      "an expression",
      NULL },
    { "select (1", 1, 10, "expected \",\", \")\" or an operator", NULL },
    { "select count(distinct)", 1, 22, "expected an expression", NULL },
    { "select a,,;", 1, 10,
      "expected FROM, WHERE, \"*\", an expression or "
      "the end",
      "remove the comma" },
    { "select x between 1 2", 1, 20, "\"2\": expected AND", NULL },
    { "select x between 1 or 2", 1, 20, "\"or\": expected AND", NULL },
    { "select 1 +\n", 2, 1, "expected an expression", NULL },
    { "select case a end", 1, 15, "expected WHEN or an operator", NULL },
    { "select case when a then b", 1, 26,
      "expected WHEN, ELSE, an operator "
      "or END",
      NULL },
    { "select a in 1", 1, 13, "expected \"(\" or a name", NULL },
    { "select a from t left u", 1, 22, "expected JOIN or OUTER", NULL },
    { "select a from t group a", 1, 23, "expected BY", NULL },
    { "select interval 3 foo", 1, 19, "expected a unit of time", NULL },
    { "select interval 'x' day", 1, 17, "not a whole number", NULL },
    { "select interval '3 4' day", 1, 17, "not an interval", "'3 months'" },
    { "select interval 9223372036854775807 week", 1, 17, "not an interval",
      "INTERVAL" },
    { "with a as select 1", 1, 11, "expected \"(\"", NULL },
    { "select sum(a) filter (b)", 1, 23, "expected WHERE", NULL },
    { "explain", 1, 8, "expected SELECT, INSERT, UPDATE, DELETE or CREATE",
      NULL },
    { "create table t ()", 1, 17, "expected a name", NULL },
    { "create table t (a int,, b int)", 1, 23,
      "expected PRIMARY, UNIQUE, CHECK, "
      "\")\" or a name",
      "remove the comma" },
    { "create table t (a)", 1, 18, "expected a type", NULL },
    { "create table t (a int not nul)", 1, 27, "expected NULL",
      "did you mean NULL?" },
    { "create table t (a int foo)", 1, 23,
      "expected PRIMARY, UNIQUE, DEFAULT, \",\" or \")\"", NULL },
    { "create table t (a int, primary key (a b))", 1, 39,
      "expected \",\", \")\", COLLATE, ASC or DESC", NULL },
    { "insert into t values ()", 1, 23, "expected DEFAULT or an expression",
      NULL },
    { "insert t values (1)", 1, 8, "expected INTO", NULL },
    { "insert or foo into t", 1, 11, "expected IGNORE or REPLACE", NULL },
    { "select 1 2", 1, 10, "\"2\"", NULL },
    { "select .a", 1, 8, "\".\"", NULL },
    /* types */
    { "create table t (a blob)", 1, 19, "there is no type \"blob\"",
      "the types are BOOLEAN, SMALLINT" },
    { "create table t (a integr)", 1, 19, "no type \"integr\"",
      "did you mean integer?" },
    { "create table t (a int(11))", 1, 19, "int takes no length", NULL },
    { "create table t (a char(1, 2))", 1, 19, "char takes no length", NULL },
    { "create table t (a long int)", 1, 24, "\"int\"", NULL },
    { "create table t (a int unsigned)", 1, 23, "\"unsigned\"", NULL },
    { "create table t (a decimal(3, 4))", 1, 19, "of 3 digits", NULL },
    { "select cast(1 as blob)", 1, 18, "no type \"blob\"", "the types" },
    { "select a::blob", 1, 11, "no type \"blob\"", "the types" },
    /* tokens */
    { "select 'abc", 1, 8, "\"'abc\": this text has no end", "twice" },
    { "select 1,\n'it's'", 2, 6, "this text has no end", "'it''s'" },
    { "select \"abc", 1, 8, "this quoted name has no end", "twice" },
    { "select [abc", 1, 8, "this quoted name has no end", "twice" },
    { "select `abc", 1, 8, "this quoted name has no end", "twice" },
    { "select \"\"", 1, 8, "a name cannot be empty", NULL },
    { "select 1 /* x", 1, 10, "this comment has no end", "*/" },
    { "select 1 /*/ x", 1, 10, "this comment has no end", "*/" },
    { "select 12abc", 1, 8, "\"12abc\": this is not a number", "\"1a\"" },
    { "select 1e+", 1, 8, "this is not a number", "1e-3" },
    { "select 0x", 1, 8, "this is not a number", "0x1f" },
    { "select 0x10000000000000000", 1, 8, "more than 64 bits", NULL },
    { "select #", 1, 8, "the character '#' means nothing here", NULL },
    { "select 1 \x01", 1, 10, "the character 0x01", NULL },
    { "select a ! b", 1, 10, "the character '!'", NULL },
    { "select 'a\xff'", 1, 10, "0xff is not text in UTF-8", NULL },
    { "select '\xed\xa0\x80'", 1, 9, "0xed is not text in UTF-8", NULL },
    { "select '\xc0\x80'", 1, 9, "0xc0 is not text", NULL },
    { "select \xe2\x82", 1, 8, "0xe2 is not text", NULL },
};

static void failures_are_told(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof failures / sizeof *failures; i++) {
        const struct failure *failure = failures + i;
        assert_int_equal(parse(failure->sql), VDBQ_SYNTAX);
        assert_null(parsed.statement);
        if (strstr(parsed.error.message, failure->message) == NULL)
            fail_msg("%s: %s", failure->sql, parsed.error.message);
        if (failure->hint == NULL)
            assert_string_equal(parsed.error.hint, "");
        else if (strstr(parsed.error.hint, failure->hint) == NULL)
            fail_msg("%s: %s", failure->sql, parsed.error.hint);
        if (parsed.error.line != failure->line
            || parsed.error.column != failure->column)
            fail_msg("%s: %u:%u", failure->sql, parsed.error.line,
                     parsed.error.column);
        assert_int_equal(parsed.consumed, strlen(failure->sql));
    }
}

static void nul_bytes_are_told(void **state)
{
    (void)state;
    assert_int_equal(parse_bytes("select\n'a\0b'; x", 15), VDBQ_SYNTAX);
    assert_non_null(strstr(parsed.error.message, "NUL byte"));
    assert_int_equal(parsed.error.line, 2);
    assert_int_equal(parsed.error.column, 3);
    assert_int_equal(parsed.consumed, 13);
}

static void long_tokens_are_cut(void **state)
{
    struct text sql = { 0 };

    (void)state;
    text_print(&sql, "select 1 1");
    for (int i = 0; i < 1000; i++)
        text_print(&sql, "\xc3\xa9");
    assert_int_equal(parse(sql.bytes), VDBQ_SYNTAX);
    assert_true(strlen(parsed.error.message) < 200);
    assert_non_null(strstr(parsed.error.message, "\xc3\xa9...\""));
    text_finish(&sql);
}

/* ------------------------------------------------------------- limits -- */

/* `count` times `open`, then a 1, then `count` times `close`. */
static enum vdbq_status parse_nested(const char *open, const char *close,
                                     unsigned count)
{
    struct text sql = { 0 };
    enum vdbq_status status;

    text_print(&sql, "select ");
    for (unsigned i = 0; i < count; i++)
        text_print(&sql, "%s", open);
    text_print(&sql, "1");
    for (unsigned i = 0; i < count; i++)
        text_print(&sql, "%s", close);
    status = parse_bytes(sql.bytes, sql.length);
    assert_int_equal(parsed.consumed, sql.length);
    text_finish(&sql);
    return status;
}

static void nesting_is_limited(void **state)
{
    static const struct {
        const char *open, *close;
        unsigned fits; /* levels */
    } nests[] = {
        { "(", ")", 998 },
        { "- ", "", 998 },
        { "not ", "", 998 },
        { "1 + (", ")", 499 },
        { "", " + 1", 998 },
        { "", " or 1", 998 },
        { "cast(", " as int)", 998 },
        { "1 between 1 and (", ")", 499 },
        { "1 = not ", "", 499 },
        { "(select ", ")", 332 },
        { "f(", ")", 998 },
        { "case when 1 then ", " end", 998 },
        { "1 in (", ")", 998 },
        { "exists (from t where ", ")", 332 },
        { "", "::int", 998 },
        { "(with a as (select ", ") from a)", 199 },
        { "1 from (select ", ")", 332 },
        { "sum(1) over (order by ", ")", 998 },
        { "", " union select 1", 998 },
        { "1 from ((((select ", "))))", 166 },
        { "1 from t join u on (select ", ")", 249 },
    };

    (void)state;
    for (unsigned i = 0; i < sizeof nests / sizeof *nests; i++) {
        const char *open = nests[i].open, *close = nests[i].close;
        if (parse_nested(open, close, nests[i].fits) != VDBQ_OK)
            fail_msg("%s: %s", open, parsed.error.message);
        assert_int_equal(parse_nested(open, close, nests[i].fits + 1),
                         VDBQ_LIMIT);
        assert_non_null(strstr(parsed.error.message, "1000"));
        assert_true(parsed.error.line == 1 && parsed.error.column > 0);
        assert_int_equal(parse_nested(open, close, 100000), VDBQ_LIMIT);
    }
    assert_int_equal(parse_nested("(", "", 100000), VDBQ_LIMIT);
}

static void length_is_limited(void **state)
{
    char *sql = malloc(SQL_BYTES_MAX + 10u);

    (void)state;
    memset(sql, ' ', SQL_BYTES_MAX + 10u);
    memcpy(sql, "select 1", 8);
    memcpy(sql + SQL_BYTES_MAX, ";select 1", 9);
    assert_int_equal(parse_bytes(sql, SQL_BYTES_MAX + 9u), VDBQ_OK);
    assert_int_equal(parsed.consumed, SQL_BYTES_MAX + 1);
    sql[SQL_BYTES_MAX] = ' ';
    sql[SQL_BYTES_MAX + 1] = ';';
    assert_int_equal(parse_bytes(sql, SQL_BYTES_MAX + 9u), VDBQ_LIMIT);
    assert_int_equal(parsed.consumed, SQL_BYTES_MAX + 2);
    free(sql);
}

/* ----------------------------------------------------------- splitter -- */

static void scripts_are_split(void **state)
{
    static const char sql[] = "select ';' ; -- it's; one\n"
                              "select \"a;b\", [c;'d], `e;` /* ; ' */ ; ;"
                              "bad 'x;' \"y;\" /* ; */ z;\n"
                              "select 'it''s;'\n;  -- the end;";
    static const struct {
        size_t consumed;
        enum vdbq_status status;
        enum ast_statement_kind kind;
    } parts[] = {
        { 12, VDBQ_OK, AST_SELECT }, { 52, VDBQ_OK, AST_SELECT },
        { 2, VDBQ_OK, AST_EMPTY },   { 24, VDBQ_SYNTAX, AST_EMPTY },
        { 18, VDBQ_OK, AST_SELECT }, { 13, VDBQ_OK, AST_EMPTY },
    };
    const char *at = sql;

    (void)state;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_int_equal(parse(at), parts[i].status);
        assert_int_equal(parsed.consumed, parts[i].consumed);
        if (parts[i].status == VDBQ_OK)
            assert_int_equal(parsed.statement->kind, parts[i].kind);
        at += parsed.consumed;
    }
    assert_string_equal(at, "");
    assert_int_equal(parse_bytes(NULL, 0), VDBQ_OK);
    assert_int_equal(parsed.statement->kind, AST_EMPTY);
    assert_int_equal(parsed.consumed, 0);
}

static void long_scripts_cost_once(void **state)
{
    struct text sql = { 0 };
    size_t at = 0, statements = 0;

    (void)state;
    for (int i = 0; i < 50000; i++)
        text_print(&sql, "insert into t values (%d);\n", i);
    while (at < sql.length) {
        assert_int_equal(parse_bytes(sql.bytes + at, sql.length - at), VDBQ_OK);
        at += parsed.consumed;
        statements++;
    }
    assert_int_equal(statements, 50001);
    text_finish(&sql);
}

static void completeness_is_known(void **state)
{
    static const char *const complete[] = {
        "",      " \n", "-- x",        "/* x */", "select 1;", "select 1; -- x",
        "a; b;", ";",   "select ';';", "--'\n"
    };
    static const char *const open[] = {
        "select 1", "select 1; a", "select ';",     "\"",
        "/* x",     "/*/",         "select 1 -- ;", "select 1 /* ; */",
        "[;",       "a; /* ",      "'a'';"
    };

    (void)state;
    for (unsigned i = 0; i < sizeof complete / sizeof *complete; i++)
        assert_true(sql_complete(complete[i], strlen(complete[i])));
    for (unsigned i = 0; i < sizeof open / sizeof *open; i++)
        assert_false(sql_complete(open[i], strlen(open[i])));
}

/* ------------------------------------------------------------- memory -- */

/* Every allocation fails once; in the end there is enough. */
static void check_failing(const char *sql, enum vdbq_status expected)
{
    enum vdbq_status status = VDBQ_NO_MEMORY;
    unsigned calls = 0;

    for (; status == VDBQ_NO_MEMORY; calls++) {
        arena_finish(&parsed.arena);
        memory_fail_once_after(calls);
        status = parse(sql);
        memory_fail_never();
        if (status == VDBQ_NO_MEMORY)
            assert_null(parsed.statement);
    }
    assert_int_equal(status, expected);
    assert_true(calls >= 2);
}

static void memory_may_run_out(void **state)
{
    struct text nested = { 0 };

    (void)state;
    for (int i = 0; i < 900; i++)
        text_print(&nested, "%s", i == 0 ? "select " : "(");
    check_failing("select a, 'x' as b, cast(1 as int) from t u where a is "
                  "null and \"b\" between -1 and 2.5 or t.c",
                  VDBQ_OK);
    check_failing("create table t (a int primary key, primary key (a))",
                  VDBQ_OK);
    check_failing("insert into t (a, b, c) values (1, 2), (3, 4)", VDBQ_OK);
    check_failing("explain drop table t", VDBQ_OK);
    check_failing("with a (b) as (select 1) select count(*) over (order by "
                  "c), case when d then ?1 else :e end from (values (1)) as "
                  "f(g) join h using (i) group by j order by k limit 1",
                  VDBQ_OK);
    check_failing("create table t (a decimal(3, 2) default 1, unique (a))",
                  VDBQ_OK);
    check_failing("update t set a = interval 1 day, b = extract(day from "
                  "date '2020-01-01')",
                  VDBQ_OK);
    check_failing("copy (from 'a' union from b) to 'c'", VDBQ_OK);
    check_failing("selct 'x'", VDBQ_SYNTAX);
    check_failing(nested.bytes, VDBQ_SYNTAX);
    text_finish(&nested);
}

/* Tokens in no order must give a status, and no more. */
static void nonsense_is_refused(void **state)
{
    static const char *const tokens[] = {
        "select ",   "from ",      "where ",    "a ",
        "t.",        "1 ",         "'x' ",      "( ",
        ") ",        ", ",         "* ",        "- ",
        "not ",      "is ",        "null ",     "between ",
        "and ",      "or ",        "create ",   "table ",
        "int ",      "primary ",   "key ",      "insert ",
        "into ",     "values ",    "if ",       "exists ",
        "cast",      "as ",        "explain ",  "drop ",
        ";",         "'",          "\"",        "/*",
        "--",        "\n",         "0x",        "1e",
        "order ",    "left ",      "group ",    "by ",
        "with ",     "union ",     "join ",     "on ",
        "using ",    "in ",        "like ",     "case ",
        "when ",     "then ",      "end ",      "else ",
        "limit ",    "? ",         ":a ",       "::",
        "|| ",       "f(",         "over ",     "filter ",
        "distinct ", "all ",       "interval ", "day ",
        "date ",     "extract(",   "update ",   "set ",
        "= ",        "delete ",    "default ",  "unique ",
        "index ",    "view ",      "begin ",    "copy ",
        "to ",       "describe ",  "replace ",  "transaction ",
        "natural ",  "savepoint ", "release ",  "rollback "
    };
    uint32_t random = 12345;
    char sql[400];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        sql[0] = '\0';
        for (unsigned j = 0; j < 1 + random % 16; j++) {
            random = random * 1664525u + 1013904223u;
            strcat(sql,
                   tokens[(random >> 8) % (sizeof tokens / sizeof *tokens)]);
        }
        random = random * 1664525u + 1013904223u;
        if (parse(sql) == VDBQ_OK)
            assert_non_null(parsed.statement);
        else
            assert_true(parsed.error.status == VDBQ_SYNTAX
                        && parsed.error.line > 0
                        && parsed.error.message[0] != '\0');
        assert_true(parsed.consumed <= strlen(sql) && parsed.consumed > 0);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_bind_as_in_sqlite),
        cmocka_unit_test(literals_are_read),
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(expressions_know_their_text),
        cmocka_unit_test(select_has_its_parts),
        cmocka_unit_test(create_has_its_parts),
        cmocka_unit_test(drop_has_its_parts),
        cmocka_unit_test(insert_has_its_parts),
        cmocka_unit_test(long_inserts_are_parsed),
        cmocka_unit_test(long_lists_are_parsed),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(nul_bytes_are_told),
        cmocka_unit_test(long_tokens_are_cut),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(length_is_limited),
        cmocka_unit_test(scripts_are_split),
        cmocka_unit_test(long_scripts_cost_once),
        cmocka_unit_test(completeness_is_known),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(nonsense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, finish_parse);
}
