/* SPDX-License-Identifier: MIT */
/*
 * A new database: both heads and their copies, all alike, and an empty
 * catalogue; always the same bytes. Creation writes and syncs them once. If it
 * is cut short, the file is shorter, and each of its bytes is the new
 * database's or still 0: nobody can have committed anything to such a file, so
 * it is written anew. Likewise what an older vdbq left of a new file of
 * format 1.
 */
#include <assert.h>
#include <string.h>

#include "data/catalogue/catalogue_inner.h"
#include "data/file/file.h"

enum {
    FIRST_FORMAT_NEW_BYTES = FILE_FIRST + PAGE_BYTES,
    FIRST_FORMAT_CATALOGUE_BYTES = 24
};

static enum vdbq_status make_image(uint8_t image[FILE_NEW_BYTES],
                                   struct error *error);
static void make_image_first(uint8_t image[FIRST_FORMAT_NEW_BYTES]);

/* Whether bytes are what a creation left that would have made the image. */
static bool is_part_of(const uint8_t *found, size_t size, const uint8_t *image,
                       size_t image_size)
{
    bool part = size <= image_size;

    for (size_t i = 0; part && i < size; i++)
        part = found[i] == 0 || found[i] == image[i];
    return part;
}

enum vdbq_status file_is_unfinished(const struct file *file, bool *unfinished,
                                    struct error *error)
{
    uint8_t image[FILE_NEW_BYTES], first[FIRST_FORMAT_NEW_BYTES];
    uint8_t found[FILE_NEW_BYTES];
    uint64_t size;
    enum vdbq_status status = file_size(file, &size, error);

    *unfinished = false;
    if (status != VDBQ_OK || size > FILE_NEW_BYTES)
        return status;
    status = make_image(image, error);
    if (status == VDBQ_OK && size > 0)
        status = file_read(file, found, (size_t)size, 0, error);
    if (status != VDBQ_OK)
        return status;
    make_image_first(first);
    *unfinished = is_part_of(found, (size_t)size, image, sizeof image)
                  || is_part_of(found, (size_t)size, first, sizeof first);
    return VDBQ_OK;
}

enum vdbq_status file_write_new(struct file *file, struct error *error)
{
    uint8_t image[FILE_NEW_BYTES];
    enum vdbq_status status = make_image(image, error);

    if (status == VDBQ_OK)
        status = file_write(file, image, sizeof image, 0, error);
    return status != VDBQ_OK ? status : file_sync(file, error);
}

/* -------------------------------------------------------------- images -- */

/* A catalogue that lies behind everything else, and the head that leads to
 * it. */
static struct file_head place(uint8_t *image, size_t image_size,
                              const void *catalogue, size_t size)
{
    assert(image_size > PAGE_BYTES && image_size % PAGE_BYTES == 0
           && size <= PAGE_BYTES);
    struct file_head head = { .catalogue = image_size - PAGE_BYTES,
                              .catalogue_size = size,
                              .catalogue_checksum =
                                  block_checksum(catalogue, size),
                              .end = image_size };

    memset(image, 0, image_size);
    memcpy(image + head.catalogue, catalogue, size);
    return head;
}

/* A whole file with no table in it. */
static enum vdbq_status make_image(uint8_t image[FILE_NEW_BYTES],
                                   struct error *error)
{
    const struct catalogue empty = { .next_table_id = 0 };
    struct file_head head;
    struct text text = { 0 };

    catalogue_encode(&empty, &text);
    if (text.failed) {
        text_finish(&text);
        return error_no_memory(error);
    }
    head = place(image, FILE_NEW_BYTES, text.bytes, text.length);
    text_finish(&text);
    head.copies = FILE_COPIES;
    file_seal_head(&head, FILE_FORMAT);
    for (unsigned i = 0; i < FILE_HEADS; i++) {
        memcpy(image + i * PAGE_BYTES, &head, sizeof head);
        memcpy(image + FILE_COPIES + i * PAGE_BYTES, &head, sizeof head);
    }
    return VDBQ_OK;
}

/* As vdbq 0.1 made it: one head, and a catalogue that says 0 of all. */
static void make_image_first(uint8_t image[FIRST_FORMAT_NEW_BYTES])
{
    static const char catalogue[FIRST_FORMAT_CATALOGUE_BYTES] = "VDBQCATA";
    struct file_head head =
        place(image, FIRST_FORMAT_NEW_BYTES, catalogue, sizeof catalogue);

    file_seal_head(&head, FILE_FORMAT_FIRST);
    memcpy(image, &head, FILE_HEAD_FIRST);
}
