/* SPDX-License-Identifier: MIT */
/*
 * Encodings: which one a column gets, that values come back from each, and
 * that a block that only looks encoded is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <math.h>

#include "data/tablet/block.h"
#include "data/catalogue/facts.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/sample_tables.h"

enum { ROWS_MAX = 1600, COLUMNS = 4 };

static struct column columns[COLUMNS] = { { .name = "i", .type = VDBQ_INTEGER },
                                          { .name = "b", .type = VDBQ_BIGINT },
                                          { .name = "f", .type = VDBQ_FLOAT },
                                          { .name = "d",
                                            .type = VDBQ_DOUBLE } };
static const struct table table = { .id = 1,
                                    .name = "t",
                                    .column_count = COLUMNS,
                                    .columns = columns,
                                    .key = NO_KEY };

/* The values of a tablet, and the tablet. */
static struct made {
    uint32_t rows;
    int32_t i[ROWS_MAX];
    int64_t b[ROWS_MAX];
    float f[ROWS_MAX];
    double d[ROWS_MAX];
    uint8_t nulls[ROWS_MAX];
    bool with_nulls;
    struct block block;
    struct column_facts facts[COLUMNS];
} made;

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void build(enum encoding_choice choice)
{
    const uint8_t *nulls = made.with_nulls ? made.nulls : NULL;
    const struct vdbq_vector vectors[COLUMNS] = {
        { VDBQ_INTEGER, made.i, nulls },
        { VDBQ_BIGINT, made.b, nulls },
        { VDBQ_FLOAT, made.f, nulls },
        { VDBQ_DOUBLE, made.d, nulls }
    };
    struct tablet_source source = {
        .table = &table, .rows = made.rows, .vectors = vectors, .choice = choice
    };
    struct tablet_column described[COLUMNS];

    block_destroy(&made.block);
    made.block = block_create(tablet_describe(&source, described, made.facts));
    memset(made.block.bytes, 0xaa, made.block.size);
    tablet_build(&source, described, made.block.bytes);
}

static struct tablet_column *at(unsigned c)
{
    return (struct tablet_column *)((struct tablet *)made.block.bytes + 1) + c;
}

static enum vdbq_status check(void)
{
    return tablet_check(&table, made.block.bytes, made.block.size, made.rows,
                        ERROR);
}

/* Values of `bits` bits above `base`, both ends among them. */
static void fill(uint32_t rows, unsigned bits, int64_t base, bool with_nulls)
{
    uint64_t most = UINT64_MAX >> (64 - bits);

    made.rows = rows;
    made.with_nulls = with_nulls;
    for (uint32_t k = 0; k < rows; k++) {
        uint64_t code = k == 0 ? most : k == 1 ? 0 : random_bits() & most;
        made.i[k] = (int32_t)(uint32_t)((uint64_t)base + code);
        made.b[k] = (int64_t)((uint64_t)base + code);
        made.f[k] = -0.0f;
        made.d[k] = 1e-310;
        made.nulls[k] = k > 1 && random_bits() % 3 == 0;
    }
}

/* Some rows, picked, have the values that all of them have. */
static void assert_picked(const int32_t *i, const int64_t *b)
{
    static uint32_t rows[ROWS_MAX];
    static int32_t narrow[ROWS_MAX];
    static int64_t wide[ROWS_MAX];
    uint64_t sparse = 1 + random_bits() % 40;
    uint32_t count = 0;

    for (uint32_t k = 0; k < made.rows; k++)
        if (random_bits() % sparse == 0)
            rows[count++] = k;
    tablet_values_pick(made.block.bytes, 0, rows, count, narrow);
    tablet_values_pick(made.block.bytes, 1, rows, count, wide);
    for (uint32_t k = 0; k < count; k++) {
        assert_int_equal(narrow[k], i[rows[k]]);
        assert_true(wide[k] == b[rows[k]]);
    }
}

static void assert_values(void)
{
    static int32_t i[ROWS_MAX];
    static int64_t b[ROWS_MAX];
    const void *block = made.block.bytes;

    tablet_values(block, 0, i);
    tablet_values(block, 1, b);
    assert_picked(i, b);
    for (uint32_t k = 0; k < made.rows; k++) {
        bool null = made.with_nulls && made.nulls[k];
        assert_int_equal(tablet_null(block, 0, k), null);
        assert_int_equal(tablet_null(block, 1, k), null);
        assert_true(null || i[k] == made.i[k]);
        assert_true(null || b[k] == made.b[k]);
    }
}

static const uint32_t sizes[] = { 2, 3, 15, 16, 17, 33, 511, 512, 513, 1599 };
enum { SIZES = sizeof sizes / sizeof *sizes };

static void every_width_is_packed(void **unused)
{
    (void)unused;
    for (unsigned bits = 1; bits <= 32; bits++)
        for (unsigned s = 0; s < SIZES; s++)
            for (unsigned nulls = 0; nulls < 2; nulls++) {
                int64_t base = bits == 32 ? INT32_MIN : -77 - (int64_t)s;
                if (s == 0 && nulls == 0)
                    base = INT32_MAX - (int64_t)(UINT32_MAX >> (32 - bits));
                fill(sizes[s], bits, base, nulls != 0);
                build(CHOOSE_PACKED);
                for (unsigned c = 0; c < 2; c++) {
                    assert_int_equal(at(c)->encoding, ENCODING_PACKED);
                    assert_int_equal(at(c)->bits, bits);
                    assert_true(at(c)->base == base);
                }
                assert_int_equal(check(), VDBQ_OK);
                assert_values();
            }
}

static void wide_bases_are_kept(void **unused)
{
    static const int64_t bases[] = { INT64_MIN, INT64_MAX - 1023, 1, -1024,
                                     INT64_C(1) << 40 };

    (void)unused;
    for (unsigned n = 0; n < 5; n++) {
        fill(1000, 10, bases[n], n % 2 == 1);
        build(CHOOSE_AUTO);
        assert_int_equal(at(1)->encoding, ENCODING_PACKED);
        assert_int_equal(at(1)->bits, 10);
        assert_true(at(1)->base == bases[n]);
        assert_int_equal(check(), VDBQ_OK);
        assert_values();
    }
    fill(1000, 33, 0, false);
    build(CHOOSE_PACKED);
    assert_int_equal(at(1)->encoding, ENCODING_PLAIN);
}

/* What is saved decides: 25 of 32 bits are worth it, 26 are not. */
static void packing_must_save_a_fifth(void **unused)
{
    (void)unused;
    fill(1536, 25, 0, false);
    build(CHOOSE_AUTO);
    assert_int_equal(at(0)->encoding, ENCODING_PACKED);
    fill(1536, 26, 0, false);
    build(CHOOSE_AUTO);
    assert_int_equal(at(0)->encoding, ENCODING_PLAIN);
    assert_int_equal(at(1)->encoding, ENCODING_PACKED);
    fill(16, 1, 0, false); /* one line either way */
    build(CHOOSE_AUTO);
    assert_int_equal(at(0)->encoding, ENCODING_PLAIN);
    build(CHOOSE_PLAIN);
    for (unsigned c = 0; c < COLUMNS; c++)
        assert_int_equal(at(c)->encoding, ENCODING_PLAIN);
    assert_int_equal(((struct tablet *)made.block.bytes)->format, 1);
}

static void constants_store_nothing(void **unused)
{
    float f[ROWS_MAX];
    double d[ROWS_MAX];

    (void)unused;
    for (unsigned nulls = 0; nulls < 3; nulls++) {
        fill(1000, 1, INT64_MAX - 5, nulls > 0);
        for (uint32_t k = 0; k < 1000; k++) {
            made.i[k] = INT32_MIN;
            made.b[k] = INT64_MAX;
            made.nulls[k] = nulls == 2 ? 1 : made.nulls[k];
        }
        build(CHOOSE_AUTO);
        assert_int_equal(check(), VDBQ_OK);
        assert_int_equal(made.block.size, 64 + 4 * 64 + (nulls == 1) * 4 * 128);
        for (unsigned c = 0; c < COLUMNS; c++)
            assert_int_equal(at(c)->encoding, ENCODING_CONSTANT);
        assert_values();
        tablet_values(made.block.bytes, 2, f);
        tablet_values(made.block.bytes, 3, d);
        assert_true(nulls == 2 || (f[999] == 0 && signbit(f[999])));
        assert_true(nulls == 2 || d[7] == 1e-310);
    }
}

static void neighbours_are_a_sequence(void **unused)
{
    (void)unused;
    fill(1000, 1, 0, false);
    for (uint32_t k = 0; k < 1000; k++) {
        made.i[k] = INT32_MAX - 999 + (int32_t)k;
        made.b[k] = INT64_MIN + (int64_t)k;
    }
    build(CHOOSE_AUTO);
    assert_int_equal(at(0)->encoding, ENCODING_SEQUENCE);
    assert_int_equal(at(1)->encoding, ENCODING_SEQUENCE);
    assert_int_equal(check(), VDBQ_OK);
    assert_values();
    made.i[3] = made.i[4]; /* not any more */
    build(CHOOSE_AUTO);
    assert_int_equal(at(0)->encoding, ENCODING_PACKED);
    assert_values();
}

/* Runs of `length` rows, or of up to twice that where `random`. */
static void fill_runs(uint32_t rows, uint32_t length, bool random,
                      bool with_nulls)
{
    uint32_t left = 0;
    int64_t value = 0;

    fill(rows, 1, 0, false);
    made.with_nulls = with_nulls;
    for (uint32_t k = 0; k < rows; k++) {
        if (left == 0) {
            left =
                random ? 1 + (uint32_t)(random_bits() % (2 * length)) : length;
            value = (int64_t)random_bits();
        }
        left--;
        made.i[k] = (int32_t)value;
        made.b[k] = value;
        made.nulls[k] = value % 4 == 0;
    }
}

static void equal_neighbours_are_runs(void **unused)
{
    static const uint32_t lengths[] = { 40, 64, 100, 333 };

    (void)unused;
    for (unsigned n = 0; n < 4; n++)
        for (unsigned way = 0; way < 4; way++) {
            fill_runs(1599, lengths[n], way % 2 != 0, way / 2 != 0);
            build(way % 2 != 0 ? CHOOSE_PACKED : CHOOSE_AUTO);
            for (unsigned c = 0; c < 2; c++)
                assert_int_equal(at(c)->encoding, ENCODING_RUNS);
            assert_int_equal(at(2)->encoding, ENCODING_CONSTANT);
            assert_int_equal(((struct tablet *)made.block.bytes)->format, 4);
            assert_int_equal(check(), VDBQ_OK);
            assert_values();
        }
}

/* Short runs cost more to read than they save; all that are tested come back. */
static void short_runs_are_not_stored(void **unused)
{
    (void)unused;
    fill_runs(1599, 31, false, false);
    build(CHOOSE_AUTO);
    assert_int_not_equal(at(0)->encoding, ENCODING_RUNS);
    assert_int_not_equal(at(1)->encoding, ENCODING_RUNS);
    for (unsigned s = 0; s < SIZES; s++) {
        fill_runs(sizes[s], 4, true, s % 2 != 0);
        build(CHOOSE_PACKED);
        assert_int_equal(check(), VDBQ_OK);
        assert_values();
    }
}

/* -------------------------------------------------------------- check -- */

/* Changes a field, expects CORRUPT, and puts it back. */
#define REFUSES(field, value)                                                  \
    do {                                                                       \
        uint8_t saved[sizeof(field)];                                          \
        memcpy(saved, &(field), sizeof(field));                                \
        (field) = (value);                                                     \
        assert_int_equal(check(), VDBQ_CORRUPT);                               \
        memcpy(&(field), saved, sizeof(field));                                \
        assert_int_equal(check(), VDBQ_OK);                                    \
    } while (0)

static void refuses_common(struct tablet_column *column)
{
    struct tablet *head = made.block.bytes;

    REFUSES(head->format, 1);
    REFUSES(column->encoding, ENCODING_PLAIN);
    REFUSES(column->encoding, ENCODING_SEQUENCE);
    REFUSES(column->encoding, ENCODINGS);
    REFUSES(column->values, column->values + 64 * 99);
    REFUSES(column->nulls, column->nulls + 64 * 999);
    REFUSES(column->nulls, 0);
    REFUSES(column->null_count, column->null_count + 1);
    REFUSES(column->null_count, 0);
    REFUSES(column->null_count, made.rows);
    REFUSES(column->null_count, UINT64_MAX);
    REFUSES(column->minimum, column->minimum ^ 1);
    REFUSES(column->maximum, column->maximum ^ 1);
    REFUSES(column->maximum, INT64_MAX - 1);
    REFUSES(column->base, column->base ^ 1);
    REFUSES(column->base, INT64_MAX);
    REFUSES(column->bits, 33);
    REFUSES(column->bits, 255);
    REFUSES(column->reserved1, 1);
    REFUSES(column->width, column->width ^ 12);
}

static void damaged_packed_columns_are_refused(void **unused)
{
    (void)unused;
    fill(1000, 20, -30, true);
    build(CHOOSE_AUTO);
    for (unsigned c = 0; c < 2; c++) {
        struct tablet_column *column = at(c);
        uint32_t *words =
            (uint32_t *)((uint8_t *)made.block.bytes + column->values);
        refuses_common(column);
        REFUSES(column->bits, 0);
        REFUSES(column->bits, 19);
        REFUSES(column->values, column->values + 4);
        REFUSES(column->values, 0);
        REFUSES(words[0], words[0] ^ 1); /* row 0 is the maximum */
        for (unsigned k = 2; k < PACKED_LANES; k++)
            if (made.nulls[k])
                REFUSES(words[k], words[k] | 1);
    }
    REFUSES(at(2)->encoding, ENCODING_PACKED);
}

/* Codes may not lead out of the type. */
static void packed_values_stay_inside_their_type(void **unused)
{
    (void)unused;
    fill(100, 7, INT32_MAX - 127, false);
    build(CHOOSE_PACKED);
    assert_int_equal(check(), VDBQ_OK);
    at(0)->base++;
    at(0)->minimum++;
    at(0)->maximum++;
    assert_int_equal(check(), VDBQ_CORRUPT);
    fill(100, 7, INT64_MAX - 127, false);
    build(CHOOSE_PACKED);
    at(1)->base++;
    at(1)->minimum++;
    at(1)->maximum = INT64_MIN; /* wrapped around */
    assert_int_equal(check(), VDBQ_CORRUPT);
}

static void damaged_runs_are_refused(void **unused)
{
    (void)unused;
    fill_runs(1590, 40, false, true);
    build(CHOOSE_AUTO);
    for (unsigned c = 0; c < 2; c++) {
        struct tablet_column *column = at(c);
        uint8_t *values = (uint8_t *)made.block.bytes + column->values;
        uint64_t heads_at = RUNS_VALUES(column->base, column->width);
        struct run_head *heads = (struct run_head *)(values + heads_at);
        refuses_common(column);
        REFUSES(((struct tablet *)made.block.bytes)->format, 3);
        REFUSES(column->bits, 1);
        REFUSES(column->base, 0);
        REFUSES(column->base, -1);
        REFUSES(column->base, INT64_MIN);
        REFUSES(column->base, made.rows + 1);
        REFUSES(column->base, column->base + 1);
        REFUSES(column->values, 0);
        REFUSES(column->values, column->values + 4);
        REFUSES(heads[0].starts, 0);
        REFUSES(heads[0].starts, heads[0].starts ^ 1);
        REFUSES(heads[0].before, 1);
        REFUSES(heads[7].before, heads[7].before + 1);
        REFUSES(heads[7].before, UINT32_MAX);
        REFUSES(heads[7].starts, ~heads[7].starts);
        REFUSES(heads[1590 / 32].starts, UINT32_C(1) << 31);
    }
    REFUSES(at(2)->encoding, ENCODING_RUNS);
}

/* What is read where it lies in the file may change behind the check: a wrong
 * head still leads to some run. */
static void changed_heads_lead_to_a_run(void **unused)
{
    static int64_t values[ROWS_MAX];

    (void)unused;
    fill_runs(1599, 50, false, false);
    build(CHOOSE_AUTO);
    for (unsigned c = 0; c < 2; c++) {
        uint8_t *area = (uint8_t *)made.block.bytes + at(c)->values;
        memset(area + RUNS_VALUES(at(c)->base, at(c)->width), 0xff,
               RUNS_HEADS(1599));
        tablet_values(made.block.bytes, c, values);
    }
    assert_true(values[0] == made.b[1598]);
}

static void damaged_constants_are_refused(void **unused)
{
    (void)unused;
    fill(1000, 1, 0, true);
    for (uint32_t k = 0; k < 1000; k++) {
        made.i[k] = -7;
        made.b[k] = INT64_MIN + 1;
    }
    build(CHOOSE_AUTO);
    for (unsigned c = 0; c < COLUMNS; c++) {
        refuses_common(at(c));
        REFUSES(at(c)->bits, 1);
    }
    memset(made.nulls, 1, sizeof made.nulls);
    build(CHOOSE_AUTO);
    for (unsigned c = 0; c < COLUMNS; c++) {
        REFUSES(at(c)->base, 1);
        REFUSES(at(c)->nulls, 320);
        REFUSES(at(c)->minimum, 1);
        REFUSES(at(c)->null_count, 999);
    }
}

static void any_byte_may_be_wrong(void **unused)
{
    static int64_t values[ROWS_MAX];

    (void)unused;
    for (unsigned runs = 0; runs < 2; runs++) {
        if (runs)
            fill_runs(40, 8, true, true);
        else
            fill(20, 5, -3, true);
        build(CHOOSE_PACKED);
        for (size_t byte = 0; byte < made.block.size; byte++)
            for (unsigned bit = 0; bit < 8; bit++) {
                uint8_t *bytes = made.block.bytes;
                bytes[byte] ^= (uint8_t)(1u << bit);
                for (unsigned c = 0; c < COLUMNS && check() == VDBQ_OK; c++)
                    tablet_values(bytes, c, values);
                bytes[byte] ^= (uint8_t)(1u << bit);
            }
        assert_int_equal(check(), VDBQ_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_is_packed),
        cmocka_unit_test(wide_bases_are_kept),
        cmocka_unit_test(packing_must_save_a_fifth),
        cmocka_unit_test(constants_store_nothing),
        cmocka_unit_test(neighbours_are_a_sequence),
        cmocka_unit_test(equal_neighbours_are_runs),
        cmocka_unit_test(short_runs_are_not_stored),
        cmocka_unit_test(damaged_packed_columns_are_refused),
        cmocka_unit_test(packed_values_stay_inside_their_type),
        cmocka_unit_test(damaged_runs_are_refused),
        cmocka_unit_test(changed_heads_lead_to_a_run),
        cmocka_unit_test(damaged_constants_are_refused),
        cmocka_unit_test(any_byte_may_be_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
