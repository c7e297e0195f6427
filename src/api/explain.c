/* SPDX-License-Identifier: MIT */
/*
 * EXPLAIN: the steps as lines of text; those of one program are what
 * vdbq_prepare_program() reads back; with ANALYZE, comment lines that say what its run cost.
 */
#include <math.h>
#include <string.h>

#include "api/upsert.h"

bool query_explains(const vdbq_query *query)
{
    return query->planned && query->plan.explain != AST_RUN;
}

bool query_has_lines(const vdbq_query *query)
{
    return query_explains(query)
           || (query->planned && query->plan.kind == PLAN_CHECK);
}

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* Bytes a nanosecond are GB a second. */
static double rate(uint64_t bytes, uint64_t ns)
{
    return ns == 0 ? 0 : (double)bytes / (double)ns;
}

/* Adds ", N % of" what would take `ideal_ns`, where that is known. */
static void print_share(double ideal_ns, uint64_t ns, struct text *text)
{
    if (ns > 0 && ideal_ns > 0 && isfinite(ideal_ns))
        text_print(text, ", %.0f %% of the limit measured",
                   100 * ideal_ns / (double)ns);
}

/* The time that bytes take at so many GB a second; not finite: not known. */
static double ideal_ns(uint64_t bytes, double limit)
{
    return bytes == 0 ? 0 : (double)bytes / limit;
}

static void print_compile(const struct vdbq_stats *stats, struct text *text)
{
    text_print(text, "; compile   %.3f ms, ", milliseconds(stats->compile_ns));
    if (stats->builds == 0)
        text_print(text, "nothing to build\n");
    else
        text_print(text, "%u built, %u of them from the cache\n", stats->builds,
                   stats->builds_cached);
}

/* Rates, and how near they are to the limits of the device and of the way to
 * it; `limits` may be all 0. */
static void print_rates(const struct vdbq_stats *stats,
                        const struct vdbq_limits *limits, struct text *text)
{
    text_print(text, "; transfer  %.3f ms, %.1f GB/s",
               milliseconds(stats->transfer_ns),
               rate(stats->bytes_in + stats->bytes_out, stats->transfer_ns));
    if (!limits->shares_memory)
        print_share(ideal_ns(stats->bytes_in, limits->copy_in)
                        + ideal_ns(stats->bytes_out, limits->copy_out),
                    stats->transfer_ns, text);
    text_print(text,
               "\n; kernel    %.3f ms in %u launches, %.1f GB/s of %llu "
               "bytes read",
               milliseconds(stats->kernel_ns), stats->launches,
               rate(stats->bytes_read, stats->kernel_ns),
               (unsigned long long)stats->bytes_read);
    print_share(ideal_ns(stats->bytes_read, limits->memory_read),
                stats->kernel_ns, text);
    text_print(text, "\n");
    if (limits->memory_read > 0)
        text_print(text,
                   "; limits    memory %.1f GB/s, to the device %.1f, "
                   "from it %.1f, both ways %.1f\n",
                   limits->memory_read, limits->copy_in, limits->copy_out,
                   limits->copy_both);
    else
        text_print(text, "; limits    not measured on this device yet: "
                         "vdbq --tune does\n");
}

/* Where the time went that is in no step. */
static void print_times(vdbq_query *query, struct text *text)
{
    struct query_times *times = &query->times;
    if (times->files_ns > 0)
        text_print(text, "; files     %.3f ms\n",
                   milliseconds(times->files_ns));
    times->files_ns = 0;
    if (times->write_ns + times->commit_ns == 0)
        return;
    text_print(text, "; write     %.3f ms\n", milliseconds(times->write_ns));
    text_print(text, "; commit    %.3f ms\n", milliseconds(times->commit_ns));
}

/* What a run has cost. */
static void print_stats(vdbq_query *query, const struct vdbq_limits *limits,
                        struct text *text)
{
    const struct vdbq_stats *stats = &query->stats.sum;
    text_print(text, "; device    %s\n", stats->device);
    text_print(text, "; mode      %s\n", stats->mode);
    text_print(text, "; build     %s\n", stats->build);
    if (stats->steps != NULL && stats->steps[0] != '\0')
        text_print(text, "; steps     %s\n", stats->steps);
    text_print(text, "; rows      %llu read, %llu returned\n",
               (unsigned long long)stats->rows_read,
               (unsigned long long)stats->rows_returned);
    if (stats->cells > 0)
        text_print(text, "; cells     %llu\n",
                   (unsigned long long)stats->cells);
    text_print(text, "; tablets   %llu, %llu of them skipped\n",
               (unsigned long long)stats->tablets,
               (unsigned long long)stats->tablets_skipped);
    if (stats->bytes_mapped > 0)
        text_print(text,
                   "; mapped    %llu bytes read where they lie in the "
                   "file\n",
                   (unsigned long long)stats->bytes_mapped);
    text_print(text, "; moved     %llu bytes in, %llu bytes out\n",
               (unsigned long long)stats->bytes_in,
               (unsigned long long)stats->bytes_out);
    text_print(text, "; plan      %.3f ms\n", milliseconds(stats->plan_ns));
    text_print(text, "; load      %.3f ms\n", milliseconds(stats->load_ns));
    print_times(query, text);
    print_compile(stats, text);
    print_rates(stats, limits, text);
    text_print(text, "; total     %.3f ms\n", milliseconds(stats->total_ns));
}

/* Adds "a, b": columns of the table that an INSERT is for. */
static void print_columns(const vdbq_query *query, const unsigned *columns,
                          unsigned count, struct text *text)
{
    const struct table *table =
        catalogue_table_id(query->planned_for, query->plan.insert.table_id);
    for (unsigned i = 0; i < count; i++)
        text_print(text, "%s%s", i > 0 ? ", " : "",
                   table->columns[columns[i]].name);
}

/* Columns, or the keys of an index. */
static void print_target(const vdbq_query *query,
                         const struct conflict_target *target,
                         struct text *text)
{
    const struct index *index =
        target->origin != 0
            ? catalogue_index_of(query->planned_for, target->origin)
            : NULL;

    if (index == NULL)
        print_columns(query, target->columns,
                      target->origin == 0 ? target->count : 0, text);
    else
        text_print(text, "index %s", index->name);
}

/* What becomes of rows that meet others. */
static void print_conflict(const vdbq_query *query, struct text *text)
{
    const struct plan_insert *insert = &query->plan.insert;
    if (insert->conflict == CONFLICT_REPLACE)
        text_print(text, "; in place of the rows of the table that they "
                         "meet\n");
    if (insert->target.count == 0) {
        if (insert->conflict == CONFLICT_IGNORE)
            text_print(text, "; but not those that meet a row of the table\n");
        return;
    }
    text_print(text, insert->updates
                         ? "; but where one meets a row of the table by ("
                         : "; but not those that meet a row of the table by (");
    print_target(query, &insert->target, text);
    text_print(text, ")%s",
               insert->updates ? ", that gets new values of " : "");
    print_columns(query, insert->sets, insert->set_count, text);
    text_print(text, "%s\n", insert->updates ? ":" : "");
}

static enum vdbq_status print_insert(vdbq_query *query, struct text *text)
{
    const struct plan_insert *insert = &query->plan.insert;
    if (insert->from_query)
        text_print(text, "; append these rows to table %u\n",
                   (unsigned)insert->table_id);
    else
        text_print(text, "; append %llu rows to table %u\n",
                   (unsigned long long)insert->rows,
                   (unsigned)insert->table_id);
    print_conflict(query, text);
    if (!insert->updates)
        return VDBQ_OK;
    if (!insert->from_query)
        return upsert_explain(query, text);
    text_print(text, "; steps that are planned once these are known\n");
    return VDBQ_OK;
}

static void print_alteration(const struct plan_alter *alter, struct text *text)
{
    const struct alteration *made = &alter->alteration;

    if (alter->nothing)
        text_print(text, "; table %s is so already\n", alter->table);
    else if (made->from != NULL)
        text_print(text, "; table %s has %u columns and these rows\n",
                   alter->table, made->column_count);
    else if (made->name != NULL)
        text_print(text, "; table %s is called %s\n", alter->table, made->name);
    else
        text_print(text, "; a column of table %s has another name\n",
                   alter->table);
}

/* What a statement does, or becomes of the rows of its steps. */
static void print_change(const struct plan *plan, struct text *text)
{
    switch (plan->kind) {
    case PLAN_COPY_FROM:
        text_print(text, "; append the rows of '%s' to table %u\n",
                   plan->copy.file, (unsigned)plan->copy.table_id);
        break;
    case PLAN_CREATE_TABLE:
        text_print(text, "; create table %s with %u columns%s\n",
                   plan->create.name, plan->create.column_count,
                   plan->create.from_query ? " and these rows" : "");
        break;
    case PLAN_CREATE_VIEW:
        text_print(text, "; create view %s\n", plan->view.name);
        break;
    case PLAN_CREATE_INDEX:
        text_print(text, "; create %sindex %s on table %u\n",
                   plan->index.unique ? "unique " : "", plan->index.name,
                   (unsigned)plan->index.table_id);
        break;
    case PLAN_ALTER:
        print_alteration(&plan->alter, text);
        break;
    case PLAN_DROP_TABLE:
        text_print(text, "; drop table %s\n", plan->drop.name);
        break;
    case PLAN_DROP_VIEW:
        text_print(text, "; drop view %s\n", plan->drop.name);
        break;
    case PLAN_DROP_INDEX:
        text_print(text, "; drop index %s\n", plan->drop.name);
        break;
    case PLAN_REINDEX:
        text_print(text, "; reindex %s\n",
                   plan->drop.name != NULL ? plan->drop.name : "all");
        break;
    case PLAN_CHANGE:
        text_print(text,
                   plan->change.column_count > 0
                       ? "; these rows of table %u get new values\n"
                       : "; these rows of table %u go\n",
                   (unsigned)plan->change.table_id);
        break;
    case PLAN_REWRITE:
        text_print(text, "; these are all rows of table %u from then on\n",
                   (unsigned)plan->rewrite.table_id);
        break;
    default:
        break;
    }
}

/* Makes a vector of the lines of `text`. */
static bool split_lines(const struct text *text, struct vector *lines)
{
    const char *at = text->bytes, *end = at + text->length;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct vdbq_text *line = vector_add(lines);
        if (line == NULL)
            return false;
        *line =
            (struct vdbq_text){ .bytes = at, .length = (size_t)(stop - at) };
        at = stop + 1;
    }
    return true;
}

enum vdbq_status query_lines_end(vdbq_query *query)
{
    query->line_texts.count = 0;
    if (query->lines.failed || !split_lines(&query->lines, &query->line_texts))
        return error_no_memory(&query->db->error);
    query->line_vector =
        (struct vdbq_vector){ .type = VDBQ_TEXT,
                              .values = query->line_texts.items };
    return VDBQ_OK;
}

/* The limits of the device that a query ran on; all 0: it ran on none. */
static const struct vdbq_limits *limits_of(const vdbq_query *query)
{
    static const struct vdbq_limits none;
    return query->device != NULL ? &device_tuning(query->device)->limits
                                 : &none;
}

/* The steps; of EXPLAIN (TREE) also how they came to be. */
static void print_steps(vdbq_query *query)
{
    if (query->plan.steps.steps.count == 0)
        return;
    if (query->plan.tree == NULL) {
        steps_print_counts(&query->plan.steps, &query->counts, &query->lines);
    } else {
        text_print(&query->lines, "%s; steps\n", query->plan.tree);
        steps_print_names(&query->plan.steps, &query->lines);
    }
    if (query->plan.hopes)
        text_print(&query->lines,
                   "; if a value fails, the query runs again, and computes it "
                   "for each row that asks for it\n");
    if (query->plan.hopes_few)
        text_print(&query->lines,
                   "; few rows are hoped for: if there are many, or too few of "
                   "an order, the query runs again without that hope\n");
}

/* Why the host ran what a device could, where it did. */
static void print_stand_in(enum stand_in why, struct text *lines)
{
    if (why == STANDS_IN_UNTIL_BUILT)
        text_print(lines,
                   "; kernels   of the CPU device are not there yet: the host "
                   "runs this, and vdbq --kernels builds them behind\n");
    else if (why == STANDS_IN_UNTIL_OPEN)
        text_print(lines,
                   "; opening   the CPU device takes longer than this: the "
                   "host runs it, until queries read more rows\n");
}

enum vdbq_status explain_lines(vdbq_query *query)
{
    enum vdbq_status status = VDBQ_OK;
    text_finish(&query->lines);
    print_steps(query);
    print_change(&query->plan, &query->lines);
    if (query->plan.kind == PLAN_INSERT)
        status = print_insert(query, &query->lines);
    if (status != VDBQ_OK)
        return status;
    if (query->cluster != NULL)
        query->cluster->explain(query, &query->lines);
    query_clock_count(query);
    if (query->plan.explain == AST_EXPLAIN_ANALYZE)
        print_stand_in(query->stands_in, &query->lines);
    if (query->plan.explain == AST_EXPLAIN_ANALYZE)
        print_stats(query, limits_of(query), &query->lines);
    return query_lines_end(query);
}
