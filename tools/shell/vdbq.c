/* SPDX-License-Identifier: MIT */
/*
 * vdbq, the shell: reads the command line, opens the database, runs what it
 * was given. The work is done in the shell_*.c files.
 */
#include "shell.h"
#include "shell_cluster.h"
#include "shell_edit.h"
#include "shell_options.h"

#include <errno.h>
#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BOX_ROWS = 40 };

static int run(struct shell *shell, const struct options *options);

/* Whether a stream of ours is a terminal that takes colours and bars. */
static bool is_capable(int fd)
{
    const char *terminal = getenv("TERM");
    return isatty(fd) && !(terminal && strcmp(terminal, "dumb") == 0);
}

static bool wants_color(void)
{
    const char *none = getenv("NO_COLOR");
    return is_capable(STDERR_FILENO) && !(none && *none);
}

/* Columns of the terminal; 0 where it does not tell. */
static size_t terminal_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static void take_options(struct shell *shell, const struct options *options)
{
    /* mpirun gives its processes a terminal of its own. */
    bool terminal = isatty(STDOUT_FILENO) && !options->cluster;
    shell->path = options->database;
    shell->format = options->format ? options->format
                                    : format_find(terminal ? "box" : "csv");
    shell->style.header = options->header;
    shell->style.rows_max = terminal ? BOX_ROWS : 0;
    shell->style.width_max = terminal ? terminal_width() : 0;
    shell->batch = options->batch;
    shell->timer = options->timer;
    shell->color = wants_color();
    shell->bar = is_capable(STDERR_FILENO) && !options->batch;
    shell->interactive =
        !options->inputs && !options->batch && isatty(STDIN_FILENO) && terminal;
}

static int fail_usage(struct shell *shell, const char *message,
                      const char *hint)
{
    shell_fail(shell, NULL, VDBQ_MISUSE, hint, "%s", message);
    return EXIT_USAGE;
}

/* What is left when nobody reads our output any more: end as every other
 * program in a pipe does. */
static int finish_output(struct shell *shell, int status)
{
    out_finish(&shell->out);
    int problem = shell->out.error;
    if (problem == EPIPE) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    } else if (problem) {
        shell_fail(shell, NULL, VDBQ_IO, "", "cannot write the results: %s",
                   strerror(problem));
        status = EXIT_FILE;
    }
    out_close(&shell->out);
    out_close(&shell->err);
    free(shell->null_text);
    free(shell->table_name);
    shell_parameters_clear(shell);
    return status;
}

/* Blocks of a megabyte and more go back to the system when they are freed. Else
 * the C library keeps them once it has seen some, and a device's compiler leaves so
 * little of them together that the next ones take new memory: 50 MB more. */
static void return_large_blocks(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int main(int count, char **argument)
{
    static struct options options;
    struct shell shell = { .status = EXIT_OK, .file_header = -1 };
    setlocale(LC_CTYPE, "");
    return_large_blocks();
    shell_signals_install();
    if (!out_open(&shell.out, STDOUT_FILENO)
        || !out_open(&shell.err, STDERR_FILENO))
        return EXIT_SQL;
    int status;
    if (options_read(&options, count, argument)) {
        take_options(&shell, &options);
        status = run(&shell, &options);
    } else {
        status = fail_usage(&shell, options.error, options.hint);
    }
    return finish_output(&shell, status);
}

/* ------------------------------------------------ without a database -- */

static int tell_devices(struct shell *shell)
{
    unsigned devices;
    char *text = vdbq_devices(&devices);
    if (!text) {
        shell_fail(shell, NULL, VDBQ_NO_MEMORY, "", "out of memory");
        return EXIT_SQL;
    }
    struct out *out = devices ? &shell->out : &shell->err;
    size_t length = strlen(text);
    out_text(out, text);
    if (length && text[length - 1] != '\n')
        out_char(out, '\n');
    out_flush(out);
    vdbq_free(text);
    return devices ? EXIT_OK : EXIT_DEVICE;
}

static int tell_version(struct shell *shell)
{
    out_print(&shell->out, "vdbq %s\n", vdbq_version());
    return EXIT_OK;
}

static int tell_help(struct shell *shell)
{
    options_help(&shell->out);
    return EXIT_OK;
}

/* ------------------------------------------------------ with a database -- */

static bool set_parameters(struct shell *shell, const struct options *options)
{
    unsigned number = 0;
    for (unsigned i = 0; i < options->parameters; i++)
        if (!shell_parameter_option(shell, options->parameter[i], &number))
            return false;
    return true;
}

static void tell_line(void *context, const char *line)
{
    struct shell *shell = context;
    out_text(&shell->out, line);
    out_char(&shell->out, '\n');
    out_flush(&shell->out);
}

/* Runs vdbq_selftest() or vdbq_tune() and prints what it reports. */
static int run_report(struct shell *shell,
                      enum vdbq_status (*call)(vdbq *, vdbq_report, void *))
{
    shell_signals_running(shell->db);
    enum vdbq_status status = call(shell->db, tell_line, shell);
    shell_signals_running(NULL);
    if (status != VDBQ_OK)
        shell_fail_db(shell, &(struct place){ .name = NULL });
    return shell->status;
}

/* On cores that nobody else wants. */
static int build_kernels(struct shell *shell, const struct options *options)
{
    const struct sched_param least = { 0 };
    sched_setscheduler(0, SCHED_IDLE, &least);
    if (vdbq_build_kernels(shell->db, options->kernels.registers,
                           options->kernels.tables)
        != VDBQ_OK)
        shell_fail_db(shell, &(struct place){ .name = NULL });
    return shell->status;
}

static bool run_input(struct shell *shell, const struct option_input *input)
{
    if (input->kind == INPUT_SQL)
        return shell_run_text(shell, input->text);
    if (input->kind == INPUT_FILE)
        return shell_run_file(shell, NULL, input->text);
    return shell_program(shell, input->text);
}

static void run_inputs(struct shell *shell, const struct options *options)
{
    for (unsigned i = 0; i < options->inputs; i++) {
        bool good = run_input(shell, &options->input[i]);
        if (shell->quit || shell->out.error || shell_interrupted()
            || (!good && !shell->batch))
            return;
    }
}

static void greet(struct shell *shell)
{
    struct out *out = &shell->out;
    const char *device = vdbq_get(shell->db, "device");
    out_print(out, "vdbq %s\n", vdbq_version());
    if (shell->path && *shell->path && strcmp(shell->path, ":memory:") != 0)
        out_print(out, "database: %s\n", shell->path);
    else
        out_text(out, "database: in memory, nothing is kept (vdbq FILE keeps "
                      "it in a file)\n");
    out_print(out, "device:   %s (.devices lists what there is)\n",
              device && *device ? device : "host for few rows, else cpu");
    out_text(out, ".help lists the commands, .quit ends\n");
    out_flush(out);
}

static void run_all(struct shell *shell, const struct options *options)
{
    if (options->inputs) {
        run_inputs(shell, options);
    } else if (shell->interactive && shell_edit_open(shell)) {
        greet(shell);
        shell_run_interactive(shell);
        shell_edit_close();
    } else {
        shell->interactive = false;
        shell_run_stdin(shell);
    }
}

static int run_database(struct shell *shell, const struct options *options)
{
    shell->options = options;
    if (!shell_connection_open(shell, 0, NULL)
        || !shell_cluster_lead(shell, options)
        || !set_parameters(shell, options))
        return shell->status;
    if (options->selftest)
        return run_report(shell, vdbq_selftest);
    if (options->tune)
        return run_report(shell, vdbq_tune);
    if (options->kernels.wanted)
        return build_kernels(shell, options);
    run_all(shell, options);
    return shell->status;
}

static int run(struct shell *shell, const struct options *options)
{
    if (options->help)
        return tell_help(shell);
    if (options->version)
        return tell_version(shell);
    if (options->devices)
        return tell_devices(shell);
    if (!shell_cluster_open(shell, options))
        return shell->status;
    if (shell_cluster_leads(shell))
        run_database(shell, options);
    else
        shell_cluster_follow(shell, options);
    shell_connections_close(shell);
    shell_cluster_close(shell);
    return shell->status;
}
