/* SPDX-License-Identifier: MIT */
/*
 * Who reads or writes a database at this moment: for people to read.
 */
#ifndef VDBQ_DATA_USERS_H
#define VDBQ_DATA_USERS_H

#include "data/database/database.h"

/* What one connection does: it writes, or reads a state. */
struct database_user {
    int process;         /* its number; 0: not known, or of another machine or
                            container                                       */
    bool own;            /* it is this connection                           */
    bool writes;         /* else it reads                                   */
    uint64_t generation; /* of the state that it reads, or goes on from     */
    uint64_t behind;     /* how many commits came after that                */
    uint64_t since_ms;   /* when it began to read anything, or to write; since
                            1970, or 0: not known                          */
};
/* Adds them to a vector of struct database_user, this connection's first. Fails
 * with IO, CORRUPT, NO_MEMORY. */
enum vdbq_status database_users(struct database *database, struct vector *users,
                                struct error *error);

#endif
