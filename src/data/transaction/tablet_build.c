/* SPDX-License-Identifier: MIT */
#include "data/transaction/tablet_build.h"

#include <assert.h>

#include "base/threads/parallel.h"
#include "data/database/database_inner.h"

/* Whether it is made of another tablet. */
static bool is_edited(const struct tablet_build *build)
{
    return build->edited.edit != NULL;
}

uint32_t tablet_build_rows(const struct tablet_build *build)
{
    return is_edited(build) ? build->edited.rows : build->rows.count;
}

uint64_t tablet_build_bytes(const struct tablet_build *build)
{
    enum { FORMS = 4 }; /* of a base: packed and not, before and then */

    return build->base.size_bytes * FORMS + rows_bytes(&build->rows);
}

/* Makes the tablet of another one, which is read now. */
static void edit_base(struct tablet_build *build)
{
    struct block base = { 0 }, packed = { 0 };

    error_clear(&build->error);
    if (tablet_load_stored(build->database, build->table, &build->base, &base,
                           &packed, &build->error)
        == VDBQ_OK)
        build->block = edited_block(
            base.bytes, packed.bytes, build->edited.edit, build->table,
            build->form, build->facts, &build->features);
    block_destroy(&packed);
    block_destroy(&base);
}

void tablet_build_run(struct tablet_build *build)
{
    assert(build->block.bytes == NULL);
    if (is_edited(build))
        edit_base(build);
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
    edit_release(build->edited.edit);
    rows_finish(&build->rows);
}
