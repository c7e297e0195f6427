/* SPDX-License-Identifier: MIT */
/*
 * The aggregates and the window functions: a row each. What a call is bound
 * to, its type, its value of no rows, what the executor keeps of a group's
 * rows, and the names in EXPLAIN all follow from these rows.
 *
 *   _(NAME, name, keeps, gives, of no rows, meaning)
 *
 * To add an aggregate that one of the states below is enough for: its row here,
 * and its value of that state in aggregate_result() (exec/group). Another state
 * is also a kind of exec/aggregate/aggregate.h and of cl/group.h.
 */
#ifndef VDBQ_PROGRAM_AGGREGATES_H
#define VDBQ_PROGRAM_AGGREGATES_H

#include <stdbool.h>
#include <stdint.h>

/* What is kept of a group's rows, beside how many do not count. */
enum aggregate_keeps {
    AGGREGATE_KEEPS_NOTHING,
    AGGREGATE_KEEPS_SUM,   /* of numbers: BOOLEAN is cast                   */
    AGGREGATE_KEEPS_BITS,  /* of integers: those of any, or of an odd number */
    AGGREGATE_KEEPS_BEST,  /* the least or the greatest value               */
    AGGREGATE_KEEPS_FIRST, /* the value of the first row, NULL or not       */
    AGGREGATE_KEEPS_ALL,   /* nothing by itself: the binder makes it of
                             windows and other aggregates (quantile.c)     */
    AGGREGATE_KEEPS_OTHERS /* ... of other aggregates of the same rows
                             (bind_aggregate.c)                            */
};

/* The type of the result. */
enum aggregate_gives {
    AGGREGATE_GIVES_COUNT,  /* BIGINT, never NULL                          */
    AGGREGATE_GIVES_SUM,    /* of integers BIGINT, an overflow fails; of
                               floats DOUBLE; of DECIMAL the same scale    */
    AGGREGATE_GIVES_WORD,   /* BIGINT: bits that values have, or what is
                               above 64 bits of a sum                      */
    AGGREGATE_GIVES_DOUBLE, /* whatever numbers are added                  */
    AGGREGATE_GIVES_REST,   /* DOUBLE: what one that is nearest to a sum
                               leaves of it                                */
    AGGREGATE_GIVES_VALUE   /* one of the values: the column's type        */
};

/* The result where no row counts. */
enum aggregate_of_none { AGGREGATE_NULL, AGGREGATE_ZERO };

/* clang-format off */

/* Those with names in SQL. */
#define AGGREGATES(_)                                                          \
    _(COUNT, count, NOTHING, COUNT, ZERO,                                      \
      "rows, or values that are not NULL")                                     \
    _(SUM, sum, SUM, SUM, NULL, "the sum, exact until it is rounded")          \
    _(TOTAL, total, SUM, DOUBLE, ZERO, "the sum as a DOUBLE")                  \
    _(AVG, avg, SUM, DOUBLE, NULL, "the sum through the number of values")     \
    _(MIN, min, BEST, VALUE, NULL, "the least value")                          \
    _(MAX, max, BEST, VALUE, NULL, "the greatest value")                       \
    _(BIT_AND, bit_and, BITS, WORD, NULL, "the bits that all values have")     \
    _(BIT_OR, bit_or, BITS, WORD, NULL, "the bits that a value has")           \
    _(BIT_XOR, bit_xor, BITS, WORD, NULL,                                      \
      "the bits that an odd number of values have")

/* Those that the planner alone makes. */
#define INNER_AGGREGATES(_)                                                    \
    _(FIRST, first, FIRST, VALUE, NULL, "the value of the first row")          \
    _(SUM_LOW, sum_low, SUM, SUM, NULL,                                        \
      "the lowest 64 bits of an integer sum, which does not fail")             \
    _(SUM_HIGH, sum_high, SUM, WORD, NULL, "the bits above these")             \
    _(SUM_REST, sum_rest, SUM, REST, ZERO,                                     \
      "the sum without what TOTAL gives of it")

/* Of the order of all values: with names in SQL, and bound to those above. */
#define ORDER_AGGREGATES(_)                                                    \
    _(MEDIAN, median, ALL, DOUBLE, NULL, "the value in the middle")            \
    _(QUANTILE_CONT, quantile_cont, ALL, DOUBLE, NULL,                         \
      "the value below which a share of them lie, between two of them")        \
    _(QUANTILE_DISC, quantile_disc, ALL, VALUE, NULL, "... one of them")

/* With names in SQL, and bound to those above. */
#define MADE_AGGREGATES(_)                                                     \
    _(VAR_SAMP, var_samp, OTHERS, DOUBLE, NULL,                                \
      "the mean square of distances from the mean, of a sample")               \
    _(VAR_POP, var_pop, OTHERS, DOUBLE, NULL, "... of all there are")          \
    _(STDDEV_SAMP, stddev_samp, OTHERS, DOUBLE, NULL, "the root of var_samp")  \
    _(STDDEV_POP, stddev_pop, OTHERS, DOUBLE, NULL, "the root of var_pop")     \
    _(BOOL_AND, bool_and, OTHERS, VALUE, NULL, "whether all values are true")  \
    _(BOOL_OR, bool_or, OTHERS, VALUE, NULL, "whether a value is true")        \
    _(COVAR_POP, covar_pop, OTHERS, DOUBLE, NULL,                              \
      "the mean product of two values' distances from their means")            \
    _(COVAR_SAMP, covar_samp, OTHERS, DOUBLE, NULL, "... of a sample")         \
    _(CORR, corr, OTHERS, DOUBLE, NULL,                                        \
      "... through the product of their deviations: from -1 to 1")             \
    _(REGR_SLOPE, regr_slope, OTHERS, DOUBLE, NULL,                            \
      "the slope of the line through points of a height and a width")          \
    _(REGR_INTERCEPT, regr_intercept, OTHERS, DOUBLE, NULL,                    \
      "... its height at the width 0")                                         \
    _(REGR_R2, regr_r2, OTHERS, DOUBLE, NULL,                                  \
      "... how well it fits, from 0 to 1")                                     \
    _(REGR_COUNT, regr_count, OTHERS, COUNT, ZERO, "how many points")          \
    _(REGR_AVGX, regr_avgx, OTHERS, DOUBLE, NULL, "their mean width")          \
    _(REGR_AVGY, regr_avgy, OTHERS, DOUBLE, NULL, "their mean height")         \
    _(REGR_SXX, regr_sxx, OTHERS, DOUBLE, NULL,                                \
      "the sum of squared distances from the mean width")                      \
    _(REGR_SYY, regr_syy, OTHERS, DOUBLE, NULL, "... the mean height")         \
    _(REGR_SXY, regr_sxy, OTHERS, DOUBLE, NULL,                                \
      "the sum of products of both distances")                                 \
    _(COUNT_IF, count_if, OTHERS, COUNT, ZERO, "how many values are true")     \
    _(FIRST_ROW, first, OTHERS, VALUE, NULL, "the first row's value")          \
    _(ANY_VALUE, any_value, OTHERS, VALUE, NULL, "the first value")            \
    _(ARG_MIN, arg_min, OTHERS, VALUE, NULL,                                   \
      "the value of the row whose second value is the least")                  \
    _(ARG_MAX, arg_max, OTHERS, VALUE, NULL, "... the greatest")               \
    _(LAST_ROW, last, OTHERS, VALUE, NULL, "the last row's value")             \
    _(MODE, mode, OTHERS, VALUE, NULL, "the value that most rows have")        \
    _(PRODUCT, product, OTHERS, DOUBLE, NULL, "the product")                   \
    _(FSUM, fsum, OTHERS, DOUBLE, NULL, "the sum as a DOUBLE")                 \
    _(APPROX_COUNT_DISTINCT, approx_count_distinct, OTHERS, COUNT, ZERO,       \
      "how many different values there are, exactly")                          \
    _(STRING_AGG, string_agg, OTHERS, VALUE, NULL, "all texts, joined")        \
    _(GROUPING, grouping, OTHERS, COUNT, ZERO,                                 \
      "which keys are left out of the group's grouping: a bit each")

/* Other names of these. */
#define AGGREGATE_ALIASES(_)                                                   \
    _(variance, VAR_SAMP)                                                      \
    _(stddev, STDDEV_SAMP)                                                     \
    _(every, BOOL_AND)                                                         \
    _(countif, COUNT_IF)                                                       \
    _(min_by, ARG_MIN)                                                         \
    _(max_by, ARG_MAX)                                                         \
    _(arbitrary, FIRST_ROW)                                                    \
    _(quantile, QUANTILE_DISC)                                                 \
    _(mean, AVG)                                                               \
    _(favg, AVG)                                                               \
    _(kahan_sum, FSUM)                                                         \
    _(sumkahan, FSUM)                                                          \
    _(group_concat, STRING_AGG)                                                \
    _(grouping_id, GROUPING)                                                   \
    _(listagg, STRING_AGG)

/*
 *   _(NAME, name, least, most, meaning)
 *
 * `least` and `most` count arguments. With OVER an aggregate is one, too.
 */
#define WINDOW_FUNCTIONS(_)                                                    \
    _(ROW_NUMBER, row_number, 0, 0, "the row's place in its partition")        \
    _(RANK, rank, 0, 0, "the place of the first of its peers")                 \
    _(DENSE_RANK, dense_rank, 0, 0, "the place of its peers among others")     \
    _(LAG, lag, 1, 3, "the value some rows before")                            \
    _(LEAD, lead, 1, 3, "the value some rows behind")                          \
    _(FIRST, first_value, 1, 1, "the first value of the frame")                \
    _(LAST, last_value, 1, 1, "the last value of the frame")                   \
    _(NTH, nth_value, 2, 2, "the value of a row of the frame, from 1 on")

/* With names in SQL, and bound to those above (window_shares.c). */
#define SHARE_FUNCTIONS(_)                                                     \
    _(NTILE, ntile, 1, 1, "the part, of so many of like size, of the row")     \
    _(PERCENT_RANK, percent_rank, 0, 0, "the share of others before its peers") \
    _(CUME_DIST, cume_dist, 0, 0, "the share of rows up to its last peer")

/* Of a whole partition: what the aggregate of that name is bound to. */
#define TEXT_FUNCTIONS(_)                                                      \
    _(STRING_AGG, string_agg, 1, 2, "all texts, joined by a separator")

/* Likewise, of DOUBLEs. */
#define FOLD_FUNCTIONS(_)                                                      \
    _(PRODUCT, product, 1, 1, "the product, from the first row to the last")

/*
 *   _(NAME, name, meaning)
 *
 * Of a whole partition, whose values are in their order, NULLs last: those that
 * the planner alone makes, of quantiles. The share f of n values that are not
 * NULL is a double, and its bits are the function's offset.
 */
#define QUANTILE_FUNCTIONS(_)                                                  \
    _(QUANTILE_BELOW, quantile_below,                                          \
      "the value at floor(f * (n - 1)), counted from 0")                       \
    _(QUANTILE_ABOVE, quantile_above, "... at ceil(f * (n - 1))")              \
    _(QUANTILE_PART, quantile_part,                                            \
      "how far f * (n - 1) is from the one to the other: a DOUBLE")            \
    _(QUANTILE_VALUE, quantile_value,                                          \
      "the value at n - floor(n - f * n), counted from 1, or the first")

#define AGGREGATE(NAME, name, keeps, gives, none, meaning) AGGREGATE_##NAME,
enum aggregate_function {
    AGGREGATES(AGGREGATE) INNER_AGGREGATES(AGGREGATE)
        ORDER_AGGREGATES(AGGREGATE) MADE_AGGREGATES(AGGREGATE)
};
#undef AGGREGATE

#define WINDOW(NAME, ...) WINDOW_##NAME,
enum window_function {
    WINDOW_FUNCTIONS(WINDOW) SHARE_FUNCTIONS(WINDOW) TEXT_FUNCTIONS(WINDOW)
        FOLD_FUNCTIONS(WINDOW) QUANTILE_FUNCTIONS(WINDOW)
    WINDOW_AGGREGATE /* over the frame; by default that is the partition up to
                        the last peer of the row, or all of it where there is
                        no order                                           */
};
#undef WINDOW

/* clang-format on */

struct aggregate_row {
    enum aggregate_function function;
    const char *name;
    enum aggregate_keeps keeps;
    enum aggregate_gives gives;
    enum aggregate_of_none none;
};
struct window_row {
    enum window_function function;
    const char *name;
    unsigned least, most; /* arguments                                     */
};

const struct aggregate_row *aggregate_row(enum aggregate_function function);
const char *aggregate_name(enum aggregate_function function);
/* Whether values that are equal give what one of them does. */
bool aggregate_takes_once(enum aggregate_function function);
/* What is kept are values with these bits turned, 0 or all of them: of the least
 * value the greatest one so, of the bits that all have those that any has. */
uint64_t aggregate_turn(enum aggregate_function function);
/* Not of WINDOW_AGGREGATE, which is called by the aggregate's name. */
const char *window_name(enum window_function function);

/* Whether it is one of FOLD_FUNCTIONS, or of QUANTILE_FUNCTIONS. */
bool window_is_fold(enum window_function function);
bool window_is_quantile(enum window_function function);

/* What SQL calls by that name; NULL: nothing. */
const struct aggregate_row *aggregate_named(const char *name);
const struct window_row *window_named(const char *name);

#endif
