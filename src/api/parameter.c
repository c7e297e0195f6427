/* SPDX-License-Identifier: MIT */
/*
 * Values of parameters. The statement is planned for their types; where it is
 * planned for their values (LIMIT, rows of INSERT), also for those. A value
 * that changes what the plan was made for makes it be planned again.
 */
#include "api/query.h"

#include <math.h>
#include <string.h>

#include "base/type.h"

unsigned query_parameter_count(const vdbq_query *query)
{
    return query->statement ? query->statement->parameter_count : 0;
}

unsigned vdbq_query_parameters(const vdbq_query *query)
{
    return query != NULL && !query->executes ? query_parameter_count(query) : 0;
}

const char *vdbq_query_parameter_name(const vdbq_query *query,
                                      unsigned parameter)
{
    const char *name = NULL;
    if (parameter >= 1 && parameter <= vdbq_query_parameters(query)
        && query->statement->parameter_names != NULL)
        name = query->statement->parameter_names[parameter - 1];
    return name != NULL ? name : "";
}

unsigned vdbq_query_parameter_index(const vdbq_query *query, const char *name)
{
    unsigned count = vdbq_query_parameters(query);
    if (name == NULL)
        return 0;
    if (*name == ':' || *name == '$' || *name == '@')
        name++;
    for (unsigned i = 1; i <= count && *name != '\0'; i++)
        if (strcmp(vdbq_query_parameter_name(query, i), name) == 0)
            return i;
    return 0;
}

/* Frees what a value has. */
static void release(const struct parameter *value)
{
    memory_release((char *)value->text.bytes);
    memory_release((void *)value->array);
}

enum vdbq_status query_parameters_open(vdbq_query *query)
{
    unsigned count = query_parameter_count(query);
    if (count == 0)
        return VDBQ_OK;
    query->parameters =
        arena_alloc(&query->arena, count * sizeof *query->parameters);
    if (query->parameters == NULL)
        return error_no_memory(&query->db->error);
    for (unsigned i = 0; i < count; i++)
        query->parameters[i].null = true;
    return VDBQ_OK;
}

void query_parameters_close(vdbq_query *query)
{
    unsigned count = query->parameters ? query_parameter_count(query) : 0;
    for (unsigned i = 0; i < count; i++)
        release(&query->parameters[i]);
}

/* -------------------------------------------------------------- binding -- */

/* Whether there is such a parameter. */
static enum vdbq_status check_number(vdbq_query *query, unsigned parameter)
{
    unsigned count = vdbq_query_parameters(query);
    if (parameter >= 1 && parameter <= count)
        return VDBQ_OK;
    return error_set(&query->db->error, VDBQ_RANGE,
                     "the statement has %u parameter%s, and none with the "
                     "number %u",
                     count, count == 1 ? "" : "s", parameter);
}

/* Whether the plan is no longer what is to be run, once a parameter has that value. */
static bool makes_stale(const vdbq_query *query, const struct parameter *before,
                        const struct parameter *value)
{
    const struct plan *plan = &query->plan;
    bool of_any =
        query->planned && plan->kind == PLAN_INSERT && plan->insert.of_any;

    return plan->of_values || value->array != NULL || before->array != NULL
           || (value->type != before->type && !of_any);
}

enum vdbq_status query_bind(vdbq_query *query, unsigned parameter,
                            struct parameter value)
{
    if (query == NULL)
        return VDBQ_MISUSE;
    enum vdbq_status status = session_begin(query->db);
    if (status == VDBQ_OK)
        status = check_number(query, parameter);
    if (status != VDBQ_OK) {
        release(&value);
        return session_report(query->db, status, NULL, 0);
    }
    struct parameter *to = &query->parameters[parameter - 1];
    query_end(query);
    query->batch = (struct vdbq_batch){ 0 };
    query->state = QUERY_READY;
    query->failed = false;
    query->replan |= makes_stale(query, to, &value);
    if (value.type != to->type)
        query_round_forget(query);
    release(to);
    *to = value;
    return session_report(query->db, VDBQ_OK, NULL, 0);
}

enum vdbq_status vdbq_bind_null(vdbq_query *query, unsigned parameter)
{
    return query_bind(query, parameter, (struct parameter){ .null = true });
}

enum vdbq_status vdbq_bind_int64(vdbq_query *query, unsigned parameter,
                                 int64_t value)
{
    return query_bind(
        query, parameter,
        (struct parameter){ .type = VDBQ_BIGINT, .integer = value });
}

enum vdbq_status vdbq_bind_double(vdbq_query *query, unsigned parameter,
                                  double value)
{
    if (isnan(value))
        return vdbq_bind_null(query, parameter);
    return query_bind(query, parameter,
                      (struct parameter){ .type = VDBQ_DOUBLE, .real = value });
}

enum vdbq_status vdbq_bind_text(vdbq_query *query, unsigned parameter,
                                const char *bytes, ptrdiff_t length)
{
    if (query == NULL || bytes == NULL)
        return vdbq_bind_null(query, parameter);
    size_t size = length < 0 ? strlen(bytes) : (size_t)length;
    enum vdbq_status status = session_begin(query->db);
    char *copy = NULL;
    if (status == VDBQ_OK && !text_is_utf8(bytes, size))
        status = error_set(&query->db->error, VDBQ_RANGE,
                           "the text for parameter %u is not UTF-8", parameter);
    if (status == VDBQ_OK) {
        copy = memory_zeroed(size + 1, 1);
        if (copy == NULL)
            status = error_no_memory(&query->db->error);
    }
    if (status != VDBQ_OK)
        return session_report(query->db, status, NULL, 0);
    memcpy(copy, bytes, size);
    return query_bind(
        query, parameter,
        (struct parameter){ .type = VDBQ_TEXT, .text = { copy, size } });
}

void vdbq_bind_clear(vdbq_query *query)
{
    for (unsigned i = 1; i <= vdbq_query_parameters(query); i++)
        vdbq_bind_null(query, i);
}
