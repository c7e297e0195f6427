/* SPDX-License-Identifier: MIT */
/*
 * Groups apart: those of a part of the rows, to be merged with those of other
 * parts by another group, maybe of another process. What passes is records:
 * packed keys, then head and states, as the table of groups has them. States do
 * not depend on how rows were shared out (aggregate.h), so that the result has
 * the same bits as that of all rows.
 */
#ifndef VDBQ_EXEC_GROUP_APART_H
#define VDBQ_EXEC_GROUP_APART_H

#include "exec/aggregate/aggregate.h"
#include "exec/device_group/device_group.h"
#include "exec/group/group.h"
#include "exec/stream/stream.h"

/* Takes records, some at a time, no two of which need be of different groups. */
struct group_taker {
    enum vdbq_status (*take)(struct group_taker *taker, const uint8_t *records,
                             uint32_t count, struct error *error);
};

/* Makes the group of a stream's step (STEP_GROUP), without rows yet; memory is
 * `memory`'s. `nullable` is to be released when the group was destroyed. */
enum vdbq_status group_of_stream(const struct stream *stream,
                                 struct account_share *memory, bool **nullable,
                                 struct group **group, struct error *error);

/* Gives all groups of the rows of a stream whose step is `apart`, whose rows
 * are taken now; `*rows`: the numbers of groups' first rows are less. */
enum vdbq_status group_stream_give(struct stream *stream,
                                   struct group_taker *taker, uint64_t *rows,
                                   struct error *error);

/* Bytes of a record. */
size_t group_record_bytes(const struct group *group);
/* Rows that it took in, or that those had whose groups it took. */
uint64_t group_row_count(const struct group *group);

/* Gives all groups, in no order; then there are none left. */
enum vdbq_status group_give(struct group *group, struct group_taker *taker,
                            struct error *error);
/* Takes groups of a group of the same step; the numbers of rows of these come
 * behind `first` others. Changes the records. */
enum vdbq_status group_take(struct group *group, uint8_t *records,
                            uint32_t count, uint64_t first,
                            struct error *error);
/* They were of so many rows more. */
void group_took_rows(struct group *group, uint64_t rows);
/* Takes groups, none of which it has, that a device made of so many rows. */
enum vdbq_status group_take_device(struct group *group,
                                   const struct device_groups *groups,
                                   uint64_t rows, struct error *error);

/* Gives the texts of a column of the result other numbers, in records that are
 * to be taken. */
struct group_texts {
    uint32_t (*number)(void *context, unsigned column, uint32_t number);
    void *context;
};
void group_renumber(const struct group *group, uint8_t *records, uint32_t count,
                    unsigned column, const struct group_texts *texts);

#endif
