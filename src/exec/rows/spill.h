/* SPDX-License-Identifier: MIT */
/*
 * Rows put aside in a temporary file, in partitions: what is added to a
 * partition comes back in that order. Beside its columns each row has a number,
 * unless nobody asks for these.
 * A partition's rows go to the file in blocks; of columns that nobody reads
 * nothing is kept.
 *
 * A block in the file:
 *
 *     offset  size               what
 *     0       columns + 1        of each column, then of the rows' numbers: bytes of a
 *                                value in the file, with SPILL_NULLS where there are
 *                                NULL flags; padded to 8 bytes
 *     ...     spill_pack_size()  the rows' numbers, if they have some
 *     ...     spill_pack_size()  a column that is kept: its values
 *     ...     rows               ... its flags, padded to 8 bytes
 */
#ifndef VDBQ_EXEC_SPILL_H
#define VDBQ_EXEC_SPILL_H

#include "exec/rows/row_set.h"
#include "exec/rows/spill_file.h"

enum { SPILL_NULLS = 0x10 };

struct spill {
    struct spill_file file;            /* of all blocks */
    const struct step_column *columns; /* of the rows; the caller's */
    unsigned column_count;             /* of `columns` */
    const bool *reads;        /* of each column: it is kept               */
    bool plain;               /* rows have no numbers                     */
    uint64_t row_bytes;       /* of what is kept of a row, with its number */
    uint32_t block_rows;      /* of a full block */
    uint8_t *block;           /* one that is written                      */
    struct vector partitions; /* of struct spill_partition                */
};

/* What is needed to make one; `columns` and `reads` outlive it. */
struct spill_params {
    const struct os_file_calls *files; /* NULL: os_temporary_files        */
    struct account_share *memory;      /* of the step it is for; or NULL  */
    const struct step_column *columns; /* of the rows; they outlive this */
    unsigned column_count;             /* of `columns` */
    const bool *reads;    /* of each column: it is kept; NULL: all are */
    bool plain;           /* rows have no numbers */
    unsigned partitions;  /* partitions, from 0 */
    uint64_t block_bytes; /* about                           */
};
/* spill_finish() is due whatever it returns, and accepts a zeroed struct. */
enum vdbq_status spill_init(struct spill *spill,
                            const struct spill_params *params,
                            struct error *error);
void spill_finish(struct spill *spill);

/* Bytes that are kept of a row. */
uint64_t spill_row_bytes(const struct step_column *columns, unsigned count,
                         const bool *reads);

/* Adds an empty partition, behind the others. */
enum vdbq_status spill_partition_add(struct spill *spill, struct error *error);
uint64_t spill_rows(const struct spill *spill, unsigned partition);

/* Rows of a row set, which has the spill's columns first. */
struct spill_rows {
    const struct row_set *from; /* the rows are some of these */
    const uint32_t *rows;       /* their numbers there; NULL: [0, count)      */
    const uint64_t *numbers;    /* of each row of `from`; NULL: consecutive   */
    uint64_t number;            /* ... from this one of its first row on      */
    uint64_t count;             /* of `rows` */
};
/* Adds rows to a partition. */
enum vdbq_status spill_add(struct spill *spill, unsigned partition,
                           const struct spill_rows *rows, struct error *error);
/* The same by one of several threads that add to different partitions, which have
 * room. `*block` is what the thread writes. */
enum vdbq_status spill_add_beside(struct spill *spill, unsigned partition,
                                  const struct spill_rows *rows,
                                  uint8_t **block, struct error *error);
/* Memory for these, made by one thread: what several make stays scattered over what
 * the C library has for each. Of a partition, where it has none; and a block, to be
 * released; NULL: no memory. */
enum vdbq_status spill_make_room(struct spill *spill, unsigned partition,
                                 struct error *error);
uint8_t *spill_make_block(const struct spill *spill);
/* Writes what is left of a partition, and frees its memory; nothing may be
 * added to it any more. */
enum vdbq_status spill_partition_end(struct spill *spill, unsigned partition,
                                     struct error *error);
enum vdbq_status spill_end(struct spill *spill, struct error *error);

/* Reads a partition, which was ended, block by block. */
struct spill_reader {
    const struct spill *spill; /* all its rows were added */
    unsigned partition;        /* partition that it reads */
    size_t block;              /* the next one                               */
    uint32_t skip;             /* rows of it that were given already         */
    uint64_t rows_left;        /* to give out                                */
    uint8_t *memory;           /* values of a block, unpacked               */
    uint64_t room;             /* ... bytes                                  */
    uint8_t *head;             /* of that block: how wide values were       */
    void *blank;               /* values of columns that were not kept       */
    struct vdbq_vector *vectors; /* the columns, then the numbers          */
};
/* Rows [first, first + rows) of a partition. */
struct spill_range {
    const struct spill *spill; /* all its rows were added */
    unsigned partition;        /* partition to read */
    uint64_t first, rows;      /* row of the partition, and how many */
};
/* spill_reader_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status spill_reader_init(struct spill_reader *reader,
                                   const struct spill_range *range,
                                   struct error *error);
void spill_reader_finish(struct spill_reader *reader);
/* Has it read other rows of the same spill. */
void spill_reader_seek(struct spill_reader *reader,
                       const struct spill_range *range);
/* Makes memory for any block, so that none is made while they are read. */
enum vdbq_status spill_reader_make_room(struct spill_reader *reader,
                                        uint32_t rows, struct error *error);
/* The next rows; rows 0: the end. They live until the next call. Behind the
 * columns stands a vector of numbers, uint64_t, unless rows are plain. */
enum vdbq_status spill_read(struct spill_reader *reader,
                            struct vdbq_batch *batch, struct error *error);

#endif
