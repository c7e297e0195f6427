/* SPDX-License-Identifier: MIT */
/*
 * The buffered writer. What must always hold: out->bytes has room for
 * OUT_ROOM_MAX bytes after a flush, also when writing has failed, so that
 * callers never test for room.
 */
#include "io/out.h"
#include "io/packed/pack.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool out_open(struct out *out, int fd)
{
    *out = (struct out){ .fd = fd };
    out->bytes = malloc(OUT_CAPACITY);
    if (!out->bytes)
        return false;
    out->capacity = OUT_CAPACITY;
    return true;
}

bool out_pack(struct out *out, enum packing packing)
{
    out_flush(out);
    if (packing)
        out->pack = pack_open(out->fd, packing);
    return !packing || out->pack;
}

bool out_finish(struct out *out)
{
    out_flush(out);
    int error = pack_close(out->pack);
    out->pack = NULL;
    if (error && !out->error)
        out->error = error;
    return !out->error;
}

void out_close(struct out *out)
{
    if (out->bytes && out->fd >= 0)
        out_finish(out);
    free(out->bytes);
    *out = (struct out){ .fd = -1 };
}

static void write_all(struct out *out, const char *bytes, size_t length)
{
    if (out->pack && !out->error) {
        out->error = pack_write(out->pack, bytes, length);
        return;
    }
    while (length && !out->error) {
        ssize_t written = write(out->fd, bytes, length);
        if (written >= 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (errno != EINTR) {
            out->error = errno;
        }
    }
}

bool out_flush(struct out *out)
{
    if (out->fd >= 0) {
        write_all(out, out->bytes, out->length);
        out->length = 0;
    }
    return !out->error;
}

/* Memory: twice the room, or start over with the failure noted. */
static void grow(struct out *out, size_t size)
{
    size_t capacity = out->capacity * 2;
    while (capacity - out->length < size)
        capacity *= 2;
    char *bytes = realloc(out->bytes, capacity);
    if (bytes) {
        out->bytes = bytes;
        out->capacity = capacity;
        return;
    }
    out->error = ENOMEM;
    out->length = 0;
}

char *out_more(struct out *out, size_t size)
{
    if (out->fd >= 0)
        out_flush(out);
    else
        grow(out, size);
    return out->bytes + out->length;
}

void out_long(struct out *out, const char *bytes, size_t length)
{
    while (length) {
        size_t part = length < OUT_ROOM_MAX ? length : OUT_ROOM_MAX;
        char *at = out_room(out, part);
        memcpy(at, bytes, part);
        out->length += part;
        bytes += part;
        length -= part;
    }
}

void out_through(struct out *out, const char *bytes, size_t length)
{
    if (out->fd < 0 || length < OUT_ROOM_MAX) {
        out_bytes(out, bytes, length);
        return;
    }
    out_flush(out);
    write_all(out, bytes, length);
}

void out_text(struct out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

void out_repeat(struct out *out, const char *text, size_t times)
{
    size_t length = strlen(text);
    while (times--)
        out_bytes(out, text, length);
}

void out_print(struct out *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *at = out_room(out, OUT_ROOM_MAX);
    int length = vsnprintf(at, OUT_ROOM_MAX, format, arguments);
    va_end(arguments);
    if (length > 0)
        out->length +=
            length < OUT_ROOM_MAX ? (size_t)length : (size_t)OUT_ROOM_MAX - 1;
}
