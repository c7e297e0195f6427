/* SPDX-License-Identifier: MIT */
/*
 * Look-ups of many rows: one query that has the keys as an array, whose rows
 * are then put where their keys stand.
 */
#include <string.h>
#include <xxhash.h>

#include "api/keys/names.h"
#include "api/query.h"
#include "base/type.h"
#include "cl/order.h"

/* Columns of the query before the results. */
enum { KEY_COLUMN, NUMBER_COLUMN };

/* A key as it is compared. */
struct lookup_key {
    uint64_t code; /* of a number what it is ordered by, else the text's hash */
    struct vdbq_text text;
};

/* Where keys stand: a table of them, with open addressing. */
struct lookup_slot {
    uint64_t code;  /* of a number, else the text's hash                    */
    uint32_t place; /* the last key that is equal, counted from 1; 0: none  */
};
struct lookup_places {
    struct lookup_slot *slots; /* a power of two of them                    */
    uint64_t mask;
    uint32_t *equal; /* of each key, the one before it that is equal, or 0  */
};

enum { AHEAD = 8 }; /* keys whose slots are brought into the cache before */

struct vdbq_lookup {
    struct session_object object; /* first */
    vdbq *db;
    vdbq_query *query;
    enum vdbq_type type; /* of the column */
    unsigned scale;      /* likewise      */

    /* Of the last look-up: */
    uint64_t count;                 /* of keys */
    const struct vdbq_vector *keys; /* the caller's; during the call */
    struct lookup_places places;
    struct arena arena;          /* of all that follows, and of places */
    unsigned columns;            /* of the batch */
    struct vdbq_vector *vectors; /* one a column */
};

/* ---------------------------------------------------------------- keys -- */

static bool is_null(const struct vdbq_vector *values, uint64_t i)
{
    return values->nulls != NULL && values->nulls[i] != 0;
}

static struct lookup_key read_key(const struct vdbq_vector *values, uint64_t i)
{
    const void *at = values->values;

    switch (type_machine(values->type)) {
    case TYPE_I32:
        return (struct lookup_key){ .code = (uint64_t)(int64_t)((
                                        const int32_t *)at)[i] };
    case TYPE_I64:
        return (struct lookup_key){ .code = ((const uint64_t *)at)[i] };
    case TYPE_F32:
        return (struct lookup_key){ .code = (uint64_t)order_f64(
                                        (double)((const float *)at)[i]) };
    case TYPE_F64:
        return (struct lookup_key){ .code = (uint64_t)order_f64(
                                        ((const double *)at)[i]) };
    default: {
        struct vdbq_text text = ((const struct vdbq_text *)at)[i];
        return (struct lookup_key){
            .code = text.length > 0 ? XXH3_64bits(text.bytes, text.length) : 0,
            .text = text
        };
    }
    }
}

/* Where the search for a key's slot begins. */
static uint64_t first_slot(const struct vdbq_lookup *lookup, uint64_t code)
{
    return XXH3_64bits(&code, sizeof code) & lookup->places.mask;
}

/* Has the slot brought into the cache of a key that is wanted soon. */
static void fetch_slot(const struct vdbq_lookup *lookup,
                       const struct vdbq_vector *values, uint64_t i,
                       uint64_t count)
{
    if (i < count && !is_null(values, i))
        FETCH(&lookup->places
                   .slots[first_slot(lookup, read_key(values, i).code)]);
}

static bool same_texts(struct vdbq_text a, struct vdbq_text b)
{
    return a.length == b.length
           && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* The slot of a key: one that has it, or an empty one. */
static struct lookup_slot *find_slot(const struct vdbq_lookup *lookup,
                                     struct lookup_key key)
{
    struct lookup_slot *slots = lookup->places.slots;
    uint64_t at = first_slot(lookup, key.code);

    while (slots[at].place != 0
           && (slots[at].code != key.code
               || (lookup->type == VDBQ_TEXT
                   && !same_texts(
                       key.text,
                       read_key(lookup->keys, slots[at].place - 1).text))))
        at = (at + 1) & lookup->places.mask;
    return &slots[at];
}

static bool place_keys(struct vdbq_lookup *lookup)
{
    struct lookup_places *places = &lookup->places;
    uint64_t slots = 16;

    while (slots < 2 * lookup->count)
        slots *= 2;
    places->mask = slots - 1;
    places->slots = arena_alloc(&lookup->arena, slots * sizeof *places->slots);
    places->equal = arena_alloc(&lookup->arena,
                                (lookup->count + 1) * sizeof *places->equal);
    if (places->slots == NULL || places->equal == NULL)
        return false;
    for (uint64_t i = 0; i < lookup->count; i++) {
        fetch_slot(lookup, lookup->keys, i + AHEAD, lookup->count);
        if (is_null(lookup->keys, i))
            continue;
        struct lookup_key key = read_key(lookup->keys, i);
        struct lookup_slot *slot = find_slot(lookup, key);
        places->equal[i] = slot->place;
        *slot = (struct lookup_slot){ key.code, (uint32_t)i + 1 };
    }
    return true;
}

/* ---------------------------------------------------------------- rows -- */

static size_t value_bytes(enum vdbq_type type)
{
    return type == VDBQ_TEXT ? sizeof(struct vdbq_text)
                             : type_width(type_machine(type));
}

/* Room for one value a key in each column, all NULL. */
static bool make_vectors(struct vdbq_lookup *lookup)
{
    lookup->columns = vdbq_query_columns(lookup->query) - NUMBER_COLUMN;
    lookup->vectors =
        arena_alloc(&lookup->arena, lookup->columns * sizeof *lookup->vectors);
    for (unsigned i = 0; lookup->vectors != NULL && i < lookup->columns; i++) {
        enum vdbq_type type =
            vdbq_query_column_type(lookup->query, i + NUMBER_COLUMN);
        uint8_t *nulls = arena_alloc(&lookup->arena, lookup->count + 1);
        void *values = arena_alloc(&lookup->arena,
                                   (lookup->count + 1) * value_bytes(type));
        if (nulls == NULL || values == NULL)
            return false;
        memset(nulls, 1, lookup->count);
        lookup->vectors[i] = (struct vdbq_vector){ type, values, nulls };
    }
    return lookup->vectors != NULL;
}

/* Copies one value of a batch to the place of a key. */
static bool copy_value(struct vdbq_lookup *lookup, unsigned column,
                       const struct vdbq_vector *from, uint64_t row,
                       uint64_t to)
{
    const struct vdbq_vector *vector = &lookup->vectors[column];
    size_t size = value_bytes(vector->type);
    char *value = (char *)(uintptr_t)vector->values + to * size;

    ((uint8_t *)(uintptr_t)vector->nulls)[to] = is_null(from, row);
    if (is_null(from, row))
        return true;
    memcpy(value, (const char *)from->values + row * size, size);
    if (vector->type != VDBQ_TEXT)
        return true;
    struct vdbq_text *text = (struct vdbq_text *)(void *)value;
    text->bytes = arena_copy(&lookup->arena, text->bytes, text->length);
    return text->bytes != NULL;
}

/* Puts a row to each of its keys that has none yet. */
static bool put_row(struct vdbq_lookup *lookup, const struct vdbq_batch *batch,
                    uint64_t row)
{
    const struct vdbq_vector *keys = &batch->column[KEY_COLUMN];
    uint32_t place = find_slot(lookup, read_key(keys, row))->place;

    fetch_slot(lookup, keys, row + AHEAD, batch->rows);
    for (; place != 0; place = lookup->places.equal[place - 1]) {
        if (lookup->vectors[0].nulls[place - 1] == 0)
            continue;
        for (unsigned i = 0; i < lookup->columns; i++)
            if (!copy_value(lookup, i, &batch->column[i + NUMBER_COLUMN], row,
                            place - 1))
                return false;
    }
    return true;
}

static enum vdbq_status read_rows(struct vdbq_lookup *lookup)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = vdbq_query_run(lookup->query);

    if (status == VDBQ_OK && !make_vectors(lookup))
        status = error_no_memory(&lookup->db->error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = vdbq_query_batch(lookup->query, &batch);
        for (uint64_t i = 0; status == VDBQ_OK && i < batch.rows; i++)
            if (!put_row(lookup, &batch, i))
                status = error_no_memory(&lookup->db->error);
    }
    query_end(lookup->query);
    return status;
}

/* -------------------------------------------------------------- look up -- */

/* Whether keys of a type are compared with the column as they are. */
static bool types_fit(enum vdbq_type column, enum vdbq_type keys)
{
    bool integers = column == VDBQ_INTEGER || column == VDBQ_BIGINT
                    || column == VDBQ_SMALLINT;
    bool reals = column == VDBQ_FLOAT || column == VDBQ_DOUBLE;

    return column == keys
           || (integers
               && (keys == VDBQ_INTEGER || keys == VDBQ_BIGINT
                   || keys == VDBQ_SMALLINT))
           || (reals && (keys == VDBQ_FLOAT || keys == VDBQ_DOUBLE));
}

/* DECIMAL keys as an array of their texts. */
static bool print_decimals(struct vdbq_lookup *lookup,
                           struct vdbq_vector *array)
{
    struct vdbq_text *texts =
        arena_alloc(&lookup->arena, (lookup->count + 1) * sizeof *texts);
    char *room =
        arena_alloc(&lookup->arena, (lookup->count + 1) * VDBQ_VALUE_BYTES);

    if (texts == NULL || room == NULL)
        return false;
    for (uint64_t i = 0; i < lookup->count; i++, room += VDBQ_VALUE_BYTES) {
        texts[i].bytes = room;
        if (!is_null(array, i))
            texts[i].length =
                vdbq_value_print(VDBQ_DECIMAL, lookup->scale,
                                 (const int64_t *)array->values + i, room);
    }
    array->type = VDBQ_TEXT;
    array->values = texts;
    return true;
}

static enum vdbq_status bind_keys(struct vdbq_lookup *lookup)
{
    struct vdbq_vector array = *lookup->keys;
    struct error *error = &lookup->db->error;

    if (!types_fit(lookup->type, array.type))
        return error_set(
            error, VDBQ_TYPE, "keys of type %s for a column of type %s",
            vdbq_type_name(array.type), vdbq_type_name(lookup->type));
    if (lookup->count >= UINT32_MAX - 1)
        return error_set(error, VDBQ_RANGE, "%llu keys are too many at once",
                         (unsigned long long)lookup->count);
    if (array.type == VDBQ_DECIMAL && !print_decimals(lookup, &array))
        return error_no_memory(error);
    return vdbq_bind_array(lookup->query, 1, lookup->count, &array);
}

enum vdbq_status vdbq_lookup_rows(vdbq_lookup *lookup, uint64_t count,
                                  const struct vdbq_vector *keys,
                                  struct vdbq_batch *batch)
{
    if (batch != NULL)
        *batch = (struct vdbq_batch){ 0 };
    if (lookup == NULL)
        return VDBQ_MISUSE;
    if (batch == NULL || keys == NULL || (count > 0 && keys->values == NULL))
        return session_misuse(lookup->db,
                              batch == NULL ? "the batch" : "the keys");
    enum vdbq_status status = session_begin(lookup->db);
    arena_finish(&lookup->arena);
    lookup->keys = keys;
    lookup->count = count;
    if (status == VDBQ_OK)
        status = bind_keys(lookup);
    if (status == VDBQ_OK && !place_keys(lookup))
        status = error_no_memory(&lookup->db->error);
    if (status == VDBQ_OK)
        status = read_rows(lookup);
    if (status == VDBQ_OK)
        *batch = (struct vdbq_batch){ count, lookup->columns, lookup->vectors };
    return session_report(lookup->db, status, NULL, 0);
}

/* ------------------------------------------------------- open and close -- */

/* The column that is meant by a name of it, or of an index of it alone. */
static enum vdbq_status find_column(vdbq *db, const struct catalogue *catalogue,
                                    const struct table *table, const char *by,
                                    const struct column **column)
{
    const struct index *index = catalogue_index(catalogue, by);

    if (table_column(table, by) < table->column_count || index == NULL
        || index->table_id != table->id)
        return names_column(db, table, by, column);
    if (index->column_count > 1)
        return error_set(&db->error, VDBQ_TYPE,
                         "index %s has %u columns, and a look-up has one",
                         index->name, index->column_count);
    if (index->keys != NULL)
        return error_set(&db->error, VDBQ_TYPE,
                         "index %s is of an expression or of some rows, and a "
                         "look-up is by a column",
                         index->name);
    *column = &table->columns[index->columns[0]];
    return VDBQ_OK;
}

/* The SELECT, and what it says of the column. */
static enum vdbq_status write_query(struct vdbq_lookup *lookup,
                                    const char *table_name, const char *by,
                                    const char *results, struct text *sql)
{
    vdbq *db = lookup->db;
    struct snapshot snapshot;
    const struct table *table;
    const struct column *column;
    enum vdbq_status status = names_table(db, table_name, &snapshot, &table);

    if (status != VDBQ_OK)
        return status;
    status = find_column(db, snapshot.catalogue, table, by, &column);
    if (status == VDBQ_OK && column->collation != COLLATION_BINARY)
        status = error_set(&db->error, VDBQ_TYPE,
                           "column %s is compared by a COLLATE: look its texts "
                           "up by a query",
                           column->name);
    if (status == VDBQ_OK) {
        lookup->type = column->type;
        lookup->scale = column->scale;
        text_print(sql, "SELECT ");
        name_sql(column->name, sql);
        text_print(sql, ", rowid%s%s FROM ", results != NULL ? ", " : "",
                   results != NULL ? results : "");
        name_sql(table->name, sql);
        text_print(sql, " WHERE ");
        name_sql(column->name, sql);
        text_print(sql, " IN (?1)");
    }
    snapshot_close(&snapshot);
    return status == VDBQ_OK && sql->failed ? error_no_memory(&db->error)
                                            : status;
}

static void close_lookup(struct session_object *object)
{
    struct vdbq_lookup *lookup = (struct vdbq_lookup *)object;

    vdbq_query_close(lookup->query);
    arena_finish(&lookup->arena);
    session_destroy(object);
}

enum vdbq_status vdbq_lookup_open(vdbq *db, const char *table, const char *by,
                                  const char *results, vdbq_lookup **lookup)
{
    struct text sql = { 0 };

    if (lookup == NULL)
        return session_misuse(db, "the place for the look-up");
    *lookup = NULL;
    if (db == NULL || table == NULL || by == NULL)
        return session_misuse(db, "the name of the table or column");
    void *made_object;
    enum vdbq_status status =
        session_create(db, sizeof **lookup, close_lookup, &made_object);
    if (status != VDBQ_OK)
        return status;
    vdbq_lookup *made = made_object;
    made->db = db;
    status = session_report(db, write_query(made, table, by, results, &sql),
                            NULL, 0);
    if (status == VDBQ_OK)
        status = vdbq_prepare(db, sql.bytes, -1, &made->query, NULL);
    text_finish(&sql);
    if (status == VDBQ_OK)
        *lookup = made;
    else
        close_lookup(&made->object);
    return status;
}

void vdbq_lookup_close(vdbq_lookup *lookup)
{
    if (lookup != NULL && !session_is_inherited(lookup->db))
        close_lookup(&lookup->object);
}
