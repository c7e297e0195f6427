/* SPDX-License-Identifier: MIT */
/*
 * Measures queries: each one is run once to warm up and then N times, on one
 * device, in one mode and build. A line of JSON gives the limits of the
 * device, if they are asked for; then one for each query gives the run of
 * median time and what its rows sum up to, so that two runs can be compared
 * for equal answers. N runs more are with the option profiling, which makes
 * them longer: the one of median kernel time gives the times of kernels and
 * transfers, and nothing else. The clock runs from vdbq_query_run() to the batch that
 * says that no rows are left; a run that is measured does not look at its
 * rows, as a device would work on meanwhile. Those before and after them do.
 * With --once each query is run once and never again: its time is that of its
 * only run, with that of preparing it.
 * Relies on vdbq.h alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <vdbq.h>

#define RUNS_MAX 1000

/* Exit codes are those of the shell. */
enum exit_code {
    GOOD = 0,
    BAD_SQL = 1,
    BAD_USAGE = 2,
    BAD_FILE = 3,
    BAD_DEVICE = 4
};

/* Options of vdbq_set() that the command line may give. */
static const char *const settings[] = { "device", "mode",   "build",
                                        "cores",  "memory", "device_memory",
                                        "steps" };
#define SETTINGS (sizeof settings / sizeof settings[0])

struct options {
    const char *db;
    const char *queries;           /* file with one SELECT a line         */
    const char *setting[SETTINGS]; /* NULL: not given                     */
    unsigned runs;                 /* measured, after one that is not     */
    bool limits;                   /* are measured first                  */
    bool once;                     /* each query, and measured            */
    unsigned pause_ms;             /* behind the second run               */
};

/* What one run gave and cost. */
struct run {
    uint64_t rows;
    uint64_t ordered;   /* checksum of the rows in their order */
    uint64_t unordered; /* checksum of the rows in any order   */
    uint64_t bytes;     /* of the values that were returned    */
    uint64_t total_ns;
    struct vdbq_stats stats;
};

static int parse(int argc, char **argv, struct options *options);
static int configure(const struct options *options, vdbq *db);
static int measure_limits(vdbq *db);
static void wait_ms(unsigned ms);
static int measure_file(const struct options *options, vdbq *db);
static int complain(const vdbq *db);

int main(int argc, char **argv)
{
    struct options options = { .runs = 5 };
    vdbq *db;
    int code = parse(argc, argv, &options);
    if (code != GOOD)
        return code;
    if (vdbq_open(options.db, VDBQ_OPEN_READ_ONLY, &db) != VDBQ_OK)
        code = complain(db);
    if (code == GOOD)
        code = configure(&options, db);
    if (code == GOOD && options.limits)
        code = measure_limits(db);
    if (code == GOOD)
        code = measure_file(&options, db);
    vdbq_close(db);
    return code;
}

static int complain(const vdbq *db)
{
    const struct vdbq_error *error = vdbq_error(db);
    fprintf(stderr, "error: %s\n", error->message);
    if (error->hint && *error->hint)
        fprintf(stderr, "hint: %s\n", error->hint);
    switch (error->status) {
    case VDBQ_DEVICE:
        return BAD_DEVICE;
    case VDBQ_IO:
    case VDBQ_CORRUPT:
        return BAD_FILE;
    default:
        return BAD_SQL;
    }
}

/* ------------------------------------------------------- command line -- */

static int usage(void)
{
    fputs("usage: benchmark [options] --queries FILE DB\n"
          "  --queries FILE  one SELECT a line\n"
          "  --runs N        measured runs of each, the median counts (5)\n"
          "  --limits yes    measure the limits of the device first\n"
          "  --pause MS      wait so long behind the second run of each: what "
          "is\n"
          "                  compiled behind it comes\n"
          "  --once yes      run each query once, with no run to warm up; the\n"
          "                  pause is behind the second query\n"
          "  --device, --mode, --build, --cores, --memory, --device_memory,\n"
          "  --steps VALUE   as the options of vdbq_set()\n",
          stderr);
    return BAD_USAGE;
}

static bool parse_option(const char *name, const char *value,
                         struct options *options)
{
    if (strcmp(name, "queries") == 0)
        return options->queries = value, true;
    if (strcmp(name, "runs") == 0) {
        options->runs = (unsigned)strtoul(value, NULL, 10);
        return options->runs >= 1 && options->runs <= RUNS_MAX;
    }
    if (strcmp(name, "limits") == 0)
        return options->limits = true, strcmp(value, "yes") == 0;
    if (strcmp(name, "once") == 0)
        return options->once = true, strcmp(value, "yes") == 0;
    if (strcmp(name, "pause") == 0)
        return options->pause_ms = (unsigned)strtoul(value, NULL, 10), true;
    for (size_t i = 0; i < SETTINGS; i++)
        if (strcmp(name, settings[i]) == 0)
            return options->setting[i] = value, true;
    return false;
}

static int parse(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        bool is_option = strncmp(argv[i], "--", 2) == 0;
        if (is_option && i + 1 < argc) {
            if (!parse_option(argv[i] + 2, argv[i + 1], options))
                return usage();
            i++;
        } else if (is_option || options->db) {
            return usage();
        } else {
            options->db = argv[i];
        }
    }
    return options->db && options->queries ? GOOD : usage();
}

static int configure(const struct options *options, vdbq *db)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (options->setting[i]
            && vdbq_set(db, settings[i], options->setting[i]) != VDBQ_OK)
            return complain(db), BAD_USAGE;
    return vdbq_device_open(db) == VDBQ_OK ? GOOD : complain(db);
}

/* ------------------------------------------------------------ checksum -- */

/* Spreads every bit of x over all bits (a xor-shift-multiply finaliser). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

static size_t width_of(enum vdbq_type type)
{
    switch (type) {
    case VDBQ_TEXT:
        return sizeof(struct vdbq_text);
    case VDBQ_BIGINT:
    case VDBQ_DOUBLE:
    case VDBQ_DECIMAL:
    case VDBQ_TIMESTAMP:
        return 8;
    default:
        return 4;
    }
}

static uint64_t text_bits(const struct vdbq_text *text)
{
    uint64_t bits = text->length;
    for (size_t i = 0; i < text->length; i++)
        bits = mix(bits + (unsigned char)text->bytes[i]);
    return bits;
}

static uint64_t value_bits(const struct vdbq_vector *vector, uint64_t row)
{
    const unsigned char *bytes = vector->values;
    size_t width = width_of(vector->type);
    uint64_t bits = 0;
    if (vector->nulls && vector->nulls[row])
        return UINT64_MAX;
    if (vector->type == VDBQ_TEXT)
        return text_bits((const struct vdbq_text *)vector->values + row);
    memcpy(&bits, bytes + row * width, width);
    return bits;
}

static void add_batch(const struct vdbq_batch *batch, struct run *run)
{
    for (uint64_t row = 0; row < batch->rows; row++) {
        uint64_t sum = batch->columns;
        for (unsigned column = 0; column < batch->columns; column++)
            sum = mix(sum + value_bits(&batch->column[column], row));
        run->unordered += sum;
        run->ordered = mix(run->ordered + sum);
    }
    run->rows += batch->rows;
    for (unsigned column = 0; column < batch->columns; column++)
        run->bytes += batch->rows * width_of(batch->column[column].type);
}

/* ------------------------------------------------------------- measure -- */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* What all cores have spent on this process. */
static uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* One run; `look`: at its rows. */
static enum vdbq_status run_once(vdbq_query *query, bool look, struct run *run)
{
    struct vdbq_batch batch = { 0 };
    *run = (struct run){ 0 };
    uint64_t start = now_ns();
    enum vdbq_status status = vdbq_query_run(query);
    while (status == VDBQ_OK) {
        status = vdbq_query_batch(query, &batch);
        if (status != VDBQ_OK || batch.rows == 0)
            break;
        if (look)
            add_batch(&batch, run);
        else
            run->rows += batch.rows;
    }
    run->total_ns = now_ns() - start;
    vdbq_query_stats(query, &run->stats);
    return status;
}

static int compare_time(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    return (a->total_ns > b->total_ns) - (a->total_ns < b->total_ns);
}

static int compare_kernel(const void *left, const void *right)
{
    uint64_t a = ((const struct run *)left)->stats.kernel_ns;
    uint64_t b = ((const struct run *)right)->stats.kernel_ns;
    return (a > b) - (a < b);
}

/* The median of `count` runs, by kernel time where that is asked for. */
static enum vdbq_status run_median(vdbq *db, vdbq_query *query, bool profiling,
                                   unsigned count, struct run *median)
{
    struct run run[RUNS_MAX];
    enum vdbq_status status =
        vdbq_set(db, "profiling", profiling ? "on" : "off");
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++)
        status = run_once(query, false, &run[i]);
    if (status != VDBQ_OK)
        return status;
    qsort(run, count, sizeof run[0], profiling ? compare_kernel : compare_time);
    *median = run[count / 2];
    return VDBQ_OK;
}

/* The median run without profiling, with the device's times of that with. */
static enum vdbq_status run_both(const struct options *options, vdbq *db,
                                 vdbq_query *query, struct run *median)
{
    struct run timed;
    enum vdbq_status status =
        run_median(db, query, false, options->runs, median);
    if (status == VDBQ_OK)
        status = run_median(db, query, true, options->runs, &timed);
    if (status != VDBQ_OK)
        return status;
    median->stats.kernel_ns = timed.stats.kernel_ns;
    median->stats.transfer_ns = timed.stats.transfer_ns;
    return VDBQ_OK;
}

static bool equal_answers(const struct run *a, const struct run *b)
{
    return a->rows == b->rows && a->ordered == b->ordered
           && a->unordered == b->unordered;
}

static void print_text(const char *name, const char *text)
{
    printf("\"%s\": \"", name);
    for (; text && *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
    printf("\", ");
}

static void print_ms(const char *name, uint64_t ns, const char *end)
{
    printf("\"%s\": %.3f%s", name, (double)ns / 1e6, end);
}

/* The most memory that this process has had. */
static uint64_t peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* `last` has the names, whose text lives until the query's next call only,
 * and the checksums. */
static void print_run(unsigned number, const struct run *last,
                      const struct run *first, const struct run *median)
{
    const struct vdbq_stats *where = &last->stats;
    printf("{\"query\": %u, ", number);
    print_text("device", where->device);
    print_text("mode", where->mode);
    print_text("build", where->build);
    printf("\"rows\": %" PRIu64 ", \"checksum\": \"%016" PRIx64 "\", "
           "\"set_checksum\": \"%016" PRIx64 "\", ",
           last->rows, last->ordered, last->unordered);
    printf("\"rows_read\": %" PRIu64 ", \"bytes_read\": %" PRIu64
           ", \"bytes_in\": %" PRIu64 ", \"bytes_out\": %" PRIu64
           ", \"bytes_result\": %" PRIu64 ", \"launches\": %u, ",
           median->stats.rows_read, median->stats.bytes_read,
           median->stats.bytes_in, median->stats.bytes_out, last->bytes,
           median->stats.launches);
    printf("\"peak_bytes\": %" PRIu64 ", ", peak_bytes());
    print_ms("load_ms", median->stats.load_ns, ", ");
    print_ms("kernel_ms", median->stats.kernel_ns, ", ");
    print_ms("transfer_ms", median->stats.transfer_ns, ", ");
    print_ms("compile_ms", first->stats.compile_ns, ", ");
    print_ms("first_ms", first->total_ns, ", ");
    print_ms("total_ms", median->total_ns, "}\n");
    fflush(stdout);
}

static void wait_ms(unsigned ms)
{
    const struct timespec time = { ms / 1000, (long)(ms % 1000) * 1000000 };
    nanosleep(&time, NULL);
}

/* A second run, for what is compiled behind the second sight of a program, and time
 * for that. */
static enum vdbq_status run_and_wait(const struct options *options,
                                     vdbq_query *query)
{
    struct run ignored;
    if (options->pause_ms == 0)
        return VDBQ_OK;
    enum vdbq_status status = run_once(query, true, &ignored);
    wait_ms(options->pause_ms);
    return status;
}

static int measure(const struct options *options, unsigned number, vdbq *db,
                   vdbq_query *query)
{
    struct run first, last, median;
    if (run_once(query, true, &first) != VDBQ_OK
        || run_and_wait(options, query) != VDBQ_OK
        || run_both(options, db, query, &median) != VDBQ_OK
        || run_once(query, true, &last) != VDBQ_OK)
        return complain(db);
    if (!equal_answers(&first, &last) || median.rows != first.rows) {
        fprintf(stderr, "error: query %u: two runs differ\n", number);
        return BAD_SQL;
    }
    print_run(number, &last, &first, &median);
    return GOOD;
}

/* When a statement's preparation began, and how long it took. */
struct preparing {
    uint64_t cpu_start_ns;
    uint64_t start_ns;
    uint64_t plan_ns;
};

/* The only run of a query. */
static int measure_once(unsigned number, vdbq *db, vdbq_query *query,
                        const struct preparing *preparing)
{
    struct run run;
    if (run_once(query, false, &run) != VDBQ_OK)
        return complain(db);
    uint64_t cpu = cpu_ns() - preparing->cpu_start_ns;
    printf("{\"query\": %u, ", number);
    print_text("device", run.stats.device);
    print_text("mode", run.stats.mode);
    print_text("build", run.stats.build);
    printf("\"rows\": %" PRIu64 ", \"peak_bytes\": %" PRIu64 ", ", run.rows,
           peak_bytes());
    print_ms("plan_ms", preparing->plan_ns, ", ");
    print_ms("cpu_ms", cpu, ", ");
    print_ms("total_ms", preparing->plan_ns + run.total_ns, "}\n");
    fflush(stdout);
    return GOOD;
}

/* Measures and prints the limits, GB/s. */
static int measure_limits(vdbq *db)
{
    struct vdbq_limits limits;
    if (vdbq_measure_limits(db, &limits) != VDBQ_OK)
        return complain(db);
    printf("{\"memory_read\": %.2f, \"copy_in\": %.2f, \"copy_out\": %.2f, "
           "\"copy_both\": %.2f, \"host_read\": %.2f, "
           "\"shares_memory\": %s}\n",
           limits.memory_read, limits.copy_in, limits.copy_out,
           limits.copy_both, limits.host_read,
           limits.shares_memory ? "true" : "false");
    fflush(stdout);
    return GOOD;
}

static int measure_file(const struct options *options, vdbq *db)
{
    FILE *file = fopen(options->queries, "r");
    char *line = NULL;
    size_t size = 0;
    int code = GOOD;
    if (!file)
        return perror(options->queries), BAD_FILE;
    for (unsigned number = 0; code == GOOD && getline(&line, &size, file) > 0;
         number++) {
        vdbq_query *query;
        struct preparing preparing = { cpu_ns(), now_ns(), 0 };
        if (vdbq_prepare(db, line, -1, &query, NULL) != VDBQ_OK)
            code = complain(db);
        preparing.plan_ns = now_ns() - preparing.start_ns;
        if (code == GOOD && query && options->once)
            code = measure_once(number, db, query, &preparing);
        else if (code == GOOD && query)
            code = measure(options, number, db, query);
        vdbq_query_close(query);
        if (options->once && number == 1)
            wait_ms(options->pause_ms);
    }
    free(line);
    fclose(file);
    return code;
}
