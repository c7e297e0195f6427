/* SPDX-License-Identifier: MIT */
/* What the files of gathering share. */
#ifndef VDBQ_DATA_GATHER_INNER_H
#define VDBQ_DATA_GATHER_INNER_H

#include "data/tablet/gather.h"

/* Lets go of all but the numbers. */
void gather_release_texts(struct gather *gather);

#endif
