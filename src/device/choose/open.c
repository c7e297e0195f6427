/* SPDX-License-Identifier: MIT */
/*
 * Opens the device that a choice names, and lists what there is to choose
 * from: the one place that knows every kind of device.
 */
#include "device/backend.h"
#include "device/opencl/find.h"
#include "device/opencl/opencl.h"

static enum vdbq_status open_host(unsigned cores, struct device **device,
                                  struct error *error);
static enum vdbq_status open_found(const struct device_params *params,
                                   struct device **device, struct error *error);

enum vdbq_status device_open(const struct device_params *params,
                             struct device **device, struct error *error)
{
    struct device_params wanted = *params;

    *device = NULL;
    if (wanted.choice == NULL || wanted.choice[0] == '\0')
        wanted.choice = "cpu";
    if (name_equal(wanted.choice, "host"))
        return open_host(wanted.cores, device, error);
    return open_found(&wanted, device, error);
}

/* The host without OpenCL. */
static enum vdbq_status open_host(unsigned cores, struct device **device,
                                  struct error *error)
{
    if (cores > 1)
        return error_set(error, VDBQ_DEVICE,
                         "device 'host' has one core, "
                         "%u were asked for",
                         cores);
    return host_open(device, error);
}

/* The device of OpenCL that was chosen. */
static enum vdbq_status open_found(const struct device_params *params,
                                   struct device **device, struct error *error)
{
    struct found found;
    const struct found_device *chosen;
    enum vdbq_status status = found_fill(&found, error);

    if (status == VDBQ_OK)
        status = found_choose(&found, params->choice, &chosen, error);
    if (status == VDBQ_OK)
        status = opencl_open(chosen, params->cores, device, error);
    found_finish(&found);
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
