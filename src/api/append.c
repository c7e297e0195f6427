/* SPDX-License-Identifier: MIT */
/*
 * Bulk append: a transaction that the caller feeds with vectors, or a part of
 * the one that BEGIN opened.
 */
#include "api/session.h"

#include <string.h>

#include "base/type.h"

/* Vectors for columns that nothing is said of: made once, and used for each call
 * that has no more rows. */
struct append_default {
    struct arena arena;
    struct vdbq_vector *one; /* a value of each column; NULL: not found yet */
    struct vdbq_vector *vectors; /* of the call at hand: given, and made    */
    struct default_room {
        char *values;
        uint8_t *nulls; /* all 1 */
        uint64_t rows;  /* that are in both */
    } * rooms;          /* one a column */
    unsigned columns;
};

struct vdbq_append {
    vdbq *db;
    struct transaction *transaction; /* NULL: ended or failed */
    uint32_t table_id;
    struct append_default defaults;
};

/* ------------------------------------------------------------- defaults -- */

static size_t value_bytes(enum vdbq_type type)
{
    int machine = type_machine(type);
    return machine == TYPE_WORD ? sizeof(struct vdbq_text)
                                : type_width(machine);
}

/* Finds the table's defaults, once. */
static enum vdbq_status find_defaults(struct append_default *defaults,
                                      const struct catalogue *catalogue,
                                      const struct table *table,
                                      struct error *error)
{
    size_t size = table->column_count * sizeof *defaults->one;
    if (defaults->one != NULL)
        return VDBQ_OK;
    struct vdbq_vector *one = arena_alloc(&defaults->arena, size);
    defaults->vectors = arena_alloc(&defaults->arena, size);
    defaults->rooms = arena_alloc(
        &defaults->arena, table->column_count * sizeof *defaults->rooms);
    if (one == NULL || defaults->vectors == NULL || defaults->rooms == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        plan_defaults(catalogue, table, &defaults->arena, one, error);
    if (status == VDBQ_OK)
        defaults->one = one;
    return status;
}

/* Has the column's vector of `rows` rows. */
static bool fill_column(struct append_default *defaults, unsigned column,
                        uint64_t rows)
{
    struct default_room *room = &defaults->rooms[column];
    const struct vdbq_vector *one = &defaults->one[column];
    struct vdbq_vector *vector = &defaults->vectors[column];
    size_t width = value_bytes(one->type);
    if (rows > room->rows) {
        memory_release(room->values);
        memory_release(room->nulls);
        room->values = memory_zeroed(rows, width);
        room->nulls = memory_zeroed(rows, 1);
        room->rows = room->values && room->nulls ? rows : 0;
        for (uint64_t i = 0; i < room->rows; i++)
            memcpy(room->values + i * width, one->values, width);
        if (room->rows > 0)
            memset(room->nulls, 1, rows);
    }
    *vector = (struct vdbq_vector){ .type = one->type,
                                    .values = room->values,
                                    .nulls = one->nulls ? room->nulls : NULL };
    return room->rows >= rows;
}

/* Where vectors have no type, puts others with the table's defaults in the place
 * of all, until the next call. */
static enum vdbq_status fill_defaults(struct append_default *defaults,
                                      const struct catalogue *catalogue,
                                      const struct table *table, uint64_t rows,
                                      const struct vdbq_vector **vectors,
                                      struct error *error)
{
    const struct vdbq_vector *given = *vectors;
    unsigned missing = 0;
    for (unsigned i = 0; i < table->column_count; i++)
        missing += given[i].type == VDBQ_TYPE_NONE;
    if (missing == 0)
        return VDBQ_OK;
    enum vdbq_status status = find_defaults(defaults, catalogue, table, error);
    if (status != VDBQ_OK)
        return status;
    defaults->columns = table->column_count;
    for (unsigned i = 0; i < table->column_count; i++)
        if (given[i].type != VDBQ_TYPE_NONE)
            defaults->vectors[i] = given[i];
        else if (!fill_column(defaults, i, rows))
            return error_no_memory(error);
    *vectors = defaults->vectors;
    return VDBQ_OK;
}

static void defaults_finish(struct append_default *defaults)
{
    for (unsigned i = 0; i < defaults->columns; i++) {
        memory_release(defaults->rooms[i].values);
        memory_release(defaults->rooms[i].nulls);
    }
    arena_finish(&defaults->arena);
}

/* --------------------------------------------------------------- append -- */

/* Starts the transaction and finds the table in it. */
static enum vdbq_status begin(vdbq *db, const char *table,
                              struct vdbq_append *append)
{
    bool temporary =
        db->copying ? db->copies_temporary : session_is_temporary(db, table);
    enum vdbq_status status =
        session_enter(db, temporary, &append->transaction);
    if (status != VDBQ_OK)
        return status;
    const struct table *found =
        catalogue_table(transaction_catalogue(append->transaction), table);
    if (found == NULL)
        return error_set(&db->error, VDBQ_UNKNOWN, "no table \"%s\"", table);
    append->table_id = found->id;
    return VDBQ_OK;
}

enum vdbq_status vdbq_append_open(vdbq *db, const char *table,
                                  vdbq_append **append)
{
    if (append == NULL)
        return session_misuse(db, "the place for the append");
    *append = NULL;
    if (table == NULL)
        return session_misuse(db, "the table's name");
    enum vdbq_status status = session_begin(db);
    if (status == VDBQ_OK && db->append != NULL)
        status = error_set(&db->error, VDBQ_MISUSE,
                           "another append is open on this connection");
    if (status != VDBQ_OK)
        return session_report(db, status, NULL, 0);
    struct vdbq_append *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return session_report(db, error_no_memory(&db->error), NULL, 0);
    made->db = db;
    session_hear_cancel(db);
    struct stop_work former = stop_enter(&db->stop);
    status = begin(db, table, made);
    stop_leave(former);
    db->append = made;
    if (status == VDBQ_OK)
        *append = made;
    else
        vdbq_append_close(made);
    return session_report(db, status, NULL, 0);
}

/* Checks that the vector is of its column's type, and there. */
static enum vdbq_status check_vector(const struct column *column,
                                     const struct vdbq_vector *vector,
                                     uint64_t rows, struct error *error)
{
    if (vector->type == VDBQ_TYPE_NONE)
        return VDBQ_OK;
    if (vector->type != column->type)
        return error_set(error, VDBQ_TYPE, "column %s is %s, its vector %s",
                         column->name, vdbq_type_name(column->type),
                         vdbq_type_name(vector->type));
    if (rows > 0 && vector->values == NULL)
        return error_set(error, VDBQ_MISUSE, "the values of column %s are NULL",
                         column->name);
    return VDBQ_OK;
}

static enum vdbq_status check_vectors(const struct table *table, uint64_t rows,
                                      const struct vdbq_vector *vectors,
                                      struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (vectors == NULL)
        return error_set(error, VDBQ_MISUSE, "the vectors are NULL");
    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++)
        status = check_vector(&table->columns[i], &vectors[i], rows, error);
    return status;
}

static enum vdbq_status append_rows(struct vdbq_append *append, uint64_t rows,
                                    const struct vdbq_vector *vectors)
{
    const struct catalogue *catalogue =
        transaction_catalogue(append->transaction);
    const struct table *table = catalogue_table_id(catalogue, append->table_id);
    struct error *error = &append->db->error;
    enum vdbq_status status = check_vectors(table, rows, vectors, error);
    if (status == VDBQ_OK)
        status = fill_defaults(&append->defaults, catalogue, table, rows,
                               &vectors, error);
    if (status == VDBQ_OK)
        status = transaction_append(append->transaction, append->table_id, rows,
                                    vectors, error);
    return status;
}

static enum vdbq_status begin_call(struct vdbq_append *append)
{
    enum vdbq_status status = session_begin(append->db);
    if (status != VDBQ_OK)
        return status;
    if (append->transaction == NULL)
        return error_set(&append->db->error, VDBQ_MISUSE,
                         "the append has ended");
    return VDBQ_OK;
}

/* Undoes what was appended. */
static void drop(struct vdbq_append *append)
{
    if (append->transaction != NULL)
        session_leave(append->db, append->transaction, VDBQ_CANCELLED);
    append->transaction = NULL;
}

enum vdbq_status vdbq_append_rows(vdbq_append *append, uint64_t rows,
                                  const struct vdbq_vector *vectors)
{
    if (append == NULL)
        return VDBQ_MISUSE;
    enum vdbq_status status = begin_call(append);
    if (status != VDBQ_OK)
        return session_report(append->db, status, NULL, 0);
    struct stop_work former = stop_enter(&append->db->stop);
    status = append_rows(append, rows, vectors);
    if (status != VDBQ_OK)
        drop(append);
    stop_leave(former);
    return session_report(append->db, status, NULL, 0);
}

enum vdbq_status vdbq_append_commit(vdbq_append *append)
{
    if (append == NULL)
        return VDBQ_MISUSE;
    struct stop_work former = stop_enter(&append->db->stop);
    enum vdbq_status status = begin_call(append);
    if (status == VDBQ_OK) {
        status = session_leave(append->db, append->transaction, VDBQ_OK);
        append->transaction = NULL;
    }
    stop_leave(former);
    return session_report(append->db, status, NULL, 0);
}

void vdbq_append_close(vdbq_append *append)
{
    if (append == NULL || session_is_inherited(append->db))
        return;
    drop(append);
    append->db->append = NULL;
    defaults_finish(&append->defaults);
    memory_release(append);
}
