/* SPDX-License-Identifier: MIT */
/*
 * Aggregates over frames. What an aggregate keeps does not depend on how rows
 * are shared out (aggregate.h), so that of a long frame is merged of records of
 * whole blocks of rows, and of rows at its ends. Blocks are the leaves of a
 * binary tree: a frame takes about two records of each level. A frame that only
 * grows at its end takes in what is new, and sums slide (window_sliding.h).
 */
#include "exec/window/window_inner.h"
#include "exec/window/window_sliding.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/stop.h"

enum { BLOCK = 32, LEVELS = 32, RECORD = WINDOW_RECORD };

struct framed {
    const struct window *window;
    const struct step_frame *frame;
    const struct aggregate *aggregate;
    const struct aggregate_rows *rows;
    struct row_set_column *result;
    uint64_t *levels[LEVELS]; /* records of blocks, of pairs of these ...;
                                 whole ones only                           */
    struct {
        bool nulls; /* a result is NULL */
        enum vdbq_status status;
        struct error error;
    } shares[PARALLEL_THREADS_MAX];
};

static uint64_t *record_at(const struct framed *framed, unsigned level,
                           uint64_t number)
{
    return framed->levels[level] + number * RECORD;
}

/* ---------------------------------------------------------------- tree -- */

static uint64_t blocks_of(const struct framed *framed)
{
    return framed->window->rows->rows / BLOCK;
}

/* Whether no frame has more rows than two blocks: then there is no tree. */
static bool is_narrow(const struct step_frame *frame)
{
    return frame->unit == FRAME_ROWS && !frame->begin.unbounded
           && !frame->end.unbounded
           && frame->end.offset - frame->begin.offset < 2 * BLOCK;
}

/* One thread: takes in its share of the blocks. */
static void take_blocks(void *context, unsigned share)
{
    struct framed *framed = context;
    unsigned threads = framed->window->threads;
    uint64_t blocks = blocks_of(framed), since = 0;
    uint64_t end = blocks * (share + 1) / threads;

    for (uint64_t i = blocks * share / threads; i < end; i++) {
        window_take(framed->aggregate, framed->rows, (uint32_t)(i * BLOCK),
                    (uint32_t)((i + 1) * BLOCK), record_at(framed, 0, i));
        if (stop_after(&since, BLOCK))
            return;
    }
}

/* Merges pairs of a level into the next one's records. */
static void merge_level(struct framed *framed, unsigned level, uint64_t count)
{
    for (uint64_t i = 0; i < 2 * count && !stop_at(i); i++)
        aggregate_merge(framed->aggregate,
                        (uint8_t *)record_at(framed, level + 1, i / 2),
                        (const uint8_t *)record_at(framed, level, i));
}

/* Makes the tree in memory that the caller releases: `*records`. */
static enum vdbq_status make_tree(struct framed *framed, uint64_t **records,
                                  struct error *error)
{
    uint64_t blocks = blocks_of(framed);
    uint64_t *next = memory_zeroed(2 * blocks + 1, RECORD * sizeof **records);

    *records = next;
    if (next == NULL)
        return error_no_memory(error);
    for (unsigned level = 0; blocks >> level > 0; level++) {
        framed->levels[level] = next;
        next += (blocks >> level) * RECORD;
    }
    parallel_run(framed->window->threads, take_blocks, framed);
    for (unsigned level = 0; blocks >> (level + 1) > 0; level++)
        merge_level(framed, level, blocks >> (level + 1));
    return VDBQ_OK;
}

/* -------------------------------------------------------------- frames -- */

static void take(const struct framed *framed, uint32_t begin, uint32_t end,
                 uint64_t *words)
{
    window_take(framed->aggregate, framed->rows, begin, end, words);
}

/* Merges blocks [begin, end). */
static void merge_blocks(const struct framed *framed, uint64_t begin,
                         uint64_t end, uint64_t *words)
{
    for (unsigned level = 0; begin < end; level++) {
        assert(level < LEVELS && end <= blocks_of(framed) >> level);
        if (begin % 2 == 1)
            aggregate_merge(framed->aggregate, (uint8_t *)words,
                            (uint8_t *)record_at(framed, level, begin++));
        if (begin < end && end % 2 == 1)
            aggregate_merge(framed->aggregate, (uint8_t *)words,
                            (uint8_t *)record_at(framed, level, --end));
        begin /= 2;
        end /= 2;
    }
}

/* Takes all rows of a frame in. */
static void take_frame(const struct framed *framed, uint32_t begin,
                       uint32_t end, uint64_t *words)
{
    uint32_t first = (begin + BLOCK - 1) / BLOCK, behind = end / BLOCK;

    if (end - begin <= 2 * BLOCK) {
        take(framed, begin, end, words);
        return;
    }
    assert(framed->levels[0] != NULL && first <= behind);
    take(framed, begin, first * BLOCK, words);
    merge_blocks(framed, first, behind, words);
    take(framed, behind * BLOCK, end, words);
}

/* Takes a frame in anew, or what is new in it; where sums slide, they go on from
 * there. Where a row that a frame left made it useless, as many frames as it has
 * rows are taken in first: so looking at all its rows is not done too often. */
static void take_anew(const struct framed *framed, uint32_t begin, uint32_t end,
                      struct window_sliding *record)
{
    if (begin == record->begin && end >= record->end && !record->slides
        && end - record->end <= 2 * BLOCK) {
        take(framed, record->end, end, record->record);
        record->end = end;
    } else {
        *record = (struct window_sliding){ .begin = begin,
                                           .end = end,
                                           .rest = record->rest };
        take_frame(framed, begin, end, record->record);
    }
    if (record->rest > 0)
        record->rest--;
    else if (window_can_slide(framed->aggregate))
        window_slides_from(framed->aggregate, framed->rows, record);
}

/* Makes the record that of the frame at hand. */
static void move(const struct framed *framed,
                 const struct window_frames *frames,
                 struct window_sliding *record)
{
    uint32_t begin = frames->begin;
    uint32_t end = frames->end > begin ? frames->end : begin;
    bool goes_on =
        record->slides && begin >= record->begin && begin <= record->end;

    if (window_slide(framed->aggregate, framed->rows, record, begin, end))
        return;
    if (goes_on && end >= record->end)
        record->rest = end - begin;
    take_anew(framed, begin, end, record);
}

/* One thread: the results of its share of the rows in their order. */
static void run_share(void *context, unsigned share)
{
    struct framed *framed = context;
    const struct window *window = framed->window;
    struct row_set_column *result = framed->result;
    struct error *error = &framed->shares[share].error;
    uint32_t at = window_share(window, share);
    uint32_t end = window_share(window, share + 1);
    enum vdbq_status status = VDBQ_OK;
    struct window_sliding record = { .begin = 0 };
    uint64_t since = 0;

    if (at == end)
        return;
    for (struct window_frames frames =
             window_frames_begin(window, framed->frame, at);
         frames.at < end && status == VDBQ_OK; window_frames_next(&frames)) {
        uint32_t row = window->order[frames.at];
        move(framed, &frames, &record);
        status = aggregate_result(framed->aggregate, (uint8_t *)record.record,
                                  record.end - record.begin, result->values,
                                  result->nulls, row, error);
        framed->shares[share].nulls |= result->nulls[row] != 0;
        if (status == VDBQ_OK && stop_after(&since, 2 * BLOCK))
            status = error_cancelled(error);
    }
    framed->shares[share].status = status;
}

enum vdbq_status window_framed(struct window *window,
                               const struct step_frame *frame,
                               const struct aggregate *aggregate,
                               const struct aggregate_rows *rows,
                               struct row_set_column *result,
                               struct error *error)
{
    struct framed *framed = memory_zeroed(1, sizeof *framed);
    uint64_t *records = NULL;
    enum vdbq_status status = VDBQ_OK;

    if (framed == NULL)
        return error_no_memory(error);
    framed->window = window;
    framed->frame = frame;
    framed->aggregate = aggregate;
    framed->rows = rows;
    framed->result = result;
    if (!is_narrow(frame))
        status = make_tree(framed, &records, error);
    if (status == VDBQ_OK)
        parallel_run(window->threads, run_share, framed);
    for (unsigned i = 0; i < window->threads && status == VDBQ_OK; i++) {
        window->any_nulls |= framed->shares[i].nulls;
        status = framed->shares[i].status;
        if (status != VDBQ_OK)
            *error = framed->shares[i].error;
    }
    memory_release(records);
    memory_release(framed);
    return status;
}
