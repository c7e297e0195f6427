/* SPDX-License-Identifier: MIT */
/*
 * Packed values: see spill_pack.h. Distances are unsigned: those of signed values
 * wrap around, and come back the same way.
 */
#include "exec/rows/spill_pack.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"

/* Least and greatest value. */
struct extent {
    int64_t least, most;
};

PARALLEL_CLONES
static struct extent extent_of_i32(const int32_t *values, uint64_t rows)
{
    int32_t least = values[0], most = values[0];
    for (uint64_t i = 1; i < rows; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    return (struct extent){ least, most };
}

PARALLEL_CLONES
static struct extent extent_of_i64(const int64_t *values, uint64_t rows)
{
    int64_t least = values[0], most = values[0];
    for (uint64_t i = 1; i < rows; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    return (struct extent){ least, most };
}

/* Bytes that a distance takes. */
static unsigned bytes_of(uint64_t distance)
{
    unsigned bytes = 0;
    for (; distance > 0; distance >>= 8)
        bytes++;
    return bytes;
}

/* Writes distances of so many bytes; each takes eight until the next one comes. */
static inline void put(const void *values, unsigned width, uint64_t rows,
                       uint64_t least, unsigned bytes, uint8_t *to)
{
    for (uint64_t i = 0; i < rows; i++, to += bytes) {
        uint64_t value = width == sizeof(uint32_t)
                             ? ((const uint32_t *)values)[i]
                             : ((const uint64_t *)values)[i];
        value -= least;
        memcpy(to, &value, sizeof value);
    }
}

/* Of four bytes: neither signs nor what overflows them is seen. */
static void put_narrow(const void *values, uint64_t rows, uint64_t least,
                       unsigned bytes, uint8_t *to)
{
    switch (bytes) {
    case 1:
        put(values, sizeof(uint32_t), rows, least, 1, to);
        return;
    case 2:
        put(values, sizeof(uint32_t), rows, least, 2, to);
        return;
    default:
        assert(bytes == 3);
        put(values, sizeof(uint32_t), rows, least, 3, to);
    }
}

static void put_wide(const void *values, uint64_t rows, uint64_t least,
                     unsigned bytes, uint8_t *to)
{
    switch (bytes) {
    case 1:
        put(values, sizeof(uint64_t), rows, least, 1, to);
        return;
    case 2:
        put(values, sizeof(uint64_t), rows, least, 2, to);
        return;
    case 3:
        put(values, sizeof(uint64_t), rows, least, 3, to);
        return;
    default:
        put(values, sizeof(uint64_t), rows, least, bytes, to);
    }
}

unsigned spill_pack(const void *values, unsigned width, uint64_t rows,
                    uint8_t *to)
{
    assert(rows > 0
           && (width == sizeof(uint32_t) || width == sizeof(uint64_t)));
    struct extent extent = width == sizeof(uint32_t)
                               ? extent_of_i32(values, rows)
                               : extent_of_i64(values, rows);
    uint64_t least = (uint64_t)extent.least;
    unsigned bytes = bytes_of((uint64_t)extent.most - least);
    uint64_t size = spill_pack_size(bytes, rows);
    uint8_t *at = to + sizeof least;
    memcpy(to, &least, sizeof least);
    if (bytes == width)
        memcpy(at, values, rows * width);
    else if (bytes > 0 && width == sizeof(uint32_t))
        put_narrow(values, rows, least, bytes, at);
    else if (bytes > 0)
        put_wide(values, rows, least, bytes, at);
    memset(at + bytes * rows, 0, size - sizeof least - bytes * rows);
    return bytes;
}

/* Takes distances of so many bytes. */
static inline void take(const uint8_t *from, unsigned bytes, unsigned width,
                        uint64_t rows, uint64_t least, void *to)
{
    uint64_t mask = (UINT64_C(1) << 8 * bytes) - 1;
    uint8_t *at = to;
    for (uint64_t i = 0; i < rows; i++, from += bytes, at += width) {
        uint64_t value;
        memcpy(&value, from, sizeof value);
        value = (value & mask) + least;
        memcpy(at, &value, width); /* of 4: the lower ones come first */
    }
}

static void take_narrow(const uint8_t *from, unsigned bytes, uint64_t rows,
                        uint64_t least, void *to)
{
    switch (bytes) {
    case 1:
        take(from, 1, sizeof(uint32_t), rows, least, to);
        return;
    case 2:
        take(from, 2, sizeof(uint32_t), rows, least, to);
        return;
    default:
        take(from, bytes, sizeof(uint32_t), rows, least, to);
    }
}

static void take_wide(const uint8_t *from, unsigned bytes, uint64_t rows,
                      uint64_t least, void *to)
{
    switch (bytes) {
    case 1:
        take(from, 1, sizeof(uint64_t), rows, least, to);
        return;
    case 2:
        take(from, 2, sizeof(uint64_t), rows, least, to);
        return;
    case 3:
        take(from, 3, sizeof(uint64_t), rows, least, to);
        return;
    default:
        take(from, bytes, sizeof(uint64_t), rows, least, to);
    }
}

void spill_unpack(const uint8_t *from, unsigned bytes, unsigned width,
                  uint64_t rows, void *to)
{
    uint64_t least;
    memcpy(&least, from, sizeof least);
    from += sizeof least;
    assert(bytes <= width);
    if (bytes == width)
        memmove(to, from, rows * width);
    else if (width == sizeof(uint32_t))
        take_narrow(from, bytes, rows, least, to);
    else
        take_wide(from, bytes, rows, least, to);
}
