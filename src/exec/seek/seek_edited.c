/* SPDX-License-Identifier: MIT */
/*
 * Rows with new keys: seek_edited.h. Their keys become a tablet of their own, of
 * the keys alone, which is looked through like any other one.
 */
#include "exec/seek/seek_edited.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "data/database/rows_block.h"

/* Rows with new keys, while they are looked through. */
struct edited {
    const struct seek_terms *terms;
    const struct edit *edit;
    const void *base;
    struct vector places;  /* uint32_t: of these rows, ascending        */
    struct step_seek step; /* the seek, by the columns of the tablet of keys */
    struct column columns[SEEK_KEYS_MAX]; /* ... these */
    struct table table;                   /* ... and it */
};

/* --------------------------------------------------------------- places -- */

static const struct edit_column *news_of(const struct seek_terms *terms,
                                         const struct edit *edit, unsigned key)
{
    return edit_column(edit, terms->step->keys[key]);
}

uint32_t seek_edited_most(const struct seek_terms *terms,
                          const struct edit *edit)
{
    const struct index *index = terms->index;
    unsigned count =
        index != NULL ? index->keys->read_count : terms->step->key_count;
    uint32_t most = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct edit_column *news =
            index != NULL ? edit_column(edit, index->keys->reads[i])
                          : news_of(terms, edit, i);
        most += news != NULL ? news->count : 0; /* of one base: 2^20 at most */
    }
    return most;
}

/* Whether one of the first keys has a new value at a place. */
static bool has_new(const struct seek_terms *terms, const struct edit *edit,
                    unsigned keys, uint32_t place)
{
    bool found = false;
    uint32_t at;

    for (unsigned i = 0; i < keys && !found; i++) {
        const struct edit_column *news = news_of(terms, edit, i);
        found = news != NULL && edit_find(news, place, &at);
    }
    return found;
}

bool seek_edited_row(const struct seek_terms *terms, const struct edit *edit,
                     uint32_t place)
{
    bool gone;

    edit_gone_before(edit, place, &gone);
    return gone || has_new(terms, edit, terms->step->key_count, place);
}

/* Merges `more` into places; both ascend. */
static bool merge_places(struct vector *places, const uint32_t *more,
                         size_t count)
{
    size_t left = places->count, at;
    uint32_t *items;

    if (count == 0)
        return true;
    if (!vector_append(places, more, count))
        return false;
    items = places->items;
    for (at = places->count; count > 0; at--)
        items[at - 1] = left > 0 && items[left - 1] > more[count - 1]
                            ? items[--left]
                            : more[--count];
    return true;
}

/* The places of all rows with a new key. */
static bool list_places(struct edited *edited)
{
    const struct seek_terms *terms = edited->terms;
    bool done = true;

    for (unsigned i = 0; i < terms->step->key_count && done; i++) {
        const struct edit_column *news = news_of(terms, edited->edit, i);
        struct vector others = VECTOR(uint32_t);
        for (uint32_t k = 0; news != NULL && k < news->count && done; k++)
            if (!has_new(terms, edited->edit, i, news->places[k]))
                done = vector_append(&others, &news->places[k], 1);
        done =
            done && merge_places(&edited->places, others.items, others.count);
        vector_finish(&others);
    }
    return done;
}

/* ----------------------------------------------------------------- keys -- */

/* The tablet of keys, and the seek by its columns. */
static void describe(struct edited *edited)
{
    const struct seek_terms *terms = edited->terms;

    edited->step = *terms->step;
    edited->table = (struct table){ .name = "keys",
                                    .column_count = terms->step->key_count,
                                    .columns = edited->columns,
                                    .key = NO_KEY };
    for (unsigned i = 0; i < terms->step->key_count; i++) {
        edited->columns[i] = terms->table->columns[terms->step->keys[i]];
        edited->step.keys[i] = i;
    }
}

/* Values of one key, one a place. */
struct key_values {
    enum vdbq_type type;
    void *values;
    uint8_t *nulls;
};

/* Reads them from the base. False: no memory. */
static bool read_base(const struct edited *edited, unsigned column,
                      const struct key_values *to)
{
    const uint32_t *places = edited->places.items;
    uint32_t count = (uint32_t)edited->places.count;
    struct vdbq_text *texts = to->values;
    uint32_t *codes = to->values;

    assert(edited->base != NULL);
    if (to->type == VDBQ_TEXT)
        codes = memory_resize(NULL, count * sizeof *codes);
    if (codes == NULL)
        return false;
    tablet_values_pick(edited->base, column, places, count, codes);
    for (uint32_t i = 0; i < count; i++)
        to->nulls[i] = tablet_null(edited->base, column, places[i]);
    if (to->type != VDBQ_TEXT)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (to->nulls[i] == 0)
            texts[i] = tablet_word(edited->base, column, codes[i]);
    memory_release(codes);
    return true;
}

/* Puts new values over them. */
static void put_news(const struct edited *edited,
                     const struct edit_column *news,
                     const struct key_values *to)
{
    const uint32_t *places = edited->places.items;
    size_t width = type_bytes(to->type);
    uint32_t at;

    for (size_t i = 0; news != NULL && i < edited->places.count; i++) {
        if (!edit_find(news, places[i], &at))
            continue;
        to->nulls[i] = vector_null(&news->values, at);
        memcpy((char *)to->values + i * width,
               (const char *)news->values.values + at * width, width);
    }
}

/* The values of a key, as a vector that `arena` holds; false: no memory. */
static bool read_key(const struct edited *edited, unsigned key,
                     struct arena *arena, struct vdbq_vector *vector)
{
    const struct edit_column *news = news_of(edited->terms, edited->edit, key);
    size_t count = edited->places.count;
    struct key_values to = { .type = edited->columns[key].type };

    to.values = arena_alloc(arena, count * type_bytes(to.type));
    to.nulls = arena_alloc(arena, count);
    if (to.values == NULL || to.nulls == NULL)
        return false;
    if ((news == NULL || news->count < count)
        && !read_base(edited, edited->terms->step->keys[key], &to))
        return false;
    put_news(edited, news, &to);
    *vector = (struct vdbq_vector){ to.type, to.values, to.nulls };
    return true;
}

/* The tablet of keys; without bytes: no memory, or the thread is to stop. */
static struct block make_block(const struct edited *edited)
{
    struct column_facts facts[SEEK_KEYS_MAX];
    struct vdbq_vector vectors[SEEK_KEYS_MAX];
    struct rows rows = { 0 };
    struct block block = { 0 };
    struct arena arena = { 0 };
    uint64_t features = 0;
    bool done = rows_init(&rows, &edited->table);

    for (unsigned i = 0; i < edited->table.column_count && done; i++)
        done = read_key(edited, i, &arena, &vectors[i]);
    if (done && rows_add(&rows, vectors, 0, (uint32_t)edited->places.count))
        block = rows_block(&rows, &edited->table,
                           (struct rows_form){ .choice = CHOOSE_PLAIN }, facts,
                           &features);
    rows_finish(&rows);
    arena_finish(&arena);
    return block;
}

/* ----------------------------------------------------------------- find -- */

/* Adds those rows of the tablet of keys that are looked for. */
static bool look_through(const struct edited *edited, const struct block *keys,
                         struct vector *found)
{
    struct seek_terms terms = *edited->terms;
    struct vector rows = VECTOR(uint32_t);
    struct tablet_terms in;
    bool done;

    terms.step = &edited->step;
    terms.table = &edited->table;
    done = tablet_terms_init(&in, &terms, keys->bytes, NULL)
           && run_terms_scan(&in.terms, keys->bytes, &rows);
    tablet_terms_finish(&in);
    for (size_t i = 0; i < rows.count; i++) {
        uint32_t *row = &VECTOR_ITEMS(&rows, uint32_t)[i];
        *row = VECTOR_ITEMS(&edited->places, uint32_t)[*row];
    }
    done = done && merge_places(found, rows.items, rows.count);
    vector_finish(&rows);
    return done;
}

bool seek_edited_find(const struct seek_terms *terms, const struct edit *edit,
                      const void *base, struct vector *found)
{
    struct edited edited = {
        .terms = terms, .edit = edit, .base = base, .places = VECTOR(uint32_t)
    };
    struct block keys = { 0 };
    bool done = list_places(&edited);

    if (done && edited.places.count > 0) {
        describe(&edited);
        keys = make_block(&edited);
        done = keys.bytes != NULL && look_through(&edited, &keys, found);
    }
    block_destroy(&keys);
    vector_finish(&edited.places);
    return done;
}
