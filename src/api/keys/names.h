/* SPDX-License-Identifier: MIT */
/*
 * Tables and columns by the names that a caller gives.
 */
#ifndef VDBQ_API_KEYS_NAMES_H
#define VDBQ_API_KEYS_NAMES_H

#include "api/session.h"

/* The table of that name, in the catalogue that queries of the connection see
 * now: `snapshot`, to be closed by the caller where this is OK. */
enum vdbq_status names_table(vdbq *db, const char *name,
                             struct snapshot *snapshot,
                             const struct table **table);
/* Its column of that name. Fails with UNKNOWN. */
enum vdbq_status names_column(vdbq *db, const struct table *table,
                              const char *name, const struct column **column);

#endif
