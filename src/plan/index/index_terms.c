/* SPDX-License-Identifier: MIT */
/*
 * Reading conditions. Texts are compared by their bytes here, since names are
 * bound: a collation would have made an expression of the column.
 */
#include "plan/index/index_terms.h"

#include <math.h>
#include <string.h>

#include "base/os/stack.h"
#include "plan/estimate/estimate.h"
#include "plan/estimate/guess.h"
#include "plan/make/logic.h"
#include "plan/operator/compare.h"
#include "plan/index/index_computed.h"
#include "plan/index/index_either.h"
#include "plan/index/index_implied.h"
#include "plan/index/index_list.h"
#include "plan/index/index_prefix.h"
#include "plan/index/index_rows.h"
#include "plan/tree/binder.h"

/* --------------------------------------------------------------- parts -- */

/* Whether values of a type are those of a column, as the machine has them. */
static bool types_fit(const struct column *column, int type, unsigned scale)
{
    if (is_integer((int)column->type))
        return is_integer(type);
    if (is_float((int)column->type))
        return is_float(type);
    return (int)column->type == type
           && (type != VDBQ_DECIMAL || column->scale == scale);
}

bool index_terms_fit(const struct column *column, const struct expression *e)
{
    return types_fit(column, e->type, e->scale);
}

/* What a column is compared with, where that is known when a run begins. */
static bool read_value(const struct expression *e, struct seek_value *value)
{
    *value = (struct seek_value){ .parameter = -1 };
    if (e->kind == EXPRESSION_PARAMETER) {
        value->parameter = e->parameter.number;
        return true;
    }
    if (e->kind != EXPRESSION_CONSTANT || e->constant.null)
        return false;
    if (e->type == VDBQ_TEXT)
        value->text = e->constant.text;
    else if (e->type == VDBQ_FLOAT)
        value->real = (double)(float)e->constant.real;
    else if (is_float(e->type))
        value->real = e->constant.real;
    else
        value->integer = e->constant.integer;
    return true;
}

/* ------------------------------------------------------------ one term -- */

bool index_terms_comparison(const struct binder *binder,
                            const struct index_candidates *of,
                            const struct expression *column,
                            enum ast_operator op,
                            const struct expression *value,
                            struct index_term *term)
{
    int number = index_column(of, column);
    bool known;

    if (number < 0 || op == AST_NEQ
        || !index_terms_fit(index_column_of(of, (unsigned)number), value))
        return false;
    known = read_value(value, &term->value);
    if (!known && (binder == NULL || !index_computed_takes(binder, value)))
        return false;
    term->computed = known ? NULL : (struct expression *)(uintptr_t)value;
    term->column = (unsigned)number;
    term->op = op;
    return true;
}

/* A text that begins like this. */
static bool read_prefix(struct binder *binder,
                        const struct index_candidates *of,
                        const struct expression *e, struct index_term *term,
                        bool *failed)
{
    int number = index_column(of, e->left);
    struct index_prefix *prefix;

    if (number < 0 || index_column_of(of, (unsigned)number)->type != VDBQ_TEXT)
        return false;
    prefix = arena_alloc(binder->arena, sizeof *prefix);
    *failed = prefix == NULL || !index_prefix_read(binder, e, prefix);
    if (*failed || prefix->count == 0)
        return false;
    term->kind = INDEX_TERM_PREFIX;
    term->column = (unsigned)number;
    term->op = AST_EQ;
    term->inexact = !prefix->exact;
    term->list[0] = prefix->texts;
    term->list_count = prefix->count;
    return true;
}

static bool read_part(struct binder *binder, const struct index_terms *terms,
                      struct expression *e, struct index_term *term,
                      bool *failed)
{
    const struct index_candidates *of = terms->of;
    const struct binder *computing = terms->computes ? binder : NULL;

    if (e->kind == EXPRESSION_LOOKUP)
        return read_prefix(binder, of, e, term, failed);
    if (e->kind != EXPRESSION_OPERATOR)
        return false;
    if (e->operation.op == AST_OR)
        return index_list_read(binder, of, e, term, failed)
               || (!*failed && index_rows_read(binder, of, e, term, failed))
               || (!*failed && index_either_read(binder, of, e, term, failed));
    return is_comparison(e->operation.op)
           && (index_terms_comparison(computing, of, e->left, e->operation.op,
                                      e->right, term)
               || index_terms_comparison(computing, of, e->right,
                                         compare_mirrored(e->operation.op),
                                         e->left, term));
}

/* Whether a part that can fail fails for no row, since what fails is a key of an
 * index that all rows have, or is computed before. */
static bool never_fails(const struct index_terms *terms)
{
    const struct index_term *term = &terms->terms[terms->count];
    const struct index_key *key = index_key_of(terms->of, term->column);

    return key != NULL ? key->whole : term->computed != NULL;
}

/* Whether a term, if it is used, has what may fail computed before. */
static bool hopes(const struct index_term *term)
{
    return term->computed != NULL && term->computed->faults;
}

bool index_terms_read(struct binder *binder,
                      const struct index_candidates *candidates,
                      struct expression *where, bool computes,
                      struct index_terms *terms)
{
    bool failed = false;

    terms->of = candidates;
    terms->computes = computes;
    terms->count = 0;
    terms->safe = 0;
    terms->parts = VECTOR_IN(binder->arena, struct expression *);
    if (where != NULL && !index_split(where, &terms->parts))
        return error_no_memory(binder->error), false;
    for (size_t i = 0;
         i < terms->parts.count && terms->count < INDEX_TERMS_MAX && !failed;
         i++) {
        struct expression *part =
            VECTOR_ITEMS(&terms->parts, struct expression *)[i];
        struct index_term *term = &terms->terms[terms->count];
        bool read;
        *term = (struct index_term){ .condition = part, .part = i };
        read = read_part(binder, terms, part, term, &failed);
        if (part->faults && !(read && never_fails(terms)))
            break;
        terms->safe += terms->safe == i && !(read && hopes(term));
        terms->count += read;
    }
    if (failed)
        error_no_memory(binder->error);
    return !failed;
}

bool index_terms_list(const struct index_candidates *candidates,
                      const unsigned *columns, const struct node *values,
                      const int *of, size_t count, struct index_terms *terms)
{
    const struct table *table = candidates->table->table;
    struct index_term *term = &terms->terms[0];

    if (count > SEEK_KEYS_MAX)
        return false;
    terms->of = candidates;
    terms->parts = VECTOR(struct expression *);
    terms->safe = 0;
    terms->count = 1;
    *term = (struct index_term){ .op = AST_EQ,
                                 .kind = count > 1 ? INDEX_TERM_ROWS
                                                   : INDEX_TERM_LIST,
                                 .list_count = values->value_rows,
                                 .column_count = (unsigned)count };
    for (size_t i = 0; i < count; i++) {
        const struct node_column *type = &values->columns[of[i]];
        unsigned column =
            columns[i] == table->column_count ? table->key : columns[i];
        if (column >= table->column_count
            || !types_fit(&table->columns[column], type->type, type->scale))
            return false;
        term->columns[i] = column;
        term->list[i] = values->values[of[i]];
    }
    term->column = term->columns[0];
    return true;
}

/* --------------------------------------------------------------- match -- */

/* A term about a column, of that kind, with an operator among some; -1: there
 * is none. */
static int find(const struct index_terms *terms, const struct index_use *use,
                unsigned column, enum index_term_kind kind, enum ast_operator a,
                enum ast_operator b)
{
    for (unsigned i = 0; i < use->looked; i++) {
        const struct index_term *term = &terms->terms[i];
        if (term->column == column && term->kind == kind
            && (term->op == a || term->op == b))
            return (int)i;
    }
    return -1;
}

static void use_term(struct index_use *use, int term)
{
    if (term >= 0)
        use->terms[use->term_count++] = (unsigned)term;
}

/* The list of rows that says something of most columns. */
static void use_rows(const struct index_terms *terms, const unsigned *columns,
                     unsigned count, unsigned least, struct index_use *use)
{
    int best = -1;

    for (unsigned i = 0; i < use->looked; i++) {
        unsigned order[SEEK_KEYS_MAX], matched;
        if (terms->terms[i].kind != INDEX_TERM_ROWS)
            continue;
        matched = index_rows_match(&terms->terms[i], columns, count, order);
        if (matched < least || matched <= use->list_columns)
            continue;
        best = (int)i;
        use->list_columns = matched;
        memcpy(use->list_order, order, sizeof order);
    }
    use_term(use, best);
}

/* What is asked of the columns behind those that equal a value: rows of a list, a
 * list, what the first one begins with, or bounds. */
static void use_last(const struct index_terms *terms, const unsigned *columns,
                     unsigned count, struct index_use *use)
{
    int term;

    use_rows(terms, columns, count, 2, use);
    if (use->list_columns > 0)
        return;
    term = find(terms, use, columns[0], INDEX_TERM_LIST, AST_EQ, AST_EQ);
    if (term < 0)
        term = find(terms, use, columns[0], INDEX_TERM_PREFIX, AST_EQ, AST_EQ);
    use_term(use, term);
    if (term >= 0)
        return;
    use_term(use,
             find(terms, use, columns[0], INDEX_TERM_VALUE, AST_GT, AST_GE));
    use_term(use,
             find(terms, use, columns[0], INDEX_TERM_VALUE, AST_LT, AST_LE));
    if (use->term_count == use->equal_count)
        use_rows(terms, columns, count, 1, use);
}

/* What is asked of an index's columns by the first terms, `looked` of them. */
static void use_terms(const struct index_terms *terms,
                      const struct index_candidate *candidate, unsigned looked,
                      struct index_use *use)
{
    const unsigned *columns = candidate->columns;
    unsigned most =
        candidate->count < SEEK_KEYS_MAX ? candidate->count : SEEK_KEYS_MAX;
    int term;

    *use = (struct index_use){ .candidate = candidate, .looked = looked };
    while (use->equal_count < most
           && (term = find(terms, use, columns[use->equal_count],
                           INDEX_TERM_VALUE, AST_EQ, AST_EQ))
                  >= 0) {
        use_term(use, term);
        use->equal_count++;
    }
    if (use->equal_count < most)
        use_last(terms, columns + use->equal_count, most - use->equal_count,
                 use);
}

static bool is_used(const struct index_use *use, unsigned term)
{
    bool used = false;

    for (unsigned i = 0; i < use->term_count; i++)
        used |= use->terms[i] == term;
    return used;
}

/* How many first terms an index may use that uses these: none behind one that may
 * fail for a row and is not computed before, since that is tested for rows that the
 * others find. */
static unsigned count_sure(const struct index_terms *terms,
                           const struct index_use *use)
{
    unsigned sure = 0;

    while (sure < use->looked
           && (!hopes(&terms->terms[sure]) || is_used(use, sure)))
        sure++;
    return sure;
}

bool index_terms_match(const struct index_terms *terms,
                       const struct index_candidate *candidate,
                       struct index_use *use)
{
    unsigned looked = terms->count, sure;

    *use = (struct index_use){ .candidate = candidate };
    if (!index_is_implied(candidate, terms))
        return false;
    use_terms(terms, candidate, looked, use);
    while ((sure = count_sure(terms, use)) < looked) {
        looked = sure;
        use_terms(terms, candidate, looked, use);
    }
    return use->term_count > 0 || candidate->where.count > 0;
}

/* The lists of the index's columns. */
static void fill_lists(const struct index_term *term,
                       const struct index_use *use, struct step_seek *seek)
{
    seek->list_columns = 1;
    seek->list[0] = term->list[0];
    seek->given[0] = term->given[0];
    if (term->kind != INDEX_TERM_ROWS)
        return;
    seek->list_columns = use->list_columns;
    for (unsigned i = 0; i < use->list_columns; i++) {
        seek->list[i] = term->list[use->list_order[i]];
        seek->given[i] = term->given[use->list_order[i]];
    }
}

bool index_terms_fill(struct binder *binder, const struct index_terms *terms,
                      const struct index_use *use, struct node *node)
{
    struct step_seek *seek = &node->seek;

    seek->equal_count = use->equal_count;
    for (unsigned i = 0; i < use->term_count; i++) {
        const struct index_term *term = &terms->terms[use->terms[i]];
        bool open = term->op == AST_LT || term->op == AST_GT;
        struct seek_bound bound = { true, open, term->value };
        if (i < use->equal_count) {
            seek->equals[i] = term->value;
        } else if (term->kind != INDEX_TERM_VALUE) {
            fill_lists(term, use, seek);
            seek->list_count = term->list_count;
            seek->list_starts = term->kind == INDEX_TERM_PREFIX;
        } else if (term->op == AST_GT || term->op == AST_GE) {
            seek->low = bound;
        } else {
            seek->high = bound;
        }
    }
    return index_computed_put(binder, terms, use, node);
}

double index_terms_values(const struct index_candidates *candidates,
                          const unsigned *columns, unsigned count)
{
    double values = 1;

    for (unsigned i = 0; i < count; i++)
        values *= fmax(index_estimate(candidates, columns[i]).distinct, 1);
    return fmax(fmin(values, (double)candidates->table->table->rows), 1);
}

/* The share of rows that a list keeps. */
static double list_kept(const struct index_terms *terms,
                        const struct index_term *term,
                        const struct index_use *use)
{
    unsigned columns[SEEK_KEYS_MAX] = { term->column }, count = 1;

    if (term->kind == INDEX_TERM_ROWS)
        for (count = 0; count < use->list_columns; count++)
            columns[count] = term->columns[use->list_order[count]];
    return (double)term->list_count
           / index_terms_values(terms->of, columns, count);
}

/* The share of rows whose texts begin as a pattern does, or as much of it as is looked
 * for. */
static double prefix_kept(const struct estimate_source *source,
                          const struct index_terms *terms,
                          const struct index_term *term)
{
    double kept = estimate_kept(source, term->condition);

    return index_key_of(terms->of, term->column) != NULL
               ? kept
               : fmax(kept,
                      index_prefix_share(terms->of->table->table, term->column,
                                         &term->list[0], term->list_count));
}

/* The share of rows that one term keeps. */
static double term_kept(const struct estimate_source *source,
                        const struct index_terms *terms,
                        const struct index_term *term,
                        const struct index_use *use)
{
    switch (term->kind) {
    case INDEX_TERM_LIST:
    case INDEX_TERM_ROWS:
        return list_kept(terms, term, use);
    case INDEX_TERM_PREFIX:
        return prefix_kept(source, terms, term);
    default:
        return estimate_kept(source, term->condition);
    }
}

/* Whether a term's value comes with a run. */
static bool is_asked(const struct index_term *term)
{
    return term->value.parameter >= 0 || term->computed != NULL;
}

/* The share that both ends of a range keep, which is seen with both alone. Who gives
 * both with each run asks for a page, or a day. */
static double range_kept(const struct estimate_source *source,
                         const struct index_term *low,
                         const struct index_term *high)
{
    struct expression both = { .kind = EXPRESSION_OPERATOR,
                               .type = VDBQ_BOOLEAN,
                               .left = low->condition,
                               .right = high->condition };
    double kept;

    both.operation.op = AST_AND;
    kept = estimate_kept(source, &both);
    return is_asked(low) && is_asked(high) ? fmin(kept, KEPT_ASKED) : kept;
}

/* The share of the rows that an index has of them. */
static double where_kept(const struct estimate_source *source,
                         const struct index_candidate *candidate)
{
    double kept = 1;

    for (size_t i = 0; i < candidate->where.count; i++)
        kept *= estimate_kept(
            source, VECTOR_ITEMS(&candidate->where, struct expression *)[i]);
    return kept;
}

double index_terms_kept(const struct index_terms *terms,
                        const struct index_use *use)
{
    const struct estimate_nodes nodes = { terms->of->table, NULL };
    const struct estimate_source source = estimate_of_nodes(&nodes);
    unsigned count = use->term_count;
    double kept = 1, has = where_kept(&source, use->candidate);

    if (count == use->equal_count + 2) {
        count = use->equal_count;
        kept = range_kept(&source, &terms->terms[use->terms[count]],
                          &terms->terms[use->terms[count + 1]]);
    }
    for (unsigned i = 0; i < count; i++)
        kept *= term_kept(&source, terms, &terms->terms[use->terms[i]], use);
    return estimate_share(kept < has ? kept : has);
}

bool index_terms_guessed(const struct index_terms *terms,
                         const struct index_use *use)
{
    bool guessed = false;

    for (unsigned i = 0; i < use->term_count; i++) {
        const struct index_term *term = &terms->terms[use->terms[i]];
        guessed |= term->kind == INDEX_TERM_VALUE && is_asked(term);
    }
    return guessed;
}

/* ---------------------------------------------------------------- rest -- */

/* Whether the index finds no rows but those that a list of rows asks for. */
static bool answers_rows(const struct index_terms *terms,
                         const struct index_term *term,
                         const struct index_use *use)
{
    bool exact = use->list_columns == term->column_count;

    for (unsigned i = 0; i < term->column_count && exact; i++)
        exact = !index_is_inexact(terms->of, use->candidate, term->columns[i]);
    return exact;
}

bool index_terms_answer(const struct index_terms *terms,
                        const struct index_use *use, size_t part)
{
    const struct index_candidate *candidate = use->candidate;
    const struct expression *e =
        VECTOR_ITEMS(&terms->parts, struct expression *)[part];

    for (unsigned i = 0; i < use->term_count; i++) {
        const struct index_term *term = &terms->terms[use->terms[i]];
        if (term->part == part && term->kind == INDEX_TERM_ROWS)
            return answers_rows(terms, term, use);
        if (term->part == part)
            return !term->inexact
                   && !index_is_inexact(terms->of, candidate, term->column);
    }
    return part < terms->safe && expression_find(&candidate->where, 0, e) >= 0;
}

struct expression *index_terms_rest(struct binder *binder,
                                    const struct index_terms *terms,
                                    const struct index_use *use, bool *failed)
{
    struct ast_expression place = { 0 };
    struct expression *rest = NULL;

    for (size_t i = 0; i < terms->parts.count; i++) {
        struct expression *part =
            VECTOR_ITEMS(&terms->parts, struct expression *)[i];
        if (index_terms_answer(terms, use, i))
            continue;
        place.at = part->at;
        rest = rest == NULL
                   ? part
                   : expression_logic(binder, AST_AND, rest, part, &place);
        *failed |= rest == NULL;
        if (rest == NULL)
            return NULL;
    }
    return rest;
}
