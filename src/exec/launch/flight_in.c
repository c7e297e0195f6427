/* SPDX-License-Identifier: MIT */
/*
 * The way in: feeds, control block, and progress as it starts. All that the
 * host moves lies in pinned memory; nothing is moved twice, and only what
 * changed of the control block.
 */
#include "exec/launch/flight_in.h"

#include <string.h>

#include "cl/tablet.h"
#include "exec/launch/feed.h"

/* Bytes of a control block that are sent sooner than told apart: a command to
 * copy takes as long. */
enum { SENT_WHOLE_MAX = 64 << 10 };

/* ------------------------------------------------------------- staging -- */

/* Offsets in `staging`, the host's side of small things: what `control` is on
 * the device, that is the control block and then progress, with what follows
 * it, as it starts; and progress as it ended. */
static u64 progress_bytes(u64 steps)
{
    return sizeof(struct progress) + steps * sizeof(struct descriptor);
}

unsigned flight_steps(const struct flight *flight)
{
    return control_launch(flight->head)->steps;
}

/* What of it a launch needs to be 0: a dense machine reads the states of its
 * steps; the descriptors of others are only written. */
static u64 progress_in_bytes(const struct flight *flight)
{
    return sizeof(struct progress)
           + (flight->result.dense ? flight_steps(flight) * sizeof(u32) : 0);
}

u64 flight_progress_bytes(const struct flight *flight)
{
    return progress_bytes(flight->result.dense ? 0 : flight_steps(flight));
}

u64 flight_progress_start(const struct flight *flight)
{
    return TABLET_ALIGNED(flight->params->control->size);
}

static u64 progress_at(const struct flight *flight)
{
    return flight_progress_start(flight)
           + TABLET_ALIGNED(progress_bytes(flight->steps_room));
}

static u8 *staging(const struct flight *flight, u64 offset)
{
    return (u8 *)device_memory_host(flight->staging) + offset;
}

struct progress *flight_progress(const struct flight *flight)
{
    return (struct progress *)(void *)staging(flight, progress_at(flight));
}

enum vdbq_status flight_room(struct flight *flight, struct error *error)
{
    struct device *device = flight->params->device;
    unsigned steps = flight_steps(flight);
    if (flight->steps_room >= steps)
        return VDBQ_OK;
    device_memory_release(flight->staging);
    device_memory_release(flight->control);
    flight->staging = flight->control = NULL;
    flight->control_sent = false;
    flight->steps_room = steps;
    enum vdbq_status status = device_memory_create(
        device, MEMORY_PINNED, progress_at(flight) + progress_bytes(steps),
        &flight->staging, error);
    if (status == VDBQ_OK)
        status = device_memory_create(device, MEMORY_DEVICE,
                                      flight_progress_start(flight)
                                          + progress_bytes(steps),
                                      &flight->control, error);
    if (status != VDBQ_OK) {
        flight->steps_room = 0;
        return status;
    }
    u8 *start = staging(flight, flight_progress_start(flight));
    memset(start, 0, progress_bytes(steps));
    ((struct progress *)(void *)start)->fault = NO_FAULT;
    return VDBQ_OK;
}

/* --------------------------------------------------------------- feeds -- */

/* Whether bytes follow those of a copy on both sides, up to padding: then one
 * transfer does for both. */
static bool joins(const struct device_copy *last,
                  const struct device_copy *next)
{
    u64 here = TABLET_ALIGNED(last->size);
    return last->memory == next->memory && last->offset + here == next->offset
           && (u8 *)last->bytes + here == (u8 *)next->bytes;
}

static enum vdbq_status add_copy(struct flight *flight,
                                 struct device_memory *memory, u64 offset,
                                 void *bytes, u64 size, struct error *error)
{
    struct device_copy copy = {
        .memory = memory, .offset = offset, .bytes = bytes, .size = size
    };
    struct device_copy *last =
        flight->copies.count > 0
            ? vector_at(&flight->copies, flight->copies.count - 1)
            : NULL;
    if (size == 0)
        return VDBQ_OK;
    if (last != NULL && joins(last, &copy)) {
        last->size = TABLET_ALIGNED(last->size) + size;
        return VDBQ_OK;
    }
    return vector_append(&flight->copies, &copy, 1) ? VDBQ_OK
                                                    : error_no_memory(error);
}

/* Where the feeds of a piece go on the device, from `*end` on. */
static void place_feeds(const struct flight *flight,
                        const struct runner_piece *piece, struct feed *feeds,
                        u64 *end)
{
    u64 at = *end;
    for (unsigned i = 0; i < flight->params->pack->feed_count; i++) {
        const struct feed *from = &piece->feeds[i];
        feeds[i] = *from;
        feeds[i].values = at;
        at = TABLET_ALIGNED(at + feed_value_bytes(from, piece->rows));
        if (feed_null_bytes(from, piece->rows) > 0)
            feeds[i].nulls = at;
        at = TABLET_ALIGNED(at + feed_null_bytes(from, piece->rows));
    }
    *end = at;
}

/* Copies the feeds of a piece to their places on the device. */
static enum vdbq_status copy_feeds(struct flight *flight,
                                   const struct runner_piece *piece,
                                   const struct feed *feeds,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    unsigned count = flight->params->pack->feed_count;
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++) {
        const struct feed *from = &piece->feeds[i];
        status = add_copy(flight, flight->data, feeds[i].values,
                          piece->host + from->values,
                          feed_value_bytes(from, piece->rows), error);
        if (status == VDBQ_OK)
            status = add_copy(flight, flight->data, feeds[i].nulls,
                              piece->host + from->nulls,
                              feed_null_bytes(from, piece->rows), error);
    }
    return status;
}

/* Makes sure that the device has room for `size` bytes of feeds. */
static enum vdbq_status data_room(struct flight *flight, u64 size,
                                  struct error *error)
{
    if (flight->data && device_memory_size(flight->data) >= size)
        return VDBQ_OK;
    device_memory_release(flight->data);
    flight->data = NULL;
    return device_memory_create(flight->params->device, MEMORY_DEVICE, size,
                                &flight->data, error);
}

/* Names the places of feeds that the device has, or is about to get. */
static enum vdbq_status feeds_there(struct flight *flight,
                                    const struct runner_input *input,
                                    struct error *error)
{
    const struct flight_params *params = flight->params;
    enum vdbq_status status = VDBQ_OK;
    if (input->copy_count > 0
        && !vector_append(&flight->copies, input->copies, input->copy_count))
        return error_no_memory(error);
    for (unsigned i = 0; i < input->count && status == VDBQ_OK; i++) {
        const struct runner_piece *piece = &input->pieces[i];
        memcpy(control_feeds(flight->head, i), piece->feeds,
               params->pack->feed_count * sizeof *piece->feeds);
        if (piece->data != NULL)
            status = device_memory_give(piece->data, params->times, error);
    }
    return status;
}

/* Brings the feeds to the device. */
static enum vdbq_status feeds_bring(struct flight *flight,
                                    const struct runner_input *input,
                                    struct error *error)
{
    u64 end = TABLET_ALIGN; /* 0 means that there are no NULLs */
    for (unsigned i = 0; i < input->count; i++)
        place_feeds(flight, &input->pieces[i], control_feeds(flight->head, i),
                    &end);
    enum vdbq_status status = data_room(flight, end, error);
    for (unsigned i = 0; i < input->count && status == VDBQ_OK; i++)
        status = copy_feeds(flight, &input->pieces[i],
                            control_feeds(flight->head, i), error);
    return status;
}

enum vdbq_status flight_feeds_in(struct flight *flight,
                                 const struct runner_input *input,
                                 struct error *error)
{
    flight->copies.count = 0;
    return input->pieces[0].host != NULL ? feeds_bring(flight, input, error)
                                         : feeds_there(flight, input, error);
}

/* ------------------------------------------------------------- control -- */

/* Whether a launch's pieces have the ranks that the last one's had. */
static bool same_ranks(const struct flight *flight,
                       const struct runner_input *input)
{
    for (unsigned i = 0; i < LAUNCH_PIECES; i++)
        if (flight->ranks[i]
            != (i < input->count ? input->pieces[i].ranks : NULL))
            return false;
    return flight->control_sent;
}

/* Puts the ranks of a piece's feeds behind `at`, and where they are into the
 * feeds; `there`: they are there from the last time. */
static u64 piece_ranks(struct flight *flight, unsigned piece, u64 at,
                       bool there)
{
    struct feed *feeds = control_feeds(flight->head, piece);
    const struct run_ranks *ranks = flight->ranks[piece];
    for (unsigned i = 0; ranks != NULL && i < flight->params->pack->feed_count;
         i++) {
        if (there)
            feeds[i].ranks = control_feeds(staging(flight, 0), piece)[i].ranks;
        else
            at = control_ranks(staging(flight, 0), at, &ranks[i], &feeds[i]);
    }
    return at;
}

/* Puts the ranks of this start's feeds behind all else that is sent; whether
 * they are other ones than last time. */
static bool put_ranks(struct flight *flight, const struct runner_input *input)
{
    u64 at = flight->params->control->fixed_size, end = at;
    bool same = same_ranks(flight, input);
    for (unsigned i = 0; i < LAUNCH_PIECES; i++) {
        flight->ranks[i] = i < input->count ? input->pieces[i].ranks : NULL;
        end = piece_ranks(flight, i, end, same);
    }
    if (!same)
        flight->ranks_end = end;
    return !same && end > at;
}

/* Puts this start's control block into staging; the bytes of it that the
 * device does not have yet. */
static u64 stage_control(struct flight *flight,
                         const struct runner_input *input)
{
    const struct control *control = flight->params->control;
    u8 *sent = staging(flight, 0);
    bool others = put_ranks(flight, input), first = !flight->control_sent;
    if (first)
        memcpy(sent, control->bytes, control->fixed_size);
    if (!first && !others
        && memcmp(sent, flight->head, control->head_size) == 0)
        return 0;
    memcpy(sent, flight->head, control->head_size);
    flight->control_sent = true;
    if (others)
        return flight->ranks_end;
    return first ? control->fixed_size : control->head_size;
}

enum vdbq_status flight_control_in(struct flight *flight,
                                   const struct runner_input *input,
                                   struct error *error)
{
    u64 changed = stage_control(flight, input);
    u64 at = flight_progress_start(flight);
    if (at <= SENT_WHOLE_MAX)
        return add_copy(flight, flight->control, 0, staging(flight, 0),
                        at + progress_in_bytes(flight), error);
    enum vdbq_status status = add_copy(flight, flight->control, 0,
                                       staging(flight, 0), changed, error);
    if (status == VDBQ_OK)
        status = add_copy(flight, flight->control, at, staging(flight, at),
                          progress_in_bytes(flight), error);
    return status;
}
