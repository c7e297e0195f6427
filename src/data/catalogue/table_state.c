/* SPDX-License-Identifier: MIT */
/*
 * The rows of a table: how many there are, and what their state is known by
 * (identity rule 3).
 */
#include "data/catalogue/catalogue_inner.h"

/* Numbers that a state is the hash of: so many at once, which XXH3 takes in one
 * go. */
enum { STATE_NUMBERS = 30 };
struct state {
    uint64_t numbers[STATE_NUMBERS]; /* the hash of those before, then others */
    unsigned count;                  /* of these, 2 at least                  */
};

static struct identity hash_state(const struct state *state)
{
    return identity_of_bytes(state->numbers,
                             state->count * sizeof *state->numbers);
}

static void add_state(struct state *state, uint64_t number)
{
    if (state->count == STATE_NUMBERS) {
        const struct identity before = hash_state(state);
        state->numbers[0] = before.origin;
        state->numbers[1] = before.number;
        state->count = 2;
    }
    state->numbers[state->count++] = number;
}

void table_number_rows(struct table *table)
{
    table->rows = 0;
    for (size_t i = 0; i < table->tablet_count; i++) {
        table->tablets[i].row_first = table->rows;
        table->rows += table->tablets[i].rows;
    }
}

void table_count_rows(struct table *table)
{
    struct state state = { .count = 2 };

    table_number_rows(table);
    add_state(&state, table->column_count);
    for (unsigned i = 0; i < table->column_count; i++)
        add_state(&state, (uint64_t)table->columns[i].collation << 32
                              | (uint64_t)table->columns[i].type);
    for (size_t i = 0; i < table->tablet_count; i++) {
        const struct tablet_ref *tablet = &table->tablets[i];
        add_state(&state, tablet->identity.origin);
        add_state(&state, tablet->identity.number);
        add_state(&state, tablet->checksum);
        add_state(&state, tablet->rows);
    }
    table->state = hash_state(&state);
}
