/* SPDX-License-Identifier: MIT */
/*
 * Sums of more values than their limbs of 64 bits hold without carries. Rows
 * of one value are added; then the states are made those after so many times
 * these rows that the next block must carry, and so on. Integers and floats
 * have the greatest digits there are; results are exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/aggregate/aggregate_state.h"
#include "exec/group/group_inner.h"

enum { ROWS = 3 * GROUP_BLOCK, ROUNDS = 20 };

/* Rows whose columns are a key, an integer, a double. */
static int32_t keys[ROWS], integers[ROWS];
static double doubles[ROWS];

static const struct step_column columns[] = {
    { .name = "k", .type = VDBQ_INTEGER },
    { .name = "i", .type = VDBQ_INTEGER },
    { .name = "d", .type = VDBQ_DOUBLE },
};
static const struct step_column results[] = {
    { .name = "k", .type = VDBQ_INTEGER },
    { .name = "avg", .type = VDBQ_DOUBLE },
    { .name = "low", .type = VDBQ_BIGINT },
    { .name = "high", .type = VDBQ_BIGINT },
    { .name = "sum", .type = VDBQ_DOUBLE },
};
static const struct step_aggregate aggregates[] = {
    { .function = AGGREGATE_AVG, .column = 1, .filter = -1 },
    { .function = AGGREGATE_SUM_LOW, .column = 1, .filter = -1 },
    { .function = AGGREGATE_SUM_HIGH, .column = 1, .filter = -1 },
    { .function = AGGREGATE_SUM, .column = 2, .filter = -1 },
};

/* Two groups: one of the least integer and of a double below 0, one of the
 * greatest and of a double above. A double's digit is nearly 2^31 units. */
static void fill(unsigned groups)
{
    for (unsigned i = 0; i < ROWS; i++) {
        keys[i] = (int32_t)(i % groups);
        integers[i] = keys[i] == 0 ? INT32_MIN : INT32_MAX;
        doubles[i] = keys[i] == 0 ? -4294967294.0 : 4294967294.0;
    }
}

static void add_rows(struct group *group)
{
    const struct vdbq_vector vectors[] = { { VDBQ_INTEGER, keys, NULL },
                                           { VDBQ_INTEGER, integers, NULL },
                                           { VDBQ_DOUBLE, doubles, NULL } };
    const struct vdbq_batch batch = { .rows = ROWS,
                                      .columns = 2 + (group->keys > 0),
                                      .column = vectors + (group->keys == 0) };
    struct batches batches;
    struct error error;
    assert_int_equal(batches_init(&batches, batch.columns, &error), VDBQ_OK);
    batches_add(&batches, &batch);
    assert_int_equal(group_add(group, &batches, &error), VDBQ_OK);
    batches_finish(&batches);
}

/* Adds n times a row of the group to a state, as rows do. */
static void repeat(const struct aggregate *aggregate, uint8_t *record,
                   uint64_t n, uint32_t of)
{
    if (aggregate->kind == AGGREGATE_NARROW) {
        struct narrow_state *state = (void *)(record + aggregate->at);
        state->sum += (int64_t)n * integers[of];
    } else {
        struct real_state *state = (void *)(record + aggregate->at);
        uint64_t digits[3];
        sum_digits(doubles[of] * sum_scale(state->sum.top), digits);
        for (unsigned k = 0; k < 3; k++)
            state->sum.limbs[k] += (int64_t)(n * digits[k]);
    }
}

/* What states are after as many rows of each group as sums have room for; how
 * many rows of each came so. */
static uint64_t fill_room(struct group *group)
{
    struct group_part *part = &group->parts[0];
    uint64_t n = SUM_DIGITS_MAX - part->added;
    assert_true(part->added <= SUM_DIGITS_MAX);
    part->added = GROUP_ADDED_MAX;
    if (group->keys == 0) /* each block carries */
        n = SUM_DIGITS_MAX - GROUP_BLOCK;
    for (uint32_t g = 0; g < part->groups.table.count; g++) {
        uint8_t *record = group_extra(&part->groups.table, g);
        ((struct group_head *)(void *)record)->rows += n;
        for (unsigned i = 0; i < group->aggregate_count; i++)
            if (!group->aggregates[i].shared)
                repeat(&group->aggregates[i], record, n, g);
    }
    return n;
}

static void check(const struct row_set *row_set, uint64_t rows, unsigned group,
                  unsigned key_count)
{
    const struct row_set_column *column = &row_set->columns[key_count];
    i128 sum = (i128)rows * integers[group];
    assert_true(((double *)column[0].values)[group] == (double)integers[group]);
    assert_true(((uint64_t *)column[1].values)[group] == (uint64_t)sum);
    assert_true(((int64_t *)column[2].values)[group] == (int64_t)(sum >> 64));
    assert_true(((double *)column[3].values)[group]
                == (double)((i128)rows * (int64_t)doubles[group]));
}

static void run(unsigned key_count)
{
    unsigned groups = 1 + key_count;
    const struct step_column *input = columns + !key_count;
    struct step_aggregate moved[4];
    struct step_group step = { .keys = key_count,
                               .aggregates = VECTOR_OF(moved, 4) };
    struct group_params params = { .step = &step, .columns = input };
    struct row_set row_set;
    struct reorder spilled = { 0 };
    struct group *group;
    struct error error;
    uint64_t rows = 0;

    fill(groups);
    for (unsigned i = 0; i < 4; i++) {
        moved[i] = aggregates[i];
        moved[i].column -= !key_count;
    }
    assert_int_equal(
        row_set_init(&row_set, results + !key_count, 4 + key_count, &error),
        VDBQ_OK);
    assert_int_equal(group_create(&params, &group, &error), VDBQ_OK);
    for (unsigned round = 0; round < ROUNDS; round++) {
        add_rows(group);
        rows += ROWS / groups + fill_room(group);
    }
    add_rows(group);
    rows += ROWS / groups;
    assert_int_equal(group_finish(group, &row_set, &spilled, &error), VDBQ_OK);
    for (unsigned g = 0; g < groups; g++)
        check(&row_set, rows, g, key_count);
    group_destroy(group);
    row_set_finish(&row_set);
}

static void groups_carry(void **state)
{
    (void)state;
    run(1);
}

static void one_group_carries(void **state)
{
    (void)state;
    run(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(groups_carry),
                                        cmocka_unit_test(one_group_carries) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
