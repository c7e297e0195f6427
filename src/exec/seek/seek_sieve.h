/* SPDX-License-Identifier: MIT */
/*
 * Passing over tablets: where few values are looked up in the first key of runs, and
 * there are many tablets, sieves tell which of these have none of them.
 */
#ifndef VDBQ_EXEC_SEEK_SIEVE_H
#define VDBQ_EXEC_SEEK_SIEVE_H

#include "exec/seek/seek_find.h"

/* Asks for what is looked up, and gives the look-up's number. 0: it is not such. */
uint64_t seek_sieve_ask(const struct seek_work *work);
/* Whether a tablet, or the base of its edit, has none of it. */
bool seek_sieve_lacks(const struct seek_work *work,
                      const struct tablet_ref *ref);
/* A job was searched, whose run and columns are still there: where that was in vain
 * often enough, its values are sieved. */
void seek_sieve_note(const struct seek_work *work, const struct seek_job *job);

#endif
