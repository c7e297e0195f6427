/* SPDX-License-Identifier: MIT */
/*
 * Nobody waits for a compiler: where the kernels that a query needs were never
 * compiled, it runs on the host build, and the shell is started behind, with
 * --kernels, to compile them. A process of its own may be left alone: ours
 * ends as it likes, a compiler that crashes takes nobody with it, and what it
 * makes is for all processes. One works at a time, the others wait for it and
 * then find its kernels.
 */
#include "api/kernels.h"

#include <pthread.h>
#include <stdio.h>

#include "base/os/behind.h"
#include "cl/opcodes.h"

/* Programs that one process starts at most; each builds what a query lacked. */
enum { STARTED_MAX = 16 };

static struct {
    pthread_mutex_t lock;
    int process; /* that was started last; 0: it has ended */
    unsigned started;
} behind = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct device_machine_params kernels_of(const struct program *program)
{
    struct device_machine_params params = { .build = BUILD_INTERPRETED };

    if (program != NULL) {
        params.registers = program->registers;
        params.axes = program_axes(program);
    }
    return params;
}

/* Starts the shell at that path. */
static int start(char *path, const struct settings *settings,
                 const struct device_machine_params *wanted)
{
    char name[] = "vdbq", device_option[] = "--device", device[] = "cpu",
         cores_option[] = "--cores", kernels_option[] = "--kernels";
    char cores[16], kernels[32];
    char *const arguments[] = { name,  device_option,  device,  cores_option,
                                cores, kernels_option, kernels, NULL };

    snprintf(cores, sizeof cores, "%u", settings->cores);
    snprintf(kernels, sizeof kernels, "%u,%u", wanted->registers, wanted->axes);
    return behind_start(path, arguments);
}

bool kernels_build_behind(const struct settings *settings,
                          const struct device_machine_params *wanted)
{
    struct text path = { 0 };
    bool found = behind_find("vdbq", &path);

    pthread_mutex_lock(&behind.lock);
    if (!behind_runs(behind.process))
        behind.process = 0;
    if (found && behind.process == 0 && behind.started < STARTED_MAX) {
        behind.process = start(path.bytes, settings, wanted);
        behind.started++;
        found = behind.process > 0;
    }
    pthread_mutex_unlock(&behind.lock);
    text_finish(&path);
    return found;
}

/* Builds what is not there, and keeps it. */
static enum vdbq_status build(vdbq *db,
                              const struct device_machine_params *wanted)
{
    struct station *station = NULL;
    uint64_t ignored;
    enum vdbq_status status =
        station_choose(db, &db->options.settings, UINT64_MAX, &station);

    if (status != VDBQ_OK || device_machine_is_kept(station->device, wanted))
        return status;
    return device_build_time(station->device, wanted, &ignored, &db->error);
}

enum vdbq_status vdbq_build_kernels(vdbq *db, unsigned registers,
                                    unsigned tables)
{
    const struct device_machine_params wanted = { .build = BUILD_INTERPRETED,
                                                  .registers = registers,
                                                  .axes = tables };
    enum vdbq_status status = session_begin(db);

    if (status == VDBQ_OK
        && (registers > VDBQ_REGISTERS_MAX || tables > VDBQ_AXES_MAX))
        status = error_set(&db->error, VDBQ_RANGE,
                           "programs have at most %u registers and %u tables",
                           VDBQ_REGISTERS_MAX, VDBQ_AXES_MAX);
    if (status == VDBQ_OK) {
        int lock = device_builds_lock();
        status = build(db, &wanted);
        device_builds_unlock(lock);
    }
    return session_report(db, status, NULL, 0);
}
