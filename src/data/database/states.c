/* SPDX-License-Identifier: MIT */
/*
 * Older states that are read: states.h. Who marks a state has seen it as the
 * newest one after he did so (file rule 7). So each state that is read is the
 * current one, that of the other head, or one of those that the writer of the
 * current one found being read, and listed.
 */
#include "data/database/states.h"

#include <assert.h>
#include <string.h>

#include "data/database/list.h"
#include "data/database/run_list.h"
#include "data/file/space.h"
#include "data/tablet/block.h"

enum {
    ENTRY_NUMBERS = 7,
    ENTRY_BYTES = ENTRY_NUMBERS * 8,
    COUNT_BYTES = 8,
    STATES_MAX = 4096 /* that are listed */
};

/* ------------------------------------------------------------- the list -- */

uint64_t states_list(const struct database *database, struct text *text)
{
    const struct older_state *older = database->older.items;
    uint64_t count =
        database->older.count < STATES_MAX ? database->older.count : STATES_MAX;
    size_t start;

    if (count == 0)
        return 0;
    start = list_begin(text);
    text_add(text, (const char *)&count, sizeof count);
    for (uint64_t i = 0; i < count; i++) {
        const struct file_head *head = &older[i].head;
        uint64_t entry[ENTRY_NUMBERS] = {
            head->generation,         head->catalogue, head->catalogue_size,
            head->catalogue_checksum, head->end,       head->features,
            head->features_read
        };
        text_add(text, (const char *)entry, sizeof entry);
    }
    list_end(text, start);
    return FILE_STATES;
}

/* An entry as the head it was made of. */
static struct file_head head_of(const struct database *database,
                                const uint64_t entry[ENTRY_NUMBERS])
{
    return (struct file_head){ .format = FILE_FORMAT,
                               .page_bytes = PAGE_BYTES,
                               .generation = entry[0],
                               .catalogue = entry[1],
                               .catalogue_size = entry[2],
                               .catalogue_checksum = entry[3],
                               .end = entry[4],
                               .copies = database->file.copies,
                               .features = entry[5],
                               .features_read = entry[6] };
}

/* Reads a list that ends within the head's blocks; one without bytes: there is
 * none that is whole. */
static enum vdbq_status read_list(const struct file *file,
                                  const struct file_head *head, uint64_t offset,
                                  struct block *list, struct error *error)
{
    struct error ignored = { 0 };
    uint64_t count = 0, most = head->end - offset;

    *list = (struct block){ 0 };
    if (most < COUNT_BYTES + LIST_SUM_BYTES
        || file_read(file, &count, sizeof count, offset, &ignored) != VDBQ_OK
        || count == 0 || count > STATES_MAX
        || count * ENTRY_BYTES > most - COUNT_BYTES - LIST_SUM_BYTES)
        return VDBQ_OK;
    *list = block_to_read(COUNT_BYTES + count * ENTRY_BYTES + LIST_SUM_BYTES);
    if (list->bytes == NULL)
        return error_no_memory(error);
    if (file_read(file, list->bytes, list->size, offset, &ignored) == VDBQ_OK
        && list_is_whole(list) && ((const uint64_t *)list->bytes)[0] == count)
        return VDBQ_OK;
    block_destroy(list);
    *list = (struct block){ 0 };
    return VDBQ_OK;
}

enum vdbq_status states_load(struct database *database, uint64_t size_bytes,
                             struct error *error)
{
    const struct file *file = &database->file;
    const struct file_head *head = &file->heads[file->current];
    uint64_t start = list_start(size_bytes);
    enum vdbq_status status;
    struct block list;

    database->listed.count = 0;
    database->current_bytes = size_bytes;
    if ((head->features & FILE_STATES) == 0
        || start > head->end - head->catalogue)
        return VDBQ_OK;
    status = read_list(file, head, head->catalogue + start, &list, error);
    for (size_t at = 1; at + ENTRY_NUMBERS < list.size / 8;
         at += ENTRY_NUMBERS) {
        struct file_head listed =
            head_of(database, (const uint64_t *)list.bytes + at);
        if (!vector_append(&database->listed, &listed, 1))
            status = error_no_memory(error);
    }
    if (list.bytes != NULL)
        database->current_bytes = start + list.size;
    block_destroy(&list);
    return status;
}

/* ------------------------------------------------------ what is in use -- */

/* States that are found. */
struct search {
    struct database *database;
    struct vector found; /* struct older_state */
    bool all;            /* nobody reads anything else */
};

static bool same_state(const struct file_head *a, const struct file_head *b)
{
    return a->generation == b->generation && a->catalogue == b->catalogue
           && a->catalogue_checksum == b->catalogue_checksum;
}

/* Whether a state is among them. */
static bool is_among(const struct vector *states, const struct file_head *head)
{
    const struct older_state *older = states->items;

    for (size_t i = 0; i < states->count; i++)
        if (same_state(&older[i].head, head))
            return true;
    return false;
}

bool states_found(const struct database *database, const struct file_head *head)
{
    return is_among(&database->older, head);
}

/* Adds a state that is read; its catalogue, if it is at hand, is held, else
 * read. A state that cannot be read keeps all free space (`all`). */
static enum vdbq_status add_state(struct search *search,
                                  const struct file_head *head,
                                  struct catalogue *catalogue,
                                  struct error *error)
{
    struct database *database = search->database;
    struct older_state older = { *head, catalogue };
    struct error why;
    enum vdbq_status status = VDBQ_OK;

    if (same_state(head, &database->file.heads[database->file.current])
        || is_among(&search->found, head))
        return VDBQ_OK;
    error_clear(&why);
    if (catalogue != NULL)
        catalogue_hold(catalogue);
    else if (file_knows(&database->file, head))
        status = database_load(database, head, true, &older.catalogue, &why);
    if (status == VDBQ_NO_MEMORY)
        return error_no_memory(error);
    if (older.catalogue == NULL) {
        search->all = false;
        return VDBQ_OK;
    }
    if (vector_append(&search->found, &older, 1))
        return VDBQ_OK;
    catalogue_release(older.catalogue);
    return error_no_memory(error);
}

/* Looks at a state that may be the one of that key. */
static enum vdbq_status try_state(struct search *search, uint64_t key,
                                  const struct file_head *head,
                                  struct catalogue *catalogue, bool *any,
                                  struct error *error)
{
    if (head->catalogue_size == 0 || file_state_key(head) != key)
        return VDBQ_OK;
    *any = true;
    return add_state(search, head, catalogue, error);
}

/* Finds the states of a key among those that may be read. */
static enum vdbq_status find_key(struct search *search, uint64_t key,
                                 struct error *error)
{
    struct database *database = search->database;
    const struct file *file = &database->file;
    const struct older_state *older = database->older.items;
    const struct reading *reading = database->snapshots.items;
    const struct file_head *listed = database->listed.items;
    enum vdbq_status status = VDBQ_OK;
    bool any = false;

    for (size_t i = 0; i < database->older.count && status == VDBQ_OK; i++)
        status = try_state(search, key, &older[i].head, older[i].catalogue,
                           &any, error);
    for (size_t i = 0; i < database->snapshots.count && status == VDBQ_OK; i++)
        status = try_state(search, key, &reading[i].head, reading[i].catalogue,
                           &any, error);
    for (unsigned i = 0; i < FILE_HEADS && status == VDBQ_OK; i++)
        if (i == file->current || file->states[i] == HEAD_VALID)
            status = try_state(search, key, &file->heads[i], NULL, &any, error);
    for (size_t i = 0; i < database->listed.count && status == VDBQ_OK; i++)
        status = try_state(search, key, &listed[i], NULL, &any, error);
    search->all &= any;
    return status;
}

static enum vdbq_status
add_key(struct vector *keys, const struct file_head *head, struct error *error)
{
    uint64_t key = file_state_key(head);

    return vector_append(keys, &key, 1) ? VDBQ_OK : error_no_memory(error);
}

/* The keys of all that is read, by others and by this connection, and of what others
 * find the newest state, if a head is announced (file rule 16). */
static enum vdbq_status find_keys(struct database *database,
                                  struct vector *keys, struct error *error)
{
    struct file *file = &database->file;
    const struct reading *reading = database->snapshots.items;
    enum vdbq_status status = file_marked_keys(file, keys, error);

    for (size_t i = 0; i < database->snapshots.count && status == VDBQ_OK; i++)
        if (reading[i].head.catalogue_size != 0)
            status = add_key(keys, &reading[i].head, error);
    return status == VDBQ_OK && file->follows
               ? add_key(keys, &file->heads[1 - file->current], error)
               : status;
}

/* Lets states go. */
static void release_states(struct vector *states)
{
    struct older_state *older = states->items;

    for (size_t i = 0; i < states->count; i++)
        catalogue_release(older[i].catalogue);
    vector_finish(states);
}

enum vdbq_status states_find(struct database *database, bool *all,
                             struct error *error)
{
    struct search search = { .database = database,
                             .all = *all,
                             .found = VECTOR(struct older_state) };
    struct vector keys = VECTOR(uint64_t);
    enum vdbq_status status = find_keys(database, &keys, error);

    for (size_t i = 0; i < keys.count && status == VDBQ_OK; i++)
        status = find_key(&search, VECTOR_ITEMS(&keys, uint64_t)[i], error);
    vector_finish(&keys);
    if (status != VDBQ_OK) {
        release_states(&search.found);
        return status;
    }
    release_states(&database->older);
    database->older = search.found;
    *all = search.all;
    return VDBQ_OK;
}

bool states_add_extents(const struct database *database, struct vector *extents)
{
    const struct older_state *older = database->older.items;
    bool added = true;

    for (size_t i = 0; i < database->older.count && added; i++)
        added = extents_add(extents, older[i].head.catalogue,
                            run_list_end(&older[i].head, older[i].catalogue))
                && extents_add_catalogue(extents, older[i].catalogue);
    return added;
}

void states_pass(struct database *database, struct catalogue *before)
{
    const struct file *file = &database->file;
    struct older_state older = { file->heads[1 - file->current], before };

    if (vector_append(&database->older, &older, 1))
        catalogue_hold(before);
}

void states_finish(struct database *database)
{
    release_states(&database->older);
    vector_finish(&database->listed);
}
