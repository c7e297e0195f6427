/* SPDX-License-Identifier: MIT */
/*
 * What the files of the shell share: its state, and where a piece of SQL came
 * from. The shell knows vdbq.h and src/io, nothing else of the project.
 */
#ifndef VDBQ_TOOLS_SHELL_H
#define VDBQ_TOOLS_SHELL_H

#include "api/vdbq.h"
#include "io/csv.h"
#include "io/format.h"
#include "io/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum shell_exit {
    EXIT_OK = 0,
    EXIT_SQL = 1,
    EXIT_USAGE = 2,
    EXIT_FILE = 3,
    EXIT_DEVICE = 4,
    EXIT_INTERRUPTED = 130
};

/* The value of a parameter, as it was typed. */
struct shell_parameter {
    char *name; /* without its colon, or a number */
    char *value;
};

/* A file that queries have read, as it was then, and how. */
struct shell_file {
    char *name;
    struct csv_dialect dialect;
    int header;
    struct stat facts; /* before it was read */
    bool young;        /* these may stay the same although it changes */
};

/* A connection to the database that statements do not go to at present. */
struct shell_connection {
    vdbq *db; /* NULL: not open */
    struct shell_file *file;
    unsigned files;
};

enum { SHELL_CONNECTIONS_MAX = 10 };

struct options;

struct vdbq_link;
struct shell {
    vdbq *db; /* the connection that statements go to     */
    struct shell_connection parked[SHELL_CONNECTIONS_MAX]; /* the others    */
    unsigned connection; /* the number of `db`                       */
    const struct options *options; /* what it was started with              */
    const char *path;             /* of the database; NULL: in memory         */
    const struct vdbq_link *link; /* to the other ranks; NULL: none       */
    struct out out;               /* results                                  */
    struct out err;               /* errors, timer, progress                  */
    const struct format *format;
    struct format_style style;
    char *null_text;      /* behind style.null_text, where it was set */
    char *table_name;     /* behind style.table, likewise             */
    bool batch;           /* go on after an error                     */
    bool interactive;     /* a person types                           */
    bool color;           /* errors may be coloured                   */
    bool bar;             /* a progress bar may be drawn              */
    bool timer;           /* tell what each statement cost            */
    bool quit;            /* .quit was given                          */
    bool interrupt_told;  /* what became of a statement by Ctrl-C     */
    unsigned depth;       /* of .read inside .read                    */
    int status;           /* enum shell_exit: the worst so far        */
    int64_t bar_start_ns; /* when the work at hand began              */
    int64_t bar_next_ns;  /* when the bar is due again                */
    bool bar_drawn;       /* it stands on the terminal                */
    struct shell_parameter *parameter;
    unsigned parameters;
    struct csv_dialect dialect; /* of files in FROM, as far as it was set   */
    int file_header;            /* likewise: names in the first line: 1, 0;
                                   -1: look                                 */
    struct shell_file *file;
    unsigned files;
};

/* Where text came from, for messages. */
struct place {
    const char *name; /* of the file; NULL: SQL from -c or a pipe   */
    bool line_known;  /* the line is worth telling without a column */
    uint64_t line;    /* of its first character, from 1             */
    uint64_t column;  /* likewise, in bytes                         */
};

/* shell_error.c: errors on stderr. Both return false, for callers to pass
 * up; they raise shell->status. */
bool shell_fail(struct shell *shell, const struct place *place,
                enum vdbq_status status, const char *hint, const char *format,
                ...) __attribute__((format(printf, 5, 6)));
/* The last failure of the database, for text that began at `place`. */
bool shell_fail_db(struct shell *shell, const struct place *place);
/* "error: " and what stands where, to be followed by the message. */
void shell_error_head(struct shell *shell, const char *name, uint64_t line,
                      uint64_t column);
void shell_error_hint(struct shell *shell, const char *hint);
void shell_raise(struct shell *shell, enum shell_exit code);
enum shell_exit shell_exit_code(enum vdbq_status status);
/* Writes "did you mean ...?" to `hint`, of SHELL_HINT_ROOM bytes, or
 * `otherwise` where no candidate is near; candidates come from `next`, called
 * with 0, 1, ... until it returns NULL. */
enum { SHELL_HINT_ROOM = 256 };
void shell_closest(const char *name,
                   const char *(*next)(void *context, unsigned index),
                   void *context, const char *otherwise, char *hint);

/* shell_query.c: SQL and programs, run and printed. */
bool shell_sql(struct shell *shell, const struct place *place, const char *sql,
               size_t length);
bool shell_program(struct shell *shell, const char *path);

/* shell_script.c: lines of SQL and dot commands, from anywhere. */
bool shell_run_text(struct shell *shell, const char *text);
bool shell_run_file(struct shell *shell, const struct place *place,
                    const char *path);
bool shell_run_stdin(struct shell *shell);
void shell_run_interactive(struct shell *shell);
/* All of a file, ended by a NUL; NULL (and errno) where it can't be read. */
char *shell_read_file(const char *path, size_t *length);

/* shell_command.c: one line that starts with a dot. */
bool shell_command(struct shell *shell, const struct place *place,
                   const char *line, size_t length);
/* Names of the commands, one by one; NULL after the last. */
const char *shell_command_name(void *context, unsigned index);
/* Names of the tables and views likewise. */
const char *shell_table_name(void *context, unsigned index);
/* shell_import.c; `arguments` counts the words after the command. */
bool shell_import(struct shell *shell, const struct place *place,
                  unsigned arguments, char **argument);
/* .csv: how files in FROM are read. */
bool shell_csv(struct shell *shell, const struct place *place,
               unsigned arguments, char **argument);
/* Tells what a file was read as, where a person looks on or could be
 * surprised. */
struct import_report;
void shell_import_note(struct shell *shell, const char *file,
                       const struct import_report *report);

/* shell_connection.c: several connections to the database, by number. Opens
 * one with the options of the command line, and makes it the one that
 * statements go to; the place of the error is told where there is one. */
bool shell_connection_open(struct shell *shell, unsigned number,
                           const struct place *place);
void shell_connections_close(struct shell *shell);
/* .connection */
bool shell_connection_command(struct shell *shell, const struct place *place,
                              unsigned arguments, char **argument);

/* shell_parameter.c: values are numbers where they read as such, NULL, or
 * text; in single quotes always text. A name may have its ':' or '?'. */
bool shell_parameter_set(struct shell *shell, const char *name,
                         const char *value);
/* False: there is none of that name. */
bool shell_parameter_unset(struct shell *shell, const char *name);
void shell_parameters_clear(struct shell *shell);
void shell_parameters_list(struct shell *shell);
/* name=value, or a value for the next number after `*number`. */
bool shell_parameter_option(struct shell *shell, const char *option,
                            unsigned *number);
enum vdbq_status shell_parameters_bind(struct shell *shell, vdbq_query *query);

/* shell_file.c: for vdbq_on_file(), with the shell as context. */
enum vdbq_status shell_file_read(void *context, vdbq *files, const char *name);
void shell_files_clear(struct shell *shell);

/* shell_copy.c: writes the rows of COPY TO. `*told`: the failure has been
 * told. */
enum vdbq_status shell_copy_to(struct shell *shell, const struct place *place,
                               vdbq_query *query, bool *told);
/* For vdbq_on_copy(), likewise. */
enum vdbq_status shell_copy_from(void *context, vdbq *db,
                                 const struct vdbq_copy *copy);

/* shell_progress.c */
int64_t shell_now_ns(void);
void shell_bar_start(struct shell *shell);
bool shell_bar_step(void *context, uint64_t done, uint64_t all);
struct import_progress;
bool shell_bar_import(void *context, const struct import_progress *progress);
void shell_bar_clear(struct shell *shell);

/* shell_signal.c: Ctrl-C. */
void shell_signals_install(void);
/* What it cancels; NULL: nothing runs. */
void shell_signals_running(vdbq *db);
/* Waits until something can be read, or its end; false: it was pressed. */
bool shell_wait_input(int fd);
/* Whether it was pressed since the last shell_interrupt_clear(), and whether
 * twice within a second. */
bool shell_interrupted(void);
bool shell_interrupted_twice(void);
void shell_interrupt_clear(void);

#endif
