/* SPDX-License-Identifier: MIT */
/*
 * The commands that start with a dot, from one table: what they are called,
 * what they take, what they do. Those that tell or set one thing are in
 * shell_setting.c.
 */
#include <vdbq_cluster.h>

#include "shell_command.h"
#include "shell_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ARGUMENTS_MAX = 256 };

static bool run_connection(struct shell *shell, const struct shell_call *call);
static bool run_csv(struct shell *shell, const struct shell_call *call);
static bool run_devices(struct shell *shell, const struct shell_call *call);
static bool run_help(struct shell *shell, const struct shell_call *call);
static bool run_import(struct shell *shell, const struct shell_call *call);
static bool run_parameter(struct shell *shell, const struct shell_call *call);
static bool run_print(struct shell *shell, const struct shell_call *call);
static bool run_quit(struct shell *shell, const struct shell_call *call);
static bool run_read(struct shell *shell, const struct shell_call *call);
static bool run_schema(struct shell *shell, const struct shell_call *call);
static bool run_tables(struct shell *shell, const struct shell_call *call);
static bool run_tablets(struct shell *shell, const struct shell_call *call);
static bool run_check(struct shell *shell, const struct shell_call *call);
static bool run_connections(struct shell *shell, const struct shell_call *call);
static bool run_vacuum(struct shell *shell, const struct shell_call *call);

static const struct shell_command commands[] = {
    { ".build", "[BUILD]", "auto, interpreted or specialised programs",
      shell_set_option, 0, 1, "build" },
    { ".check", "",
      "reads all of the file and proves it: ok, or a line for each\n"
      "fault",
      run_check, 0, 0, NULL },
    { ".connection", "[close] [N]",
      "goes to connection N of the database, "
      "opens or closes it;\nlists those that are open",
      run_connection, 0, 2, NULL },
    { ".connections", "",
      "who reads or writes the file at this moment, of all processes:\n"
      "which state, how many are newer, and for how long",
      run_connections, 0, 0, NULL },
    { ".cores", "[N]", NULL, shell_set_option, 0, 1, "cores" },
    { ".csv", "[auto|OPTIONS]",
      "how FROM 'file.csv' reads files: --delimiter "
      "C,\n--quote C, --header, --no-header; auto looks at each",
      run_csv, 0, ARGUMENTS_MAX, NULL },
    { ".device", "[DEVICE]", NULL, shell_set_option, 0, 1, "device" },
    { ".devicememory", "[SIZE]",
      "device memory for tablets that stay there; "
      "0: its default",
      shell_set_option, 0, 1, "device_memory" },
    { ".devices", "", "lists the devices of this machine", run_devices, 0, 0,
      NULL },
    { ".distribute", "FOLDER N [TABLE [BROADCAST | BY HASH (COLUMN, ...)]]...",
      "makes part files of the database for N ranks; each of these tables\n"
      "is whole in all of them (BROADCAST), or its rows go where the hash of\n"
      "columns says; the others are shared out by runs of rows",
      shell_distribute, 2, ARGUMENTS_MAX, NULL },
    { ".encoding", "[ENCODING]",
      "auto, plain or packed: how columns that are "
      "written are stored",
      shell_set_option, 0, 1, "encoding" },
    { ".execution", "[MODE]", NULL, shell_set_option, 0, 1, "mode" },
    { ".exit", "", "ends the shell", run_quit, 0, 0, NULL },
    { ".headers", "[on|off]", "names above the rows", shell_set_headers, 0, 1,
      NULL },
    { ".help", "[COMMAND]", "lists the commands", run_help, 0, 1, NULL },
    { ".import", "[OPTIONS] FILE TABLE",
      "CSV into a table, which is made where it is not there;\n"
      "--header, --no-header, --delimiter C, --quote C (found\n"
      "where they are not given), --key COLUMN,\n"
      "--types TYPE,TYPE,...; the file - is standard input",
      run_import, 0, ARGUMENTS_MAX, NULL },
    { ".map", "[on|off]", NULL, shell_set_option, 0, 1, "map" },
    { ".maxrows", "[N]", "rows that a box shows; 0: all", shell_set_maxrows, 0,
      1, NULL },
    { ".maxwidth", "[N]", "columns of a terminal that a box takes; 0: any",
      shell_set_maxwidth, 0, 1, NULL },
    { ".memory", "[SIZE]", NULL, shell_set_option, 0, 1, "memory" },
    { ".mode", "[FORMAT [TABLE]]", "how results are written", shell_set_mode, 0,
      2, NULL },
    { ".nullvalue", "[TEXT]", "what is written for a NULL", shell_set_nullvalue,
      0, 1, NULL },
    { ".output", "[FILE]",
      "results to a file (packed, if it ends with .gz or .zst), or back",
      shell_set_output, 0, 1, NULL },
    { ".parameter", "[list|clear|unset NAME|set NAME VALUE]",
      "values for the parameters of SQL: ?1, :name", run_parameter, 0, 3,
      NULL },
    { ".print", "TEXT", "writes a line", run_print, 0, ARGUMENTS_MAX, NULL },
    { ".profiling", "[on|off]", NULL, shell_set_option, 0, 1, "profiling" },
    { ".quit", "", "ends the shell", run_quit, 0, 0, NULL },
    { ".read", "FILE", "runs the SQL and the commands of a file", run_read, 1,
      1, NULL },
    { ".readtimeout", "[MS]", NULL, shell_set_option, 0, 1, "read_timeout" },
    { ".schema", "[NAME]", "CREATE statements", run_schema, 0, 1, NULL },
    { ".skip", "[on|off]", NULL, shell_set_option, 0, 1, "skip" },
    { ".tables", "", "names of the tables and views", run_tables, 0, 0, NULL },
    { ".tablets", "[TABLE]",
      "rows of each table, the tablets they lie in, rows of the sample\n"
      "on which the planner tries conditions, and how many runs of keys\n"
      "and indexes, and edits, stand beside the tablets; in part files,\n"
      "whether it lies by hash, or whole in each",
      run_tablets, 0, 1, NULL },
    { ".timeout", "[MS]", NULL, shell_set_option, 0, 1, "timeout" },
    { ".timer", "[on|off]",
      "what each statement cost, on stderr; sets "
      ".profiling, too",
      shell_set_timer, 0, 1, NULL },
    { ".vacuum", "", "makes the file as short as it can be, and says how short",
      run_vacuum, 0, 0, NULL },
};

enum { COMMANDS = sizeof commands / sizeof *commands };

const char *shell_command_name(void *context, unsigned index)
{
    (void)context;
    return index < COMMANDS ? commands[index].name : NULL;
}

const char *shell_table_name(void *context, unsigned index)
{
    struct shell *shell = context;
    unsigned tables = vdbq_tables(shell->db);
    if (index < tables)
        return vdbq_table_name(shell->db, index);
    index -= tables;
    return index < vdbq_views(shell->db) ? vdbq_view_name(shell->db, index)
                                         : NULL;
}

/* ---------------------------------------------------------- the line -- */

/* Takes the next word of the line in place; quotes keep blanks together, and
 * are written twice inside. NULL where there is none. */
static char *take_word(char **line)
{
    char *at = *line + strspn(*line, " \t\r\n");
    char *word = at, *to = at;
    char quote = *at == '"' || *at == '\'' ? *at++ : 0;
    if (!quote && !*at)
        return NULL;
    while (*at && (quote || !strchr(" \t\r\n", *at))) {
        if (quote && *at == quote && *++at != quote)
            break;
        *to++ = *at++;
    }
    *line = *at ? at + !quote : at;
    *to = 0;
    return word;
}

/* The command of a name, or the only one that begins so, as in sqlite3; NULL: there
 * is none. */
static const struct shell_command *find(const char *name)
{
    const struct shell_command *begun = NULL;
    unsigned count = 0;
    for (unsigned i = 0; i < COMMANDS; i++) {
        if (strcasecmp(commands[i].name, name) == 0)
            return &commands[i];
        if (strncasecmp(commands[i].name, name, strlen(name)) == 0) {
            begun = &commands[i];
            count++;
        }
    }
    return count == 1 ? begun : NULL;
}

/* What is here in place of commands of other shells. */
static const char *other_command(const char *name)
{
    static const char *const others[][2] = {
        { ".open", "vdbq FILE opens another database" },
        { ".separator",
          ".csv and .import have --delimiter; .mode has formats" },
        { ".once", ".output FILE, and .output after it" },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(name, others[i][0]) == 0)
            return others[i][1];
    return ".help lists the commands";
}

static bool fail_unknown(struct shell *shell, const struct place *place,
                         const char *name)
{
    char hint[SHELL_HINT_ROOM];
    shell_closest(name, shell_command_name, NULL, other_command(name), hint);
    return shell_fail(shell, place, VDBQ_UNKNOWN, hint, "unknown command %s",
                      name);
}

bool shell_usage(struct shell *shell, const struct shell_call *call)
{
    return shell_fail(shell, call->place, VDBQ_MISUSE, "", "usage: %s %s",
                      call->command->name, call->command->arguments);
}

static bool run_words(struct shell *shell, const struct place *place,
                      char *line)
{
    char *argument[ARGUMENTS_MAX];
    struct shell_call call = { .place = place, .argument = argument };
    const char *name = take_word(&line);
    call.command = find(name);
    if (!call.command)
        return fail_unknown(shell, place, name);
    while (call.count < ARGUMENTS_MAX
           && (argument[call.count] = take_word(&line)))
        call.count++;
    if (call.count < call.command->least || call.count > call.command->most)
        return shell_usage(shell, &call);
    return call.command->run(shell, &call);
}

bool shell_command(struct shell *shell, const struct place *place,
                   const char *line, size_t length)
{
    char *copy = malloc(length + 1);
    if (!copy)
        return shell_fail(shell, place, VDBQ_NO_MEMORY, "", "out of memory");
    memcpy(copy, line, length);
    copy[length] = 0;
    bool good = run_words(shell, place, copy);
    free(copy);
    out_flush(&shell->out);
    return good;
}

/* ------------------------------------------------------- the commands -- */

bool shell_line(struct shell *shell, const char *text)
{
    out_text(&shell->out, text);
    out_char(&shell->out, '\n');
    return true;
}

static bool run_devices(struct shell *shell, const struct shell_call *call)
{
    unsigned devices;
    (void)call;
    char *text = vdbq_devices(&devices);
    if (!text)
        return shell_fail(shell, call->place, VDBQ_NO_MEMORY, "",
                          "out of memory");
    out_text(&shell->out, text);
    vdbq_free(text);
    return true;
}

/* One command: its name and arguments, and beside them what it does. */
static void write_help(struct out *out, const struct shell_command *command)
{
    size_t used = strlen(command->name) + strlen(command->arguments) + 1;
    const char *help =
        command->help ? command->help : shell_option_help(command->option);
    out_print(out, "%s %s", command->name, command->arguments);
    out_repeat(out, " ", used < 30 ? 30 - used : 2);
    for (;;) {
        size_t length = strcspn(help, "\n");
        out_bytes(out, help, length);
        out_char(out, '\n');
        if (!help[length])
            break;
        out_repeat(out, " ", 30);
        help += length + 1;
    }
}

static void write_formats(struct out *out)
{
    const struct format *format;
    for (unsigned i = 0; (format = format_at(i)); i++)
        out_print(out, "  %-12s%s\n", format->name, format->meaning);
}

static bool run_help(struct shell *shell, const struct shell_call *call)
{
    struct out *out = &shell->out;
    if (!call->count) {
        for (unsigned i = 0; i < COMMANDS; i++)
            write_help(out, &commands[i]);
        return shell_line(shell, "SQL statements end with a semicolon.");
    }
    char name[64];
    snprintf(name, sizeof name, "%s%s", *call->argument[0] == '.' ? "" : ".",
             call->argument[0]);
    const struct shell_command *command = find(name);
    if (!command)
        return fail_unknown(shell, call->place, name);
    write_help(out, command);
    if (command->run == shell_set_mode)
        write_formats(out);
    return true;
}

static bool run_connection(struct shell *shell, const struct shell_call *call)
{
    return shell_connection_command(shell, call->place, call->count,
                                    call->argument);
}

static bool run_csv(struct shell *shell, const struct shell_call *call)
{
    return shell_csv(shell, call->place, call->count, call->argument);
}

static bool run_import(struct shell *shell, const struct shell_call *call)
{
    return shell_import(shell, call->place, call->count, call->argument);
}

static bool run_parameter(struct shell *shell, const struct shell_call *call)
{
    const char *what = call->count ? call->argument[0] : "list";
    if (strcmp(what, "list") == 0 && call->count <= 1)
        shell_parameters_list(shell);
    else if (strcmp(what, "clear") == 0 && call->count == 1)
        shell_parameters_clear(shell);
    else if (strcmp(what, "set") == 0 && call->count == 3)
        return shell_parameter_set(shell, call->argument[1], call->argument[2]);
    else if (strcmp(what, "unset") != 0 || call->count != 2)
        return shell_usage(shell, call);
    else if (!shell_parameter_unset(shell, call->argument[1]))
        return shell_fail(shell, call->place, VDBQ_UNKNOWN,
                          ".parameter lists them", "no parameter %s",
                          call->argument[1]);
    return true;
}

static bool run_print(struct shell *shell, const struct shell_call *call)
{
    for (unsigned i = 0; i < call->count; i++) {
        out_text(&shell->out, i ? " " : "");
        out_text(&shell->out, call->argument[i]);
    }
    return shell_line(shell, "");
}

static bool run_quit(struct shell *shell, const struct shell_call *call)
{
    (void)call;
    shell->quit = true;
    return true;
}

static bool run_read(struct shell *shell, const struct shell_call *call)
{
    return shell_run_file(shell, call->place, call->argument[0]);
}

static bool fail_table(struct shell *shell, const struct shell_call *call)
{
    char hint[SHELL_HINT_ROOM];
    const char *name = call->argument[0];
    shell_closest(name, shell_table_name, shell, ".tables lists the tables",
                  hint);
    return shell_fail(shell, call->place, VDBQ_UNKNOWN, hint, "no table %s",
                      name);
}

/* Whether the object of that name, of that table (or ""), is asked for. */
static bool is_asked(const struct shell_call *call, const char *name,
                     const char *table)
{
    return !call->count || strcasecmp(name, call->argument[0]) == 0
           || strcasecmp(table, call->argument[0]) == 0;
}

static unsigned write_sql(struct shell *shell, const char *sql)
{
    size_t length = strlen(sql);
    out_text(&shell->out, sql);
    shell_line(shell, length && sql[length - 1] == ';' ? "" : ";");
    return 1;
}

/* A table comes with its indexes. */
static bool run_schema(struct shell *shell, const struct shell_call *call)
{
    vdbq *db = shell->db;
    unsigned tables = vdbq_tables(db), written = 0;
    for (unsigned i = 0; i < tables; i++)
        if (is_asked(call, vdbq_table_name(db, i), ""))
            written += write_sql(shell, vdbq_table_sql(db, i));
    for (unsigned i = 0; i < vdbq_indexes(db); i++)
        if (is_asked(call, vdbq_index_name(db, i), vdbq_index_table(db, i)))
            written += write_sql(shell, vdbq_index_sql(db, i));
    for (unsigned i = 0; i < vdbq_views(db); i++)
        if (is_asked(call, vdbq_view_name(db, i), ""))
            written += write_sql(shell, vdbq_view_sql(db, i));
    return written || !call->count || fail_table(shell, call);
}

/* As a statement can say it: temp.t. */
static void write_name(struct shell *shell, bool temporary, const char *name)
{
    out_text(&shell->out, temporary ? "temp." : "");
    shell_line(shell, name);
}

static bool run_tables(struct shell *shell, const struct shell_call *call)
{
    vdbq *db = shell->db;
    unsigned tables = vdbq_tables(db);
    (void)call;
    for (unsigned i = 0; i < tables; i++)
        write_name(shell, vdbq_table_is_temporary(db, i),
                   vdbq_table_name(db, i));
    for (unsigned i = 0; i < vdbq_views(db); i++)
        write_name(shell, vdbq_view_is_temporary(db, i), vdbq_view_name(db, i));
    return true;
}

static bool run_tablets(struct shell *shell, const struct shell_call *call)
{
    vdbq *db = shell->db;
    unsigned tables = vdbq_tables(db), written = 0;
    for (unsigned i = 0; i < tables; i++) {
        const char *name = vdbq_table_name(db, i);
        if (!is_asked(call, name, ""))
            continue;
        out_print(&shell->out, "%s: rows %llu, tablets %llu, sample %llu", name,
                  (unsigned long long)vdbq_table_rows(db, i),
                  (unsigned long long)vdbq_table_tablets(db, i),
                  (unsigned long long)vdbq_table_sample_rows(db, i));
        if (vdbq_table_runs(db, i) > 0)
            out_print(&shell->out, ", runs %llu",
                      (unsigned long long)vdbq_table_runs(db, i));
        if (vdbq_table_edits(db, i) > 0)
            out_print(&shell->out, ", edits %llu",
                      (unsigned long long)vdbq_table_edits(db, i));
        if (*vdbq_cluster_parts(db, i) != '\0')
            out_print(&shell->out, ", %s", vdbq_cluster_parts(db, i));
        out_print(&shell->out, "\n");
        written++;
    }
    return written || !call->count || fail_table(shell, call);
}

static void write_connection(struct out *out,
                             const struct vdbq_connection *connection)
{
    if (connection->process == 0)
        out_text(out, "a process elsewhere");
    else
        out_print(out, "process %d", connection->process);
    if (*connection->program != '\0')
        out_print(out, " (%s)", connection->program);
    if (connection->own)
        out_text(out, ", this connection");
    out_print(out,
              connection->writes ? ": writes after state %llu"
                                 : ": reads state %llu",
              (unsigned long long)connection->state);
    if (connection->newer_states > 0)
        out_print(out, ", %llu newer",
                  (unsigned long long)connection->newer_states);
    if (connection->seconds > 0)
        out_print(out, ", for %.1f s", connection->seconds);
    out_char(out, '\n');
}

static bool run_connections(struct shell *shell, const struct shell_call *call)
{
    unsigned count = vdbq_connections(shell->db);
    if (vdbq_error(shell->db)->status != VDBQ_OK)
        return shell_fail_db(shell, call->place);
    for (unsigned i = 0; i < count; i++)
        write_connection(&shell->out, vdbq_connection(shell->db, i));
    return true;
}

/* A file with faults is a failure: scripts look at the exit code. */
static bool run_check(struct shell *shell, const struct shell_call *call)
{
    unsigned count = vdbq_check(shell->db);
    if (vdbq_error(shell->db)->status != VDBQ_OK)
        return shell_fail_db(shell, call->place);
    for (unsigned i = 0; i < count; i++)
        out_print(&shell->out, "%s\n", vdbq_fault(shell->db, i));
    if (count == 0)
        out_text(&shell->out, "ok\n");
    else
        shell_raise(shell, EXIT_FILE);
    return count == 0;
}

static bool run_vacuum(struct shell *shell, const struct shell_call *call)
{
    struct vdbq_vacuum done;
    enum vdbq_status status = vdbq_vacuum(shell->db, &done);
    if (status != VDBQ_OK)
        return shell_fail_db(shell, call->place);
    out_print(&shell->out, "%llu bytes, before %llu\n",
              (unsigned long long)done.after_bytes,
              (unsigned long long)done.before_bytes);
    if (done.read_bytes > 0)
        out_print(&shell->out,
                  "%llu of them are kept for others, who read older states\n",
                  (unsigned long long)done.read_bytes);
    return true;
}
