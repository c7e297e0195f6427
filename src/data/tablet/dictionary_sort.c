/* SPDX-License-Identifier: MIT */
/*
 * Sorting texts, eight bytes at a time: those at one depth are a number, its
 * first byte the highest, with 0 behind the text's end. Numbers are sorted by
 * their bytes; texts of which they are the same are sorted by the next eight
 * bytes, by themselves. Few texts are put in their places one by one.
 */
#include "data/tablet/dictionary_sort.h"

#include "base/memory.h"
#include "base/threads/stop.h"

enum { HEAD_BYTES = sizeof(uint64_t), FEW = 24 };

struct item {
    uint64_t head;  /* eight bytes of the text           */
    uint32_t place; /* of the text, where it stood first */
};

struct sorting {
    const struct vdbq_text *texts;
    struct item *room; /* for as many items as there are */
};

static void sort_items(const struct sorting *sorting, struct item *items,
                       uint32_t count, size_t depth);

int text_compare(struct vdbq_text a, struct vdbq_text b)
{
    size_t common = a.length < b.length ? a.length : b.length;
    int order = common > 0 ? memcmp(a.bytes, b.bytes, common) : 0;

    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

bool dictionary_sort(const struct vdbq_text *texts, uint32_t count,
                     uint32_t *order)
{
    struct item *items = memory_zeroed((size_t)count * 2 + 1, sizeof *items);
    const struct sorting sorting = { texts, items + count };

    if (items == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        items[i].place = i;
    sort_items(&sorting, items, count, 0);
    for (uint32_t i = 0; i < count; i++)
        order[i] = items[i].place;
    memory_release(items);
    return !stop_asked();
}

/* Sets the heads; the bits in which they are not all the same. */
static uint64_t set_heads(const struct sorting *sorting, struct item *items,
                          uint32_t count, size_t depth)
{
    uint64_t differ = 0;

    for (uint32_t i = 0; i < count && !stop_at(i); i++) {
        items[i].head = text_head(sorting->texts[items[i].place], depth);
        differ |= items[i].head ^ items[0].head;
    }
    return differ;
}

/* Puts few items, whose heads are set, in order. */
static void insert_items(const struct sorting *sorting, struct item *items,
                         uint32_t count)
{
    const struct vdbq_text *texts = sorting->texts;

    for (uint32_t i = 1; i < count; i++) {
        struct item item = items[i];
        uint32_t k = i;
        for (; k > 0
               && (items[k - 1].head > item.head
                   || (items[k - 1].head == item.head
                       && text_compare(texts[items[k - 1].place],
                                       texts[item.place])
                              > 0));
             k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
}

/* Texts that ended before this depth come first, the shorter ones before the
 * longer: they are no more than eight. Returns how many. */
static uint32_t take_ended(const struct sorting *sorting, struct item *items,
                           uint32_t count, size_t depth)
{
    uint32_t ended = 0;

    for (uint32_t i = 0; i < count && !stop_at(i); i++)
        if (sorting->texts[items[i].place].length <= depth) {
            struct item item = items[i];
            items[i] = items[ended];
            items[ended++] = item;
        }
    set_heads(sorting, items, ended, depth);
    insert_items(sorting, items, ended);
    return ended;
}

static void sort_byte(const struct item *from, struct item *to, uint32_t count,
                      unsigned shift)
{
    uint32_t places[256] = { 0 }, place = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (stop_at(i))
            return; /* not all are counted: there is no place for them */
        places[from[i].head >> shift & 255]++;
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        uint32_t here = places[byte];
        places[byte] = place;
        place += here;
    }
    for (uint32_t i = 0; i < count && !stop_at(i); i++)
        to[places[from[i].head >> shift & 255]++] = from[i];
}

/* Sorts by the heads, by the bytes in which they differ. */
static void sort_heads(const struct sorting *sorting, struct item *items,
                       uint32_t count, uint64_t differ)
{
    struct item *from = items, *to = sorting->room;

    for (unsigned shift = 0; shift < 64; shift += 8)
        if ((differ >> shift & 255) != 0) {
            struct item *sorted = to;
            sort_byte(from, to, count, shift);
            to = from;
            from = sorted;
        }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

/* Sorts texts that are the same before `depth`. */
static void sort_items(const struct sorting *sorting, struct item *items,
                       uint32_t count, size_t depth)
{
    uint64_t differ = 0, since = 0;

    for (; differ == 0; depth += HEAD_BYTES) {
        uint32_t ended =
            count > FEW ? take_ended(sorting, items, count, depth) : 0;
        items += ended;
        count -= ended;
        differ = set_heads(sorting, items, count, depth);
        if (count <= FEW) {
            insert_items(sorting, items, count);
            return;
        }
        if (count > STOP_ROWS && stop_asked())
            return;
    }
    sort_heads(sorting, items, count, differ);
    if (count > STOP_ROWS && stop_asked())
        return; /* not all items are there */
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1;
             end < count && items[end].head == items[first].head; end++)
            ;
        if (end - first > 1)
            sort_items(sorting, items + first, end - first, depth);
        if (stop_after(&since, end - first))
            return;
    }
}
