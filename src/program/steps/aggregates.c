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
static const struct aggregate_row aggregates[] = { AGGREGATES(
    ROW) INNER_AGGREGATES(ROW) ORDER_AGGREGATES(ROW) MADE_AGGREGATES(ROW) };
#undef ROW

#define ROW(text, NAME) { .name = #text, .function = AGGREGATE_##NAME },
static const struct {
    const char *name;
    enum aggregate_function function;
} aliases[] = { AGGREGATE_ALIASES(ROW) };
#undef ROW

#define ROW(NAME, text, least_count, most_count, meaning)                      \
    { .function = WINDOW_##NAME,                                               \
      .name = #text,                                                           \
      .least = least_count,                                                    \
      .most = most_count },
#define INNER_ROW(NAME, text, meaning)                                         \
    { .function = WINDOW_##NAME, .name = #text, .least = 1, .most = 1 },
static const struct window_row windows[] = {
    WINDOW_FUNCTIONS(ROW) SHARE_FUNCTIONS(ROW) TEXT_FUNCTIONS(ROW)
        FOLD_FUNCTIONS(ROW) QUANTILE_FUNCTIONS(INNER_ROW)
};
#undef INNER_ROW
#undef ROW

/* Inner ones have no name in SQL. */
#define ONE(...) +1
enum {
    FIRST_INNER = AGGREGATES(ONE),
    FIRST_ORDER = AGGREGATES(ONE) INNER_AGGREGATES(ONE),
    ALL = sizeof aggregates / sizeof *aggregates,
    FIRST_FOLD = WINDOW_FUNCTIONS(ONE) SHARE_FUNCTIONS(ONE) TEXT_FUNCTIONS(ONE),
    FIRST_QUANTILE = FIRST_FOLD FOLD_FUNCTIONS(ONE),
    WINDOWS = sizeof windows / sizeof *windows
};

const struct aggregate_row *aggregate_row(enum aggregate_function function)
{
    assert((size_t)function < ALL);
    assert(aggregates[function].function == function);
    return &aggregates[function];
}

const char *aggregate_name(enum aggregate_function function)
{
    return aggregate_row(function)->name;
}

bool aggregate_takes_once(enum aggregate_function function)
{
    switch (aggregate_row(function)->keeps) {
    case AGGREGATE_KEEPS_BITS:
        return function != AGGREGATE_BIT_XOR;
    case AGGREGATE_KEEPS_BEST:
    case AGGREGATE_KEEPS_FIRST:
        return true;
    default:
        return false;
    }
}

uint64_t aggregate_turn(enum aggregate_function function)
{
    return function == AGGREGATE_MIN || function == AGGREGATE_BIT_AND
               ? UINT64_MAX
               : 0;
}

const char *window_name(enum window_function function)
{
    assert((size_t)function < WINDOWS);
    return windows[function].name;
}

bool window_is_fold(enum window_function function)
{
    return (unsigned)function >= FIRST_FOLD
           && (unsigned)function < FIRST_QUANTILE;
}

bool window_is_quantile(enum window_function function)
{
    return (unsigned)function >= FIRST_QUANTILE && (unsigned)function < WINDOWS;
}

const struct aggregate_row *aggregate_named(const char *name)
{
    for (unsigned i = 0; i < ALL; i++)
        if ((i < FIRST_INNER || i >= FIRST_ORDER)
            && name_equal(aggregates[i].name, name))
            return &aggregates[i];
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (name_equal(aliases[i].name, name))
            return aggregate_row(aliases[i].function);
    return NULL;
}

const struct window_row *window_named(const char *name)
{
    for (unsigned i = 0; i < FIRST_QUANTILE; i++)
        if (name_equal(windows[i].name, name))
            return &windows[i];
    return NULL;
}
