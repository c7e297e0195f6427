/* SPDX-License-Identifier: MIT */
/*
 * Options: one table of names, variables and checks. They are kept as text,
 * and read when they are needed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"

/* Rows below which a query runs on the host, where no device was asked for
 * and none was tuned: opening a device costs more than the host's whole run. */
#define HOST_ROWS_MAX (1u << 18)

/* The share of the machine's memory that tablets may take, by default. */
#define MEMORY_SHARE 2

static bool is_any(const char *value)
{
    (void)value;
    return true;
}

static bool is_mode(const char *value)
{
    return name_equal(value, "auto") || name_equal(value, "serial") ||
           name_equal(value, "mapped");
}

static bool is_build(const char *value)
{
    return name_equal(value, "auto") || name_equal(value, "interpreted") ||
           name_equal(value, "specialised");
}

static bool is_size(const char *value)
{
    uint64_t size;
    return text_to_size(value, &size) && size > 0;
}

static bool is_count(const char *value)
{
    int64_t count;
    return text_to_int64(value, strlen(value), &count) && count >= 0 &&
           count <= UINT16_MAX;
}

static const struct {
    const char *name;
    const char *variable;
    const char *values; /* for the message */
    bool (*check)(const char *value);
} table[OPTIONS] = {
    [OPTION_DEVICE] = { "device", "VDBQ_DEVICE",
                        "cpu, gpu, auto, host, P:D or part of a name",
                        is_any },
    [OPTION_MODE] = { "mode", "VDBQ_MODE", "auto, serial, mapped", is_mode },
    [OPTION_BUILD] = { "build", "VDBQ_BUILD",
                       "auto, interpreted, specialised", is_build },
    [OPTION_MEMORY] = { "memory", "VDBQ_MEMORY",
                        "a size in bytes, for instance 512M or 4G", is_size },
    [OPTION_CORES] = { "cores", "VDBQ_CORES",
                       "a number of compute units, 0 for all", is_count },
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
    snprintf(db->options[OPTION_MEMORY], OPTION_BYTES_MAX, "%llu",
             (unsigned long long)(os_memory_bytes() / MEMORY_SHARE));
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

static int option_number(const char *name)
{
    for (int i = 0; i < OPTIONS; i++)
        if (name_equal(name, table[i].name))
            return i;
    return -1;
}

enum vdbq_status vdbq_set(vdbq *db, const char *option, const char *value)
{
    error_clear(&db->error);
    int number = option_number(option);
    enum vdbq_status status;
    if (number < 0)
        status = error_set(&db->error, VDBQ_UNKNOWN, "no option \"%s\"",
                           option);
    else
        status = set(db, (enum option)number, value);
    return session_report(db, status, NULL, 0);
}

const char *vdbq_get(vdbq *db, const char *option)
{
    int number = option_number(option);
    return number < 0 ? NULL : db->options[number];
}

/* ------------------------------------------------------------ stations -- */

static unsigned cores_wanted(const vdbq *db)
{
    return (unsigned)strtoul(db->options[OPTION_CORES], NULL, 10);
}

static uint64_t memory_wanted(const vdbq *db)
{
    uint64_t size = 0;
    text_to_size(db->options[OPTION_MEMORY], &size);
    return size;
}

static enum vdbq_status station_open(vdbq *db, struct station *station)
{
    struct device_params params = { .choice = station->choice,
                                    .cores = station->cores };
    enum vdbq_status status = device_open(&params, &station->device,
                                          &db->error);
    if (status == VDBQ_OK)
        status = pool_create(db->database, station->device,
                             station->memory_bytes, &station->pool,
                             &db->error);
    return status;
}

static void station_close(struct station *station)
{
    pool_destroy(station->pool);
    device_close(station->device);
    memory_release(station);
}

static struct station *station_find(const vdbq *db, const char *choice)
{
    struct station *station = db->stations;
    while (station != NULL && (strcmp(station->choice, choice) != 0 ||
                               station->cores != cores_wanted(db) ||
                               station->memory_bytes != memory_wanted(db)))
        station = station->next;
    return station;
}

/* The station of that device, made if there is none. */
static enum vdbq_status station_at(vdbq *db, const char *choice,
                                   struct station **station)
{
    *station = station_find(db, choice);
    if (*station != NULL)
        return VDBQ_OK;
    struct station *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(&db->error);
    strcpy(made->choice, choice);
    made->cores = cores_wanted(db);
    made->memory_bytes = memory_wanted(db);
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

enum vdbq_status station_choose(vdbq *db, uint64_t rows,
                                struct station **station)
{
    const char *asked = db->options[OPTION_DEVICE];
    if (asked[0] == '\0')
        asked = rows <= host_rows_max(db) ? "host" : "cpu";
    return station_at(db, asked, station);
}

void stations_close(vdbq *db)
{
    while (db->stations != NULL) {
        struct station *next = db->stations->next;
        station_close(db->stations);
        db->stations = next;
    }
}

struct run_choice choose_run(const vdbq *db, const struct station *station)
{
    const struct device_facts *facts = device_facts(station->device);
    const char *mode = db->options[OPTION_MODE];
    bool mapped = name_equal(mode, "mapped") ||
                  (name_equal(mode, "auto") && facts->shares_memory);
    bool special = name_equal(db->options[OPTION_BUILD], "specialised");
    return (struct run_choice){
        .mode = mapped ? MODE_MAPPED : MODE_SERIAL,
        .build = special ? BUILD_SPECIALISED : BUILD_INTERPRETED,
        .adaptive = name_equal(db->options[OPTION_BUILD], "auto"),
    };
}

const char *mode_text(enum run_mode mode)
{
    return mode == MODE_MAPPED ? "mapped" : "serial";
}

enum vdbq_status vdbq_device_open(vdbq *db)
{
    struct station *station;
    enum vdbq_status status = session_begin(db);
    if (status == VDBQ_OK)
        status = station_choose(db, UINT64_MAX, &station);
    return session_report(db, status, NULL, 0);
}
