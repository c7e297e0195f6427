/* SPDX-License-Identifier: MIT */
/*
 * Windows over rows in their order: see window.h. Marks tell where partitions and
 * peers begin. What is kept of places is scanned in three steps: each work-group
 * adds up a span of them, one of them adds up the spans, and each walks its span
 * once more with what came before it. Then each row is given what its frame comes
 * to, by itself.
 */
#include "../order.h"
#include "../kernel.cl"
#include "quotient.h"
#include "window.h"

#define ROWS GLOBAL const u8 *restrict

/* ---------------------------------------------------------------- marks -- */

static int is_null(ROWS rows, const struct window_column *column, u32 row)
{
    return column->nulls != WINDOW_NOWHERE && rows[column->nulls + row] != 0;
}

/* A value of any type, as value_code() takes it: of 32 bits with its sign. */
static u64 value_of(ROWS rows, const struct window_column *column, u32 row)
{
    GLOBAL const i64 *wide = (GLOBAL const i64 *)(rows + column->values);
    GLOBAL const i32 *narrow = (GLOBAL const i32 *)(rows + column->values);
    return TYPE_IS_WIDE(column->type) ? (u64)wide[row] : (u64)(i64)narrow[row];
}

static int is_same(ROWS rows, const struct window_column *key, u32 row,
                   u32 other)
{
    int null = is_null(rows, key, row);
    if (null != is_null(rows, key, other))
        return 0;
    return null ||
           value_code(key->type, value_of(rows, key, row)) ==
               value_code(key->type, value_of(rows, key, other));
}

/* Marks the places where a key is another than in the row before: of the `first`
 * key of all, the others' marks are not there yet. Without a key only the first
 * place is marked. */
KERNEL void vdbq_window_starts(ROWS rows, GLOBAL const u64 *restrict elements,
                               GLOBAL u8 *restrict starts, u64 count, u64 first,
                               u64 mark, struct window_column key)
{
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0)) {
        u32 differs = i == 0;
        if (i > 0 && key.type != TYPE_NONE)
            differs = !is_same(rows, &key, (u32)elements[i],
                               (u32)elements[i - 1]);
        starts[i] = (u8)((first ? 0 : starts[i]) |
                         (i == 0    ? WINDOW_PARTITION | WINDOW_PEERS
                          : differs ? (u32)mark
                                    : 0));
    }
}

/* ---------------------------------------------------------------- scans -- */

/* Whether it is a value of its partition; else it is a sum. */
static int keeps_best(u32 keeps)
{
    return keeps == WINDOW_KEEPS_LEAST || keeps == WINDOW_KEEPS_GREATEST;
}

/* What one stretch of places and the one behind it come to together. */
static struct window_sum add_sums(u32 keeps, struct window_sum a,
                                  struct window_sum b)
{
    u64 low = a.low + b.low;
    b.high = a.high + b.high + (low < a.low);
    b.seen += a.seen;
    if (!keeps_best(keeps))
        b.low = low;
    else if (!b.cut && a.low > b.low)
        b.low = a.low;
    b.cut |= a.cut;
    return b;
}

/* Adds up the sums of the items before each, and its own, in `room` for one of
 * each item; `*all`: of all of them. */
static struct window_sum scan_sums(LOCAL struct window_sum *room, u32 keeps,
                                   struct window_sum sum,
                                   struct window_sum *all)
{
    u32 item = (u32)get_local_id(0);
    room[item] = sum;
    WAIT;
    for (u32 step = 1; step < VDBQ_GROUP; step *= 2) {
        struct window_sum other = room[item >= step ? item - step : item];
        WAIT;
        if (item >= step)
            sum = add_sums(keeps, other, sum);
        room[item] = sum;
        WAIT;
    }
    *all = room[VDBQ_GROUP - 1];
    WAIT;
    return sum;
}

static struct window_sum nothing(void)
{
    struct window_sum sum;
    sum.low = sum.high = sum.seen = sum.cut = 0;
    return sum;
}

/* What the marks of a place come to. */
static struct window_sum sum_of_marks(u32 marks)
{
    struct window_sum sum = nothing();
    sum.low = (marks & WINDOW_PARTITION) != 0;
    sum.high = (marks & WINDOW_PEERS) != 0;
    return sum;
}

/* What a row's value comes to. */
static struct window_sum sum_of_row(ROWS rows, const struct window_scan *scan,
                                    u32 row)
{
    struct window_sum sum = nothing();
    const struct window_column *filter = &scan->filter;
    if (filter->type != TYPE_NONE &&
        (is_null(rows, filter, row) || value_of(rows, filter, row) == 0))
        return sum;
    if (scan->value.type != TYPE_NONE && is_null(rows, &scan->value, row))
        return sum;
    sum.seen = 1;
    if (scan->keeps == WINDOW_KEEPS_SEEN)
        return sum;
    sum.low = value_of(rows, &scan->value, row);
    if (scan->keeps == WINDOW_KEEPS_SUM)
        return sum;
    sum.low = value_code(scan->value.type, sum.low);
    if (scan->keeps == WINDOW_KEEPS_LEAST)
        sum.low = ~sum.low;
    return sum;
}

/* Where a group's span begins, and one behind its last place. */
static u64 span_begin(const struct window_scan *scan)
{
    u64 begin = get_group_id(0) * scan->span;
    return begin < scan->count ? begin : scan->count;
}

static u64 span_end(const struct window_scan *scan)
{
    u64 begin = span_begin(scan);
    return scan->count - begin < scan->span ? scan->count : begin + scan->span;
}

/* Writes what a place comes to by itself, to be read when the span is walked once
 * more: its row is looked up but once. */
static void note_own(GLOBAL u8 *work, const struct window_scan *scan, u64 at,
                     const struct window_sum *sum)
{
    if (scan->low != WINDOW_NOWHERE)
        ((GLOBAL u64 *)(work + scan->low))[at] = sum->low;
    if (scan->seen != WINDOW_NOWHERE)
        ((GLOBAL u32 *)(work + scan->seen))[at] = (u32)sum->seen;
}

/* The rest of what a place comes to follows from the marks and the value. */
static struct window_sum complete(const struct window_scan *scan, u32 marks,
                                  struct window_sum sum)
{
    if (scan->keeps == WINDOW_KEEPS_SUM)
        sum.high = (u64)((i64)sum.low >> 63);
    sum.cut = marks & WINDOW_PARTITION;
    return sum;
}

/* ... as it was noted. */
static struct window_sum noted(GLOBAL const u8 *work,
                               const struct window_scan *scan, u64 at,
                               u32 marks)
{
    struct window_sum sum = nothing();
    if (scan->low != WINDOW_NOWHERE)
        sum.low = ((GLOBAL const u64 *)(work + scan->low))[at];
    if (scan->seen != WINDOW_NOWHERE)
        sum.seen = ((GLOBAL const u32 *)(work + scan->seen))[at];
    return complete(scan, marks, sum);
}

/* Adds up each span. Of sums each item does so by itself: their order is nothing
 * to them. */
KERNEL void vdbq_window_add(ROWS rows, GLOBAL const u64 *restrict elements,
                            GLOBAL const u8 *restrict starts,
                            GLOBAL u8 *restrict work,
                            GLOBAL struct window_sum *restrict sums,
                            struct window_scan scan)
{
    LOCAL struct window_sum room[VDBQ_GROUP];
    struct window_sum own = nothing(), all;
    u64 end = span_end(&scan);
    for (u64 first = span_begin(&scan); first < end; first += VDBQ_GROUP) {
        u64 i = first + get_local_id(0);
        struct window_sum sum = nothing();
        if (i < end && scan.keeps == WINDOW_KEEPS_NUMBERS) {
            sum = sum_of_marks(starts[i]);
        } else if (i < end) {
            sum = sum_of_row(rows, &scan, (u32)elements[i]);
            note_own(work, &scan, i, &sum);
            sum = complete(&scan, starts[i], sum);
        }
        if (keeps_best(scan.keeps)) {
            scan_sums(room, scan.keeps, sum, &all);
            sum = all;
        }
        own = add_sums(scan.keeps, own, sum);
    }
    if (!keeps_best(scan.keeps)) {
        scan_sums(room, scan.keeps, own, &all);
        own = all;
    }
    if (get_local_id(0) == 0)
        sums[get_group_id(0)] = own;
}

/* Has each span's sum be that of the spans before it: one group does it. */
KERNEL void vdbq_window_sums(GLOBAL struct window_sum *restrict sums, u64 spans,
                             u64 keeps)
{
    LOCAL struct window_sum room[VDBQ_GROUP], passed[VDBQ_GROUP];
    struct window_sum before = nothing(), all;
    u32 item = (u32)get_local_id(0);
    if (get_group_id(0) > 0)
        return;
    for (u64 first = 0; first < spans; first += VDBQ_GROUP) {
        u64 i = first + item;
        struct window_sum sum = i < spans ? sums[i] : nothing();
        passed[item] = scan_sums(room, (u32)keeps, sum, &all);
        WAIT;
        if (i < spans)
            sums[i] = item > 0 ? add_sums((u32)keeps, before, passed[item - 1])
                               : before;
        before = add_sums((u32)keeps, before, all);
        WAIT;
    }
}

/* Numbers a place, and lists what begins there; behind the last one, too. */
static void put_number(GLOBAL u64 *numbers, GLOBAL u32 *begins, u64 count,
                       u64 at, u32 marks, const struct window_sum *sum)
{
    numbers[at] = sum->low << 32 | sum->high;
    if (marks & WINDOW_PARTITION)
        begins[sum->low - 1] = (u32)at;
    if (marks & WINDOW_PEERS)
        begins[count + sum->high] = (u32)at;
    if (at + 1 == count) {
        begins[sum->low] = (u32)count;
        begins[count + 1 + sum->high] = (u32)count;
    }
}

/* Walks each span, and numbers its places. */
KERNEL void vdbq_window_number(GLOBAL const u8 *restrict starts,
                               GLOBAL const struct window_sum *restrict sums,
                               GLOBAL u64 *restrict numbers,
                               GLOBAL u32 *restrict begins,
                               struct window_scan scan)
{
    LOCAL struct window_sum room[VDBQ_GROUP];
    struct window_sum before = sums[get_group_id(0)], all;
    u64 end = span_end(&scan);
    for (u64 first = span_begin(&scan); first < end; first += VDBQ_GROUP) {
        u64 i = first + get_local_id(0);
        u32 marks = i < end ? starts[i] : 0;
        struct window_sum sum =
            scan_sums(room, scan.keeps, sum_of_marks(marks), &all);
        sum = add_sums(scan.keeps, before, sum);
        if (i < end)
            put_number(numbers, begins, scan.count, i, marks, &sum);
        before = add_sums(scan.keeps, before, all);
    }
}

/* Walks each span, and keeps what its places come to with those before. */
KERNEL void vdbq_window_scan(GLOBAL const u8 *restrict starts,
                             GLOBAL const struct window_sum *restrict sums,
                             GLOBAL u8 *restrict work, struct window_scan scan)
{
    LOCAL struct window_sum room[VDBQ_GROUP];
    struct window_sum before = sums[get_group_id(0)], all;
    u64 end = span_end(&scan);
    for (u64 first = span_begin(&scan); first < end; first += VDBQ_GROUP) {
        u64 i = first + get_local_id(0);
        struct window_sum sum = nothing();
        if (i < end)
            sum = noted(work, &scan, i, starts[i]);
        sum = scan_sums(room, scan.keeps, sum, &all);
        sum = add_sums(scan.keeps, before, sum);
        if (i < end) {
            note_own(work, &scan, i, &sum);
            if (scan.high != WINDOW_NOWHERE)
                ((GLOBAL u64 *)(work + scan.high))[i] = sum.high;
        }
        before = add_sums(scan.keeps, before, all);
    }
}

/* -------------------------------------------------------------- results -- */

/* A place, and its frame [begin, end). */
struct framed {
    u64 at;
    u64 first, last;   /* its partition: [first, last) */
    u64 peers, dense;  /* where its peers begin, and their number in it */
    u64 begin, end;
};

/* The place of a bound; of one that ends a frame, one behind. */
static u64 place_of(const struct framed *place, u32 bound, i64 offset, u64 peers,
                    u64 partition)
{
    i64 at = (i64)place->at + offset;
    if (bound != WINDOW_BOUND_ROWS)
        return bound == WINDOW_BOUND_PEERS ? peers : partition;
    return at < (i64)place->first  ? place->first
           : at > (i64)place->last ? place->last
                                   : (u64)at;
}

static struct framed frame_of(GLOBAL const u64 *restrict numbers,
                              GLOBAL const u32 *restrict begins,
                              const struct window_give *give, u64 at)
{
    struct framed place;
    u64 partition = (numbers[at] >> 32) - 1, peers = (u32)numbers[at] - 1;
    GLOBAL const u32 *peer_begins = begins + give->count + 1;
    place.at = at;
    place.first = begins[partition];
    place.last = begins[partition + 1];
    place.peers = peer_begins[peers];
    place.dense = peers + 2 - (u32)numbers[place.first];
    place.begin = place_of(&place, give->begin, give->begin_offset, place.peers,
                           place.first);
    place.end = place_of(&place, give->end, give->end_offset + 1,
                         peer_begins[peers + 1], place.last);
    if (place.end < place.begin)
        place.end = place.begin;
    return place;
}

/* The place whose row's value is given; `count`: there is none. */
static u64 source_of(const struct window_give *give,
                     const struct framed *place)
{
    i64 at = (i64)place->at + give->offset;
    u64 rows = place->end - place->begin;
    if (give->gives == WINDOW_GIVES_MOVED)
        return at >= (i64)place->first && at < (i64)place->last ? (u64)at
                                                                : give->count;
    if (rows == 0 || (u64)give->offset >= rows)
        return give->count;
    return give->gives == WINDOW_GIVES_LAST ? place->end - 1
                                            : place->begin + (u64)give->offset;
}

/* The value of another row, or what stands for it; `*null`: it is NULL. */
static u64 value_there(ROWS rows, GLOBAL const u64 *restrict elements,
                       const struct window_give *give,
                       const struct framed *place, int *null)
{
    u64 source = source_of(give, place);
    if (source < give->count) {
        u32 row = (u32)elements[source];
        *null = is_null(rows, &give->value, row);
        return value_of(rows, &give->value, row);
    }
    *null = 1;
    if (give->gives != WINDOW_GIVES_MOVED || give->fallback.type == TYPE_NONE)
        return 0;
    *null = is_null(rows, &give->fallback, (u32)elements[place->at]);
    return value_of(rows, &give->fallback, (u32)elements[place->at]);
}

/* What was kept of the places up to that before `at`. */
static struct window_sum kept(GLOBAL const u8 *restrict work,
                              const struct window_give *give, u64 at)
{
    struct window_sum sum = nothing();
    if (at == 0)
        return sum;
    if (give->low != WINDOW_NOWHERE)
        sum.low = ((GLOBAL const u64 *)(work + give->low))[at - 1];
    sum.high = (u64)((i64)sum.low >> 63);
    if (give->high != WINDOW_NOWHERE)
        sum.high = ((GLOBAL const u64 *)(work + give->high))[at - 1];
    sum.seen = give->seen != WINDOW_NOWHERE
                   ? ((GLOBAL const u32 *)(work + give->seen))[at - 1]
                   : at;
    return sum;
}

/* What comes of an aggregate over a frame; `*null`: it is NULL. */
static u64 aggregate_of(GLOBAL const u8 *restrict work,
                        volatile GLOBAL u32 *restrict failed,
                        const struct window_give *give,
                        const struct framed *place, int *null)
{
    struct window_sum to = kept(work, give, place->end);
    struct window_sum from = kept(work, give, place->begin);
    u64 low = to.low - from.low;
    u64 high = to.high - from.high - (to.low < from.low);
    u64 seen = (u32)(to.seen - from.seen);
    *null = seen == 0;
    if (give->gives == WINDOW_GIVES_COUNT) {
        *null = 0;
        return seen;
    }
    if (give->gives == WINDOW_GIVES_BEST)
        return code_value(give->value.type, to.low ^ give->turn);
    if (give->gives == WINDOW_GIVES_SUM_HIGH)
        return high;
    if (give->gives == WINDOW_GIVES_SUM && high != (u64)((i64)low >> 63))
        atomic_or(failed + give->failed, 1U);
    if (give->gives <= WINDOW_GIVES_SUM_LOW)
        return low;
    *null = *null && !give->zero;
    return bits_of_f64(quotient_of_sum(
        low, high, give->divisor,
        give->gives == WINDOW_GIVES_MEAN && seen > 0 ? seen : 1));
}

/* Writes a result, 0 where it is NULL. */
static void put_result(GLOBAL u8 *rows, const struct window_column *to, u32 row,
                       u64 value, int null)
{
    if (TYPE_IS_WIDE(to->type))
        ((GLOBAL u64 *)(rows + to->values))[row] = null ? 0 : value;
    else
        ((GLOBAL u32 *)(rows + to->values))[row] = null ? 0 : (u32)value;
    if (to->nulls != WINDOW_NOWHERE)
        rows[to->nulls + row] = (u8)null;
}

/* Gives each row its result. */
KERNEL void vdbq_window_give(GLOBAL u8 *rows,
                             GLOBAL const u64 *restrict elements,
                             GLOBAL const u64 *restrict numbers,
                             GLOBAL const u32 *restrict begins,
                             GLOBAL const u8 *restrict work,
                             volatile GLOBAL u32 *restrict failed,
                             struct window_give give)
{
    for (u64 i = get_global_id(0); i < give.count; i += get_global_size(0)) {
        struct framed place = frame_of(numbers, begins, &give, i);
        int null = 0;
        u64 value;
        if (give.gives == WINDOW_GIVES_ROW_NUMBER)
            value = i - place.first + 1;
        else if (give.gives == WINDOW_GIVES_RANK)
            value = place.peers - place.first + 1;
        else if (give.gives == WINDOW_GIVES_DENSE_RANK)
            value = place.dense;
        else if (give.gives <= WINDOW_GIVES_MOVED)
            value = value_there(rows, elements, &give, &place, &null);
        else
            value = aggregate_of(work, failed, &give, &place, &null);
        put_result(rows, &give.result, (u32)elements[i], value, null);
    }
}
