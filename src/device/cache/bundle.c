/* SPDX-License-Identifier: MIT */
/*
 * Packs and unpacks. Bytes of a bundle have been checked against a checksum by
 * then; yet no path in one leads out of the root.
 */
#include "device/cache/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/os/os.h"

enum { DEPTH_MAX = 8, PATH_MAX_BYTES = 512 };

struct bundle_head {
    uint64_t path_size; /* bytes of the path that follows */
    uint64_t file_size; /* bytes of the file behind the path */
};
_Static_assert(sizeof(struct bundle_head) == 16, "layout of bundle_head");

/* ------------------------------------------------------------- walking -- */

/* What is done with each file; false ends the walk. */
struct visit {
    bool (*file)(struct visit *visit, const char *path, uint64_t size);
    size_t root_length;  /* of the path's part that is not in the bundle */
    unsigned count;      /* files seen so far */
    struct text *bundle; /* what they are packed into */
};

static bool walk(struct visit *visit, const char *path, unsigned depth);

/* A file is visited, a folder walked; links and all else are passed over. */
static bool walk_entry(struct visit *visit, const char *folder,
                       const char *name, unsigned depth)
{
    char path[PATH_MAX_BYTES];
    struct stat facts;

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path
        || lstat(path, &facts) != 0)
        return false;
    if (S_ISDIR(facts.st_mode))
        return walk(visit, path, depth + 1);
    if (!S_ISREG(facts.st_mode) || facts.st_size == 0)
        return true;
    visit->count++;
    return visit->file(visit, path, (uint64_t)facts.st_size);
}

/* Every entry of a folder; false: one could not be read. */
static bool walk(struct visit *visit, const char *path, unsigned depth)
{
    DIR *entries = depth < DEPTH_MAX ? opendir(path) : NULL;
    const struct dirent *entry;
    bool good = entries != NULL;

    while (good && (entry = readdir(entries)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            good = walk_entry(visit, path, entry->d_name, depth);
    if (entries != NULL)
        closedir(entries);
    return good;
}

/* A folder below the root. */
static bool walk_below(struct visit *visit, const char *root,
                       const char *folder)
{
    char path[PATH_MAX_BYTES];

    visit->root_length = strlen(root) + 1;
    return snprintf(path, sizeof path, "%s/%s", root, folder) < (int)sizeof path
           && walk(visit, path, 0);
}

/* ------------------------------------------------------------- packing -- */

/* Only counts. */
static bool count_one(struct visit *visit, const char *path, uint64_t size)
{
    (void)visit;
    (void)path;
    (void)size;
    return true;
}

unsigned bundle_count(const char *root, const char *folder)
{
    struct visit visit = { .file = count_one };

    walk_below(&visit, root, folder);
    return visit.count;
}

/* Adds all of a file's bytes; false: they are not as many as they were. */
static bool add_file(const char *path, uint64_t size, struct text *bundle)
{
    struct os_file *file;
    char *bytes = memory_resize(NULL, (size_t)size);
    bool read = false;

    if (bytes != NULL && os_files.open(path, OS_OPEN_READ_ONLY, &file) == 0) {
        read = os_files.read(file, bytes, (size_t)size, 0) == 0;
        os_files.close(file);
    }
    if (read)
        text_add(bundle, bytes, (size_t)size);
    memory_release(bytes);
    return read && !bundle->failed;
}

/* Appends head, path and bytes of a file. */
static bool pack_one(struct visit *visit, const char *path, uint64_t size)
{
    const char *name = path + visit->root_length;
    const struct bundle_head head = { strlen(name), size };

    text_add(visit->bundle, (const char *)&head, sizeof head);
    text_add(visit->bundle, name, strlen(name));
    return add_file(path, size, visit->bundle);
}

bool bundle_pack(const char *root, const char *folder, struct text *bundle)
{
    struct visit visit = { .file = pack_one, .bundle = bundle };

    return walk_below(&visit, root, folder);
}

/* ----------------------------------------------------------- unpacking -- */

/* A file of a bundle. */
struct packed {
    char path[PATH_MAX_BYTES]; /* below the folder it is unpacked into */
    const char *bytes;         /* in the bundle */
    size_t size;               /* of `bytes` */
};

/* Whether it is a path of plain names: none is empty or begins with a dot. A
 * NUL stands behind it. */
static bool is_plain(const char *path, size_t length)
{
    return path != NULL && length > 0 && memchr(path, '\0', length) == NULL
           && path[0] != '/' && path[0] != '.' && path[length - 1] != '/'
           && strstr(path, "//") == NULL && strstr(path, "/.") == NULL;
}

/* Reads the file that begins at *at, and goes on behind it. */
static bool next(const struct text *bundle, size_t *at, struct packed *file)
{
    size_t left = bundle->length - *at;
    struct bundle_head head;
    const char *path;

    if (left < sizeof head)
        return false;
    memcpy(&head, bundle->bytes + *at, sizeof head);
    path = bundle->bytes + *at + sizeof head;
    left -= sizeof head;
    if (head.path_size >= sizeof file->path || head.path_size > left
        || head.file_size > left - head.path_size)
        return false;
    memcpy(file->path, path, (size_t)head.path_size);
    file->path[head.path_size] = '\0';
    if (!is_plain(file->path, (size_t)head.path_size))
        return false;
    file->bytes = path + head.path_size;
    file->size = (size_t)head.file_size;
    *at += sizeof head + (size_t)(head.path_size + head.file_size);
    return true;
}

/* Makes the folders that lead to a path, those behind `root_length`. */
static bool make_folders(char *path, size_t root_length)
{
    for (char *at = path + root_length + 1; (at = strchr(at, '/')); at++) {
        bool made;
        *at = '\0';
        made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *at = '/';
        if (!made)
            return false;
    }
    return true;
}

/* Writes a file under its name where there is none. */
static bool write_new(const char *path, const char *bytes, size_t size)
{
    int file =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = true;

    if (file < 0)
        return errno == EEXIST;
    while (size > 0 && good) {
        ssize_t done = write(file, bytes, size);
        good = done > 0;
        bytes += good ? done : 0;
        size -= good ? (size_t)done : 0;
    }
    good = close(file) == 0 && good;
    if (!good)
        unlink(path);
    return good;
}

unsigned bundle_unpack(const char *root, const struct text *bundle)
{
    struct packed file;
    size_t at = 0;
    unsigned count = 0;
    bool good = true;

    while (good && next(bundle, &at, &file)) {
        char path[2 * PATH_MAX_BYTES];
        good = snprintf(path, sizeof path, "%s/%s", root, file.path)
                   < (int)sizeof path
               && make_folders(path, strlen(root))
               && write_new(path, file.bytes, file.size);
        count += good;
    }
    return count;
}

bool bundle_folder(const struct text *bundle, char *folder, size_t room)
{
    struct packed file;
    size_t at = 0;
    char *slash;

    if (!next(bundle, &at, &file))
        return false;
    slash = strchr(file.path, '/');
    slash = slash != NULL ? strchr(slash + 1, '/') : NULL;
    if (slash == NULL || (size_t)(slash - file.path) >= room)
        return false;
    *slash = '\0';
    strcpy(folder, file.path);
    return true;
}
