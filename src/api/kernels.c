/* SPDX-License-Identifier: MIT */
/*
 * Compiles kernels, beforehand or as the build process (device/build_process.h): one
 * process at a time, the others wait for it and then find its kernels, but for some
 * that build meanwhile what is ordered.
 */
#include "api/kernels.h"
#include "api/station.h"

#include "cl/opcodes.h"
#include "device/order.h"

struct device_machine_params kernels_of(const struct program *program)
{
    struct device_machine_params params = { .build = BUILD_INTERPRETED };

    if (program != NULL) {
        params.registers = program->registers;
        params.axes = program_axes(program);
    }
    return params;
}

/* Builds what is not there, and what was ordered, and keeps it; on a lane that is not
 * the first, first what was ordered, beside the process that builds all. */
static enum vdbq_status build(vdbq *db,
                              const struct device_machine_params *wanted)
{
    struct station *station = NULL;
    unsigned lane;
    int lock = device_builds_lock(true, &lane);
    enum vdbq_status status =
        station_choose(db, &db->options.settings, UINT64_MAX, &station);

    if (status == VDBQ_OK && lane > 0) {
        order_build_beside(station->device);
        device_builds_unlock(lock);
        lock = device_builds_lock(false, &lane);
    }
    if (status == VDBQ_OK)
        status = order_build_all(station->device, wanted, &db->error);
    device_builds_unlock(lock);
    return status;
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
    if (status == VDBQ_OK)
        status = build(db, &wanted);
    return session_report(db, status, NULL, 0);
}
