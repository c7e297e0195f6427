/* SPDX-License-Identifier: MIT */
/*
 * Keys become the columns of a tablet, of which a run is made like that of any
 * tablet; then its rows get the numbers that they have in the table's tablet.
 */
#include "data/index/index_run.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "base/vector.h"
#include "data/database/rows_block.h"
#include "data/tablet/block.h"

/* ------------------------------------------------------- tablet of keys -- */

struct block keys_block(struct column *columns, const struct vdbq_vector *keys,
                        unsigned count, uint32_t rows)
{
    const struct table table = {
        .name = "keys", .column_count = count, .columns = columns, .key = NO_KEY
    };
    struct column_facts facts[RUN_COLUMNS_MAX];
    struct rows values = { 0 };
    struct block block = { 0 };
    uint64_t features = 0;

    assert(count > 0 && count <= RUN_COLUMNS_MAX && rows > 0);
    if (rows_init(&values, &table) && rows_add(&values, keys, 0, rows))
        block = rows_block(&values, &table,
                           (struct rows_form){ .choice = CHOOSE_PLAIN }, facts,
                           &features);
    rows_finish(&values);
    return block;
}

/* The first keys, as a tablet of keys has them. */
struct first_keys {
    struct column columns[RUN_COLUMNS_MAX];
    struct vdbq_vector vectors[RUN_COLUMNS_MAX];
};

/* The digests of texts, in place of these. */
static bool digest(const struct column *key, uint32_t rows, struct arena *arena,
                   struct vdbq_vector *vector)
{
    const struct vdbq_text *texts = vector->values;
    int64_t *digests = arena_alloc(arena, (rows + (size_t)1) * sizeof *digests);

    if (digests == NULL)
        return false;
    for (uint32_t i = 0; i < rows; i++)
        digests[i] =
            vector_null(vector, i) ? 0 : index_digest(key->collation, texts[i]);
    vector->type = VDBQ_BIGINT;
    vector->values = digests;
    return true;
}

static bool describe_keys(const struct index *index,
                          const struct index_values *values, unsigned count,
                          struct arena *arena, struct first_keys *keys)
{
    bool done = true;

    for (unsigned i = 0; i < count && done; i++) {
        const struct column *key = &index->keys->columns[i];
        keys->columns[i] = (struct column){ .name = "key",
                                            .type = index_key_type(key),
                                            .precision = key->precision,
                                            .scale = key->scale };
        keys->vectors[i] = values->vectors[i + 1];
        if (key->type == VDBQ_TEXT)
            done = digest(key, values->rows.count, arena, &keys->vectors[i]);
    }
    return done;
}

/* The tablet of keys, of which there are some. */
static struct block key_block(const struct index *index,
                              const struct index_values *values, unsigned count)
{
    struct first_keys keys;
    struct block block = { 0 };
    struct arena arena = { 0 };

    if (describe_keys(index, values, count, &arena, &keys))
        block =
            keys_block(keys.columns, keys.vectors, count, values->rows.count);
    arena_finish(&arena);
    return block;
}

/* Has the rows of a run be numbers of the tablet. False: no memory. */
static bool name_rows(const struct index_values *values, const uint32_t *places,
                      uint32_t tablet_rows, struct run *run)
{
    const int64_t *numbers = values->vectors[0].values;
    uint32_t *named;
    bool done;

    if (run->rows == tablet_rows && places == NULL)
        return true;
    named = memory_resize(NULL, (run->rows + (size_t)1) * sizeof *named);
    for (uint32_t i = 0; named != NULL && i < run->rows; i++)
        named[i] = places != NULL ? places[numbers[i]] : (uint32_t)numbers[i];
    done = named != NULL && run_name_rows(run, named, tablet_rows);
    memory_release(named);
    return done;
}

struct run *index_values_run(const struct index_of *of,
                             const struct index_values *values, unsigned count,
                             const uint32_t *places, uint32_t tablet_rows)
{
    static const unsigned columns[RUN_COLUMNS_MAX] = { 0, 1, 2 };
    struct block block;
    struct run *run;

    assert(count > 0 && count <= RUN_COLUMNS_MAX);
    if (values->rows.count == 0)
        return run_make_empty(count, tablet_rows);
    block = key_block(of->index, values, count);
    if (block.bytes == NULL)
        return NULL;
    run = run_make(block.bytes, columns, count);
    block_destroy(&block);
    if (run == NULL || name_rows(values, places, tablet_rows, run))
        return run;
    run_destroy(run);
    return NULL;
}

/* -------------------------------------------------------------- tablets -- */

/* Room for values of a column of so many rows. */
static bool value_room(enum vdbq_type type, size_t rows, struct arena *arena,
                       struct vdbq_vector *vector)
{
    void *values = arena_alloc(arena, rows * type_bytes(type) + 1);
    uint8_t *nulls = arena_alloc(arena, rows + 1);

    if (values == NULL || nulls == NULL)
        return false;
    memset(nulls, 0, rows);
    *vector = (struct vdbq_vector){ type, values, nulls };
    return true;
}

/* Codes become the words that they are of. */
static bool read_texts(const void *block, unsigned column,
                       const uint32_t *places, uint32_t rows,
                       struct vdbq_vector *vector)
{
    struct vdbq_text *texts = (struct vdbq_text *)(uintptr_t)vector->values;
    uint32_t *codes = memory_resize(NULL, (rows + (size_t)64) * sizeof *codes);

    if (codes == NULL)
        return false;
    if (places != NULL)
        tablet_values_pick(block, column, places, rows, codes);
    else
        tablet_values_of(block, column, 0, rows, codes);
    for (uint32_t i = 0; i < rows; i++)
        texts[i] = vector->nulls[i] != 0 ? (struct vdbq_text){ NULL, 0 }
                                         : tablet_word(block, column, codes[i]);
    memory_release(codes);
    return true;
}

/* Values of a column of a tablet; `places` NULL: of all its rows. */
static bool read_column(const void *block, unsigned column,
                        const uint32_t *places, uint32_t rows,
                        struct vdbq_vector *vector)
{
    uint8_t *nulls = (uint8_t *)(uintptr_t)vector->nulls;
    void *values = (void *)(uintptr_t)vector->values;
    bool any = tablet_column(block, column)->null_count > 0;

    for (uint32_t i = 0; i < rows && any; i++)
        nulls[i] = tablet_null(block, column, places != NULL ? places[i] : i);
    if (vector->type == VDBQ_TEXT)
        return read_texts(block, column, places, rows, vector);
    if (places != NULL)
        tablet_values_pick(block, column, places, rows, values);
    else
        tablet_values_of(block, column, 0, rows, values);
    return true;
}

/* Computes keys of rows that were read, and makes their run. */
static enum vdbq_status compute_run(const struct index_of *of,
                                    const struct vdbq_vector *vectors,
                                    uint32_t rows, const uint32_t *places,
                                    uint32_t tablet_rows, unsigned count,
                                    struct run **run, struct error *error)
{
    struct index_values values;
    enum vdbq_status status =
        index_values_compute(of, rows, vectors, &values, error);

    *run = NULL;
    if (status == VDBQ_OK)
        *run = index_values_run(of, &values, count, places, tablet_rows);
    if (status == VDBQ_OK && *run == NULL)
        status = stop_or_no_memory(error);
    index_values_finish(&values);
    return status;
}

/* Of a block that has the columns. */
static enum vdbq_status run_of_block(const struct index_of *of,
                                     const void *block, uint32_t rows,
                                     unsigned count, struct run **run,
                                     struct error *error)
{
    const struct index_keys *keys = of->index->keys;
    struct arena arena = { 0 };
    struct vdbq_vector *vectors =
        memory_zeroed(of->table->column_count, sizeof *vectors);
    bool done = vectors != NULL;
    enum vdbq_status status;

    for (unsigned i = 0; i < keys->read_count && done; i++) {
        unsigned column = keys->reads[i];
        done = value_room(of->table->columns[column].type, rows + (size_t)64,
                          &arena, &vectors[column])
               && read_column(block, column, NULL, rows, &vectors[column]);
    }
    status = done
                 ? compute_run(of, vectors, rows, NULL, rows, count, run, error)
                 : error_no_memory(error);
    memory_release(vectors);
    arena_finish(&arena);
    return status;
}

enum vdbq_status index_run(const struct index_of *of,
                           const struct tablet_ref *base, const void *block,
                           unsigned count, struct run **run,
                           struct error *error)
{
    struct block read = { 0 };
    enum vdbq_status status = VDBQ_OK;

    *run = NULL;
    if (block == NULL)
        status = tablet_load(of->database, of->table, base, &read, error);
    if (status == VDBQ_OK)
        status = run_of_block(of, block != NULL ? block : read.bytes,
                              base->rows, count, run, error);
    block_destroy(&read);
    return status;
}

/* ---------------------------------------------------------------- edits -- */

/* Whether each of the index's columns has a new value wherever one of them has
 * one. */
bool index_reads_base(const struct index *index, const struct edit *edit)
{
    const struct index_keys *keys = index->keys;
    const struct edit_column *first = NULL;
    bool alike = true;

    for (unsigned i = 0; i < keys->read_count && alike; i++) {
        const struct edit_column *news = edit_column(edit, keys->reads[i]);
        if (i == 0)
            first = news;
        alike = (news == NULL) == (first == NULL)
                && (news == NULL
                    || (news->count == first->count
                        && memcmp(news->places, first->places,
                                  news->count * sizeof *news->places)
                               == 0));
    }
    return !alike;
}

/* Puts new values over those of the base. */
static void put_news(const struct edit_column *news, const uint32_t *places,
                     size_t count, struct vdbq_vector *to)
{
    size_t width = type_bytes(to->type);
    uint8_t *nulls = (uint8_t *)(uintptr_t)to->nulls;
    char *values = (char *)(uintptr_t)to->values;
    uint32_t at;

    for (size_t i = 0; news != NULL && i < count; i++) {
        if (!edit_find(news, places[i], &at))
            continue;
        nulls[i] = vector_null(&news->values, at);
        memcpy(values + i * width,
               (const char *)news->values.values + at * width, width);
    }
}

bool values_at(const struct values_at *of, struct arena *arena,
               struct vdbq_vector *vectors)
{
    const uint32_t *places = of->places->items;
    uint32_t count = (uint32_t)of->places->count;
    bool done = true;

    for (unsigned i = 0; i < of->column_count && done; i++) {
        unsigned column = of->columns[i];
        struct vdbq_vector *to = &vectors[column];
        done = value_room(of->table->columns[column].type, count, arena, to)
               && (of->block == NULL
                   || read_column(of->block, column, places, count, to));
        if (done && of->edit != NULL)
            put_news(edit_column(of->edit, column), places, count, to);
    }
    return done;
}

/* Computes the run of rows at places. */
static enum vdbq_status run_of_places(const struct index_of *of,
                                      const struct values_at *at,
                                      unsigned count, struct run **run,
                                      struct error *error)
{
    const struct vector *places = at->places;
    struct arena arena = { 0 };
    struct vdbq_vector *vectors =
        memory_zeroed(of->table->column_count, sizeof *vectors);
    enum vdbq_status status =
        vectors != NULL && values_at(at, &arena, vectors)
            ? compute_run(of, vectors, (uint32_t)places->count, places->items,
                          at->edit->rows, count, run, error)
            : error_no_memory(error);

    memory_release(vectors);
    arena_finish(&arena);
    return status;
}

enum vdbq_status index_run_edited(const struct index_of *of,
                                  const struct tablet_ref *base,
                                  const struct edit *edit, const void *block,
                                  unsigned count, struct run **run,
                                  struct error *error)
{
    const struct index_keys *keys = of->index->keys;
    struct vector places = VECTOR(uint32_t);
    struct values_at at = { .table = of->table,
                            .columns = keys->reads,
                            .column_count = keys->read_count,
                            .edit = edit,
                            .block = block,
                            .places = &places };
    struct block read = { 0 };
    enum vdbq_status status = VDBQ_OK;

    *run = NULL;
    if (!edit_places(edit, keys->reads, keys->read_count, &places))
        status = error_no_memory(error);
    if (status == VDBQ_OK && block == NULL && places.count > 0
        && index_reads_base(of->index, edit)) {
        status = tablet_load(of->database, of->table, base, &read, error);
        at.block = read.bytes;
    }
    if (status == VDBQ_OK && places.count > 0)
        status = run_of_places(of, &at, count, run, error);
    else if (status == VDBQ_OK)
        *run = run_make_empty(count, edit->rows);
    if (status == VDBQ_OK && *run == NULL)
        status = error_no_memory(error);
    block_destroy(&read);
    vector_finish(&places);
    return status;
}
