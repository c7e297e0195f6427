/* SPDX-License-Identifier: MIT */
/*
 * The right rows of a join on a device, by their keys' slots.
 */
#include <assert.h>
#include <string.h>

#include "base/paged.h"
#include "exec/device_join/device_join_inner.h"
#include "base/threads/stop.h"
#include "exec/sort/device_radix.h"
#include "exec/sort/sort.h"

enum {
    SLOTS_MIN = 16,
    DENSE_SHARE = 4,     /* slots that a row may take of a dense index */
    DENSE_MIN = 1 << 16, /* ... which it may have anyway               */
};
#define SLOTS_MAX (UINT64_C(1) << 31)

/* Slots of a hashed index: no less than two a row. */
static uint64_t hash_slots(uint64_t rows)
{
    uint64_t slots = SLOTS_MIN;
    while (slots < 2 * rows)
        slots *= 2;
    assert((slots & (slots - 1)) == 0);
    return slots;
}

bool device_join_does(const struct step_join *step, const struct device *device)
{
    bool by_keys =
        step->range.side == RANGE_JOIN_NONE || step->left_keys.count > 0;
    return device_has_kernels(device) && by_keys
           && step->left_keys.count <= JOIN_KEYS_MAX;
}

bool device_join_fits(const struct device *device,
                      const struct device_column *right, unsigned count,
                      uint64_t pair_bytes, uint64_t rows, uint64_t bytes)
{
    uint64_t most = device_facts(device)->buffer_max_bytes;
    uint64_t slots = hash_slots(rows < SLOTS_MAX ? rows : 1);
    uint64_t stored = device_places(right, NULL, count, rows, NULL);
    uint64_t index = slots * sizeof(u64);
    return rows < SLOTS_MAX / 2 && stored <= most && index <= most
           && rows * pair_bytes <= most
           && stored + index + slots * sizeof(struct join_span)
                      + rows * (2 * sizeof(u64) + sizeof(u32) + pair_bytes)
                  <= bytes;
}

/* ---------------------------------------------------------------- shape -- */

/* The column of one side that its key `number` reads. */
static const struct device_column *key_column(const struct device_column *side,
                                              const struct vector *keys,
                                              unsigned number)
{
    assert(number < keys->count);
    return &side[VECTOR_ITEMS(keys, int)[number]];
}

/* Whether the one key's values are few enough to be the slots. */
static bool is_dense(const struct device_join *join)
{
    const struct step_join *step = join->params.step;
    const struct device_column *left, *right;
    uint64_t most = DENSE_SHARE * join->right.rows;
    if (step->left_keys.count != 1)
        return step->left_keys.count == 0;
    left = key_column(join->params.left, &step->left_keys, 0);
    right = key_column(join->params.right, &step->right_keys, 0);
    most = most > DENSE_MIN ? most : DENSE_MIN;
    return right->ranged && right->low <= right->high
           && right->type != VDBQ_FLOAT && right->type != VDBQ_DOUBLE
           && (uint64_t)right->high - (uint64_t)right->low < most
           && !(step->nulls_match && (left->nullable || right->nullable));
}

/* Dense: one slot a key of the right side's range; else hashed. */
static void shape_index(struct device_join *join)
{
    const struct step_join *step = join->params.step;
    struct join_control *shape = &join->shape;
    const struct device_column *right;
    shape->hashed = !is_dense(join);
    shape->slots = shape->hashed ? hash_slots(join->right.rows) : 1;
    shape->single = (step->condition == NULL
                     && (step->kind == JOIN_SEMI || step->kind == JOIN_ANTI
                         || step->kind == JOIN_MARK))
                    || join->right.rows <= 1;
    if (shape->keys != 1)
        return;
    right = key_column(join->params.right, &step->right_keys, 0);
    if (!shape->hashed) {
        shape->base = right->low;
        shape->slots = (uint64_t)right->high - (uint64_t)right->low + 1;
        assert(right->low <= right->high);
    }
    shape->tagged = row_set_width(right->type) == sizeof(u32)
                    && !(step->nulls_match && right->nullable);
}

/* ---------------------------------------------------------------- words -- */

/* The numbers that the words of a left key have on the right side, behind
 * those of the keys before it. */
static enum vdbq_status add_words(struct device_join *join, unsigned key,
                                  struct vector *numbers, struct error *error)
{
    const struct device_join_params *params = &join->params;
    const struct step_join *step = params->step;
    int left = VECTOR_ITEMS(&step->left_keys, int)[key];
    int right = VECTOR_ITEMS(&step->right_keys, int)[key];
    const struct dictionary *from = params->left_dictionaries[left];
    const struct dictionary *to = params->right_dictionaries[right];
    struct join_key *made = &join->shape.key[key];
    if (params->left[left].type != VDBQ_TEXT || from == to)
        return VDBQ_OK;
    uint32_t *translated = dictionary_translate(from, to, params->threads);
    if (translated == NULL)
        return stop_or_no_memory(error);
    made->translated = 1;
    made->words = numbers->count;
    made->word_count = from != NULL ? from->count : 0;
    bool added = vector_append(numbers, translated, made->word_count);
    paged_release(translated);
    return added ? VDBQ_OK : error_no_memory(error);
}

/* Text keys of two dictionaries: the device gets the right number of every left
   entry. */
static enum vdbq_status send_words(struct device_join *join,
                                   struct error *error)
{
    struct vector numbers = VECTOR(uint32_t);
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < join->shape.keys && status == VDBQ_OK; i++)
        status = add_words(join, i, &numbers, error);
    uint64_t bytes = numbers.count * sizeof(uint32_t);
    if (status == VDBQ_OK && bytes > 0)
        status = device_memory_create(join->params.device, MEMORY_DEVICE, bytes,
                                      &join->words, error);
    if (status == VDBQ_OK && bytes > 0)
        status = device_write(join->words, 0, numbers.items, bytes,
                              &join->times, error);
    vector_finish(&numbers);
    return status;
}

/* -------------------------------------------------------------- control -- */

/* Memory of the device, for one of the index's arrays. */
static enum vdbq_status memory(struct device_join *join, uint64_t size,
                               struct device_memory **made, struct error *error)
{
    return device_memory_create(join->params.device, MEMORY_DEVICE, size, made,
                                error);
}

enum vdbq_status device_join_shape(struct device_join *join,
                                   struct error *error)
{
    assert(join->params.step->left_keys.count
               == join->params.step->right_keys.count
           && join->params.step->left_keys.count <= JOIN_KEYS_MAX);
    const struct step_join *step = join->params.step;
    struct join_control *shape = &join->shape;
    shape->keys = (u32)step->left_keys.count;
    shape->nulls_match = step->nulls_match;
    join->most = step->kind == JOIN_SEMI || step->kind == JOIN_MARK ? 1
                 : step->kind == JOIN_ANTI                          ? 0
                                           : UINT32_MAX;
    join->alone = step->kind == JOIN_LEFT || step->kind == JOIN_FULL
                  || step->kind == JOIN_ANTI || step->kind == JOIN_MARK;
    shape->most = step->condition == NULL ? join->most : UINT32_MAX;
    shape->alone = step->condition == NULL ? join->alone : 0;
    return send_words(join, error);
}

/* Where a key column lies, as the kernels read it. */
static struct join_column place(const struct device_store *store, int column)
{
    assert((unsigned)column < store->column_count);
    return (struct join_column){
        .values = store->places[column].values,
        .nulls = store->places[column].nulls,
        .type = (u32)sort_type(store->columns[column].type),
    };
}

/* Tells the device of the shape. */
static enum vdbq_status send_shape(struct device_join *join,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (join->control == NULL)
        status = memory(join, sizeof join->shape, &join->control, error);
    return status == VDBQ_OK
               ? device_write(join->control, 0, &join->shape,
                              sizeof join->shape, &join->times, error)
               : status;
}

enum vdbq_status device_join_control(struct device_join *join,
                                     struct error *error)
{
    const struct step_join *step = join->params.step;
    struct join_control *shape = &join->shape;
    struct join_control before = *shape;
    for (unsigned i = 0; i < shape->keys; i++) {
        shape->key[i].left =
            place(&join->left, VECTOR_ITEMS(&step->left_keys, int)[i]);
        shape->key[i].right =
            place(&join->right, VECTOR_ITEMS(&step->right_keys, int)[i]);
    }
    if (join->control != NULL && memcmp(&before, shape, sizeof before) == 0)
        return VDBQ_OK;
    return send_shape(join, error);
}

/* ---------------------------------------------------------------- index -- */

/* An array of the index, all of whose bytes are the same. */
static enum vdbq_status filled(struct device_join *join, uint64_t size,
                               uint8_t byte, struct device_memory **made,
                               struct error *error)
{
    enum vdbq_status status = memory(join, size, made, error);
    return status == VDBQ_OK ? device_fill(*made, size, byte, error) : status;
}

/* Gives every right row its slot; `met` tells then whether some have the same.
 * `elements`: for who sorts them; or NULL. */
static enum vdbq_status find_slots(struct device_join *join,
                                   struct device_memory *elements,
                                   struct device_memory *met,
                                   struct error *error)
{
    assert(join->control != NULL && join->right.rows > 0);
    return device_call(
        join->params.device,
        &(struct device_call){ .kernel = KERNEL_JOIN_FIND,
                               .memories = { join->control, join->right.memory,
                                             join->slots, elements, met },
                               .memory_count = 5,
                               .numbers = { join->right.rows },
                               .number_count = 1,
                               .items = join->right.rows },
        &join->times, error);
}

/* Whether two rows have one slot. */
static enum vdbq_status ask_met(struct device_join *join,
                                struct device_memory *met, u32 *some,
                                struct error *error)
{
    enum vdbq_status status =
        device_read(met, 0, some, sizeof *some, &join->times, error);
    return status == VDBQ_OK
               ? device_calls_wait(join->params.device, &join->times, error)
               : status;
}

/* Rows sorted by slot: notes where each slot's rows stand. */
static enum vdbq_status find_spans(struct device_join *join,
                                   struct device_radix *radix,
                                   struct error *error)
{
    uint64_t slots = join->shape.slots, rows = join->right.rows;
    enum vdbq_status status =
        filled(join, slots * sizeof(struct join_span), 0, &join->spans, error);
    if (status == VDBQ_OK)
        status = memory(join, rows * sizeof(u32), &join->rows, error);
    if (status != VDBQ_OK)
        return status;
    return device_call(
        join->params.device,
        &(struct device_call){
            .kernel = KERNEL_JOIN_SPANS,
            .memories = { radix->elements, join->spans, join->rows },
            .memory_count = 3,
            .numbers = { rows, slots },
            .number_count = 2,
            .items = rows },
        &join->times, error);
}

/* Sorts the right rows by slot; equal ones stay in their order. */
static enum vdbq_status sort_rows(struct device_join *join,
                                  struct device_radix *radix,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (join->shape.keys > 0)
        status = device_radix_sort(radix, device_radix_bits(join->shape.slots),
                                   error);
    return status == VDBQ_OK ? find_spans(join, radix, error) : status;
}

/* Slots have single rows; or several, and dense ones are not asked for them. */
static enum vdbq_status end_index(struct device_join *join, bool single,
                                  struct error *error)
{
    if (single) {
        join->shape.single = 1;
        return send_shape(join, error);
    }
    if (!join->shape.hashed) {
        device_memory_release(join->slots);
        join->slots = NULL;
    }
    return VDBQ_OK;
}

/* Indexes rows whose slots may have several; these are sorted only if some do. */
static enum vdbq_status index_rows(struct device_join *join,
                                   struct device_memory *met,
                                   struct error *error)
{
    struct device_radix radix;
    struct error ignored;
    u32 some = 0;
    enum vdbq_status waited,
        status = device_radix_init(&radix, join->params.device,
                                   join->right.rows, &join->times, error);
    if (status == VDBQ_OK)
        status = find_slots(join, radix.elements, met, error);
    if (status == VDBQ_OK)
        status = ask_met(join, met, &some, error);
    if (status == VDBQ_OK && some != 0)
        status = sort_rows(join, &radix, error);
    waited = device_calls_wait(join->params.device, &join->times,
                               status == VDBQ_OK ? error : &ignored);
    device_radix_finish(&radix);
    status = status == VDBQ_OK ? waited : status;
    return status == VDBQ_OK ? end_index(join, some == 0, error) : status;
}

/* Indexes the right rows, of which there are some. */
static enum vdbq_status fill_index(struct device_join *join,
                                   struct error *error)
{
    struct device_memory *met = NULL;
    struct error ignored;
    enum vdbq_status waited, status = filled(join, sizeof(u32), 0, &met, error);
    if (status == VDBQ_OK)
        status = join->shape.single ? find_slots(join, NULL, met, error)
                                    : index_rows(join, met, error);
    waited = device_calls_wait(join->params.device, &join->times,
                               status == VDBQ_OK ? error : &ignored);
    device_memory_release(met);
    return status == VDBQ_OK ? waited : status;
}

enum vdbq_status device_join_index(struct device_join *join,
                                   struct error *error)
{
    shape_index(join);
    enum vdbq_status status = device_join_control(join, error);
    if (status == VDBQ_OK)
        status = filled(join, join->shape.slots * sizeof(u64), 0xff,
                        &join->slots, error);
    if (status == VDBQ_OK && join->right.rows > 0)
        status = fill_index(join, error);
    return status;
}

void device_join_index_finish(struct device_join *join)
{
    device_memory_release(join->control);
    device_memory_release(join->words);
    device_memory_release(join->slots);
    device_memory_release(join->spans);
    device_memory_release(join->rows);
}
