/* SPDX-License-Identifier: MIT */
/*
 * The catalogue becomes bytes of the file: catalogue_file.h.
 */
#include <assert.h>
#include <string.h>

#include "data/file/catalogue_file.h"
#include "data/file/index_keys.h"
#include "data/catalogue/catalogue_inner.h"
#include "data/catalogue/facts.h"

/* ------------------------------------------------------------- numbers -- */

/* Numbers are stored as the machine has them: little-endian. */
static void put_32(struct text *text, uint32_t value)
{
    char *to = text_room(text, sizeof value);

    if (to != NULL)
        memcpy(to, &value, sizeof value);
}

/* As put_32(). */
static void put_64(struct text *text, uint64_t value)
{
    char *to = text_room(text, sizeof value);

    if (to != NULL)
        memcpy(to, &value, sizeof value);
}

/* The length, then the bytes. */
static void put_name(struct text *text, const char *name)
{
    assert(strlen(name) <= UINT32_MAX);
    put_32(text, (uint32_t)strlen(name));
    text_add(text, name, strlen(name));
}

/* How many there are, then each. */
static void put_numbers(struct text *text, const unsigned *numbers,
                        unsigned count)
{
    put_32(text, count);
    for (unsigned i = 0; i < count; i++)
        put_32(text, numbers[i]);
}

/* ------------------------------------------------------ tables, columns -- */

/* Flags and collation stand above precision and scale. */
static void put_column(struct text *text, const struct column *column)
{
    assert(column_valid(column) && column->scale <= 255);
    unsigned flags = (column->not_null ? FLAG_NOT_NULL : 0)
                     | (column->unique ? FLAG_UNIQUE : 0);

    put_32(text, (uint32_t)column->type);
    put_name(text, column->name);
    put_32(text, column->precision | column->scale << 8 | flags << 16
                     | (uint32_t)column->collation << 24);
    put_name(text, column->default_sql != NULL ? column->default_sql : "");
}

/* The rules of more than one column. */
static void put_uniques(struct text *text, const struct table *table)
{
    put_32(text, table->unique_count);
    for (unsigned i = 0; i < table->unique_count; i++)
        put_numbers(text, table->uniques[i].columns,
                    table->uniques[i].column_count);
}

/* Writes numbers as put_32() does, one behind the other. Returns where they end. */
static char *write_64s(char *to, const uint64_t *values, size_t count)
{
    memcpy(to, values, count * sizeof *values);
    return to + count * sizeof *values;
}

/* Where the block of an edit is. */
static char *write_edit(char *to, const struct edit *edit)
{
    assert(edit == NULL || edit->offset > 0);
    const uint64_t place[] = { edit != NULL ? edit->offset : 0,
                               edit != NULL ? edit->size_bytes : 0,
                               edit != NULL ? edit->checksum : 0 };

    return write_64s(to, place, EDIT_BYTES / 8);
}

/* The facts of each column of a tablet. */
static char *write_facts(char *to, const struct table *table,
                         const struct column_facts *facts)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        enum vdbq_type type = table->columns[i].type;
        const uint64_t told[] = {
            facts[i].null_count, (uint64_t)facts_minimum_bits(type, &facts[i]),
            (uint64_t)facts_maximum_bits(type, &facts[i])
        };
        to = write_64s(to, told, FACTS_BYTES / 8);
    }
    return to;
}

/* Where the tablet is, and the facts of each column. */
static char *write_tablet(char *to, const struct table *table,
                          const struct tablet_ref *tablet, bool edits)
{
    assert(tablet->rows > 0);
    const uint64_t place[] = { tablet->offset, tablet->size_bytes,
                               tablet->checksum, tablet->identity.origin,
                               tablet->identity.number };

    to = write_64s(to, place, 5);
    memcpy(to, &tablet->rows, sizeof tablet->rows);
    to += sizeof tablet->rows;
    if (edits)
        to = write_edit(to, tablet->edit);
    return write_facts(to, table, tablet->facts);
}

/* All tablets of a table: they are most of a catalogue, which every commit writes, so
 * that room for them is taken at once. */
static void put_tablets(struct text *text, const struct table *table,
                        bool edits)
{
    size_t each = TABLET_WRITTEN_BYTES + (edits ? EDIT_BYTES : 0)
                  + (size_t)table->column_count * FACTS_BYTES;
    char *to = text_room(text, table->tablet_count * each);

    for (size_t i = 0; i < table->tablet_count && to != NULL; i++)
        to = write_tablet(to, table, &table->tablets[i], edits);
    assert(to == NULL || to == text->bytes + text->length);
}

/* One table with all its tablets. */
static void put_table(struct text *text, const struct table *table, bool edits)
{
    put_32(text, table->id);
    put_32(text, table->key);
    put_32(text, table->column_count);
    put_64(text, table->tablet_count);
    put_name(text, table->name);
    for (unsigned i = 0; i < table->column_count; i++)
        put_column(text, &table->columns[i]);
    put_uniques(text, table);
    put_tablets(text, table, edits);
}

/* ------------------------------------------------------------------ all -- */

/* The columns' numbers, and above these the collations that are not theirs. */
static void put_index_columns(struct text *text,
                              const struct catalogue *catalogue,
                              const struct index *index)
{
    const struct table *table = catalogue_table_id(catalogue, index->table_id);

    put_32(text, index->column_count);
    for (unsigned i = 0; i < index->column_count; i++) {
        unsigned column = index->columns[i];
        enum collation own = table->columns[column].collation;
        enum collation its = index->collations ? index->collations[i] : own;
        uint32_t other = its != own ? (uint32_t)its + 1 : 0;
        put_32(text, column | other << COLLATION_SHIFT);
    }
}

/* Whether some tablet has an edit. */
static bool any_edits(const struct catalogue *catalogue)
{
    bool any = false;

    for (size_t i = 0; i < catalogue->table_count && !any; i++)
        any = table_has_edits(&catalogue->tables[i]);
    return any;
}

/* Whether a key of an index is compared by another collation than BINARY. */
static bool has_collations(const struct index *index)
{
    bool any = index->collations != NULL;

    for (unsigned i = 0; index->keys != NULL && i < index->column_count; i++)
        any |= index->keys->columns[i].collation != COLLATION_BINARY;
    return any;
}

/* How many CHECKs all tables have. */
static uint32_t count_checks(const struct catalogue *catalogue)
{
    uint32_t count = 0;

    for (size_t i = 0; i < catalogue->table_count; i++)
        count += catalogue->tables[i].check_count;
    return count;
}

uint64_t catalogue_features(const struct catalogue *catalogue)
{
    bool any = false, keys = false;
    uint32_t checks = count_checks(catalogue);

    for (size_t i = 0; i < catalogue->table_count; i++)
        for (unsigned k = 0; k < catalogue->tables[i].column_count; k++)
            any |=
                catalogue->tables[i].columns[k].collation != COLLATION_BINARY;
    for (size_t i = 0; i < catalogue->index_count; i++) {
        any |= has_collations(&catalogue->indexes[i]);
        keys |= catalogue->indexes[i].keys != NULL;
    }
    return (any ? FEATURE_COLLATIONS : 0)
           | (any_edits(catalogue) ? FEATURE_EDITS : 0)
           | (keys ? FEATURE_KEYS : 0) | (checks > 0 ? FEATURE_CHECKS : 0);
}

/* Views and indexes. */
static void put_names(struct text *text, const struct catalogue *catalogue)
{
    put_32(text, (uint32_t)catalogue->view_count);
    for (size_t i = 0; i < catalogue->view_count; i++) {
        put_name(text, catalogue->views[i].name);
        put_name(text, catalogue->views[i].sql);
    }
    put_32(text, (uint32_t)catalogue->index_count);
    for (size_t i = 0; i < catalogue->index_count; i++) {
        const struct index *index = &catalogue->indexes[i];
        put_32(text, index->table_id);
        put_32(text, (index->unique ? INDEX_UNIQUE : 0)
                         | (index->keys != NULL ? INDEX_KEYS : 0));
        put_name(text, index->name);
        if (index->keys != NULL)
            index_keys_encode(index, text);
        else
            put_index_columns(text, catalogue, index);
    }
}

static void put_check(struct text *text, const struct table *table,
                      const struct row_check *check)
{
    put_32(text, table->id);
    put_name(text, check->name != NULL ? check->name : "");
    put_name(text, check->sql);
    put_numbers(text, check->reads, check->read_count);
}

/* CHECKs, behind all else, where there are some: catalogues without one are as they
 * were before these were known. */
static void put_checks(struct text *text, const struct catalogue *catalogue)
{
    uint32_t count = count_checks(catalogue);

    if (count == 0)
        return;
    put_32(text, count);
    for (size_t i = 0; i < catalogue->table_count; i++)
        for (unsigned k = 0; k < catalogue->tables[i].check_count; k++)
            put_check(text, &catalogue->tables[i],
                      &catalogue->tables[i].checks[k]);
}

void catalogue_encode(const struct catalogue *catalogue, struct text *text)
{
    bool edits = any_edits(catalogue);

    text_add(text, edits ? CATALOGUE_MAGIC_EDITS : CATALOGUE_MAGIC,
             CATALOGUE_MAGIC_BYTES);
    put_64(text, catalogue->generation);
    put_32(text, catalogue->next_table_id);
    put_32(text, (uint32_t)catalogue->table_count);
    for (size_t i = 0; i < catalogue->table_count; i++)
        put_table(text, &catalogue->tables[i], edits);
    put_names(text, catalogue);
    put_checks(text, catalogue);
}
