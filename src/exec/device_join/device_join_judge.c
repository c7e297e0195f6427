/* SPDX-License-Identifier: MIT */
/*
 * Joins with a condition on a device. A round takes whole left rows, whose pairs
 * fit into the memory for it: their columns are written as those of a join
 * without a condition would be, the condition tells which it keeps, and their left
 * rows are counted by these (cl/rows/judged.h). Right rows of pairs that were kept
 * are marked where those without a partner go out in the end.
 */
#include <assert.h>

#include "cl/rows/judged.h"
#include "device/kernel.h"
#include "exec/device_join/device_join_inner.h"

/* ---------------------------------------------------- create, destroy -- */

/* Whether right rows without a partner go out. */
static bool right_goes_out(const struct device_join *join)
{
    enum join_kind kind = join->params.step->kind;
    return kind == JOIN_RIGHT || kind == JOIN_FULL;
}

enum vdbq_status device_join_judge_init(struct device_join *join,
                                        struct error *error)
{
    enum vdbq_status status =
        join_columns_init(join, &join->asked, true, error);
    for (unsigned i = 0; status == VDBQ_OK && i < join->asked.count; i++)
        join->asked.reads[i] =
            device_condition_reads(join->params.condition, i);
    return status == VDBQ_OK
               ? device_memory_create(join->params.device, MEMORY_DEVICE,
                                      2 * sizeof(u64), &join->cut, error)
               : status;
}

void device_join_judge_finish(struct device_join *join)
{
    join_columns_finish(&join->asked);
    device_join_counts_finish(&join->kept);
    device_memory_release(join->partners);
    device_memory_release(join->marked);
    device_memory_release(join->cut);
}

/* --------------------------------------------------------------- rounds -- */

/* Makes the marks of right rows, where somebody asks for them: none is marked. */
static enum vdbq_status make_marks(struct device_join *join,
                                   struct error *error)
{
    uint64_t rows = join->right.rows + 1;
    if (!right_goes_out(join) || join->marked != NULL)
        return VDBQ_OK;
    enum vdbq_status status = device_memory_create(
        join->params.device, MEMORY_DEVICE, rows, &join->marked, error);
    return status == VDBQ_OK ? device_fill(join->marked, rows, 0, error)
                             : status;
}

/* Makes room for what is found out in a round. */
static enum vdbq_status make_room(struct device_join *join, uint64_t pairs,
                                  uint64_t most, struct error *error)
{
    enum vdbq_status status = make_marks(join, error);
    if (status == VDBQ_OK)
        status = device_join_counts_room(join, &join->kept,
                                         join->left.rows_room, error);
    if (status == VDBQ_OK)
        status = join_columns_room(join, &join->asked, pairs, most, error);
    if (status != VDBQ_OK || join->partner_room >= join->asked.out_room)
        return status;
    device_memory_release(join->partners);
    join->partners = NULL;
    join->partner_room = join->asked.out_room;
    return device_memory_create(join->params.device, MEMORY_DEVICE,
                                join->partner_room * sizeof(u32),
                                &join->partners, error);
}

/* The left rows whose pairs the condition is asked of next: where they end, and
 * the place of the first pair behind theirs. */
static enum vdbq_status cut_round(struct device_join *join, uint64_t most,
                                  u64 cut[2], struct error *error)
{
    cut[0] = join->left.rows;
    cut[1] = join->pair_count;
    if (join->pair_count - join->judged_pairs <= most)
        return VDBQ_OK;
    enum vdbq_status status = device_join_call(
        join,
        &(struct device_call){
            .kernel = KERNEL_JUDGED_CUT,
            .memories = { join->pairs.places, join->cut },
            .memory_count = 2,
            .numbers = { join->left.rows, join->judged_rows, most },
            .number_count = 3,
            .items = 1 },
        error);
    if (status == VDBQ_OK)
        status = device_read(join->cut, 0, cut, 2 * sizeof *cut, &join->times,
                             error);
    return status == VDBQ_OK
               ? device_calls_wait(join->params.device, &join->times, error)
               : status;
}

/* What the kernels are told of a round. */
static struct judged describe(const struct device_join *join, const u64 cut[2])
{
    struct judged judged = { .rows = join->left.rows,
                             .start = join->judged_rows,
                             .stop = cut[0],
                             .first = join->judged_pairs,
                             .end = cut[1],
                             .most = join->most,
                             .alone = join->alone,
                             .single = join->shape.single,
                             .marks = join->marked != NULL };
    assert(judged.start < judged.stop && judged.stop <= judged.rows);
    return judged;
}

/* Writes the columns that the condition reads, and asks it. A pair that fails ends
 * the join: its error comes behind the rows of those before it. */
static enum vdbq_status ask(struct device_join *join, struct judged *judged,
                            struct error *error)
{
    struct device_condition *condition = join->params.condition;
    struct join_pairs_made pairs = { .counts = &join->pairs,
                                     .rows =
                                         join->shape.single ? NULL : join->rows,
                                     .start = judged->first,
                                     .count = judged->end - judged->first };
    uint64_t asked;
    if (pairs.count == 0)
        return VDBQ_OK;
    enum vdbq_status status = join_columns_send(join, &join->asked, error);
    if (status == VDBQ_OK)
        status = join_columns_write(join, &join->asked, &pairs, error);
    if (status != VDBQ_OK)
        return status;
    status = device_condition_run(
        condition,
        &(struct sink_rows){ .memory = join->asked.out,
                             .outputs = join->asked.outputs,
                             .count = pairs.count },
        &judged->number, &asked, error);
    judged->end = judged->first + asked;
    judged->kept = condition->kept.rows;
    if (status != VDBQ_RANGE)
        return status;
    held_error_set(&join->held, error);
    return VDBQ_OK;
}

/* Notes the right rows of the pairs that were kept, or marks them. */
static enum vdbq_status note_partners(struct device_join *join,
                                      struct device_memory *kept,
                                      const struct judged *judged,
                                      struct error *error)
{
    if (judged->kept == 0 || join->most != JUDGED_ALL)
        return VDBQ_OK;
    return device_join_call(
        join,
        &(struct device_call){ .kernel = KERNEL_JUDGED_PAIRS,
                               .memories = { join->pairs.places, kept,
                                             join->pairs.first, join->rows,
                                             join->partners, join->marked },
                               .memory_count = 6,
                               .value = judged,
                               .value_bytes = sizeof *judged,
                               .items = judged->kept },
        error);
}

/* Counts the output rows of the round. */
static enum vdbq_status count_kept(struct device_join *join,
                                   struct judged *judged, struct error *error)
{
    uint64_t spans;
    device_join_spans(join, judged->rows, &judged->span, &spans);
    enum vdbq_status status = device_join_call(
        join,
        &(struct device_call){
            .kernel = KERNEL_JUDGED_COUNT,
            .memories = { join->pairs.places,
                          join->params.condition->kept.memory, join->kept.first,
                          join->kept.places },
            .memory_count = 4,
            .value = judged,
            .value_bytes = sizeof *judged,
            .items = spans * device_group_items(join->params.device) },
        error);
    return status == VDBQ_OK ? device_join_add_up(
               join, &join->kept, judged->rows, &join->total, error)
                             : status;
}

/* Asks the condition of the pairs of some left rows, and counts what goes out. */
static enum vdbq_status judge_round(struct device_join *join,
                                    struct error *error)
{
    uint64_t most =
        join_columns_most(join, &join->asked, sizeof(u64) + sizeof(u32));
    u64 cut[2];
    enum vdbq_status status = cut_round(join, most, cut, error);
    if (status == VDBQ_OK)
        status = make_room(join, cut[1] - join->judged_pairs, most, error);
    if (status != VDBQ_OK)
        return status;
    struct judged judged = describe(join, cut);
    join->judged_rows = cut[0];
    join->judged_pairs = cut[1];
    status = ask(join, &judged, error);
    if (status == VDBQ_OK)
        status = note_partners(join, join->params.condition->kept.memory,
                               &judged, error);
    return status == VDBQ_OK ? count_kept(join, &judged, error) : status;
}

enum vdbq_status device_join_judge(struct device_join *join,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    assert(join->next == join->total);
    while (status == VDBQ_OK && join->next == join->total && !join->ended
           && join->judged_rows < join->left.rows
           && join->held.status == VDBQ_OK) {
        join->next = join->total = 0;
        status = judge_round(join, error);
    }
    return status;
}

/* ------------------------------------------------------- right rows alone -- */

enum vdbq_status device_join_mark(struct device_join *join, uint64_t pairs,
                                  struct error *error)
{
    assert(join->params.condition == NULL);
    enum vdbq_status status = make_marks(join, error);
    if (status != VDBQ_OK || join->marked == NULL)
        return status;
    struct judged judged = { .rows = join->left.rows,
                             .stop = join->left.rows,
                             .kept = pairs,
                             .single = join->shape.single,
                             .marks = 1,
                             .every = 1 };
    return note_partners(join, NULL, &judged, error);
}

/* Counts the right rows without a partner. */
static enum vdbq_status count_alone(struct device_join *join,
                                    struct error *error)
{
    uint64_t rows = join->right.rows, span, spans;
    device_join_spans(join, rows, &span, &spans);
    enum vdbq_status status =
        device_join_counts_room(join, &join->kept, rows, error);
    if (status == VDBQ_OK)
        status = device_join_call(
            join,
            &(struct device_call){
                .kernel = KERNEL_JUDGED_ALONE,
                .memories = { join->marked, join->kept.first,
                              join->kept.places },
                .memory_count = 3,
                .numbers = { rows, span },
                .number_count = 2,
                .items = spans * device_group_items(join->params.device) },
            error);
    return status == VDBQ_OK ? device_join_add_up(join, &join->kept, rows,
                                                  &join->total, error)
                             : status;
}

enum vdbq_status device_join_end(struct device_join *join, struct error *error)
{
    assert(join->next == join->total && join->held.status == VDBQ_OK);
    if (!right_goes_out(join) || join->ended || join->right.rows == 0)
        return VDBQ_OK;
    join->ended = true;
    join->next = join->total = 0;
    enum vdbq_status status = make_marks(join, error);
    return status == VDBQ_OK ? count_alone(join, error) : status;
}

/* ----------------------------------------------------------------- marks -- */

/* JOIN_MARK: finds out whether a right key is NULL. */
static enum vdbq_status note_null(struct device_join *join, struct error *error)
{
    int key = VECTOR_ITEMS(&join->params.step->right_keys, int)[0];
    const struct device_place *place = &join->right.places[key];
    if (join->marked != NULL)
        return VDBQ_OK;
    enum vdbq_status status = device_memory_create(
        join->params.device, MEMORY_DEVICE, 1, &join->marked, error);
    if (status == VDBQ_OK)
        status = device_fill(join->marked, 1, 0, error);
    if (status != VDBQ_OK || place->nulls == UINT64_MAX
        || join->right.rows == 0)
        return status;
    return device_join_call(
        join,
        &(struct device_call){ .kernel = KERNEL_JUDGED_NULL,
                               .memories = { join->right.memory, join->marked },
                               .memory_count = 2,
                               .numbers = { place->nulls, join->right.rows },
                               .number_count = 2,
                               .items = join->right.rows },
        error);
}

enum vdbq_status device_join_put_marks(struct device_join *join, uint64_t count,
                                       struct error *error)
{
    unsigned column = join->params.left_count;
    if (join->params.step->kind != JOIN_MARK || !join->result.reads[column])
        return VDBQ_OK;
    int key = VECTOR_ITEMS(&join->params.step->left_keys, int)[0];
    const struct device_place *to = &join->result.places[column];
    struct marks marks = { .start = join->next,
                           .count = count,
                           .keys = join->left.places[key].nulls,
                           .to_values = to->values,
                           .to_nulls = to->nulls,
                           .any = join->right.rows > 0 };
    enum vdbq_status status = note_null(join, error);
    return status == VDBQ_OK ? device_join_call(
               join,
               &(struct device_call){
                   .kernel = KERNEL_JUDGED_MARK,
                   .memories = { join->pairs.first, join->left.memory,
                                 join->marked, join->result.out },
                   .memory_count = 4,
                   .value = &marks,
                   .value_bytes = sizeof marks,
                   .items = count },
               error)
                             : status;
}
