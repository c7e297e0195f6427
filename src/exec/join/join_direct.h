/* SPDX-License-Identifier: MIT */
/*
 * Dense indexes of unique keys, made at once: a part of join_index.c.
 */
#ifndef VDBQ_EXEC_JOIN_DIRECT_H
#define VDBQ_EXEC_JOIN_DIRECT_H

#include "exec/join/join_index.h"

/* Whether so many threads should try it. */
bool join_direct_pays(const struct join_index *index, unsigned threads);
/* Makes starts, or, where nobody asks which row it is, bits. `unique`: there
 * are no equal keys, or they do not matter; else what was made is of no use. */
enum vdbq_status join_direct(struct join_index *index, bool which,
                             uint64_t rows, unsigned threads, bool *unique,
                             struct error *error);

#endif
