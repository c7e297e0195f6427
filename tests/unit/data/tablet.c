/* SPDX-License-Identifier: MIT */
/*
 * Tablets: what is built has the layout that cl/tablet.h draws, and a block
 * that is none is refused, whatever its bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <float.h>
#include <math.h>

#include "base/type.h"
#include "data/tablet/block.h"
#include "data/catalogue/facts.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/sample_tables.h"

enum { COLUMNS = 4 };

static struct column columns[COLUMNS] = { { .name = "i", .type = VDBQ_INTEGER },
                                          { .name = "b", .type = VDBQ_BIGINT },
                                          { .name = "f", .type = VDBQ_FLOAT },
                                          { .name = "d",
                                            .type = VDBQ_DOUBLE } };
static const struct table table = {
    .id = 1, .name = "t", .column_count = 4, .columns = columns, .key = NO_KEY
};

/* Values of `rows` rows, and a tablet made of them. */
struct made {
    uint32_t rows;
    int32_t *i;
    int64_t *b;
    float *f;
    double *d;
    uint8_t *nulls; /* of f and d */
    struct vdbq_vector vectors[COLUMNS];
    enum encoding_choice choice;
    struct block block;
    struct column_facts facts[COLUMNS];
};

static struct tablet_source source_of(const struct made *made)
{
    return (struct tablet_source){ .table = &table,
                                   .rows = made->rows,
                                   .vectors = made->vectors,
                                   .choice = made->choice };
}

static void build(struct made *made)
{
    struct tablet_column described[COLUMNS];
    struct tablet_source source = source_of(made);

    made->block =
        block_create(tablet_describe(&source, described, made->facts));
    memset(made->block.bytes, 0xaa, made->block.size);
    tablet_build(&source, described, made->block.bytes);
}

static struct made make(uint32_t rows, bool with_nulls)
{
    struct made made = { .rows = rows, .choice = CHOOSE_PLAIN };

    made.i = malloc(rows * sizeof *made.i);
    made.b = malloc(rows * sizeof *made.b);
    made.f = malloc(rows * sizeof *made.f);
    made.d = malloc(rows * sizeof *made.d);
    made.nulls = calloc(rows, 1);
    for (uint32_t k = 0; k < rows; k++) {
        made.i[k] = (int32_t)k * 3 - 50;
        made.b[k] = ((int64_t)k - 7) * INT64_C(1000000007);
        made.f[k] = (float)k - 3.5f;
        made.d[k] = k % 7 == 3 && with_nulls ? (double)NAN : -1.0 / (k + 1);
        made.nulls[k] = with_nulls && k % 3 == 1;
    }
    made.vectors[0] = (struct vdbq_vector){ VDBQ_INTEGER, made.i, NULL };
    made.vectors[1] = (struct vdbq_vector){ VDBQ_BIGINT, made.b, NULL };
    made.vectors[2] = (struct vdbq_vector){ VDBQ_FLOAT, made.f, made.nulls };
    made.vectors[3] = (struct vdbq_vector){ VDBQ_DOUBLE, made.d, made.nulls };
    build(&made);
    return made;
}

static void release(struct made *made)
{
    free(made->i);
    free(made->b);
    free(made->f);
    free(made->d);
    free(made->nulls);
    block_destroy(&made->block);
}

static enum vdbq_status check(const struct made *made)
{
    return tablet_check(&table, made->block.bytes, made->block.size, made->rows,
                        ERROR);
}

static const uint32_t sizes[] = { 1,  2,  3,  7,  8,   9,   15,   16,
                                  17, 63, 64, 65, 127, 128, 1000, 4097 };
enum { SIZES = sizeof sizes / sizeof *sizes };

/* -------------------------------------------------------------- build -- */

static void assert_column(const struct made *made, unsigned c, bool nulls)
{
    const struct tablet *head = made->block.bytes;
    const struct tablet_column *column = tablet_column(head, c);
    unsigned width = type_width(columns[c].type);
    const uint8_t *bytes = made->block.bytes;
    uint64_t used = (uint64_t)made->rows * width;

    assert_int_equal(column->values % TABLET_ALIGN, 0);
    assert_int_equal(column->nulls % TABLET_ALIGN, 0);
    assert_int_equal(column->width, width);
    assert_int_equal(column->type, columns[c].type);
    assert_int_equal(column->encoding, ENCODING_PLAIN);
    assert_true(column->values + TABLET_ALIGNED(used) <= head->size);
    for (uint64_t k = used; k < TABLET_ALIGNED(used); k++)
        assert_int_equal(bytes[column->values + k], 0);
    assert_int_equal(column->nulls != 0, nulls);
    assert_int_equal(column->null_count != 0, nulls);
}

static void layout_is_as_drawn(void **state)
{
    (void)state;
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned nulls = 0; nulls < 2; nulls++) {
            struct made made = make(sizes[s], nulls != 0);
            const struct tablet *head = made.block.bytes;
            assert_int_equal(head->magic, TABLET_MAGIC);
            assert_memory_equal(&head->magic, "VDBQTABL", 8);
            assert_int_equal(head->rows, sizes[s]);
            assert_int_equal(head->size, made.block.size);
            assert_int_equal(head->size % TABLET_ALIGN, 0);
            for (unsigned c = 0; c < COLUMNS; c++)
                assert_column(&made, c, c >= 2 && nulls != 0 && (sizes[s] > 1));
            assert_int_equal(check(&made), VDBQ_OK);
            release(&made);
        }
}

/* The ancestor stored, and moved, 8 bytes a row that nobody read. */
static void only_values_are_stored(void **state)
{
    static const uint32_t rows[] = { 1, 64, 4096 };
    const uint64_t head = 64 + 4 * 64;

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        for (unsigned nulls = 0; nulls < 2; nulls++) {
            struct made made = make(rows[i], nulls != 0);
            uint64_t bits =
                rows[i] > 1 ? nulls * TABLET_ALIGNED(rows[i] / 8) : 0;
            assert_int_equal(made.block.size,
                             head + 2 * TABLET_ALIGNED(rows[i] * 4)
                                 + 2 * TABLET_ALIGNED(rows[i] * 8) + 2 * bits);
            release(&made);
        }
}

static void values_are_kept(void **state)
{
    (void)state;
    for (unsigned s = 0; s < SIZES; s++) {
        struct made made = make(sizes[s], true);
        float *f = malloc(sizes[s] * sizeof *f);
        double *d = malloc(sizes[s] * sizeof *d);
        const uint8_t *f_bits = tablet_nulls(made.block.bytes, 2);
        const uint8_t *d_bits = tablet_nulls(made.block.bytes, 3);
        tablet_values(made.block.bytes, 2, f);
        tablet_values(made.block.bytes, 3, d);
        for (uint32_t k = 0; k < sizes[s]; k++) {
            assert_int_equal(null_bit(f_bits, k), made.nulls[k]);
            assert_int_equal(null_bit(d_bits, k),
                             made.nulls[k] || isnan(made.d[k]));
            assert_true(f[k] == (null_bit(f_bits, k) ? 0 : made.f[k]));
            assert_true(d[k] == (null_bit(d_bits, k) ? 0 : made.d[k]));
        }
        free(f);
        free(d);
        release(&made);
    }
}

static void facts_are_of_the_values(void **state)
{
    struct made made = make(10, true);

    (void)state;
    assert_int_equal(made.facts[0].minimum, -50);
    assert_int_equal(made.facts[0].maximum, -23);
    assert_int_equal(made.facts[0].null_count, 0);
    assert_int_equal(made.facts[1].minimum, -INT64_C(7000000049));
    assert_true(made.facts[2].minimum_real == -3.5);
    assert_true(made.facts[2].maximum_real == 5.5);
    assert_int_equal(made.facts[2].null_count, 3);
    assert_int_equal(made.facts[3].null_count, 4); /* 1 3 4 7: 3 is NaN */
    assert_true(made.facts[3].minimum_real == -1.0);
    for (unsigned c = 0; c < COLUMNS; c++) {
        struct column_facts read;
        tablet_facts(made.block.bytes, c, &read);
        assert_true(facts_equal(columns[c].type, &read, &made.facts[c]));
    }
    release(&made);
}

static void equal_tablets_are_equal_bytes(void **state)
{
    struct made one = make(77, true), two = make(77, true);

    (void)state;
    assert_memory_equal(one.block.bytes, two.block.bytes, one.block.size);
    release(&one);
    release(&two);
}

static void null_bits_only_where_there_are_nulls(void **state)
{
    struct made made = make(20, false);

    (void)state;
    block_destroy(&made.block);
    for (unsigned c = 0; c < COLUMNS; c++)
        made.vectors[c].nulls = made.nulls;
    build(&made);
    for (unsigned c = 0; c < COLUMNS; c++)
        assert_int_equal(tablet_column(made.block.bytes, c)->nulls, 0);
    assert_int_equal(check(&made), VDBQ_OK);
    assert_int_equal(made.block.size, 64 + 4 * 64 + 2 * 128 + 2 * 192);
    release(&made);
}

static void all_null_columns_have_no_minimum(void **state)
{
    struct made made = make(9, true);

    (void)state;
    block_destroy(&made.block);
    memset(made.nulls, 1, 9);
    build(&made);
    assert_true(made.facts[2].empty && made.facts[3].empty);
    assert_int_equal(tablet_column(made.block.bytes, 2)->minimum, 0);
    assert_int_equal(tablet_column(made.block.bytes, 3)->maximum, 0);
    assert_int_equal(check(&made), VDBQ_OK);
    release(&made);
}

static void extreme_values_are_ordered(void **state)
{
    const float narrow[] = { 0.0f, -0.0f, INFINITY, -INFINITY, FLT_MIN / 8 };
    const double wide[] = { -0.0, 0.0 };
    const double with_nan[] = { 1, (double)NAN };
    const int64_t big[] = { INT64_MAX, INT64_MIN, 0 };
    struct column_facts facts;

    (void)state;
    assert_true(facts_count(VDBQ_FLOAT, narrow, NULL, 5, &facts));
    assert_true(facts.minimum_real == (double)-INFINITY);
    assert_true(facts.maximum_real == (double)INFINITY);
    assert_true(facts_count(VDBQ_DOUBLE, wide, NULL, 2, &facts));
    assert_true(signbit(facts.minimum_real) && !signbit(facts.maximum_real));
    assert_true(facts_count(VDBQ_BIGINT, big, NULL, 3, &facts));
    assert_true(facts.minimum == INT64_MIN && facts.maximum == INT64_MAX);
    assert_false(facts_count(VDBQ_DOUBLE, with_nan, NULL, 2, &facts));
}

/* -------------------------------------------------------------- check -- */

/* Changes a field, expects CORRUPT, and puts it back. */
#define REFUSES(made, field, value)                                            \
    do {                                                                       \
        uint8_t saved[sizeof(field)];                                          \
        memcpy(saved, &(field), sizeof(field));                                \
        (field) = (value);                                                     \
        assert_int_equal(check(made), VDBQ_CORRUPT);                           \
        memcpy(&(field), saved, sizeof(field));                                \
        assert_int_equal(check(made), VDBQ_OK);                                \
    } while (0)

static void damaged_heads_are_refused(void **state)
{
    struct made made = make(100, true);
    struct tablet *head = made.block.bytes;

    (void)state;
    REFUSES(&made, head->magic, head->magic + 1);
    REFUSES(&made, head->format, 0);
    REFUSES(&made, head->format, 3);
    REFUSES(&made, head->columns, 3);
    REFUSES(&made, head->columns, UINT32_MAX);
    REFUSES(&made, head->rows, 0);
    REFUSES(&made, head->rows, 99);
    REFUSES(&made, head->rows, UINT64_MAX);
    REFUSES(&made, head->size, head->size + 64);
    REFUSES(&made, head->size, 0);
    REFUSES(&made, head->key, 0);
    REFUSES(&made, head->variable, 64);
    REFUSES(&made, head->variable_size, 1);
    REFUSES(&made, head->reserved1, 1);
    REFUSES(&made, head->reserved2, UINT64_MAX);
    release(&made);
}

static void damaged_columns_are_refused(void **state)
{
    struct made made = make(100, true);
    struct tablet *head = made.block.bytes;

    (void)state;
    for (unsigned c = 0; c < COLUMNS; c++) {
        struct tablet_column *column = (struct tablet_column *)(head + 1) + c;
        REFUSES(&made, column->values, 0);
        REFUSES(&made, column->values, 64);
        REFUSES(&made, column->values, column->values + 8);
        REFUSES(&made, column->values, head->size);
        REFUSES(&made, column->values, UINT64_MAX - 63);
        REFUSES(&made, column->nulls, UINT64_MAX - 63);
        REFUSES(&made, column->nulls, head->size);
        REFUSES(&made, column->type, column->type % 4 + 1);
        REFUSES(&made, column->type, UINT32_MAX);
        REFUSES(&made, column->encoding, ENCODING_SEQUENCE);
        REFUSES(&made, column->encoding, ENCODING_CONSTANT);
        REFUSES(&made, column->encoding, ENCODING_PACKED);
        REFUSES(&made, column->bits, 1);
        REFUSES(&made, column->encoding, 255);
        REFUSES(&made, column->reserved1, 1);
        REFUSES(&made, column->words, 1);
        REFUSES(&made, column->width, column->width * 2);
        REFUSES(&made, column->width, 0);
        REFUSES(&made, column->null_count, column->null_count + 1);
        REFUSES(&made, column->null_count, UINT64_MAX);
        REFUSES(&made, column->minimum, column->minimum + 1);
        REFUSES(&made, column->maximum, column->maximum - 1);
        REFUSES(&made, column->base, 1);
    }
    release(&made);
}

static void damaged_values_are_refused(void **state)
{
    struct made made = make(100, true);
    uint8_t *bytes = made.block.bytes;
    int32_t *first = (int32_t *)(bytes + tablet_column(bytes, 0)->values);
    float *f = (float *)(bytes + tablet_column(bytes, 2)->values);
    uint8_t *bits = bytes + tablet_column(bytes, 2)->nulls;

    (void)state;
    REFUSES(&made, first[5], INT32_MIN);
    REFUSES(&made, first[0], first[1]);
    REFUSES(&made, f[0], NAN);
    REFUSES(&made, f[1], 1.0f); /* is NULL */
    REFUSES(&made, bits[0], 0);
    REFUSES(&made, bits[12], bits[12] | 0x80); /* of row 103 */
    release(&made);
}

static void wrong_sizes_are_refused(void **state)
{
    struct made made = make(3, true);

    (void)state;
    for (uint64_t size = 0; size < made.block.size; size++) {
        struct block cut = block_create(size);
        memcpy(cut.bytes, made.block.bytes, size);
        assert_int_equal(tablet_check(&table, cut.bytes, size, 3, ERROR),
                         VDBQ_CORRUPT);
        block_destroy(&cut);
    }
    assert_int_equal(
        tablet_check(&table, made.block.bytes, made.block.size, 0, ERROR),
        VDBQ_CORRUPT);
    release(&made);
}

/* Reads everything that a checked tablet describes. */
static void read_all(const struct block *block, uint32_t rows)
{
    uint64_t *values = malloc(rows * sizeof *values);
    uint64_t sum = 0;

    for (unsigned c = 0; c < COLUMNS; c++) {
        struct column_facts facts;
        tablet_values(block->bytes, c, values);
        tablet_facts(block->bytes, c, &facts);
        for (uint32_t k = 0; k < rows; k++)
            sum += tablet_null(block->bytes, c, k);
        assert_int_equal(sum, facts.null_count);
        sum = 0;
    }
    free(values);
}

static void any_byte_may_be_wrong(void **state)
{
    struct made made = make(9, true);

    (void)state;
    for (size_t at = 0; at < made.block.size; at++)
        for (unsigned how = 0; how < 12; how++) {
            struct block copy = block_create(made.block.size);
            uint8_t *bytes = copy.bytes;
            memcpy(bytes, made.block.bytes, made.block.size);
            bytes[at] = how < 8    ? bytes[at] ^ (uint8_t)(1u << how)
                        : how == 8 ? 0
                        : how == 9
                            ? 0xff
                            : (uint8_t)(bytes[at] + (how == 10 ? 1 : 64));
            if (tablet_check(&table, bytes, copy.size, 9, ERROR) == VDBQ_OK)
                read_all(&copy, 9);
            block_destroy(&copy);
        }
    release(&made);
}

/* ----------------------------------------------------------- sequence -- */

static void sequences_are_accepted(void **state)
{
    struct made made = make(100, false);
    struct tablet *head = made.block.bytes;
    struct tablet_column *column = (struct tablet_column *)(head + 1);
    int32_t values[100];

    (void)state;
    column->values = 0;
    column->encoding = ENCODING_SEQUENCE;
    column->base = column->minimum = -5;
    column->maximum = 94;
    assert_int_equal(check(&made), VDBQ_OK);
    tablet_values(head, 0, values);
    for (int k = 0; k < 100; k++)
        assert_int_equal(values[k], k - 5);
    REFUSES(&made, column->maximum, 95);
    REFUSES(&made, column->minimum, -6);
    REFUSES(&made, column->base, INT32_MAX - 98);
    REFUSES(&made, column->base, INT64_MAX);
    REFUSES(&made, column->base, INT64_MIN);
    REFUSES(&made, column->values, 320);
    REFUSES(&made, column->nulls, 320);
    REFUSES(&made, column->null_count, 1);
    column->base = column->minimum = INT32_MAX - 99;
    column->maximum = INT32_MAX;
    assert_int_equal(check(&made), VDBQ_OK);
    column = column + 1;
    *column = (struct tablet_column){ .type = TYPE_I64,
                                      .encoding = ENCODING_SEQUENCE,
                                      .width = 8,
                                      .minimum = INT64_MAX - 99,
                                      .maximum = INT64_MAX,
                                      .base = INT64_MAX - 99 };
    assert_int_equal(check(&made), VDBQ_OK);
    REFUSES(&made, column->base, INT64_MAX - 98);
    release(&made);
}

static void messages_name_table_and_column(void **state)
{
    struct made made = make(10, false);
    struct tablet *head = made.block.bytes;
    struct tablet_column *column = (struct tablet_column *)(head + 1) + 1;

    (void)state;
    column->maximum--;
    assert_int_equal(check(&made), VDBQ_CORRUPT);
    assert_string_equal(ERROR->message, "table t, column b: in a tablet of 10 "
                                        "rows the minimum or maximum is wrong");
    release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_is_as_drawn),
        cmocka_unit_test(only_values_are_stored),
        cmocka_unit_test(values_are_kept),
        cmocka_unit_test(facts_are_of_the_values),
        cmocka_unit_test(equal_tablets_are_equal_bytes),
        cmocka_unit_test(null_bits_only_where_there_are_nulls),
        cmocka_unit_test(all_null_columns_have_no_minimum),
        cmocka_unit_test(extreme_values_are_ordered),
        cmocka_unit_test(damaged_heads_are_refused),
        cmocka_unit_test(damaged_columns_are_refused),
        cmocka_unit_test(damaged_values_are_refused),
        cmocka_unit_test(wrong_sizes_are_refused),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(sequences_are_accepted),
        cmocka_unit_test(messages_name_table_and_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
