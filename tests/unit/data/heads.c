/* SPDX-License-Identifier: MIT */
/*
 * The heads of the file and their copies: whatever becomes of some of them,
 * the newest state is read as long as a copy of its head is whole, and the
 * user is told; what an older or a newer vdbq has to do with a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "data/file/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/database/database.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/files.h"
#include "fixtures/sample_tables.h"

enum { PAGES = 2 * FILE_HEADS };

/* A file, what it holds, and what it held before the last commit. */
struct stored {
    uint8_t *bytes;
    size_t size;
    uint64_t page[PAGES]; /* heads A and B, and their copies; 0: none */
    unsigned newest;      /* head                                     */
    char *content, *older_content;
};

static struct stored fresh, upgraded, first;

/* ------------------------------------------------------------- samples -- */

static struct database *open_flags(unsigned flags)
{
    struct database_params params = params_on_disk(4);
    struct database *database = NULL;

    params.flags = flags;
    if (database_open(&params, &database, ERROR) != VDBQ_OK)
        return NULL;
    return database;
}

static struct database *open_well(unsigned flags)
{
    struct database *database = open_flags(flags);

    if (database == NULL)
        fail_msg("%s", ERROR->message);
    return database;
}

static char *content(struct database *database)
{
    struct text text;

    if (print_database(database, &text) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return text.bytes;
}

/* Commits rows to table x, which is made first where there is none. */
static enum vdbq_status commit(struct database *database, int number)
{
    struct transaction *transaction;
    enum vdbq_status status = transaction_begin(database, &transaction, ERROR);

    if (status != VDBQ_OK)
        return status;
    if (catalogue_table(transaction_catalogue(transaction), "x") == NULL)
        status = create_sample_table(transaction, "x", false);
    if (status == VDBQ_OK)
        status = append_sample_rows(transaction, "x", number, 3, number);
    if (status == VDBQ_OK)
        return transaction_commit(transaction, ERROR);
    transaction_abort(transaction);
    return status;
}

static const struct file_head *head_of(const struct stored *sample,
                                       unsigned page)
{
    return (const struct file_head *)(sample->bytes + sample->page[page]);
}

/* Keeps the disk's file as a sample, with its last two states. */
static void keep(struct stored *sample, char *older, char *newest)
{
    sample->size = disk.size;
    sample->bytes = malloc(disk.size);
    memcpy(sample->bytes, disk.bytes, disk.size);
    sample->content = newest;
    sample->older_content = older;
    sample->page[1] = PAGE_BYTES;
    sample->newest =
        head_of(sample, 1)->generation > head_of(sample, 0)->generation;
    if (head_of(sample, 0)->format == FILE_FORMAT_FIRST)
        return;
    for (unsigned i = 0; i < FILE_HEADS; i++)
        sample->page[FILE_HEADS + i] =
            head_of(sample, 0)->copies + i * (uint64_t)PAGE_BYTES;
}

static void make_sample(struct stored *sample, const struct text *from)
{
    struct database *database;
    char *older = NULL, *newest = NULL;

    disk_start((const uint8_t *)from->bytes, from->length);
    database = open_well(VDBQ_OPEN_CREATE);
    for (int i = 0; i < 3; i++) {
        memory_release(older);
        older = newest;
        assert_int_equal(commit(database, i), VDBQ_OK);
        newest = content(database);
    }
    keep(sample, older, newest);
    database_close(database);
}

static int make_samples(void **state)
{
    struct text old = { 0 };
    struct database *database;

    (void)state;
    make_sample(&fresh, &old);
    assert_true(read_old_database("format1.vdb", &old));
    make_sample(&upgraded, &old);
    disk_start((const uint8_t *)old.bytes, old.length);
    database = open_well(VDBQ_OPEN_READ_ONLY);
    keep(&first, NULL, content(database));
    database_close(database);
    text_finish(&old);
    return 0;
}

static void forget(struct stored *sample)
{
    free(sample->bytes);
    memory_release(sample->content);
    memory_release(sample->older_content);
}

static int forget_samples(void **state)
{
    (void)state;
    forget(&fresh);
    forget(&upgraded);
    forget(&first);
    disk_end();
    return 0;
}

static void put(const struct stored *sample)
{
    disk_start(sample->bytes, sample->size);
}

/* -------------------------------------------------------------- damage -- */

/* Opens the damaged file: `expected`, NULL where it is CORRUPT; a warning, or
 * none. */
static void expect(const char *expected, bool warned)
{
    struct database *database = open_flags(VDBQ_OPEN_READ_ONLY);
    char *found;

    if (expected == NULL) {
        assert_null(database);
        assert_int_equal(ERROR->status, VDBQ_CORRUPT);
        return;
    }
    if (database == NULL)
        fail_msg("%s", ERROR->message);
    assert_int_equal(database_warning(database)[0] != '\0', warned);
    found = content(database);
    assert_string_equal(found, expected);
    memory_release(found);
    database_close(database);
}

/* A write mends it: afterwards any other copy may be damaged. */
static void expect_mended(const struct stored *sample, unsigned damaged)
{
    struct database *database = open_well(0);
    char *after;

    assert_int_equal(commit(database, 9), VDBQ_OK);
    assert_string_equal(database_warning(database), "");
    after = content(database);
    database_close(database);
    expect(after, false);
    disk.bytes[sample->page[(damaged + FILE_HEADS) % PAGES] + 20] ^= 1;
    expect(after, true);
    memory_release(after);
}

static void any_bit_of_a_head_may_be_damaged(void **state)
{
    const struct stored *samples[] = { &fresh, &upgraded };

    (void)state;
    for (unsigned s = 0; s < 2; s++)
        for (unsigned page = 0; page < PAGES; page++)
            for (size_t bit = 0; bit < 8 * sizeof(struct file_head); bit++) {
                if (!is_taken(bit))
                    continue;
                put(samples[s]);
                disk.bytes[samples[s]->page[page] + bit / 8] ^=
                    (uint8_t)(1u << bit % 8);
                expect(samples[s]->content, true);
                if (bit % 16 == 5)
                    expect_mended(samples[s], page);
            }
}

/* What is behind a head means nothing. */
static void the_rest_of_a_page_means_nothing(void **state)
{
    (void)state;
    for (unsigned page = 0; page < PAGES; page++)
        for (size_t at = sizeof(struct file_head); at < PAGE_BYTES; at++) {
            if (!is_taken(at))
                continue;
            put(&upgraded);
            disk.bytes[upgraded.page[page] + at] ^= 0x55;
            expect(upgraded.content, false);
        }
}

static void damage(const struct stored *sample, unsigned page, unsigned way)
{
    uint8_t *at = disk.bytes + sample->page[page];

    for (size_t i = 0; i < sizeof(struct file_head); i++)
        at[i] = way == 0 ? 0 : way == 1 ? (uint8_t)chance_below(256) : at[i];
    if (way == 2)
        at[chance_below(sizeof(struct file_head))] ^=
            (uint8_t)(1 + chance_below(255));
}

/* Any of the four may be damaged, in any way: an older state is read only
 * where no copy of the newer head is left. `lost`: where both first copies
 * are, nobody knows where the second ones are. */
static void damage_some(const struct stored *sample, unsigned some, bool lost)
{
    unsigned newest = sample->newest, older = 1 - newest;
    unsigned bad[FILE_HEADS];
    bool warned;

    for (unsigned i = 0; i < FILE_HEADS; i++)
        bad[i] = (some >> i & 1) + (some >> (FILE_HEADS + i) & 1);
    warned = bad[newest] == 1 || bad[older] == 1;
    if (bad[0] == 2 && bad[1] == 2)
        expect(NULL, false);
    else if (lost && (some & 3) == 3)
        expect(NULL, false);
    else
        expect(bad[newest] < 2 ? sample->content : sample->older_content,
               warned);
}

static void any_heads_may_be_damaged(void **state)
{
    (void)state;
    for (unsigned run = 0; run < fewer(600); run++) {
        const struct stored *sample = run % 2 == 0 ? &fresh : &upgraded;
        unsigned some = (unsigned)chance_below(16),
                 way = (unsigned)chance_below(3);
        put(sample);
        for (unsigned page = 0; page < PAGES; page++)
            if (some >> page & 1)
                damage(sample, page, way);
        damage_some(sample, some, sample == &upgraded);
    }
}

/* A commit that was cut short between the two copies: the newer one wins, and
 * there is nothing to tell. */
static void copies_may_differ(void **state)
{
    const struct stored *samples[] = { &fresh, &upgraded };

    (void)state;
    for (unsigned s = 0; s < 2; s++)
        for (unsigned k = 0; k < 2; k++) {
            const struct stored *sample = samples[s];
            unsigned which = sample->newest + k * FILE_HEADS;
            struct file_head *head;
            put(sample);
            head = (struct file_head *)(disk.bytes + sample->page[which]);
            *head = *head_of(sample, 1 - sample->newest);
            head->generation--;
            file_seal_head(head, FILE_FORMAT);
            expect(sample->content, false);
        }
}

/* --------------------------------------------------------- older state -- */

/* A file that was cut: its newest state is not there as a whole. */
static void the_file_may_be_cut(void **state)
{
    struct database *database;
    char *found;

    (void)state;
    put(&fresh);
    for (unsigned k = 0; k < 2; k++) {
        struct file_head *head =
            (struct file_head *)(disk.bytes
                                 + fresh.page[fresh.newest + k * FILE_HEADS]);
        head->end = (uint64_t)disk.size + PAGE_BYTES;
        file_seal_head(head, FILE_FORMAT);
    }
    assert_null(open_flags(VDBQ_OPEN_CREATE));
    assert_int_equal(ERROR->status, VDBQ_CORRUPT);
    assert_non_null(strstr(ERROR->message, "the file is too short"));
    assert_non_null(strstr(ERROR->hint, "--accept-older"));
    database = open_well(VDBQ_OPEN_OLDER);
    assert_non_null(strstr(database_warning(database), "too short"));
    found = content(database);
    assert_string_equal(found, fresh.older_content);
    memory_release(found);
    assert_int_equal(commit(database, 11), VDBQ_OK);
    found = content(database);
    database_close(database);
    expect(found, false);
    memory_release(found);
}

/* Reads with VDBQ_OPEN_OLDER what is left of a disk: the older state, or what
 * was committed on top of it. */
static void expect_older_or(const char *after)
{
    struct database *database = open_well(VDBQ_OPEN_OLDER);
    char *found = content(database);

    if (strcmp(found, upgraded.older_content) != 0)
        assert_string_equal(found, after);
    memory_release(found);
    database_close(database);
}

/* Commits on top of the older state until the disk dies; false: it does not. */
static bool commit_until(unsigned cut_at, const char *after)
{
    struct database *database;
    struct image {
        uint8_t *bytes;
        size_t size;
    } durable;

    put(&upgraded);
    disk.bytes[head_of(&upgraded, upgraded.newest)->catalogue] ^= 1;
    disk.durable[head_of(&upgraded, upgraded.newest)->catalogue] ^= 1;
    database = open_well(VDBQ_OPEN_OLDER);
    disk.cut_at = cut_at;
    commit(database, 70);
    database_close(database);
    if (!disk.dead)
        return false;
    disk.dead = false;
    disk.cut_at = 0;
    expect_older_or(after); /* killed */
    durable.size = disk.durable_size;
    durable.bytes = malloc(durable.size);
    memcpy(durable.bytes, disk.durable, durable.size);
    disk_start(durable.bytes, durable.size);
    expect_older_or(after); /* nothing of the rest arrived */
    free(durable.bytes);
    return true;
}

static void changes_of_the_older_state_may_be_cut(void **state)
{
    struct database *database;
    char *after;
    unsigned cut = 1;

    (void)state;
    put(&upgraded);
    disk.bytes[head_of(&upgraded, upgraded.newest)->catalogue] ^= 1;
    database = open_well(VDBQ_OPEN_OLDER);
    assert_int_equal(commit(database, 70), VDBQ_OK);
    after = content(database);
    database_close(database);
    expect(after, false);
    while (commit_until(cut, after))
        cut++;
    assert_true(cut > 8);
    memory_release(after);
}

/* ------------------------------------------------------------ features -- */

/* Gives all heads features, and versions that know them. */
static void put_features(const struct file_head *features)
{
    put(&fresh);
    for (unsigned page = 0; page < PAGES; page++) {
        struct file_head *head =
            (struct file_head *)(disk.bytes + fresh.page[page]);
        head->features = features->features;
        head->features_read = features->features_read;
        head->features_write = features->features_write;
        head->version_read = FILE_VERSION(4, 1);
        head->version_write = FILE_VERSION(5, 2);
        head->checksum_all =
            block_checksum(head, offsetof(struct file_head, checksum_all));
    }
}

static void features_may_be_ignored(void **state)
{
    struct database *database;

    (void)state;
    put_features(&(struct file_head){ .features = 1u << 7 });
    expect(fresh.content, false);
    database = open_well(0);
    assert_false(database_read_only(database));
    assert_int_equal(commit(database, 5), VDBQ_OK);
    database_close(database);
    database = open_well(0); /* the writer does not keep what it knows not */
    assert_int_equal(
        ((struct file_head *)(disk.bytes + fresh.page[1 - fresh.newest]))
            ->features,
        0);
    database_close(database);
}

static void features_must_be_known_to_read(void **state)
{
    static const unsigned flags[] = { 0, VDBQ_OPEN_READ_ONLY, VDBQ_OPEN_CREATE,
                                      VDBQ_OPEN_OLDER };

    (void)state;
    put_features(&(struct file_head){ .features_read = UINT64_C(1) << 63 });
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        assert_null(open_flags(flags[i]));
        assert_int_equal(ERROR->status, VDBQ_CORRUPT);
        assert_string_equal(ERROR->message, "disk: needs vdbq 4.1 or newer");
        assert_string_equal(ERROR->hint, "this is vdbq " VDBQ_VERSION);
    }
}

static void features_must_be_known_to_write(void **state)
{
    struct database *database;

    (void)state;
    put_features(&(struct file_head){ .features_write = 1u << 7 });
    expect(fresh.content, false);
    database = open_well(0);
    assert_true(database_read_only(database));
    assert_int_equal(commit(database, 5), VDBQ_READ_ONLY);
    assert_string_equal(ERROR->message,
                        "disk: needs vdbq 5.2 or newer to be written");
    assert_int_equal(disk.writes, 0);
    database_close(database);
}

/* -------------------------------------------------------- old files -- */

/* A vdbq that knows format 1 alone looks at this much of a head. */
static void older_programs_are_told(void **state)
{
    const struct stored *samples[] = { &fresh, &upgraded };

    (void)state;
    for (unsigned s = 0; s < 2; s++)
        for (unsigned page = 0; page < FILE_HEADS; page++) {
            const struct file_head *head = head_of(samples[s], page);
            assert_memory_equal(head, "\x89VDBQ\r\n\x1a", 8);
            assert_int_equal(head->format, 2);
            assert_int_equal(head->checksum, block_checksum(head, 64));
        }
}

static void old_files_are_read_as_they_are(void **state)
{
    (void)state;
    put(&first);
    expect(first.content, false);
    assert_int_equal(disk.writes, 0);
    assert_memory_equal(disk.bytes, first.bytes, first.size);
}

/* Of a head of format 1 there is no copy; that it is damaged is told. */
static void heads_of_old_files_may_be_damaged(void **state)
{
    (void)state;
    for (unsigned page = 0; page < FILE_HEADS; page++)
        for (size_t bit = 0; bit < (size_t)8 * FILE_HEAD_FIRST; bit++) {
            struct database *database;
            char *found;
            if (!is_taken(bit))
                continue;
            put(&first);
            disk.bytes[first.page[page] + bit / 8] ^= (uint8_t)(1u << bit % 8);
            database = open_flags(VDBQ_OPEN_READ_ONLY);
            if (database == NULL) {
                assert_int_equal(page, first.newest);
                continue;
            }
            assert_non_null(strstr(database_warning(database), "damaged"));
            if (page != first.newest) {
                found = content(database);
                assert_string_equal(found, first.content);
                memory_release(found);
            }
            database_close(database);
        }
}

/* ... and a whole head that leads to a damaged catalogue is an error, in files
 * of either format. */
static void catalogues_may_be_damaged(void **state)
{
    const struct stored *samples[] = { &fresh, &upgraded, &first };

    (void)state;
    for (unsigned s = 0; s < 3; s++) {
        const struct stored *sample = samples[s];
        const struct file_head *head = head_of(sample, sample->newest);
        for (uint64_t i = 0; i < head->catalogue_size; i++) {
            if (!is_taken(i))
                continue;
            put(sample);
            disk.bytes[head->catalogue + i] ^= (uint8_t)(1 + chance_below(255));
            expect(NULL, false);
            assert_non_null(strstr(ERROR->hint, "--accept-older"));
        }
    }
}

/* The upgrade keeps all that the old state held; the heads are all of this
 * format once a second commit went over the other head. */
static void old_files_are_upgraded(void **state)
{
    struct database *database;
    char *found;

    (void)state;
    put(&first);
    database = open_well(0);
    assert_int_equal(commit(database, 0), VDBQ_OK);
    found = content(database);
    assert_non_null(strstr(found, "kinds"));
    database_close(database);
    expect(found, false);
    memory_release(found);
    for (unsigned page = 0; page < FILE_HEADS; page++)
        assert_int_equal(
            ((struct file_head *)(disk.bytes + first.page[page]))->format,
            FILE_FORMAT);
}

/* A transaction that is given up leaves an old file as it was. */
static void giving_up_upgrades_nothing(void **state)
{
    struct database *database;
    struct transaction *transaction;

    (void)state;
    put(&first);
    database = open_well(0);
    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    assert_int_equal(create_sample_table(transaction, "x", false), VDBQ_OK);
    assert_int_equal(append_sample_rows(transaction, "x", 1, 30, 3), VDBQ_OK);
    assert_int_equal(transaction_settle(transaction, ERROR), VDBQ_OK);
    transaction_abort(transaction);
    database_close(database);
    expect(first.content, false);
    assert_int_equal(((struct file_head *)disk.bytes)->format, 1);
    assert_int_equal(((struct file_head *)(disk.bytes + PAGE_BYTES))->format,
                     1);
}

/* What the last vdbq that wrote format 1 leaves of a creation is made anew. */
static void old_creations_are_finished(void **state)
{
    static const uint8_t magic[] = { 0x89, 'V', 'D', 'B', 'Q', '\r', '\n', 0x1a,
                                     1,    0,   0,   0,   0,   0x10, 0,    0 };
    static uint8_t bytes[3 * PAGE_BYTES];
    struct database *database;

    (void)state;
    memcpy(bytes, magic, sizeof magic);
    for (size_t size = 1; size <= sizeof bytes; size += 1 + size / 2) {
        disk_start(bytes, size);
        database = open_well(VDBQ_OPEN_CREATE);
        assert_int_equal(commit(database, 1), VDBQ_OK);
        database_close(database);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bit_of_a_head_may_be_damaged),
        cmocka_unit_test(the_rest_of_a_page_means_nothing),
        cmocka_unit_test(any_heads_may_be_damaged),
        cmocka_unit_test(copies_may_differ),
        cmocka_unit_test(the_file_may_be_cut),
        cmocka_unit_test(changes_of_the_older_state_may_be_cut),
        cmocka_unit_test(features_may_be_ignored),
        cmocka_unit_test(features_must_be_known_to_read),
        cmocka_unit_test(features_must_be_known_to_write),
        cmocka_unit_test(older_programs_are_told),
        cmocka_unit_test(old_files_are_read_as_they_are),
        cmocka_unit_test(heads_of_old_files_may_be_damaged),
        cmocka_unit_test(catalogues_may_be_damaged),
        cmocka_unit_test(old_files_are_upgraded),
        cmocka_unit_test(giving_up_upgrades_nothing),
        cmocka_unit_test(old_creations_are_finished),
    };

    chance_start();
    return cmocka_run_group_tests(tests, make_samples, forget_samples);
}
