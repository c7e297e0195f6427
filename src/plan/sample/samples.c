/* SPDX-License-Identifier: MIT */
/*
 * Shares of a sample's rows. A condition is tried once a statement on all rows of
 * the sample; which of them it keeps is a set of bits, and AND of conditions
 * that of sets, so that what belongs together is seen together.
 */
#include "plan/sample/samples.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/catalogue/sample.h"
#include "plan/sample/sampled.h"
#include "plan/tree/expression.h"

_Static_assert(SAMPLE_ROWS <= 64, "rows are bits");

/* Parts of expressions that are tried in a statement at most: a bound for
 * statements of thousands of conditions. */
enum { PARTS_MAX = 4096 };

/* As many rows a guess counts for, beside those of the sample. */
static const double GUESS_ROWS = 2;
/* What facts say is believed as long as a sample is no more than so many
 * standard deviations, and one row, away from it. */
static const double DEVIATIONS = 2;

/* What was found out of an expression. */
struct tried {
    const struct table *table;
    const struct expression *e;
    uint64_t kept;   /* rows for which it is true                           */
    uint64_t known;  /* rows for which that can be told; 0: for none        */
    bool counted;    /* its values were counted:                            */
    double distinct; /* so many are thought to be in the table; 0: there is
                        nothing to go by                                    */
};

static unsigned count_bits(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits);
}

/* -------------------------------------------------------------- values -- */

/* The bytes of a number, in a word. */
static uint64_t bits_at(const struct vdbq_vector *values, uint32_t row)
{
    size_t width = type_bytes(values->type);
    uint64_t bits = 0;

    assert(values->type != VDBQ_TEXT && width <= sizeof bits);
    memcpy(&bits, (const char *)values->values + row * width, width);
    return bits;
}

static bool same_text(const struct vdbq_vector *values, uint32_t a, uint32_t b)
{
    const struct vdbq_text *texts = values->values;

    return texts[a].length == texts[b].length
           && memcmp(texts[a].bytes, texts[b].bytes, texts[a].length) == 0;
}

/* Of as many values, each as frequent as the others, one pair of rows in so
 * many has the same; and there are those that were seen. */
static double count_values(const struct sampled *sampled, uint64_t rows)
{
    const struct vdbq_vector *values = &sampled->values;
    const bool texts = values->type == VDBQ_TEXT;
    uint64_t bits[SAMPLE_ROWS];
    uint32_t known[SAMPLE_ROWS];
    unsigned count = 0, same = 0, seen = 0;

    for (uint32_t i = 0; i < SAMPLE_ROWS; i++) {
        unsigned before = same;
        if ((rows >> i & 1) == 0 || values->nulls[i] != 0)
            continue;
        bits[count] = texts ? 0 : bits_at(values, i);
        for (unsigned k = 0; k < count; k++)
            same +=
                texts ? same_text(values, i, known[k]) : bits[count] == bits[k];
        seen += same == before;
        known[count++] = i;
    }
    return same > 0 ? fmax(seen, count * (count - 1.0) / 2 / same) : 0;
}

/* Rows for which a value is neither NULL nor 0. */
static uint64_t true_rows(const struct sampled *sampled, uint64_t rows)
{
    uint64_t kept = 0;

    if (sampled->values.type == VDBQ_TEXT)
        return 0;
    for (uint32_t i = 0; i < SAMPLE_ROWS; i++)
        if ((rows >> i & 1) != 0 && sampled->values.nulls[i] == 0
            && bits_at(&sampled->values, i) != 0)
            kept |= UINT64_C(1) << i;
    return kept;
}

/* -------------------------------------------------------------- trying -- */

/* `counts`: its values, too. */
static void try_it(struct samples *samples, struct tried *tried, bool counts)
{
    struct arena arena = { 0 };
    struct error error = { 0 };
    struct sampling sampling = {
        .binder = { .sql = samples->binder->sql,
                    .sql_length = samples->binder->sql_length,
                    .arena = &arena,
                    .error = &error,
                    .machine = samples->binder->machine },
        .table = tried->table
    };
    uint32_t count = tried->table->sample->rows;
    unsigned refused = memory_refused();
    struct sampled sampled;

    samples->parts += tried->e->size + 1;
    if (samples->parts <= PARTS_MAX && count > 0
        && sampled_values(&sampling, tried->e, &sampled)) {
        tried->known = ~sampled.unknown & UINT64_MAX >> (64 - count);
        tried->kept = true_rows(&sampled, tried->known);
        if (counts)
            tried->distinct = count_values(&sampled, tried->known);
    }
    tried->counted = counts;
    samples->starved |= memory_refused() != refused;
    samples->binder->machine = sampling.binder.machine;
    arena_finish(&arena);
}

/* The place of what is known of an expression; NULL: there is no memory. */
static struct tried *place_of(struct samples *samples,
                              const struct table *table,
                              const struct expression *e)
{
    struct tried *tried = samples->tried.items;

    for (size_t i = 0; i < samples->tried.count; i++)
        if (tried[i].table == table && expression_same(tried[i].e, e))
            return &tried[i];
    tried = vector_add(&samples->tried);
    samples->starved |= tried == NULL;
    if (tried != NULL)
        *tried = (struct tried){ .table = table };
    return tried;
}

/* What is known of an expression, `counts`: with its values; NULL: there is no
 * memory. */
static const struct tried *look_up(struct samples *samples,
                                   const struct table *table,
                                   const struct expression *e, bool counts)
{
    struct tried *tried = place_of(samples, table, e);
    bool known = tried != NULL && tried->e != NULL;

    if (tried == NULL || (known && (tried->counted || !counts)))
        return tried;
    tried->e = e;
    try_it(samples, tried, counts);
    return tried;
}

/* -------------------------------------------------------------- shares -- */

/* Whether the sample has all rows of its table. */
static bool is_whole(const struct table *table)
{
    return table->sample->rows == table->rows;
}

/* The share nearest to that which facts say of which it is likely that so many
 * of the rows are kept (the bounds are Wilson's). */
static double likely_share(double kept, double rows, double share)
{
    double off = kept - rows * share, square = DEVIATIONS * DEVIATIONS;
    double near = off > 0 ? kept - 1 : kept + 1, width;

    if (fabs(off) <= DEVIATIONS * sqrt(rows * share * (1 - share)) + 1)
        return share;
    width = DEVIATIONS * sqrt(near * (rows - near) / rows + square / 4);
    return (near + square / 2 + (off > 0 ? -width : width)) / (rows + square);
}

/* Rows that both ends of a range keep, of those for which that is known. */
static bool rows_of(struct samples *samples, const struct table *table,
                    const struct estimate_conjunct *conjunct, uint64_t *kept,
                    uint64_t *known)
{
    const struct expression *parts[] = { conjunct->condition, conjunct->with };

    *kept = *known = UINT64_MAX;
    for (unsigned i = 0; i < 2 && parts[i] != NULL; i++) {
        const struct tried *tried = look_up(samples, table, parts[i], false);
        if (tried == NULL || tried->known == 0)
            return false;
        *kept &= tried->kept;
        *known &= tried->known;
    }
    return true;
}

/* Takes one condition further: of `*rows`, those that it keeps are left. */
static void look_at(struct samples *samples, const struct table *table,
                    struct estimate_conjunct *conjunct, uint64_t *rows)
{
    double hits, count, thought = conjunct->kept;
    uint64_t kept, known;

    if (!rows_of(samples, table, conjunct, &kept, &known))
        return;
    hits = count_bits(*rows & known & kept);
    count = count_bits(*rows & known);
    *rows &= kept | ~known;
    if (is_whole(table) && count > 0)
        conjunct->kept = hits / count;
    else if (conjunct->guess)
        conjunct->kept =
            (hits + GUESS_ROWS * conjunct->kept) / (count + GUESS_ROWS);
    else
        conjunct->kept = likely_share(hits, count, conjunct->kept);
    conjunct->sampled = conjunct->guess || conjunct->kept != thought;
    conjunct->unmet = conjunct->sampled && hits == 0;
}

/* Whether facts say that a condition asks for a value that one row has at most: no
 * sample could tell more. */
static bool is_of_one_row(const struct table *table,
                          const struct estimate_conjunct *conjunct)
{
    const struct expression *e = conjunct->condition;

    return e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_EQ
           && conjunct->kept * (double)table->rows <= 1 && !conjunct->guess
           && !is_whole(table);
}

/* Facts come first: where they agree with the sample they tell more. */
static void conjuncts(struct estimate_samples *calls, const struct table *table,
                      struct estimate_conjunct *conjuncts, unsigned count)
{
    struct samples *samples = (struct samples *)calls;
    uint64_t rows = UINT64_MAX;

    if (count == 1 && is_of_one_row(table, conjuncts))
        return;
    for (int guess = 0; guess <= 1; guess++)
        for (unsigned i = 0; i < count; i++)
            if (conjuncts[i].guess == (guess != 0) && conjuncts[i].kept < 1)
                look_at(samples, table, &conjuncts[i], &rows);
}

static double distinct(struct estimate_samples *calls,
                       const struct table *table, const struct expression *e,
                       double most, double unknown)
{
    const struct tried *tried =
        look_up((struct samples *)calls, table, e, true);

    if (tried == NULL || tried->known == 0)
        return unknown;
    return tried->distinct > 0 ? fmin(tried->distinct, most) : most;
}

void samples_init(struct samples *samples, struct binder *binder)
{
    *samples = (struct samples){ .calls = { conjuncts, distinct },
                                 .binder = binder,
                                 .tried = VECTOR(struct tried) };
    binder->samples = &samples->calls;
}

void samples_finish(struct samples *samples)
{
    vector_finish(&samples->tried);
    samples->binder->samples = NULL;
}
