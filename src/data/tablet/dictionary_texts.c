/* SPDX-License-Identifier: MIT */
/*
 * Words in a file: rows are put in the order of ranges of neighbouring words, and
 * their texts are copied range by range. Pages leave when a few ranges are done.
 */
#include "data/tablet/dictionary_texts.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/paged.h"
#include "base/threads/parallel.h"
#include "data/tablet/dictionary_inner.h"

enum {
    RANGES = HOSTILE(4, 1 << 10), /* of words, at most                 */
    LEAVE_ROWS = 128,             /* at least, before pages leave      */
    BYTES_MIN = 1 << 12,          /* of room for copies                */
    MISSES = 4 /* rows' work that it is to find a word that is
                                     not near                          */
};

bool dictionary_in_file(const struct dictionary *words)
{
    return words != NULL
           && (paged_lies_in_file(words)
               || (words->parts != NULL && words->parts->lies_in_file));
}

/* Makes an array larger, which need not keep what it has. */
static bool make_room(void **array, uint64_t *room, uint64_t count,
                      size_t width)
{
    if (count <= *room)
        return true;
    if (count > SIZE_MAX / width)
        return false;
    memory_release(*array);
    *room = 0;
    *array = memory_resize(NULL, count * width);
    if (*array != NULL)
        *room = count;
    return *array != NULL;
}

/* -------------------------------------------------------------- ranges -- */

/* Copying texts from a file. */
struct copying {
    struct dictionary_texts *to;
    const struct dictionary *words;
    const uint32_t *numbers;
    uint64_t count;
    unsigned shift;            /* a word's number >> shift is its range */
    uint32_t ends[RANGES + 1]; /* of range r: its rows end at ends[r + 1] */
    uint64_t bytes;            /* that were copied */
    uint32_t left_from;        /* words from here on may be in memory */
    uint64_t left_rows;        /* ... of so many rows */
};

/* The range of a row; what has no word is in the first one. */
static uint32_t range_of(const struct copying *copying, uint64_t row)
{
    uint32_t number = copying->numbers[row];
    return number < copying->words->count ? number >> copying->shift : 0;
}

/* The word behind those of a range. */
static uint32_t range_end(const struct copying *copying, uint32_t range)
{
    uint64_t end = ((uint64_t)range + 1) << copying->shift;
    uint32_t words = copying->words->count;
    return end < words ? (uint32_t)end : words;
}

/* Orders the rows by range. */
static void order_rows(struct copying *copying)
{
    uint32_t starts[RANGES + 1] = { 0 };
    copying->shift = 0;
    while ((uint64_t)copying->words->count >> copying->shift >= RANGES)
        copying->shift++;
    for (uint64_t i = 0; i < copying->count; i++)
        starts[range_of(copying, i) + 1]++;
    for (unsigned r = 0; r < RANGES; r++)
        starts[r + 1] += starts[r];
    memcpy(copying->ends, starts, sizeof starts);
    for (uint64_t i = 0; i < copying->count; i++)
        copying->to->order[starts[range_of(copying, i)]++] = (uint32_t)i;
}

/* Words of one dictionary, which its neighbours' follow. */
struct neighbours {
    const struct dictionary *words;
    uint32_t first, end; /* of these */
};

/* The words from `number` on, up to `end`, that one dictionary has. */
static struct neighbours neighbours_of(const struct copying *copying,
                                       uint32_t number, uint32_t end)
{
    uint32_t before;
    struct neighbours found = { .words = dictionary_part(copying->words, number,
                                                         &before) };
    found.first = number - before;
    found.end = end - before;
    if (found.end > found.words->count)
        found.end = found.words->count;
    return found;
}

static size_t bytes_of(const struct neighbours *of)
{
    return dictionary_start(of->words, of->end)
           - dictionary_start(of->words, of->first);
}

static size_t ends_of(const struct neighbours *of)
{
    return (size_t)(of->end - of->first) * sizeof *of->words->ends;
}

/* Lets the pages of the words up to `end` leave, which were used last, if they
 * are many. */
static void leave(struct copying *copying, uint32_t end)
{
    struct neighbours of;
    size_t bytes = 0;
    /* to ask for a start is to read it: not of ranges without rows */
    if (copying->left_rows < LEAVE_ROWS)
        return;
    for (uint32_t i = copying->left_from; i < end; i += of.end - of.first) {
        of = neighbours_of(copying, i, end);
        bytes += bytes_of(&of) + ends_of(&of);
    }
    if (bytes < paged_stay_bytes())
        return;
    for (uint32_t i = copying->left_from; i < end; i += of.end - of.first) {
        of = neighbours_of(copying, i, end);
        uint32_t start = dictionary_start(of.words, of.first);
        size_t size = bytes_of(&of);
        paged_leave(of.words, of.words->ends + of.first, ends_of(&of));
        paged_leave(of.words, of.words->bytes + start, size);
    }
    copying->left_from = end;
    copying->left_rows = 0;
}

/* Copies the text of a row; false: no memory. */
static bool copy_text(struct copying *copying, uint64_t row)
{
    struct dictionary_texts *to = copying->to;
    struct vdbq_text text =
        dictionary_text(copying->words, copying->numbers[row]);
    uint64_t end = copying->bytes + text.length;
    if (end > to->bytes_room) {
        uint64_t room = end + end / 2 + BYTES_MIN;
        char *bytes =
            room <= SIZE_MAX ? memory_resize(to->bytes, (size_t)room) : NULL;
        if (bytes == NULL)
            return false;
        to->bytes = bytes;
        to->bytes_room = room;
    }
    paged_copy(to->bytes + copying->bytes, text.bytes, text.length);
    to->texts[row].length = text.length;
    copying->bytes = end;
    return true;
}

/* Copies all texts, range by range; false: no memory. */
static bool copy_texts(struct copying *copying)
{
    for (uint32_t r = 0; r < RANGES; r++) {
        for (uint32_t i = copying->ends[r]; i < copying->ends[r + 1]; i++)
            if (!copy_text(copying, copying->to->order[i]))
                return false;
        copying->left_rows += copying->ends[r + 1] - copying->ends[r];
        leave(copying, range_end(copying, r));
    }
    return true;
}

/* Copies lie behind each other in the order that they were made in. */
static void place_texts(const struct copying *copying)
{
    const char *at = copying->to->bytes;
    for (uint64_t i = 0; i < copying->count; i++) {
        struct vdbq_text *text = &copying->to->texts[copying->to->order[i]];
        text->bytes = at;
        at += text->length;
    }
    assert(at == copying->to->bytes + copying->bytes);
}

static bool copy(struct dictionary_texts *texts, const struct dictionary *words,
                 const uint32_t *numbers, uint64_t count)
{
    struct copying copying = {
        .to = texts, .words = words, .numbers = numbers, .count = count
    };
    if (count > UINT32_MAX
        || !make_room((void **)&texts->order, &texts->order_room, count,
                      sizeof *texts->order))
        return false;
    if (texts->bytes == NULL)
        texts->bytes = memory_resize(NULL, texts->bytes_room = BYTES_MIN);
    if (texts->bytes == NULL)
        return false;
    paged_put_away();
    order_rows(&copying);
    if (!copy_texts(&copying))
        return false;
    place_texts(&copying);
    return true;
}

/* ------------------------------------------------------------- look up -- */

/* Rows that are neighbours mostly have words of one part. A number that no word
 * has gives "", as dictionary_text() does. */
static void look_up(struct vdbq_text *texts, const struct dictionary *words,
                    const uint32_t *numbers, uint64_t count)
{
    const struct dictionary *part = words;
    bool apart = words != NULL && words->parts != NULL;
    uint32_t first = 0;
    for (uint64_t i = 0; words != NULL && !apart && i < count; i++)
        if (numbers[i] < words->count)
            __builtin_prefetch(&words->ends[numbers[i]]);
    for (uint64_t i = 0; i < count; i++) {
        if (apart && numbers[i] < words->count
            && (part == words || numbers[i] - first >= part->count))
            part = dictionary_part(words, numbers[i], &first);
        texts[i] = dictionary_text(part, numbers[i] - first);
        __builtin_prefetch(texts[i].bytes);
        __builtin_prefetch(texts[i].bytes + texts[i].length);
    }
}

/* Rows that are looked up by shares. */
struct looking {
    struct vdbq_text *texts;
    const struct dictionary *words;
    const uint32_t *numbers;
    uint64_t count;
    unsigned shares;
};

static void look_up_share(void *context, unsigned share)
{
    const struct looking *looking = context;
    uint64_t first = looking->count * share / looking->shares;
    uint64_t end = looking->count * (share + 1) / looking->shares;
    look_up(looking->texts + first, looking->words, looking->numbers + first,
            end - first);
}

bool dictionary_texts_look_up(struct dictionary_texts *texts,
                              const struct dictionary *words,
                              const uint32_t *numbers, uint64_t count)
{
    if (!make_room((void **)&texts->texts, &texts->rows_room, count,
                   sizeof *texts->texts))
        return false;
    if (dictionary_in_file(words) && words->count > 0)
        return copy(texts, words, numbers, count);
    struct looking looking = { texts->texts, words, numbers, count,
                               parallel_threads(PARALLEL_THREADS_MAX,
                                                count * MISSES) };
    parallel_run(looking.shares, look_up_share, &looking);
    return true;
}

void dictionary_texts_finish(struct dictionary_texts *texts)
{
    memory_release(texts->texts);
    memory_release(texts->order);
    memory_release(texts->bytes);
    *texts = (struct dictionary_texts){ 0 };
}
