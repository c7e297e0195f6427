/* SPDX-License-Identifier: MIT */
/*
 * A process of its own may be left alone: ours ends as it likes, a compiler that
 * crashes takes nobody with it, and what it makes is for all processes. One
 * works at a time, the others wait for it and then find its kernels.
 */
#include "device/build_process.h"

#include <pthread.h>
#include <stdio.h>

#include "base/os/behind.h"
#include "device/device.h"

/* Programs that one process starts at most, so that a compiler that crashes is
 * not tried for ever. */
enum { STARTED_MAX = 64 };

static struct {
    pthread_mutex_t lock;
    int process; /* that was started last; 0: it has ended */
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

bool build_process_start(const struct device_params *device,
                         const struct device_machine_params *wanted)
{
    struct text path = { 0 };
    bool found = behind_find("vdbq", &path);

    pthread_mutex_lock(&behind.lock);
    if (!behind_runs(behind.process))
        behind.process = 0;
    if (found && behind.process == 0) {
        if (behind.started < STARTED_MAX)
            behind.process = start(path.bytes, device, wanted);
        behind.started++;
        found = behind.process > 0;
    }
    pthread_mutex_unlock(&behind.lock);
    text_finish(&path);
    return found;
}
