/* SPDX-License-Identifier: MIT */
/*
 * Constructors of the syntax tree: what stands in FROM. As in ast.c, each gives NULL
 * once a parse has failed and accepts NULL for what it is made of.
 */
#include <string.h>

#include "base/text.h"
#include "parser/parser_inner.h"

static struct ast_from *make_from(struct parse *parse, enum ast_from_kind kind,
                                  struct span whole, unsigned depth)
{
    struct ast_from *made = parse_alloc(parse, sizeof *made);

    if (made == NULL || !fits_depth(parse, depth + 1, whole.at))
        return NULL;
    made->kind = kind;
    made->depth = depth + 1;
    made->at = whole.at;
    return made;
}

struct ast_from *ast_table(struct parse *parse, struct span whole,
                           struct table_name table, struct ast_name alias)
{
    struct ast_from *made = make_from(parse, AST_FROM_TABLE, whole, 0);

    if (made == NULL)
        return NULL;
    made->schema = table.schema;
    made->name = table.name;
    made->alias = alias;
    return made;
}

struct ast_from *ast_file(struct parse *parse, struct span file,
                          struct ast_name alias)
{
    struct ast_from *made = make_from(parse, AST_FROM_FILE, file, 0);
    size_t length;

    if (made == NULL)
        return NULL;
    made->file = parse_unquoted(parse, file, &length);
    made->next_file = parse->files;
    parse->files = made;
    made->alias = alias;
    return made;
}

struct ast_from *ast_derived(struct parse *parse, struct span whole,
                             struct ast_query *query, struct source source)
{
    struct ast_from *made;

    if (query == NULL)
        return NULL;
    made = make_from(parse, AST_FROM_QUERY, whole, query->depth);
    if (made == NULL)
        return NULL;
    made->query = query;
    made->alias = source.alias;
    made->columns = source.columns.items;
    made->column_count = source.columns.count;
    return made;
}

struct ast_from *ast_from_call(struct parse *parse, struct span whole,
                               struct ast_name name,
                               struct value_list arguments,
                               struct source source)
{
    struct ast_from *made =
        make_from(parse, AST_FROM_CALL, whole, arguments.depth);

    if (made == NULL)
        return NULL;
    made->name = name;
    made->arguments = arguments.first;
    made->alias = source.alias;
    made->columns = source.columns.items;
    made->column_count = source.columns.count;
    return made;
}

struct ast_from *ast_from_enclosed(struct parse *parse, struct span whole,
                                   struct ast_from *from)
{
    if (from == NULL)
        return NULL;
    from->depth++;
    return fits_depth(parse, from->depth, whole.at) ? from : NULL;
}

/* Kinds of joins that others have. The word would be the alias of what stands
 * before it. */
static void refuse_kind(struct parse *parse, const struct ast_from *left)
{
    static const char *const kinds[] = { "any", "asof", "global", "lateral",
                                         "positional" };
    const struct ast_from *last =
        left->kind == AST_FROM_JOIN ? left->right : left;
    const struct ast_name *alias = &last->alias;

    for (size_t i = 0; alias->bare && i < sizeof kinds / sizeof *kinds; i++)
        if (name_equal(alias->text, kinds[i])) {
            error_at(parse->error, VDBQ_SYNTAX, alias->at,
                     "this kind of join is not supported: %s JOIN",
                     alias->text);
            error_hint(parse->error, "as a name it needs AS: AS %s",
                       alias->text);
            return;
        }
}

/* ------------------------------------------------- SEMI and ANTI JOIN -- */

/* A name that nothing of the left side has, for a column of the right one. */
static const char *apart_name(struct parse *parse, const struct ast_name *name)
{
    size_t length = strlen(name->text);
    char *made = parse_alloc(parse, length + 2);

    if (made != NULL) {
        made[0] = ' ';
        memcpy(made + 1, name->text, length + 1);
    }
    return made;
}

static struct ast_expression *column_of(struct parse *parse, struct span whole,
                                        const char *name, struct position at)
{
    whole.at = at;
    return name != NULL
               ? ast_column(parse, whole, (struct ast_name){ 0 },
                            (struct ast_name){ .text = name, .at = at })
               : NULL;
}

/* One of USING's names: adds the column to those that the right side gives, and gives
 * the condition that it equals the left side's. */
static struct ast_expression *equal_column(struct parse *parse,
                                           struct span whole,
                                           const struct ast_name *name,
                                           struct result_list *results)
{
    const char *apart = apart_name(parse, name);
    struct ast_expression *right =
        column_of(parse, whole, name->text, name->at);

    *results = ast_results(
        *results,
        ast_result(parse, whole, right,
                   (struct ast_name){ .text = apart, .at = name->at }));
    return ast_binary(parse, operation(AST_EQ, whole, whole),
                      column_of(parse, whole, name->text, name->at),
                      column_of(parse, whole, apart, name->at));
}

/* USING (a, b): SELECT ... FROM (SELECT a AS " a", b AS " b" FROM right)
 * WHERE a = " a" AND b = " b", where a and b can be the left side's alone. */
static struct select_parts using_parts(struct parse *parse, struct span whole,
                                       const struct joined *joined)
{
    const struct name_list *using = &joined->on.using;
    struct select_parts inner = { .from = joined->right }, outer = { 0 };

    for (unsigned i = 0; i < using->count; i++) {
        struct ast_expression *equal =
            equal_column(parse, whole, &using->items[i], &inner.results);
        outer.where = i == 0
                          ? equal
                          : ast_binary(parse, operation(AST_AND, whole, whole),
                                       outer.where, equal);
    }
    outer.from = ast_derived(parse, whole, ast_select(parse, whole, inner),
                             (struct source){ 0 });
    return outer;
}

/* Rows of the left side for which there is a row of the right one, or there is none:
 * [NOT] EXISTS (SELECT 1 FROM right WHERE on). */
static struct ast_from *filtered(struct parse *parse, struct span whole,
                                 struct join join, struct joined joined)
{
    struct select_parts parts = { .from = joined.right,
                                  .where = joined.on.expression };
    struct ast_expression *exists;
    struct ast_from *made;

    if (joined.on.expression == NULL && joined.on.using.count == 0) {
        if (!parse_failed(parse))
            error_at(parse->error, VDBQ_SYNTAX, whole.at,
                     "SEMI JOIN and ANTI JOIN need ON or USING");
        return NULL;
    }
    if (joined.on.using.count > 0)
        parts = using_parts(parse, whole, &joined);
    parts.results = ast_results(parts.results,
                                ast_result(parse, whole, ast_one(parse, whole),
                                           (struct ast_name){ 0 }));
    exists =
        ast_subquery(parse, AST_EXISTS, whole, ast_select(parse, whole, parts));
    if (join.kind == AST_JOIN_ANTI)
        exists = ast_unary(parse, operation(AST_NOT, whole, whole), exists);
    made = make_from(parse, AST_FROM_JOIN, whole,
                     deeper(joined.left->depth, depth_of(exists)));
    if (made == NULL)
        return NULL;
    made->left = joined.left;
    made->right = joined.right;
    made->join = join.kind;
    made->on = exists;
    return made;
}

struct ast_from *ast_join(struct parse *parse, struct span whole,
                          struct join join, struct joined joined)
{
    struct ast_from *left = joined.left, *right = joined.right, *made;

    if (left == NULL || right == NULL)
        return NULL;
    if (join.kind != AST_JOIN_COMMA && !parse_failed(parse))
        refuse_kind(parse, left);
    if (join.kind == AST_JOIN_SEMI || join.kind == AST_JOIN_ANTI)
        return filtered(parse, whole, join, joined);
    made = make_from(parse, AST_FROM_JOIN, whole,
                     deeper(deeper(left->depth, right->depth),
                            depth_of(joined.on.expression)));
    if (made == NULL)
        return NULL;
    made->left = left;
    made->right = right;
    made->join = join.kind;
    made->natural = join.natural;
    made->on = joined.on.expression;
    made->columns = joined.on.using.items;
    made->column_count = joined.on.using.count;
    return made;
}
