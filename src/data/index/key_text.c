/* SPDX-License-Identifier: MIT */
/*
 * Primary keys that are texts: those of a transaction become words, which are
 * looked for among the words of every tablet that the table has.
 */
#include "data/index/key_text.h"

#include <assert.h>

#include "base/threads/stop.h"
#include "data/tablet/block.h"
#include "data/tablet/dictionary.h"

enum { FIND_ROWS = 16 }; /* that finding a word takes as long as */

enum { SHOWN_MAX = 64 }; /* bytes of a text in a message */

bool key_text_add(struct key_watch *watch, struct key_values more)
{
    assert(watch->type == VDBQ_TEXT);
    const struct vdbq_text *texts = more.values;

    for (uint64_t i = 0; i < more.count; i++) {
        struct vdbq_text text = texts[i];
        text.bytes = arena_copy(&watch->arena, text.bytes, text.length);
        if (text.bytes == NULL || !vector_append(&watch->texts, &text, 1))
            return false;
    }
    return true;
}

/* Says which key is there twice; a long one is cut. */
static enum vdbq_status twice(const struct table *table, struct vdbq_text text,
                              struct error *error)
{
    bool cut = text.length > SHOWN_MAX;

    return error_set(error, VDBQ_CONSTRAINT,
                     "table %s: the primary key %s is there twice: '%.*s'%s",
                     table->name, table->columns[table->key].name,
                     cut ? SHOWN_MAX : (int)text.length, text.bytes,
                     cut ? " ..." : "");
}

enum vdbq_status key_text_sort(struct key_watch *watch,
                               const struct table *table, struct error *error)
{
    assert(watch->type == VDBQ_TEXT);
    const struct vdbq_text *texts = watch->texts.items;
    size_t count = watch->texts.count;
    uint32_t *numbers = memory_zeroed(count + 1, sizeof *numbers);
    uint8_t *seen = memory_zeroed(count + 1, 1);
    enum vdbq_status status = VDBQ_OK;

    dictionary_release(watch->dictionary);
    watch->dictionary = NULL;
    if (numbers != NULL && seen != NULL)
        watch->dictionary = dictionary_make(texts, count, numbers);
    if (watch->dictionary == NULL)
        status = stop_or_no_memory(error);
    for (size_t i = 0; i < count && status == VDBQ_OK; i++)
        if (seen[numbers[i]]++ != 0)
            status = twice(table, texts[i], error);
    memory_release(seen);
    memory_release(numbers);
    return status;
}

/* A word that both have; false: there is none. The fewer are looked for. */
static bool find_common(const struct dictionary *a, const struct dictionary *b,
                        struct vdbq_text *common)
{
    const struct dictionary *few = a->count < b->count ? a : b;
    const struct dictionary *many = few == a ? b : a;
    uint64_t since = 0;
    uint32_t number;

    for (uint32_t i = 0; i < few->count && !stop_after(&since, FIND_ROWS);
         i++) {
        *common = dictionary_text(few, i);
        if (dictionary_find(many, *common, &number))
            return true;
    }
    return false;
}

/* Looks for a key that a tablet has already. */
static enum vdbq_status compare_tablet(const struct dictionary *keys,
                                       struct database *database,
                                       const struct table *table,
                                       const struct tablet_ref *tablet,
                                       struct error *error)
{
    struct block block;
    struct dictionary *dictionary = NULL;
    struct vdbq_text common;
    enum vdbq_status status =
        tablet_load(database, table, tablet, &block, error);

    if (status == VDBQ_OK) {
        dictionary = dictionary_of_tablet(block.bytes, table->key);
        if (dictionary == NULL)
            status = stop_or_no_memory(error);
        else if (find_common(keys, dictionary, &common))
            status = twice(table, common, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    dictionary_release(dictionary);
    block_destroy(&block);
    return status;
}

enum vdbq_status key_text_compare(const struct key_watch *watch,
                                  struct database *database,
                                  const struct table *table,
                                  const struct tablet_ref *tablets,
                                  size_t count, struct error *error)
{
    assert(watch->dictionary != NULL);
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < count && status == VDBQ_OK; i++)
        status = compare_tablet(watch->dictionary, database, table, &tablets[i],
                                error);
    return status;
}
