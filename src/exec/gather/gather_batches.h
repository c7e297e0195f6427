/* SPDX-License-Identifier: MIT */
/*
 * Batches of the ranks' rows, for what gathers them: other ranks than 0 send
 * theirs, column by column as they are; rank 0 takes its own and those of each
 * rank. Texts have the words of all ranks.
 */
#ifndef VDBQ_EXEC_GATHER_BATCHES_H
#define VDBQ_EXEC_GATHER_BATCHES_H

#include "exec/gather/gather_words.h"
#include "exec/gather/message.h"

enum { GATHER_ROWS = 1 << 16 }; /* of a message at most */

struct gather_batches {
    struct stream *stream; /* the STEP_GATHER                            */
    struct gather_words words;
    uint32_t **room;     /* a column: new numbers of own texts           */
    uint64_t *rows_room; /* likewise: how many                           */
    uint8_t *blank;      /* values of columns that nobody reads          */
};

/* The rows of one rank: gather_source_finish() accepts a zeroed one. */
struct gather_source {
    unsigned rank;
    struct message_reader reader; /* of the message with those taken last  */
    struct vdbq_vector *vectors;  /* of the batch                          */
};

/* Joins the words of all ranks. gather_batches_finish() is due whatever it returns,
 * and accepts a zeroed struct. */
enum vdbq_status gather_batches_init(struct gather_batches *batches,
                                     struct stream *stream,
                                     struct error *error);
void gather_batches_finish(struct gather_batches *batches);

/* False: no memory. */
bool gather_source_init(struct gather_source *source,
                        const struct gather_batches *batches, unsigned rank);
void gather_source_finish(struct gather_source *source);

/* Of another rank than 0: sends all rows. */
enum vdbq_status gather_batches_send(struct gather_batches *batches,
                                     struct error *error);
/* Of rank 0: takes the next rows of a rank, which live until the next call for
 * the same one; rows 0: it has no more. */
enum vdbq_status gather_batches_take(struct gather_batches *batches,
                                     struct gather_source *source,
                                     struct vdbq_batch *batch,
                                     struct error *error);
/* The words of a text column. */
struct dictionary *
gather_batches_dictionary(const struct gather_batches *batches,
                          unsigned column);

#endif
