/* SPDX-License-Identifier: MIT */
/*
 * Constructors of the syntax tree: types, CREATE and DROP. As in ast.c, each
 * gives NULL once a parse has failed and accepts NULL for what it is made of.
 */
#include <string.h>

#include "base/text.h"
#include "parser/parser_inner.h"

enum {
    DECIMAL_DIGITS_MAX = 18, /* an int64_t holds them    */
    DECIMAL_DIGITS = 18,     /* where none are written   */
    DECIMAL_SCALE = 3
};

/* -------------------------------------------------------------- types -- */

/* Sorted as the types are told. */
static const struct {
    const char *name;
    enum vdbq_type type;
} types[] = {
    { "integer", VDBQ_INTEGER },    { "int", VDBQ_INTEGER },
    { "int4", VDBQ_INTEGER },       { "bigint", VDBQ_BIGINT },
    { "int8", VDBQ_BIGINT },        { "smallint", VDBQ_SMALLINT },
    { "int2", VDBQ_SMALLINT },      { "tinyint", VDBQ_SMALLINT },
    { "boolean", VDBQ_BOOLEAN },    { "bool", VDBQ_BOOLEAN },
    { "float", VDBQ_FLOAT },        { "float4", VDBQ_FLOAT },
    { "double", VDBQ_DOUBLE },      { "real", VDBQ_DOUBLE },
    { "float8", VDBQ_DOUBLE },      { "double precision", VDBQ_DOUBLE },
    { "decimal", VDBQ_DECIMAL },    { "numeric", VDBQ_DECIMAL },
    { "date", VDBQ_DATE },          { "timestamp", VDBQ_TIMESTAMP },
    { "datetime", VDBQ_TIMESTAMP }, { "text", VDBQ_TEXT },
    { "varchar", VDBQ_TEXT },       { "char", VDBQ_TEXT },
    { "character", VDBQ_TEXT },     { "character varying", VDBQ_TEXT },
    { "string", VDBQ_TEXT },        { "clob", VDBQ_TEXT },
};

/* One blank between the words of a name, however many are written. */
static void join_words(char *name)
{
    char *to = name;

    for (const char *at = name; *at != '\0'; at++) {
        bool blank = strchr(" \t\r\n\f\v", *at) != NULL;
        if (blank && to > name && to[-1] == ' ')
            continue;
        *to++ = blank ? ' ' : *at;
    }
    *to = '\0';
}

static enum vdbq_type find_type(const char *name)
{
    char words[sizeof "character varying        "];

    if (strlen(name) >= sizeof words)
        return VDBQ_TYPE_NONE;
    strcpy(words, name);
    join_words(words);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (name_equal(words, types[i].name))
            return types[i].type;
    return VDBQ_TYPE_NONE;
}

static void no_such_type(struct parse *parse, const struct ast_name *name)
{
    const char *near = NULL;
    unsigned limit = 2;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        unsigned distance = name_distance(name->text, types[i].name, limit);
        if (distance <= limit && strlen(name->text) > 4) {
            near = types[i].name;
            limit = distance - (distance > 0);
        }
    }
    error_at(parse->error, VDBQ_SYNTAX, name->at, "there is no type \"%s\"",
             name->text);
    if (near != NULL)
        error_hint(parse->error, "did you mean %s?", near);
    else
        error_hint(parse->error,
                   "the types are BOOLEAN, SMALLINT, INTEGER, "
                   "BIGINT, FLOAT (32 bits), DOUBLE (REAL), DECIMAL(digits, "
                   "behind the point), DATE, TIMESTAMP and TEXT (VARCHAR, "
                   "CHAR)");
}

/* A small number; one that is not small gives more than any that fits. */
static unsigned read_size(const struct parse *parse, struct span span)
{
    int64_t value;

    if (!text_to_int64(parse->sql + span.begin, span.end - span.begin, &value)
        || value > 1000)
        return 1000;
    return (unsigned)value;
}

struct type_size ast_type_size(struct parse *parse, struct span precision,
                               const struct span *scale)
{
    struct type_size size = { 1, read_size(parse, precision), 0 };

    if (scale != NULL) {
        size.count = 2;
        size.scale = read_size(parse, *scale);
    }
    return size;
}

static void check_decimal(struct parse *parse, const struct ast_name *name,
                          const struct ast_type *type)
{
    if (type->precision < 1 || type->precision > DECIMAL_DIGITS_MAX)
        error_at(parse->error, VDBQ_LIMIT, name->at, "a %s has 1 to %d digits",
                 name->text, DECIMAL_DIGITS_MAX);
    else if (type->scale > type->precision)
        error_at(parse->error, VDBQ_SYNTAX, name->at,
                 "a %s of %u digits cannot have %u of them behind the point",
                 name->text, type->precision, type->scale);
}

struct ast_type ast_type(struct parse *parse, struct ast_name name,
                         struct type_size size)
{
    struct ast_type type = { .type = VDBQ_TYPE_NONE };

    if (parse_failed(parse))
        return type;
    type.type = find_type(name.text);
    if (type.type == VDBQ_TYPE_NONE) {
        no_such_type(parse, &name);
    } else if (type.type == VDBQ_DECIMAL) {
        type.precision = size.count > 0 ? size.precision : DECIMAL_DIGITS;
        type.scale = size.count > 0 ? size.scale : DECIMAL_SCALE;
        check_decimal(parse, &name, &type);
    } else if (size.count > (type.type == VDBQ_TEXT)) {
        error_at(parse->error, VDBQ_SYNTAX, name.at,
                 "the type %s takes no length", name.text);
    }
    return type;
}

enum collation ast_collation(struct parse *parse, struct ast_name name)
{
    enum collation collation = COLLATION_BINARY;

    if (parse_failed(parse) || collation_named(name.text, &collation))
        return collation;
    error_at(parse->error, VDBQ_UNKNOWN, name.at,
             "there is no collation \"%s\"", name.text);
    error_hint(parse->error,
               "the collations are %s, %s (ASCII letters in one "
               "case) and %s (without blanks at the end)",
               collation_name(COLLATION_BINARY),
               collation_name(COLLATION_NOCASE),
               collation_name(COLLATION_RTRIM));
    return COLLATION_BINARY;
}

/* ------------------------------------------------------------- columns -- */

struct ast_column *ast_column_made(struct parse *parse, struct ast_name name,
                                   struct ast_type type)
{
    struct ast_column *column = parse_alloc(parse, sizeof *column);

    if (column == NULL)
        return NULL;
    column->name = name;
    column->type = type;
    return column;
}

/* Behind those that the column has. */
static struct ast_column *add_check(struct parse *parse,
                                    struct ast_column *column,
                                    const struct column_rule *rule)
{
    struct ast_constraint *made = ast_check(parse, rule->at, rule->value);

    if (made == NULL)
        return NULL;
    made->name = rule->name;
    if (column->last_check != NULL)
        column->last_check->next = made;
    else
        column->checks = made;
    column->last_check = made;
    return column;
}

struct ast_column *ast_column_ruled(struct parse *parse,
                                    struct ast_column *column,
                                    struct column_rule rule)
{
    if (column == NULL || parse_failed(parse))
        return NULL;
    switch (rule.rule) {
    case RULE_NONE:
        break;
    case RULE_KEY:
        column->primary_key = true;
        column->key_at = rule.at;
        break;
    case RULE_NOT_NULL:
        column->not_null = true;
        break;
    case RULE_UNIQUE:
        column->unique = true;
        break;
    case RULE_DEFAULT:
        column->default_value = rule.value;
        break;
    case RULE_COLLATE:
        column->collation = rule.collation;
        break;
    case RULE_CHECK:
        return add_check(parse, column, &rule);
    }
    return column;
}

struct column_rule ast_rule_named(struct column_rule rule, struct ast_name name)
{
    rule.name = name;
    return rule;
}

struct column_list ast_columns(struct column_list list,
                               struct ast_column *column)
{
    if (column == NULL)
        return list;
    if (list.last != NULL)
        list.last->next = column;
    else
        list.first = column;
    list.last = column;
    list.count++;
    return list;
}

struct ast_constraint *ast_constraint(struct parse *parse, struct span at,
                                      bool primary, struct order_list terms)
{
    struct ast_constraint *constraint = parse_alloc(parse, sizeof *constraint);

    if (constraint == NULL)
        return NULL;
    constraint->primary = primary;
    constraint->terms = terms.first;
    constraint->at = at.at;
    return constraint;
}

struct ast_constraint *ast_check(struct parse *parse, struct position at,
                                 struct ast_expression *condition)
{
    struct ast_constraint *constraint = parse_alloc(parse, sizeof *constraint);

    if (constraint == NULL || condition == NULL)
        return NULL;
    constraint->check = condition;
    constraint->at = at;
    return constraint;
}

struct ast_constraint *ast_constraint_named(struct ast_constraint *constraint,
                                            struct ast_name name)
{
    if (constraint != NULL)
        constraint->name = name;
    return constraint;
}

struct column_list ast_constraints(struct column_list list,
                                   struct ast_constraint *constraint)
{
    if (constraint == NULL)
        return list;
    if (list.last_constraint != NULL)
        list.last_constraint->next = constraint;
    else
        list.constraint = constraint;
    list.last_constraint = constraint;
    return list;
}

/* --------------------------------------------------------- statements -- */

struct target ast_temporary(struct parse *parse, bool temporary,
                            struct target target)
{
    if (!temporary)
        return target;
    if (!parse_failed(parse) && target.name.schema != NULL
        && name_equal(target.name.schema, "main"))
        error_at(parse->error, VDBQ_SYNTAX, target.name.at,
                 "what is TEMP is not in the schema main");
    target.name.schema = "temp";
    return target;
}

/* CREATE TABLE, so far without what the table is made of; NULL: no memory. */
static struct ast_statement *create_table(struct parse *parse,
                                          struct target target)
{
    struct ast_statement *made = make_statement(parse, AST_CREATE_TABLE);

    if (made != NULL)
        made->create = (struct ast_create){ .table = target.name,
                                            .if_not_exists = target.exists,
                                            .replaces = target.replaces };
    return made;
}

struct ast_statement *ast_create(struct parse *parse, struct target target,
                                 struct column_list columns)
{
    struct ast_statement *made = create_table(parse, target);

    if (made == NULL)
        return NULL;
    made->create.columns = columns.first;
    made->create.column_count = columns.count;
    made->create.constraints = columns.constraint;
    return made;
}

/* What SQLite does with tables that say so is done with all of them. */
void ast_table_option(struct parse *parse, struct ast_name first,
                      const struct ast_name *second)
{
    if (parse_failed(parse)
        || (second == NULL ? name_equal(first.text, "STRICT")
                           : name_equal(first.text, "WITHOUT")
                                 && name_equal(second->text, "ROWID")))
        return;
    error_at(parse->error, VDBQ_SYNTAX, first.at, "a table has no option %s",
             first.text);
    error_hint(parse->error, "STRICT and WITHOUT ROWID may stand behind it");
}

struct ast_statement *ast_create_as(struct parse *parse, struct target target,
                                    struct ast_query *query)
{
    struct ast_statement *made = create_table(parse, target);

    if (made != NULL)
        made->create.query = query;
    return made;
}

struct ast_statement *ast_view(struct parse *parse, struct target target,
                               struct name_list columns,
                               struct ast_query *query)
{
    struct ast_statement *made = make_statement(parse, AST_CREATE_VIEW);

    if (made != NULL)
        made->view = (struct ast_view){ .name = target.name,
                                        .if_not_exists = target.exists,
                                        .replaces = target.replaces,
                                        .begin = target.begin,
                                        .columns = columns.items,
                                        .column_count = columns.count,
                                        .query = query };
    return made;
}

/* An index is where its table is. */
struct ast_statement *ast_index(struct parse *parse, struct ast_index index)
{
    struct ast_statement *made = make_statement(parse, AST_CREATE_INDEX);

    if (made == NULL)
        return NULL;
    made->index = index;
    if (index.name.schema != NULL)
        made->index.table.schema = index.name.schema;
    return made;
}

struct ast_statement *ast_alter(struct parse *parse, struct ast_name table,
                                struct ast_alter alter)
{
    struct ast_statement *made = make_statement(parse, AST_ALTER);

    if (made == NULL)
        return NULL;
    made->alter = alter;
    made->alter.table = table;
    return made;
}

void ast_drop_how(struct parse *parse, struct ast_name how)
{
    if (!parse_failed(parse) && !name_equal(how.text, "restrict"))
        ast_word_is(parse, how, "CASCADE");
}

struct ast_statement *ast_drop(struct parse *parse,
                               enum ast_statement_kind kind,
                               struct target target)
{
    struct ast_statement *made = make_statement(parse, kind);

    if (made != NULL)
        made->drop = (struct ast_drop){ target.name, target.exists };
    return made;
}
