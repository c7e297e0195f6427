/* SPDX-License-Identifier: MIT */
/*
 * Arrays as values of parameters. They are kept as the planner reads lists:
 * integers as BIGINT, floats as DOUBLE, dates and times as their text; in one
 * piece of memory, the vector first.
 */
#include <math.h>
#include <string.h>

#include "api/query.h"
#include "base/type.h"

/* A vector that is being copied. */
struct copy {
    const struct vdbq_vector *from;
    uint64_t count;
    enum vdbq_type type;      /* of the copy                       */
    struct vdbq_vector *made; /* what the query keeps              */
    union {
        void *values;
        int64_t *integers;
        double *reals;
        struct vdbq_text *texts;
    };
    uint8_t *nulls;
    char *bytes; /* room for texts, ended by a NUL each */
};

/* ----------------------------------------------------------- one value -- */

static bool is_null(const struct copy *copy, uint64_t i)
{
    return copy->from->nulls != NULL && copy->from->nulls[i] != 0;
}

static bool is_moment(enum vdbq_type type)
{
    return type == VDBQ_DATE || type == VDBQ_TIMESTAMP;
}

/* The type in which values of one are kept; NONE: they cannot be. */
static enum vdbq_type kept_type(enum vdbq_type type)
{
    if (type == VDBQ_TEXT || is_moment(type))
        return VDBQ_TEXT;
    if (type == VDBQ_FLOAT || type == VDBQ_DOUBLE)
        return VDBQ_DOUBLE;
    return type == VDBQ_INTEGER || type == VDBQ_BIGINT || type == VDBQ_BOOLEAN
                   || type == VDBQ_SMALLINT
               ? VDBQ_BIGINT
               : VDBQ_TYPE_NONE;
}

/* Bytes of the copy of a text or a moment, with the NUL. */
static uint64_t text_bytes(const struct copy *copy, uint64_t i)
{
    if (is_null(copy, i))
        return 0;
    return is_moment(copy->from->type)
               ? VDBQ_VALUE_BYTES
               : ((const struct vdbq_text *)copy->from->values)[i].length + 1;
}

/* A date or time as its text; false: its type has none of that value. */
static bool copy_moment(struct copy *copy, uint64_t i)
{
    enum vdbq_type type = copy->from->type;
    const char *values = copy->from->values;
    int64_t again;
    size_t length = vdbq_value_print(
        type, 0,
        values + i * (type == VDBQ_DATE ? sizeof(int32_t) : sizeof(int64_t)),
        copy->bytes);

    copy->texts[i] = (struct vdbq_text){ copy->bytes, length };
    return length > 0
           && vdbq_value_parse(type, 0, 0, copy->bytes, length, &again);
}

/* False: the text cannot be in a list. */
static bool copy_text(struct copy *copy, uint64_t i)
{
    const struct vdbq_text *from =
        (const struct vdbq_text *)copy->from->values + i;

    copy->texts[i] = (struct vdbq_text){ copy->bytes, from->length };
    if (from->length == 0)
        return true;
    if (from->bytes == NULL || !text_is_utf8(from->bytes, from->length)
        || memchr(from->bytes, 0, from->length) != NULL)
        return false;
    memcpy(copy->bytes, from->bytes, from->length);
    return true;
}

static void copy_real(struct copy *copy, uint64_t i)
{
    const void *values = copy->from->values;
    double real = copy->from->type == VDBQ_FLOAT
                      ? (double)((const float *)values)[i]
                      : ((const double *)values)[i];

    copy->reals[i] = real;
    copy->nulls[i] = isnan(real);
}

static void copy_integer(struct copy *copy, uint64_t i)
{
    copy->integers[i] = copy->from->type == VDBQ_BIGINT
                            ? ((const int64_t *)copy->from->values)[i]
                            : ((const int32_t *)copy->from->values)[i];
}

/* --------------------------------------------------------- all of them -- */

/* Bytes of memory of the whole copy, values of 8 bytes, or of 16. */
static uint64_t copy_bytes(const struct copy *copy)
{
    uint64_t bytes = sizeof *copy->made;

    for (uint64_t i = 0; i < copy->count && copy->type == VDBQ_TEXT; i++)
        bytes += text_bytes(copy, i);
    return bytes
           + copy->count
                 * (1
                    + (copy->type == VDBQ_TEXT ? sizeof(struct vdbq_text)
                                               : sizeof(int64_t)));
}

/* Makes room: the vector, its values, its nulls, then texts. */
static bool make_room(struct copy *copy)
{
    uint64_t width =
        copy->type == VDBQ_TEXT ? sizeof(struct vdbq_text) : sizeof(int64_t);

    if (copy->count > SIZE_MAX / 64)
        return false;
    copy->made = memory_zeroed(copy_bytes(copy), 1);
    if (copy->made == NULL)
        return false;
    copy->values = copy->made + 1;
    copy->nulls = (uint8_t *)copy->values + copy->count * width;
    copy->bytes = (char *)copy->nulls + copy->count;
    *copy->made = (struct vdbq_vector){ .type = copy->type,
                                        .values = copy->values,
                                        .nulls = copy->nulls };
    return true;
}

/* Copies all values; false: `*wrong` is one that cannot be in a list. */
static bool copy_values(struct copy *copy, uint64_t *wrong)
{
    bool done = true;

    for (uint64_t i = 0; i < copy->count && done; i++) {
        *wrong = i;
        copy->nulls[i] = is_null(copy, i);
        if (copy->nulls[i] != 0)
            continue;
        if (copy->type == VDBQ_TEXT) {
            done = is_moment(copy->from->type) ? copy_moment(copy, i)
                                               : copy_text(copy, i);
            copy->bytes += text_bytes(copy, i);
        } else if (copy->type == VDBQ_DOUBLE)
            copy_real(copy, i);
        else
            copy_integer(copy, i);
    }
    return done;
}

static enum vdbq_status copy_array(struct copy *copy, unsigned parameter,
                                   struct error *error)
{
    uint64_t wrong;

    if (copy->type == VDBQ_TYPE_NONE)
        return error_set(error, VDBQ_TYPE,
                         "an array for parameter %u cannot be of type %s",
                         parameter, vdbq_type_name(copy->from->type));
    if (!make_room(copy))
        return error_no_memory(error);
    if (copy_values(copy, &wrong))
        return VDBQ_OK;
    memory_release(copy->made);
    return error_set(
        error, VDBQ_RANGE, "value %llu of the array for parameter %u is %s",
        (unsigned long long)wrong + 1, parameter,
        is_moment(copy->from->type) ? "out of range"
                                    : "not UTF-8, or has a NUL in it");
}

enum vdbq_status vdbq_bind_array(vdbq_query *query, unsigned parameter,
                                 uint64_t count,
                                 const struct vdbq_vector *values)
{
    struct copy copy = { .from = values, .count = count };

    if (query == NULL)
        return VDBQ_MISUSE;
    if (values == NULL || (count > 0 && values->values == NULL))
        return session_misuse(query->db, "the array's values");
    enum vdbq_status status = session_begin(query->db);
    copy.type = count == 0 ? VDBQ_BIGINT : kept_type(values->type);
    if (status == VDBQ_OK)
        status = copy_array(&copy, parameter, &query->db->error);
    if (status != VDBQ_OK)
        return session_report(query->db, status, NULL, 0);
    return query_bind(query, parameter,
                      (struct parameter){ .null = true,
                                          .array = copy.made,
                                          .array_count = count });
}
