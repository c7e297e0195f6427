/* SPDX-License-Identifier: MIT */
/*
 * The table of operator kinds: which kind of stream gives the rows of a step.
 */
#include "exec/operator/kinds.h"

#include "exec/stream/stream_inner.h"

static bool groups_apart(const struct step *step)
{
    return step->kind == STEP_GROUP && step->group.apart;
}

enum vdbq_status operator_kind(const struct stream *stream,
                               const struct stream_kind **kind,
                               struct error *error)
{
    static const struct stream_kind *const kinds[] = {
        [STEP_SCAN] = &scan_stream,
        [STEP_GROUP] = &group_stream,
        [STEP_SORT] = &sort_stream,
        [STEP_LIMIT] = &limit_stream,
        [STEP_JOIN] = &join_stream,
        [STEP_CONCAT] = &concat_stream,
        [STEP_APPLY] = &apply_stream,
        [STEP_WINDOW] = &window_stream,
        [STEP_MAP] = &map_stream,
        [STEP_VALUES] = &values_stream,
        [STEP_FETCH] = &fetch_stream,
        [STEP_SEEK] = &seek_stream,
        [STEP_GATHER] = &gather_rows_stream,
        [STEP_RECURSE] = &recurse_stream,
        [STEP_WORKING] = &working_stream,
        [STEP_EXCHANGE] = &exchange_stream,
    };
    const struct step *step = stream->step;
    const struct program_table *first =
        step->kind == STEP_SCAN ? step->scan.program.tables.items : NULL;
    *kind = kinds[step->kind];
    if (first != NULL && first->input > 0)
        *kind = scan_moves_can(stream) ? &scan_moves : &scan_rows;
    if (first != NULL && program_axes(&step->scan.program) > 1)
        *kind = &scan_grid;
    if (step->kind == STEP_GATHER && groups_apart(stream->inputs[0]->step))
        *kind = &gather_groups_stream;
    if (step->kind == STEP_GATHER && step->gather.ordered)
        *kind = &gather_ordered_stream;
    return step->kind == STEP_JOIN
               ? join_choose(step, stream->inputs, kind, error)
               : VDBQ_OK;
}
