/* SPDX-License-Identifier: MIT */
/*
 * A pattern while it is read: what regexp_tree.c and regexp_set.c share.
 */
#ifndef VDBQ_PROGRAM_REGEXP_READING_H
#define VDBQ_PROGRAM_REGEXP_READING_H

#include "program/regexp/regexp_tree.h"

struct flags {
    bool folds, dot_breaks, lines, lazy; /* i, s, m, U */
};

struct reading {
    const char *start, *at, *end;
    struct arena *arena;
    struct flags flags;
    unsigned groups, depth;
    struct vector sets;   /* of struct regexp_set */
    struct vector ranges; /* of struct regexp_range: of the set at hand */
    struct error *error;
};

/* ------------------------------------------------------- regexp_tree.c -- */

/* Says what is wrong, and where, unless that was said of something before; gives
 * NULL. */
struct regexp_node *reading_refuse(struct reading *reading, const char *at,
                                   const char *what);
/* New nodes; NULL: no memory, which is said. */
struct regexp_node *reading_make(struct reading *reading,
                                 enum regexp_node_kind kind);
struct regexp_node *reading_make_one(struct reading *reading, enum regexp_op op,
                                     uint32_t a);
/* A character, in either case where the flags say so. */
struct regexp_node *reading_make_character(struct reading *reading,
                                           uint32_t character);
/* Whether it is an ASCII letter. */
bool reading_is_letter(uint32_t character);

/* Whether that is next; and passes over it if it is. */
bool reading_is_next(const struct reading *reading, const char *text);
bool reading_take(struct reading *reading, const char *text);
/* Passes over the next character, which there is. */
uint32_t reading_take_character(struct reading *reading);

/* -------------------------------------------------------- regexp_set.c -- */

/* The value of a digit of any base; 16: it is none. */
int reading_digit(char digit);
/* Reads digits of a base, `least` to `most` of them; false: they are fewer, or
 * the number is no character. */
bool reading_take_number(struct reading *reading, int base, unsigned least,
                         unsigned most, uint32_t *number);
/* Reads what follows a backslash, which stands for one character; false: it
 * does not. */
bool reading_take_escape(struct reading *reading, uint32_t *character);

/* Reads a set, from behind its bracket; NULL: what is wrong is said. */
struct regexp_node *reading_set(struct reading *reading);

struct class;
/* The class of a backslash and a letter that is next, a capital for all others;
 * NULL: there is none. */
const struct class *reading_peek_class(const struct reading *reading,
                                       bool *inverted);
/* ... passes over it, and makes its set. */
struct regexp_node *reading_class(struct reading *reading,
                                  const struct class *class, bool inverted);

#endif
