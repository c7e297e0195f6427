/* SPDX-License-Identifier: MIT */
/*
 * Constructors of the syntax tree: numbers, texts, intervals, parameters. As
 * in ast.c, each gives NULL once a parse has failed.
 */
#include <string.h>

#include "base/text.h"
#include "parser/parser_inner.h"

enum { NAME_BUCKETS = 1024 };

/* A parameter with a name. */
struct parameter {
    const char *name;
    size_t length;
    unsigned number;
    struct parameter *next; /* in its bucket */
};

/* ------------------------------------------------- numbers and texts -- */

/* The digits behind 0x as 64 bits, which may be a negative number; false:
 * there are more. */
static bool read_hex(const char *digits, size_t count, int64_t *value)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        char digit = digits[i];
        if (bits >> 60 != 0)
            return false;
        bits = bits << 4
               | (uint64_t)(digit <= '9' ? digit - '0'
                                         : (digit | 0x20) - 'a' + 10);
    }
    memcpy(value, &bits, sizeof bits);
    return true;
}

struct ast_expression *ast_one(struct parse *parse, struct span span)
{
    struct ast_expression *made = make_expression(parse, AST_INTEGER, span);

    if (made != NULL)
        made->integer = 1;
    return made;
}

struct ast_expression *ast_integer(struct parse *parse, struct span span)
{
    const char *text = parse->sql + span.begin;
    size_t length = span.end - span.begin;
    struct ast_expression *made = make_expression(parse, AST_INTEGER, span);

    if (made == NULL)
        return NULL;
    if (length > 2 && (text[1] | 0x20) == 'x') {
        if (!read_hex(text + 2, length - 2, &made->integer))
            parse_bad_token(parse, span, "the number has more than 64 bits",
                            "");
    } else if (!text_to_int64(text, length, &made->integer)) {
        made->kind = AST_DECIMAL;
        text_to_double(text, length, &made->decimal);
    }
    return made;
}

struct ast_expression *ast_decimal(struct parse *parse, struct span span)
{
    struct ast_expression *made = make_expression(parse, AST_DECIMAL, span);

    if (made != NULL)
        text_to_double(parse->sql + span.begin, span.end - span.begin,
                       &made->decimal);
    return made;
}

struct ast_expression *ast_string(struct parse *parse, struct span span)
{
    struct ast_expression *made = make_expression(parse, AST_STRING, span);

    if (made != NULL)
        made->string = parse_unquoted(parse, span, &made->string_length);
    return made;
}

struct ast_expression *ast_word(struct parse *parse,
                                enum ast_expression_kind kind, struct span span)
{
    return make_expression(parse, kind, span);
}

struct ast_expression *ast_typed(struct parse *parse, struct span whole,
                                 struct span text, enum vdbq_type type)
{
    return ast_cast(parse, operation(AST_PLUS, whole, whole),
                    ast_string(parse, text), (struct ast_type){ .type = type });
}

/* ---------------------------------------------------------- intervals -- */

static const struct unit {
    const char *name; /* or with an s behind it */
    enum ast_unit unit;
    int64_t count;
} units[] = {
    { "year", AST_YEAR, 1 },     { "quarter", AST_MONTH, 3 },
    { "month", AST_MONTH, 1 },   { "week", AST_DAY, 7 },
    { "day", AST_DAY, 1 },       { "hour", AST_HOUR, 1 },
    { "minute", AST_MINUTE, 1 }, { "second", AST_SECOND, 1 },
};

static const struct unit *find_unit(const char *text, size_t length)
{
    char word[sizeof "quarters"];

    if (length == 0 || length >= sizeof word)
        return NULL;
    memcpy(word, text, length);
    if ((word[length - 1] | 0x20) == 's')
        length--;
    word[length] = '\0';
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (name_equal(word, units[i].name))
            return units + i;
    return NULL;
}

bool is_unit(const char *text, size_t length)
{
    return find_unit(text, length) != NULL;
}

static size_t skip_blanks(const char *text, size_t length, size_t at)
{
    while (at < length && strchr(" \t\r\n\f\v", text[at]) != NULL)
        at++;
    return at;
}

/* Splits `3 months` into amount and unit; without a unit all is amount. */
static size_t amount_length(const char *text, size_t length)
{
    size_t at = 0;

    while (at < length && strchr("+-0123456789", text[at]) != NULL)
        at++;
    return at;
}

struct ast_expression *ast_interval(struct parse *parse, struct span whole,
                                    struct span amount, struct span unit)
{
    struct ast_expression *made = make_expression(parse, AST_INTERVAL, whole);
    const char *text = parse->sql + amount.begin;
    size_t length = amount.end - amount.begin, begin, digits;
    const struct unit *found;

    if (made == NULL)
        return NULL;
    if (*text == '\'')
        text++, length -= 2;
    begin = skip_blanks(text, length, 0);
    digits = amount_length(text + begin, length - begin);
    if (!text_to_int64(text + begin, digits, &made->integer)) {
        parse_bad_token(parse, amount, "this is not a whole number", "");
        return NULL;
    }
    begin = skip_blanks(text, length, begin + digits);
    found = unit.end == 0 ? find_unit(text + begin, length - begin)
            : begin < length
                ? NULL
                : find_unit(parse->sql + unit.begin, unit.end - unit.begin);
    if (found == NULL
        || __builtin_mul_overflow(made->integer, found->count,
                                  &made->integer)) {
        parse_bad_token(parse, amount, "this is not an interval",
                        "intervals are written as INTERVAL '3' MONTH, "
                        "INTERVAL 3 MONTH or INTERVAL '3 months'");
        return NULL;
    }
    made->unit = found->unit;
    return made;
}

/* --------------------------------------------------------- parameters -- */

/* The number of the next parameter that has none. */
static unsigned next_number(struct parse *parse)
{
    return parse->parameter_count + 1;
}

static struct parameter **bucket_of(struct parse *parse, const char *name,
                                    size_t length)
{
    if (parse->parameters == NULL)
        parse->parameters =
            parse_alloc(parse, NAME_BUCKETS * sizeof *parse->parameters);
    if (parse->parameters == NULL)
        return NULL;
    return &parse->parameters[text_hash(name, length) % NAME_BUCKETS];
}

/* The number of the parameter of that name, which may be new; 0: failed. */
static unsigned named_number(struct parse *parse, const char *name,
                             size_t length)
{
    struct parameter **bucket = bucket_of(parse, name, length), *found;

    if (bucket == NULL)
        return 0;
    for (found = *bucket; found != NULL; found = found->next)
        if (found->length == length && memcmp(found->name, name, length) == 0)
            return found->number;
    found = parse_alloc(parse, sizeof *found);
    if (found == NULL)
        return 0;
    *found = (struct parameter){ name, length, next_number(parse), *bucket };
    *bucket = found;
    return found->number;
}

struct ast_expression *ast_parameter(struct parse *parse, struct span span)
{
    struct ast_expression *made = make_expression(parse, AST_PARAMETER, span);
    const char *text = parse->sql + span.begin;
    size_t length = span.end - span.begin;

    if (made == NULL)
        return NULL;
    if (length > 1 && text[0] != '?' && !(text[1] >= '0' && text[1] <= '9')) {
        made->column.text = arena_copy(parse->arena, text + 1, length - 1);
        made->column.at = span.at;
        if (made->column.text == NULL)
            parse_no_memory(parse);
        made->integer = named_number(parse, text + 1, length - 1);
    } else if (length == 1) {
        made->integer = next_number(parse);
    } else if (!text_to_int64(text + 1, length - 1, &made->integer)) {
        made->integer = 0;
    }
    if (parse_failed(parse))
        return NULL;
    if (made->integer < 1 || made->integer > SQL_PARAMETERS_MAX) {
        error_at(parse->error, VDBQ_LIMIT, span.at,
                 "the number of a parameter is 1 to %d", SQL_PARAMETERS_MAX);
        return NULL;
    }
    parse->parameter_count =
        deeper(parse->parameter_count, (unsigned)made->integer);
    return made;
}

const char **ast_parameter_names(struct parse *parse)
{
    const char **names;

    if (parse->parameters == NULL)
        return NULL;
    names = parse_alloc(parse, parse->parameter_count * sizeof *names);
    for (unsigned i = 0; names != NULL && i < NAME_BUCKETS; i++)
        for (struct parameter *found = parse->parameters[i]; found != NULL;
             found = found->next) {
            char *name = arena_copy(parse->arena, found->name, found->length);
            if (name == NULL)
                return parse_no_memory(parse), NULL;
            names[found->number - 1] = name;
        }
    return names;
}
