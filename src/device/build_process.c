/* SPDX-License-Identifier: MIT */
/*
 * A process of its own may be left alone: ours ends as it likes, a compiler that
 * crashes takes nobody with it, and what it makes is for all processes. One
 * works at a time, the others wait for it and then find its kernels.
 */
#include "device/build_process.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#include "base/os/behind.h"
#include "device/device.h"

/* Programs that one process starts at most, but for those beside others, so that a
 * compiler that crashes is not tried for ever. */
enum { STARTED_MAX = 64 };

static struct {
    pthread_mutex_t lock;
    /* that were started; 0: none, or it has ended */
    int processes[DEVICE_LANES_MAX];
    unsigned started;
} behind = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Starts the shell at that path. */
static int start(char *path, const struct device_params *device,
                 const struct device_machine_params *wanted)
{
    char name[] = "vdbq", device_option[] = "--device",
         cores_option[] = "--cores", kernels_option[] = "--kernels";
    char choice[DEVICE_CHOICE_BYTES], cores[16], kernels[32];
    char *const arguments[] = { name,  device_option,  choice,  cores_option,
                                cores, kernels_option, kernels, NULL };

    snprintf(choice, sizeof choice, "%s", device->choice);
    snprintf(cores, sizeof cores, "%u", device->cores);
    snprintf(kernels, sizeof kernels, "%u,%u", wanted->registers, wanted->axes);
    return behind_start(path, arguments);
}

/* How many still run; `*free`: a place for another one, if there is one. */
static unsigned count_running(int **free)
{
    unsigned running = 0;

    *free = NULL;
    for (unsigned i = 0; i < DEVICE_LANES_MAX; i++) {
        int *process = &behind.processes[i];
        if (*process != 0 && !behind_runs(*process))
            *process = 0;
        if (*process != 0)
            running++;
        else if (*free == NULL)
            *free = process;
    }
    return running;
}

/* Whether another one is to work beside so many. */
static bool is_wanted(unsigned running, bool beside)
{
    return running == 0
           || (beside && running < device_build_lanes()
               && device_build_lane_is_free());
}

bool build_process_start(const struct device_params *device,
                         const struct device_machine_params *wanted,
                         bool beside)
{
    struct text path = { 0 };
    bool found = behind_find("vdbq", &path);
    int *free;

    pthread_mutex_lock(&behind.lock);
    unsigned running = count_running(&free);
    if (found && is_wanted(running, beside)) {
        assert(free != NULL);
        if (behind.started < STARTED_MAX)
            *free = start(path.bytes, device, wanted);
        behind.started += running == 0;
        found = *free > 0 || running > 0;
    }
    pthread_mutex_unlock(&behind.lock);
    text_finish(&path);
    return found;
}
