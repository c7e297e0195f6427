/* SPDX-License-Identifier: MIT */
/*
 * What a seek looks for: its constants and parameters as they are ordered, and
 * what they are in one tablet.
 */
#ifndef VDBQ_EXEC_SEEK_TERMS_H
#define VDBQ_EXEC_SEEK_TERMS_H

#include "data/index/run_terms.h"
#include "exec/seek/seek_rows.h"
#include "exec/stream/stream.h"

/* What a key is compared with: of a text the text, of numbers what they are
 * ordered by. */
struct seek_constant {
    struct run_value value;
    struct vdbq_text text;
};

struct seek_terms {
    const struct step_seek *step;
    struct seek_ends asked;         /* its ends, as the run asks for them */
    const struct table *table;      /* that is looked through */
    const struct index *index;      /* whose keys are looked for; NULL: columns
                                       of the table are                    */
    const struct vdbq_vector *list; /* the step's, or rows': `list_columns` of
                                       the step                              */
    uint64_t list_rows;             /* of them, as they come                 */
    const struct vdbq_vector *fed;  /* columns of the input, by their places in
                                       `from` of the step                    */
    uint64_t fed_rows;              /* of these                              */
    struct seek_constant equals[RUN_COLUMNS_MAX], low, high;
    /* a list of one column in order, none twice: numbers or texts, the other is
     * NULL; both are where there is none */
    struct run_value *numbers;
    struct vdbq_text *texts;
    uint32_t list_count;
    /* where texts begin like those of the list: texts that come behind all that
     * do, for each; NULL: there is no such list */
    struct vdbq_text *ends;
    struct seek_rows rows; /* a list of several columns */
    struct arena arena;    /* of their bytes */
    bool none;             /* nothing can be found, as a parameter is NULL */
};

/* Of one that has its step, its table, its index and its list, which outlive it:
 * reads the
 * constants, and parameters' values. seek_terms_finish() is due whatever it
 * returns. */
enum vdbq_status seek_terms_init(struct seek_terms *terms,
                                 const struct stream_params *params,
                                 struct error *error);
void seek_terms_finish(struct seek_terms *terms); /* accepts a zeroed one */

/* Whether a key is a text of a column: what is looked for in a tablet then needs
 * that. */
bool seek_terms_is_text(const struct seek_terms *terms, unsigned key);
/* A number of a column of the list; false: it is NULL, or no number. */
bool seek_terms_number(const struct seek_terms *terms, unsigned column,
                       uint64_t row, struct run_value *to);
/* The least and the greatest value of a key that is a number, as far as is known of
 * a tablet; false: all are NULL. */
bool seek_terms_extremes(const struct seek_terms *terms,
                         const struct tablet_ref *ref, unsigned key,
                         uint64_t *least, uint64_t *greatest);
/* Whether no row of a tablet is looked for, by what is known of it. */
bool seek_terms_pass(const struct seek_terms *terms,
                     const struct tablet_ref *ref);

/* What is looked for in one tablet. */
struct tablet_terms {
    struct run_terms terms;
    struct run_bound low, high;
    struct run_value *list;   /* with texts; owned                         */
    struct run_bound *bounds; /* of beginnings: first the low ones; owned  */
};

/* ... whose keys that are texts are in memory, in `block`; `run`: its run, or
 * NULL. Does not move while it is used; tablet_terms_finish() is due whatever
 * it returns. False: no memory, or the thread is to stop. */
bool tablet_terms_init(struct tablet_terms *in, const struct seek_terms *terms,
                       const void *block, const struct run *run);
void tablet_terms_finish(struct tablet_terms *in);

#endif
