/* SPDX-License-Identifier: MIT */
/*
 * Rows that several steps read: a step's rows are made once.
 */
#ifndef VDBQ_EXEC_STREAM_SHARE_H
#define VDBQ_EXEC_STREAM_SHARE_H

#include "exec/stream/stream.h"

/* The rows of a step, held by those that read them. */
struct stream_share;

/* Takes all rows of a stream, which it closes whatever it returns, and is held
 * once; a failure of a row belongs to the rows. */
enum vdbq_status stream_share_take(struct stream *stream,
                                   struct stream_share **share,
                                   struct error *error);
/* Accepts NULL. */
void stream_share_release(struct stream_share *share);

/* A stream of the rows, from the first one on; it holds them. */
enum vdbq_status stream_share_open(struct stream_share *share,
                                   struct stream **stream, struct error *error);

#endif
