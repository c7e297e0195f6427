/* SPDX-License-Identifier: MIT */
/*
 * What GROUP BY says of keys where it has several groupings: ROLLUP (a, b) is the
 * sets (a, b), (a) and (), CUBE (a, b) all choices of its keys, GROUPING SETS (...)
 * what it lists; a key, or several in parentheses, one set. Items behind one another
 * are multiplied: each set of the one with each of the next. Nothing is bound here:
 * sets have the numbers of the terms that are written, until these are keys.
 */
#include <string.h>

#include "base/os/stack.h"
#include "base/text.h"
#include "base/vector.h"
#include "plan/bind/select.h"
#include "plan/tree/binder.h"

enum { SETS_MAX = 1024 /* groupings of one SELECT */ };

static enum vdbq_status no_memory(const struct selecting *selecting)
{
    return error_no_memory(selecting->binder->error);
}

static bool set_has(const struct key_set *set, int key)
{
    for (unsigned i = 0; i < set->count; i++)
        if (set->keys[i] == key)
            return true;
    return false;
}

/* Adds the set with the keys of both. */
static enum vdbq_status add_union(struct selecting *selecting,
                                  struct vector *sets,
                                  const struct key_set *left,
                                  const struct key_set *right)
{
    int *keys = arena_alloc(selecting->binder->arena,
                            (left->count + right->count + 1) * sizeof *keys);
    struct key_set made = { keys, left->count };

    if (keys == NULL)
        return no_memory(selecting);
    if (left->count > 0)
        memcpy(keys, left->keys, left->count * sizeof *keys);
    for (unsigned i = 0; i < right->count; i++)
        if (!set_has(&made, right->keys[i]))
            keys[made.count++] = right->keys[i];
    return vector_append(sets, &made, 1) ? VDBQ_OK : no_memory(selecting);
}

/* What `tree` says comes to those before it: each with each. */
static enum vdbq_status multiply(struct selecting *selecting,
                                 const struct ast_expression *tree,
                                 struct vector *sets, const struct vector *more)
{
    struct vector all = VECTOR_IN(selecting->binder->arena, struct key_set);
    enum vdbq_status status = VDBQ_OK;

    if (sets->count * more->count > SETS_MAX)
        return error_at(selecting->binder->error, VDBQ_LIMIT, tree->at,
                        "the rows are grouped in more than %d ways", SETS_MAX);
    for (size_t i = 0; i < sets->count; i++)
        for (size_t j = 0; j < more->count && status == VDBQ_OK; j++)
            status = add_union(selecting, &all, vector_at(sets, i),
                               vector_at(more, j));
    *sets = all;
    return status;
}

/* The term's number from now on. */
static enum vdbq_status add_term(struct selecting *selecting,
                                 const struct ast_expression *term, int *number)
{
    *number = (int)selecting->terms.count;
    return vector_append(&selecting->terms, &term, 1) ? VDBQ_OK
                                                      : no_memory(selecting);
}

/* An item, which may be a literal that is kept as its value alone. */
static enum vdbq_status add_item(struct selecting *selecting,
                                 const struct ast_item *item, int *number)
{
    struct ast_expression *room =
        arena_alloc(selecting->binder->arena, sizeof *room);

    return room ? add_term(selecting, ast_item_read(item, room), number)
                : no_memory(selecting);
}

/* The set that a key, or a list of them in parentheses, is. */
static enum vdbq_status read_keys(struct selecting *selecting,
                                  const struct ast_expression *tree,
                                  struct key_set *set)
{
    bool list = tree->kind == AST_ROW;
    unsigned most = list ? tree->item_count : 1;
    const struct ast_item *item = list ? tree->items : NULL;
    int *keys =
        arena_alloc(selecting->binder->arena, (most + 1) * sizeof *keys);
    enum vdbq_status status = keys ? VDBQ_OK : no_memory(selecting);

    *set = (struct key_set){ keys, 0 };
    for (; set->count < most && status == VDBQ_OK; set->count++) {
        status = list ? add_item(selecting, item, &keys[set->count])
                      : add_term(selecting, tree, &keys[set->count]);
        item = list ? item->next : NULL;
    }
    return status;
}

/* The sets of the arguments of ROLLUP or CUBE. */
static enum vdbq_status read_arguments(struct selecting *selecting,
                                       const struct ast_expression *tree,
                                       struct vector *parts)
{
    enum vdbq_status status = VDBQ_OK;

    if (tree->argument_count == 0 || tree->star || tree->distinct
        || tree->order != NULL || tree->filter != NULL || tree->over != NULL)
        return error_at(selecting->binder->error, VDBQ_SYNTAX, tree->at,
                        "%s takes keys, and nothing else", tree->column.text);
    for (const struct ast_value *value = tree->arguments;
         value != NULL && status == VDBQ_OK; value = value->next) {
        struct key_set set;
        status = read_keys(selecting, value->expression, &set);
        if (status == VDBQ_OK && !vector_append(parts, &set, 1))
            status = no_memory(selecting);
    }
    return status;
}

/* The parts whose bit is set, the first one having the highest. */
static enum vdbq_status add_parts(struct selecting *selecting,
                                  const struct vector *parts, uint64_t bits,
                                  struct vector *sets)
{
    struct vector one = VECTOR_IN(selecting->binder->arena, struct key_set);
    struct key_set set = { NULL, 0 };
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < parts->count && status == VDBQ_OK; i++) {
        if ((bits >> (parts->count - 1 - i) & 1) == 0)
            continue;
        status = add_union(selecting, &one, &set, vector_at(parts, i));
        if (status == VDBQ_OK)
            set = *(struct key_set *)vector_at(&one, one.count - 1);
    }
    if (status == VDBQ_OK && !vector_append(sets, &set, 1))
        status = no_memory(selecting);
    return status;
}

/* ROLLUP: all parts, all but the last, and so on down to none; CUBE: all choices of
 * them. The most come first. */
static enum vdbq_status read_made(struct selecting *selecting,
                                  const struct ast_expression *tree, bool cube,
                                  struct vector *sets)
{
    struct vector parts = VECTOR_IN(selecting->binder->arena, struct key_set);
    enum vdbq_status status = read_arguments(selecting, tree, &parts);
    uint64_t bits;

    if (status == VDBQ_OK && parts.count >= (cube ? 11 : 63))
        return error_at(selecting->binder->error, VDBQ_LIMIT, tree->at,
                        "the rows are grouped in more than %d ways", SETS_MAX);
    bits = ((uint64_t)1 << parts.count) - 1;
    while (status == VDBQ_OK) {
        status = add_parts(selecting, &parts, bits, sets);
        if (bits == 0)
            break;
        bits = cube ? bits - 1 : bits & (bits - 1);
    }
    return status;
}

static bool is_called(const struct ast_expression *tree, const char *name)
{
    return tree->kind == AST_FUNCTION && name_equal(tree->column.text, name);
}

/* Whether it says more than one key. */
static bool is_made(const struct ast_expression *tree)
{
    return tree->kind == AST_ROW || tree->kind == AST_SETS
           || is_called(tree, "rollup") || is_called(tree, "cube");
}

/* Adds the sets of an item of GROUP BY, or of GROUPING SETS. */
static enum vdbq_status read_item(struct selecting *selecting,
                                  const struct ast_expression *tree,
                                  struct vector *sets)
{
    enum vdbq_status status = VDBQ_OK;
    struct key_set set;

    if (stack_is_short())
        return stack_refuse(selecting->binder->error, tree->at);
    if (is_called(tree, "rollup") || is_called(tree, "cube"))
        return read_made(selecting, tree, is_called(tree, "cube"), sets);
    if (tree->kind != AST_SETS) {
        status = read_keys(selecting, tree, &set);
        if (status == VDBQ_OK && !vector_append(sets, &set, 1))
            status = no_memory(selecting);
        return status;
    }
    for (const struct ast_value *value = tree->arguments;
         value != NULL && status == VDBQ_OK; value = value->next)
        status = read_item(selecting, value->expression, sets);
    return status;
}

bool select_has_sets(const struct ast_select *select)
{
    const struct ast_value *value = select->group;

    while (value != NULL && !is_made(value->expression))
        value = value->next;
    return value != NULL;
}

enum vdbq_status select_read_sets(struct selecting *selecting)
{
    struct arena *arena = selecting->binder->arena;
    const struct key_set none = { NULL, 0 };
    enum vdbq_status status = vector_append(&selecting->sets, &none, 1)
                                  ? VDBQ_OK
                                  : no_memory(selecting);

    for (const struct ast_value *value = selecting->select->group;
         value != NULL && status == VDBQ_OK; value = value->next) {
        struct vector sets = VECTOR_IN(arena, struct key_set);
        status = read_item(selecting, value->expression, &sets);
        if (status == VDBQ_OK)
            status =
                multiply(selecting, value->expression, &selecting->sets, &sets);
    }
    return status;
}

/* The set by numbers of keys, each once. */
static enum vdbq_status renumber(struct selecting *selecting, const int *keys,
                                 struct key_set *set)
{
    int *made =
        arena_alloc(selecting->binder->arena, (set->count + 1) * sizeof *made);
    struct key_set own = { made, 0 };

    if (made == NULL)
        return no_memory(selecting);
    for (unsigned i = 0; i < set->count; i++)
        if (!set_has(&own, keys[set->keys[i]]))
            made[own.count++] = keys[set->keys[i]];
    *set = own;
    return VDBQ_OK;
}

enum vdbq_status select_number_sets(struct selecting *selecting,
                                    const int *keys)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < selecting->sets.count && status == VDBQ_OK; i++)
        status = renumber(selecting, keys, vector_at(&selecting->sets, i));
    return status;
}
