/* SPDX-License-Identifier: MIT */
/*
 * Rounds of a join. Without a condition, each thread writes the slots of its
 * share and picks their columns at once. With one, all slots are written and
 * judged; then each share is settled: the pairs that go out move to its front,
 * and threads pick these, as many each, from all shares.
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

/* Where a thread's share begins. */
static uint64_t share_start(const struct sharing *all, unsigned share)
{
    assert(share <= all->threads);
    return all->count * share / all->threads;
}

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

/* What orders the rows that were picked: the left row's number, or behind all
 * of these, that of a right row alone. */
static void number_rows(const struct join_stream *join, uint64_t at,
                        uint64_t first, uint64_t count)
{
    const uint32_t *left = join->pairs.left + first;
    const uint32_t *right = join->pairs.right + first;
    for (uint64_t i = 0; i < count; i++)
        join->numbers[at + i] =
            left[i] != ROW_SET_NO_ROW
                ? join->left_numbers[left[i]]
                : JOIN_ALONE | join->right_numbers[right[i]];
}

/* Makes output rows [at, at + count) of the pairs from `first` on. */
static void pick_pairs(const struct sharing *all, uint64_t at, uint64_t first,
                       uint64_t count)
{
    const struct join_pairs *pairs = &all->join->pairs;
    assert(first + count <= pairs->room);
    if (all->picks_left)
        row_set_pick_part(&all->left, at, pairs->left + first, count);
    if (all->right.from != NULL)
        row_set_pick_part(&all->right, at, pairs->right + first, count);
    if (all->join->numbered)
        number_rows(all->join, at, first, count);
}

/* One thread's share: writes pairs, then picks their columns. */
static void do_share(void *context, unsigned share)
{
    const struct sharing *all = context;
    const struct join_stream *join = all->join;
    const struct join_pairs *pairs = &join->pairs;
    uint64_t first = share_start(all, share), end = share_start(all, share + 1);
    if (all->writes)
        join_search_slots(&join->search, join->slot + first, end - first,
                          pairs->left + first, pairs->right + first);
    if (!all->picks)
        return;
    if (all->writes && join->partners != NULL)
        note_partners(join, first, end);
    pick_pairs(all, first, first, end - first);
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

/* One thread's share of the column of JOIN_MARK. */
static void mark_share(void *context, unsigned share)
{
    const struct sharing *all = context;
    const struct join_stream *join = all->join;
    const struct row_set_column *column =
        &join->output.columns[join->left.column_count];
    uint64_t end = share_start(all, share + 1);
    for (uint64_t i = share_start(all, share); i < end; i++) {
        uint32_t value = mark(join, (uint32_t)(join->slot + i));
        ((int32_t *)column->values)[i] = value == 1;
        column->nulls[i] = value == MARK_NULL;
    }
}

/* Adds the column of JOIN_MARK. */
static enum vdbq_status put_marks(struct sharing *all, struct error *error)
{
    struct join_stream *join = all->join;
    assert(join->output.column_count == join->left.column_count + 1);
    enum vdbq_status status =
        row_set_flags(&join->output, join->left.column_count, error);
    all->threads = parallel_threads(join->threads, all->count);
    if (status == VDBQ_OK)
        parallel_run(all->threads, mark_share, all);
    return status;
}

/* Whether a slot may be a left row alone. */
static bool lacks_right(const struct join_stream *join)
{
    enum join_kind kind = join->search.step->kind;
    return kind == JOIN_LEFT || kind == JOIN_FULL;
}

/* Says what is picked for `count` pairs, and makes room for it. */
static enum vdbq_status begin_picking(struct sharing *all, uint64_t count,
                                      struct error *error)
{
    struct join_stream *join = all->join;
    struct row_set *output = &join->output;
    const bool *reads = join->head.reads;
    unsigned left = join->left.column_count;
    bool right =
        output->column_count > left && join->search.step->kind != JOIN_MARK;
    output->rows = 0;
    all->picks = true;
    enum vdbq_status status = row_set_room(output, count, error);
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

/* Gives out the rows that were picked. */
static void give_rows(struct join_stream *join, uint64_t count,
                      struct vdbq_batch *batch)
{
    assert(count <= join->output.rows_room);
    join->output.rows = count;
    row_set_vectors(&join->output, 0, join->vectors);
    batch->column = join->vectors;
    batch->rows = count;
}

/* ------------------------------------------------------------ settling -- */

/* Pairs whose threads leave those that go out in front of their shares. */
struct settling {
    struct sharing all;
    uint64_t counts[PARALLEL_THREADS_MAX]; /* of each share, that go out */
    uint64_t picked;                       /* ... and of all of them */
    unsigned pickers;                      /* threads that pick them */
    bool ended[PARALLEL_THREADS_MAX];      /* a left row ends in the share */
    bool matched[PARALLEL_THREADS_MAX];    /* ... and behind the last end a
                                          pair was kept                 */
};

/* Leaves those that go out, in their order, in front of each share. */
static void settle_pairs(struct settling *settling,
                         void (*settle_share)(void *settling, unsigned share))
{
    struct sharing *all = &settling->all;
    parallel_run(all->threads, settle_share, settling);
    settling->picked = 0;
    for (unsigned i = 0; i < all->threads; i++)
        settling->picked += settling->counts[i];
    assert(settling->picked <= all->count);
}

/* One thread's part of the output: of each share the pairs that fall into it. */
static void pick_part(void *context, unsigned part)
{
    const struct settling *settling = context;
    uint64_t at = settling->picked * part / settling->pickers;
    uint64_t end = settling->picked * (part + 1) / settling->pickers;
    uint64_t before = 0; /* rows of the shares before */
    for (unsigned i = 0; i < settling->all.threads && at < end; i++) {
        uint64_t behind = before + settling->counts[i];
        uint64_t stop = behind < end ? behind : end;
        if (at < stop) {
            pick_pairs(&settling->all, at,
                       share_start(&settling->all, i) + at - before, stop - at);
            at = stop;
        }
        before = behind;
    }
}

/* Gives out what was settled: nothing, if that is no pair. */
static enum vdbq_status give_settled(struct settling *settling,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    struct join_stream *join = settling->all.join;
    if (settling->picked == 0)
        return VDBQ_OK;
    enum vdbq_status status =
        begin_picking(&settling->all, settling->picked, error);
    if (status != VDBQ_OK)
        return status;
    settling->pickers = parallel_threads(join->threads, settling->picked);
    parallel_run(settling->pickers, pick_part, settling);
    give_rows(join, settling->picked, batch);
    return VDBQ_OK;
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
    bool plain = !join->copies && join_search_plain(&join->search);
    struct sharing all = { .join = join,
                           .count = count,
                           .writes = true,
                           .picks_left = !plain,
                           .right.lacks = lacks_right(join) };
    enum vdbq_status status = begin_picking(&all, count, error);
    if (status != VDBQ_OK)
        return status;
    if (needs_pairs(join) && (!plain || all.right.from != NULL))
        run_shares(&all);
    if (join->search.step->kind == JOIN_MARK)
        status = put_marks(&all, error);
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

/* Looks from the end of a thread's share on what became of the left row that
 * goes on behind it. */
static void look_back(void *context, unsigned share)
{
    struct settling *settling = context;
    const struct join_pairs *pairs = &settling->all.join->pairs;
    uint64_t first = share_start(&settling->all, share);
    uint64_t i = share_start(&settling->all, share + 1);
    bool ended = false, matched = false;
    for (; i > first && !ended && !matched; i--) {
        ended = pairs->right[i - 1] == ROW_SET_NO_ROW;
        matched = !ended && pairs->kept[i - 1];
    }
    settling->ended[share] = ended;
    settling->matched[share] = matched;
}

/* Whether the left row that goes on into a share was matched before it. */
static bool was_matched(const struct settling *settling, unsigned share)
{
    while (share-- > 0)
        if (settling->ended[share] || settling->matched[share])
            return settling->matched[share];
    return settling->all.join->matched;
}

/* Leaves those pairs of a thread's share that go out. */
static void settle_share(void *context, unsigned share)
{
    struct settling *settling = context;
    const struct join_stream *join = settling->all.join;
    const struct join_pairs *pairs = &join->pairs;
    enum join_kind kind = join->search.step->kind;
    bool pairs_go_out = kind != JOIN_SEMI && kind != JOIN_ANTI;
    bool matched = was_matched(settling, share);
    uint64_t first = share_start(&settling->all, share), count = first;
    uint64_t behind = share_start(&settling->all, share + 1);
    for (uint64_t i = first; i < behind; i++) {
        uint32_t left = pairs->left[i], right = pairs->right[i];
        bool end = right == ROW_SET_NO_ROW;
        bool kept = !end && pairs->kept[i];
        pairs->left[count] = left;
        pairs->right[count] = right;
        count += end ? matched == (kind == JOIN_SEMI) : pairs_go_out && kept;
        if (kept && join->partners != NULL)
            atomic_store_explicit(&join->partners[right], 1,
                                  memory_order_relaxed);
        matched = !end && (matched || kept);
    }
    settling->counts[share] = count - first;
}

/* Settles the pairs that were judged. */
static void settle(struct settling *settling)
{
    struct join_stream *join = settling->all.join;
    settling->all.count = join->pairs.count;
    settling->all.threads = parallel_threads(join->threads, join->pairs.count);
    if (join->search.slots == SLOTS_PAIRS_END)
        parallel_run(settling->all.threads, look_back, settling);
    settle_pairs(settling, settle_share);
    join->matched = was_matched(settling, settling->all.threads);
}

/* Writes pairs, lets the condition judge them, and picks those that stay. */
static enum vdbq_status put_judged(struct join_stream *join, uint64_t count,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    struct sharing writing = { .join = join, .count = count, .writes = true };
    struct settling settling = { .all = { .join = join,
                                          .picks_left = true,
                                          .right.lacks = lacks_right(join) } };
    run_shares(&writing);
    enum vdbq_status status = judge(join, error);
    if (status != VDBQ_OK)
        return status;
    settle(&settling);
    return give_settled(&settling, batch, error);
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
    assert(status != VDBQ_OK || pairs->count > 0 || join->head.held != NULL);
    join->slot += pairs->count;
    return status;
}

/* Leaves those right rows of a thread's share that have no partner. */
static void alone_share(void *context, unsigned share)
{
    struct settling *settling = context;
    const struct join_stream *join = settling->all.join;
    const struct join_pairs *pairs = &join->pairs;
    uint64_t first = share_start(&settling->all, share), count = first;
    uint64_t end = share_start(&settling->all, share + 1);
    for (uint64_t i = first; i < end && !stop_at(i - first); i++) {
        pairs->left[count] = ROW_SET_NO_ROW;
        pairs->right[count] = (uint32_t)(join->right_next + i);
        count += !join->partners[join->right_next + i];
    }
    settling->counts[share] = count - first;
}

/* Settles the next right rows. */
static enum vdbq_status settle_alone(struct settling *settling,
                                     struct error *error)
{
    struct join_stream *join = settling->all.join;
    uint64_t left = join->right.rows - join->right_next;
    enum vdbq_status status = next_room(join, error);
    if (status != VDBQ_OK)
        return status;
    join->pairs.count = left < join->pairs.room ? left : join->pairs.room;
    settling->all.count = join->pairs.count;
    settling->all.threads = parallel_threads(join->threads, join->pairs.count);
    settle_pairs(settling, alone_share);
    join->right_next += join->pairs.count;
    return stop_pause(error);
}

enum vdbq_status join_round_alone(struct join_stream *join,
                                  struct vdbq_batch *batch, struct error *error)
{
    struct settling settling = {
        .all = { .join = join, .picks_left = true, .left.lacks = true }
    };
    enum vdbq_status status = VDBQ_OK;
    if (join->partners == NULL)
        return VDBQ_OK;
    while (join->right_next < join->right.rows && settling.picked == 0
           && status == VDBQ_OK)
        status = settle_alone(&settling, error);
    return status == VDBQ_OK ? give_settled(&settling, batch, error) : status;
}
