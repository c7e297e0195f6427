/* SPDX-License-Identifier: MIT */
/*
 * Options: one table of names, variables and checks. They are kept as text,
 * and read when they are needed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/query.h"

/* Rows below which a query runs on the host, where no device was asked for
 * and none was tuned: opening a device costs more than the host's whole run. */
#define HOST_ROWS_MAX (1u << 18)

/* The share of the host's memory that tablets may take, by default: of the
 * machine's, or of what a device that shares it says that it can reach. */
#define HOST_SHARE(bytes) ((bytes) / 2)
/* The share of a device's memory that tablets may keep there: most of a
 * GPU's own, a quarter of what is the host's memory, too. */
#define GPU_SHARE(bytes)    ((bytes) / 5 * 4)
#define SHARED_SHARE(bytes) ((bytes) / 4)

static bool is_any(const char *value)
{
    (void)value;
    return true;
}

static bool is_mode(const char *value)
{
    for (int i = 0; i < RUN_MODES; i++)
        if (name_equal(value, launcher_mode_name((enum run_mode)i)))
            return true;
    return name_equal(value, "auto");
}

static bool is_build(const char *value)
{
    return name_equal(value, "auto") || name_equal(value, "interpreted")
           || name_equal(value, "specialised");
}

static bool is_encoding(const char *value)
{
    return name_equal(value, "auto") || name_equal(value, "plain")
           || name_equal(value, "packed");
}

static bool is_switch(const char *value)
{
    return name_equal(value, "on") || name_equal(value, "off");
}

static bool is_steps(const char *value)
{
    return name_equal(value, "auto") || name_equal(value, "device")
           || name_equal(value, "host");
}

static bool is_size(const char *value)
{
    uint64_t size;
    return text_to_size(value, &size);
}

static bool is_count(const char *value)
{
    int64_t count;
    return text_to_int64(value, strlen(value), &count) && count >= 0
           && count <= UINT16_MAX;
}

static bool is_rows(const char *value)
{
    int64_t rows;
    return text_to_int64(value, strlen(value), &rows) && rows >= 0
           && rows <= TABLET_ROWS_MAX;
}

static bool is_time(const char *value)
{
    int64_t time_ms;
    return text_to_int64(value, strlen(value), &time_ms) && time_ms >= 0
           && time_ms <= INT32_MAX;
}

static const struct {
    const char *name;
    const char *variable;
    const char *values; /* for the message */
    bool (*check)(const char *value);
} table[OPTIONS] = {
    [OPTION_DEVICE] = { "device", "VDBQ_DEVICE",
                        "cpu, gpu, auto, host, P:D or part of a name", is_any },
    [OPTION_MODE] = { "mode", "VDBQ_MODE",
                      "auto, serial, streamed, mapped, cached", is_mode },
    [OPTION_BUILD] = { "build", "VDBQ_BUILD", "auto, interpreted, specialised",
                       is_build },
    [OPTION_MEMORY] = { "memory", "VDBQ_MEMORY",
                        "a size in bytes, for instance 512M or 4G; 0 for half "
                        "of what there is",
                        is_size },
    [OPTION_DEVICE_MEMORY] = { "device_memory", "VDBQ_DEVICE_MEMORY",
                               "a size in bytes, for instance 512M or 4G; 0 "
                               "for the device's default",
                               is_size },
    [OPTION_CORES] = { "cores", "VDBQ_CORES",
                       "a number of compute units, 0 for all", is_count },
    [OPTION_ENCODING] = { "encoding", "VDBQ_ENCODING", "auto, plain, packed",
                          is_encoding },
    [OPTION_PRUNE] = { "skip", "VDBQ_SKIP", "on, off", is_switch },
    [OPTION_STEPS] = { "steps", "VDBQ_STEPS", "auto, device, host", is_steps },
    [OPTION_TABLET_ROWS] = { "tablet_rows", "VDBQ_TABLET_ROWS",
                             "rows of a full tablet, 0 for the most there "
                             "can be",
                             is_rows },
    [OPTION_MAP] = { "map", "VDBQ_MAP", "on, off", is_switch },
    [OPTION_PROFILING] = { "profiling", "VDBQ_PROFILING", "on, off",
                           is_switch },
    [OPTION_TIMEOUT] = { "timeout", "VDBQ_TIMEOUT",
                         "milliseconds to wait for other connections; 0 for "
                         "none",
                         is_time },
};

static enum vdbq_status set(vdbq *db, enum option option, const char *value)
{
    if (strlen(value) >= OPTION_BYTES_MAX || !table[option].check(value)) {
        error_set(&db->error, VDBQ_RANGE, "\"%.64s\" is no value of %s", value,
                  table[option].name);
        return error_hint(&db->error, "values of %s (%s): %s",
                          table[option].name, table[option].variable,
                          table[option].values);
    }
    strcpy(db->options[option], value);
    return VDBQ_OK;
}

/* An option that is not set has the empty text, or this. */
static void set_defaults(vdbq *db)
{
    strcpy(db->options[OPTION_MODE], "auto");
    strcpy(db->options[OPTION_BUILD], "auto");
    strcpy(db->options[OPTION_CORES], "0");
    strcpy(db->options[OPTION_DEVICE_MEMORY], "0");
    strcpy(db->options[OPTION_ENCODING], "auto");
    strcpy(db->options[OPTION_PRUNE], "on");
    strcpy(db->options[OPTION_STEPS], "auto");
    strcpy(db->options[OPTION_TABLET_ROWS], "0");
    strcpy(db->options[OPTION_MEMORY], "0");
    strcpy(db->options[OPTION_MAP], "off");
    strcpy(db->options[OPTION_PROFILING], "off");
    strcpy(db->options[OPTION_TIMEOUT], "5000");
}

enum vdbq_status options_init(vdbq *db)
{
    enum vdbq_status status = VDBQ_OK;
    set_defaults(db);
    for (int i = 0; i < OPTIONS && status == VDBQ_OK; i++) {
        const char *value = getenv(table[i].variable);
        if (value != NULL && value[0] != '\0')
            status = set(db, (enum option)i, value);
    }
    return status;
}

void options_apply(vdbq *db)
{
    const char *encoding = db->options[OPTION_ENCODING];
    if (db->database == NULL)
        return;
    database_encode(db->database, name_equal(encoding, "plain") ? CHOOSE_PLAIN
                                  : name_equal(encoding, "packed")
                                      ? CHOOSE_PACKED
                                      : CHOOSE_AUTO);
    database_fill(db->database,
                  (uint32_t)strtoul(db->options[OPTION_TABLET_ROWS], NULL, 10));
    database_patience(db->database, options_timeout(db));
}

uint64_t options_timeout(const vdbq *db)
{
    return strtoull(db->options[OPTION_TIMEOUT], NULL, 10);
}

static int option_number(const char *name)
{
    for (int i = 0; i < OPTIONS; i++)
        if (name_equal(name, table[i].name))
            return i;
    return -1;
}

enum vdbq_status vdbq_set(vdbq *db, const char *option, const char *value)
{
    if (option == NULL || value == NULL)
        return session_misuse(db, option ? "the value" : "the option's name");
    if (db == NULL)
        return VDBQ_MISUSE;
    error_clear(&db->error);
    int number = option_number(option);
    enum vdbq_status status;
    if (number < 0)
        status =
            error_set(&db->error, VDBQ_UNKNOWN, "no option \"%s\"", option);
    else
        status = set(db, (enum option)number, value);
    options_apply(db);
    for (vdbq_query *query = db->queries; query != NULL; query = query->next)
        query->replan = true; /* plans keep to limits that options set */
    return session_report(db, status, NULL, 0);
}

const char *vdbq_get(vdbq *db, const char *option)
{
    int number = db && option ? option_number(option) : -1;
    return number < 0 ? NULL : db->options[number];
}

/* ------------------------------------------------------------ stations -- */

static unsigned cores_wanted(const vdbq *db)
{
    return (unsigned)strtoul(db->options[OPTION_CORES], NULL, 10);
}

unsigned host_threads(vdbq *db)
{
    unsigned wanted = cores_wanted(db);
    if (db->host_cores == 0)
        db->host_cores = os_cores(); /* which reads files of the system */
    return wanted > 0 && wanted < db->host_cores ? wanted : db->host_cores;
}

static uint64_t memory_wanted(const vdbq *db, enum option option)
{
    uint64_t size = 0;
    text_to_size(db->options[option], &size);
    return size;
}

/* Whether tablets are to be used where they lie; those of a database in memory
 * lie nowhere else. */
static bool maps_wanted(const vdbq *db)
{
    return name_equal(db->options[OPTION_MAP], "on") && db->database != NULL
           && database_maps(db->database);
}

/* Bytes of tablets in host memory. */
static uint64_t host_budget(const struct station *station)
{
    const struct device_facts *facts = device_facts(station->device);
    uint64_t reach = os_memory_bytes();
    if (station->memory_bytes > 0)
        return station->memory_bytes;
    if (facts->shares_memory && facts->memory_bytes < reach)
        reach = facts->memory_bytes;
    return HOST_SHARE(reach);
}

/* Bytes of tablets that a device keeps. */
static uint64_t device_budget(const struct station *station)
{
    const struct device_facts *facts = device_facts(station->device);
    if (station->device_bytes > 0)
        return station->device_bytes;
    return facts->is_gpu && !facts->shares_memory
               ? GPU_SHARE(facts->memory_bytes)
               : SHARED_SHARE(facts->memory_bytes);
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

static enum vdbq_status station_open(vdbq *db, struct station *station)
{
    struct device_params params = { .choice = station->choice,
                                    .cores = station->cores };
    enum vdbq_status status =
        device_open(&params, &station->device, &db->error);
    if (status == VDBQ_OK && station->maps)
        status = check_shares(station->device, &db->error);
    if (status == VDBQ_OK)
        status = pool_create(db->database, station->device,
                             host_budget(station), &station->pool, &db->error);
    if (status == VDBQ_OK)
        pool_share(station->pool, &db->memory.used_bytes);
    if (status == VDBQ_OK && station->maps)
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

static struct station *station_find(const vdbq *db, const char *choice,
                                    unsigned cores)
{
    struct station *station = db->stations;
    while (station != NULL
           && (strcmp(station->choice, choice) != 0 || station->cores != cores
               || station->maps != maps_wanted(db)
               || station->memory_bytes != memory_wanted(db, OPTION_MEMORY)
               || station->device_bytes
                      != memory_wanted(db, OPTION_DEVICE_MEMORY)))
        station = station->next;
    return station;
}

/* The station of so many cores of that device, made if there is none. */
static enum vdbq_status station_at(vdbq *db, const char *choice, unsigned cores,
                                   struct station **station)
{
    *station = station_find(db, choice, cores);
    if (*station != NULL)
        return VDBQ_OK;
    struct station *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(&db->error);
    strcpy(made->choice, choice);
    made->cores = cores;
    made->maps = maps_wanted(db);
    made->memory_bytes = memory_wanted(db, OPTION_MEMORY);
    made->device_bytes = memory_wanted(db, OPTION_DEVICE_MEMORY);
    enum vdbq_status status = station_open(db, made);
    if (status != VDBQ_OK) {
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

static bool is_special(const vdbq *db)
{
    return name_equal(db->options[OPTION_BUILD], "specialised");
}

/* Where no device was asked for it is one that can do what was: the host is
 * one core, and has no specialised machine. */
enum vdbq_status station_choose(vdbq *db, uint64_t rows,
                                struct station **station)
{
    const char *asked = db->options[OPTION_DEVICE];
    if (asked[0] != '\0')
        return station_at(db, asked, cores_wanted(db), station);
    if (rows <= host_rows_max(db) && !is_special(db))
        return station_at(db, "host", 0, station);
    return station_at(db, "cpu", cores_wanted(db), station);
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
    if (station_choose(db, UINT64_MAX, &station) != VDBQ_OK) {
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

struct plan_limits options_limits(vdbq *db)
{
    uint64_t room = memory_wanted(db, OPTION_DEVICE_MEMORY);
    uint64_t host = memory_wanted(db, OPTION_MEMORY);
    if (room == 0 || room > PROBED_SURE)
        room = PROBED_SURE;
    if (host > 0 && host < room)
        room = host; /* the device's memory may be the host's */
    return (struct plan_limits){ .probed_bytes = room / PROBED_PART,
                                 .probed_most = probed_most,
                                 .context = db };
}

/* Of what tablets may take, which have the rest. */
enum { HELD_PART = 2 };

struct stream_memory *options_memory(vdbq *db)
{
    uint64_t bytes = memory_wanted(db, OPTION_MEMORY);
    if (bytes == 0)
        bytes = HOST_SHARE(os_memory_bytes());
    db->memory.limit_bytes = bytes / HELD_PART;
    return &db->memory;
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
static enum run_mode choose_mode(const vdbq *db, const struct station *station,
                                 const struct table *table)
{
    enum run_mode mode = best_mode(station, table);
    for (int i = 0; i < RUN_MODES; i++)
        if (name_equal(db->options[OPTION_MODE],
                       launcher_mode_name((enum run_mode)i)))
            mode = (enum run_mode)i;
    return table == NULL && mode == MODE_CACHED ? MODE_STREAMED : mode;
}

/* Tablets in the file are read by no mode but `mapped`. */
static enum vdbq_status check_mode(const struct station *station,
                                   enum run_mode mode, struct error *error)
{
    if (!station->maps || mode == MODE_MAPPED)
        return VDBQ_OK;
    error_set(error, VDBQ_DEVICE,
              "mode %s cannot read tables where they lie "
              "in the file",
              launcher_mode_name(mode));
    return error_hint(error, "set mode (VDBQ_MODE) to mapped or auto, or map "
                             "(VDBQ_MAP) to off");
}

/* Whether a device groups the rows that it scans. A CPU device only where
 * that is asked for: the host's own threads are as fast. */
static bool takes_rows(const vdbq *db, const struct device *device)
{
    const char *steps = db->options[OPTION_STEPS];
    return name_equal(steps, "device")
           || (name_equal(steps, "auto") && device_facts(device)->is_gpu);
}

enum vdbq_status place_choose(vdbq *db, const struct table *table,
                              uint64_t rows, struct stream_place *place)
{
    struct station *station;
    enum device_build build =
        is_special(db) ? BUILD_SPECIALISED : BUILD_INTERPRETED;
    enum vdbq_status status = station_choose(db, rows, &station);
    if (status == VDBQ_OK)
        status = device_check_build(station->device, build, &db->error);
    if (status != VDBQ_OK)
        return status;
    *place = (struct stream_place){
        .device = station->device,
        .pool = station->pool,
        .resident = station->resident,
        .dictionaries = station->dictionaries,
        .mode = choose_mode(db, station, table),
        .build = build,
        .adaptive = name_equal(db->options[OPTION_BUILD], "auto"),
        .prunes = name_equal(db->options[OPTION_PRUNE], "on"),
        .takes = takes_rows(db, station->device),
    };
    return check_mode(station, place->mode, &db->error);
}

enum vdbq_status vdbq_device_open(vdbq *db)
{
    struct stream_place place;
    enum vdbq_status status = session_begin(db);
    if (status == VDBQ_OK)
        status = place_choose(db, NULL, UINT64_MAX, &place);
    return session_report(db, status, NULL, 0);
}
