/* SPDX-License-Identifier: MIT */
/*
 * Functional dependences: columns that are unique in a table, and not NULL,
 * determine all others of its row; so do, through a join, those that equal
 * them. What an outer join has no partner for is NULL in all columns of that
 * side, which the NULL of such a key says, too.
 */
#include "plan/simplify/determined.h"

#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/tree/node_reads.h"
#include "plan/tree/unique_key.h"

enum { LOOKS_MAX = 1000 }; /* at nodes, each time one */

struct proof {
    struct binder *binder;
    unsigned looks; /* what is left of LOOKS_MAX */
    bool failed;    /* no memory                 */
};

static void determine(struct proof *proof, const struct node *node,
                      bool *known);

bool add_determined(struct binder *binder, const struct node *node, bool *known)
{
    struct proof proof = { .binder = binder, .looks = LOOKS_MAX };

    determine(&proof, node, known);
    return !proof.failed;
}

static bool *flags(struct proof *proof, unsigned count)
{
    bool *made = column_flags(proof->binder, count, false);

    proof->failed |= made == NULL;
    return made;
}

static unsigned count_known(const bool *known, unsigned count)
{
    unsigned all = 0;

    for (unsigned i = 0; i < count; i++)
        all += known[i];
    return all;
}

/* A row's id, or a key without NULLs: the row. */
static void determine_table(const struct node *node, bool *known)
{
    enum { KEY_MAX = 16 };
    int key[KEY_MAX];
    unsigned count = 0, id = node->column_count - 1;

    for (unsigned i = 0; i < node->column_count && count < KEY_MAX; i++)
        if (known[i] && !node->columns[i].nullable)
            key[count++] = (int)i;
    if (known[id] || (count > 0 && node_is_unique(node, key, count)))
        memset(known, true, node->column_count * sizeof *known);
}

static void determine_select(struct proof *proof, const struct node *node,
                             bool *known)
{
    bool *below = flags(proof, node->left->column_count);

    for (unsigned i = 0; below != NULL && i < node->column_count; i++)
        if (known[i] && node->results[i]->kind == EXPRESSION_COLUMN)
            below[node->results[i]->column.number] = true;
    if (below == NULL)
        return;
    determine(proof, node->left, below);
    for (unsigned i = 0; i < node->column_count; i++)
        if (node->results[i]->kind == EXPRESSION_COLUMN)
            known[i] |= below[node->results[i]->column.number];
}

/* Equal keys of floats may still differ. */
static bool is_exact(const struct node *node, int column)
{
    return !is_float(node->columns[column].type);
}

/* Keys of pairs are equal: where one is known, so is the other. Beside a left
 * row without a partner the right one is NULL: whether it has one is known
 * where all keys are, if nothing else decides. */
static void equal_keys(const struct node *node, bool *left, bool *right)
{
    const struct step_join *join = &node->join;
    bool inner = join->kind == JOIN_INNER, all = true;

    for (size_t i = 0; i < join->left_keys.count; i++)
        all &= left[VECTOR_ITEMS(&join->left_keys, int)[i]];
    all &= node->where == NULL && join->range.side == RANGE_JOIN_NONE;
    for (size_t i = 0; i < join->left_keys.count; i++) {
        int a = VECTOR_ITEMS(&join->left_keys, int)[i];
        int b = VECTOR_ITEMS(&join->right_keys, int)[i];
        if (!is_exact(node->left, a) || !is_exact(node->right, b))
            continue;
        right[b] |= left[a] && (inner || all);
        left[a] |= right[b] && inner;
    }
}

/* Both sides, until neither tells the other anything new. */
static void determine_pairs(struct proof *proof, const struct node *node,
                            bool *known)
{
    unsigned middle = node->left->column_count, before;
    bool crosses = node->join.kind <= JOIN_LEFT && !node->join.nulls_match;

    do {
        before = count_known(known, node->column_count);
        if (crosses)
            equal_keys(node, known, known + middle);
        determine(proof, node->left, known);
        determine(proof, node->right, known + middle);
    } while (crosses && proof->looks > 0
             && count_known(known, node->column_count) > before);
}

/* All keys of a group are its row. */
static void determine_group(struct proof *proof, const struct node *node,
                            bool *known)
{
    bool *below = flags(proof, node->left->column_count);

    if (below == NULL)
        return;
    memcpy(below, known, node->group.keys * sizeof *below);
    determine(proof, node->left, below);
    memcpy(known, below, node->group.keys * sizeof *known);
    if (count_known(known, node->group.keys) == node->group.keys)
        memset(known, true, node->column_count * sizeof *known);
}

/* Of a node that has the columns of what is below in front, or some of them. */
static void determine_below(struct proof *proof, const struct node *node,
                            bool *known)
{
    unsigned count = node->left->column_count < node->column_count
                         ? node->left->column_count
                         : node->column_count;
    bool *below = flags(proof, node->left->column_count);

    if (below == NULL)
        return;
    memcpy(below, known, count * sizeof *below);
    determine(proof, node->left, below);
    memcpy(known, below, count * sizeof *known);
}

static void determine(struct proof *proof, const struct node *node, bool *known)
{
    if (proof->looks == 0 || stack_is_short())
        return;
    proof->looks--;
    switch (node->kind) {
    case NODE_TABLE:
        determine_table(node, known);
        break;
    case NODE_SELECT:
        determine_select(proof, node, known);
        break;
    case NODE_JOIN:
        if (node->join.kind <= JOIN_FULL)
            determine_pairs(proof, node, known);
        else
            determine_below(proof, node, known);
        break;
    case NODE_GROUP:
        determine_group(proof, node, known);
        break;
    case NODE_SORT:
    case NODE_LIMIT:
    case NODE_APPLY:
    case NODE_WINDOW:
    case NODE_MAP:
    case NODE_FETCH:
        determine_below(proof, node, known);
        break;
    default:
        break;
    }
}
