/* SPDX-License-Identifier: MIT */
/*
 * The text of a file, part by part. A mapped text is cut where it lies. A
 * packed one is unpacked as its parts are asked for, each into memory of its
 * own, by whichever thread asks: while it does, others parse. No more is held
 * than the parts at hand and one record that is not complete.
 */
#include "io/import/import_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A record of a packed file has to end within so many bytes: a few bytes can
 * be unpacked to very many. */
enum { PART_BYTES = 1 << 20, RECORD_BYTES_MAX = 1 << 27, STEP_BYTES = 1 << 17 };

/* ------------------------------------------------------------- failures -- */

static enum vdbq_status fail(struct import_text *text, enum vdbq_status status,
                             const char *hint, const char *message)
{
    struct import_failure *failure = &text->failure;
    failure->status = status;
    failure->hint = hint;
    snprintf(failure->message, sizeof failure->message, "%s", message);
    return status;
}

static enum vdbq_status fail_memory(struct import_text *text)
{
    return fail(text, VDBQ_NO_MEMORY, "", "out of memory");
}

/* Tells the caller of the import. */
static enum vdbq_status fail_text(struct import *import)
{
    const struct import_failure *failure = &import->text.failure;
    if (failure->status == VDBQ_CANCELLED)
        return import_fail_stopped(import);
    return import_fail(import, failure->status, failure->hint, "%s",
                       failure->message);
}

/* ------------------------------------------------------------- unpacking -- */

static bool make_room(struct import_text *text, size_t room)
{
    if (room <= text->rest_room)
        return true;
    char *rest = realloc(text->rest, room);
    if (rest) {
        text->rest = rest;
        text->rest_room = room;
    }
    return rest != NULL;
}

static enum vdbq_status unpack_step(struct import_text *text)
{
    size_t length;
    if (!make_room(text, text->rest_length + STEP_BYTES))
        return fail_memory(text);
    enum vdbq_status status = unpack_read(
        text->unpack, text->rest + text->rest_length, STEP_BYTES, &length);
    text->rest_length += length;
    text->ended = length == 0;
    return status == VDBQ_OK ? status
                             : fail(text, status, unpack_hint(text->unpack),
                                    unpack_message(text->unpack));
}

/* The caller's thread asks; others are told by it. */
static bool must_stop(const struct import *import)
{
    const struct import_text *text = &import->text;
    return text->shared
               ? atomic_load(&text->stop)
               : !import_goes_on(import, unpack_taken(text->unpack), 0);
}

/* Has `wanted` bytes in `rest`, or all that are left. */
static enum vdbq_status unpack_more(struct import *import, size_t wanted)
{
    struct import_text *text = &import->text;
    enum vdbq_status status = VDBQ_OK;
    if (!make_room(text, wanted + STEP_BYTES))
        return fail_memory(text);
    while (status == VDBQ_OK && !text->ended && text->rest_length < wanted)
        status = must_stop(import)
                     ? fail(text, VDBQ_CANCELLED, "", "interrupted")
                     : unpack_step(text);
    return status;
}

/* Where the part in `rest` ends, whose text starts at `start` bytes. */
static enum vdbq_status find_end(struct import *import, size_t start,
                                 size_t *end)
{
    struct import_text *text = &import->text;
    size_t wanted = start + PART_BYTES + STEP_BYTES;
    enum vdbq_status status;
    while ((status = unpack_more(import, wanted)) == VDBQ_OK) {
        const char *rest_end = text->rest + text->rest_length;
        struct csv_reader reader =
            import_reader(import, text->rest + start, rest_end);
        const char *split = csv_split(&reader, PART_BYTES);
        *end = (size_t)(split - text->rest);
        if (split < rest_end || text->ended)
            return VDBQ_OK;
        if (text->rest_length > RECORD_BYTES_MAX)
            return fail(text, VDBQ_LIMIT,
                        "a quote that is never closed makes such records; "
                        "unpacked the file may have them",
                        "a record of the packed file is longer than 128 MiB");
        wanted = 2 * text->rest_length;
    }
    return status;
}

/* The part takes `rest`, and what is behind it stays in a new one. */
static enum vdbq_status take_rest(struct import_text *text, size_t start,
                                  size_t end, struct import_part *part)
{
    size_t left = text->rest_length - end;
    char *rest = malloc(left + PART_BYTES + 2 * STEP_BYTES);
    if (!rest)
        return fail_memory(text);
    memcpy(rest, text->rest + end, left);
    *part = (struct import_part){ .start = text->rest + start,
                                  .end = text->rest + end,
                                  .room = text->rest,
                                  .taken = unpack_taken(text->unpack) };
    text->rest = rest;
    text->rest_length = left;
    text->rest_room = left + PART_BYTES + 2 * STEP_BYTES;
    return VDBQ_OK;
}

/* `start`: bytes that stand before the part's text. */
static bool next_unpacked(struct import *import, size_t start,
                          struct import_part *part)
{
    struct import_text *text = &import->text;
    size_t end = 0;
    enum vdbq_status status = find_end(import, start, &end);
    if (status == VDBQ_OK && text->rest_length == 0)
        return false;
    if (status == VDBQ_OK)
        status = take_rest(text, start, end, part);
    part->failed = status != VDBQ_OK;
    return true;
}

/* ---------------------------------------------------------------- parts -- */

static bool next_mapped(struct import *import, struct import_part *part)
{
    struct import_text *text = &import->text;
    struct csv_reader reader = import_reader(import, text->at, text->map_end);
    if (text->at == text->map_end)
        return false;
    const char *end = csv_split(&reader, PART_BYTES);
    *part = (struct import_part){ .start = text->at,
                                  .end = end,
                                  .taken = (uint64_t)(end - text->map) };
    text->at = end;
    return true;
}

void import_text_leave(struct import *import, const struct import_part *part)
{
    enum { PAGES = 1 << 16 }; /* bytes: a multiple of any system's page */
    struct import_text *text = &import->text;
    if (!text->map)
        return;
    size_t end = (size_t)(part->end - text->map) / PAGES * PAGES;
    if (end <= text->left)
        return;
    madvise((char *)text->map + text->left, end - text->left, MADV_DONTNEED);
    text->left = end;
}

bool import_text_next(struct import *import, struct import_part *part)
{
    *part = (struct import_part){ 0 };
    return import->text.map ? next_mapped(import, part)
                            : next_unpacked(import, 0, part);
}

/* Bytes of the byte order mark. */
static size_t mark_bytes(const char *start, const char *end)
{
    return end - start >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* What is looked at of a text before it is cut: all, or its start. */
static enum vdbq_status start_of(struct import *import, const char **start,
                                 const char **end)
{
    struct import_text *text = &import->text;
    enum vdbq_status status = VDBQ_OK;
    if (!text->map)
        status = unpack_more(import, PART_BYTES + STEP_BYTES);
    if (status != VDBQ_OK)
        return fail_text(import);
    *start = text->map ? text->map : text->rest;
    *end = text->map ? text->map_end : text->rest + text->rest_length;
    return *start < *end
               ? import_file_check(import, *start, (size_t)(*end - *start))
               : import_fail(import, VDBQ_TYPE, "", "the file is empty");
}

enum vdbq_status import_text_begin(struct import *import)
{
    struct import_text *text = &import->text;
    const char *start = NULL, *end = NULL;
    enum vdbq_status status = start_of(import, &start, &end);
    if (status != VDBQ_OK)
        return status;
    size_t mark = mark_bytes(start, end);
    import_dialect(import, start + mark, end);
    text->at = start + mark;
    if (text->map ? next_mapped(import, &text->first)
                  : next_unpacked(import, mark, &text->first))
        if (text->first.failed)
            return fail_text(import);
    import->counted = text->map ? text->map : text->first.room;
    import->body = text->first.start ? text->first.start : import->counted;
    text->first_bytes = (size_t)(text->first.end - import->counted);
    return VDBQ_OK;
}

/* Unpacks what the first part holds, and forgets it. */
static enum vdbq_status pass_first(struct import *import)
{
    struct import_text *text = &import->text;
    size_t left = text->first_bytes;
    while (left) {
        text->rest_length = 0;
        enum vdbq_status status =
            unpack_more(import, left < STEP_BYTES ? left : STEP_BYTES);
        if (status != VDBQ_OK)
            return status;
        size_t passed = text->rest_length < left ? text->rest_length : left;
        if (!passed)
            return fail(text, VDBQ_IO, "read it again once it is complete",
                        "another program changed the file while it was read");
        left -= passed;
        text->rest_length -= passed;
        memmove(text->rest, text->rest + passed, text->rest_length);
    }
    return VDBQ_OK;
}

enum vdbq_status import_text_again(struct import *import)
{
    struct import_text *text = &import->text;
    import->lines = 0;
    import->counted = text->map ? text->map : text->first.room;
    text->at = text->first.end;
    text->left = 0;
    if (text->map)
        return VDBQ_OK;
    unpack_close(text->unpack);
    text->unpack = unpack_open(text->fd, text->packing);
    text->ended = false;
    enum vdbq_status status =
        text->unpack ? pass_first(import) : fail_memory(text);
    return status == VDBQ_OK ? status : fail_text(import);
}

enum vdbq_status import_text_verify(struct import *import)
{
    struct import_text *text = &import->text;
    if (text->failure.status == VDBQ_CANCELLED) /* a thread was stopped */
        text->failure.status = VDBQ_OK;
    while (text->failure.status == VDBQ_OK && !text->ended
           && import_goes_on(import, unpack_taken(text->unpack), 0)) {
        text->rest_length = 0;
        if (unpack_step(text) != VDBQ_OK)
            break;
    }
    if (text->failure.status != VDBQ_CORRUPT)
        return import->report->status;
    import->report->line = import->report->column = 0;
    return fail_text(import);
}

bool import_text_has_rows(const struct import *import)
{
    const struct import_text *text = &import->text;
    return import->body < text->first.end
           || (text->map ? text->at < text->map_end
                         : !text->ended || text->rest_length);
}

void import_text_end(struct import *import)
{
    free(import->text.first.room);
    free(import->text.rest);
    import->text.first.room = import->text.rest = NULL;
}
