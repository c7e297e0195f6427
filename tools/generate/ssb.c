/* SPDX-License-Identifier: MIT */
/*
 * The Star Schema Benchmark's tables (O'Neil, O'Neil, Chen: Star Schema
 * Benchmark, revision 3), of any scale, in their specified order. Several
 * threads make batches of rows; this one writes them, batch after batch.
 */
#include "ssb.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64

/* A batch on its way: free, being made, or waiting to be written. */
struct slot {
    struct ssb_batch batch;
    struct output_text text; /* the batch as CSV, if that is wanted */
    bool made;
};

/* The work of all threads on one table. */
struct line {
    const struct ssb *ssb;
    const struct ssb_table *table;
    uint64_t rows;
    bool csv;
    struct slot *slots;
    unsigned slot_count;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint64_t next;    /* batch that nobody makes yet             */
    uint64_t written; /* batches that were                       */
    bool stopped;     /* nothing more is to be made              */
    bool no_memory;   /* for the text of a batch                 */
};

static int write_table(const struct ssb *ssb, const struct ssb_table *table,
                       const struct ssb_options *options);
static int run_line(struct line *line, unsigned threads, struct output *output);
static void *make_batches(void *context);
static int write_batches(struct line *line, struct output *output);

/* `each` at the scale 1; one at least. */
static uint64_t scaled(double scale, double each)
{
    double rows = floor(each * scale + 0.5);
    return rows < 1 ? 1 : (uint64_t)rows;
}

int ssb_write(const struct ssb_options *options)
{
    static const struct ssb_table *const tables[] = { &ssb_date, &ssb_supplier,
                                                      &ssb_customer, &ssb_part,
                                                      &ssb_lineorder };
    double scale = options->scale;
    struct ssb ssb = {
        .seed = options->seed,
        .lines = scaled(scale, 6000000),
        .customers = scaled(scale, 30000),
        .suppliers = scaled(scale, 2000),
        .parts = scaled(scale < 1 ? scale : 1 + floor(log2(scale)), 200000),
    };
    int status = 0;
    ssb_days(ssb.day_key);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !status; i++)
        status = write_table(&ssb, tables[i], options);
    return status;
}

/* --------------------------------------------------------------- batch -- */

struct ssb_random ssb_random(const struct ssb *ssb,
                             const struct ssb_table *table, uint64_t row)
{
    uint64_t stream = generate_mix(ssb->seed + table->output.columns * 256
                                   + (uint64_t)table->output.name[0]);
    return (struct ssb_random){ generate_mix(stream + row) };
}

uint32_t ssb_draw(struct ssb_random *random, uint32_t limit)
{
    return generate_below(random->state = generate_mix(random->state), limit);
}

void ssb_integer(struct ssb_batch *batch, unsigned column, uint64_t row,
                 int64_t value)
{
    ((int32_t *)batch->values[column])[row] = (int32_t)value;
}

void ssb_words(struct ssb_batch *batch, unsigned column, uint64_t row,
               const char *words)
{
    ((struct vdbq_text *)batch->values[column])[row] =
        (struct vdbq_text){ words, strlen(words) };
}

void ssb_print(struct ssb_batch *batch, unsigned column, uint64_t row,
               const char *format, ...)
{
    char *to = batch->room + batch->used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to, SSB_TEXT_BYTES, format, arguments);
    va_end(arguments);
    ((struct vdbq_text *)batch->values[column])[row] =
        (struct vdbq_text){ to, (size_t)length };
    batch->used += (size_t)length;
}

static void batch_finish(struct ssb_batch *batch)
{
    for (unsigned i = 0; i < OUTPUT_COLUMNS_MAX; i++)
        free(batch->values[i]);
    free(batch->room);
}

static bool batch_init(struct ssb_batch *batch, const struct ssb_table *table)
{
    *batch = (struct ssb_batch){ 0 };
    batch->room = malloc(SSB_BATCH * table->text_bytes + SSB_TEXT_BYTES);
    bool room = batch->room != NULL;
    for (unsigned i = 0; i < table->output.columns && room; i++) {
        enum vdbq_type type = table->output.types[i];
        batch->values[i] = malloc(
            SSB_BATCH * (type == VDBQ_TEXT ? sizeof(struct vdbq_text) : 4));
        batch->vectors[i] =
            (struct vdbq_vector){ .type = type, .values = batch->values[i] };
        room = batch->values[i] != NULL;
    }
    return room;
}

/* --------------------------------------------------------------- table -- */

static void line_finish(struct line *line)
{
    for (unsigned i = 0; i < line->slot_count; i++) {
        batch_finish(&line->slots[i].batch);
        output_text_finish(&line->slots[i].text);
    }
    free(line->slots);
    pthread_cond_destroy(&line->changed);
    pthread_mutex_destroy(&line->lock);
}

/* False: no memory; line_finish() is due all the same. */
static bool line_init(struct line *line, unsigned slot_count)
{
    pthread_mutex_init(&line->lock, NULL);
    pthread_cond_init(&line->changed, NULL);
    line->slots = calloc(slot_count, sizeof *line->slots);
    line->slot_count = line->slots ? slot_count : 0;
    bool room = line->slots != NULL;
    for (unsigned i = 0; i < line->slot_count && room; i++)
        room = batch_init(&line->slots[i].batch, line->table);
    return room;
}

static int write_table(const struct ssb *ssb, const struct ssb_table *table,
                       const struct ssb_options *options)
{
    char path[4096];
    struct output output;
    struct line line = { .ssb = ssb,
                         .table = table,
                         .rows = table->rows(ssb),
                         .csv = options->csv != NULL };
    unsigned threads =
        options->threads < THREADS_MAX ? options->threads : THREADS_MAX;
    snprintf(path, sizeof path, "%s/%s.csv", options->csv ? options->csv : "",
             table->output.name);
    const struct output_places places = { .db = options->db,
                                          .csv = options->csv ? path : NULL };
    int status = output_open(&output, &places, &table->output);
    if (!line_init(&line, 2 * threads) && status == 0) {
        fputs("generate: out of memory\n", stderr);
        status = 1;
    }
    if (status == 0)
        status = run_line(&line, threads, &output);
    line_finish(&line);
    return output_close(&output, status);
}

static void stop(struct line *line)
{
    pthread_mutex_lock(&line->lock);
    line->stopped = true;
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
}

static int run_line(struct line *line, unsigned threads, struct output *output)
{
    pthread_t thread[THREADS_MAX];
    unsigned started = 0;
    int status = 1;
    while (started < threads
           && pthread_create(&thread[started], NULL, make_batches, line) == 0)
        started++;
    if (started > 0)
        status = write_batches(line, output);
    else
        fputs("generate: cannot start a thread\n", stderr);
    stop(line);
    while (started > 0)
        pthread_join(thread[--started], NULL);
    return status;
}

/* -------------------------------------------------------------- threads -- */

static uint64_t batches(const struct line *line)
{
    return (line->rows + SSB_BATCH - 1) / SSB_BATCH;
}

/* Waits for a slot whose batch was written; NULL: there is no more to do. */
static struct slot *take_slot(struct line *line, uint64_t *number)
{
    pthread_mutex_lock(&line->lock);
    *number = line->next++;
    while (!line->stopped && *number < batches(line)
           && *number >= line->written + line->slot_count)
        pthread_cond_wait(&line->changed, &line->lock);
    bool done = line->stopped || *number >= batches(line);
    pthread_mutex_unlock(&line->lock);
    return done ? NULL : &line->slots[*number % line->slot_count];
}

static void *make_batches(void *context)
{
    struct line *line = context;
    struct slot *slot;
    uint64_t number;
    while ((slot = take_slot(line, &number)) != NULL) {
        struct ssb_batch *batch = &slot->batch;
        batch->first = number * SSB_BATCH;
        batch->used = 0;
        batch->rows = line->rows - batch->first < SSB_BATCH
                          ? line->rows - batch->first
                          : SSB_BATCH;
        line->table->fill(line->ssb, batch);
        const struct output_batch rows = { batch->rows, batch->vectors };
        bool room = !line->csv
                    || output_format(&line->table->output, &rows, &slot->text);
        pthread_mutex_lock(&line->lock);
        slot->made = true;
        line->no_memory |= !room;
        pthread_cond_broadcast(&line->changed);
        pthread_mutex_unlock(&line->lock);
    }
    return NULL;
}

/* Waits for the next batch in their order; false: one has no memory. */
static bool wait_for(struct line *line, const struct slot *slot)
{
    pthread_mutex_lock(&line->lock);
    while (!slot->made)
        pthread_cond_wait(&line->changed, &line->lock);
    bool good = !line->no_memory;
    pthread_mutex_unlock(&line->lock);
    return good;
}

static int write_slot(struct slot *slot, struct output *output)
{
    const struct output_batch rows = { slot->batch.rows, slot->batch.vectors };
    int status = output_values(output, &rows);
    return status == 0 ? output_csv(output, &slot->text) : status;
}

static int write_batches(struct line *line, struct output *output)
{
    int status = 0;
    for (uint64_t number = 0; number < batches(line) && !status; number++) {
        struct slot *slot = &line->slots[number % line->slot_count];
        if (!wait_for(line, slot))
            return fputs("generate: out of memory\n", stderr), 1;
        status = write_slot(slot, output);
        pthread_mutex_lock(&line->lock);
        slot->made = false;
        line->written++;
        pthread_cond_broadcast(&line->changed);
        pthread_mutex_unlock(&line->lock);
    }
    return status;
}
