/* SPDX-License-Identifier: MIT */
/*
 * Gives out a relation's rows, so many at once that the query can be stopped
 * between them.
 */
#include "exec/rows/replay.h"

enum vdbq_status replay_begin(struct replay *replay, struct error *error)
{
    replay->next = 0;
    replay->vectors =
        memory_zeroed(replay->relation.column_count, sizeof *replay->vectors);
    return replay->vectors != NULL ? VDBQ_OK : error_no_memory(error);
}

void replay_finish(struct replay *replay)
{
    relation_finish(&replay->relation);
    memory_release(replay->vectors);
    *replay = (struct replay){ 0 };
}

void replay_batch(struct replay *replay, struct vdbq_batch *batch)
{
    const struct relation *relation = &replay->relation;
    uint64_t left = relation->rows - replay->next;
    *batch = (struct vdbq_batch){
        .rows = left < REPLAY_ROWS_MAX ? left : REPLAY_ROWS_MAX,
        .columns = relation->column_count,
        .column = replay->vectors,
    };
    relation_vectors(relation, replay->next, replay->vectors);
    replay->next += batch->rows;
}
