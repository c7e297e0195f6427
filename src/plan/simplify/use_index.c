/* SPDX-License-Identifier: MIT */
/*
 * Where an index is used. What a condition asks of the first columns of one is
 * taken out of it and becomes a NODE_SEEK in the table's place, if it is
 * thought to leave so few rows that a scan costs more; what is left is tested
 * for these rows. So are rows of a semi join with a list of values.
 *
 * Rows come in the table's order either way. A part of a condition is taken out
 * only where no part before it can fail, so that a failure that a scan would
 * have met is met here, too.
 */
#include "plan/simplify/use_index.h"

#include <stdio.h>
#include <string.h>

#include "base/hostile.h"
#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/estimate/estimate.h"
#include "plan/make/node.h"
#include "plan/make/logic.h"
#include "plan/simplify/index_terms.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"
#include "program/steps/steps.h"

enum {
    TABLE_ROWS_FEW = HOSTILE(0, 999), /* of tables that are scanned           */
    ROW_COST = HOSTILE(1, 32) /* a row that is found costs as much as so many
                                 in a scan                                */
};

/* An index, or a rule that says that columns are unique. */
struct candidate {
    const char *name; /* of an index; NULL: it has none */
    bool is_key;      /* it is the primary key          */
    const unsigned *columns;
    unsigned count;
};

/* The best way to find rows, so far. */
struct choice {
    struct candidate candidate;
    struct index_use use;
    double kept; /* the share of the table's rows that it finds            */
    bool found;
};

/* What an index is chosen for. */
struct choosing {
    struct binder *binder;
    const struct node *table;
    const struct index_terms *terms;
    struct choice best;
    bool failed; /* the binder has why */
};

static bool seek_select(struct binder *binder, struct node *node);
static struct node *seek_join(struct binder *binder, struct node *node);

/* ---------------------------------------------------------------- walk -- */

static bool visit(struct binder *binder, struct node **place);

static bool visit_below(struct binder *binder, struct node *node)
{
    bool done = (node->left == NULL || visit(binder, &node->left))
                && (node->right == NULL || visit(binder, &node->right));

    for (size_t i = 0; i < node->parts.count && done; i++)
        done = visit(binder, vector_at(&node->parts, i));
    return done;
}

/* A node that stands in several places is looked at once; what stands for it
 * then is itself, changed. */
static bool visit(struct binder *binder, struct node **place)
{
    struct node *node = *place;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    if (node->sought)
        return true;
    node->sought = true;
    if (!visit_below(binder, node))
        return false;
    if (node->kind == NODE_SELECT)
        return seek_select(binder, node);
    if (node->kind == NODE_JOIN && !node->shared)
        *place = seek_join(binder, node);
    return *place != NULL;
}

struct node *use_indexes(struct binder *binder, struct node *root)
{
    return visit(binder, &root) ? root : NULL;
}

/* ---------------------------------------------------------- candidates -- */

/* The share of the rows that are kept by the parts that an index answers. */
static double kept_by(const struct choosing *choosing,
                      const struct index_use *use)
{
    const struct estimate_nodes nodes = { choosing->table, NULL };
    const struct estimate_source source = estimate_of_nodes(&nodes);
    const struct index_terms *terms = choosing->terms;
    double kept = 1;

    for (unsigned i = 0; i < use->term_count; i++)
        kept *=
            terms->terms[use->terms[i]].listed
                ? index_list_kept(choosing->table, &terms->terms[use->terms[i]])
                : estimate_kept(&source, terms->terms[use->terms[i]].condition);
    return estimate_share(kept);
}

/* Takes a way to find rows that finds fewer. */
static void consider(struct choosing *choosing, struct candidate candidate)
{
    struct index_use use;
    double kept;

    if (!index_terms_match(choosing->terms, candidate.columns, candidate.count,
                           &use))
        return;
    kept = kept_by(choosing, &use);
    if (choosing->best.found && kept >= choosing->best.kept)
        return;
    choosing->best = (struct choice){ candidate, use, kept, true };
}

/* All that says of columns of the table where their values are. */
static void consider_all(struct choosing *choosing)
{
    const struct table *table = choosing->table->table;
    const struct catalogue *catalogue = choosing->table->catalogue;

    if (table->key != NO_KEY)
        consider(choosing, (struct candidate){ .is_key = true,
                                               .columns = &table->key,
                                               .count = 1 });
    for (unsigned i = 0; i < table->unique_count; i++)
        consider(choosing,
                 (struct candidate){ .columns = table->uniques[i].columns,
                                     .count = table->uniques[i].column_count });
    for (size_t i = 0; i < catalogue->index_count; i++) {
        const struct index *index = &catalogue->indexes[i];
        if (index->table_id == table->id)
            consider(choosing,
                     (struct candidate){ .name = index->name,
                                         .columns = index->columns,
                                         .count = index->column_count });
    }
    for (unsigned i = 0; i < table->column_count; i++)
        if (table->columns[i].unique && i != table->key)
            consider(choosing, (struct candidate){
                                   .columns = index_terms_number(
                                       choosing->binder, i, &choosing->failed),
                                   .count = !choosing->failed });
}

static bool pays(const struct choosing *choosing)
{
    double rows = (double)choosing->table->table->rows;

    return choosing->best.found && !choosing->failed
           && choosing->best.kept * rows * ROW_COST <= rows;
}

/* -------------------------------------------------------------- making -- */

/* The index, for people. */
static const char *describe(struct binder *binder,
                            const struct candidate *candidate,
                            const struct table *table)
{
    char text[2 * NAME_BYTES_MAX];

    if (candidate->name != NULL)
        snprintf(text, sizeof text, "index %s", candidate->name);
    else
        snprintf(text, sizeof text, "%s %s%s",
                 candidate->is_key ? "primary key" : "unique",
                 table->columns[candidate->columns[0]].name,
                 candidate->count > 1 ? ", ..." : "");
    return arena_copy(binder->arena, text, strlen(text));
}

/* The node that finds the rows. */
static struct node *make_seek(const struct choosing *choosing)
{
    struct binder *binder = choosing->binder;
    const struct choice *best = &choosing->best;
    const struct node *table = choosing->table;
    struct node *node = node_new(binder, NODE_SEEK, NULL, table->column_count);

    if (node == NULL)
        return NULL;
    memcpy(node->columns, table->columns,
           table->column_count * sizeof *node->columns);
    node->table = table->table;
    node->catalogue = table->catalogue;
    node->called = table->called;
    node->sought = true;
    node->rows = estimate_rows((double)table->table->rows * best->kept);
    node->seek.index = describe(binder, &best->candidate, table->table);
    if (node->seek.index == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < best->candidate.count && i < SEEK_KEYS_MAX; i++)
        node->seek.keys[node->seek.key_count++] = best->candidate.columns[i];
    index_terms_fill(choosing->terms, &best->use, &node->seek);
    return node;
}

/* The index that finds rows of a table best; NULL: a scan is better. */
static struct node *choose(struct binder *binder, const struct node *table,
                           const struct index_terms *terms,
                           struct index_use *use, bool *failed)
{
    struct choosing choosing = { .binder = binder,
                                 .table = table,
                                 .terms = terms };
    struct node *made = NULL;

    consider_all(&choosing);
    if (pays(&choosing)) {
        made = make_seek(&choosing);
        choosing.failed |= made == NULL;
    }
    *use = choosing.best.use;
    *failed = choosing.failed;
    return made;
}

/* -------------------------------------------------------------- select -- */

static bool is_used(const struct index_terms *terms,
                    const struct index_use *use, size_t part)
{
    for (unsigned i = 0; i < use->term_count; i++)
        if (terms->terms[use->terms[i]].part == part)
            return true;
    return false;
}

/* The parts of a condition that are still to be tested; NULL with the status
 * OK: there are none. */
static struct expression *rest_of(struct binder *binder,
                                  const struct index_terms *terms,
                                  const struct index_use *use, bool *failed)
{
    struct ast_expression place = { 0 };
    struct expression *rest = NULL;

    for (size_t i = 0; i < terms->parts.count; i++) {
        struct expression *part =
            VECTOR_ITEMS(&terms->parts, struct expression *)[i];
        if (is_used(terms, use, i))
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

/* Whether rows of a table are asked for by values at all. */
static bool is_sought(const struct node *table)
{
    return table->kind == NODE_TABLE && table->table->rows > TABLE_ROWS_FEW;
}

static bool seek_select(struct binder *binder, struct node *node)
{
    struct index_terms terms;
    struct index_use use;
    struct node *seek;
    bool failed = false;

    if (node->where == NULL || !is_sought(node->left))
        return true;
    if (!index_terms_read(binder, node->left, node->where, &terms))
        return false;
    seek = choose(binder, node->left, &terms, &use, &failed);
    if (seek == NULL)
        return !failed;
    node->where = rest_of(binder, &terms, &use, &failed);
    node->left = seek;
    return !failed;
}

/* ---------------------------------------------------------- semi joins -- */

/* Whether a SELECT computes nothing that can fail. */
static bool is_safe(const struct node *select)
{
    bool safe = select->where == NULL || !select->where->faults;

    for (unsigned i = 0; i < select->column_count && safe; i++)
        safe = !select->results[i]->faults;
    return safe;
}

/* The place of a join's table, if the join keeps rows of it that have one of
 * some values in a column; NULL: it is another one. */
static struct node **table_of(struct node *join, unsigned *column)
{
    struct node *left = join->left;
    const struct expression *key;

    if (join->join.kind != JOIN_SEMI || join->where != NULL
        || join->join.range.side != RANGE_JOIN_NONE || join->join.nulls_match
        || join->join.left_keys.count != 1 || join->right->kind != NODE_VALUES)
        return NULL;
    *column = (unsigned)VECTOR_ITEMS(&join->join.left_keys, int)[0];
    if (left->kind == NODE_TABLE)
        return &join->left;
    if (left->kind != NODE_SELECT || left->shared || !is_safe(left))
        return NULL;
    key = left->results[*column];
    if (key->kind != EXPRESSION_COLUMN)
        return NULL;
    *column = (unsigned)key->column.number;
    return &left->left;
}

static struct node *seek_join(struct binder *binder, struct node *node)
{
    struct index_terms terms;
    struct index_use use;
    struct node *seek, **place;
    unsigned column;
    bool failed = false;

    place = table_of(node, &column);
    if (place == NULL || !is_sought(*place)
        || !index_terms_list(
            *place, column, node->right,
            (unsigned)VECTOR_ITEMS(&node->join.right_keys, int)[0], &terms))
        return node;
    seek = choose(binder, *place, &terms, &use, &failed);
    if (seek == NULL)
        return failed ? NULL : node;
    *place = seek;
    return node->left;
}
