/* SPDX-License-Identifier: MIT */
#include "data/transaction/tablet_build.h"

#include <assert.h>

#include "base/threads/parallel.h"

void tablet_build_run(struct tablet_build *build)
{
    assert(build->block.bytes == NULL);
    build->block = rows_block(&build->rows, build->table, build->form,
                              build->facts, &build->features);
}

static void *run(void *context)
{
    struct tablet_build *build = context;
    struct stop_work former = stop_help(build->stop);
    tablet_build_run(build);
    stop_leave(former);
    return NULL;
}

void tablet_build_start(struct tablet_build *build)
{
    assert(!build->started);
    build->stop = stop_current();
    build->started = parallel_start(&build->thread, 1, run, build) == 1;
    if (!build->started)
        tablet_build_run(build);
}

void tablet_build_wait(struct tablet_build *build)
{
    if (build->started)
        pthread_join(build->thread, NULL);
    build->started = false;
}

void tablet_build_finish(struct tablet_build *build)
{
    tablet_build_wait(build);
    block_destroy(&build->block);
    rows_finish(&build->rows);
}
