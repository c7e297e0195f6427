/* SPDX-License-Identifier: MIT */
/*
 * What a layout says of tables that lie in parts by hash, or are whole in each part:
 * see part_files.h. A layout is bytes of a file: what it says of a table is proven by
 * the table's columns and tablets.
 *
 * The layout stays what it was when the folder was made, and the catalogue does not. So
 * of the state that was made all must be as the layout says; of a later one tables may
 * be gone, or altered, and their tablets may lie in `whole`. By hash a table lies as
 * long as its rows have the state that the layout names (table_copy()).
 */
#include "data/file/part_files.h"
#include "data/file/space.h"

/* A catalogue that is told how its tables lie. */
struct telling {
    const struct part_layout *layout;
    struct catalogue *catalogue;
    const char *folder;
    bool made; /* it is the state that the folder was made with */
    struct error *error;
};

static enum vdbq_status damaged(const char *folder, uint32_t table,
                                const char *what, struct error *error)
{
    char path[PART_PATH_MAX];
    part_path(folder, "layout", path);
    error_set(error, VDBQ_CORRUPT, "%s: it is damaged: table %u %s", path,
              (unsigned)table, what);
    return error_hint(error, "distribute the database again");
}

/* --------------------------------------------------------------- blocks -- */

/* Whether bytes of the database are one range, or touch none. */
static bool lies_in_one(const struct part_layout *layout,
                        const struct extent *extent)
{
    const size_t at = part_range_at(layout, extent->offset);
    if (at == layout->range_count
        || layout->ranges[at].offset >= extent->offset + extent->size)
        return true;
    return layout->ranges[at].offset == extent->offset
           && layout->ranges[at].size == extent->size;
}

enum vdbq_status part_layout_prove(const struct part_layout *layout,
                                   const struct vector *extents,
                                   const char *folder, struct error *error)
{
    const struct extent *extent = extents->items;
    for (size_t i = 0; i < extents->count; i++)
        if (!lies_in_one(layout, &extent[i])) {
            error_set(error, VDBQ_CORRUPT,
                      "%s: the layout is not that of the database: the block "
                      "at byte %llu is in a part and outside of it",
                      folder, (unsigned long long)extent[i].offset);
            return error_hint(error, "`layout` and `whole` must be of one "
                                     "folder: distribute the database again");
        }
    return VDBQ_OK;
}

/* ---------------------------------------------------------------- places -- */

/* The part that has a tablet; beyond all parts: `whole`. */
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

/* Whether any tablet is where the folder was made with it. */
static bool any_in_parts(const struct part_layout *layout,
                         const struct table *table)
{
    bool any = false;
    for (size_t i = 0; !any && i < table->tablet_count; i++)
        any = part_of(layout, &table->tablets[i]) <= layout->parts;
    return any;
}

/* Of a later state: whether a table is one like any other, of which nothing is as the
 * layout says. */
static bool is_forgotten(const struct telling *telling,
                         const struct table_parts *parts,
                         const struct table *table)
{
    if (telling->made || table == NULL)
        return !telling->made;
    return parts->key_count > 0
               ? !has_keys(parts, table) || table->tablet_count == 0
               : !any_in_parts(telling->layout, table);
}

/* What is wrong with a table, which is proven in the state that the folder was made
 * with; NULL: nothing. */
static const char *wrong_table(const struct telling *telling,
                               const struct table_parts *parts,
                               const struct table *table)
{
    if (table == NULL || (table->parts != NULL && table->parts != parts))
        return "is not there once";
    if (!telling->made)
        return NULL;
    if (!has_keys(parts, table))
        return "has no such columns";
    return parts->key_count == 0 && !is_whole(telling->layout, table)
               ? "is not in each part"
               : NULL;
}

static enum vdbq_status tell(const struct telling *telling,
                             struct table_parts *parts)
{
    struct catalogue *catalogue = telling->catalogue;
    const struct table *found = catalogue_table_id(catalogue, parts->table);
    struct table *table =
        found != NULL ? &catalogue->tables[found - catalogue->tables] : NULL;
    if (is_forgotten(telling, parts, table)) {
        if (table != NULL)
            table->parts = NULL;
        return VDBQ_OK;
    }
    const char *wrong = wrong_table(telling, parts, table);
    if (wrong != NULL)
        return damaged(telling->folder, parts->table, wrong, telling->error);
    table->parts = parts;
    return VDBQ_OK;
}

enum vdbq_status part_layout_tell(struct part_layout *layout,
                                  struct catalogue *catalogue,
                                  const char *folder, struct error *error)
{
    const struct telling telling = { layout, catalogue, folder,
                                     catalogue->generation == layout->state,
                                     error };
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; status == VDBQ_OK && i < layout->table_count; i++)
        status = tell(&telling, &layout->tables[i]);
    return status;
}
