/* SPDX-License-Identifier: MIT */
/*
 * Opens the device that a choice names, and lists what there is to choose
 * from. What names no kind may name a device of OpenCL.
 */
#include <string.h>

#include "device/backend.h"
#include "device/host/host.h"
#include "device/opencl/find.h"
#include "device/opencl/opencl.h"

static enum vdbq_status found_open(const struct device_params *params,
                                   struct device **device, struct error *error)
{
    struct found found;
    const struct found_device *chosen;
    enum vdbq_status status = found_fill(&found, error);

    if (status == VDBQ_OK)
        status = found_choose(&found, params->choice, &chosen, error);
    if (status == VDBQ_OK)
        status = opencl_open(chosen, params, device, error);
    found_finish(&found);
    return status;
}

/* Keeps what a process of its own needs to open the same device. */
static void note_choice(struct device *device,
                        const struct device_params *params)
{
    if (strlen(params->choice) < sizeof device->choice)
        strcpy(device->choice, params->choice);
    device->cores = params->cores;
}

enum vdbq_status device_open(const struct device_params *params,
                             struct device **device, struct error *error)
{
    struct device_params wanted = *params;
    const struct device_kind *kind;

    *device = NULL;
    if (wanted.choice == NULL || wanted.choice[0] == '\0')
        wanted.choice = kind_default()->name;
    kind = kind_of_choice(wanted.choice);
    enum vdbq_status status = kind != NULL && kind->opencl_type == 0
                                  ? host_open(&wanted, device, error)
                                  : found_open(&wanted, device, error);
    if (status == VDBQ_OK && *device != NULL)
        note_choice(*device, &wanted);
    return status;
}

unsigned device_list(struct text *text)
{
    struct found found;
    struct error error;
    unsigned count;

    if (found_fill(&found, &error) != VDBQ_OK)
        text_print(text, "%s\n%s%s", error.message, error.hint,
                   error.hint[0] != '\0' ? "\n" : "");
    else if (found.devices.count > 0)
        found_list(&found, text);
    else
        found_diagnosis(&found, text);
    count = (unsigned)found.devices.count;
    found_finish(&found);
    return count;
}
