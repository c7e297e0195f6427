/* SPDX-License-Identifier: MIT */
/*
 * Files in queries: FROM 'file.csv' is imported into the database of files,
 * once while the file stays as it is; COPY TO writes its rows beside the file
 * and gives them its name when they are complete.
 */
#include "shell.h"

#include "io/import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

static enum vdbq_status fail_import(vdbq *files, const char *name,
                                    const struct import_report *report)
{
    char message[sizeof report->message + 400];
    if (report->line)
        snprintf(message, sizeof message, "%.300s:%llu:%llu: %s", name,
                 (unsigned long long)report->line,
                 (unsigned long long)report->column, report->message);
    else
        snprintf(message, sizeof message, "%s", report->message);
    return vdbq_fail(files, report->status, message, report->hint);
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
    shell_bar_start(shell, "bytes");
    import_csv(&params, &report);
    shell_bar_clear(shell);
    shell_bar_start(shell, NULL);
    if (report.status != VDBQ_OK)
        return fail_import(files, name, &report);
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

/* -------------------------------------------------------------- writing -- */

/* Where rows go before they have the file's name. */
struct target {
    const char *name;
    char *beside; /* NULL: written to `name` itself, which is no plain file */
    int fd;
};

static bool fail_write(struct shell *shell, const struct place *place,
                       const struct target *target, int reason)
{
    return shell_fail(shell, place, VDBQ_IO, "", "cannot write %s: %s",
                      target->name, strerror(reason));
}

static void open_target(struct target *target)
{
    struct stat facts;
    if (stat(target->name, &facts) == 0 && !S_ISREG(facts.st_mode)) {
        target->fd = open(target->name, O_WRONLY | O_CLOEXEC);
        return;
    }
    size_t size = strlen(target->name) + 32;
    target->fd = -1;
    target->beside = malloc(size);
    if (!target->beside)
        return;
    snprintf(target->beside, size, "%s.%ld.tmp", target->name, (long)getpid());
    target->fd =
        open(target->beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

/* Gives the rows the file's name, or takes them away. Returns errno. */
static int close_target(struct target *target, bool complete)
{
    int problem = close(target->fd) == 0 ? 0 : errno;
    if (target->beside && complete && !problem
        && rename(target->beside, target->name) != 0)
        problem = errno;
    if (target->beside && (!complete || problem))
        unlink(target->beside);
    free(target->beside);
    return problem;
}

/* The format that the file's ending asks for; NULL: none does. */
static const struct format *format_of(const char *name)
{
    static const char *const endings[][2] = {
        { ".csv", "csv" },         { ".tsv", "tsv" },
        { ".tab", "tsv" },         { ".json", "json" },
        { ".jsonl", "jsonlines" }, { ".ndjson", "jsonlines" },
        { ".md", "markdown" },
    };
    const char *dot = strrchr(name, '.');
    for (unsigned i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i][0]) == 0)
            return format_find(endings[i][1]);
    return NULL;
}

/* What is no plain file, as a terminal or a pipe, takes CSV. */
static const struct format *choose_format(const char *name)
{
    struct stat facts;
    const struct format *format = format_of(name);
    if (!format && stat(name, &facts) == 0 && !S_ISREG(facts.st_mode))
        return format_find("csv");
    return format;
}

static bool is_compressed(const char *name)
{
    static const char *const endings[] = { ".gz", ".zst", ".bz2",
                                           ".xz", ".lz4", ".zip" };
    const char *dot = strrchr(name, '.');
    for (unsigned i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static enum vdbq_status fail_ending(struct shell *shell,
                                    const struct place *place, const char *name)
{
    shell_fail(shell, place, VDBQ_UNKNOWN,
               is_compressed(name)
                   ? "files are written as they are: .csv, .tsv, .json, "
                     ".jsonl or .md; compress it then"
                   : "the ending of the file's name chooses: .csv, .tsv, "
                     ".json, .jsonl or .md",
               "COPY TO '%s': no format has that ending", name);
    return VDBQ_UNKNOWN;
}

static enum vdbq_status write_rows(vdbq_query *query,
                                   const struct format *format, struct out *out,
                                   uint64_t *rows)
{
    const struct format_style style = { .header = 1, .quote_names = true };
    struct vdbq_batch batch;
    struct format_result result;
    enum vdbq_status status = vdbq_query_batch(query, &batch);
    if (status != VDBQ_OK)
        return status;
    if (!format_begin(&result, format, &style, out, query))
        return VDBQ_NO_MEMORY;
    while (status == VDBQ_OK && batch.rows && !out->error) {
        *rows += batch.rows;
        format_batch(&result, &batch);
        status = vdbq_query_batch(query, &batch);
    }
    return format_end(&result) || status != VDBQ_OK ? status : VDBQ_NO_MEMORY;
}

static void tell_rows(struct shell *shell, const char *name, uint64_t rows)
{
    shell_bar_clear(shell);
    if (!shell->interactive && !shell->timer)
        return;
    out_print(&shell->err, "%llu rows to %s\n", (unsigned long long)rows, name);
    out_flush(&shell->err);
}

enum vdbq_status shell_file_write(struct shell *shell,
                                  const struct place *place, vdbq_query *query,
                                  bool *told)
{
    struct target target = { .name = vdbq_query_copy_file(query) };
    struct out out = { 0 };
    uint64_t rows = 0;
    const struct format *format = choose_format(target.name);
    *told = true;
    if (!format)
        return fail_ending(shell, place, target.name);
    open_target(&target);
    if (target.fd < 0 || !out_open(&out, target.fd)) {
        fail_write(shell, place, &target, errno);
        free(target.beside);
        return VDBQ_IO;
    }
    enum vdbq_status status = write_rows(query, format, &out, &rows);
    out_flush(&out);
    int problem = out.error;
    out_close(&out);
    int closing = close_target(&target, status == VDBQ_OK && !problem);
    problem = problem ? problem : closing;
    if (status == VDBQ_OK && problem) {
        fail_write(shell, place, &target, problem);
        return VDBQ_IO;
    }
    *told = false;
    if (status == VDBQ_OK)
        tell_rows(shell, target.name, rows);
    return status;
}
