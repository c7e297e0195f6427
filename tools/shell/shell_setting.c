/* SPDX-License-Identifier: MIT */
/*
 * The commands that tell or set one thing: options of the database, and how
 * the shell writes results. Without an argument most tell it.
 */
#include "shell_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ----------------------------------------------------------- options -- */

/* Whether it hangs on the device that is asked for if an option can be had. */
static bool needs_device(const struct shell *shell, const char *option)
{
    static const char *const names[] = { "device", "cores", "mode", "build",
                                         "map" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(option, names[i]) == 0)
            return *vdbq_get(shell->db, "device") != 0;
    return false;
}

/* Sets an option, and opens the device, so that one that is not there, or
 * cannot do what is asked for, is told of here. */
static enum vdbq_status try_option(struct shell *shell, const char *option,
                                   const char *value)
{
    enum vdbq_status status = vdbq_set(shell->db, option, value);
    if (status == VDBQ_OK && needs_device(shell, option))
        status = vdbq_device_open(shell->db);
    return status;
}

/* Sets an option of the database, or tells its value; where it cannot be set
 * the one before stays. */
bool shell_set_option(struct shell *shell, const struct shell_call *call)
{
    const char *option = call->command->option;
    const char *value = vdbq_get(shell->db, option);
    if (!call->count)
        return shell_line(shell, value);
    char *before = strdup(value);
    if (!before)
        return shell_fail(shell, call->place, VDBQ_NO_MEMORY, "",
                          "out of memory");
    bool good = try_option(shell, option, call->argument[0]) == VDBQ_OK;
    if (!good) {
        shell_fail_db(shell, call->place);
        vdbq_set(shell->db, option, before);
    }
    free(before);
    return good;
}

/* ---------------------------------------------------------- switches -- */

/* "on" or "off" of an argument; false, and an error, for others. */
static bool take_switch(struct shell *shell, const struct shell_call *call,
                        bool *on)
{
    static const char *const names[] = { "off", "no", "0", "on", "yes", "1" };
    for (unsigned i = 0; i < 6; i++) {
        if (strcasecmp(call->argument[0], names[i]) == 0) {
            *on = i >= 3;
            return true;
        }
    }
    return shell_usage(shell, call);
}

bool shell_set_headers(struct shell *shell, const struct shell_call *call)
{
    bool on = shell->style.header < 0 ? shell->format->header
                                      : shell->style.header > 0;
    if (!call->count)
        return shell_line(shell, on ? "on" : "off");
    if (!take_switch(shell, call, &on))
        return false;
    shell->style.header = on;
    return true;
}

bool shell_set_timer(struct shell *shell, const struct shell_call *call)
{
    if (!call->count)
        return shell_line(shell, shell->timer ? "on" : "off");
    if (!take_switch(shell, call, &shell->timer))
        return false;
    return vdbq_set(shell->db, "profiling", shell->timer ? "on" : "off")
               == VDBQ_OK
           || shell_fail_db(shell, call->place);
}

/* ----------------------------------------------------- how and where -- */

/* A number of rows or columns that a box has at most, told or taken. */
static bool run_most(struct shell *shell, const struct shell_call *call,
                     const char *what, uint64_t *most)
{
    if (!call->count) {
        out_print(&shell->out, "%llu\n", (unsigned long long)*most);
        return true;
    }
    char *end;
    errno = 0;
    unsigned long long number = strtoull(call->argument[0], &end, 10);
    if (*end || errno || end == call->argument[0] || *call->argument[0] == '-')
        return shell_fail(shell, call->place, VDBQ_RANGE, "",
                          "%s is not a number of %s", call->argument[0], what);
    *most = number;
    return true;
}

bool shell_set_maxrows(struct shell *shell, const struct shell_call *call)
{
    return run_most(shell, call, "rows", &shell->style.rows_max);
}

bool shell_set_maxwidth(struct shell *shell, const struct shell_call *call)
{
    return run_most(shell, call, "columns", &shell->style.width_max);
}

static const char *format_name(void *context, unsigned index)
{
    (void)context;
    const struct format *format = format_at(index);
    return format ? format->name : NULL;
}

/* A text of the style is a copy of an argument, or NULL where that is not
 * there. */
static bool set_text(struct shell *shell, const struct shell_call *call,
                     unsigned argument, char **kept, const char **shown)
{
    bool given = call->count > argument;
    char *text = given ? strdup(call->argument[argument]) : NULL;
    if (given && !text)
        return shell_fail(shell, call->place, VDBQ_NO_MEMORY, "",
                          "out of memory");
    free(*kept);
    *kept = text;
    *shown = text;
    return true;
}

bool shell_set_mode(struct shell *shell, const struct shell_call *call)
{
    if (!call->count)
        return shell_line(shell, shell->format->name);
    const struct format *format = format_find(call->argument[0]);
    if (format) {
        shell->format = format;
        return set_text(shell, call, 1, &shell->table_name,
                        &shell->style.table);
    }
    char hint[SHELL_HINT_ROOM];
    shell_closest(call->argument[0], format_name, NULL,
                  ".help .mode lists the formats", hint);
    return shell_fail(shell, call->place, VDBQ_UNKNOWN, hint,
                      "unknown format %s", call->argument[0]);
}

bool shell_set_nullvalue(struct shell *shell, const struct shell_call *call)
{
    return set_text(shell, call, 0, &shell->null_text, &shell->style.null_text);
}

/* Whether two names are of one file. */
static bool is_same_file(const char *name, const char *other)
{
    struct stat one, two;
    return name && other && stat(name, &one) == 0 && stat(other, &two) == 0
           && one.st_ino == two.st_ino && one.st_dev == two.st_dev;
}

/* Completes the file that results went to. What fails on the way to standard
 * output is told at the end. */
static bool end_output(struct shell *shell, const struct shell_call *call)
{
    bool complete = out_finish(&shell->out);
    if (shell->out.fd == STDOUT_FILENO)
        return true;
    complete &= close(shell->out.fd) == 0;
    int problem = shell->out.error ? shell->out.error : errno;
    shell->out.error = 0;
    return complete
           || shell_fail(shell, call->place, VDBQ_IO, "",
                         "cannot write the results: %s", strerror(problem));
}

bool shell_set_output(struct shell *shell, const struct shell_call *call)
{
    int fd = STDOUT_FILENO;
    if (call->count && is_same_file(call->argument[0], shell->path))
        return shell_fail(shell, call->place, VDBQ_MISUSE, "",
                          "%s is the database that is open", call->argument[0]);
    if (call->count)
        fd = open(call->argument[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                  0666);
    if (fd < 0)
        return shell_fail(shell, call->place, VDBQ_IO, "",
                          "cannot write %s: %s", call->argument[0],
                          strerror(errno));
    bool good = end_output(shell, call);
    size_t length;
    shell->out.fd = fd;
    if (call->count
        && !out_pack(&shell->out, packing_of_name(call->argument[0], &length)))
        good =
            shell_fail(shell, call->place, VDBQ_NO_MEMORY, "", "out of memory");
    return good;
}
