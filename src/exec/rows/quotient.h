/* SPDX-License-Identifier: MIT */
/*
 * Integers of 128 bits, and the double that is nearest to the quotient of two:
 * averages of integers and of DECIMAL, rounded once.
 */
#ifndef VDBQ_EXEC_QUOTIENT_H
#define VDBQ_EXEC_QUOTIENT_H

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

/* The divisor is above 0 and below 2^127. Of ties the even double. */
double quotient(i128 dividend, u128 divisor);

#endif
