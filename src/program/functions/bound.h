/* SPDX-License-Identifier: MIT */
/*
 * A number as a constant or a text has it, and what numbers of another type
 * are to be compared with in its place: 2.5 is no integer, but an integer is
 * below it where it is below 3. What is compared so is compared exactly.
 */
#ifndef VDBQ_PROGRAM_BOUND_H
#define VDBQ_PROGRAM_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/type.h"

struct any_number {
    bool is_real; /* else `integer` is the value */
    int64_t integer;
    double real; /* never not-a-number */
};

/* Whether a text looks like a number, blanks around it aside, and which: an
 * integer where it is nothing but digits that fit 64 bits. */
bool number_of_text(struct vdbq_text text, struct any_number *number);

/* Of all numbers of a type: the one that equals; the least that is not below;
 * the least that is above. */
enum bound { BOUND_EXACT, BOUND_LEAST, BOUND_ABOVE };

/* False: there is none. */
bool bound_integer(const struct any_number *number, enum bound bound,
                   int64_t *value);
bool bound_double(const struct any_number *number, enum bound bound,
                  double *value);

/* One text for all numbers that are equal, of whatever type; at least 32
 * bytes of room. Returns its length. */
size_t number_to_text(const struct any_number *number, char *room);

#endif
