/* SPDX-License-Identifier: MIT */
#include "data/database/rows_gather.h"

/* Room for rows with such columns. */
static enum vdbq_status start(struct rows *rows,
                              const struct vdbq_vector *columns,
                              unsigned column_count, struct error *error)
{
    struct column *described = memory_zeroed(column_count, sizeof *described);
    struct table like = { .column_count = column_count, .columns = described };
    bool room = described != NULL;

    for (unsigned i = 0; room && i < column_count; i++)
        described[i].type = columns[i].type;
    room = room && rows_init(rows, &like);
    memory_release(described);
    return room ? VDBQ_OK : error_no_memory(error);
}

enum vdbq_status rows_gather(struct rows *rows,
                             const struct vdbq_vector *columns,
                             unsigned column_count, uint64_t first,
                             uint64_t count, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (rows->columns == NULL)
        status = start(rows, columns, column_count, error);
    if (status == VDBQ_OK && count > UINT32_MAX - rows->count)
        return error_set(error, VDBQ_LIMIT,
                         "one statement changes at most %u rows", UINT32_MAX);
    if (status == VDBQ_OK && !rows_add(rows, columns, first, (uint32_t)count))
        status = error_no_memory(error);
    return status;
}
