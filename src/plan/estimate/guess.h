/* SPDX-License-Identifier: MIT */
/*
 * What is guessed where the catalogue says nothing: shares of rows that a
 * condition keeps, and numbers of values.
 */
#ifndef VDBQ_PLAN_ESTIMATE_GUESS_H
#define VDBQ_PLAN_ESTIMATE_GUESS_H

/* A condition of which nothing is known at all, like a CASE: people ask for few
 * of the rows rather than for most. */
static const double KEPT_UNKNOWN = 0.25;

/* A column of type BOOLEAN: true as often as false. */
static const double KEPT_BOOLEAN = 0.5;

/* LIKE and its siblings: a pattern is rarer than a range, and more frequent than
 * one word. */
static const double KEPT_LIKE = 0.1;

/* One bound (<, <=, >, >=) of values without a known range: of two unknown points
 * on a line and a third one, as System R has it. */
static const double KEPT_RANGE = 1.0 / 3;

/* Both bounds (BETWEEN) of such values: who names both ends asks for little. */
static const double KEPT_BETWEEN = 0.05;

/* ... and with each run anew, for which an index is: to scan instead costs more where
 * few are asked for than a search does where many are. */
static const double KEPT_ASKED = 0.005;

/* One bound of a range join of such values: as many lie above as below. */
static const double KEPT_HALF = 0.5;

/* The rows of an outer join's side that have a partner: who asks for all of them expects
 * that some have none. */
static const double PARTNERS_MOST = 0.9;

/* The words of a text column that nobody counted, and the values of what is
 * computed and may have as many as its operands or next to none, like a part of
 * a text: equality with it keeps one in 200, IN of n values n of them. */
static const double VALUES_UNKNOWN = 200;

#endif
