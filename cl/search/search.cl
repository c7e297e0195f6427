/* SPDX-License-Identifier: MIT */
/*
 * Searching a sorted column for many keys: for each the place of the first
 * value that is not less (its lower bound), of the first that is more (its
 * upper bound), or both. NULLs come first in the column; a key that is NULL
 * finds them. What there is to be searched:
 *
 *   I32 I64   integers, dates, times, the digits of a DECIMAL
 *   F32 F64   in the order of cl/order.h: -0.0 equals 0.0, NaN is above all
 *   PAIR      two words without a sign, the first one first: texts of up to 16
 *             bytes whose first byte is the highest of the first word
 *   TEXT      the first 8 bytes as such a word, then, in the second one, length
 *             (upper half) and place of the text's bytes: these are compared
 *             where the words are equal
 *   U32 U64   integers without a sign: keys of the runs of an index
 *   ROWS      several columns: `width` bytes of words without a sign, the first
 *             one first (search_row_code() makes them)
 *
 * Ways to search, none of which has a branch that depends on a value, but for
 * texts with equal words:
 *
 *   binary  An item has a key of its own. It keeps candidates, [first, first +
 *           left), and halves them in the same steps for every key. On a CPU it has
 *           many keys: it takes each step for several at once, so that they wait
 *           for memory together. Where there are thousands, it first puts them in
 *           the order of some hundred parts of the column, by values that it has
 *           copied to one place: then those side by side find the same memory in
 *           the cache. Keys that are in order need that not: those taken in step
 *           lie between the bounds of the first and the last of them.
 *   tree    An item has a key of its own, and finds its leaf of the column by the
 *           directory (directory.cl): few steps, most of them in memory that
 *           caches hold.
 *   p-ary   All items of a team have one key, and read what separates the parts
 *           together. It is for few keys.
 */
#include "cl/types.h"
#include "cl/kernel.cl"
#include "cl/order.h"
#include "cl/search/search.h"

#define KEYS_TOGETHER 32 /* that an item which is alone takes in step */
#define KEYS_FEW 4       /* ... if it has more than these */
#define PART_OF(left, parts) (((left) + (parts) - 1) / (parts))

/* ------------------------------------------------------------- values -- */

/* What a kernel is given, from one of its keys on. Searches are numbered: of each
 * key one, or, with SEARCH_RANGE, the lower bound's and then the upper's. */
struct search {
    GLOBAL const u8 *sorted;      /* behind the NULLs                       */
    GLOBAL const u8 *sorted_text; /* bytes of texts                         */
    GLOBAL const u8 *keys;
    GLOBAL const u8 *key_text;
    GLOBAL const u8 *key_nulls; /* of SEARCH_KEY_NULLS                    */
    u64 count;                  /* of `sorted`                            */
    u64 nulls;                  /* before it                              */
    u64 searches;
    u64 flags;
    u64 width; /* of a value, in bytes                   */
    GLOBAL const u8 *directory; /* where there is one                   */
    GLOBAL const u8 *steps; /* copies of the last of each SEARCH_STEP values,
                               which are so few that caches hold them; 0:
                               there are none                           */
};

static inline u32 is_range(const struct search *s)
{
    return (s->flags & SEARCH_RANGE) == SEARCH_RANGE;
}

static inline u64 key_of(const struct search *s, u64 number)
{
    return is_range(s) ? number / 2 : number;
}

/* Whether a search asks for an upper bound. */
static inline u32 upper_of(const struct search *s, u64 number)
{
    return (s->flags & SEARCH_PAIRS) != 0 || is_range(s)
               ? (u32)number & 1
               : (u32)(s->flags & SEARCH_UPPER) != 0;
}

static inline u32 place_of(const struct search *s, u64 number, u64 first)
{
    u32 null = (s->flags & SEARCH_KEY_NULLS) != 0
               && s->key_nulls[key_of(s, number)] != 0;
    if (null)
        return upper_of(s, number) ? (u32)s->nulls : 0;
    return (u32)(first + s->nulls);
}

/*
 * Each type T has:
 *   key_T      a key, or the part of it that most values differ in
 *   whole_T    all of a key
 *   load_T     that of a search
 *   part_T     its part, for the upper bound or the lower one
 *   read_T     the part of a search's key
 *   value_T    that of a value
 *   less_T     whether a value lies before a key, as far as that part tells
 *   fours_T    how many of four keys of a directory do
 *   greatest_T the greatest key there is
 *   before_T   whether a value lies before a key's bound, as all of the key tells
 *   refined_T  the bound, from the place that those lead to on
 *   refine_T   that of a search
 * A number's key is all of it, and an upper bound that of the next number.
 */
#ifdef __OPENCL_C_VERSION__
#define four_i32 int4
#define four_i64 long4
#define four_u32 uint4
#define four_u64 ulong4
#define COUNT_FOUR(order)                                                    \
    four_##order four = *(GLOBAL const four_##order *)keys;                  \
    return (u32)(four.x < key) + (u32)(four.y < key) + (u32)(four.z < key)   \
           + (u32)(four.w < key);
#else
#define COUNT_FOUR(order)                                                    \
    u32 less = 0;                                                            \
    for (u32 i = 0; i < 4; i++)                                              \
        less += keys[i] < key;                                               \
    return less;
#endif

#define COMPARED(T, order, greatest)                                         \
    static inline u32 less_##T(const struct search *s, GLOBAL const u8 *from, \
                               u64 at, order key)                            \
    {                                                                        \
        return value_##T(s, from, at) < key;                                 \
    }                                                                        \
    static inline u32 fours_##T(GLOBAL const order *keys, order key)         \
    {                                                                        \
        COUNT_FOUR(order)                                                    \
    }                                                                        \
    static inline order greatest_##T(void)                                   \
    {                                                                        \
        return greatest;                                                     \
    }                                                                        \
    static inline order read_##T(const struct search *s, u64 number)         \
    {                                                                        \
        return part_##T(load_##T(s, number), upper_of(s, number));           \
    }                                                                        \
    static inline u64 refine_##T(const struct search *s,                     \
                                 GLOBAL const u8 *from, u64 count,           \
                                 u64 number, u64 first)                      \
    {                                                                        \
        return refined_##T(s, from, count, load_##T(s, number),              \
                           upper_of(s, number), first);                      \
    }

#define NUMBER_TYPE(T, type, order, ordered, greatest)                       \
    typedef order key_##T;                                                   \
    typedef order whole_##T;                                                 \
    static inline order load_##T(const struct search *s, u64 number)         \
    {                                                                        \
        return ordered(((GLOBAL const type *)s->keys)[key_of(s, number)]);   \
    }                                                                        \
    static inline order part_##T(order key, u32 upper)                       \
    {                                                                        \
        return key + (order)(key != (greatest) && upper);                    \
    }                                                                        \
    static inline order value_##T(const struct search *s,                    \
                                  GLOBAL const u8 *from, u64 at)             \
    {                                                                        \
        (void)s;                                                             \
        return ordered(((GLOBAL const type *)from)[at]);                     \
    }                                                                        \
    static inline u32 before_##T(const struct search *s,                     \
                                 GLOBAL const u8 *from, u64 at, order key,   \
                                 u32 upper)                                  \
    {                                                                        \
        order value = value_##T(s, from, at);                                \
        return (u32)(value < key) | ((u32)(value == key) & upper);           \
    }                                                                        \
    static inline u64 refined_##T(const struct search *s,                    \
                                  GLOBAL const u8 *from, u64 count,          \
                                  order key, u32 upper, u64 first)           \
    {                                                                        \
        (void)s, (void)from;                                                 \
        return key == (greatest) && upper ? count : first;                   \
    }                                                                        \
    COMPARED(T, order, greatest)

#define AS_IT_IS(value) (value)
#define GREATEST_32 0x7fffffff
#define GREATEST_64 0x7fffffffffffffffL
#define ALL_ONES_32 0xffffffffu
#define ALL_ONES_64 0xffffffffffffffffUL
NUMBER_TYPE(I32, i32, i32, AS_IT_IS, GREATEST_32)
NUMBER_TYPE(I64, i64, i64, AS_IT_IS, GREATEST_64)
NUMBER_TYPE(F32, f32, i32, order_f32, GREATEST_32)
NUMBER_TYPE(F64, f64, i64, order_f64, GREATEST_64)
NUMBER_TYPE(U32, u32, u32, AS_IT_IS, ALL_ONES_32)
NUMBER_TYPE(U64, u64, u64, AS_IT_IS, ALL_ONES_64)

/* Types of words without a sign, of which the first one is looked at. */
#define WORD_TYPE(T, each)                                                   \
    typedef u64 key_##T;                                                     \
    static inline u64 part_##T(whole_##T key, u32 upper)                     \
    {                                                                        \
        (void)upper;                                                         \
        return key.words[0];                                                 \
    }                                                                        \
    static inline u64 value_##T(const struct search *s,                      \
                                GLOBAL const u8 *from, u64 at)               \
    {                                                                        \
        (void)s;                                                             \
        return ((GLOBAL const u64 *)from)[at * (each)];                      \
    }                                                                        \
    static inline u64 refined_##T(const struct search *s,                    \
                                  GLOBAL const u8 *from, u64 count,          \
                                  whole_##T key, u32 upper, u64 first)       \
    {                                                                        \
        u64 step = 1;                                                        \
        if (first >= count || !before_##T(s, from, first, key, upper))       \
            return first;                                                    \
        while (step < count - first                                          \
               && before_##T(s, from, first + step, key, upper)) {           \
            first += step;                                                   \
            step *= 2;                                                       \
        }                                                                    \
        u64 left = step < count - first ? step : count - first;              \
        for (first++; left > 1; left -= left / 2)                            \
            first += left / 2                                                \
                     * before_##T(s, from, first + left / 2 - 1, key, upper); \
        return first;                                                        \
    }                                                                        \
    COMPARED(T, u64, ALL_ONES_64)

/* Types of two words. */
#define TWO_WORDS(T)                                                         \
    typedef struct {                                                         \
        u64 words[2];                                                        \
    } whole_##T;                                                             \
    static inline whole_##T load_##T(const struct search *s, u64 number)     \
    {                                                                        \
        GLOBAL const u64 *words =                                            \
            (GLOBAL const u64 *)s->keys + 2 * key_of(s, number);             \
        whole_##T key = { { words[0], words[1] } };                          \
        return key;                                                          \
    }
TWO_WORDS(PAIR)
TWO_WORDS(TEXT)

typedef struct {
    GLOBAL const u64 *words;
} whole_ROWS;

static inline whole_ROWS load_ROWS(const struct search *s, u64 number)
{
    whole_ROWS key = {
        (GLOBAL const u64 *)(s->keys + key_of(s, number) * s->width)
    };
    return key;
}

static inline u32 before_PAIR(const struct search *s, GLOBAL const u8 *from,
                              u64 at, whole_PAIR key, u32 upper)
{
    GLOBAL const u64 *value = (GLOBAL const u64 *)from + 2 * at;
    (void)s;
    u64 high = value[0], low = value[1];
    return (u32)(high < key.words[0])
           | ((u32)(high == key.words[0])
              & ((u32)(low < key.words[1])
                 | ((u32)(low == key.words[1]) & upper)));
}

/* Behind the first 8 bytes, which have 0 behind the end of shorter ones; of two
 * texts of which one begins with the other, the shorter one comes first. */
static inline u32 before_TEXT(const struct search *s, GLOBAL const u8 *from,
                              u64 at, whole_TEXT key, u32 upper)
{
    GLOBAL const u64 *value = (GLOBAL const u64 *)from + 2 * at;
    GLOBAL const u8 *a = s->sorted_text + (u32)value[1];
    GLOBAL const u8 *b = s->key_text + (u32)key.words[1];
    u32 a_length = (u32)(value[1] >> 32), b_length = (u32)(key.words[1] >> 32);
    u32 both = a_length < b_length ? a_length : b_length;
    if (value[0] != key.words[0])
        return value[0] < key.words[0];
    for (u32 i = 8; i < both; i++)
        if (a[i] != b[i])
            return a[i] < b[i];
    return a_length < b_length || (a_length == b_length && upper);
}

static inline u32 before_ROWS(const struct search *s, GLOBAL const u8 *from,
                              u64 at, whole_ROWS key, u32 upper)
{
    GLOBAL const u64 *value = (GLOBAL const u64 *)(from + at * s->width);
    for (u32 i = 0; i < s->width / 8; i++)
        if (value[i] != key.words[i])
            return value[i] < key.words[i];
    return upper;
}

WORD_TYPE(PAIR, 2)
WORD_TYPE(TEXT, 2)
WORD_TYPE(ROWS, s->width / 8)

#define SEARCH_ARGUMENTS                                                     \
    GLOBAL const u8 *restrict sorted, GLOBAL const u8 *restrict keys,        \
        GLOBAL u32 *restrict places, GLOBAL u32 *restrict scratch,           \
        GLOBAL const u8 *restrict sorted_text,                               \
        GLOBAL const u8 *restrict key_text,                                  \
        GLOBAL const u8 *restrict key_nulls, u64 count, u64 key_count,       \
        u64 nulls, u64 flags, u64 width, u64 sorters, u64 keys_at,           \
        u64 places_at

#define SEARCH_MADE                                                          \
    {                                                                        \
        sorted + nulls * width, sorted_text, keys + keys_at, key_text,       \
            key_nulls, count - nulls, nulls,                                 \
            (flags & SEARCH_RANGE) == SEARCH_RANGE ? 2 * key_count           \
                                                   : key_count,              \
            flags, width, sorted + search_directory_at(count, width), 0      \
    }

/*
 * bound  of a search, among `left` candidates from `first` on: they are counted
 *        with the one behind the last value
 * one    an item's search by itself
 */
#define ONE(T)                                                               \
    static inline u32 bound_##T(const struct search *s,                      \
                                GLOBAL const u8 *from, u64 number,           \
                                u32 first, u32 left)                         \
    {                                                                        \
        key_##T key = read_##T(s, number);                                   \
        for (; left > 1; left -= left / 2)                                   \
            first += left / 2                                                \
                     * less_##T(s, from, (u64)first + left / 2 - 1, key);    \
        return first;                                                        \
    }                                                                        \
    static inline void one_##T(const struct search *s, u64 number,           \
                               GLOBAL u32 *places)                           \
    {                                                                        \
        u32 first = bound_##T(s, s->sorted, number, 0, (u32)s->count + 1);   \
        places[number] = place_of(                                           \
            s, number, refine_##T(s, s->sorted, s->count, number, first));   \
    }

/* A kernel whose items take one search at a time. */
#define EACH_BY_ITSELF(T, way, by)                                           \
    KERNEL void vdbq_search_##way##_##T(SEARCH_ARGUMENTS)                    \
    {                                                                        \
        struct search s = SEARCH_MADE;                                       \
        places += places_at;                                                 \
        (void)scratch, (void)sorters;                                        \
        for (u64 number = get_global_id(0); number < s.searches;             \
             number += get_global_size(0))                                   \
            by##_##T(&s, number, places);                                    \
    }

#if VDBQ_GROUP > 1

/* ------------------------------------------------------ items in groups -- */

/* An item takes one search at a time: more of them in step, by fewer items, take
 * longer, and so do the upper steps among copies in local memory (H100, 36M values
 * of 16 bytes: 397 and 413 us for 1M keys instead of 318): it is the lowest steps,
 * which find nothing in a cache, that count. */
#define BINARY(T) EACH_BY_ITSELF(T, binary, one)

#else

/* -------------------------------------------------- items that are alone -- */

/* The item's share of the searches: neighbours. */
static inline void share_of(const struct search *s, u64 *from, u64 *to)
{
    u64 share = PART_OF(s->searches, get_global_size(0));
    share = PART_OF(share, KEYS_TOGETHER) * KEYS_TOGETHER;
    *from = get_global_id(0) * share;
    *to = *from + share < s->searches ? *from + share : s->searches;
}

/* So many searches that are taken in step. Those behind the last one do as the
 * first does. */
struct searches_together {
    u32 number[KEYS_TOGETHER];
    u32 first[KEYS_TOGETHER];
};

/* The searches `from` on, in an order where there is one. */
static inline void take(GLOBAL const u32 *order, u64 from, u64 to,
                        struct searches_together *together)
{
    for (u32 k = 0; k < KEYS_TOGETHER; k++) {
        u64 at = from + k < to ? from + k : from;
        together->number[k] = order ? order[at] : (u32)at;
        together->first[k] = 0;
    }
}

static inline u32 is_there(const struct searches_together *together, u32 k)
{
    return k == 0 || together->number[k] != together->number[0];
}

/* Where the item has what it needs to put its searches in order: copies of the
 * values that separate parts, and how many searches there are before each. */
static inline GLOBAL u32 *own_scratch(GLOBAL u32 *scratch, u64 width)
{
    return scratch + get_global_id(0) * SEARCH_SORTER_WORDS(width);
}

static inline void copy_value(GLOBAL u32 *to, GLOBAL const u8 *from, u64 width)
{
    for (u64 i = 0; i < width / sizeof(u32); i++)
        to[i] = ((GLOBAL const u32 *)from)[i];
}

/* The parts of the column that so many searches are sorted by. */
static inline u64 parts_for(u64 searches)
{
    u64 parts = 64;
    while (parts < SEARCH_PARTS_MAX && parts * SEARCH_PART_KEYS < searches)
        parts *= 2;
    return parts;
}

/* From how many searches there are in each part to where they begin. */
static inline void sum_up(GLOBAL u32 *starts, u64 parts, u64 from)
{
    u32 sum = (u32)from;
    for (u64 i = 0; i < parts; i++) {
        u32 here = starts[i];
        starts[i] = sum;
        sum += here;
    }
}

/* Has the values behind a step brought into the cache. */
static inline void fetch_step(const struct search *s, u32 step)
{
    u64 first = (u64)step * SEARCH_STEP;
    if (s->steps == 0)
        return;
    FETCH(s->sorted + first * s->width);
    FETCH(s->sorted + (first + SEARCH_STEP) * s->width - 1);
}

/*
 * narrow    Finds the bounds among `left` candidates from each search's first.
 * ends      Writes the places of searches that were narrowed to one candidate.
 * counted   How many of SEARCH_STEP values lie before a key.
 * followed  The bound of a search that lies few values behind `first`.
 * between   Finds bounds of keys in order, of which the last one's is returned:
 *           where they lie close together, one from the other on.
 * stepped   Finds bounds from the steps before them on.
 * ascending Does all searches of a share whose keys are in order.
 * searched  Does all searches of a share in their order, or in `order`, where
 *           `places` has the part of each, of `part` candidates. The last part
 *           may be shorter: it begins earlier.
 * sorted    Writes the order. Which part a search is in is found among copies of
 *           the parts' separators.
 */
#define ALONE(T)                                                             \
    static inline void narrow_##T(const struct search *s,                    \
                                  GLOBAL const u8 *from, u64 left,           \
                                  struct searches_together *together)        \
    {                                                                        \
        key_##T key[KEYS_TOGETHER];                                          \
        for (u32 k = 0; k < KEYS_TOGETHER; k++)                              \
            key[k] = read_##T(s, together->number[k]);                       \
        for (; left > 1; left -= left / 2) {                                 \
            u32 step = (u32)(left / 2);                                      \
            for (u32 k = 0; k < KEYS_TOGETHER; k++) {                        \
                u32 first = together->first[k];                              \
                u32 less = less_##T(s, from, (u64)first + step - 1, key[k]); \
                first += step & -less;                                       \
                together->first[k] = first;                                  \
            }                                                                \
        }                                                                    \
    }                                                                        \
    static inline void ends_##T(const struct search *s,                      \
                                const struct searches_together *together,    \
                                GLOBAL u32 *places)                          \
    {                                                                        \
        for (u32 k = 0; k < KEYS_TOGETHER; k++)                              \
            if (is_there(together, k))                                       \
                places[together->number[k]] =                                \
                    place_of(s, together->number[k],                         \
                             refine_##T(s, s->sorted, s->count,              \
                                        together->number[k],                 \
                                        together->first[k]));                \
    }                                                                        \
    static inline u32 counted_##T(const struct search *s,                    \
                                  GLOBAL const u8 *from, u32 first,          \
                                  key_##T key)                               \
    {                                                                        \
        u32 less = 0;                                                        \
        for (u32 i = 0; i < SEARCH_STEP; i++)                                \
            less += less_##T(s, from, (u64)first + i, key);                  \
        return less;                                                         \
    }                                                                        \
    static inline u32 followed_##T(const struct search *s,                   \
                                   GLOBAL const u8 *from, u32 count,         \
                                   u64 number, u32 first)                    \
    {                                                                        \
        key_##T key = read_##T(s, number);                                   \
        while (count - first >= SEARCH_STEP) {                               \
            u32 less = counted_##T(s, from, first, key);                     \
            first += less;                                                   \
            if (less < SEARCH_STEP)                                          \
                return first;                                                \
        }                                                                    \
        return bound_##T(s, from, number, first, count + 1 - first);         \
    }                                                                        \
    static inline u32 between_##T(const struct search *s,                    \
                                  GLOBAL const u8 *from, u32 count, u32 low, \
                                  u64 last,                                  \
                                  struct searches_together *together)        \
    {                                                                        \
        u32 span = KEYS_TOGETHER * SEARCH_STEP, high;                        \
        if (count - low < span                                               \
            || less_##T(s, from, (u64)low + span - 1, read_##T(s, last))) {  \
            high = bound_##T(s, from, last, low, count + 1 - low);           \
            for (u32 k = 0; k < KEYS_TOGETHER; k++)                          \
                together->first[k] = low;                                    \
            narrow_##T(s, from, (u64)high - low + 1, together);              \
            for (u32 k = 0; k < KEYS_TOGETHER; k++)                          \
                fetch_step(s, together->first[k]);                           \
            return high;                                                     \
        }                                                                    \
        for (u32 k = 0; k < KEYS_TOGETHER; k++)                              \
            if (is_there(together, k)) {                                     \
                low = followed_##T(s, from, count, together->number[k], low); \
                together->first[k] = low;                                    \
                fetch_step(s, low);                                          \
            }                                                                \
        return low;                                                          \
    }                                                                        \
    static inline void stepped_##T(const struct search *s,                   \
                                   struct searches_together *together)       \
    {                                                                        \
        for (u32 k = 0; k < KEYS_TOGETHER; k++)                              \
            if (is_there(together, k))                                       \
                together->first[k] = followed_##T(                           \
                    s, s->sorted, (u32)s->count, together->number[k],        \
                    together->first[k] * SEARCH_STEP);                       \
    }                                                                        \
    static void ascending_##T(const struct search *s, u64 from, u64 to,      \
                              GLOBAL u32 *places)                            \
    {                                                                        \
        GLOBAL const u8 *outer = s->steps ? s->steps : s->sorted;            \
        u32 count = (u32)(s->steps ? s->count / SEARCH_STEP : s->count);     \
        u32 low = 0;                                                         \
        for (u64 at = from; at < to; at += KEYS_TOGETHER) {                  \
            u64 end = at + KEYS_TOGETHER < to ? at + KEYS_TOGETHER : to;     \
            struct searches_together together;                               \
            take(0, at, to, &together);                                      \
            low = between_##T(s, outer, count, low, end - 1, &together);     \
            if (s->steps)                                                    \
                stepped_##T(s, &together);                                   \
            ends_##T(s, &together, places);                                  \
        }                                                                    \
    }                                                                        \
    static void searched_##T(const struct search *s,                         \
                             GLOBAL const u32 *order, u64 from, u64 to,      \
                             u64 part, GLOBAL u32 *places)                   \
    {                                                                        \
        u64 last = s->count + 1 - part;                                      \
        for (u64 at = from; at < to; at += KEYS_TOGETHER) {                  \
            struct searches_together together;                               \
            take(order, at, to, &together);                                  \
            for (u32 k = 0; k < KEYS_TOGETHER && order; k++) {               \
                u64 first = places[together.number[k]] * part;               \
                together.first[k] = (u32)(first < last ? first : last);      \
                FETCH(s->sorted + (together.first[k] + part / 2) * s->width); \
            }                                                                \
            narrow_##T(s, s->sorted, part, &together);                       \
            ends_##T(s, &together, places);                                  \
        }                                                                    \
    }                                                                        \
    static void sorted_##T(const struct search *s, GLOBAL u32 *own,          \
                           u64 part, u64 from, u64 to, GLOBAL u32 *places,   \
                           GLOBAL u32 *order)                                \
    {                                                                        \
        u64 separators = s->count / part;                                    \
        GLOBAL u32 *starts = own + SEARCH_PARTS_MAX * (s->width / 4);        \
        for (u64 i = 0; i < separators; i++)                                 \
            copy_value(own + i * (s->width / 4),                             \
                       s->sorted + ((i + 1) * part - 1) * s->width,          \
                       s->width);                                            \
        for (u64 i = 0; i <= separators; i++)                                \
            starts[i] = 0;                                                   \
        for (u64 at = from; at < to; at += KEYS_TOGETHER) {                  \
            struct searches_together together;                               \
            take(0, at, to, &together);                                      \
            narrow_##T(s, (GLOBAL const u8 *)own, separators + 1,            \
                       &together);                                           \
            for (u32 k = 0; k < KEYS_TOGETHER; k++)                          \
                if (is_there(&together, k)) {                                \
                    u32 in = (u32)refine_##T(                                \
                        s, (GLOBAL const u8 *)own, separators,               \
                        together.number[k], together.first[k]);              \
                    places[together.number[k]] = in;                         \
                    starts[in]++;                                            \
                }                                                            \
        }                                                                    \
        sum_up(starts, separators + 1, from);                                \
        for (u64 at = from; at < to; at++)                                   \
            order[starts[places[at]]++] = (u32)at;                           \
    }

#define BINARY(T)                                                            \
    ALONE(T)                                                                 \
    static void looked_up_##T(const struct search *s, u64 from, u64 to,      \
                              GLOBAL u32 *places)                            \
    {                                                                        \
        if (to - from <= KEYS_FEW)                                           \
            for (u64 at = from; at < to; at++)                               \
                one_##T(s, at, places);                                      \
        else if ((s->flags & SEARCH_ASCENDING) != 0)                         \
            ascending_##T(s, from, to, places);                              \
        else                                                                 \
            searched_##T(s, 0, from, to, s->count + 1, places);              \
    }                                                                        \
    KERNEL void vdbq_search_binary_##T(SEARCH_ARGUMENTS)                     \
    {                                                                        \
        struct search s = SEARCH_MADE;                                       \
        places += places_at;                                                 \
        u64 from, to;                                                        \
        share_of(&s, &from, &to);                                            \
        if (from >= to)                                                      \
            return;                                                          \
        u64 parts = parts_for(to - from);                                    \
        if (get_global_id(0) >= sorters || to - from < SEARCH_SORTED_LEAST   \
            || s.count / SEARCH_PART_VALUES < parts) {                       \
            looked_up_##T(&s, from, to, places);                             \
            return;                                                          \
        }                                                                    \
        GLOBAL u32 *order = scratch + sorters * SEARCH_SORTER_WORDS(width);  \
        u64 part = PART_OF(s.count + 1, parts);                              \
        sorted_##T(&s, own_scratch(scratch, width), part, from, to, places,  \
                   order);                                                   \
        searched_##T(&s, order, from, to, part, places);                     \
    }

#endif

#include "cl/search/directory.cl"

#define EVERY_WAY(T) ONE(T) BINARY(T) DIRECTORY(T) TREE(T) PARY(T)
SEARCH_TYPES(EVERY_WAY)
SEARCH_FEW_TYPES(FEW)
