/* SPDX-License-Identifier: MIT */
/*
 * Rows that several threads put into partitions of a temporary file: each comes back
 * from the partition that it was told to be of, in the rows' order, block by block
 * and several blocks at once; failing files; and hashes of many rows, which are those
 * of each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "exec/rows/row_index.h"
#include "exec/join/join_gather.h"
#include "exec/rows/spill_parts.h"

enum { ROWS = 150000, PARTITIONS = 5 };

static struct step_column columns[] = { { .type = VDBQ_INTEGER },
                                        { .type = VDBQ_DOUBLE } };
static int32_t keys[ROWS];
static double values[ROWS];
static uint8_t nulls[ROWS];
static struct error error;

static void make_rows(void)
{
    for (unsigned i = 0; i < ROWS; i++) {
        keys[i] = rand() % 1000 - 500;
        values[i] = rand() % 9 == 0 ? -0.0 : rand();
        nulls[i] = rand() % 7 == 0;
    }
}

/* Most rows are of one partition, and one partition has none. */
static unsigned partition_of(int32_t key)
{
    return key < 100 ? 2 : key % 2 == 0 ? 0 : 4;
}

static void find(const void *context, uint64_t first, uint64_t count,
                 uint16_t *partitions)
{
    const struct row_set *rows = context;
    for (uint64_t i = 0; i < count; i++)
        partitions[i] = (uint16_t)partition_of(
            (int32_t)row_set_integer(&rows->columns[0], first + i));
}

/* Views rows from `first` on. */
static struct row_set view(struct row_set_column *of, uint64_t first,
                           uint64_t rows)
{
    of[0] = (struct row_set_column){ .type = VDBQ_INTEGER,
                                     .width = sizeof *keys,
                                     .values = keys + first };
    of[1] = (struct row_set_column){ .type = VDBQ_DOUBLE,
                                     .width = sizeof *values,
                                     .values = values + first,
                                     .nulls = nulls + first };
    return (struct row_set){ .rows = rows, .column_count = 2, .columns = of };
}

static void open_spill(struct spill *spill, const struct os_file_calls *files)
{
    assert_int_equal(
        spill_init(spill,
                   &(struct spill_params){ .files = files,
                                           .columns = columns,
                                           .column_count = 2,
                                           .partitions = PARTITIONS,
                                           .block_bytes = 5000 },
                   &error),
        VDBQ_OK);
}

/* Adds all rows in slices; what the first that fails says. */
static enum vdbq_status add_rows(struct spill *spill, unsigned threads)
{
    struct spill_parts parts;
    enum vdbq_status status = spill_parts_init(&parts, spill, threads, &error);
    for (uint64_t first = 0, rows; status == VDBQ_OK && first < ROWS;
         first += rows) {
        struct row_set_column of[2];
        rows = ROWS - first < spill_parts_room(&parts)
                   ? ROWS - first
                   : spill_parts_room(&parts);
        const struct row_set slice = view(of, first, rows);
        status = spill_parts_add(&parts,
                                 &(struct spill_slice){ .from = &slice,
                                                        .number = first,
                                                        .find = find,
                                                        .context = &slice },
                                 &error);
    }
    spill_parts_finish(&parts);
    return status;
}

/* The next row of a partition, from `row` on; ROWS: there is none. */
static uint64_t next_row(unsigned partition, uint64_t row)
{
    while (row < ROWS && partition_of(keys[row]) != partition)
        row++;
    return row;
}

/* Whether row `i` of a batch is that row. */
static void check_row(const struct vdbq_batch *batch, uint64_t i, uint64_t row)
{
    const struct vdbq_vector *column = batch->column;
    bool null = column[1].nulls != NULL && column[1].nulls[i] != 0;
    assert_true(row < ROWS);
    assert_int_equal(((const uint64_t *)column[2].values)[i], row);
    assert_int_equal(((const int32_t *)column[0].values)[i], keys[row]);
    assert_int_equal(null, nulls[row]);
    if (!null)
        assert_memory_equal((const double *)column[1].values + i, &values[row],
                            sizeof *values);
}

/* Whether a partition has its rows, and no others, in their order. */
static void check_partition(const struct spill *spill, unsigned partition)
{
    struct spill_reader reader;
    struct vdbq_batch batch = { .rows = 1 };
    const struct spill_range range = { .spill = spill,
                                       .partition = partition,
                                       .rows = spill_rows(spill, partition) };
    uint64_t row = next_row(partition, 0);
    assert_int_equal(spill_reader_init(&reader, &range, &error), VDBQ_OK);
    while (batch.rows > 0) {
        assert_int_equal(spill_read(&reader, &batch, &error), VDBQ_OK);
        for (uint64_t i = 0; i < batch.rows; i++) {
            check_row(&batch, i, row);
            row = next_row(partition, row + 1);
        }
    }
    assert_int_equal(row, ROWS);
    spill_reader_finish(&reader);
}

/* The same of some of its rows, several blocks at once, `most` rows or a block. */
static void check_gathered(const struct spill *spill,
                           const struct spill_range *range, unsigned threads,
                           uint64_t most)
{
    struct join_gather gather;
    uint64_t row = next_row(range->partition, 0), rows = 0;
    for (uint64_t i = 0; i < range->first; i++)
        row = next_row(range->partition, row + 1);
    assert_int_equal(join_gather_init(&gather, range, threads, &error),
                     VDBQ_OK);
    do {
        assert_int_equal(join_gather_read(&gather, most, &error), VDBQ_OK);
        assert_true(batches_rows(&gather.batches) < most + spill->block_rows);
        rows += batches_rows(&gather.batches);
        for (unsigned k = 0; k < gather.batches.count; k++)
            for (uint64_t i = 0; i < gather.batches.batch[k].rows; i++) {
                check_row(&gather.batches.batch[k], i, row);
                row = next_row(range->partition, row + 1);
            }
    } while (gather.batches.count > 0);
    assert_int_equal(rows, range->rows);
    join_gather_finish(&gather);
}

/* All rows of a partition, some from within a block, and none. */
static void check_ranges(const struct spill *spill, unsigned threads)
{
    for (unsigned p = 0; p < PARTITIONS; p++) {
        uint64_t rows = spill_rows(spill, p), some = rows / 3;
        const struct spill_range ranges[] = {
            { .spill = spill, .partition = p, .rows = rows },
            { .spill = spill, .partition = p, .first = some, .rows = some },
            { .spill = spill, .partition = p }
        };
        for (unsigned i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
            check_gathered(spill, &ranges[i], threads, ROWS);
            check_gathered(spill, &ranges[i], threads, 1000);
            check_gathered(spill, &ranges[i], threads, 1);
        }
    }
}

static void rows_come_back_from_their_partitions(void **state)
{
    (void)state;
    make_rows();
    for (unsigned threads = 1; threads <= 9; threads += 2) {
        struct spill spill;
        open_spill(&spill, &os_memory_files);
        assert_int_equal(add_rows(&spill, threads), VDBQ_OK);
        assert_int_equal(spill_end(&spill, &error), VDBQ_OK);
        for (unsigned i = 0; i < PARTITIONS; i++)
            check_partition(&spill, i);
        check_ranges(&spill, threads);
        spill_finish(&spill);
    }
}

static atomic_uint writes;

static int failing_write(struct os_file *file, const void *bytes, uint64_t size,
                         uint64_t offset)
{
    if (atomic_fetch_add(&writes, 1) >= 20)
        return ENOSPC;
    return os_memory_files.write(file, bytes, size, offset);
}

static void a_failing_file_is_told(void **state)
{
    struct os_file_calls files = os_memory_files;
    (void)state;
    files.write = failing_write;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct spill spill;
        atomic_store(&writes, 0);
        open_spill(&spill, &files);
        assert_int_equal(add_rows(&spill, threads), VDBQ_IO);
        assert_non_null(strstr(error.message, "cannot be written"));
        spill_finish(&spill);
    }
}

static int failing_read(struct os_file *file, void *bytes, uint64_t size,
                        uint64_t offset)
{
    if (offset > 50000)
        return EIO;
    return os_memory_files.read(file, bytes, size, offset);
}

static void a_block_that_cannot_be_read_is_told(void **state)
{
    struct os_file_calls files = os_memory_files;
    struct spill spill;
    (void)state;
    make_rows();
    files.read = failing_read;
    open_spill(&spill, &files);
    assert_int_equal(add_rows(&spill, 2), VDBQ_OK);
    assert_int_equal(spill_end(&spill, &error), VDBQ_OK);
    for (unsigned threads = 1; threads <= 4; threads++) {
        const struct spill_range all = { .spill = &spill,
                                         .partition = 2,
                                         .rows = spill_rows(&spill, 2) };
        struct join_gather gather;
        enum vdbq_status status =
            join_gather_init(&gather, &all, threads, &error);
        while (status == VDBQ_OK && gather.rest.rows > 0)
            status = join_gather_read(&gather, 1000, &error);
        assert_int_equal(status, VDBQ_IO);
        assert_non_null(strstr(error.message, "cannot be read"));
        join_gather_finish(&gather);
    }
    spill_finish(&spill);
}

/* Hashes of many rows are those of each. */
static void many_hashes_are_those_of_each(void **state)
{
    static uint64_t hashes[ROWS];
    struct row_set_column of[2];
    (void)state;
    make_rows();
    const struct row_set rows = view(of, 0, ROWS);
    for (unsigned first = 0; first < 2; first++)
        for (unsigned count = 1; first + count <= 2; count++) {
            row_hashes(rows.columns + first, count, 3, ROWS - 3, hashes);
            for (unsigned i = 3; i < ROWS; i++)
                assert_int_equal(hashes[i - 3],
                                 row_hash(rows.columns + first, count, i));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_from_their_partitions),
        cmocka_unit_test(a_failing_file_is_told),
        cmocka_unit_test(a_block_that_cannot_be_read_is_told),
        cmocka_unit_test(many_hashes_are_those_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
