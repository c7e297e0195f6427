/* SPDX-License-Identifier: MIT */
/*
 * Order by parts: see parts_order.h. The rules of the table are not asked: they hold
 * of its rows in any order.
 */
#include "data/parts/parts_order.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "base/threads/stop.h"
#include "data/database/database_inner.h"
#include "data/transaction/transaction_inner.h"

enum { NULL_HASH = 0x5eed };

struct ordering {
    struct transaction *transaction;
    const struct table_parts *parts;
    size_t *first;                /* of each part: its first tablet   */
    const struct table *from;     /* the table as it was              */
    const struct table *to;       /* ... without rows, in the draft, with
                                     numbers behind its columns        */
    struct new_rows *new_rows;    /* that come to it                  */
    struct vdbq_vector *vectors;  /* one a column, of rows of a tablet */
    struct vdbq_vector *selected; /* ... of those of one part         */
    struct error *error;
};

/* The hash of a value, with that of those before it. */
static uint64_t hash_value(const struct vdbq_vector *vector, uint64_t row,
                           uint64_t before)
{
    const struct vdbq_text *text = vector->values;
    int64_t integer;
    if (vector_null(vector, row))
        return XXH3_64bits_withSeed("", 0, before + NULL_HASH);
    if (vector->type == VDBQ_TEXT)
        return XXH3_64bits_withSeed(text[row].bytes, text[row].length, before);
    integer = type_bytes(vector->type) == sizeof(int32_t)
                  ? ((const int32_t *)vector->values)[row]
                  : ((const int64_t *)vector->values)[row];
    return XXH3_64bits_withSeed(&integer, sizeof integer, before);
}

unsigned parts_of_row(const struct table_parts *parts,
                      const struct vdbq_vector *vectors, uint64_t row)
{
    uint64_t hash = 0;
    assert(parts->key_count > 0 && parts->parts > 0);
    for (unsigned i = 0; i < parts->key_count; i++)
        hash = hash_value(&vectors[parts->keys[i]], row, hash);
    return (unsigned)(hash % parts->parts);
}

/* -------------------------------------------------------------- select -- */

/* The numbers of the rows of a part, of which there are `count` then. NULL: no
 * memory. */
static uint32_t *list_rows(const struct ordering *ordering,
                           const struct rows *rows, unsigned part,
                           uint32_t *count)
{
    uint32_t *list = memory_zeroed((size_t)rows->count + 1, sizeof *list);
    *count = 0;
    for (uint32_t i = 0; list != NULL && i < rows->count; i++)
        if (parts_of_row(ordering->parts, ordering->vectors, i) == part)
            list[(*count)++] = i;
    return list;
}

/* Copies the listed values of a vector; false: no memory. */
static bool select_values(const struct vdbq_vector *from, const uint32_t *list,
                          uint32_t count, struct arena *arena,
                          struct vdbq_vector *to)
{
    const size_t width = type_bytes(from->type);
    char *values = arena_alloc(arena, count * width);
    uint8_t *nulls = from->nulls != NULL ? arena_alloc(arena, count) : NULL;
    if (values == NULL || (from->nulls != NULL && nulls == NULL))
        return false;
    for (uint32_t i = 0; i < count; i++)
        memcpy(values + i * width, (const char *)from->values + list[i] * width,
               width);
    for (uint32_t i = 0; nulls != NULL && i < count; i++)
        nulls[i] = from->nulls[list[i]];
    *to = (struct vdbq_vector){ from->type, values, nulls };
    return true;
}

/* The numbers of the listed rows, the first of all being `first`; false: no memory. */
static bool number_rows(uint64_t first, const uint32_t *list, uint32_t count,
                        struct arena *arena, struct vdbq_vector *to)
{
    int64_t *numbers = arena_alloc(arena, count * sizeof *numbers);
    for (uint32_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] = (int64_t)(first + list[i]);
    *to = (struct vdbq_vector){ .type = VDBQ_BIGINT, .values = numbers };
    return numbers != NULL;
}

/* Adds the listed rows, the first of all being number `first`. */
static enum vdbq_status add_listed(struct ordering *ordering, uint64_t first,
                                   const uint32_t *list, uint32_t count)
{
    const unsigned columns = ordering->from->column_count;
    struct arena arena = { 0 };
    bool made =
        number_rows(first, list, count, &arena, &ordering->selected[columns]);
    for (unsigned i = 0; made && i < columns; i++)
        made = select_values(&ordering->vectors[i], list, count, &arena,
                             &ordering->selected[i]);
    enum vdbq_status status =
        made ? new_rows_add(ordering->new_rows, &ordering->transaction->writer,
                            ordering->to, count, ordering->selected,
                            ordering->error)
             : error_no_memory(ordering->error);
    arena_finish(&arena);
    return status;
}

/* --------------------------------------------------------------- order -- */

/* Adds the rows of a part that a tablet has. */
static enum vdbq_status add_tablet(struct ordering *ordering,
                                   const struct tablet_ref *tablet,
                                   unsigned part)
{
    struct rows rows = { 0 };
    uint32_t count = 0, *list = NULL;
    enum vdbq_status status = stop_pause(ordering->error);
    if (status == VDBQ_OK)
        status = rows_load(&rows, ordering->transaction->writer.database,
                           ordering->from, tablet, ordering->error);
    if (status == VDBQ_OK) {
        rows_vectors(&rows, ordering->vectors);
        list = list_rows(ordering, &rows, part, &count);
        status = list == NULL ? error_no_memory(ordering->error) : VDBQ_OK;
    }
    if (status == VDBQ_OK && count > 0)
        status = add_listed(ordering, tablet->row_first, list, count);
    memory_release(list);
    rows_finish(&rows);
    return status;
}

static enum vdbq_status add_parts(struct ordering *ordering)
{
    const struct table *from = ordering->from;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned part = 0; part < ordering->parts->parts; part++) {
        ordering->first[part] = ordering->new_rows->written.count;
        for (size_t i = 0; status == VDBQ_OK && i < from->tablet_count; i++)
            status = add_tablet(ordering, &from->tablets[i], part);
        if (status == VDBQ_OK)
            status =
                new_rows_cut(ordering->new_rows, &ordering->transaction->writer,
                             ordering->to, ordering->error);
        if (status != VDBQ_OK)
            return status;
    }
    ordering->first[ordering->parts->parts] = ordering->new_rows->written.count;
    return VDBQ_OK;
}

/* A name for the numbers that no column has. */
static bool name_numbers(const struct table *table, struct text *name)
{
    text_print(name, "row_number");
    while (!name->failed
           && table_column(table, name->bytes) < table->column_count)
        text_print(name, "_");
    return !name->failed;
}

/* Gives the table, in the draft, a column of numbers, and takes its rows out. */
static enum vdbq_status widen(struct ordering *ordering, const char *name)
{
    const struct table *from = ordering->from;
    const unsigned count = from->column_count;
    struct column *columns = memory_zeroed((size_t)count + 1, sizeof *columns);
    int *were = memory_zeroed((size_t)count + 1, sizeof *were);
    enum vdbq_status status = error_no_memory(ordering->error);
    if (columns != NULL && were != NULL) {
        memcpy(columns, from->columns, count * sizeof *columns);
        columns[count] = (struct column){ .name = name,
                                          .type = VDBQ_BIGINT,
                                          .not_null = true };
        for (unsigned i = 0; i < count; i++)
            were[i] = (int)i;
        were[count] = -1;
        status =
            transaction_alter(ordering->transaction,
                              &(struct alteration){ .table_id = from->id,
                                                    .columns = columns,
                                                    .column_count = count + 1,
                                                    .from = were },
                              ordering->error);
    }
    memory_release(columns);
    memory_release(were);
    return status;
}

/* Gives the table, in the draft, numbers, and the rows of the former state. */
static enum vdbq_status order_table(struct ordering *ordering)
{
    const uint32_t id = ordering->parts->table;
    struct text name = { 0 };
    enum vdbq_status status = name_numbers(ordering->from, &name)
                                  ? widen(ordering, name.bytes)
                                  : error_no_memory(ordering->error);
    text_finish(&name);
    if (status != VDBQ_OK)
        return status;
    ordering->to =
        transaction_table(ordering->transaction, id, ordering->error);
    if (ordering->to == NULL)
        return ordering->error->status;
    ordering->new_rows =
        transaction_start_rows(ordering->transaction, ordering->to, true);
    status = ordering->new_rows != NULL ? add_parts(ordering)
                                        : error_no_memory(ordering->error);
    return transaction_note(ordering->transaction, status);
}

enum vdbq_status parts_order(struct transaction *transaction,
                             const struct table_parts *parts, size_t *first,
                             struct error *error)
{
    struct catalogue *former = catalogue_hold(transaction->draft);
    const struct table *from = catalogue_table_id(former, parts->table);
    assert(from != NULL);
    struct vdbq_vector *vectors =
        memory_zeroed(2 * (size_t)from->column_count + 1, sizeof *vectors);
    enum vdbq_status status = vectors == NULL
                                  ? error_no_memory(error)
                                  : order_table(&(struct ordering){
                                      .transaction = transaction,
                                      .parts = parts,
                                      .first = first,
                                      .from = from,
                                      .vectors = vectors,
                                      .selected = vectors + from->column_count,
                                      .error = error });
    memory_release(vectors);
    catalogue_release(former);
    return status;
}
