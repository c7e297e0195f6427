/* SPDX-License-Identifier: MIT */
/*
 * Stations: how they are opened and closed, and what of the memory they may
 * take. What the host brought in while it stood in for a device is the
 * device's once that is open.
 */
#include "api/station.h"

#include <string.h>

#include "api/query.h"
#include "base/paged.h"
#include "base/slabs.h"
#include "device/kind.h"

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

uint64_t host_budget(const struct station *station)
{
    const struct device_facts *facts = device_facts(station->device);
    uint64_t reach = os_memory_bytes();
    if (station->settings.memory_bytes > 0)
        return station->settings.memory_bytes / station->sharers;
    if (facts->shares_memory && facts->memory_bytes < reach)
        reach = facts->memory_bytes;
    return HOST_SHARE(reach) / station->sharers;
}

uint64_t device_budget(const struct station *station)
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

static enum vdbq_status make_pool(vdbq *db, struct station *station)
{
    enum vdbq_status status =
        pool_create(db->database, station->device, host_budget(station),
                    &station->pool, &db->error);
    if (status != VDBQ_OK)
        return status;
    pool_share(station->pool, account_process_bytes());
    if (station->settings.map)
        pool_map(station->pool);
    return VDBQ_OK;
}

static enum vdbq_status make_dictionaries(vdbq *db, struct station *station)
{
    station->dictionaries = dictionary_cache_create();
    return station->dictionaries != NULL ? VDBQ_OK
                                         : error_no_memory(&db->error);
}

/* Gives an open device what it works on, as far as that is not there. */
static enum vdbq_status station_equip(vdbq *db, struct station *station)
{
    enum vdbq_status status = VDBQ_OK;
    if (station->settings.map)
        status = check_shares(station->device, &db->error);
    if (status == VDBQ_OK && station->pool == NULL)
        status = make_pool(db, station);
    if (status == VDBQ_OK && station->dictionaries == NULL)
        status = make_dictionaries(db, station);
    if (status == VDBQ_OK)
        status = resident_create(station->device, device_budget(station),
                                 &station->resident, &db->error);
    return status;
}

/* Leaves a device that was never tried out, and NULL in its place, if that is
 * asked for. */
static enum vdbq_status station_open(vdbq *db, struct station *station,
                                     bool tried_only)
{
    struct device_params params = { .choice = station->settings.device,
                                    .cores = station->settings.cores,
                                    .tried_only = tried_only };
    enum vdbq_status status =
        device_open(&params, &station->device, &db->error);
    if (status == VDBQ_OK && station->device == NULL)
        return VDBQ_OK;
    return status == VDBQ_OK ? station_equip(db, station) : status;
}

static void station_close(struct station *station)
{
    dictionary_cache_destroy(station->dictionaries);
    resident_destroy(station->resident);
    pool_destroy(station->pool);
    device_close(station->device);
    memory_release(station);
}

/* Whether both ask for the same memory, whatever device works in it. */
static bool same_memory(const struct settings *a, const struct settings *b)
{
    return a->map == b->map && a->memory_bytes == b->memory_bytes
           && a->device_memory_bytes == b->device_memory_bytes;
}

/* Whether a station that was opened for `a` is what `b` asks for. */
static bool same_station(const struct settings *a, const struct settings *b)
{
    return strcmp(a->device, b->device) == 0 && a->cores == b->cores
           && same_memory(a, b);
}

struct station *station_find(vdbq *db, const struct settings *settings)
{
    struct station *station = db->stations;
    while (station != NULL && !same_station(&station->settings, settings))
        station = station->next;
    return station;
}

/* One without a device yet; NULL: no memory. */
static struct station *station_make(const vdbq *db,
                                    const struct settings *settings)
{
    struct station *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->settings = *settings;
    made->sharers = db->sharers > 0 ? db->sharers : 1;
    return made;
}

enum vdbq_status station_at(vdbq *db, const struct settings *settings,
                            bool tried_only, struct station **station)
{
    *station = station_find(db, settings);
    if (*station != NULL)
        return VDBQ_OK;
    struct station *made = station_make(db, settings);
    if (made == NULL)
        return error_no_memory(&db->error);
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

void relieve_host(vdbq *db)
{
    for (struct station *at = db->stations; at != NULL; at = at->next)
        if (at->stands_in) {
            pool_empty(at->pool);
            at->stands_in = false;
        }
}

/* -------------------------------------------------------------- settle -- */

/* The host's station that stands in for one with these settings; or NULL. */
static struct station *find_stand_in(vdbq *db, const struct settings *settings)
{
    struct station *station = db->stations;
    while (
        station != NULL
        && !(station->stands_in && same_memory(&station->settings, settings)))
        station = station->next;
    return station;
}

/* A device gets the tablets and words that the host brought in for it, which
 * begins anew. */
static void take_over(vdbq *db, struct station *to)
{
    struct station *host = find_stand_in(db, &to->settings);
    struct station fresh = { 0 };
    if (host == NULL)
        return;
    fresh = *host;
    if (make_pool(db, &fresh) == VDBQ_OK) {
        if (make_dictionaries(db, &fresh) == VDBQ_OK
            && pool_move(host->pool, to->device, host_budget(to))) {
            to->pool = host->pool;
            to->dictionaries = host->dictionaries;
            host->pool = fresh.pool;
            host->dictionaries = fresh.dictionaries;
            return;
        }
        dictionary_cache_destroy(fresh.dictionaries);
        pool_destroy(fresh.pool);
    }
}

/* Makes a station of a device that was opened behind. */
static enum vdbq_status station_adopt(vdbq *db, const struct settings *settings,
                                      struct device *device)
{
    struct station *made = station_make(db, settings);
    if (made == NULL) {
        device_close(device);
        return error_no_memory(&db->error);
    }
    made->device = device;
    take_over(db, made);
    enum vdbq_status status = station_equip(db, made);
    if (status != VDBQ_OK) {
        station_close(made);
        return status;
    }
    relieve_host(db);
    made->next = db->stations;
    db->stations = made;
    return VDBQ_OK;
}

/* Takes the device that was opened behind, if there is one by now. One that
 * cannot be used is left to who waits for it. */
static void settle(vdbq *db)
{
    if (db->opener == NULL || !opener_ended(db->opener))
        return;
    const struct error before = db->error;
    const struct settings settings = *opener_settings(db->opener);
    struct device *device = opener_finish(db->opener);
    db->opener = NULL;
    if (station_find(db, &settings) != NULL)
        device_close(device); /* somebody has waited for it meanwhile */
    else if (device == NULL || station_adopt(db, &settings, device) != VDBQ_OK)
        db->opening_failed = true;
    db->error = before;
}

void stations_settle(vdbq *db)
{
    if (db->opener == NULL && (db->files == NULL || db->files->opener == NULL))
        return;
    for (const vdbq_query *at = db->queries; at != NULL; at = at->next)
        if (at->stream != NULL)
            return; /* it works with what would change hands */
    settle(db);
    if (db->files != NULL)
        settle(db->files);
}

/* Of what tablets may take, which have the rest, and for large arrays of words;
 * and, where it was asked for, for those, and for slabs that no query has. */
enum { HELD_PART = 2, WORDS_PART = 2, ASKED_WORDS_PART = 8, KEPT_PART = 16 };

static uint64_t host_memory(const struct settings *settings)
{
    return settings->memory_bytes > 0 ? settings->memory_bytes
                                      : HOST_SHARE(os_memory_bytes());
}

void process_memory(const struct settings *settings)
{
    uint64_t bytes = host_memory(settings);
    if (settings->memory_bytes > 0)
        slabs_keep(bytes / KEPT_PART);
    paged_limit(bytes
                / (settings->memory_bytes > 0 ? ASKED_WORDS_PART : WORDS_PART));
}

uint64_t steps_memory(const struct settings *settings)
{
    process_memory(settings);
    return host_memory(settings) / HELD_PART;
}

void stations_close(vdbq *db)
{
    if (db->opener != NULL)
        device_close(opener_finish(db->opener));
    db->opener = NULL;
    while (db->stations != NULL) {
        struct station *next = db->stations->next;
        station_close(db->stations);
        db->stations = next;
    }
}
