/* SPDX-License-Identifier: MIT */
/*
 * The rows of one round of a recursion: in memory, or where the account has no room
 * for them in a temporary file. The memory of a round is that of the next one.
 */
#ifndef VDBQ_EXEC_RECURSE_ROUND_H
#define VDBQ_EXEC_RECURSE_ROUND_H

#include "exec/rows/spill.h"
#include "exec/stream/stream.h"

struct recurse_round {
    struct row_set rows;         /* all; of those in a file, those that were not
                                    written yet                          */
    struct account_share memory; /* of these */
    uint64_t row_bytes;          /* of one */
    struct spill file;           /* of others: they come first */
    bool in_file;                /* there are such, and memory has none now */
    const struct stream_params *params;
    const struct step_column *columns; /* of the step's: they outlive it */
};

/* Makes an empty one. recurse_round_finish() is due whatever it returns, and accepts
 * a zeroed struct. */
enum vdbq_status recurse_round_init(struct recurse_round *round,
                                    const struct stream_params *params,
                                    const struct step *step,
                                    struct error *error);
void recurse_round_finish(struct recurse_round *round);

/* Forgets all rows. */
void recurse_round_clear(struct recurse_round *round);
/* Adds rows [first, first + rows) of a batch; what goes to files is told of in
 * `told`. */
enum vdbq_status recurse_round_add(struct recurse_round *round,
                                   struct account_share *told,
                                   const struct vdbq_batch *batch,
                                   uint64_t first, uint64_t rows,
                                   struct error *error);
/* All rows were added: before they are read. */
enum vdbq_status recurse_round_end(struct recurse_round *round,
                                   struct error *error);
uint64_t recurse_round_rows(const struct recurse_round *round);

/* Reads the rows of a round, from the first one on. Zeroed, it has read none. */
struct recurse_reader {
    uint64_t next; /* row in memory */
    struct spill_reader file;
    bool open;                   /* ... it is */
    struct vdbq_vector *vectors; /* of the last batch */
};
void recurse_reader_begin(struct recurse_reader *reader);
void recurse_reader_finish(struct recurse_reader *reader);
/* The next rows; rows 0: the end. They live until the next call. */
enum vdbq_status recurse_reader_batch(struct recurse_reader *reader,
                                      const struct recurse_round *round,
                                      struct vdbq_batch *batch,
                                      struct error *error);

#endif
