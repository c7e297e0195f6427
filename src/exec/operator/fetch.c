/* SPDX-License-Identifier: MIT */
/*
 * STEP_FETCH: late materialisation. The rows of the input, few of them, are
 * taken first; then each tablet that has some of the rows that they name is
 * pinned once, and the columns of these rows are picked (picked.h).
 *
 * In a table without a key the id of a row is its number, which says where it
 * is. Where the key is the id, it is looked for in the tablets whose keys can
 * be it: a sequence of keys says where, others are read to the last one that
 * is looked for.
 */
#include <assert.h>
#include <string.h>

#include "base/os/os.h"
#include "data/pool/few_rows.h"
#include "data/tablet/tablet.h"
#include "exec/seek/picked.h"
#include "exec/rows/rescan.h"
#include "exec/sort/sort.h"
#include "exec/stream/stream_inner.h"

enum { BLOCK_ROWS = 64, FILTER_BITS = 1 << 15 };

/* A row of the input, and the id that it has. */
struct wanted_row {
    int64_t id;
    uint32_t to; /* number of the input's row */
};

struct fetch_stream {
    struct stream head;        /* first */
    const struct table *table; /* of the rows that are fetched      */
    struct run_place place;    /* whose pool has its tablets        */
    unsigned before;           /* columns of the input              */
    struct rescan input;       /* its rows                          */
    struct picked fetched;     /* the table's columns beside them   */
    uint64_t given;            /* rows that are out                 */
    struct wanted_row *wanted; /* by id, where it is not NULL       */
    uint64_t wanted_count;
    struct picked_row *found; /* of the tablet at hand: by row     */
    uint64_t found_count;
    uint64_t filter[FILTER_BITS / 64]; /* of the ids: bits that some have   */
    struct device_times times;         /* of bringing tablets in            */
    uint64_t load_ns;                  /* likewise                          */
    struct vdbq_vector *vectors;       /* of the batch */
};

static const struct step_fetch *step_of(const struct fetch_stream *fetch)
{
    return &fetch->head.step->fetch;
}

static unsigned column_of(const struct fetch_stream *fetch, unsigned i)
{
    return (unsigned)VECTOR_ITEMS(&step_of(fetch)->columns, int)[i];
}

/* --------------------------------------------------------------- wanted -- */

/* Rows that have an id, as they come. */
struct asking {
    int64_t *ids;
    uint32_t *rows, *order; /* `order`: by id */
    uint32_t count;
};

/* Which rows have an id; the others get NULLs. */
static void find_ids(struct fetch_stream *fetch, struct asking *asking)
{
    const struct row_set *input = &fetch->input.row_set;
    const struct row_set_column *ids = &input->columns[step_of(fetch)->row];

    for (uint64_t row = 0; row < input->rows && !stop_at(row); row++) {
        if (row_set_is_null(ids, row)) {
            for (unsigned i = 0; i < fetch->fetched.rows.column_count; i++)
                fetch->fetched.rows.columns[i].nulls[row] = 1;
            continue;
        }
        asking->ids[asking->count] = row_set_integer(ids, row);
        asking->rows[asking->count++] = (uint32_t)row;
    }
}

/* Sorts them by id. */
static enum vdbq_status sort_ids(struct fetch_stream *fetch,
                                 const struct asking *asking,
                                 struct error *error)
{
    const struct sort_key key = { .type = TYPE_I64, .values = asking->ids };
    enum vdbq_status status =
        sort_order(&key, 1, asking->count, stream_threads(fetch->head.params),
                   asking->order, error);

    for (uint32_t i = 0; status == VDBQ_OK && i < asking->count; i++)
        fetch->wanted[i] =
            (struct wanted_row){ .id = asking->ids[asking->order[i]],
                                 .to = asking->rows[asking->order[i]] };
    fetch->wanted_count = asking->count;
    return status;
}

/* Which rows are wanted; those without an id get NULLs. */
static enum vdbq_status list_wanted(struct fetch_stream *fetch,
                                    struct error *error)
{
    uint64_t rows = fetch->input.row_set.rows;
    struct asking asking = {
        .ids = memory_resize(NULL, (rows + 1) * sizeof *asking.ids),
        .rows = memory_resize(NULL, (rows + 1) * sizeof *asking.rows),
        .order = memory_resize(NULL, (rows + 1) * sizeof *asking.order)
    };
    enum vdbq_status status = VDBQ_OK;

    assert(rows <= ROW_SET_ROWS_MAX);
    fetch->wanted = memory_zeroed(rows + 1, sizeof *fetch->wanted);
    fetch->found = memory_zeroed(rows + 1, sizeof *fetch->found);
    if (fetch->wanted == NULL || fetch->found == NULL || asking.ids == NULL
        || asking.rows == NULL || asking.order == NULL)
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        find_ids(fetch, &asking);
    if (status == VDBQ_OK)
        status = stop_pause(error);
    if (status == VDBQ_OK)
        status = sort_ids(fetch, &asking, error);
    memory_release(asking.ids);
    memory_release(asking.rows);
    memory_release(asking.order);
    return status;
}

/* The first of them whose id is `id` or more. */
static uint64_t first_from(const struct fetch_stream *fetch, int64_t id)
{
    uint64_t low = 0, high = fetch->wanted_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (fetch->wanted[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The ids that rows of a tablet can have: from `low` to `high`. */
static void ids_of(const struct fetch_stream *fetch,
                   const struct tablet_ref *ref, int64_t *low, int64_t *high)
{
    unsigned key = fetch->table->key;

    *low = key == NO_KEY ? (int64_t)ref->row_first : ref->facts[key].minimum;
    *high = key == NO_KEY ? (int64_t)(ref->row_first + ref->rows - 1)
                          : ref->facts[key].maximum;
}

/* ---------------------------------------------------------------- found -- */

static void add_found(struct fetch_stream *fetch, uint32_t row, uint32_t to)
{
    assert(fetch->found_count < fetch->wanted_count);
    fetch->found[fetch->found_count++] =
        (struct picked_row){ .row = row, .to = to };
}

/* All rows of a tablet have ids: that of the first one, and those behind it. */
static void find_numbered(struct fetch_stream *fetch, int64_t first,
                          uint32_t rows)
{
    for (uint64_t i = first_from(fetch, first); i < fetch->wanted_count; i++) {
        uint64_t row = (uint64_t)fetch->wanted[i].id - (uint64_t)first;
        if (row >= rows)
            break;
        add_found(fetch, (uint32_t)row, fetch->wanted[i].to);
    }
}

/* Bit `id` % FILTER_BITS is set where some id has it, which most rows' have
 * not. */
static uint64_t filter_bit(int64_t id)
{
    return (uint64_t)id % FILTER_BITS;
}

static void fill_filter(struct fetch_stream *fetch)
{
    for (uint64_t i = 0; i < fetch->wanted_count; i++) {
        uint64_t bit = filter_bit(fetch->wanted[i].id);
        fetch->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

/* A row of the tablet has that key: whoever wants it gets it. */
static void find_key(struct fetch_stream *fetch, int64_t key, uint32_t row)
{
    uint64_t bit = filter_bit(key);

    if ((fetch->filter[bit / 64] >> bit % 64 & 1) == 0)
        return;
    for (uint64_t i = first_from(fetch, key);
         i < fetch->wanted_count && fetch->wanted[i].id == key; i++)
        add_found(fetch, row, fetch->wanted[i].to);
}

/* Looks through the keys of a tablet, of which so many rows can be found. */
static void find_keys(struct fetch_stream *fetch, const struct tablet *tablet,
                      uint64_t most)
{
    unsigned key = fetch->table->key;
    bool wide = tablet_column(tablet, key)->width == sizeof(int64_t);
    int64_t block[BLOCK_ROWS];

    for (uint32_t row = 0; row < tablet->rows && fetch->found_count < most;
         row += BLOCK_ROWS) {
        uint32_t left = (uint32_t)tablet->rows - row;
        uint32_t count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        tablet_values_of(tablet, key, row, count, block);
        for (uint32_t i = 0; i < count; i++)
            find_key(fetch, wide ? block[i] : ((const int32_t *)block)[i],
                     row + i);
    }
}

/* Finds the wanted rows of a tablet, `most` at most. */
static void find_rows(struct fetch_stream *fetch, const struct tablet_ref *ref,
                      const struct tablet *tablet, uint64_t most)
{
    const struct tablet_column *keys;

    fetch->found_count = 0;
    if (fetch->table->key == NO_KEY) {
        find_numbered(fetch, (int64_t)ref->row_first, ref->rows);
        return;
    }
    keys = tablet_column(tablet, fetch->table->key);
    if (keys->encoding == ENCODING_SEQUENCE)
        find_numbered(fetch, keys->base, ref->rows);
    else
        find_keys(fetch, tablet, most);
}

/* -------------------------------------------------------------- tablets -- */

/* The wanted rows of a tablet that lies in the host's memory. */
static enum vdbq_status read_tablet(struct fetch_stream *fetch,
                                    const struct tablet_ref *ref, uint64_t most,
                                    struct pool_slot *slot, struct error *error)
{
    enum vdbq_status status =
        device_memory_take(slot->memory, &fetch->times, error);
    const struct tablet *tablet = device_memory_host(slot->memory);

    if (status != VDBQ_OK)
        return status;
    assert(tablet != NULL); /* texts are wanted, which never stay in the file */
    find_rows(fetch, ref, tablet, most);
    return picked_read(&fetch->fetched,
                       &(struct picked_from){ ref, tablet, NULL }, fetch->found,
                       fetch->found_count, error);
}

/* A text of the table: without one, nothing is fetched from it. */
static unsigned text_of(const struct table *table)
{
    unsigned column = 0;

    while (column + 1 < table->column_count
           && table->columns[column].type != VDBQ_TEXT)
        column++;
    return column;
}

/* Brings the columns of a tablet in; with a text among them, they do not stay
 * in the file. */
static enum vdbq_status pin_tablet(struct fetch_stream *fetch,
                                   const struct tablet_ref *ref,
                                   struct pool_slot **slot, struct error *error)
{
    unsigned columns[COLUMNS_MAX + 2];
    struct pool_want want = { .table = fetch->table,
                              .tablet = ref,
                              .columns = columns };
    uint64_t before = pool_load_ns(fetch->place.pool);
    enum vdbq_status status;

    for (unsigned i = 0; i < fetch->fetched.rows.column_count; i++)
        columns[want.column_count++] = column_of(fetch, i);
    if (fetch->table->key != NO_KEY)
        columns[want.column_count++] = fetch->table->key;
    if (pool_maps(fetch->place.pool))
        columns[want.column_count++] = text_of(fetch->table);
    status = pool_pin(fetch->place.pool, &want, slot, error);
    fetch->load_ns += pool_load_ns(fetch->place.pool) - before;
    return status;
}

/* Finds the wanted rows of a tablet whose head is there, by its keys where these do
 * not tell it alone. */
static enum vdbq_status find_first(struct fetch_stream *fetch,
                                   const struct tablet_ref *ref, uint64_t most,
                                   const struct tablet *head,
                                   struct error *error)
{
    unsigned key = fetch->table->key;
    const struct pool_want want = { .table = fetch->table,
                                    .tablet = ref,
                                    .columns = &key,
                                    .column_count = 1,
                                    .copied = true };
    struct pool_slot *slot;
    enum vdbq_status status;

    if (key == NO_KEY
        || tablet_column(head, key)->encoding == ENCODING_SEQUENCE) {
        find_rows(fetch, ref, head, most);
        return VDBQ_OK;
    }
    status = pool_pin(fetch->place.pool, &want, &slot, error);
    if (status != VDBQ_OK)
        return status;
    status = device_memory_take(slot->memory, &fetch->times, error);
    if (status == VDBQ_OK)
        find_rows(fetch, ref, device_memory_host(slot->memory), most);
    pool_release(fetch->place.pool, slot);
    return status;
}

/* Brings in the rows that were found. */
static enum vdbq_status bring_found(const struct fetch_stream *fetch,
                                    struct few_rows *few, struct error *error)
{
    uint64_t count = fetch->found_count;
    uint32_t *rows = memory_resize(NULL, (count + 1) * sizeof *rows);
    enum vdbq_status status = rows != NULL ? VDBQ_OK : error_no_memory(error);

    for (uint64_t i = 0; rows != NULL && i < count; i++)
        rows[i] = fetch->found[i].row;
    if (status == VDBQ_OK)
        status = few_rows_bring(few, rows, count, error);
    memory_release(rows);
    return status;
}

/* Reads what is wanted of a tablet alone, where that is few rows. `*done`: so it
 * was. */
static enum vdbq_status read_few(struct fetch_stream *fetch,
                                 const struct tablet_ref *ref, uint64_t most,
                                 struct few_rows *few, bool *done,
                                 struct error *error)
{
    unsigned columns[COLUMNS_MAX];
    const struct pool_want want = { .table = fetch->table,
                                    .tablet = ref,
                                    .columns = columns,
                                    .column_count =
                                        fetch->fetched.rows.column_count };
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < want.column_count; i++)
        columns[i] = column_of(fetch, i);
    if (!few_rows_pay(fetch->place.pool, &want, most))
        return VDBQ_OK;
    status = few_rows_open(few, fetch->place.pool, &want, error);
    if (status != VDBQ_OK || few->tablet == NULL)
        return status;
    *done = true;
    status = find_first(fetch, ref, most, few->tablet, error);
    if (status == VDBQ_OK)
        status = bring_found(fetch, few, error);
    return status == VDBQ_OK
               ? picked_read(&fetch->fetched,
                             &(struct picked_from){ ref, few->tablet, NULL },
                             fetch->found, fetch->found_count, error)
               : status;
}

/* Reads the wanted rows of a tablet, which has `most` of them at most. */
static enum vdbq_status read_one(struct fetch_stream *fetch,
                                 const struct tablet_ref *ref, uint64_t most,
                                 struct error *error)
{
    struct few_rows few = { .tablet = NULL };
    struct pool_slot *slot;
    uint64_t start = os_time_ns();
    bool done = false;
    enum vdbq_status status = read_few(fetch, ref, most, &few, &done, error);

    few_rows_finish(&few);
    if (done)
        fetch->load_ns += os_time_ns() - start;
    if (status != VDBQ_OK || done)
        return status;
    status = pin_tablet(fetch, ref, &slot, error);
    if (status != VDBQ_OK)
        return status;
    status = read_tablet(fetch, ref, most, slot, error);
    pool_release(fetch->place.pool, slot);
    return status;
}

/* Fetches from all tablets that can have wanted rows. */
static enum vdbq_status read_tablets(struct fetch_stream *fetch,
                                     struct error *error)
{
    const struct table *table = fetch->table;
    uint64_t left = fetch->wanted_count;
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < table->tablet_count && left > 0 && status == VDBQ_OK;
         i++) {
        const struct tablet_ref *ref = &table->tablets[i];
        int64_t low, high;
        uint64_t most;
        ids_of(fetch, ref, &low, &high);
        most = high == INT64_MAX ? fetch->wanted_count
                                 : first_from(fetch, high + 1);
        most -= first_from(fetch, low);
        if (most == 0)
            continue;
        status = read_one(fetch, ref, most, error);
        left -= fetch->found_count;
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}

/* ----------------------------------------------------------------- open -- */

/* Room for the columns of all rows, of which each may be NULL. */
static enum vdbq_status make_room(struct fetch_stream *fetch,
                                  struct error *error)
{
    const struct step *step = fetch->head.step;
    enum vdbq_status status =
        picked_init(&fetch->fetched, fetch->table, &step_of(fetch)->columns,
                    step->columns + fetch->before, error);

    if (status == VDBQ_OK)
        status = picked_room(&fetch->fetched, fetch->input.row_set.rows, error);
    for (unsigned i = 0;
         i < fetch->fetched.rows.column_count && status == VDBQ_OK; i++)
        status = row_set_flags(&fetch->fetched.rows, i, error);
    return status;
}

/* Frees what only opening needs. */
static void finish_reading(struct fetch_stream *fetch)
{
    memory_release(fetch->wanted);
    memory_release(fetch->found);
    fetch->wanted = NULL;
    fetch->found = NULL;
}

/* Reads what the input's rows name. */
static enum vdbq_status read_rows(struct fetch_stream *fetch,
                                  struct error *error)
{
    const struct stream_params *params = fetch->head.params;
    enum vdbq_status status = make_room(fetch, error);

    if (status == VDBQ_OK)
        status = params->choose(params->choose_context, fetch->table, NULL,
                                fetch->table->rows, &fetch->place, error);
    if (status == VDBQ_OK)
        status = list_wanted(fetch, error);
    if (status != VDBQ_OK)
        return status;
    fill_filter(fetch);
    status = read_tablets(fetch, error);
    return status == VDBQ_OK
               ? picked_end(&fetch->fetched, fetch->input.row_set.rows,
                            fetch->head.texts + fetch->before,
                            stream_threads(fetch->head.params), error)
               : status;
}

static enum vdbq_status fetch_open(struct stream *stream, struct error *error)
{
    struct fetch_stream *fetch = (struct fetch_stream *)stream;
    enum vdbq_status status;

    fetch->before = stream->inputs[0]->step->column_count;
    fetch->table = catalogue_table_id(stream->params->snapshot->catalogue,
                                      step_of(fetch)->table);
    assert(fetch->table
           != NULL); /* a catalogue that changed has it replanned */
    fetch->vectors =
        memory_zeroed(stream->step->column_count, sizeof *fetch->vectors);
    if (fetch->vectors == NULL)
        return error_no_memory(error);
    status = stream_materialise_some(stream, &fetch->input.row_set, error);
    if (status != VDBQ_OK)
        return status;
    stream_close_input(stream, 0);
    stream->rows_most = fetch->input.row_set.rows;
    status = rescan_begin(&fetch->input, error);
    if (status == VDBQ_OK)
        status = read_rows(fetch, error);
    finish_reading(fetch);
    return status;
}

static void fetch_close(struct stream *stream)
{
    struct fetch_stream *fetch = (struct fetch_stream *)stream;

    finish_reading(fetch);
    rescan_finish(&fetch->input);
    picked_finish(&fetch->fetched);
    memory_release(fetch->vectors);
}

/* ----------------------------------------------------------------- rows -- */

static enum vdbq_status fetch_batch(struct stream *stream,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    struct fetch_stream *fetch = (struct fetch_stream *)stream;

    (void)error;
    rescan_batch(&fetch->input, batch);
    if (batch->rows == 0)
        return VDBQ_OK;
    memcpy(fetch->vectors, batch->column,
           fetch->before * sizeof *fetch->vectors);
    row_set_vectors(&fetch->fetched.rows, fetch->given,
                    fetch->vectors + fetch->before);
    fetch->given += batch->rows;
    batch->columns = stream->step->column_count;
    batch->column = fetch->vectors;
    return VDBQ_OK;
}

static struct dictionary *fetch_dictionary(const struct stream *stream,
                                           unsigned column)
{
    const struct fetch_stream *fetch = (const struct fetch_stream *)stream;
    const struct row_set *input = &fetch->input.row_set;

    return column < fetch->before
               ? input->columns[column].dictionary
               : fetch->fetched.rows.columns[column - fetch->before].dictionary;
}

static void fetch_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    stats->load_ns += ((const struct fetch_stream *)stream)->load_ns;
}

const struct stream_kind fetch_stream = {
    .size = sizeof(struct fetch_stream),
    .calls = { .batch = fetch_batch,
               .dictionary = fetch_dictionary,
               .stats = fetch_stats,
               .close = fetch_close },
    .open = fetch_open,
};
