/* SPDX-License-Identifier: MIT */
/*
 * The prompt: a line that can be edited, the history in a file, and
 * completion with Tab. There is one terminal, so there is one editor.
 */
#ifndef VDBQ_TOOLS_SHELL_EDIT_H
#define VDBQ_TOOLS_SHELL_EDIT_H

#include "shell.h"

/* Starts the editor; false (and nothing said) where the terminal or memory
 * does not allow it. */
bool shell_edit_open(struct shell *shell);
void shell_edit_close(void);
/* Reads a line, with its line end; `more` where a statement goes on. False
 * at the end of the input and after Ctrl-C. The line lives until the next. */
bool shell_edit_line(bool more, const char **line, size_t *length);

/* shell_history.c: the file of the history, whose path is returned; NULL: it
 * is not kept. */
const char *shell_history_open(struct shell *shell);
void shell_history_close(void);
/* Appends a line, unless it is the one before it again. */
void shell_history_add(const char *line, size_t length);

/* shell_complete.c: what can stand where the word before the cursor stands.
 * Calls `add` with each candidate that starts with `word`; `first` where the
 * word begins the line. */
typedef void (*shell_candidate)(void *context, const char *candidate);
void shell_complete(struct shell *shell, const char *word, bool first,
                    shell_candidate add, void *context);

#endif
