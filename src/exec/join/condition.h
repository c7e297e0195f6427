/* SPDX-License-Identifier: MIT */
/*
 * The condition of a join: its program, made to tell which pairs of rows it
 * keeps, and run over candidates.
 */
#ifndef VDBQ_EXEC_CONDITION_H
#define VDBQ_EXEC_CONDITION_H

#include "exec/scan/host_morsel.h"

struct condition {
    struct program program; /* gives the numbers of the rows that it keeps */
    struct host_morsels morsels; /* pairs on their way through the program */
    unsigned threads;       /* that take pairs and mark them, at most      */
    uint64_t room;          /* of these:                                   */
    uint32_t *left, *right; /* rows of the pairs of a morsel               */
    uint32_t *at;           /* ... and their places among the candidates   */
};

/* Makes the program that gives the number of each row that a condition of the plan
 * keeps; program_finish() is due whatever it returns. */
enum vdbq_status condition_program(const struct program *from,
                                   struct program *made, struct error *error);

struct condition_params {
    const struct stream_params *stream; /* of the join */
    const struct program *program;      /* of the plan, with columns of pairs */
    const struct row_set *left, *right; /* with the words of all rows      */
    uint64_t pairs;                     /* about how many there will be    */
};
/* condition_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status condition_init(struct condition *condition,
                                const struct condition_params *params,
                                struct error *error);
void condition_finish(struct condition *condition);

/* Candidates: pairs of row numbers; those of which `right_rows` is
 * ROW_SET_NO_ROW are no pairs. */
struct condition_pairs {
    const struct row_set *left, *right; /* the two sides */
    /* one a pair; RELATION_NO_ROW on the right: none */
    const uint32_t *left_rows, *right_rows;
    uint64_t count; /* of pairs */
};
/* Sets kept[i] to whether pair i matches, for those that are pairs. Where it
 * fails for a pair, that is pair `*judged`, and those before it are set. */
enum vdbq_status condition_run(struct condition *condition,
                               const struct condition_pairs *pairs,
                               uint8_t *kept, uint64_t *judged,
                               struct error *error);

#endif
