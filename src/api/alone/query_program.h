/* SPDX-License-Identifier: MIT */
/*
 * Queries that are programs: their text becomes steps. For the files of
 * src/api only.
 */
#ifndef VDBQ_API_QUERY_PROGRAM_H
#define VDBQ_API_QUERY_PROGRAM_H

#include "plan/plan.h"

/* Reads a program. Its first table is one of the catalogue; rows of the others
 * are probed, and each has all columns of one of the catalogue, the primary
 * key among them. Fails with UNKNOWN, PROGRAM, NO_MEMORY; otherwise plan_finish()
 * is due. */
enum vdbq_status query_program(const char *text,
                               const struct catalogue *catalogue,
                               struct plan *plan, struct error *error);

#endif
