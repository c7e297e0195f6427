/* SPDX-License-Identifier: MIT */
/*
 * Files in queries: FROM 'file.csv' is imported into the database of files,
 * once while the file stays as it is.
 */
#include "shell.h"

#include "io/import/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

/* -------------------------------------------------------------- reading -- */

/* Times of files stand still for so long at most: for a tick of the kernel's
 * clock, where they have parts of a second, else for two seconds. */
#define STANDS_STILL_NS       INT64_C(50000000)
#define STANDS_STILL_WHOLE_NS INT64_C(2000000000)

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Whether a file may change without its times changing. */
static bool is_young(const struct stat *facts)
{
    struct timespec now;
    bool whole = facts->st_mtim.tv_nsec == 0 && facts->st_ctim.tv_nsec == 0;
    clock_gettime(CLOCK_REALTIME, &now);
    return nanoseconds(now) - nanoseconds(facts->st_ctim)
           < (whole ? STANDS_STILL_WHOLE_NS : STANDS_STILL_NS);
}

/* What a file is now, a moment later where it was changed a moment ago. */
static bool look(const char *name, struct stat *facts, bool *young)
{
    bool there = stat(name, facts) == 0;
    *young = there && is_young(facts);
    if (!*young || facts->st_ctim.tv_nsec == 0)
        return there;
    nanosleep(&(struct timespec){ .tv_nsec = STANDS_STILL_NS }, NULL);
    there = stat(name, facts) == 0;
    *young = there && is_young(facts);
    return there;
}

/* Whether a file is what it was when it was read. A new content may have the
 * size and, where somebody wants it, the time of the old one; the time of the
 * change (ctime) nobody can set, it only has to be older than a tick. */
static bool is_same(const struct shell *shell, const struct shell_file *file,
                    const struct stat *facts)
{
    const struct stat *then = &file->facts;
    return file->dialect.delimiter == shell->dialect.delimiter
           && file->dialect.quote == shell->dialect.quote
           && file->header == shell->file_header && !file->young
           && then->st_ino == facts->st_ino && then->st_dev == facts->st_dev
           && then->st_size == facts->st_size
           && nanoseconds(then->st_mtim) == nanoseconds(facts->st_mtim)
           && nanoseconds(then->st_ctim) == nanoseconds(facts->st_ctim);
}

static struct shell_file *find(struct shell *shell, const char *name)
{
    for (unsigned i = 0; i < shell->files; i++)
        if (strcmp(shell->file[i].name, name) == 0)
            return &shell->file[i];
    return NULL;
}

static void forget(struct shell *shell, struct shell_file *file)
{
    free(file->name);
    *file = shell->file[--shell->files];
}

void shell_files_clear(struct shell *shell)
{
    while (shell->files)
        forget(shell, &shell->file[0]);
    free(shell->file);
    shell->file = NULL;
}

/* Names of tables do not tell A from a: only one such file stays. */
static enum vdbq_status drop_table(struct shell *shell, vdbq *files,
                                   const char *name)
{
    struct out sql;
    for (unsigned i = shell->files; i-- > 0;)
        if (strcasecmp(shell->file[i].name, name) == 0)
            forget(shell, &shell->file[i]);
    if (!out_open(&sql, -1))
        return vdbq_fail(files, VDBQ_NO_MEMORY, "out of memory", NULL);
    out_text(&sql, "DROP TABLE IF EXISTS \"");
    for (; *name; name++) {
        if (*name == '"')
            out_char(&sql, '"');
        out_char(&sql, *name);
    }
    out_bytes(&sql, "\"", 2);
    enum vdbq_status status = vdbq_execute(files, sql.bytes);
    out_close(&sql);
    return status;
}

static enum vdbq_status import(struct shell *shell, vdbq *files,
                               const char *name)
{
    struct import_params params = {
        .db = files,
        .file = name,
        .table = name,
        .header = shell->file_header,
        .dialect = shell->dialect,
        .progress = shell_bar_import,
        .context = shell,
    };
    struct import_report report;
    shell_bar_start(shell);
    import_csv(&params, &report);
    shell_bar_clear(shell);
    shell_bar_start(shell);
    if (report.status != VDBQ_OK)
        return import_copy_fail(files, name, &report);
    shell_import_note(shell, name, &report);
    return VDBQ_OK;
}

/* Notes what the file was when it was read. */
static enum vdbq_status note(struct shell *shell, vdbq *files, const char *name,
                             const struct stat *facts, bool young)
{
    struct shell_file *more =
        realloc(shell->file, (shell->files + (size_t)1) * sizeof *more);
    char *copy = strdup(name);
    shell->file = more ? more : shell->file;
    if (!more || !copy) {
        free(copy);
        return vdbq_fail(files, VDBQ_NO_MEMORY, "out of memory", NULL);
    }
    more[shell->files++] = (struct shell_file){ .name = copy,
                                                .dialect = shell->dialect,
                                                .header = shell->file_header,
                                                .facts = *facts,
                                                .young = young };
    return VDBQ_OK;
}

enum vdbq_status shell_file_read(void *context, vdbq *files, const char *name)
{
    struct shell *shell = context;
    struct stat facts;
    char message[400];
    bool young;
    if (!look(name, &facts, &young)) {
        snprintf(message, sizeof message, "cannot open %.300s: %s", name,
                 strerror(errno));
        return vdbq_fail(files, VDBQ_IO, message, NULL);
    }
    const struct shell_file *known = find(shell, name);
    if (known && is_same(shell, known, &facts))
        return VDBQ_OK;
    enum vdbq_status status = drop_table(shell, files, name);
    if (status == VDBQ_OK)
        status = import(shell, files, name);
    return status == VDBQ_OK ? note(shell, files, name, &facts, young) : status;
}
