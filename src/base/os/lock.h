/* SPDX-License-Identifier: MIT */
/*
 * Locks on bytes of an open file, as struct os_file_calls has them. They
 * belong to the open file, not to the process, so that two connections of one
 * process see each other's.
 */
#ifndef VDBQ_BASE_LOCK_H
#define VDBQ_BASE_LOCK_H

#include "base/os/os.h"

int lock_set(int descriptor, unsigned byte, enum os_lock_kind kind);
bool lock_held(int descriptor, unsigned first, unsigned count);
int lock_mark(int descriptor, uint64_t mark);
void lock_unmark(int descriptor, uint64_t first, uint64_t count);
int lock_marked(int descriptor, uint64_t first, uint64_t end, uint64_t *mark);
bool lock_signature(int descriptor, struct os_holder *holder);

#endif
