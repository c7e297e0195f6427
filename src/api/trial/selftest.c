/* SPDX-License-Identifier: MIT */
/*
 * vdbq_selftest(): the chosen device against the host.
 */
#include "api/session.h"
#include "api/station.h"
#include "trial/selftest.h"

enum vdbq_status vdbq_selftest(vdbq *db, vdbq_report report, void *context)
{
    if (db == NULL || report == NULL)
        return session_misuse(db, "the function that is told the lines");
    struct device *host = NULL;
    struct station *station;
    enum vdbq_status status = session_begin(db);
    if (status == VDBQ_OK)
        status =
            station_choose(db, &db->options.settings, UINT64_MAX, &station);
    if (status == VDBQ_OK)
        status = device_open(&(struct device_params){ .choice = "host" }, &host,
                             &db->error);
    if (status == VDBQ_OK)
        status = selftest(station->device, host, report, context, &db->error);
    device_close(host);
    return session_report(db, status, NULL, 0);
}
