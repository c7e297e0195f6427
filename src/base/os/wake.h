/* SPDX-License-Identifier: MIT */
/*
 * Waking connections to a file that wait for one another, in whatever processes
 * of this machine, as struct os_file_calls has it. What waits is woken as a rule,
 * and sees by itself that it waits no longer than it wants to.
 */
#ifndef VDBQ_BASE_WAKE_H
#define VDBQ_BASE_WAKE_H

#include <stdint.h>

/* Where those meet who have a file open; zeroed at first. */
struct wake {
    void *page; /* the file's first, mapped; NULL: not yet */
};

/* Waits until somebody wakes that place, for so long at most. */
void wake_wait(struct wake *wake, int descriptor, unsigned place, uint64_t ns);
/* Waits where nobody wakes anybody: for so long, or less. */
void wake_sleep(uint64_t ns);
/* Wakes all who wait at that place, one of 32. */
void wake_all(struct wake *wake, int descriptor, unsigned place);
/* Before the file is closed, which a mapping would keep open. */
void wake_finish(struct wake *wake);

#endif
