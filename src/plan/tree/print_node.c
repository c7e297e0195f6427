/* SPDX-License-Identifier: MIT */
/*
 * Nodes as lines of text, what is below a node indented behind it. Queries
 * inside of its expressions come last, each under its number.
 */
#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/tree/common.h"
#include "plan/tree/print.h"

/* A tree on its way to text. */
struct printing {
    struct text *text;
    struct vector *commons; /* of const struct common *: printed so far */
    unsigned depth;         /* of the node at hand: two blanks each  */
    const struct print_scope *outer; /* of the query around; NULL: none      */
    const struct vector *asked;      /* as in print_scope                    */
    const struct vector *applied;
};

static void print_tree(const struct printing *printing,
                       const struct node *node);

/* ----------------------------------------------------------------- lines -- */

static void indent(const struct printing *printing, unsigned more)
{
    text_print(printing->text, "; %*s", (int)(2 * (printing->depth + more)),
               "");
}

/* What a node's expressions are over. */
static struct print_scope scope_of(const struct printing *printing,
                                   const struct node *node)
{
    bool both = node->kind == NODE_JOIN || node->kind == NODE_OUTER;

    return (struct print_scope){ .left = node->kind == NODE_PRODUCT
                                             ? node
                                             : node->left,
                                 .right = both ? node->right : NULL,
                                 .asked = printing->asked,
                                 .applied = printing->applied,
                                 .outer = printing->outer };
}

static void print_where(const struct print_scope *scope, const char *word,
                        const struct expression *where,
                        struct vector *subqueries, struct text *text)
{
    if (where == NULL)
        return;
    text_print(text, " %s ", word);
    print_expression(scope, where, subqueries, text);
}

/* Conditions that must all hold, one by one. */
static void print_conditions(const struct print_scope *scope, const char *word,
                             const struct vector *conditions,
                             struct vector *subqueries, struct text *text)
{
    for (size_t i = 0; i < conditions->count; i++) {
        if (i == 0)
            text_print(text, " %s ", word);
        text_add(text, ", ", i > 0 ? 2 : 0);
        print_expression(scope,
                         VECTOR_ITEMS(conditions, struct expression *)[i],
                         subqueries, text);
    }
}

/* Whether the text ends with a name, from `begin` on. */
static bool ends_with(const struct text *text, size_t begin, const char *name)
{
    return !text->failed && text->length - begin == strlen(name)
           && memcmp(text->bytes + begin, name, strlen(name)) == 0;
}

static void print_select(const struct print_scope *scope,
                         const struct node *node, struct vector *subqueries,
                         struct text *text)
{
    text_print(text, "SELECT");
    for (unsigned i = 0; i < node->column_count; i++) {
        const struct expression *e = node->results[i];
        const char *name = node->columns[i].name;
        bool passed = e->kind == EXPRESSION_COLUMN && e->name != NULL
                      && strcmp(e->name, name) == 0;
        size_t begin;
        text_print(text, "%s", i > 0 ? ", " : " ");
        begin = text->length;
        print_expression(scope, e, subqueries, text);
        if (name[0] != '\0' && !passed && !ends_with(text, begin, name))
            text_print(text, " AS %s", name);
    }
    print_where(scope, "WHERE", node->where, subqueries, text);
}

/* x of one side between two columns of the other one. */
static void print_range_join(const struct print_scope *scope,
                             const struct step_range_join *range,
                             const char *word, struct text *text)
{
    int middle = (int)scope->left->column_count;
    int value = range->side == RANGE_JOIN_LEFT ? 0 : middle,
        bound = middle - value;

    text_print(text, " %s ", word);
    if (range->low >= 0) {
        print_column(scope, range->low + bound, text);
        text_print(text, " %s ", range->low_open ? "<" : "<=");
    }
    print_column(scope, range->column + value, text);
    if (range->high >= 0) {
        text_print(text, " %s ", range->high_open ? "<" : "<=");
        print_column(scope, range->high + bound, text);
    }
}

/* The name in capitals, as SQL has it. */
static void print_join_kind(enum join_kind kind, struct text *text)
{
    for (const char *at = join_name(kind); *at != '\0'; at++)
        text_print(text, "%c", *at - 'a' + 'A');
}

static void print_join(const struct print_scope *scope, const struct node *node,
                       struct vector *subqueries, struct text *text)
{
    const struct step_join *join = &node->join;
    size_t keys = join->left_keys.count;

    print_join_kind(join->kind, text);
    text_print(text, " JOIN");
    for (size_t i = 0; i < keys; i++) {
        text_print(text, "%s", i > 0 ? " AND " : " ON ");
        print_column(scope, VECTOR_ITEMS(&join->left_keys, int)[i], text);
        text_print(text, " %s ", join->nulls_match ? "IS" : "=");
        print_column(scope,
                     VECTOR_ITEMS(&join->right_keys, int)[i]
                         + (int)scope->left->column_count,
                     text);
    }
    if (join->range.side != RANGE_JOIN_NONE)
        print_range_join(scope, &join->range, keys > 0 ? "AND" : "ON", text);
    print_where(scope,
                keys > 0 || join->range.side != RANGE_JOIN_NONE ? "AND" : "ON",
                node->where, subqueries, text);
}

static void print_group(const struct print_scope *scope,
                        const struct node *node, struct text *text)
{
    const struct step_group *group = &node->group;

    text_print(text, group->aggregates.count == 0 ? "DISTINCT" : "GROUP");
    for (unsigned i = 0; i < group->keys; i++) {
        text_print(text, "%s",
                   i > 0                          ? ", "
                   : group->aggregates.count == 0 ? " "
                                                  : " BY ");
        print_column(scope, (int)i, text);
    }
    for (size_t i = 0; i < group->aggregates.count; i++) {
        text_print(text, "%s", i > 0 ? ", " : ": ");
        print_aggregate(scope, vector_at(&group->aggregates, i), text);
    }
}

static void print_limits(uint64_t offset, uint64_t limit, struct text *text)
{
    if (limit != UINT64_MAX)
        text_print(text, " LIMIT %llu", (unsigned long long)limit);
    if (offset > 0)
        text_print(text, " OFFSET %llu", (unsigned long long)offset);
}

static void print_sort(const struct print_scope *scope, const struct node *node,
                       struct text *text)
{
    text_print(text, "SORT BY");
    for (size_t i = 0; i < node->sort.keys.count; i++) {
        const struct step_key *key = vector_at(&node->sort.keys, i);
        text_print(text, "%s", i > 0 ? ", " : " ");
        print_column(scope, key->column, text);
        print_direction(key->descending, key->nulls_last, text);
    }
    print_limits(node->sort.offset, node->sort.limit, text);
}

static void print_apply(const struct print_scope *scope,
                        const struct node *node, struct text *text)
{
    const struct step_apply *apply = &node->apply;

    text_print(text, "APPLY");
    if (apply->kind == APPLY_EXISTS)
        text_print(text, " EXISTS");
    if (apply->kind == APPLY_IN) {
        text_print(text, " ");
        print_column(scope, apply->column, text);
        text_print(text, " IN");
    }
    for (size_t i = 0; i < apply->parameters.count; i++) {
        const struct step_parameter *parameter =
            vector_at(&apply->parameters, i);
        text_print(text, "%s", i > 0 ? ", " : " FOR EACH ");
        print_column(scope, parameter->column, text);
    }
}

/* "FETCH FROM t BY rowid: a, b" */
static void print_fetch(const struct print_scope *scope,
                        const struct node *node, struct text *text)
{
    text_print(text, "FETCH FROM %s BY ", node->table->name);
    print_column(scope, node->fetch.row, text);
    for (unsigned i = node->left->column_count; i < node->column_count; i++)
        text_print(text, "%s%s", i > node->left->column_count ? ", " : ": ",
                   node->columns[i].name);
}

static void print_map(const struct print_scope *scope, const struct node *node,
                      struct text *text)
{
    text_print(text, "MAP");
    for (size_t i = 0; i < node->map.functions.count; i++) {
        const struct step_function *function =
            vector_at(&node->map.functions, i);
        text_print(text, "%s%s%s", i > 0 ? ", " : " ", function->name,
                   function->looks_up ? " of " : "(");
        for (size_t k = 0; k < function->arguments.count; k++) {
            text_print(text, "%s", k > 0 ? ", " : "");
            print_column(scope, VECTOR_ITEMS(&function->arguments, int)[k],
                         text);
        }
        text_print(text, "%s", function->looks_up ? "" : ")");
        for (size_t k = 0; k < function->then.count; k++)
            text_print(text, " then %s",
                       VECTOR_ITEMS(&function->then, const char *)[k]);
    }
}

static void print_windows(const struct print_scope *scope,
                          const struct node *node, struct text *text)
{
    text_print(text, "WINDOW");
    for (size_t i = 0; i < node->window.functions.count; i++) {
        text_print(text, "%s", i > 0 ? ", " : " ");
        print_window(scope, vector_at(&node->window.functions, i), text);
    }
}

/* What FROM calls a node's rows, where that is not their name. */
static void print_called(const struct node *node, const char *name,
                         struct text *text)
{
    if (node->called != NULL && strcmp(node->called, name) != 0)
        text_print(text, " AS %s", node->called);
}

/* A table, and the index that finds rows of it. */
static void print_table(const struct node *node, struct text *text)
{
    bool seek = node->kind == NODE_SEEK;

    text_print(text, "%s %s", seek ? "SEEK" : "TABLE", node->table->name);
    if (seek)
        text_print(text, " BY %s", node->seek.index);
    print_called(node, node->table->name, text);
}

/* ----------------------------------------------------------------- nodes -- */

/* Rows that no column tells of. */
static void print_rows(const struct node *node, struct text *text)
{
    switch (node->kind) {
    case NODE_CONCAT:
        text_print(text, "UNION ALL");
        break;
    case NODE_COMMON:
        text_print(text, "COMMON");
        print_called(node, "", text);
        break;
    case NODE_RECURSE:
        text_print(text, "RECURSE: UNION%s",
                   node->recursion->distinct ? "" : " ALL");
        break;
    case NODE_WORKING:
        text_print(text, "WORKING ROWS");
        print_called(node, "", text);
        break;
    case NODE_VALUES:
        text_print(text, "VALUES: %zu rows", node->value_rows);
        break;
    default:
        break;
    }
}

static void print_line(const struct print_scope *scope, const struct node *node,
                       struct vector *subqueries, struct text *text)
{
    switch (node->kind) {
    case NODE_PRODUCT:
        text_print(text, "FROM");
        print_conditions(scope, "WHERE", &node->conditions, subqueries, text);
        break;
    case NODE_OUTER:
        print_join_kind(node->join.kind, text);
        text_print(text, " OUTER");
        print_conditions(scope, "ON", &node->conditions, subqueries, text);
        break;
    case NODE_ONCE:
        text_print(text, "ONE ROW");
        break;
    case NODE_TABLE:
    case NODE_SEEK:
        print_table(node, text);
        break;
    case NODE_SELECT:
        print_select(scope, node, subqueries, text);
        break;
    case NODE_JOIN:
        print_join(scope, node, subqueries, text);
        break;
    case NODE_GROUP:
        print_group(scope, node, text);
        break;
    case NODE_SORT:
        print_sort(scope, node, text);
        break;
    case NODE_LIMIT:
        text_print(text, "ROWS");
        print_limits(node->limit.offset, node->limit.limit, text);
        break;
    case NODE_APPLY:
        print_apply(scope, node, text);
        break;
    case NODE_WINDOW:
        print_windows(scope, node, text);
        break;
    case NODE_MAP:
        print_map(scope, node, text);
        break;
    case NODE_FETCH:
        print_fetch(scope, node, text);
        break;
    default:
        print_rows(node, text);
        break;
    }
    text_print(text, node->shared ? " (shared)\n" : "\n");
}

/* The tree of a common subplan is printed where it is read first. False: it was
 * printed, or there is no memory for more. */
static bool is_first(const struct printing *printing, const struct node *node)
{
    for (size_t i = 0; i < printing->commons->count; i++)
        if (VECTOR_ITEMS(printing->commons, const struct common *)[i]
            == node->common)
            return false;
    return node->common == NULL
           || vector_append(printing->commons, &node->common, 1);
}

/* The right side: of a join it is rows like those of the left one, of APPLY a
 * query inside. */
static void print_right(const struct printing *printing,
                        const struct print_scope *scope,
                        const struct node *node)
{
    struct printing inner = *printing;

    if (node->kind == NODE_APPLY) {
        inner.outer = scope;
        inner.asked = NULL;
        inner.applied = &node->apply.parameters;
    }
    print_tree(&inner, node->right);
}

static void print_below(const struct printing *printing,
                        const struct print_scope *scope,
                        const struct node *node)
{
    struct printing below = *printing;

    below.depth++;
    if (node->kind == NODE_COMMON)
        print_tree(&below, node->common->root);
    if (node->left != NULL)
        print_tree(&below, node->left);
    if (node->right != NULL)
        print_right(&below, scope, node);
    for (size_t i = 0; i < node->parts.count; i++)
        print_tree(&below, VECTOR_ITEMS(&node->parts, struct node *)[i]);
}

/* The queries inside of a node's expressions. */
static void print_subqueries(const struct printing *printing,
                             const struct print_scope *scope,
                             const struct vector *subqueries)
{
    struct printing inner = *printing;

    inner.depth += 2;
    inner.outer = scope;
    inner.applied = NULL;
    for (size_t i = 0; i < subqueries->count; i++) {
        const struct subquery *subquery =
            VECTOR_ITEMS(subqueries, const struct subquery *)[i];
        indent(printing, 1);
        text_print(printing->text, "subquery %zu:\n", i + 1);
        inner.asked = &subquery->parameters;
        print_tree(&inner, subquery->node);
    }
}

static void print_tree(const struct printing *printing, const struct node *node)
{
    struct vector subqueries = VECTOR(const struct subquery *);
    struct print_scope scope = scope_of(printing, node);

    indent(printing, 0);
    if (stack_is_short()) {
        text_print(printing->text, "...\n");
        return;
    }
    print_line(&scope, node, &subqueries, printing->text);
    if (is_first(printing, node)) {
        print_below(printing, &scope, node);
        print_subqueries(printing, &scope, &subqueries);
    }
    vector_finish(&subqueries);
}

void tree_print(const struct node *node, struct text *text)
{
    struct vector commons = VECTOR(const struct common *);

    print_tree(&(struct printing){ .text = text, .commons = &commons }, node);
    vector_finish(&commons);
}
