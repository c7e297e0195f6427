/* SPDX-License-Identifier: MIT */
/*
 * Rounds of a join. Without a condition, each thread writes the slots of its
 * share and picks their columns at once; with one, all slots are written,
 * judged, and settled in their order first.
 */
#include "exec/join/join_partitions.h"

#include <assert.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"

/* ---------------------------------------------------------------- room -- */

/* Makes room for pairs; on failure the arrays that grew stay larger. */
static enum vdbq_status pairs_room(struct join_pairs *pairs, uint64_t room,
                                   struct error *error)
{
    assert(room > 0);
    uint32_t *left = memory_resize(pairs->left, room * sizeof *left);
    if (left != NULL)
        pairs->left = left;
    uint32_t *right = memory_resize(pairs->right, room * sizeof *right);
    if (right != NULL)
        pairs->right = right;
    uint8_t *kept = memory_resize(pairs->kept, room);
    if (kept != NULL)
        pairs->kept = kept;
    if (left == NULL || right == NULL || kept == NULL)
        return error_no_memory(error);
    pairs->room = room;
    return VDBQ_OK;
}

/* ... and for the numbers of its rows. */
static enum vdbq_status numbers_room(struct join_stream *join, uint64_t room,
                                     struct error *error)
{
    uint64_t *numbers = memory_resize(join->numbers, room * sizeof *numbers);
    if (numbers == NULL)
        return error_no_memory(error);
    join->numbers = numbers;
    return VDBQ_OK;
}

/* Room for the next round: more than for the last one, if that was full. */
static enum vdbq_status next_room(struct join_stream *join, struct error *error)
{
    struct join_pairs *pairs = &join->pairs;
    uint64_t most = (uint64_t)PAIRS_EACH * join->threads;
    uint64_t room = pairs->room > 0 ? pairs->room * 4 : PAIRS_FIRST;
    if (pairs->room > 0 && (pairs->count < pairs->room || pairs->room == most))
        return VDBQ_OK;
    room = room < most ? room : most;
    enum vdbq_status status =
        join->numbered ? numbers_room(join, room, error) : VDBQ_OK;
    return status == VDBQ_OK ? pairs_room(pairs, room, error) : status;
}

void join_round_finish(struct join_stream *join)
{
    memory_release(join->pairs.left);
    memory_release(join->pairs.right);
    memory_release(join->pairs.kept);
    join->pairs = (struct join_pairs){ 0 };
}

/* -------------------------------------------------------------- shares -- */

/* What threads share out: pairs [0, count). */
struct sharing {
    struct join_stream *join; /* whose pairs are written */
    uint64_t count;           /* of pairs */
    unsigned threads;         /* that share the pairs */
    bool writes, picks;       /* the slots; the columns                */
    bool picks_left;          /* ... of the left side, too             */
    struct row_set_picking left, right; /* copies the columns of each side */
};

/* Several threads may note the same right row: the store is atomic. */
static void note_partners(const struct join_stream *join, uint64_t first,
                          uint64_t end)
{
    const uint32_t *right = join->pairs.right;
    for (uint64_t i = first; i < end; i++)
        if (right[i] != ROW_SET_NO_ROW)
            atomic_store_explicit(&join->partners[right[i]], 1,
                                  memory_order_relaxed);
}

/* One thread's share: writes pairs, then picks their columns. */
static void do_share(void *context, unsigned share)
{
    const struct sharing *all = context;
    const struct join_stream *join = all->join;
    const struct join_pairs *pairs = &join->pairs;
    uint64_t first = all->count * share / all->threads;
    uint64_t end = all->count * (share + 1) / all->threads;
    if (all->writes)
        join_search_slots(&join->search, join->slot + first, end - first,
                          pairs->left + first, pairs->right + first);
    if (!all->picks)
        return;
    if (all->writes && join->partners != NULL)
        note_partners(join, first, end);
    if (all->picks_left)
        row_set_pick_part(&all->left, first, pairs->left + first, end - first);
    if (all->right.from != NULL)
        row_set_pick_part(&all->right, first, pairs->right + first,
                          end - first);
}

/* Rows that are passed, about: where few left rows have partners, to write the
 * slots of these passes the others, too. */
static uint64_t passed_rows(const struct sharing *all)
{
    const struct join_search *search = &all->join->search;
    if (!all->writes || search->slot_count >= search->left->rows)
        return all->count;
    return (uint64_t)((double)all->count * (double)search->left->rows
                      / (double)search->slot_count);
}

/* Runs all shares, in as many threads as the rows are worth. */
static void run_shares(struct sharing *all)
{
    assert(all->count <= all->join->pairs.room);
    all->threads = parallel_threads(all->join->threads, passed_rows(all));
    parallel_run(all->threads, do_share, all);
}

/* -------------------------------------------------------------- output -- */

/* What x IN (...) is for a left row: 1, 0, or NULL. */
enum { MARK_NULL = 2 };
/* What IN gives for a left row: true, false or NULL. */
static uint32_t mark(const struct join_stream *join, uint32_t left)
{
    assert(join->search.step->kind == JOIN_MARK);
    const struct join_search *search = &join->search;
    if (search->counts[left] > 0)
        return 1;
    if (!join->right_any)
        return 0;
    return row_set_is_null(&search->keys.asking[0], left) || join->right_null
               ? MARK_NULL
               : 0;
}

/* Adds the column of JOIN_MARK. */
static enum vdbq_status put_marks(struct join_stream *join, uint64_t count,
                                  struct error *error)
{
    assert(join->output.column_count == join->left.column_count + 1);
    unsigned number = join->left.column_count;
    struct row_set_column *column = &join->output.columns[number];
    enum vdbq_status status = row_set_flags(&join->output, number, error);
    for (uint64_t i = 0; i < count && status == VDBQ_OK; i++) {
        uint32_t value = mark(join, (uint32_t)(join->slot + i));
        ((int32_t *)column->values)[i] = value == 1;
        column->nulls[i] = value == MARK_NULL;
    }
    return status;
}

/* Whether a slot may be a left row alone. */
static bool lacks_right(const struct join_stream *join)
{
    enum join_kind kind = join->search.step->kind;
    return kind == JOIN_LEFT || kind == JOIN_FULL;
}

/* Says what is picked for `count` pairs, and makes room for it. */
static enum vdbq_status begin_picking(struct sharing *all, struct error *error)
{
    struct join_stream *join = all->join;
    struct row_set *output = &join->output;
    const bool *reads = join->head.reads;
    unsigned left = join->left.column_count;
    bool right =
        output->column_count > left && join->search.step->kind != JOIN_MARK;
    output->rows = 0;
    all->picks = true;
    enum vdbq_status status = row_set_room(output, all->count, error);
    all->left.to = all->right.to = output;
    all->left.from = &join->left;
    all->left.reads = reads;
    if (status == VDBQ_OK && all->picks_left)
        status = row_set_pick_flags(&all->left, error);
    if (!right || status != VDBQ_OK)
        return status;
    all->right.from = &join->right;
    all->right.first = left;
    all->right.reads = reads != NULL ? reads + left : NULL;
    return row_set_pick_flags(&all->right, error);
}

/* What orders the rows that were picked: the left row's number, or behind all
 * of these, that of a right row alone. */
static void number_rows(struct join_stream *join, uint64_t count)
{
    const struct join_pairs *pairs = &join->pairs;
    for (uint64_t i = 0; i < count; i++)
        join->numbers[i] =
            pairs->left[i] != ROW_SET_NO_ROW
                ? join->left_numbers[pairs->left[i]]
                : JOIN_ALONE | join->right_numbers[pairs->right[i]];
}

/* Gives out the rows that were picked. */
static void give_rows(struct join_stream *join, uint64_t count,
                      struct vdbq_batch *batch)
{
    assert(count <= join->output.rows_room);
    if (join->numbered)
        number_rows(join, count);
    join->output.rows = count;
    row_set_vectors(&join->output, 0, join->vectors);
    batch->column = join->vectors;
    batch->rows = count;
}

/* ---------------------------------------------------- without condition -- */

/* Whether the pairs themselves matter, not only how many they are. */
static bool needs_pairs(const struct join_stream *join)
{
    bool needed = join->partners != NULL || join->numbered;
    for (unsigned i = 0; i < join->output.column_count; i++)
        needed |= join->head.reads[i];
    return needed;
}

/* Rows that need no judging. */
static enum vdbq_status put_slots(struct join_stream *join, uint64_t count,
                                  struct vdbq_batch *batch, struct error *error)
{
    bool plain = !join->numbered && join_search_plain(&join->search);
    struct sharing all = { .join = join,
                           .count = count,
                           .writes = true,
                           .picks_left = !plain,
                           .right.lacks = lacks_right(join) };
    enum vdbq_status status = begin_picking(&all, error);
    if (status != VDBQ_OK)
        return status;
    if (needs_pairs(join) && (!plain || all.right.from != NULL))
        run_shares(&all);
    if (join->search.step->kind == JOIN_MARK)
        status = put_marks(join, count, error);
    give_rows(join, count, batch);
    if (plain) /* they are as they came */
        row_set_vectors(&join->left, join->slot, join->vectors);
    return status;
}

/* ------------------------------------------------------- with condition -- */

/* Asks the condition of the pairs. Where it fails for one, those before that
 * are left. */
static enum vdbq_status judge(struct join_stream *join, struct error *error)
{
    struct join_pairs *pairs = &join->pairs;
    uint64_t judged;
    enum vdbq_status status =
        condition_run(&join->condition,
                      &(struct condition_pairs){ .left = &join->left,
                                                 .right = &join->right,
                                                 .left_rows = pairs->left,
                                                 .right_rows = pairs->right,
                                                 .count = pairs->count },
                      pairs->kept, &judged, error);
    if (status != VDBQ_RANGE)
        return status;
    if (join->numbered)
        join->failed_left = join->left_numbers[pairs->left[judged]];
    pairs->count = judged;
    return stream_hold(&join->head, error);
}

/* Turns the pairs, in place, into those that go out: how many. */
static uint64_t settle(struct join_stream *join)
{
    struct join_pairs *pairs = &join->pairs;
    enum join_kind kind = join->search.step->kind;
    bool pairs_go_out = kind != JOIN_SEMI && kind != JOIN_ANTI;
    uint64_t count = 0;
    for (uint64_t i = 0; i < pairs->count; i++) {
        uint32_t left = pairs->left[i], right = pairs->right[i];
        bool end = right == ROW_SET_NO_ROW;
        bool kept = !end && pairs->kept[i];
        assert(count <= i);
        pairs->left[count] = left;
        pairs->right[count] = right;
        count +=
            end ? join->matched == (kind == JOIN_SEMI) : pairs_go_out && kept;
        if (kept && join->partners != NULL)
            atomic_store_explicit(&join->partners[right], 1,
                                  memory_order_relaxed);
        join->matched = !end && (join->matched || kept);
    }
    return count;
}

/* Writes pairs, lets the condition judge them, and picks those that stay. */
static enum vdbq_status put_judged(struct join_stream *join, uint64_t count,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    struct sharing writing = { .join = join, .count = count, .writes = true };
    struct sharing picking = { .join = join,
                               .picks_left = true,
                               .right.lacks = lacks_right(join) };
    run_shares(&writing);
    enum vdbq_status status = judge(join, error);
    if (status != VDBQ_OK)
        return status;
    picking.count = settle(join);
    if (picking.count > 0)
        status = begin_picking(&picking, error);
    if (picking.count == 0 || status != VDBQ_OK)
        return status;
    run_shares(&picking);
    give_rows(join, picking.count, batch);
    return VDBQ_OK;
}

/* --------------------------------------------------------------- rounds -- */

enum vdbq_status join_round(struct join_stream *join, struct vdbq_batch *batch,
                            struct error *error)
{
    struct join_pairs *pairs = &join->pairs;
    assert(join->slot < join->search.slot_count);
    uint64_t left = join->search.slot_count - join->slot;
    enum vdbq_status status = next_room(join, error);
    if (status != VDBQ_OK)
        return status;
    pairs->count = left < pairs->room ? left : pairs->room;
    status = join->search.step->condition != NULL
                 ? put_judged(join, pairs->count, batch, error)
                 : put_slots(join, pairs->count, batch, error);
    assert(status != VDBQ_OK || pairs->count > 0);
    join->slot += pairs->count;
    return status;
}

enum vdbq_status join_round_alone(struct join_stream *join,
                                  struct vdbq_batch *batch, struct error *error)
{
    struct join_pairs *pairs = &join->pairs;
    struct sharing all = { .join = join,
                           .picks_left = true,
                           .left.lacks = true };
    enum vdbq_status status = next_room(join, error);
    if (status != VDBQ_OK || join->partners == NULL)
        return status;
    while (join->right_next < join->right.rows && all.count < pairs->room) {
        if (stop_at(join->right_next))
            return error_cancelled(error);
        pairs->left[all.count] = ROW_SET_NO_ROW;
        pairs->right[all.count] = (uint32_t)join->right_next;
        all.count += !join->partners[join->right_next++];
    }
    pairs->count = all.count;
    if (all.count == 0)
        return VDBQ_OK;
    status = begin_picking(&all, error);
    if (status != VDBQ_OK)
        return status;
    run_shares(&all);
    give_rows(join, all.count, batch);
    return VDBQ_OK;
}
