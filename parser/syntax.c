/* SPDX-License-Identifier: MIT */
/*
 * What a person is told of text that is not valid SQL: where, what would
 * have fitted, and what was probably meant.
 */
#include "parser/parser_inner.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum {
    TOLD_MAX = 5,   /* tokens that a message lists     */
    QUOTED_MAX = 40 /* bytes that a message repeats    */
};

/* A few bytes of the statement, ended by a NUL. */
struct quote {
    char text[QUOTED_MAX + sizeof "..."];
};

static struct quote quote_of(const struct parse *parse, struct span span);
static const char *meant(const struct unexpected *found, const char *word);
static void list_told(const struct unexpected *found, char *room, size_t size);
static void add_hint(struct parse *parse, const struct unexpected *found,
                     const char *word);

bool parse_failed(const struct parse *parse)
{
    return parse->error->status != VDBQ_OK;
}

void parse_no_memory(struct parse *parse)
{
    if (!parse_failed(parse))
        error_no_memory(parse->error);
}

void parse_too_deep(struct parse *parse, struct position at)
{
    if (parse_failed(parse))
        return;
    error_at(parse->error, VDBQ_LIMIT, at,
             "the expression is nested more than %d deep", SQL_DEPTH_MAX);
}

void parse_bad_token(struct parse *parse, struct span at, const char *what,
                     const char *hint)
{
    struct quote quote = quote_of(parse, at);

    if (parse_failed(parse))
        return;
    error_at(parse->error, VDBQ_SYNTAX, at.at, "syntax error at \"%s\": %s",
             quote.text, what);
    error_hint(parse->error, "%s", hint);
}

/* A mistyped keyword often passes for an alias, and the token behind it is
 * the one that does not fit: then the one before is told. */
void parse_unexpected(struct parse *parse, const struct unexpected *found)
{
    struct quote quote = quote_of(parse, found->at), before;
    const char *keyword = found->word ? meant(found, quote.text) : NULL;
    struct position at = found->at.at;
    char told[512];

    if (parse_failed(parse))
        return;
    before = quote_of(parse, parse->before);
    if (keyword == NULL && found->word_before && !found->opens) {
        keyword = meant(found, before.text);
        if (keyword != NULL) {
            quote = before;
            at = parse->before.at;
        }
    }
    list_told(found, told, sizeof told);
    if (found->end && at.line == found->at.at.line
        && at.column == found->at.at.column)
        error_at(parse->error, VDBQ_SYNTAX, at,
                 "the statement is not complete: expected %s", told);
    else
        error_at(parse->error, VDBQ_SYNTAX, at,
                 "syntax error at \"%s\": expected %s", quote.text, told);
    if (keyword != NULL)
        error_hint(parse->error, "did you mean %s?", keyword);
    else
        add_hint(parse, found, found->opens ? before.text : quote.text);
}

static void add_hint(struct parse *parse, const struct unexpected *found,
                     const char *word)
{
    if (found->reserved)
        error_hint(parse->error,
                   "%s is a word of SQL that is not supported "
                   "here; as a name it needs quotes: \"%s\"",
                   word, word);
    else if (found->opens && found->word_before && found->operand_before)
        error_hint(parse->error, "there is no function %s", word);
    else if (found->comma_before)
        error_hint(parse->error, "remove the comma before it, or write what "
                                 "comes next");
}

/* The start of the span's text, cut between characters. */
static struct quote quote_of(const struct parse *parse, struct span span)
{
    struct quote quote = { "" };
    size_t length = span.end - span.begin;
    const char *text = parse->sql + span.begin;

    if (length == 0)
        return quote;
    if (length <= QUOTED_MAX) {
        memcpy(quote.text, text, length);
        return quote;
    }
    length = QUOTED_MAX;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    memcpy(quote.text, text, length);
    strcpy(quote.text + length, "...");
    return quote;
}

/* The keyword that fits and is nearest to the word; NULL: none is near. */
static const char *meant(const struct unexpected *found, const char *word)
{
    const char *best = NULL;
    unsigned best_distance = 3;

    for (unsigned i = 0; i < found->keyword_count; i++) {
        const char *keyword = found->keywords[i];
        unsigned limit = strlen(keyword) >= 5 ? 2 : 1;
        unsigned distance = name_distance(word, keyword, limit);
        if (distance <= limit && distance < best_distance && strlen(word) > 2) {
            best = keyword;
            best_distance = distance;
        }
    }
    return best;
}

/* `FROM, "," or the end of the statement` */
static void list_told(const struct unexpected *found, char *room, size_t size)
{
    unsigned count = found->count < TOLD_MAX ? found->count : TOLD_MAX;
    size_t length = 0;

    room[0] = '\0';
    for (unsigned i = 0; i < count && length < size; i++) {
        bool last = i + 1 == count && found->may_end;
        unsigned item = last ? found->count - 1 : i;
        const char *name = found->expected[item];
        bool letters = (name[0] | 0x20) >= 'a' && (name[0] | 0x20) <= 'z';
        const char *mark = letters ? "" : "\"";
        const char *join = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        length += (size_t)snprintf(room + length, size - length, "%s%s%s%s",
                                   join, mark, name, mark);
    }
}
