/* SPDX-License-Identifier: MIT */
/*
 * The words of columns, and what calls make of them.
 */
#include "plan/texts/late_calls.h"
#include "program/functions/function.h"

double late_calls_words(const struct node *node, int column)
{
    while (node->kind != NODE_TABLE) {
        int left = node->left != NULL ? (int)node->left->column_count : 0;
        bool right = node->kind == NODE_JOIN && column >= left
                     && node->join.kind <= JOIN_FULL;
        switch (node->kind) {
        case NODE_SELECT:
            if (node->results[column]->kind != EXPRESSION_COLUMN)
                return 0;
            column = node->results[column]->column.number;
            break;
        case NODE_JOIN:
        case NODE_SORT:
        case NODE_LIMIT:
        case NODE_WINDOW:
        case NODE_MAP:
        case NODE_APPLY:
            if (column >= left && !right)
                return 0;
            break;
        default:
            return 0;
        }
        column -= right ? left : 0;
        node = right ? node->right : node->left;
    }
    return node->columns[column].estimate.distinct;
}

/* Words of the columns in an expression. */
struct counting {
    const struct node *node;
    double words;
    bool calls; /* it has calls */
};

static bool count_words(void *context, struct expression **operand)
{
    struct counting *counting = context;
    const struct expression *e = *operand;

    if (e->kind == EXPRESSION_COLUMN && e->type == VDBQ_TEXT)
        counting->words += late_calls_words(counting->node, e->column.number);
    counting->calls |=
        e->kind == EXPRESSION_LOOKUP || e->kind > EXPRESSION_CHECK;
    return expression_each(*operand, count_words, counting);
}

double late_calls_words_in(const struct node *node, struct expression *e)
{
    struct counting counting = { .node = node };

    count_words(&counting, &e);
    return counting.calls || e->faults ? 0 : counting.words;
}

bool late_calls_tell_apart(const struct expression *e)
{
    static const char *const functions[] = { "upper", "lower",   "trim",
                                             "ltrim", "rtrim",   "replace",
                                             "lpad",  "rpad",    "concat",
                                             "hex",   "reverse", "md5" };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (e->lookup.depth == 1
            && e->lookup.function == function_find(functions[i]))
            return true;
    return false;
}
