/* SPDX-License-Identifier: MIT */
/*
 * Proves that a block is a tablet, before anything else reads it. Nothing in
 * the block is used as an offset or a length before it was compared with
 * what the caller knows. The facts are counted anew, because the planner
 * narrows arithmetic by them.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/type.h"
#include "data/catalogue/facts.h"
#include "data/tablet/tablet_inner.h"
#include "data/words/words_check.h"

/* What is being checked. */
struct check {
    const struct table *table;
    const struct tablet *head; /* with the columns' descriptions */
    const uint8_t *block;      /* where its offsets lead         */
    uint64_t size;
    uint32_t rows;
    const struct tablet_check_words *words; /* NULL: they are the block's */
    struct error *error;
};

static enum vdbq_status check_head(const struct check *check);
static bool area_fits(const struct check *check, uint64_t offset,
                      uint64_t size);
static const char *find_values(const struct check *check,
                               const struct tablet_column *column,
                               struct encoded_column *found);
static const char *dictionary_fault(const struct check *check,
                                    const struct tablet_column *column);
static const char *limits_fault(const struct tablet_column *column,
                                enum vdbq_type type);
static enum vdbq_status check_areas(const struct check *check);
static enum vdbq_status check_column(const struct check *check, unsigned i);
static enum vdbq_status check_columns(const struct check *check);
static const char *column_fault(const struct check *check,
                                const struct tablet_column *column,
                                enum vdbq_type type);
enum vdbq_status tablet_check(const struct table *table, const void *block,
                              uint64_t size_bytes, uint32_t rows,
                              struct error *error)
{
    const struct check check = { table, block, block, size_bytes,
                                 rows,  NULL,  error };
    enum vdbq_status status = check_head(&check);

    if (status == VDBQ_OK)
        status = check_columns(&check);
    return status == VDBQ_OK ? check_areas(&check) : status;
}

enum vdbq_status tablet_check_head(const struct table *table, const void *head,
                                   uint64_t size_bytes, uint32_t rows,
                                   struct error *error)
{
    const struct check check = { table, head, head, size_bytes,
                                 rows,  NULL, error };
    enum vdbq_status status = check_head(&check);

    return status == VDBQ_OK ? check_areas(&check) : status;
}

enum vdbq_status tablet_check_column(const struct table *table,
                                     const struct tablet *head,
                                     const void *block, unsigned column,
                                     const struct tablet_check_words *words,
                                     struct error *error)
{
    const struct check check = {
        table, head, block, head->size, (uint32_t)head->rows, words, error
    };

    return check_column(&check, column);
}

static enum vdbq_status bad_head(const struct check *check, const char *field,
                                 uint64_t found, uint64_t expected)
{
    return error_set(check->error, VDBQ_CORRUPT,
                     "table %s: a tablet's %s is %llu, expected %llu",
                     check->table->name, field, (unsigned long long)found,
                     (unsigned long long)expected);
}

static bool has_text(const struct table *table)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (table->columns[i].type == VDBQ_TEXT)
            return true;
    return false;
}

static enum vdbq_status check_head(const struct check *check)
{
    const struct tablet *head = check->head;
    uint64_t columns = check->table->column_count;
    bool text = has_text(check->table);
    uint32_t format;
    uint64_t least = tablet_head_size(check->table->column_count);

    if (check->size < least || check->size % TABLET_ALIGN != 0)
        return bad_head(check, "block size", check->size, least);
    if (head->magic != TABLET_MAGIC)
        return bad_head(check, "magic", head->magic, TABLET_MAGIC);
    if (head->format < TABLET_FORMAT_FIRST || head->format > TABLET_FORMAT)
        return bad_head(check, "format", head->format, TABLET_FORMAT);
    if (head->columns != columns)
        return bad_head(check, "number of columns", head->columns, columns);
    if (check->rows == 0 || head->rows != check->rows)
        return bad_head(check, "number of rows", head->rows, check->rows);
    if (head->size != check->size)
        return bad_head(check, "size", head->size, check->size);
    if (head->key != check->table->key)
        return bad_head(check, "key", head->key, check->table->key);
    format = tablet_format(tablet_column(head, 0), head->columns);
    if (head->format < format
        || (head->format != format && head->format > TABLET_FORMAT_ENCODED))
        return bad_head(check, "format", head->format, format);
    if (!text && (head->variable != 0 || head->variable_size != 0))
        return bad_head(check, "variable-size area", head->variable, 0);
    if (text && !area_fits(check, head->variable, head->variable_size))
        return bad_head(check, "variable-size area", head->variable, least);
    if (head->reserved1 != 0 || head->reserved2 != 0)
        return bad_head(check, "reserved field", 1, 0);
    return VDBQ_OK;
}

/* The words of all columns lie behind everything else. */
static enum vdbq_status words_behind(const struct check *check, uint64_t at)
{
    const struct tablet *head = check->head;

    if (head->variable_size > 0 && head->variable < at)
        return bad_head(check, "variable-size area", head->variable, at);
    return VDBQ_OK;
}

/* Areas lie inside, one behind the other in table order. */
static enum vdbq_status check_areas(const struct check *check)
{
    uint64_t at = tablet_head_size(check->table->column_count);

    for (unsigned i = 0; i < check->table->column_count; i++) {
        struct tablet_area areas[TABLET_AREAS_MAX];
        unsigned count =
            tablet_areas(tablet_column(check->head, i), check->rows, areas);
        for (unsigned k = 0; k < count; k++) {
            const struct tablet_area *area = &areas[k];
            if (area->offset % TABLET_ALIGN != 0 || area->offset < at
                || area->offset > check->size
                || area->size > check->size - area->offset)
                return error_set(check->error, VDBQ_CORRUPT,
                                 "table %s, column %s: a tablet's areas do "
                                 "not lie inside, in order",
                                 check->table->name,
                                 check->table->columns[i].name);
            at = area->offset + area->size;
        }
    }
    return words_behind(check, at);
}

static enum vdbq_status tell_column(const struct check *check, unsigned i,
                                    const char *fault)
{
    if (fault == NULL)
        return VDBQ_OK;
    return error_set(check->error, VDBQ_CORRUPT,
                     "table %s, column %s: in a tablet of %u rows %s",
                     check->table->name, check->table->columns[i].name,
                     (unsigned)check->rows, fault);
}

static enum vdbq_status check_column(const struct check *check, unsigned i)
{
    enum vdbq_type type = check->table->columns[i].type;

    return tell_column(
        check, i, column_fault(check, tablet_column(check->head, i), type));
}

/* All columns, of which one is found in which something is wrong. */
struct columns_check {
    const struct check *check;
    atomic_uint bad; /* behind the last: none */
};

static void look_for_fault(void *context, unsigned i)
{
    struct columns_check *columns = context;
    const struct check *check = columns->check;
    enum vdbq_type type = check->table->columns[i].type;

    if (column_fault(check, tablet_column(check->head, i), type) != NULL)
        atomic_store(&columns->bad, i);
}

static enum vdbq_status check_columns(const struct check *check)
{
    unsigned count = check->table->column_count, bad;
    struct columns_check columns = { check, count };

    parallel_run_rows(count, check->rows, look_for_fault, &columns);
    bad = atomic_load(&columns.bad);
    return bad < count ? check_column(check, bad) : VDBQ_OK;
}

/* What is wrong with a column, but for its values and words, whose areas are found. */
static const char *shape_fault(const struct check *check,
                               const struct tablet_column *column,
                               enum vdbq_type type,
                               struct encoded_column *found)
{
    const char *fault;

    if (column->type != (uint32_t)type_machine(type))
        return "the type is not the table's";
    if (column->width != type_width(type_machine(type)))
        return "the width is not the type's";
    if (column->words_packed != 0)
        return "packed words are those of a file"; /* they were unpacked */
    if (column->reserved1 != 0 || (type != VDBQ_TEXT && column->words != 0))
        return "a reserved field is not 0";
    fault = find_values(check, column, found);
    return fault == NULL && type != VDBQ_TEXT ? limits_fault(column, type)
                                              : fault;
}

static const char *column_fault(const struct check *check,
                                const struct tablet_column *column,
                                enum vdbq_type type)
{
    struct encoded_column found = { .column = column,
                                    .type = stored_type(type),
                                    .rows = check->rows };
    const char *fault = shape_fault(check, column, type, &found);

    if (fault == NULL)
        fault = encoding_at(column->encoding)->fault(&found);
    return fault == NULL && type == VDBQ_TEXT ? dictionary_fault(check, column)
                                              : fault;
}

enum vdbq_status tablet_check_shape(const struct table *table,
                                    const struct tablet *head,
                                    const void *block, unsigned column,
                                    struct encoded_column *found,
                                    struct error *error)
{
    const struct check check = {
        table, head, block, head->size, (uint32_t)head->rows, NULL, error
    };
    const struct tablet_column *of = tablet_column(head, column);
    enum vdbq_type type = table->columns[column].type;

    *found = (struct encoded_column){ .column = of,
                                      .type = stored_type(type),
                                      .rows = check.rows };
    return tell_column(&check, column, shape_fault(&check, of, type, found));
}

/* Not every value that the machine has is one of the type; 0 is. */
static const char *limits_fault(const struct tablet_column *column,
                                enum vdbq_type type)
{
    int64_t least, greatest;

    if (!type_is_integer(type))
        return NULL;
    type_limits(type, &least, &greatest);
    if (column->minimum < least || column->maximum > greatest)
        return "the minimum or maximum is outside its type";
    return NULL;
}

/* Whether `size` bytes at `offset` lie behind the head, inside the block. */
static bool area_fits(const struct check *check, uint64_t offset, uint64_t size)
{
    uint64_t first = tablet_head_size(check->table->column_count);

    return offset % TABLET_ALIGN == 0 && offset >= first
           && offset <= check->size && size <= check->size - offset;
}

/* Whether the bits behind the last row are 0. */
static bool null_tail_clear(const uint8_t *bits, uint32_t rows)
{
    return rows % 8 == 0 || bits[rows / 8] >> (rows % 8) == 0;
}

/* Checks where the null bits are, and finds them: NULL, there are none. */
static const char *nulls_fault(const struct check *check,
                               const struct tablet_column *column,
                               const uint8_t **bits)
{
    *bits = NULL;
    if ((column->nulls != 0) != (column->null_count != 0))
        return "the null count does not fit the null bits";
    if (column->nulls == 0)
        return NULL;
    if (!area_fits(check, column->nulls, ((uint64_t)check->rows + 7) / 8))
        return "the null bits do not lie inside";
    *bits = check->block + column->nulls;
    return null_tail_clear(*bits, check->rows) ? NULL : "a null bit has no row";
}

/* Finds the areas of values and NULL bits, of which each lies inside. */
static const char *find_areas(const struct check *check,
                              const struct tablet_column *column,
                              struct encoded_column *found)
{
    uint64_t size = encoding_size(column, check->rows);

    if (size == 0 && column->values != 0)
        return "values are stored that the encoding has not";
    if (size > 0 && !area_fits(check, column->values, size))
        return "the values do not lie inside";
    if (size > 0)
        found->values = check->block + column->values;
    if (!tablet_all_null(column, check->rows))
        return nulls_fault(check, column, &found->null_bits);
    return column->nulls == 0 ? NULL : "a column that is NULL has null bits";
}

static const char *find_values(const struct check *check,
                               const struct tablet_column *column,
                               struct encoded_column *found)
{
    const struct encoding *encoding = encoding_find(column->encoding);

    if (encoding == NULL)
        return "the encoding is unknown";
    if (column->bits > encoding->bits)
        return "the encoding has not so many bits";
    if (encoding->counts && (column->base < 1 || column->base > check->rows))
        return "it is impossible how many are stored";
    return find_areas(check, column, found);
}

/* -------------------------------------------------------------- words -- */

/* Where the words of a column are, with all behind them; NULL: not inside the
 * area for them. */
static const struct tablet_words *
find_dictionary(const struct check *check, const struct tablet_column *column,
                uint64_t *size)
{
    const struct tablet *head = check->head;
    uint64_t at = (uint64_t)column->words * TABLET_ALIGN;

    if (at > head->variable_size
        || head->variable_size - at < sizeof(struct tablet_words))
        return NULL;
    *size = head->variable_size - at;
    return (const struct tablet_words *)(check->block + head->variable + at);
}

static const char *dictionary_fault(const struct check *check,
                                    const struct tablet_column *column)
{
    struct tablet_check_words found = { 0 };
    const char *fault;

    if (check->words != NULL)
        found = *check->words;
    else
        found.words = find_dictionary(check, column, &found.size);
    if (found.words == NULL)
        return "the words do not lie inside";
    fault = found.proven ? NULL : words_fault(found.words, found.size);
    if (fault == NULL && column->null_count < check->rows
        && (column->minimum < 0 || column->maximum >= found.words->count))
        return "a code has no word";
    return fault;
}
