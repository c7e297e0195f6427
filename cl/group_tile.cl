/* SPDX-License-Identifier: MIT */
/*
 * The rows that are grouped, a tile at a time: their values, their slots, and
 * the records of those. Part of cl/group.cl.
 */
#define CONTROL GLOBAL const struct group_control *restrict
#define ROWS GLOBAL const u8 *restrict
#define RECORD volatile GLOBAL u8 *

/* --------------------------------------------------------------- tiles -- */

/* An item takes rows in tiles: of each VDBQ_GROUP rows one, so that the items
 * of a group read neighbours. A mask has a bit for each row of a tile; what
 * is read of all rows is read before any of it is used. */
#define ITEM_ROWS 8
#define EACH for (u32 t = 0; t < ITEM_ROWS; t++)
#define EACH_OF(mask) EACH if (((mask) >> t & 1) != 0)

/* The rows of a tile that exist, from `row` on. */
static u32 tile_mask(u64 row, u64 count)
{
    u32 mask = 0;
    EACH mask |= (u32)(row + t * VDBQ_GROUP < count) << t;
    return mask;
}

/* Over the tiles of the work-group: `row` is an item's first one. */
#define TILE_ROWS (ITEM_ROWS * VDBQ_GROUP)
#define EACH_TILE                                                             \
    for (u64 row = get_group_id(0) * TILE_ROWS + get_local_id(0),             \
             end_ = count + get_local_id(0);                                  \
         row < end_; row += get_num_groups(0) * TILE_ROWS)

/* -------------------------------------------------------------- values -- */

/* The values of a tile's rows from `row` on: integers, or bits. */
static void load(ROWS rows, GLOBAL const struct group_column *column, u64 row,
                 u32 mask, u64 *value)
{
    if (TYPE_IS_WIDE(column->type)) {
        GLOBAL const u64 *from =
            (GLOBAL const u64 *)(rows + column->values) + row;
        EACH value[t] = (mask >> t & 1) ? from[t * VDBQ_GROUP] : 0;
    } else {
        GLOBAL const i32 *from =
            (GLOBAL const i32 *)(rows + column->values) + row;
        EACH value[t] =
            (u64)(i64)((mask >> t & 1) ? from[t * VDBQ_GROUP] : 0);
    }
}

/* The value of one row; whether it is NULL. */
static bool load_one(ROWS rows, GLOBAL const struct group_column *column,
                     u64 row, u64 *value)
{
    GLOBAL const u8 *from = rows + column->values;
    *value = TYPE_IS_WIDE(column->type)
                 ? ((GLOBAL const u64 *)from)[row]
                 : (u64)(i64)((GLOBAL const i32 *)from)[row];
    return column->nullable && rows[column->nulls + row] != 0;
}

/* The rows of a mask where the column is NULL. */
static u32 null_rows(ROWS rows, GLOBAL const struct group_column *column,
                     u64 row, u32 mask)
{
    GLOBAL const u8 *from = rows + column->nulls + row;
    u32 nulls = 0;
    if (!column->nullable)
        return 0;
    EACH nulls |= (u32)((mask >> t & 1) && from[t * VDBQ_GROUP] != 0) << t;
    return nulls;
}

/* The rows of a mask that an aggregate takes in. */
static u32 kept_rows(ROWS rows, GLOBAL const struct group_aggregate *aggregate,
                     u64 row, u32 mask)
{
    if (aggregate->has_filter) {
        u64 value[ITEM_ROWS];
        load(rows, &aggregate->filter, row, mask, value);
        mask &= ~null_rows(rows, &aggregate->filter, row, mask);
        EACH mask &= ~((u32)(value[t] == 0) << t);
    }
    if (aggregate->has_value && aggregate->kind != GROUP_EARLIEST)
        mask &= ~null_rows(rows, &aggregate->value, row, mask);
    return mask;
}

/* A float, wider where it is a short one. */
static f64 real_of(u32 type, u64 value)
{
    return type == TYPE_F64 ? as_double(value) : (f64)as_float((u32)value);
}

/* --------------------------------------------------------------- slots -- */

#define NO_SLOT 0xffffffffU
#define PROBES_MAX 256

/* The codes of rows' keys; the rows whose only key is NULL, which has none. */
static u32 row_codes(CONTROL control, ROWS rows, u64 row, u32 mask, u64 *code)
{
    u32 without = 0;
    EACH code[t] = 0;
    for (u32 i = 0; i < control->keys; i++) {
        GLOBAL const struct group_key *key = &control->key[i];
        u32 type = key->column.type;
        u32 nulls = null_rows(rows, &key->column, row, mask);
        u64 base = key->base, size = key->size, stride = key->stride;
        u64 value[ITEM_ROWS];
        load(rows, &key->column, row, mask, value);
        EACH code[t] +=
            ((nulls >> t & 1) ? size : value_code(type, value[t]) - base) *
            stride;
        if (size == 0)
            without = nulls;
    }
    return without;
}

/* A row's code of several parts. */
static void row_parts(CONTROL control, ROWS rows, u64 row, u64 *part)
{
    for (u32 w = 0; w < control->parts; w++)
        part[w] = 0;
    for (u32 i = 0; i < control->keys; i++) {
        GLOBAL const struct group_key *key = &control->key[i];
        u64 value, code = key->size, mark = GROUP_MARK_NULL;
        if (!load_one(rows, &key->column, row, &value)) {
            code = value_code(key->column.type, value) - key->base;
            mark = code == GROUP_EMPTY ? GROUP_MARK_EMPTY : GROUP_MARK_CODE;
        }
        if (key->size > 0) {
            part[key->part] += code * key->stride;
        } else {
            part[0] += mark * key->stride;
            part[key->part] = mark == GROUP_MARK_CODE ? code : 0;
        }
    }
}

/* Whether a slot's parts are those of a code. One that is empty is taken by whoever
 * comes first, also in a slot whose first parts another one has taken: whose it
 * is all parts say together, and they never change. */
static bool has_parts(volatile GLOBAL u64 *there, const u64 *part, u32 parts)
{
    for (u32 w = 0; w < parts; w++) {
        u64 now = there[w];
        if (now == GROUP_EMPTY)
            now = atom_cmpxchg(&there[w], GROUP_EMPTY, part[w]);
        if (now != GROUP_EMPTY && now != part[w])
            return false;
    }
    return true;
}

/* As code_slot(), of a code of several parts. */
static u32 parts_slot(CONTROL control, volatile GLOBAL u64 *codes,
                      const u64 *part)
{
    u64 mask = control->slots - 1, hash = 0;
    for (u32 w = 0; w < control->parts; w++)
        hash = hash_mix(hash, part[w]);
    u64 at = hash_end(hash) & mask;
    for (u32 i = 0; i < PROBES_MAX; i++) {
        if (has_parts(codes + at * control->parts, part, control->parts))
            return (u32)at;
        at = (at + 1) & mask;
    }
    return NO_SLOT;
}

/* The slot of a code, taken where it has none; NO_SLOT: there is no room. */
static u32 code_slot(CONTROL control, volatile GLOBAL u64 *codes, u64 code,
                     u32 null)
{
    u64 mask = control->slots - 1, at = hash_number(code) & mask;
    if (null)
        return (u32)control->slots + 1;
    if (code == GROUP_EMPTY)
        return (u32)control->slots;
    for (u32 i = 0; i < PROBES_MAX; i++) {
        u64 there = codes[at];
        if (there == GROUP_EMPTY)
            there = atom_cmpxchg(&codes[at], GROUP_EMPTY, code);
        if (there == GROUP_EMPTY || there == code)
            return (u32)at;
        at = (at + 1) & mask;
    }
    return NO_SLOT;
}

/* As find_slots(), of codes of several parts. */
static bool find_parts(CONTROL control, ROWS rows, volatile GLOBAL u64 *codes,
                       u64 row, u32 mask, u32 *slot)
{
    bool found = true;
    EACH_OF(mask)
    {
        u64 part[GROUP_PARTS_MAX];
        row_parts(control, rows, row + t * VDBQ_GROUP, part);
        slot[t] = parts_slot(control, codes, part);
        found = found && slot[t] != NO_SLOT;
    }
    return found;
}

/* Finds the slots of rows; false: some have none. */
static bool find_slots(CONTROL control, ROWS rows,
                       volatile GLOBAL u64 *codes, u64 row, u32 mask,
                       u32 *slot)
{
    u64 code[ITEM_ROWS];
    if (control->parts > 1)
        return find_parts(control, rows, codes, row, mask, slot);
    u32 without = row_codes(control, rows, row, mask, code);
    bool found = true;
    EACH slot[t] = (u32)code[t];
    if (!control->hashed)
        return true;
    EACH_OF(mask)
    {
        slot[t] = code_slot(control, codes, code[t], without >> t & 1);
        found = found && slot[t] != NO_SLOT;
    }
    return found;
}

/* ------------------------------------------------------------- records -- */

static RECORD record_at(CONTROL control, GLOBAL u8 *records, u64 slot)
{
    return records + slot * control->width;
}

/* The sum of floats behind the rows passed over. */
static volatile GLOBAL struct sum *
sum_at(RECORD record, GLOBAL const struct group_aggregate *aggregate)
{
    return (volatile GLOBAL struct sum *)(record + aggregate->at + 8);
}

/* What its next rows need. */
static volatile GLOBAL struct group_raise *
raise_at(RECORD record, GLOBAL const struct group_aggregate *aggregate)
{
    return (volatile GLOBAL struct group_raise *)(record +
                                                  aggregate->raise_at);
}
