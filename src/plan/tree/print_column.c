/* SPDX-License-Identifier: MIT */
/*
 * Columns as text: by their names, with what FROM calls their rows where two in
 * scope have one name; else by what they are made of.
 */
#include "base/text.h"
#include "base/vector.h"
#include "plan/tree/print.h"

/* The node that a column comes from, one level down, and its number there;
 * NULL: the node makes it itself. */
static const struct node *source_of(const struct node *node, int *column)
{
    unsigned number = (unsigned)*column;
    const struct node *left = node->left;

    switch (node->kind) {
    case NODE_PRODUCT:
        for (size_t i = 0; i < node->parts.count; i++) {
            const struct node *part =
                VECTOR_ITEMS(&node->parts, struct node *)[i];
            unsigned width = node_part_width(node, i);
            if (number < width)
                return *column = (int)number, part;
            number -= width;
        }
        return NULL;
    case NODE_SELECT:
        if (node->results[number]->kind != EXPRESSION_COLUMN)
            return NULL;
        *column = node->results[number]->column.number;
        return left;
    case NODE_OUTER:
    case NODE_JOIN:
        if (number < left->column_count)
            return left;
        if (node->join.kind == JOIN_MARK)
            return NULL;
        *column = (int)(number - left->column_count);
        return node->right;
    case NODE_GROUP:
        return number < node->group.keys ? left : NULL;
    case NODE_CONCAT:
    case NODE_TABLE:
    case NODE_SEEK:
    case NODE_ONCE:
    case NODE_VALUES:
    case NODE_COMMON:
    case NODE_RECURSE:
    case NODE_WORKING:
        return NULL;
    default:
        return number < left->column_count ? left : NULL;
    }
}

/* What FROM calls the rows that a column is of; NULL: nothing. */
static const char *qualifier_of(const struct node *node, int column)
{
    while (node != NULL) {
        if (node->called != NULL)
            return node->called;
        if (node->kind == NODE_TABLE || node->kind == NODE_SEEK)
            return node->table->name;
        node = source_of(node, &column);
    }
    return NULL;
}

/* The name of a column in scope, its own or that of what it passes on; ""
 * where it has none. `*node` and `*column`: who has that name, or makes it. */
static const char *name_at(const struct print_scope *scope, unsigned number,
                           const struct node **node, int *column)
{
    bool right = number >= scope->left->column_count;
    const struct node *source = right ? scope->right : scope->left;
    int below = (int)(right ? number - scope->left->column_count : number);

    do {
        *node = source;
        *column = below;
        if ((*node)->columns[below].name[0] != '\0')
            break;
        source = source_of(*node, &below);
    } while (source != NULL);
    return (*node)->columns[*column].name;
}

static unsigned width_of(const struct print_scope *scope)
{
    return scope->left->column_count
           + (scope->right != NULL ? scope->right->column_count : 0);
}

/* Whether another column in scope has the name, too. */
static bool is_ambiguous(const struct print_scope *scope, unsigned column,
                         const char *name)
{
    for (unsigned i = 0; i < width_of(scope); i++) {
        const struct node *node;
        int number;
        if (i != column && name_equal(name_at(scope, i, &node, &number), name))
            return true;
    }
    return false;
}

/* A call that is looked up shows its arguments, but for the text. */
static void print_function(const struct step_function *function,
                           struct text *text)
{
    text_print(text, "%s%s", function->name, function->looks_up ? "" : "(...)");
    for (size_t i = 0; i < function->then.count; i++)
        text_print(text, " then %s",
                   VECTOR_ITEMS(&function->then, const char *)[i]);
}

/* A column without a name: what it is made of. */
static void print_made(const struct print_scope *outer, const struct node *node,
                       int column, struct text *text)
{
    struct print_scope below = { .left = node->left,
                                 .right = node->kind == NODE_JOIN ? node->right
                                                                  : NULL,
                                 .outer = outer };
    struct vector subqueries = VECTOR(const struct subquery *);
    unsigned added =
        node->left ? (unsigned)column - node->left->column_count : 0;

    if (node->kind == NODE_SELECT)
        print_expression(&below, node->results[column], &subqueries, text);
    else if (node->kind == NODE_GROUP)
        print_aggregate(&below,
                        vector_at(&node->group.aggregates,
                                  (unsigned)column - node->group.keys),
                        text);
    else if (node->kind == NODE_WINDOW)
        print_window(&below, vector_at(&node->window.functions, added), text);
    else if (node->kind == NODE_MAP)
        print_function(vector_at(&node->map.functions, added), text);
    else if (node->kind == NODE_APPLY || node->kind == NODE_JOIN)
        text_print(text, "(subquery)");
    else
        text_print(text, "column %d", column + 1);
    vector_finish(&subqueries);
}

void print_column(const struct print_scope *scope, int column,
                  struct text *text)
{
    const struct node *node;
    int number;
    const char *name = name_at(scope, (unsigned)column, &node, &number);
    const char *qualifier = NULL;

    if (name[0] == '\0') {
        print_made(scope->outer, node, number, text);
        return;
    }
    if (is_ambiguous(scope, (unsigned)column, name))
        qualifier = qualifier_of(node, number);
    if (qualifier != NULL)
        text_print(text, "%s.", qualifier);
    text_print(text, "%s", name);
}
