/* SPDX-License-Identifier: MIT */
/*
 * Batches go through a ring of slots, two for each thread: threads fill them
 * in any order, the caller's thread writes them in theirs.
 */
#include "maker.h"

#include <math.h>
#include <stdlib.h>

#include "workers.h"

/* A batch on its way: free, being made, or waiting to be written. */
struct slot {
    struct batch batch;
    struct output_text text; /* the batch as CSV, if that is wanted */
    bool made;
};

/* The work of all threads on one table. */
struct ring {
    const struct maker *maker;
    const void *tables;
    uint64_t units; /* of the table */
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

static bool ring_init(struct ring *ring, unsigned slot_count);
static void ring_finish(struct ring *ring);
static int run_ring(struct ring *ring, unsigned threads, struct output *output);
static void *make_batches(void *context);
static int write_batches(struct ring *ring, struct output *output);

int maker_write(const struct maker *maker, const void *tables,
                const struct maker_options *options)
{
    char path[4096];
    struct output output;
    unsigned threads =
        options->threads < WORKERS_MAX ? options->threads : WORKERS_MAX;
    struct ring ring = { .maker = maker,
                         .tables = tables,
                         .units = maker->units(tables),
                         .csv = options->csv != NULL };
    snprintf(path, sizeof path, "%s/%s.csv", options->csv ? options->csv : "",
             maker->output.name);
    const struct output_places places = { .db = options->db,
                                          .csv = options->csv ? path : NULL };
    int status = output_open(&output, &places, &maker->output);
    if (!ring_init(&ring, 2 * threads) && status == 0) {
        fputs("generate: out of memory\n", stderr);
        status = 1;
    }
    if (status == 0)
        status = run_ring(&ring, threads, &output);
    ring_finish(&ring);
    return output_close(&output, status);
}

uint64_t maker_scaled(double scale, double each)
{
    double rows = floor(each * scale + 0.5);
    return rows < 1 ? 1 : (uint64_t)rows;
}

/* ---------------------------------------------------------------- ring -- */

static uint64_t batches(const struct ring *ring)
{
    return (ring->units + ring->maker->batch_units - 1)
           / ring->maker->batch_units;
}

static void ring_finish(struct ring *ring)
{
    for (unsigned i = 0; i < ring->slot_count; i++) {
        batch_finish(&ring->slots[i].batch);
        output_text_finish(&ring->slots[i].text);
    }
    free(ring->slots);
    pthread_cond_destroy(&ring->changed);
    pthread_mutex_destroy(&ring->lock);
}

/* False: no memory; ring_finish() is due all the same. */
static bool ring_init(struct ring *ring, unsigned slot_count)
{
    const struct maker *maker = ring->maker;
    if (slot_count > batches(ring))
        slot_count = (unsigned)batches(ring);
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->changed, NULL);
    ring->slots = calloc(slot_count, sizeof *ring->slots);
    ring->slot_count = ring->slots ? slot_count : 0;
    bool room = ring->slots != NULL;
    for (unsigned i = 0; i < ring->slot_count && room; i++)
        room = batch_init(&ring->slots[i].batch, &maker->output,
                          maker->batch_units * maker->unit_rows,
                          maker->text_bytes);
    return room;
}

static void stop(struct ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    ring->stopped = true;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}

static int run_ring(struct ring *ring, unsigned threads, struct output *output)
{
    struct workers workers;
    if (!workers_start(&workers, threads, make_batches, ring))
        return 1;
    int status = write_batches(ring, output);
    stop(ring);
    workers_join(&workers);
    return status;
}

/* ---------------------------------------------------------------- make -- */

/* Waits for a slot whose batch was written; NULL: there is no more to do. */
static struct slot *take_slot(struct ring *ring, uint64_t *number)
{
    pthread_mutex_lock(&ring->lock);
    *number = ring->next++;
    while (!ring->stopped && *number < batches(ring)
           && *number >= ring->written + ring->slot_count)
        pthread_cond_wait(&ring->changed, &ring->lock);
    bool done = ring->stopped || *number >= batches(ring);
    pthread_mutex_unlock(&ring->lock);
    return done ? NULL : &ring->slots[*number % ring->slot_count];
}

/* False: no memory for its text. */
static bool make(const struct ring *ring, uint64_t number, struct slot *slot)
{
    const struct maker *maker = ring->maker;
    struct batch *batch = &slot->batch;
    batch->first = number * maker->batch_units;
    batch->units = ring->units - batch->first < maker->batch_units
                       ? ring->units - batch->first
                       : maker->batch_units;
    batch->rows = batch->units;
    batch_clear(batch);
    maker->fill(ring->tables, batch);
    const struct output_batch rows = { batch->rows, batch->vectors };
    return !ring->csv || output_format(&maker->output, &rows, &slot->text);
}

static void *make_batches(void *context)
{
    struct ring *ring = context;
    struct slot *slot;
    uint64_t number;
    while ((slot = take_slot(ring, &number)) != NULL) {
        bool room = make(ring, number, slot);
        pthread_mutex_lock(&ring->lock);
        slot->made = true;
        ring->no_memory |= !room;
        pthread_cond_broadcast(&ring->changed);
        pthread_mutex_unlock(&ring->lock);
    }
    return NULL;
}

/* --------------------------------------------------------------- write -- */

/* Waits for the next batch in their order; false: one has no memory. */
static bool wait_for(struct ring *ring, const struct slot *slot)
{
    pthread_mutex_lock(&ring->lock);
    while (!slot->made)
        pthread_cond_wait(&ring->changed, &ring->lock);
    bool good = !ring->no_memory;
    pthread_mutex_unlock(&ring->lock);
    return good;
}

static int write_slot(struct slot *slot, struct output *output)
{
    const struct output_batch rows = { slot->batch.rows, slot->batch.vectors };
    int status = output_values(output, &rows);
    return status == 0 ? output_csv(output, &slot->text) : status;
}

static int write_batches(struct ring *ring, struct output *output)
{
    int status = 0;
    for (uint64_t number = 0; number < batches(ring) && !status; number++) {
        struct slot *slot = &ring->slots[number % ring->slot_count];
        if (!wait_for(ring, slot))
            return fputs("generate: out of memory\n", stderr), 1;
        status = write_slot(slot, output);
        pthread_mutex_lock(&ring->lock);
        slot->made = false;
        ring->written++;
        pthread_cond_broadcast(&ring->changed);
        pthread_mutex_unlock(&ring->lock);
    }
    return status;
}
