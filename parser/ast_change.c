/* SPDX-License-Identifier: MIT */
/*
 * Constructors of INSERT, UPDATE and DELETE.
 */
#include "base/text.h"
#include "parser/parser_inner.h"

struct ast_statement *ast_insert(struct parse *parse, struct insert_parts parts)
{
    struct ast_statement *made = make_statement(parse, AST_INSERT);
    bool replace = parts.verb == INSERT_REPLACE;
    bool ignore = parts.verb == INSERT_IGNORE;

    if (made == NULL)
        return NULL;
    if ((replace || ignore) && parts.conflict.at.line > 0) {
        error_at(parse->error, VDBQ_SYNTAX, parts.conflict.at,
                 "what becomes of a row that conflicts is said already");
        error_hint(parse->error,
                   "INSERT OR %s and ON CONFLICT do not go "
                   "together",
                   replace ? "REPLACE" : "IGNORE");
        return NULL;
    }
    made->insert = (struct ast_insert){ .table = parts.into.name,
                                        .alias = parts.into.alias,
                                        .replace = replace,
                                        .ignore = ignore,
                                        .columns = parts.columns.items,
                                        .column_count = parts.columns.count,
                                        .query = parts.query,
                                        .conflict = parts.conflict };
    return made;
}

struct ast_statement *ast_insert_by(struct parse *parse, struct ast_name what,
                                    struct insert_parts parts)
{
    struct ast_statement *made = ast_insert(parse, parts);
    bool by_name = name_equal(what.text, "name");

    if (!by_name && !name_equal(what.text, "position")) {
        error_at(parse->error, VDBQ_SYNTAX, what.at,
                 "INSERT is BY NAME or BY POSITION");
        return NULL;
    }
    if (made != NULL)
        made->insert.by_name = by_name;
    return made;
}

struct ast_conflict ast_conflict(struct span at, struct ast_target target,
                                 struct set_list sets,
                                 struct ast_expression *where)
{
    return (struct ast_conflict){
        .at = at.at, .target = target, .sets = sets.first, .where = where
    };
}

/* -------------------------------------------------------- UPDATE, DELETE -- */

/* The table that changes, and which of its rows do. */
struct changed {
    struct ast_name table, alias;
    const struct ast_from *from; /* other tables; NULL: none */
    struct ast_expression *where;
};

/* rowid IN (SELECT rowid FROM table WHERE where ORDER BY ... LIMIT ...): `where`,
 * but for the rows that a LIMIT leaves. */
static struct ast_expression *
where_few(struct parse *parse, struct changed changed, struct few_rows few)
{
    struct ast_name alias =
        changed.alias.text != NULL ? changed.alias : changed.table;
    struct ast_name rowid = { .text = "rowid", .at = few.at.at };
    struct select_parts parts = { .where = changed.where };
    struct ast_query *rows;

    if (few.limits.limit == NULL)
        return changed.where;
    if (changed.from != NULL) {
        error_at(parse->error, VDBQ_SYNTAX, few.at.at,
                 "LIMIT is of UPDATE and DELETE of one table alone");
        return NULL;
    }
    parts.results = ast_results(
        parts.results,
        ast_result(parse, few.at, ast_column(parse, few.at, alias, rowid),
                   (struct ast_name){ 0 }));
    parts.from =
        ast_table(parse, few.at, (struct table_name){ .name = changed.table },
                  changed.alias);
    rows = ast_arranged(parse, few.at, ast_select(parse, few.at, parts),
                        few.order, few.limits);
    return ast_in(parse, operation(AST_EQ, few.at, few.at),
                  ast_column(parse, few.at, alias, rowid),
                  (struct in_items){ .query = rows }, false);
}

struct ast_statement *ast_update(struct parse *parse, struct ast_update update,
                                 struct few_rows few)
{
    struct ast_statement *made = make_statement(parse, AST_UPDATE);

    if (made == NULL)
        return NULL;
    made->update = update;
    made->update.where =
        where_few(parse,
                  (struct changed){ update.table, update.alias, update.from,
                                    update.where },
                  few);
    return made;
}

struct ast_statement *ast_delete(struct parse *parse, struct ast_delete delete,
                                 struct few_rows few)
{
    struct ast_statement *made = make_statement(parse, AST_DELETE);

    if (made == NULL)
        return NULL;
    made->delete = delete;
    made->delete.where =
        where_few(parse,
                  (struct changed){ delete.table, delete.alias, delete.from,
                                    delete.where },
                  few);
    return made;
}

/* ------------------------------------------------------------------ SET -- */

struct set_list ast_set(struct parse *parse, struct ast_name column,
                        struct ast_expression *expression)
{
    struct ast_set *set = parse_alloc(parse, sizeof *set);

    if (set == NULL)
        return (struct set_list){ 0 };
    set->column = column;
    set->expression = expression;
    return (struct set_list){ set, set };
}

struct set_list ast_sets(struct set_list list, struct set_list more)
{
    if (list.first == NULL || more.first == NULL)
        return list.first != NULL ? list : more;
    list.last->next = more.first;
    return (struct set_list){ list.first, more.last };
}

struct set_list ast_set_row(struct parse *parse, struct span at,
                            struct name_list columns, struct row row)
{
    const struct ast_item *item = row.row != NULL ? row.row->items : NULL;
    struct set_list list = { 0 };

    if (parse_failed(parse))
        return list;
    if (row.row->item_count != columns.count) {
        error_at(parse->error, VDBQ_SYNTAX, at.at, "%u values for %u columns",
                 row.row->item_count, columns.count);
        return list;
    }
    for (unsigned i = 0; item != NULL && !parse_failed(parse);
         item = item->next, i++) {
        struct ast_expression *room = parse_alloc(parse, sizeof *room);
        if (room != NULL && ast_item_is_literal(item))
            ast_item_read(item, room);
        else
            room = item->expression;
        list = ast_sets(list, ast_set(parse, columns.items[i], room));
    }
    return list;
}

struct set_list ast_set_query(struct parse *parse, struct span at,
                              struct name_list columns, struct ast_query *query)
{
    struct ast_expression *value = ast_subquery(parse, AST_SUBQUERY, at, query);
    struct set_list list = { 0 };

    for (unsigned i = 0; i < columns.count && !parse_failed(parse); i++) {
        struct set_list one = ast_set(parse, columns.items[i], value);
        if (one.first == NULL)
            return one;
        one.first->number = i;
        one.first->width = columns.count;
        list = ast_sets(list, one);
    }
    return list;
}

/* ------------------------------------------------------ WITH, RETURNING -- */

struct ast_statement *ast_returning(struct ast_statement *statement,
                                    struct result_list results)
{
    if (statement != NULL)
        statement->returning = results.first;
    return statement;
}

struct ast_statement *ast_with_change(struct ast_statement *statement,
                                      struct with_list withs)
{
    if (statement != NULL)
        statement->with = withs.first;
    return statement;
}
