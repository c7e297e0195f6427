/* SPDX-License-Identifier: MIT */
/*
 * The way in of a launch. For the files of the launch only.
 */
#ifndef VDBQ_EXEC_LAUNCH_IN_H
#define VDBQ_EXEC_LAUNCH_IN_H

#include "exec/launch/launch.h"

/* Steps of this start; its head of the control block is written. */
unsigned launch_steps(const struct launch *launch);

/* Makes room on both sides for the control block, for the order codes of so
 * many morsels, and for what the steps say. */
enum vdbq_status launch_room(struct launch *launch,
                             const struct launcher_request *request,
                             struct error *error);

/* Gives it back. */
void launch_room_finish(struct launch *launch);

/* Where progress as it starts is in `control`; where on the host it is as it
 * ended, and how many bytes of it come back. */
u64 launch_progress_start(const struct launch *launch);
struct progress *launch_progress(const struct launch *launch);
u64 launch_progress_bytes(const struct launch *launch);

/* Makes the copies that bring the inputs to the device, and names their places
 * in the head of the control block. */
enum vdbq_status launch_inputs_in(struct launch *launch,
                                  const struct launcher_request *request,
                                  struct error *error);

/* Adds the copies of what changed of the control block, and of progress as it
 * starts. Of a small block all is sent, so that both go at once. */
enum vdbq_status launch_control_in(struct launch *launch,
                                   const struct launcher_request *request,
                                   struct error *error);

#endif
