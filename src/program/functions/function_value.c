/* SPDX-License-Identifier: MIT */
/*
 * What the bodies of functions share: texts as values. It calls no function, so
 * that the table (function.c) and the bodies stand above it.
 */
#include "program/functions/function_inner.h"

#include <string.h>

char *function_room(struct function_call_state *state, size_t length)
{
    char *room = arena_alloc(state->arena, length + 1);
    state->value->text = (struct vdbq_text){ room, length };
    return room;
}

enum vdbq_status function_text(struct function_call_state *state,
                               const char *bytes, size_t length)
{
    state->value->text = (struct vdbq_text){ bytes, length };
    return VDBQ_OK;
}

enum vdbq_status function_text_copy(struct function_call_state *state,
                                    const char *bytes, size_t length)
{
    char *room = function_room(state, length);
    if (room == NULL)
        return error_no_memory(state->error);
    memcpy(room, bytes, length);
    return VDBQ_OK;
}

enum vdbq_status function_too_long(struct function_call_state *state)
{
    return error_set(state->error, VDBQ_RANGE,
                     "a text would be longer than %d bytes", FUNCTION_TEXT_MAX);
}

bool function_text_add(struct text *made, const char *bytes, size_t length)
{
    if (length > FUNCTION_TEXT_MAX - made->length)
        return false;
    if (length > 0)
        text_add(made, bytes, length);
    return true;
}

enum vdbq_status function_text_made(struct function_call_state *state,
                                    const struct text *made, bool too_long)
{
    if (made->failed)
        return error_no_memory(state->error);
    if (too_long)
        return function_too_long(state);
    return function_text_copy(state, made->length > 0 ? made->bytes : "",
                              made->length);
}
