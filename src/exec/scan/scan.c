/* SPDX-License-Identifier: MIT */
/*
 * The only loop over tablets: walk, run, collect. A tablet is taken in parts
 * when one launch over all of it would take too long or too much memory.
 * Parts are started as long as the launcher and the budgets have room; rows,
 * and failures, come in the order of the parts.
 */
#include "exec/scan/scan.h"

#include <assert.h>

#include "base/hostile.h"
#include "base/threads/stop.h"
#include "exec/launch/column_input.h"
#include "exec/scan/scan_inner.h"

/* Rows of the first launch where a sort is to have a bound for the others. */
enum { UNBOUNDED_ROWS = HOSTILE(64, 1 << 17) };
/* Rows of a launch are a multiple of it where its reader wants few. */
enum { FEW_ROWS = 1 << 9 };
/* What a launch may wait for: with less, the link is faster than the host. */
enum { AWAITED_BYTES_MAX = 3 << 20 };
/* Tablets of a table whose launches start before anybody waits for them: more take so
 * long that this is not seen. */
enum { AHEAD_TABLETS_MAX = 4 * LAUNCH_MORSELS };

static enum vdbq_status start_launches(struct scan *scan, struct error *error);

/* --------------------------------------------------------------- batch -- */

void scan_part_close(struct scan *scan, struct part *part, bool failed)
{
    for (unsigned i = 0; i < LAUNCH_MORSELS; i++)
        source_close(&part->sources[i], &scan->sources, failed);
}

/* Rows that were run over or passed over. */
static uint64_t rows_done(const struct scan *scan)
{
    return scan->rows_run + scan->walk.rows_skipped;
}

/* The oldest part has given all its rows. */
static void part_done(struct scan *scan)
{
    assert(scan->parts[scan->first].rows > 0);
    struct part *part = &scan->parts[scan->first];
    scan_part_close(scan, part, false);
    scan->rows_run += part->rows;
    scan->bytes_done += part->bytes;
    scan->bytes_mapped += part->bytes_mapped;
    scan->first = (scan->first + 1) % LAUNCHER_RING_MAX;
}

/* The rows of the oldest part are there: what it read makes room for the next
 * one, which runs while they are looked at. Nothing follows the first before
 * its rows were: see launcher_has_room(). */
static enum vdbq_status part_landed(struct scan *scan, struct error *error)
{
    scan_part_close(scan, &scan->parts[scan->first], false);
    return scan->rows_run > 0 ? start_launches(scan, error) : VDBQ_OK;
}

/* Starts launches, and says so once these are all. */
static enum vdbq_status feed(struct scan *scan, struct error *error)
{
    enum vdbq_status status = start_launches(scan, error);
    bool all = scan->fed && scan->held.status == VDBQ_OK && !scan->fed_told;
    if (status != VDBQ_OK || !all)
        return status;
    scan->fed_told = true;
    return launcher_all_started(scan->launcher, error);
}

/* The next rows of the oldest launch in flight, where there is one; rows 0: it
 * has no more. A failure that was held back comes behind the last. */
static enum vdbq_status next_rows(struct scan *scan, struct vdbq_batch *batch,
                                  bool *more, struct error *error)
{
    enum vdbq_status status = scan->failed ? VDBQ_OK : feed(scan, error);
    *batch = (struct vdbq_batch){ 0 };
    *more = !scan->failed && status == VDBQ_OK
            && launcher_in_flight(scan->launcher) > 0;
    if (*more)
        status = launcher_batch(scan->launcher, batch, error);
    if (*more && status == VDBQ_OK && batch->rows == 0)
        part_done(scan);
    else if (*more && status == VDBQ_OK)
        status = part_landed(scan, error);
    if (!*more && status == VDBQ_OK && !scan->failed)
        status = held_error_tell(&scan->held, error);
    if (status != VDBQ_OK)
        scan->failed = true;
    return status;
}

enum vdbq_status scan_batch(struct scan *scan, struct vdbq_batch *batch,
                            struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    bool more = true;
    *batch = (struct vdbq_batch){ 0 };
    while (status == VDBQ_OK && more && batch->rows == 0)
        status = next_rows(scan, batch, &more, error);
    return status;
}

void scan_close_up(struct scan *scan)
{
    launcher_close_up(scan->launcher);
}

/* The next launch is to start with the bound that the first one's rows give. */
bool scan_stays(const struct scan *scan)
{
    return launcher_stays(scan->launcher)
           && (scan->bound == NULL || scan->rows_run > 0);
}

/* Whether the device has all that is read: launches need nothing that others may
 * have need of. */
static bool is_there(const struct scan *scan)
{
    size_t count = scan->table != NULL ? scan->table->tablet_count : 0;
    for (size_t i = 0; i < count && count <= AHEAD_TABLETS_MAX; i++)
        if (!source_is_there(&scan->sources, &scan->table->tablets[i]))
            return false;
    return count > 0 && count <= AHEAD_TABLETS_MAX;
}

enum vdbq_status scan_ahead(struct scan *scan, struct error *error)
{
    return !scan->failed && is_there(scan) ? start_launches(scan, error)
                                           : VDBQ_OK;
}

enum vdbq_status scan_advance(struct scan *scan, bool *more,
                              struct error *error)
{
    struct vdbq_batch none;
    return next_rows(scan, &none, more, error);
}

/* --------------------------------------------------------------- start -- */

/* Bytes of the columns that are read for a morsel. */
static uint64_t morsel_bytes(const struct scan *scan,
                             const struct launcher_morsel *morsel)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < scan->sources.pack->input_count; i++)
        bytes += column_input_value_bytes(&morsel->inputs[i], morsel->rows)
                 + column_input_null_bytes(&morsel->inputs[i], morsel->rows);
    return bytes;
}

/* Rows of a launch for a reader of few: more each time, as rows that are passed
 * over are read in vain. */
static uint64_t rows_for_few(const struct scan *scan)
{
    uint64_t few =
        scan->few > 4 * scan->rows_run ? scan->few : 4 * scan->rows_run;
    return (few / FEW_ROWS + 1) * FEW_ROWS;
}

/* The most rows of the next launch: of the first one few where the others are to
 * have a bound, or may not be needed. */
static uint64_t rows_max(const struct scan *scan)
{
    uint64_t most = launcher_rows_max(scan->launcher);
    bool first = scan->rows_run == 0 && launcher_in_flight(scan->launcher) == 0;
    if (scan->bound != NULL && first && most > UNBOUNDED_ROWS)
        most = UNBOUNDED_ROWS;
    if (scan->few > 0 && most > rows_for_few(scan))
        most = rows_for_few(scan);
    return most;
}

/* Takes the next rows of a tablet, at which the walk is, into a part. */
static enum vdbq_status add_morsel(struct scan *scan, struct part *part,
                                   struct launcher_request *request,
                                   struct error *error)
{
    const struct tablet_ref *tablet = &scan->table->tablets[scan->walk.tablet];
    assert(scan->walk.row < tablet->rows);
    struct source_params *sources = &scan->sources;
    struct source *source = &part->sources[request->count];
    struct column_input *inputs =
        scan->inputs + request->count * sources->pack->input_count;
    uint64_t left = tablet->rows - scan->walk.row;
    uint64_t most = rows_max(scan) - part->rows;
    assert(request->count < LAUNCH_MORSELS && part->rows < rows_max(scan));
    size_t copies = scan->copies.count;
    sources->yields =
        request->count > 0 || launcher_in_flight(scan->launcher) > 0;
    enum vdbq_status status =
        source_open(source, sources, tablet, &scan->copies, error);
    if (status != VDBQ_OK) {
        scan->copies.count = copies;
        return status;
    }
    struct launcher_morsel *morsel = &request->morsels[request->count++];
    *morsel = (struct launcher_morsel){ .inputs = inputs,
                                        .rows = left < most ? left : most,
                                        .data = source_data(source, sources),
                                        .host = source_host(source, sources) };
    if (scan->dictionary.base != NULL)
        morsel->order_codes =
            run_dictionary_codes(&scan->dictionary, scan->walk.tablet);
    source_inputs(source, sources, scan->walk.row, inputs);
    uint64_t bytes = morsel_bytes(scan, morsel);
    part->bytes += bytes;
    part->bytes_mapped += source_mapped(source) ? bytes : 0;
    part->rows += morsel->rows;
    walk_on(&scan->walk, morsel->rows);
    return VDBQ_OK;
}

/* Bytes that must come to the device before a part's launch can run. */
static uint64_t bytes_awaited(const struct scan *scan, const struct part *part)
{
    uint64_t bytes = 0;
    if (scan->sources.place->mode != MODE_CACHED)
        return part->bytes;
    for (size_t i = 0; i < scan->copies.count; i++)
        bytes += VECTOR_ITEMS(&scan->copies, struct device_copy)[i].size;
    return bytes;
}

/* Whether a launch waits for so little that the next tablet may join it. Few,
 * large launches cost the host less; but rows can set out only after what the
 * launch waits for came, so that the first does not wait for more than it must.
 * What is mapped is there: tablets join until all cores have enough to do. */
static bool is_short(const struct scan *scan, const struct part *part)
{
    unsigned in_flight = launcher_in_flight(scan->launcher);
    if (scan->sources.place->mode == MODE_MAPPED)
        return part->rows < launcher_rows_wanted(scan->launcher);
    return bytes_awaited(scan, part) < (in_flight > 0 ? AWAITED_BYTES_MAX : 1);
}

/* Whether the next tablet may join a launch. */
static bool joins(const struct scan *scan, const struct part *part,
                  const struct launcher_request *request)
{
    return is_short(scan, part) && request->count < LAUNCH_MORSELS
           && walk_fits(&scan->walk, rows_max(scan) - part->rows);
}

/* Starts the next part of the table. Whatever keeps a tablet from joining the
 * others is met again by the part that starts with it. */
static enum vdbq_status start_part(struct scan *scan, struct error *error)
{
    struct part *part =
        &scan->parts[(scan->first + launcher_in_flight(scan->launcher))
                     % LAUNCHER_RING_MAX];
    struct launcher_request request = { 0 };
    assert(launcher_has_room(scan->launcher));
    struct error ignored;
    part->rows = part->bytes = part->bytes_mapped = 0;
    scan->copies.count = 0;
    enum vdbq_status status = add_morsel(scan, part, &request, error);
    if (status != VDBQ_OK)
        return status;
    while (joins(scan, part, &request)
           && add_morsel(scan, part, &request, &ignored) == VDBQ_OK)
        continue;
    request.copies = VECTOR_ITEMS(&scan->copies, struct device_copy);
    request.copy_count = scan->copies.count;
    status = launcher_start(scan->launcher, &request, error);
    if (status != VDBQ_OK)
        scan_part_close(scan, part, true);
    return status;
}

/* Starts the program for its one row, without a table. */
static enum vdbq_status start_row(struct scan *scan, struct error *error)
{
    assert(scan->table == NULL && !scan->fed);
    scan->fed = true;
    scan->parts[scan->first].rows = 1;
    return launcher_start(
        scan->launcher,
        &(struct launcher_request){
            .morsels = { { .inputs = scan->inputs, .rows = 1 } }, .count = 1 },
        error);
}

/* Tells how far the scan is; whether the query is to stop. */
static bool stopped(const struct scan *scan)
{
    if (scan->table != NULL)
        stop_tell(rows_done(scan), scan->table->rows);
    return stop_asked();
}

/* One launch more, or the end of the table. */
static enum vdbq_status start_next(struct scan *scan, struct error *error)
{
    if (scan->table == NULL)
        return start_row(scan, error);
    scan->fed = !walk_more(&scan->walk);
    if (scan->fed)
        return VDBQ_OK;
    walk_ahead(&scan->walk, &scan->sources); /* the first may take a compiler */
    enum vdbq_status status = start_part(scan, error);
    if (status == VDBQ_OK)
        walk_ahead(&scan->walk, &scan->sources);
    return status;
}

/* Starts launches while there is room. A failure is held back until the rows
 * of those before it are out. Where a budget has no room beside what is in
 * flight, the ring is as short as that. */
static enum vdbq_status start_launches(struct scan *scan, struct error *error)
{
    if (scan->lost.status != VDBQ_OK)
        return held_error_tell(&scan->lost, error);
    while (!scan->fed && launcher_has_room(scan->launcher)) {
        if (stopped(scan))
            return error_cancelled(error);
        enum vdbq_status status = start_next(scan, error);
        if (status == VDBQ_LIMIT && launcher_in_flight(scan->launcher) > 0)
            return VDBQ_OK;
        if (status != VDBQ_OK) {
            held_error_set(&scan->held, error);
            scan->fed = true;
        }
    }
    return VDBQ_OK;
}

struct dictionary *scan_dictionary(const struct scan *scan, unsigned column)
{
    return run_dictionary_words(&scan->dictionary, column);
}

void scan_stats(struct scan *scan, struct vdbq_stats *stats)
{
    launcher_stats(scan->launcher, stats);
    stats->rows_read += scan->rows_run;
    stats->bytes_read += scan->bytes_done;
    stats->bytes_mapped += scan->bytes_mapped;
    stats->tablets_skipped += scan->walk.tablets_skipped;
    if (scan->table != NULL)
        stats->tablets += scan->table->tablet_count;
    stats->load_ns += scan->sources.load_ns;
}
