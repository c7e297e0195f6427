/* SPDX-License-Identifier: MIT */
/*
 * Statements and programs: prepared, run, printed batch by batch, and what
 * they cost told where .timer is on.
 */
#include "shell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

/* Prints every row; the first batch is asked for before anything is written,
 * so that a query that fails at once leaves nothing on stdout. */
static enum vdbq_status print_rows(struct shell *shell, vdbq_query *query)
{
    struct vdbq_batch batch = { 0 };
    struct format_result result;
    enum vdbq_status status = vdbq_query_batch(query, &batch);
    if (status != VDBQ_OK)
        return status;
    if (!format_begin(&result, shell->format, &shell->style, &shell->out,
                      query))
        return VDBQ_NO_MEMORY;
    while (status == VDBQ_OK && batch.rows && !shell->out.error) {
        shell_bar_clear(shell);
        format_batch(&result, &batch);
        status = vdbq_query_batch(query, &batch);
    }
    shell_bar_clear(shell);
    return format_end(&result) || status != VDBQ_OK ? status : VDBQ_NO_MEMORY;
}

static double milliseconds(uint64_t nanoseconds)
{
    return (double)nanoseconds * 1e-6;
}

/* Devices that were not asked for times have none to tell. */
static void tell_device_times(struct shell *shell,
                              const struct vdbq_stats *stats)
{
    if (strcasecmp(vdbq_get(shell->db, "profiling"), "on") == 0)
        out_print(&shell->err, ", kernel %.3f ms, transfer %.3f ms",
                  milliseconds(stats->kernel_ns),
                  milliseconds(stats->transfer_ns));
}

static void tell_stats(struct shell *shell, const struct vdbq_stats *stats)
{
    struct out *err = &shell->err;
    bool mode = stats->mode && *stats->mode;
    tell_device_times(shell, stats);
    out_print(err, ", compile %.3f ms, load %.3f ms",
              milliseconds(stats->compile_ns), milliseconds(stats->load_ns));
    out_print(err, "; %llu rows read, %llu returned",
              (unsigned long long)stats->rows_read,
              (unsigned long long)stats->rows_returned);
    out_print(err, "; on %s (%s%s%s)", stats->device, mode ? stats->mode : "",
              mode ? ", " : "", stats->build ? stats->build : "");
}

/* The most memory that the process has had. */
static void tell_peak(struct out *err)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        out_print(err, "; peak %ld MiB", usage.ru_maxrss / 1024);
}

static void tell_time(struct shell *shell, const vdbq_query *query,
                      int64_t start_ns)
{
    struct vdbq_stats stats;
    memset(&stats, 0, sizeof stats);
    vdbq_query_stats(query, &stats);
    out_flush(&shell->out);
    out_print(&shell->err, "timer: total %.3f ms, plan %.3f ms",
              milliseconds((uint64_t)(shell_now_ns() - start_ns)),
              milliseconds(stats.plan_ns));
    if (stats.device && *stats.device)
        tell_stats(shell, &stats);
    tell_peak(&shell->err);
    out_char(&shell->err, '\n');
    out_flush(&shell->err);
}

/* A statement on its way. */
struct work {
    const struct place *place;
    vdbq_query *query;
    enum vdbq_status status;
    bool told; /* its failure has been told */
    int64_t start_ns;
};

/* Who interrupts a change must hear what became of it: this came too late. */
static void tell_done(struct shell *shell, const struct work *work)
{
    if (!shell_interrupted() || !work->query || vdbq_query_columns(work->query))
        return;
    shell->interrupt_told = true;
    out_text(&shell->err, "interrupted, but the statement was done before\n");
    out_flush(&shell->err);
}

static bool finish(struct shell *shell, const struct work *work)
{
    enum vdbq_status status = work->status;
    shell_bar_clear(shell);
    out_flush(&shell->out);
    if (status == VDBQ_NO_MEMORY)
        shell_fail(shell, work->place, status, "", "out of memory");
    else if (status != VDBQ_OK && !work->told)
        shell_fail_db(shell, work->place);
    else if (status == VDBQ_OK && work->query && shell->timer)
        tell_time(shell, work->query, work->start_ns);
    if (status == VDBQ_OK)
        tell_done(shell, work);
    shell->interrupt_told |= status == VDBQ_CANCELLED;
    vdbq_query_close(work->query);
    return status == VDBQ_OK;
}

static void run(struct shell *shell, struct work *work)
{
    vdbq_query *query = work->query;
    work->status = shell_parameters_bind(shell, query);
    if (work->status == VDBQ_OK && shell_interrupted())
        work->status = vdbq_fail(shell->db, VDBQ_CANCELLED,
                                 vdbq_query_columns(query)
                                     ? "interrupted"
                                     : "interrupted: nothing was changed",
                                 NULL);
    if (work->status == VDBQ_OK)
        work->status = vdbq_query_run(query);
    if (work->status != VDBQ_OK)
        return;
    if (vdbq_query_copy_file(query))
        work->status = shell_copy_to(shell, work->place, query, &work->told);
    else if (vdbq_query_columns(query))
        work->status = print_rows(shell, query);
}

/* Runs the first statement of the text, and moves past it. */
static bool run_first(struct shell *shell, const struct place *place,
                      const char **sql, const char *end)
{
    struct work work = { .place = place, .start_ns = shell_now_ns() };
    const char *tail = end;
    shell_bar_start(shell);
    shell_signals_running(shell->db);
    work.status = vdbq_prepare(shell->db, *sql, end - *sql, &work.query, &tail);
    if (work.status == VDBQ_OK && work.query)
        run(shell, &work);
    shell_signals_running(NULL);
    *sql = tail > *sql && tail <= end ? tail : end;
    return finish(shell, &work);
}

/* The place of what follows `from` .. `to`. */
static void move_place(struct place *place, const char *from, const char *to)
{
    for (; from < to; from++) {
        place->column++;
        if (*from == '\n') {
            place->line++;
            place->column = 1;
        }
    }
}

bool shell_sql(struct shell *shell, const struct place *place, const char *sql,
               size_t length)
{
    const char *end = sql + length;
    struct place here = *place;
    bool good = true;
    while (sql < end && !shell->out.error && !shell_interrupted()) {
        const char *start = sql;
        good &= run_first(shell, &here, &sql, end);
        if (!good && !shell->batch)
            break;
        move_place(&here, start, sql);
    }
    return good;
}

bool shell_program(struct shell *shell, const char *path)
{
    struct place place = { .name = path, .line = 1, .column = 1 };
    struct work work = { .place = &place };
    size_t length;
    char *text = shell_read_file(path, &length);
    if (!text)
        return shell_fail(shell, NULL, VDBQ_IO, "", "cannot read %s: %s", path,
                          strerror(errno));
    work.start_ns = shell_now_ns();
    shell_bar_start(shell);
    shell_signals_running(shell->db);
    work.status = vdbq_prepare_program(shell->db, text, &work.query);
    if (work.status == VDBQ_OK)
        run(shell, &work);
    shell_signals_running(NULL);
    free(text);
    return finish(shell, &work);
}
