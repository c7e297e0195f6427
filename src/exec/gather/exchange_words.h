/* SPDX-License-Identifier: MIT */
/*
 * Words that rows need which go to other ranks. A rank sends each word of its
 * input's columns to another one once at most, in front of the first rows that
 * have it; rows have the sender's numbers. Who receives words gathers them, and
 * when no more come makes those of all ranks its own: it has the words of its rows
 * and no others.
 */
#ifndef VDBQ_EXEC_EXCHANGE_WORDS_H
#define VDBQ_EXEC_EXCHANGE_WORDS_H

#include "data/tablet/gather.h"
#include "exec/gather/message.h"
#include "exec/stream/stream_inner.h"

/* The first item of a message with words, where another has how many rows. */
#define EXCHANGE_WORDS UINT64_MAX

/* What the numbers of a column's words of one rank become: places in the gather,
 * and in the end numbers of the words of all. */
struct exchange_numbers {
    uint32_t *numbers; /* paged; NULL: no word came    */
    uint64_t count;    /* of the words that it has     */
};

struct exchange_words {
    const struct stream *stream; /* the exchange                           */
    unsigned ranks;
    unsigned columns; /* of its input                                      */
    uint8_t **sent;   /* [rank * columns + column]: a bit for each word of the
                         input that is there; paged. NULL: none is         */
    struct exchange_numbers *numbers; /* of rank's words, likewise         */
    struct gather *gathers;           /* of each column                    */
    struct dictionary **joined; /* of each column, held; NULL: no text     */
    uint32_t *fresh;            /* words of one message                    */
};

/* For blocks of so many rows. exchange_words_finish() is due whatever it returns,
 * and accepts a zeroed struct. Fails with NO_MEMORY. */
enum vdbq_status exchange_words_init(struct exchange_words *words,
                                     const struct stream *stream,
                                     uint64_t block_rows, struct error *error);
void exchange_words_finish(struct exchange_words *words);

/* Whether a column's words travel. */
bool exchange_words_travel(const struct exchange_words *words, unsigned column);

/* Rows of a column of a batch that go to a rank. */
struct exchange_pick {
    unsigned to;
    unsigned column; /* its number */
    const struct vdbq_vector *vector;
    const uint32_t *rows; /* a block at most */
    uint64_t count;       /* of `rows` */
};
/* Writes a message with words that the rank lacks of rows [*at, ...), and moves
 * `*at` behind those whose words it has then; no bytes: it lacks none. Fails with
 * NO_MEMORY. */
enum vdbq_status exchange_words_pack(struct exchange_words *words,
                                     const struct exchange_pick *pick,
                                     uint64_t *at,
                                     struct message_writer *writer,
                                     struct error *error);
/* Takes such a message of a rank, behind its first item. Fails with NO_MEMORY,
 * and as message_check(). */
enum vdbq_status exchange_words_take(struct exchange_words *words,
                                     struct message_reader *reader,
                                     struct error *error);
/* No more come. Fails with NO_MEMORY, also where words are more than 4 GiB, and
 * CANCELLED. */
enum vdbq_status exchange_words_end(struct exchange_words *words,
                                    struct error *error);
/* Gives values of a column that came of a rank their numbers then; those that are
 * none, as of NULLs, get any; a thread that is asked to stop leaves some out. */
void exchange_words_follow(const struct exchange_words *words, unsigned from,
                           unsigned column, uint32_t *values, uint64_t rows);

#endif
