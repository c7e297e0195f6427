/* SPDX-License-Identifier: MIT */
/*
 * COPY: TO writes its rows beside the file and gives them its name when they are
 * complete; FROM is an import into a table that is there.
 */
#include "shell.h"

#include "io/import/import.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------- TO -- */

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

/* A file's ending, or FORMAT's word, and the format that it asks for. */
static const char *const endings[][2] = {
    { ".csv", "csv" },
    { ".tsv", "tsv" },
    { ".tab", "tsv" },
    { ".json", "json" },
    { ".jsonl", "jsonlines" },
    { ".ndjson", "jsonlines" },
    { ".jsonlines", "jsonlines" },
    { ".md", "markdown" },
    { ".markdown", "markdown" },
};
enum { ENDINGS = sizeof endings / sizeof *endings };

static const struct format *format_of_word(const char *word)
{
    for (unsigned i = 0; i < ENDINGS; i++)
        if (strcasecmp(word, endings[i][0] + 1) == 0)
            return format_find(endings[i][1]);
    return NULL;
}

/* What is no plain file, as a terminal or a pipe, takes CSV. */
static const struct format *format_of_name(const char *name)
{
    struct stat facts;
    for (unsigned i = 0; i < ENDINGS; i++)
        if (packing_name_ends(name, endings[i][0]))
            return format_find(endings[i][1]);
    return stat(name, &facts) == 0 && !S_ISREG(facts.st_mode)
               ? format_find("csv")
               : NULL;
}

static bool is_compressed(const char *name)
{
    static const char *const others[] = { ".bz2", ".xz", ".lz4", ".zip" };
    const char *dot = strrchr(name, '.');
    for (unsigned i = 0; dot && i < sizeof others / sizeof *others; i++)
        if (strcasecmp(dot, others[i]) == 0)
            return true;
    return false;
}

static bool fail_ending(struct shell *shell, const struct place *place,
                        const char *name)
{
    return shell_fail(shell, place, VDBQ_UNKNOWN,
                      is_compressed(name)
                          ? "files are packed by gzip or zstd: .csv.gz, "
                            ".csv.zst"
                          : "the ending of the file's name chooses: .csv, "
                            ".tsv, .json, .jsonl or .md; or FORMAT does",
                      "COPY TO '%s': no format has that ending", name);
}

/* Delimiters that numbers and words of values have none of. */
static bool is_delimiter(char c)
{
    return !isalnum((unsigned char)c) && !strchr("\".+-", c);
}

/* How the rows are written; false: it has been told why not. */
static bool choose_format(struct shell *shell, const struct place *place,
                          const struct vdbq_copy *copy,
                          const struct format **format,
                          struct format_style *style)
{
    *format = copy->format ? format_of_word(copy->format)
                           : format_of_name(copy->file);
    if (!*format && copy->format)
        return shell_fail(shell, place, VDBQ_UNKNOWN,
                          "the formats are csv, tsv, json, jsonl and markdown",
                          "COPY TO writes no format %s", copy->format);
    if (!*format)
        return fail_ending(shell, place, copy->file);
    bool plain = strcmp((*format)->name, "csv") == 0
                 || strcmp((*format)->name, "tsv") == 0;
    if (!plain && (copy->header >= 0 || copy->delimiter || copy->null_text))
        return shell_fail(shell, place, VDBQ_MISUSE, "",
                          "HEADER, DELIMITER and NULL are for csv and tsv, not "
                          "for %s",
                          (*format)->name);
    if (copy->delimiter && !is_delimiter(*copy->delimiter))
        return shell_fail(shell, place, VDBQ_MISUSE, "",
                          "DELIMITER '%s': values may hold it",
                          copy->delimiter);
    *style = (struct format_style){
        .header = copy->header >= 0 ? copy->header : 1,
        .delimiter = copy->delimiter ? *copy->delimiter : 0,
        .null_text = copy->null_text,
        .quote_null = copy->null_text && *copy->null_text,
        .quote_names = true,
    };
    return true;
}

static enum vdbq_status write_rows(vdbq_query *query,
                                   const struct format *format,
                                   const struct format_style *style,
                                   struct out *out, uint64_t *rows)
{
    struct vdbq_batch batch;
    struct format_result result;
    enum vdbq_status status = vdbq_query_batch(query, &batch);
    if (status != VDBQ_OK)
        return status;
    if (!format_begin(&result, format, style, out, query))
        return VDBQ_NO_MEMORY;
    while (status == VDBQ_OK && batch.rows && !out->error) {
        *rows += batch.rows;
        format_batch(&result, &batch);
        status = vdbq_query_batch(query, &batch);
    }
    return format_end(&result) || status != VDBQ_OK ? status : VDBQ_NO_MEMORY;
}

static void tell_rows(struct shell *shell, const char *words, const char *name,
                      uint64_t rows)
{
    shell_bar_clear(shell);
    if (!shell->interactive && !shell->timer)
        return;
    out_print(&shell->err, "%llu rows %s %s\n", (unsigned long long)rows, words,
              name);
    out_flush(&shell->err);
}

/* Opens the file, packed as its name says; false, and errno. */
static bool open_out(struct target *target, struct out *out)
{
    size_t length;
    open_target(target);
    if (target->fd < 0)
        return false;
    if (out_open(out, target->fd)
        && out_pack(out, packing_of_name(target->name, &length)))
        return true;
    out_close(out);
    close_target(target, false);
    target->beside = NULL;
    errno = ENOMEM;
    return false;
}

enum vdbq_status shell_copy_to(struct shell *shell, const struct place *place,
                               vdbq_query *query, bool *told)
{
    const struct vdbq_copy *copy = vdbq_query_copy(query);
    struct target target = { .name = copy->file };
    struct format_style style;
    struct out out = { 0 };
    uint64_t rows = 0;
    const struct format *format;
    *told = true;
    if (!choose_format(shell, place, copy, &format, &style))
        return VDBQ_UNKNOWN;
    if (!open_out(&target, &out)) {
        fail_write(shell, place, &target, errno);
        free(target.beside);
        return VDBQ_IO;
    }
    enum vdbq_status status = write_rows(query, format, &style, &out, &rows);
    out_finish(&out);
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
        tell_rows(shell, "to", target.name, rows);
    return status;
}

/* ----------------------------------------------------------------- FROM -- */

enum vdbq_status shell_copy_from(void *context, vdbq *db,
                                 const struct vdbq_copy *copy)
{
    struct shell *shell = context;
    struct import_report report;
    struct import_params params;
    enum vdbq_status status = import_copy_params(db, copy, &params);
    if (status != VDBQ_OK)
        return status;
    params.progress = shell_bar_import;
    params.context = shell;
    shell_bar_start(shell);
    import_csv(&params, &report);
    shell_bar_clear(shell);
    if (report.status != VDBQ_OK)
        return import_copy_fail(db, copy->file, &report);
    shell_import_note(shell, copy->file, &report);
    tell_rows(shell, "into", copy->table, report.rows);
    return VDBQ_OK;
}
