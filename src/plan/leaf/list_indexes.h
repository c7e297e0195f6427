/* SPDX-License-Identifier: MIT */
/*
 * What lists say of indexes: see listing.h. What is UNIQUE, and a primary key that is
 * no integer, are shown as the indexes that SQLite would have made for them.
 */
#ifndef VDBQ_PLAN_LEAF_LIST_INDEXES_H
#define VDBQ_PLAN_LEAF_LIST_INDEXES_H

struct listing;

/* PRAGMA index_list, index_info, index_xinfo. */
void list_index_list(struct listing *listing);
void list_index_info(struct listing *listing);
void list_index_xinfo(struct listing *listing);
/* sqlite_master: tables, each before its indexes, and views. */
void list_master(struct listing *listing);
/* The same of temporary tables. */
void list_temporary(struct listing *listing);

#endif
