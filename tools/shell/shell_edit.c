/* SPDX-License-Identifier: MIT */
/*
 * The prompt, on libedit. Characters are read here, since only so does a
 * Ctrl-C end the line that is being typed without a jump out of a library.
 */
#include "shell_edit.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>

enum { HISTORY_LINES = 2000, CANDIDATES_MAX = 500 };

static struct {
    struct shell *shell;
    EditLine *line;
    History *history;
    int terminal;          /* what is read: does not wait          */
    bool more;             /* a statement goes on                  */
    unsigned char byte[8]; /* read, and not yet a character        */
    size_t bytes;          /* of them                              */
    struct out text;       /* in memory: the line that was entered */
} editor;

/* A prompt takes every text: where the locale's is not UTF-8, texts are
 * nevertheless. False where there is no such locale. */
static bool take_utf8(void)
{
    static const char *const names[] = { "C.UTF-8", "C.utf8", "en_US.UTF-8" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
            return true;
        setlocale(LC_CTYPE, names[i]);
    }
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void open_history(void)
{
    HistEvent event;
    const char *path = shell_history_open(editor.shell);
    editor.history = history_init();
    if (!editor.history)
        return;
    history(editor.history, &event, H_SETSIZE, HISTORY_LINES);
    history(editor.history, &event, H_SETUNIQUE, 1);
    el_set(editor.line, EL_HIST, history, editor.history);
    if (path)
        history(editor.history, &event, H_LOAD, path);
}

/* --------------------------------------------------------------- input -- */

static const char *prompt(EditLine *line)
{
    (void)line;
    return editor.more ? " ...> " : "vdbq> ";
}

/* The terminal, opened once more. A Ctrl-C drops what was typed before it: if that
 * is between the news that there is something and the read, the read is not to wait,
 * and others who read the terminal are to wait as before. */
static void open_terminal(void)
{
    char name[PATH_MAX];
    editor.terminal = -1;
    if (ttyname_r(STDIN_FILENO, name, sizeof name) == 0)
        editor.terminal =
            open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (editor.terminal < 0)
        editor.terminal = STDIN_FILENO;
}

/* One byte of the terminal, or -1 at its end and after Ctrl-C. */
static int read_byte(void)
{
    unsigned char byte;
    while (shell_wait_input(editor.terminal)) {
        ssize_t got = read(editor.terminal, &byte, 1);
        if (got == 1)
            return byte;
        if (got == 0 || (errno != EINTR && errno != EAGAIN))
            return -1;
    }
    return -1;
}

/* A byte that is no part of a character is kept as one that no text has, and
 * becomes that byte again when the line is done: who reads the line says what
 * is wrong with it. */
enum { STRAY = 0xdc00 };

static int stray(wchar_t *character)
{
    *character = STRAY + editor.byte[0];
    memmove(editor.byte, editor.byte + 1, --editor.bytes);
    return 1;
}

/* The character that the bytes read so far begin with; more are read while
 * they may become one. */
static int read_character(EditLine *line, wchar_t *character)
{
    (void)line;
    for (;;) {
        mbstate_t state;
        memset(&state, 0, sizeof state);
        size_t size = editor.bytes
                          ? mbrtowc(character, (const char *)editor.byte,
                                    editor.bytes, &state)
                          : (size_t)-2;
        if (size == (size_t)-1)
            return stray(character);
        if (size != (size_t)-2) {
            size += !size; /* a NUL */
            editor.bytes -= size;
            memmove(editor.byte, editor.byte + size, editor.bytes);
            return 1;
        }
        int byte = read_byte();
        if (byte < 0)
            return editor.bytes ? stray(character) : 0;
        editor.byte[editor.bytes++] = (unsigned char)byte;
    }
}

/* The line's bytes; false where some were no characters. */
static bool encode(const wchar_t *line, int count)
{
    struct out *text = &editor.text;
    bool good = true;
    text->length = 0;
    for (int i = 0; i < count; i++) {
        char bytes[MB_LEN_MAX];
        mbstate_t state;
        memset(&state, 0, sizeof state);
        size_t size = wcrtomb(bytes, line[i], &state);
        if (size == (size_t)-1) {
            bytes[0] = (char)(line[i] - STRAY);
            size = 1;
            good = false;
        }
        out_bytes(text, bytes, size);
    }
    out_char(text, 0);
    text->length--;
    return good;
}

bool shell_edit_line(bool more, const char **line, size_t *length)
{
    int count = 0;
    HistEvent event;
    editor.more = more;
    editor.bytes = 0;
    el_resize(editor.line);
    const wchar_t *typed = el_wgets(editor.line, &count);
    if (!typed || count <= 0) {
        out_text(&editor.shell->out, "\n");
        out_flush(&editor.shell->out);
        return false;
    }
    bool good = encode(typed, count);
    *line = editor.text.bytes;
    *length = editor.text.length;
    if (good && strspn(*line, " \t\r\n") < *length && editor.history) {
        history(editor.history, &event, H_ENTER, *line);
        shell_history_add(*line, *length);
    }
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
    if (!take_utf8() || !out_open(&editor.text, -1))
        return false;
    editor.line = el_init("vdbq", stdin, stdout, stderr);
    if (!editor.line)
        return false;
    open_terminal();
    el_set(editor.line, EL_EDITOR, "emacs");
    el_set(editor.line, EL_PROMPT, prompt);
    el_set(editor.line, EL_GETCFN, read_character);
    el_set(editor.line, EL_ADDFN, "vdbq-complete", "completes a word",
           complete);
    el_set(editor.line, EL_BIND, "\t", "vdbq-complete", NULL);
    el_set(editor.line, EL_BIND, "^R", "em-inc-search-prev", NULL);
    /* a Ctrl-D that was typed before the prompt took the terminal is a NUL */
    el_set(editor.line, EL_BIND, "^@", "em-delete-or-list", NULL);
    open_history();
    el_source(editor.line, NULL);
    return true;
}

void shell_edit_close(void)
{
    if (!editor.line)
        return;
    shell_history_close();
    out_close(&editor.text);
    if (editor.history)
        history_end(editor.history);
    el_end(editor.line);
    if (editor.terminal != STDIN_FILENO)
        close(editor.terminal);
    editor.line = NULL;
}
