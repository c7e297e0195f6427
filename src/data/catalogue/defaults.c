/* SPDX-License-Identifier: MIT */
/*
 * Trees of DEFAULTs: defaults.h.
 */
#include "data/catalogue/defaults.h"

#include <assert.h>

#include "data/catalogue/catalogue.h"

static bool has_default(const struct table *table);
static enum vdbq_status parse_column(default_parser parse,
                                     struct column *column,
                                     struct defaults *defaults,
                                     const struct table *table,
                                     struct error *error);

enum vdbq_status defaults_parse(default_parser parse, struct table *table,
                                struct error *error)
{
    struct defaults *defaults;
    enum vdbq_status status = VDBQ_OK;

    assert(table->defaults == NULL);
    if (parse == NULL || !has_default(table))
        return VDBQ_OK;
    defaults = memory_zeroed(1, sizeof *defaults);
    if (defaults == NULL)
        return error_no_memory(error);
    table->defaults = defaults_hold(defaults);
    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++)
        if (table->columns[i].default_sql != NULL)
            status =
                parse_column(parse, &table->columns[i], defaults, table, error);
    return status;
}

struct defaults *defaults_hold(struct defaults *defaults)
{
    if (defaults != NULL)
        defaults->holders++;
    return defaults;
}

void defaults_release(struct defaults *defaults)
{
    if (defaults == NULL)
        return;
    assert(defaults->holders > 0);
    if (--defaults->holders > 0)
        return;
    arena_finish(&defaults->arena);
    memory_release(defaults);
}

static bool has_default(const struct table *table)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (table->columns[i].default_sql != NULL)
            return true;
    return false;
}

/* CREATE TABLE took the text for an expression: what is none comes from a
 * file, and is told as such. */
static enum vdbq_status parse_column(default_parser parse,
                                     struct column *column,
                                     struct defaults *defaults,
                                     const struct table *table,
                                     struct error *error)
{
    enum vdbq_status status = parse(column->default_sql, &defaults->arena,
                                    &column->default_tree, error);

    if (status == VDBQ_OK || status == VDBQ_NO_MEMORY)
        return status;
    return error_set(error, VDBQ_CORRUPT,
                     "the default of column %s in table %s is no expression: "
                     "%s",
                     column->name, table->name, column->default_sql);
}
