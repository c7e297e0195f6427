/* SPDX-License-Identifier: MIT */
/*
 * VACUUM: vacuum.h. Blocks move down while there are gaps that they fit in,
 * the last block first. Then gaps are left that are too small for any block
 * behind them. Where they are many bytes, blocks behind the first gap go to the
 * end of the file, so that it becomes a large one, and blocks move down again.
 */
#include "data/transaction/vacuum.h"

#include <assert.h>
#include <stdlib.h>

#include "base/threads/stop.h"
#include "data/database/states.h"
#include "data/tablet/block.h"
#include "data/transaction/transaction_inner.h"

enum {
    UPS_MAX = 64,           /* times that blocks go to the end              */
    GAP_SHARE = 8,          /* of all gaps' bytes: one that is not small    */
    ROUNDS_MAX = 1000,      /* commits: more are never of use               */
    WASTE_LEAST = 64 << 10, /* bytes of gaps that are left as they are ...   */
    WASTE_SHARE = 16        /* ... and one of so many that are in use        */
};

/* A block that the catalogue leads to. */
struct piece {
    uint64_t offset; /* where it is                              */
    uint64_t size;   /* whole pages                              */
    size_t table;    /* that has it, by its place in the catalogue; RUN: a
                        run                                      */
    size_t number;   /* of the tablet in the table, or of the run in the
                        catalogue; SAMPLE: it is the table's sample */
};
#define SAMPLE SIZE_MAX
#define RUN    SIZE_MAX

/* A commit of VACUUM. */
struct round {
    struct transaction *transaction;
    struct catalogue *next; /* in which blocks are elsewhere */
    struct vector pieces;   /* struct piece, by offset       */
    bool moved;             /* anything                      */
    unsigned *ups;          /* rounds that moved blocks up   */
};

/* --------------------------------------------------------------- pieces -- */

/* For qsort(). */
static int compare_pieces(const void *a, const void *b)
{
    const struct piece *left = a, *right = b;

    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* Lists the blocks of a table, but of tablets that got edits meanwhile; false: no
 * memory. */
static bool list_table(const struct catalogue *catalogue, size_t table,
                       struct vector *pieces)
{
    const struct table *of = &catalogue->tables[table];
    bool added = true;

    for (size_t i = 0; i < of->tablet_count && added; i++) {
        if (of->tablets[i].edit != NULL)
            continue;
        struct piece piece = { of->tablets[i].offset,
                               page_round(of->tablets[i].size_bytes), table,
                               i };
        added = vector_append(pieces, &piece, 1);
    }
    if (of->sample != NULL && added) {
        struct piece piece = { of->sample->offset,
                               page_round(of->sample->size_bytes), table,
                               SAMPLE };
        added = vector_append(pieces, &piece, 1);
    }
    return added;
}

static bool list_pieces(const struct catalogue *catalogue,
                        struct vector *pieces)
{
    bool added = true;

    for (size_t i = 0; i < catalogue->table_count && added; i++)
        added = list_table(catalogue, i, pieces);
    for (size_t i = 0; i < catalogue->run_count && added; i++) {
        struct piece piece = { catalogue->runs[i].offset,
                               page_round(catalogue->runs[i].size_bytes), RUN,
                               i };
        added = vector_append(pieces, &piece, 1);
    }
    if (pieces->count > 1)
        qsort(pieces->items, pieces->count, pieces->width, compare_pieces);
    return added;
}

/* --------------------------------------------------------------- moving -- */

/* Has the runs of a tablet belong to what it is from now on. They stand where they do
 * in the draft, whose runs are in order. */
static void rename_runs(const struct round *round, struct identity before,
                        struct identity tablet)
{
    size_t first,
        count = catalogue_runs_of(round->transaction->draft, before, &first);

    for (size_t i = first; i < first + count; i++)
        round->next->runs[i].tablet = tablet;
}

/* Copies a tablet, whose checksum is right, and has the next catalogue lead
 * to the copy: another tablet, whose place is its own (file rule 12). */
static enum vdbq_status move_tablet(struct round *round, struct table *table,
                                    struct tablet_ref *tablet, uint64_t to,
                                    struct error *error)
{
    struct writer *writer = &round->transaction->writer;
    struct file *file = &writer->database->file;
    struct block block = block_create(tablet->size_bytes);
    uint64_t size;
    const struct identity before = tablet->identity;
    enum vdbq_status status;

    if (block.bytes == NULL)
        return error_no_memory(error);
    status = file_read(file, block.bytes, block.size, tablet->offset, error);
    if (status == VDBQ_OK)
        status = tablet_check_block(writer->database, table, tablet, &block,
                                    &size, error);
    if (status == VDBQ_OK)
        status = file_write_block(file, &block, to, error);
    block_destroy(&block);
    if (status != VDBQ_OK)
        return status;
    tablet->offset = to;
    tablet->identity = identity_give(&writer->identities);
    rename_runs(round, before, tablet->identity);
    return VDBQ_OK;
}

/* Copies a run. One that is damaged stays so: it costs itself alone. */
static enum vdbq_status move_run(struct round *round, struct run_ref *run,
                                 uint64_t to, struct error *error)
{
    struct file *file = &round->transaction->writer.database->file;
    struct block block = block_create(run->size_bytes);
    enum vdbq_status status;

    if (block.bytes == NULL)
        return error_no_memory(error);
    status = file_read(file, block.bytes, block.size, run->offset, error);
    if (status == VDBQ_OK)
        status = file_write_block(file, &block, to, error);
    block_destroy(&block);
    if (status == VDBQ_OK)
        run->offset = to;
    return status;
}

/* Has the commit write a sample, where there is room for it then. */
static enum vdbq_status
move_sample(struct round *round, const struct table *table, struct error *error)
{
    struct sample *sample = sample_copy(table->sample);

    if (sample == NULL)
        return error_no_memory(error);
    catalogue_sample(round->next, table->id, sample);
    sample_release(sample);
    return VDBQ_OK;
}

/* Moves a block to `to`, or a sample to where the commit finds room. */
static enum vdbq_status move(struct round *round, const struct piece *piece,
                             uint64_t to, struct error *error)
{
    struct catalogue *next = round->next;
    struct table *table;
    enum vdbq_status status = stop_pause(error);

    if (status != VDBQ_OK)
        return status;
    round->moved = true;
    if (piece->table == RUN)
        return move_run(round, &next->runs[piece->number], to, error);
    table = &next->tables[piece->table];
    if (piece->number == SAMPLE)
        return move_sample(round, table, error);
    return move_tablet(round, table, &table->tablets[piece->number], to, error);
}

/* Moves blocks into gaps that lie before them, and the catalogue, which every
 * commit writes anew. */
static enum vdbq_status move_down(struct round *round, struct error *error)
{
    struct transaction *transaction = round->transaction;
    const struct database *database = transaction->writer.database;
    const struct file *file = &database->file;
    struct space *space = &transaction->writer.space;
    const struct piece *pieces = round->pieces.items;
    enum vdbq_status status = VDBQ_OK;
    uint64_t to;

    for (size_t i = round->pieces.count; i-- > 0 && status == VDBQ_OK;)
        if (space_find(space, pieces[i].size, &to) && to < pieces[i].offset) {
            if (pieces[i].number != SAMPLE)
                to = space_take(space, pieces[i].size);
            status = move(round, &pieces[i], to, error);
        }
    round->moved |= space_find(space, page_round(database->current_bytes), &to)
                    && to < file->heads[file->current].catalogue;
    return status;
}

/* Bytes of all gaps. */
static uint64_t count_gaps(const struct space *space)
{
    const struct extent *gap = space->gaps.items;
    uint64_t bytes = 0;

    for (size_t i = 0; i < space->gaps.count; i++)
        bytes += gap[i].size;
    return bytes;
}

/* The first gap that is not small beside all, or just the first. */
static bool find_start(const struct space *space, uint64_t *first)
{
    uint64_t size = count_gaps(space) / GAP_SHARE / PAGE_BYTES * PAGE_BYTES;

    return (size > 0 && space_find(space, size, first))
           || space_find(space, PAGE_BYTES, first);
}

/* Moves blocks behind a gap to the end, so many bytes that the gap is as large
 * as all gaps, and as the largest block, when they are gone. */
static enum vdbq_status move_up(struct round *round, uint64_t size,
                                struct error *error)
{
    struct space *space = &round->transaction->writer.space;
    const struct piece *pieces = round->pieces.items;
    uint64_t first, opened = 0;
    enum vdbq_status status = VDBQ_OK;

    if (!find_start(space, &first))
        return VDBQ_OK;
    ++*round->ups;
    for (size_t i = 0; i < round->pieces.count && status == VDBQ_OK; i++) {
        if (pieces[i].offset < first || pieces[i].number == SAMPLE)
            continue;
        if (opened >= size)
            break;
        opened += pieces[i].size;
        status = move(round, &pieces[i], space_take_last(space, pieces[i].size),
                      error);
    }
    return status;
}

/* --------------------------------------------------------------- rounds -- */

/* How large a gap has to be made for blocks to move down again; 0: what is free
 * is so little that it may stay, or somebody reads what would be moved. */
static uint64_t wanted_gap(const struct round *round)
{
    const struct transaction *transaction = round->transaction;
    const struct database *database = transaction->writer.database;
    const struct piece *pieces = round->pieces.items;
    uint64_t gaps = count_gaps(&transaction->writer.space);
    uint64_t all = 0, largest = 0;

    for (size_t i = 0; i < round->pieces.count; i++) {
        all += pieces[i].size;
        largest = pieces[i].size > largest ? pieces[i].size : largest;
    }
    if (gaps <= WASTE_LEAST || gaps <= all / WASTE_SHARE
        || database->older.count > 0 || database->snapshots.count > 0
        || !transaction->all_known || *round->ups == UPS_MAX)
        return 0;
    return gaps > largest ? gaps : largest;
}

/* The next state, whose tablets and runs have places of their own. NULL: no memory. */
static struct catalogue *next_state(const struct transaction *transaction)
{
    struct catalogue *next = transaction_next(transaction, 0);
    bool owns = next != NULL && catalogue_own_runs(next);

    for (size_t i = 0; owns && i < next->table_count; i++)
        owns = table_own_tablets(&next->tables[i]);
    if (owns)
        return next;
    catalogue_release(next);
    return NULL;
}

/* Moves what can be moved in one commit. */
static enum vdbq_status move_some(struct round *round, struct error *error)
{
    enum vdbq_status status;
    uint64_t size;

    round->next = next_state(round->transaction);
    if (round->next == NULL || !list_pieces(round->next, &round->pieces))
        return error_no_memory(error);
    status = move_down(round, error);
    size = wanted_gap(round);
    if (status == VDBQ_OK && !round->moved && size > 0)
        status = move_up(round, size, error);
    for (size_t i = 0; i < round->next->table_count; i++)
        table_count_rows(&round->next->tables[i]);
    catalogue_sort_runs(round->next);
    return status;
}

/* Cuts the file, when nothing is left to be moved. */
static void finish(struct transaction *transaction, struct vacuum *vacuum)
{
    const struct database *database = transaction->writer.database;
    const struct file *file = &database->file;
    uint64_t end = file->heads[file->current].end;
    struct error ignored;

    if (transaction->all_known)
        transaction_cut_all(transaction);
    if (file_size(file, &vacuum->after, &ignored) == VDBQ_OK)
        vacuum->read = vacuum->after > end ? vacuum->after - end : 0;
}

/* A commit, unless nothing moves. */
static enum vdbq_status step(struct database *database, struct vacuum *vacuum,
                             unsigned *ups, bool *moved, struct error *error)
{
    struct round round = { .pieces = VECTOR(struct piece), .ups = ups };
    enum vdbq_status status =
        transaction_begin(database, &round.transaction, error);

    *moved = false;
    if (status != VDBQ_OK)
        return status;
    round.transaction->writer.space.low = true;
    if (vacuum->before == 0)
        vacuum->before = round.transaction->size_before;
    status = move_some(&round, error);
    vector_finish(&round.pieces);
    *moved = round.moved && status == VDBQ_OK;
    if (*moved) {
        transaction_take(round.transaction, round.next);
        return transaction_commit(round.transaction, error);
    }
    catalogue_release(round.next);
    if (status == VDBQ_OK)
        finish(round.transaction, vacuum);
    transaction_abort(round.transaction);
    return status;
}

/* Writes what has edits anew, in a commit of its own. */
static enum vdbq_status fold_edits(struct database *database,
                                   struct error *error)
{
    struct transaction *transaction;
    enum vdbq_status status = transaction_begin(database, &transaction, error);

    if (status != VDBQ_OK)
        return status;
    transaction->writer.space.low = true; /* as in step() */
    for (size_t i = 0; i < transaction->draft->table_count && status == VDBQ_OK;
         i++)
        status = transaction_fold(transaction, transaction->draft->tables[i].id,
                                  error);
    if (status == VDBQ_OK)
        return transaction_commit(transaction, error);
    transaction_abort(transaction);
    return status;
}

/* Part files do not change, so that nothing would become shorter but `whole`. */
static enum vdbq_status check_parts(const struct database *database,
                                    struct error *error)
{
    uint64_t number;

    if (database_parts(database, &number) == 0)
        return VDBQ_OK;
    error_set(
        error, VDBQ_MISUSE,
        "%s: VACUUM makes a file shorter, and part files stay as they are",
        database_path(database));
    return error_hint(error, "distribute the database into a new folder: that "
                             "has what is needed alone");
}

enum vdbq_status database_vacuum(struct database *database,
                                 struct vacuum *vacuum, struct error *error)
{
    enum vdbq_status status = check_parts(database, error);
    unsigned ups = 0;
    bool moved = true;

    *vacuum = (struct vacuum){ 0 };
    if (status == VDBQ_OK)
        status = fold_edits(database, error);
    for (unsigned i = 0; i < ROUNDS_MAX && moved && status == VDBQ_OK; i++)
        status = step(database, vacuum, &ups, &moved, error);
    return status;
}
