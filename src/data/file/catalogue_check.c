/* SPDX-License-Identifier: MIT */
/*
 * What must differ within a catalogue that was read: catalogue_check.h.
 */
#include "data/file/catalogue_check.h"

#include "data/file/space.h"

static void check_names(struct decoder *decoder);
static void check_extents(struct decoder *decoder);
static void check_identities(struct decoder *decoder);

void catalogue_check(struct decoder *decoder)
{
    check_names(decoder);
    if (!decoder->failed)
        check_extents(decoder);
    if (!decoder->failed)
        check_identities(decoder);
}

/* No two columns have one name. */
static void check_column_names(struct decoder *decoder,
                               const struct table *table)
{
    const char **names =
        decoder_take_own(decoder, table->column_count, sizeof *names);

    for (unsigned i = 0; names != NULL && i < table->column_count; i++)
        names[i] = table->columns[i].name;
    if (names != NULL && names_twice(names, table->column_count) != NULL)
        decoder_fail(decoder, "two columns of one name", table->name);
}

/* Tables, views and indexes have names of their own. */
static void check_all_names(struct decoder *decoder)
{
    const struct catalogue *catalogue = decoder->catalogue;
    size_t count = 0;
    const char **names = decoder_take_own(
        decoder,
        catalogue->table_count + catalogue->view_count + catalogue->index_count,
        sizeof *names);

    if (names == NULL)
        return;
    for (size_t i = 0; i < catalogue->table_count; i++)
        names[count++] = catalogue->tables[i].name;
    for (size_t i = 0; i < catalogue->view_count; i++)
        names[count++] = catalogue->views[i].name;
    for (size_t i = 0; i < catalogue->index_count; i++)
        names[count++] = catalogue->indexes[i].name;
    if (names_twice(names, count) != NULL)
        decoder_fail(decoder, "two tables of one name", NULL);
}

/* Names of tables, names of columns of a table, and ids are there once. The
 * ids grow, since tables are only ever added at the end. */
static void check_names(struct decoder *decoder)
{
    const struct catalogue *catalogue = decoder->catalogue;
    const struct table *tables = catalogue->tables;

    for (size_t i = 0; i < catalogue->table_count && !decoder->failed; i++) {
        check_column_names(decoder, &tables[i]);
        if (i > 0 && tables[i - 1].id >= tables[i].id)
            decoder_fail(decoder, "the id", tables[i].name);
    }
    check_all_names(decoder);
}

/* Nothing in the file overlaps anything else. */
static void check_extents(struct decoder *decoder)
{
    struct vector extents = VECTOR(struct extent);

    if (!extents_add(&extents, decoder->bounds->offset, decoder->bounds->size)
        || !extents_add(&extents, decoder->bounds->copies,
                        decoder->bounds->copies_size)
        || !extents_add_catalogue(&extents, decoder->catalogue)) {
        error_no_memory(decoder->error);
        decoder->failed = true;
    }
    extents_sort(&extents);
    if (!decoder->failed && extents_overlap(&extents) != NULL)
        decoder_fail(decoder, "two blocks in one place", NULL);
    vector_finish(&extents);
}

/* Of all tables. */
static size_t count_tablets(const struct catalogue *catalogue)
{
    size_t count = 0;

    for (size_t i = 0; i < catalogue->table_count; i++)
        count += catalogue->tables[i].tablet_count;
    return count;
}

/* Tablets that had one identity would be taken for one another. */
static void check_identities(struct decoder *decoder)
{
    const struct catalogue *catalogue = decoder->catalogue;
    size_t count = count_tablets(catalogue), at = 0;
    struct identity *identities = memory_zeroed(count + 1, sizeof *identities);

    if (identities == NULL) {
        error_no_memory(decoder->error);
        decoder->failed = true;
        return;
    }
    for (size_t i = 0; i < catalogue->table_count; i++)
        for (size_t k = 0; k < catalogue->tables[i].tablet_count; k++)
            identities[at++] = catalogue->tables[i].tablets[k].identity;
    if (identities_twice(identities, count))
        decoder_fail(decoder, "two tablets of one identity", NULL);
    memory_release(identities);
}
