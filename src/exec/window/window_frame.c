/* SPDX-License-Identifier: MIT */
/*
 * Frames of rows: see window_inner.h.
 */
#include "exec/window/window_inner.h"

#include <assert.h>

/* The place of a bound in the partition, or `after` behind it. */
static uint32_t place_of(const struct window_frames *frames,
                         const struct frame_bound *bound, unsigned after)
{
    int64_t place = (int64_t)frames->at + bound->offset + after;

    if (frames->frame->unit == FRAME_RANGE)
        return after ? frames->peers_end : frames->peers;
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
    frames.first = window_begin(window, at, SORT_PARTITION);
    frames.last = window_end(window, at, SORT_PARTITION);
    frames.peers = window_begin(window, at, SORT_PEERS);
    frames.peers_end = window_end(window, at, SORT_PEERS);
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
    }
    if (at == frames->peers_end) {
        frames->peers = at;
        frames->peers_end = window_end(window, at, SORT_PEERS);
    }
    find_frame(frames);
}
