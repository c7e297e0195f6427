/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions in RE2's syntax, but for classes of Unicode (\pL). A
 * pattern becomes a small program; a text is matched in time that grows with
 * the pattern times the text, whatever both are (Thompson 1968; Cox, Regular
 * Expression Matching: the Virtual Machine Approach, 2009). Characters are
 * those of UTF-8; a byte that is none is U+FFFD. Where letters match in either
 * case, k, K and U+212A, the sign of Kelvin, are the same: what Unicode folds
 * to one character (letter.h).
 */
#ifndef VDBQ_PROGRAM_REGEXP_H
#define VDBQ_PROGRAM_REGEXP_H

#include <stdbool.h>
#include <stdint.h>

#include "api/vdbq.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    REGEXP_GROUPS = 10,    /* whose places are kept, the whole match included */
    REGEXP_CODE_MAX = 5000 /* instructions */
};

enum regexp_op {
    REGEXP_CHAR,       /* the character `a`                             */
    REGEXP_FOLDED,     /* a character that is folded to `a`             */
    REGEXP_SET,        /* one of set `a`                                */
    REGEXP_ANY,        /* any character                                 */
    REGEXP_NO_BREAK,   /* any but a line break                          */
    REGEXP_SPLIT,      /* goes on at `a`, or if that leads nowhere at `b` */
    REGEXP_JUMP,       /* goes on at `a`                                */
    REGEXP_SAVE,       /* notes the place as number `a`                 */
    REGEXP_BEGIN,      /* at the text's start ...                       */
    REGEXP_END,        /* ... or end                                    */
    REGEXP_LINE_BEGIN, /* at a line's start ...                       */
    REGEXP_LINE_END,   /* ... or end                                    */
    REGEXP_WORD,       /* between a letter, digit or _ and something else */
    REGEXP_NO_WORD,    /* elsewhere                                     */
    REGEXP_MATCH       /* the end                                       */
};

struct regexp_code {
    enum regexp_op op;
    uint32_t a, b;
};

/* Characters from `low` to `high`. In a set ranges ascend and do not touch. */
struct regexp_range {
    uint32_t low, high;
};

struct regexp_set {
    const struct regexp_range *ranges;
    unsigned count;
    bool inverted;     /* all others */
    uint32_t ascii[4]; /* whether each of the first 128 characters is in it */
};

struct regexp {
    const struct regexp_code *code;
    unsigned count;
    const struct regexp_set *sets;
    unsigned groups; /* in parentheses, those beyond REGEXP_GROUPS, too */
    bool first[256]; /* bytes that a match can begin with ... */
    bool empty;      /* ... unless it can be empty */
    const struct regexp_table
        *table; /* says whether there is a match; NULL: none
                                         does */
};

/* How a pattern is read; letters of functions' options. */
struct regexp_options {
    bool folds;      /* i: letters match in either case */
    bool literal;    /* l: every character stands for itself */
    bool dot_breaks; /* s: . matches a line break, too */
};

/* Reads a pattern; what it becomes lives in `arena`. Fails with RANGE and what
 * is wrong, NO_MEMORY. */
enum vdbq_status regexp_read(struct vdbq_text pattern,
                             struct regexp_options options, struct arena *arena,
                             struct regexp *regexp, struct error *error);

/* Where the first match in a text is, of all its groups; a group that is not in
 * it is at REGEXP_NOWHERE. Of those that begin there it is the one that Perl
 * finds. */
#define REGEXP_NOWHERE SIZE_MAX
struct regexp_match {
    size_t begin[REGEXP_GROUPS], end[REGEXP_GROUPS];
};
/* Looks for a match from byte `from` on; `whole`: it must be all of the text
 * from there. `*found` says whether there is one. `match` may be NULL. Fails
 * with NO_MEMORY, CANCELLED. */
enum vdbq_status regexp_find(const struct regexp *regexp, struct vdbq_text text,
                             size_t from, bool whole,
                             struct regexp_match *match, bool *found,
                             struct error *error);

/* Makes the table, where the pattern is one for it: it pays where many texts are
 * matched. `whole` is what regexp_find() will be asked. False: no memory. */
bool regexp_make_table(struct regexp *regexp, bool whole, struct arena *arena);
/* Whether the table knows whether there is a match, which `*found` says. */
bool regexp_table_find(const struct regexp *regexp, struct vdbq_text text,
                       size_t from, bool whole, bool *found);

/* Whether an instruction takes a character. */
bool regexp_takes(const struct regexp *regexp, const struct regexp_code *code,
                  uint32_t character);
/* Whether a set has a character. */
bool regexp_in_set(const struct regexp_set *set, uint32_t character);

#endif
