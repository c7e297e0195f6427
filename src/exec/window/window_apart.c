/* SPDX-License-Identifier: MIT */
/*
 * One partition apart: see window_apart.h. Its rows keep their order, so that
 * its first row is the first one here, too.
 */
#include "exec/window/window_apart.h"

#include <assert.h>

#include "base/memory.h"
#include "exec/rows/row_index.h"

static const struct step_window_function *
function_at(const struct step_window *step, size_t number)
{
    return vector_at(&step->functions, number);
}

bool window_apart_can(const struct step_window *step)
{
    bool can = step->functions.count > 0;
    for (size_t i = 0; i < step->functions.count; i++)
        can &= window_select_takes(function_at(step, i));
    return can;
}

/* -------------------------------------------------------- init, finish -- */

/* Makes the step whose functions are those of all rows; false: no memory. */
static bool make_step(struct window_apart *apart,
                      const struct step_window *step)
{
    apart->partition = &function_at(step, 0)->partition;
    for (size_t i = 0; i < step->functions.count; i++) {
        struct step_window_function function = *function_at(step, i);
        function.partition.count = 0;
        if (!vector_append(&apart->step.functions, &function, 1))
            return false;
    }
    return true;
}

/* Makes an empty row set of the input's columns. */
static enum vdbq_status make_rows(const struct window_spill_params *params,
                                  struct row_set *rows, struct error *error)
{
    return row_set_init(rows, params->columns, params->input_count, error);
}

enum vdbq_status window_apart_init(struct window_apart *apart,
                                   const struct window_spill_params *params,
                                   struct error *error)
{
    *apart = (struct window_apart){
        .step.functions = VECTOR(struct step_window_function),
        .step.firsts = params->step->firsts,
        .vectors = memory_zeroed(params->input_count, sizeof *apart->vectors)
    };
    assert(window_apart_can(params->step));
    if (apart->vectors == NULL || !make_step(apart, params->step))
        return error_no_memory(error);
    struct row_set *rows[] = { &apart->first, &apart->view, &apart->mine,
                               &apart->others };
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows && status == VDBQ_OK;
         i++)
        status = make_rows(params, rows[i], error);
    if (status != VDBQ_OK)
        return status;
    return window_select_create(
        &(struct window_select_params){ .step = &apart->step,
                                        .columns = params->columns,
                                        .column_count = params->input_count,
                                        .threads = params->threads,
                                        .room_bytes = params->room_bytes,
                                        .files = params->files,
                                        .memory = params->memory },
        &apart->select, error);
}

void window_apart_finish(struct window_apart *apart)
{
    window_select_destroy(apart->select);
    vector_finish(&apart->step.functions);
    row_set_finish(&apart->first);
    row_set_view_finish(&apart->view);
    row_set_finish(&apart->mine);
    row_set_finish(&apart->others);
    memory_release(apart->vectors);
    memory_release(apart->list);
    *apart = (struct window_apart){ 0 };
}

/* ----------------------------------------------------------------- add -- */

/* Whether a row that came is of the partition. */
static bool is_mine(const struct window_apart *apart, uint32_t row)
{
    for (size_t i = 0; i < apart->partition->count; i++) {
        int column = VECTOR_ITEMS(apart->partition, int)[i];
        if (!row_same(&apart->first.columns[column], 0,
                      &apart->view.columns[column], row))
            return false;
    }
    return true;
}

/* Lists the partition's rows, and behind all there could be the others; how many
 * are the partition's. */
static uint32_t list_rows(const struct window_apart *apart)
{
    uint32_t count = (uint32_t)apart->view.rows, mine = 0;
    uint32_t *others = apart->list + count;
    for (uint32_t i = 0; i < count; i++)
        if (is_mine(apart, i))
            apart->list[mine++] = i;
        else
            *others++ = i;
    return mine;
}

/* Has a batch be the listed rows of those that came, which are copied. */
static enum vdbq_status take_listed(const struct window_apart *apart,
                                    struct row_set *rows, const uint32_t *list,
                                    uint32_t count, struct vdbq_batch *batch,
                                    struct error *error)
{
    rows->rows = 0;
    enum vdbq_status status = row_set_room(rows, count, error);
    if (status == VDBQ_OK)
        status = row_set_pick(rows, 0, &apart->view, list, count, 1, error);
    if (status != VDBQ_OK)
        return status;
    rows->rows = count;
    row_set_vectors(rows, 0, apart->vectors);
    *batch = (struct vdbq_batch){ .rows = count,
                                  .columns = rows->column_count,
                                  .column = apart->vectors };
    return VDBQ_OK;
}

/* Takes the first rows of the list, and leaves the others. */
static enum vdbq_status take_some(struct window_apart *apart, uint32_t count,
                                  struct vdbq_batch *batch, struct error *error)
{
    uint32_t rows = (uint32_t)apart->view.rows;
    enum vdbq_status status =
        take_listed(apart, &apart->mine, apart->list, count, batch, error);
    if (status == VDBQ_OK)
        status = window_select_add(apart->select, batch, error);
    return status == VDBQ_OK
               ? take_listed(apart, &apart->others, apart->list + rows,
                             rows - count, batch, error)
               : status;
}

/* Makes a view of the rows that came, and room for their list. */
static enum vdbq_status look_at(struct window_apart *apart,
                                const struct vdbq_batch *batch,
                                struct error *error)
{
    assert(batch->rows > 0);
    if (batch->rows > apart->list_room) {
        memory_release(apart->list);
        apart->list =
            memory_resize(NULL, 2 * batch->rows * sizeof *apart->list);
        apart->list_room = apart->list != NULL ? batch->rows : 0;
    }
    if (apart->list == NULL)
        return error_no_memory(error);
    row_set_view(&apart->view, batch, 0, batch->rows);
    return apart->first.rows == 0
               ? row_set_append_part(&apart->first, batch, 0, 1, error)
               : VDBQ_OK;
}

enum vdbq_status window_apart_add(struct window_apart *apart,
                                  struct vdbq_batch *batch, struct error *error)
{
    enum vdbq_status status = look_at(apart, batch, error);
    if (status != VDBQ_OK)
        return status;
    uint32_t mine = list_rows(apart);
    apart->rows += mine;
    if (mine == 0)
        return VDBQ_OK;
    if (mine < batch->rows)
        return take_some(apart, mine, batch, error);
    status = window_select_add(apart->select, batch, error);
    batch->rows = 0;
    return status;
}

enum vdbq_status window_apart_end(struct window_apart *apart,
                                  struct error *error)
{
    assert(apart->rows > 0);
    return window_select_end(apart->select, error);
}

enum vdbq_status window_apart_batch(struct window_apart *apart,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    return window_select_batch(apart->select, batch, error);
}
