/* SPDX-License-Identifier: MIT */
/*
 * The self-test's searches.
 */
#ifndef VDBQ_TRIAL_SELFTEST_SEARCH_H
#define VDBQ_TRIAL_SELFTEST_SEARCH_H

#include "trial/selftest_run.h"

/* Searches columns of both types by both algorithms on the device, and compares
 * the answers with the host's; reports a line. Fails with DEVICE and the first
 * difference, NO_MEMORY. */
enum vdbq_status selftest_search(struct selftest *test);

#endif
