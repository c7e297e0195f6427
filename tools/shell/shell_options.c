/* SPDX-License-Identifier: MIT */
/*
 * The command line. Long options may be written with one dash, so that -csv
 * and -readonly work as people know them from other shells.
 */
#include "shell_options.h"

#include "shell.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct option_row {
    const char *name;
    int letter;           /* the short form, or 0 */
    const char *argument; /* its name, or NULL    */
    const char *help; /* NULL: an alias, or what the library says of `set` */
    bool (*take)(struct options *options, const struct option_row *row,
                 const char *value);
    const char *set; /* option of the database that it sets */
};

static bool take_flag(struct options *options, const struct option_row *row,
                      const char *value);
static bool take_format(struct options *options, const struct option_row *row,
                        const char *value);
static bool take_input(struct options *options, const struct option_row *row,
                       const char *value);
static bool take_kernels(struct options *options, const struct option_row *row,
                         const char *value);
static bool take_parameter(struct options *options,
                           const struct option_row *row, const char *value);
static bool take_set(struct options *options, const struct option_row *row,
                     const char *value);
static bool take_ranks(struct options *options, const struct option_row *row,
                       const char *value);
static bool take_silence(struct options *options, const struct option_row *row,
                         const char *value);
static bool take_timer(struct options *options, const struct option_row *row,
                       const char *value);

static const struct option_row rows[] = {
    { "command", 'c', "SQL", "runs SQL or a dot command; may be repeated",
      take_input, NULL },
    { "file", 'f', "FILE", "runs a file; - is standard input", take_input,
      NULL },
    { "program", 0, "FILE", "runs an opcode program, as EXPLAIN prints them",
      take_input, NULL },
    { "parameter", 'p', "VALUE",
      "for the next ? of SQL, or NAME=VALUE for "
      ":NAME; may be repeated",
      take_parameter, NULL },
    { "batch", 0, NULL, "no prompt, and on after an error", take_flag, NULL },
    { "mode", 'm', "FORMAT",
      "how results are written (below); a format's "
      "name is an option, too",
      take_format, NULL },
    { "header", 0, NULL, "names above the rows", take_flag, NULL },
    { "no-header", 0, NULL, "no names above the rows", take_flag, NULL },
    { "noheader", 0, NULL, NULL, take_flag, NULL },
    { "timer", 0, NULL,
      "tells what each statement cost, on stderr; with "
      "--profiling on",
      take_timer, NULL },
    { "device", 'd', "DEVICE", NULL, take_set, "device" },
    { "exec-mode", 0, "MODE", NULL, take_set, "mode" },
    { "build", 0, "BUILD", NULL, take_set, "build" },
    { "memory", 0, "SIZE", NULL, take_set, "memory" },
    { "device-memory", 0, "SIZE", NULL, take_set, "device_memory" },
    { "map", 0, "on|off", NULL, take_set, "map" },
    { "profiling", 0, "on|off", NULL, take_set, "profiling" },
    { "cores", 0, "N", NULL, take_set, "cores" },
    { "encoding", 0, "ENCODING", NULL, take_set, "encoding" },
    { "skip", 0, "on|off", NULL, take_set, "skip" },
    { "timeout", 0, "MS", NULL, take_set, "timeout" },
    { "read-timeout", 0, "MS", NULL, take_set, "read_timeout" },
    { "cluster", 0, NULL, "runs queries on all processes that mpirun started",
      take_flag, NULL },
    { "ranks", 0, "N", "starts N processes that run queries together",
      take_ranks, NULL },
    { "silence", 0, "MS",
      "ends all processes when one is silent for so long (7000); 0: none ends",
      take_silence, NULL },
    { "readonly", 0, NULL, "opens the database for reading only", take_flag,
      NULL },
    { "accept-older", 0, NULL,
      "opens the state before the newest one where "
      "that is damaged",
      take_flag, NULL },
    { "no-sync", 0, NULL, "fast, but a power cut can lose the database",
      take_flag, NULL },
    { "devices", 0, NULL, "lists the devices of this machine", take_flag,
      NULL },
    { "selftest", 0, NULL,
      "compares the device with the host, opcode by "
      "opcode",
      take_flag, NULL },
    { "tune", 0, NULL, "measures the device and keeps what suits it best",
      take_flag, NULL },
    { "kernels", 0, "N,TABLES",
      "compiles the machine for programs of N registers over so many tables "
      "at once, and keeps it; queries have this done behind them",
      take_kernels, NULL },
    { "version", 'V', NULL, "tells the version", take_flag, NULL },
    { "help", 'h', NULL, "this text", take_flag, NULL },
};

enum {
    ROWS = sizeof rows / sizeof *rows,
    LONG_BASE = 1000,   /* what getopt returns for row 0 ...   */
    FORMAT_BASE = 2000, /* ... and for the first format's name */
    RANKS_MAX = 1024,
    SILENCE_MS = 7000, /* mpirun takes up to two seconds to end the others */
    SILENCE_MS_MAX = 24 * 3600 * 1000
};

/* ------------------------------------------------------- what they do -- */

static bool take_flag(struct options *options, const struct option_row *row,
                      const char *value)
{
    (void)value;
    const char *name = row->name;
    if (strcmp(name, "header") == 0)
        options->header = 1;
    else if (strcmp(name, "no-header") == 0 || strcmp(name, "noheader") == 0)
        options->header = 0;
    else if (strcmp(name, "batch") == 0)
        options->batch = true;
    else if (strcmp(name, "readonly") == 0)
        options->open_flags |= VDBQ_OPEN_READ_ONLY;
    else if (strcmp(name, "accept-older") == 0)
        options->open_flags |= VDBQ_OPEN_OLDER;
    else if (strcmp(name, "no-sync") == 0)
        options->open_flags |= VDBQ_OPEN_NO_SYNC;
    else if (strcmp(name, "cluster") == 0)
        options->cluster = true;
    else if (strcmp(name, "devices") == 0)
        options->devices = true;
    else if (strcmp(name, "selftest") == 0)
        options->selftest = true;
    else if (strcmp(name, "tune") == 0)
        options->tune = true;
    else if (strcmp(name, "version") == 0)
        options->version = true;
    else
        options->help = true;
    return true;
}

static const char *format_name(void *context, unsigned index)
{
    (void)context;
    const struct format *format = format_at(index);
    return format ? format->name : NULL;
}

static bool take_kernels(struct options *options, const struct option_row *row,
                         const char *value)
{
    int length = 0;
    if (sscanf(value, "%4u,%4u%n", &options->kernels.registers,
               &options->kernels.tables, &length)
            == 2
        && value[length] == '\0') {
        options->kernels.wanted = true;
        return true;
    }
    snprintf(options->error, sizeof options->error,
             "--%s needs two numbers, such as 16,1, not '%s'", row->name,
             value);
    return false;
}

static bool take_format(struct options *options, const struct option_row *row,
                        const char *value)
{
    (void)row;
    options->format = format_find(value);
    if (options->format)
        return true;
    snprintf(options->error, sizeof options->error, "unknown format %s", value);
    shell_closest(value, format_name, NULL, "vdbq --help lists the formats",
                  options->hint);
    return false;
}

static bool add_input(struct options *options, int kind, const char *text)
{
    if (options->inputs == OPTIONS_INPUTS_MAX) {
        snprintf(options->error, sizeof options->error,
                 "more than %d pieces of SQL", OPTIONS_INPUTS_MAX);
        return false;
    }
    struct option_input *input = &options->input[options->inputs++];
    input->kind = kind;
    input->text = text;
    return true;
}

static bool take_input(struct options *options, const struct option_row *row,
                       const char *value)
{
    return add_input(options,
                     *row->name == 'c'   ? INPUT_SQL
                     : *row->name == 'f' ? INPUT_FILE
                                         : INPUT_PROGRAM,
                     value);
}

static bool take_parameter(struct options *options,
                           const struct option_row *row, const char *value)
{
    (void)row;
    if (options->parameters == OPTIONS_PARAMETERS_MAX) {
        snprintf(options->error, sizeof options->error,
                 "more than %d parameters", OPTIONS_PARAMETERS_MAX);
        return false;
    }
    options->parameter[options->parameters++] = value;
    return true;
}

static bool take_set(struct options *options, const struct option_row *row,
                     const char *value)
{
    if (options->sets == OPTIONS_SET_MAX)
        return true;
    options->set[options->sets++] = (struct option_set){ row->set, value };
    return true;
}

/* A whole number within limits; false, with the error, where it is none. */
static bool read_number(struct options *options, const struct option_row *row,
                        const char *value, unsigned least, unsigned most,
                        unsigned *number)
{
    char *end;
    unsigned long read = strtoul(value, &end, 10);
    *number = (unsigned)read;
    if (*value >= '0' && *value <= '9' && *end == '\0' && read >= least
        && read <= most)
        return true;
    snprintf(options->error, sizeof options->error,
             "--%s needs a number from %u to %u, not '%.100s'", row->name,
             least, most, value);
    return false;
}

static bool take_ranks(struct options *options, const struct option_row *row,
                       const char *value)
{
    return read_number(options, row, value, 1, RANKS_MAX, &options->ranks);
}

static bool take_silence(struct options *options, const struct option_row *row,
                         const char *value)
{
    return read_number(options, row, value, 0, SILENCE_MS_MAX,
                       &options->silence_ms);
}

/* Times are told whole: those of devices, too. */
static bool take_timer(struct options *options, const struct option_row *row,
                       const char *value)
{
    const struct option_row profiling = { .set = "profiling" };
    (void)row;
    (void)value;
    options->timer = true;
    return take_set(options, &profiling, "on");
}

/* ----------------------------------------------------------- the table -- */

/* The table in getopt's form; formats follow the rows. */
static void make_table(struct option *table, char *letters)
{
    const struct format *format;
    *letters++ = ':';
    for (int i = 0; i < ROWS; i++) {
        *table++ =
            (struct option){ rows[i].name,
                             rows[i].argument ? required_argument : no_argument,
                             NULL, LONG_BASE + i };
        if (rows[i].letter)
            *letters++ = (char)rows[i].letter;
        if (rows[i].letter && rows[i].argument)
            *letters++ = ':';
    }
    for (int i = 0; (format = format_at((unsigned)i)); i++)
        *table++ =
            (struct option){ format->name, no_argument, NULL, FORMAT_BASE + i };
    *table = (struct option){ 0 };
    *letters = 0;
}

static const struct option_row *find_row(int code)
{
    if (code >= LONG_BASE && code < LONG_BASE + ROWS)
        return &rows[code - LONG_BASE];
    for (int i = 0; i < ROWS; i++)
        if (rows[i].letter && rows[i].letter == code)
            return &rows[i];
    return NULL;
}

static const char *row_name(void *context, unsigned index)
{
    (void)context;
    if (index < ROWS)
        return rows[index].name;
    return format_name(NULL, index - ROWS);
}

static bool fail_option(struct options *options, int code, const char *name)
{
    char closest[SHELL_HINT_ROOM];
    const char *bare = name + strspn(name, "-");
    snprintf(options->error, sizeof options->error,
             code == ':' ? "option %s needs a value" : "unknown option %s",
             name);
    shell_closest(bare, row_name, NULL, "vdbq --help lists the options",
                  closest);
    snprintf(options->hint, sizeof options->hint, "%s", closest);
    if (code == ':')
        snprintf(options->hint, sizeof options->hint,
                 "vdbq --help lists the options");
    return false;
}

static bool take(struct options *options, int code, const char *name)
{
    if (code == '?' || code == ':')
        return fail_option(options, code, name);
    if (code >= FORMAT_BASE) {
        options->format = format_at((unsigned)(code - FORMAT_BASE));
        return true;
    }
    const struct option_row *row = find_row(code);
    return row->take(options, row, optarg);
}

/* Endings that make a name a database's, whatever else it looks like. */
static bool has_ending(const char *word)
{
    static const char *const endings[] = { ".db", ".vdb", ".vdbq",
                                           ".database" };
    const char *dot = strrchr(word, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* Whether the word starts as a statement does, and goes on. */
static bool starts_statement(const char *word)
{
    static const char *const starts[] = {
        "select",   "insert",    "update",  "delete",    "create",
        "drop",     "replace",   "with",    "values",    "from",
        "explain",  "copy",      "begin",   "commit",    "rollback",
        "describe", "summarize", "alter",   "attach",    "pragma",
        "show",     "vacuum",    "analyze", "savepoint", "release",
    };
    word += strspn(word, " \t\r\n(");
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t length = strlen(starts[i]);
        if (strncasecmp(word, starts[i], length) == 0 && word[length]
            && strchr(" \t\r\n(*;'\"", word[length]))
            return true;
    }
    return false;
}

/* Whether the word is SQL or a command of the shell where the name of a
 * database should be: no such file is there, and nobody calls one so. */
static bool is_statement(const char *word)
{
    size_t length = strlen(word);
    const char *name;
    if (access(word, F_OK) == 0)
        return false;
    for (unsigned i = 0; (name = shell_command_name(NULL, i)); i++)
        if (strncasecmp(word, name, strlen(name)) == 0
            && (!word[strlen(name)] || word[strlen(name)] == ' '))
            return true;
    return strchr(word, '\n') || (length && word[length - 1] == ';')
           || (starts_statement(word) && !has_ending(word));
}

static bool fail_statement(struct options *options, const char *word)
{
    snprintf(options->error, sizeof options->error,
             "%.100s%s: SQL where the name of a database is expected", word,
             strlen(word) > 100 ? "..." : "");
    snprintf(options->hint, sizeof options->hint,
             "vdbq FILE \"SQL\" runs it on a file, vdbq -c \"SQL\" in memory; "
             "./ in front makes it the name of a file");
    return false;
}

/* The database, and SQL after it. */
static bool take_words(struct options *options, int count, char **word)
{
    if (count > 0 && is_statement(word[0]))
        return fail_statement(options, word[0]);
    if (count > 0)
        options->database = word[0];
    if (count > 1 && !add_input(options, INPUT_SQL, word[1]))
        return false;
    if (count <= 2)
        return true;
    snprintf(options->error, sizeof options->error,
             "unexpected argument %.100s", word[2]);
    snprintf(options->hint, sizeof options->hint,
             "SQL that holds blanks stands in quotes, after the database");
    return false;
}

bool options_read(struct options *options, int count, char **argument)
{
    enum { FORMATS_MAX = 32 };
    struct option table[ROWS + FORMATS_MAX];
    char letters[2 * ROWS + 2];
    int code;
    *options = (struct options){ .header = -1, .silence_ms = SILENCE_MS };
    make_table(table, letters);
    opterr = 0;
    for (;;) {
        int at = optind;
        code = getopt_long_only(count, argument, letters, table, NULL);
        if (code < 0)
            break;
        if (!take(options, code, argument[at < optind ? optind - 1 : at]))
            return false;
    }
    return take_words(options, count - optind, argument + optind);
}

/* ---------------------------------------------------------------- help -- */

const char *shell_option_help(const char *name)
{
    const struct vdbq_option *option;
    for (unsigned i = 0; (option = vdbq_option(i)); i++)
        if (strcmp(option->name, name) == 0)
            return option->help;
    return "";
}

static void write_row(struct out *out, const struct option_row *row)
{
    char left[64];
    char letter[8] = "    ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name,
             row->argument ? " " : "", row->argument ? row->argument : "");
    out_print(out, "%-28s%s\n", left,
              row->help ? row->help : shell_option_help(row->set));
}

void options_help(struct out *out)
{
    const struct format *format;
    out_text(
        out,
        "vdbq [OPTIONS] [DATABASE] [SQL]\n\n"
        "Runs SQL on a database file, or in memory where none is named. "
        "Without SQL it\nasks for it on a terminal and reads standard input "
        "else.\n\n");
    for (int i = 0; i < ROWS; i++)
        if (rows[i].help || rows[i].set)
            write_row(out, &rows[i]);
    out_text(out, "\nFormats (box on a terminal, else csv):\n");
    for (unsigned i = 0; (format = format_at(i)); i++)
        out_print(out, "  %-12s%s\n", format->name, format->meaning);
    out_text(
        out,
        "\nExit status: 0 fine, 1 SQL error, 2 wrong command line, 3 "
        "database file,\n4 device, 130 interrupted. Lines that start with a "
        "dot are commands: .help\n");
}
