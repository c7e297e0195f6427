/* SPDX-License-Identifier: MIT */
/*
 * The way in of a flight. For the files of the flight only.
 */
#ifndef VDBQ_EXEC_FLIGHT_IN_H
#define VDBQ_EXEC_FLIGHT_IN_H

#include "exec/launch/flight.h"

/* Steps of this start; its head of the control block is written. */
unsigned flight_steps(const struct flight *flight);

/* Makes room on both sides for the control block, and for what the steps say. */
enum vdbq_status flight_room(struct flight *flight, struct error *error);

/* Where progress as it starts is in `control`; where on the host it is as it
 * ended, and how many bytes of it come back. */
u64 flight_progress_start(const struct flight *flight);
struct progress *flight_progress(const struct flight *flight);
u64 flight_progress_bytes(const struct flight *flight);

/* Makes the copies that bring the feeds to the device, and names their places
 * in the head of the control block. */
enum vdbq_status flight_feeds_in(struct flight *flight,
                                 const struct runner_input *input,
                                 struct error *error);

/* Adds the copies of what changed of the control block, and of progress as it
 * starts. Of a small block all is sent, so that both go at once. */
enum vdbq_status flight_control_in(struct flight *flight,
                                   const struct runner_input *input,
                                   struct error *error);

#endif
