/* SPDX-License-Identifier: MIT */
/*
 * Constructors of the syntax tree: windows, of calls and of the clause WINDOW. As in
 * ast.c, each gives NULL once a parse has failed and accepts NULL for what it
 * is made of.
 */
#include "parser/parser_inner.h"

struct window ast_window(struct parse *parse, struct ast_name base,
                         struct window_parts parts)
{
    struct window window = { .over = parse_alloc(parse, sizeof *window.over) };

    if (window.over == NULL)
        return window;
    window.over->base = base;
    window.over->partition = parts.partition.first;
    window.over->order = parts.order.first;
    window.over->frame = parts.frame;
    window.depth = deeper(parts.partition.depth, parts.order.depth);
    window.depth = deeper(window.depth, depth_of(parts.frame.begin.offset));
    window.depth = deeper(window.depth, depth_of(parts.frame.end.offset));
    return window;
}

struct window ast_window_named(struct parse *parse, struct ast_name name)
{
    struct window window = ast_window(parse, name, (struct window_parts){ 0 });

    if (window.over != NULL)
        window.over->whole = true;
    return window;
}

struct named_window_list ast_named_windows(struct parse *parse,
                                           struct named_window_list list,
                                           struct ast_name name,
                                           struct window window)
{
    struct ast_named_window *named = parse_alloc(parse, sizeof *named);

    if (named == NULL || window.over == NULL)
        return list;
    named->name = name;
    named->window = window.over;
    if (list.last != NULL)
        list.last->next = named;
    else
        list.first = named;
    list.last = named;
    list.depth = deeper(list.depth, window.depth);
    return list;
}

struct ast_bound ast_bound(struct span whole, enum ast_bound_kind kind,
                           struct ast_expression *offset)
{
    return (struct ast_bound){ .kind = kind, .offset = offset, .at = whole.at };
}
