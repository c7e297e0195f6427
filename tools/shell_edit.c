/* SPDX-License-Identifier: MIT */
/*
 * The prompt, on libedit. Characters are read here, since only so does a
 * Ctrl-C end the line that is being typed without a jump out of a library.
 */
#include "shell_edit.h"

#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

enum { HISTORY_LINES = 2000, PATH_ROOM = 4096, CANDIDATES_MAX = 500 };

static struct {
    struct shell *shell;
    EditLine *line;
    History *history;
    char path[PATH_ROOM]; /* of the history; "": it is not kept */
    bool more;            /* a statement goes on                */
} editor;

/* ------------------------------------------------------------- history -- */

/* Makes the folders that `path` lies in. */
static void make_folders(const char *path)
{
    char folder[PATH_ROOM];
    for (const char *at = path + 1; (at = strchr(at, '/')); at++) {
        memcpy(folder, path, (size_t)(at - path));
        folder[at - path] = 0;
        mkdir(folder, 0700);
    }
}

static void find_history(void)
{
    const char *own = getenv("VDBQ_HISTORY");
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = editor.path;
    int length = 0;
    if (own)
        length = snprintf(path, PATH_ROOM, "%s", own);
    else if (state && *state == '/')
        length = snprintf(path, PATH_ROOM, "%s/vdbq/history", state);
    else if (home && *home)
        length = snprintf(path, PATH_ROOM, "%s/.local/state/vdbq/history",
                          home);
    if (length < 0 || length >= PATH_ROOM)
        *path = 0;
}

static void open_history(void)
{
    HistEvent event;
    editor.history = history_init();
    if (!editor.history)
        return;
    history(editor.history, &event, H_SETSIZE, HISTORY_LINES);
    history(editor.history, &event, H_SETUNIQUE, 1);
    el_set(editor.line, EL_HIST, history, editor.history);
    find_history();
    if (*editor.path)
        history(editor.history, &event, H_LOAD, editor.path);
}

static void save_history(void)
{
    HistEvent event;
    if (!editor.history || !*editor.path)
        return;
    mode_t mask = umask(077);
    if (strchr(editor.path, '/'))
        make_folders(editor.path);
    history(editor.history, &event, H_SAVE, editor.path);
    umask(mask);
}

/* --------------------------------------------------------------- input -- */

static const char *prompt(EditLine *line)
{
    (void)line;
    return editor.more ? " ...> " : "vdbq> ";
}

/* One byte of the terminal, or -1 at its end and after Ctrl-C. */
static int read_byte(void)
{
    struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
    unsigned char byte;
    while (!shell_interrupted()) {
        if (poll(&wait, 1, -1) < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        ssize_t got = read(STDIN_FILENO, &byte, 1);
        if (got == 1)
            return byte;
        if (got == 0 || errno != EINTR)
            return -1;
    }
    return -1;
}

static int read_character(EditLine *line, wchar_t *character)
{
    (void)line;
    mbstate_t state;
    memset(&state, 0, sizeof state);
    for (;;) {
        int byte = read_byte();
        if (byte < 0)
            return 0;
        char c = (char)byte;
        size_t status = mbrtowc(character, &c, 1, &state);
        if (status == (size_t)-1) {
            memset(&state, 0, sizeof state);
        } else if (status != (size_t)-2) {
            return 1;
        }
    }
}

bool shell_edit_line(bool more, const char **line, size_t *length)
{
    int count = 0;
    HistEvent event;
    editor.more = more;
    el_resize(editor.line);
    *line = el_gets(editor.line, &count);
    if (!*line || count <= 0) {
        out_text(&editor.shell->out, "\n");
        out_flush(&editor.shell->out);
        return false;
    }
    *length = (size_t)count;
    if (strspn(*line, " \t\r\n") < *length && editor.history)
        history(editor.history, &event, H_ENTER, *line);
    return true;
}

/* ---------------------------------------------------------- completion -- */

struct candidates {
    char *text[CANDIDATES_MAX];
    unsigned count;
};

static void add_candidate(void *context, const char *text)
{
    struct candidates *candidates = context;
    for (unsigned i = 0; i < candidates->count; i++)
        if (strcasecmp(candidates->text[i], text) == 0)
            return;
    char *own = candidates->count < CANDIDATES_MAX ? strdup(text) : NULL;
    if (own)
        candidates->text[candidates->count++] = own;
}

/* How many bytes all candidates begin with, without case. */
static size_t common(const struct candidates *candidates)
{
    size_t length = strlen(candidates->text[0]);
    for (unsigned i = 1; i < candidates->count; i++)
        while (strncasecmp(candidates->text[0], candidates->text[i], length))
            length--;
    return length;
}

static void list(const struct candidates *candidates)
{
    struct out *out = &editor.shell->out;
    out_char(out, '\n');
    for (unsigned i = 0; i < candidates->count; i++) {
        out_text(out, candidates->text[i]);
        out_text(out, i + 1 < candidates->count ? "  " : "\n");
    }
    out_flush(out);
}

/* Adds what all candidates share beyond the word; lists them otherwise. */
static unsigned char offer(const struct candidates *candidates, size_t typed)
{
    char text[256];
    if (!candidates->count)
        return CC_ERROR;
    size_t shared = common(candidates);
    bool single = candidates->count == 1;
    if (shared > typed || single) {
        snprintf(text, sizeof text, "%.*s%s", (int)(shared - typed),
                 candidates->text[0] + typed, single ? " " : "");
        el_insertstr(editor.line, text);
        return CC_REFRESH;
    }
    list(candidates);
    return CC_REDISPLAY;
}

static bool in_word(char c)
{
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c & 0x80)
        || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static unsigned char complete(EditLine *line, int key)
{
    (void)key;
    struct candidates candidates = { .count = 0 };
    const LineInfo *info = el_line(line);
    const char *start = info->cursor;
    while (start > info->buffer && in_word(start[-1]))
        start--;
    char word[256];
    size_t length = (size_t)(info->cursor - start);
    if (length >= sizeof word)
        return CC_ERROR;
    memcpy(word, start, length);
    word[length] = 0;
    bool first = start == info->buffer;
    const char *dot = strrchr(word, '.');
    const char *last = dot && !first ? dot + 1 : word;
    shell_complete(editor.shell, last, first, add_candidate, &candidates);
    unsigned char status = offer(&candidates, strlen(last));
    for (unsigned i = 0; i < candidates.count; i++)
        free(candidates.text[i]);
    return status;
}

/* ------------------------------------------------------ open and close -- */

bool shell_edit_open(struct shell *shell)
{
    editor.shell = shell;
    editor.line = el_init("vdbq", stdin, stdout, stderr);
    if (!editor.line)
        return false;
    el_set(editor.line, EL_EDITOR, "emacs");
    el_set(editor.line, EL_PROMPT, prompt);
    el_set(editor.line, EL_GETCFN, read_character);
    el_set(editor.line, EL_ADDFN, "vdbq-complete", "completes a word",
           complete);
    el_set(editor.line, EL_BIND, "\t", "vdbq-complete", NULL);
    el_set(editor.line, EL_BIND, "^R", "em-inc-search-prev", NULL);
    open_history();
    el_source(editor.line, NULL);
    return true;
}

void shell_edit_close(void)
{
    if (!editor.line)
        return;
    save_history();
    if (editor.history)
        history_end(editor.history);
    el_end(editor.line);
    editor.line = NULL;
}
