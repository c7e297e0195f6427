/* SPDX-License-Identifier: MIT */
/*
 * Databases: which of the file's heads is the state to read. The rules cited are
 * those of file.c.
 */
#include "data/database/database.h"

#include <assert.h>

#include "base/hostile.h"
#include "data/catalogue/catalogue_inner.h"
#include "data/database/database_inner.h"
#include "data/database/edits.h"
#include "data/database/run_list.h"
#include "data/database/samples.h"
#include "data/database/states.h"
#include "data/database/unique_set.h"
#include "data/file/part_files.h"
#include "data/file/space.h"

static enum vdbq_status refresh_locked(struct database *database,
                                       struct error *error);
static enum vdbq_status create_file(struct database *database,
                                    struct error *error);
static enum vdbq_status choose_head(struct database *database,
                                    struct catalogue **catalogue,
                                    struct error *error);
static enum vdbq_status load_head(const struct database *database,
                                  unsigned which, struct catalogue **catalogue,
                                  struct error *error);

enum vdbq_status database_open(const struct database_params *params,
                               struct database **database, struct error *error)
{
    struct database *opened = memory_zeroed(1, sizeof *opened);
    bool create = (params->flags & VDBQ_OPEN_CREATE) != 0
                  || params->files == &os_memory_files;
    enum vdbq_status status;

    *database = NULL;
    if (opened == NULL)
        return error_no_memory(error);
    opened->listed = VECTOR(struct file_head);
    opened->older = VECTOR(struct older_state);
    opened->snapshots = VECTOR(struct reading);
    opened->unique_sets = VECTOR(struct unique_set);
    opened->parse_default = params->parse_default;
    status = file_open(params, &opened->file, error);
    if (status == VDBQ_OK)
        status = refresh_locked(opened, error);
    if (status == VDBQ_CORRUPT && create && !opened->file.read_only)
        status = create_file(opened, error);
    if (status != VDBQ_OK) {
        database_close(opened);
        return status;
    }
    *database = opened;
    return VDBQ_OK;
}

void database_close(struct database *database)
{
    if (database == NULL)
        return;
    assert(database->snapshots.count == 0 && database->transaction == NULL);
    catalogue_release(database->current);
    states_finish(database);
    vector_finish(&database->snapshots);
    unique_sets_finish(&database->unique_sets);
    file_close(&database->file);
    memory_release(database);
}

enum vdbq_status database_open_temporary(struct database *beside,
                                         const struct settings *settings,
                                         default_parser parse,
                                         struct database **temporary,
                                         struct error *error)
{
    const struct database_params params = { .path = "temporary tables",
                                            .flags = VDBQ_OPEN_CREATE
                                                     | VDBQ_OPEN_NO_SYNC,
                                            .files = &os_temporary_files,
                                            .settings = settings,
                                            .parse_default = parse };
    enum vdbq_status status = database_open(&params, temporary, error);

    if (status != VDBQ_OK)
        return status;
    assert((*temporary)->current->holders == 1); /* it may be changed */
    (*temporary)->current->next_table_id = CATALOGUE_TEMPORARY + 1;
    database_use_runs(*temporary, beside->runs);
    database_use_computer(*temporary, beside->compute, beside->compute_context);
    beside->temporary = *temporary;
    return VDBQ_OK;
}

void database_close_temporary(struct database *beside)
{
    database_close(beside->temporary);
    beside->temporary = NULL;
}

struct database *database_of(const struct database *database, uint32_t table_id)
{
    return database->temporary != NULL && table_is_temporary(table_id)
               ? database->temporary
               : (struct database *)(uintptr_t)database;
}

const struct catalogue *database_state(const struct database *database)
{
    return database->current;
}

bool database_read_only(const struct database *database)
{
    const struct file *file = &database->file;
    struct error ignored;

    return file->read_only || file_check_writable(file, &ignored) != VDBQ_OK;
}

const char *database_warning(const struct database *database)
{
    const struct error *warning = &database->file.warning;

    return warning->status == VDBQ_OK ? "" : warning->message;
}

bool database_unfounded(const struct database *database)
{
    return database->file.unfounded;
}

uint32_t database_tablet_rows(const struct database *database)
{
    uint32_t rows = database->file.settings->tablet_rows;

    assert(rows <= TABLET_ROWS_MAX);
    return rows > 0 ? rows : HOSTILE(3, TABLET_ROWS_MAX);
}

const char *database_path(const struct database *database)
{
    return database->file.path;
}

unsigned database_parts(const struct database *database, uint64_t *number)
{
    const struct file *file = &database->file;

    *number = 0;
    return file->calls == &part_files ? part_count(file->os, number) : 0;
}

void database_own_part(struct database *database, unsigned part)
{
    uint64_t number;

    if (part < database_parts(database, &number))
        part_own(database->file.os, part);
}

bool database_reads_anywhere(const struct database *database)
{
    return database->file.calls->reads_anywhere;
}

bool database_maps(const struct database *database)
{
    return file_maps(&database->file);
}

void database_use_runs(struct database *database, struct run_cache *runs)
{
    database->runs = runs;
}

void database_use_computer(struct database *database, index_computer compute,
                           void *context)
{
    database->compute = compute;
    database->compute_context = context;
}

/* File rule 7: nobody overwrites the catalogue while it is read. */
static enum vdbq_status refresh_locked(struct database *database,
                                       struct error *error)
{
    struct reading reading;
    enum vdbq_status status = reading_open(database, &reading, error);

    if (status == VDBQ_OK)
        reading_close(database, &reading);
    return status;
}

/* File rule 10. A file that is no unfinished one is looked at once more: its
 * creator may have ended since it was found wanting. */
static enum vdbq_status create_file(struct database *database,
                                    struct error *error)
{
    struct file *file = &database->file;
    enum vdbq_status status;
    bool unfinished;

    if (file_is_unfinished(file, &unfinished, error) != VDBQ_OK)
        return error->status;
    if (!unfinished)
        return refresh_locked(database, error);
    status = file_lock_creator(file, error);
    if (status != VDBQ_OK)
        return status;
    status = database_refresh(database, error);
    if (status == VDBQ_CORRUPT) {
        status = file_write_new(file, error);
        if (status == VDBQ_OK)
            status = database_refresh(database, error);
        file->settled = status == VDBQ_OK;
    }
    file_unlock_writer(file);
    if (status == VDBQ_OK)
        error_clear(error); /* that there was no database yet */
    return status;
}

/* -------------------------------------------------------------- state -- */

/* The writer's heads are, whether or not they are written (rule 16). */
enum vdbq_status database_look(struct database *database, bool *changed,
                               struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    *changed = false;
    if (database->transaction == NULL)
        status = file_read_heads(&database->file, changed, error);
    database->stale |= *changed;
    database->calm = status == VDBQ_OK && !*changed;
    return status;
}

enum vdbq_status database_load_newest(struct database *database,
                                      struct error *error)
{
    struct file *file = &database->file;
    struct catalogue *catalogue;
    enum vdbq_status status = choose_head(database, &catalogue, error);

    if (status != VDBQ_OK) {
        file->known = false;
        return status;
    }
    catalogue_release(database->current);
    database->current = catalogue;
    status = states_load(
        database, run_list_end(&file->heads[file->current], catalogue), error);
    file->known = status == VDBQ_OK;
    database->stale = status != VDBQ_OK;
    return status;
}

enum vdbq_status database_refresh(struct database *database,
                                  struct error *error)
{
    bool changed;
    enum vdbq_status status = file_read_ahead(&database->file, &changed, error);

    database->stale |= changed;
    database->calm = false;
    return status == VDBQ_OK && database->stale
               ? database_load_newest(database, error)
               : status;
}

/* Takes the state of the older head for that of the file (rule 2). */
static enum vdbq_status use_older(struct database *database, unsigned newest,
                                  struct catalogue **catalogue,
                                  struct error *error)
{
    assert(newest < FILE_HEADS);
    struct file *file = &database->file;
    const struct error why = *error;
    enum vdbq_status status = load_head(database, 1 - newest, catalogue, error);

    if (status != VDBQ_OK) {
        if (status == VDBQ_CORRUPT)
            *error = why;
        return status;
    }
    error_clear(error);
    file->current = 1 - newest;
    file->uses_older = true;
    error_set(&file->warning, VDBQ_CORRUPT,
              "%s; the state before it is open, and the next commit makes "
              "that the newest",
              why.message);
    return VDBQ_OK;
}

/* File rule 2. */
static enum vdbq_status choose_head(struct database *database,
                                    struct catalogue **catalogue,
                                    struct error *error)
{
    struct file *file = &database->file;
    unsigned newest;
    enum vdbq_status status = file_newest(file, &newest, error);

    if (status != VDBQ_OK)
        return status;
    file->current = newest;
    assert(newest < FILE_HEADS);
    file->uses_older = false;
    status = load_head(database, newest, catalogue, error);
    if (status != VDBQ_CORRUPT || !file_has_older(file, newest))
        return status;
    if (file->older)
        return use_older(database, newest, catalogue, error);
    return error_hint(error, "the state before it may be whole: "
                             "--accept-older (VDBQ_OPEN_OLDER) opens that");
}

/* Reads the catalogue that a head points to. */
static enum vdbq_status load_head(const struct database *database,
                                  unsigned which, struct catalogue **catalogue,
                                  struct error *error)
{
    assert(which < FILE_HEADS);
    enum vdbq_status status = file_check_head(&database->file, which, error);

    *catalogue = NULL;
    return status == VDBQ_OK ? database_load(
               database, &database->file.heads[which], false, catalogue, error)
                             : status;
}

void database_place(struct database *database)
{
    const struct file *file = &database->file;
    struct error ignored = { 0 }; /* of the state that was made alone */

    if (file->calls == &part_files)
        part_tell(file->os, database->current, file->path, &ignored);
}

/* That all blocks of a state lie in one of the part files each, and how its tables lie
 * in them. */
static enum vdbq_status find_places(const struct file *file,
                                    const struct file_head *head,
                                    struct catalogue *catalogue,
                                    struct error *error)
{
    struct vector extents = VECTOR(struct extent);
    enum vdbq_status status;

    if (extents_add(&extents, head->catalogue, head->catalogue_size)
        && extents_add(&extents, head->copies,
                       head->copies != 0 ? FILE_FIRST : 0)
        && extents_add_catalogue(&extents, catalogue))
        status = part_prove(file->os, &extents, file->path, error);
    else
        status = error_no_memory(error);
    vector_finish(&extents);
    return status == VDBQ_OK ? part_tell(file->os, catalogue, file->path, error)
                             : status;
}

enum vdbq_status database_load(const struct database *database,
                               const struct file_head *head, bool places,
                               struct catalogue **catalogue,
                               struct error *error)
{
    const struct file *file = &database->file;
    const struct catalogue_bounds bounds = { .generation = head->generation,
                                             .first = FILE_FIRST,
                                             .end = head->end,
                                             .offset = head->catalogue,
                                             .size = head->catalogue_size,
                                             .copies = head->copies,
                                             .copies_size = head->copies != 0
                                                                ? FILE_FIRST
                                                                : 0,
                                             .places = places };
    struct block block = block_to_read(bounds.size);
    enum vdbq_status status;

    *catalogue = NULL;
    if (block.bytes == NULL)
        return error_no_memory(error);
    status = file_read(file, block.bytes, block.size, bounds.offset, error);
    if (status == VDBQ_OK
        && block_checksum(block.bytes, block.size) != head->catalogue_checksum)
        status = error_set(error, VDBQ_CORRUPT,
                           "%s: the catalogue at byte %llu is damaged: its "
                           "checksum is wrong",
                           file->path, (unsigned long long)bounds.offset);
    if (status == VDBQ_OK)
        status = catalogue_decode(block.bytes, &bounds, file->path,
                                  database->parse_default, catalogue, error);
    block_destroy(&block);
    if (status == VDBQ_OK && !places)
        status = edits_load(database, *catalogue, error);
    if (status == VDBQ_OK)
        status = samples_load(database, head, places, *catalogue, error);
    if (status == VDBQ_OK)
        status = run_list_load(file, head, *catalogue, error);
    if (status == VDBQ_OK && !places && file->calls == &part_files)
        status = find_places(file, head, *catalogue, error);
    if (status != VDBQ_OK) {
        catalogue_release(*catalogue);
        *catalogue = NULL;
    }
    return status;
}
