/* SPDX-License-Identifier: MIT */
/*
 * Scripts: lines from a text, a file, a pipe or the terminal, put together to
 * statements and run one by one as they end. A line that starts with a dot
 * where a statement could start is a command of the shell.
 */
#include "shell.h"

#include "shell_edit.h"
#include "shell_split.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16, READ_DEPTH_MAX = 16 };

/* Where lines come from. */
struct source {
    const char *name; /* for messages; NULL: "line"             */
    const char *at;   /* a text: what is left of it             */
    int fd;           /* a file: >= 0                           */
    char *bytes;      /* read from it: start .. used is not run */
    size_t start, used, capacity;
    bool ended;    /* nothing more comes                     */
    int problem;   /* errno of the read that failed, or 0    */
    bool edited;   /* the terminal                           */
    uint64_t line; /* number of the line at hand             */
};

/* A statement that is being put together. */
struct script {
    struct shell *shell;
    struct source *source;
    struct shell_split split;
    struct out text;    /* in memory             */
    struct place place; /* of its first character */
};

static bool run_source(struct shell *shell, struct source *source);

/* ----------------------------------------------------------- the lines -- */

/* Ctrl-C ends the input. */
static ssize_t read_some(int fd, char *bytes, size_t length)
{
    while (shell_wait_input(fd)) {
        ssize_t got = read(fd, bytes, length);
        if (got >= 0 || errno != EINTR)
            return got;
    }
    return 0;
}

static bool fill(struct source *source)
{
    if (source->start) {
        memmove(source->bytes, source->bytes + source->start,
                source->used - source->start);
        source->used -= source->start;
        source->start = 0;
    }
    if (source->capacity - source->used < READ_BYTES) {
        size_t capacity = source->capacity * 2 + READ_BYTES;
        char *bytes = realloc(source->bytes, capacity);
        if (!bytes) {
            source->problem = ENOMEM;
            return false;
        }
        source->bytes = bytes;
        source->capacity = capacity;
    }
    ssize_t got =
        read_some(source->fd, source->bytes + source->used, READ_BYTES);
    if (got > 0)
        source->used += (size_t)got;
    else if (got < 0)
        source->problem = errno;
    return got > 0;
}

static bool file_line(struct source *source, const char **line, size_t *length)
{
    size_t seen = 0;
    char *newline = NULL;
    for (;;) {
        size_t left = source->used - source->start;
        if (left > seen)
            newline =
                memchr(source->bytes + source->start + seen, '\n', left - seen);
        seen = left;
        if (newline || source->ended)
            break;
        source->ended = !fill(source);
    }
    *line = source->bytes + source->start;
    *length = newline ? (size_t)(newline + 1 - *line) : seen;
    source->start += *length;
    return *length > 0;
}

static bool text_line(struct source *source, const char **line, size_t *length)
{
    const char *newline = strchr(source->at, '\n');
    *line = source->at;
    *length = newline ? (size_t)(newline + 1 - source->at) : strlen(source->at);
    source->at += *length;
    return *length > 0;
}

/* The next line, with its line end; false after the last. */
static bool next_line(struct source *source, bool more, const char **line,
                      size_t *length)
{
    source->line++;
    if (source->edited) {
        shell_interrupt_clear();
        return shell_edit_line(more, line, length);
    }
    if (source->fd >= 0)
        return file_line(source, line, length);
    return text_line(source, line, length);
}

/* ------------------------------------------------------ the statements -- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Forgets what has been put together so far. */
static void clear(struct script *script)
{
    script->text.length = 0;
    script->split = (struct shell_split){ .state = SPLIT_SQL };
}

static bool run_statement(struct script *script)
{
    struct shell *shell = script->shell;
    bool good =
        script->text.error
            ? shell_fail(shell, NULL, VDBQ_NO_MEMORY, "", "out of memory")
            : shell_sql(shell, &script->place, script->text.bytes,
                        script->text.length);
    clear(script);
    return good;
}

static void begin_statement(struct script *script, const char *start,
                            const char *at)
{
    script->place.line = script->source->line;
    script->place.column = (uint64_t)(at - start) + 1;
}

/* Adds a line to the statement; runs each statement that ends in it. */
static bool add_line(struct script *script, const char *line, size_t length)
{
    const char *at = line, *end = line + length;
    bool good = true;
    while (at < end && (good || script->shell->batch) && !shell_interrupted()) {
        bool ended;
        while (!script->text.length && at < end && is_blank(*at))
            at++;
        if (!script->text.length)
            begin_statement(script, line, at);
        size_t taken =
            shell_split(&script->split, at, (size_t)(end - at), &ended);
        out_bytes(&script->text, at, taken);
        at += taken;
        if (ended)
            good &= run_statement(script);
    }
    return good;
}

/* Whether the line is a command of the shell. */
static bool is_command(const struct script *script, const char *line,
                       size_t length)
{
    if (script->split.filled || script->split.state == SPLIT_COMMENT)
        return false;
    while (length && is_blank(*line)) {
        line++;
        length--;
    }
    return length && *line == '.';
}

static bool run_line(struct script *script, const char *line, size_t length)
{
    if (!is_command(script, line, length))
        return add_line(script, line, length);
    struct place place = { .name = script->source->name,
                           .line_known = script->place.line_known,
                           .line = script->source->line,
                           .column = 1 };
    clear(script);
    return shell_command(script->shell, &place, line, length);
}

/* Whether a script goes on after what has happened. */
static bool goes_on(struct shell *shell, bool good)
{
    if (shell->quit || shell->out.error)
        return false;
    if (shell->interactive && !shell->depth)
        return true;
    return !shell_interrupted() && (good || shell->batch);
}

/* What stands at the end of a script without a semicolon is run, too. */
static bool run_rest(struct script *script)
{
    bool wanted = script->split.filled && !script->source->edited;
    return !wanted || shell_interrupted() || run_statement(script);
}

static bool run_lines(struct script *script)
{
    struct shell *shell = script->shell;
    const char *line;
    size_t length;
    bool good = true, more = true;
    while (more
           && next_line(script->source, script->split.filled, &line, &length)) {
        bool fine = run_line(script, line, length);
        good &= fine;
        more = goes_on(shell, fine);
    }
    if (more)
        good &= run_rest(script);
    return good;
}

/* A script that Ctrl-C has ended; told once. */
static void end_interrupted(struct shell *shell)
{
    if (!shell->interrupt_told)
        shell_fail(shell, NULL, VDBQ_CANCELLED, "",
                   "interrupted between statements");
    shell->interrupt_told = true;
    shell_raise(shell, EXIT_INTERRUPTED);
}

static bool run_source(struct shell *shell, struct source *source)
{
    struct script script = { .shell = shell, .source = source };
    script.place.name = source->name;
    script.place.line_known = source->fd >= 0 && !source->edited;
    if (!out_open(&script.text, -1))
        return shell_fail(shell, NULL, VDBQ_NO_MEMORY, "", "out of memory");
    bool good = run_lines(&script);
    if (source->problem)
        good = shell_fail(shell, NULL, VDBQ_IO, "", "cannot read %s: %s",
                          source->name ? source->name : "standard input",
                          strerror(source->problem));
    out_close(&script.text);
    free(source->bytes);
    if (shell_interrupted() && !shell->interactive)
        end_interrupted(shell);
    return good;
}

/* ---------------------------------------------------------- the sources -- */

bool shell_run_text(struct shell *shell, const char *text)
{
    return run_source(shell, &(struct source){ .at = text, .fd = -1 });
}

bool shell_run_stdin(struct shell *shell)
{
    return run_source(shell, &(struct source){ .fd = STDIN_FILENO });
}

bool shell_run_file(struct shell *shell, const struct place *place,
                    const char *path)
{
    if (strcmp(path, "-") == 0)
        return shell_run_stdin(shell);
    if (shell->depth == READ_DEPTH_MAX)
        return shell_fail(shell, place, VDBQ_LIMIT, "",
                          "%s is read from %d files inside one another", path,
                          READ_DEPTH_MAX);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return shell_fail(shell, place, VDBQ_IO, "", "cannot open %s: %s", path,
                          strerror(errno));
    shell->depth++;
    bool good = run_source(shell, &(struct source){ .name = path, .fd = fd });
    shell->depth--;
    close(fd);
    return good;
}

/* Each Ctrl-C starts a new statement; the end of the input ends it all. */
void shell_run_interactive(struct shell *shell)
{
    do {
        shell_interrupt_clear();
        run_source(shell, &(struct source){ .fd = -1, .edited = true });
    } while (shell_interrupted() && !shell_interrupted_twice() && !shell->quit);
    shell->status = shell_interrupted_twice() ? EXIT_INTERRUPTED : EXIT_OK;
}

char *shell_read_file(const char *path, size_t *length)
{
    struct source source = { .name = path };
    source.fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
                                       : open(path, O_RDONLY | O_CLOEXEC);
    if (source.fd < 0)
        return NULL;
    while (fill(&source))
        ;
    close(source.fd);
    if (!source.problem) {
        source.bytes[source.used] = 0;
        *length = source.used;
        return source.bytes;
    }
    free(source.bytes);
    errno = source.problem;
    return NULL;
}
