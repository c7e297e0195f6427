/* SPDX-License-Identifier: MIT */
/*
 * Selecting places: see window_select.h. Values of a partition keep the order of
 * their rows, so that of equal ones (-0.0 and 0.0) the same is found as by a
 * stable sort. A partition that is too large, since the first rows told little
 * of the others or many are alike, is read several times: each time the range
 * of codes in which the place lies becomes narrower.
 */
#include "exec/window/window_select.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/stop.h"
#include "exec/rows/order.h"
#include "exec/rows/spill.h"
#include "exec/window/window_inner.h"

enum {
    PARTITIONS = HOSTILE(4, 64),   /* of a column's values                 */
    SAMPLES = HOSTILE(8, 1 << 12), /* values that choose their ranges      */
    PIECE_ROWS = 1 << 12,          /* that are parted at once              */
    BIN_BITS = HOSTILE(2, 12),     /* a range is counted in as many bins   */
    BLOCKS_PART = 4,  /* of the memory: blocks of partitions of all columns */
    CHOSEN_PART = 4,  /* ... values among which a place is found            */
    CHOSEN_BYTES = 24 /* of such a value beside itself, while it is sorted */
};

/* A column, and its order. */
struct selection {
    struct step_key key;
    struct step_column column;   /* of the input: that of the spill      */
    int type;                    /* TYPE_... of its values               */
    uint64_t behind[PARTITIONS]; /* codes from these on are further back;
                                      of the last one nothing is asked     */
    uint64_t values;             /* that are not NULL                    */
    struct spill spill;          /* has these                            */
};

struct window_select {
    struct window_select_params params;
    bool begun;                   /* there were rows                      */
    struct row_set first;         /* the first one                        */
    struct selection *selections; /* of different columns                 */
    unsigned count;               /* ... how many                         */
    uint8_t parts[PIECE_ROWS];    /* of a piece's values: partitions      */
    uint32_t list[PIECE_ROWS];    /* ... their rows, by partitions        */
};

/* ---------------------------------------------------------------- can -- */

bool window_select_takes(const struct step_window_function *function)
{
    const struct step_key *key = function->order.items;
    return window_is_quantile(function->function) && function->order.count == 1
           && key->column == function->aggregate.column && key->nulls_last;
}

bool window_select_can(const struct step_window *step)
{
    for (size_t i = 0; i < step->functions.count; i++) {
        const struct step_window_function *function =
            vector_at(&step->functions, i);
        if (function->partition.count > 0 || !window_select_takes(function))
            return false;
    }
    return step->firsts && step->functions.count > 0;
}

/* ----------------------------------------------------- create, destroy -- */

/* What a function selects from; NULL: nothing yet. */
static struct selection *
selection_of(const struct window_select *select,
             const struct step_window_function *function)
{
    const struct step_key *key = function->order.items;
    for (unsigned i = 0; i < select->count; i++)
        if (select->selections[i].key.column == key->column
            && select->selections[i].key.descending == key->descending)
            return &select->selections[i];
    return NULL;
}

/* Notes which columns are asked for. */
static void list_selections(struct window_select *select)
{
    const struct vector *functions = &select->params.step->functions;
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_window_function *function = vector_at(functions, i);
        const struct step_key *key = function->order.items;
        if (selection_of(select, function) != NULL)
            continue;
        const struct step_column *column = &select->params.columns[key->column];
        select->selections[select->count++] = (struct selection){
            .key = *key, .column = *column, .type = sort_type(column->type)
        };
    }
}

/* Makes the file of each. */
static enum vdbq_status make_spills(struct window_select *select,
                                    struct error *error)
{
    const struct window_select_params *params = &select->params;
    uint64_t room = params->room_bytes / BLOCKS_PART / select->count;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < select->count && status == VDBQ_OK; i++) {
        struct selection *selection = &select->selections[i];
        status = spill_init(
            &selection->spill,
            &(struct spill_params){ .files = params->files,
                                    .memory = params->memory,
                                    .columns = &selection->column,
                                    .column_count = 1,
                                    .plain = true,
                                    .partitions = PARTITIONS,
                                    .block_bytes = room / PARTITIONS },
            error);
    }
    return status;
}

enum vdbq_status window_select_create(const struct window_select_params *params,
                                      struct window_select **select,
                                      struct error *error)
{
    struct window_select *made = memory_zeroed(1, sizeof *made);
    *select = NULL;
    if (made == NULL)
        return error_no_memory(error);
    assert(window_select_can(params->step));
    made->params = *params;
    made->selections =
        memory_zeroed(params->step->functions.count, sizeof *made->selections);
    enum vdbq_status status = row_set_init(&made->first, params->columns,
                                           params->column_count, error);
    if (status == VDBQ_OK && made->selections == NULL)
        status = error_no_memory(error);
    if (status == VDBQ_OK) {
        list_selections(made);
        status = make_spills(made, error);
    }
    if (status == VDBQ_OK)
        *select = made;
    else
        window_select_destroy(made);
    return status;
}

void window_select_destroy(struct window_select *select)
{
    if (select == NULL)
        return;
    for (unsigned i = 0; i < select->count; i++)
        spill_finish(&select->selections[i].spill);
    row_set_finish(&select->first);
    memory_release(select->selections);
    memory_release(select);
}

/* -------------------------------------------------------------- ranges -- */

/* The place of a value in the order: smaller goes first. */
static inline uint64_t code_at(const struct selection *selection, int type,
                               const void *values, uint64_t row)
{
    uint64_t code = order_at(type, values, row);
    return selection->key.descending ? ~code : code;
}

/* Codes of some values that lie far from one another; how many. */
static uint32_t take_sample(const struct selection *selection,
                            const struct vdbq_batch *batch, uint64_t *codes)
{
    const struct vdbq_vector *vector = &batch->column[selection->key.column];
    uint64_t step = batch->rows / SAMPLES + 1;
    uint32_t count = 0;
    for (uint64_t i = 0; i < batch->rows && count < SAMPLES; i += step)
        if (vector->nulls == NULL || vector->nulls[i] == 0)
            codes[count++] =
                code_at(selection, selection->type, vector->values, i);
    return count;
}

/* Chooses the ranges of partitions by a batch: as many of its values in each. */
static enum vdbq_status choose_ranges(struct selection *selection,
                                      const struct vdbq_batch *batch,
                                      struct error *error)
{
    uint64_t codes[SAMPLES];
    uint32_t order[SAMPLES];
    uint32_t count = take_sample(selection, batch, codes);
    for (uint32_t i = 0; i < count; i++) /* signed numbers of their order */
        codes[i] = (uint64_t)order_of_code(codes[i]);
    enum vdbq_status status =
        sort_order(&(struct sort_key){ .type = TYPE_I64, .values = codes }, 1,
                   count, 1, order, error);
    if (status != VDBQ_OK)
        return status;
    for (uint32_t p = 0; p < PARTITIONS; p++)
        selection->behind[p] =
            count > 0 ? order_code(
                (int64_t)
                    codes[order[(uint64_t)(p + 1) * (count - 1) / PARTITIONS]])
                      : UINT64_MAX;
    return VDBQ_OK;
}

/* ----------------------------------------------------------------- add -- */

/* The partition of a code: how many ranges lie before it. */
static inline unsigned part_of(const struct selection *selection, uint64_t code)
{
    _Static_assert((PARTITIONS & (PARTITIONS - 1)) == 0, "halves of halves");
    unsigned part = 0;
    for (unsigned half = PARTITIONS / 2; half > 0; half /= 2)
        part += selection->behind[part + half - 1] <= code ? half : 0;
    return part;
}

/* Finds the partitions of values of a type, but those that are NULL; counts them. */
static inline void part_values(const struct selection *selection, int type,
                               const struct vdbq_vector *vector, uint32_t count,
                               uint8_t *parts, uint32_t *counts)
{
    for (uint32_t i = 0; i < count; i++) {
        bool null = vector->nulls != NULL && vector->nulls[i] != 0;
        uint64_t code = code_at(selection, type, vector->values, i);
        unsigned part = null ? PARTITIONS : part_of(selection, code);
        parts[i] = (uint8_t)part;
        counts[part]++;
    }
}

/* The same, whatever the type. */
static void part_piece(const struct selection *selection,
                       const struct vdbq_vector *vector, uint32_t count,
                       uint8_t *parts, uint32_t *counts)
{
    switch (selection->type) {
    case TYPE_I32:
        part_values(selection, TYPE_I32, vector, count, parts, counts);
        return;
    case TYPE_I64:
        part_values(selection, TYPE_I64, vector, count, parts, counts);
        return;
    case TYPE_F32:
        part_values(selection, TYPE_F32, vector, count, parts, counts);
        return;
    default:
        assert(selection->type == TYPE_F64);
        part_values(selection, TYPE_F64, vector, count, parts, counts);
    }
}

/* Lists rows by their partitions; `ends`: how many each has, then where those of
 * each end. */
static void list_rows(const uint8_t *parts, uint32_t count, uint32_t *ends,
                      uint32_t *list)
{
    uint32_t before = 0;
    for (unsigned p = 0; p <= PARTITIONS; p++) {
        uint32_t some = ends[p];
        ends[p] = before;
        before += some;
    }
    for (uint32_t i = 0; i < count; i++)
        list[ends[parts[i]]++] = i;
}

/* Puts the values of a piece into their partitions. */
static enum vdbq_status add_piece(struct window_select *select,
                                  struct selection *selection,
                                  const struct vdbq_vector *vector,
                                  uint32_t count, struct error *error)
{
    uint32_t ends[PARTITIONS + 1] = { 0 }, begin = 0;
    struct row_set_column column = { .type = selection->column.type,
                                     .width = row_set_width(vector->type),
                                     .values =
                                         (void *)(uintptr_t)vector->values };
    const struct row_set rows = { .rows = count,
                                  .column_count = 1,
                                  .columns = &column };
    enum vdbq_status status = VDBQ_OK;
    part_piece(selection, vector, count, select->parts, ends);
    list_rows(select->parts, count, ends, select->list);
    for (unsigned p = 0; p < PARTITIONS && status == VDBQ_OK; p++) {
        status = spill_add(&selection->spill, p,
                           &(struct spill_rows){ .from = &rows,
                                                 .rows = select->list + begin,
                                                 .count = ends[p] - begin },
                           error);
        begin = ends[p];
    }
    selection->values += begin;
    return status;
}

/* The same of a batch's column. */
static enum vdbq_status add_column(struct window_select *select,
                                   struct selection *selection,
                                   const struct vdbq_batch *batch,
                                   struct error *error)
{
    const struct vdbq_vector *from = &batch->column[selection->key.column];
    unsigned width = row_set_width(selection->column.type);
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t at = 0, rows; at < batch->rows && status == VDBQ_OK;
         at += rows) {
        struct vdbq_vector piece = {
            .type = selection->column.type,
            .values = (const char *)from->values + at * width,
            .nulls = from->nulls != NULL ? from->nulls + at : NULL
        };
        rows = batch->rows - at;
        rows = rows < PIECE_ROWS ? rows : PIECE_ROWS;
        status = add_piece(select, selection, &piece, (uint32_t)rows, error);
    }
    return status;
}

enum vdbq_status window_select_add(struct window_select *select,
                                   const struct vdbq_batch *batch,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (batch->rows == 0)
        return VDBQ_OK;
    for (unsigned i = 0; i < select->count && status == VDBQ_OK; i++) {
        if (!select->begun)
            status = choose_ranges(&select->selections[i], batch, error);
        if (status == VDBQ_OK)
            status = add_column(select, &select->selections[i], batch, error);
    }
    if (!select->begun && status == VDBQ_OK)
        status = row_set_append_part(&select->first, batch, 0, 1, error);
    select->begun = true;
    return status;
}

/* -------------------------------------------------------------- a place -- */

/* A value that is looked for: among those of a partition whose codes are in a
 * range, by its place among these. */
struct place {
    const struct selection *selection;
    unsigned partition;
    uint64_t low, high; /* codes, both in the range                    */
    uint64_t at;        /* from 0                                      */
    uint64_t count;     /* values in the range                         */
};

/* What is done with a block of a partition's values. */
typedef enum vdbq_status (*take_block)(const struct place *place,
                                       const struct vdbq_batch *batch,
                                       void *context, struct error *error);

/* Reads the partition, block by block. */
static enum vdbq_status read_partition(const struct place *place,
                                       take_block take, void *context,
                                       struct error *error)
{
    const struct spill *spill = &place->selection->spill;
    const struct spill_range all = { .spill = spill,
                                     .partition = place->partition,
                                     .rows =
                                         spill_rows(spill, place->partition) };
    struct spill_reader reader;
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = spill_reader_init(&reader, &all, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = spill_read(&reader, &batch, error);
        if (status == VDBQ_OK && batch.rows > 0)
            status = take(place, &batch, context, error);
    }
    spill_reader_finish(&reader);
    return status;
}

/* The code of a value of a block. */
static uint64_t block_code(const struct place *place,
                           const struct vdbq_batch *batch, uint64_t row)
{
    return code_at(place->selection, place->selection->type,
                   batch->column[0].values, row);
}

/* A range in bins of as many codes. */
struct bins {
    unsigned shift; /* a bin is 1 << shift codes */
    uint64_t counts[1 << BIN_BITS];
};

/* take_block: counts the values of the range by bins. */
static enum vdbq_status count_block(const struct place *place,
                                    const struct vdbq_batch *batch,
                                    void *context, struct error *error)
{
    struct bins *bins = context;
    (void)error;
    for (uint64_t i = 0; i < batch->rows; i++) {
        uint64_t code = block_code(place, batch, i);
        if (code >= place->low && code <= place->high)
            bins->counts[(code - place->low) >> bins->shift]++;
    }
    return VDBQ_OK;
}

/* take_block: finds the least and the greatest code. */
static enum vdbq_status bound_block(const struct place *place,
                                    const struct vdbq_batch *batch,
                                    void *context, struct error *error)
{
    struct place *bounds = context;
    (void)error;
    for (uint64_t i = 0; i < batch->rows; i++) {
        uint64_t code = block_code(place, batch, i);
        bounds->low = code < bounds->low ? code : bounds->low;
        bounds->high = code > bounds->high ? code : bounds->high;
    }
    return VDBQ_OK;
}

/* Makes the range of the place narrower: one bin of it. */
static enum vdbq_status narrow(struct place *place, struct bins *bins,
                               struct error *error)
{
    unsigned bin = 0;
    *bins = (struct bins){ 0 };
    while ((place->high - place->low) >> bins->shift >> BIN_BITS != 0)
        bins->shift++;
    enum vdbq_status status = read_partition(place, count_block, bins, error);
    if (status != VDBQ_OK)
        return status;
    for (; bin + 1 < 1 << BIN_BITS && place->at >= bins->counts[bin]; bin++)
        place->at -= bins->counts[bin];
    assert(place->at < bins->counts[bin]);
    uint64_t width = (UINT64_C(1) << bins->shift) - 1;
    place->low += (uint64_t)bin << bins->shift;
    if (place->high - place->low > width)
        place->high = place->low + width;
    place->count = bins->counts[bin];
    return VDBQ_OK;
}

/* Values of the range, in the order of their rows. */
struct chosen {
    uint64_t *orders; /* of each */
    uint64_t *values; /* ... its bits */
    uint64_t count;   /* so far */
    uint64_t from,
        most;        /* of the range's values: those from here on, so many */
    uint64_t passed; /* values of the range that came so far */
};

/* The bits of a value. */
static uint64_t bits_at(const void *values, unsigned width, uint64_t row)
{
    return width == sizeof(uint32_t) ? ((const uint32_t *)values)[row]
                                     : ((const uint64_t *)values)[row];
}

/* take_block: chooses values. */
static enum vdbq_status choose_block(const struct place *place,
                                     const struct vdbq_batch *batch,
                                     void *context, struct error *error)
{
    struct chosen *chosen = context;
    unsigned width = row_set_width(place->selection->column.type);
    (void)error;
    for (uint64_t i = 0; i < batch->rows && chosen->count < chosen->most; i++) {
        uint64_t code = block_code(place, batch, i);
        if (code < place->low || code > place->high
            || chosen->passed++ < chosen->from)
            continue;
        chosen->orders[chosen->count] = (uint64_t)order_of_code(code);
        chosen->values[chosen->count++] =
            bits_at(batch->column[0].values, width, i);
    }
    return VDBQ_OK;
}

/* Finds the value among those of the range: where all are alike, the one at the
 * place as they come; else by sorting them. */
static enum vdbq_status choose(const struct place *place, uint64_t *bits,
                               struct error *error)
{
    bool alike = place->low == place->high;
    uint64_t count = alike ? 1 : place->count;
    struct chosen chosen = {
        .orders = memory_resize(NULL, count * sizeof *chosen.orders),
        .values = memory_resize(NULL, count * sizeof *chosen.values),
        .from = alike ? place->at : 0,
        .most = count
    };
    uint32_t *order = memory_resize(NULL, count * sizeof *order);
    const struct sort_key key = { .type = TYPE_I64, .values = chosen.orders };
    enum vdbq_status status = VDBQ_OK;
    if (chosen.orders == NULL || chosen.values == NULL || order == NULL)
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        status = read_partition(place, choose_block, &chosen, error);
    assert(status != VDBQ_OK || chosen.count == count);
    if (status == VDBQ_OK)
        status = sort_order(&key, 1, (uint32_t)count, 1, order, error);
    if (status == VDBQ_OK)
        *bits = chosen.values[order[alike ? 0 : place->at]];
    memory_release(chosen.orders);
    memory_release(chosen.values);
    memory_release(order);
    return status;
}

/* The partition that has a place. */
static struct place find_partition(const struct selection *selection,
                                   uint64_t at)
{
    struct place place = {
        .selection = selection, .low = 0, .high = UINT64_MAX, .at = at
    };
    while (place.at >= spill_rows(&selection->spill, place.partition))
        place.at -= spill_rows(&selection->spill, place.partition++);
    assert(place.partition < PARTITIONS);
    place.count = spill_rows(&selection->spill, place.partition);
    return place;
}

/* Narrows the range until its values fit into memory, or are alike. */
static enum vdbq_status narrow_all(struct place *place, uint64_t most,
                                   struct error *error)
{
    struct place bounds = { .low = UINT64_MAX };
    if (place->count <= most)
        return VDBQ_OK;
    struct bins *bins = memory_resize(NULL, sizeof *bins);
    if (bins == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        read_partition(place, bound_block, &bounds, error);
    place->low = bounds.low;
    place->high = bounds.high;
    while (status == VDBQ_OK && place->count > most && place->low < place->high)
        status = narrow(place, bins, error);
    memory_release(bins);
    return status;
}

/* Finds the value at a place, from 0, of the order; its bits. */
static enum vdbq_status select_value(const struct window_select *select,
                                     const struct selection *selection,
                                     uint64_t at, uint64_t *bits,
                                     struct error *error)
{
    uint64_t most = select->params.room_bytes / CHOSEN_PART
                    / (2 * sizeof *bits + CHOSEN_BYTES);
    assert(at < selection->values);
    struct place place = find_partition(selection, at);
    enum vdbq_status status = narrow_all(&place, most > 0 ? most : 1, error);
    return status == VDBQ_OK ? choose(&place, bits, error) : status;
}

/* ------------------------------------------------------------------ end -- */

/* Writes the only value of a result's column. */
static void put_value(struct row_set_column *result, uint64_t bits)
{
    if (result->width == sizeof(uint32_t))
        *(uint32_t *)result->values = (uint32_t)bits;
    else
        *(uint64_t *)result->values = bits;
}

/* Computes a function. */
static enum vdbq_status compute(const struct window_select *select,
                                unsigned number, struct row_set *results,
                                struct error *error)
{
    const struct step_window_function *function =
        vector_at(&select->params.step->functions, number);
    const struct selection *selection = selection_of(select, function);
    uint64_t bits = 0;
    enum vdbq_status status = VDBQ_OK;
    if (selection->values == 0) {
        status = row_set_flags(results, number, error);
        if (status == VDBQ_OK)
            results->columns[number].nulls[0] = 1;
    } else if (function->function == WINDOW_QUANTILE_PART) {
        double part = window_quantile_part(function, (double)selection->values);
        memcpy(&bits, &part, sizeof bits);
    } else {
        status = select_value(
            select, selection,
            window_quantile_place(function, (double)selection->values), &bits,
            error);
    }
    if (status == VDBQ_OK)
        put_value(&results->columns[number], bits);
    return status;
}

enum vdbq_status window_select_end(struct window_select *select,
                                   struct row_set *rows,
                                   struct row_set *results, struct error *error)
{
    unsigned columns = select->params.column_count;
    struct vdbq_vector *vectors =
        memory_zeroed(columns + (size_t)1, sizeof *vectors);
    struct vdbq_batch batch = { .rows = 1,
                                .columns = columns,
                                .column = vectors };
    enum vdbq_status status =
        vectors != NULL ? VDBQ_OK : error_no_memory(error);
    assert(select->begun && rows->rows == 0 && results->rows == 0);
    for (unsigned i = 0; i < select->count && status == VDBQ_OK; i++)
        status = spill_end(&select->selections[i].spill, error);
    if (status == VDBQ_OK) {
        row_set_vectors(&select->first, 0, vectors);
        status = row_set_append(rows, &batch, 1, error);
    }
    if (status == VDBQ_OK)
        status = row_set_room(results, 1, error);
    for (unsigned i = 0; i < results->column_count && status == VDBQ_OK; i++)
        status = compute(select, i, results, error);
    if (status == VDBQ_OK)
        status = stop_pause(error);
    if (status == VDBQ_OK)
        results->rows = 1;
    memory_release(vectors);
    return status;
}
