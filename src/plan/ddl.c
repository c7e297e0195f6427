/* SPDX-License-Identifier: MIT */
/*
 * CREATE TABLE and DROP TABLE against the catalogue at hand. Whoever writes
 * looks again: another connection may have been there before.
 */
#include "plan/plan_inner.h"

#include <stdlib.h>
#include <string.h>

static enum vdbq_status check_name(const struct ast_name *name,
                                   const char *what, struct error *error);
static enum vdbq_status check_columns(const struct ast_create *create,
                                      struct binder *binder,
                                      struct plan_create *plan);
static enum vdbq_status check_repeated(const struct ast_create *create,
                                       struct binder *binder);
static enum vdbq_status find_key(const struct ast_create *create,
                                 struct binder *binder,
                                 struct plan_create *plan);
static enum vdbq_status named_key(const struct ast_create *create,
                                  struct binder *binder,
                                  struct plan_create *plan);

enum vdbq_status plan_create_table(const struct ast_create *create,
                                   struct binder *binder,
                                   struct plan_create *plan)
{
    const struct ast_name *name = &create->table;
    enum vdbq_status status = check_name(name, "table", binder->error);

    if (status == VDBQ_OK && !create->if_not_exists
        && catalogue_table(binder->catalogue, name->text) != NULL) {
        error_at(binder->error, VDBQ_EXISTS, name->at,
                 "there is a table %s already", name->text);
        status = error_hint(binder->error,
                            "CREATE TABLE IF NOT EXISTS keeps it, DROP TABLE "
                            "removes it");
    }
    if (status == VDBQ_OK
        && binder->catalogue->table_count >= TABLES_MAX)
        status = error_at(binder->error, VDBQ_LIMIT, name->at,
                          "a database has at most %d tables", TABLES_MAX);
    plan->name = name->text;
    plan->if_not_exists = create->if_not_exists;
    if (status == VDBQ_OK)
        status = check_columns(create, binder, plan);
    return status == VDBQ_OK ? find_key(create, binder, plan) : status;
}

enum vdbq_status plan_drop_table(const struct ast_drop *drop,
                                 struct binder *binder,
                                 struct plan_drop *plan)
{
    plan->name = drop->table.text;
    plan->if_exists = drop->if_exists;
    if (!drop->if_exists && find_table(binder, &drop->table) == NULL)
        return binder->error->status;
    return VDBQ_OK;
}

static enum vdbq_status check_name(const struct ast_name *name,
                                   const char *what, struct error *error)
{
    size_t length = strlen(name->text);

    if (length == 0)
        return error_at(error, VDBQ_SYNTAX, name->at,
                        "the name of a %s is empty", what);
    if (length > NAME_BYTES_MAX)
        return error_at(error, VDBQ_LIMIT, name->at,
                        "the name of a %s has %zu bytes; at most %d are "
                        "allowed", what, length, NAME_BYTES_MAX);
    return VDBQ_OK;
}

/* ------------------------------------------------------------- columns -- */

static enum vdbq_status check_columns(const struct ast_create *create,
                                      struct binder *binder,
                                      struct plan_create *plan)
{
    unsigned count = 0;

    if (create->column_count > COLUMNS_MAX)
        return error_at(binder->error, VDBQ_LIMIT, create->table.at,
                        "table %s has %u columns; at most %d are allowed",
                        create->table.text, create->column_count,
                        COLUMNS_MAX);
    plan->columns = arena_alloc(binder->arena, (create->column_count + 1)
                                                   * sizeof *plan->columns);
    if (plan->columns == NULL)
        return error_no_memory(binder->error);
    for (const struct ast_column *column = create->columns; column != NULL;
         column = column->next) {
        if (check_name(&column->name, "column", binder->error) != VDBQ_OK)
            return binder->error->status;
        plan->columns[count++] =
            (struct column){ .name = column->name.text, .type = column->type };
    }
    plan->column_count = count;
    return check_repeated(create, binder);
}

/* A letter of a name as name_equal() compares it. */
static int folded(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

static int compare_names(const void *a, const void *b)
{
    const struct ast_column *const *left = a, *const *right = b;
    const char *x = (*left)->name.text, *y = (*right)->name.text;

    while (*x != '\0' && folded(*x) == folded(*y))
        x++, y++;
    return folded(*x) - folded(*y);
}

static enum vdbq_status refuse_repeated(const struct ast_column *a,
                                        const struct ast_column *b,
                                        struct error *error)
{
    bool a_first = a->name.at.line < b->name.at.line
                   || (a->name.at.line == b->name.at.line
                       && a->name.at.column < b->name.at.column);
    const struct ast_column *later = a_first ? b : a;

    return error_at(error, VDBQ_EXISTS, later->name.at,
                    "there is a column %s already", later->name.text);
}

/* Refuses a name that two columns have: sorted, these are neighbours. */
static enum vdbq_status check_repeated(const struct ast_create *create,
                                       struct binder *binder)
{
    const struct ast_column **sorted =
        arena_alloc(binder->arena,
                    (create->column_count + 1) * sizeof(void *));
    size_t count = 0;

    if (sorted == NULL)
        return error_no_memory(binder->error);
    for (const struct ast_column *column = create->columns; column != NULL;
         column = column->next)
        sorted[count++] = column;
    qsort(sorted, count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < count; i++)
        if (name_equal(sorted[i - 1]->name.text, sorted[i]->name.text))
            return refuse_repeated(sorted[i - 1], sorted[i], binder->error);
    return VDBQ_OK;
}

/* ----------------------------------------------------------------- key -- */

static enum vdbq_status two_keys(const struct ast_create *create,
                                 struct position at, struct error *error)
{
    error_at(error, VDBQ_SYNTAX, at,
             "table %s has more than one primary key", create->table.text);
    return error_hint(error, "one column can be the primary key");
}

static enum vdbq_status find_key(const struct ast_create *create,
                                 struct binder *binder,
                                 struct plan_create *plan)
{
    unsigned number = 0;

    plan->key = NO_KEY;
    for (const struct ast_column *column = create->columns; column != NULL;
         column = column->next, number++) {
        if (!column->primary_key)
            continue;
        if (plan->key != NO_KEY)
            return two_keys(create, column->key_at, binder->error);
        plan->key = number;
    }
    if (create->key.text == NULL)
        return VDBQ_OK;
    if (plan->key != NO_KEY)
        return two_keys(create, create->key.at, binder->error);
    return named_key(create, binder, plan);
}

/* The column that PRIMARY KEY (name) means. */
static enum vdbq_status named_key(const struct ast_create *create,
                                  struct binder *binder,
                                  struct plan_create *plan)
{
    const struct table made = {
        .name = plan->name,
        .column_count = plan->column_count,
        .columns = plan->columns,
        .key = NO_KEY
    };

    return find_column(&made, &create->key, &plan->key, binder->error);
}
