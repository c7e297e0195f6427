/* SPDX-License-Identifier: MIT */
/*
 * Reading a tablet of the file page by page (page_sums.h): no byte is given that
 * was not compared with the sum of its page.
 */
#ifndef VDBQ_DATA_TABLET_PAGES_H
#define VDBQ_DATA_TABLET_PAGES_H

#include "data/database/database.h"

/* A tablet in the file. */
struct tablet_pages {
    const struct database *database;
    const struct table *table; /* that it is of; for messages */
    const struct tablet_ref *tablet;
    uint64_t size;        /* bytes of the tablet, as its head says          */
    const uint64_t *sums; /* of its pages; NULL: they are not known yet     */
};

/* Whether the sums are told by few bytes, without all of the tablet. */
bool tablet_pages_told(const struct tablet_pages *pages);
/* Writes the sum of each page, as the tablet's checksum proves them. Fails with
 * CORRUPT, IO, NO_MEMORY. */
enum vdbq_status tablet_pages_learn(const struct tablet_pages *pages,
                                    uint64_t *sums, struct error *error);

/* Compares the bytes of all pages with their sums. Fails with CORRUPT. */
enum vdbq_status tablet_pages_compare(const struct tablet_pages *pages,
                                      const void *bytes, struct error *error);

/* What reads pages: one thread. */
struct page_reader {
    struct tablet_pages pages;
    uint8_t *room;       /* for pages of which not all bytes are wanted */
    uint64_t first, end; /* bytes of the tablet that it has             */
};
/* Nothing is allocated before it reads. */
struct page_reader page_reader_start(const struct tablet_pages *pages);
void page_reader_finish(struct page_reader *reader);

/* Copies bytes of the tablet; `to` may be NULL: they are only proven. Fails with
 * CORRUPT, IO, NO_MEMORY. */
enum vdbq_status page_reader_copy(struct page_reader *reader, uint64_t at,
                                  uint64_t size, void *to, struct error *error);

#endif
