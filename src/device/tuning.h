/* SPDX-License-Identifier: MIT */
/*
 * What measuring tells of a device, and the two small text files that keep
 * it, in $XDG_CACHE_HOME/vdbq/tune or ~/.cache/vdbq/tune:
 *
 *   KEY.txt   lines "name value", as the tuning run wrote them; # starts a
 *             comment. Whatever is wrong with it means the built-in values.
 *   KEY.seen  hashes of programs, 16 hexadecimal digits a line behind a mark: b,
 *             its specialised form was built, so that a cache holds it; s, a
 *             query over many rows ran it. A line that is wrong says nothing.
 *   host.txt  the line host_rows_max of the last device tuned of a kind for
 *             which it counts: CPUs;
 *             it is needed before a device is opened.
 *
 * KEY is the hash of names and versions of platform, device and driver, of
 * the cores in use, and of TUNING_FORMAT. Files are written under a temporary
 * name, then renamed; KEY.seen grows line by line.
 */
#ifndef VDBQ_DEVICE_TUNING_H
#define VDBQ_DEVICE_TUNING_H

#include <stdio.h>

#include "base/vector.h"
#include "device/device.h"
#include "device/kind.h"

enum { TUNING_FORMAT = 3 };

struct known {
    struct device_tuning tuning;
    char key[33];         /* of its files; "": none are kept         */
    struct vector shapes; /* struct device_shape                     */
    bool shapes_read;     /* KEY.seen was                            */
    uint64_t seed;        /* of their hashes: the machine's own text */
};

/* `parts` of the key end with NULL; `source` is the text that every program
 * is compiled with. The values of the file, if there is one and it is sound,
 * replace the built-in ones of the kind. */
void known_init(struct known *known, const char *const *parts,
                const char *source, const struct device_kind *kind);
/* Accepts a zeroed struct. */
void known_finish(struct known *known);

/* Opens one of the files to read; NULL: there is none. */
FILE *known_file(const char *name);

/* Notes that the machine of `body` was built (specialised; or the name of one
 * without text), and how long that took in all; 0: not measured to its end.
 * Says whether it was built before, by any process. */
bool known_build(struct device *device, const char *body, uint64_t build_ns);

/* Takes in what other processes have built since KEY.seen was read. */
void known_refresh(struct known *known);
/* Whether KEY.seen says now that the machine of `body` was built. Any thread. */
bool known_tells(const struct known *known, const char *body);

/* Whether the values are such as a file may have: powers of two in bounds,
 * numbers that are numbers. */
bool tuning_is_sound(const struct device_tuning *tuning,
                     const struct kind_bounds *bounds);

#endif
