/* SPDX-License-Identifier: MIT */
/*
 * Searches by a directory of the column, which cl/search/search.h draws: its
 * making, and the ways that use it.
 *
 *   tree    An item walks the directory with a key of its own: in each node it
 *           counts the entries before the key, all at once. On a CPU it does so
 *           for several keys in step.
 *   p-ary   A team reads 64 entries side by side, those of a node and of all nodes
 *           below it, which separate 65 parts: four an item, in one line of memory
 *           for every four items. How many lie before the key is told in local
 *           memory, so that no boundary between parts is read twice: this is what
 *           sharing the boundary keys comes to where they lie in a directory. On a
 *           CPU an item is alone, and compares a node at once.
 *
 * A directory has the part of a key that most values differ in: where the values
 * around a bound are equal in that, refine_T looks at the column.
 */

/*
 * node     How many entries of a node lie before a key.
 * leaf_of  The leaf with the first value that is not less, as far as entries tell,
 *          or the one behind the last whole leaf.
 * in_leaf  That value: first among the last ones of quarters of the leaf, then in a
 *          quarter, each time all at once.
 * walked   An item's search by itself.
 */
#define DIRECTORY(T)                                                         \
    KERNEL void vdbq_search_directory_##T(SEARCH_ARGUMENTS)                  \
    {                                                                        \
        struct search s = SEARCH_MADE;                                       \
        GLOBAL key_##T *to = (GLOBAL key_##T *)(places + places_at);         \
        u32 level = search_levels((u32)s.count);                             \
        (void)scratch, (void)sorters;                                        \
        while (level-- > 0) {                                                \
            u32 bits = SEARCH_LEAF_BITS + SEARCH_NODE_BITS * level;          \
            u32 entries = search_entries((u32)s.count, level);               \
            u32 room = search_room((u32)s.count, level);                     \
            for (u64 i = get_global_id(0); i < room;                         \
                 i += get_global_size(0))                                    \
                to[i] = i < entries                                          \
                            ? value_##T(&s, s.sorted, ((i + 1) << bits) - 1) \
                            : greatest_##T();                                \
            to += room;                                                      \
        }                                                                    \
    }                                                                        \
    static inline u32 node_##T(GLOBAL const key_##T *node, key_##T key)      \
    {                                                                        \
        u32 less = 0;                                                        \
        for (u32 i = 0; i < SEARCH_NODE; i += 4)                             \
            less += fours_##T(node + i, key);                                \
        return less;                                                         \
    }                                                                        \
    static inline u32 leaf_of_##T(const struct search *s, key_##T key)       \
    {                                                                        \
        GLOBAL const key_##T *from = (GLOBAL const key_##T *)s->directory;   \
        u32 level = search_levels((u32)s->count), at = 0;                    \
        while (level-- > 0) {                                                \
            at = at * SEARCH_NODE                                            \
                 + node_##T(from + (u64)at * SEARCH_NODE, key);              \
            from += search_room((u32)s->count, level);                       \
        }                                                                    \
        return at;                                                           \
    }                                                                        \
    static inline u32 in_leaf_##T(const struct search *s, u32 leaf, key_##T key) \
    {                                                                        \
        u32 first = leaf * SEARCH_LEAF, count = (u32)s->count;               \
        for (u32 step = SEARCH_LEAF / 4; step > 0; step /= 4) {              \
            u32 less = 0;                                                    \
            for (u32 i = 1; i < 4; i++) {                                    \
                u32 at = first + i * step - 1;                               \
                less += (u32)(at < count)                                    \
                        & less_##T(s, s->sorted, at < count ? at : 0, key);  \
            }                                                                \
            first += less * step;                                            \
        }                                                                    \
        return first;                                                        \
    }                                                                        \
    static inline void walked_##T(const struct search *s, u64 number,        \
                                  GLOBAL u32 *places)                        \
    {                                                                        \
        key_##T key = read_##T(s, number);                                   \
        u32 first = in_leaf_##T(s, leaf_of_##T(s, key), key);                \
        places[number] = place_of(                                           \
            s, number, refine_##T(s, s->sorted, s->count, number, first));   \
    }

#if VDBQ_GROUP > 1

/* ------------------------------------------------------ items in groups -- */

#define TREE(T) EACH_BY_ITSELF(T, tree, walked)

/* Text that runs once for few keys is best short: it has to be fetched, too. */
#ifdef __OPENCL_C_VERSION__
#define ROLLED _Pragma("unroll 1")
#else
#define ROLLED
#endif

/* A team is a group: it waits for nobody else (H200, 16 and 1,024 keys: 7.3 and 7.7 us,
 * 7.5 and 8.1 where four teams are one). */
#define TEAM_BITS (2 * SEARCH_NODE_BITS) /* of what a team reads at once */

/* What each item of a team counts; others read eight at a time. */
union team_counts {
    u8 one[SEARCH_TEAM];
    u64 eight[SEARCH_TEAM / 8];
};

/* Adds up what the items of a team have counted, which is no more than a byte
 * holds. The next sum takes other counts: nobody writes what others still read. */
#define TEAM_SUM(counts, own, sum)                                           \
    {                                                                        \
        (counts).one[member] = (u8)(own);                                    \
        WAIT;                                                                \
        u64 of_two = (counts).eight[0] + (counts).eight[1];                  \
        (sum) = (u32)(of_two + (of_two >> 32)) * 0x01010101u >> 24;          \
    }

/* What a team does for its search, whose key is `loaded`: it reads every other
 * level of the directory, the lowest among them, then a leaf. Of this each item
 * compares a value as a whole, so that what is equal in the directory's part of a
 * key needs a look at other leaves only where all of this one lies before the
 * bound. */
#define SEARCHED_BY_A_TEAM(T, loaded)                                        \
    {                                                                        \
        LOCAL union team_counts counts[2];                                   \
        struct search s = SEARCH_MADE;                                       \
        u32 member = (u32)get_local_id(0), turn = 0;                         \
        (void)scratch, (void)sorters;                                        \
        places += places_at;                                                 \
        for (u64 number = get_group_id(0); number < s.searches;              \
             number += get_num_groups(0)) {                                  \
            whole_##T whole = loaded;                                        \
            u32 upper = upper_of(&s, number);                                \
            key_##T key = part_##T(whole, upper);                            \
            GLOBAL const key_##T *entries =                                  \
                (GLOBAL const key_##T *)s.directory;                         \
            u32 level = search_levels((u32)s.count) - 1, at = 0, own, sum;   \
            if (level % 2 != 0)                                              \
                entries += search_room((u32)s.count, level--);               \
            ROLLED for (;; level -= 2)                                       \
            {                                                                \
                u32 room = search_room((u32)s.count, level);                 \
                u32 entry = (at << TEAM_BITS) + member * 4;                  \
                own = entry < room ? fours_##T(entries + entry, key) : 0;    \
                TEAM_SUM(counts[turn], own, sum)                             \
                at = (at << TEAM_BITS) + sum;                                \
                turn ^= 1;                                                   \
                if (level == 0)                                              \
                    break;                                                   \
                entries += room + search_room((u32)s.count, level - 1);      \
            }                                                                \
            u32 value = at * SEARCH_LEAF + member;                           \
            own = value < (u32)s.count                                       \
                      ? before_##T(&s, s.sorted, value, whole, upper)        \
                      : 0;                                                   \
            TEAM_SUM(counts[turn], own, sum)                                 \
            turn ^= 1;                                                       \
            u64 bound = (u64)at * SEARCH_LEAF + sum;                         \
            if (member == 0 && sum == SEARCH_LEAF)                           \
                bound = refined_##T(&s, s.sorted, s.count, whole, upper,     \
                                    bound);                                  \
            if (member == 0)                                                 \
                places[number] = place_of(&s, number, bound);                \
        }                                                                    \
    }

#define PARY(T)                                                              \
    KERNEL_OF(SEARCH_TEAM) void vdbq_search_pary_##T(SEARCH_ARGUMENTS)       \
        SEARCHED_BY_A_TEAM(T, load_##T(&s, number))

/* The same for keys that come with the launch. It is a kernel of its own: an
 * argument of that size takes time, used or not. */
#define FEW(T)                                                               \
    KERNEL_OF(SEARCH_TEAM)                                                   \
    void vdbq_search_few_##T(SEARCH_ARGUMENTS, struct search_few few)        \
        SEARCHED_BY_A_TEAM(T, CARRIED_##T(few.words, key_of(&s, number)))

/* Told to the compiler like this, they are read where arguments are, and no item
 * makes a copy of them all. */
#define CARRIED_I32(words, at) ((i32)words[at])
#define CARRIED_I64(words, at) ((i64)words[at])
#define CARRIED_F32(words, at) order_f32(f32_of_bits((u32)words[at]))
#define CARRIED_F64(words, at) order_f64(f64_of_bits(words[at]))
#define CARRIED_U32(words, at) ((u32)words[at])
#define CARRIED_U64(words, at) (words[at])
#define CARRIED_PAIR(words, at)                                              \
    pair_of(words[2 * (at)], words[2 * (at) + 1])

static inline whole_PAIR pair_of(u64 first, u64 second)
{
    whole_PAIR key = { { first, second } };
    return key;
}

#else

/* -------------------------------------------------- items that are alone -- */

#define PARY(T) EACH_BY_ITSELF(T, pary, walked)
#define FEW(T) /* keys lie where the item reads them */

/* Several keys go from level to level in step. */
#define TREE(T)                                                              \
    static inline void descend_##T(const struct search *s,                   \
                                   const key_##T *key,                       \
                                   struct searches_together *together)       \
    {                                                                        \
        GLOBAL const key_##T *from = (GLOBAL const key_##T *)s->directory;   \
        u32 level = search_levels((u32)s->count);                            \
        while (level-- > 0) {                                                \
            for (u32 k = 0; k < KEYS_TOGETHER; k++) {                        \
                u64 at = (u64)together->first[k] * SEARCH_NODE;              \
                together->first[k] = (u32)at + node_##T(from + at, key[k]);  \
            }                                                                \
            from += search_room((u32)s->count, level);                       \
        }                                                                    \
    }                                                                        \
    KERNEL void vdbq_search_tree_##T(SEARCH_ARGUMENTS)                       \
    {                                                                        \
        struct search s = SEARCH_MADE;                                       \
        u64 from, to;                                                        \
        (void)scratch, (void)sorters;                                        \
        places += places_at;                                                 \
        share_of(&s, &from, &to);                                            \
        for (; from < to; from += KEYS_TOGETHER) {                           \
            key_##T key[KEYS_TOGETHER];                                      \
            struct searches_together together;                               \
            take(0, from, to, &together);                                    \
            for (u32 k = 0; k < KEYS_TOGETHER; k++)                          \
                key[k] = read_##T(&s, together.number[k]);                   \
            descend_##T(&s, key, &together);                                 \
            for (u32 k = 0; k < KEYS_TOGETHER; k++)                          \
                FETCH(s.sorted                                               \
                      + ((u64)together.first[k] * 2 + 1) * SEARCH_LEAF       \
                            * s.width / 2);                                  \
            for (u32 k = 0; k < KEYS_TOGETHER; k++)                          \
                together.first[k] =                                          \
                    in_leaf_##T(&s, together.first[k], key[k]);              \
            ends_##T(&s, &together, places);                                 \
        }                                                                    \
    }

#endif
