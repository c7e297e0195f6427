/* SPDX-License-Identifier: MIT */
/*
 * Stations: the devices that a connection has opened, each with the tablets it
 * works on. Where a query runs follows from its settings, from how many rows
 * there are, and from what the devices are.
 */
#include <string.h>

#include "api/kernels.h"
#include "api/query.h"
#include "base/slabs.h"
#include "device/build_process.h"
#include "device/kind.h"

/* Rows below which a query runs on the host, where no device was asked for
 * and none was tuned: opening a device costs more than the host's whole run. */
#define HOST_ROWS_MAX (1u << 18)

/* Memory below which that is so of all queries: a CPU device with its compiler
 * takes 70 MiB, of which no account knows. */
enum { CPU_DEVICE_MEMORY_MIN = 256 << 20 };

/* The share of the host's memory that tablets may take, by default: of the
 * machine's, or of what a device that shares it says that it can reach. */
#define HOST_SHARE(bytes) ((bytes) / 2)
/* The share of a device's memory that tablets may keep there, unless its kind
 * says otherwise: it may be the host's memory, too. */
#define SHARED_SHARE(bytes) ((bytes) / 4)

unsigned host_threads(vdbq *db, const struct settings *settings)
{
    unsigned wanted = settings->cores;
    if (db->host_cores == 0)
        db->host_cores = os_cores(); /* which reads files of the system */
    return wanted > 0 && wanted < db->host_cores ? wanted : db->host_cores;
}

/* Bytes of tablets in host memory. */
static uint64_t host_budget(const struct station *station)
{
    const struct device_facts *facts = device_facts(station->device);
    uint64_t reach = os_memory_bytes();
    if (station->settings.memory_bytes > 0)
        return station->settings.memory_bytes;
    if (facts->shares_memory && facts->memory_bytes < reach)
        reach = facts->memory_bytes;
    return HOST_SHARE(reach);
}

/* Bytes of tablets that a device keeps. */
static uint64_t device_budget(const struct station *station)
{
    const struct device_facts *facts = device_facts(station->device);
    if (station->settings.device_memory_bytes > 0)
        return station->settings.device_memory_bytes;
    if (facts->kind->own_fifths > 0 && !facts->shares_memory)
        return facts->memory_bytes / 5 * facts->kind->own_fifths;
    return SHARED_SHARE(facts->memory_bytes);
}

/* What reads tablets in the file must share the host's memory. */
static enum vdbq_status check_shares(const struct device *device,
                                     struct error *error)
{
    if (device_facts(device)->shares_memory)
        return VDBQ_OK;
    error_set(error, VDBQ_DEVICE,
              "device '%s' has memory of its own: it "
              "cannot read tables where they lie in the file",
              device_facts(device)->name);
    return error_hint(error, "choose another device, or set map (VDBQ_MAP) "
                             "to off");
}

/* Leaves a device that was never tried out, and NULL in its place, if that is
 * asked for. */
static enum vdbq_status station_open(vdbq *db, struct station *station,
                                     bool tried_only)
{
    const struct settings *settings = &station->settings;
    struct device_params params = { .choice = settings->device,
                                    .cores = settings->cores,
                                    .tried_only = tried_only };
    enum vdbq_status status =
        device_open(&params, &station->device, &db->error);
    if (status == VDBQ_OK && station->device == NULL)
        return VDBQ_OK;
    if (status == VDBQ_OK && settings->map)
        status = check_shares(station->device, &db->error);
    if (status == VDBQ_OK)
        status = pool_create(db->database, station->device,
                             host_budget(station), &station->pool, &db->error);
    if (status == VDBQ_OK)
        pool_share(station->pool, account_process_bytes());
    if (status == VDBQ_OK && settings->map)
        pool_map(station->pool);
    if (status == VDBQ_OK)
        status = resident_create(station->device, device_budget(station),
                                 &station->resident, &db->error);
    station->dictionaries = dictionary_cache_create();
    if (status == VDBQ_OK && station->dictionaries == NULL)
        status = error_no_memory(&db->error);
    return status;
}

static void station_close(struct station *station)
{
    dictionary_cache_destroy(station->dictionaries);
    resident_destroy(station->resident);
    pool_destroy(station->pool);
    device_close(station->device);
    memory_release(station);
}

/* Whether a station that was opened for `a` is what `b` asks for. */
static bool same_station(const struct settings *a, const struct settings *b)
{
    return strcmp(a->device, b->device) == 0 && a->cores == b->cores
           && a->map == b->map && a->memory_bytes == b->memory_bytes
           && a->device_memory_bytes == b->device_memory_bytes;
}

/* The station for these settings, made if there is none; NULL where that would
 * be of a device that was never tried, and `tried_only`. */
static enum vdbq_status station_at(vdbq *db, const struct settings *settings,
                                   bool tried_only, struct station **station)
{
    *station = db->stations;
    while (*station != NULL && !same_station(&(*station)->settings, settings))
        *station = (*station)->next;
    if (*station != NULL)
        return VDBQ_OK;
    struct station *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(&db->error);
    made->settings = *settings;
    enum vdbq_status status = station_open(db, made, tried_only);
    if (status != VDBQ_OK || made->device == NULL) {
        station_close(made);
        return status;
    }
    made->next = db->stations;
    db->stations = made;
    *station = made;
    return VDBQ_OK;
}

/* The limit that was tuned, looked up once, or the built-in one. */
static uint64_t host_rows_max(vdbq *db)
{
    if (db->host_rows_max == 0)
        db->host_rows_max = device_host_rows_max();
    if (db->host_rows_max == 0)
        db->host_rows_max = HOST_ROWS_MAX;
    return db->host_rows_max;
}

/* The host where nobody asked for it: with all its cores, if it has fewer than
 * were asked for of another device. */
static void take_host(vdbq *db, struct settings *wanted)
{
    strcpy(wanted->device, "host");
    if (wanted->cores > host_threads(db, wanted))
        wanted->cores = 0;
}

/* Tablets of a database in memory lie nowhere else, so that `map` says nothing
 * of them. */
static struct settings station_settings(vdbq *db,
                                        const struct settings *settings)
{
    struct settings wanted = *settings;
    wanted.map =
        settings->map && db->database != NULL && database_maps(db->database);
    return wanted;
}

/* Where no device was asked for it is one that can do what was: the host
 * has no specialised machine and no steps of a device, and needs no memory for a
 * compiler. */
static bool is_for_host(vdbq *db, const struct settings *settings,
                        uint64_t rows)
{
    bool small = settings->memory_bytes > 0
                 && settings->memory_bytes < CPU_DEVICE_MEMORY_MIN
                 && settings->steps != STEPS_DEVICE;
    return (small || rows <= host_rows_max(db))
           && settings->build != BUILD_SPECIALISED;
}

enum vdbq_status station_choose(vdbq *db, const struct settings *settings,
                                uint64_t rows, struct station **station)
{
    struct settings wanted = station_settings(db, settings);
    if (settings->device[0] == '\0' && is_for_host(db, settings, rows))
        take_host(db, &wanted);
    else if (settings->device[0] == '\0')
        strcpy(wanted.device, "cpu");
    return station_at(db, &wanted, false, station);
}

/* The CPU device where a program can run at once; NULL: not yet. That it cannot
 * be opened is told by who builds for it, or by a query that asks for it. */
static struct station *find_ready(vdbq *db, const struct settings *settings,
                                  const struct device_machine_params *machine)
{
    const struct error before = db->error;
    struct settings wanted = station_settings(db, settings);
    struct station *station = NULL;
    strcpy(wanted.device, "cpu");
    if (device_none_is_kept()
        || station_at(db, &wanted, true, &station) != VDBQ_OK) {
        db->error = before;
        return NULL;
    }
    return station != NULL && device_machine_is_kept(station->device, machine)
               ? station
               : NULL;
}

/* Whether somebody asked for what the host cannot do. */
static bool asks_for_device(const struct settings *settings)
{
    return settings->device[0] != '\0' || settings->build == BUILD_SPECIALISED
           || settings->steps == STEPS_DEVICE;
}

/* The host no longer stands in for a device: tablets are in one place. */
static void relieve_host(vdbq *db)
{
    for (struct station *at = db->stations; at != NULL; at = at->next)
        if (at->stands_in) {
            pool_empty(at->pool);
            at->stands_in = false;
        }
}

/* Where a program is to run now: as station_choose(), but for the host in place
 * of a device that nobody asked for, whose kernels are then built behind. */
static enum vdbq_status station_now(vdbq *db, const struct settings *settings,
                                    const struct program *program,
                                    uint64_t rows, struct station **station,
                                    bool *behind)
{
    const struct device_machine_params machine = kernels_of(program);
    *behind = false;
    if (asks_for_device(settings) || is_for_host(db, settings, rows))
        return station_choose(db, settings, rows, station);
    *station = find_ready(db, settings, &machine);
    if (*station != NULL) {
        relieve_host(db);
        return VDBQ_OK;
    }
    *behind = build_process_start(
        &(struct device_params){ .choice = "cpu", .cores = settings->cores },
        &machine);
    enum vdbq_status status =
        station_choose(db, settings, *behind ? 0 : rows, station);
    if (status == VDBQ_OK)
        (*station)->stands_in = *behind;
    return status;
}

void stations_close(vdbq *db)
{
    while (db->stations != NULL) {
        struct station *next = db->stations->next;
        station_close(db->stations);
        db->stations = next;
    }
}

/* The room that plans may use of what a device has. */
enum { PROBED_PART = 4 };
/* A buffer of this size is what any device gives. */
#define PROBED_SURE ((uint64_t)128 << 20)

/* Of the device where a large query is to run; 0 where there is none, which
 * the query will say. */
static uint64_t probed_most(void *context)
{
    vdbq *db = context;
    const struct error before = db->error;
    struct station *station;
    bool ignored;
    if (station_now(db, &db->options.settings, NULL, UINT64_MAX, &station,
                    &ignored)
        != VDBQ_OK) {
        db->error = before;
        return 0;
    }
    const struct device_facts *facts = device_facts(station->device);
    uint64_t room = device_budget(station);
    if (facts->buffer_max_bytes < room)
        room = facts->buffer_max_bytes;
    if (facts->shares_memory && host_budget(station) < room)
        room = host_budget(station);
    return room / PROBED_PART;
}

struct plan_limits plan_limits_now(vdbq *db)
{
    uint64_t room = db->options.settings.device_memory_bytes;
    uint64_t host = db->options.settings.memory_bytes;
    if (room == 0 || room > PROBED_SURE)
        room = PROBED_SURE;
    if (host > 0 && host < room)
        room = host; /* the device's memory may be the host's */
    return (struct plan_limits){ .probed_bytes = room / PROBED_PART,
                                 .probed_most = probed_most,
                                 .context = db };
}

/* Of what tablets may take, which have the rest; and of what was asked for, for
 * slabs that no query has. */
enum { HELD_PART = 2, KEPT_PART = 16 };

uint64_t steps_memory(const struct settings *settings)
{
    uint64_t bytes = settings->memory_bytes;
    if (bytes == 0)
        bytes = HOST_SHARE(os_memory_bytes());
    else
        slabs_keep(bytes / KEPT_PART);
    return bytes / HELD_PART;
}

/* The mode of `auto`. Where memory is shared nothing need move; elsewhere what
 * fits stays on the device, and what does not streams through it. */
static enum run_mode best_mode(const struct station *station,
                               const struct table *table)
{
    uint64_t bytes = 0;
    if (device_facts(station->device)->shares_memory)
        return MODE_MAPPED;
    for (size_t i = 0; table != NULL && i < table->tablet_count; i++)
        bytes += table->tablets[i].size_bytes;
    return bytes <= resident_budget(station->resident) ? MODE_CACHED
                                                       : MODE_STREAMED;
}

/* The mode that was asked for, or the best. */
static enum run_mode choose_mode(const struct settings *settings,
                                 const struct station *station,
                                 const struct table *table)
{
    enum run_mode mode = settings->mode == MODE_AUTO ? best_mode(station, table)
                                                     : settings->mode;
    return table == NULL && mode == MODE_CACHED ? MODE_STREAMED : mode;
}

/* Tablets in the file are read by no mode but `mapped`. */
static enum vdbq_status check_mode(const struct station *station,
                                   enum run_mode mode, struct error *error)
{
    if (!station->settings.map || mode == MODE_MAPPED)
        return VDBQ_OK;
    error_set(error, VDBQ_DEVICE,
              "mode %s cannot read tables where they lie "
              "in the file",
              run_mode_name(mode));
    return error_hint(error, "set mode (VDBQ_MODE) to mapped or auto, or map "
                             "(VDBQ_MAP) to off");
}

/* Whether a device groups the rows that it scans. A CPU device only where
 * that is asked for: the host's own threads are as fast. */
static bool takes_rows(const struct settings *settings,
                       const struct device *device)
{
    return settings->steps == STEPS_AUTO
               ? device_facts(device)->kind->groups_rows
               : settings->steps == STEPS_DEVICE;
}

enum vdbq_status place_choose(vdbq *db, const struct settings *settings,
                              const struct table *table,
                              const struct program *program, uint64_t rows,
                              struct run_place *place)
{
    struct station *station;
    bool behind;
    enum device_build build = settings->build == BUILD_SPECIALISED
                                  ? BUILD_SPECIALISED
                                  : BUILD_INTERPRETED;
    enum vdbq_status status =
        station_now(db, settings, program, rows, &station, &behind);
    if (status == VDBQ_OK)
        status = device_check_build(station->device, build, &db->error);
    if (status != VDBQ_OK)
        return status;
    *place = (struct run_place){
        .device = station->device,
        .pool = station->pool,
        .resident = station->resident,
        .dictionaries = station->dictionaries,
        .mode = choose_mode(settings, station, table),
        .takes = takes_rows(settings, station->device),
        .builds_behind = behind,
        .settings = settings,
    };
    return check_mode(station, place->mode, &db->error);
}

enum vdbq_status vdbq_device_open(vdbq *db)
{
    struct run_place place;
    struct settings wanted;
    enum vdbq_status status = session_begin(db);
    if (status == VDBQ_OK) {
        wanted = db->options.settings;
        if (wanted.device[0] == '\0')
            strcpy(wanted.device, "cpu"); /* which is waited for, then */
        status = place_choose(db, &wanted, NULL, NULL, UINT64_MAX, &place);
    }
    return session_report(db, status, NULL, 0);
}
