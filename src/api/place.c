/* SPDX-License-Identifier: MIT */
/*
 * Where a query runs: follows from its settings, from how many rows there are,
 * and from what the devices are. Where no device was asked for, nobody waits
 * for a driver or a compiler:
 *
 *  1. Few rows run on the host; so do all where memory is short.
 *  2. Where no kernels were compiled yet, or not those of this program, the
 *     host runs it, and a process of its own compiles them.
 *  3. The host stands in until the CPU device is open. It is opened behind
 *     (opener.h) once queries have read so many rows that the time that it
 *     takes is small beside theirs, and waited for only where one query alone
 *     reads many times more.
 *  4. Then queries run there. The tablets stay where they lie.
 *
 * Keys of indexes are computed on the host in any case.
 */
#include <string.h>

#include "api/alone/index_keys.h"
#include "api/kernels.h"
#include "api/query.h"
#include "api/station.h"
#include "base/slabs.h"
#include "data/index/run_cache.h"
#include "device/build_process.h"
#include "device/kind.h"
#include "device/several.h"
#include "exec/operator/kinds.h"

/* Rows below which a query runs on the host, where no device was asked for
 * and none was tuned: opening a device costs more than the host's whole run. */
#define HOST_ROWS_MAX (1u << 18)

/* Memory below which that is so of all queries: a CPU device with its compiler
 * takes 70 MiB, of which no account knows. */
enum { CPU_DEVICE_MEMORY_MIN = 256 << 20 };

/* Rows that queries read, all together, before the CPU device is opened behind;
 * and those of one query, for each core, that are worth waiting for it. */
#define BEHIND_ROWS_MIN (1u << 24)
#define WORTHY_ROWS_MIN (1u << 25)

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
 * of them. Of several devices the connection's own is the first one. */
static struct settings station_settings(vdbq *db,
                                        const struct settings *settings)
{
    struct settings wanted = *settings;
    wanted.map =
        settings->map && db->database != NULL && database_maps(db->database);
    device_choice_first(settings->device, wanted.device);
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

/* The CPU device; NULL: it is not open. */
static struct station *find_cpu(vdbq *db, const struct settings *settings)
{
    struct settings wanted = station_settings(db, settings);
    strcpy(wanted.device, "cpu");
    return station_find(db, &wanted);
}

/* Whether the CPU device, which nobody asked for, is still to be opened. */
static bool is_unopened(vdbq *db, const struct settings *settings)
{
    return !asks_for_device(settings) && !is_for_host(db, settings, UINT64_MAX)
           && find_cpu(db, settings) == NULL;
}

/* Whether the host stands in for the CPU device until that is open; opens it
 * behind once that pays. */
static bool host_stands_in(vdbq *db, const struct settings *settings,
                           const struct device_machine_params *machine,
                           uint64_t rows)
{
    struct settings wanted = station_settings(db, settings);
    if (db->opening_failed || !is_unopened(db, settings)
        || rows / host_threads(db, settings) >= WORTHY_ROWS_MIN
        || device_none_is_kept())
        return false;
    strcpy(wanted.device, "cpu");
    db->rows_stood_in += rows;
    if (db->rows_stood_in >= BEHIND_ROWS_MIN && db->opener == NULL)
        db->opener = opener_start(&wanted, machine);
    return true;
}

/* Where a program is to run now: as station_choose(), but for the host in place
 * of a device that nobody asked for. */
static enum vdbq_status station_now(vdbq *db, const struct settings *settings,
                                    const struct program *program,
                                    uint64_t rows, struct station **station,
                                    enum stand_in *why)
{
    const struct device_machine_params machine = kernels_of(program);
    *why = STANDS_IN_NOT;
    if (asks_for_device(settings) || is_for_host(db, settings, rows))
        return station_choose(db, settings, rows, station);
    if (host_stands_in(db, settings, &machine, rows)) {
        *why = STANDS_IN_UNTIL_OPEN;
    } else {
        *station = find_ready(db, settings, &machine);
        if (*station != NULL) {
            relieve_host(db);
            return VDBQ_OK;
        }
        if (build_process_start(
                &(struct device_params){ .choice = "cpu",
                                         .cores = settings->cores },
                &machine, false))
            *why = STANDS_IN_UNTIL_BUILT;
    }
    bool stands_in = *why != STANDS_IN_NOT;
    enum vdbq_status status =
        station_choose(db, settings, stands_in ? 0 : rows, station);
    if (status == VDBQ_OK)
        (*station)->stands_in = stands_in;
    return status;
}

/* The part of the memory for tablets that runs may take. */
enum { RUNS_PART = 4 };

/* The room that plans may use of what a device has. */
enum { PROBED_PART = 4 };
/* The part of VDBQ_MEMORY for new values of rows that change. */
enum { CHANGED_PART = 8 };
/* A buffer of this size is what any device gives ... */
#define PROBED_SURE ((uint64_t)128 << 20)
/* ... and of this size what a CPU device gives that is not open yet. */
#define PROBED_UNOPENED ((uint64_t)1 << 30)

/* Of the device where a large query is to run; 0 where there is none, which
 * the query will say. */
uint64_t session_probed_most(vdbq *db)
{
    const struct error before = db->error;
    const struct settings *settings = &db->options.settings;
    struct station *station;
    enum stand_in ignored;
    bool unopened = is_unopened(db, settings);
    enum vdbq_status status =
        unopened
            ? station_choose(db, settings, 0, &station)
            : station_now(db, settings, NULL, UINT64_MAX, &station, &ignored);
    if (status != VDBQ_OK) {
        db->error = before;
        return 0;
    }
    const struct device_facts *facts = device_facts(station->device);
    uint64_t room = device_budget(station);
    if (unopened && room > PROBED_UNOPENED)
        room = PROBED_UNOPENED;
    if (facts->buffer_max_bytes < room)
        room = facts->buffer_max_bytes;
    if (facts->shares_memory && host_budget(station) < room)
        room = host_budget(station);
    return room / PROBED_PART;
}

static uint64_t probed_most(void *context)
{
    vdbq *db = context;
    return db->probed_most > 0 ? db->probed_most : session_probed_most(db);
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
                                 .context = db,
                                 .held_bytes = host / CHANGED_PART,
                                 .changes = &db->changes };
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

/* Runs of tablets are the connection's, whichever device reads these; without
 * memory for them there are none. */
static void place_runs(vdbq *db, const struct station *station,
                       struct run_place *place)
{
    if (db->runs == NULL)
        db->runs = run_cache_create();
    place->runs = db->runs;
    place->runs_bytes = host_budget(station) / RUNS_PART;
}

/* Where rows of a table are read without a program: where its tablets are. */
static enum vdbq_status station_of_rows(vdbq *db,
                                        const struct settings *settings,
                                        uint64_t rows, struct station **station)
{
    if (!asks_for_device(settings) && !is_for_host(db, settings, rows)) {
        *station = find_cpu(db, settings);
        if (*station != NULL && !(*station)->stands_in)
            return VDBQ_OK;
    }
    return station_choose(db, settings, asks_for_device(settings) ? rows : 0,
                          station);
}

enum vdbq_status place_choose(vdbq *db, const struct settings *settings,
                              const struct table *table,
                              const struct program *program, uint64_t rows,
                              struct run_place *place)
{
    struct station *station;
    enum stand_in why = STANDS_IN_NOT;
    enum device_build build = settings->build == BUILD_SPECIALISED
                                  ? BUILD_SPECIALISED
                                  : BUILD_INTERPRETED;
    enum vdbq_status status =
        table != NULL && program == NULL
            ? station_of_rows(db, settings, rows, &station)
            : station_now(db, settings, program, rows, &station, &why);
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
        .stands_in = why,
        .settings = settings,
    };
    place_runs(db, station, place);
    return check_mode(station, place->mode, &db->error);
}

enum vdbq_status vdbq_device_open(vdbq *db)
{
    struct run_place place;
    struct settings wanted;
    struct session_cluster *others = NULL;
    enum vdbq_status status = session_begin(db);
    if (status == VDBQ_OK && db->cluster == NULL)
        status = session_crew(db, &others);
    if (status == VDBQ_OK) {
        wanted = db->options.settings;
        if (wanted.device[0] == '\0')
            strcpy(wanted.device, "cpu"); /* which is waited for, then */
        status = place_choose(db, &wanted, NULL, NULL, UINT64_MAX, &place);
    }
    return session_report(db, status, NULL, 0);
}

/* ------------------------------------------------------ keys of indexes -- */

/* Where keys of indexes are computed: on the host, for rows are few, or it is the
 * commit of many, which its own threads share. */
struct key_place {
    vdbq *db;
    struct settings settings;
};

static enum vdbq_status choose_key_place(void *context,
                                         const struct table *table,
                                         const struct program *program,
                                         uint64_t rows, struct run_place *place,
                                         struct error *error)
{
    struct key_place *of = context;
    enum vdbq_status status =
        place_choose(of->db, &of->settings, table, program, rows, place);

    if (status != VDBQ_OK && error != &of->db->error)
        *error = of->db->error;
    return status;
}

enum vdbq_status session_compute_keys(void *context,
                                      const struct index_request *request,
                                      struct rows *keys, struct error *error)
{
    struct key_place place = { .db = context };
    struct snapshot snapshot = { place.db->database,
                                 (struct catalogue *)request->catalogue };
    struct plan_limits limits = { .careful = true };
    struct stream_stats stats;
    struct stream_params params = { .snapshot = &snapshot,
                                    .choose = choose_key_place,
                                    .choose_context = &place,
                                    .choose_kind = operator_kind,
                                    .nested = true,
                                    .stats = &stats };

    place.settings = place.db->options.settings;
    strcpy(place.settings.device, "host");
    place.settings.build = BUILD_AUTO;
    place.settings.mode = MODE_AUTO;
    place.settings.steps = STEPS_AUTO;
    params.threads = host_threads(place.db, &place.settings);
    stream_stats_init(&stats);
    return index_keys_run(request, &limits, &params, keys, error);
}
