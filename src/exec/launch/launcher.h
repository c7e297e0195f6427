/* SPDX-License-Identifier: MIT */
/*
 * The launcher: one program on one device, with a ring of launches in flight
 * and the memory that they need. It knows inputs and result rows, not tables.
 * The two-step result is made here: step one in the kernel, step two by joining
 * what lies in order, or by moving it on the device.
 */
#ifndef VDBQ_EXEC_LAUNCHER_H
#define VDBQ_EXEC_LAUNCHER_H

#include "cl/tablet.h"
#include "device/job.h"
#include "exec/launch/launch_bound.h"
#include "exec/launch/launch_tables.h"
#include "exec/launch/sink.h"
#include "exec/launch/control.h"
#include "exec/launch/run_place.h"
#include "program/program.h"

/* Launches that are in flight at most: four keep a link busy both ways. */
enum { LAUNCHER_RING_MAX = 4 };

struct launcher_params {
    const struct run_place *place; /* outlives the launcher; where its build
                                      is BUILD_AUTO: exec/launch/adapt.h    */
    const struct program *program; /* checked; outlives the launcher, too   */
    uint64_t rows;  /* of all launches together, as far as is known     */
    bool most_live; /* so many rows become result rows that most tiles have
                      one: columns are best loaded without asking      */
    /* of a program of several cursors; what it points to lives as long as
     * the launcher */
    const struct run_build_side *build_side;
    const struct run_values *values; /* what the program leaves open; NULL:
                      nothing. Read while the launcher opens           */
};

struct launcher;

enum vdbq_status launcher_open(const struct launcher_params *params,
                               struct launcher **launcher, struct error *error);
void launcher_close(struct launcher *launcher);

/* Whether it may be opened once more as it is: no launch is under way, none will be
 * of another machine, and all that it has taken from its params is the program, the
 * place and values of parameters. */
bool launcher_can_rest(const struct launcher *launcher);
/* Opens one that can rest for values and rows of other params; all else of them is
 * as it was. What it has cost is forgotten. */
void launcher_again(struct launcher *launcher,
                    const struct launcher_params *params);

/* From now on a sink takes the rows, on the device: launcher_batch() gives
 * none. Before the first launch. */
void launcher_sink(struct launcher *launcher, struct sink *sink);

/* From now on rows are added to groups, where the program has some: launches
 * give none. Before the first launch. */
enum vdbq_status launcher_tables(struct launcher *launcher,
                                 struct launch_tables *tables,
                                 struct error *error);

/* From now on launches pass over rows behind the bound, which outlives the
 * launcher, where there is one when they start. Before the first launch. */
void launcher_bound(struct launcher *launcher,
                    const struct launch_bound *bound);

/* From now on the rows of a launch come as one batch, where short ones are
 * worth putting together. */
void launcher_close_up(struct launcher *launcher);

/* The columns that the program reads: input i of a request is inputs[i]. */
const struct program_pack *launcher_pack(const struct launcher *launcher);

/* The most rows, or cells, of one launch, all morsels together: work is bounded
 * to a fraction of a second and memory to a fixed share. A multiple of 64. */
uint64_t launcher_rows_max(const struct launcher *launcher);
/* Mapped: the rows that are enough for all cores. Of the first launch one is,
 * since its rows may be all that is asked for, but where they are added to groups. */
uint64_t launcher_rows_wanted(const struct launcher *launcher);

/* Rows [0, rows) of the inputs, which lie at the offsets that they name. */
struct launcher_morsel {
    /* one a column of the program */
    const struct column_input *inputs;
    /* one per input; NULL: none has any. They live as long as the launcher,
     * and two launches with the same pointer have the same order codes */
    const struct order_codes *order_codes;
    uint64_t rows;              /* at least 1                           */
    struct device_memory *data; /* in which they lie; NULL: ...         */
    u8 *host;                   /* they are copied from here, column by
                                   column                               */
    bool computed;              /* a kernel writes them, and is perhaps not
                                   done: what reads them comes behind it */
};

/* Cells of a grid, where the program has several axes: the one morsel has the
 * left rows, of which the first has the cells from 0 on (cl/launch.h). */
struct launcher_grid {
    uint64_t first; /* cell                                             */
    uint64_t cells; /* at least 1, at most launcher_rows_max()          */
    /* rows of each axis behind the first */
    uint32_t axis_rows[VDBQ_AXES_MAX - 1];
};

/* One launch, over the rows of some morsels in that order. All of it belongs to
 * the launch until its rows are there. */
struct launcher_request {
    /* their rows follow one another */
    struct launcher_morsel morsels[LAUNCH_MORSELS];
    unsigned count;                   /* of pieces, at least 1 */
    const struct device_copy *copies; /* to be made before, into `data`    */
    size_t copy_count;                /* of `copies` */
    struct launcher_grid grid; /* of a program of several axes; else zeroed */
};

/* Launches in flight, and whether there is room for one more. */
unsigned launcher_in_flight(const struct launcher *launcher);
/* No launch will be started any more: tells the sink, see there. */
enum vdbq_status launcher_all_started(struct launcher *launcher,
                                      struct error *error);
unsigned launcher_ring(const struct launcher *launcher); /* at most */
bool launcher_has_room(const struct launcher *launcher);

/* Starts a launch; there must be room. The specialised machine is built here,
 * for it is made for the encodings of the launches' inputs. */
enum vdbq_status launcher_start(struct launcher *launcher,
                                const struct launcher_request *request,
                                struct error *error);

/* The next result rows of the oldest launch in flight, in order; rows 0: it has
 * no more, and is in flight no longer. They live until the next call. Where
 * rows fail, in whichever launches, the first of them ends the rows: those
 * before it come, then rows 0, and the next call fails with RANGE and the
 * position of the first instruction that failed for it. Its launch stays in
 * flight and no other can start. */
enum vdbq_status launcher_batch(struct launcher *launcher,
                                struct vdbq_batch *batch, struct error *error);

/* Waits for the rows of all launches in flight, which stay so: none of them reads
 * its inputs any more. There is no sink, and no groups take the rows. */
enum vdbq_status launcher_settle(struct launcher *launcher,
                                 struct error *error);

/* Whether the oldest launch has more rows, while those of the last batch
 * stay. */
bool launcher_stays(const struct launcher *launcher);

/* Of the launch in which a row failed: the rows before that. */
uint64_t launcher_rows_before(const struct launcher *launcher);

/* The build that runs: "interpreted", "specialised", or from which launch on
 * it was which. Lives as long as the launcher. */
const char *launcher_build(struct launcher *launcher);

/* What runs have cost so far; the caller may add to it. */
struct device_times *launcher_times(struct launcher *launcher);
/* Adds that, and names the build. */
void launcher_stats(struct launcher *launcher, struct vdbq_stats *stats);

#endif
