/* SPDX-License-Identifier: MIT */
/*
 * What lists say of tables and views: see listing.h.
 */
#ifndef VDBQ_PLAN_LEAF_LIST_TABLES_H
#define VDBQ_PLAN_LEAF_LIST_TABLES_H

struct listing;

/* PRAGMA table_info, table_xinfo, table_list; SHOW TABLES. */
void list_table_info(struct listing *listing);
void list_table_xinfo(struct listing *listing);
void list_table_list(struct listing *listing);
void list_names(struct listing *listing);
/* information_schema.tables and information_schema.columns. */
void list_information_tables(struct listing *listing);
void list_information_columns(struct listing *listing);

#endif
