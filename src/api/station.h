/* SPDX-License-Identifier: MIT */
/*
 * Stations: the devices that a connection has opened, each with the tablets
 * that it works on, in host memory and in its own. Stations stay until the
 * connection ends, so that queries may keep one while the options change.
 */
#ifndef VDBQ_API_STATION_H
#define VDBQ_API_STATION_H

#include "api/session.h"

struct station {
    struct settings settings; /* that it was opened for, with the device and
                                 the cores that were chosen; `map`: tablets
                                 are used where they lie                    */
    unsigned sharers; /* stations that share the host's memory, at least 1 */
    struct device *device;
    struct pool *pool;
    struct resident *resident;
    struct dictionary_cache *dictionaries; /* beside the pool */
    bool stands_in; /* the host's, which works in place of another device */
    struct station *next;
};

/* The station for these settings; NULL: there is none. */
struct station *station_find(vdbq *db, const struct settings *settings);
/* ... made if there is none; NULL where that would be of a device that was
 * never tried, and `tried_only`. */
enum vdbq_status station_at(vdbq *db, const struct settings *settings,
                            bool tried_only, struct station **station);
/* The host no longer stands in for a device: tablets are in one place. */
void relieve_host(vdbq *db);

/* Bytes of tablets in host memory. */
uint64_t host_budget(const struct station *station);
/* Bytes of tablets that a device keeps. */
uint64_t device_budget(const struct station *station);

#endif
