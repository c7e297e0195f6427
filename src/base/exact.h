/* SPDX-License-Identifier: MIT */
/*
 * Doubles to decimal digits and back in integers of 128 bits: exactly, and many
 * times as fast as printf() and strtod(), for the sizes that data has. Other
 * sizes are the C library's.
 */
#ifndef VDBQ_BASE_EXACT_H
#define VDBQ_BASE_EXACT_H

#include <stdbool.h>
#include <stdint.h>

/* A positive value, or 0, rounded to `count` digits, 17 at most, as printf() rounds it:
 * 0.DIGITS * 10^point, of 0 with point 0. False: its size is not one of these. */
bool exact_digits(double value, int count, uint64_t *digits, int *point);

/* The double that is nearest to digits * 10^exponent, of two the even one; the digits
 * are not 0. False: the exponent is not one of these. */
bool exact_double(uint64_t digits, int exponent, double *value);

#endif
