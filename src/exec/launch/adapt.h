/* SPDX-License-Identifier: MIT */
/*
 * Which build of the machine a query runs on: interpreted at once, and the
 * specialised one, built behind, as soon as that pays. Part of the launcher.
 *
 * The price of a specialised machine is the time to compile it; what it gives
 * is the part 1 - 1 / gain of the time that interpreted launches take. It is
 * built when what the launches so far have missed, in this query and in
 * earlier ones of the same form, and what those to come would miss, is more
 * than the price; or, since who asks twice asks again, at the second query of
 * that form over many rows. So neither a great table nor a query that comes again
 * stays slow, and a query over few rows costs nothing.
 * On a GPU of which nobody has used this vdbq yet the interpreted machine, which
 * has all opcodes, takes its compiler half a minute, and a specialised one half
 * a second: until a process behind has built that one, queries are specialised
 * at once.
 * All times are measured: rates by this query's launches, price and gain by
 * the tuning run and by earlier queries on the device. A query that starts on
 * the interpreted machine and may leave it has the device keep times, from its
 * first launch to its end; others do without.
 *
 * The specialised form knows the encodings of columns, so its text is made
 * with the first launch, for the inputs of its morsels. A later launch that it
 * does not fit gets one in which the inputs that differ say how they are
 * encoded; from there on all is as at the start. A column that once differed
 * stays so: a query has at most one text more than columns, and where all
 * tablets are encoded alike it has one.
 */
#ifndef VDBQ_EXEC_ADAPT_H
#define VDBQ_EXEC_ADAPT_H

#include "device/device.h"
#include "program/program.h"

struct launcher_params;
struct launcher_request;

struct adapt_params {
    const struct launcher_params *launcher; /* whose machine it chooses       */
    const struct program_pack *pack;        /* of its program                 */
    struct arena *arena;                    /* its, too; holds `encodings`    */
};

/* Launches of one build whose times are known. */
struct adapt_rate {
    uint64_t rows;      /* that these launches ran over */
    uint64_t kernel_ns; /* time of the kernels alone */
};

struct adapt {
    struct device *device;
    const struct program *program;
    const struct program_pack *pack;
    struct device_machine_params interpreted, specialised;
    bool adaptive;      /* both builds may run                           */
    bool watching;      /* the specialised machine may come yet          */
    bool timed;         /* the device keeps times for `rates`            */
    bool asked;         /* for it, in this query                         */
    bool wanted;        /* ... whatever it takes to build it: its program
                           was sighted before                            */
    unsigned cost;      /* of a row, as the planner prices it            */
    uint64_t rows;      /* of the query, as foretold                     */
    uint64_t rows_left; /* ... less those that were run                  */
    unsigned launches;  /* that were started                             */
    unsigned launches_specialised;  /* of these                             */
    unsigned launches_first;        /* number of the first such one         */
    enum device_build build;        /* that runs                            */
    struct device_machine *machine; /* that runs now; the device owns it */
    struct device_machine *slow;    /* the interpreted one, once it is there */
    struct adapt_rate rates[2];     /* by enum device_build                 */
    struct program_loads loads;     /* of the specialised form              */
    unsigned char *encodings;       /* ... where they are                   */
    struct text body;               /* of the specialised form; empty: no
                                      launch was seen, or none is wanted   */
    char text[64];                  /* what adapt_text() returns            */
};

/* Builds, or takes from the device's cache, the interpreted machine where no
 * other may run. */
enum vdbq_status adapt_init(struct adapt *adapt,
                            const struct adapt_params *params,
                            struct device_times *times, struct error *error);
/* Begins anew, for another run of the same program, where the interpreted machine
 * alone may run. */
void adapt_again(struct adapt *adapt, uint64_t rows);
/* Accepts a zeroed struct. A machine that is being built is not waited for:
 * it serves the next query. */
void adapt_finish(struct adapt *adapt);

/* The machine of the launch that starts now, over `request`; it may have to be
 * built. */
enum vdbq_status adapt_machine(struct adapt *adapt,
                               const struct launcher_request *request,
                               struct device_times *times,
                               struct device_machine **machine,
                               struct error *error);
/* Whether that machine adds rows to groups itself. */
bool adapt_groups(const struct adapt *adapt,
                  const struct device_machine *machine);
/* Notes what a launch of that machine took; the decision falls here. */
void adapt_ran(struct adapt *adapt, const struct device_machine *machine,
               uint64_t rows, uint64_t kernel_ns);

/* "interpreted", "specialised", "adaptive (specialised from launch N)", or
 * where launches did not fit, "adaptive (N of M launches specialised)". */
const char *adapt_text(struct adapt *adapt);

#endif
