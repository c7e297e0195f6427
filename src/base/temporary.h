/* SPDX-License-Identifier: MIT */
/* Where temporary files are made. */
#ifndef VDBQ_BASE_TEMPORARY_H
#define VDBQ_BASE_TEMPORARY_H

#include <stdlib.h>

/* The folder of temporary files. */
static inline const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder != NULL && folder[0] != '\0' ? folder : "/tmp";
}

#endif
