/* SPDX-License-Identifier: MIT */
/*
 * Statements that change the database, each as one transaction: durable when
 * it returns VDBQ_OK, and without a trace otherwise.
 */
#ifndef VDBQ_EXEC_MODIFY_H
#define VDBQ_EXEC_MODIFY_H

#include "data/database.h"

enum vdbq_status modify_create(struct database *database, const char *name,
                               const struct column *columns,
                               unsigned column_count, unsigned key,
                               bool if_not_exists, struct error *error);
enum vdbq_status modify_drop(struct database *database, const char *name,
                             bool if_exists, struct error *error);
enum vdbq_status modify_insert(struct database *database, uint32_t table_id,
                               uint64_t rows,
                               const struct vdbq_vector *vectors,
                               struct error *error);

#endif
