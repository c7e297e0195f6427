/* SPDX-License-Identifier: MIT */
/*
 * Keeps what POCL compiles. Its files appear in the scratch folder, those of a
 * program in a folder two levels down whose name only POCL knows, the last of
 * them when a kernel is first launched. They are put into the kernel cache
 * (cache.h), under the program's key, as one entry (bundle.h), which is
 * checked as any other is, and from there back into the folder before the
 * program is built again.
 *
 * Nothing here is an error: what goes wrong means "build from source".
 */
#ifndef VDBQ_DEVICE_KEEP_H
#define VDBQ_DEVICE_KEEP_H

#include <stdbool.h>

#include "base/text.h"

/* Whether POCL's files are ours to keep. */
bool keep_is_on(void);

/* To be called before and after the program of this key is built, which is
 * known by its address from then on; NULL: the build has failed. In between no
 * other thread builds. */
void keep_before(const struct text *key);
void keep_after(const struct text *key, const void *program);

/* Of the build at hand, between these two. Adds the program as POCL's front end left
 * it in its folder, LLVM's bitcode; false: there is none. */
bool keep_bitcode(struct text *bitcode);
/* Puts other bitcode there; false: it could not be written. */
bool keep_replace(const struct text *bitcode);
/* Whether POCL has just built in another folder, which is at hand from then on. */
bool keep_moved(void);
/* Marks the folder at hand, and has the marked one at hand again. */
void keep_mark(void);
void keep_return(void);

/* A kernel of the program was launched, and has ended: what is new is kept. */
void keep_launched(const void *program);
/* It is about to be released. */
void keep_forget(const void *program);

#endif
