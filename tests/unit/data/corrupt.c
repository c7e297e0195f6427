/* SPDX-License-Identifier: MIT */
/*
 * Files that were damaged, cut or made up by somebody who means harm: each
 * is read as what was committed, or refused; never is anything else read,
 * and never more memory asked for than the file could need.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/file/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/database/database.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

enum { TABLETS_MAX = 64, MEMORY_MAX = 64 << 20, WAYS = 5 };

/* The database that is damaged: its bytes, and where its parts are. */
static struct {
    uint8_t *bytes;
    size_t size;
    struct file_head *heads[2 * FILE_HEADS]; /* in `bytes`, then copies */
    unsigned newest;
    size_t catalogue, catalogue_size; /* of the newest head */
    size_t tablets;
    size_t tablet[TABLETS_MAX]; /* where it is                  */
    size_t tablet_size[TABLETS_MAX];
    size_t checksum[TABLETS_MAX]; /* where the catalogue keeps it */
    char *newest_content, *older_content;
} base;

static void *bounded_resize(void *old, size_t size)
{
    assert_true(size <= MEMORY_MAX);
    return realloc(old, size);
}

/* What was said of the file that was opened last. */
static char warning[ERROR_MESSAGE_MAX];

/* What the disk's file holds, or why it is refused. */
static enum vdbq_status read_it(unsigned flags, char **content)
{
    struct database_params params = params_on_disk(3);
    struct database *database;
    struct text text = { 0 };
    enum vdbq_status status;

    *content = NULL;
    params.flags = flags;
    status = database_open(&params, &database, ERROR);
    if (status != VDBQ_OK)
        return status;
    status = print_database(database, &text);
    snprintf(warning, sizeof warning, "%s", database_warning(database));
    database_close(database);
    *content = text.bytes;
    return status;
}

/* -------------------------------------------------------------- base -- */

/* Columns that are unique together, a view, an index of columns, and one of keys. */
static void make_names(struct transaction *transaction)
{
    unsigned columns[] = { 0, 2 }, indexed[] = { 0, 4 };
    enum collation collations[] = { COLLATION_BINARY, COLLATION_NOCASE };
    const uint32_t id =
        catalogue_table(transaction_catalogue(transaction), "u")->id;
    const struct unique unique = { 2, columns };
    const struct view view = { .name = "v",
                               .sql = "create view v as select * from u" };
    const struct index index = { "i", id, true, 2, indexed, collations, NULL };
    const struct index keyed = sample_index("k", id);

    assert_int_equal(transaction_constrain(transaction, id, &unique, 1, ERROR),
                     VDBQ_OK);
    assert_int_equal(transaction_create_view(transaction, &view, ERROR),
                     VDBQ_OK);
    assert_int_equal(transaction_create_index(transaction, &index, ERROR),
                     VDBQ_OK);
    assert_int_equal(transaction_create_index(transaction, &keyed, ERROR),
                     VDBQ_OK);
}

static void commit_one(struct database *database, unsigned n)
{
    struct transaction *transaction;

    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    if (n == 0)
        assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
    if (n == 1) {
        assert_int_equal(create_sample_table(transaction, "u", false), VDBQ_OK);
        make_names(transaction);
    }
    assert_int_equal(append_sample_rows(transaction, n == 1 ? "u" : "t",
                                        (int)n * 10, 2 + n, 4),
                     VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
}

static size_t find_bytes(const void *bytes, size_t size, size_t from,
                         size_t end)
{
    for (size_t at = from; at + size <= end; at++)
        if (memcmp(base.bytes + at, bytes, size) == 0)
            return at;
    fail_msg("a checksum is not in the catalogue");
    return 0;
}

/* Notes where the parts of the file are. */
static void survey(const struct catalogue *catalogue)
{
    struct file_head *head;

    for (unsigned i = 0; i < 2 * FILE_HEADS; i++)
        base.heads[i] = (struct file_head *)(base.bytes + i * PAGE_BYTES);
    base.newest = base.heads[1]->generation > base.heads[0]->generation;
    head = base.heads[base.newest];
    base.catalogue = (size_t)head->catalogue;
    base.catalogue_size = (size_t)head->catalogue_size;
    base.tablets = 0;
    for (size_t t = 0; t < catalogue->table_count; t++)
        for (size_t k = 0; k < catalogue->tables[t].tablet_count; k++) {
            const struct tablet_ref *tablet = &catalogue->tables[t].tablets[k];
            size_t i = base.tablets++;
            base.tablet[i] = (size_t)tablet->offset;
            base.tablet_size[i] = (size_t)tablet->size_bytes;
            base.checksum[i] = find_bytes(&tablet->checksum, 8, base.catalogue,
                                          base.catalogue + base.catalogue_size);
        }
}

static int make_base(void **state)
{
    struct database_params params = params_on_disk(3);
    struct settings settings = *params.settings;
    struct database *database;
    struct snapshot snapshot;

    (void)state;
    settings.encoding = CHOOSE_PACKED;
    params.settings = &settings;
    disk_start(NULL, 0);
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    database_use_computer(database, compute_sample_keys, NULL);
    for (unsigned n = 0; n < 3; n++) {
        memory_release(base.older_content);
        base.older_content = base.newest_content;
        commit_one(database, n);
        assert_int_equal(read_it(0, &base.newest_content), VDBQ_OK);
    }
    base.size = disk.size;
    base.bytes = malloc(base.size);
    memcpy(base.bytes, disk.bytes, base.size);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    survey(snapshot.catalogue);
    snapshot_close(&snapshot);
    database_close(database);
    memory_calls.resize = bounded_resize;
    return 0;
}

static int end_base(void **state)
{
    (void)state;
    memory_calls.resize = realloc;
    memory_release(base.newest_content);
    memory_release(base.older_content);
    free(base.bytes);
    disk_end();
    return 0;
}

/* Puts `size` bytes of the base on the disk, without asking for memory. */
static void put_base(size_t size)
{
    if (disk.size != base.size)
        disk_start(base.bytes, base.size);
    memcpy(disk.bytes, base.bytes, base.size);
    disk.size = size;
}

/* Damages a byte in one of several ways; false: that changes nothing. */
static bool damage(size_t at, unsigned way)
{
    uint8_t old = base.bytes[at];

    disk.bytes[at] = way == 0   ? old ^ 1
                     : way == 1 ? 0
                     : way == 2 ? 0xff
                     : way == 3 ? (uint8_t)(old + 1)
                                : old ^ 0x80;
    return disk.bytes[at] != old;
}

/* ------------------------------------------------------------ damage -- */

static bool within(size_t at, size_t offset, size_t size)
{
    return at >= offset && at - offset < size;
}

/* Whether a byte is one that every reader of the state needs. */
static bool is_in_tablet(size_t at)
{
    for (size_t i = 0; i < base.tablets; i++)
        if (within(at, base.tablet[i], base.tablet_size[i]))
            return true;
    return false;
}

static bool is_in_head(size_t at)
{
    for (size_t i = 0; i < 2 * FILE_HEADS; i++)
        if (within(at, i * PAGE_BYTES, sizeof(struct file_head)))
            return true;
    return false;
}

/* Whether a byte is damaged in a way: one in so many of those that readers of
 * the newest state pass over. */
static bool is_tried(size_t at, unsigned way)
{
    enum { PASSED_OVER = 11 };

    return is_taken(at * WAYS + way)
           && (is_in_tablet(at) || is_in_head(at)
               || within(at, base.catalogue, base.catalogue_size)
               || at % PASSED_OVER == 0);
}

/* Damage of the catalogue: nothing is read, unless that is asked for. */
static void assert_older_is_asked_for(void)
{
    char *content;

    assert_non_null(strstr(ERROR->hint, "--accept-older"));
    assert_int_equal(read_it(VDBQ_OPEN_OLDER | VDBQ_OPEN_READ_ONLY, &content),
                     VDBQ_OK);
    assert_string_equal(content, base.older_content);
    assert_non_null(strstr(warning, "the state before it is open"));
    memory_release(content);
}

static void any_byte_may_be_damaged(void **state)
{
    (void)state;
    for (size_t at = 0; at < base.size; at++)
        for (unsigned way = 0; way < WAYS; way++) {
            enum vdbq_status status;
            char *content;
            if (!is_tried(at, way))
                continue;
            put_base(base.size);
            if (!damage(at, way))
                continue;
            status = read_it(0, &content);
            if (within(at, base.catalogue, base.catalogue_size)) {
                assert_int_equal(status, VDBQ_CORRUPT);
                assert_older_is_asked_for();
            } else if (is_in_tablet(at)) {
                assert_int_equal(status, VDBQ_CORRUPT);
            } else {
                assert_int_equal(status, VDBQ_OK);
                assert_string_equal(content, base.newest_content);
                assert_int_equal(warning[0] != '\0', is_in_head(at));
            }
            memory_release(content);
        }
}

static void any_length_may_be_cut(void **state)
{
    size_t end = (size_t)base.heads[base.newest]->end;

    (void)state;
    for (size_t size = 0; size <= base.size; size++)
        for (unsigned create = 0; create < 2; create++) {
            enum vdbq_status status;
            char *content;
            if (!is_taken(size * 2 + create))
                continue;
            put_base(size);
            status = read_it(create ? VDBQ_OPEN_CREATE : 0, &content);
            if (size < end && (!create || size > 16))
                assert_int_equal(status, VDBQ_CORRUPT);
            if (size >= end) {
                assert_int_equal(status, VDBQ_OK);
                assert_string_equal(content, base.newest_content);
            }
            memory_release(content);
            if (create && size > 16)
                assert_int_equal(disk.size, size); /* it is untouched */
        }
    put_base(PAGE_BYTES * 5);
    assert_int_equal(read_it(0, &(char *){ NULL }), VDBQ_CORRUPT);
    assert_non_null(strstr(ERROR->message, "the file is too short"));
}

static void zeros_and_noise_are_no_database(void **state)
{
    char *content;

    (void)state;
    put_base(base.size);
    memset(disk.bytes, 0, disk.size);
    assert_int_equal(read_it(VDBQ_OPEN_CREATE, &content), VDBQ_CORRUPT);
    for (unsigned i = 0; i < 100; i++) {
        put_base(base.size);
        for (size_t at = 0; at < disk.size; at++)
            disk.bytes[at] = (uint8_t)chance_below(256);
        if (i % 2 == 0)
            memcpy(disk.bytes, base.bytes, 8);
        assert_int_equal(read_it(VDBQ_OPEN_CREATE, &content), VDBQ_CORRUPT);
        memory_release(content);
    }
}

/* Both heads lead nowhere: the message is about the newer one, whatever is
 * asked for. */
static void damaged_catalogues_are_told(void **state)
{
    char expected[64], *content;

    (void)state;
    put_base(base.size);
    for (unsigned i = 0; i < FILE_HEADS; i++)
        disk.bytes[base.heads[i]->catalogue] ^= 1;
    assert_int_equal(read_it(0, &content), VDBQ_CORRUPT);
    snprintf(expected, sizeof expected,
             "disk: the catalogue at byte %zu is damaged", base.catalogue);
    assert_memory_equal(ERROR->message, expected, strlen(expected));
    assert_int_equal(read_it(VDBQ_OPEN_OLDER, &content), VDBQ_CORRUPT);
    assert_memory_equal(ERROR->message, expected, strlen(expected));
}

/* The older state, where only that is whole, can be written again; reading it
 * and giving up a transaction change nothing that is left of the newest. */
static void what_is_left_can_be_written(void **state)
{
    struct database_params params = params_on_disk(3);
    struct database *database;
    struct transaction *transaction;
    char *content;

    (void)state;
    params.flags |= VDBQ_OPEN_OLDER;
    put_base(base.size);
    disk.bytes[base.catalogue] ^= 1;
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    assert_int_equal(append_sample_rows(transaction, "t", 50, 9, 4), VDBQ_OK);
    assert_int_equal(transaction_settle(transaction, ERROR), VDBQ_OK);
    transaction_abort(transaction);
    database_close(database);
    assert_int_equal(disk.size, base.size);
    disk.bytes[base.catalogue] ^= 1;
    assert_memory_equal(disk.bytes, base.bytes, base.size);
    disk.bytes[base.catalogue] ^= 1;
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    assert_string_not_equal(database_warning(database), "");
    commit_one(database, 2);
    assert_string_equal(database_warning(database), "");
    database_close(database);
    assert_int_equal(read_it(0, &content), VDBQ_OK);
    assert_string_equal(content, base.newest_content);
    memory_release(content);
}

/* ----------------------------------------------------------- hostile -- */

/* Makes every checksum right again, as somebody who means harm would. */
static void fix_checksums(void)
{
    for (size_t i = 0; i < base.tablets; i++) {
        uint64_t checksum =
            block_checksum(disk.bytes + base.tablet[i], base.tablet_size[i]);
        memcpy(disk.bytes + base.checksum[i], &checksum, sizeof checksum);
    }
    for (unsigned i = 0; i < 2 * FILE_HEADS; i++) {
        struct file_head *head =
            (struct file_head *)(disk.bytes + i * PAGE_BYTES);
        if (head->catalogue <= disk.size
            && head->catalogue_size <= disk.size - head->catalogue)
            head->catalogue_checksum = block_checksum(
                disk.bytes + head->catalogue, (size_t)head->catalogue_size);
        head->checksum =
            block_checksum(head, offsetof(struct file_head, checksum));
        head->checksum_all =
            block_checksum(head, offsetof(struct file_head, checksum_all));
    }
}

/* Reads and, where it can be opened, writes a hostile file. */
static void use_hostile(bool write)
{
    struct database_params params = params_on_disk(3);
    struct database *database;
    struct transaction *transaction;
    struct text text = { 0 };
    enum vdbq_status status = database_open(&params, &database, ERROR);

    if (status != VDBQ_OK) {
        assert_int_equal(status, VDBQ_CORRUPT);
        return;
    }
    status = print_database(database, &text);
    assert_true(status == VDBQ_OK || status == VDBQ_CORRUPT);
    text_finish(&text);
    if (write && transaction_begin(database, &transaction, ERROR) == VDBQ_OK) {
        append_sample_rows(transaction, "t", 5, 4, 1);
        append_sample_rows(transaction, "u", 5, 1, 1);
        transaction_commit(transaction, ERROR);
        print_database(database, &text);
        text_finish(&text);
    }
    database_close(database);
}

static void any_byte_may_be_hostile(void **state)
{
    (void)state;
    for (size_t at = 0; at < base.size; at++)
        for (unsigned way = 0; way < WAYS; way++) {
            if (!is_tried(at, way))
                continue;
            put_base(base.size);
            if (!damage(at, way))
                continue;
            fix_checksums();
            use_hostile(false);
        }
}

/* A place in the file that means something. */
static size_t place(void)
{
    size_t i = (size_t)chance_below(base.tablets);

    switch (chance_below(4)) {
    case 0:
        return (size_t)chance_below(2 * FILE_HEADS) * PAGE_BYTES
               + (size_t)chance_below(sizeof(struct file_head));
    case 1:
    case 2:
        return base.catalogue + (size_t)chance_below(base.catalogue_size);
    default:
        return base.tablet[i] + (size_t)chance_below(base.tablet_size[i]);
    }
}

static void many_bytes_may_be_hostile(void **state)
{
    static const uint64_t numbers[] = { 0,          1,
                                        2,          3,
                                        63,         64,
                                        4095,       4096,
                                        8192,       12288,
                                        INT32_MAX,  UINT32_MAX,
                                        INT64_MAX,  (uint64_t)INT64_MAX + 1,
                                        UINT64_MAX, UINT64_MAX - 63 };
    unsigned runs = environment_number("VDBQ_TEST_IMAGES", 10) * 2000 / FEWER;

    (void)state;
    for (unsigned run = 0; run < runs; run++) {
        put_base(base.size);
        for (unsigned n = (unsigned)chance_below(4) + 1; n > 0; n--) {
            uint64_t number = numbers[chance_below(16)];
            size_t at = place(), width = (size_t)1 << chance_below(4);
            at = chance_below(2) == 0 ? at : at / width * width;
            if (at + width <= disk.size)
                memcpy(disk.bytes + at, &number, width);
        }
        fix_checksums();
        use_hostile(true);
    }
}

static void newer_formats_are_named(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 2 * FILE_HEADS; which++) {
        struct file_head *head;
        char *content;
        put_base(base.size);
        head = (struct file_head *)(disk.bytes + which * PAGE_BYTES);
        head->format = 7;
        head->version_read = FILE_VERSION(3, 14);
        fix_checksums();
        assert_int_equal(read_it(VDBQ_OPEN_CREATE | VDBQ_OPEN_OLDER, &content),
                         VDBQ_CORRUPT);
        assert_string_equal(ERROR->message, "disk: the file has format 7, "
                                            "this vdbq reads up to 2");
        assert_string_equal(ERROR->hint, "it needs vdbq 3.14 or newer");
    }
}

/* Blocks that share a place would be freed while one of them is in use. */
static void blocks_must_not_overlap(void **state)
{
    char *content;

    (void)state;
    put_base(base.size); /* offset and size stand before the checksum */
    memcpy(disk.bytes + base.checksum[1] - 16,
           disk.bytes + base.checksum[0] - 16, 8);
    fix_checksums();
    assert_int_equal(read_it(0, &content), VDBQ_CORRUPT);
    assert_older_is_asked_for();
    put_base(base.size);
    memcpy(disk.bytes + base.checksum[1] - 16,
           &base.heads[base.newest]->catalogue, 8);
    fix_checksums();
    assert_int_equal(read_it(0, &content), VDBQ_CORRUPT);
    assert_non_null(strstr(ERROR->message, "two blocks in one place"));
    put_base(base.size);
    memcpy(disk.bytes + base.checksum[1] - 16, &(uint64_t){ FILE_COPIES }, 8);
    fix_checksums();
    assert_int_equal(read_it(0, &content), VDBQ_CORRUPT);
    assert_non_null(strstr(ERROR->message, "two blocks in one place"));
}

/* Nor may two tablets be known by the same. */
static void identities_must_differ(void **state)
{
    char *content;

    (void)state;
    put_base(base.size); /* it stands behind the checksum */
    memcpy(disk.bytes + base.checksum[1] + 8, disk.bytes + base.checksum[0] + 8,
           sizeof(struct identity));
    fix_checksums();
    assert_int_equal(read_it(0, &content), VDBQ_CORRUPT);
    assert_non_null(strstr(ERROR->message, "two tablets of one identity"));
}

/* Ids of temporary tables are no file's, nor those that its next table would get. */
static void ids_of_temporary_tables_are_no_files(void **state)
{
    enum { NEXT_ID = 16 }; /* its place in the catalogue */
    const uint32_t most = CATALOGUE_TEMPORARY;

    (void)state;
    for (uint32_t more = 0; more < 3; more++) {
        uint32_t next = most + more;
        struct database_params params = params_on_disk(3);
        struct database *database;
        put_base(base.size);
        memcpy(disk.bytes + base.catalogue + NEXT_ID, &next, sizeof next);
        fix_checksums();
        assert_int_equal(database_open(&params, &database, ERROR),
                         more == 0 ? VDBQ_OK : VDBQ_CORRUPT);
        database_close(database);
    }
}

/* The planner trusts minimum and maximum, so they must be true even where
 * catalogue and tablet agree. */
static void facts_must_be_true(void **state)
{
    struct tablet_column *column;
    size_t at;
    char *content;

    (void)state;
    put_base(base.size);
    column = (struct tablet_column *)(disk.bytes + base.tablet[0]
                                      + sizeof(struct tablet));
    at = base.checksum[0] + 8 + sizeof(struct identity) + 4 + 8;
    assert_memory_equal(disk.bytes + at, &column->minimum, 8);
    column->minimum++;
    memcpy(disk.bytes + at, &column->minimum, 8);
    fix_checksums();
    assert_int_equal(read_it(0, &content), VDBQ_CORRUPT);
    assert_non_null(strstr(ERROR->message, "the minimum or maximum is wrong"));
    memory_release(content);
    put_base(base.size);
    disk.bytes[at + 8]++; /* the maximum */
    fix_checksums();
    assert_int_equal(read_it(0, &content), VDBQ_CORRUPT);
    assert_non_null(strstr(ERROR->message, "disagree about the values"));
    memory_release(content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_byte_may_be_damaged),
        cmocka_unit_test(any_length_may_be_cut),
        cmocka_unit_test(zeros_and_noise_are_no_database),
        cmocka_unit_test(damaged_catalogues_are_told),
        cmocka_unit_test(what_is_left_can_be_written),
        cmocka_unit_test(any_byte_may_be_hostile),
        cmocka_unit_test(many_bytes_may_be_hostile),
        cmocka_unit_test(newer_formats_are_named),
        cmocka_unit_test(blocks_must_not_overlap),
        cmocka_unit_test(identities_must_differ),
        cmocka_unit_test(ids_of_temporary_tables_are_no_files),
        cmocka_unit_test(facts_must_be_true),
    };

    chance_start();
    return cmocka_run_group_tests(tests, make_base, end_base);
}
