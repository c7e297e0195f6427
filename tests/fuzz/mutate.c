/* SPDX-License-Identifier: MIT */
/*
 * Mutations of SQL by its tokens: runs of tokens are taken away, copied and
 * swapped, and phrases put between them, so that most of what comes out is
 * close to a statement.
 */
#include "fuzz.h"

#include <ctype.h>
#include <string.h>

enum { TOKENS_MAX = 1024, RUN_MAX = 6 };

static const char *const phrases[] = {
    "select",
    "from t",
    "from t x left join u y on x.a = y.a",
    "where a > 1",
    "group by s",
    "having count(*) > 0",
    "order by a desc nulls last",
    "limit 2 offset 1",
    "union all select 1, 'a'",
    "except",
    "intersect",
    "(select max(a) from t)",
    "(select u.s from u where u.a = t.a limit 1)",
    "exists (select 1 from u where u.a = t.a)",
    "in (select a from u)",
    "not in (1, null, 3)",
    "between 1 and 10",
    "like 'a%'",
    "is not null",
    "case when a > 1 then s else 'x' end",
    "cast(s as integer)",
    "sum(a) over (partition by s order by id)",
    "row_number() over ()",
    "count(distinct s)",
    "avg(d)",
    "min(s)",
    "total(x)",
    "filter (where a > 0)",
    "coalesce(a, b)",
    "substr(s, 2, 3)",
    "upper(s)",
    "s || 'x'",
    "-a",
    "a / 0",
    "a % 3",
    "b * b",
    "9223372036854775807",
    "1e308",
    "-0.0",
    "null",
    "''",
    "date '2024-02-29'",
    "interval '1' day",
    "strftime('%Y', y)",
    "m * 1.5",
    "with q as (select * from t) select * from q",
    "values (1, 2), (3, 4)",
    "insert into u values (1, 'q', 1, 1)",
    "insert into e select id, s, d from t",
    "update t set s = s || 'y'",
    "delete from t where id > 1",
    "insert or replace into t (id, s) values (1, 'z')",
    "create or replace table t as select id, s from t",
    "create or replace view v (x) as select id from t",
    "begin",
    "rollback",
    "commit",
    "savepoint one",
    "release one",
    "rollback to one",
    "create table n (a integer, s text)",
    "drop table if exists n",
    "create view z as select * from t",
    "create unique index k on t (s)",
    "create table q as select a, s from t",
    "explain analyze",
    "explain",
    "describe t",
    "summarize t",
    "natural full join",
    "cross join u",
    "using (a)",
    "as q",
    "t.*",
    "*",
    ",",
    "(",
    ")",
    ";",
    "not",
    "and",
    "or",
    "?",
    ":n",
    "::text",
    "=",
    "<",
    "<>",
    "'10'",
    "10",
    "0",
    "id",
    "a",
    "s",
    "d",
};
enum { PHRASES = sizeof phrases / sizeof *phrases };

struct token {
    size_t at, length;
};

struct text {
    const uint8_t *bytes;
    size_t size;
    struct token token[TOKENS_MAX];
    unsigned count;
};

/* A piece of the text that is put together anew. */
struct building {
    uint8_t *bytes;
    size_t size, most;
};

static bool is_word(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '.' || c >= 0x80;
}

static size_t token_end(const struct text *text, size_t at)
{
    uint8_t first = text->bytes[at++];

    if (first == '\'' || first == '"') {
        while (at < text->size && text->bytes[at] != first)
            at++;
        return at < text->size ? at + 1 : at;
    }
    if (is_word(first))
        while (at < text->size && is_word(text->bytes[at]))
            at++;
    return at;
}

static void split(struct text *text)
{
    size_t at = 0;

    while (at < text->size && text->count < TOKENS_MAX) {
        if (isspace(text->bytes[at])) {
            at++;
            continue;
        }
        size_t end = token_end(text, at);
        text->token[text->count++] = (struct token){ at, end - at };
        at = end;
    }
}

static void add(struct building *made, const void *bytes, size_t length)
{
    if (length == 0 || made->size + length + 1 > made->most)
        return;
    if (made->size > 0)
        made->bytes[made->size++] = ' ';
    memcpy(made->bytes + made->size, bytes, length);
    made->size += length;
}

/* Adds the tokens from `first` up to `end` as they stand in the text. */
static void add_run(struct building *made, const struct text *text,
                    unsigned first, unsigned end)
{
    if (first >= end)
        return;
    const struct token *last = &text->token[end - 1];
    add(made, text->bytes + text->token[first].at,
        last->at + last->length - text->token[first].at);
}

/* Takes a run out, and puts something else, or nothing, into its place. */
static void build(struct building *made, const struct text *text,
                  uint64_t *state)
{
    unsigned at = fuzz_random(state, text->count + 1);
    unsigned taken =
        fuzz_random(state, 3) ? 0 : 1 + fuzz_random(state, RUN_MAX);
    unsigned kind = fuzz_random(state, 5);
    unsigned from = fuzz_random(state, text->count);
    unsigned to = from + 1 + fuzz_random(state, RUN_MAX);

    if (taken > text->count - at)
        taken = text->count - at;
    if (to > text->count)
        to = text->count;
    add_run(made, text, 0, at);
    if (kind <= 2) {
        const char *phrase = phrases[fuzz_random(state, PHRASES)];
        add(made, phrase, strlen(phrase));
    } else if (kind == 3) {
        add_run(made, text, from, to);
    }
    add_run(made, text, at + taken, text->count);
}

size_t fuzz_mutate_sql(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static uint8_t room[1 << 16], copy[1 << 16];
    uint64_t state = seed;

    if (fuzz_random(&state, 8) == 0 || size >= sizeof copy)
        return LLVMFuzzerMutate(data, size, most);
    for (unsigned i = fuzz_random(&state, 3) + 1; i > 0; i--) {
        static struct text text;
        struct building made = { room, 0,
                                 most < sizeof room ? most : sizeof room };
        memcpy(copy, data, size);
        text = (struct text){ .bytes = copy, .size = size };
        split(&text);
        if (text.count == 0)
            return LLVMFuzzerMutate(data, size, most);
        build(&made, &text, &state);
        memcpy(data, room, made.size);
        size = made.size;
    }
    return size;
}
