/* SPDX-License-Identifier: MIT */
/*
 * Snapshots: what keeps the state that is read readable, by marks in the file. The
 * rules cited are those of file.c.
 */
#include <assert.h>

#include "data/catalogue/catalogue_inner.h"
#include "data/database/database_inner.h"

enum vdbq_status snapshot_open(struct database *database,
                               struct snapshot *snapshot, struct error *error)
{
    return snapshot_take(database, NULL, snapshot, error);
}

/* Whether a snapshot is open of the state that is marked as this one is. */
static bool is_marked(const struct database *database,
                      const struct reading *reading)
{
    const struct reading *open = database->snapshots.items;
    uint64_t key = file_state_key(&reading->head);

    for (size_t i = 0; i < database->snapshots.count; i++)
        if (open[i].head.catalogue_size != 0
            && file_state_key(&open[i].head) == key)
            return true;
    return false;
}

/* File rule 5: whether some writer does not know by marks what is read. */
static bool is_blind(const struct reading *reading)
{
    return (reading->head.features_write & FILE_MARKS) == 0;
}

/* Tells writers of other connections what is read. */
static enum vdbq_status mark(struct database *database,
                             const struct reading *reading, struct error *error)
{
    struct file *file = &database->file;
    bool blind = is_blind(reading);
    enum vdbq_status status = VDBQ_OK;

    if (blind && !database->reads_blindly)
        status = file_lock_reader(file, error);
    if (status != VDBQ_OK)
        return status;
    database->reads_blindly |= blind;
    database->blind += blind;
    if (reading->head.catalogue_size != 0 && !is_marked(database, reading))
        status = file_mark(file, &reading->head, error);
    if (status == VDBQ_OK)
        return VDBQ_OK;
    database->blind -= blind;
    database_unlock_reader(database);
    return status;
}

void database_pass_reader(struct database *database)
{
    if (!database->reads_blindly || database->blind > 0)
        return;
    file_unlock_reader(&database->file);
    database->reads_blindly = false;
}

void database_unlock_reader(struct database *database)
{
    if (database->transaction == NULL)
        database_pass_reader(database);
}

void reading_close(struct database *database, const struct reading *reading)
{
    if (reading->head.catalogue_size != 0 && !is_marked(database, reading))
        file_unmark(&database->file, &reading->head);
    if (!is_blind(reading))
        return;
    assert(database->blind > 0);
    database->blind--;
    database_unlock_reader(database);
}

/* The head of the state that is to be read, as far as the heads tell. */
static enum vdbq_status pick_head(const struct database *database,
                                  struct file_head *head, struct error *error)
{
    const struct file *file = &database->file;
    unsigned which = file->current;
    enum vdbq_status status = VDBQ_OK;

    if (database->stale)
        status = file_newest(file, &which, error);
    if (status == VDBQ_OK)
        *head = file->heads[which];
    return status;
}

/* Marks the newest state before anything but the heads is read, and sees that
 * it was the newest afterwards (file rule 7). Where nobody wrote between the last
 * two looks nobody is likely to have written since. */
static enum vdbq_status mark_newest(struct database *database,
                                    struct reading *reading,
                                    struct error *error)
{
    bool changed;
    enum vdbq_status status =
        database->calm ? VDBQ_OK : database_look(database, &changed, error);

    do {
        if (status == VDBQ_OK)
            status = pick_head(database, &reading->head, error);
        if (status == VDBQ_OK)
            status = mark(database, reading, error);
        if (status != VDBQ_OK)
            return status;
        status = database_look(database, &changed, error);
        if (status != VDBQ_OK || changed)
            reading_close(database, reading);
    } while (changed);
    return status;
}

/* It may be that of the other head: where it turns out that this one is used
 * (rule 2), that is marked. */
enum vdbq_status reading_open(struct database *database,
                              struct reading *reading, struct error *error)
{
    const struct file *file = &database->file;
    enum vdbq_status status;
    bool loaded;

    do {
        status = mark_newest(database, reading, error);
        if (status != VDBQ_OK)
            return status;
        loaded = database->stale;
        if (loaded)
            status = database_load_newest(database, error);
        if (status == VDBQ_OK && (!loaded || !file->uses_older))
            break;
        reading_close(database, reading);
    } while (status == VDBQ_OK);
    reading->catalogue = database->current;
    return status;
}

/* Marks what the transaction reads: nobody else writes. */
static enum vdbq_status open_draft(struct database *database,
                                   struct catalogue *catalogue,
                                   struct reading *reading, struct error *error)
{
    const struct file *file = &database->file;

    *reading = (struct reading){ .catalogue = catalogue };
    if (catalogue == database->current)
        reading->head = file->heads[file->current];
    return mark(database, reading, error);
}

enum vdbq_status snapshot_take(struct database *database,
                               struct catalogue *catalogue,
                               struct snapshot *snapshot, struct error *error)
{
    struct reading reading = { 0 };
    enum vdbq_status status =
        catalogue == NULL ? reading_open(database, &reading, error)
                          : open_draft(database, catalogue, &reading, error);

    *snapshot = (struct snapshot){ 0 };
    if (status != VDBQ_OK)
        return status;
    if (!vector_append(&database->snapshots, &reading, 1)) {
        reading_close(database, &reading);
        return error_no_memory(error);
    }
    snapshot->database = database;
    snapshot->catalogue = catalogue_hold(reading.catalogue);
    return VDBQ_OK;
}

void snapshot_close(struct snapshot *snapshot)
{
    struct database *database = snapshot->database;
    struct reading *open, closed;
    size_t i = 0;

    if (database == NULL)
        return;
    open = database->snapshots.items;
    while (i < database->snapshots.count
           && open[i].catalogue != snapshot->catalogue)
        i++;
    assert(i < database->snapshots.count);
    closed = open[i];
    open[i] = open[--database->snapshots.count];
    reading_close(database, &closed);
    catalogue_release(snapshot->catalogue);
    *snapshot = (struct snapshot){ 0 };
}

enum vdbq_status database_newest(struct database *database,
                                 struct file_head *head, struct error *error)
{
    bool changed;
    enum vdbq_status status = database_look(database, &changed, error);

    return status == VDBQ_OK ? pick_head(database, head, error) : status;
}

enum vdbq_status snapshot_is_old(const struct snapshot *snapshot, bool *old,
                                 struct error *error)
{
    struct database *database = snapshot->database;
    const struct reading *open = database->snapshots.items;
    struct file_head newest;
    enum vdbq_status status = database_newest(database, &newest, error);
    size_t i = 0;

    *old = false;
    if (status != VDBQ_OK)
        return status;
    while (open[i].catalogue != snapshot->catalogue)
        i++;
    assert(i < database->snapshots.count);
    *old = open[i].head.catalogue_size != 0
           && open[i].head.generation < newest.generation;
    return VDBQ_OK;
}

/* Adds the identities of a table's tablets; `table` may be NULL: none. */
static bool add_tablets(const struct table *table, struct vector *identities)
{
    bool added = true;

    for (size_t k = 0; table != NULL && k < table->tablet_count && added; k++) {
        const struct tablet_ref *tablet = &table->tablets[k];
        added = vector_append(identities, &tablet->identity, 1)
                && (tablet->edit == NULL
                    || vector_append(identities, &tablet->edit->base, 1));
    }
    return added;
}

/* Adds the identities of a catalogue's tablets, and of those of copies by hash. */
static bool add_identities(const struct catalogue *catalogue,
                           struct vector *identities)
{
    bool added = true;

    for (size_t i = 0; i < catalogue->table_count && added; i++)
        added = add_tablets(&catalogue->tables[i], identities)
                && add_tablets(table_copy(&catalogue->tables[i]), identities);
    return added;
}

/* Whether a catalogue has a table, or a copy of one, with rows in that state. */
static bool has_state(const struct catalogue *catalogue, uint32_t table_id,
                      struct identity state)
{
    const struct table *table = catalogue_table_id(catalogue, table_id);
    const struct table *copy = table != NULL ? table_copy(table) : NULL;

    return table != NULL
           && (identity_equal(table->state, state)
               || (copy != NULL && identity_equal(copy->state, state)));
}

bool database_has_state(const struct database *database, uint32_t table_id,
                        struct identity state)
{
    const struct database *of = database_of(database, table_id);
    const struct reading *open = of->snapshots.items;
    bool found = has_state(of->current, table_id, state);

    for (size_t i = 0; i < of->snapshots.count && !found; i++)
        found = has_state(open[i].catalogue, table_id, state);
    return found;
}

bool database_visible(const struct database *database,
                      struct vector *identities)
{
    const struct reading *open = database->snapshots.items;
    bool added = add_identities(database->current, identities);

    for (size_t i = 0; i < database->snapshots.count && added; i++)
        if (open[i].catalogue != database->current)
            added = add_identities(open[i].catalogue, identities);
    if (added && database->temporary != NULL)
        added = database_visible(database->temporary, identities);
    return added;
}
