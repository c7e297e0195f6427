/* SPDX-License-Identifier: MIT */
/*
 * The collations that SQLite has, under its names.
 */
#include "base/collation.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

static const char *const names[COLLATIONS] = { [COLLATION_BINARY] = "BINARY",
                                               [COLLATION_NOCASE] = "NOCASE",
                                               [COLLATION_RTRIM] = "RTRIM" };

const char *collation_name(enum collation collation)
{
    assert((unsigned)collation < COLLATIONS);
    return names[collation];
}

bool collation_named(const char *name, enum collation *collation)
{
    for (unsigned i = 0; i < COLLATIONS; i++) {
        *collation = (enum collation)i;
        if (name_equal(name, names[i]))
            return true;
    }
    return false;
}

size_t collation_length(enum collation collation, const char *bytes,
                        size_t length)
{
    while (collation == COLLATION_RTRIM && length > 0
           && bytes[length - 1] == ' ')
        length--;
    return length;
}

void collation_fold(enum collation collation, const char *bytes, size_t length,
                    char *key)
{
    bool folds = collation == COLLATION_NOCASE;

    for (size_t i = 0; i < length; i++)
        key[i] = folds ? letter_lower(bytes[i]) : bytes[i];
}
