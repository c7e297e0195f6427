/* SPDX-License-Identifier: MIT */
/* The command line, read from one table of options. */
#ifndef VDBQ_TOOLS_SHELL_OPTIONS_H
#define VDBQ_TOOLS_SHELL_OPTIONS_H

#include "io/format.h"
#include "io/out.h"

#include <stdbool.h>

enum {
    OPTIONS_INPUTS_MAX = 256,
    OPTIONS_SET_MAX = 64,
    OPTIONS_PARAMETERS_MAX = 256
};

/* SQL to run, in the order of the command line. */
struct option_input {
    enum { INPUT_SQL, INPUT_FILE, INPUT_PROGRAM } kind;
    const char *text; /* SQL, or the file's path */
};

/* An option of the database. */
struct option_set {
    const char *name, *value;
};

struct options {
    const char *database; /* NULL: in memory                       */
    struct option_input input[OPTIONS_INPUTS_MAX];
    unsigned inputs;
    struct option_set set[OPTIONS_SET_MAX];
    unsigned sets;
    const char *parameter[OPTIONS_PARAMETERS_MAX]; /* VALUE or NAME=VALUE */
    unsigned parameters;
    const struct format *format; /* NULL: box or csv                      */
    int header;                  /* 1, 0; -1: the format's way            */
    unsigned open_flags;         /* of enum vdbq_open_flags, without CREATE */
    struct {
        bool wanted;
        unsigned registers, tables;
    } kernels;           /* to build */
    unsigned ranks;      /* that are to be started; 0: --ranks is not there */
    unsigned silence_ms; /* of a rank, that is borne; 0: for ever         */
    bool cluster, batch, timer, devices, selftest, tune, version, help;
    char error[200]; /* what is wrong with the command line   */
    char hint[256];
};

/* Reads the command line; false with `error` and `hint` set. */
bool options_read(struct options *options, int count, char **argument);
/* The library's line on an option of the database. */
const char *shell_option_help(const char *name);
/* Writes what --help says. */
void options_help(struct out *out);

#endif
