/* SPDX-License-Identifier: MIT */
/*
 * STEP_GROUP as a stream: all rows go in while it is opened.
 */
#include "exec/group.h"
#include "exec/replay.h"
#include "exec/stream_inner.h"

struct group_stream {
    struct stream head;
    struct group *group;
    struct replay groups;
};

/* The input's column that a column of the groups takes its words from. */
static unsigned words_column(const struct step *step, unsigned column)
{
    if (column < step->group.keys)
        return column;
    return (unsigned)VECTOR_ITEMS(&step->group.aggregates,
                                  struct step_aggregate)
        [column - step->group.keys].column;
}

static void take_words(struct group_stream *group)
{
    const struct step *step = group->head.step;
    for (unsigned i = 0; i < step->column_count; i++)
        if (step->columns[i].type == VDBQ_TEXT)
            relation_words(&group->groups.relation, i,
                           words_hold(stream_words(group->head.inputs[0],
                                                   words_column(step, i))));
}

static enum vdbq_status add_rows(struct group_stream *group,
                                 struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && batch.rows > 0) {
        status = stream_batch(group->head.inputs[0], &batch, error);
        if (status == VDBQ_OK && batch.rows > 0)
            status = group_add(group->group, &batch, error);
        if (status == VDBQ_OK)
            status = stream_pause(group->head.params, error);
    }
    return status;
}

static enum vdbq_status group_open(struct stream *stream, struct error *error)
{
    struct group_stream *group = (struct group_stream *)stream;
    const struct step *step = stream->step;
    struct relation *groups = &group->groups.relation;
    unsigned threads = stream->params->threads;
    enum vdbq_status status = group_create(
        &(struct group_params){ .step = &step->group,
                                .columns = stream->inputs[0]->step->columns,
                                .threads = threads > 0 ? threads : 1 },
        &group->group, error);
    if (status == VDBQ_OK)
        status = relation_init(groups, step->columns, step->column_count,
                               error);
    if (status == VDBQ_OK)
        status = add_rows(group, error);
    if (status == VDBQ_OK)
        status = group_finish(group->group, groups, error);
    if (status == VDBQ_OK)
        status = replay_begin(&group->groups, error);
    if (status != VDBQ_OK)
        return status;
    take_words(group);
    group_destroy(group->group);
    group->group = NULL;
    stream_close_input(stream, 0);
    stream->rows_most = groups->rows;
    return VDBQ_OK;
}

static enum vdbq_status group_batch(struct stream *stream,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    (void)error;
    replay_batch(&((struct group_stream *)stream)->groups, batch);
    return VDBQ_OK;
}

static struct words *group_words(const struct stream *stream, unsigned column)
{
    return ((const struct group_stream *)stream)
        ->groups.relation.columns[column].words;
}

static void group_close(struct stream *stream)
{
    struct group_stream *group = (struct group_stream *)stream;
    group_destroy(group->group);
    replay_finish(&group->groups);
}

const struct stream_kind group_stream = {
    .size = sizeof(struct group_stream),
    .calls = { .batch = group_batch,
               .words = group_words,
               .close = group_close },
    .open = group_open,
};
