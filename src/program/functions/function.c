/* SPDX-License-Identifier: MIT */
/*
 * The table of functions, and calls of them.
 */
#include "program/functions/function_inner.h"

#include <assert.h>
#include <strings.h>

#include "program/functions/function_table.h"

#define PASS(...)
#define ROW(name, least, most, gives, takes, may, body, meaning)               \
    { #name,                                                                   \
      least,                                                                   \
      most,                                                                    \
      VDBQ_##gives,                                                            \
      takes,                                                                   \
      FUNCTION_##may == FUNCTION_NULLS,                                        \
      FUNCTION_##may >= FUNCTION_FAILS,                                        \
      FUNCTION_##may == FUNCTION_LONG,                                         \
      function_##body },
static const struct function table[] = { SCALAR_FUNCTIONS(PASS, PASS, ROW)
                                             INNER_FUNCTIONS(ROW) };

/* One letter an argument, and no more arguments than a call has room for. */
#define CHECK(name, least, most, gives, takes, may, body, meaning)             \
    static_assert(sizeof takes == most + 1 && least <= most                    \
                      && most <= FUNCTION_ARGUMENTS_MAX,                       \
                  #name);
SCALAR_FUNCTIONS(PASS, PASS, CHECK)
INNER_FUNCTIONS(CHECK)

const struct function *function_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcasecmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

enum vdbq_type function_takes(const struct function *function, unsigned i)
{
    assert(i < function->most);
    return function->takes[i] == 'T'   ? VDBQ_TEXT
           : function->takes[i] == 'I' ? VDBQ_BIGINT
                                       : VDBQ_DOUBLE;
}

enum vdbq_status function_call(const struct function *function,
                               const struct function_value *arguments,
                               unsigned count, struct arena *arena,
                               struct function_value *value,
                               struct error *error)
{
    struct function_call_state state = { .arguments = arguments,
                                         .count = count,
                                         .arena = arena,
                                         .value = value,
                                         .error = error };
    assert(count >= function->least && count <= function->most);
    *value = (struct function_value){ 0 };
    return function->compute(&state);
}
