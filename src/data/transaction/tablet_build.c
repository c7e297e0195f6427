/* SPDX-License-Identifier: MIT */
#include "data/transaction/tablet_build.h"

#include <assert.h>

#include "base/threads/parallel.h"

uint32_t tablet_build_rows(const struct tablet_build *build)
{
    return build->base.bytes != NULL ? build->edited.rows : build->rows.count;
}

uint64_t tablet_build_bytes(const struct tablet_build *build)
{
    return build->base.size + rows_bytes(&build->rows);
}

void tablet_build_run(struct tablet_build *build)
{
    assert(build->block.bytes == NULL);
    if (build->base.bytes != NULL)
        build->block =
            edited_block(build->base.bytes, build->edited.edit, build->table,
                         build->form, build->facts, &build->features);
    else
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
    block_destroy(&build->base);
    edit_release(build->edited.edit);
    rows_finish(&build->rows);
}
