/* SPDX-License-Identifier: MIT */
#include "data/check/check.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "base/threads/stop.h"
#include "data/check/check_run.h"
#include "data/database/database_inner.h"
#include "data/database/rows.h"
#include "data/rule/rule_values.h"
#include "data/tablet/block.h"

/* A check that goes on. */
struct check {
    struct database *database;
    const struct catalogue *catalogue;
    struct vector *faults;
    struct error *error;
};

/* ------------------------------------------------------------ what is told -- */

/* Adds what is wrong as a line. */
static enum vdbq_status tell(const struct check *check, const char *what)
{
    struct text line = { 0 };

    if (check->faults->count == CHECK_FAULTS_MAX)
        return VDBQ_OK;
    text_add(&line, what, strlen(what));
    if (!line.failed && vector_append(check->faults, &line, 1))
        return VDBQ_OK;
    text_finish(&line);
    return error_no_memory(check->error);
}

/* What a look has come to: what is wrong with the file is told, and no failure. */
static enum vdbq_status judge(const struct check *check,
                              enum vdbq_status status)
{
    if (status != VDBQ_CORRUPT && status != VDBQ_IO
        && status != VDBQ_CONSTRAINT)
        return status;
    assert(check->error->status == status);
    const struct error found = *check->error;
    error_clear(check->error);
    return tell(check, found.message);
}

/* ------------------------------------------------------------------ runs -- */

/* The runs that an index (NULL: its own columns) has of a tablet, whose block is
 * there as it was written. */
static enum vdbq_status check_runs_of(const struct check *check,
                                      const struct check_tablet *tablet)
{
    const struct catalogue *catalogue = check->catalogue;
    const struct identity written =
        index_identity(tablet->of.index, tablet_written(tablet->tablet));
    size_t first, count = catalogue_runs_of(catalogue, written, &first);
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = first; status == VDBQ_OK && i < first + count; i++) {
        const struct run_ref *run = &catalogue->runs[i];
        bool sound = true;
        status = check_run(tablet, run, &sound, check->error);
        if (status == VDBQ_OK && !sound)
            status = error_set(
                check->error, VDBQ_CORRUPT,
                "%s: table %s: the run at byte %llu is damaged: it is "
                "not what its tablet has",
                database_path(check->database), tablet->of.table->name,
                (unsigned long long)run->offset);
    }
    return status;
}

/* The runs of a tablet, and those of the keys of its table's indexes. */
static enum vdbq_status check_runs(const struct check *check,
                                   const struct table *table,
                                   const struct tablet_ref *tablet,
                                   const struct block *block)
{
    struct check_tablet checked = { .of = { .database = check->database,
                                            .catalogue = check->catalogue,
                                            .table = table },
                                    .tablet = tablet,
                                    .block = block->bytes };
    enum vdbq_status status = check_runs_of(check, &checked);

    for (size_t i = 0; i < check->catalogue->index_count && status == VDBQ_OK;
         i++) {
        const struct index *index = &check->catalogue->indexes[i];
        checked.of.index = index;
        if (index->keys != NULL && index->table_id == table->id)
            status = check_runs_of(check, &checked);
    }
    return status;
}

/* --------------------------------------------------------------- tablets -- */

/* Columns that are NOT NULL; the primary key is. */
static enum vdbq_status check_nulls(const struct check *check,
                                    const struct table *table,
                                    const struct tablet_ref *tablet,
                                    const void *block)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++)
        if ((table->columns[i].not_null || i == table->key)
            && tablet_column(block, i)->null_count > 0)
            status = error_set(
                check->error, VDBQ_CORRUPT,
                "%s: table %s, column %s: the tablet at byte %llu has "
                "a NULL",
                database_path(check->database), table->name,
                table->columns[i].name, (unsigned long long)tablet->offset);
    return status;
}

/* A tablet as it was written, and its runs. */
static enum vdbq_status check_written(const struct check *check,
                                      const struct table *table,
                                      const struct tablet_ref *tablet)
{
    const struct tablet_ref written =
        tablet->edit != NULL ? tablet_base(tablet) : *tablet;
    struct block block = { 0 };
    enum vdbq_status status =
        tablet_load(check->database, table, &written, &block, check->error);

    if (status == VDBQ_OK && tablet->edit == NULL)
        status = check_nulls(check, table, tablet, block.bytes);
    if (status == VDBQ_OK)
        status = check_runs(check, table, &written, &block);
    block_destroy(&block);
    return judge(check, status);
}

/* A tablet with its edit. */
static enum vdbq_status check_edited(const struct check *check,
                                     const struct table *table,
                                     const struct tablet_ref *tablet)
{
    struct block block = { 0 };
    enum vdbq_status status =
        tablet_load(check->database, table, tablet, &block, check->error);

    if (status == VDBQ_OK)
        status = check_nulls(check, table, tablet, block.bytes);
    block_destroy(&block);
    return judge(check, status);
}

/* ---------------------------------------------------------------- tables -- */

/* Rows that are alike where a rule says that none are; `keyed` as of
 * unique_rules(). */
static enum vdbq_status check_unique(const struct check *check,
                                     const struct table *table)
{
    struct vector rules = VECTOR(struct unique_rule);
    enum vdbq_status status = VDBQ_OK;

    if (!unique_rules(check->catalogue, table, table->key != NO_KEY, &rules))
        status = error_no_memory(check->error);
    for (size_t i = 0; i < rules.count && status == VDBQ_OK; i++) {
        struct unique_set *set;
        status = judge(check,
                       unique_set_of(check->database, check->catalogue, table,
                                     vector_at(&rules, i), &set, check->error));
    }
    vector_finish(&rules);
    return status;
}

/* Rows of a tablet that break a CHECK. */
static enum vdbq_status check_rows(const struct check *check,
                                   const struct table *table,
                                   const struct tablet_ref *tablet,
                                   struct vdbq_vector *vectors)
{
    const struct rule_source source = { check->database, check->catalogue,
                                        table };
    struct rows rows;
    enum vdbq_status status =
        rows_load(&rows, check->database, table, tablet, check->error);

    if (status == VDBQ_OK) {
        rows_vectors(&rows, vectors);
        status =
            row_checks_prove(&source, rows.count, vectors, NULL, check->error);
    }
    rows_finish(&rows);
    return judge(check, status);
}

static enum vdbq_status check_checks(const struct check *check,
                                     const struct table *table)
{
    struct vdbq_vector *vectors;
    enum vdbq_status status = VDBQ_OK;

    if (table->check_count == 0)
        return VDBQ_OK;
    vectors = memory_zeroed(table->column_count, sizeof *vectors);
    if (vectors == NULL)
        return error_no_memory(check->error);
    for (size_t i = 0; i < table->tablet_count && status == VDBQ_OK; i++)
        status = check_rows(check, table, &table->tablets[i], vectors);
    memory_release(vectors);
    return status;
}

static enum vdbq_status check_table(const struct check *check,
                                    const struct table *table)
{
    size_t before = check->faults->count;
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < table->tablet_count && status == VDBQ_OK; i++) {
        const struct tablet_ref *tablet = &table->tablets[i];
        status = stop_pause(check->error);
        size_t sound = check->faults->count;
        if (status == VDBQ_OK)
            status = check_written(check, table, tablet);
        if (status == VDBQ_OK && tablet->edit != NULL
            && check->faults->count == sound)
            status = check_edited(check, table, tablet);
    }
    if (status == VDBQ_OK && table->sample_lost)
        status = judge(check,
                       error_set(check->error, VDBQ_CORRUPT,
                                 "%s: table %s: its sample is damaged",
                                 database_path(check->database), table->name));
    if (status == VDBQ_OK && check->faults->count == before)
        status = check_unique(check, table); /* all of its rows can be read */
    if (status == VDBQ_OK && check->faults->count == before)
        status = check_checks(check, table);
    return status;
}

/* --------------------------------------------------------------- copies -- */

/* Numbers of the rows of a table's copy, as they are read. */
struct numbers {
    const struct check *check;
    const struct table *table;
    const struct table *copy;
    uint8_t *seen; /* a bit for each row of the table */
    int64_t next;  /* the least that the next row of the part may have */
};

static enum vdbq_status wrong_number(const struct numbers *numbers,
                                     size_t tablet, int64_t number,
                                     const char *what)
{
    const struct check *check = numbers->check;
    unsigned part;
    uint64_t offset;

    part_of_place(numbers->copy->tablets[tablet].offset, &part, &offset);
    return error_set(check->error, VDBQ_CORRUPT,
                     "%s: table %s: a row of part %u has number %lld, %s",
                     database_path(check->database), numbers->table->name, part,
                     (long long)number, what);
}

static enum vdbq_status check_number(struct numbers *numbers, size_t tablet,
                                     int64_t number)
{
    if (number < 0 || (uint64_t)number >= numbers->table->rows)
        return wrong_number(numbers, tablet, number, "which no row has");
    if (number < numbers->next)
        return wrong_number(numbers, tablet, number, "less than one before it");
    if ((numbers->seen[number / 8] >> number % 8 & 1) != 0)
        return wrong_number(numbers, tablet, number,
                            "which another row has, too");
    numbers->seen[number / 8] |= (uint8_t)(1u << number % 8);
    numbers->next = number + 1;
    return VDBQ_OK;
}

static enum vdbq_status check_numbers_of(struct numbers *numbers, size_t tablet)
{
    const struct check *check = numbers->check;
    const unsigned columns = numbers->copy->column_count;
    struct vdbq_vector *vectors = memory_zeroed(columns, sizeof *vectors);
    struct rows rows = { 0 };
    enum vdbq_status status = vectors != NULL ? stop_pause(check->error)
                                              : error_no_memory(check->error);

    if (status == VDBQ_OK)
        status = rows_load(&rows, check->database, numbers->copy,
                           &numbers->copy->tablets[tablet], check->error);
    if (status == VDBQ_OK)
        rows_vectors(&rows, vectors);
    for (uint32_t i = 0; status == VDBQ_OK && i < rows.count; i++)
        status = check_number(
            numbers, tablet, ((const int64_t *)vectors[columns - 1].values)[i]);
    rows_finish(&rows);
    memory_release(vectors);
    return judge(check, status);
}

/* The rows of a table that lies by hash as they lie in the parts: each of its numbers
 * is there once, and they ascend. */
static enum vdbq_status check_copy(const struct check *check,
                                   const struct table *table)
{
    struct numbers numbers = { .check = check,
                               .table = table,
                               .copy = table_copy(table) };
    enum vdbq_status status = VDBQ_OK;
    size_t part = 0;

    if (numbers.copy == NULL)
        return VDBQ_OK;
    numbers.seen = memory_zeroed((size_t)(table->rows / 8 + 1), 1);
    if (numbers.seen == NULL)
        return error_no_memory(check->error);
    for (size_t i = 0; i < numbers.copy->tablet_count && status == VDBQ_OK;
         i++) {
        for (; part < table->parts->parts && table->parts->first[part] <= i;
             part++)
            numbers.next = 0;
        status = check_numbers_of(&numbers, i);
    }
    memory_release(numbers.seen);
    return status;
}

/* Heads of which one copy is whole, and lists behind the catalogue, which may be
 * ignored. */
static enum vdbq_status check_heads(const struct check *check)
{
    const struct file *file = &check->database->file;
    const struct catalogue *catalogue = check->catalogue;
    uint64_t features = file->heads[file->current].features;
    const char *warning = database_warning(check->database);
    enum vdbq_status status = VDBQ_OK;

    if (warning[0] != '\0')
        status = tell(check, warning);
    if (status != VDBQ_OK)
        return status;
    if (catalogue->runs_listed > catalogue->run_count
        || ((features & FILE_RUNS) != 0 && catalogue->runs_listed == 0))
        status = judge(check, error_set(check->error, VDBQ_CORRUPT,
                                        "%s: the list of runs is damaged",
                                        database_path(check->database)));
    if (status == VDBQ_OK && (features & FILE_STATES) != 0
        && check->database->listed.count == 0)
        status =
            judge(check, error_set(check->error, VDBQ_CORRUPT,
                                   "%s: the list of older states is damaged",
                                   database_path(check->database)));
    return status;
}

enum vdbq_status check_snapshot(const struct snapshot *snapshot,
                                struct vector *faults, struct error *error)
{
    const struct check check = { .database = snapshot->database,
                                 .catalogue = snapshot->catalogue,
                                 .faults = faults,
                                 .error = error };
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0;
         i < snapshot->catalogue->table_count && status == VDBQ_OK; i++) {
        const struct table *table = &snapshot->catalogue->tables[i];
        status = check_table(&check, table);
        if (status == VDBQ_OK)
            status = check_copy(&check, table);
    }
    return status;
}

enum vdbq_status check_file(const struct database_params *params,
                            index_computer compute, void *context,
                            struct vector *faults, struct error *error)
{
    struct check check = { .faults = faults, .error = error };
    struct snapshot snapshot = { 0 };
    enum vdbq_status status = database_open(params, &check.database, error);

    if (status == VDBQ_OK)
        database_use_computer(check.database, compute, context);
    if (status == VDBQ_OK)
        status = judge(&check, database_join_parts(check.database, error));
    if (status == VDBQ_OK)
        status = snapshot_open(check.database, &snapshot, error);
    if (status == VDBQ_CORRUPT)
        status = judge(&check, status);
    else if (status == VDBQ_OK) {
        check.catalogue = snapshot.catalogue;
        status = check_heads(&check);
        if (status == VDBQ_OK)
            status = check_snapshot(&snapshot, faults, error);
    }
    snapshot_close(&snapshot);
    database_close(check.database);
    return status;
}
