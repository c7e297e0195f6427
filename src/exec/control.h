/* SPDX-License-Identifier: MIT */
/*
 * The control block of a launch, on the host: what is the same for all
 * launches of a program is written once, and what changes lies at its start,
 * so that little is moved for the next launch. Part of the runner.
 */
#ifndef VDBQ_EXEC_CONTROL_H
#define VDBQ_EXEC_CONTROL_H

#include "cl/launch.h"
#include "program/program.h"

struct control {
    u8 *bytes;      /* of the program's arena                         */
    u64 size;
    u64 head_size;  /* struct launch, feeds and outputs: these change */
};

/* Lays the block out and fills in what stays the same. */
enum vdbq_status control_init(struct control *control,
                              const struct program *program,
                              const struct program_pack *pack,
                              struct arena *arena, struct error *error);

/* The parts of a block (or of a copy of its head) that change. */
struct launch *control_launch(u8 *block);
struct feed *control_feeds(u8 *block, unsigned piece);
struct output *control_outputs(u8 *block);

#endif
