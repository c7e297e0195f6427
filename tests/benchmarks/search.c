/* SPDX-License-Identifier: MIT */
/*
 * Measures searches in a sorted column of different texts of 15 characters, on
 * one device: batches of keys of random rows, binary, p-ary and by tree, and beside
 * them on the host a plain binary search on one core, and one without branches on
 * as many cores as the device has. Prints a line of JSON for each;
 * tools/benchmark-search makes a table of them. Every answer is compared with the
 * row that its key was taken from.
 *
 * Times are medians in microseconds: whole_us from keys in pinned memory of the
 * host to answers there; kernel_us, in_us and out_us by the device's clock, in
 * further runs, while the device keeps times.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "device/search.h"

/* 2^48 texts start differently; POOL keys are drawn, and each search takes
 * others of them while there are any that no search has brought into caches. */
enum {
    HEAD_BITS = 48,
    POOL = 1 << 20,
    RUNS_MAX = 101,
    BATCHES_MAX = 16,
    LONG_BATCH = 100000,
    LONG_RUNS = 3,
    WARM_UP_NS = 300000000,
    KEY_ROWS = 64 /* of a scan take a thread as long as one key */
};

/* How keys are searched: the first two on the host. */
enum way { SERIAL, BRANCH_FREE, BINARY, PARY, TREE, WAYS };
static const char *const names[WAYS] = { "serial", "branch-free", "binary",
                                         "p-ary", "tree" };

struct text16 {
    uint64_t high, low; /* characters; the first is the highest byte */
};

static struct {
    uint64_t rows;
    unsigned runs;
    const char *device;
    unsigned cores;
    uint64_t batches[BATCHES_MAX];
    unsigned batch_count;
} options = { .rows = 36000000, .runs = 11, .device = "cpu" };

static struct text16 *sorted;
static uint32_t drawn[POOL]; /* the rows that keys are of */
static struct device *device;
static struct device_memory *column;
static struct text16 *keys; /* pinned: those of the rows drawn */
static uint32_t *places;    /* pinned: answers                 */
static struct error failure;

/* Ends the program where a call has failed. */
static void need(enum vdbq_status status)
{
    if (status == VDBQ_OK)
        return;
    fprintf(stderr, "error: %s\n", failure.message);
    exit(status == VDBQ_DEVICE ? 4 : 1);
}

/* --------------------------------------------------------------- keys -- */

/* Numbers that look random, the same in every run. */
static uint64_t random_next(void)
{
    static uint64_t state = 42;
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Characters of the lowest bits, 6 each, in the order of their codes. */
static uint64_t characters(uint64_t bits, unsigned count)
{
    static const char alphabet[] = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "_abcdefghijklmnopqrstuvwxyz";
    uint64_t word = 0;
    while (count-- > 0)
        word = word << 8 | (unsigned char)alphabet[bits >> 6 * count & 63];
    return word;
}

/* Each row's text starts in a range of its own, which makes them different and
 * sorted; within it, and behind the first 8 characters, it is random. */
static void make_column(void)
{
    uint64_t range = (UINT64_C(1) << HEAD_BITS) / options.rows;
    sorted = aligned_alloc(4096, (options.rows * sizeof *sorted + 4095) / 4096
                                     * 4096);
    if (sorted == NULL)
        need(error_no_memory(&failure));
    for (uint64_t row = 0; row < options.rows; row++) {
        uint64_t head = row * range + random_next() % range;
        sorted[row].high = characters(head, 8);
        sorted[row].low = characters(random_next(), 7) << 8;
    }
}

static struct device_memory *pinned(uint64_t size)
{
    struct device_memory *memory;
    need(device_memory_create(device, MEMORY_PINNED, size, &memory, &failure));
    return memory;
}

/* Opens the device and gives it the column, with its directory. */
static void open_device(void)
{
    struct device_params params = { .choice = options.device,
                                    .cores = options.cores };
    uint64_t size = search_directory_size(SEARCH_PAIR, 0, options.rows);
    struct device_times times = { 0 };
    need(device_open(&params, &device, &failure));
    need(device_memory_create(device, MEMORY_DEVICE, size, &column, &failure));
    need(device_write(column, 0, sorted, options.rows * sizeof *sorted, &times,
                      &failure));
    need(search_directory_make(device,
                               &(struct search_params){ .sorted = column,
                                                        .count = options.rows,
                                                        .type = SEARCH_PAIR },
                               &times, &failure));
}

static void draw_keys(struct device_memory *memory)
{
    keys = device_memory_host(memory);
    for (unsigned i = 0; i < POOL; i++) {
        drawn[i] = (uint32_t)(random_next() % options.rows);
        keys[i] = sorted[drawn[i]];
    }
}

/* --------------------------------------------------------- on the host -- */

static int less(struct text16 a, struct text16 b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

/* One key after the other, as a program would that knows no better. */
static void search_serially(uint64_t from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t first = 0, end = options.rows;
        while (first < end) {
            uint64_t middle = first + (end - first) / 2;
            if (less(sorted[middle], keys[from + i]))
                first = middle + 1;
            else
                end = middle;
        }
        places[i] = (uint32_t)first;
    }
}

/* Searches that are shared out. */
struct shared {
    uint64_t from, count; /* of the keys */
    unsigned threads;
};

/* The same without a branch that depends on a value: a processor then guesses
 * nothing wrong, and works on the next keys while it waits for memory. */
static void search_share(void *context, unsigned i)
{
    const struct shared *shared = context;
    uint64_t end = shared->count * (i + 1) / shared->threads;
    for (uint64_t k = shared->count * i / shared->threads; k < end; k++) {
        struct text16 key = keys[shared->from + k];
        uint64_t first = 0;
        for (uint64_t left = options.rows + 1; left > 1; left -= left / 2) {
            struct text16 value = sorted[first + left / 2 - 1];
            uint64_t is_less =
                (uint64_t)(value.high < key.high)
                | ((uint64_t)(value.high == key.high) & (value.low < key.low));
            first += left / 2 * is_less;
        }
        places[k] = (uint32_t)first;
    }
}

static void search_without_branches(uint64_t from, uint64_t count)
{
    struct shared shared = { from, count,
                             parallel_threads(device_facts(device)->cores,
                                              count * KEY_ROWS) };
    parallel_run(shared.threads, search_share, &shared);
}

/* ------------------------------------------------------------ measure -- */

/* What is measured of a run. */
enum { WHOLE, KERNEL, IN, OUT, MEASURES };
static uint64_t times_ns[MEASURES][RUNS_MAX];

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Runs of a search: of a long one a few are enough. */
static unsigned runs_of(uint64_t batch)
{
    return batch >= LONG_BATCH && options.runs > LONG_RUNS ? LONG_RUNS
                                                           : options.runs;
}

static double median_us(int measure, unsigned runs)
{
    uint64_t *times = times_ns[measure];
    qsort(times, runs, sizeof *times, compare);
    return (double)times[runs / 2] / 1e3;
}

/* Searches one batch; where the answers are wrong the program ends. */
static void search(enum way way, unsigned run, uint64_t batch,
                   struct search_times *times)
{
    static uint64_t searched;
    uint64_t from = searched % (POOL - batch + 1);
    uint64_t start = os_time_ns();
    searched += batch;
    if (way == SERIAL)
        search_serially(from, batch);
    else if (way == BRANCH_FREE)
        search_without_branches(from, batch);
    else
        need(search_keys(device,
                         &(struct search_params){
                             .sorted = column,
                             .directory = true,
                             .count = options.rows,
                             .type = SEARCH_PAIR,
                             .keys = keys + from,
                             .key_count = batch,
                             .algorithm = way == TREE   ? SEARCH_TREE
                                          : way == PARY ? SEARCH_PARY
                                                        : SEARCH_BINARY },
                         places, times, &failure));
    times_ns[WHOLE][run] = os_time_ns() - start;
    if (memcmp(places, drawn + from, batch * sizeof *places) != 0)
        need(error_set(&failure, VDBQ_CORRUPT, "a search gave a wrong row"));
}

/* The device's own times, in runs that keep them. */
static void measure_times(enum way way, uint64_t batch)
{
    need(device_times_hold(device, &failure));
    for (unsigned run = 0; run < runs_of(batch); run++) {
        struct search_times times = { 0 };
        search(way, run, batch, &times);
        times_ns[KERNEL][run] = times.kernel.kernel_ns;
        times_ns[IN][run] = times.in.transfer_ns;
        times_ns[OUT][run] = times.out.transfer_ns;
    }
    device_times_release(device);
}

static void measure(enum way way, uint64_t batch)
{
    struct search_times ignored = { 0 };
    search(way, 0, batch, &ignored);
    for (unsigned run = 0; run < runs_of(batch); run++)
        search(way, run, batch, &ignored);
    printf("{\"device\": \"%s\", \"rows\": %" PRIu64 ", \"batch\": %" PRIu64
           ", \"search\": \"%s\", \"whole_us\": %.2f",
           device_facts(device)->name, options.rows, batch, names[way],
           median_us(WHOLE, runs_of(batch)));
    if (way >= BINARY) {
        measure_times(way, batch);
        printf(", \"kernel_us\": %.2f, \"in_us\": %.2f, \"out_us\": %.2f",
               median_us(KERNEL, runs_of(batch)), median_us(IN, runs_of(batch)),
               median_us(OUT, runs_of(batch)));
    }
    puts("}");
    fflush(stdout);
}

/* Keeps the device at work for a while: one that was idle has not its full pace at
 * once. */
static void warm_up(void)
{
    struct search_times ignored = { 0 };
    uint64_t end = os_time_ns() + WARM_UP_NS;
    while (os_time_ns() < end)
        search(TREE, 0, options.batches[0], &ignored);
}

/* ------------------------------------------------------- command line -- */

static int usage(void)
{
    fputs("usage: benchmark_search [options]\n"
          "  --rows N       of the column (36000000)\n"
          "  --batches N,N  keys of a search (16,1024,16384,1048576)\n"
          "  --device D     as the shell's (cpu)\n"
          "  --cores N      of the device (all)\n"
          "  --runs N       of each search, the median counts (11; of long "
          "ones 3)\n",
          stderr);
    return 2;
}

/* Takes the list apart; false: a batch is too large, or there are too many. */
static int parse_batches(const char *list)
{
    char *end = NULL;
    for (options.batch_count = 0; options.batch_count < BATCHES_MAX;
         list = end + 1) {
        uint64_t batch = strtoull(list, &end, 10);
        if (batch == 0 || batch > POOL)
            return 0;
        options.batches[options.batch_count++] = batch;
        if (*end != ',')
            return *end == '\0';
    }
    return 0;
}

static int parse_option(const char *name, const char *value)
{
    if (strcmp(name, "--rows") == 0) {
        options.rows = strtoull(value, NULL, 10);
        return options.rows > 0 && options.rows < UINT32_MAX;
    }
    if (strcmp(name, "--runs") == 0) {
        options.runs = (unsigned)strtoul(value, NULL, 10);
        return options.runs > 0 && options.runs <= RUNS_MAX;
    }
    if (strcmp(name, "--cores") == 0)
        return options.cores = (unsigned)strtoul(value, NULL, 10), 1;
    if (strcmp(name, "--device") == 0)
        return options.device = value, 1;
    return strcmp(name, "--batches") == 0 && parse_batches(value);
}

int main(int argc, char **argv)
{
    parse_batches("16,1024,16384,1048576");
    for (int i = 1; i < argc; i += 2)
        if (i + 1 >= argc || !parse_option(argv[i], argv[i + 1]))
            return usage();
    make_column();
    open_device();
    struct device_memory *key_memory = pinned(POOL * sizeof *keys);
    struct device_memory *place_memory = pinned(POOL * sizeof *places);
    draw_keys(key_memory);
    places = device_memory_host(place_memory);
    warm_up();
    for (unsigned i = 0; i < options.batch_count; i++)
        for (int way = 0; way < WAYS; way++)
            measure((enum way)way, options.batches[i]);
    device_memory_destroy(key_memory);
    device_memory_destroy(place_memory);
    device_memory_destroy(column);
    device_close(device);
    free(sorted);
    return 0;
}
