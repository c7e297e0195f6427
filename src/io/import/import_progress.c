/* SPDX-License-Identifier: MIT */
/* How far the import is, and whether it is to go on. */
#include "io/import/import_inner.h"

bool import_goes_on(const struct import *import, uint64_t taken, uint64_t rows)
{
    const struct import_params *params = import->params;
    uint64_t all = import->text.file_bytes;
    struct import_progress progress = { .done = import->pass * all + taken,
                                        .all = import->passes * all,
                                        .rows = rows };
    return !params->progress || params->progress(params->context, &progress);
}
