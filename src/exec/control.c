/* SPDX-License-Identifier: MIT */
/*
 * Lays out control blocks: struct launch, feeds and outputs first, then code
 * and constants.
 */
#include "exec/control.h"

#include <string.h>

#include "cl/tablet.h"

/* Where the parts start. */
static struct launch layout(const struct program *program,
                            const struct program_pack *pack,
                            struct control *control)
{
    struct program_part part = program_part(program);
    struct launch launch = {
        .code_first = (u32)part.first,
        .code_end = (u32)part.converge,
        .feed_count = pack->feed_count,
        .output_count = program_results(program),
    };
    launch.feeds = TABLET_ALIGNED(sizeof launch);
    launch.outputs =
        TABLET_ALIGNED(launch.feeds + (u64)LAUNCH_PIECES * pack->feed_count *
                                          sizeof(struct feed));
    launch.code = TABLET_ALIGNED(launch.outputs +
                                 launch.output_count * sizeof(struct output));
    launch.constants = TABLET_ALIGNED(
        launch.code + program->code.count * sizeof(struct code));
    control->head_size = launch.code;
    control->size = TABLET_ALIGNED(launch.constants +
                                   pack->constant_count * sizeof(i64));
    return launch;
}

enum vdbq_status control_init(struct control *control,
                              const struct program *program,
                              const struct program_pack *pack,
                              struct arena *arena, struct error *error)
{
    struct launch launch = layout(program, pack, control);
    u8 *bytes = arena_alloc(arena, control->size);
    control->bytes = bytes;
    if (bytes == NULL)
        return error_no_memory(error);
    memcpy(bytes, &launch, sizeof launch);
    memcpy(bytes + launch.code, pack->code,
           program->code.count * sizeof(struct code));
    memcpy(bytes + launch.constants, pack->constants,
           pack->constant_count * sizeof(i64));
    return VDBQ_OK;
}

struct launch *control_launch(u8 *block)
{
    return (struct launch *)(void *)block;
}

struct feed *control_feeds(u8 *block, unsigned piece)
{
    const struct launch *launch = control_launch(block);
    return (struct feed *)(void *)(block + launch->feeds) +
           piece * launch->feed_count;
}

struct output *control_outputs(u8 *block)
{
    return (struct output *)(void *)(block + control_launch(block)->outputs);
}
