/* SPDX-License-Identifier: MIT */
/*
 * Takes the catalogue's bytes apart. No byte is believed: behind the end, and
 * after the first fault, which is told once, all that is got is 0.
 */
#ifndef VDBQ_DATA_FILE_DECODER_H
#define VDBQ_DATA_FILE_DECODER_H

#include "data/catalogue/catalogue_inner.h"

/* What is being read; `failed` once anything was wrong, with the error set:
 * the getters then give zeros. */
struct decoder {
    const char *at, *end; /* next byte, and the one behind the last */
    /* what places in the file are allowed */
    const struct catalogue_bounds *bounds;
    const char *path;            /* for messages */
    default_parser parse;        /* NULL: DEFAULTs stay texts */
    struct catalogue *catalogue; /* that is made */
    struct error *error;         /* where the first fault is written */
    bool first;                  /* it is of the first form ...             */
    bool identities; /* ... of that in which tablets have their own */
    bool edits;      /* ... and of that in which they may have edits */
    bool failed;     /* nothing more is read */
};

/* Says what is wrong, once; `name`: of the table, or NULL. */
void decoder_fail(struct decoder *decoder, const char *what, const char *name);
/* Memory from the arena of the catalogue's names, or for what copies of it do not
 * share, from its own; NULL: the decoder has failed. */
void *decoder_take(struct decoder *decoder, size_t count, size_t width);
void *decoder_take_own(struct decoder *decoder, size_t count, size_t width);

/* Passes over bytes. */
void decoder_skip(struct decoder *decoder, size_t size);
/* Reads bytes; a number of 4 bytes; one of 8. */
void decoder_get(struct decoder *decoder, void *value, size_t size);
uint32_t decoder_get_32(struct decoder *decoder);
uint64_t decoder_get_64(struct decoder *decoder);
/* A count of things of at least `width` bytes each: no more than follow. */
size_t decoder_bound(struct decoder *decoder, uint64_t count, size_t width,
                     const char *what);
/* A length, then the name; it has no zero byte and is not empty. */
const char *decoder_name(struct decoder *decoder);
/* Likewise the text of a DEFAULT or a view; NULL: there is none. */
const char *decoder_sql(struct decoder *decoder);

#endif
