/* SPDX-License-Identifier: MIT */
/*
 * Bytes of the file become a catalogue: catalogue_file.h. What is read is
 * believed only after it was checked: every count against the bytes that are
 * left before memory is taken for it, every extent against the file and
 * against all the others.
 */
#include <assert.h>
#include <string.h>

#include "data/tablet/block.h"
#include "data/file/catalogue_file.h"
#include "data/catalogue/catalogue_inner.h"
#include "data/catalogue/facts.h"
#include "data/file/space.h"

/* What is being read; `failed` once anything was wrong, with the error set:
 * the getters then give zeros. */
struct decoder {
    const char *at, *end; /* next byte, and the one behind the last */
    /* what places in the file are allowed */
    const struct catalogue_bounds *bounds;
    const char *path;            /* for messages */
    default_parser parse;        /* NULL: DEFAULTs stay texts */
    struct catalogue *catalogue; /* that is made */
    struct error *error;         /* where the first fault is written */
    bool first;                  /* it is of the first form ...             */
    bool identities; /* ... of that in which tablets have their own */
    bool failed;     /* nothing more is read */
};

static void get_catalogue(struct decoder *decoder);
static void get_table(struct decoder *decoder, struct table *table);
static void get_columns(struct decoder *decoder, struct table *table);
static void parse_defaults(struct decoder *decoder, struct table *table);
static void get_uniques(struct decoder *decoder, struct table *table);
static void get_tablets(struct decoder *decoder, struct table *table);
static void get_views(struct decoder *decoder);
static void get_indexes(struct decoder *decoder);
static void check_names(struct decoder *decoder);
static void check_extents(struct decoder *decoder);
static void check_identities(struct decoder *decoder);

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
    if (!decoder.failed)
        check_names(&decoder);
    if (!decoder.failed)
        check_extents(&decoder);
    if (!decoder.failed)
        check_identities(&decoder);
    if (decoder.failed) {
        catalogue_release(decoder.catalogue);
        return error->status;
    }
    *catalogue = decoder.catalogue;
    return VDBQ_OK;
}

/* Says what is wrong, once. */
static void fail(struct decoder *decoder, const char *what, const char *name)
{
    if (!decoder->failed)
        error_set(decoder->error, VDBQ_CORRUPT,
                  "%s: the catalogue at byte %llu is damaged: %s%s%s",
                  decoder->path, (unsigned long long)decoder->bounds->offset,
                  what, name != NULL ? " in table " : "",
                  name != NULL ? name : "");
    decoder->failed = true;
}

/* Memory from the catalogue's arena, or NULL: the decoder has failed. */
static void *take(struct decoder *decoder, size_t count, size_t width)
{
    void *memory = NULL;

    if (decoder->failed)
        return NULL;
    if (width == 0 || count <= SIZE_MAX / width)
        memory = arena_alloc(&decoder->catalogue->arena, count * width);
    if (memory == NULL) {
        error_no_memory(decoder->error);
        decoder->failed = true;
    }
    return memory;
}

/* Reads bytes; behind the end, and after a fault, they are 0. */
static void get(struct decoder *decoder, void *value, size_t size)
{
    memset(value, 0, size);
    assert(decoder->at <= decoder->end);
    if (decoder->failed)
        return;
    if ((size_t)(decoder->end - decoder->at) < size) {
        fail(decoder, "it ends too early", NULL);
        return;
    }
    memcpy(value, decoder->at, size);
    decoder->at += size;
}

/* A number of 4 bytes. */
static uint32_t get_32(struct decoder *decoder)
{
    uint32_t value;

    get(decoder, &value, sizeof value);
    return value;
}

/* A number of 8 bytes. */
static uint64_t get_64(struct decoder *decoder)
{
    uint64_t value;

    get(decoder, &value, sizeof value);
    return value;
}

/* A count of things of at least `width` bytes each: no more than follow. */
static size_t bound(struct decoder *decoder, uint64_t count, size_t width,
                    const char *what)
{
    assert(decoder->at <= decoder->end && width > 0);
    if (count > (size_t)(decoder->end - decoder->at) / width)
        fail(decoder, what, NULL);
    return decoder->failed ? 0 : (size_t)count;
}

/* A length, then the name; it has no zero byte and is not empty. */
static const char *get_name(struct decoder *decoder)
{
    size_t length = bound(decoder, get_32(decoder), 1, "a name's length");
    char *name;

    if (!decoder->failed
        && (length == 0 || length > NAME_BYTES_MAX
            || memchr(decoder->at, 0, length) != NULL))
        fail(decoder, "a name", NULL);
    name = take(decoder, length + 1, 1);
    if (name != NULL)
        get(decoder, name, length);
    return name;
}

/* The head of the catalogue, then tables, views and indexes. */
static void get_catalogue(struct decoder *decoder)
{
    struct catalogue *catalogue = decoder->catalogue;
    char magic[CATALOGUE_MAGIC_BYTES];
    size_t count;

    get(decoder, magic, sizeof magic);
    decoder->identities = memcmp(magic, CATALOGUE_MAGIC, sizeof magic) == 0;
    decoder->first = memcmp(magic, CATALOGUE_MAGIC_FIRST, sizeof magic) == 0;
    if (!decoder->identities && !decoder->first
        && memcmp(magic, CATALOGUE_MAGIC_SECOND, sizeof magic) != 0)
        fail(decoder, "its magic", NULL);
    catalogue->generation = get_64(decoder);
    if (catalogue->generation != decoder->bounds->generation)
        fail(decoder, "its generation is not the head's", NULL);
    catalogue->next_table_id = get_32(decoder);
    count = bound(decoder, get_32(decoder), TABLE_BYTES, "its tables' count");
    if (count > TABLES_MAX)
        fail(decoder, "too many tables", NULL);
    catalogue->tables = take(decoder, count, sizeof *catalogue->tables);
    for (size_t i = 0; i < count && !decoder->failed; i++) {
        get_table(decoder, &catalogue->tables[i]);
        catalogue->table_count++;
    }
    if (!decoder->first) {
        get_views(decoder);
        get_indexes(decoder);
    }
    if (!decoder->failed && decoder->at != decoder->end)
        fail(decoder, "bytes are left over", NULL);
}

/* One table; every number is checked before it is used. */
static void get_table(struct decoder *decoder, struct table *table)
{
    const struct catalogue *catalogue = decoder->catalogue;
    uint64_t tablets;

    table->id = get_32(decoder);
    table->key = get_32(decoder);
    table->column_count = get_32(decoder);
    tablets = get_64(decoder);
    table->name = get_name(decoder);
    if (decoder->failed)
        return;
    if (table->id >= catalogue->next_table_id)
        fail(decoder, "the id", table->name);
    if (table->column_count == 0 || table->column_count > COLUMNS_MAX)
        fail(decoder, "the number of columns", table->name);
    if (table->key != NO_KEY && table->key >= table->column_count)
        fail(decoder, "the primary key", table->name);
    get_columns(decoder, table);
    if (!decoder->failed)
        parse_defaults(decoder, table);
    if (!decoder->first)
        get_uniques(decoder, table);
    table->tablet_count =
        bound(decoder, tablets,
              TABLET_BYTES + (size_t)FACTS_BYTES * table->column_count,
              "a table's number of tablets");
    get_tablets(decoder, table);
}

/* The text of a DEFAULT; NULL: there is none. */
static const char *get_sql(struct decoder *decoder)
{
    size_t length = bound(decoder, get_32(decoder), 1, "a default's length");
    char *sql;

    if (decoder->failed || length == 0)
        return NULL;
    if (length > STORED_SQL_MAX || memchr(decoder->at, 0, length) != NULL)
        fail(decoder, "a default", NULL);
    sql = take(decoder, length + 1, 1);
    if (sql != NULL)
        get(decoder, sql, length);
    return sql;
}

/* What all forms but the first say of a column. */
static void get_column_more(struct decoder *decoder, const struct table *table,
                            struct column *column)
{
    uint32_t more = get_32(decoder);

    column->precision = more & 255;
    column->scale = more >> 8 & 255;
    column->not_null = (more >> 16 & FLAG_NOT_NULL) != 0;
    column->unique = (more >> 16 & FLAG_UNIQUE) != 0;
    if (more >> 16 > FLAGS)
        fail(decoder, "a column's flags", table->name);
    column->default_sql = get_sql(decoder);
}

/* All columns of a table. */
static void get_columns(struct decoder *decoder, struct table *table)
{
    unsigned count = (unsigned)bound(decoder, table->column_count, COLUMN_BYTES,
                                     "a number of columns");

    table->columns = take(decoder, count, sizeof *table->columns);
    for (unsigned i = 0; i < count && !decoder->failed; i++) {
        struct column *column = &table->columns[i];
        column->type = (enum vdbq_type)get_32(decoder);
        column->name = get_name(decoder);
        if (!decoder->first)
            get_column_more(decoder, table, column);
        if (!column_valid(column)
            || (decoder->first && column->type >= VDBQ_TEXT))
            fail(decoder, "a column's type", table->name);
    }
}

/* A database with one bad DEFAULT is not opened, as SQLite opens none with a
 * malformed schema: its checksum is right, so that whoever wrote it was wrong
 * about more than that one text. */
static void parse_defaults(struct decoder *decoder, struct table *table)
{
    struct error why = { 0 };
    enum vdbq_status status = defaults_parse(decoder->parse, table, &why);

    if (status == VDBQ_CORRUPT) {
        fail(decoder, why.message, NULL);
    } else if (status != VDBQ_OK) {
        *decoder->error = why;
        decoder->failed = true;
    }
}

/* Where the tablet lies, and how many rows it has. */
static void check_place(struct decoder *decoder, const struct table *table,
                        const struct tablet_ref *tablet)
{
    const struct catalogue_bounds *bounds = decoder->bounds;

    if (tablet->offset % PAGE_BYTES != 0 || tablet->offset < bounds->first
        || tablet->offset > bounds->end
        || tablet->size_bytes > bounds->end - tablet->offset)
        fail(decoder, "a tablet's place", table->name);
    if (tablet->size_bytes < TABLET_ALIGN
        || tablet->size_bytes % TABLET_ALIGN != 0)
        fail(decoder, "a tablet's size", table->name);
    if (tablet->rows == 0 || tablet->rows > TABLET_ROWS_MAX)
        fail(decoder, "a tablet's number of rows", table->name);
}

/* The facts of a tablet, one a column. */
static void get_facts(struct decoder *decoder, const struct table *table,
                      struct tablet_ref *tablet)
{
    unsigned count = table->column_count;

    tablet->facts = take(decoder, count, sizeof *tablet->facts);
    for (unsigned i = 0; i < count && !decoder->failed; i++) {
        uint64_t nulls = get_64(decoder);
        int64_t bits[2];
        get(decoder, bits, sizeof bits);
        if (!facts_from_bits(table->columns[i].type, tablet->rows, nulls, bits,
                             &tablet->facts[i]))
            fail(decoder, "the facts of a tablet's values", table->name);
    }
}

/* What the tablet is known by; see identity rule 2. */
static void get_identity(struct decoder *decoder, const struct table *table,
                         struct tablet_ref *tablet)
{
    uint64_t first = get_64(decoder);

    if (decoder->identities)
        tablet->identity = (struct identity){ first, get_64(decoder) };
    else if (first == 0 || first > decoder->bounds->generation)
        fail(decoder, "a tablet's generation", table->name);
    else
        tablet->identity =
            identity_of_place(first, tablet->offset, tablet->checksum);
}

/* All tablets of a table. */
static void get_tablets(struct decoder *decoder, struct table *table)
{
    size_t count = decoder->failed ? 0 : table->tablet_count;

    table->tablets = take(decoder, count, sizeof *table->tablets);
    for (size_t i = 0; i < count && !decoder->failed; i++) {
        struct tablet_ref *tablet = &table->tablets[i];
        tablet->offset = get_64(decoder);
        tablet->size_bytes = get_64(decoder);
        tablet->checksum = get_64(decoder);
        get_identity(decoder, table, tablet);
        tablet->rows = get_32(decoder);
        if (!decoder->failed)
            check_place(decoder, table, tablet);
        get_facts(decoder, table, tablet);
    }
    if (!decoder->failed)
        table_count_rows(table);
}

/* ------------------------------------------------------ views, indexes -- */

/* Numbers of columns of a table. */
static unsigned *get_numbers(struct decoder *decoder, const struct table *table,
                             unsigned *count)
{
    unsigned *numbers;

    *count = (unsigned)bound(decoder, get_32(decoder), sizeof(uint32_t),
                             "how many columns");
    if (*count == 0)
        fail(decoder, "how many columns", table->name);
    numbers = take(decoder, *count, sizeof *numbers);
    for (unsigned i = 0; i < *count && !decoder->failed; i++) {
        numbers[i] = get_32(decoder);
        if (numbers[i] >= table->column_count)
            fail(decoder, "a column's number", table->name);
    }
    return numbers;
}

/* The rules of more than one column. */
static void get_uniques(struct decoder *decoder, struct table *table)
{
    unsigned count = (unsigned)bound(decoder, get_32(decoder), UNIQUE_BYTES,
                                     "a number of unique columns");

    table->uniques = take(decoder, count, sizeof *table->uniques);
    for (unsigned i = 0; i < count && !decoder->failed; i++)
        table->uniques[i].columns =
            get_numbers(decoder, table, &table->uniques[i].column_count);
    table->unique_count = count;
}

/* All views; their SQL is parsed when they are used. */
static void get_views(struct decoder *decoder)
{
    struct catalogue *catalogue = decoder->catalogue;
    size_t count =
        bound(decoder, get_32(decoder), VIEW_BYTES, "its views' count");

    if (count > TABLES_MAX)
        fail(decoder, "too many views", NULL);
    catalogue->views = take(decoder, count, sizeof *catalogue->views);
    for (size_t i = 0; i < count && !decoder->failed; i++) {
        catalogue->views[i].name = get_name(decoder);
        catalogue->views[i].sql = get_sql(decoder);
        if (!decoder->failed && catalogue->views[i].sql == NULL)
            fail(decoder, "a view's statement", NULL);
        catalogue->view_count++;
    }
}

/* One index; its table comes before it. */
static void get_index(struct decoder *decoder, struct index *index)
{
    const struct table *table;
    uint32_t flags;

    index->table_id = get_32(decoder);
    flags = get_32(decoder);
    index->unique = (flags & INDEX_UNIQUE) != 0;
    index->name = get_name(decoder);
    table = catalogue_table_id(decoder->catalogue, index->table_id);
    if (!decoder->failed && (table == NULL || flags > INDEX_UNIQUE))
        fail(decoder, "an index", NULL);
    if (!decoder->failed)
        index->columns = get_numbers(decoder, table, &index->column_count);
}

/* All indexes. */
static void get_indexes(struct decoder *decoder)
{
    struct catalogue *catalogue = decoder->catalogue;
    size_t count =
        bound(decoder, get_32(decoder), INDEX_BYTES, "its indexes' count");

    if (count > TABLES_MAX)
        fail(decoder, "too many indexes", NULL);
    catalogue->indexes = take(decoder, count, sizeof *catalogue->indexes);
    for (size_t i = 0; i < count && !decoder->failed; i++) {
        get_index(decoder, &catalogue->indexes[i]);
        catalogue->index_count++;
    }
}

/* --------------------------------------------------- what must differ -- */

/* No two columns have one name. */
static void check_column_names(struct decoder *decoder,
                               const struct table *table)
{
    const char **names = take(decoder, table->column_count, sizeof *names);

    for (unsigned i = 0; names != NULL && i < table->column_count; i++)
        names[i] = table->columns[i].name;
    if (names != NULL && names_twice(names, table->column_count) != NULL)
        fail(decoder, "two columns of one name", table->name);
}

/* Tables, views and indexes have names of their own. */
static void check_all_names(struct decoder *decoder)
{
    const struct catalogue *catalogue = decoder->catalogue;
    size_t count = 0;
    const char **names = take(decoder,
                              catalogue->table_count + catalogue->view_count
                                  + catalogue->index_count,
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
        fail(decoder, "two tables of one name", NULL);
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
            fail(decoder, "the id", tables[i].name);
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
        fail(decoder, "two blocks in one place", NULL);
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
        fail(decoder, "two tablets of one identity", NULL);
    memory_release(identities);
}
