/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes entries of the kernel cache; cache.h has their layout.
 */
#include "device/cache/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/memory.h"
#include "device/cache/environment.h"

#define CACHE_MAGIC 0x4e52454b51424456u /* "VDBQKERN" */

struct cache_head {
    uint64_t magic;       /* says that this is an entry of the cache */
    uint32_t format;      /* of entries: others are built anew */
    uint32_t reserved;    /* 0 */
    uint64_t key_size;    /* bytes of the key behind the head */
    uint64_t binary_size; /* bytes of the binary behind the key */
    uint64_t checksum;    /* of key and binary */
};
_Static_assert(sizeof(struct cache_head) == 40, "layout of cache_head");

static bool entry_path(const struct text *key, bool makes, struct text *path);
static bool entry_is_sound(const struct text *entry, const struct text *key);

bool cache_load(const struct text *key, struct text *binary)
{
    struct text path = { 0 }, entry = { 0 };
    bool found = entry_path(key, false, &path)
                 && cache_read_file(path.bytes, &entry)
                 && entry_is_sound(&entry, key);

    if (found) {
        size_t start = sizeof(struct cache_head) + key->length;
        text_add(binary, entry.bytes + start, entry.length - start);
        found = !binary->failed;
    }
    text_finish(&entry);
    text_finish(&path);
    return found;
}

void cache_save(const struct text *key, const void *bytes, size_t size)
{
    struct text path = { 0 }, entry = { 0 };
    struct cache_head head = { .magic = CACHE_MAGIC,
                               .format = CACHE_FORMAT,
                               .key_size = key->length,
                               .binary_size = size };

    text_add(&entry, (const char *)&head, sizeof head);
    text_add(&entry, key->bytes, key->length);
    text_add(&entry, bytes, size);
    if (!entry.failed && entry_path(key, true, &path)) {
        head.checksum =
            XXH3_64bits(entry.bytes + sizeof head, entry.length - sizeof head);
        memcpy(entry.bytes, &head, sizeof head);
        cache_write_file(path.bytes, &entry);
    }
    text_finish(&entry);
    text_finish(&path);
}

/* Where the entry of a key is, in a folder that is made if need be; false
 * where there is no cache. */
static bool entry_path(const struct text *key, bool makes, struct text *path)
{
    XXH128_hash_t hash = XXH3_128bits(key->bytes, key->length);
    struct error ignored;
    bool there =
        makes ? environment_cache_folder("kernels", path, &ignored) == VDBQ_OK
              : environment_cache_look("kernels", path);

    if (!there)
        return false;
    text_print(path, "/%016llx%016llx.bin", (unsigned long long)hash.high64,
               (unsigned long long)hash.low64);
    return !path->failed;
}

/* Reads or writes all of `size` bytes. */
static bool transfer(int file, char *bytes, size_t size, bool is_write)
{
    while (size > 0) {
        ssize_t done =
            is_write ? write(file, bytes, size) : read(file, bytes, size);
        if (done <= 0)
            return false;
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

bool cache_read_file(const char *path, struct text *bytes)
{
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat facts;
    bool done = false;

    if (file < 0)
        return false;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)
        && facts.st_uid == geteuid() && facts.st_size > 0) {
        char *room = memory_resize(NULL, (size_t)facts.st_size);
        done =
            room != NULL && transfer(file, room, (size_t)facts.st_size, false);
        if (done)
            text_add(bytes, room, (size_t)facts.st_size);
        memory_release(room);
    }
    close(file);
    return done && !bytes->failed;
}

/* Sizes, checksum and the whole key must fit: names are only hashes. */
static bool entry_is_sound(const struct text *entry, const struct text *key)
{
    struct cache_head head;
    const char *rest;
    size_t left;

    if (entry->length < sizeof head)
        return false;
    memcpy(&head, entry->bytes, sizeof head);
    rest = entry->bytes + sizeof head;
    left = entry->length - sizeof head;
    return head.magic == CACHE_MAGIC && head.format == CACHE_FORMAT
           && head.reserved == 0 && head.key_size == key->length
           && head.key_size < left && head.binary_size == left - head.key_size
           && head.checksum == XXH3_64bits(rest, left)
           && memcmp(rest, key->bytes, key->length) == 0;
}

bool cache_write_file(const char *path, const struct text *bytes)
{
    struct text name = { 0 };
    int file = -1;
    bool done;

    text_print(&name, "%s.XXXXXX", path);
    if (!name.failed)
        file = mkstemp(name.bytes);
    done = file >= 0 && transfer(file, bytes->bytes, bytes->length, true);
    if (file >= 0)
        done = close(file) == 0 && done;
    if (done)
        done = rename(name.bytes, path) == 0;
    if (file >= 0 && !done)
        unlink(name.bytes);
    text_finish(&name);
    return done;
}

bool cache_is_empty(void)
{
    struct text path = { 0 };
    DIR *entries = NULL;
    const struct dirent *entry;
    bool any = false;

    if (environment_cache_look("kernels", &path))
        entries = opendir(path.bytes);
    while (entries != NULL && !any && (entry = readdir(entries)) != NULL)
        any = entry->d_name[0] != '.';
    if (entries != NULL)
        closedir(entries);
    text_finish(&path);
    return !any;
}

int cache_lock(unsigned number, bool waits)
{
    struct text path = { 0 };
    struct error ignored;
    int lock = -1;

    if (environment_cache_folder("kernels", &path, &ignored) == VDBQ_OK)
        text_print(&path, number > 0 ? "/.lock-%u" : "/.lock", number);
    if (path.bytes != NULL && !path.failed)
        lock =
            open(path.bytes, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    text_finish(&path);
    if (lock >= 0 && flock(lock, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0
        && !waits) {
        close(lock);
        lock = CACHE_TAKEN;
    }
    return lock;
}

void cache_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}
