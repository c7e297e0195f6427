/* SPDX-License-Identifier: MIT */
/*
 * Numbers, names and SQL out of the catalogue's bytes: decoder.h.
 */
#include "data/file/decoder.h"

#include <assert.h>
#include <string.h>

void decoder_fail(struct decoder *decoder, const char *what, const char *name)
{
    if (!decoder->failed)
        error_set(decoder->error, VDBQ_CORRUPT,
                  "%s: the catalogue at byte %llu is damaged: %s%s%s",
                  decoder->path, (unsigned long long)decoder->bounds->offset,
                  what, name != NULL ? " in table " : "",
                  name != NULL ? name : "");
    decoder->failed = true;
}

static void *take(struct decoder *decoder, struct arena *arena, size_t count,
                  size_t width)
{
    void *memory = NULL;

    if (decoder->failed)
        return NULL;
    if (width == 0 || count <= SIZE_MAX / width)
        memory = arena_alloc(arena, count * width);
    if (memory == NULL) {
        error_no_memory(decoder->error);
        decoder->failed = true;
    }
    return memory;
}

void *decoder_take(struct decoder *decoder, size_t count, size_t width)
{
    return take(decoder, &decoder->catalogue->names->arena, count, width);
}

void *decoder_take_own(struct decoder *decoder, size_t count, size_t width)
{
    return take(decoder, &decoder->catalogue->arena, count, width);
}

/* Whether so many bytes follow. */
static bool has(struct decoder *decoder, size_t size)
{
    assert(decoder->at <= decoder->end);
    if (!decoder->failed && (size_t)(decoder->end - decoder->at) < size)
        decoder_fail(decoder, "it ends too early", NULL);
    return !decoder->failed;
}

void decoder_skip(struct decoder *decoder, size_t size)
{
    if (has(decoder, size))
        decoder->at += size;
}

void decoder_get(struct decoder *decoder, void *value, size_t size)
{
    if (!has(decoder, size)) {
        memset(value, 0, size);
        return;
    }
    memcpy(value, decoder->at, size);
    decoder->at += size;
}

uint32_t decoder_get_32(struct decoder *decoder)
{
    uint32_t value;

    decoder_get(decoder, &value, sizeof value);
    return value;
}

uint64_t decoder_get_64(struct decoder *decoder)
{
    uint64_t value;

    decoder_get(decoder, &value, sizeof value);
    return value;
}

size_t decoder_bound(struct decoder *decoder, uint64_t count, size_t width,
                     const char *what)
{
    assert(decoder->at <= decoder->end && width > 0);
    if (count > (size_t)(decoder->end - decoder->at) / width)
        decoder_fail(decoder, what, NULL);
    return decoder->failed ? 0 : (size_t)count;
}

const char *decoder_name(struct decoder *decoder)
{
    size_t length =
        decoder_bound(decoder, decoder_get_32(decoder), 1, "a name's length");
    char *name;

    if (!decoder->failed
        && (length == 0 || length > NAME_BYTES_MAX
            || memchr(decoder->at, 0, length) != NULL))
        decoder_fail(decoder, "a name", NULL);
    if (decoder->bounds->places) {
        decoder_skip(decoder, length);
        return "";
    }
    name = decoder_take(decoder, length + 1, 1);
    if (name != NULL)
        decoder_get(decoder, name, length);
    return name;
}

const char *decoder_sql(struct decoder *decoder)
{
    size_t length = decoder_bound(decoder, decoder_get_32(decoder), 1,
                                  "a default's length");
    char *sql;

    if (decoder->failed || length == 0)
        return NULL;
    if (length > STORED_SQL_MAX || memchr(decoder->at, 0, length) != NULL)
        decoder_fail(decoder, "a default", NULL);
    sql = decoder_take(decoder, length + 1, 1);
    if (sql != NULL)
        decoder_get(decoder, sql, length);
    return sql;
}
