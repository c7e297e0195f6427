/* SPDX-License-Identifier: MIT */
/*
 * Changes of rows of a tablet: an edit beside it (data/catalogue/edit.h), in place
 * of a tablet that is written anew; or one from which that is made.
 */
#ifndef VDBQ_DATA_TRANSACTION_EDIT_H
#define VDBQ_DATA_TRANSACTION_EDIT_H

#include "data/transaction/transaction_inner.h"

/* What becomes of a tablet whose rows change. */
enum edit_way {
    EDIT_NOT,    /* its rows are written anew, with neighbours          */
    EDIT_BESIDE, /* it stays, with the edit                             */
    EDIT_INTO    /* a new one is made of it and the edit                */
};

/* Makes `*edited` of a tablet of the draft, unless the way is EDIT_NOT: the same
 * base with an edit that the caller holds, and facts in the arena. The change's
 * places are rows of the tablet as it is. Fails with NO_MEMORY. */
enum vdbq_status transaction_edit(struct transaction *transaction,
                                  const struct table *table,
                                  const struct tablet_ref *tablet,
                                  const struct edit_change *change,
                                  struct arena *arena,
                                  struct tablet_ref *edited, enum edit_way *way,
                                  struct error *error);

#endif
