/* SPDX-License-Identifier: MIT */
/*
 * Which rule a target means: one about the same columns, in any order, or a unique
 * index of the same expressions. One of some rows is meant where the target's WHERE
 * shows that it has them, as a query's does (plan/index/index_implied.h).
 */
#include "plan/statement/conflict_target.h"

#include <string.h>

#include "base/text.h"
#include "data/rule/unique.h"
#include "data/transaction/row_conflicts.h"
#include "plan/bind/bind.h"
#include "plan/call/names.h"
#include "plan/bind/scope.h"
#include "plan/index/index_implied.h"
#include "plan/statement/table_rows.h"
#include "plan/tree/binder.h"

/* A target on its way. */
struct finding {
    const struct ast_conflict *conflict;
    const struct table *table;
    const struct vector *rules;
    struct binder *binder;
    struct conflict_target *target;
    unsigned count;            /* of the target's terms                */
    struct expression **terms; /* ... which are bound                  */
    struct vector where;       /* struct expression *: parts of WHERE  */
};

/* ----------------------------------------------------------------- hint -- */

/* Adds "(a, b)". */
static void list_rule(const struct unique_rule *rule, struct text *list)
{
    const unsigned *columns = unique_rule_columns(rule);

    text_print(list, "%s(", list->length > 0 ? ", " : "");
    for (unsigned i = 0; i < rule->column_count; i++)
        text_print(list, "%s%s", i > 0 ? ", " : "", rule->of[columns[i]].name);
    text_print(list, ")");
    if (index_is_partial(rule->keyed))
        text_print(list, " WHERE %s", rule->keyed->keys->where_sql);
}

/* Says what could have been written. */
static enum vdbq_status hint_rules(const struct table *table,
                                   const struct vector *rules,
                                   struct error *error)
{
    struct text list = { 0 };

    for (size_t i = 0; i < rules->count; i++)
        list_rule(vector_at(rules, i), &list);
    if (list.failed)
        error_no_memory(error);
    else if (rules->count == 0)
        error_hint(error,
                   "%s has no PRIMARY KEY, no UNIQUE columns and no "
                   "unique index",
                   table->name);
    else
        error_hint(error, "unique in %s: %s", table->name, list.bytes);
    text_finish(&list);
    return error->status;
}

/* No rule is about it. */
static enum vdbq_status refuse(const struct finding *finding)
{
    error_at(finding->binder->error, VDBQ_UNKNOWN,
             finding->conflict->target.terms->expression->at,
             "no rule says that %s unique",
             finding->count > 1 ? "these columns together are"
                                : "this column is");
    return hint_rules(finding->table, finding->rules, finding->binder->error);
}

/* --------------------------------------------------------------- columns -- */

/* The target is the columns of a rule, or its keys. */
static enum vdbq_status take_rule(const struct finding *finding,
                                  const struct unique_rule *rule)
{
    struct conflict_target *target = finding->target;
    size_t size = rule->column_count * sizeof *target->columns;

    target->count = rule->column_count;
    if (rule->keyed != NULL) {
        target->origin = rule->keyed->keys->origin;
        return VDBQ_OK;
    }
    target->columns = arena_alloc(finding->binder->arena, size);
    if (target->columns == NULL)
        return error_no_memory(finding->binder->error);
    memcpy(target->columns, unique_rule_columns(rule), size);
    return VDBQ_OK;
}

/* DO UPDATE without a target is about the only rule that there is. */
static enum vdbq_status only_rule(const struct finding *finding)
{
    if (finding->rules->count == 1)
        return take_rule(finding, vector_at(finding->rules, 0));
    error_at(finding->binder->error, VDBQ_UNKNOWN, finding->conflict->at,
             "DO UPDATE needs to know which columns a row conflicts in");
    return hint_rules(finding->table, finding->rules, finding->binder->error);
}

/* Whether the target names columns, and nothing else. */
static bool is_of_columns(const struct ast_target *target)
{
    bool of_columns = target->where == NULL;

    for (const struct ast_order *term = target->terms; term != NULL;
         term = term->next)
        of_columns &= term->expression->kind == AST_COLUMN;
    return of_columns;
}

static enum vdbq_status find_columns(const struct finding *finding)
{
    struct conflict_target named = { .count = 0 };
    enum vdbq_status status = VDBQ_OK;

    named.columns = arena_alloc(finding->binder->arena,
                                finding->count * sizeof *named.columns);
    if (named.columns == NULL)
        return error_no_memory(finding->binder->error);
    for (const struct ast_order *term = finding->conflict->target.terms;
         term != NULL && status == VDBQ_OK; term = term->next)
        status =
            find_column(finding->table, &term->expression->column,
                        &named.columns[named.count++], finding->binder->error);
    for (size_t i = 0; i < finding->rules->count && status == VDBQ_OK; i++)
        if (conflict_targets(&named, vector_at(finding->rules, i))) {
            *finding->target = named;
            return VDBQ_OK;
        }
    return status == VDBQ_OK ? refuse(finding) : status;
}

/* ----------------------------------------------------------- expressions -- */

/* Binds the terms and the condition. */
static enum vdbq_status bind_terms(struct finding *finding)
{
    const struct ast_target *target = &finding->conflict->target;
    struct binder *binder = finding->binder;
    struct expression *where;
    unsigned i = 0;

    for (const struct ast_order *term = target->terms; term != NULL;
         term = term->next) {
        finding->terms[i] = bind_expression(binder, term->expression);
        if (finding->terms[i++] == NULL)
            return binder->error->status;
    }
    if (target->where == NULL)
        return VDBQ_OK;
    where = bind_condition(binder, target->where);
    if (where == NULL)
        return binder->error->status;
    return index_split(where, &finding->where) ? VDBQ_OK
                                               : error_no_memory(binder->error);
}

/* Whether one of some expressions is the same, and compared alike. */
static bool is_among(const struct expression *e,
                     struct expression *const *others, unsigned count)
{
    bool found = false;

    for (unsigned i = 0; i < count && !found; i++)
        found =
            expression_same(others[i], e)
            && (e->type != VDBQ_TEXT
                || others[i]->collating.collation == e->collating.collation);
    return found;
}

static bool are_same(const struct finding *finding,
                     struct expression *const *keys, unsigned count)
{
    bool same = count == finding->count;

    for (unsigned i = 0; i < count && same; i++)
        same = is_among(finding->terms[i], keys, count)
               && is_among(keys[i], finding->terms, count);
    return same;
}

/* Whether a rule of keys is meant; `*status`: a failure. */
static bool is_meant_keys(const struct finding *finding,
                          const struct index_rows *rows,
                          const struct unique_rule *rule,
                          enum vdbq_status *status)
{
    struct index_candidate candidate = {
        .where = VECTOR_IN(finding->binder->arena, struct expression *)
    };
    struct index_bound bound;

    if (!index_bind(finding->binder, finding->table, rule->keyed, rows, &bound)
        || (bound.where != NULL
            && !index_split(bound.where, &candidate.where))) {
        *status = finding->binder->error->status != VDBQ_OK
                      ? finding->binder->error->status
                      : error_no_memory(finding->binder->error);
        return false;
    }
    return are_same(finding, bound.keys, rule->column_count)
           && index_is_implied_by(&candidate, &finding->where,
                                  finding->where.count);
}

/* Whether a rule of columns is. */
static bool is_meant_columns(const struct finding *finding,
                             const struct unique_rule *rule)
{
    struct conflict_target named = { .count = finding->count };
    bool columns = true;

    named.columns = arena_alloc(finding->binder->arena,
                                finding->count * sizeof *named.columns);
    for (unsigned i = 0; i < finding->count && named.columns && columns; i++) {
        columns = finding->terms[i]->kind == EXPRESSION_COLUMN;
        if (columns)
            named.columns[i] = (unsigned)finding->terms[i]->column.number;
    }
    return named.columns != NULL && columns && conflict_targets(&named, rule);
}

/* Of several that are meant the newest is taken, as sqlite3 does. */
static enum vdbq_status find_bound(struct finding *finding,
                                   const struct index_rows *rows)
{
    enum vdbq_status status = bind_terms(finding);

    for (size_t i = finding->rules->count; i-- > 0 && status == VDBQ_OK;) {
        const struct unique_rule *rule = vector_at(finding->rules, i);
        if (rule->keyed != NULL ? is_meant_keys(finding, rows, rule, &status)
                                : is_meant_columns(finding, rule))
            return take_rule(finding, rule);
    }
    return status == VDBQ_OK ? refuse(finding) : status;
}

static enum vdbq_status find_expressions(struct finding *finding)
{
    struct binder *binder = finding->binder;
    const struct index_rows rows = { .node = table_rows_node(
                                         binder, finding->table, NULL, 0),
                                     .count = finding->table->column_count };
    struct scope scope;
    enum vdbq_status status;

    finding->where = VECTOR_IN(binder->arena, struct expression *);
    finding->terms =
        arena_alloc(binder->arena, finding->count * sizeof(*finding->terms));
    if (rows.node == NULL || finding->terms == NULL)
        return error_no_memory(binder->error);
    scope_enter(binder, &scope);
    scope.node = rows.node;
    status = index_scope(binder, finding->table, &rows);
    if (status == VDBQ_OK)
        status = find_bound(finding, &rows);
    scope_leave(binder, &scope);
    return status;
}

enum vdbq_status conflict_target_find(const struct ast_conflict *conflict,
                                      const struct table *table,
                                      const struct vector *rules,
                                      struct binder *binder,
                                      struct conflict_target *target)
{
    struct finding finding = { .conflict = conflict,
                               .table = table,
                               .rules = rules,
                               .binder = binder,
                               .target = target };

    if (conflict->target.terms == NULL)
        return conflict->sets == NULL ? VDBQ_OK : only_rule(&finding);
    for (const struct ast_order *term = conflict->target.terms; term != NULL;
         term = term->next)
        finding.count++;
    return is_of_columns(&conflict->target) ? find_columns(&finding)
                                            : find_expressions(&finding);
}
