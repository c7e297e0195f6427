/* SPDX-License-Identifier: MIT */
/*
 * Loading projections: the pages that the wanted columns lie in are read, and each
 * compared with its sum, which is proven once. Of a tablet that has no sums in the
 * file all is read for that, the first time. Values are compared with the facts
 * that the head tells of them when a column is first wanted, and these with the
 * catalogue's each time.
 *
 * In place the wanted columns, too, are read the first time, and are not compared
 * again: whatever they are later will do.
 */
#include "data/pool/projection.h"

#include <string.h>

#include "base/memory.h"
#include "data/database/database_inner.h"
#include "data/database/tablet_pages.h"
#include "data/pool/projection_inner.h"
#include "base/threads/stop.h"
#include "data/tablet/block.h"
#include "data/database/edited.h"
#include "data/tablet/page_sums.h"

static enum vdbq_status put_head(const struct projection *projection,
                                 struct page_reader *reader, uint8_t *block,
                                 struct error *error);
static enum vdbq_status put_column(const struct projection *projection,
                                   struct page_reader *reader, unsigned column,
                                   uint8_t *block, struct error *error);
static enum vdbq_status check_values(const struct projection *projection,
                                     struct page_reader *reader,
                                     unsigned column, const uint8_t *block,
                                     struct error *error);

bool projection_proven(const struct projection *projection)
{
    return projection->proof->sums != NULL;
}

/* Learns the sums of the tablet's pages, which are not known yet. */
static enum vdbq_status learn(const struct projection *projection,
                              struct error *error)
{
    const struct tablet_pages pages = projection_pages(projection);
    uint64_t *sums =
        memory_resize(NULL, page_sums_count(pages.size) * sizeof *sums);
    enum vdbq_status status = sums != NULL
                                  ? tablet_pages_learn(&pages, sums, error)
                                  : error_no_memory(error);

    if (status == VDBQ_OK)
        projection->proof->sums = sums;
    else
        memory_release(sums);
    return status;
}

enum vdbq_status projection_learn_told(const struct projection *projection,
                                       struct error *error)
{
    const struct tablet_pages pages = projection_pages(projection);

    return !projection_proven(projection) && tablet_pages_told(&pages)
               ? learn(projection, error)
               : VDBQ_OK;
}

bool projection_reads(const struct projection *projection)
{
    bool known = projection->in_place && projection_proven(projection);

    for (unsigned i = 0; i < projection->table->column_count; i++)
        known &= !projection->wanted[i] || projection->proof->column[i].checked;
    return !known;
}

/* Head and columns by one reader, which reads a page that they share once. */
static enum vdbq_status put_all(const struct projection *projection,
                                uint8_t *block, struct error *error)
{
    const struct tablet_pages pages = projection_pages(projection);
    struct page_reader reader = page_reader_start(&pages);
    enum vdbq_status status = put_head(projection, &reader, block, error);

    for (unsigned i = 0;
         i < projection->table->column_count && status == VDBQ_OK; i++)
        if (projection->wanted[i])
            status = put_column(projection, &reader, i, block, error);
    page_reader_finish(&reader);
    return status;
}

enum vdbq_status projection_put(const struct projection *projection,
                                uint8_t *block, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (!projection_proven(projection))
        status = learn(projection, error);
    return status == VDBQ_OK ? put_all(projection, block, error) : status;
}

/* ---------------------------------------------------------------- edits -- */

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
    status = projection_put(base, before.bytes, error);
    if (status == VDBQ_OK)
        status = put_edit(base, edited, choice, before.bytes, block, error);
    block_destroy(&before);
    return status;
}

/* -------------------------------------------------------------- bytes -- */

struct tablet_pages projection_pages(const struct projection *projection)
{
    return (struct tablet_pages){ .database = projection->database,
                                  .table = projection->table,
                                  .tablet = projection->tablet,
                                  .size = projection->head->size,
                                  .sums = projection->proof->sums };
}

/* Where an area of a column goes; NULL: nowhere. */
static uint8_t *place_of(const struct projection *projection, unsigned column,
                         unsigned area, uint8_t *block)
{
    struct tablet_area areas[TABLET_AREAS_MAX];

    if (projection->in_place)
        return NULL;
    tablet_areas(tablet_column(projection->here, column),
                 projection->tablet->rows, areas);
    return block + areas[area].offset;
}

/* Reads the areas of a column. */
static enum vdbq_status put_values(const struct projection *projection,
                                   struct page_reader *reader, unsigned column,
                                   uint8_t *block, struct error *error)
{
    struct tablet_area areas[TABLET_AREAS_MAX];
    unsigned count = tablet_areas(tablet_column(projection->head, column),
                                  projection->tablet->rows, areas);
    enum vdbq_status status = VDBQ_OK;

    for (unsigned k = 0; k < count && status == VDBQ_OK; k++)
        status =
            page_reader_copy(reader, areas[k].offset, areas[k].size,
                             place_of(projection, column, k, block), error);
    return status;
}

/* Packed words that are read piece by piece. */
struct packed_stream {
    struct page_reader *reader;
    uint64_t at, end; /* of their area, what is left; in the tablet */
    uint8_t *bytes;   /* the last piece */
    size_t room;      /* of `bytes` */
    enum vdbq_status status;
    struct error *error;
};

static const void *next_packed(void *context, size_t size)
{
    struct packed_stream *packed = context;

    if (packed->status != VDBQ_OK || size > packed->end - packed->at)
        return NULL;
    if (size > packed->room) {
        uint8_t *more = memory_resize(packed->bytes, size);
        if (more == NULL) {
            packed->status = error_no_memory(packed->error);
            return NULL;
        }
        packed->bytes = more;
        packed->room = size;
    }
    packed->status = page_reader_copy(packed->reader, packed->at, size,
                                      packed->bytes, packed->error);
    packed->at += size;
    return packed->status == VDBQ_OK ? packed->bytes : NULL;
}

static enum vdbq_status tell_fault(const struct projection *projection,
                                   const char *fault, struct error *error)
{
    return error_set(error, VDBQ_CORRUPT,
                     "%s: table %s: the tablet at byte %llu is damaged: %s",
                     database_path(projection->database),
                     projection->table->name,
                     (unsigned long long)projection->tablet->offset, fault);
}

/* Reads packed words, and unpacks them at `to`. */
static enum vdbq_status unpack_words(const struct projection *projection,
                                     struct page_reader *reader,
                                     const struct words_place *place,
                                     uint8_t *to, struct error *error)
{
    struct packed_stream packed = { .reader = reader,
                                    .at = place->offset,
                                    .end = place->offset + place->sizes.file,
                                    .error = error };
    const struct words_source source = { next_packed, &packed };
    unsigned threads = projection->threads > 0 ? projection->threads : 1;
    const char *fault = words_unpack(&source, &place->sizes, threads, to);

    memory_release(packed.bytes);
    if (packed.status != VDBQ_OK || fault == NULL)
        return packed.status;
    return tell_fault(projection, fault, error);
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

/* Reads the words of a text column where they are wanted. */
static enum vdbq_status put_words(const struct projection *projection,
                                  struct page_reader *reader, unsigned column,
                                  const uint8_t *block, struct error *error)
{
    const struct words_place *place = &projection->words[column];
    uint8_t *to = (uint8_t *)words_room(projection, column, block);

    if (to == NULL)
        return VDBQ_OK;
    return words_packed(projection, column)
               ? unpack_words(projection, reader, place, to, error)
               : page_reader_copy(reader, place->offset, place->sizes.file, to,
                                  error);
}

/* Compares the head that was read with what the tablet's pages have. */
static enum vdbq_status prove_head(const struct projection *projection,
                                   struct page_reader *reader,
                                   struct error *error)
{
    size_t size = (size_t)projection_head_size(projection);
    uint8_t *head = memory_resize(NULL, size);
    enum vdbq_status status =
        head != NULL ? page_reader_copy(reader, 0, size, head, error)
                     : error_no_memory(error);

    if (status == VDBQ_OK && memcmp(head, projection->head, size) != 0)
        status = tell_fault(projection, "its head changes", error);
    memory_release(head);
    return status;
}

static enum vdbq_status put_head(const struct projection *projection,
                                 struct page_reader *reader, uint8_t *block,
                                 struct error *error)
{
    struct tablet_proof *proof = projection->proof;
    size_t size = (size_t)projection_head_size(projection);
    uint64_t sum = block_checksum(projection->head, size);
    enum vdbq_status status = VDBQ_OK;

    if (proof->head != sum || !proof->head_known)
        status = prove_head(projection, reader, error);
    if (status != VDBQ_OK)
        return status;
    proof->head = sum;
    proof->head_known = true;
    if (!projection->in_place)
        memcpy(block, projection->here, size);
    return VDBQ_OK;
}

enum vdbq_status projection_put_head(const struct projection *projection,
                                     uint8_t *block, struct error *error)
{
    const struct tablet_pages pages = projection_pages(projection);
    struct page_reader reader = page_reader_start(&pages);
    enum vdbq_status status = put_head(projection, &reader, block, error);

    page_reader_finish(&reader);
    return status;
}

static enum vdbq_status put_column(const struct projection *projection,
                                   struct page_reader *reader, unsigned column,
                                   uint8_t *block, struct error *error)
{
    bool known =
        projection->in_place && projection->proof->column[column].checked;
    enum vdbq_status status =
        known ? VDBQ_OK : put_values(projection, reader, column, block, error);

    if (status == VDBQ_OK)
        status = put_words(projection, reader, column, block, error);
    return status == VDBQ_OK
               ? check_values(projection, reader, column, block, error)
               : status;
}

enum vdbq_status projection_put_column(const struct projection *projection,
                                       unsigned column, uint8_t *block,
                                       struct error *error)
{
    const struct tablet_pages pages = projection_pages(projection);
    struct page_reader reader = page_reader_start(&pages);
    enum vdbq_status status =
        put_column(projection, &reader, column, block, error);

    page_reader_finish(&reader);
    return status;
}

/* ------------------------------------------------------------- values -- */

/* How many words of a text column there are, and of how many bytes: packed or not,
 * these stand in front. */
static enum vdbq_status count_words(const struct projection *projection,
                                    struct page_reader *reader, unsigned column,
                                    struct tablet_words *count,
                                    struct error *error)
{
    return page_reader_copy(reader, projection->words[column].offset,
                            sizeof *count, count, error);
}

static enum vdbq_status check_values(const struct projection *projection,
                                     struct page_reader *reader,
                                     unsigned column, const uint8_t *block,
                                     struct error *error)
{
    struct column_proof *proof = &projection->proof->column[column];
    bool counted =
        projection->counted && projection_has_words(projection, column);
    struct tablet_words count;
    const struct tablet_check_words words = {
        .words = counted ? &count : words_room(projection, column, block),
        .size = projection->words[column].sizes.memory,
        .proven = counted || words_packed(projection, column)
    };
    enum vdbq_status status = VDBQ_OK;

    if (!proof->checked && counted)
        status = count_words(projection, reader, column, &count, error);
    if (!proof->checked && status == VDBQ_OK)
        status = tablet_check_column(projection->table, projection->here, block,
                                     column, &words, error);
    proof->checked = status == VDBQ_OK;
    return status == VDBQ_OK
               ? tablet_check_facts(projection->database, projection->table,
                                    projection->tablet, projection->here,
                                    column, error)
               : status;
}
