/* SPDX-License-Identifier: MIT */
/*
 * What a layout says of tables that lie in parts by hash, or are whole in each part:
 * see part_files.h. A layout is bytes of a file: what it says of a table is proven by
 * the table's columns and tablets.
 */
#include "data/file/part_files.h"

static enum vdbq_status damaged(const char *folder, uint32_t table,
                                const char *what, struct error *error)
{
    char path[PART_PATH_MAX];
    part_path(folder, "layout", path);
    error_set(error, VDBQ_CORRUPT, "%s: it is damaged: table %u %s", path,
              (unsigned)table, what);
    return error_hint(error, "distribute the database again");
}

/* The part that has a tablet; beyond all parts: none. */
static unsigned part_of(const struct part_layout *layout,
                        const struct tablet_ref *tablet)
{
    const size_t at = part_range_at(layout, tablet->offset);
    if (at == layout->range_count
        || layout->ranges[at].offset != tablet->offset)
        return layout->parts + 1;
    return layout->ranges[at].part;
}

/* Whether the keys are columns of the table that have a hash. */
static bool has_keys(const struct table_parts *parts, const struct table *table)
{
    bool has = true;
    for (unsigned i = 0; i < parts->key_count; i++)
        has &= parts->keys[i] < table->column_count
               && column_has_hash(&table->columns[parts->keys[i]]);
    return has;
}

/* Whether each part has the whole table. */
static bool is_whole(const struct part_layout *layout,
                     const struct table *table)
{
    bool whole = true;
    for (size_t i = 0; whole && i < table->tablet_count; i++)
        whole = part_of(layout, &table->tablets[i]) == layout->parts;
    return whole;
}

static enum vdbq_status tell(const struct part_layout *layout,
                             struct table_parts *parts,
                             struct catalogue *catalogue, const char *folder,
                             struct error *error)
{
    const struct table *table = catalogue_table_id(catalogue, parts->table);
    if (table == NULL || table->parts != NULL)
        return damaged(folder, parts->table, "is not there once", error);
    if (!has_keys(parts, table))
        return damaged(folder, parts->table, "has no such columns", error);
    if (parts->key_count == 0 && !is_whole(layout, table))
        return damaged(folder, parts->table, "is not in each part", error);
    if (parts->key_count == 0 || identity_equal(parts->state, table->state))
        catalogue->tables[table - catalogue->tables].parts = parts;
    return VDBQ_OK; /* or the parts have rows of another state */
}

enum vdbq_status part_layout_tell(struct part_layout *layout,
                                  struct catalogue *catalogue,
                                  const char *folder, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; status == VDBQ_OK && i < layout->table_count; i++)
        status = tell(layout, &layout->tables[i], catalogue, folder, error);
    return status;
}
