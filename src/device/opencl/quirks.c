/* SPDX-License-Identifier: MIT */
/*
 * The table of quirks. A line says what was seen, and nothing is in it that a
 * platform could be asked for.
 */
#include "device/opencl/quirks.h"

#include <stddef.h>
#include <string.h>

static const struct quirks table[] = {
    /* Asked for a binary, POCL compiles a second time. */
    { "Portable Computing Language", true, true, true, "", "3.1" },
    { "NVIDIA CUDA", true, false, false, "", NULL },
    /* Its compiler's optimiser makes calls that the simulator does not know
     * (llvm.usub.sat), as a prefetch is one. */
    { "Oclgrind", false, false, false, " -cl-opt-disable -DVDBQ_NO_FETCH",
      NULL },
};

const struct quirks *quirks_of(const char *platform_name)
{
    static const struct quirks none = { "", false, false, false, "", NULL };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].platform, platform_name) == 0)
            return &table[i];
    }
    return &none;
}
