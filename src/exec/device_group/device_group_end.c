/* SPDX-License-Identifier: MIT */
/*
 * The end of grouping on a device: the groups are listed, brought into the order
 * of their first rows, and then copied to the host or written as columns.
 */
#include <assert.h>

#include "base/hostile.h"
#include "base/type.h"
#include "exec/device_group/device_group_inner.h"
#include "exec/sort/sort.h"

enum {
    PINNED_MIN = 1 << 20, /* bytes that are worth it                     */
    ORDER_MIN = 1 << 12   /* groups that the device orders by first rows */
};
/* Groups that there is room for at first: large tables mostly have no more. And bytes
 * of groups that come along as they are listed, whether there are so many or not. */
enum { LIST_FIRST = HOSTILE(2, 1 << 20), ALONG_BYTES = HOSTILE(256, 64 << 10) };
#define RESULTS_MAX (GROUP_KEYS_MAX + GROUP_AGGREGATES_MAX)

/* ----------------------------------------------------------------- list -- */

/* Has groups listed, as far as there is room. */
static enum vdbq_status send_list(struct device_group *group, uint64_t room,
                                  struct error *error)
{
    uint64_t slots = device_group_slots(&group->shape.control);
    enum vdbq_status status =
        group->reported
            ? device_fill(group->state, sizeof(struct group_state), 0, error)
            : VDBQ_OK;
    group->reported = true;
    return status != VDBQ_OK
               ? status
               : device_group_call(
                   group,
                   &(struct device_call){
                       .kernel = KERNEL_GROUP_LIST,
                       .memories = { group->control, group->records,
                                     group->listed.elements, group->state },
                       .memory_count = 4,
                       .numbers = { slots, room },
                       .number_count = 2,
                       .items = slots },
                   error);
}

/* Lists groups, as far as there is room; how many there are. */
static enum vdbq_status list(struct device_group *group, uint64_t room,
                             uint32_t *count, struct error *error)
{
    struct group_state state = { 0 };
    enum vdbq_status status = send_list(group, room, error);
    if (status == VDBQ_OK)
        status = device_group_state(group, &state, error);
    *count = state.count;
    return status;
}

/* Has the groups that are listed copied, `count` at most, behind a u64: how many there
 * are. */
static enum vdbq_status send_out(struct device_group *group,
                                 struct device_memory *out, uint64_t count,
                                 struct error *error)
{
    return device_group_call(
        group,
        &(struct device_call){
            .kernel = KERNEL_GROUP_OUT,
            .memories = { group->control, group->records, group->codes,
                          group->listed.elements, out, group->state },
            .memory_count = 6,
            .numbers = { count },
            .number_count = 1,
            .items = count },
        error);
}

/* Groups that there is room for as they are listed. */
static uint64_t room_of_list(const struct device_group *group)
{
    uint64_t room = device_group_slots(&group->shape.control);
    if (room > group->rows)
        room = group->rows;
    return room < LIST_FIRST ? room : LIST_FIRST;
}

static uint64_t along_bytes(const struct device_group *group, uint64_t room)
{
    return sizeof(u64) + room * device_groups_of(&group->shape).width;
}

/* Whether so many groups come along. */
static bool comes_along(const struct device_group *group, uint64_t room)
{
    return along_bytes(group, room) <= sizeof(u64) + ALONG_BYTES;
}

/* Has groups listed, for all of which there is room, and copied to where they are
 * brought along from, so that the host waits once. */
static enum vdbq_status send_along(struct device_group *group, uint64_t room,
                                   struct error *error)
{
    uint64_t bytes = along_bytes(group, room);
    group->along = memory_zeroed(1, bytes);
    if (group->along == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        device_group_memory(group, bytes, &group->out, error);
    if (status == VDBQ_OK)
        status = send_list(group, room, error);
    return status == VDBQ_OK ? send_out(group, group->out, room, error)
                             : status;
}

/* Brings them; how many there are. */
static enum vdbq_status bring_along(struct device_group *group, uint64_t room,
                                    uint32_t *count, struct error *error)
{
    enum vdbq_status status =
        device_read(group->out, 0, group->along, along_bytes(group, room),
                    &group->times, error);
    if (status == VDBQ_OK)
        status = group->sink.wait(&group->sink, error);
    device_memory_release(group->out);
    group->out = NULL;
    *count = (uint32_t) * (const u64 *)(const void *)group->along;
    return status;
}

/* Makes room for so many. */
static enum vdbq_status make_list(struct device_group *group, uint64_t room,
                                  struct error *error)
{
    return device_radix_init(&group->listed, group->params.device, room,
                             &group->times, error);
}

/* Makes room for so many and lists them. */
static enum vdbq_status list_into(struct device_group *group, uint64_t room,
                                  uint32_t *count, struct error *error)
{
    enum vdbq_status status = make_list(group, room, error);
    if (status != VDBQ_OK || !comes_along(group, room))
        return status == VDBQ_OK ? list(group, room, count, error) : status;
    status = send_along(group, room, error);
    return status == VDBQ_OK ? bring_along(group, room, count, error) : status;
}

/* Lists all groups: again, where there was not room for all. */
static enum vdbq_status list_all(struct device_group *group, uint32_t *count,
                                 struct error *error)
{
    uint64_t room = room_of_list(group);
    enum vdbq_status status = list_into(group, room, count, error);
    if (status != VDBQ_OK || *count <= room)
        return status;
    device_radix_finish(&group->listed);
    memory_release(group->along);
    group->along = NULL;
    return list_into(group, *count, count, error);
}

/* The program has added rows: gives aggregates that share a state their own. Nobody
 * waits for the control block, which no call had need of before. */
static enum vdbq_status spread(struct device_group *group, struct error *error)
{
    uint64_t slots = device_group_slots(&group->shape.control);
    group->sent = group->shape.control;
    enum vdbq_status status = device_put(
        group->control, &group->sent, sizeof group->sent, &group->times, error);
    if (group->rows < group->sink.numbers)
        group->rows = group->sink.numbers;
    return status != VDBQ_OK
               ? status
               : device_group_call(
                   group,
                   &(struct device_call){
                       .kernel = KERNEL_GROUP_SPREAD,
                       .memories = { group->control, group->records },
                       .memory_count = 2,
                       .numbers = { slots },
                       .number_count = 1,
                       .items = slots },
                   error);
}

enum vdbq_status device_group_all_started(struct sink *sink,
                                          struct error *error)
{
    struct device_group *group = (struct device_group *)sink;
    assert(!group->ahead && group->groups.records != NULL);
    if (group->rows < sink->numbers)
        group->rows = sink->numbers;
    uint64_t room = room_of_list(group);
    if (room == 0 || !comes_along(group, room))
        return VDBQ_OK;
    group->ahead = true;
    enum vdbq_status status = device_calls_follow(group->params.device, error);
    if (status == VDBQ_OK)
        status = spread(group, error);
    if (status == VDBQ_OK)
        status = make_list(group, room, error);
    return status == VDBQ_OK ? send_along(group, room, error) : status;
}

/* All rows were taken, by launches or by calls: lists the groups. */
static enum vdbq_status list_now(struct device_group *group, uint32_t *count,
                                 struct error *error)
{
    enum vdbq_status status =
        group->sink.grouped ? spread(group, error) : VDBQ_OK;
    return status == VDBQ_OK && group->rows > 0 ? list_all(group, count, error)
                                                : status;
}

enum vdbq_status device_group_end(struct device_group *group,
                                  struct error *error)
{
    struct device_radix *listed = &group->listed;
    uint32_t count = 0;
    enum vdbq_status status =
        group->ahead ? bring_along(group, room_of_list(group), &count, error)
                     : list_now(group, &count, error);
    if (status != VDBQ_OK || group->rows == 0)
        return status;
    device_radix_shrink(listed, count);
    group->ordered = count >= ORDER_MIN && group->rows <= UINT32_MAX;
    return group->ordered ? device_radix_sort(
               listed, device_radix_bits(group->rows), error)
                          : VDBQ_OK;
}

uint64_t device_group_count(const struct device_group *group)
{
    return group->listed.count;
}

uint64_t device_group_rows(const struct device_group *group)
{
    return group->rows;
}

/* ----------------------------------------------------------------- keep -- */

/* Whether it keeps a sum of integers. */
static bool is_sum(const struct aggregate *aggregate)
{
    return aggregate->kind == AGGREGATE_NARROW
           || aggregate->kind == AGGREGATE_WIDE;
}

/* Whether a real comes of a sum: an average, or a total. */
static bool gives_real(const struct aggregate *aggregate)
{
    return aggregate_row(aggregate->step.function)->gives
           == AGGREGATE_GIVES_DOUBLE;
}

/* What is known of a column of the groups; false: the device does not make it
 * of what it keeps. */
static bool describe(const struct device_group *group, unsigned number,
                     const struct step_column *result,
                     struct device_column *column)
{
    const struct device_group_params *params = &group->params;
    unsigned made_of = group->shape.results[number];
    if (made_of < GROUP_KEYS_MAX) {
        *column = params->columns[number];
        return true;
    }
    const struct aggregate *aggregate =
        &group->shape.aggregates[made_of - GROUP_KEYS_MAX];
    int value = aggregate->step.column;
    if (aggregate->kind == AGGREGATE_BEST
        || aggregate->kind == AGGREGATE_EARLIEST)
        *column = params->columns[value];
    else
        *column = (struct device_column){ .type = result->type };
    column->nullable =
        aggregate->kind != AGGREGATE_ROWS
        && (aggregate->kind == AGGREGATE_REAL /* a sum is no number */
            || aggregate->step.filter >= 0 || params->step->keys == 0
            || params->columns[value].nullable);
    return !is_sum(aggregate) || gives_real(aggregate)
           || aggregate->step.function == AGGREGATE_SUM;
}

/* Describes all columns; false: some cannot stay, or there is no memory. */
static bool describe_all(const struct device_group *group,
                         const struct step_column *results, unsigned count,
                         struct device_column **columns)
{
    *columns = memory_zeroed(count + 1, sizeof **columns);
    bool can = *columns != NULL;
    for (unsigned i = 0; can && i < count; i++)
        can = describe(group, i, &results[i], &(*columns)[i]);
    if (!can) {
        memory_release(*columns);
        *columns = NULL;
    }
    return can;
}

/* What is to be done with an aggregate's sum. */
static void describe_sum(const struct aggregate *aggregate,
                         struct group_result *result)
{
    const struct aggregate_row *function =
        aggregate_row(aggregate->step.function);
    bool rest = function->gives == AGGREGATE_GIVES_REST;
    if (!is_sum(aggregate) && aggregate->kind != AGGREGATE_REAL)
        return;
    result->by_rows = function->function == AGGREGATE_AVG;
    result->zero = function->none != AGGREGATE_NULL;
    if (aggregate->kind == AGGREGATE_REAL) {
        result->sum = rest ? GROUP_SUM_REST : GROUP_SUM_REAL;
        return;
    }
    result->sum = GROUP_SUM_INTEGER;
    if (gives_real(aggregate))
        result->divisor = (u64)decimal_power(aggregate->scale);
}

/* Tells the device where the columns go. */
static enum vdbq_status send_results(struct device_group *group,
                                     const struct device_rows *rows,
                                     struct device_memory **sent,
                                     struct error *error)
{
    const struct device_store *store = &rows->store;
    struct group_result results[RESULTS_MAX] = { { 0 } };
    assert(store->column_count <= RESULTS_MAX);
    for (unsigned i = 0; i < store->column_count; i++) {
        const struct device_place *place = &store->places[i];
        bool read = store->sink.reads == NULL || store->sink.reads[i];
        unsigned made_of = group->shape.results[i];
        bool key = made_of < GROUP_KEYS_MAX;
        results[i] = (struct group_result){
            .values = read ? place->values : GROUP_NOWHERE,
            .nulls = place->nulls != UINT64_MAX ? place->nulls : GROUP_NOWHERE,
            .is_key = key,
            .number = key ? made_of : made_of - GROUP_KEYS_MAX,
            .type = (u32)sort_type(rows->columns[i].type),
        };
        if (!key)
            describe_sum(&group->shape.aggregates[made_of - GROUP_KEYS_MAX],
                         &results[i]);
    }
    enum vdbq_status status =
        device_group_memory(group, sizeof results, sent, error);
    return status == VDBQ_OK ? device_write(*sent, 0, results, sizeof results,
                                            &group->times, error)
                             : status;
}

/* Writes the columns; `*failed`: a sum does not fit. */
static enum vdbq_status write_columns_there(struct device_group *group,
                                            struct device_rows *rows,
                                            bool *failed, struct error *error)
{
    uint64_t count = group->listed.count;
    struct device_memory *sent = NULL;
    struct group_state state = { 0 };
    enum vdbq_status status = send_results(group, rows, &sent, error);
    if (status == VDBQ_OK)
        status = device_group_call(
            group,
            &(struct device_call){
                .kernel = KERNEL_GROUP_COLUMNS,
                .memories = { group->control, group->records, group->codes,
                              group->listed.elements, sent, rows->store.memory,
                              group->state },
                .memory_count = 7,
                .numbers = { count, rows->store.column_count },
                .number_count = 2,
                .items = count },
            error);
    if (status == VDBQ_OK)
        status = device_group_state(group, &state, error);
    device_memory_release(sent);
    rows->store.rows = count;
    *failed = state.failed != 0;
    return status;
}

/* Makes room for the columns and writes them; `*kept` false: there is none, or
 * the host is to tell which sum failed. */
static enum vdbq_status keep(struct device_group *group,
                             struct device_rows *rows, bool *kept,
                             struct error *error)
{
    struct error refused;
    bool failed = false;
    enum vdbq_status status =
        device_store_room(&rows->store, group->listed.count, error);
    if (status == VDBQ_OK)
        status = write_columns_there(group, rows, &failed, error);
    *kept = status == VDBQ_OK && !failed
            && device_rows_settle(rows, &refused) == VDBQ_OK;
    return status;
}

enum vdbq_status device_group_keep(struct device_group *group,
                                   const struct run_place *place,
                                   const struct step_column *results,
                                   const bool *reads, struct device_rows *rows,
                                   bool *kept, struct error *error)
{
    unsigned count = group->params.step->keys
                     + (unsigned)group->params.step->aggregates.count;
    uint64_t most = device_facts(place->device)->buffer_max_bytes;
    struct device_column *columns;
    *rows = (struct device_rows){ 0 };
    *kept = false;
    if (group->rows > UINT32_MAX || group->listed.count == 0
        || !describe_all(group, results, count, &columns))
        return VDBQ_OK;
    uint64_t bytes =
        device_places(columns, reads, count, group->listed.count, NULL);
    enum vdbq_status status =
        device_rows_init(rows, place, columns, count, error);
    rows->store.sink.reads = reads;
    if (status == VDBQ_OK && !group->ordered)
        status = device_radix_sort(&group->listed,
                                   device_radix_bits(group->rows), error);
    group->ordered |= status == VDBQ_OK;
    return status == VDBQ_OK && bytes <= most && bytes <= group->params.room
               ? keep(group, rows, kept, error)
               : status;
}

/* ------------------------------------------------------------- the host -- */

/* Makes room for bytes on the host. */
static enum vdbq_status host_room(struct device_group *group, uint64_t bytes,
                                  uint8_t **made, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (bytes >= PINNED_MIN)
        status = device_memory_create(group->params.device, MEMORY_PINNED,
                                      bytes, &group->pinned, error);
    else
        group->small = memory_zeroed(1, bytes + 1);
    *made = group->pinned != NULL ? device_memory_host(group->pinned)
                                  : group->small;
    return status == VDBQ_OK && *made == NULL ? error_no_memory(error) : status;
}

/* Copies the groups that are listed, and brings them to the host. */
static enum vdbq_status bring(struct device_group *group, uint8_t *to,
                              uint64_t bytes, struct error *error)
{
    uint64_t count = group->listed.count;
    struct device_memory *out = NULL;
    enum vdbq_status status =
        device_group_memory(group, sizeof(u64) + bytes, &out, error);
    if (status == VDBQ_OK)
        status = send_out(group, out, count, error);
    if (status == VDBQ_OK)
        status = device_read(out, sizeof(u64), to, bytes, &group->times, error);
    if (status == VDBQ_OK)
        status = group->sink.wait(&group->sink, error);
    device_memory_release(out);
    return status;
}

enum vdbq_status device_group_read(struct device_group *group,
                                   struct device_groups *groups,
                                   struct error *error)
{
    *groups = device_groups_of(&group->shape);
    groups->count = (uint32_t)group->listed.count;
    groups->ordered = group->ordered && group->along == NULL;
    uint64_t bytes = groups->count * groups->width;
    uint8_t *host;
    if (group->along != NULL) {
        groups->bytes = group->along + sizeof(u64);
        return VDBQ_OK;
    }
    enum vdbq_status status = host_room(group, bytes, &host, error);
    groups->bytes = host;
    return status == VDBQ_OK && bytes > 0 ? bring(group, host, bytes, error)
                                          : status;
}

enum vdbq_status device_group_finish(struct device_group *group,
                                     struct row_set *row_set,
                                     struct error *error)
{
    struct device_groups groups;
    enum vdbq_status status = device_group_read(group, &groups, error);
    if (status != VDBQ_OK)
        return status;
    /* The group of no keys is there without rows, too. */
    if (groups.count == 0 && group->shape.control.keys == 0) {
        memory_release(group->small);
        group->small = memory_zeroed(1, groups.width);
        if (group->small == NULL)
            return error_no_memory(error);
        groups.bytes = group->small;
        groups.count = 1;
        groups.ordered = true;
    }
    if (groups.count == 0)
        return row_set_room(row_set, 0, error);
    return device_groups_write(&groups, group->params.threads, row_set, error);
}
