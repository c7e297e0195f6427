/* SPDX-License-Identifier: MIT */
/*
 * Connections to the database: the one that the shell starts with, and others
 * that .connection opens, so that a person sees from one what another has and
 * has not committed.
 */
#include "shell.h"

#include "shell_options.h"

#include <stdlib.h>
#include <string.h>

static bool fail_open(struct shell *shell, const struct place *place,
                      enum shell_exit code)
{
    static const struct place nowhere = { .name = NULL };
    shell_fail_db(shell, place ? place : &nowhere);
    shell_raise(shell, code);
    return false;
}

/* A file that can't be opened is told by exit code 3, whatever the reason. */
static enum shell_exit open_code(enum vdbq_status status)
{
    bool file = status == VDBQ_READ_ONLY || status == VDBQ_BUSY;
    return file ? EXIT_FILE : shell_exit_code(status);
}

/* Tells what is wrong with the file although it could be opened. */
static void tell_warning(struct shell *shell)
{
    const char *warning = vdbq_warning(shell->db);
    if (*warning == '\0')
        return;
    out_text(&shell->err, "warning: ");
    out_text(&shell->err, warning);
    out_char(&shell->err, '\n');
    out_flush(&shell->err);
}

/* Opens shell->db; where that fails it is what tells why, until it closes. */
static bool open_database(struct shell *shell, const struct place *place)
{
    const struct options *options = shell->options;
    unsigned flags = options->open_flags;
    if (!(flags & VDBQ_OPEN_READ_ONLY))
        flags |= VDBQ_OPEN_CREATE;
    enum vdbq_status status = vdbq_open(shell->path, flags, &shell->db);
    if (status != VDBQ_OK)
        return fail_open(shell, place, open_code(status));
    tell_warning(shell);
    for (unsigned i = 0; i < options->sets; i++)
        if (vdbq_set(shell->db, options->set[i].name, options->set[i].value)
            != VDBQ_OK)
            return fail_open(shell, place, EXIT_USAGE);
    vdbq_on_file(shell->db, shell_file_read, shell);
    vdbq_on_copy(shell->db, shell_copy_from, shell);
    if (shell->bar)
        vdbq_on_progress(shell->db, shell_bar_step, shell);
    return true;
}

static void park(struct shell *shell)
{
    shell->parked[shell->connection] =
        (struct shell_connection){ shell->db, shell->file, shell->files };
    shell->db = NULL;
    shell->file = NULL;
    shell->files = 0;
}

static void take(struct shell *shell, unsigned number)
{
    const struct shell_connection *taken = &shell->parked[number];
    shell->db = taken->db;
    shell->file = taken->file;
    shell->files = taken->files;
    shell->connection = number;
}

/* Closes the connection that statements go to. */
static void close_database(struct shell *shell)
{
    vdbq_close(shell->db);
    shell_files_clear(shell);
    shell->db = NULL;
}

bool shell_connection_open(struct shell *shell, unsigned number,
                           const struct place *place)
{
    unsigned before = shell->connection;
    park(shell);
    take(shell, number);
    if (shell->db || open_database(shell, place))
        return true;
    close_database(shell);
    park(shell);
    take(shell, before);
    return false;
}

void shell_connections_close(struct shell *shell)
{
    park(shell);
    for (unsigned i = 0; i < SHELL_CONNECTIONS_MAX; i++) {
        take(shell, i);
        close_database(shell);
        park(shell);
    }
}

/* -------------------------------------------------------- .connection -- */

static void list(struct shell *shell)
{
    for (unsigned i = 0; i < SHELL_CONNECTIONS_MAX; i++)
        if (i == shell->connection || shell->parked[i].db)
            out_print(&shell->out, "%u%s\n", i,
                      i == shell->connection ? " active" : "");
}

static bool is_in_memory(const struct shell *shell)
{
    return !shell->path || !*shell->path
           || strcmp(shell->path, ":memory:") == 0;
}

static bool switch_to(struct shell *shell, const struct place *place,
                      unsigned number)
{
    if (number == shell->connection)
        return true;
    if (is_in_memory(shell))
        return shell_fail(shell, place, VDBQ_MISUSE,
                          "vdbq FILE keeps the "
                          "database in a file",
                          "a database in memory has "
                          "one connection");
    return shell_connection_open(shell, number, place);
}

/* What a transaction of that connection did is undone. */
static bool close_parked(struct shell *shell, const struct place *place,
                         unsigned number)
{
    unsigned before = shell->connection;
    if (number == before)
        return shell_fail(shell, place, VDBQ_MISUSE,
                          ".connection N goes to another one",
                          "connection %u is the active one", number);
    park(shell);
    take(shell, number);
    close_database(shell);
    park(shell);
    take(shell, before);
    return true;
}

bool shell_connection_command(struct shell *shell, const struct place *place,
                              unsigned arguments, char **argument)
{
    bool close = arguments == 2 && strcmp(argument[0], "close") == 0;
    if (!arguments) {
        list(shell);
        return true;
    }
    const char *number = argument[arguments - 1];
    if ((arguments == 2 && !close) || number[0] < '0' || number[0] > '9'
        || number[1])
        return shell_fail(shell, place, VDBQ_MISUSE, "",
                          "usage: .connection [close] [N], N from 0 to %d",
                          SHELL_CONNECTIONS_MAX - 1);
    unsigned n = (unsigned)(number[0] - '0');
    return close ? close_parked(shell, place, n) : switch_to(shell, place, n);
}
