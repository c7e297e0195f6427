/* SPDX-License-Identifier: MIT */
/*
 * The self-test's words.
 */
#ifndef VDBQ_TRIAL_SELFTEST_WORDS_H
#define VDBQ_TRIAL_SELFTEST_WORDS_H

#include "trial/selftest_run.h"

/* Asks words whether they match patterns, on the device, if it has kernels, and on
 * the host; reports a line. Fails with DEVICE and the first difference,
 * NO_MEMORY. */
enum vdbq_status selftest_words(struct selftest *test);

#endif
