/* SPDX-License-Identifier: MIT */
/*
 * FROM. Inner joins, however written, are a list of what is joined and of
 * conditions, so that order.c may choose the order; an outer join is one node
 * of that list. The scope numbers all columns in the order of the text.
 */
#include "plan/bind/from.h"

#include <string.h>

#include "base/os/stack.h"
#include "base/text.h"
#include "base/vector.h"
#include "plan/bind/bind.h"
#include "plan/bind/query.h"
#include "plan/bind/recursive.h"
#include "plan/bind/scope.h"
#include "plan/bind/using.h"
#include "plan/bind/view.h"
#include "plan/call/names.h"
#include "plan/leaf/file.h"
#include "plan/leaf/listing.h"
#include "plan/leaf/lists.h"
#include "plan/leaf/series.h"
#include "plan/make/common.h"
#include "plan/make/node.h"
#include "plan/make/replace.h"
#include "plan/operator/collate.h"
#include "plan/operator/compare.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

static enum vdbq_status collect(struct binder *binder,
                                const struct ast_from *tree, struct from *from);

/* ------------------------------------------------------------- columns -- */

/* The scope knows the columns of one more node. */
static enum vdbq_status grow_scope(struct binder *binder,
                                   const struct node *node)
{
    struct node *flat = binder->scope->node;
    unsigned before = flat->column_count;
    struct node_column *columns = arena_alloc(
        binder->arena, (before + node->column_count + 1) * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(binder->error);
    memcpy(columns, flat->columns, before * sizeof *columns);
    memcpy(columns + before, node->columns,
           node->column_count * sizeof *columns);
    flat->columns = columns;
    flat->column_count = before + node->column_count;
    return VDBQ_OK;
}

/* Adds a node to what is joined, under a name. */
static enum vdbq_status add_leaf(struct binder *binder, const char *name,
                                 struct node *node, struct from *from)
{
    unsigned first = binder->scope->node->column_count;
    enum vdbq_status status;

    if (node == NULL)
        return binder->error->status;
    node->called = name[0] != '\0' ? name : NULL;
    status = scope_add_node(binder, name, node, first);
    if (status == VDBQ_OK)
        status = grow_scope(binder, node);
    if (status == VDBQ_OK && !vector_append(&from->leaves, &node, 1))
        status = error_no_memory(binder->error);
    return status;
}

/* ---------------------------------------------------------- conditions -- */

/* Whether all columns have numbers from `first` on. */
static bool is_behind(void *first, struct expression **operand)
{
    const struct expression *e = *operand;

    if (e->kind == EXPRESSION_COLUMN)
        return (unsigned)e->column.number >= *(unsigned *)first;
    return expression_each(*operand, is_behind, first);
}

/* Conditions are moved from the scope's numbers to those of a part of it. */
static enum vdbq_status shift_all(struct binder *binder, unsigned by,
                                  struct vector *parts, struct position at)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct expression **part = vector_at(parts, i);
        if (!is_behind(&by, part))
            return error_at(binder->error, VDBQ_UNKNOWN, at,
                            "ON names a table that is not joined here");
        *part = expression_moved_by(binder, *part, -(int)by);
        if (*part == NULL)
            return binder->error->status;
    }
    return VDBQ_OK;
}

/* Adds conditions over the scope's columns to those of what is joined. */
static enum vdbq_status add_conditions(struct binder *binder,
                                       struct vector *parts, struct position at,
                                       struct from *from)
{
    enum vdbq_status status = shift_all(binder, from->first, parts, at);

    if (status == VDBQ_OK && parts->count > 0
        && !vector_append(&from->conditions, parts->items, parts->count))
        status = error_no_memory(binder->error);
    return status;
}

/* ----------------------------------------------- tables, views, queries -- */

/* A query binds without the names of the FROM that it stands in, but with
 * those of an outer query. */
static struct node *bind_apart(struct binder *binder,
                               const struct ast_query *query,
                               struct scope *outer)
{
    struct scope *scope = binder->scope;
    struct node *node;

    binder->scope = outer;
    node = bind_query(binder, query);
    binder->scope = scope;
    return node;
}

/* A name of WITH RECURSIVE, which may see itself. */
static struct node *bind_rounds(struct binder *binder, struct with_name *name,
                                bool *recursive)
{
    struct scope *scope = binder->scope;
    struct node *node;

    binder->scope = name->scope;
    node = bind_recursive(binder, name, recursive);
    binder->scope = scope;
    return node;
}

/* A name of WITH sees those before it, not itself. */
static struct node *bind_with(struct binder *binder, struct with_name *name,
                              struct position at, bool *recursive)
{
    struct with_name *names = binder->with;
    struct node *node;

    binder->with = name->outer;
    node = name->with->recursive
               ? bind_rounds(binder, name, recursive)
               : bind_apart(binder, name->with->query, name->scope);
    binder->with = names;
    return rename_columns(binder, node, name->with->columns,
                          name->with->column_count, at);
}

/* What a name in FROM stands for: a query of WITH, or a view. */
struct named {
    struct with_name *with;
    const struct view *view; /* ... where `with` is NULL */
    struct position at;
};

static struct node *bind_anew(struct binder *binder, const struct named *named,
                              bool *recursive)
{
    *recursive = false;
    return named->with != NULL
               ? bind_with(binder, named->with, named->at, recursive)
               : bind_view(binder, named->view, named->at, bind_query);
}

/* How many values of queries around it a name's query asks for, with others. */
static size_t asked_around(const struct named *named)
{
    size_t asked = 0;

    for (const struct scope *scope = named->with ? named->with->scope : NULL;
         scope != NULL; scope = scope->outer)
        asked += scope->asked.count;
    return asked;
}

/* A query of that few nodes is bound again wherever it is named. */
enum { NODES_SMALL = 8 };

/* A common subplan of a name's query. One that asks for values of queries around it
 * is that of one place. */
static struct node *make_common(struct binder *binder, const void *of,
                                struct node *root, bool asks, bool recursive)
{
    struct common *common = common_new(binder, asks ? NULL : of, root);

    if (common == NULL)
        return NULL;
    common->asks |= asks;
    common->recursive = recursive;
    return node_common(binder, common);
}

/* Whether a name's query, for which so much was bound, is to be bound once: it is
 * AS MATERIALIZED, or has random numbers, which all places of a name of WITH share,
 * or common subplans are due and it is not small. */
static bool is_once(const struct binder *binder, const struct named *named,
                    unsigned nodes, unsigned randoms)
{
    if (named->with != NULL && (named->with->with->once || randoms > 0))
        return true;
    return common_is_due(binder) && nodes > NODES_SMALL;
}

/* A name's query; where common subplans are due it is bound once, but that it is
 * bound for each place if it asks for values of queries around it. */
static struct node *bind_named(struct binder *binder, const struct named *named)
{
    const void *of = named->with != NULL ? (const void *)named->with->with
                                         : (const void *)named->view;
    struct common *common = common_find(binder, of);
    unsigned nodes = binder->nodes, randoms = binder->randoms;
    size_t asked = asked_around(named);
    struct node *node;
    bool recursive, asks;

    if (common != NULL)
        return node_common(binder, common);
    node = bind_anew(binder, named, &recursive);
    asks = asked_around(named) != asked;
    if (node == NULL
        || (!recursive
            && (asks
                || !is_once(binder, named, binder->nodes - nodes,
                            binder->randoms - randoms))))
        return node;
    return make_common(binder, of, node, asks, recursive);
}

/* A name of WITH; NULL: there is no such. */
static struct with_name *find_with(const struct binder *binder,
                                   const struct ast_name *name)
{
    struct with_name *with = binder->with;

    while (with != NULL && !name_equal(with->with->name.text, name->text))
        with = with->outer;
    return with;
}

/* That there is no such table in a schema, or no such schema. */
static void refuse_table(struct binder *binder, const struct ast_from *tree)
{
    const struct ast_name *schema = &tree->schema;

    if (schema_is_main(schema->text)) {
        find_table(binder, &tree->name);
        return;
    }
    error_at(binder->error, VDBQ_UNKNOWN, schema->at, "no such table: %s.%s",
             schema->text, tree->name.text);
    error_hint(binder->error, "schemas are main, temp, and information_schema "
                              "with the tables tables and columns");
}

/* The schema of tables and views in which a name of FROM is looked up; NULL: it is in none
 * of these. */
static const char *schema_meant(const struct binder *binder,
                                const struct ast_from *tree)
{
    const char *schema = tree->schema.text;

    if (schema == NULL)
        return named_schema(binder, &tree->name);
    if (binder->schema == NULL && name_equal(schema, SCHEMA_TEMPORARY))
        return SCHEMA_TEMPORARY;
    return schema_is_main(schema) ? SCHEMA_MAIN : NULL;
}

struct node *from_view_columns(struct binder *binder, const struct view *view)
{
    return bind_view_columns(binder, view, bind_query);
}

/* A table of the catalogue, or else one of the lists of what it has. */
static struct node *bind_table(struct binder *binder,
                               const struct ast_from *tree)
{
    const char *schema = schema_meant(binder, tree), *name = tree->name.text;
    const struct table *table =
        schema != NULL ? catalogue_table_in(binder->catalogue, schema, name)
                       : NULL;
    const struct listed *listed = lists_table(tree->schema.text, name);

    if (table != NULL)
        return node_table(binder, table);
    if (listed != NULL)
        return listing_node(binder, listed, NULL, from_view_columns);
    refuse_table(binder, tree);
    return NULL;
}

/* What stands behind the name of a schema is no name of WITH. */
static struct node *bind_name(struct binder *binder,
                              const struct ast_from *tree)
{
    const struct ast_name *name = &tree->name;
    struct with_name *with =
        tree->schema.text == NULL ? find_with(binder, name) : NULL;
    const struct view *view;
    const char *schema;

    if (with != NULL)
        return with->recursing != NULL
                   ? bind_itself(binder, with, name->at)
                   : bind_named(
                       binder, &(struct named){ .with = with, .at = name->at });
    schema = schema_meant(binder, tree);
    view = schema != NULL
               ? catalogue_view_in(binder->catalogue, schema, name->text)
               : NULL;
    if (view != NULL && view != binder->replaced)
        return bind_named(binder,
                          &(struct named){ .view = view, .at = name->at });
    return bind_table(binder, tree);
}

/* The arguments of a function, which see no columns. Their number; 0: a failure. */
static unsigned bind_arguments(struct binder *binder,
                               const struct ast_from *tree,
                               struct series_argument *arguments)
{
    const struct ast_value *value = tree->arguments;
    bool constants = binder->constants;
    struct scope scope;
    unsigned count = 0;

    scope_enter(binder, &scope);
    binder->constants = true;
    for (; value != NULL && count < SERIES_ARGUMENTS_MAX; value = value->next) {
        struct series_argument *one = &arguments[count];
        *one = (struct series_argument){ 0 };
        if (!interval_alone(value->expression, &one->unit, &one->units)
            && (one->value = bind_expression(binder, value->expression))
                   == NULL)
            break;
        count++;
    }
    scope_leave(binder, &scope);
    binder->constants = constants;
    if (tree->arguments == NULL
        || (value != NULL && count == SERIES_ARGUMENTS_MAX))
        series_refuse(binder, tree);
    return value == NULL ? count : 0;
}

/* The rows of a series. Its column has the name of the alias, and beside that its
 * own one. */
static enum vdbq_status collect_series(struct binder *binder,
                                       const struct ast_from *tree,
                                       struct from *from)
{
    struct series_argument arguments[SERIES_ARGUMENTS_MAX];
    unsigned first = binder->scope->node->column_count,
             count = bind_arguments(binder, tree, arguments);
    const char *alias = tree->alias.text, *name = tree->name.text;
    struct node *node =
        count > 0 ? series_bind(binder, tree, arguments, count) : NULL;
    enum vdbq_status status;

    if (node != NULL && tree->columns != NULL)
        node = rename_columns(binder, node, tree->columns, tree->column_count,
                              tree->at);
    else if (node != NULL)
        node->columns[0].name = alias != NULL ? alias : name;
    status = add_leaf(binder, alias != NULL ? alias : name, node, from);
    return status == VDBQ_OK && alias != NULL
               ? scope_add(binder, alias, name, (int)first, true)
               : status;
}

/* Binds what a list is asked about: the name of a table or index, or (`*subject`) an
 * expression of columns of what stands before it. Neither: of all. */
static bool bind_asked(struct binder *binder, const struct ast_from *tree,
                       const struct listed *listed, const char **name,
                       struct expression **subject)
{
    const struct ast_value *value = tree->arguments;
    bool constants = binder->constants;
    struct expression *e;

    *name = NULL;
    *subject = NULL;
    if (value == NULL)
        return true;
    binder->constants = true;
    e = bind_expression(binder, value->expression);
    binder->constants = constants;
    if (e == NULL)
        return false;
    if (!listed->asks || value->next != NULL || e->type != VDBQ_TEXT) {
        error_at(binder->error, VDBQ_TYPE, tree->name.at,
                 listed->asks ? "%s is asked with a text, the name of a table "
                                "or an index"
                              : "%s has no arguments",
                 tree->name.text);
        return false;
    }
    if (e->kind == EXPRESSION_CONSTANT && !e->constant.null)
        *name = arena_copy(binder->arena, e->constant.text.bytes,
                           e->constant.text.length);
    else
        *subject = e;
    if (*name == NULL && *subject == NULL)
        error_no_memory(binder->error);
    return *name != NULL || *subject != NULL;
}

/* That the last column of the scope, `arg` of a list, is what the list is asked
 * about. */
static enum vdbq_status join_asked(struct binder *binder,
                                   const struct ast_from *tree,
                                   struct expression *subject,
                                   struct from *from)
{
    const struct ast_expression place = { .at = tree->at };
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    struct node *node = binder->scope->node;
    struct expression *arg =
        node_column(binder, node, node->column_count - 1, tree->at);
    struct expression *same;

    if (!is_behind(&from->first, &subject)) {
        error_at(binder->error, VDBQ_UNKNOWN, tree->at,
                 "%s is asked about a table beyond an outer join",
                 tree->name.text);
        return error_hint(binder->error,
                          "as a table without an argument it has "
                          "a column arg to join by");
    }
    arg = arg ? collation_key(binder, arg, COLLATION_NOCASE) : NULL;
    subject = collation_key(binder, subject, COLLATION_NOCASE);
    same = arg && subject
               ? expression_compare(binder, AST_EQ, arg, subject, &place)
               : NULL;
    if (same == NULL)
        return binder->error->status;
    return vector_append(&parts, &same, 1)
               ? add_conditions(binder, &parts, tree->at, from)
               : error_no_memory(binder->error);
}

/* The rows of a list, whose column `arg` is there by name alone. */
static enum vdbq_status collect_list(struct binder *binder,
                                     const struct ast_from *tree,
                                     const struct listed *listed,
                                     struct from *from)
{
    const char *alias = tree->alias.text, *name;
    struct expression *subject;
    struct node *node;
    enum vdbq_status status;

    if (!bind_asked(binder, tree, listed, &name, &subject))
        return binder->error->status;
    node = listing_node(binder, listed, name, from_view_columns);
    node = rename_columns(binder, node, tree->columns, tree->column_count,
                          tree->at);
    status =
        add_leaf(binder, alias != NULL ? alias : tree->name.text, node, from);
    if (status != VDBQ_OK || !listed->asks || name != NULL)
        return status;
    scope_last(binder->scope)->apart = true;
    return subject != NULL ? join_asked(binder, tree, subject, from) : VDBQ_OK;
}

static enum vdbq_status collect_call(struct binder *binder,
                                     const struct ast_from *tree,
                                     struct from *from)
{
    const struct listed *listed = lists_function(tree->name.text);

    return listed != NULL ? collect_list(binder, tree, listed, from)
                          : collect_series(binder, tree, from);
}

/* Whether a name alone is a list's: no table, view or name of WITH has it. */
static bool is_list(const struct binder *binder, const struct ast_from *tree)
{
    const char *name = tree->name.text;

    return tree->schema.text == NULL && lists_function(name) != NULL
           && find_with(binder, &tree->name) == NULL
           && catalogue_view(binder->catalogue, name) == NULL
           && catalogue_table(binder->catalogue, name) == NULL;
}

static enum vdbq_status collect_leaf(struct binder *binder,
                                     const struct ast_from *tree,
                                     struct from *from)
{
    const char *alias = tree->alias.text;
    struct node *node;

    switch (tree->kind) {
    case AST_FROM_TABLE:
        if (is_list(binder, tree))
            return collect_call(binder, tree, from);
        node = bind_name(binder, tree);
        if (alias == NULL)
            alias = tree->name.text;
        break;
    case AST_FROM_QUERY:
        node = bind_apart(binder, tree->query, binder->scope->outer);
        break;
    case AST_FROM_CALL:
        return collect_call(binder, tree, from);
    default:
        node = leaf_file(binder, tree);
        if (alias == NULL)
            alias = leaf_file_alias(binder, tree->file);
    }
    if (tree->columns != NULL)
        node = rename_columns(binder, node, tree->columns, tree->column_count,
                              tree->at);
    return add_leaf(binder, alias != NULL ? alias : "", node, from);
}

/* --------------------------------------------------------------- joins -- */

/* The conditions of a join, over the scope's columns. */
static enum vdbq_status join_conditions(struct binder *binder,
                                        const struct ast_from *tree,
                                        const struct sides *sides,
                                        struct vector *parts)
{
    enum vdbq_status status = VDBQ_OK;
    struct expression *on;

    if (tree->natural)
        return using_natural(binder, sides, tree->at, parts);
    for (unsigned i = 0; i < tree->column_count && status == VDBQ_OK; i++)
        status = using_column(binder, sides, tree->columns[i].text,
                              tree->columns[i].at, parts);
    if (status != VDBQ_OK || tree->on == NULL)
        return status;
    on = bind_condition(binder, tree->on);
    if (on == NULL)
        return binder->error->status;
    return vector_append(parts, &on, 1) ? VDBQ_OK
                                        : error_no_memory(binder->error);
}

/* One side of an outer join. */
static struct node *bind_side(struct binder *binder,
                              const struct ast_from *tree)
{
    struct from side = { .leaves = VECTOR_IN(binder->arena, struct node *),
                         .conditions =
                             VECTOR_IN(binder->arena, struct expression *),
                         .first = binder->scope->node->column_count };
    struct node *node = NULL;

    if (collect(binder, tree, &side) == VDBQ_OK)
        node = node_product(binder, &side.leaves, &side.conditions);
    return node;
}

static enum join_kind kind_of(enum ast_join join)
{
    if (join == AST_JOIN_LEFT)
        return JOIN_LEFT;
    return join == AST_JOIN_RIGHT ? JOIN_RIGHT : JOIN_FULL;
}

/* An outer join is a leaf whose columns the scope has already. */
static enum vdbq_status add_outer(struct binder *binder,
                                  const struct ast_from *tree,
                                  const struct sides *sides,
                                  struct node *const nodes[2],
                                  struct from *from)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    enum vdbq_status status = join_conditions(binder, tree, sides, &parts);
    struct node *join = NULL;

    if (status == VDBQ_OK)
        status = shift_all(binder, sides->left, &parts, tree->at);
    if (status == VDBQ_OK)
        join = node_outer(binder, kind_of(tree->join), nodes, &parts);
    if (join == NULL)
        return binder->error->status;
    memcpy(binder->scope->node->columns + sides->left, join->columns,
           join->column_count * sizeof *join->columns);
    return vector_append(&from->leaves, &join, 1)
               ? VDBQ_OK
               : error_no_memory(binder->error);
}

static enum vdbq_status collect_outer(struct binder *binder,
                                      const struct ast_from *tree,
                                      struct from *from)
{
    struct sides sides = { .left = binder->scope->node->column_count,
                           .join = tree->join };
    unsigned reads[3] = { binder->recursive_reads };
    struct node *nodes[2];

    nodes[0] = bind_side(binder, tree->left);
    if (nodes[0] == NULL)
        return binder->error->status;
    sides.middle = binder->scope->node->column_count;
    reads[1] = binder->recursive_reads;
    nodes[1] = bind_side(binder, tree->right);
    if (nodes[1] == NULL)
        return binder->error->status;
    sides.end = binder->scope->node->column_count;
    reads[2] = binder->recursive_reads;
    if (bind_recursive_sides(binder, tree, reads) != VDBQ_OK)
        return binder->error->status;
    return add_outer(binder, tree, &sides, nodes, from);
}

static enum vdbq_status collect_inner(struct binder *binder,
                                      const struct ast_from *tree,
                                      struct from *from)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    struct sides sides = { .left = binder->scope->node->column_count,
                           .join = tree->join };
    enum vdbq_status status = collect(binder, tree->left, from);

    sides.middle = binder->scope->node->column_count;
    if (status == VDBQ_OK)
        status = collect(binder, tree->right, from);
    sides.end = binder->scope->node->column_count;
    if (status == VDBQ_OK)
        status = join_conditions(binder, tree, &sides, &parts);
    return status == VDBQ_OK ? add_conditions(binder, &parts, tree->at, from)
                             : status;
}

/* SEMI and ANTI JOIN: rows of the left side for which a condition holds, which sees
 * the columns of that side alone. */
static enum vdbq_status collect_filtered(struct binder *binder,
                                         const struct ast_from *tree,
                                         struct from *from)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    struct vector *columns = &binder->scope->columns, all;
    const struct sides none = { 0 };
    size_t before = columns->count;
    enum vdbq_status status = collect(binder, tree->left, from);

    all = *columns;
    if (columns->count > before)
        *columns = VECTOR_OF((struct scope_column *)vector_at(&all, before),
                             columns->count - before);
    if (status == VDBQ_OK)
        status = join_conditions(binder, tree, &none, &parts);
    *columns = all;
    return status == VDBQ_OK ? add_conditions(binder, &parts, tree->at, from)
                             : status;
}

static enum vdbq_status collect(struct binder *binder,
                                const struct ast_from *tree, struct from *from)
{
    if (stack_is_short())
        return stack_refuse(binder->error, tree->at);
    if (tree->kind != AST_FROM_JOIN)
        return collect_leaf(binder, tree, from);
    if (tree->join == AST_JOIN_SEMI || tree->join == AST_JOIN_ANTI)
        return collect_filtered(binder, tree, from);
    if (tree->join >= AST_JOIN_LEFT)
        return collect_outer(binder, tree, from);
    return collect_inner(binder, tree, from);
}

static enum vdbq_status start_from(struct binder *binder)
{
    binder->scope->node = node_once(binder);
    return binder->scope->node ? VDBQ_OK : binder->error->status;
}

enum vdbq_status bind_from(struct binder *binder, const struct ast_from *tree,
                           struct from *from)
{
    enum vdbq_status status = start_from(binder);

    return status == VDBQ_OK && tree != NULL ? collect(binder, tree, from)
                                             : status;
}

enum vdbq_status bind_from_behind(struct binder *binder,
                                  const struct table *table, const char *called,
                                  const struct ast_from *tree,
                                  struct from *from, unsigned *number)
{
    enum vdbq_status status = start_from(binder);

    if (status == VDBQ_OK)
        status = add_leaf(binder, called, node_numbered(binder, table, number),
                          from);
    return status == VDBQ_OK && tree != NULL ? collect(binder, tree, from)
                                             : status;
}
