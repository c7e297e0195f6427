/* SPDX-License-Identifier: MIT */
/*
 * Rows that come to a table keep to its CHECKs: a query over them finds those of
 * which a condition is false. It asks for several conditions at once, since rows
 * that keep to all of them are the rule; which one a row breaks is asked of that
 * row alone.
 */
#include "data/rule/rule_values.h"

#include <assert.h>

#include "base/memory.h"
#include "data/tablet/block.h"

enum {
    TOGETHER = 16, /* conditions in one query                   */
    SHOWN = 8      /* columns of which a message has the values */
};

/* Some CHECKs of a table. */
struct checks {
    const struct rule_source *source;
    const struct row_check *items[TOGETHER];
    unsigned count;
    struct error *error;
};

/* ---------------------------------------------------------------- asking -- */

/* What is true of a row that breaks one of them. */
static void print_broken(const struct checks *checks, struct text *text)
{
    for (unsigned i = 0; i < checks->count; i++)
        text_print(text, "%sNOT (%s)", i > 0 ? " OR " : "",
                   checks->items[i]->sql);
}

static bool reads_column(const struct row_check *check, unsigned column)
{
    for (unsigned i = 0; i < check->read_count; i++)
        if (check->reads[i] == column)
            return true;
    return false;
}

/* All columns that they read, ascending; false: no memory. */
static bool list_reads(const struct checks *checks, struct row_check *together)
{
    unsigned columns = checks->source->table->column_count;

    *together = *checks->items[0];
    if (checks->count == 1)
        return true;
    together->reads = memory_zeroed(columns, sizeof *together->reads);
    together->read_count = 0;
    for (unsigned i = 0; together->reads != NULL && i < columns; i++) {
        bool any = false;
        for (unsigned k = 0; k < checks->count && !any; k++)
            any = reads_column(checks->items[k], i);
        if (any)
            together->reads[together->read_count++] = i;
    }
    return together->reads != NULL;
}

/* The rows of which a text is true, by their numbers. */
static enum vdbq_status ask(const struct checks *checks,
                            const struct row_check *together, const char *sql,
                            uint64_t rows, const struct vdbq_vector *vectors,
                            struct index_values *values)
{
    const struct rule_source *source = checks->source;
    struct index_keys keys;
    struct index index = row_check_index(source->table, together, sql, &keys);

    return index_values_compute(&(struct index_of){ source->database,
                                                    source->catalogue,
                                                    source->table, &index },
                                rows, vectors, values, checks->error);
}

/* The rows that break one of them, likewise. */
static enum vdbq_status find_broken(const struct checks *checks, uint64_t rows,
                                    const struct vdbq_vector *vectors,
                                    struct index_values *values)
{
    struct row_check together = { 0 };
    struct text sql = { 0 };
    enum vdbq_status status;

    *values = (struct index_values){ 0 };
    print_broken(checks, &sql);
    status = list_reads(checks, &together) && !sql.failed
                 ? ask(checks, &together, sql.bytes, rows, vectors, values)
                 : error_no_memory(checks->error);
    if (checks->count > 1)
        memory_release(together.reads);
    text_finish(&sql);
    return status;
}

/* The number of the first row that breaks one of them; `rows`: there is none. */
static enum vdbq_status find_first(const struct checks *checks, uint64_t rows,
                                   const struct vdbq_vector *vectors,
                                   uint64_t *row)
{
    struct index_values values;
    enum vdbq_status status = find_broken(checks, rows, vectors, &values);

    *row = rows;
    if (status == VDBQ_OK && values.rows.count > 0)
        *row = (uint64_t)((const int64_t *)values.vectors[0].values)[0];
    index_values_finish(&values);
    return status;
}

/* --------------------------------------------------------------- telling -- */

/* Adds `, x 1` of a column. */
static void print_column(const struct table *table, unsigned column,
                         const struct vdbq_vector *vectors, uint64_t row,
                         struct text *text)
{
    text_print(text, "%s%s ", text->length > 0 ? ", " : "",
               table->columns[column].name);
    if (vector_null(&vectors[column], row))
        text_print(text, "NULL");
    else
        unique_print_value(&table->columns[column], &vectors[column], row,
                           text);
}

/* The row by its primary key, and what the CHECK reads of it. */
static void print_row(const struct table *table, const struct row_check *check,
                      const struct vdbq_vector *vectors, uint64_t row,
                      struct text *text)
{
    if (table->key != NO_KEY && !reads_column(check, table->key))
        print_column(table, table->key, vectors, row, text);
    for (unsigned i = 0; i < check->read_count && i < SHOWN; i++)
        print_column(table, check->reads[i], vectors, row, text);
    if (check->read_count > SHOWN)
        text_print(text, ", ...");
}

static enum vdbq_status refuse(const struct checks *checks,
                               const struct row_check *check,
                               const struct vdbq_vector *vectors, uint64_t row)
{
    const struct table *table = checks->source->table;
    struct text rule = { 0 }, values = { 0 };

    row_check_sql(check, &rule);
    print_row(table, check, vectors, row, &values);
    if (rule.failed || values.failed)
        error_no_memory(checks->error);
    else
        error_set(checks->error, VDBQ_CONSTRAINT,
                  "table %s: a row breaks %s: %s", table->name, rule.bytes,
                  values.bytes);
    text_finish(&rule);
    text_finish(&values);
    return checks->error->status;
}

/* Which of them a row breaks. */
static enum vdbq_status find_rule(const struct checks *checks,
                                  const struct vdbq_vector *vectors,
                                  uint64_t row)
{
    unsigned count = checks->source->table->column_count, number = 0;
    struct checks one = *checks;
    uint64_t found = 1;
    enum vdbq_status status = VDBQ_OK;
    struct vdbq_vector *alone = memory_zeroed(count, sizeof *alone);

    if (alone == NULL)
        return error_no_memory(checks->error);
    for (unsigned i = 0; i < count; i++)
        alone[i] = vector_behind(&vectors[i], row);
    one.count = 1;
    for (; number < checks->count && found > 0 && status == VDBQ_OK; number++) {
        one.items[0] = checks->items[number];
        status = find_first(&one, 1, alone, &found);
    }
    memory_release(alone);
    assert(status != VDBQ_OK || found == 0);
    return status == VDBQ_OK
               ? refuse(checks, checks->items[number - 1], vectors, row)
               : status;
}

/* ------------------------------------------------------------------- all -- */

/* What becomes of rows that some CHECKs are asked about. */
struct asked {
    uint64_t rows;
    const struct vdbq_vector *vectors;
    const bool
        *changed;    /* columns: other CHECKs are not asked; NULL: all are */
    uint8_t *broken; /* gets 1 of each row that breaks one; NULL: it fails */
};

static enum vdbq_status prove(const struct checks *checks,
                              const struct asked *asked)
{
    uint64_t row = asked->rows;
    enum vdbq_status status =
        find_first(checks, asked->rows, asked->vectors, &row);

    return status == VDBQ_OK && row < asked->rows
               ? find_rule(checks, asked->vectors, row)
               : status;
}

static enum vdbq_status mark(const struct checks *checks,
                             const struct asked *asked)
{
    struct index_values values;
    enum vdbq_status status =
        find_broken(checks, asked->rows, asked->vectors, &values);

    for (uint64_t i = 0; status == VDBQ_OK && i < values.rows.count; i++)
        asked->broken[((const int64_t *)values.vectors[0].values)[i]] = 1;
    index_values_finish(&values);
    return status;
}

/* Asks about those that were collected, and begins anew. */
static enum vdbq_status ask_all(struct checks *checks,
                                const struct asked *asked)
{
    enum vdbq_status status = VDBQ_OK;

    if (checks->count > 0)
        status =
            asked->broken != NULL ? mark(checks, asked) : prove(checks, asked);
    checks->count = 0;
    return status;
}

static enum vdbq_status ask_each(const struct rule_source *source,
                                 const struct asked *asked, struct error *error)
{
    const struct table *table = source->table;
    struct checks checks = { .source = source, .error = error };
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < table->check_count && status == VDBQ_OK; i++) {
        const struct row_check *check = &table->checks[i];
        if (asked->changed == NULL || row_check_reads(check, asked->changed))
            checks.items[checks.count++] = check;
        if (checks.count == TOGETHER)
            status = ask_all(&checks, asked);
    }
    return status == VDBQ_OK ? ask_all(&checks, asked) : status;
}

enum vdbq_status row_checks_prove(const struct rule_source *source,
                                  uint64_t rows,
                                  const struct vdbq_vector *vectors,
                                  const bool *changed, struct error *error)
{
    const struct asked asked = { rows, vectors, changed, NULL };

    return ask_each(source, &asked, error);
}

enum vdbq_status row_checks_mark(const struct rule_source *source,
                                 uint64_t rows,
                                 const struct vdbq_vector *vectors,
                                 uint8_t *broken, struct error *error)
{
    const struct asked asked = { rows, vectors, NULL, broken };

    assert(broken != NULL);
    return ask_each(source, &asked, error);
}
