/* SPDX-License-Identifier: MIT */
/*
 * Chunks: rows that the host has, handed to a program of the machine: columns
 * are put side by side into pinned memory, those alone that the program reads,
 * and launched. The first chunk is small and the next ones are larger, so
 * that few rows cost little and many are run in long launches.
 */
#ifndef VDBQ_EXEC_CHUNK_H
#define VDBQ_EXEC_CHUNK_H

#include "exec/build_side/build_side.h"
#include "exec/rows/row_set.h"
#include "exec/launch/launcher.h"
#include "exec/stream/stream.h"
#include "exec/dictionary/run_dictionary.h"

struct chunk {
    struct device_memory *memory; /* NULL: none yet                       */
    uint64_t rows_room;
    uint64_t rows;
    bool *nulls; /* per input: whether it has NULL bits   */
};

/* A column that the program reads, in every chunk. */
struct chunk_input {
    int column;     /* of the rows; -1: their number                     */
    unsigned width; /* of a value in bytes                               */
};

struct chunks {
    struct launcher *launcher;
    enum run_mode mode;
    struct device *device;
    bool takes; /* it takes result rows itself         */
    const struct program_pack *pack;
    struct chunk_input *inputs;  /* one for each of the pack's        */
    struct column_input *places; /* of the launch at hand       */
    struct chunk ring[LAUNCHER_RING_MAX];
    unsigned first;     /* the oldest in flight                */
    uint64_t rows_room; /* of the chunk that is filled next    */
    uint64_t rows_started;
    uint64_t bytes_started;
    struct run_dictionary dictionary; /* zeroed: the program needs none      */
    struct arena arena;
};

struct chunk_params {
    const struct stream_params *stream;     /* for its choose              */
    const struct program *program;          /* checked; its first table is that
                                           of the rows                 */
    struct build_side *build_side;          /* rows that it probes, put in place
                                           here; NULL: none            */
    struct dictionary *const *dictionaries; /* of each column of the rows; NULL
                                           for those that are no text   */
    uint64_t rows;                          /* about how many there will be */
    bool most_live;                         /* as of the launcher           */
};

/* chunks_finish() is due whatever it returns, and accepts a zeroed struct. */
enum vdbq_status chunks_init(struct chunks *chunks,
                             const struct chunk_params *params,
                             struct error *error);
/* Waits for what is in flight. */
void chunks_finish(struct chunks *chunks);

/* Whether another chunk may be filled and started now. */
bool chunks_have_room(const struct chunks *chunks);
/* The chunk to fill, empty, held by the host. There must be room. */
enum vdbq_status chunks_begin(struct chunks *chunks, struct chunk **chunk,
                              struct error *error);
/* Adds rows [first, first + rows) of a batch; they must fit. */
void chunk_add(const struct chunks *chunks, struct chunk *chunk,
               const struct vdbq_batch *batch, uint64_t first, uint64_t rows);
/* Puts rows of a row set, by number, into the inputs of columns
 * [first, first + columns of the row set), from the chunk's row 0 on. */
void chunk_pick(const struct chunks *chunks, struct chunk *chunk,
                unsigned first, const struct row_set *from,
                const uint32_t *rows, uint64_t count);
/* Launches the chunk; it has rows. */
enum vdbq_status chunks_start(struct chunks *chunks, struct error *error);

/* The same with rows [first, first + rows) of those that the device has, in
 * place of a chunk; no more than one launch takes. They stay as they are until
 * nothing is in flight. */
enum vdbq_status chunks_start_rows(struct chunks *chunks,
                                   const struct sink_rows *from, uint64_t first,
                                   uint64_t rows, struct error *error);

/* Chunks in flight. */
unsigned chunks_in_flight(const struct chunks *chunks);
/* The next result rows of the oldest; rows 0: it has no more, and is in
 * flight no longer. */
enum vdbq_status chunks_batch(struct chunks *chunks, struct vdbq_batch *batch,
                              struct error *error);

void chunks_stats(const struct chunks *chunks, struct vdbq_stats *stats);

#endif
