/* SPDX-License-Identifier: MIT */
/*
 * One lock lets builds come one by one, so that a folder that is new after one
 * is that program's. The other guards the lists, for moments only.
 */
#include "device/cache/keep.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/vector.h"
#include "device/cache/bundle.h"
#include "device/cache/cache.h"
#include "device/cache/scratch.h"

enum { FOLDER_MAX = 128 };

/* A folder of a program, as POCL named it: "JE/FCEEPHK...". */
struct folder {
    char name[FOLDER_MAX]; /* of the driver's own cache */
    unsigned files;        /* of it that the cache has */
};

struct kept {
    const void *program;  /* what the key belongs to */
    struct text key;      /* under which its files are kept */
    struct folder folder; /* where the driver wrote them */
};

static pthread_mutex_t build_lock = PTHREAD_MUTEX_INITIALIZER;
static struct folder at_hand; /* of the build: from the cache, or POCL's */
static struct folder marked;  /* of the same build: see keep_mark() */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vector programs = { .width = sizeof(struct kept) };
static struct vector folders = { .width = sizeof(struct folder) }; /* all */

static bool find_new(struct folder *found);
static bool is_known(const char *name);
static struct kept *find(const void *program);

bool keep_is_on(void)
{
    return scratch_path() != NULL;
}

/* What is loaded is no new folder. */
static void note_loaded(void)
{
    pthread_mutex_lock(&list_lock);
    if (at_hand.name[0] != '\0' && !is_known(at_hand.name))
        vector_append(&folders, &at_hand, 1);
    pthread_mutex_unlock(&list_lock);
}

/* The folder of another program of this process that has the key, and that the cache
 * may not have yet; none: an empty name. */
static struct folder folder_of_other(const struct text *key)
{
    struct folder found = { 0 };

    pthread_mutex_lock(&list_lock);
    for (size_t i = 0; i < programs.count; i++) {
        const struct kept *kept = vector_at(&programs, i);
        if (kept->key.length == key->length
            && memcmp(kept->key.bytes, key->bytes, key->length) == 0)
            found = kept->folder;
    }
    pthread_mutex_unlock(&list_lock);
    return found;
}

void keep_before(const struct text *key)
{
    struct text entry = { 0 };

    pthread_mutex_lock(&build_lock);
    at_hand = (struct folder){ 0 };
    if (!key->failed && cache_load(key, &entry)
        && bundle_folder(&entry, at_hand.name, sizeof at_hand.name))
        at_hand.files = bundle_unpack(scratch_path(), &entry);
    else
        at_hand = folder_of_other(key);
    note_loaded();
    text_finish(&entry);
}

/* Notes the program with a copy of its key. */
static void note(const struct text *key, const void *program,
                 const struct folder *folder)
{
    struct kept kept = { .program = program, .folder = *folder };

    text_add(&kept.key, key->bytes, key->length);
    if (kept.key.failed || !vector_append(&programs, &kept, 1))
        text_finish(&kept.key);
}

/* A driver that built the program elsewhere than where its files were put has
 * changed since, or has its key from more than we know. */
bool keep_moved(void)
{
    pthread_mutex_lock(&list_lock);
    bool moved = find_new(&at_hand);
    pthread_mutex_unlock(&list_lock);
    return moved;
}

void keep_mark(void)
{
    marked = at_hand;
}

void keep_return(void)
{
    at_hand = marked;
}

void keep_after(const struct text *key, const void *program)
{
    pthread_mutex_lock(&list_lock);
    if (program == NULL)
        find_new(&at_hand); /* what a failure has left is no later program's */
    else if (at_hand.name[0] != '\0' && !key->failed)
        note(key, program, &at_hand);
    pthread_mutex_unlock(&list_lock);
    pthread_mutex_unlock(&build_lock);
}

/* Where POCL has the bitcode of the build at hand; false: it has none. */
static bool bitcode_path(struct text *path)
{
    if (at_hand.name[0] == '\0')
        return false;
    text_print(path, "%s/%s/program.bc", scratch_path(), at_hand.name);
    return !path->failed;
}

bool keep_bitcode(struct text *bitcode)
{
    struct text path = { 0 };
    bool found = bitcode_path(&path) && cache_read_file(path.bytes, bitcode);

    text_finish(&path);
    return found;
}

bool keep_replace(const struct text *bitcode)
{
    struct text path = { 0 };
    bool done = bitcode_path(&path) && cache_write_file(path.bytes, bitcode);

    text_finish(&path);
    return done;
}

/* A copy of what is known of a program; its key stays the list's. */
static struct kept look_up(const void *program)
{
    const struct kept *found;
    struct kept copy = { 0 };

    pthread_mutex_lock(&list_lock);
    found = find(program);
    if (found != NULL)
        copy = *found;
    pthread_mutex_unlock(&list_lock);
    return copy;
}

/* How many files of the driver the cache holds now. */
static void note_files(const void *program, unsigned files)
{
    struct kept *found;

    pthread_mutex_lock(&list_lock);
    found = find(program);
    if (found != NULL)
        found->folder.files = files;
    pthread_mutex_unlock(&list_lock);
}

void keep_launched(const void *program)
{
    const struct kept kept = look_up(program);
    struct text entry = { 0 };
    unsigned files = 0;

    if (kept.program != NULL)
        files = bundle_count(scratch_path(), kept.folder.name);
    if (files <= kept.folder.files)
        return;
    if (bundle_pack(scratch_path(), kept.folder.name, &entry))
        cache_save(&kept.key, entry.bytes, entry.length);
    text_finish(&entry);
    note_files(program, files);
}

void keep_forget(const void *program)
{
    struct kept *found, *last;

    pthread_mutex_lock(&list_lock);
    found = find(program);
    if (found != NULL) {
        last = vector_at(&programs, programs.count - 1);
        text_finish(&found->key);
        *found = *last;
        programs.count--;
    }
    pthread_mutex_unlock(&list_lock);
}

/* The entry of this program, or NULL. */
static struct kept *find(const void *program)
{
    struct kept *all = programs.items;

    for (size_t i = 0; i < programs.count; i++)
        if (all[i].program == program)
            return &all[i];
    return NULL;
}

/* ------------------------------------------------------------ the folder -- */

/* Whether the folder is in the list already. */
static bool is_known(const char *name)
{
    const struct folder *all = folders.items;

    for (size_t i = 0; i < folders.count; i++)
        if (strcmp(all[i].name, name) == 0)
            return true;
    return false;
}

/* Looks at the folder "outer/inner". */
static bool look_at(const char *outer, const char *inner, struct folder *found)
{
    struct folder folder = { 0 };

    if (inner[0] == '.'
        || snprintf(folder.name, sizeof folder.name, "%s/%s", outer, inner)
               >= (int)sizeof folder.name
        || is_known(folder.name) || !vector_append(&folders, &folder, 1))
        return false;
    *found = folder;
    return true;
}

/* Looks for a new folder of the driver. */
static bool look_below(const char *outer, struct folder *found)
{
    struct text path = { 0 };
    DIR *entries = NULL;
    const struct dirent *entry;
    bool any = false;

    text_print(&path, "%s/%s", scratch_path(), outer);
    if (!path.failed)
        entries = opendir(path.bytes);
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        any |= look_at(outer, entry->d_name, found);
    if (entries != NULL)
        closedir(entries);
    text_finish(&path);
    return any;
}

/* Finds a folder that no earlier build has left. */
static bool find_new(struct folder *found)
{
    DIR *entries = opendir(scratch_path());
    const struct dirent *entry;
    bool any = false;

    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (entry->d_name[0] != '.')
            any |= look_below(entry->d_name, found);
    if (entries != NULL)
        closedir(entries);
    return any;
}
