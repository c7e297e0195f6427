/* SPDX-License-Identifier: MIT */
/*
 * The tables of aggregates and window functions.
 */
#include "program/steps/aggregates.h"

#include <assert.h>
#include <stddef.h>

#include "base/text.h"

#define ROW(NAME, text, state, result, of_none, meaning)                       \
    { .function = AGGREGATE_##NAME,                                            \
      .name = #text,                                                           \
      .keeps = AGGREGATE_KEEPS_##state,                                        \
      .gives = AGGREGATE_GIVES_##result,                                       \
      .none = AGGREGATE_##of_none },
static const struct aggregate_row aggregates[] = { AGGREGATES(ROW)
                                                       INNER_AGGREGATES(ROW) };
#undef ROW

#define ROW(NAME, text, least_count, most_count, meaning)                      \
    { .function = WINDOW_##NAME,                                               \
      .name = #text,                                                           \
      .least = least_count,                                                    \
      .most = most_count },
static const struct window_row windows[] = { WINDOW_FUNCTIONS(ROW) };
#undef ROW

/* Those with names in SQL come first. */
#define ONE(...) +1
enum { NAMED = AGGREGATES(ONE), WINDOWS = WINDOW_FUNCTIONS(ONE) };

const struct aggregate_row *aggregate_row(enum aggregate_function function)
{
    assert((size_t)function < sizeof aggregates / sizeof *aggregates);
    assert(aggregates[function].function == function);
    return &aggregates[function];
}

const char *aggregate_name(enum aggregate_function function)
{
    return aggregate_row(function)->name;
}

const char *window_name(enum window_function function)
{
    assert((size_t)function < WINDOWS);
    return windows[function].name;
}

const struct aggregate_row *aggregate_named(const char *name)
{
    for (unsigned i = 0; i < NAMED; i++)
        if (name_equal(aggregates[i].name, name))
            return &aggregates[i];
    return NULL;
}

const struct window_row *window_named(const char *name)
{
    for (unsigned i = 0; i < WINDOWS; i++)
        if (name_equal(windows[i].name, name))
            return &windows[i];
    return NULL;
}
