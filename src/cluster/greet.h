/* SPDX-License-Identifier: MIT */
/*
 * How ranks greet at the start: rank 0 says what it is, each other one answers
 * with what that is and sees, and is refused where it differs. Of a rank of
 * another build nothing but the struct hello can be read.
 */
#ifndef VDBQ_CLUSTER_GREET_H
#define VDBQ_CLUSTER_GREET_H

#include "api/query.h"
#include "base/text.h"

enum { HOST_BYTES_MAX = 64, DEVICE_BYTES_MAX = 128 };

struct hello {
    char version[32];
    uint64_t build; /* a hash of the machine code */
    char host[HOST_BYTES_MAX];
};
struct hello hello_of_this(void);
/* Whether a message begins with a hello of this build. */
bool hello_is_ours(const void *bytes, size_t size);

/* HELLO of rank 0. */
struct greeting {
    struct hello hello;
    struct settings settings; /* of its connection */
};

/* HELLO of another rank; the names of what it sees lie behind, a text with its
 * NUL each: of devices of one process there are none. */
struct welcome {
    struct hello hello;
    struct error error;   /* status OK: the database is open */
    uint32_t cores;       /* that the rank works with */
    uint64_t probed_most; /* as of struct plan_limits: of a device of its own */
    char device[DEVICE_BYTES_MAX]; /* "": that is not settled yet            */
};

/* Opens the device that the options name, and gives its name: "" where they name
 * none, or several. `name` has DEVICE_BYTES_MAX bytes. */
enum vdbq_status greet_device(vdbq *db, char *name);
/* Adds the tables and views, as the statements that make them. */
void greet_sees(vdbq *db, struct text *sees);

/* Whether a welcome, whose hello is ours, is of the size that it should be. */
bool welcome_is_whole(const void *bytes, size_t size);
/* What a rank sees: texts with their NULs. */
struct sight {
    const char *bytes;
    size_t size;
};
/* Whether two ranks see different things, and the first of these that each has,
 * or NULL. */
bool greet_differ(struct sight here, struct sight there, const char **one,
                  const char **other);

#endif
