/* SPDX-License-Identifier: MIT */
/*
 * Frames of rows: see window_inner.h.
 */
#include "exec/window/window_inner.h"

#include <assert.h>

/* ------------------------------------------------------------ distances -- */

static const struct row_set_column *key_of(const struct window_frames *frames)
{
    return &frames->window->rows->columns[frames->window->key->column];
}

static bool is_null(const struct window_frames *frames, uint32_t place)
{
    return row_set_is_null(key_of(frames), frames->window->order[place]);
}

/* The first place from `place` to `end` whose key is NULL, or (`known`) is not, where
 * those before it are not so. */
static uint32_t first_of(const struct window_frames *frames, uint32_t place,
                         uint32_t end, bool known)
{
    while (place < end) {
        uint32_t middle = place + (end - place) / 2;
        if (is_null(frames, middle) == known)
            place = middle + 1;
        else
            end = middle;
    }
    return place;
}

/* NULLs are the first rows of a partition, or the last ones. */
static void find_known(struct window_frames *frames)
{
    uint32_t first = frames->first, last = frames->last;

    if (frames->frame->unit != FRAME_DISTANCE)
        return;
    frames->known =
        is_null(frames, first) ? first_of(frames, first, last, true) : first;
    frames->known_end = first_of(frames, frames->known, last, false);
}

static bool is_real(const struct row_set_column *key)
{
    return key->type == VDBQ_FLOAT || key->type == VDBQ_DOUBLE;
}

/* A value that is so far away, or the last one on that side. */
static int64_t moved(int64_t value, int64_t by)
{
    if (by > 0)
        return value > INT64_MAX - by ? INT64_MAX : value + by;
    return value < INT64_MIN - by ? INT64_MIN : value + by;
}

/* Whether the key at a place is below (-1), equal to (0) or above (1) the row's own
 * and the bound's distance. */
static int compare(const struct window_frames *frames,
                   const struct frame_bound *bound, uint32_t place)
{
    const struct row_set_column *key = key_of(frames);
    const uint32_t *order = frames->window->order;
    bool down = frames->window->key->descending;

    if (is_real(key)) {
        double own = row_set_real(key, order[frames->at]),
               value = row_set_real(key, order[place]);
        own += down ? -bound->real : bound->real;
        return (value > own) - (value < own);
    }
    int64_t own = row_set_integer(key, order[frames->at]),
            value = row_set_integer(key, order[place]);
    own = moved(own, down ? -bound->offset : bound->offset);
    return (value > own) - (value < own);
}

/* The first place, or (`after`) the one behind the last, of rows that are as far
 * away as the bound says, or nearer. */
static uint32_t distant(const struct window_frames *frames,
                        const struct frame_bound *bound, unsigned after)
{
    uint32_t place = frames->known, end = frames->known_end;
    int sign = frames->window->key->descending ? -1 : 1;

    if (is_null(frames, frames->at))
        return after ? frames->peers_end : frames->peers;
    while (place < end) {
        uint32_t middle = place + (end - place) / 2;
        if (sign * compare(frames, bound, middle) < (int)after)
            place = middle + 1;
        else
            end = middle;
    }
    return place;
}

/* --------------------------------------------------------------- frames -- */

/* The place of a bound in the partition, or `after` behind it. */
static uint32_t place_of(const struct window_frames *frames,
                         const struct frame_bound *bound, unsigned after)
{
    int64_t place = (int64_t)frames->at + bound->offset + after;

    if (frames->frame->unit == FRAME_RANGE)
        return after ? frames->peers_end : frames->peers;
    if (frames->frame->unit == FRAME_DISTANCE)
        return distant(frames, bound, after);
    return place < (int64_t)frames->first  ? frames->first
           : place > (int64_t)frames->last ? frames->last
                                           : (uint32_t)place;
}

static void find_frame(struct window_frames *frames)
{
    const struct step_frame *frame = frames->frame;

    frames->begin = frame->begin.unbounded ? frames->first
                                           : place_of(frames, &frame->begin, 0);
    frames->end =
        frame->end.unbounded ? frames->last : place_of(frames, &frame->end, 1);
}

struct window_frames window_frames_begin(const struct window *window,
                                         const struct step_frame *frame,
                                         uint32_t at)
{
    struct window_frames frames = { .window = window,
                                    .frame = frame,
                                    .at = at };

    assert(frame->unit != FRAME_DEFAULT && at < window->rows->rows);
    assert(frame->unit != FRAME_DISTANCE || window->key != NULL);
    frames.first = window_begin(window, at, SORT_PARTITION);
    frames.last = window_end(window, at, SORT_PARTITION);
    frames.peers = window_begin(window, at, SORT_PEERS);
    frames.peers_end = window_end(window, at, SORT_PEERS);
    find_known(&frames);
    find_frame(&frames);
    return frames;
}

void window_frames_next(struct window_frames *frames)
{
    const struct window *window = frames->window;
    uint32_t at = ++frames->at;

    if (at == window->rows->rows)
        return;
    if (at == frames->last) {
        frames->first = at;
        frames->last = window_end(window, at, SORT_PARTITION);
        find_known(frames);
    }
    if (at == frames->peers_end) {
        frames->peers = at;
        frames->peers_end = window_end(window, at, SORT_PEERS);
    }
    find_frame(frames);
}
