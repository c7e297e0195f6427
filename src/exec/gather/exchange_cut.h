/* SPDX-License-Identifier: MIT */
/*
 * Blocks of rows, cut by the ranks that the hashes of their keys name; without keys
 * each rank gets the block. Of a text its bytes are hashed, for each rank has numbers
 * of its own for words.
 */
#ifndef VDBQ_EXEC_EXCHANGE_CUT_H
#define VDBQ_EXEC_EXCHANGE_CUT_H

#include "exec/rows/row_index.h"
#include "exec/stream/stream_inner.h"

enum { EXCHANGE_BLOCK = 1 << 16 }; /* rows that are cut at once */

struct exchange_cut {
    const struct stream *stream; /* the exchange                            */
    unsigned key_count;
    struct row_set_column *keys; /* of the block at hand                    */
    uint32_t **hashes; /* of its texts: of each key; NULL: it is none        */
    uint32_t *targets; /* of its rows: the rank of each                     */
    uint32_t *rows;    /* ... rows of the batch, those of a rank together   */
    uint64_t *ends;    /* ... by rank: where these end                      */
    uint64_t count;    /* of the block's rows                               */
};

/* exchange_cut_finish() is due whatever it returns, and accepts a zeroed struct.
 * Fails with NO_MEMORY. */
enum vdbq_status exchange_cut_init(struct exchange_cut *cut,
                                   const struct stream *stream,
                                   struct error *error);
void exchange_cut_finish(struct exchange_cut *cut);

/* Cuts rows [first, first + count) of a batch of the exchange's input. */
void exchange_cut_block(struct exchange_cut *cut,
                        const struct vdbq_batch *batch, uint64_t first,
                        uint64_t count);
/* The rows of a rank then, and how many. */
const uint32_t *exchange_cut_rows(const struct exchange_cut *cut, unsigned rank,
                                  uint64_t *count);

#endif
