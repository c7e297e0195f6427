/* SPDX-License-Identifier: MIT */
/*
 * vdbq_tune() and vdbq_measure_limits(): measure the chosen device.
 */
#include "trial/tune.h"
#include "api/session.h"
#include "api/station.h"

enum vdbq_status vdbq_tune(vdbq *db, vdbq_report report, void *context)
{
    if (db == NULL || report == NULL)
        return session_misuse(db, "the function that is told the lines");
    struct tune_params params = { .report = report, .context = context };
    struct station *station = NULL;
    uint64_t start = os_time_ns();
    struct stop_work former = stop_enter(&db->stop);
    enum vdbq_status status = session_begin(db);
    session_hear_cancel(db);
    if (status == VDBQ_OK)
        status =
            station_choose(db, &db->options.settings, UINT64_MAX, &station);
    params.open_ns = os_time_ns() - start;
    if (status == VDBQ_OK)
        status = device_open(&(struct device_params){ .choice = "host" },
                             &params.host, &db->error);
    if (status == VDBQ_OK)
        status = device_open(
            &(struct device_params){ .choice = station->settings.device,
                                     .cores = station->settings.cores },
            &params.again, &db->error);
    if (status == VDBQ_OK) {
        params.device = station->device;
        status = tune(&params, &db->error);
    }
    device_close(params.again);
    device_close(params.host);
    db->host_rows_max = 0;
    stop_leave(former);
    return session_report(db, status, NULL, 0);
}

enum vdbq_status vdbq_measure_limits(vdbq *db, struct vdbq_limits *limits)
{
    if (limits == NULL)
        return session_misuse(db, "the place for the limits");
    struct station *station = NULL;
    enum vdbq_status status = session_begin(db);
    *limits = (struct vdbq_limits){ 0 };
    if (status == VDBQ_OK)
        status =
            station_choose(db, &db->options.settings, UINT64_MAX, &station);
    if (status == VDBQ_OK)
        status = device_limits_measure(station->device, &db->error);
    if (status == VDBQ_OK)
        *limits = device_tuning(station->device)->limits;
    return session_report(db, status, NULL, 0);
}
