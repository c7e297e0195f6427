/* SPDX-License-Identifier: MIT */
/*
 * A new database: head A, an empty head B, an empty catalogue; always the
 * same bytes. Creation writes and syncs them once. If it is cut short, the
 * file is shorter, and each of its bytes is the new database's or still 0:
 * nobody can have committed anything to such a file, so it is written anew.
 */
#include <string.h>

#include "data/catalogue_inner.h"
#include "data/file.h"

/* Writes the bytes of a new database into `image`. */
static enum vdbq_status make_image(uint8_t image[FILE_NEW_BYTES],
                                   struct error *error)
{
    const struct catalogue empty = { .next_table_id = 0 };
    struct file_head head = { .catalogue = FILE_FIRST, .end = FILE_NEW_BYTES };
    struct text text = { 0 };

    catalogue_encode(&empty, &text);
    if (text.failed) {
        text_finish(&text);
        return error_no_memory(error);
    }
    head.catalogue_size = text.length;
    head.catalogue_checksum = block_checksum(text.bytes, text.length);
    file_seal_head(&head);
    memset(image, 0, FILE_NEW_BYTES);
    memcpy(image, &head, sizeof head);
    memcpy(image + FILE_FIRST, text.bytes, text.length);
    text_finish(&text);
    return VDBQ_OK;
}

enum vdbq_status file_is_unfinished(const struct file *file, bool *unfinished,
                                    struct error *error)
{
    uint8_t image[FILE_NEW_BYTES], found[FILE_NEW_BYTES];
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
    for (size_t i = 0; i < size; i++)
        if (found[i] != 0 && found[i] != image[i])
            return VDBQ_OK;
    *unfinished = true;
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
