/* SPDX-License-Identifier: MIT */
/*
 * Equal queries inside of one: a name of WITH or a view that is used twice,
 * subqueries that ask the same. Where the rows are worth keeping one node stands
 * in all of these places, and is one step, whose rows all of them read. These
 * are groups, sorts and windows, which hold their rows anyway, and joins that
 * keep few of the rows that they read.
 *
 * Steps of a query that is applied are its own: what is shared is looked for in
 * each of them alone. Nothing may change nodes in place afterwards.
 */
#include "plan/simplify/share.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/estimate/estimate.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_same.h"

enum {
    KEPT_MAX = 1000, /* nodes that others are compared with    */
    ROWS_A_ROW = 4   /* that a join reads for one that is kept */
};

/* A node that others may be equal to. */
struct kept {
    struct node *node;
    struct node **place; /* where it was found                            */
    bool bare;           /* what is above needs its columns as they are   */
    struct node *stands; /* in its place and those of equal ones; NULL: there
                            was none                                      */
};

/* The nodes of one query, those that it applies left out. */
struct sharing {
    struct binder *binder;
    struct vector kept; /* of struct kept */
    unsigned walk;      /* nodes that were come to have its number */
    unsigned again;     /* ... and those that were come to twice   */
    bool early; /* equal nodes become one, which no step stands for yet */
};

static bool visit(struct sharing *sharing, const struct node *parent,
                  struct node **place);

/* --------------------------------------------------------------- worth -- */

bool share_pays(const struct node *node)
{
    switch (node->kind) {
    case NODE_GROUP:
    case NODE_SORT:
    case NODE_WINDOW:
        return true;
    case NODE_JOIN:
        return node->rows * ROWS_A_ROW <= node->read;
    default:
        return false;
    }
}

/* ------------------------------------------------------------- sharing -- */

/* The node that stands for a kept one, in its place from now on. Over a join it
 * is a SELECT, as which it is a program like others. */
static bool share(struct sharing *sharing, struct kept *kept)
{
    if (kept->stands != NULL)
        return true;
    kept->stands = kept->node;
    if (kept->node->kind == NODE_JOIN)
        kept->stands = share_over(sharing->binder, kept->node);
    if (kept->stands == NULL)
        return false;
    if (kept->node->kind == NODE_JOIN)
        kept->node->stands = kept->stands;
    kept->stands->shared = true;
    return share_put(sharing->binder, kept->stands, kept->bare, kept->place);
}

static struct kept *find(const struct sharing *sharing, struct node *node)
{
    for (size_t i = 0; i < sharing->kept.count; i++) {
        struct kept *kept = vector_at(&sharing->kept, i);
        if (node_same(kept->node, node, sharing->walk))
            return kept;
    }
    return NULL;
}

/* ---------------------------------------------------------------- walk -- */

/* What the query of an APPLY shares, however many queries it stands in; so does the
 * term of a RECURSE, whose steps run apart. */
static bool share_apart(const struct sharing *sharing, struct node *apply)
{
    if (!apply->apart)
        apply->right = sharing->early
                           ? share_early(sharing->binder, apply->right)
                           : share_nodes(sharing->binder, apply->right);
    apply->apart = !sharing->early;
    return apply->right != NULL;
}

static bool was_here(const struct sharing *sharing, const struct node *node)
{
    return node->counted == sharing->walk || node->counted == sharing->again;
}

static bool share_below(struct sharing *sharing, struct node *node);

/* A node that stands in one more place, with all that is below: the first there that pays
 * is shared. */
static bool share_again(struct sharing *sharing, struct node *node)
{
    struct kept *kept;

    if (node->shared || node->stands != NULL)
        return true;
    if (!share_pays(node))
        return share_below(sharing, node);
    kept = find(sharing, node);
    return kept == NULL || share(sharing, kept);
}

static bool share_below(struct sharing *sharing, struct node *node)
{
    bool applies = node->kind == NODE_APPLY || node->kind == NODE_RECURSE;
    bool done = true;

    if (stack_is_short())
        return stack_refuse(sharing->binder->error, (struct position){ 0 }),
               false;
    if (node->counted == sharing->again)
        return true;
    node->counted = sharing->again;
    if (node->left != NULL)
        done = share_again(sharing, node->left);
    if (node->right != NULL && !applies && done)
        done = share_again(sharing, node->right);
    for (size_t i = 0; i < node->parts.count && done; i++)
        done =
            share_again(sharing, VECTOR_ITEMS(&node->parts, struct node *)[i]);
    return done;
}

/* What is below a node, once, however many places it stands in; a query that is
 * applied shares with none around it. */
static bool visit_below(struct sharing *sharing, struct node *node)
{
    bool applies = node->kind == NODE_APPLY || node->kind == NODE_RECURSE;
    bool done;

    if (was_here(sharing, node))
        return node->shared || sharing->early || share_below(sharing, node);
    node->counted = sharing->walk;
    done = node->left == NULL || visit(sharing, node, &node->left);
    if (node->right != NULL && done && applies) {
        done = share_apart(sharing, node);
    } else if (node->right != NULL && done) {
        done = visit(sharing, node, &node->right);
    }
    for (size_t i = 0; i < node->parts.count && done; i++)
        done = visit(sharing, node, vector_at(&node->parts, i));
    return done;
}

static bool keep(struct sharing *sharing, const struct kept *kept)
{
    if (sharing->kept.count == KEPT_MAX
        || vector_append(&sharing->kept, kept, 1))
        return true;
    error_no_memory(sharing->binder->error);
    return false;
}

/* A node that is shared already: equal ones become it. */
static bool visit_shared(struct sharing *sharing, struct node **place,
                         bool bare)
{
    const struct kept kept = { .node = *place, .stands = *place };

    if (!was_here(sharing, *place) && share_pays(*place)
        && !keep(sharing, &kept))
        return false;
    return visit_below(sharing, *place)
           && share_put(sharing->binder, *place, bare, place);
}

/* Has a node stand in the place of its equal. The sides of a join stay two nodes. */
static bool become(struct sharing *sharing, const struct node *parent,
                   struct node *node, struct node **place)
{
    if (parent != NULL && parent->left == node)
        return visit_below(sharing, *place);
    node->alike = true;
    *place = node;
    return true;
}

static bool visit(struct sharing *sharing, const struct node *parent,
                  struct node **place)
{
    struct kept found = { .node = *place, .place = place }, *kept;

    if (stack_is_short())
        return stack_refuse(sharing->binder->error, (struct position){ 0 }),
               false;
    found.bare = share_is_bare(parent);
    if ((*place)->shared)
        return visit_shared(sharing, place, found.bare);
    if (!share_pays(*place) || (*place)->stands != NULL)
        return visit_below(sharing, *place);
    kept = find(sharing, *place);
    if (kept != NULL && sharing->early)
        return become(sharing, parent, kept->node, place);
    if (kept != NULL)
        return share(sharing, kept)
               && share_put(sharing->binder, kept->stands, found.bare, place);
    return keep(sharing, &found) && visit_below(sharing, *place);
}

static struct node *share_in(struct binder *binder, struct node *node,
                             bool early)
{
    struct sharing sharing = { binder, VECTOR_IN(binder->arena, struct kept),
                               binder->counts + 1, binder->counts + 2, early };

    binder->counts += 2;
    estimate_node(binder, node);
    return visit_below(&sharing, node) ? node : NULL;
}

struct node *share_early(struct binder *binder, struct node *node)
{
    return share_in(binder, node, true);
}

struct node *share_nodes(struct binder *binder, struct node *node)
{
    return share_in(binder, node, false);
}
