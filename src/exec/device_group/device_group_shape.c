/* SPDX-License-Identifier: MIT */
/*
 * How groups are kept on a device: codes of keys, slots, records.
 */
#include "exec/device_group/device_group_inner.h"

#include <assert.h>

#include "cl/sum.h"
#include "exec/rows/order.h"
#include "exec/sort/sort.h"
#include "program/steps/group_sink.h"

enum {
    DENSE_SLOTS_MAX = 1 << 24,  /* more are hashed ...                     */
    DENSE_SLOTS_FULL = 1 << 28, /* ... or where most may be groups, these */
    DENSE_SPARE = 2,            /* slots for each row that is expected     */
    HASH_SLOTS_MIN = 1 << 12,
    HASH_SLOTS_FIRST = 1 << 21, /* grows from there ...                   */
    GROW = 4,                   /* ... by that at least                   */
    LOCAL_COPIES_MAX = 32,
    CROWD_SHARE = 32,    /* of this share of the rows at least, or ...     */
    CROWD_RECORD = 16384 /* ... this in each record there are many         */
};
#define DENSE_BYTES_FULL (UINT64_C(3) << 30) /* of such a table */
#define HASH_SPARE       1.5 /* slots for each group that is expected */
#define CODES_MAX        (UINT64_C(1) << 63)
#define BITS_MAX         (UINT64_C(1) << 33)
/* The share of a device's memory that a table may take. */
#define MEMORY_SHARE(bytes) ((bytes) / 4)

/* Floats are hashed by bits and summed exactly. */
static bool is_float(int type)
{
    return type == TYPE_F32 || type == TYPE_F64;
}

/* Whether values of NULL are told apart by their bits alone. */
static struct group_column place(const struct device_column *column)
{
    return (struct group_column){ .type = (u32)sort_type(column->type),
                                  .nullable = column->nullable };
}

/* Codes of a column's values: the least order, and how many; 0: 2^64. */
static u64 codes_of(const struct device_column *column, u64 *base)
{
    int type = sort_type(column->type);
    int64_t least = INT32_MIN, most = INT32_MAX;
    *base = 0;
    if (type == TYPE_F64 || (type == TYPE_I64 && !column->ranged))
        return 0;
    if (column->ranged && !is_float(type)) {
        least = type == TYPE_I64 || column->low > least ? column->low : least;
        most = type == TYPE_I64 || column->high < most ? column->high : most;
    }
    *base = order_code(least);
    return least <= most ? (u64)most - (u64)least + 1 : 1;
}

/* Whether a key follows from others. */
static bool follows(const struct device_group_params *params, unsigned key)
{
    return params->follows != NULL && params->follows[key];
}

/* Lists the keys that do not follow from others. */
static void list_keys(const struct device_group_params *params,
                      struct device_group_shape *shape)
{
    struct group_control *control = &shape->control;
    for (unsigned i = 0; i < params->step->keys; i++) {
        if (follows(params, i))
            continue;
        shape->key_columns[control->keys] = (uint8_t)i;
        shape->results[i] = (uint8_t)control->keys++;
    }
}

/* Describes a key; whether its codes fit a part with others' and leave room for NULL's
 * and an empty slot's. */
static bool place_key(const struct device_column *column, struct group_key *key)
{
    *key = (struct group_key){ .column = place(column) };
    key->size = codes_of(column, &key->base);
    if (key->size > CODES_MAX - column->nullable)
        key->size = 0;
    if (key->size == 0)
        key->base = 0;
    return key->size > 0;
}

/* Gives a key of some codes a place in the first part that has room for them. */
static void place_in_part(struct group_control *control, struct group_key *key,
                          u64 codes[GROUP_PARTS_MAX])
{
    u64 all = key->size + key->column.nullable;
    while (all > CODES_MAX / codes[key->part])
        key->part++;
    key->stride = codes[key->part];
    codes[key->part] *= all;
    if (control->parts <= key->part)
        control->parts = key->part + 1;
}

/* Gives keys that have all codes a part each, and their marks room in the first. */
static void place_marks(struct group_control *control,
                        u64 codes[GROUP_PARTS_MAX])
{
    for (unsigned i = 0; i < control->keys; i++) {
        struct group_key *key = &control->key[i];
        if (key->size > 0)
            continue;
        key->stride = codes[0];
        codes[0] *= GROUP_MARKS;
        key->part = control->parts++;
        codes[key->part] = UINT64_MAX; /* no room for others */
    }
}

/* Gives the keys their strides; the codes of all, or 0: there are more than a part
 * has. False: they take several parts, which was not asked for, or all follow
 * from others: without any there would be a group where there is no row. */
static bool place_keys(const struct device_group_params *params,
                       struct device_group_shape *shape, u64 *codes)
{
    struct group_control *control = &shape->control;
    u64 parts[GROUP_PARTS_MAX];
    unsigned whole = 0;
    if (params->step->keys > GROUP_KEYS_MAX)
        return false;
    list_keys(params, shape);
    if (params->step->keys > 0 && control->keys == 0)
        return false;
    for (unsigned i = 0; i < control->keys; i++)
        whole += !place_key(&params->columns[shape->key_columns[i]],
                            &control->key[i]);
    for (unsigned i = 0; i < GROUP_PARTS_MAX; i++)
        parts[i] = 1;
    control->parts = 1;
    if (whole == 1 && control->keys == 1) {
        control->key[0].stride = 1;
        *codes = 0;
        return true;
    }
    place_marks(control, parts);
    for (unsigned i = 0; i < control->keys; i++)
        if (control->key[i].size > 0)
            place_in_part(control, &control->key[i], parts);
    *codes = control->parts == 1 ? parts[0] : 0;
    return control->parts == 1 || params->wide;
}

/* What an aggregate keeps, its state at `*at` of a record. */
static bool place_aggregate(const struct device_group_params *params,
                            const struct step_aggregate *step, size_t *at,
                            struct aggregate *made,
                            struct group_aggregate *placed)
{
    static const u32 kinds[] = {
        [AGGREGATE_ROWS] = GROUP_ROWS,        [AGGREGATE_NARROW] = GROUP_NARROW,
        [AGGREGATE_WIDE] = GROUP_WIDE,        [AGGREGATE_REAL] = GROUP_REAL,
        [AGGREGATE_BEST] = GROUP_BEST,        [AGGREGATE_BITS] = GROUP_BITS,
        [AGGREGATE_EARLIEST] = GROUP_EARLIEST
    };
    const struct device_column *value =
        step->column >= 0 ? &params->columns[step->column] : NULL;
    int type = value != NULL ? sort_type(value->type) : TYPE_NONE;
    unsigned scale = value != NULL ? params->inputs[step->column].scale : 0;

    *made = aggregate_make(step,
                           (struct aggregate_argument){
                               .type = type, .scale = scale, .nullable = true },
                           *at);
    *placed = (struct group_aggregate){
        .kind = kinds[made->kind],
        .has_value = value != NULL,
        .has_filter = step->filter >= 0,
        .at = (u32)*at,
        .odd = step->function == AGGREGATE_BIT_XOR,
        .flip = aggregate_turn(step->function),
    };
    *at += aggregate_bytes(made);
    if (value != NULL)
        placed->value = place(value);
    if (step->filter >= 0)
        placed->filter = place(&params->columns[step->filter]);
    placed->distinct = aggregate_is_distinct(made);
    if (placed->distinct)
        placed->size = codes_of(value, &placed->base);
    return !placed->distinct || (placed->size > 0 && value->ranged);
}

/* Lays the state of one aggregate more out, behind `*at` bytes of a record;
 * false: the device has no form of it. */
static bool add_aggregate(const struct device_group_params *params,
                          struct device_group_shape *shape,
                          const struct step_aggregate *step, unsigned result,
                          size_t *at)
{
    struct group_control *control = &shape->control;
    unsigned number = control->aggregates;
    if (number == GROUP_AGGREGATES_MAX
        || !place_aggregate(params, step, at, &shape->aggregates[number],
                            &control->aggregate[number]))
        return false;
    u32 kind = control->aggregate[number].kind;
    shape->raises |= kind == GROUP_REAL;
    shape->finds |= kind == GROUP_REAL || kind == GROUP_EARLIEST;
    control->aggregate[number].same = number;
    shape->results[result] = (uint8_t)(GROUP_KEYS_MAX + number);
    control->aggregates++;
    return true;
}

/* Lays the states out in a record; false: the device has no form of one of
   them. A key that follows from others is its value in the first row. */
static bool place_aggregates(const struct device_group_params *params,
                             struct device_group_shape *shape)
{
    const struct step_group *step = params->step;
    struct group_control *control = &shape->control;
    size_t at = sizeof(struct group_record);
    bool can = true;
    for (unsigned i = 0; i < step->keys && can; i++)
        if (follows(params, i))
            can = add_aggregate(
                params, shape,
                &(struct step_aggregate){ .function = AGGREGATE_FIRST,
                                          .column = (int)i,
                                          .filter = -1 },
                i, &at);
    for (unsigned i = 0; i < step->aggregates.count && can; i++)
        can = add_aggregate(params, shape, vector_at(&step->aggregates, i),
                            step->keys + i, &at);
    if (!can)
        return false;
    assert(at % sizeof(u64) == 0);
    control->out = (u32)at;
    for (unsigned i = 0; i < control->aggregates; i++)
        if (control->aggregate[i].kind == GROUP_REAL) {
            control->aggregate[i].raise_at = (u32)at;
            at += sizeof(u64);
        }
    control->width = at;
    return true;
}

/* Gives values that count once a bit for each slot. */
static bool place_bits(struct device_group_shape *shape)
{
    struct group_control *control = &shape->control;
    for (unsigned i = 0; i < control->aggregates; i++) {
        struct group_aggregate *aggregate = &control->aggregate[i];
        if (!aggregate->distinct)
            continue;
        aggregate->bits = shape->bits;
        if (control->hashed
            || aggregate->size > (BITS_MAX - shape->bits) / control->slots)
            return false;
        shape->bits += aggregate->size * control->slots;
    }
    return true;
}

/* Whether codes are slots: that takes no search, and no table that grows, but
 * all slots are cleared and looked through. */
static bool is_dense(const struct device_group_params *params, u64 codes,
                     u64 width)
{
    if (codes == 0 || codes / 16 > params->rows)
        return false;
    return codes <= DENSE_SLOTS_MAX
           || (codes <= DENSE_SLOTS_FULL && codes <= DENSE_BYTES_FULL / width
               && codes <= params->room / width
               && (double)codes <= DENSE_SPARE * params->rows_expected);
}

/* The least power of two that is as much as HASH_SLOTS_MIN and so many. */
static u64 slots_for(double groups)
{
    u64 slots = HASH_SLOTS_MIN;
    while ((double)slots < groups && slots < CODES_MAX)
        slots *= 2;
    return slots;
}

/* Slots of a hashed table to start with: many rows mostly are of fewer groups. */
static u64 hash_slots(uint64_t rows)
{
    double half = (double)rows / 2;
    return slots_for(half < HASH_SLOTS_FIRST ? half : HASH_SLOTS_FIRST);
}

uint64_t device_group_grown(const struct device_group *group)
{
    const struct device_group_params *params = &group->params;
    const struct group_control *control = &group->shape.control;
    double rows = (double)params->rows, expected = params->groups_expected;
    uint64_t most = MEMORY_SHARE(device_facts(params->device)->memory_bytes);
    u64 slots = GROW * control->slots, enough = slots_for(rows * HASH_SPARE);
    u64 all = slots_for((expected < rows ? expected : rows) * HASH_SPARE);
    if (most > params->room)
        most = params->room;
    if (all > slots && all <= most / control->width)
        slots = all;
    if (slots > enough)
        slots = enough > control->slots ? enough : 2 * control->slots;
    return slots;
}

/* Whether there is room for a table of codes of several parts even if each row is a
 * group of its own, while it grows, too. */
static bool has_room_for_all(const struct device_group_params *params,
                             const struct group_control *control)
{
    u64 slots = slots_for((double)params->rows * HASH_SPARE);
    double bytes = control->width + (double)control->parts * sizeof(u64);
    return slots <= UINT32_MAX / 2
           && (double)slots * bytes * (1 + 1.0 / GROW) <= (double)params->room;
}

/* Copies of the table in local memory. */
static u32 copies_of(const struct group_control *control)
{
    u64 bytes = control->slots * control->width;
    u32 copies = 1;
    if (control->hashed || bytes > GROUP_LOCAL_BYTES)
        return 0;
    while (copies < LOCAL_COPIES_MAX && 2 * copies * bytes <= GROUP_LOCAL_BYTES)
        copies *= 2;
    return copies;
}

/* Whether so many rows come to a table, or to each of its records, that items would
 * wait for one another there. Few take less time without a table of the work-group's
 * own, to which all its items come together. */
static bool is_crowded(const struct device_group_params *params,
                       const struct group_control *control)
{
    double rows = (double)params->rows, expected = params->rows_expected;
    return control->keys == 0 || expected * CROWD_SHARE >= rows
           || expected / (double)control->slots * CROWD_RECORD >= rows;
}

/* Gives a work-group a table of its own, where there is room: as many copies as
 * fit. They lie such that a word of each is in another of 32 banks of memory, or in
 * the same one as few others' as can be. */
static void place_own(const struct device_group_params *params,
                      const struct group_control *control,
                      struct sink_groups *groups)
{
    enum { BANKS_BYTES = 128, APART = 8 };
    u32 bytes = groups->bytes / BANKS_BYTES * BANKS_BYTES + BANKS_BYTES + APART;
    if (control->copies == 0 || bytes > LAUNCH_LOCAL_BYTES
        || !is_crowded(params, control))
        return;
    groups->copy_bytes = bytes;
    groups->copies = 1;
    while (groups->copies < LOCAL_COPIES_MAX
           && 2 * groups->copies * bytes <= LAUNCH_LOCAL_BYTES)
        groups->copies *= 2;
}

/* Sums of narrow integers have no room for more rows than that, and nobody moves
 * their carries meanwhile. */
static bool has_room(const struct device_group_params *params,
                     const struct group_control *control)
{
    bool has = true;
    for (unsigned i = 0; i < control->aggregates; i++)
        has &= control->aggregate[i].kind != GROUP_NARROW
               || params->rows <= SUM_DIGITS_MAX;
    return has;
}

bool device_group_offer(const struct device_group_params *params,
                        const struct device_group_shape *shape,
                        struct sink_groups *groups)
{
    const struct group_control *control = &shape->control;
    u64 bytes = device_group_bytes(control);
    if (params->program == NULL || params->follows != NULL || shape->finds
        || shape->bits > 0 || bytes > UINT32_MAX
        || device_tuning(params->device)->group == 1
        || !has_room(params, control)
        || !group_sink_fits(params->program, params->step))
        return false;
    assert(control->width == group_sink_record(params->program, params->step));
    groups->bytes = (u32)bytes;
    for (unsigned i = 0; i < control->keys; i++)
        groups->keys[i] = (struct launch_key){
            .base = order_of_code(control->key[i].base),
            .size = (u32)control->key[i].size,
            .stride = (u32)(control->key[i].stride * control->width)
        };
    place_own(params, control, groups);
    return true;
}

size_t device_group_head(const struct group_control *control)
{
    return sizeof(struct group_out) + (control->parts - 1) * sizeof(u64);
}

uint64_t device_group_slots(const struct group_control *control)
{
    return control->slots + (control->hashed ? 2 : 0);
}

uint64_t device_group_bytes(const struct group_control *control)
{
    return device_group_slots(control) * control->width;
}

bool device_group_shape(const struct device_group_params *params,
                        struct device_group_shape *shape)
{
    struct group_control *control = &shape->control;
    uint64_t most = MEMORY_SHARE(device_facts(params->device)->memory_bytes);
    u64 codes;

    *shape = (struct device_group_shape){ 0 };
    if (!place_keys(params, shape, &codes) || !place_aggregates(params, shape))
        return false;
    control->hashed = !is_dense(params, codes, control->width);
    control->slots = control->hashed ? hash_slots(params->rows) : codes;
    shape->finds |= control->hashed != 0;
    control->copies = copies_of(control);
    return place_bits(shape)
           && (control->parts == 1 || has_room_for_all(params, control))
           && device_group_bytes(control) + shape->bits / 8 <= most;
}
