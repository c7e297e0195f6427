/* SPDX-License-Identifier: MIT */
/*
 * A round's rows. Once some went to the file all others do, so that they come back in
 * their order.
 */
#include "exec/recurse/recurse_round.h"

#include <assert.h>

#include "exec/rows/rescan.h"

enum { BLOCK_BYTES = 256 << 10 }; /* of rows in the file, at most */
enum { ROWS_HELD = 1 << 12 };     /* whose memory stays for the next round */

enum vdbq_status recurse_round_init(struct recurse_round *round,
                                    const struct stream_params *params,
                                    const struct step *step,
                                    struct error *error)
{
    *round = (struct recurse_round){
        .memory = { .account = params->account },
        .row_bytes = spill_row_bytes(step->columns, step->column_count, NULL),
        .params = params,
        .columns = step->columns,
    };
    return row_set_init(&round->rows, step->columns, step->column_count, error);
}

/* Leaves the file, if there is one. */
static void close_file(struct recurse_round *round)
{
    if (round->in_file)
        spill_finish(&round->file);
    round->in_file = false;
}

void recurse_round_finish(struct recurse_round *round)
{
    close_file(round);
    row_set_finish(&round->rows);
    account_give_all(&round->memory);
}

void recurse_round_clear(struct recurse_round *round)
{
    close_file(round);
    round->rows.rows = 0;
    if (round->rows.rows_room <= ROWS_HELD)
        return;
    row_set_clear(&round->rows);
    account_give_all(&round->memory);
}

/* ----------------------------------------------------------------- add -- */

/* Counts the memory that the rows have; false: there is no room for it. */
static bool count_rows(struct recurse_round *round)
{
    uint64_t bytes = round->rows.rows_room * round->row_bytes;
    uint64_t before = round->memory.used_bytes;

    if (bytes <= before || account_take(&round->memory, bytes - before))
        return true;
    if (bytes > account_least(&round->memory))
        return false;
    account_take_anyway(&round->memory, bytes - before);
    return true;
}

static enum vdbq_status open_file(struct recurse_round *round,
                                  struct account_share *told,
                                  struct error *error)
{
    uint64_t least = account_least(&round->memory);

    round->in_file = true;
    return spill_init(
        &round->file,
        &(struct spill_params){ .files = round->params->files,
                                .memory = told,
                                .columns = round->columns,
                                .column_count = round->rows.column_count,
                                .plain = true,
                                .partitions = 1,
                                .block_bytes =
                                    least < BLOCK_BYTES ? least : BLOCK_BYTES },
        error);
}

/* Writes the rows at hand to the file, where memory has no room for all. */
static enum vdbq_status put_aside(struct recurse_round *round,
                                  struct account_share *told,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    bool first = !round->in_file;

    if (first && count_rows(round))
        return VDBQ_OK;
    if (first)
        status = open_file(round, told, error);
    if (status == VDBQ_OK)
        status = spill_add(&round->file, 0,
                           &(struct spill_rows){ .from = &round->rows,
                                                 .count = round->rows.rows },
                           error);
    if (first) /* all that there was; from now on a batch at a time */
        row_set_clear(&round->rows);
    if (first)
        account_give_all(&round->memory);
    round->rows.rows = 0;
    return status;
}

enum vdbq_status recurse_round_add(struct recurse_round *round,
                                   struct account_share *told,
                                   const struct vdbq_batch *batch,
                                   uint64_t first, uint64_t rows,
                                   struct error *error)
{
    uint64_t room = round->rows.rows_room;
    enum vdbq_status status =
        row_set_append_part(&round->rows, batch, first, rows, error);

    if (status != VDBQ_OK || (!round->in_file && room == round->rows.rows_room))
        return status;
    return put_aside(round, told, error);
}

enum vdbq_status recurse_round_end(struct recurse_round *round,
                                   struct error *error)
{
    if (!round->in_file)
        return VDBQ_OK;
    row_set_clear(&round->rows);
    return spill_end(&round->file, error);
}

uint64_t recurse_round_rows(const struct recurse_round *round)
{
    return round->in_file ? spill_rows(&round->file, 0) : round->rows.rows;
}

/* ---------------------------------------------------------------- read -- */

void recurse_reader_begin(struct recurse_reader *reader)
{
    if (reader->open)
        spill_reader_finish(&reader->file);
    reader->open = false;
    reader->next = 0;
}

void recurse_reader_finish(struct recurse_reader *reader)
{
    recurse_reader_begin(reader);
    memory_release(reader->vectors);
    reader->vectors = NULL;
}

static enum vdbq_status file_batch(struct recurse_reader *reader,
                                   const struct recurse_round *round,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (!reader->open)
        status = spill_reader_init(
            &reader->file,
            &(struct spill_range){ .spill = &round->file,
                                   .rows = spill_rows(&round->file, 0) },
            error);
    reader->open = true;
    return status == VDBQ_OK ? spill_read(&reader->file, batch, error) : status;
}

enum vdbq_status recurse_reader_batch(struct recurse_reader *reader,
                                      const struct recurse_round *round,
                                      struct vdbq_batch *batch,
                                      struct error *error)
{
    if (round->in_file)
        return file_batch(reader, round, batch, error);
    if (reader->vectors == NULL)
        reader->vectors =
            memory_zeroed(round->rows.column_count, sizeof *reader->vectors);
    if (reader->vectors == NULL)
        return error_no_memory(error);
    rescan_rows(&round->rows, &reader->next, reader->vectors, batch);
    return VDBQ_OK;
}
