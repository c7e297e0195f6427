/* SPDX-License-Identifier: MIT */
/*
 * Opening a scan, once or again where it rests, and closing it.
 */
#include <assert.h>

#include "exec/dictionary/device_words.h"
#include "exec/dictionary/dictionary_cache.h"
#include "exec/launch/column_input.h"
#include "exec/scan/scan_inner.h"
#include "exec/stream/stream_inner.h"

/* -------------------------------------------------------------- words -- */

/* Dictionaries of the table's columns, but those of tablets that are passed over
 * whatever their words are; without a table there are none. */
static enum vdbq_status
make_base(struct scan *scan, struct dictionary_base **base, struct error *error)
{
    struct program_pack pack;
    if (scan->table == NULL) {
        *base = dictionary_base_make(&(struct dictionary_base_params){ 0 });
        return *base != NULL ? VDBQ_OK : error_no_memory(error);
    }
    enum vdbq_status status =
        program_pack(scan->params.launcher.program, &scan->arena, &pack, error);
    if (status != VDBQ_OK)
        return status;
    struct dictionary_cache_params words = {
        .place = scan->params.launcher.place,
        .table = scan->table,
        .pack = &pack,
        .uses = dictionary_base_uses(&pack, scan->params.texts, &scan->arena),
        .threads = stream_threads(scan->params.stream)
    };
    if (words.uses == NULL)
        return error_no_memory(error);
    if (words.place->settings->prune && !dictionary_cache_has(&words))
        words.unread = walk_unread(
            &(struct pruning_params){ .program = scan->params.launcher.program,
                                      .pack = &pack,
                                      .table = scan->table },
            &scan->arena);
    return dictionary_cache_base(&words, base, error);
}

/* Collects the words of the run. */
static enum vdbq_status make_dictionary(struct scan *scan, struct error *error)
{
    const struct words_place where = { .place = scan->params.launcher.place,
                                       .table = scan->table,
                                       .times = &scan->word_times };
    const struct program *program = scan->params.launcher.program;
    struct dictionary_base *base = NULL;
    bool none =
        scan->params.build_side == NULL && run_dictionary_no_words(program);
    enum vdbq_status status = none ? VDBQ_OK : make_base(scan, &base, error);
    struct run_dictionary_params params = {
        .program = program,
        .base = base,
        .parameters = scan->params.stream->parameters,
        .parameter_count = scan->params.stream->parameter_count,
        .threads = stream_threads(scan->params.stream),
        .where = scan->table != NULL ? &where : NULL,
    };
    params.build_side =
        build_side_dictionaries(scan->params.build_side, &params.build_count);
    if (status == VDBQ_OK)
        status = run_dictionary_init(&scan->dictionary, &params, error);
    dictionary_base_release(base);
    scan->params.launcher.values = &scan->dictionary.values;
    return status;
}

/* ------------------------------------------------------------- prepare -- */

/* Finds the columns of the table that the program reads. */
static bool find_columns(struct scan *scan)
{
    struct source_params *sources = &scan->sources;
    unsigned inputs = sources->pack->input_count;
    unsigned *columns =
        arena_alloc(&scan->arena, 2 * (inputs + 1) * sizeof *columns);
    if (columns == NULL)
        return false;
    sources->columns = columns;
    sources->lacking = columns + inputs + 1;
    for (unsigned i = 0; scan->table != NULL && i < inputs; i++) {
        unsigned column =
            column_input_number(scan->table, sources->pack->inputs[i].column);
        if (column != NO_KEY)
            columns[sources->column_count++] = column;
    }
    return true;
}

/* Puts the rows that are probed in place, then opens the launcher. */
static enum vdbq_status open_launcher(struct scan *scan, struct error *error)
{
    struct scan_params *params = &scan->params;
    enum vdbq_status status = VDBQ_OK;
    if (params->build_side != NULL)
        status = build_side_put(params->build_side, params->launcher.place,
                                &scan->dictionary, error);
    params->launcher.build_side = build_side_run(params->build_side);
    return status == VDBQ_OK
               ? launcher_open(&params->launcher, &scan->launcher, error)
               : status;
}

/* Makes ready to walk over the tablets, once the launcher is open. */
static enum vdbq_status prepare_walk(struct scan *scan, struct error *error)
{
    const struct scan_params *params = &scan->params;
    const struct run_place *place = params->launcher.place;
    if (place->resident != NULL)
        resident_drop_old(place->resident, params->stream->snapshot->catalogue);
    scan->sources = (struct source_params){
        .place = place,
        .table = scan->table,
        .pack = launcher_pack(scan->launcher),
        .times = launcher_times(scan->launcher),
        .reached = source_reached(place, params->stream->snapshot->catalogue),
    };
    scan->copies = VECTOR(struct device_copy);
    if (!find_columns(scan))
        return error_no_memory(error);
    scan->inputs =
        arena_alloc(&scan->arena, (scan->sources.pack->input_count + 1)
                                      * LAUNCH_MORSELS * sizeof *scan->inputs);
    if (scan->inputs == NULL)
        return error_no_memory(error);
    if (scan->table != NULL
        && !walk_init(&scan->walk,
                      &(struct pruning_params){
                          .program = params->launcher.program,
                          .pack = scan->sources.pack,
                          .table = scan->table,
                          .dictionary = scan->dictionary.base != NULL
                                            ? &scan->dictionary
                                            : NULL,
                          .build_side = build_side_ranges(params->build_side) },
                      place->settings->prune, &scan->arena))
        return error_no_memory(error);
    if (scan->table != NULL && params->ranks != NULL)
        walk_share(&scan->walk, params->ranks);
    return VDBQ_OK;
}

/* Opens everything that the first launch needs; a launcher that rested once more. */
static enum vdbq_status scan_prepare(struct scan *scan, struct error *error)
{
    const struct scan_params *params = &scan->params;
    const struct program *program = params->launcher.program;
    enum vdbq_status status = VDBQ_OK;
    scan->table = NULL;
    if (program->tables.count > 0)
        scan->table = catalogue_table_id(
            params->stream->snapshot->catalogue,
            VECTOR_ITEMS(&program->tables, struct program_table)[0].id);
    if (run_dictionary_needed(program))
        status = make_dictionary(scan, error);
    if (status == VDBQ_OK && scan->launcher == NULL)
        status = open_launcher(scan, error);
    else if (status == VDBQ_OK)
        launcher_again(scan->launcher, &params->launcher);
    return status == VDBQ_OK ? prepare_walk(scan, error) : status;
}

/* --------------------------------------------------- open, rest, close -- */

/* Others lack room: the rows of what is in flight are waited for, so that
 * nobody reads the tablets that they come from. What takes rows itself has no
 * other scan beside it. */
static enum vdbq_status let_go(struct pool_holder *holder, struct error *error)
{
    struct scan *scan = (struct scan *)holder;
    if (scan->sink != NULL || scan->tables != NULL || scan->failed
        || scan->lost.status != VDBQ_OK)
        return VDBQ_OK;
    enum vdbq_status status = launcher_settle(scan->launcher, error);
    if (status != VDBQ_OK) {
        held_error_set(&scan->lost, error);
        return status;
    }
    for (unsigned i = 0; i < launcher_in_flight(scan->launcher); i++)
        scan_part_close(
            scan, &scan->parts[(scan->first + i) % LAUNCHER_RING_MAX], false);
    return VDBQ_OK;
}

enum vdbq_status scan_open(const struct scan_params *params, struct scan **scan,
                           struct error *error)
{
    struct scan *made = memory_zeroed(1, sizeof *made);
    *scan = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->holder.let_go = let_go;
    enum vdbq_status status = scan_again(made, params, error);
    if (status != VDBQ_OK)
        scan_close(made);
    else
        *scan = made;
    return status;
}

/* Nobody but a later run asks for what it holds then. */
static void leave_pool(struct scan *scan)
{
    struct pool *pool = scan->params.launcher.place->pool;
    if (pool == NULL)
        return;
    pool_leave(pool, &scan->holder);
    pool_settle(pool);
}

bool scan_rest(struct scan *scan)
{
    bool failed = scan->failed || scan->held.status != VDBQ_OK
                  || scan->lost.status != VDBQ_OK;
    if (failed || scan->table == NULL || scan->table->rows > SCAN_REST_ROWS
        || scan->params.ranks != NULL || scan->params.build_side != NULL
        || scan->dictionary.base != NULL || scan->tables != NULL
        || scan->few > 0 || !launcher_can_rest(scan->launcher))
        return false;
    leave_pool(scan);
    vector_finish(&scan->copies);
    run_dictionary_finish(&scan->dictionary);
    arena_finish(&scan->arena);
    return true;
}

enum vdbq_status scan_again(struct scan *scan, const struct scan_params *params,
                            struct error *error)
{
    assert(scan->launcher == NULL || launcher_can_rest(scan->launcher));
    scan->params = *params;
    scan->rows_run = scan->bytes_done = scan->bytes_mapped = 0;
    scan->fed = false;
    scan->walk = (struct walk){ 0 };
    enum vdbq_status status = scan_prepare(scan, error);
    if (status == VDBQ_OK && params->launcher.place->pool != NULL)
        pool_join(params->launcher.place->pool, &scan->holder);
    return status;
}

void scan_close(struct scan *scan)
{
    if (scan == NULL)
        return;
    launcher_close(scan->launcher); /* waits for what is in flight */
    for (unsigned i = 0; i < LAUNCHER_RING_MAX; i++)
        scan_part_close(scan, &scan->parts[i], scan->failed);
    leave_pool(scan);
    vector_finish(&scan->copies);
    held_error_finish(&scan->held);
    held_error_finish(&scan->lost);
    run_dictionary_finish(&scan->dictionary);
    arena_finish(&scan->arena);
    memory_release(scan);
}

/* ------------------------------------------------------------- readers -- */

void scan_sink(struct scan *scan, struct sink *sink)
{
    assert(scan->launcher != NULL && launcher_in_flight(scan->launcher) == 0);
    scan->sink = sink;
    launcher_sink(scan->launcher, sink);
}

enum vdbq_status scan_tables(struct scan *scan, struct launch_tables *tables,
                             struct error *error)
{
    assert(scan->launcher != NULL && launcher_in_flight(scan->launcher) == 0);
    scan->tables = tables;
    return launcher_tables(scan->launcher, tables, error);
}

void scan_bound(struct scan *scan, const struct launch_bound *bound)
{
    assert(scan->launcher != NULL && launcher_in_flight(scan->launcher) == 0);
    scan->bound = bound;
    launcher_bound(scan->launcher, bound);
}

void scan_few(struct scan *scan, uint64_t rows)
{
    assert(scan->launcher != NULL && launcher_in_flight(scan->launcher) == 0);
    scan->few = rows;
}

bool scan_bounds(struct scan *scan, struct interval *ranges)
{
    return scan->table != NULL && walk_ranges(&scan->walk, ranges);
}

uint64_t scan_taken_rows(const struct scan *scan)
{
    return scan->sink != NULL     ? scan->sink->rows
           : scan->tables != NULL ? scan->tables->rows
                                  : 0;
}

/* Of values that may change after they were proven nothing is known. */
bool scan_ranges(struct scan *scan, struct interval *ranges)
{
    return scan->table != NULL && !pool_maps(scan->params.launcher.place->pool)
           && walk_ranges(&scan->walk, ranges);
}
