/* SPDX-License-Identifier: MIT */
/*
 * Settings: what the user of a connection chooses, with vdbq_set() or by the
 * environment. They lie in one struct, and one table (settings.c) says of each
 * what it is called, which values it has and what it is for. A new setting is
 * a field here, a row there, and what reads it.
 *
 * A connection owns its settings; vdbq_set() alone changes them. Its database
 * reads them as they are at the moment. A query copies them when its run
 * begins, and all that runs it is handed a pointer to that copy, which does
 * not change before the run has ended. What is chosen for one query, such as
 * the mode of a scan where `mode` is auto, is no setting and not kept here.
 */
#ifndef VDBQ_BASE_SETTINGS_H
#define VDBQ_BASE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum {
    SETTING_BYTES_MAX = 256, /* of a value's text, with the zero behind it */
    SETTINGS_MAX = 32        /* rows that the table may have               */
};

/* How data gets to the machine and back. */
enum run_mode {
    MODE_SERIAL,   /* copied in, run, copied out, one after another      */
    MODE_STREAMED, /* the same, while other launches do the same         */
    MODE_MAPPED,   /* the machine works in the host's pinned memory      */
    MODE_CACHED,   /* as streamed, of tablets that stay on the device    */
    MODE_AUTO      /* of a setting alone: the best for each scan         */
};
enum { RUN_MODES = MODE_AUTO };

/* How a program becomes a kernel. */
enum device_build {
    BUILD_INTERPRETED,
    BUILD_SPECIALISED,
    BUILD_AUTO /* of a setting alone: interpreted at first, then what pays */
};

/* Which encodings the columns of a tablet get. */
enum encoding_choice {
    CHOOSE_AUTO,  /* what stores fewest bytes; plain unless it saves a fifth */
    CHOOSE_PLAIN, /* always plain                                            */
    CHOOSE_PACKED /* what is not plain, wherever it can be: for tests        */
};

/* Where rows are grouped, sorted and joined. */
enum steps_choice {
    STEPS_AUTO, /* where the scan's device is a GPU, there */
    STEPS_DEVICE,
    STEPS_HOST
};

/* Whether ranks exchange both sides of a join by the hash of its keys. */
enum exchange_choice {
    EXCHANGE_AUTO, /* where that costs less than to build one side on each */
    EXCHANGE_ON,   /* wherever it can be                                   */
    EXCHANGE_OFF
};

struct settings {
    char device[SETTING_BYTES_MAX]; /* as device_open() takes it; "": none was
                                       asked for                            */
    enum run_mode mode;             /* of scans                             */
    enum device_build build;        /* of programs                          */
    uint64_t memory_bytes;          /* of the host: for tablets and for rows
                                       that steps hold; 0: the default      */
    uint64_t device_memory_bytes;   /* for tablets on it; 0: the default    */
    uint32_t cores;                 /* of the device and of the host to use;
                                       0: all                               */
    enum encoding_choice encoding;  /* of tablets that are written          */
    bool prune;                     /* pass over tablets of which nothing
                                       comes                                */
    enum steps_choice steps;
    enum exchange_choice exchange;
    uint32_t tablet_rows; /* of a full tablet that is written; 0: the most
                             there can be                                 */
    bool map;             /* read numbers where they lie in the file       */
    bool profiling;       /* have devices tell the times of what they do   */
    uint32_t timeout_ms;  /* to wait for what other connections hold       */
    uint32_t read_timeout_ms; /* that an older state may be read; 0: any time */
};

/* A row of the table. */
struct setting {
    struct vdbq_option option; /* what users see */
    /* Reads the text of a value into the row's field; false: it is none. */
    bool (*read)(const struct setting *setting, const char *text,
                 struct settings *into);
    size_t field;       /* its place in struct settings              */
    const char *values; /* which there are, for people; NULL: `words` tell it,
                           or `option.help`                                 */
    const struct setting_word *words; /* the values, behind them one without a
                                         name; NULL: they are no words      */
    int64_t most;                     /* of numbers, which start at 0       */
};

/* A value that is a word. */
struct setting_word {
    const char *name;
    unsigned value; /* of the field's enum, or 0 and 1 */
};

/* Row `number` of the table, from 0 on; NULL: there are no more. */
const struct setting *setting_at(unsigned number);
/* The number of a row; SETTINGS_MAX: there is none of that name. */
unsigned setting_find(const char *name);

/* Sets one setting from a text. Fails with RANGE where that is no value of it;
 * then nothing changes. */
enum vdbq_status setting_read(const struct setting *setting, const char *text,
                              struct settings *into, struct error *error);

/* Settings that nobody has set. */
struct settings settings_default(void);

/* The word for a mode: "serial". */
const char *run_mode_name(enum run_mode mode);

#endif
