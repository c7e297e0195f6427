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
#include "exec/rows/reorder.h"
#include "exec/window/window_inner.h"
enum {
    PARTITIONS = HOSTILE(4, 64),   /* of a column's values ...             */
    NULLS = PARTITIONS,            /* ... and that of those that are NULL  */
    SAMPLES = HOSTILE(8, 1 << 12), /* values that choose their ranges      */
    BIN_BITS = HOSTILE(2, 12),     /* a range is counted in as many bins   */
    BLOCKS_PART = 4,  /* of the memory: blocks of partitions of all columns */
    ROWS_PART = 16,   /* ... rows that wait to be given out                 */
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
    struct spill spill;          /* has the values                       */
    struct spill_parts adding;   /* ... adds them                        */
};

struct window_select {
    struct window_select_params params;
    bool begun;            /* there were rows                      */
    struct reorder rows;   /* all, or the first one                */
    struct row_set view;   /* ... of a batch                       */
    struct row_set values; /* what all of them get: as many rows as a batch
                                     has at most, all alike               */
    struct vdbq_vector *vectors;  /* of a batch that is given out         */
    struct selection *selections; /* of different columns                 */
    unsigned count;               /* ... how many                         */
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
    return step->functions.count > 0;
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
                                    .partitions = PARTITIONS + 1,
                                    .block_bytes = room / PARTITIONS },
            error);
        if (status == VDBQ_OK)
            status = spill_parts_init(&selection->adding, &selection->spill,
                                      params->threads, error);
    }
    return status;
}

/* Makes what has the rows that are given out, as they come. */
static enum vdbq_status make_rows(struct window_select *select,
                                  struct error *error)
{
    const struct window_select_params *params = &select->params;
    enum vdbq_status status = row_set_init(&select->view, params->columns,
                                           params->column_count, error);
    return status == VDBQ_OK
               ? reorder_init(&select->rows,
                              &(struct reorder_params){
                                  .files = params->files,
                                  .columns = params->columns,
                                  .column_count = params->column_count,
                                  .reads = params->reads,
                                  .any_order = true,
                                  .threads = params->threads,
                                  .room_bytes = params->room_bytes / ROWS_PART,
                                  .memory = params->memory },
                              error)
               : status;
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
    enum vdbq_status status = make_rows(made, error);
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
    for (unsigned i = 0; i < select->count; i++) {
        spill_parts_finish(&select->selections[i].adding);
        spill_finish(&select->selections[i].spill);
    }
    reorder_finish(&select->rows);
    row_set_view_finish(&select->view);
    row_set_finish(&select->values);
    memory_release(select->vectors);
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

/* Values on their way to the partitions of a selection. */
struct parting {
    const struct selection *selection;
    const struct row_set_column *values;
};

/* Finds the partitions of values of a type. */
static inline void part_values(const struct parting *parting, int type,
                               uint64_t first, uint64_t count, uint16_t *parts)
{
    const struct row_set_column *column = parting->values;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t code =
            code_at(parting->selection, type, column->values, first + i);
        parts[i] = (uint16_t)(row_set_is_null(column, first + i)
                                  ? NULLS
                                  : part_of(parting->selection, code));
    }
}

/* For spill_parts: the same, whatever the type. */
static void find_parts(const void *context, uint64_t first, uint64_t count,
                       uint16_t *parts)
{
    const struct parting *parting = context;
    switch (parting->selection->type) {
    case TYPE_I32:
        part_values(parting, TYPE_I32, first, count, parts);
        return;
    case TYPE_I64:
        part_values(parting, TYPE_I64, first, count, parts);
        return;
    case TYPE_F32:
        part_values(parting, TYPE_F32, first, count, parts);
        return;
    default:
        assert(parting->selection->type == TYPE_F64);
        part_values(parting, TYPE_F64, first, count, parts);
    }
}

/* Puts the values of a batch's column into their partitions. */
static enum vdbq_status add_column(const struct selection *selection,
                                   const struct vdbq_batch *batch,
                                   struct error *error)
{
    const struct vdbq_vector *from = &batch->column[selection->key.column];
    struct row_set_column column = { .type = selection->column.type,
                                     .width =
                                         row_set_width(selection->column.type),
                                     .values = (void *)(uintptr_t)from->values,
                                     .nulls = (void *)(uintptr_t)from->nulls };
    const struct row_set values = { .rows = batch->rows,
                                    .column_count = 1,
                                    .columns = &column };
    const struct parting parting = { selection, &column };
    return spill_parts_add(&selection->adding,
                           &(struct spill_slice){ .from = &values,
                                                  .find = find_parts,
                                                  .context = &parting },
                           error);
}

/* Keeps the rows of a batch that are given out. */
static enum vdbq_status keep_rows(struct window_select *select,
                                  const struct vdbq_batch *batch,
                                  struct error *error)
{
    bool firsts = select->params.step->firsts;
    if (firsts && select->begun)
        return VDBQ_OK;
    row_set_view(&select->view, batch, 0, firsts ? 1 : batch->rows);
    return reorder_add(&select->rows, &select->view, NULL, error);
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
            status = add_column(&select->selections[i], batch, error);
    }
    if (status == VDBQ_OK)
        status = keep_rows(select, batch, error);
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

/* How many values are not NULL. */
static uint64_t count_values(const struct selection *selection)
{
    uint64_t count = 0;
    for (unsigned p = 0; p < NULLS; p++)
        count += spill_rows(&selection->spill, p);
    return count;
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
    assert(at < count_values(selection));
    struct place place = find_partition(selection, at);
    enum vdbq_status status = narrow_all(&place, most > 0 ? most : 1, error);
    return status == VDBQ_OK ? choose(&place, bits, error) : status;
}

/* ------------------------------------------------------------------ end -- */

/* Writes a value to all rows of a column. */
static void put_value(const struct row_set_column *column, uint64_t rows,
                      uint64_t bits)
{
    for (uint64_t i = 0; i < rows; i++)
        if (column->width == sizeof(uint32_t))
            ((uint32_t *)column->values)[i] = (uint32_t)bits;
        else
            ((uint64_t *)column->values)[i] = bits;
}

/* Computes a function: what all rows get. */
static enum vdbq_status compute(struct window_select *select, unsigned number,
                                struct error *error)
{
    struct row_set *values = &select->values;
    const struct step_window_function *function =
        vector_at(&select->params.step->functions, number);
    const struct selection *selection = selection_of(select, function);
    uint64_t bits = 0, count = count_values(selection);
    enum vdbq_status status = VDBQ_OK;
    if (count == 0) {
        status = row_set_flags(values, number, error);
        if (status == VDBQ_OK)
            memset(values->columns[number].nulls, 1, values->rows);
    } else if (function->function == WINDOW_QUANTILE_PART) {
        double part = window_quantile_part(function, (double)count);
        memcpy(&bits, &part, sizeof bits);
    } else {
        status = select_value(select, selection,
                              window_quantile_place(function, (double)count),
                              &bits, error);
    }
    if (status == VDBQ_OK)
        put_value(&values->columns[number], values->rows, bits);
    return status;
}

/* Makes room for what the rows get. */
static enum vdbq_status make_values(struct window_select *select,
                                    struct error *error)
{
    const struct window_select_params *params = &select->params;
    unsigned count = (unsigned)params->step->functions.count;
    uint64_t rows = select->rows.spill.block_rows;
    rows = rows < select->rows.rows ? rows : select->rows.rows;
    enum vdbq_status status = row_set_init(
        &select->values, params->columns + params->column_count, count, error);
    if (status == VDBQ_OK)
        status = row_set_room(&select->values, rows, error);
    select->values.rows = rows;
    select->vectors =
        memory_zeroed(params->column_count + count, sizeof *select->vectors);
    return status == VDBQ_OK && select->vectors == NULL ? error_no_memory(error)
                                                        : status;
}

/* No values come any more. */
static enum vdbq_status end_values(struct window_select *select,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < select->count && status == VDBQ_OK; i++) {
        spill_parts_finish(&select->selections[i].adding);
        status = spill_end(&select->selections[i].spill, error);
    }
    return status;
}

enum vdbq_status window_select_end(struct window_select *select,
                                   struct error *error)
{
    enum vdbq_status status = end_values(select, error);
    assert(select->begun);
    if (status == VDBQ_OK)
        status = reorder_end(&select->rows, error);
    if (status == VDBQ_OK)
        status = make_values(select, error);
    for (unsigned i = 0; i < select->values.column_count && status == VDBQ_OK;
         i++)
        status = compute(select, i, error);
    return status == VDBQ_OK ? stop_pause(error) : status;
}

uint64_t window_select_rows(const struct window_select *select)
{
    return select->rows.rows;
}

enum vdbq_status window_select_batch(struct window_select *select,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    unsigned count = select->params.column_count;
    enum vdbq_status status = reorder_batch(&select->rows, batch, error);
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    assert(batch->rows <= select->values.rows);
    memcpy(select->vectors, batch->column, count * sizeof *select->vectors);
    row_set_vectors(&select->values, 0, select->vectors + count);
    batch->columns = count + select->values.column_count;
    batch->column = select->vectors;
    return VDBQ_OK;
}
