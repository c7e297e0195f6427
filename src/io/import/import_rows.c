/* SPDX-License-Identifier: MIT */
/*
 * The second look at the file: each part becomes vectors of the table's
 * types, which are appended in order. Everything is one transaction.
 */
#include "io/import/import_inner.h"

#include <stdlib.h>
#include <string.h>

/* One part as columns. */
struct slot {
    void **values;   /* one a column of the file     */
    uint8_t **nulls; /* likewise                     */
    bool *has_nulls; /* likewise                     */
    struct csv_field *fields;
    char *plain; /* texts whose quotes are doubled in the file */
    size_t plain_used;
    size_t plain_size; /* bytes of room in it            */
    uint64_t rows;
    uint64_t capacity; /* rows that values have room for */
    struct import_fault fault;
};

struct append {
    struct import *import;
    vdbq_append *append;
    struct slot slot[IMPORT_SLOTS_MAX];
    struct vdbq_vector *vectors; /* one a column of the table; those that
                                    the file has not are defaults        */
};

static size_t type_size(enum vdbq_type type)
{
    switch (type) {
    case VDBQ_TEXT:
        return sizeof(struct vdbq_text);
    case VDBQ_BIGINT:
    case VDBQ_DOUBLE:
    case VDBQ_DECIMAL:
    case VDBQ_TIMESTAMP:
        return sizeof(int64_t);
    default:
        return sizeof(int32_t);
    }
}

/* A text stays where it is in the file, unless quotes are doubled in it; all
 * that are in a part have room in `plain`. */
static enum number_status parse_text(struct slot *slot,
                                     const struct csv_field *field,
                                     struct vdbq_text *text)
{
    const char *bytes = field->bytes;
    size_t length = field->length;
    if (!length && !field->quote)
        return NUMBER_NULL;
    if (!field->quote && memchr(bytes, '\r', length))
        return NUMBER_WRONG;
    if (field->doubled) {
        bytes = slot->plain + slot->plain_used;
        length = csv_undouble(field, slot->plain + slot->plain_used);
        slot->plain_used += length;
    }
    return vdbq_value_parse(VDBQ_TEXT, 0, 0, bytes, length, text)
               ? NUMBER_OK
               : NUMBER_WRONG;
}

/* A value of the types that the library reads. */
static enum number_status parse_other(const struct import_column *column,
                                      const struct csv_field *field,
                                      void *value)
{
    enum number_kind kind;
    if (vdbq_value_parse(column->type, column->precision, column->scale,
                         field->bytes, field->length, value))
        return NUMBER_OK;
    kind = number_kind(field->bytes, field->length);
    if (kind == NUMBER_NOTHING)
        return NUMBER_NULL;
    return column->type == VDBQ_DECIMAL && kind != NUMBER_TEXT ? NUMBER_RANGE
                                                               : NUMBER_WRONG;
}

static enum number_status parse_small(const struct csv_field *field,
                                      int32_t *value)
{
    enum number_status status =
        number_to_int32(field->bytes, field->length, value);
    return status == NUMBER_OK && (*value < INT16_MIN || *value > INT16_MAX)
               ? NUMBER_RANGE
               : status;
}

static enum number_status parse(const struct import_column *column,
                                struct slot *slot,
                                const struct csv_field *field, void *values)
{
    uint64_t row = slot->rows;
    const char *bytes = field->bytes;
    size_t length = field->length;
    switch (column->type) {
    case VDBQ_INTEGER:
        return number_to_int32(bytes, length, (int32_t *)values + row);
    case VDBQ_BIGINT:
        return number_to_int64(bytes, length, (int64_t *)values + row);
    case VDBQ_FLOAT:
        return number_to_float(bytes, length, (float *)values + row);
    case VDBQ_DOUBLE:
        return number_to_double(bytes, length, (double *)values + row);
    case VDBQ_TEXT:
        return parse_text(slot, field, (struct vdbq_text *)values + row);
    case VDBQ_SMALLINT:
        return parse_small(field, (int32_t *)values + row);
    default:
        return parse_other(column, field,
                           (char *)values + row * type_size(column->type));
    }
}

/* The same where another text stands for NULL than none. */
static enum number_status
parse_told(const struct import *import, const struct import_column *column,
           struct slot *slot, const struct csv_field *field, void *values)
{
    if (!import->params->null_text)
        return parse(column, slot, field, values);
    if (import_is_null(import, field))
        return NUMBER_NULL;
    enum number_status status = parse(column, slot, field, values);
    if (status != NUMBER_NULL || column->type != VDBQ_TEXT)
        return status == NUMBER_NULL ? NUMBER_WRONG : status;
    ((struct vdbq_text *)values)[slot->rows] =
        (struct vdbq_text){ field->bytes, 0 };
    return NUMBER_OK;
}

static void fault_value(struct slot *slot, unsigned column,
                        enum number_status status)
{
    const struct csv_field *field = &slot->fields[column];
    const char *stray =
        field->quote ? NULL : memchr(field->bytes, '\r', field->length);
    slot->fault =
        (struct import_fault){ .kind = stray                    ? FAULT_RETURN
                                       : status == NUMBER_RANGE ? FAULT_RANGE
                                                                : FAULT_TYPE,
                               .place = stray ? stray : field->bytes,
                               .column = column,
                               .field = *field };
}

/* Where no value is: all bits zero, of the type's width. */
static void set_null(struct slot *slot, unsigned column, size_t size)
{
    memset((char *)slot->values[column] + slot->rows * size, 0, size);
    slot->nulls[column][slot->rows] = 1;
    slot->has_nulls[column] = true;
}

static bool parse_record(const struct import *import, struct slot *slot)
{
    for (unsigned i = 0; i < import->columns; i++) {
        const struct import_column *column = &import->column[i];
        enum number_status status =
            parse_told(import, column, slot, &slot->fields[i], slot->values[i]);
        if (status == NUMBER_OK) {
            slot->nulls[i][slot->rows] = 0;
        } else if (status == NUMBER_NULL) {
            set_null(slot, i, type_size(column->type));
        } else {
            fault_value(slot, i, status);
            return false;
        }
    }
    slot->rows++;
    return true;
}

/* Room for `rows` rows; what was in it may go. */
static bool reserve(const struct import *import, struct slot *slot,
                    uint64_t rows)
{
    if (rows <= slot->capacity)
        return true;
    slot->capacity = 0;
    for (unsigned i = 0; i < import->columns; i++) {
        free(slot->values[i]);
        free(slot->nulls[i]);
        slot->values[i] = malloc(rows * type_size(import->column[i].type));
        slot->nulls[i] = malloc(rows);
        if (!slot->values[i] || !slot->nulls[i])
            return false;
    }
    slot->capacity = rows;
    return true;
}

/* Room for the undoubled texts of a part of `size` bytes. */
static bool reserve_plain(struct slot *slot, size_t size)
{
    slot->plain_used = 0;
    if (size <= slot->plain_size)
        return true;
    free(slot->plain);
    slot->plain = malloc(size);
    slot->plain_size = slot->plain ? size : 0;
    return slot->plain != NULL;
}

/* A record takes a byte a column at least: a delimiter or the line end. */
static void look(void *context, const struct import_part *text, unsigned number)
{
    struct append *append = context;
    const struct import *import = append->import;
    struct slot *slot = &append->slot[number];
    struct csv_reader reader = import_reader(import, text->start, text->end);
    slot->rows = 0;
    slot->fault.kind = FAULT_NONE;
    memset(slot->has_nulls, 0, import->columns * sizeof *slot->has_nulls);
    size_t size = (size_t)(text->end - text->start);
    if (!reserve(import, slot, size / import->columns + 1)
        || !reserve_plain(slot, size)) {
        slot->fault.kind = FAULT_MEMORY;
        return;
    }
    while (csv_record(&reader)
           && import_record(import, &reader, slot->fields, &slot->fault)
           && parse_record(import, slot))
        ;
}

static enum vdbq_status append_slot(struct append *append,
                                    const struct slot *slot)
{
    struct import *import = append->import;
    if (!slot->rows)
        return VDBQ_OK;
    for (unsigned i = 0; i < import->columns; i++) {
        struct vdbq_vector *vector = &append->vectors[import->column[i].target];
        vector->type = import->column[i].type;
        vector->values = slot->values[i];
        vector->nulls = slot->has_nulls[i] ? slot->nulls[i] : NULL;
    }
    if (vdbq_append_rows(append->append, slot->rows, append->vectors)
        != VDBQ_OK)
        return import_fail_db(import);
    import->report->rows += slot->rows;
    return VDBQ_OK;
}

static enum vdbq_status take(void *context, unsigned number, uint64_t *rows)
{
    struct append *append = context;
    struct slot *slot = &append->slot[number];
    if (slot->fault.kind)
        return import_fail_at(append->import, &slot->fault);
    *rows += slot->rows;
    return append_slot(append, slot);
}

static bool slot_open(const struct import *import, struct slot *slot)
{
    size_t columns = import->columns;
    slot->values = calloc(columns, sizeof *slot->values);
    slot->nulls = calloc(columns, sizeof *slot->nulls);
    slot->has_nulls = calloc(columns, sizeof *slot->has_nulls);
    slot->fields = calloc(columns, sizeof *slot->fields);
    return slot->values && slot->nulls && slot->has_nulls && slot->fields;
}

static void slot_close(const struct import *import, struct slot *slot)
{
    for (unsigned i = 0; i < import->columns; i++) {
        if (slot->values)
            free(slot->values[i]);
        if (slot->nulls)
            free(slot->nulls[i]);
    }
    free(slot->values);
    free(slot->nulls);
    free(slot->has_nulls);
    free(slot->fields);
    free(slot->plain);
}

static bool append_open(struct append *append, unsigned slots)
{
    struct import *import = append->import;
    append->vectors = calloc(import->targets, sizeof *append->vectors);
    if (!append->vectors)
        return false;
    for (unsigned i = 0; i < slots; i++)
        if (!slot_open(import, &append->slot[i]))
            return false;
    return true;
}

static void append_close(struct append *append, unsigned slots)
{
    for (unsigned i = 0; i < slots; i++)
        slot_close(append->import, &append->slot[i]);
    free(append->vectors);
}

static enum vdbq_status append_parts(struct append *append, unsigned threads)
{
    struct import *import = append->import;
    enum vdbq_status status =
        import_work(&(struct import_work){ .import = import,
                                           .threads = threads,
                                           .slots = threads + 1,
                                           .look = look,
                                           .take = take,
                                           .context = append });
    if (status == VDBQ_OK && import_is_cut(import))
        status = import_fail_cut(import);
    if (status == VDBQ_OK && vdbq_append_commit(append->append) != VDBQ_OK)
        status = import_fail_db(import);
    return status;
}

/* Once the append is open nobody else changes the table: whether it is the one
 * that was looked at. */
static bool is_same_table(const struct import *import)
{
    vdbq *db = import->params->db;
    unsigned table = import_table_find(db, import->params->table);
    bool same = vdbq_table_columns(db, table) == import->targets;
    for (unsigned i = 0; i < import->columns && same; i++) {
        const struct import_column *column = &import->column[i];
        unsigned target = column->target;
        same = vdbq_table_column_type(db, table, target) == column->type
               && vdbq_table_column_scale(db, table, target) == column->scale
               && vdbq_table_column_precision(db, table, target)
                      == column->precision;
    }
    return same;
}

static enum vdbq_status run(struct append *append, unsigned threads)
{
    struct import *import = append->import;
    if (vdbq_append_open(import->params->db, import->params->table,
                         &append->append)
        != VDBQ_OK)
        return import_fail_db(import);
    enum vdbq_status status =
        is_same_table(import)
            ? append_parts(append, threads)
            : import_fail(import, VDBQ_BUSY, "try again",
                          "another connection changed table %s meanwhile",
                          import->params->table);
    vdbq_append_close(append->append);
    return status;
}

enum vdbq_status import_rows(struct import *import)
{
    struct append append = { .import = import };
    unsigned threads = import_threads(import);
    enum vdbq_status status =
        append_open(&append, threads + 1)
            ? run(&append, threads)
            : import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    append_close(&append, threads + 1);
    return status;
}
