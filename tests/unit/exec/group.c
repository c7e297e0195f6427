/* SPDX-License-Identifier: MIT */
/*
 * Grouping against a naive one: random rows of all types with NULLs, values
 * that are equal in odd ways, batches cut anywhere, any number of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "exec/group/group.h"
#include "fixtures/chance.h"
#include "fixtures/failing_memory.h"
#include "fixtures/random_rows.h"

/* ------------------------------------------------------- the naive way -- */

struct naive_group {
    uint32_t first; /* row */
    uint32_t rows;
};

static bool same_group(uint32_t a, uint32_t b, const unsigned *keys,
                       unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!random_equal(keys[i], a, b))
            return false;
    return true;
}

/* Finds each row's group; returns how many there are. */
static uint32_t naive_groups(uint32_t rows, const unsigned *keys,
                             unsigned count, uint32_t *group_of,
                             struct naive_group *groups)
{
    uint32_t made = 0;
    if (count == 0)
        groups[made++] = (struct naive_group){ 0, 0 };
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t g = 0;
        while (g < made && !same_group(groups[g].first, i, keys, count))
            g++;
        if (g == made)
            groups[made++] = (struct naive_group){ i, 0 };
        groups[g].rows++;
        group_of[i] = g;
    }
    return made;
}

/* Whether a value like row's stands in its group before it, where it counts. */
static bool repeated(const struct step_aggregate *aggregate, uint32_t row,
                     const uint32_t *group_of, unsigned column)
{
    for (uint32_t i = 0; i < row; i++)
        if (group_of[i] == group_of[row] && random_true(aggregate->filter, i)
            && random_equal(column, i, row))
            return true;
    return false;
}

struct naive {
    bool null;
    double real;
    int64_t integer;
};

static void naive_take(const struct step_aggregate *aggregate, uint32_t row,
                       struct naive *value, uint32_t *taken)
{
    unsigned column = (unsigned)aggregate->column;
    double real = random_real(column, row);
    int64_t integer = random_integer(column, row);
    bool first = *taken == 0;

    switch (aggregate->function) {
    case AGGREGATE_MIN:
    case AGGREGATE_MAX:
        if (first
            || (aggregate->function == AGGREGATE_MIN)
                   == random_less(column, real, integer, value->real,
                                  value->integer)) {
            if (first || real != value->real || integer != value->integer) {
                value->real = real;
                value->integer = integer;
            }
        }
        break;
    case AGGREGATE_BIT_AND:
        value->integer = first ? integer : value->integer & integer;
        break;
    case AGGREGATE_BIT_OR:
        value->integer |= integer;
        break;
    case AGGREGATE_BIT_XOR:
        value->integer ^= integer;
        break;
    default:
        value->real += real;
        value->integer += integer;
    }
    ++*taken;
}

/* What the aggregate of a group must be. */
static struct naive naive_aggregate(const struct step_aggregate *aggregate,
                                    uint32_t group, uint32_t rows,
                                    const uint32_t *group_of)
{
    unsigned column = (unsigned)aggregate->column;
    struct naive value = { false, 0, 0 };
    uint32_t taken = 0;

    for (uint32_t i = 0; i < rows; i++) {
        if (group_of[i] != group || !random_true(aggregate->filter, i))
            continue;
        if (aggregate->function == AGGREGATE_FIRST)
            return (struct naive){ random_null(column, i),
                                   random_real(column, i),
                                   random_integer(column, i) };
        if (aggregate->column >= 0 && random_null(column, i))
            continue;
        if (aggregate->distinct && aggregate->column >= 0
            && repeated(aggregate, i, group_of, column))
            continue;
        if (aggregate->function == AGGREGATE_COUNT)
            taken++;
        else
            naive_take(aggregate, i, &value, &taken);
    }
    value.null = taken == 0;
    if (aggregate->function == AGGREGATE_COUNT)
        return (struct naive){ false, 0, taken };
    if (aggregate->function == AGGREGATE_TOTAL)
        value.null = false;
    if (!random_is_float(column)
        && (aggregate->function == AGGREGATE_TOTAL
            || aggregate->function == AGGREGATE_AVG))
        value.real = (double)value.integer;
    if (aggregate->function == AGGREGATE_AVG && taken > 0)
        value.real /= taken;
    if (random_is_float(column) || aggregate->function == AGGREGATE_TOTAL)
        value.null |= isnan(value.real) != 0;
    return value;
}

/* -------------------------------------------------------- one comparison -- */

enum { AGGREGATES_MAX = 4 };

static struct step_column columns_of(enum vdbq_type type)
{
    return (struct step_column){ .name = "x", .type = type };
}

static enum vdbq_type result_type(const struct step_aggregate *aggregate)
{
    unsigned column = (unsigned)aggregate->column;
    switch (aggregate->function) {
    case AGGREGATE_COUNT:
    case AGGREGATE_BIT_AND:
    case AGGREGATE_BIT_OR:
    case AGGREGATE_BIT_XOR:
        return VDBQ_BIGINT;
    case AGGREGATE_SUM:
        return random_is_float(column) ? VDBQ_DOUBLE : VDBQ_BIGINT;
    case AGGREGATE_TOTAL:
    case AGGREGATE_AVG:
        return VDBQ_DOUBLE;
    default:
        return random_types[column];
    }
}

/* What grouping may hold; 0: there is no limit. */
static uint64_t limit_bytes;
static const struct os_file_calls *files = &os_memory_files;
static uint64_t most_bytes, spill_bytes; /* of the last run */

/* Puts the rows that went to files into the row set. */
static enum vdbq_status read_back(struct reorder *spilled,
                                  struct row_set *row_set, struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = VDBQ_OK;
    assert_int_equal(row_set->rows, 0);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = reorder_batch(spilled, &batch, error);
        if (status == VDBQ_OK)
            status = row_set_append(row_set, &batch, 1, error);
    }
    return status;
}

/* Whether a column has a NULL; or, where it has none, at random. */
static bool may_be_null(unsigned column, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        if (random_null(column, i))
            return true;
    return random_below(2);
}

/* Groups rows in batches of up to `batch` rows, some of them at a time. */
static enum vdbq_status run(const struct step_group *step, uint32_t rows,
                            uint32_t batch, unsigned threads,
                            struct row_set *row_set)
{
    static struct error error;
    struct step_column input[RANDOM_COLUMNS], output[16];
    bool nullable[RANDOM_COLUMNS];
    struct account account = { .limit_bytes = limit_bytes };
    struct account_share memory = { .account =
                                        limit_bytes > 0 ? &account : NULL };
    struct reorder spilled = { 0 };
    struct group_params params = { .step = step,
                                   .columns = input,
                                   .results = output,
                                   .nullable = nullable,
                                   .threads = threads,
                                   .memory = &memory,
                                   .files = files };
    struct batches batches;
    struct group *group;
    enum vdbq_status status = VDBQ_OK;
    unsigned count = 0;

    assert_int_equal(batches_init(&batches, RANDOM_COLUMNS, &error), VDBQ_OK);
    for (unsigned i = 0; i < RANDOM_COLUMNS; i++) {
        input[i] = columns_of(random_types[i]);
        nullable[i] = may_be_null(i, rows);
    }
    for (unsigned i = 0; i < step->keys; i++)
        output[count++] = input[i];
    for (unsigned i = 0; i < step->aggregates.count; i++)
        output[count++] =
            columns_of(result_type(vector_at(&step->aggregates, i)));
    assert_int_equal(row_set_init(row_set, output, count, &error), VDBQ_OK);
    assert_int_equal(group_create(&params, &group, &error), VDBQ_OK);
    for (uint32_t at = 0; at < rows && status == VDBQ_OK;) {
        struct vdbq_vector vectors[RANDOM_COLUMNS];
        uint32_t some = batch < rows - at ? batch : rows - at;
        const struct vdbq_batch given = random_batch(at, some, vectors);
        batches_add(&batches, &given);
        at += some;
        if (at < rows && batches.count < BATCHES_MAX && random_below(4) > 0)
            continue;
        status = group_add(group, &batches, &error);
        batches.count = 0;
    }
    batches_finish(&batches);
    if (status == VDBQ_OK)
        status = group_finish(group, row_set, &spilled, &error);
    group_destroy(group);
    if (status == VDBQ_OK && spilled.rows > 0)
        status = read_back(&spilled, row_set, &error);
    reorder_finish(&spilled);
    account_give_all(&memory);
    assert_int_equal(account.used_bytes, 0);
    most_bytes = memory.most_bytes;
    spill_bytes = memory.spill_bytes;
    return status;
}

static bool near(double got, double wanted, double size)
{
    return got == wanted || fabs(got - wanted) <= 1e-9 * size;
}

static void check_value(const struct row_set_column *column, uint64_t row,
                        const struct naive *wanted)
{
    assert_int_equal(row_set_is_null(column, row), wanted->null);
    if (wanted->null)
        return;
    if (column->type == VDBQ_DOUBLE)
        assert_true(
            near(((double *)column->values)[row], wanted->real, RANDOM_SIZE));
    else if (column->type == VDBQ_FLOAT)
        assert_true((double)((float *)column->values)[row] == wanted->real);
    else if (column->width == 8)
        assert_int_equal(((int64_t *)column->values)[row], wanted->integer);
    else
        assert_int_equal(((int32_t *)column->values)[row], wanted->integer);
}

static void check(const struct step_group *step, uint32_t rows,
                  const struct row_set *row_set)
{
    static const unsigned keys[] = { 0, 1, 2, 3, 4, 5, 6 };
    uint32_t *group_of = malloc((rows + 1) * sizeof *group_of);
    struct naive_group *groups = malloc((rows + 1) * sizeof *groups);
    uint32_t count = naive_groups(rows, keys, step->keys, group_of, groups);

    assert_int_equal(row_set->rows, count);
    for (uint32_t g = 0; g < count; g++) {
        for (unsigned k = 0; k < step->keys; k++) {
            struct naive key = { random_null(k, groups[g].first),
                                 random_real(k, groups[g].first),
                                 random_integer(k, groups[g].first) };
            check_value(&row_set->columns[k], g, &key);
        }
        for (unsigned a = 0; a < step->aggregates.count; a++) {
            struct naive wanted = naive_aggregate(
                vector_at(&step->aggregates, a), g, rows, group_of);
            check_value(&row_set->columns[step->keys + a], g, &wanted);
        }
    }
    free(group_of);
    free(groups);
}

static void same_bits(const struct row_set *a, const struct row_set *b)
{
    assert_int_equal(a->rows, b->rows);
    for (unsigned i = 0; i < a->column_count; i++)
        for (uint64_t row = 0; row < a->rows; row++) {
            const struct row_set_column *x = &a->columns[i];
            const struct row_set_column *y = &b->columns[i];
            assert_int_equal(row_set_is_null(x, row), row_set_is_null(y, row));
            if (!row_set_is_null(x, row))
                assert_memory_equal((char *)x->values + row * x->width,
                                    (char *)y->values + row * x->width,
                                    x->width);
        }
}

/* --------------------------------------------------------------- tests -- */

static struct step_group random_step(void)
{
    struct step_group step = { .keys = random_below(5),
                               .aggregates = VECTOR(struct step_aggregate) };
    for (unsigned i = random_below(AGGREGATES_MAX + 1); i > 0; i--) {
        struct step_aggregate *aggregate = vector_add(&step.aggregates);
        aggregate->column = (int)random_below(RANDOM_COLUMNS);
        aggregate->function = random_aggregate((unsigned)aggregate->column);
        aggregate->distinct = random_below(4) == 0;
        aggregate->filter = random_below(3) == 0 ? RANDOM_FILTER : -1;
        if (aggregate->function == AGGREGATE_COUNT && random_below(2) == 0)
            aggregate->column = -1;
    }
    return step;
}

static void groups_are_as_naive_ones(void **state)
{
    static const uint32_t counts[] = { 0, 1, 2, 63, 64, 65, 300, 1500 };
    (void)state;
    for (unsigned round = 0; round < fewer(200); round++) {
        struct step_group step = random_step();
        uint32_t rows = counts[random_below(8)];
        struct row_set once, cut;
        random_fill(rows, 1 + random_below(60));
        assert_int_equal(run(&step, rows, rows + 1, 1, &once), VDBQ_OK);
        check(&step, rows, &once);
        assert_int_equal(run(&step, rows, 1 + random_below(100), 1, &cut),
                         VDBQ_OK);
        same_bits(&once, &cut);
        row_set_finish(&once);
        row_set_finish(&cut);
        vector_finish(&step.aggregates);
    }
}

static void threads_change_nothing(void **state)
{
    enum { ROWS = 200000 };
    /* the last makes so many groups that they are merged by partitions */
    static const uint32_t variety[] = { 50, 100000, 1000000000 };
    (void)state;
    for (unsigned round = 0; round < fewer(18); round++) {
        struct step_group step = random_step();
        struct row_set one, many;
        random_fill(ROWS, variety[round % 3]);
        assert_int_equal(run(&step, ROWS, ROWS, 1, &one), VDBQ_OK);
        assert_int_equal(
            run(&step, ROWS, 70001 + 1000 * round, 2 + round % 5, &many),
            VDBQ_OK);
        same_bits(&one, &many);
        row_set_finish(&one);
        row_set_finish(&many);
        vector_finish(&step.aggregates);
    }
}

/* Rows that look at first as if groups were few, and then are all groups of
 * their own: two threads have taken them by then. */
static void many_groups_come_late(void **state)
{
    enum { ROWS = 200000, FEW = 20000 };
    struct step_group step = { .keys = 1,
                               .aggregates = VECTOR(struct step_aggregate) };
    struct row_set one, many;
    (void)state;
    struct step_aggregate *aggregate = vector_add(&step.aggregates);
    *aggregate = (struct step_aggregate){ .function = AGGREGATE_SUM,
                                          .column = 1,
                                          .filter = -1 };
    random_fill(ROWS, 1000);
    for (uint32_t i = 0; i < ROWS; i++) {
        ((int32_t *)random_values[0])[i] = (int32_t)(i < FEW ? i / 4 : i);
        random_nulls[0][i] = 0;
    }
    assert_int_equal(run(&step, ROWS, ROWS, 1, &one), VDBQ_OK);
    for (unsigned threads = 2; threads < 6; threads++) {
        assert_int_equal(run(&step, ROWS, ROWS, threads, &many), VDBQ_OK);
        same_bits(&one, &many);
        row_set_finish(&many);
    }
    row_set_finish(&one);
    vector_finish(&step.aggregates);
}

/* Rows are scattered where most make groups of their own, some of them of one
 * group, and there is memory for them, their groups, or neither. */
static void scattered_rows_change_nothing(void **state)
{
    enum { ROWS = 200000 };
    static const uint64_t limits[] = { 0, 1 << 27, 3 << 24, 1 << 24, 1 << 22 };
    (void)state;
    for (unsigned round = 0; round < 5; round++) {
        struct step_group step = random_step();
        struct row_set one, many;
        random_fill(ROWS, round % 2 == 0 ? 1000000000 : ROWS / 4);
        for (uint32_t i = 0; round % 3 > 0 && i < ROWS; i += 2 + 3 * round)
            ((int32_t *)random_values[0])[i] = 5;
        enum vdbq_status status = run(&step, ROWS, ROWS, 1, &one);
        limit_bytes = limits[round % 5];
        assert_int_equal(run(&step, ROWS, 70001, 2 + round % 2, &many), status);
        limit_bytes = 0;
        if (status == VDBQ_OK)
            same_bits(&one, &many);
        row_set_finish(&one);
        row_set_finish(&many);
        vector_finish(&step.aggregates);
    }
}

/* Records are so long, and rows so short, that there may be memory for rows that
 * are scattered, and none for the groups that threads had before. */
static void scattered_rows_stay_when_groups_go(void **state)
{
    enum { ROWS = 200000, LEAST_MB = 28, MOST_MB = 72 };
    struct step_group step = { .keys = 1,
                               .aggregates = VECTOR(struct step_aggregate) };
    struct row_set one, many;
    (void)state;
    for (int i = 0; i < 6; i++)
        *(struct step_aggregate *)vector_add(&step.aggregates) =
            (struct step_aggregate){ .function = i % 2 == 0 ? AGGREGATE_MIN
                                                            : AGGREGATE_MAX,
                                     .column = 1,
                                     .filter = -1 };
    random_fill(ROWS, 1000000000);
    assert_int_equal(run(&step, ROWS, ROWS, 1, &one), VDBQ_OK);
    for (uint64_t mb = LEAST_MB; mb <= MOST_MB; mb += 8) {
        limit_bytes = mb << 20;
        assert_int_equal(run(&step, ROWS, ROWS, 2, &many), VDBQ_OK);
        same_bits(&one, &many);
        row_set_finish(&many);
    }
    limit_bytes = 0;
    row_set_finish(&one);
    vector_finish(&step.aggregates);
}

/* Most of the rows are of one group, or are groups of their own; each thread
 * keeps what DISTINCT has seen, in memory or, where there is little, in files. */
static void distinct_values_of_many_threads(void **state)
{
    enum { ROWS = 120000 };
    static const uint64_t limits[] = { 0, 1 << 21, 0 };
    static const uint32_t variety[] = { 40, 30000, 1000000000 };
    (void)state;
    for (unsigned round = 0; round < fewer(9); round++) {
        struct step_group step = { .keys = round % 4 == 3 ? 0 : 1 + round % 2,
                                   .aggregates =
                                       VECTOR(struct step_aggregate) };
        struct row_set one, many;
        for (int i = 0; i < 4; i++)
            *(struct step_aggregate *)vector_add(&step.aggregates) =
                (struct step_aggregate){ .function = i % 2 == 0
                                                         ? AGGREGATE_COUNT
                                                         : AGGREGATE_SUM,
                                         .column = (int)(round + 2 * i) % 7,
                                         .filter = i == 2 ? RANDOM_FILTER : -1,
                                         .distinct = i < 3 };
        random_fill(ROWS, variety[round / 3]);
        for (uint32_t i = 0; round % 3 > 0 && i < ROWS; i += 1 + i % 2)
            ((int32_t *)random_values[0])[i] = 5;
        enum vdbq_status status = run(&step, ROWS, ROWS, 1, &one);
        limit_bytes = limits[round % 3];
        for (unsigned threads = 4; threads <= 16; threads += 12) {
            assert_int_equal(run(&step, ROWS, ROWS, threads, &many), status);
            if (status == VDBQ_OK)
                same_bits(&one, &many);
            row_set_finish(&many);
        }
        limit_bytes = 0;
        row_set_finish(&one);
        vector_finish(&step.aggregates);
    }
}

/* Groups a batch; every status is handed up. */
static enum vdbq_status run_once(const struct group_params *params,
                                 const struct vdbq_batch *batch,
                                 const struct step_column *output,
                                 unsigned columns)
{
    static struct error error;
    struct row_set row_set;
    struct batches batches;
    struct group *group;
    struct reorder spilled = { 0 };
    enum vdbq_status status = row_set_init(&row_set, output, columns, &error);

    if (status == VDBQ_OK) {
        status = group_create(params, &group, &error);
        if (status == VDBQ_OK)
            status = batches_init(&batches, batch->columns, &error);
        if (status == VDBQ_OK) {
            batches_add(&batches, batch);
            status = group_add(group, &batches, &error);
            batches_finish(&batches);
        }
        if (status == VDBQ_OK)
            status = group_finish(group, &row_set, &spilled, &error);
        group_destroy(group);
        if (status == VDBQ_OK && spilled.rows > 0)
            status = read_back(&spilled, &row_set, &error);
        reorder_finish(&spilled);
    }
    row_set_finish(&row_set);
    return status;
}

static void missing_memory_is_told(void **state)
{
    enum { ROWS = 50000 }; /* for several threads */
    struct step_column input[RANDOM_COLUMNS], output[2];
    struct step_aggregate aggregate = {
        .function = AGGREGATE_SUM, .column = 3, .filter = -1, .distinct = true
    };
    struct vdbq_vector vectors[RANDOM_COLUMNS];
    struct vdbq_batch batch;

    (void)state;
    random_fill(ROWS, 2000000000);
    for (unsigned i = 0; i < RANDOM_COLUMNS; i++)
        input[i] = columns_of(random_types[i]);
    output[0] = input[0];
    output[1] = columns_of(VDBQ_DOUBLE);
    for (unsigned round = 0; round < 6; round++) {
        unsigned keys = round % 2;
        batch = random_batch(0, round < 4 ? 3000 : ROWS, vectors);
        struct step_group step = { .keys = keys,
                                   .aggregates = VECTOR_OF(&aggregate, 1) };
        struct account account = { .limit_bytes = 1 << 12 };
        struct account_share memory = { .account = round < 2 || round > 3
                                                       ? NULL
                                                       : &account };
        struct group_params params = { .step = &step,
                                       .columns = input,
                                       .results = output + !keys,
                                       .threads = round < 4 ? 1 : 4,
                                       .memory = &memory,
                                       .files = &os_memory_files };
        aggregate.distinct = round != 3;
        enum vdbq_status status = VDBQ_NO_MEMORY;
        for (unsigned calls = 0; status != VDBQ_OK;
             calls += round < 2 ? 1 : 1 + calls / (round < 4 ? 5 : 2)) {
            memory_fail_after(calls);
            status = run_once(&params, &batch, output + !keys, 1 + keys);
            memory_fail_never();
            assert_true(status == VDBQ_OK || status == VDBQ_NO_MEMORY);
            account_give_all(&memory);
        }
    }
}

static unsigned writes_left;
static struct os_file_calls full_disk;

static int write_some(struct os_file *file, const void *bytes, size_t size,
                      uint64_t offset)
{
    if (writes_left == 0)
        return ENOSPC;
    writes_left--;
    return os_memory_files.write(file, bytes, size, offset);
}

/* A full disk is told, wherever it is met. */
static void a_full_disk_is_told(void **state)
{
    struct step_group step = { .keys = 1,
                               .aggregates = VECTOR(struct step_aggregate) };
    enum vdbq_status status = VDBQ_IO;
    (void)state;
    random_fill(5000, 1000000);
    full_disk = os_memory_files;
    full_disk.write = write_some;
    files = &full_disk;
    limit_bytes = 1 << 16;
    for (unsigned n = 0; status == VDBQ_IO; n += 1 + n / 10) {
        struct row_set row_set;
        writes_left = n;
        status = run(&step, 5000, 1000, 2, &row_set);
        row_set_finish(&row_set);
    }
    assert_int_equal(status, VDBQ_OK);
    limit_bytes = 0;
    files = &os_memory_files;
    vector_finish(&step.aggregates);
}

/* What is held stays within the limit, but for what a block of rows needs. */
static void memory_is_bounded(void **state)
{
    enum { ROWS = 60000 };
    struct step_group step = { .keys = 1,
                               .aggregates = VECTOR(struct step_aggregate) };
    struct row_set row_set;
    (void)state;
    random_fill(ROWS, 1000000000);
    limit_bytes = 1 << 19;
    assert_int_equal(run(&step, ROWS, 20000, 2, &row_set), VDBQ_OK);
    assert_true(spill_bytes > 0);
    assert_true(most_bytes <= limit_bytes);
    limit_bytes = 0;
    row_set_finish(&row_set);
    vector_finish(&step.aggregates);
}

/* However little memory there is, the groups are the same. */
static void little_memory_changes_nothing(void **state)
{
    enum { ROWS = 6000 };
    static const uint32_t variety[] = { 1000, 20000, 1000000000 };
    static const uint64_t limits[] = { 1 << 9, 1 << 14, 1 << 18 };
    bool spilled = false;
    (void)state;
    for (unsigned round = 0; round < 36; round++) {
        if (!is_taken(round))
            continue;
        struct step_group step = random_step();
        struct row_set all, little;
        random_fill(ROWS, variety[random_below(3)]);
        enum vdbq_status status = run(&step, ROWS, ROWS, 1, &all);
        limit_bytes = limits[random_below(3)];
        /* a sum may overflow */
        assert_int_equal(
            run(&step, ROWS, 1 + random_below(2000), 1 + round % 5, &little),
            status);
        limit_bytes = 0;
        spilled |= spill_bytes > 0;
        if (status == VDBQ_OK)
            same_bits(&all, &little);
        row_set_finish(&all);
        row_set_finish(&little);
        vector_finish(&step.aggregates);
    }
    assert_true(spilled);
}

static void sums_overflow_only_at_the_end(void **state)
{
    struct step_group step = { .keys = 0,
                               .aggregates = VECTOR(struct step_aggregate) };
    struct step_aggregate *sum = vector_add(&step.aggregates);
    struct row_set row_set;
    int64_t *values;

    (void)state;
    *sum = (struct step_aggregate){ .function = AGGREGATE_SUM,
                                    .column = 1,
                                    .filter = -1 };
    random_fill(4, 10);
    values = random_values[1];
    memset(random_nulls[1], 0, 4);
    values[0] = values[1] = INT64_MAX;
    values[2] = values[3] = -INT64_MAX;
    assert_int_equal(run(&step, 4, 4, 1, &row_set), VDBQ_OK);
    assert_int_equal(((int64_t *)row_set.columns[0].values)[0], 0);
    row_set_finish(&row_set);
    assert_int_equal(run(&step, 2, 1, 1, &row_set), VDBQ_RANGE);
    row_set_finish(&row_set);
    vector_finish(&step.aggregates);
}

static void wide_and_moving_keys_are_found(void **state)
{
    enum { ROWS = 50000 };
    struct step_group step = { .keys = 1,
                               .aggregates = VECTOR(struct step_aggregate) };
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct row_set row_set;
        int32_t *keys;
        random_fill(ROWS, 10);
        keys = random_values[0];
        for (int i = 0; i < ROWS; i++)
            keys[i] = way == 0   ? i
                      : way == 1 ? -i
                      : way == 2 ? i * 40000
                      : i % 2    ? INT32_MAX
                                 : INT32_MIN;
        memset(random_nulls[0], 0, ROWS);
        assert_int_equal(run(&step, ROWS, 999, 1, &row_set), VDBQ_OK);
        assert_int_equal(row_set.rows, way == 3 ? 2 : ROWS);
        assert_memory_equal(row_set.columns[0].values, keys, row_set.rows * 4);
        row_set_finish(&row_set);
    }
}

/* Keys of few values, then, behind blocks that made no group, some that are
 * below or above these. */
static void late_keys_are_found(void **state)
{
    enum { ROWS = 6000, LATE = 4500 };
    struct step_aggregate count = { .function = AGGREGATE_COUNT,
                                    .column = -1,
                                    .filter = -1 };
    struct step_group step = { .keys = 2, .aggregates = VECTOR_OF(&count, 1) };

    (void)state;
    for (unsigned way = 0; way < 8; way++) {
        bool nulls = way & 1, wide = way & 2, below = way & 4;
        struct row_set row_set;
        random_fill(ROWS, 10);
        int32_t *narrow_keys = random_values[0];
        int64_t *wide_keys = random_values[1];
        for (int i = 0; i < ROWS; i++) {
            bool late = i >= LATE && i % 97 == 0;
            narrow_keys[i] = !late || wide ? i % 4 : below ? -1 - i : 4 + i;
            wide_keys[i] = !late || !wide ? i % 3
                           : below        ? INT64_MIN + i
                                          : INT64_MAX - i;
            random_nulls[0][i] = random_nulls[1][i] = nulls && i % 5 == 0;
        }
        assert_int_equal(run(&step, ROWS, 999, 1, &row_set), VDBQ_OK);
        check(&step, ROWS, &row_set);
        row_set_finish(&row_set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_as_naive_ones),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(many_groups_come_late),
        cmocka_unit_test(scattered_rows_change_nothing),
        cmocka_unit_test(scattered_rows_stay_when_groups_go),
        cmocka_unit_test(distinct_values_of_many_threads),
        cmocka_unit_test(little_memory_changes_nothing),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(missing_memory_is_told),
        cmocka_unit_test(sums_overflow_only_at_the_end),
        cmocka_unit_test(wide_and_moving_keys_are_found),
        cmocka_unit_test(late_keys_are_found)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
