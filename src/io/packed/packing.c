/* SPDX-License-Identifier: MIT */
#include "io/packed/packing.h"

#include <string.h>
#include <strings.h>

/* A frame of zstd that is skipped has one of sixteen marks. */
static const struct mark {
    const char *bytes;
    unsigned char mask; /* bits of the first byte that count */
    size_t length;
    enum packing packing;
} marks[] = {
    { "\x1f\x8b", 0xff, 2, PACKED_GZIP },
    { "\x28\xb5\x2f\xfd", 0xff, 4, PACKED_ZSTD },
    { "\x50\x2a\x4d\x18", 0xf0, 4, PACKED_ZSTD },
};

enum packing packing_of_bytes(const char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const struct mark *mark = &marks[i];
        if (length >= mark->length
            && (char)(bytes[0] & mark->mask) == mark->bytes[0]
            && memcmp(bytes + 1, mark->bytes + 1, mark->length - 1) == 0)
            return mark->packing;
    }
    return PACKED_NOT;
}

enum packing packing_of_name(const char *name, size_t *length)
{
    const char *dot = strrchr(name, '.');
    enum packing packing = PACKED_NOT;
    if (dot && strcasecmp(dot, ".gz") == 0)
        packing = PACKED_GZIP;
    else if (dot && strcasecmp(dot, ".zst") == 0)
        packing = PACKED_ZSTD;
    *length = packing ? (size_t)(dot - name) : strlen(name);
    return packing;
}

bool packing_name_ends(const char *name, const char *ending)
{
    size_t length, wanted = strlen(ending);
    packing_of_name(name, &length);
    return length >= wanted
           && strncasecmp(name + length - wanted, ending, wanted) == 0;
}
