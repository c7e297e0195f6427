/* SPDX-License-Identifier: MIT */
/*
 * One thread's gather: texts lie in blocks, which never move. A table of the
 * texts that came last by hash keeps most equal ones from being copied; it stays
 * small enough for the caches, for what it lets pass is found in the end
 * (gather_together.c). Where few texts come again, nobody asks it any more.
 */
#include "data/tablet/gather_inner.h"

#include <assert.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/paged.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_sort.h"

enum {
    ROOM_FIRST = HOSTILE(1, 1 << 10),  /* texts                          */
    BLOCK_FIRST = HOSTILE(1, 1 << 14), /* bytes of the first block ...   */
    BLOCK_MAX = HOSTILE(1, 1 << 22),   /* ... at which they double no more */
    SLOTS_FIRST = HOSTILE(1, 1 << 10), /* of the table ...               */
    SLOTS_MAX = HOSTILE(2, 1 << 18),   /* ... likewise                   */
    TRIES =
        HOSTILE(8, 1 << 13), /* texts after which a full table is judged ... */
    TRIES_GIVEN =
        HOSTILE(4, 1 << 10), /* ... and any one, of texts to be given */
    MET_LEAST = 8 /* ... by whether one in so many came before               */
};

/* The text that came last of those whose hashes end alike. */
struct gather_slot {
    uint64_t hash;
    uint32_t place; /* plus 1; 0: there is none */
};

void gather_init(struct gather *gather)
{
    *gather = (struct gather){ .blocks = VECTOR(void *) };
}

void gather_release_texts(struct gather *gather)
{
    for (size_t i = 0; i < gather->blocks.count; i++)
        paged_release(VECTOR_ITEMS(&gather->blocks, void *)[i]);
    if (gather->blocks.width > 0)
        vector_finish(&gather->blocks);
    paged_release(gather->texts);
    paged_release(gather->hashes);
    memory_release(gather->slots);
    gather->texts = NULL;
    gather->hashes = NULL;
    gather->slots = NULL;
}

void gather_finish(struct gather *gather)
{
    gather_release_texts(gather);
    paged_release(gather->numbers);
    *gather = (struct gather){ 0 };
}

/* ----------------------------------------------------------------- room -- */

/* Moves `count` values of `width` bytes to where there is room for more; false:
 * no memory. */
static bool move(void **values, size_t width, uint32_t count, uint32_t room)
{
    void *moved = paged_alloc(room * width);
    if (moved == NULL)
        return false;
    if (count > 0)
        paged_copy(moved, *values, count * width);
    paged_release(*values);
    *values = moved;
    return true;
}

/* Room for one more text. */
static bool make_room(struct gather *gather)
{
    uint32_t count = gather->count, room = gather->room;
    if (count < room)
        return true;
    if (room > UINT32_MAX / 4)
        return false;
    room = room > 0 ? room * 2 : ROOM_FIRST;
    void *texts = gather->texts, *hashes = gather->hashes;
    bool moved = move(&texts, sizeof *gather->texts, count, room);
    gather->texts = texts;
    moved = moved && move(&hashes, sizeof *gather->hashes, count, room);
    gather->hashes = hashes;
    if (moved)
        gather->room = room;
    return moved;
}

/* A copy of a text's bytes in the last block, or a new one. NULL: no memory. */
static char *copy_bytes(struct gather *gather, struct vdbq_text text)
{
    if (gather->blocks.count == 0 || text.length > gather->left) {
        size_t usual = gather->blocks.count == 0 ? BLOCK_FIRST
                       : gather->block_bytes < BLOCK_MAX
                           ? gather->block_bytes * 2
                           : BLOCK_MAX;
        size_t size = text.length > usual ? text.length : usual;
        void *block = paged_alloc(size);
        if (block == NULL || !vector_append(&gather->blocks, &block, 1)) {
            paged_release(block);
            return NULL;
        }
        gather->left = size;
        gather->block_bytes = size;
    }
    char *last =
        VECTOR_ITEMS(&gather->blocks, void *)[gather->blocks.count - 1];
    char *bytes = last + gather->block_bytes - gather->left;
    paged_copy(bytes, text.bytes, text.length);
    gather->left -= text.length;
    return bytes;
}

/* -------------------------------------------------------------- the table -- */

static struct gather_slot *slot_of(const struct gather *gather, uint64_t hash)
{
    return &gather->slots[hash & (gather->slot_count - 1)];
}

/* More slots, where as many texts were copied as there are; false: no
 * memory. */
static bool grow_slots(struct gather *gather)
{
    uint32_t count = gather->slot_count;
    if (count > 0 && (count >= SLOTS_MAX || gather->added < count / 2))
        return true;
    struct gather_slot *before = gather->slots;
    uint32_t more = count > 0 ? count * 4 : SLOTS_FIRST;
    gather->slots = memory_zeroed(more, sizeof *gather->slots);
    if (gather->slots == NULL) {
        gather->slots = before;
        return false;
    }
    gather->slot_count = more;
    gather->added = 0;
    for (uint32_t i = 0; i < count; i++)
        if (before[i].place != 0)
            *slot_of(gather, before[i].hash) = before[i];
    memory_release(before);
    return true;
}

/* Whether a table that grows no more is asked further, now and then; one that is not
 * goes. It saves copies alone where texts are to be given, so that any is judged. */
static void judge(struct gather *gather)
{
    uint32_t tries = gather->is_given ? TRIES_GIVEN : TRIES;
    if (gather->is_off || gather->asked < tries)
        return;
    gather->is_off = (gather->is_given || gather->slot_count >= SLOTS_MAX)
                     && gather->met < tries / MET_LEAST;
    gather->asked = gather->met = 0;
    if (gather->is_off) {
        memory_release(gather->slots);
        gather->slots = NULL;
        gather->slot_count = 0;
    }
}

/* Makes the table ready for one more text; false: no memory. */
static bool prepare(struct gather *gather)
{
    judge(gather);
    gather->asked += !gather->is_off;
    return gather->is_off || grow_slots(gather);
}

/* Whether an equal text came lately; then `*place` is its place. */
static bool find_lately(struct gather *gather, struct vdbq_text text,
                        uint64_t hash, uint32_t *place)
{
    const struct gather_slot *slot = slot_of(gather, hash);
    if (slot->place == 0 || slot->hash != hash
        || text_compare(gather->texts[slot->place - 1], text) != 0)
        return false;
    gather->met++;
    *place = slot->place - 1;
    return true;
}

/* Copies a text, whose place is the next; false: no memory. */
static bool append(struct gather *gather, struct vdbq_text text, uint64_t hash)
{
    char *bytes = make_room(gather) ? copy_bytes(gather, text) : NULL;
    if (bytes == NULL)
        return false;
    gather->texts[gather->count] = (struct vdbq_text){ bytes, text.length };
    gather->hashes[gather->count++] = hash;
    return true;
}

bool gather_add(struct gather *gather, struct vdbq_text text, uint32_t *place)
{
    if (!prepare(gather))
        return false;
    uint64_t hash = gather->is_off && gather->is_given
                        ? 0
                        : XXH3_64bits(text.bytes, text.length);
    if (!gather->is_off && find_lately(gather, text, hash, place))
        return true;
    if (!append(gather, text, hash))
        return false;
    *place = gather->count - 1;
    if (gather->is_off)
        return true;
    gather->added++;
    *slot_of(gather, hash) =
        (struct gather_slot){ .hash = hash, .place = *place + 1 };
    return true;
}

bool gather_list(struct gather *gather, const struct dictionary *words,
                 uint32_t first, uint32_t count)
{
    gather->texts = paged_alloc((count + (size_t)1) * sizeof *gather->texts);
    gather->hashes = paged_alloc((count + (size_t)1) * sizeof *gather->hashes);
    if (gather->texts == NULL || gather->hashes == NULL)
        return false;
    gather->count = gather->room = count;
    for (uint32_t i = 0; i < count && !stop_at(i); i++) {
        struct vdbq_text text = dictionary_text(words, first + i);
        gather->texts[i] = text;
        gather->hashes[i] = XXH3_64bits(text.bytes, text.length);
    }
    return true;
}
