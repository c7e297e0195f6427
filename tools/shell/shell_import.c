/* SPDX-License-Identifier: MIT */
/*
 * .import and .csv: the options by which files are read, and the report of
 * what happened.
 */
#include "shell.h"

#include "io/import/import.h"

#include <string.h>

/* One byte that is no line end and no part of UTF-8, or a tab as \t. */
static bool is_delimiter(const char *value)
{
    return strcmp(value, "\\t") == 0
           || (strlen(value) == 1 && !strchr("\r\n\"", *value)
               && (unsigned char)*value < 0x80);
}

static bool is_quote(char quote)
{
    return quote != '\r' && quote != '\n' && (unsigned char)quote < 0x80;
}

/* Takes one option; `taken` counts the arguments it used. False: it is none,
 * or what it needs is missing. */
static bool take_option(struct import_params *params, unsigned count,
                        char **argument, unsigned *taken)
{
    const char *name = argument[0] + (argument[0][1] == '-' ? 2 : 1);
    *taken = 1;
    if (strcmp(name, "header") == 0 || strcmp(name, "no-header") == 0) {
        params->header = *name == 'h';
        return true;
    }
    const char *value = count > 1 ? argument[1] : NULL;
    *taken = 2;
    if (!value)
        return false;
    if (strcmp(name, "delimiter") == 0 || strcmp(name, "separator") == 0) {
        params->dialect.delimiter = strcmp(value, "\\t") == 0 ? '\t' : *value;
        return is_delimiter(value);
    }
    if (strcmp(name, "quote") == 0) {
        params->dialect.quote = *value ? *value : CSV_UNQUOTED;
        return strlen(value) <= 1 && is_quote(*value);
    }
    if (strcmp(name, "key") == 0)
        params->key = value;
    else if (strcmp(name, "types") == 0)
        params->types = value;
    else
        return false;
    return true;
}

static bool fail_usage(struct shell *shell, const struct place *place,
                       const char *argument)
{
    return shell_fail(shell, place, VDBQ_MISUSE,
                      "usage: .import [--header] [--no-header] "
                      "[--delimiter C] [--quote C] [--key COLUMN] "
                      "[--types T,T,...] FILE TABLE",
                      "%s%s",
                      argument ? "unexpected or incomplete: "
                               : "a file and a table are needed",
                      argument ? argument : "");
}

static bool take_arguments(struct shell *shell, const struct place *place,
                           unsigned count, char **argument,
                           struct import_params *params)
{
    for (unsigned i = 0, taken = 1; i < count; i += taken) {
        taken = 1;
        bool option = argument[i][0] == '-' && argument[i][1];
        if (option && !take_option(params, count - i, argument + i, &taken))
            return fail_usage(shell, place, argument[i]);
        if (option)
            continue;
        if (params->table)
            return fail_usage(shell, place, argument[i]);
        if (params->file)
            params->table = argument[i];
        else
            params->file = argument[i];
    }
    return params->table || fail_usage(shell, place, NULL);
}

static bool fail_import(struct shell *shell, const char *file,
                        const struct import_report *report)
{
    shell->interrupt_told |= report->status == VDBQ_CANCELLED;
    shell_error_head(shell, strcmp(file, "-") == 0 ? "stdin" : file,
                     report->line, report->column);
    out_text(&shell->err, report->message);
    out_char(&shell->err, '\n');
    shell_error_hint(shell, report->hint);
    out_flush(&shell->err);
    shell_raise(shell, shell_exit_code(report->status));
    return false;
}

void shell_import_note(struct shell *shell, const char *file,
                       const struct import_report *report)
{
    char words[IMPORT_WORDS_ROOM];
    if (!shell->interactive && !shell->timer && !report->unusual)
        return;
    import_describe(report, words);
    out_print(&shell->err, "note: %s: %s\n", file, words);
    out_flush(&shell->err);
}

static void tell(struct shell *shell, const struct import_params *params,
                 const struct import_report *report, int64_t start_ns)
{
    double seconds = (double)(shell_now_ns() - start_ns) * 1e-9;
    shell_import_note(shell, params->file, report);
    if (!shell->interactive && !shell->timer)
        return;
    out_print(&shell->err, "%llu rows into %s%s, %.3f s\n",
              (unsigned long long)report->rows,
              report->created ? "new table " : "", params->table, seconds);
    out_flush(&shell->err);
}

bool shell_import(struct shell *shell, const struct place *place,
                  unsigned arguments, char **argument)
{
    struct import_report report;
    struct import_params params = {
        .db = shell->db,
        .header = -1,
        .progress = shell_bar_import,
        .context = shell,
    };
    if (!take_arguments(shell, place, arguments, argument, &params))
        return false;
    int64_t start_ns = shell_now_ns();
    shell_bar_start(shell);
    shell_signals_running(shell->db);
    import_csv(&params, &report);
    shell_signals_running(NULL);
    shell_bar_clear(shell);
    if (report.status != VDBQ_OK)
        return fail_import(shell, params.file, &report);
    tell(shell, &params, &report, start_ns);
    return true;
}

/* ------------------------------------------------------------------ .csv -- */

static void write_settings(struct shell *shell)
{
    const struct csv_dialect dialect = shell->dialect;
    char delimiter[2] = { dialect.delimiter, 0 };
    char quote[2] = { dialect.quote > 0 ? (char)dialect.quote : 0, 0 };
    out_print(&shell->out, "delimiter %s, quote %s, header %s\n",
              !*delimiter          ? "auto"
              : *delimiter == '\t' ? "\\t"
                                   : delimiter,
              !dialect.quote ? "auto"
              : *quote       ? quote
                             : "none",
              shell->file_header < 0 ? "auto"
              : shell->file_header   ? "yes"
                                     : "no");
}

static bool fail_csv(struct shell *shell, const struct place *place,
                     const char *argument)
{
    return shell_fail(shell, place, VDBQ_MISUSE,
                      "usage: .csv [auto] [--delimiter C] [--quote C] "
                      "[--header] [--no-header]",
                      "unexpected or incomplete: %s", argument);
}

bool shell_csv(struct shell *shell, const struct place *place,
               unsigned arguments, char **argument)
{
    struct import_params params = { .dialect = shell->dialect,
                                    .header = shell->file_header };
    for (unsigned i = 0, taken = 1; i < arguments; i += taken) {
        taken = 1;
        if (strcmp(argument[i], "auto") == 0)
            params = (struct import_params){ .header = -1 };
        else if (argument[i][0] != '-' || !argument[i][1]
                 || !take_option(&params, arguments - i, argument + i, &taken)
                 || params.key || params.types)
            return fail_csv(shell, place, argument[i]);
    }
    if (!arguments)
        write_settings(shell);
    shell->dialect = params.dialect;
    shell->file_header = params.header;
    return true;
}
