/* SPDX-License-Identifier: MIT */
/*
 * The first n rows of a table in the order of an index's columns are among the
 * first n of each of its tablets, which the tablet's run has next to one
 * another; so are the least and the greatest value. A seek finds these, in the
 * table's order as always, and what was above the table sorts or groups them
 * as it would have sorted or grouped all rows: it gives the same ones.
 *
 * That holds where nothing between them leaves rows out that the index does not
 * leave out itself, and where nothing there can fail. An index need know no more
 * than the order's first columns, and of a text its first bytes, if few rows are
 * alike in them: these are found together.
 *
 * Where a condition leaves out rows that the index does not, a plan may hope that
 * enough of the first rows have what it asks, of more of them than are wanted.
 */
#include "plan/index/index_order.h"

#include <math.h>

#include "plan/estimate/estimate.h"
#include "plan/index/index_alike.h"
#include "plan/index/index_branches.h"
#include "plan/index/index_implied.h"
#include "plan/make/node.h"
#include "plan/tree/binder.h"

/* What is asked of the order: the first, or last, rows by columns of the
 * table. */
struct wanted {
    uint64_t first, last; /* rows of either end                              */
    unsigned columns[SEEK_KEYS_MAX + SEEK_KEYS_MAX];
    bool turned[SEEK_KEYS_MAX + SEEK_KEYS_MAX]; /* NULLs are not where the
                                                   index has them          */
    unsigned count;                             /* of these                */
    bool goes_on;                               /* behind them             */
    bool not_null;                              /* NULL is none of them    */
    bool may_hope;                              /* more of them may do     */
};

/* The place of the table, below SELECTs that hand columns on, and the condition
 * that its rows are tested with. */
struct source {
    struct node **place;
    struct expression **where; /* NULL: there is none */
};

/* Of as many rows as are thought to have a row that the condition keeps, and some
 * more. */
enum { HOPED_TIMES = 2, HOPED_MORE = 8 };

/* An index that has the order. */
struct order_choice {
    struct index_use use; /* its candidate NULL: there is none            */
    unsigned count; /* of its columns, behind those that equal a value: they
                       are the order's                                    */
    bool apart;     /* NULLs of the first one are counted for themselves  */
    bool alike;     /* the order goes on behind these                     */
    uint64_t ends;  /* rows of either end that are found                  */
    bool hopes;     /* ... and may not be enough                          */
    double rows;    /* that are found in all                              */
};

/* --------------------------------------------------------------- source -- */

/* What a SELECT makes a column of: a column of what is below, or a key of an index
 * of the table there. False: it is neither, or `*failed`. */
static bool find_column(struct binder *binder, const struct node *select,
                        unsigned *column, bool *failed)
{
    const struct expression *e = select->results[*column];
    struct index_candidates candidates;
    int number;

    if (e->kind == EXPRESSION_COLUMN) {
        *column = (unsigned)e->column.number;
        return true;
    }
    if (!index_is_sought(select->left))
        return false;
    *failed = !index_candidates(binder, select->left, &candidates);
    number = *failed ? -1 : index_column(&candidates, e);
    *column = (unsigned)number;
    return number >= 0;
}

/* Leaves out the order's columns from one on; false: it is the first one. */
static bool cut_wanted(struct wanted *wanted, unsigned count)
{
    wanted->goes_on = true;
    wanted->count = count;
    return count > 0;
}

/* Follows the columns down to the table, as far as they are its own; false: there is
 * none that rows come from as they are, or `*failed`. */
static bool find_source(struct binder *binder, struct node *node,
                        struct wanted *wanted, struct source *source,
                        bool *failed)
{
    *source = (struct source){ .place = &node->left };
    while ((*source->place)->kind == NODE_SELECT) {
        struct node *select = *source->place;
        if (select->shared || source->where != NULL || !index_is_safe(select))
            return false;
        for (unsigned i = 0; i < wanted->count; i++)
            if (!find_column(binder, select, &wanted->columns[i], failed)
                && (*failed || !cut_wanted(wanted, i)))
                return false;
        if (select->where != NULL)
            source->where = &select->where;
        source->place = &select->left;
    }
    return index_is_sought(*source->place);
}

/* The row's id is the key. */
static bool name_keys(const struct table *table, struct wanted *wanted)
{
    for (unsigned i = 0; i < wanted->count; i++)
        if (wanted->columns[i] == table->column_count) {
            if (table->key == NO_KEY)
                return cut_wanted(wanted, i);
            wanted->columns[i] = table->key;
        }
    return true;
}

/* ---------------------------------------------------------------- match -- */

/* Whether a column equals a value. */
static bool is_equal(const struct order_choice *choice, unsigned column)
{
    for (unsigned i = 0; i < choice->use.equal_count; i++)
        if (choice->use.candidate->columns[i] == column)
            return true;
    return false;
}

/* Whether a column, or a key, can be NULL. */
static bool is_nullable(const struct index_candidates *of, unsigned column)
{
    const struct index_key *key = index_key_of(of, column);

    return key != NULL ? key->expression->nullable
                       : of->table->columns[column].nullable;
}

/* Takes one more column of the order, which is the index's next one. False: it has
 * the order up to this one. */
static bool take_column(const struct index_terms *terms,
                        const struct wanted *wanted, unsigned i,
                        struct order_choice *choice)
{
    const struct index_candidate *candidate = choice->use.candidate;
    unsigned at = choice->use.equal_count + choice->count;
    unsigned column = wanted->columns[i];
    bool bound = choice->use.term_count > choice->use.equal_count;
    bool turned = wanted->turned[i] && is_nullable(terms->of, column)
                  && !wanted->not_null;

    if (at == candidate->count || at == SEEK_KEYS_MAX
        || candidate->columns[at] != column || (turned && choice->count > 0))
        return false;
    choice->apart |= turned && !bound;
    choice->count++;
    return true;
}

/* How far the columns behind those that equal a value are those of the order; false:
 * none is. */
static bool has_order(const struct index_terms *terms,
                      const struct wanted *wanted, struct order_choice *choice)
{
    const struct index_candidate *candidate = choice->use.candidate;
    bool exact = true;

    choice->alike = wanted->goes_on;
    for (unsigned i = 0; i < wanted->count; i++) {
        unsigned column = wanted->columns[i];
        if (is_equal(choice, column))
            continue;
        if (!exact || !take_column(terms, wanted, i, choice)) {
            choice->alike = true;
            break;
        }
        exact = !index_is_inexact(terms->of, candidate, column);
    }
    return choice->count > 0;
}

/* Whether the index is asked for values and bounds alone. */
static bool has_bounds(const struct index_terms *terms,
                       const struct index_use *use)
{
    bool all = true;

    for (size_t i = 0; i < use->term_count && all; i++)
        all = terms->terms[use->terms[i]].kind == INDEX_TERM_VALUE;
    return all;
}

/* Whether the index answers the whole condition. */
static bool answers_all(const struct index_terms *terms,
                        const struct index_use *use)
{
    bool all = true;

    for (size_t i = 0; i < terms->parts.count && all; i++)
        all = index_terms_answer(terms, use, i);
    return all;
}

/* The share of rows that what the index does not answer keeps. False: a failure. */
static bool rest_kept(struct binder *binder, const struct index_terms *terms,
                      const struct index_use *use, double *kept)
{
    const struct estimate_nodes nodes = { terms->of->table, NULL };
    const struct estimate_source source = estimate_of_nodes(&nodes);
    bool failed = false;
    const struct expression *rest =
        index_terms_rest(binder, terms, use, &failed);

    *kept = rest != NULL ? estimate_kept(&source, rest) : 1;
    return !failed;
}

/* So many rows of either end are found that those which are wanted are among them, or
 * are hoped to be. False: nothing may be hoped for, or `*failed`. */
static bool count_ends(struct binder *binder, const struct wanted *wanted,
                       const struct index_terms *terms,
                       struct order_choice *choice, bool *failed)
{
    uint64_t rows = wanted->first > wanted->last ? wanted->first : wanted->last;
    double kept, all = (double)terms->of->table->table->rows;

    choice->ends = rows;
    if (answers_all(terms, &choice->use))
        return true;
    if (!wanted->may_hope)
        return false;
    *failed = !rest_kept(binder, terms, &choice->use, &kept);
    choice->hopes = true;
    choice->ends = (uint64_t)fmin(
        (double)rows * HOPED_TIMES / fmax(kept, 1 / all) + HOPED_MORE, all);
    return !*failed && choice->ends <= UINT32_MAX;
}

/* Of those that the index cannot tell from one another the condition may leave out
 * all but a few. */
static void add_alike(struct order_choice *choice, double alike)
{
    choice->ends = (uint64_t)fmin((double)choice->ends + alike, UINT32_MAX);
}

/* Counts the rows that are found: from each tablet so many, if there are, and those
 * that the index cannot tell from the last of them. */
static bool count_rows(struct binder *binder, const struct wanted *wanted,
                       const struct index_terms *terms,
                       struct order_choice *choice)
{
    const struct node *table = terms->of->table;
    unsigned ends = (wanted->first > 0) + (wanted->last > 0);
    double parts = choice->apart ? 2 : 1, alike;
    double most;
    double all =
        (double)table->table->rows * index_terms_kept(terms, &choice->use);
    bool bound = choice->use.term_count > choice->use.equal_count;
    const struct index_ordered ordered = {
        .candidate = choice->use.candidate,
        .equal_count = choice->use.equal_count,
        .count = choice->count,
        .alike = choice->alike,
        .nulls =
            choice->apart || (!bound && !wanted->not_null && wanted->first > 0)
    };

    if (!index_alike(binder, terms->of, &ordered, &alike))
        return false;
    if (choice->hopes)
        add_alike(choice, alike);
    most = (double)choice->ends * ends * parts
           * index_tablets(terms->of, &ordered);
    most += alike * ends * parts;
    choice->rows = most < all ? most : all;
    return true;
}

/* False: a failure, which the binder has. */
static bool consider(struct binder *binder, const struct wanted *wanted,
                     const struct index_terms *terms,
                     const struct index_candidate *candidate,
                     struct order_choice *best)
{
    struct order_choice choice = { .rows = 0 };
    bool failed = false;

    index_terms_match(terms, candidate, &choice.use);
    if (!index_is_implied(candidate, terms) || !has_bounds(terms, &choice.use)
        || !has_order(terms, wanted, &choice)
        || !count_ends(binder, wanted, terms, &choice, &failed))
        return !failed;
    if (!count_rows(binder, wanted, terms, &choice))
        return false;
    if (best->use.candidate == NULL || choice.rows < best->rows)
        *best = choice;
    return true;
}

/* Whether an index finds as few rows by the condition alone, or `*failed`. */
static bool is_beaten(struct binder *binder,
                      const struct index_candidates *candidates,
                      struct expression *where, double rows, bool *failed)
{
    const struct index_candidate *candidate = candidates->items.items;
    double all = (double)candidates->table->table->rows;
    struct index_terms terms;
    bool beaten = !index_terms_read(binder, candidates, where, true, &terms);

    *failed = beaten;
    for (size_t i = 0; i < candidates->items.count && !beaten; i++) {
        struct index_use use;
        beaten = index_terms_match(&terms, &candidate[i], &use)
                 && index_terms_kept(&terms, &use) * all <= rows;
    }
    return beaten;
}

/* ----------------------------------------------------------------- make -- */

/* NULL: a failure. */
static struct node *make_seek(struct binder *binder,
                              const struct wanted *wanted,
                              const struct index_terms *terms,
                              const struct order_choice *choice)
{
    struct node *seek = index_seek(binder, terms->of->table,
                                   choice->use.candidate, choice->rows);

    if (seek == NULL || !index_terms_fill(binder, terms, &choice->use, seek))
        return NULL;
    if (choice->hopes)
        seek->seek.most = index_rows_most_alone(terms->of->table);
    seek->seek.ends =
        (struct seek_ends){ .first = wanted->first > 0 ? choice->ends : 0,
                            .last = wanted->last > 0 ? choice->ends : 0,
                            .hopes = choice->hopes,
                            .key_count = choice->count,
                            .apart = choice->apart,
                            .alike = choice->alike,
                            .not_null = wanted->not_null };
    return seek;
}

/* A seek for the rows of a condition, and about how many more it finds; NULL: no
 * index has them in that order, or `*failed`. */
static struct node *find_seek(struct binder *binder,
                              const struct index_candidates *candidates,
                              const struct wanted *wanted,
                              struct expression *where, double *rows,
                              bool *failed)
{
    struct order_choice best = { .rows = 0 };
    struct index_terms terms;
    struct node *seek;

    *failed = !index_terms_read(binder, candidates, where, true, &terms);
    for (size_t i = 0; i < candidates->items.count && !*failed; i++)
        *failed = !consider(binder, wanted, &terms,
                            vector_at(&candidates->items, i), &best);
    if (best.use.candidate == NULL || *failed)
        return NULL;
    *rows += best.rows;
    seek = make_seek(binder, wanted, &terms, &best);
    *failed = seek == NULL;
    return seek;
}

/* Seeks for the rows of all branches, in `seeks`; false: there are not that many,
 * or `*failed`. */
static bool find_seeks(struct binder *binder,
                       const struct index_candidates *candidates,
                       const struct wanted *wanted,
                       const struct vector *branches, struct node **seeks,
                       double *rows, bool *failed)
{
    bool found = branches->count <= SEEK_KEYS_MAX;

    for (size_t i = 0; i < branches->count && found; i++) {
        seeks[i] = find_seek(binder, candidates, wanted,
                             VECTOR_ITEMS(branches, struct expression *)[i],
                             rows, failed);
        found = seeks[i] != NULL;
    }
    return found;
}

/* Puts them in the table's place. Rows that the order has equal come from one of
 * them, since it is an order by all columns in which branches differ (has_order()
 * finds each behind those that equal a value): they come in the table's order. */
static bool put_seeks(struct binder *binder, const struct source *source,
                      struct node *const *seeks, size_t count, double rows)
{
    struct node *node = seeks[0];

    if (count > 1) {
        node = node_concat(binder, seeks, (unsigned)count);
        if (node == NULL)
            return false;
        node->sought = true;
        node->rows = estimate_rows(rows);
    }
    *source->place = node;
    if (source->where != NULL)
        *source->where = NULL;
    return true;
}

/* Puts seeks for all rows that are wanted in the table's place, where indexes have
 * these; false: they have not, or `*failed`. */
static bool find_all(struct binder *binder,
                     const struct index_candidates *candidates,
                     const struct source *source, const struct wanted *wanted,
                     bool *failed)
{
    struct expression *where = source->where != NULL ? *source->where : NULL;
    struct vector branches = VECTOR_IN(binder->arena, struct expression *);
    struct node *seeks[SEEK_KEYS_MAX];
    double rows = 0;

    *failed = !index_branches(binder, where, &branches);
    if (*failed
        || !find_seeks(binder, candidates, wanted, &branches, seeks, &rows,
                       failed)
        || !index_pays_alone(candidates->table, rows)
        || is_beaten(binder, candidates, where, rows, failed))
        return false;
    *failed = !put_seeks(binder, source, seeks, branches.count, rows);
    return !*failed;
}

/* ... a seek for rows among which those that are wanted are hoped to be, all of which
 * the condition is asked of. */
static bool find_some(struct binder *binder,
                      const struct index_candidates *candidates,
                      const struct source *source, const struct wanted *wanted,
                      bool *failed)
{
    struct wanted hoped = *wanted;
    double rows = 0;
    struct node *seek;

    if (source->where == NULL || !index_may_hope_few(binder)
        || (wanted->first > 0 && wanted->last > 0))
        return false;
    hoped.may_hope = true;
    seek = find_seek(binder, candidates, &hoped, *source->where, &rows, failed);
    if (seek == NULL || !index_pays_alone(candidates->table, rows)
        || is_beaten(binder, candidates, *source->where, rows, failed))
        return false;
    binder->hoped_few = true;
    *source->place = seek;
    return true;
}

static bool find_index(struct binder *binder, const struct source *source,
                       const struct wanted *wanted, struct node *node)
{
    struct index_candidates candidates;
    bool failed = false, hopes;

    if (!index_candidates(binder, *source->place, &candidates))
        return false;
    if (find_all(binder, &candidates, source, wanted, &failed) || failed)
        return !failed;
    hopes = find_some(binder, &candidates, source, wanted, &failed);
    if (node->kind == NODE_SORT)
        node->sort.hopes = hopes;
    else
        node->group.hopes = hopes;
    return !failed;
}

/* ----------------------------------------------------------------- sort -- */

/* What a sort asks; false: it is no order of an index. */
static bool read_sort(const struct node *node, struct wanted *wanted)
{
    const struct step_key *keys = node->sort.keys.items;
    uint64_t rows = node->sort.limit + node->sort.offset;

    if (node->sort.limit == UINT64_MAX || rows < node->sort.limit
        || rows > UINT32_MAX || rows == 0 || node->sort.keys.count == 0)
        return false;
    *wanted = (struct wanted){ .first = keys[0].descending ? 0 : rows,
                               .last = keys[0].descending ? rows : 0 };
    for (size_t i = 0; i < node->sort.keys.count; i++) {
        if (i == sizeof wanted->columns / sizeof *wanted->columns
            || keys[i].descending != keys[0].descending)
            return cut_wanted(wanted, (unsigned)i);
        wanted->turned[wanted->count] =
            keys[i].nulls_last != keys[i].descending;
        wanted->columns[wanted->count++] = (unsigned)keys[i].column;
    }
    return true;
}

/* ---------------------------------------------------------------- group -- */

/* The same of MIN and MAX of one column. */
static bool read_group(const struct node *node, struct wanted *wanted)
{
    const struct step_aggregate *aggregates = node->group.aggregates.items;

    if (node->group.keys > 0 || node->group.aggregates.count == 0)
        return false;
    *wanted = (struct wanted){ .count = 1, .not_null = true };
    for (size_t i = 0; i < node->group.aggregates.count; i++) {
        bool least = aggregates[i].function == AGGREGATE_MIN;
        if ((!least && aggregates[i].function != AGGREGATE_MAX)
            || aggregates[i].filter >= 0 || aggregates[i].column < 0
            || aggregates[i].column != aggregates[0].column)
            return false;
        *(least ? &wanted->first : &wanted->last) = 1;
    }
    wanted->columns[0] = (unsigned)aggregates[0].column;
    return true;
}

bool index_order(struct binder *binder, struct node *node)
{
    struct wanted wanted;
    struct source source;
    bool read = node->kind == NODE_SORT ? read_sort(node, &wanted)
                                        : read_group(node, &wanted);
    bool failed = false;

    if (!read || !find_source(binder, node, &wanted, &source, &failed)
        || !name_keys((*source.place)->table, &wanted))
        return !failed;
    return find_index(binder, &source, &wanted, node);
}
