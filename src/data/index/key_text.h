/* SPDX-License-Identifier: MIT */
/*
 * Primary keys that are texts, for key.c: as the functions of key.h without
 * "text".
 */
#ifndef VDBQ_DATA_KEY_TEXT_H
#define VDBQ_DATA_KEY_TEXT_H

#include "data/index/key.h"

bool key_text_add(struct key_watch *watch, struct key_values more);
enum vdbq_status key_text_sort(struct key_watch *watch,
                               const struct table *table, struct error *error);
enum vdbq_status key_text_compare(const struct key_watch *watch,
                                  struct database *database,
                                  const struct table *table,
                                  const struct tablet_ref *tablets,
                                  size_t count, struct error *error);

#endif
