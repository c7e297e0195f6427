/* SPDX-License-Identifier: MIT */
/* What the files of dot commands share. */
#ifndef VDBQ_TOOLS_SHELL_COMMAND_H
#define VDBQ_TOOLS_SHELL_COMMAND_H

#include "shell.h"

/* A command as it was typed. */
struct shell_call {
    const struct shell_command *command;
    const struct place *place;
    unsigned count;  /* of arguments     */
    char **argument; /* without the name */
};

struct shell_command {
    const char *name;
    const char *arguments;
    const char *help; /* NULL: what the library says of `option`   */
    bool (*run)(struct shell *shell, const struct shell_call *call);
    unsigned least, most; /* arguments                           */
    const char *option;   /* of the database that it is about    */
};

/* Writes a line of results; true. */
bool shell_line(struct shell *shell, const char *text);
/* Fails with what the command takes; false. */
bool shell_usage(struct shell *shell, const struct shell_call *call);

/* shell_distribute.c: makes part files. */
bool shell_distribute(struct shell *shell, const struct shell_call *call);
/* shell_setting.c: one command each; `option` is for all of the database. */
bool shell_set_option(struct shell *shell, const struct shell_call *call);
bool shell_set_headers(struct shell *shell, const struct shell_call *call);
bool shell_set_timer(struct shell *shell, const struct shell_call *call);
bool shell_set_maxrows(struct shell *shell, const struct shell_call *call);
bool shell_set_maxwidth(struct shell *shell, const struct shell_call *call);
bool shell_set_mode(struct shell *shell, const struct shell_call *call);
bool shell_set_nullvalue(struct shell *shell, const struct shell_call *call);
bool shell_set_output(struct shell *shell, const struct shell_call *call);

#endif
