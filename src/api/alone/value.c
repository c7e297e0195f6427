/* SPDX-License-Identifier: MIT */
/*
 * Values, types and statuses as text, and the library's workers, for callers:
 * these calls need no connection.
 */
#include "api/vdbq.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/threads/parallel.h"
#include "base/type.h"
#include "data/catalogue/catalogue.h"

const char *vdbq_status_text(enum vdbq_status status)
{
    switch (status) {
#define STATUS_TEXT(name, number, text)                                        \
    case VDBQ_##name:                                                          \
        return text;
        VDBQ_STATUSES(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "an unknown status";
}

const char *vdbq_version(void)
{
    return VDBQ_VERSION;
}

const char *vdbq_type_name(enum vdbq_type type)
{
    return type_name(type);
}

bool vdbq_name_is_plain(const char *name)
{
    return name != NULL && name_is_plain(name);
}

_Static_assert((int)VDBQ_VALUE_BYTES == (int)TYPE_TEXT_MAX, "room for values");

static bool is_type(enum vdbq_type type, unsigned precision, unsigned scale)
{
    return type > VDBQ_TYPE_NONE && (unsigned)type < TYPES
           && precision <= DECIMAL_DIGITS_MAX && scale <= DECIMAL_DIGITS_MAX;
}

size_t vdbq_value_print(enum vdbq_type type, unsigned scale, const void *value,
                        char *room)
{
    if (room == NULL)
        return 0;
    room[0] = '\0';
    if (value == NULL || type == VDBQ_TEXT || !is_type(type, 0, scale))
        return 0;
    return type_print(type, scale, value, room);
}

bool vdbq_value_parse(enum vdbq_type type, unsigned precision, unsigned scale,
                      const char *bytes, size_t length, void *value)
{
    if (value == NULL || (bytes == NULL && length > 0)
        || !is_type(type, precision, scale))
        return false;
    bytes = bytes ? bytes : "";
    if (type != VDBQ_TEXT)
        return type_parse(type, precision, scale, bytes, length, value);
    *(struct vdbq_text *)value = (struct vdbq_text){ bytes, length };
    return text_is_utf8(bytes, length);
}

void vdbq_free(void *text)
{
    memory_release(text);
}

void vdbq_run_loop(unsigned count, vdbq_work work, void *context)
{
    if (work != NULL)
        parallel_run(count, work, context);
}
