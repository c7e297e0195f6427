/* SPDX-License-Identifier: MIT */
/*
 * The value of a parameter: what a statement's `?` stands for, or what a
 * query gets from each row of the one around it.
 */
#ifndef VDBQ_PROGRAM_PARAMETER_H
#define VDBQ_PROGRAM_PARAMETER_H

#include "api/vdbq.h"

struct parameter {
    enum vdbq_type type; /* VDBQ_TYPE_NONE: of no type, and NULL */
    bool null;
    int64_t integer;
    double real;
    struct vdbq_text text;
    const struct vdbq_vector *array; /* BIGINT, DOUBLE or TEXT: values that
                                        stand for it in the list of an IN,
                                        and nowhere else; NULL: it is none */
    uint64_t array_count;            /* of them */
};

#endif
