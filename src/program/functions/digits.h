/* SPDX-License-Identifier: MIT */
/*
 * Floats written with so many digits. They are rounded as round() does: from the
 * digits of the shortest text that reads back as the same number, halves away
 * from zero.
 */
#ifndef VDBQ_PROGRAM_DIGITS_H
#define VDBQ_PROGRAM_DIGITS_H

#include <stdbool.h>

#include "base/text.h"

/* How, as printf() says it: `letter` f, e or g, for f and e `precision` digits
 * behind the point, for g so many in all. */
struct digits_form {
    char letter;
    bool capital;  /* E for e      */
    bool keeps;    /* g: zeros at the end, and the point, stay */
    int precision; /* at least 0  */
};

/* Adds a number, neither below zero nor an infinity. */
void digits_add(struct text *text, double value, struct digits_form form);

#endif
