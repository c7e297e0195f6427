/* SPDX-License-Identifier: MIT */
/* What is asked of the numbers that stand for texts, each more than the one
 * before. */
#ifndef VDBQ_PROGRAM_TEXTS_USE_H
#define VDBQ_PROGRAM_TEXTS_USE_H

enum texts_use {
    TEXTS_PASSING,  /* the texts of a batch while it is there: the next one may
                       have other words                                  */
    TEXTS_GIVEN,    /* the texts, wherever they are                     */
    TEXTS_COMPARED, /* equal numbers are of equal texts, and no others  */
    TEXTS_ORDERED   /* ... and their order is that of the texts         */
};

#endif
