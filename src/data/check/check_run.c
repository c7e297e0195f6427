/* SPDX-License-Identifier: MIT */
/*
 * A run is made anew, and the one of the file must be the same: by its rows, by
 * which of them are alike, and by its least and greatest values. (What codes the
 * values have is the writer's choice.)
 */
#include "data/check/check_run.h"

#include "base/threads/stop.h"
#include "data/index/index_run.h"
#include "data/index/run_pages.h"

static bool same_extremes(const struct run *a, const struct run *b)
{
    for (unsigned i = 0; i < a->column_count; i++) {
        uint64_t of_a[2] = { 0 }, of_b[2] = { 0 };
        bool any_a = run_extremes(&a->columns[i], &of_a[0], &of_a[1]);
        bool any_b = run_extremes(&b->columns[i], &of_b[0], &of_b[1]);
        if (any_a != any_b
            || (any_a && (of_a[0] != of_b[0] || of_a[1] != of_b[1])))
            return false;
    }
    return true;
}

/* Whether the row at a place is like the one before it. */
static bool is_like(const struct run *run, uint32_t place)
{
    return place > 0 && run_key(run, place) == run_key(run, place - 1);
}

static bool same_run(const struct run *a, const struct run *b)
{
    bool same = a->rows == b->rows && a->column_count == b->column_count
                && same_extremes(a, b);

    for (uint32_t i = 0; same && i < a->rows; i++)
        same = run_row(a, i) == run_row(b, i) && is_like(a, i) == is_like(b, i);
    return same;
}

/* Makes the run that the file should have. */
static enum vdbq_status make(const struct check_tablet *tablet,
                             const struct run_ref *ref, struct run **made,
                             struct error *error)
{
    if (tablet->of.index != NULL)
        return index_run(&tablet->of, tablet->tablet, tablet->block,
                         ref->column_count, made, error);
    *made = run_make(tablet->block, ref->columns, ref->column_count);
    return *made != NULL ? VDBQ_OK : stop_or_no_memory(error);
}

enum vdbq_status check_run(const struct check_tablet *tablet,
                           const struct run_ref *ref, bool *sound,
                           struct error *error)
{
    const struct index *index = tablet->of.index;
    const struct run_tablet of = { tablet->tablet->rows,
                                   index_is_partial(index) };
    struct run *read = NULL, *made = NULL;
    enum vdbq_status status =
        run_load(tablet->of.database, ref, of,
                 index == NULL ? tablet->block : NULL, &read, error);

    if (status == VDBQ_OK && read != NULL)
        status = make(tablet, ref, &made, error);
    *sound = made != NULL && same_run(read, made);
    run_destroy(made);
    run_destroy(read);
    return status;
}
