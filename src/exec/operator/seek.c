/* SPDX-License-Identifier: MIT */
/*
 * STEP_SEEK: rows of a table by values of their columns. Tablets whose facts say
 * that they have none are passed over. In the others the rows are found by the
 * tablet's run (data/index/run.h), if one is kept or it pays to make one, else
 * among all values; then the columns that are read are picked. All rows are
 * found when the step is opened.
 *
 * In a tablet that has an edit (data/catalogue/edit.h) rows are found in its
 * base, as long as the edit gives no key another value: runs and columns in
 * memory stay of use, whatever else changes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "data/index/run_block.h"
#include "data/index/run_cache.h"
#include "data/index/run_terms.h"
#include "data/tablet/dictionary_sort.h"
#include "exec/operator/picked.h"
#include "exec/rows/rescan.h"
#include "exec/stream/stream_inner.h"

_Static_assert((int)SEEK_KEYS_MAX == (int)RUN_COLUMNS_MAX, "keys of a run");

/* To look through all values for more than these takes longer than to make a
 * run. */
enum { LIST_FEW = 64 };

/* What a key is compared with: of a text the text, of numbers what they are
 * ordered by. */
struct constant {
    struct run_value value;
    struct vdbq_text text;
};

struct seek_stream {
    struct stream head;          /* first */
    const struct table *table;   /* that is looked through              */
    struct run_place place;      /* whose pool has its tablets          */
    struct picked picked;        /* the rows                            */
    uint64_t given;              /* rows that are out                   */
    struct vdbq_vector *vectors; /* of the batch                      */

    struct constant equals[RUN_COLUMNS_MAX], low, high;
    struct constant *list; /* in order, none twice; NULL: there is none       */
    uint32_t list_count;
    struct run_value *list_values; /* ... in the tablet at hand, found ones   */
    bool none;                     /* a parameter is NULL: there are no rows  */

    unsigned *columns;   /* of the table, to be brought in: those that are read,
                          and behind them keys                            */
    unsigned read_count; /* of those that are read                  */
    struct vector found; /* of uint32_t: rows of the tablet at hand */
    struct picked_row *moved;  /* ... and where they go                   */
    size_t moved_room;         /* of these                                */
    struct device_times times; /* of bringing tablets in                  */
    uint64_t load_ns;          /* likewise                                */
};

static const struct step_seek *step_of(const struct seek_stream *seek)
{
    return &seek->head.step->seek;
}

static bool is_text(const struct seek_stream *seek, unsigned key)
{
    return seek->table->columns[step_of(seek)->keys[key]].type == VDBQ_TEXT;
}

/* ------------------------------------------------------------ constants -- */

/* A number of a column's type, by what it is ordered. */
static struct run_value number_value(const struct seek_stream *seek,
                                     unsigned key, int64_t integer, double real)
{
    enum vdbq_type type = seek->table->columns[step_of(seek)->keys[key]].type;

    return type == VDBQ_FLOAT || type == VDBQ_DOUBLE
               ? run_value_real(real)
               : run_value_integer(integer);
}

static void take_value(struct seek_stream *seek, unsigned key,
                       const struct seek_value *value, struct constant *to)
{
    const struct parameter *parameter =
        value->parameter >= 0 ? &seek->head.params->parameters[value->parameter]
                              : NULL;

    if (parameter != NULL && parameter->null) {
        seek->none = true;
        return;
    }
    to->text = parameter != NULL ? parameter->text : value->text;
    if (!is_text(seek, key))
        to->value = number_value(
            seek, key, parameter != NULL ? parameter->integer : value->integer,
            parameter != NULL ? parameter->real : value->real);
}

static int compare_values(const void *a, const void *b)
{
    const struct constant *x = a, *y = b;

    return (x->value.value > y->value.value)
           - (x->value.value < y->value.value);
}

static int compare_texts(const void *a, const void *b)
{
    return text_compare(((const struct constant *)a)->text,
                        ((const struct constant *)b)->text);
}

/* A constant of the list; false: it is NULL, or no number. */
static bool take_item(const struct seek_stream *seek, unsigned key, uint64_t i,
                      struct constant *to)
{
    const struct vdbq_vector *list = step_of(seek)->list;
    int64_t integer = 0;
    double real = 0;

    if (list->nulls != NULL && list->nulls[i] != 0)
        return false;
    if (list->type == VDBQ_TEXT) {
        to->text = ((const struct vdbq_text *)list->values)[i];
        return true;
    }
    switch (step_machine_type(list->type)) {
    case TYPE_I32:
        integer = ((const int32_t *)list->values)[i];
        break;
    case TYPE_I64:
        integer = ((const int64_t *)list->values)[i];
        break;
    case TYPE_F32:
        real = (double)((const float *)list->values)[i];
        break;
    default:
        real = ((const double *)list->values)[i];
        break;
    }
    to->value = number_value(seek, key, integer, real);
    return real == real;
}

/* The list in order, each of it once. */
static enum vdbq_status take_list(struct seek_stream *seek, struct error *error)
{
    const struct step_seek *step = step_of(seek);
    unsigned key = step->equal_count;
    int (*compare)(const void *, const void *) =
        is_text(seek, key) ? compare_texts : compare_values;
    uint32_t count = 0, kept = 0;

    seek->list = memory_zeroed(step->list_count + 1, sizeof *seek->list);
    seek->list_values =
        memory_zeroed(step->list_count + 1, sizeof *seek->list_values);
    if (seek->list == NULL || seek->list_values == NULL)
        return error_no_memory(error);
    for (uint64_t i = 0; i < step->list_count; i++)
        count += take_item(seek, key, i, &seek->list[count]);
    qsort(seek->list, count, sizeof *seek->list, compare);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || compare(&seek->list[kept - 1], &seek->list[i]) != 0)
            seek->list[kept++] = seek->list[i];
    seek->list_count = kept;
    seek->none |= kept == 0;
    return VDBQ_OK;
}

/* What is looked for. */
static enum vdbq_status take_constants(struct seek_stream *seek,
                                       struct error *error)
{
    const struct step_seek *step = step_of(seek);

    for (unsigned i = 0; i < step->equal_count; i++)
        take_value(seek, i, &step->equals[i], &seek->equals[i]);
    if (step->low.there)
        take_value(seek, step->equal_count, &step->low.value, &seek->low);
    if (step->high.there)
        take_value(seek, step->equal_count, &step->high.value, &seek->high);
    return step->list != NULL ? take_list(seek, error) : VDBQ_OK;
}

/* ---------------------------------------------------------------- facts -- */

/* Whether a tablet has no value of a key from `low` to `high`; NULL: there is
 * no bound. */
static bool lacks(const struct seek_stream *seek, const struct tablet_ref *ref,
                  unsigned key, const struct constant *low,
                  const struct constant *high)
{
    const struct column_facts *facts = &ref->facts[step_of(seek)->keys[key]];
    struct run_value least, most;

    if (facts->empty)
        return true;
    if (is_text(seek, key))
        return false;
    least = number_value(seek, key, facts->minimum, facts->minimum_real);
    most = number_value(seek, key, facts->maximum, facts->maximum_real);
    return (low != NULL && low->value.value > most.value)
           || (high != NULL && high->value.value < least.value);
}

/* Whether no row of a tablet is looked for, by what is known of it. */
static bool is_passed(const struct seek_stream *seek,
                      const struct tablet_ref *ref)
{
    const struct step_seek *step = step_of(seek);
    unsigned last = step->equal_count;

    for (unsigned i = 0; i < last; i++)
        if (lacks(seek, ref, i, &seek->equals[i], &seek->equals[i]))
            return true;
    if (seek->list != NULL)
        return lacks(seek, ref, last, &seek->list[0],
                     &seek->list[seek->list_count - 1]);
    if (!step->low.there && !step->high.there)
        return false;
    return lacks(seek, ref, last, step->low.there ? &seek->low : NULL,
                 step->high.there ? &seek->high : NULL);
}

/* ---------------------------------------------------------------- terms -- */

/* What is looked for in one tablet. */
struct tablet_terms {
    struct run_terms terms;
    struct run_bound low, high;
};

/* A constant in a tablet, which is needed for texts alone. */
static struct run_value value_in(const struct seek_stream *seek, unsigned key,
                                 const struct constant *constant,
                                 const void *block, const struct run *run)
{
    return is_text(seek, key)
               ? run_value_text(block, step_of(seek)->keys[key], constant->text,
                                run != NULL ? &run->columns[key] : NULL)
               : constant->value;
}

/* The constants of the list that the tablet can have. */
static void list_in(struct seek_stream *seek, const void *block,
                    const struct run *run, struct run_terms *terms)
{
    unsigned key = step_of(seek)->equal_count;

    terms->listed = true;
    terms->list = seek->list_values;
    for (uint32_t i = 0; i < seek->list_count; i++) {
        struct run_value value =
            value_in(seek, key, &seek->list[i], block, run);
        if (value.exact)
            seek->list_values[terms->list_count++] = value;
    }
}

static void terms_in(struct seek_stream *seek, const void *block,
                     const struct run *run, struct tablet_terms *in)
{
    const struct step_seek *step = step_of(seek);
    struct run_terms *terms = &in->terms;
    unsigned last = step->equal_count;

    *terms = (struct run_terms){ .columns = step->keys, .equal_count = last };
    for (unsigned i = 0; i < last; i++)
        terms->equals[i] = value_in(seek, i, &seek->equals[i], block, run);
    if (seek->list != NULL)
        list_in(seek, block, run, terms);
    in->low.open = step->low.open;
    in->high.open = step->high.open;
    if (step->low.there) {
        in->low.value = value_in(seek, last, &seek->low, block, run);
        terms->low = &in->low;
    }
    if (step->high.there) {
        in->high.value = value_in(seek, last, &seek->high, block, run);
        terms->high = &in->high;
    }
}

/* ----------------------------------------------------------------- runs -- */

static struct run_want want_run(const struct seek_stream *seek,
                                const struct tablet_ref *ref)
{
    return (struct run_want){ .tablet = ref,
                              .columns = step_of(seek)->keys,
                              .count = step_of(seek)->key_count };
}

/* The run of a tablet whose key columns are in memory: as the file has it, or
 * made now if that pays. `*run` is NULL: there is none, or no memory for it. */
static enum vdbq_status get_run(const struct seek_stream *seek,
                                const struct tablet_ref *ref, const void *block,
                                const struct run **run, struct error *error)
{
    const struct snapshot *snapshot = seek->head.params->snapshot;
    struct run_want want = want_run(seek, ref);
    struct run_cache *cache = seek->place.runs;
    const struct run_ref *kept = catalogue_run(
        snapshot->catalogue, ref->identity, want.columns, want.count);
    struct run *made = NULL;
    enum vdbq_status status = VDBQ_OK;

    if (cache == NULL)
        return VDBQ_OK;
    if (kept != NULL)
        status = run_load(snapshot->database, kept, block, &made, error);
    if (status == VDBQ_OK && made == NULL
        && (step_of(seek)->list_count > LIST_FEW
            || run_is_cheap(block, want.columns, want.count)
            || run_cache_pays(cache, &want)))
        made = run_make(block, want.columns, want.count);
    if (made == NULL
        || run_cache_keep(cache, &want, made, seek->place.runs_bytes))
        *run = made;
    else
        run_destroy(made);
    return status;
}

/* -------------------------------------------------------------- tablets -- */

/* Brings columns of a tablet in: `count` of seek->columns, from one on. */
static enum vdbq_status pin_tablet(struct seek_stream *seek,
                                   const struct tablet_ref *ref, unsigned first,
                                   unsigned count, struct pool_slot **slot,
                                   struct error *error)
{
    struct pool_want want = { .table = seek->table,
                              .tablet = ref,
                              .columns = seek->columns + first,
                              .column_count = count,
                              .copied = true };
    uint64_t before = pool_load_ns(seek->place.pool);
    enum vdbq_status status = pool_pin(seek->place.pool, &want, slot, error);

    seek->load_ns += pool_load_ns(seek->place.pool) - before;
    if (status == VDBQ_OK)
        status = device_memory_take((*slot)->memory, &seek->times, error);
    assert(status != VDBQ_OK || device_memory_host((*slot)->memory) != NULL);
    return status;
}

/* Picks the rows that were found in a tablet, or in the base that `over` is
 * over. */
static enum vdbq_status pick(struct seek_stream *seek,
                             const struct tablet_ref *ref,
                             const struct tablet *tablet,
                             const struct edit *over, struct error *error)
{
    uint64_t first = seek->picked.rows.rows, count = seek->found.count;
    enum vdbq_status status;

    if (count > seek->moved_room) {
        void *room = memory_resize(seek->moved, count * sizeof *seek->moved);
        if (room == NULL)
            return error_no_memory(error);
        seek->moved = room;
        seek->moved_room = count;
    }
    status = picked_room(&seek->picked, count, error);
    if (status != VDBQ_OK)
        return status;
    for (uint64_t i = 0; i < count; i++)
        seek->moved[i] =
            (struct picked_row){ VECTOR_ITEMS(&seek->found, uint32_t)[i],
                                 (uint32_t)(first + i) };
    status =
        picked_read(&seek->picked, &(struct picked_from){ ref, tablet, over },
                    seek->moved, count, error);
    if (status == VDBQ_OK)
        seek->picked.rows.rows += count;
    return status;
}

/* Finds the rows of a tablet, by its run or without. */
static enum vdbq_status find_in(struct seek_stream *seek, const void *block,
                                const struct run *run, struct error *error)
{
    struct tablet_terms in;
    bool done;

    seek->found.count = 0;
    terms_in(seek, block, run, &in);
    done = run != NULL ? run_terms_find(&in.terms, run, &seek->found)
                       : run_terms_scan(&in.terms, block, &seek->found);
    return done ? VDBQ_OK : stop_or_no_memory(error);
}

/* Finds the rows with the keys of the tablet in memory: all of them where there
 * is no run yet, else those that are texts. */
static enum vdbq_status find_with_keys(struct seek_stream *seek,
                                       const struct tablet_ref *ref,
                                       const struct run *run,
                                       struct error *error)
{
    struct pool_slot *slot = NULL;
    unsigned count = 0;
    enum vdbq_status status;

    for (unsigned i = 0; i < step_of(seek)->key_count; i++)
        if (run == NULL || is_text(seek, i))
            seek->columns[seek->read_count + count++] = step_of(seek)->keys[i];
    status = pin_tablet(seek, ref, seek->read_count, count, &slot, error);
    if (status == VDBQ_OK && run == NULL)
        status =
            get_run(seek, ref, device_memory_host(slot->memory), &run, error);
    if (status == VDBQ_OK)
        status = find_in(seek, device_memory_host(slot->memory), run, error);
    if (slot != NULL)
        pool_release(seek->place.pool, slot);
    return status;
}

/* Picks what was found in `in`: the tablet, or the base of its edit. */
static enum vdbq_status pick_in(struct seek_stream *seek,
                                const struct tablet_ref *ref,
                                const struct tablet_ref *in,
                                struct error *error)
{
    const struct edit *over = in != ref ? ref->edit : NULL;
    struct pool_slot *slot = NULL;
    enum vdbq_status status =
        pin_tablet(seek, in, 0, seek->read_count, &slot, error);

    if (status == VDBQ_OK)
        status = pick(seek, ref, device_memory_host(slot->memory), over, error);
    if (slot != NULL)
        pool_release(seek->place.pool, slot);
    return status;
}

/* Whether a run alone tells what is looked for: no key is a text. */
static bool has_no_texts(const struct seek_stream *seek)
{
    bool none = true;

    for (unsigned i = 0; i < step_of(seek)->key_count; i++)
        none &= !is_text(seek, i);
    return none;
}

/* Whether an edit leaves all keys as they were. */
static bool leaves_keys(const struct seek_stream *seek, const struct edit *edit)
{
    bool leaves = true;

    for (unsigned i = 0; i < step_of(seek)->key_count && leaves; i++)
        leaves = edit_column(edit, step_of(seek)->keys[i]) == NULL;
    return leaves;
}

/* Forgets rows that were found and are gone. */
static void drop_gone(struct seek_stream *seek, const struct edit *edit)
{
    uint32_t *found = seek->found.items;
    size_t kept = 0;

    for (size_t i = 0; i < seek->found.count; i++) {
        bool gone;
        edit_gone_before(edit, found[i], &gone);
        if (!gone)
            found[kept++] = found[i];
    }
    seek->found.count = kept;
}

/* Finds the rows of a tablet, and picks them if there are any. */
static enum vdbq_status seek_tablet(struct seek_stream *seek,
                                    const struct tablet_ref *ref,
                                    struct error *error)
{
    const struct tablet_ref base = tablet_base(ref);
    bool below = ref->edit != NULL && leaves_keys(seek, ref->edit);
    const struct tablet_ref *in = below ? &base : ref;
    struct run_want want = want_run(seek, in);
    const struct run *run = seek->place.runs != NULL
                                ? run_cache_find(seek->place.runs, &want)
                                : NULL;
    enum vdbq_status status = run != NULL && has_no_texts(seek)
                                  ? find_in(seek, NULL, run, error)
                                  : find_with_keys(seek, in, run, error);

    if (status == VDBQ_OK && below)
        drop_gone(seek, ref->edit);
    return status == VDBQ_OK && seek->found.count > 0
               ? pick_in(seek, ref, in, error)
               : status;
}

static enum vdbq_status seek_tablets(struct seek_stream *seek,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < seek->table->tablet_count && status == VDBQ_OK;
         i++) {
        const struct tablet_ref *ref = &seek->table->tablets[i];
        if (is_passed(seek, ref))
            continue;
        status = seek_tablet(seek, ref, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}

/* ----------------------------------------------------------------- open -- */

/* Which columns of tablets are read. */
static bool list_columns(struct seek_stream *seek)
{
    const struct vector *columns = &step_of(seek)->columns;

    seek->columns =
        memory_zeroed(columns->count + SEEK_KEYS_MAX, sizeof *seek->columns);
    for (size_t i = 0; seek->columns != NULL && i < columns->count; i++) {
        unsigned column = (unsigned)VECTOR_ITEMS(columns, int)[i];
        if (column < seek->table->column_count)
            seek->columns[seek->read_count++] = column;
    }
    return seek->columns != NULL;
}

/* Frees what only opening needs. */
static void finish_reading(struct seek_stream *seek)
{
    memory_release(seek->columns);
    seek->columns = NULL;
    memory_release(seek->list);
    memory_release(seek->list_values);
    memory_release(seek->moved);
    vector_finish(&seek->found);
    seek->list = NULL;
    seek->list_values = NULL;
    seek->moved = NULL;
}

static enum vdbq_status read_rows(struct seek_stream *seek, struct error *error)
{
    const struct stream_params *params = seek->head.params;
    enum vdbq_status status =
        params->choose(params->choose_context, seek->table, NULL,
                       seek->table->rows, &seek->place, error);

    if (status == VDBQ_OK)
        status = take_constants(seek, error);
    if (status == VDBQ_OK && !seek->none)
        status = seek_tablets(seek, error);
    return status == VDBQ_OK
               ? picked_end(&seek->picked, seek->picked.rows.rows, error)
               : status;
}

static enum vdbq_status seek_open(struct stream *stream, struct error *error)
{
    struct seek_stream *seek = (struct seek_stream *)stream;
    enum vdbq_status status;

    seek->found = VECTOR(uint32_t);
    seek->table = catalogue_table_id(stream->params->snapshot->catalogue,
                                     step_of(seek)->table);
    assert(seek->table != NULL); /* a catalogue that changed has it replanned */
    seek->vectors =
        memory_zeroed(stream->step->column_count, sizeof *seek->vectors);
    status = picked_init(&seek->picked, seek->table, &step_of(seek)->columns,
                         stream->step->columns, error);
    if (status == VDBQ_OK && (seek->vectors == NULL || !list_columns(seek)))
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        status = read_rows(seek, error);
    finish_reading(seek);
    stream->rows_most = seek->picked.rows.rows;
    return status;
}

static void seek_close(struct stream *stream)
{
    struct seek_stream *seek = (struct seek_stream *)stream;

    finish_reading(seek);
    picked_finish(&seek->picked);
    memory_release(seek->vectors);
}

/* ----------------------------------------------------------------- rows -- */

static enum vdbq_status
seek_batch(struct stream *stream, struct vdbq_batch *batch, struct error *error)
{
    struct seek_stream *seek = (struct seek_stream *)stream;

    (void)error;
    rescan_rows(&seek->picked.rows, &seek->given, seek->vectors, batch);
    return VDBQ_OK;
}

static struct dictionary *seek_dictionary(const struct stream *stream,
                                          unsigned column)
{
    const struct seek_stream *seek = (const struct seek_stream *)stream;

    return seek->picked.rows.columns[column].dictionary;
}

static void seek_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    stats->load_ns += ((const struct seek_stream *)stream)->load_ns;
}

const struct stream_kind seek_stream = {
    .size = sizeof(struct seek_stream),
    .calls = { .batch = seek_batch,
               .stays = stream_stays,
               .dictionary = seek_dictionary,
               .stats = seek_stats,
               .close = seek_close },
    .open = seek_open,
};
