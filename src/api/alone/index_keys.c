/* SPDX-License-Identifier: MIT */
#include "api/alone/index_keys.h"

#include "base/threads/stop.h"
#include "plan/statement/index_rows.h"

/* The texts of a batch's words; NULL: no memory. */
static struct vdbq_text *texts_of(const struct stream *stream, unsigned column,
                                  const struct vdbq_batch *batch,
                                  struct arena *arena)
{
    const struct dictionary *words = stream_dictionary(stream, column);
    const struct vdbq_vector *vector = &batch->column[column];
    const uint32_t *numbers = vector->values;
    struct vdbq_text *texts =
        arena_alloc(arena, ((size_t)batch->rows + 1) * sizeof *texts);

    for (uint64_t i = 0; texts != NULL && i < batch->rows; i++)
        texts[i] = vector->nulls != NULL && vector->nulls[i] != 0
                       ? (struct vdbq_text){ NULL, 0 }
                       : dictionary_text(words, numbers[i]);
    return texts;
}

static enum vdbq_status add_batch(const struct stream *stream,
                                  const struct vdbq_batch *batch,
                                  struct rows *keys, struct error *error)
{
    struct arena arena = { 0 };
    struct vdbq_vector *vectors =
        arena_alloc(&arena, batch->columns * sizeof *vectors);
    bool done = vectors != NULL;

    for (unsigned i = 0; i < batch->columns && done; i++) {
        vectors[i] = batch->column[i];
        if (vectors[i].type != VDBQ_TEXT)
            continue;
        vectors[i].values = texts_of(stream, i, batch, &arena);
        done = vectors[i].values != NULL;
    }
    done = done && rows_add(keys, vectors, 0, (uint32_t)batch->rows);
    arena_finish(&arena);
    return done ? VDBQ_OK : stop_or_no_memory(error);
}

static enum vdbq_status run(const struct stream_params *params,
                            const struct steps *steps, struct rows *keys,
                            struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    struct stream *stream;
    enum vdbq_status status =
        stream_open(params, steps, TEXTS_PASSING, &stream, error);

    while (status == VDBQ_OK && batch.rows > 0) {
        status = stream_batch(stream, &batch, error);
        if (status == VDBQ_OK && batch.rows > 0)
            status = add_batch(stream, &batch, keys, error);
    }
    stream_close(stream);
    return status;
}

enum vdbq_status index_keys_run(const struct index_request *request,
                                const struct plan_limits *limits,
                                const struct stream_params *params,
                                struct rows *keys, struct error *error)
{
    const struct plan_index_rows of = { .catalogue = request->catalogue,
                                        .table = request->table,
                                        .index = request->index,
                                        .rows = request->rows,
                                        .vectors = request->vectors };
    struct arena arena = { 0 };
    struct plan plan;
    enum vdbq_status status =
        plan_index_rows(&of, limits, &arena, &plan, error);

    if (status == VDBQ_OK) {
        status = steps_check(&plan.steps, error);
        if (status == VDBQ_OK)
            status = run(params, &plan.steps, keys, error);
        plan_finish(&plan);
    }
    arena_finish(&arena);
    return status;
}
