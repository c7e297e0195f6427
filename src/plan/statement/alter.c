/* SPDX-License-Identifier: MIT */
/*
 * ALTER TABLE. Other names change the catalogue alone. A column that comes or goes
 * makes all tablets anew: the plan's steps give the rows as they are afterwards.
 */
#include <string.h>

#include "plan/bind/assign.h"
#include "plan/call/names.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/statement/statement.h"
#include "plan/statement/table_checks.h"
#include "plan/tree/binder.h"

/* A table that is being altered. */
struct altering {
    struct binder *binder;
    const struct ast_alter *alter;
    const struct table *table;
    struct alteration *made;
    struct column *columns; /* room for one more than the table has */
    int *from;              /* likewise                             */
};

static enum vdbq_status make_room(struct altering *altering)
{
    const struct table *table = altering->table;
    struct arena *arena = altering->binder->arena;
    size_t room = table->column_count + 1;

    altering->columns = arena_alloc(arena, room * sizeof *altering->columns);
    altering->from = arena_alloc(arena, room * sizeof *altering->from);
    if (altering->columns == NULL || altering->from == NULL)
        return error_no_memory(altering->binder->error);
    memcpy(altering->columns, table->columns,
           table->column_count * sizeof *altering->columns);
    for (unsigned i = 0; i < table->column_count; i++)
        altering->from[i] = (int)i;
    return VDBQ_OK;
}

static enum vdbq_status refuse_twice(const struct altering *altering,
                                     const struct ast_name *name)
{
    return error_at(altering->binder->error, VDBQ_EXISTS, name->at,
                    "table %s has a column %s already", altering->table->name,
                    name->text);
}

/* -------------------------------------------------------------- renaming -- */

static enum vdbq_status rename_table(struct altering *altering)
{
    struct binder *binder = altering->binder;
    const struct ast_name *to = &altering->alter->to;
    struct ast_name free = *to;
    struct position at = altering->alter->table.at;
    enum vdbq_status status = ddl_check_name(to, "table", binder->error);

    free.schema = table_is_temporary(altering->table->id) ? SCHEMA_TEMPORARY
                                                          : SCHEMA_MAIN;
    if (status == VDBQ_OK)
        status = ddl_check_free(binder, &free, false);
    altering->made->name = to->text;
    if (status == VDBQ_OK)
        status = alter_check_keys(binder, altering->table, to->text, at);
    if (status == VDBQ_OK)
        status = table_checks_renamed(binder, altering->table, to->text, at);
    return status == VDBQ_OK ? alter_check_views(binder, altering->made, at)
                             : status;
}

static enum vdbq_status rename_column(struct altering *altering)
{
    const struct binder *binder = altering->binder;
    const struct ast_alter *alter = altering->alter;
    const struct table *table = altering->table;
    unsigned number, other = table_column(table, alter->to.text);
    enum vdbq_status status =
        find_column(table, &alter->column, &number, binder->error);

    if (status == VDBQ_OK)
        status = ddl_check_name(&alter->to, "column", binder->error);
    if (status == VDBQ_OK && other < table->column_count && other != number)
        status = refuse_twice(altering, &alter->to);
    if (status != VDBQ_OK)
        return status;
    altering->columns[number].name = alter->to.text;
    altering->made->columns = altering->columns;
    altering->made->column_count = table->column_count;
    status = alter_check_indexes(binder, table, number, true, alter->column.at);
    if (status == VDBQ_OK)
        status = table_checks_free(binder, table, number, alter->column.at);
    return status == VDBQ_OK
               ? alter_check_views(binder, altering->made, alter->column.at)
               : status;
}

/* --------------------------------------------------- columns come and go -- */

/* The value that rows have in a column: as they have it, or its DEFAULT. */
static struct expression *value_of(struct altering *altering,
                                   const struct node *node, unsigned column)
{
    struct binder *binder = altering->binder;
    const struct ast_alter *alter = altering->alter;
    const struct column *made = &altering->columns[column];
    int from = altering->from[column];

    if (from >= 0)
        return node_column(binder, node, (unsigned)from, alter->table.at);
    return alter->added->default_value != NULL
               ? expression_default_bound(binder, alter->added->default_value,
                                          made)
               : expression_default(binder, made, alter->added->name.at);
}

/* The steps that give all rows with the new columns. */
static enum vdbq_status plan_rows(struct altering *altering, unsigned count,
                                  struct plan *plan)
{
    struct binder *binder = altering->binder;
    struct node *node = node_table(binder, altering->table);
    struct expression **values =
        arena_alloc(binder->arena, (count + 1) * sizeof(*values));

    if (values == NULL)
        return error_no_memory(binder->error);
    for (unsigned i = 0; i < count && node != NULL; i++) {
        values[i] = value_of(altering, node, i);
        if (values[i] == NULL)
            return binder->error->status;
    }
    altering->made->columns = altering->columns;
    altering->made->column_count = count;
    altering->made->from = altering->from;
    node = node ? node_select(binder, node, NULL, values, NULL, count) : NULL;
    return plan_steps(binder, node, plan);
}

/* What a column that is added cannot be. */
static enum vdbq_status check_added(const struct altering *altering)
{
    const struct ast_column *added = altering->alter->added;
    struct error *error = altering->binder->error;
    const char *rule = added->primary_key ? "PRIMARY KEY"
                       : added->unique    ? "UNIQUE"
                                          : NULL;

    if (rule != NULL) {
        error_at(error, VDBQ_SYNTAX, added->name.at,
                 "a column that is added is not %s", rule);
        return error_hint(error, "CREATE UNIQUE INDEX makes it unique");
    }
    if (altering->table->column_count >= COLUMNS_MAX)
        return error_at(error, VDBQ_LIMIT, added->name.at,
                        "table %s has %d columns, which is the most",
                        altering->table->name, COLUMNS_MAX);
    if (!added->not_null || added->default_value != NULL
        || altering->table->rows == 0)
        return VDBQ_OK;
    error_at(error, VDBQ_CONSTRAINT, added->name.at,
             "column %s is NOT NULL, and the rows that are there have no value "
             "for it",
             added->name.text);
    return error_hint(error, "DEFAULT gives them one");
}

/* Those of a column that is added. */
static enum vdbq_status add_checks(const struct altering *altering)
{
    struct binder *binder = altering->binder;
    struct alteration *made = altering->made;
    const struct table table = { .name = altering->table->name,
                                 .column_count =
                                     altering->table->column_count + 1,
                                 .columns = altering->columns,
                                 .key = NO_KEY };
    struct vector checks = VECTOR_IN(binder->arena, struct row_check);
    enum vdbq_status status = table_checks_add(
        binder, &table, altering->alter->added->checks, &checks);

    made->checks = checks.items;
    made->check_count = (unsigned)checks.count;
    return status == VDBQ_OK
                   && checks.count + altering->table->check_count > CHECKS_MAX
               ? error_at(binder->error, VDBQ_LIMIT,
                          altering->alter->added->name.at,
                          "a table has at most %d CHECKs", (int)CHECKS_MAX)
               : status;
}

static enum vdbq_status add_column(struct altering *altering, struct plan *plan)
{
    const struct ast_alter *alter = altering->alter;
    struct binder *binder = altering->binder;
    unsigned count = altering->table->column_count;
    enum vdbq_status status =
        ddl_check_name(&alter->added->name, "column", binder->error);

    if (status != VDBQ_OK)
        return status;
    if (table_column(altering->table, alter->added->name.text) < count) {
        plan->alter.nothing = alter->exists;
        return alter->exists ? VDBQ_OK
                             : refuse_twice(altering, &alter->added->name);
    }
    status = check_added(altering);
    if (status == VDBQ_OK)
        status = ddl_describe_column(binder, alter->added,
                                     &altering->columns[count]);
    altering->from[count] = -1;
    if (status == VDBQ_OK)
        status = add_checks(altering);
    if (status == VDBQ_OK)
        status = plan_rows(altering, count + 1, plan);
    return status == VDBQ_OK ? alter_check_views(binder, altering->made,
                                                 alter->added->name.at)
                             : status;
}

/* Whether a rule of the table has the column, and which. */
static const char *rule_of(const struct table *table, unsigned column)
{
    if (column == table->key)
        return "the primary key";
    if (table->columns[column].unique)
        return "UNIQUE";
    for (unsigned i = 0; i < table->unique_count; i++)
        for (unsigned k = 0; k < table->uniques[i].column_count; k++)
            if (table->uniques[i].columns[k] == column)
                return "unique together with others";
    return NULL;
}

static enum vdbq_status check_dropped(const struct altering *altering,
                                      unsigned number)
{
    const struct table *table = altering->table;
    const struct ast_name *name = &altering->alter->column;
    struct error *error = altering->binder->error;
    const char *rule = rule_of(table, number);

    if (rule != NULL)
        return error_at(error, VDBQ_CONSTRAINT, name->at,
                        "column %s of table %s is %s", name->text, table->name,
                        rule);
    if (table->column_count > 1)
        return VDBQ_OK;
    error_at(error, VDBQ_CONSTRAINT, name->at, "table %s has no column but %s",
             table->name, name->text);
    return error_hint(error, "DROP TABLE %s removes it", table->name);
}

static enum vdbq_status drop_column(struct altering *altering,
                                    struct plan *plan)
{
    const struct ast_alter *alter = altering->alter;
    struct binder *binder = altering->binder;
    const struct table *table = altering->table;
    unsigned number = table_column(table, alter->column.text), behind;
    enum vdbq_status status;

    if (number == table->column_count && alter->exists) {
        plan->alter.nothing = true;
        return VDBQ_OK;
    }
    status = find_column(table, &alter->column, &number, binder->error);
    if (status == VDBQ_OK)
        status = check_dropped(altering, number);
    if (status == VDBQ_OK)
        status =
            alter_check_indexes(binder, table, number, false, alter->column.at);
    if (status == VDBQ_OK)
        status = table_checks_free(binder, table, number, alter->column.at);
    if (status != VDBQ_OK)
        return status;
    behind = table->column_count - 1 - number;
    memmove(altering->columns + number, altering->columns + number + 1,
            behind * sizeof *altering->columns);
    memmove(altering->from + number, altering->from + number + 1,
            behind * sizeof *altering->from);
    status = plan_rows(altering, table->column_count - 1, plan);
    return status == VDBQ_OK
               ? alter_check_views(binder, altering->made, alter->column.at)
               : status;
}

/* ------------------------------------------------------------------- all -- */

enum vdbq_status plan_alter(const struct ast_alter *alter,
                            struct binder *binder, struct plan *plan)
{
    struct altering altering = { .binder = binder,
                                 .alter = alter,
                                 .table = find_table(binder, &alter->table),
                                 .made = &plan->alter.alteration };
    enum vdbq_status status;

    plan->kind = PLAN_ALTER;
    if (altering.table == NULL)
        return binder->error->status;
    plan->alter.table = altering.table->name;
    altering.made->table_id = altering.table->id;
    status = make_room(&altering);
    if (status != VDBQ_OK)
        return status;
    switch (alter->what) {
    case AST_RENAME_TABLE:
        return rename_table(&altering);
    case AST_RENAME_COLUMN:
        return rename_column(&altering);
    case AST_ADD_COLUMN:
        return add_column(&altering, plan);
    case AST_DROP_COLUMN:
        break;
    }
    return drop_column(&altering, plan);
}
