/* SPDX-License-Identifier: MIT */
/*
 * A buffered writer to a file descriptor, or to memory. A failure sticks in
 * `error` and is asked for at the end; what is written after it is lost, but
 * every call stays allowed.
 */
#ifndef VDBQ_IO_OUT_H
#define VDBQ_IO_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "io/packed/packing.h"

enum { OUT_CAPACITY = 256 * 1024, OUT_ROOM_MAX = 4096 };

struct out {
    int fd;            /* -1: stays in memory, `bytes` grows           */
    struct pack *pack; /* packs what goes to the descriptor; or NULL */
    int error;         /* errno of the first write that failed, else 0 */
    char *bytes;       /* what is not written yet                      */
    size_t length;     /* of it                                        */
    size_t capacity;   /* allocated                                    */
};

/* Starts to write to `fd`, or to memory where it is -1; false without
 * memory. The descriptor stays the caller's. */
bool out_open(struct out *out, int fd);
/* What is written from here on is packed, until out_finish(). False without
 * memory. */
bool out_pack(struct out *out, enum packing packing);
/* Flushes, and writes the end of what was packed; false once a write has
 * failed. */
bool out_finish(struct out *out);
/* Finishes, then frees the buffer; accepts a zeroed one. */
void out_close(struct out *out);
/* Hands what is buffered to the system; false once a write has failed. */
bool out_flush(struct out *out);

/* Makes room the slow way; out_room() is what callers use. */
char *out_more(struct out *out, size_t size);
/* Writes bytes that may be longer than the buffer has room for. */
void out_long(struct out *out, const char *bytes, size_t length);
/* The same of many bytes, which go to the descriptor from where they lie. */
void out_through(struct out *out, const char *bytes, size_t length);
void out_text(struct out *out, const char *text);
void out_repeat(struct out *out, const char *text, size_t times);
void out_print(struct out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for `size` <= OUT_ROOM_MAX bytes; what was used of it is then told
 * with out_used(). */
static inline char *out_room(struct out *out, size_t size)
{
    if (out->capacity - out->length < size)
        return out_more(out, size);
    return out->bytes + out->length;
}

static inline void out_used(struct out *out, const char *end)
{
    out->length = (size_t)(end - out->bytes);
}

static inline void out_char(struct out *out, char c)
{
    *out_room(out, 1) = c;
    out->length++;
}

static inline void out_bytes(struct out *out, const char *bytes, size_t length)
{
    if (out->capacity - out->length < length) {
        out_long(out, bytes, length);
        return;
    }
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

#endif
