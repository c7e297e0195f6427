/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that a child of fork() does not keep. What is locked through one
 * stays locked as long as any process has it: a child that lived longer than
 * its parent would keep a database locked for good.
 */
#ifndef VDBQ_BASE_INHERIT_H
#define VDBQ_BASE_INHERIT_H

/* A descriptor, its owner's; -1 once it is closed, be it in a child. */
struct own_descriptor {
    int number;
    struct own_descriptor *next, *previous; /* of the process */
};

/* Takes an open descriptor over. */
void own_open(struct own_descriptor *descriptor, int number);
void own_close(struct own_descriptor *descriptor);

#endif
