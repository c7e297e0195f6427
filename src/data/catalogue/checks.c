/* SPDX-License-Identifier: MIT */
/*
 * CHECKs of tables. A row breaks one whose condition is false; one of which it is
 * NULL is kept. The catalogue has the condition as a text, and which columns it
 * reads; who knows SQL says of which rows a text is true, as of an index that has
 * some rows alone (data/rule/row_checks.c).
 */
#include <assert.h>
#include <string.h>

#include "data/catalogue/catalogue_inner.h"

struct index row_check_index(const struct table *table,
                             const struct row_check *check,
                             const char *where_sql, struct index_keys *keys)
{
    *keys = (struct index_keys){ .where_sql = where_sql,
                                 .read_count = check->read_count,
                                 .reads = check->reads };
    return (struct index){ .name =
                               check->name != NULL ? check->name : check->sql,
                           .table_id = table->id,
                           .keys = keys };
}

bool row_check_reads(const struct row_check *check, const bool *columns)
{
    bool reads = false;

    for (unsigned i = 0; i < check->read_count; i++)
        reads |= columns[check->reads[i]];
    return reads;
}

void row_check_sql(const struct row_check *check, struct text *text)
{
    if (check->name != NULL) {
        text_print(text, "CONSTRAINT ");
        name_sql(check->name, text);
        text_print(text, " ");
    }
    text_print(text, "CHECK (%s)", check->sql);
}

/* A copy of its own. */
static bool copy_check(struct arena *arena, const struct row_check *from,
                       struct row_check *to)
{
    size_t bytes = from->read_count * sizeof *to->reads;

    *to = *from;
    to->sql = arena_copy(arena, from->sql, strlen(from->sql));
    to->reads = arena_alloc(arena, bytes);
    if (from->name != NULL)
        to->name = arena_copy(arena, from->name, strlen(from->name));
    if (to->sql == NULL || to->reads == NULL
        || (from->name != NULL && to->name == NULL))
        return false;
    assert(from->read_count > 0);
    memcpy(to->reads, from->reads, bytes);
    return true;
}

bool copy_checks(struct arena *arena, const struct row_check *checks,
                 unsigned count, struct table *to)
{
    struct row_check *copies = arena_alloc(arena, count * sizeof *copies);
    bool done = copies != NULL;

    for (unsigned i = 0; i < count && done; i++)
        done = copy_check(arena, &checks[i], &copies[i]);
    to->checks = copies;
    to->check_count = count;
    return done;
}

bool catalogue_add_checks(struct catalogue *catalogue, uint32_t id,
                          const struct row_check *checks, unsigned count)
{
    struct table *table = (struct table *)catalogue_table_id(catalogue, id);
    struct arena *arena = &catalogue->names->arena;
    const struct row_check *before = table->checks;
    unsigned had = table->check_count;
    struct row_check *all;

    if (count == 0)
        return true;
    all = arena_alloc(arena, (had + (size_t)count) * sizeof *all);
    if (all == NULL || !copy_checks(arena, checks, count, table))
        return false;
    if (had > 0)
        memcpy(all, before, had * sizeof *all);
    memcpy(all + had, table->checks, count * sizeof *all);
    table->checks = all;
    table->check_count = had + count;
    return true;
}
