/* SPDX-License-Identifier: MIT */
/*
 * Loading projections. The first time all of a tablet is read, those columns
 * that nobody wants into a buffer that is used again and again, and its
 * checksum compared; after that the wanted columns alone, which must be what
 * they were. Values are compared with the facts that the head tells of them
 * when a column is first wanted, and these with the catalogue's each time.
 *
 * In place the wanted columns, too, are read into the buffer the first time,
 * and are not compared again: whatever they are later will do.
 */
#include "data/pool/projection.h"

#include <string.h>

#include "data/database/database_inner.h"
#include "data/pool/projection_inner.h"
#include "base/threads/stop.h"
#include "data/tablet/block.h"
#include "data/database/edited.h"

/* Bytes that are read and summed up at a time: few enough to be in a core's
 * own cache when they are summed up. */
enum { READ_BYTES = 256 << 10 };

/* A tablet that is being read from its start to its end. */
struct stream {
    const struct projection *projection;
    struct checksum whole;
    uint8_t *scratch;  /* READ_BYTES bytes               */
    uint64_t at;       /* in the tablet             */
    const char *fault; /* of packed words, of which the checksum is not known
                          yet; NULL: there is none */
    struct error *error;
};

static enum vdbq_status prove_bytes(const struct projection *projection,
                                    uint8_t *block, struct error *error);
static enum vdbq_status check_values(const struct projection *projection,
                                     unsigned column, const uint8_t *block,
                                     struct error *error);

bool projection_proven(const struct projection *projection)
{
    return projection->proof->whole;
}

bool projection_reads(const struct projection *projection)
{
    bool known = projection->in_place && projection_proven(projection);

    for (unsigned i = 0; i < projection->table->column_count; i++)
        known &= !projection->wanted[i] || projection->proof->column[i].checked;
    return !known;
}

enum vdbq_status projection_prove(const struct projection *projection,
                                  uint8_t *block, struct error *error)
{
    enum vdbq_status status = prove_bytes(projection, block, error);

    if (!projection->in_place)
        memcpy(block, projection->here, projection_head_size(projection));
    for (unsigned i = 0;
         i < projection->table->column_count && status == VDBQ_OK; i++)
        if (projection->wanted[i])
            status = check_values(projection, i, block, error);
    return status;
}

/* ---------------------------------------------------------------- edits -- */

/* Fills the block with all that is wanted. */
static enum vdbq_status put_all(const struct projection *projection,
                                uint8_t *block, struct error *error)
{
    enum vdbq_status status;

    if (!projection_proven(projection))
        return projection_prove(projection, block, error);
    status = projection_put_head(projection, block, error);
    for (unsigned i = 0;
         i < projection->table->column_count && status == VDBQ_OK; i++)
        if (projection->wanted[i])
            status = projection_put_column(projection, i, block, error);
    return status;
}

/* Puts the edit over what was brought in. */
static enum vdbq_status put_edit(const struct projection *base,
                                 const struct tablet_ref *edited,
                                 enum encoding_choice choice,
                                 const uint8_t *bytes, uint8_t *block,
                                 struct error *error)
{
    const struct tablet_editing editing = { .table = base->table,
                                            .edit = edited->edit,
                                            .base = bytes,
                                            .wanted = base->wanted,
                                            .choice = choice };
    enum vdbq_status status = VDBQ_OK;

    if (tablet_edited(&editing, block) == 0)
        return stop_or_no_memory(error);
    for (unsigned i = 0; i < base->table->column_count && status == VDBQ_OK;
         i++)
        if (base->wanted[i])
            status = tablet_check_facts(base->database, base->table, edited,
                                        block, i, error);
    return status;
}

enum vdbq_status projection_edited(const struct projection *base,
                                   const struct tablet_ref *edited,
                                   enum encoding_choice choice, uint8_t *block,
                                   struct error *error)
{
    struct block before = block_create(projection_lay_out(base));
    enum vdbq_status status;

    if (before.bytes == NULL)
        return error_no_memory(error);
    status = put_all(base, before.bytes, error);
    if (status == VDBQ_OK)
        status = put_edit(base, edited, choice, before.bytes, block, error);
    block_destroy(&before);
    return status;
}

/* -------------------------------------------------------------- bytes -- */

/* Where an area of a column goes; NULL: nowhere. */
static uint8_t *place_of(const struct projection *projection, unsigned column,
                         unsigned area, uint8_t *block)
{
    struct tablet_area areas[TABLET_AREAS_MAX];

    if (!projection->wanted[column] || projection->in_place)
        return NULL;
    tablet_areas(tablet_column(projection->here, column),
                 projection->tablet->rows, areas);
    return block + areas[area].offset;
}

/* Reads from the tablet up to `end`, into `to` unless that is NULL; adds the
 * bytes to `sum` unless that is NULL. */
static enum vdbq_status read_on(struct stream *stream, uint64_t end,
                                uint8_t *to, struct checksum *sum)
{
    const struct projection *projection = stream->projection;

    while (stream->at < end) {
        uint64_t left = end - stream->at;
        size_t size = left < READ_BYTES ? (size_t)left : READ_BYTES;
        uint8_t *place = to != NULL ? to : stream->scratch;
        enum vdbq_status status =
            file_read(&projection->database->file, place, size,
                      projection->tablet->offset + stream->at, stream->error);
        if (status != VDBQ_OK)
            return status;
        checksum_add(&stream->whole, place, size);
        if (sum != NULL)
            checksum_add(sum, place, size);
        stream->at += size;
        to = to != NULL ? to + size : NULL;
    }
    return VDBQ_OK;
}

/* Reads the areas of a column, and what lies before them. */
static enum vdbq_status prove_column(struct stream *stream, unsigned column,
                                     uint8_t *block)
{
    const struct projection *projection = stream->projection;
    struct tablet_area areas[TABLET_AREAS_MAX];
    unsigned count = tablet_areas(tablet_column(projection->head, column),
                                  projection->tablet->rows, areas);
    enum vdbq_status status = VDBQ_OK;
    struct checksum sum;

    checksum_begin(&sum);
    for (unsigned k = 0; k < count && status == VDBQ_OK; k++) {
        status = read_on(stream, areas[k].offset, NULL, NULL);
        if (status == VDBQ_OK)
            status = read_on(stream, areas[k].offset + areas[k].size,
                             place_of(projection, column, k, block), &sum);
    }
    projection->proof->column[column].sum = checksum_end(&sum);
    return status;
}

/* Packed words that are read piece by piece. */
struct packed_stream {
    struct stream *stream;
    uint64_t end;         /* of their area, in the tablet */
    uint8_t *bytes;       /* the last piece */
    size_t room;          /* of `bytes` */
    struct checksum *sum; /* of them */
    enum vdbq_status status;
};

static const void *next_packed(void *context, size_t size)
{
    struct packed_stream *packed = context;
    struct stream *stream = packed->stream;

    if (packed->status != VDBQ_OK || size > packed->end - stream->at)
        return NULL;
    if (size > packed->room) {
        uint8_t *more = memory_resize(packed->bytes, size);
        if (more == NULL) {
            packed->status = error_no_memory(stream->error);
            return NULL;
        }
        packed->bytes = more;
        packed->room = size;
    }
    packed->status =
        read_on(stream, stream->at + size, packed->bytes, packed->sum);
    return packed->status == VDBQ_OK ? packed->bytes : NULL;
}

/* Reads packed words, and unpacks them at `to`. What is wrong with them is the
 * stream's fault: it is told once the checksum is known. */
static enum vdbq_status read_packed(struct stream *stream,
                                    const struct words_place *place,
                                    uint8_t *to, struct checksum *sum)
{
    struct packed_stream packed = { .stream = stream,
                                    .end = place->offset + place->sizes.file,
                                    .sum = sum };
    const struct words_source source = { next_packed, &packed };
    unsigned threads = stream->projection->threads;
    const char *fault =
        words_unpack(&source, &place->sizes, threads > 0 ? threads : 1, to);

    if (stream->fault == NULL)
        stream->fault = fault;
    while (packed.status == VDBQ_OK && stream->at < packed.end) {
        uint64_t left = packed.end - stream->at;
        next_packed(&packed, left < UNIT_RAW ? (size_t)left : UNIT_RAW);
    }
    memory_release(packed.bytes);
    return packed.status;
}

/* Where the words of a text column go; NULL: nobody wants them. */
static struct tablet_words *words_room(const struct projection *projection,
                                       unsigned column, const uint8_t *block)
{
    const struct tablet_column *here = tablet_column(projection->here, column);

    if (projection_parts_words(projection, column))
        return dictionary_area(projection->dictionaries[column]);
    if (!projection_puts_words(projection, column))
        return NULL;
    return (struct tablet_words *)(block + projection->here->variable
                                   + (uint64_t)here->words * TABLET_ALIGN);
}

static bool words_packed(const struct projection *projection, unsigned column)
{
    return tablet_column(projection->head, column)->words_packed != 0;
}

/* Reads the words of a text column, and what lies before them; into the
 * projection if they are wanted. `*sum` is that of their bytes in the file. */
static enum vdbq_status read_words(struct stream *stream, unsigned column,
                                   uint8_t *block, uint64_t *sum)
{
    const struct projection *projection = stream->projection;
    const struct words_place *place = &projection->words[column];
    uint8_t *to = (uint8_t *)words_room(projection, column, block);
    enum vdbq_status status = read_on(stream, place->offset, NULL, NULL);
    struct checksum words;

    checksum_begin(&words);
    if (status == VDBQ_OK)
        status = to != NULL && words_packed(projection, column)
                     ? read_packed(stream, place, to, &words)
                     : read_on(stream, place->offset + place->sizes.file, to,
                               &words);
    *sum = checksum_end(&words);
    return status;
}

static enum vdbq_status tell_fault(const struct stream *stream)
{
    const struct projection *projection = stream->projection;

    if (stream->fault == NULL)
        return VDBQ_OK;
    return error_set(
        stream->error, VDBQ_CORRUPT,
        "%s: table %s: the tablet at byte %llu is damaged: %s",
        database_path(projection->database), projection->table->name,
        (unsigned long long)projection->tablet->offset, stream->fault);
}

/* Reads all of the tablet. */
static enum vdbq_status prove_bytes(const struct projection *projection,
                                    uint8_t *block, struct error *error)
{
    struct stream stream = { .projection = projection,
                             .error = error,
                             .scratch = memory_resize(NULL, READ_BYTES) };
    enum vdbq_status status = projection_wants_words(projection)
                                  ? VDBQ_OK
                                  : projection_place_words(projection, error);

    if (stream.scratch == NULL)
        return error_no_memory(error);
    checksum_begin(&stream.whole);
    checksum_add(&stream.whole, projection->head,
                 projection_head_size(projection));
    stream.at = projection_head_size(projection);
    for (unsigned i = 0;
         i < projection->table->column_count && status == VDBQ_OK; i++)
        status = prove_column(&stream, i, block);
    for (unsigned i = 0;
         i < projection->table->column_count && status == VDBQ_OK; i++)
        if (projection_has_words(projection, i))
            status = read_words(&stream, i, block,
                                &projection->proof->column[i].words);
    if (status == VDBQ_OK)
        status = read_on(&stream, projection->tablet->size_bytes, NULL, NULL);
    memory_release(stream.scratch);
    if (status == VDBQ_OK)
        status = tablet_check_sum(projection->database, projection->table,
                                  projection->tablet,
                                  checksum_end(&stream.whole), error);
    if (status == VDBQ_OK)
        status = tell_fault(&stream);
    projection->proof->head =
        block_checksum(projection->head, projection_head_size(projection));
    projection->proof->whole = status == VDBQ_OK;
    return status;
}

/* Reads the areas of one column; `*sum` is that of their bytes. */
static enum vdbq_status read_column(const struct projection *projection,
                                    unsigned column, uint8_t *block,
                                    uint64_t *sum, struct error *error)
{
    struct tablet_area areas[TABLET_AREAS_MAX];
    unsigned count = tablet_areas(tablet_column(projection->head, column),
                                  projection->tablet->rows, areas);
    struct stream stream = { .projection = projection, .error = error };
    enum vdbq_status status = VDBQ_OK;

    checksum_begin(&stream.whole);
    for (unsigned k = 0; k < count && status == VDBQ_OK; k++) {
        stream.at = areas[k].offset;
        status = read_on(&stream, areas[k].offset + areas[k].size,
                         place_of(projection, column, k, block), NULL);
    }
    *sum = checksum_end(&stream.whole);
    return status;
}

static enum vdbq_status has_changed(const struct projection *projection,
                                    struct error *error)
{
    return error_set(error, VDBQ_CORRUPT,
                     "%s: table %s: the tablet at byte %llu is damaged: its "
                     "bytes have changed since they were read first",
                     database_path(projection->database),
                     projection->table->name,
                     (unsigned long long)projection->tablet->offset);
}

/* Reads the words of a column, of which the sum is known. */
static enum vdbq_status put_words(const struct projection *projection,
                                  unsigned column, uint8_t *block,
                                  struct error *error)
{
    struct stream stream = { .projection = projection,
                             .error = error,
                             .at = projection->words[column].offset };
    uint64_t sum;
    enum vdbq_status status;

    checksum_begin(&stream.whole);
    status = read_words(&stream, column, block, &sum);
    if (status == VDBQ_OK && sum != projection->proof->column[column].words)
        status = has_changed(projection, error);
    return status == VDBQ_OK ? tell_fault(&stream) : status;
}

enum vdbq_status projection_put_head(const struct projection *projection,
                                     uint8_t *block, struct error *error)
{
    if (block_checksum(projection->head, projection_head_size(projection))
        != projection->proof->head)
        return has_changed(projection, error);
    if (projection->in_place)
        return VDBQ_OK;
    memcpy(block, projection->here, projection_head_size(projection));
    return VDBQ_OK;
}

enum vdbq_status projection_put_column(const struct projection *projection,
                                       unsigned column, uint8_t *block,
                                       struct error *error)
{
    uint64_t sum = projection->proof->column[column].sum;
    enum vdbq_status status = VDBQ_OK;

    if (!projection->in_place)
        status = read_column(projection, column, block, &sum, error);
    if (status != VDBQ_OK)
        return status;
    if (sum != projection->proof->column[column].sum)
        return has_changed(projection, error);
    if (words_room(projection, column, block) != NULL)
        status = put_words(projection, column, block, error);
    return status == VDBQ_OK ? check_values(projection, column, block, error)
                             : status;
}

/* ------------------------------------------------------------- values -- */

static enum vdbq_status check_values(const struct projection *projection,
                                     unsigned column, const uint8_t *block,
                                     struct error *error)
{
    struct column_proof *proof = &projection->proof->column[column];
    const struct tablet_check_words words = {
        .words = words_room(projection, column, block),
        .size = projection->words[column].sizes.memory,
        .proven = words_packed(projection, column)
    };
    enum vdbq_status status = VDBQ_OK;

    if (!proof->checked)
        status = tablet_check_column(projection->table, projection->here, block,
                                     column, &words, error);
    proof->checked = status == VDBQ_OK;
    return status == VDBQ_OK
               ? tablet_check_facts(projection->database, projection->table,
                                    projection->tablet, projection->here,
                                    column, error)
               : status;
}
