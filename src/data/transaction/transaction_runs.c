/* SPDX-License-Identifier: MIT */
/*
 * Runs of indexes for the tablets of a new state: made of tablets that are in
 * the file, on all cores, and written where a transaction's blocks go. A tablet
 * of few rows has none: its run is made in no time when it is needed.
 */
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/index/index_run.h"
#include "data/index/run_block.h"
#include "data/pool/columns_load.h"
#include "data/rule/unique.h"
#include "data/transaction/transaction_inner.h"

enum {
    RUN_ROWS_MIN =
        HOSTILE(1, 1 << 14), /* of a tablet that is not full        */
    RUN_ROW_BYTES = 64, /* that a run takes for a row while it is made, about */
    RUNS_PART = 2       /* of VDBQ_MEMORY, for those that are made together  */
};

/* A run that is to be made. */
struct job {
    const struct table *table;
    const struct index *index; /* with keys; NULL: it is of columns */
    struct tablet_ref tablet;  /* without an edit                   */
    struct run_ref ref;        /* without a place, so far           */
    struct run *run;           /* of keys, which were computed      */
    struct block block;        /* without bytes: it was not made    */
    struct error error;        /* status OK: none                   */
};

/* The runs that the draft's tablets are to have. */
struct wanted_runs {
    bool *kept;         /* of each run of the draft whether it is one */
    size_t kept_count;  /* of these                                   */
    struct vector jobs; /* struct job: others                         */
};

/* Jobs that are worked on at the same time. */
struct jobs {
    struct database *database;
    struct job *first;
};

/* ---------------------------------------------------------------- which -- */

/* Columns, or keys, whose order is kept of all tablets of a table. */
struct kept_order {
    const struct table *table;
    const struct index *index; /* with keys; NULL: they are columns */
    unsigned count;            /* of `columns`, at most RUN_COLUMNS_MAX */
    unsigned columns[RUN_COLUMNS_MAX];
};

/* Adds an order, by some columns or the first of them, unless it is there. */
static bool add_order(struct vector *orders, const struct table *table,
                      const struct index *index, const unsigned *columns,
                      unsigned count)
{
    struct kept_order order;

    memset(&order, 0, sizeof order);
    order.table = table;
    order.index = index;
    order.count = count < RUN_COLUMNS_MAX ? count : RUN_COLUMNS_MAX;
    memcpy(order.columns, columns, order.count * sizeof *columns);
    for (size_t i = 0; i < orders->count; i++)
        if (memcmp(vector_at(orders, i), &order, sizeof order) == 0)
            return true;
    return vector_append(orders, &order, 1);
}

/* Those of what has to be unique in a table. */
static bool add_rules(const struct catalogue *catalogue,
                      const struct table *table, struct vector *orders)
{
    struct vector rules;
    bool added = unique_rules(catalogue, table, true, &rules);

    for (size_t i = 0; i < rules.count && added; i++) {
        const struct unique_rule *rule = vector_at(&rules, i);
        added = add_order(orders, table, rule->keyed, unique_rule_columns(rule),
                          rule->column_count);
    }
    vector_finish(&rules);
    return added;
}

/* Rows of a tablet as it was written: that many its runs are of. */
static uint32_t written_rows(const struct tablet_ref *tablet)
{
    return tablet->edit != NULL ? tablet->edit->rows : tablet->rows;
}

/* Whether some tablet of a table has so many rows. */
static bool is_large(const struct table *table, uint32_t rows_min)
{
    bool large = false;

    for (size_t i = 0; i < table->tablet_count && !large; i++)
        large = written_rows(&table->tablets[i]) >= rows_min;
    return large;
}

/* All orders, those of rules and of indexes, of tables that have runs: most of many
 * tables are small. */
static bool list_orders(const struct catalogue *catalogue, uint32_t rows_min,
                        struct vector *orders)
{
    bool added = true;

    for (size_t i = 0; i < catalogue->table_count && added; i++)
        if (is_large(&catalogue->tables[i], rows_min))
            added = add_rules(catalogue, &catalogue->tables[i], orders);
    for (size_t i = 0; i < catalogue->index_count && added; i++) {
        const struct index *index = &catalogue->indexes[i];
        const struct table *table =
            catalogue_table_id(catalogue, index->table_id);
        if (is_large(table, rows_min))
            added = add_order(orders, table, index->keys != NULL ? index : NULL,
                              index->columns, index->column_count);
    }
    return added;
}

/* Adds the run of a tablet that is to be made; false: no memory. */
static bool add_job(const struct kept_order *order,
                    const struct tablet_ref *tablet, struct vector *jobs)
{
    struct job job = { .table = order->table,
                       .index = order->index,
                       .tablet = *tablet };

    job.ref.tablet = index_identity(order->index, tablet->identity);
    job.ref.column_count = order->count;
    memcpy(job.ref.columns, order->columns, sizeof job.ref.columns);
    return vector_append(jobs, &job, 1);
}

/* Adds the runs of an order: those that there are to the kept ones. False: no
 * memory. */
static bool add_runs(const struct catalogue *catalogue,
                     const struct kept_order *order, uint32_t rows_min,
                     struct wanted_runs *wanted)
{
    const struct table *table = order->table;
    size_t near = 0;
    bool room = true;

    for (size_t i = 0; i < table->tablet_count && room; i++) {
        const struct tablet_ref *tablet = &table->tablets[i];
        const struct run_ref *found;
        if (written_rows(tablet) < rows_min)
            continue;
        found = catalogue_run_near(
            catalogue, index_identity(order->index, tablet_written(tablet)),
            order->columns, order->count, &near);
        if (found == NULL) {
            const struct tablet_ref base = tablet_base(tablet);
            room = add_job(order, &base, &wanted->jobs);
        } else if (!wanted->kept[found - catalogue->runs]) {
            wanted->kept[found - catalogue->runs] = true;
            wanted->kept_count++;
        }
    }
    return room;
}

static bool find_runs(const struct transaction *transaction,
                      struct wanted_runs *wanted)
{
    const struct catalogue *catalogue = transaction->draft;
    uint32_t full = database_tablet_rows(transaction->writer.database);
    uint32_t rows_min = full < RUN_ROWS_MIN ? full : RUN_ROWS_MIN;
    struct vector orders = VECTOR(struct kept_order);
    bool room;

    wanted->kept = memory_zeroed(catalogue->run_count + 1, sizeof(bool));
    room = wanted->kept != NULL && list_orders(catalogue, rows_min, &orders);
    for (size_t i = 0; i < orders.count && room; i++)
        room = add_runs(catalogue, vector_at(&orders, i), rows_min, wanted);
    vector_finish(&orders);
    return room;
}

/* Whether a run belongs to a tablet of the table by an index; NULL: by columns. */
static bool is_by(const struct table *table, const struct index *index,
                  const struct run_ref *run)
{
    bool found = false;

    for (size_t i = 0; !found && i < table->tablet_count; i++)
        found = identity_equal(
            index_identity(index, tablet_written(&table->tablets[i])),
            run->tablet);
    return found;
}

/* Whether a run belongs to a tablet of the table, which has an index; NULL: to
 * any. */
static bool is_of(const struct catalogue *catalogue, const struct table *table,
                  const struct run_ref *run)
{
    bool found = table == NULL || is_by(table, NULL, run);

    for (size_t i = 0; !found && i < catalogue->index_count; i++) {
        const struct index *index = &catalogue->indexes[i];
        found = index->table_id == table->id && index->keys != NULL
                && is_by(table, index, run);
    }
    return found;
}

enum vdbq_status transaction_reindex(struct transaction *transaction,
                                     const char *name, struct error *error)
{
    const struct catalogue *draft = transaction->draft;
    const struct table *table = NULL;
    const struct index *index = NULL;
    struct catalogue *next;
    size_t kept = 0;
    enum vdbq_status status = transaction_check(transaction, error);

    if (status != VDBQ_OK)
        return status;
    if (name != NULL) {
        table = catalogue_table(draft, name);
        index = table == NULL ? catalogue_index(draft, name) : NULL;
        if (index != NULL)
            table = catalogue_table_id(draft, index->table_id);
        if (table == NULL)
            return error_set(error, VDBQ_UNKNOWN, "no table or index \"%s\"",
                             name);
    }
    next = transaction_next(transaction, 0);
    if (next == NULL || !catalogue_own_runs(next)) {
        catalogue_release(next);
        return error_no_memory(error);
    }
    for (size_t i = 0; i < next->run_count; i++)
        if (!is_of(next, table, &next->runs[i]))
            next->runs[kept++] = next->runs[i];
    next->run_count = kept;
    transaction_take(transaction, next);
    return VDBQ_OK;
}

/* --------------------------------------------------------------- making -- */

/* Computes keys, with all threads; it is done before blocks are made. */
static void compute(const struct transaction *transaction, struct job *job)
{
    const struct index_of of = { transaction->writer.database,
                                 transaction->draft, job->table, job->index };

    if (job->index != NULL)
        index_run(&of, &job->tablet, NULL, job->ref.column_count, &job->run,
                  &job->error);
}

/* The run of columns. */
static struct run *make_run(const struct jobs *jobs, struct job *job)
{
    struct block tablet;
    struct run *run = NULL;

    if (columns_load(jobs->database, job->table, &job->tablet, job->ref.columns,
                     job->ref.column_count, &tablet, &job->error)
        == VDBQ_OK)
        run = run_make(tablet.bytes, job->ref.columns, job->ref.column_count);
    block_destroy(&tablet);
    return run;
}

/* On whatever thread: makes the block of one run. */
static void make(void *context, unsigned number)
{
    const struct jobs *jobs = context;
    struct job *job = &jobs->first[number];

    if (job->index == NULL)
        job->run = make_run(jobs, job);
    if (job->run != NULL)
        job->block = run_block(job->run, RUN_PAGE_ROWS, &job->ref);
    run_destroy(job->run);
    job->run = NULL;
}

/* Writes a block that was made, and says where. */
static enum vdbq_status put(struct transaction *transaction, struct job *job,
                            struct error *error)
{
    if (job->error.status != VDBQ_OK) {
        *error = job->error;
        return error->status;
    }
    if (job->block.bytes == NULL)
        return stop_or_no_memory(error);
    job->ref.offset =
        space_take(&transaction->writer.space, page_round(job->block.size));
    return file_write_block(&transaction->writer.database->file, &job->block,
                            job->ref.offset, error);
}

/* How many of the next jobs are worked on together: as many as there are cores, of
 * which all have memory; one in any case. */
static size_t count_together(const struct database *database,
                             const struct vector *jobs, size_t at)
{
    uint64_t memory = database->file.settings->memory_bytes, bytes = 0;
    bool several = database_reads_anywhere(database);
    unsigned cores =
        several ? os_cores() : 1; /* which reads files of the system */
    size_t count = 0;

    for (; at + count < jobs->count && count < cores; count++) {
        const struct job *job = vector_at(jobs, at + count);
        bytes += (uint64_t)job->tablet.rows * RUN_ROW_BYTES;
        if (count > 0 && memory > 0 && bytes > memory / RUNS_PART)
            break;
    }
    return count;
}

static enum vdbq_status make_all(struct transaction *transaction,
                                 struct vector *jobs, struct error *error)
{
    struct database *database = transaction->writer.database;
    enum vdbq_status status = VDBQ_OK;
    struct job *items = jobs->items;

    for (size_t at = 0, count; at < jobs->count && status == VDBQ_OK;
         at += count) {
        struct jobs some = { database, items + at };
        count = count_together(database, jobs, at);
        for (size_t i = at; i < at + count; i++)
            compute(transaction, &items[i]);
        parallel_run((unsigned)count, make, &some);
        for (size_t i = at; i < at + count; i++) {
            if (status == VDBQ_OK)
                status = put(transaction, &items[i], error);
            block_destroy(&items[i].block);
        }
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}

/* ----------------------------------------------------------------- draft -- */

/* The draft gets these runs and no others. */
static enum vdbq_status take(struct transaction *transaction,
                             const struct wanted_runs *wanted,
                             struct error *error)
{
    const struct catalogue *draft = transaction->draft;
    struct catalogue *next = transaction_next(transaction, 0);
    const struct job *jobs = wanted->jobs.items;

    if (next == NULL
        || !catalogue_new_runs(next, wanted->kept_count + wanted->jobs.count)) {
        catalogue_release(next);
        return error_no_memory(error);
    }
    for (size_t i = 0; i < draft->run_count; i++)
        if (wanted->kept[i])
            next->runs[next->run_count++] = draft->runs[i];
    for (size_t i = 0; i < wanted->jobs.count; i++)
        next->runs[next->run_count++] = jobs[i].ref;
    if (wanted->jobs.count > 0)
        catalogue_sort_runs(next);
    next->runs_listed = next->run_count;
    transaction_take(transaction, next);
    return VDBQ_OK;
}

enum vdbq_status transaction_write_runs(struct transaction *transaction,
                                        struct error *error)
{
    const struct catalogue *draft = transaction->draft;
    struct wanted_runs wanted = { .jobs = VECTOR(struct job) };
    enum vdbq_status status = VDBQ_OK;

    if (!find_runs(transaction, &wanted))
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        status = make_all(transaction, &wanted.jobs, error);
    if (status == VDBQ_OK
        && (wanted.jobs.count > 0 || wanted.kept_count != draft->run_count
            || draft->run_count != draft->runs_listed))
        status = take(transaction, &wanted, error);
    vector_finish(&wanted.jobs);
    memory_release(wanted.kept);
    return status;
}
