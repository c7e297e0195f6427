/* SPDX-License-Identifier: MIT */
/*
 * Bytes of the file become a catalogue: catalogue_file.h. What is read is
 * believed only after it was checked: every count against the bytes that are
 * left before memory is taken for it, every extent against the file and
 * against all the others.
 */
#include <string.h>

#include "data/tablet/block.h"
#include "data/catalogue/facts.h"
#include "data/file/catalogue_check.h"
#include "data/file/catalogue_file.h"
#include "data/file/index_keys.h"

static void get_catalogue(struct decoder *decoder);
static void get_table(struct decoder *decoder, struct table *table);
static void get_columns(struct decoder *decoder, struct table *table);
static void parse_defaults(struct decoder *decoder, struct table *table);
static void get_uniques(struct decoder *decoder, struct table *table);
static void get_tablets(struct decoder *decoder, struct table *table);
static void get_views(struct decoder *decoder);
static void get_indexes(struct decoder *decoder);
static void get_checks(struct decoder *decoder);

enum vdbq_status catalogue_decode(const void *bytes,
                                  const struct catalogue_bounds *bounds,
                                  const char *path, default_parser parse,
                                  struct catalogue **catalogue,
                                  struct error *error)
{
    struct decoder decoder = { .at = bytes,
                               .end = (const char *)bytes + bounds->size,
                               .bounds = bounds,
                               .path = path,
                               .parse = parse,
                               .error = error,
                               .catalogue = catalogue_create() };

    *catalogue = NULL;
    if (decoder.catalogue == NULL)
        return error_no_memory(error);
    get_catalogue(&decoder);
    if (!decoder.failed && !bounds->places)
        catalogue_check(&decoder);
    if (decoder.failed) {
        catalogue_release(decoder.catalogue);
        return error->status;
    }
    *catalogue = decoder.catalogue;
    return VDBQ_OK;
}

/* The head of the catalogue, then tables, views and indexes. */
static void get_catalogue(struct decoder *decoder)
{
    struct catalogue *catalogue = decoder->catalogue;
    char magic[CATALOGUE_MAGIC_BYTES];
    size_t count;

    decoder_get(decoder, magic, sizeof magic);
    decoder->edits = memcmp(magic, CATALOGUE_MAGIC_EDITS, sizeof magic) == 0;
    decoder->identities =
        decoder->edits || memcmp(magic, CATALOGUE_MAGIC, sizeof magic) == 0;
    decoder->first = memcmp(magic, CATALOGUE_MAGIC_FIRST, sizeof magic) == 0;
    if (!decoder->identities && !decoder->first
        && memcmp(magic, CATALOGUE_MAGIC_SECOND, sizeof magic) != 0)
        decoder_fail(decoder, "its magic", NULL);
    catalogue->generation = decoder_get_64(decoder);
    if (catalogue->generation != decoder->bounds->generation)
        decoder_fail(decoder, "its generation is not the head's", NULL);
    catalogue->next_table_id = decoder_get_32(decoder);
    if (catalogue->next_table_id > CATALOGUE_TEMPORARY)
        decoder_fail(decoder, "the next table's id", NULL);
    count = decoder_bound(decoder, decoder_get_32(decoder), TABLE_BYTES,
                          "its tables' count");
    if (count > TABLES_MAX)
        decoder_fail(decoder, "too many tables", NULL);
    catalogue->tables =
        decoder_take_own(decoder, count, sizeof *catalogue->tables);
    for (size_t i = 0; i < count && !decoder->failed; i++) {
        get_table(decoder, &catalogue->tables[i]);
        catalogue->table_count++;
    }
    if (decoder->bounds->places)
        return;
    if (!decoder->first) {
        get_views(decoder);
        get_indexes(decoder);
        if (!decoder->failed && decoder->at != decoder->end)
            get_checks(decoder);
    }
    if (!decoder->failed && decoder->at != decoder->end)
        decoder_fail(decoder, "bytes are left over", NULL);
}

/* One table; every number is checked before it is used. */
static void get_table(struct decoder *decoder, struct table *table)
{
    const struct catalogue *catalogue = decoder->catalogue;
    uint64_t tablets;

    table->id = decoder_get_32(decoder);
    table->key = decoder_get_32(decoder);
    table->column_count = decoder_get_32(decoder);
    tablets = decoder_get_64(decoder);
    table->name = decoder_name(decoder);
    if (decoder->failed)
        return;
    if (table->id >= catalogue->next_table_id)
        decoder_fail(decoder, "the id", table->name);
    if (table->column_count == 0 || table->column_count > COLUMNS_MAX)
        decoder_fail(decoder, "the number of columns", table->name);
    if (table->key != NO_KEY && table->key >= table->column_count)
        decoder_fail(decoder, "the primary key", table->name);
    get_columns(decoder, table);
    if (!decoder->failed && !decoder->bounds->places)
        parse_defaults(decoder, table);
    if (!decoder->first)
        get_uniques(decoder, table);
    table->tablet_count =
        decoder_bound(decoder, tablets,
                      TABLET_BYTES + (size_t)FACTS_BYTES * table->column_count,
                      "a table's number of tablets");
    get_tablets(decoder, table);
}

/* What all forms but the first say of a column. */
static void get_column_more(struct decoder *decoder, const struct table *table,
                            struct column *column)
{
    uint32_t more = decoder_get_32(decoder);

    column->precision = more & 255;
    column->scale = more >> 8 & 255;
    column->not_null = (more >> 16 & FLAG_NOT_NULL) != 0;
    column->unique = (more >> 16 & FLAG_UNIQUE) != 0;
    column->collation = (enum collation)(more >> 24);
    if ((more >> 16 & 255) > FLAGS)
        decoder_fail(decoder, "a column's flags", table->name);
    column->default_sql = decoder_sql(decoder);
}

/* All columns of a table. */
static void get_columns(struct decoder *decoder, struct table *table)
{
    unsigned count = (unsigned)decoder_bound(
        decoder, table->column_count, COLUMN_BYTES, "a number of columns");

    table->columns = decoder_take(decoder, count, sizeof *table->columns);
    for (unsigned i = 0; i < count && !decoder->failed; i++) {
        struct column *column = &table->columns[i];
        column->type = (enum vdbq_type)decoder_get_32(decoder);
        column->name = decoder_name(decoder);
        if (!decoder->first)
            get_column_more(decoder, table, column);
        if (!column_valid(column)
            || (decoder->first && column->type >= VDBQ_TEXT))
            decoder_fail(decoder, "a column's type", table->name);
    }
}

/* A database with one bad DEFAULT is not opened, as SQLite opens none with a
 * malformed schema: its checksum is right, so that whoever wrote it was wrong
 * about more than that one text. */
static void parse_defaults(struct decoder *decoder, struct table *table)
{
    struct error why; /* large, and seldom looked at */
    enum vdbq_status status = defaults_parse(decoder->parse, table, &why);

    if (status == VDBQ_CORRUPT) {
        decoder_fail(decoder, why.message, NULL);
    } else if (status != VDBQ_OK) {
        *decoder->error = why;
        decoder->failed = true;
    }
}

/* Whether a block of `size` bytes may be at a place. */
static bool place_is_sound(const struct catalogue_bounds *bounds,
                           uint64_t offset, uint64_t size)
{
    return offset % PAGE_BYTES == 0 && offset >= bounds->first
           && offset <= bounds->end && size <= bounds->end - offset;
}

/* Where the tablet lies, and how many rows it has. */
static void check_place(struct decoder *decoder, const struct table *table,
                        const struct tablet_ref *tablet)
{
    const struct catalogue_bounds *bounds = decoder->bounds;

    if (!place_is_sound(bounds, tablet->offset, tablet->size_bytes))
        decoder_fail(decoder, "a tablet's place", table->name);
    if (tablet->size_bytes < TABLET_ALIGN
        || tablet->size_bytes % TABLET_ALIGN != 0)
        decoder_fail(decoder, "a tablet's size", table->name);
    if (tablet->rows == 0 || tablet->rows > TABLET_ROWS_MAX)
        decoder_fail(decoder, "a tablet's number of rows", table->name);
}

/* The facts of a tablet, one a column. */
static void get_facts(struct decoder *decoder, const struct table *table,
                      struct tablet_ref *tablet)
{
    unsigned count = table->column_count;
    int64_t numbers[FACTS_BYTES / 8]; /* NULLs, then what values are between */

    if (decoder->bounds->places) {
        decoder_skip(decoder, (size_t)count * FACTS_BYTES);
        return;
    }
    for (unsigned i = 0; i < count && !decoder->failed; i++) {
        decoder_get(decoder, numbers, sizeof numbers);
        if (!facts_from_bits(table->columns[i].type, tablet->rows,
                             (uint64_t)numbers[0], numbers + 1,
                             &tablet->facts[i]))
            decoder_fail(decoder, "the facts of a tablet's values",
                         table->name);
    }
}

/* What the tablet is known by; see identity rule 2. */
static void get_identity(struct decoder *decoder, const struct table *table,
                         struct tablet_ref *tablet)
{
    uint64_t first = decoder_get_64(decoder);

    if (decoder->identities)
        tablet->identity = (struct identity){ first, decoder_get_64(decoder) };
    else if (first == 0 || first > decoder->bounds->generation)
        decoder_fail(decoder, "a tablet's generation", table->name);
    else
        tablet->identity =
            identity_of_place(first, tablet->offset, tablet->checksum);
}

/* Where the block of a tablet's edit is, which is read later. */
static void get_edit(struct decoder *decoder, const struct table *table,
                     struct tablet_ref *tablet)
{
    uint64_t place[3]; /* offset, size, checksum */

    decoder_get(decoder, place, sizeof place);
    if (decoder->failed || place[0] == 0)
        return;
    if (place[1] == 0 || !place_is_sound(decoder->bounds, place[0], place[1])) {
        decoder_fail(decoder, "the place of an edit", table->name);
        return;
    }
    tablet->edit = edit_create((struct identity){ 0 }, 0);
    if (tablet->edit == NULL) {
        error_no_memory(decoder->error);
        decoder->failed = true;
        return;
    }
    tablet->edit->offset = place[0];
    tablet->edit->size_bytes = place[1];
    tablet->edit->checksum = place[2];
}

/* Room for the tablets of a table. */
static bool take_tablets(struct decoder *decoder, struct table *table)
{
    unsigned facts = decoder->bounds->places ? 0 : table->column_count;
    struct tablets *tablets = tablets_create(facts, table->tablet_count);

    if (tablets != NULL) {
        table_take_tablets(table, tablets);
        return true;
    }
    table->tablet_count = 0;
    error_no_memory(decoder->error);
    decoder->failed = true;
    return false;
}

/* All tablets of a table. */
static void get_tablets(struct decoder *decoder, struct table *table)
{
    size_t count = table->tablet_count;

    if (decoder->failed || !take_tablets(decoder, table))
        return;
    for (size_t i = 0; i < count && !decoder->failed; i++) {
        struct tablet_ref *tablet = &table->tablets[i];
        uint64_t place[3];
        decoder_get(decoder, place, sizeof place);
        tablet->offset = place[0];
        tablet->size_bytes = place[1];
        tablet->checksum = place[2];
        get_identity(decoder, table, tablet);
        tablet->rows = decoder_get_32(decoder);
        if (!decoder->failed)
            check_place(decoder, table, tablet);
        if (decoder->edits)
            get_edit(decoder, table, tablet);
        get_facts(decoder, table, tablet);
    }
    if (decoder->failed)
        return;
    if (decoder->bounds->places) {
        table_number_rows(table);
        return;
    }
    tablets_join(table->held, NULL);
    table_count_rows(table);
}

/* ------------------------------------------------------ views, indexes -- */

static void check_number(struct decoder *decoder, const struct table *table,
                         unsigned number)
{
    if (number >= table->column_count)
        decoder_fail(decoder, "a column's number", table->name);
}

/* Numbers of columns of a table, which are to be checked. */
static unsigned *get_numbers(struct decoder *decoder, const struct table *table,
                             unsigned *count)
{
    unsigned *numbers;

    *count = (unsigned)decoder_bound(decoder, decoder_get_32(decoder),
                                     sizeof(uint32_t), "how many columns");
    if (*count == 0)
        decoder_fail(decoder, "how many columns", table->name);
    numbers = decoder_take(decoder, *count, sizeof *numbers);
    for (unsigned i = 0; i < *count && !decoder->failed; i++)
        numbers[i] = decoder_get_32(decoder);
    return numbers;
}

/* The rules of more than one column. */
static void get_uniques(struct decoder *decoder, struct table *table)
{
    unsigned count =
        (unsigned)decoder_bound(decoder, decoder_get_32(decoder), UNIQUE_BYTES,
                                "a number of unique columns");

    table->uniques = decoder_take(decoder, count, sizeof *table->uniques);
    for (unsigned i = 0; i < count && !decoder->failed; i++) {
        struct unique *unique = &table->uniques[i];
        unique->columns = get_numbers(decoder, table, &unique->column_count);
        for (unsigned k = 0; k < unique->column_count && !decoder->failed; k++)
            check_number(decoder, table, unique->columns[k]);
    }
    table->unique_count = count;
}

/* All views; their SQL is parsed when they are used. */
static void get_views(struct decoder *decoder)
{
    struct catalogue *catalogue = decoder->catalogue;
    size_t count = decoder_bound(decoder, decoder_get_32(decoder), VIEW_BYTES,
                                 "its views' count");

    if (count > TABLES_MAX)
        decoder_fail(decoder, "too many views", NULL);
    catalogue->views = decoder_take(decoder, count, sizeof *catalogue->views);
    for (size_t i = 0; i < count && !decoder->failed; i++) {
        catalogue->views[i].name = decoder_name(decoder);
        catalogue->views[i].sql = decoder_sql(decoder);
        if (!decoder->failed && catalogue->views[i].sql == NULL)
            decoder_fail(decoder, "a view's statement", NULL);
        catalogue->view_count++;
    }
}

/* The collation of a column of an index that is not the column's own. */
static enum collation get_collation(struct decoder *decoder,
                                    const struct column *column,
                                    unsigned stored)
{
    if (stored == 0)
        return column->collation;
    if (stored > COLLATIONS || column->type != VDBQ_TEXT)
        decoder_fail(decoder, "an index's collation", NULL);
    return (enum collation)(stored - 1);
}

/* Takes the collations out of what an index's columns are stored as. */
static void get_collations(struct decoder *decoder, const struct table *table,
                           struct index *index)
{
    enum collation *collations =
        decoder_take(decoder, index->column_count, sizeof *collations);

    for (unsigned i = 0; i < index->column_count && !decoder->failed; i++) {
        unsigned stored = index->columns[i] >> COLLATION_SHIFT;
        index->columns[i] &= (1u << COLLATION_SHIFT) - 1;
        check_number(decoder, table, index->columns[i]);
        if (decoder->failed)
            return;
        collations[i] =
            get_collation(decoder, &table->columns[index->columns[i]], stored);
        if (stored != 0)
            index->collations = collations;
    }
}

/* One index; its table comes before it. */
static void get_index(struct decoder *decoder, struct index *index)
{
    const struct table *table;
    uint32_t flags;

    index->table_id = decoder_get_32(decoder);
    flags = decoder_get_32(decoder);
    index->unique = (flags & INDEX_UNIQUE) != 0;
    index->name = decoder_name(decoder);
    table = catalogue_table_id(decoder->catalogue, index->table_id);
    if (!decoder->failed
        && (table == NULL || flags > (INDEX_UNIQUE | INDEX_KEYS)))
        decoder_fail(decoder, "an index", NULL);
    if (!decoder->failed && (flags & INDEX_KEYS) != 0) {
        index_keys_decode(decoder, table, index);
        return;
    }
    if (!decoder->failed)
        index->columns = get_numbers(decoder, table, &index->column_count);
    if (!decoder->failed)
        get_collations(decoder, table, index);
}

/* All indexes. */
static void get_indexes(struct decoder *decoder)
{
    struct catalogue *catalogue = decoder->catalogue;
    size_t count = decoder_bound(decoder, decoder_get_32(decoder), INDEX_BYTES,
                                 "its indexes' count");

    if (count > TABLES_MAX)
        decoder_fail(decoder, "too many indexes", NULL);
    catalogue->indexes =
        decoder_take(decoder, count, sizeof *catalogue->indexes);
    for (size_t i = 0; i < count && !decoder->failed; i++) {
        get_index(decoder, &catalogue->indexes[i]);
        catalogue->index_count++;
    }
}

/* ---------------------------------------------------------------- checks -- */

/* One CHECK of a table, whose id stands before it; those of one table follow one
 * another, in the order of tables. */
static void get_check(struct decoder *decoder, struct table *table,
                      struct row_check *check)
{
    check->name = decoder_sql(decoder);
    check->sql = decoder_sql(decoder);
    if (!decoder->failed
        && (check->sql == NULL
            || (check->name != NULL && strlen(check->name) > NAME_BYTES_MAX)))
        decoder_fail(decoder, "a CHECK", table->name);
    if (!decoder->failed)
        decoder_prove_sql(decoder, check->sql);
    check->reads = decoder_reads(decoder, table, &check->read_count);
    table->check_count++;
}

/* The table of the next CHECK: the one of that before it, or one behind that. */
static struct table *table_of_check(struct decoder *decoder, size_t *at)
{
    struct catalogue *catalogue = decoder->catalogue;
    uint32_t id = decoder_get_32(decoder);

    while (*at < catalogue->table_count && catalogue->tables[*at].id != id)
        ++*at;
    if (!decoder->failed
        && (*at == catalogue->table_count
            || catalogue->tables[*at].check_count == CHECKS_MAX))
        decoder_fail(decoder, "the table of a CHECK", NULL);
    return decoder->failed ? NULL : &catalogue->tables[*at];
}

static void get_checks(struct decoder *decoder)
{
    size_t at = 0, count = decoder_bound(decoder, decoder_get_32(decoder),
                                         CHECK_BYTES, "how many CHECKs");
    struct row_check *checks = decoder_take(decoder, count, sizeof *checks);

    if (!decoder->failed && count == 0)
        decoder_fail(decoder, "how many CHECKs", NULL);
    for (size_t i = 0; i < count && !decoder->failed; i++) {
        struct table *table = table_of_check(decoder, &at);
        if (table == NULL)
            return;
        if (table->check_count == 0)
            table->checks = &checks[i];
        get_check(decoder, table, &checks[i]);
    }
}
