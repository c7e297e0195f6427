/* SPDX-License-Identifier: MIT */
/*
 * The table of operator kinds, for those who open streams.
 */
#ifndef VDBQ_EXEC_KINDS_H
#define VDBQ_EXEC_KINDS_H

#include "exec/stream/stream.h"

/* For stream_params: the kind of a stream that has its head, whose inputs are
 * open; one of them may become another stream. Fails as join_choose(). */
enum vdbq_status operator_kind(const struct stream *stream,
                               const struct stream_kind **kind,
                               struct error *error);

#endif
