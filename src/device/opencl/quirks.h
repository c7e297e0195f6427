/* SPDX-License-Identifier: MIT */
/*
 * What we know of platforms that they do not say themselves.
 */
#ifndef VDBQ_DEVICE_QUIRKS_H
#define VDBQ_DEVICE_QUIRKS_H

#include <stdbool.h>

struct quirks {
    const char *platform; /* its name                                     */
    bool keeps_binaries;  /* has a cache of compiled kernels of its own   */
    bool keeps_files;     /* ... in files of POCL_CACHE_DIR: see keep.h   */
    bool one_width;       /* launches of a kernel that run beside one another
                             must have one width: opencl_launch.c      */
    const char *options;  /* more build options, each after a blank       */
    const char *bitcode;  /* how versions of its driver begin that were seen to
                             find their files by bitcode; NULL: none      */
};

/* Those of a platform; none where we know nothing of it. Never NULL. */
const struct quirks *quirks_of(const char *platform_name);

#endif
