/* SPDX-License-Identifier: MIT */
/*
 * The list of a seek with the values that this run's parameters have.
 */
#ifndef VDBQ_EXEC_SEEK_GIVEN_H
#define VDBQ_EXEC_SEEK_GIVEN_H

#include "program/parameter.h"
#include "program/steps/steps.h"

/* A column of the step's list, with the values of parameters in their places. What is
 * made for it is `*made`, to be freed with memory_release(). False: no memory. */
bool seek_given_column(const struct step_seek *step, unsigned i,
                       const struct parameter *parameters,
                       struct vdbq_vector *list, void **made);

#endif
