/* SPDX-License-Identifier: MIT */
/* .import: its options, and the report of what happened. */
#include "shell.h"

#include "io/import.h"

#include <string.h>

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
    if (strcmp(name, "delimiter") == 0) {
        params->delimiter = strcmp(value, "\\t") == 0 ? '\t' : *value;
        return strlen(value) == 1 || params->delimiter == '\t';
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
                      "[--delimiter C] [--key COLUMN] [--types T,T,...] "
                      "FILE TABLE", "%s%s",
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
    shell_error_head(shell, strcmp(file, "-") == 0 ? "stdin" : file,
                     report->line, report->column);
    out_text(&shell->err, report->message);
    out_char(&shell->err, '\n');
    shell_error_hint(shell, report->hint);
    out_flush(&shell->err);
    shell_raise(shell, shell_exit_code(report->status));
    return false;
}

static void tell(struct shell *shell, const struct import_params *params,
                 const struct import_report *report, int64_t start_ns)
{
    double seconds = (double)(shell_now_ns() - start_ns) * 1e-9;
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
        .db = shell->db, .header = -1,
        .progress = shell_bar_step, .context = shell,
    };
    if (!take_arguments(shell, place, arguments, argument, &params))
        return false;
    int64_t start_ns = shell_now_ns();
    shell_bar_start(shell, "bytes");
    import_csv(&params, &report);
    shell_bar_clear(shell);
    if (report.status != VDBQ_OK)
        return fail_import(shell, params.file, &report);
    tell(shell, &params, &report, start_ns);
    return true;
}
