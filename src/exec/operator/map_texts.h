/* SPDX-License-Identifier: MIT */
/*
 * The texts that a function of STEP_MAP gives for rows, portion by portion. Each
 * thread gathers those of neighbouring rows; a row has the place of its text in its
 * thread's gather until all are there, and then the number of a word.
 */
#ifndef VDBQ_EXEC_MAP_TEXTS_H
#define VDBQ_EXEC_MAP_TEXTS_H

#include "base/threads/parallel.h"
#include "data/tablet/gather.h"
#include "exec/operator/map_bests.h"
#include "exec/operator/map_firsts.h"

/* Neighbouring rows whose texts one gather has. */
struct map_stretch {
    uint64_t end;    /* row behind the last one, of all portions */
    unsigned gather; /* its number */
};

/* Zeroed, it has none. */
struct map_texts {
    struct gather gathers[PARALLEL_THREADS_MAX];    /* one a thread */
    struct map_firsts firsts[PARALLEL_THREADS_MAX]; /* likewise */
    struct map_bests bests[PARALLEL_THREADS_MAX];   /* likewise */
    unsigned count;          /* of those that have been used */
    bool is_given;           /* nobody compares the words (gather.h); stays */
    struct vector stretches; /* of struct map_stretch, in order */
    uint64_t rows;           /* of all stretches */
    uint64_t followed;       /* of them: map_texts_follow() was called for */
    size_t stretch;          /* that has the next one of these */
};

void map_texts_finish(struct map_texts *texts); /* accepts a zeroed one */

/* So many gathers, for the threads that compute a portion. */
struct gather *map_texts_gathers(struct map_texts *texts, unsigned count);
/* The next rows have places in a gather. False: no memory. */
bool map_texts_add(struct map_texts *texts, unsigned gather, uint64_t rows);

/* Makes words of all texts, for what is asked of their numbers; so many threads work
 * on it at most. NULL: no memory, more than 4 GiB, or asked to stop. */
struct dictionary *map_texts_words(struct map_texts *texts, enum texts_use use,
                                   struct step_firsts wanted, unsigned threads);
/* Then makes numbers of the places of the next rows; those that are NULL (where
 * `nulls` has a 1) keep what they have. */
void map_texts_follow(struct map_texts *texts, uint32_t *values,
                      const uint8_t *nulls, uint64_t rows);

#endif
