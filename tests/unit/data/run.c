/* SPDX-License-Identifier: MIT */
/*
 * Runs of random tablets: what a look-up finds by a run, by all values, and by
 * comparing row by row is the same, also of runs in a file, of which little is
 * read; one that is damaged is not believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/database/database_inner.h"
#include "data/database/rows_block.h"
#include "data/index/run_block.h"
#include "data/index/run_cache.h"
#include "data/index/run_pages.h"
#include "data/index/run_terms.h"
#include "data/tablet/dictionary_sort.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

enum { ROWS_MAX = 900, COLUMNS = 5, LIST_MAX = 80 };

/* INTEGER, BIGINT, DOUBLE, FLOAT, TEXT; each with values that come often, or as
 * far apart as there are. */
static struct column columns[COLUMNS] = {
    { .name = "i", .type = VDBQ_INTEGER }, { .name = "b", .type = VDBQ_BIGINT },
    { .name = "d", .type = VDBQ_DOUBLE },  { .name = "f", .type = VDBQ_FLOAT },
    { .name = "s", .type = VDBQ_TEXT },
};
static const struct table table = {
    .name = "t", .column_count = COLUMNS, .columns = columns, .key = NO_KEY
};

static uint32_t rows;
static int32_t integers[ROWS_MAX];
static int64_t bigints[ROWS_MAX];
static double doubles[ROWS_MAX];
static float floats[ROWS_MAX];
static char letters[ROWS_MAX][4];
static struct vdbq_text texts[ROWS_MAX];
static uint8_t nulls[COLUMNS][ROWS_MAX];
static struct block block; /* the tablet of all of it */

static unsigned chance(uint64_t below)
{
    return (unsigned)chance_below(below);
}

static int64_t any_bigint(unsigned width)
{
    static const int64_t far[] = { INT64_MIN, INT64_MAX, 0, -1, 1, INT32_MAX };

    return width == 0 ? far[chance(6)] : (int64_t)chance(width) - width / 3;
}

static double any_double(unsigned width)
{
    static const double far[] = {
        -INFINITY, INFINITY, -0.0, 0.0, 5e-324, -1e308
    };

    return width == 0 ? far[chance(6)] : chance(width) / 4.0 - width / 16;
}

static struct vdbq_text any_text(uint32_t row, unsigned width)
{
    unsigned length = chance(4);

    for (unsigned i = 0; i < length; i++)
        letters[row][i] = (char)('a' + chance(width < 20 ? 2 : 20));
    return (struct vdbq_text){ letters[row], length };
}

/* Makes the rows, and the tablet. */
static void make_tablet(void)
{
    static const unsigned widths[] = { 0, 1, 3, 100, 5000 };
    const struct vdbq_vector vectors[] = {
        { VDBQ_INTEGER, integers, nulls[0] },
        { VDBQ_BIGINT, bigints, nulls[1] },
        { VDBQ_DOUBLE, doubles, nulls[2] },
        { VDBQ_FLOAT, floats, nulls[3] },
        { VDBQ_TEXT, texts, nulls[4] },
    };
    struct rows made = { 0 };
    struct column_facts facts[COLUMNS];
    uint64_t features = 0;
    unsigned width = widths[chance(5)], share = chance(4);
    bool sorted = chance(5) == 0;

    rows = 1 + chance(ROWS_MAX);
    for (uint32_t i = 0; i < rows; i++) {
        integers[i] = sorted ? (int32_t)i : (int32_t)any_bigint(width);
        bigints[i] = any_bigint(width);
        doubles[i] = any_double(width);
        floats[i] = (float)any_double(width);
        texts[i] = any_text(i, width);
        for (unsigned c = 0; c < COLUMNS; c++)
            nulls[c][i] = share > 0 && chance(share * share * share) == 0;
    }
    assert_true(rows_init(&made, &table));
    assert_true(rows_add(&made, vectors, 0, rows));
    block =
        rows_block(&made, &table, (struct rows_form){ .choice = CHOOSE_AUTO },
                   facts, &features);
    assert_non_null(block.bytes);
    rows_finish(&made);
}

/* The order of values of a column in two rows; NULL is below all others. */
static int compare(unsigned column, uint32_t a, uint32_t b)
{
    if (nulls[column][a] || nulls[column][b])
        return nulls[column][b] - nulls[column][a];
    switch (column) {
    case 0:
        return (integers[a] > integers[b]) - (integers[a] < integers[b]);
    case 1:
        return (bigints[a] > bigints[b]) - (bigints[a] < bigints[b]);
    case 2:
        return (doubles[a] > doubles[b]) - (doubles[a] < doubles[b]);
    case 3:
        return (floats[a] > floats[b]) - (floats[a] < floats[b]);
    default:
        return text_compare(texts[a], texts[b]);
    }
}

static struct run_value value_of(unsigned column, uint32_t row)
{
    switch (column) {
    case 0:
        return run_value_integer(integers[row]);
    case 1:
        return run_value_integer(bigints[row]);
    case 2:
        return run_value_real(doubles[row]);
    case 3:
        return run_value_real((double)floats[row]);
    default:
        return run_value_text(block.bytes, column, texts[row], NULL);
    }
}

/* A row in which a column is not NULL; `rows`: there is none. */
static uint32_t any_row(unsigned column)
{
    for (unsigned tries = 0; tries < 50; tries++) {
        uint32_t row = chance(rows);
        if (!nulls[column][row])
            return row;
    }
    return rows;
}

/* ---------------------------------------------------------------- order -- */

static void check_order(const struct run *run, const unsigned *of,
                        unsigned count)
{
    bool seen[ROWS_MAX] = { false };

    for (uint32_t i = 0; i < rows; i++) {
        int order = 0;
        assert_true(run_row(run, i) < rows && !seen[run_row(run, i)]);
        seen[run_row(run, i)] = true;
        for (unsigned c = 0; c < count && i > 0 && order == 0; c++)
            order = compare(of[c], run_row(run, i - 1), run_row(run, i));
        assert_true(order <= 0);
        if (i > 0 && order == 0)
            assert_true(run_row(run, i - 1) < run_row(run, i));
    }
}

/* ------------------------------------------------------------- look-ups -- */

/* What is asked, by rows that have it. */
struct asked {
    unsigned of[RUN_COLUMNS_MAX + 1], count; /* the last one is of none */
    uint32_t equal[RUN_COLUMNS_MAX]; /* rows with the values           */
    unsigned equal_count;
    uint32_t low, high; /* `rows`: there is no such bound              */
    bool low_open, high_open;
    uint32_t list[LIST_MAX];
    unsigned list_count;   /* 0: there is none                         */
    unsigned list_columns; /* that a row of it says something of       */
};

/* Whether a row has what a row of the list has. */
static bool is_listed(const struct asked *asked, uint32_t row, unsigned i)
{
    bool same = true;

    for (unsigned c = 0; c < asked->list_columns; c++) {
        unsigned column = asked->of[asked->equal_count + c];
        same = same && !nulls[column][row]
               && compare(column, row, asked->list[i]) == 0;
    }
    return same;
}

static bool is_asked(const struct asked *asked, uint32_t row)
{
    unsigned last = asked->of[asked->equal_count];
    bool found = asked->list_count == 0;

    for (unsigned i = 0; i < asked->equal_count; i++)
        if (nulls[asked->of[i]][row]
            || compare(asked->of[i], row, asked->equal[i]) != 0)
            return false;
    if (asked->list_count == 0 && asked->low == rows && asked->high == rows)
        return true;
    if (nulls[last][row])
        return false;
    for (unsigned i = 0; i < asked->list_count; i++)
        found |= is_listed(asked, row, i);
    if (asked->low < rows)
        found &= compare(last, row, asked->low) > -!asked->low_open;
    if (asked->high < rows)
        found &= compare(last, row, asked->high) < !asked->high_open;
    return found;
}

/* Whether a row has values in all columns of the list. */
static bool has_values(const struct asked *asked, uint32_t row)
{
    bool has = true;

    for (unsigned c = 0; c < asked->list_columns; c++)
        has &= !nulls[asked->of[asked->equal_count + c]][row];
    return has;
}

static struct asked any_question(void)
{
    struct asked asked = { .count = 1 + chance(RUN_COLUMNS_MAX) };
    unsigned last;

    asked.low = asked.high = rows;
    for (unsigned i = 0; i < asked.count; i++)
        asked.of[i] = (chance(COLUMNS) + i) % COLUMNS;
    asked.equal_count = chance(asked.count + 1);
    for (unsigned i = 0; i < asked.equal_count; i++) {
        asked.equal[i] = any_row(asked.of[i]);
        if (asked.equal[i] == rows)
            asked.equal_count = i;
    }
    if (asked.equal_count == asked.count)
        return asked;
    last = asked.of[asked.equal_count];
    asked.list_columns = 1 + chance(asked.count - asked.equal_count);
    if (chance(3) == 0 && any_row(last) < rows)
        for (unsigned i = chance(chance(2) == 0 ? 8 : LIST_MAX); i > 0; i--) {
            uint32_t row = any_row(last);
            if (row < rows && has_values(&asked, row))
                asked.list[asked.list_count++] = row;
        }
    if (asked.list_count == 0 && chance(3) > 0)
        asked.low = any_row(last);
    if (asked.list_count == 0 && chance(3) > 0)
        asked.high = any_row(last);
    asked.low_open = chance(2) == 0;
    asked.high_open = chance(2) == 0;
    return asked;
}

/* A row of a list. */
struct list_row {
    struct run_value values[RUN_COLUMNS_MAX];
};

static int by_value(const void *a, const void *b)
{
    const struct list_row *x = a, *y = b;
    int order = 0;

    for (unsigned c = 0; c < RUN_COLUMNS_MAX && order == 0; c++)
        order = (x->values[c].value > y->values[c].value)
                - (x->values[c].value < y->values[c].value);
    return order;
}

/* Writes the values of the list, in order and none twice, one row behind the
 * other. Returns how many rows these are. */
static uint32_t fill_list(const struct asked *asked, struct run_value *to)
{
    static struct list_row list[LIST_MAX];
    uint32_t count = 0;

    memset(list, 0, sizeof list);
    for (unsigned i = 0; i < asked->list_count; i++)
        for (unsigned c = 0; c < asked->list_columns; c++)
            list[i].values[c] =
                value_of(asked->of[asked->equal_count + c], asked->list[i]);
    qsort(list, asked->list_count, sizeof *list, by_value);
    for (unsigned i = 0; i < asked->list_count; i++) {
        if (i > 0 && by_value(&list[i], &list[i - 1]) == 0)
            continue;
        memcpy(to + (size_t)count * asked->list_columns, list[i].values,
               asked->list_columns * sizeof *to);
        count++;
    }
    return count;
}

/* Where something else searches the run for the same, it gives the same. */
static void check_ranges(const struct run_terms *terms, const struct run *run,
                         const struct vector *found)
{
    static uint64_t ranges[2 * LIST_MAX];
    static uint32_t places[2 * LIST_MAX];
    struct vector again = VECTOR(uint32_t);
    uint32_t count;

    assert_true(run_terms_most(terms, run) <= LIST_MAX);
    count = run_terms_ranges(terms, run, ranges);
    assert_true(count <= run_terms_most(terms, run));
    run_find_ranges(run, ranges, count, places);
    assert_true(run_terms_take(run, places, count, &again));
    assert_int_equal(again.count, found->count);
    if (again.count > 0)
        assert_memory_equal(again.items, found->items,
                            again.count * sizeof(uint32_t));
    vector_finish(&again);
}

/* All texts, in order, and more that are in no row: what begins a search with
 * some words gives what all words do. */
static void check_texts(const struct run_column *of)
{
    static struct vdbq_text sorted[2 * ROWS_MAX];
    static char more[ROWS_MAX][5];
    static uint32_t order[2 * ROWS_MAX];
    static struct vdbq_text asked[2 * ROWS_MAX];
    static struct run_value values[2 * ROWS_MAX];

    for (uint32_t i = 0; i < rows; i++) {
        sorted[2 * i] = texts[i];
        memcpy(more[i], texts[i].bytes, texts[i].length);
        more[i][texts[i].length] = '~';
        sorted[2 * i + 1] = (struct vdbq_text){ more[i], texts[i].length + 1 };
    }
    assert_true(dictionary_sort(sorted, 2 * rows, order));
    for (uint32_t i = 0; i < 2 * rows; i++)
        asked[i] = sorted[order[i]];
    run_value_texts(block.bytes, of->column, asked, 2 * rows, of, values);
    for (uint32_t i = 0; i < 2 * rows; i++) {
        struct run_value value =
            run_value_text(block.bytes, of->column, asked[i], NULL);
        assert_true(values[i].value == value.value
                    && values[i].exact == value.exact);
    }
}

/* Reads what is needed of a run, and asks by that. */
static void find_in_pages(const struct run_terms *terms,
                          const struct run_pages *pages, struct vector *found)
{
    struct vector keys = VECTOR(struct run_keys);
    struct run *part;

    assert_true(run_terms_keys(terms, &pages->run, &keys));
    assert_int_equal(run_pages_find(pages, &keys, &terms->ends, &part, ERROR),
                     VDBQ_OK);
    assert_non_null(part);
    assert_true(run_terms_find(terms, part, found));
    run_destroy(part);
    vector_finish(&keys);
}

/* Asks by a run, by one in the file, or by all values (both NULL), and compares. */
static void check_found(const struct asked *asked, const struct run *run,
                        const struct run_pages *pages)
{
    static struct run_value list[LIST_MAX * RUN_COLUMNS_MAX];
    struct run_bound low = { .open = asked->low_open };
    struct run_bound high = { .open = asked->high_open };
    struct run_terms terms = { .columns = asked->of,
                               .equal_count = asked->equal_count };
    unsigned last = asked->of[asked->equal_count];
    struct vector found = VECTOR(uint32_t);
    size_t at = 0;

    for (unsigned i = 0; i < asked->equal_count; i++)
        terms.equals[i] = value_of(asked->of[i], asked->equal[i]);
    terms.list_count = fill_list(asked, list);
    terms.list_columns = asked->list_count > 0 ? asked->list_columns : 0;
    terms.list = list;
    if (asked->low < rows) {
        low.value = value_of(last, asked->low);
        terms.low = &low;
    }
    if (asked->high < rows) {
        high.value = value_of(last, asked->high);
        terms.high = &high;
    }
    if (pages != NULL)
        find_in_pages(&terms, pages, &found);
    else
        assert_true(run != NULL ? run_terms_find(&terms, run, &found)
                                : run_terms_scan(&terms, block.bytes, &found));
    for (uint32_t row = 0; row < rows; row++)
        if (is_asked(asked, row)) {
            assert_true(at < found.count);
            assert_int_equal(VECTOR_ITEMS(&found, uint32_t)[at++], row);
        }
    assert_int_equal(at, found.count);
    if (run != NULL)
        check_ranges(&terms, run, &found);
    vector_finish(&found);
}

static void test_finds(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 300; n++) {
        if (!is_taken(n))
            continue;
        make_tablet();
        for (unsigned i = 0; i < 20; i++) {
            struct asked asked = any_question();
            struct run *run = run_make(block.bytes, asked.of, asked.count);
            assert_non_null(run);
            check_order(run, asked.of, asked.count);
            check_found(&asked, run, NULL);
            if (i % 4 == 0 && columns[asked.of[0]].type == VDBQ_TEXT)
                check_texts(&run->columns[0]);
            if (asked.equal_count > 0 || asked.list_count > 0
                || asked.low < rows || asked.high < rows)
                check_found(&asked, NULL, NULL);
            run_destroy(run);
        }
        block_destroy(&block);
    }
}

/* ----------------------------------------------------------------- ends -- */

/* Whether a row stands before another one in the order of some columns, of
 * which the greatest values may come first; equal ones keep the tablet's. */
static bool stands_before(const struct asked *asked, unsigned count,
                          bool descending, uint32_t a, uint32_t b)
{
    for (unsigned i = 0; i < count; i++) {
        int order = compare(asked->of[i], a, b);
        if (order != 0)
            return descending ? order > 0 : order < 0;
    }
    return a < b;
}

/* The rows of which fewer than `most` stand before them must be those that
 * were found. */
static void check_end(const struct asked *asked, unsigned count,
                      bool descending, uint32_t most,
                      const struct vector *found)
{
    uint32_t at = 0;

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t before = 0;
        for (uint32_t other = 0; other < rows && before < most; other++)
            before += stands_before(asked, count, descending, other, row);
        if (before == most)
            continue;
        assert_true(at < found->count);
        assert_int_equal(VECTOR_ITEMS(found, uint32_t)[at++], row);
    }
    assert_int_equal(at, found->count);
}

/* Asks for some rows of one end. */
static struct run_terms any_ends(const struct asked *asked)
{
    uint32_t most = 1 + chance(30);
    bool descending = chance(2) == 0;

    return (
        struct run_terms){ .columns = asked->of,
                           .ends = { .first = descending ? 0 : most,
                                     .last = descending ? most : 0,
                                     .columns = 1 + chance(asked->count) } };
}

/* Finds ends by a run, or by pages of it that are read (else NULL). */
static void check_ends(const struct asked *asked, const struct run_terms *terms,
                       const struct run *run, const struct run_pages *pages)
{
    struct vector found = VECTOR(uint32_t);
    const struct run_ends *ends = &terms->ends;

    if (pages != NULL)
        find_in_pages(terms, pages, &found);
    else
        assert_true(run_terms_find(terms, run, &found));
    check_end(asked, ends->columns, ends->last > 0, ends->first + ends->last,
              &found);
    vector_finish(&found);
}

static void test_ends(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 100; n++) {
        struct asked asked = any_question();
        struct run_terms terms = any_ends(&asked);
        struct run *run;
        make_tablet();
        run = run_make(block.bytes, asked.of, asked.count);
        assert_non_null(run);
        check_ends(&asked, &terms, run, NULL);
        run_destroy(run);
        block_destroy(&block);
    }
}

/* A text that the tablet has not lies between its neighbours. */
static void test_texts_between(void **state)
{
    static const char *const tried[] = { "", "a", "aa", "b", "zz", "zzzz" };

    (void)state;
    make_tablet();
    for (unsigned i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct vdbq_text text = { tried[i], strlen(tried[i]) };
        struct run_value value = run_value_text(block.bytes, 4, text, NULL);
        uint32_t below = 0, count = tablet_words(block.bytes, 4)->count;
        bool there = false;
        for (uint32_t k = 0; k < count; k++) {
            int order = text_compare(tablet_word(block.bytes, 4, k), text);
            below += order < 0;
            there |= order == 0;
        }
        assert_int_equal(value.exact, there);
        assert_true(value.value == run_value_integer(below).value);
    }
    block_destroy(&block);
}

/* ----------------------------------------------------------------- file -- */

enum { RUN_AT = 1 << 16 };

static struct database *database; /* on the disk */

static void open_disk(void)
{
    struct database_params params = params_on_disk(ROWS_MAX);

    disk_start(NULL, 0);
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
}

static void close_disk(void)
{
    database_close(database);
    disk_end();
}

/* Writes a run to the disk. */
static struct run_ref write_run(const struct run *run, uint32_t page_rows)
{
    struct run_ref ref = { .column_count = run->column_count,
                           .offset = RUN_AT };
    struct block written = run_block(run, page_rows, &ref);

    assert_non_null(written.bytes);
    assert_int_equal(file_write_block(&database->file, &written, RUN_AT, ERROR),
                     VDBQ_OK);
    assert_int_equal(file_write_waiting(&database->file, ERROR), VDBQ_OK);
    block_destroy(&written);
    for (unsigned i = 0; i < run->column_count; i++)
        ref.columns[i] = run->columns[i].column;
    return ref;
}

/* The tablet, whose runs are of all its rows. */
static struct run_tablet all_rows(void)
{
    return (struct run_tablet){ .rows = rows };
}

/* All of it is read back. */
static void check_all(const struct run *run, const struct run_ref *ref)
{
    struct run *read;

    assert_int_equal(
        run_load(database, ref, all_rows(), block.bytes, &read, ERROR),
        VDBQ_OK);
    assert_non_null(read);
    assert_int_equal(read->rows, run->rows);
    for (uint32_t i = 0; i < run->rows; i++) {
        assert_true(run_key(read, i) == run_key(run, i));
        assert_int_equal(run_row(read, i), run_row(run, i));
    }
    run_destroy(read);
}

static void test_reads_back(void **state)
{
    (void)state;
    open_disk();
    for (unsigned n = 0; n < 100; n++) {
        make_tablet();
        for (unsigned i = 0; i < 10; i++) {
            struct asked asked = any_question();
            struct run *run = run_make(block.bytes, asked.of, asked.count);
            struct run_ref ref = write_run(run, 1 + chance(50));
            struct run_pages pages;
            bool sound;
            check_all(run, &ref);
            assert_int_equal(run_pages_open(database, &ref, all_rows(), &pages,
                                            &sound, ERROR),
                             VDBQ_OK);
            assert_true(sound);
            check_found(&asked, NULL, &pages);
            run_pages_close(&pages);
            run_destroy(run);
        }
        block_destroy(&block);
    }
    close_disk();
}

/* Ends are found in the pages that are read for them. */
static void test_reads_ends(void **state)
{
    (void)state;
    open_disk();
    for (unsigned n = 0; n < 200; n++) {
        struct asked asked = any_question();
        struct run_terms terms = any_ends(&asked);
        struct run_pages pages;
        struct run_ref ref;
        struct run *run;
        bool sound;
        make_tablet();
        run = run_make(block.bytes, asked.of, asked.count);
        ref = write_run(run, 1 + chance(20));
        assert_int_equal(
            run_pages_open(database, &ref, rows, &pages, &sound, ERROR),
            VDBQ_OK);
        assert_true(sound);
        check_ends(&asked, &terms, run, &pages);
        run_pages_close(&pages);
        run_destroy(run);
        block_destroy(&block);
    }
    close_disk();
}

/* How many rows have the value of a row in the first column. */
static uint32_t count_equal(uint32_t row)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < rows && row < rows; i++)
        count += !nulls[0][i] && compare(0, i, row) == 0;
    return count;
}

/* Rows of an end are found in few pages. */
static void check_ends_read(const struct run_ref *ref, struct run_ends ends)
{
    const unsigned of[] = { 0 };
    const struct run_terms terms = { .columns = of, .ends = ends };
    struct vector found = VECTOR(uint32_t);
    struct run_pages pages;
    bool sound;

    disk.read_bytes = 0;
    assert_int_equal(run_pages_open(database, ref, rows, &pages, &sound, ERROR),
                     VDBQ_OK);
    assert_true(sound);
    find_in_pages(&terms, &pages, &found);
    run_pages_close(&pages);
    assert_int_equal(found.count, 5);
    assert_true(disk.read_bytes
                < ref->head_bytes + (ref->size_bytes - ref->head_bytes) / 4);
    vector_finish(&found);
}

/* A search reads the head and the pages that it needs, whatever else there is. */
static void test_reads_little(void **state)
{
    const unsigned of[] = { 0 };
    struct asked asked = { .of = { 0 }, .count = 1, .equal_count = 1 };
    struct run_pages pages;
    struct run_ref ref;
    struct run *run;
    bool sound;

    (void)state;
    open_disk();
    do {
        block_destroy(&block);
        make_tablet();
        asked.equal[0] = any_row(0);
        run = run_make(block.bytes, of, 1);
        ref = write_run(run, 10);
        run_destroy(run);
    } while (rows < 500 || asked.equal[0] == rows
             || count_equal(asked.equal[0]) > 10);
    asked.low = asked.high = rows;
    disk.read_bytes = 0;
    assert_int_equal(
        run_pages_open(database, &ref, all_rows(), &pages, &sound, ERROR),
        VDBQ_OK);
    assert_true(sound);
    check_found(&asked, NULL, &pages);
    run_pages_close(&pages);
    assert_true(disk.read_bytes
                < ref.head_bytes + (ref.size_bytes - ref.head_bytes) / 4);
    check_ends_read(&ref, (struct run_ends){ .first = 5, .columns = 1 });
    check_ends_read(&ref, (struct run_ends){ .last = 5, .columns = 1 });
    block_destroy(&block);
    close_disk();
}

/* A run that is damaged, and has (`meant`) the checksums of what it is, is not
 * read, or has rows of the tablet, whose keys ascend. */
static void check_damaged(struct run_ref ref, bool meant)
{
    struct run *read;

    if (meant)
        ref.checksum =
            block_checksum(disk.bytes + RUN_AT, (size_t)ref.head_bytes);
    assert_int_equal(run_load(database, &ref, all_rows(), NULL, &read, ERROR),
                     VDBQ_OK);
    assert_true(meant || read == NULL);
    for (uint32_t i = 0; read != NULL && i < read->rows; i++) {
        assert_true(run_row(read, i) < rows);
        assert_true(i == 0 || run_key(read, i - 1) <= run_key(read, i));
    }
    run_destroy(read);
}

static void test_damage(void **state)
{
    (void)state;
    open_disk();
    for (unsigned n = 0; n < 40; n++) {
        struct asked asked;
        struct run *run;
        struct run_ref ref;
        make_tablet();
        asked = any_question();
        run = run_make(block.bytes, asked.of, asked.count);
        ref = write_run(run, 1 + chance(50));
        run_destroy(run);
        for (unsigned i = 0; i < 200; i++) {
            bool meant = chance(2) == 0;
            uint64_t at = chance(meant ? ref.head_bytes : ref.size_bytes);
            uint8_t change = (uint8_t)(1 + chance(255));
            disk.bytes[RUN_AT + at] ^= change;
            check_damaged(ref, meant);
            disk.bytes[RUN_AT + at] ^= change;
        }
        block_destroy(&block);
    }
    close_disk();
}

/* ------------------------------------------------------------- some rows -- */

/* A run that was written, or NULL. */
static struct run *read_as(const struct run_ref *ref, uint32_t tablet_rows,
                           bool some)
{
    const struct run_tablet of = { tablet_rows, some };
    struct run *read;

    assert_int_equal(run_load(database, ref, of, NULL, &read, ERROR), VDBQ_OK);
    return read;
}

/* Has a run be of every other row of a tablet of twice as many. */
static void spread(struct run *run)
{
    if (run->order == NULL) {
        run->order = memory_resize(NULL, run->rows * sizeof *run->order);
        for (uint32_t i = 0; i < run->rows; i++)
            run->order[i] = i;
    }
    for (uint32_t i = 0; i < run->rows; i++)
        run->order[i] = 2 * run->order[i] + 1;
    run->tablet_rows = 2 * run->rows;
}

static void refuse(const struct run_ref *ref, uint32_t tablet_rows, bool some)
{
    struct run *read = read_as(ref, tablet_rows, some);

    assert_null(read);
}

/* A run of some rows is one where it may be, and names no row that the tablet has
 * not, and none twice. */
static void test_some_rows(void **state)
{
    const unsigned of[] = { 0 };

    (void)state;
    open_disk();
    for (unsigned n = 0; n < 100; n++) {
        struct run *run, *read;
        struct run_ref ref;
        make_tablet();
        run = run_make(block.bytes, of, 1);
        spread(run);
        ref = write_run(run, 1 + chance(50));
        read = read_as(&ref, 2 * rows, true);
        assert_non_null(read);
        assert_int_equal(read->rows, rows);
        for (uint32_t i = 0; i < rows; i++)
            assert_int_equal(run_row(read, i), run_row(run, i));
        run_destroy(read);
        refuse(&ref, 2 * rows, false);
        refuse(&ref, 2 * rows - 1, true);
        refuse(&ref, rows, true);
        run->order[chance(rows)] = 2 * rows;
        ref = write_run(run, 1 + chance(50));
        refuse(&ref, 2 * rows, true);
        if (rows > 1) {
            spread(run);
            for (uint32_t i = 0; i < rows; i++)
                run->order[i] = 1 + (uint32_t)chance(2) * (i > 1);
            run->tablet_rows = 2 * rows;
            ref = write_run(run, 1 + chance(50));
            refuse(&ref, 2 * rows, true);
        }
        run_destroy(run);
        block_destroy(&block);
    }
    close_disk();
}

/* A tablet of which an index has no row has a run, too. */
static void test_no_rows(void **state)
{
    struct run *run = run_make_empty(2, 77), *read;
    struct run_keys all = run_keys_all(run);
    struct run_ref ref;
    uint32_t begin;

    (void)state;
    open_disk();
    ref = write_run(run, 10);
    read = read_as(&ref, 77, true);
    assert_non_null(read);
    assert_int_equal(read->rows, 0);
    assert_int_equal(run_find(read, all, 0, &begin), 0);
    run_destroy(read);
    refuse(&ref, 77, false);
    run_destroy(run);
    close_disk();
}

/* ---------------------------------------------------------------- cache -- */

static void test_keeps_some(void **state)
{
    const unsigned of[] = { 1 };
    struct tablet_ref tablets[3] = { { .identity = { 1, 1 } },
                                     { .identity = { 1, 2 } },
                                     { .identity = { 2, 1 } } };
    struct run_cache *cache = run_cache_create();
    uint64_t size;

    (void)state;
    assert_non_null(cache);
    make_tablet();
    for (unsigned i = 0; i < 3; i++) {
        struct run_want want = { &tablets[i], of, 1 };
        struct run *run = run_make(block.bytes, of, 1);
        size = run->size_bytes;
        assert_null(run_cache_find(cache, &want));
        assert_true(run_cache_keep(cache, &want, run, 2 * size));
        assert_ptr_equal(run_cache_find(cache, &want), run);
        assert_true(run_cache_bytes(cache) <= 2 * size);
        if (i == 1)
            run_cache_find(cache, &(struct run_want){ &tablets[0], of, 1 });
    }
    assert_non_null(
        run_cache_find(cache, &(struct run_want){ &tablets[0], of, 1 }));
    assert_null(
        run_cache_find(cache, &(struct run_want){ &tablets[1], of, 1 }));
    run_cache_shrink(cache, 0);
    assert_int_equal(run_cache_bytes(cache), 0);
    run_cache_destroy(cache);
    block_destroy(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_texts_between),
        cmocka_unit_test(test_reads_back),
        cmocka_unit_test(test_reads_ends),
        cmocka_unit_test(test_reads_little),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_some_rows),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_keeps_some),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
