/* SPDX-License-Identifier: MIT */
/*
 * Whether to look for rows by runs takes less time than to make a set of all rows of
 * the table: rule_find.h.
 */
#include "base/hostile.h"
#include "data/database/database_inner.h"
#include "data/rule/rule_looking.h"

enum {
    SEARCHED_ROWS_MAX = HOSTILE(8, 64),
    SEARCHED_TABLE_MIN = HOSTILE(4, 1 << 16), /* rows ... */
    COMPUTED_TABLE_MIN =
        HOSTILE(4, 1 << 12),  /* ... of which keys are computed */
    SEARCH_COST = 8,          /* of a row in one tablet, in rows that are put
                                 into a set, ...                            */
    SEARCHES = HOSTILE(16, 1) /* ... so many of them                        */
};

static bool is_large(const struct rule_find *find)
{
    uint64_t least =
        find->rule->keyed != NULL ? COMPUTED_TABLE_MIN : SEARCHED_TABLE_MIN;

    return find->table->rows > least;
}

bool rule_is_searched(const struct rule_find *find, uint64_t rows)
{
    return rows <= SEARCHED_ROWS_MAX && is_large(find);
}

/* What looking for a row costs: a search in each tablet, and in each run of its edit. */
static uint64_t search_cost(const struct rule_find *find)
{
    unsigned count;
    const unsigned *columns = rule_reads(find->rule, &count);
    uint64_t cost = 0;

    for (size_t i = 0; i < find->table->tablet_count; i++) {
        const struct edit *edit = find->table->tablets[i].edit;
        cost += SEARCH_COST;
        for (unsigned k = 0; k < EDITED_LEVELS; k++)
            if (edited_level(edit, columns, count, k) != NULL)
                cost += SEARCH_COST;
    }
    return cost;
}

/* Rows that were looked for in the table. */
static uint64_t searched_before(const struct rule_find *find)
{
    return find->database->searched_table == find->table->id
               ? find->database->searched_rows
               : 0;
}

bool rule_is_searched_together(const struct rule_find *find, uint64_t rows)
{
    return rule_is_searched(find, rows)
           || (is_large(find)
               && searched_before(find) + rows
                      <= find->table->rows * SEARCHES / search_cost(find));
}

void rule_count_searched(const struct rule_find *find, uint64_t rows)
{
    struct database *database = find->database;

    if (rows <= SEARCHED_ROWS_MAX)
        return;
    database->searched_rows = searched_before(find) + rows;
    database->searched_table = find->table->id;
}
