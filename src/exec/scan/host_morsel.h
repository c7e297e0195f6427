/* SPDX-License-Identifier: MIT */
/*
 * Morsels of rows that the host has, for a program of the machine: columns are
 * put side by side into pinned memory, those alone that the program reads,
 * and launched. The first morsel is small and the next ones are larger, so
 * that few rows cost little and many are run in long launches.
 */
#ifndef VDBQ_EXEC_HOST_MORSEL_H
#define VDBQ_EXEC_HOST_MORSEL_H

#include "exec/build_side/build_side.h"
#include "exec/rows/row_set.h"
#include "exec/launch/launcher.h"
#include "exec/stream/stream.h"
#include "exec/dictionary/run_dictionary.h"

struct host_morsel {
    struct device_memory *memory; /* NULL: none yet                       */
    /* rows that the memory has room for, a multiple of 64 */
    uint64_t rows_room;
    uint64_t rows; /* that are there */
    bool *nulls;   /* per input: whether it has NULL bits     */
};

/* A column that the program reads, in every morsel. */
struct host_morsel_input {
    int column;     /* of the rows; -1: their number                     */
    unsigned width; /* of a value in bytes                               */
    /* of a text's codes: what the program knows each by; NULL: by itself, or the
     * launch has a table of that                                            */
    const i32 *numbers;
    u32 number_count; /* of `numbers`; codes behind them are 0 */
};

struct host_morsels {
    struct launcher *launcher; /* takes one morsel a launch */
    struct run_place place;    /* its device owns the memory */
    /* of the program, which the launcher owns */
    const struct program_pack *pack;
    struct host_morsel_input *inputs; /* one for each of the pack's          */
    struct column_input *places;      /* of the launch at hand               */
    /* as many as the launcher has launches */
    struct host_morsel ring[LAUNCHER_RING_MAX];
    unsigned first;                   /* the oldest in flight                */
    unsigned threads;                 /* that fill a morsel, at most         */
    uint64_t rows_room;               /* of the morsel that is filled next    */
    uint64_t rows_most;               /* ... that it may ever have            */
    uint64_t rows_started;            /* numbers the rows of the next morsel */
    uint64_t bytes_started;           /* for the statistics */
    struct run_dictionary dictionary; /* zeroed: the program needs none      */
    /* of launches over morsels; NULL: none is needed                        */
    const struct order_codes *order_codes;
    struct arena arena; /* of all arrays */
};

struct host_morsels_params {
    const struct stream_params *stream;     /* of the query's run          */
    const struct run_place *place;          /* where the program runs; copied */
    const struct program *program;          /* checked; its first table is that
                                           of the rows                 */
    struct build_side *build_side;          /* rows that it probes, put in place
                                           here; NULL: none            */
    struct dictionary *const *dictionaries; /* of each column of the rows; NULL
                                           for those that are no text   */
    const uint8_t *texts; /* enum texts_use, what is asked of each result; NULL:
                             anything                                       */
    uint64_t rows;        /* about how many there will be */
    bool most_live;       /* as of the launcher           */
};

/* host_morsels_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status host_morsels_init(struct host_morsels *morsels,
                                   const struct host_morsels_params *params,
                                   struct error *error);
/* Waits for what is in flight. */
void host_morsels_finish(struct host_morsels *morsels);

/* Whether they may be opened once more as they are: nothing is in flight, they have
 * little memory, no words, and no rows that are probed. */
bool host_morsels_can_rest(const struct host_morsels *morsels);
/* Opens morsels that can rest for rows, and values of parameters, of other params;
 * program and device are those that they have. On failure they are to be finished. */
enum vdbq_status host_morsels_again(struct host_morsels *morsels,
                                    const struct host_morsels_params *params,
                                    struct error *error);

/* Whether another morsel may be filled and started now. */
bool host_morsels_have_room(const struct host_morsels *morsels);
/* The morsel to fill, empty, held by the host. There must be room. */
enum vdbq_status host_morsels_begin(struct host_morsels *morsels,
                                    struct host_morsel **morsel,
                                    struct error *error);
/* Where an input's values start in a morsel, and behind them its NULL bits; the
 * number of inputs gives the size of all. Offset 0 is left out: it means that
 * there are no NULLs. */
u64 host_morsel_values_at(const struct host_morsels *morsels,
                          const struct host_morsel *morsel, unsigned input);
u64 host_morsel_nulls_at(const struct host_morsels *morsels,
                         const struct host_morsel *morsel, unsigned input);
/* Adds rows [first, first + rows) of a batch; they must fit. */
void host_morsel_add(const struct host_morsels *morsels,
                     struct host_morsel *morsel, const struct vdbq_batch *batch,
                     uint64_t first, uint64_t rows);
/* Puts rows of a row set, by number, into the inputs of columns
 * [first, first + columns of the row set), from the morsel's row 0 on. */
void host_morsel_pick(const struct host_morsels *morsels,
                      struct host_morsel *morsel, unsigned first,
                      const struct row_set *from, const uint32_t *rows,
                      uint64_t count);
/* Launches the morsel; it has rows. */
enum vdbq_status host_morsels_start(struct host_morsels *morsels,
                                    struct error *error);

/* The same with rows [first, first + rows) of those that the device has, in
 * place of a morsel; no more than one launch takes. They stay as they are until
 * nothing is in flight. */
enum vdbq_status host_morsels_start_rows(struct host_morsels *morsels,
                                         const struct sink_rows *from,
                                         uint64_t first, uint64_t rows,
                                         struct error *error);

/* Morsels in flight. */
unsigned host_morsels_in_flight(const struct host_morsels *morsels);
/* The next result rows of the oldest; rows 0: it has no more, and is in
 * flight no longer. */
enum vdbq_status host_morsels_batch(struct host_morsels *morsels,
                                    struct vdbq_batch *batch,
                                    struct error *error);

/* As launcher_stays(). */
bool host_morsels_stay(const struct host_morsels *morsels);

void host_morsels_stats(const struct host_morsels *morsels,
                        struct vdbq_stats *stats);

#endif
