/* SPDX-License-Identifier: MIT */
/*
 * EXPLAIN: the steps as lines of text; those of one program are what
 * vdbq_prepare_program() reads back; with ANALYZE, comment lines that say what its run cost.
 */
#include <string.h>

#include "api/query.h"

bool query_explains(const vdbq_query *query)
{
    return query->planned && query->plan.explain != AST_RUN;
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

/* What a run has cost. */
static void print_stats(const struct vdbq_stats *stats, struct text *text)
{
    text_print(text, "; device    %s\n", stats->device);
    text_print(text, "; mode      %s\n", stats->mode);
    text_print(text, "; build     %s\n", stats->build);
    if (stats->steps != NULL && stats->steps[0] != '\0')
        text_print(text, "; grouped   %s\n", stats->steps);
    text_print(text, "; rows      %llu read, %llu returned\n",
               (unsigned long long)stats->rows_read,
               (unsigned long long)stats->rows_returned);
    text_print(text, "; tablets   %llu, %llu of them skipped\n",
               (unsigned long long)stats->tablets,
               (unsigned long long)stats->tablets_skipped);
    text_print(text, "; moved     %llu bytes in, %llu bytes out\n",
               (unsigned long long)stats->bytes_in,
               (unsigned long long)stats->bytes_out);
    text_print(text, "; load      %.3f ms\n", milliseconds(stats->load_ns));
    text_print(text, "; compile   %.3f ms\n",
               milliseconds(stats->compile_ns));
    text_print(text, "; transfer  %.3f ms, %.1f GB/s\n",
               milliseconds(stats->transfer_ns),
               rate(stats->bytes_in + stats->bytes_out, stats->transfer_ns));
    text_print(text, "; kernel    %.3f ms in %u launches, %.1f GB/s of %llu "
               "bytes read\n",
               milliseconds(stats->kernel_ns), stats->launches,
               rate(stats->bytes_read, stats->kernel_ns),
               (unsigned long long)stats->bytes_read);
    text_print(text, "; total     %.3f ms\n", milliseconds(stats->total_ns));
}

/* What a statement without a program does. */
static void print_change(const struct plan *plan, struct text *text)
{
    switch (plan->kind) {
    case PLAN_CREATE_TABLE:
        text_print(text, "; create table %s with %u columns\n",
                   plan->create.name, plan->create.column_count);
        break;
    case PLAN_DROP_TABLE:
        text_print(text, "; drop table %s\n", plan->drop.name);
        break;
    case PLAN_INSERT:
        text_print(text, "; append %llu rows to table %u\n",
                   (unsigned long long)plan->insert.rows,
                   (unsigned)plan->insert.table_id);
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
        *line = (struct vdbq_text){ .bytes = at,
                                    .length = (size_t)(stop - at) };
        at = stop + 1;
    }
    return true;
}

enum vdbq_status explain_lines(vdbq_query *query)
{
    text_finish(&query->lines);
    query->line_texts.count = 0;
    if (query->plan.kind == PLAN_SELECT)
        steps_print(&query->plan.steps, &query->lines);
    else
        print_change(&query->plan, &query->lines);
    if (query->plan.explain == AST_EXPLAIN_ANALYZE)
        print_stats(&query->stats.sum, &query->lines);
    if (query->lines.failed || !split_lines(&query->lines, &query->line_texts))
        return error_no_memory(&query->db->error);
    query->line_vector =
        (struct vdbq_vector){ .type = VDBQ_TEXT,
                              .values = query->line_texts.items };
    return VDBQ_OK;
}
