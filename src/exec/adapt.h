/* SPDX-License-Identifier: MIT */
/*
 * Which build of the machine a query runs on: interpreted at once, and the
 * specialised one, built behind, as soon as that pays. Part of the runner.
 *
 * The price of a specialised machine is the time to compile it; what it gives
 * is the part 1 - 1 / gain of the time that interpreted launches take. It is
 * built when what the launches so far have missed, in this query and in
 * earlier ones of the same form, and what those to come would miss, is more
 * than the price: so neither a great table nor a query that comes again and
 * again stays slow, and a query over few rows that comes once costs nothing.
 * All times are measured: rates by this query's launches, price and gain by
 * the tuning run and by earlier queries on the device.
 */
#ifndef VDBQ_EXEC_ADAPT_H
#define VDBQ_EXEC_ADAPT_H

#include "device/device.h"
#include "program/program.h"

struct adapt_params {
    struct device *device;
    const struct program *program;
    const struct program_pack *pack;
    bool adaptive;           /* false: `build` it is                     */
    enum device_build build;
    uint64_t rows;           /* of all launches together                 */
};

/* Launches of one build. */
struct adapt_rate {
    uint64_t rows;
    uint64_t kernel_ns;
};

struct adapt {
    struct device *device;
    struct device_machine_params interpreted, specialised;
    bool watching;        /* the specialised machine may come yet          */
    unsigned cost;        /* of a row, as the planner prices it            */
    uint64_t rows_left;
    unsigned launches;    /* that were started                             */
    unsigned launches_first;       /* number of the first specialised one
                                      after interpreted ones; 0: none      */
    enum device_build build;       /* that runs                            */
    struct device_machine *machine;
    struct adapt_rate rates[2];    /* by enum device_build                 */
    struct text body;              /* of the specialised form              */
    char text[64];                 /* what adapt_text() returns            */
};

/* Builds, or takes from the device's cache, the machine to start with. */
enum vdbq_status adapt_init(struct adapt *adapt,
                            const struct adapt_params *params,
                            struct device_times *times, struct error *error);
/* Accepts a zeroed struct. A machine that is being built is not waited for:
 * it serves the next query. */
void adapt_finish(struct adapt *adapt);

/* The machine of the launch that starts now. */
struct device_machine *adapt_machine(struct adapt *adapt,
                                     struct device_times *times);
/* Notes what a launch of that machine took; the decision falls here. */
void adapt_ran(struct adapt *adapt, const struct device_machine *machine,
               uint64_t rows, uint64_t kernel_ns);

/* "interpreted", "specialised", "adaptive (specialised from launch N)". */
const char *adapt_text(struct adapt *adapt);

#endif
