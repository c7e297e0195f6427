/* SPDX-License-Identifier: MIT */
/*
 * Changes of few rows of a tablet: an edit beside it (data/catalogue/edit.h), in
 * place of a tablet that is written anew.
 */
#ifndef VDBQ_DATA_TRANSACTION_EDIT_H
#define VDBQ_DATA_TRANSACTION_EDIT_H

#include "data/transaction/transaction_inner.h"

/* Makes `*edited` of a tablet of the draft: the same base with an edit that the
 * caller holds, and facts in the arena. The change's places are rows of the
 * tablet as it is. `*made` is false where a new tablet is the better choice.
 * Fails with NO_MEMORY. */
enum vdbq_status
transaction_edit(struct transaction *transaction, const struct table *table,
                 const struct tablet_ref *tablet,
                 const struct edit_change *change, struct arena *arena,
                 struct tablet_ref *edited, bool *made, struct error *error);

#endif
