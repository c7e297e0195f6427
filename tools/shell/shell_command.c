/* SPDX-License-Identifier: MIT */
/*
 * The commands that start with a dot, from one table: what they are called,
 * what they take, what they do.
 */
#include "shell.h"
#include "shell_options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 32 };

/* A command as it was typed. */
struct call {
    const struct command *command;
    const struct place *place;
    unsigned count;  /* of arguments     */
    char **argument; /* without the name */
};

struct command {
    const char *name;
    const char *arguments;
    const char *help; /* NULL: what the library says of `option`   */
    bool (*run)(struct shell *shell, const struct call *call);
    unsigned least, most; /* arguments                           */
    const char *option;   /* of the database that it is about    */
};

static bool run_connection(struct shell *shell, const struct call *call);
static bool run_csv(struct shell *shell, const struct call *call);
static bool run_devices(struct shell *shell, const struct call *call);
static bool run_headers(struct shell *shell, const struct call *call);
static bool run_help(struct shell *shell, const struct call *call);
static bool run_import(struct shell *shell, const struct call *call);
static bool run_maxrows(struct shell *shell, const struct call *call);
static bool run_maxwidth(struct shell *shell, const struct call *call);
static bool run_mode(struct shell *shell, const struct call *call);
static bool run_nullvalue(struct shell *shell, const struct call *call);
static bool run_option(struct shell *shell, const struct call *call);
static bool run_output(struct shell *shell, const struct call *call);
static bool run_parameter(struct shell *shell, const struct call *call);
static bool run_print(struct shell *shell, const struct call *call);
static bool run_quit(struct shell *shell, const struct call *call);
static bool run_read(struct shell *shell, const struct call *call);
static bool run_schema(struct shell *shell, const struct call *call);
static bool run_tables(struct shell *shell, const struct call *call);
static bool run_tablets(struct shell *shell, const struct call *call);
static bool run_timer(struct shell *shell, const struct call *call);

static const struct command commands[] = {
    { ".build", "[BUILD]", "auto, interpreted or specialised programs",
      run_option, 0, 1, "build" },
    { ".connection", "[close] [N]",
      "goes to connection N of the database, "
      "opens or closes it;\nlists those that are open",
      run_connection, 0, 2, NULL },
    { ".cores", "[N]", NULL, run_option, 0, 1, "cores" },
    { ".csv", "[auto|OPTIONS]",
      "how FROM 'file.csv' reads files: --delimiter "
      "C,\n--quote C, --header, --no-header; auto looks at each",
      run_csv, 0, ARGUMENTS_MAX, NULL },
    { ".device", "[DEVICE]", NULL, run_option, 0, 1, "device" },
    { ".devicememory", "[SIZE]",
      "device memory for tablets that stay there; "
      "0: its default",
      run_option, 0, 1, "device_memory" },
    { ".devices", "", "lists the devices of this machine", run_devices, 0, 0,
      NULL },
    { ".encoding", "[ENCODING]",
      "auto, plain or packed: how columns that are "
      "written are stored",
      run_option, 0, 1, "encoding" },
    { ".execution", "[MODE]", NULL, run_option, 0, 1, "mode" },
    { ".exit", "", "ends the shell", run_quit, 0, 0, NULL },
    { ".headers", "[on|off]", "names above the rows", run_headers, 0, 1, NULL },
    { ".help", "[COMMAND]", "lists the commands", run_help, 0, 1, NULL },
    { ".import", "[OPTIONS] FILE TABLE",
      "CSV into a table, which is made where it is not there;\n"
      "--header, --no-header, --delimiter C, --quote C (found\n"
      "where they are not given), --key COLUMN,\n"
      "--types TYPE,TYPE,...; the file - is standard input",
      run_import, 0, ARGUMENTS_MAX, NULL },
    { ".map", "[on|off]", NULL, run_option, 0, 1, "map" },
    { ".maxrows", "[N]", "rows that a box shows; 0: all", run_maxrows, 0, 1,
      NULL },
    { ".maxwidth", "[N]", "columns of a terminal that a box takes; 0: any",
      run_maxwidth, 0, 1, NULL },
    { ".memory", "[SIZE]", NULL, run_option, 0, 1, "memory" },
    { ".mode", "[FORMAT [TABLE]]", "how results are written", run_mode, 0, 2,
      NULL },
    { ".nullvalue", "[TEXT]", "what is written for a NULL", run_nullvalue, 0, 1,
      NULL },
    { ".output", "[FILE]", "results to a file, or back", run_output, 0, 1,
      NULL },
    { ".parameter", "[list|clear|unset NAME|set NAME VALUE]",
      "values for the parameters of SQL: ?1, :name", run_parameter, 0, 3,
      NULL },
    { ".print", "TEXT", "writes a line", run_print, 0, ARGUMENTS_MAX, NULL },
    { ".profiling", "[on|off]", NULL, run_option, 0, 1, "profiling" },
    { ".quit", "", "ends the shell", run_quit, 0, 0, NULL },
    { ".read", "FILE", "runs the SQL and the commands of a file", run_read, 1,
      1, NULL },
    { ".schema", "[NAME]", "CREATE statements", run_schema, 0, 1, NULL },
    { ".skip", "[on|off]", NULL, run_option, 0, 1, "skip" },
    { ".tables", "", "names of the tables and views", run_tables, 0, 0, NULL },
    { ".tablets", "[TABLE]",
      "rows of each table, the tablets they lie in, and rows of the\n"
      "sample on which the planner tries conditions",
      run_tablets, 0, 1, NULL },
    { ".timeout", "[MS]", NULL, run_option, 0, 1, "timeout" },
    { ".timer", "[on|off]",
      "what each statement cost, on stderr; sets "
      ".profiling, too",
      run_timer, 0, 1, NULL },
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

static const struct command *find(const char *name)
{
    for (unsigned i = 0; i < COMMANDS; i++)
        if (strcasecmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
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

static bool fail_call(struct shell *shell, const struct call *call)
{
    return shell_fail(shell, call->place, VDBQ_MISUSE, "", "usage: %s %s",
                      call->command->name, call->command->arguments);
}

static bool run_words(struct shell *shell, const struct place *place,
                      char *line)
{
    char *argument[ARGUMENTS_MAX];
    struct call call = { .place = place, .argument = argument };
    const char *name = take_word(&line);
    call.command = find(name);
    if (!call.command)
        return fail_unknown(shell, place, name);
    while (call.count < ARGUMENTS_MAX
           && (argument[call.count] = take_word(&line)))
        call.count++;
    if (call.count < call.command->least || call.count > call.command->most)
        return fail_call(shell, &call);
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

static bool write_line(struct shell *shell, const char *text)
{
    out_text(&shell->out, text);
    out_char(&shell->out, '\n');
    return true;
}

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
static bool run_option(struct shell *shell, const struct call *call)
{
    const char *option = call->command->option;
    const char *value = vdbq_get(shell->db, option);
    if (!call->count)
        return write_line(shell, value);
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

static bool run_devices(struct shell *shell, const struct call *call)
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

/* "on" or "off" of an argument; false, and an error, for others. */
static bool take_switch(struct shell *shell, const struct call *call, bool *on)
{
    static const char *const names[] = { "off", "no", "0", "on", "yes", "1" };
    for (unsigned i = 0; i < 6; i++) {
        if (strcasecmp(call->argument[0], names[i]) == 0) {
            *on = i >= 3;
            return true;
        }
    }
    return fail_call(shell, call);
}

static bool run_headers(struct shell *shell, const struct call *call)
{
    bool on = shell->style.header < 0 ? shell->format->header
                                      : shell->style.header > 0;
    if (!call->count)
        return write_line(shell, on ? "on" : "off");
    if (!take_switch(shell, call, &on))
        return false;
    shell->style.header = on;
    return true;
}

static bool run_timer(struct shell *shell, const struct call *call)
{
    if (!call->count)
        return write_line(shell, shell->timer ? "on" : "off");
    if (!take_switch(shell, call, &shell->timer))
        return false;
    return vdbq_set(shell->db, "profiling", shell->timer ? "on" : "off")
               == VDBQ_OK
           || shell_fail_db(shell, call->place);
}

/* One command: its name and arguments, and beside them what it does. */
static void write_help(struct out *out, const struct command *command)
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

static bool run_help(struct shell *shell, const struct call *call)
{
    struct out *out = &shell->out;
    if (!call->count) {
        for (unsigned i = 0; i < COMMANDS; i++)
            write_help(out, &commands[i]);
        return write_line(shell, "SQL statements end with a semicolon.");
    }
    char name[64];
    snprintf(name, sizeof name, "%s%s", *call->argument[0] == '.' ? "" : ".",
             call->argument[0]);
    const struct command *command = find(name);
    if (!command)
        return fail_unknown(shell, call->place, name);
    write_help(out, command);
    if (command->run == run_mode)
        write_formats(out);
    return true;
}

static bool run_connection(struct shell *shell, const struct call *call)
{
    return shell_connection_command(shell, call->place, call->count,
                                    call->argument);
}

static bool run_csv(struct shell *shell, const struct call *call)
{
    return shell_csv(shell, call->place, call->count, call->argument);
}

static bool run_import(struct shell *shell, const struct call *call)
{
    return shell_import(shell, call->place, call->count, call->argument);
}

/* A number of rows or columns that a box has at most, told or taken. */
static bool run_most(struct shell *shell, const struct call *call,
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

static bool run_maxrows(struct shell *shell, const struct call *call)
{
    return run_most(shell, call, "rows", &shell->style.rows_max);
}

static bool run_maxwidth(struct shell *shell, const struct call *call)
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
static bool set_text(struct shell *shell, const struct call *call,
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

static bool run_mode(struct shell *shell, const struct call *call)
{
    if (!call->count)
        return write_line(shell, shell->format->name);
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

static bool run_nullvalue(struct shell *shell, const struct call *call)
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

static bool run_output(struct shell *shell, const struct call *call)
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
    out_flush(&shell->out);
    if (shell->out.fd != STDOUT_FILENO)
        close(shell->out.fd);
    shell->out.fd = fd;
    return true;
}

static bool run_parameter(struct shell *shell, const struct call *call)
{
    const char *what = call->count ? call->argument[0] : "list";
    if (strcmp(what, "list") == 0 && call->count <= 1)
        shell_parameters_list(shell);
    else if (strcmp(what, "clear") == 0 && call->count == 1)
        shell_parameters_clear(shell);
    else if (strcmp(what, "set") == 0 && call->count == 3)
        return shell_parameter_set(shell, call->argument[1], call->argument[2]);
    else if (strcmp(what, "unset") != 0 || call->count != 2)
        return fail_call(shell, call);
    else if (!shell_parameter_unset(shell, call->argument[1]))
        return shell_fail(shell, call->place, VDBQ_UNKNOWN,
                          ".parameter lists them", "no parameter %s",
                          call->argument[1]);
    return true;
}

static bool run_print(struct shell *shell, const struct call *call)
{
    for (unsigned i = 0; i < call->count; i++) {
        out_text(&shell->out, i ? " " : "");
        out_text(&shell->out, call->argument[i]);
    }
    return write_line(shell, "");
}

static bool run_quit(struct shell *shell, const struct call *call)
{
    (void)call;
    shell->quit = true;
    return true;
}

static bool run_read(struct shell *shell, const struct call *call)
{
    return shell_run_file(shell, call->place, call->argument[0]);
}

static bool fail_table(struct shell *shell, const struct call *call)
{
    char hint[SHELL_HINT_ROOM];
    const char *name = call->argument[0];
    shell_closest(name, shell_table_name, shell, ".tables lists the tables",
                  hint);
    return shell_fail(shell, call->place, VDBQ_UNKNOWN, hint, "no table %s",
                      name);
}

/* Whether the object of that name, of that table (or ""), is asked for. */
static bool is_asked(const struct call *call, const char *name,
                     const char *table)
{
    return !call->count || strcasecmp(name, call->argument[0]) == 0
           || strcasecmp(table, call->argument[0]) == 0;
}

static unsigned write_sql(struct shell *shell, const char *sql)
{
    size_t length = strlen(sql);
    out_text(&shell->out, sql);
    write_line(shell, length && sql[length - 1] == ';' ? "" : ";");
    return 1;
}

/* A table comes with its indexes. */
static bool run_schema(struct shell *shell, const struct call *call)
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

static bool run_tables(struct shell *shell, const struct call *call)
{
    const char *name;
    (void)call;
    for (unsigned i = 0; (name = shell_table_name(shell, i)); i++)
        write_line(shell, name);
    return true;
}

static bool run_tablets(struct shell *shell, const struct call *call)
{
    vdbq *db = shell->db;
    unsigned tables = vdbq_tables(db), written = 0;
    for (unsigned i = 0; i < tables; i++) {
        const char *name = vdbq_table_name(db, i);
        if (!is_asked(call, name, ""))
            continue;
        out_print(&shell->out, "%s: rows %llu, tablets %llu, sample %llu\n",
                  name, (unsigned long long)vdbq_table_rows(db, i),
                  (unsigned long long)vdbq_table_tablets(db, i),
                  (unsigned long long)vdbq_table_sample_rows(db, i));
        written++;
    }
    return written || !call->count || fail_table(shell, call);
}
