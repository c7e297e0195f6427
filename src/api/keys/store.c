/* SPDX-License-Identifier: MIT */
/*
 * Stores: a table's key and one of its columns, by statements that are prepared
 * once. A query of a single key is read to its end at once, so that it holds
 * no state of the database; that of a scan until its last row.
 */
#include <string.h>

#include "api/keys/names.h"
#include "api/query.h"

enum store_statement { GET, UPDATE, INSERT, DELETE, STATEMENTS };

struct vdbq_store {
    struct session_object object; /* first */
    vdbq *db;
    struct text key, value, table; /* as SQL has them */
    vdbq_query *statements[STATEMENTS];
    unsigned scales[2]; /* of the key and the value, where they are DECIMAL */
    vdbq_query *scan;   /* NULL: none */
    struct vdbq_batch batch;           /* of the scan */
    uint64_t row;                      /* of it, that comes next */
    struct text got;                   /* the text that get() gave */
    char printed[2][VDBQ_VALUE_BYTES]; /* values that are given as texts */
};

/* --------------------------------------------------------------- items -- */

/* Gives a parameter the item's value. */
static enum vdbq_status bind_item(vdbq_query *query, unsigned parameter,
                                  const struct vdbq_item *item)
{
    switch (item->type) {
    case VDBQ_TYPE_NONE:
        return vdbq_bind_null(query, parameter);
    case VDBQ_BIGINT:
        return vdbq_bind_int64(query, parameter, item->integer);
    case VDBQ_DOUBLE:
        return vdbq_bind_double(query, parameter, item->real);
    case VDBQ_TEXT:
        return vdbq_bind_text(query, parameter,
                              item->text.length > 0 ? item->text.bytes : "",
                              (ptrdiff_t)item->text.length);
    default:
        return session_report(
            query->db,
            error_set(&query->db->error, VDBQ_TYPE,
                      "an item of type %s: there are BIGINT, DOUBLE and TEXT",
                      vdbq_type_name(item->type)),
            NULL, 0);
    }
}

/* A value of a batch; `room` is for one that is given as text. */
static struct vdbq_item read_item(const struct vdbq_vector *vector,
                                  uint64_t row, unsigned scale, char *room)
{
    const char *at = vector->values;

    if (vector->nulls != NULL && vector->nulls[row] != 0)
        return (struct vdbq_item){ .type = VDBQ_TYPE_NONE };
    switch (vector->type) {
    case VDBQ_INTEGER:
    case VDBQ_SMALLINT:
    case VDBQ_BOOLEAN:
        return (struct vdbq_item){ .type = VDBQ_BIGINT,
                                   .integer =
                                       ((const int32_t *)vector->values)[row] };
    case VDBQ_BIGINT:
        return (struct vdbq_item){ .type = VDBQ_BIGINT,
                                   .integer =
                                       ((const int64_t *)vector->values)[row] };
    case VDBQ_FLOAT:
        return (struct vdbq_item){
            .type = VDBQ_DOUBLE,
            .real = (double)((const float *)vector->values)[row]
        };
    case VDBQ_DOUBLE:
        return (struct vdbq_item){ .type = VDBQ_DOUBLE,
                                   .real =
                                       ((const double *)vector->values)[row] };
    case VDBQ_TEXT:
        return (struct vdbq_item){
            .type = VDBQ_TEXT,
            .text = ((const struct vdbq_text *)vector->values)[row]
        };
    default:
        at += row
              * (vector->type == VDBQ_DATE ? sizeof(int32_t) : sizeof(int64_t));
        return (struct vdbq_item){
            .type = VDBQ_TEXT,
            .text = { room, vdbq_value_print(vector->type, scale, at, room) }
        };
    }
}

/* ---------------------------------------------------------- statements -- */

/* The SQL of a statement. */
static void write_sql(const struct vdbq_store *store,
                      enum store_statement statement, struct text *sql)
{
    const char *key = store->key.bytes, *value = store->value.bytes;
    const char *table = store->table.bytes;

    switch (statement) {
    case GET:
        text_print(sql, "SELECT %s FROM %s WHERE %s = ?1", value, table, key);
        break;
    case UPDATE:
        text_print(sql, "UPDATE %s SET %s = ?2 WHERE %s = ?1", table, value,
                   key);
        break;
    case INSERT:
        text_print(sql, "INSERT INTO %s (%s, %s) VALUES (?1, ?2)", table, key,
                   value);
        break;
    default:
        text_print(sql, "DELETE FROM %s WHERE %s = ?1", table, key);
    }
}

/* The statement, prepared once. */
static enum vdbq_status find_statement(struct vdbq_store *store,
                                       enum store_statement statement,
                                       vdbq_query **query)
{
    struct text sql = { 0 };
    enum vdbq_status status = VDBQ_OK;

    if (store->statements[statement] == NULL) {
        write_sql(store, statement, &sql);
        status = sql.failed ? session_report(
                     store->db, error_no_memory(&store->db->error), NULL, 0)
                            : vdbq_prepare(store->db, sql.bytes, -1,
                                           &store->statements[statement], NULL);
        text_finish(&sql);
    }
    *query = store->statements[statement];
    return status;
}

/* Runs a change of a key; `*rows` are those that it changed. */
static enum vdbq_status run_change(struct vdbq_store *store,
                                   enum store_statement statement,
                                   const struct vdbq_item *key,
                                   const struct vdbq_item *value,
                                   uint64_t *rows)
{
    struct vdbq_stats stats;
    vdbq_query *query;
    enum vdbq_status status = find_statement(store, statement, &query);

    if (status == VDBQ_OK)
        status = bind_item(query, 1, key);
    if (status == VDBQ_OK && value != NULL)
        status = bind_item(query, 2, value);
    if (status == VDBQ_OK)
        status = vdbq_query_run(query);
    if (status != VDBQ_OK)
        return status;
    vdbq_query_stats(query, &stats);
    *rows = stats.rows_changed;
    return VDBQ_OK;
}

/* ------------------------------------------------------------ the calls -- */

/* MISUSE where one of two things is not there. */
static enum vdbq_status check(struct vdbq_store *store, const void *a,
                              const void *b)
{
    if (store == NULL)
        return VDBQ_MISUSE;
    return a != NULL && b != NULL
               ? VDBQ_OK
               : session_misuse(store->db, "the key or the value");
}

/* Copies the text of what was got, which lives as long as the run else. */
static enum vdbq_status own_text(struct vdbq_store *store,
                                 struct vdbq_item *value)
{
    text_finish(&store->got);
    if (value->type != VDBQ_TEXT)
        return VDBQ_OK;
    text_add(&store->got, value->text.bytes, value->text.length);
    text_add(&store->got, "", 1);
    if (store->got.failed)
        return session_report(store->db, error_no_memory(&store->db->error),
                              NULL, 0);
    value->text.bytes = store->got.bytes;
    return VDBQ_OK;
}

enum vdbq_status vdbq_store_get(vdbq_store *store, const struct vdbq_item *key,
                                struct vdbq_item *value)
{
    struct vdbq_batch batch = { 0 };
    vdbq_query *query = NULL;
    enum vdbq_status status = check(store, key, value);

    if (status == VDBQ_OK)
        status = find_statement(store, GET, &query);
    if (status == VDBQ_OK)
        status = bind_item(query, 1, key);
    if (status == VDBQ_OK)
        status = vdbq_query_batch(query, &batch);
    if (status == VDBQ_OK && batch.rows > 0) {
        *value =
            read_item(&batch.column[0], 0, store->scales[1], store->printed[1]);
        status = own_text(store, value);
    }
    if (query != NULL && !session_is_inherited(store->db))
        query_end(query);
    if (status != VDBQ_OK)
        return status;
    return batch.rows > 0 ? VDBQ_ROW : VDBQ_DONE;
}

/* Another connection may add the key between the two statements, of which the
 * second then fails: it is as if the call had come a moment later. */
enum vdbq_status vdbq_store_put(vdbq_store *store, const struct vdbq_item *key,
                                const struct vdbq_item *value)
{
    uint64_t rows = 0;
    enum vdbq_status status = check(store, key, value);

    if (status != VDBQ_OK)
        return status;
    for (int tries = 0; tries < 2; tries++) {
        status = run_change(store, UPDATE, key, value, &rows);
        if (status != VDBQ_OK || rows > 0)
            return status;
        status = run_change(store, INSERT, key, value, &rows);
        if (status != VDBQ_CONSTRAINT || store->db->transaction != NULL)
            return status;
    }
    return status;
}

enum vdbq_status vdbq_store_delete(vdbq_store *store,
                                   const struct vdbq_item *key, bool *was_there)
{
    uint64_t rows = 0;
    enum vdbq_status status = check(store, key, key);

    if (was_there != NULL)
        *was_there = false;
    if (status == VDBQ_OK)
        status = run_change(store, DELETE, key, NULL, &rows);
    if (was_there != NULL)
        *was_there = rows > 0;
    return status;
}

/* ---------------------------------------------------------------- scan -- */

static enum vdbq_status prepare_scan(struct vdbq_store *store, bool low,
                                     bool high)
{
    const char *key = store->key.bytes;
    struct text sql = { 0 };
    enum vdbq_status status;

    text_print(&sql, "SELECT %s, %s FROM %s WHERE TRUE", key,
               store->value.bytes, store->table.bytes);
    if (low)
        text_print(&sql, " AND %s >= ?1", key);
    if (high)
        text_print(&sql, " AND %s < ?2", key);
    text_print(&sql, " ORDER BY 1");
    status = sql.failed
                 ? session_report(store->db, error_no_memory(&store->db->error),
                                  NULL, 0)
                 : vdbq_prepare(store->db, sql.bytes, -1, &store->scan, NULL);
    text_finish(&sql);
    return status;
}

enum vdbq_status vdbq_store_scan(vdbq_store *store, const struct vdbq_item *low,
                                 const struct vdbq_item *high)
{
    enum vdbq_status status = check(store, store, store);

    if (status != VDBQ_OK)
        return status;
    vdbq_query_close(store->scan);
    store->scan = NULL;
    store->batch = (struct vdbq_batch){ 0 };
    store->row = 0;
    status = prepare_scan(store, low != NULL, high != NULL);
    if (status == VDBQ_OK && low != NULL)
        status = bind_item(store->scan, 1, low);
    if (status == VDBQ_OK && high != NULL)
        status = bind_item(store->scan, 2, high);
    return status == VDBQ_OK ? vdbq_query_run(store->scan) : status;
}

enum vdbq_status vdbq_store_next(vdbq_store *store, struct vdbq_item *key,
                                 struct vdbq_item *value)
{
    enum vdbq_status status = check(store, key, value);

    if (status != VDBQ_OK)
        return status;
    if (store->scan == NULL)
        return session_misuse(store->db, "a scan");
    if (store->row == store->batch.rows) {
        status = vdbq_query_batch(store->scan, &store->batch);
        store->row = 0;
    }
    if (status != VDBQ_OK || store->batch.rows == 0)
        return status == VDBQ_OK ? VDBQ_DONE : status;
    *key = read_item(&store->batch.column[0], store->row, store->scales[0],
                     store->printed[0]);
    *value = read_item(&store->batch.column[1], store->row, store->scales[1],
                       store->printed[1]);
    store->row++;
    return VDBQ_ROW;
}

/* ------------------------------------------------------- open and close -- */

static void close_store(struct session_object *object)
{
    struct vdbq_store *store = (struct vdbq_store *)object;

    for (unsigned i = 0; i < STATEMENTS; i++)
        vdbq_query_close(store->statements[i]);
    vdbq_query_close(store->scan);
    text_finish(&store->key);
    text_finish(&store->value);
    text_finish(&store->table);
    text_finish(&store->got);
    session_destroy(object);
}

/* Notes the columns. */
static enum vdbq_status describe(struct vdbq_store *store, const char *name,
                                 const char *value)
{
    struct error *error = &store->db->error;
    const struct column *key_column, *value_column = NULL;
    const struct table *table;
    struct snapshot snapshot;
    enum vdbq_status status = names_table(store->db, name, &snapshot, &table);

    if (status != VDBQ_OK)
        return status;
    status = names_column(store->db, table, value, &value_column);
    if (status == VDBQ_OK && table->key == NO_KEY)
        status = error_set(error, VDBQ_TYPE, "table %s has no primary key",
                           table->name);
    if (status == VDBQ_OK && value_column == &table->columns[table->key])
        status = error_set(error, VDBQ_TYPE,
                           "%s is the primary key and cannot be the value",
                           value_column->name);
    if (status == VDBQ_OK) {
        key_column = &table->columns[table->key];
        store->scales[0] = key_column->scale;
        store->scales[1] = value_column->scale;
        name_sql(key_column->name, &store->key);
        name_sql(value_column->name, &store->value);
        name_sql(table->name, &store->table);
        if (store->key.failed || store->value.failed || store->table.failed)
            status = error_no_memory(error);
    }
    snapshot_close(&snapshot);
    return status;
}

enum vdbq_status vdbq_store_open(vdbq *db, const char *table, const char *value,
                                 vdbq_store **store)
{
    if (store == NULL)
        return session_misuse(db, "the place for the store");
    *store = NULL;
    if (db == NULL || table == NULL || value == NULL)
        return session_misuse(db, "the name of the table or column");
    void *made_object;
    enum vdbq_status status =
        session_create(db, sizeof **store, close_store, &made_object);
    if (status != VDBQ_OK)
        return status;
    vdbq_store *made = made_object;
    made->db = db;
    status = session_report(db, describe(made, table, value), NULL, 0);
    if (status == VDBQ_OK)
        *store = made;
    else
        close_store(&made->object);
    return status;
}

void vdbq_store_close(vdbq_store *store)
{
    if (store != NULL && !session_is_inherited(store->db))
        close_store(&store->object);
}
