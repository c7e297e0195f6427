/* SPDX-License-Identifier: MIT */
/*
 * Constructors of the syntax tree: queries. As in ast.c, each gives NULL once a
 * parse has failed and accepts NULL for what it is made of.
 */
#include <string.h>

#include "base/text.h"
#include "parser/parser_inner.h"

/* A query over parts as deep as that; NULL: too deep, or failed before. */
static struct ast_query *make_query(struct parse *parse,
                                    enum ast_query_kind kind, struct span whole,
                                    unsigned depth)
{
    struct ast_query *made = parse_alloc(parse, sizeof *made);

    if (made == NULL || !fits_depth(parse, depth + 1, whole.at))
        return NULL;
    made->kind = kind;
    made->depth = depth + 1;
    made->at = whole.at;
    made->begin = whole.begin;
    made->end = whole.end;
    return made;
}

/* -------------------------------------------------- results and terms -- */

struct ast_result *ast_star(struct parse *parse, struct span span,
                            struct ast_name table)
{
    struct ast_result *result = parse_alloc(parse, sizeof *result);

    if (result == NULL)
        return NULL;
    result->star = true;
    result->table = table;
    result->at = span.at;
    return result;
}

struct ast_result *ast_star_changed(struct ast_result *star,
                                    struct name_list excluded,
                                    struct result_list replaced)
{
    if (star == NULL)
        return NULL;
    star->excluded = excluded.items;
    star->excluded_count = excluded.count;
    star->replaced = replaced.first;
    star->depth = replaced.depth;
    return star;
}

struct ast_name ast_bare_alias(struct parse *parse, struct span span,
                               struct ast_name alias)
{
    alias.bare = strchr("\"`[", parse->sql[span.begin]) == NULL;
    return alias;
}

/* x[1] is a part of a list or a text to some, and an alias to none. */
static void refuse_subscript(struct parse *parse, struct span alias)
{
    error_at(parse->error, VDBQ_SYNTAX, alias.at,
             "parts of values, as in x[1], are not supported");
    error_hint(parse->error, "a name in brackets needs AS: AS %.*s",
               (int)(alias.end - alias.begin), parse->sql + alias.begin);
}

struct ast_result *ast_result(struct parse *parse, struct span named,
                              struct ast_expression *expression,
                              struct ast_name alias)
{
    struct ast_result *result = parse_alloc(parse, sizeof *result);

    if (result == NULL)
        return NULL;
    if (alias.text != NULL && parse->sql[named.begin] == '[')
        refuse_subscript(parse, named);
    result->expression = expression;
    result->alias = alias;
    return result;
}

struct result_list ast_results(struct result_list list,
                               struct ast_result *result)
{
    if (result == NULL)
        return list;
    if (list.last != NULL)
        list.last->next = result;
    else
        list.first = result;
    list.last = result;
    list.count++;
    list.depth = deeper(list.depth, depth_of(result->expression));
    list.depth = deeper(list.depth, result->depth);
    return list;
}

struct result_list ast_all_columns(struct parse *parse, struct span span)
{
    return ast_results((struct result_list){ 0 },
                       ast_star(parse, span, (struct ast_name){ 0 }));
}

struct ast_order *ast_order(struct parse *parse,
                            struct ast_expression *expression, bool descending,
                            int nulls)
{
    struct ast_order *order = parse_alloc(parse, sizeof *order);

    if (order == NULL)
        return NULL;
    order->expression = expression;
    order->descending = descending;
    order->nulls = nulls;
    return order;
}

struct order_list ast_orders(struct order_list list, struct ast_order *order)
{
    if (order == NULL)
        return list;
    if (list.last != NULL)
        list.last->next = order;
    else
        list.first = order;
    list.last = order;
    list.depth = deeper(list.depth, depth_of(order->expression));
    return list;
}

struct order_list ast_order_all(struct ast_order *order)
{
    if (order != NULL)
        order->all = true;
    return ast_orders((struct order_list){ 0 }, order);
}

/* ------------------------------------------------------------- queries -- */

struct ast_query *ast_select(struct parse *parse, struct span whole,
                             struct select_parts parts)
{
    unsigned depth = deeper(parts.results.depth, parts.group.values.depth);
    struct ast_query *made;

    depth =
        deeper(depth, deeper(depth_of(parts.where), depth_of(parts.having)));
    depth = deeper(depth, deeper(parts.windows.depth, depth_of(parts.qualify)));
    depth = deeper(depth, parts.distinct.on.depth);
    if (parts.from != NULL)
        depth = deeper(depth, parts.from->depth);
    made = make_query(parse, AST_QUERY_SELECT, whole, depth);
    if (made != NULL)
        made->select =
            (struct ast_select){ .distinct = parts.distinct.all,
                                 .distinct_on = parts.distinct.on.first,
                                 .results = parts.results.first,
                                 .result_count = parts.results.count,
                                 .from = parts.from,
                                 .where = parts.where,
                                 .group = parts.group.values.first,
                                 .group_all = parts.group.all,
                                 .having = parts.having,
                                 .windows = parts.windows.first,
                                 .qualify = parts.qualify };
    return made;
}

struct row ast_row(struct parse *parse, struct span open,
                   struct item_list items)
{
    struct row row = { parse_alloc(parse, sizeof *row.row), items.depth };

    if (row.row == NULL)
        return row;
    row.row->items = items.first;
    row.row->item_count = items.count;
    row.row->at = open.at;
    return row;
}

struct row_list ast_rows(struct row_list list, struct row row)
{
    if (row.row == NULL)
        return list;
    if (list.last != NULL)
        list.last->next = row.row;
    else
        list.first = row.row;
    list.last = row.row;
    list.count++;
    list.depth = deeper(list.depth, row.depth);
    return list;
}

struct ast_query *ast_rows_query(struct parse *parse, struct span whole,
                                 struct row_list rows)
{
    struct ast_query *made =
        make_query(parse, AST_QUERY_VALUES, whole, rows.depth);

    if (made == NULL)
        return NULL;
    made->rows = rows.first;
    made->row_count = rows.count;
    return made;
}

/* SELECT * FROM what is there */
static struct ast_query *read_all(struct parse *parse, struct span whole,
                                  struct ast_from *from)
{
    struct select_parts parts = { .results = ast_all_columns(parse, whole),
                                  .from = from };

    return from != NULL ? ast_select(parse, whole, parts) : NULL;
}

struct ast_query *ast_whole_table(struct parse *parse, struct span whole,
                                  struct table_name table)
{
    return read_all(parse, whole,
                    ast_table(parse, whole, table, (struct ast_name){ 0 }));
}

struct ast_query *ast_compound(struct parse *parse, struct span whole,
                               enum ast_query_kind kind, struct ast_query *left,
                               struct ast_query *right)
{
    struct ast_query *made;

    if (left == NULL || right == NULL)
        return NULL;
    made = make_query(parse, kind, whole, deeper(left->depth, right->depth));
    if (made == NULL)
        return NULL;
    made->left = left;
    made->right = right;
    return made;
}

struct ast_query *ast_by_name(struct ast_query *query)
{
    if (query != NULL)
        query->by_name = true;
    return query;
}

bool ast_word_is(struct parse *parse, struct ast_name name, const char *word)
{
    if (parse_failed(parse) || name_equal(name.text, word))
        return true;
    error_at(parse->error, VDBQ_SYNTAX, name.at, "\"%s\": expected %s",
             name.text, word);
    return false;
}

struct ast_expression *ast_fetch(struct parse *parse, struct ast_name first,
                                 struct ast_expression *rows,
                                 struct ast_name only)
{
    if (parse_failed(parse) || !name_equal(first.text, "NEXT"))
        ast_word_is(parse, first, "FIRST");
    ast_word_is(parse, only, "ONLY");
    return rows;
}

static struct ast_query *wrapped(struct parse *parse, struct span whole,
                                 struct ast_query *query)
{
    return read_all(parse, whole,
                    ast_derived(parse, whole, query, (struct source){ 0 }));
}

/* What is added to a query may be deeper than what is there. */
static struct ast_query *deepen(struct parse *parse, struct ast_query *query,
                                struct span whole, unsigned depth)
{
    query->begin = whole.begin;
    query->end = whole.end;
    query->at = whole.at;
    query->depth = deeper(query->depth, depth + 1);
    return fits_depth(parse, query->depth, whole.at) ? query : NULL;
}

/* ----------------------------------------------------------------- LIMIT -- */

/* (SELECT count(*) FROM table) */
static struct ast_expression *rows_of(struct parse *parse, struct span whole,
                                      struct table_name table)
{
    struct function count = { .name = { .text = "count", .at = whole.at },
                              .call.star = true };
    struct ast_name none = { 0 };
    struct select_parts parts = { .from =
                                      ast_table(parse, whole, table, none) };

    parts.results = ast_results(
        parts.results,
        ast_result(parse, whole, ast_function(parse, whole, count), none));
    return ast_subquery(parse, AST_SUBQUERY, whole,
                        ast_select(parse, whole, parts));
}

/* floor(rows * share / 100), a whole number. */
static struct ast_expression *share_of(struct parse *parse, struct span whole,
                                       struct ast_expression *rows,
                                       struct ast_expression *share)
{
    struct function floor = { .name = { .text = "floor", .at = whole.at } };
    struct ast_expression *hundred = make_expression(parse, AST_INTEGER, whole);
    struct ast_expression *e;

    if (hundred != NULL)
        hundred->integer = 100;
    e = ast_binary(parse, operation(AST_MUL, whole, whole), rows, share);
    e = ast_binary(parse, operation(AST_DIV, whole, whole), e, hundred);
    floor.call.arguments = ast_values(parse, floor.call.arguments, e);
    return ast_cast(parse, operation(AST_PLUS, whole, whole),
                    ast_function(parse, whole, floor),
                    (struct ast_type){ .type = VDBQ_BIGINT });
}

/* LIMIT share %: WITH rows AS MATERIALIZED (query) SELECT * FROM rows LIMIT
 * share_of(rows). Nobody can write the name that they have. */
static struct ast_query *limit_by_share(struct parse *parse, struct span whole,
                                        struct ast_query *query,
                                        struct limits limits)
{
    struct table_name rows = { .name = { .text = "", .at = whole.at } };
    struct with_list withs =
        ast_withs((struct with_list){ 0 },
                  ast_with_once(ast_with(parse, rows.name,
                                         (struct name_list){ 0 }, query)));

    limits.limit =
        share_of(parse, whole, rows_of(parse, whole, rows), limits.limit);
    limits.share = false;
    query = ast_arranged(parse, whole, ast_whole_table(parse, whole, rows),
                         (struct order_list){ 0 }, limits);
    return ast_with_query(parse, whole, withs, query);
}

struct ast_query *ast_arranged(struct parse *parse, struct span whole,
                               struct ast_query *query, struct order_list order,
                               struct limits limits)
{
    unsigned depth = deeper(
        order.depth, deeper(depth_of(limits.limit), depth_of(limits.offset)));
    bool empty =
        order.first == NULL && limits.limit == NULL && limits.offset == NULL;

    if (query == NULL || empty)
        return query;
    if (query->order != NULL || query->limit != NULL || query->offset != NULL
        || query->with != NULL)
        query = wrapped(parse, whole, query);
    if (query == NULL)
        return NULL;
    query->order = order.first;
    if (!limits.share) {
        query->limit = limits.limit;
        query->offset = limits.offset;
    }
    query = deepen(parse, query, whole, depth);
    return limits.share && query != NULL
               ? limit_by_share(parse, whole, query, limits)
               : query;
}

struct ast_query *ast_with_query(struct parse *parse, struct span whole,
                                 struct with_list withs,
                                 struct ast_query *query)
{
    if (query != NULL && query->with != NULL)
        query = wrapped(parse, whole, query);
    if (query == NULL)
        return NULL;
    query->with = withs.first;
    return deepen(parse, query, whole, withs.depth);
}

struct ast_query *ast_enclosed(struct parse *parse, struct span whole,
                               struct ast_query *query)
{
    if (query == NULL)
        return NULL;
    query->depth++;
    return fits_depth(parse, query->depth, whole.at) ? query : NULL;
}

struct ast_with *ast_with(struct parse *parse, struct ast_name name,
                          struct name_list columns, struct ast_query *query)
{
    struct ast_with *with = parse_alloc(parse, sizeof *with);

    if (with == NULL)
        return NULL;
    with->name = name;
    with->columns = columns.items;
    with->column_count = columns.count;
    with->query = query;
    return with;
}

struct ast_with *ast_with_once(struct ast_with *with)
{
    if (with != NULL)
        with->once = true;
    return with;
}

struct with_list ast_recursive(struct with_list list)
{
    for (struct ast_with *with = list.first; with != NULL; with = with->next)
        with->recursive = true;
    return list;
}

struct with_list ast_withs(struct with_list list, struct ast_with *with)
{
    if (with == NULL || with->query == NULL)
        return list;
    if (list.last != NULL)
        list.last->next = with;
    else
        list.first = with;
    list.last = with;
    list.depth = deeper(list.depth, with->query->depth);
    return list;
}
