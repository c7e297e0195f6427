/* SPDX-License-Identifier: MIT */
/*
 * What a condition asks of single columns of a table, as an index can answer
 * it: = , < , <= , > , >= with a constant or a parameter, lists of these, and what
 * texts begin with.
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_TERMS_H
#define VDBQ_PLAN_INDEX_INDEX_TERMS_H

#include "plan/index/index_choice.h"
#include "program/steps/steps.h"

enum { INDEX_TERMS_MAX = 32 }; /* that are looked at */

enum index_term_kind {
    INDEX_TERM_VALUE,  /* `op` with `value`                                */
    INDEX_TERM_LIST,   /* it is one of a list of values                    */
    INDEX_TERM_PREFIX, /* it begins with one of a list of texts            */
    INDEX_TERM_ROWS    /* several columns are one row of a list            */
};

struct index_term {
    enum index_term_kind kind;
    struct expression *condition; /* NULL: of a join                  */
    size_t part;                  /* of the condition that it is      */
    bool inexact;                 /* ... which is still to be tested  */
    unsigned column;              /* of the table, or a key; of ROWS the
                                     first                            */
    enum ast_operator op;         /* = to >=; else =                  */
    struct seek_value value;
    struct expression *computed; /* ... or this, once a run; NULL: not    */
    struct vdbq_vector list[SEEK_KEYS_MAX]; /* of `list_count`; of ROWS one for
                                               each of ...             */
    int *given[SEEK_KEYS_MAX];              /* as of struct step_seek  */
    uint64_t list_count;
    unsigned columns[SEEK_KEYS_MAX]; /* ... these columns, or keys       */
    unsigned column_count;
};

struct index_terms {
    const struct index_candidates *of;
    bool computes;       /* terms may have values that are computed          */
    struct vector parts; /* of struct expression *: that AND joins           */
    size_t safe;         /* of these, before the first that can fail         */
    struct index_term terms[INDEX_TERMS_MAX];
    unsigned count;
};

/* The terms that an index answers: by their numbers. */
struct index_use {
    const struct index_candidate *candidate;
    unsigned looked; /* so many terms, from the first on, were looked at     */
    unsigned terms[SEEK_KEYS_MAX + 1];
    unsigned term_count;
    unsigned equal_count; /* the first so many: = of the index's columns    */
    unsigned
        list_columns; /* of the index behind these, for which the last term,
                              ROWS, has values: 0: it is another one       */
    unsigned list_order[SEEK_KEYS_MAX]; /* ... their numbers in that term   */
};

/* The column that an expression is, maybe in a type that holds all of its
 * values; NULL: it is none. */
const struct expression *index_terms_column(const struct expression *e);

/* Whether values of an expression are those of a column, as the machine has them. */
bool index_terms_fit(const struct column *column, const struct expression *e);

/* Reads column OPERATOR value into a term, whose value may be one that is to be
 * computed if there is a binder. False: it is something else, or they cannot be
 * compared as they are. */
bool index_terms_comparison(const struct binder *binder,
                            const struct index_candidates *of,
                            const struct expression *column,
                            enum ast_operator op,
                            const struct expression *value,
                            struct index_term *term);

/* Takes a condition over the columns of the candidates' table apart; `where` NULL:
 * there is none. `computes`: terms may be about values that a run computes. */
bool index_terms_read(struct binder *binder,
                      const struct index_candidates *candidates,
                      struct expression *where, bool computes,
                      struct index_terms *terms);
/* The only term: columns of a table are one row of columns of a NODE_VALUES, so
 * many. False: they cannot be compared as they are. */
bool index_terms_list(const struct index_candidates *candidates,
                      const unsigned *columns, const struct node *values,
                      const int *of, size_t count, struct index_terms *terms);

/* What an index answers; false: nothing, or it is of some rows, and others may be
 * wanted. */
bool index_terms_match(const struct index_terms *terms,
                       const struct index_candidate *candidate,
                       struct index_use *use);
/* Writes that into a seek. False: a failure, which the binder has. */
bool index_terms_fill(struct binder *binder, const struct index_terms *terms,
                      const struct index_use *use, struct node *seek);
/* The share of a table's rows that they keep. */
double index_terms_kept(const struct index_terms *terms,
                        const struct index_use *use);
/* Whether that is a guess, since values come with each run. */
bool index_terms_guessed(const struct index_terms *terms,
                         const struct index_use *use);
/* Whether a part of the condition holds for all rows that the index finds. */
bool index_terms_answer(const struct index_terms *terms,
                        const struct index_use *use, size_t part);

/* About how many different rows of values columns, or keys, have. */
double index_terms_values(const struct index_candidates *candidates,
                          const unsigned *columns, unsigned count);

/* The parts of the condition that are still to be tested; NULL where `*failed`
 * stays as it was: there are none. */
struct expression *index_terms_rest(struct binder *binder,
                                    const struct index_terms *terms,
                                    const struct index_use *use, bool *failed);

#endif
