/* SPDX-License-Identifier: MIT */
/*
 * Constants of a seek. Numbers are the same in all tablets; a text is a number
 * of a tablet's dictionary, another one in each.
 */
#include "exec/seek/seek_terms.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/index/index_values.h"
#include "data/tablet/dictionary_sort.h"
#include "exec/sort/sort.h"
#include "exec/stream/stream_inner.h"

/* What a key is. */
static const struct column *key_column(const struct seek_terms *terms,
                                       unsigned key)
{
    const struct column *columns = terms->index != NULL
                                       ? terms->index->keys->columns
                                       : terms->table->columns;

    return &columns[terms->step->keys[key]];
}

bool seek_terms_is_text(const struct seek_terms *terms, unsigned key)
{
    return terms->index == NULL && key_column(terms, key)->type == VDBQ_TEXT;
}

/* Whether a key is a text of which runs have a digest (index_values.h). */
static bool is_digest(const struct seek_terms *terms, unsigned key)
{
    return terms->index != NULL && key_column(terms, key)->type == VDBQ_TEXT;
}

/* A number of a column's type, by what it is ordered. */
static struct run_value number_value(const struct seek_terms *terms,
                                     unsigned key, int64_t integer, double real)
{
    enum vdbq_type type = key_column(terms, key)->type;

    return type == VDBQ_FLOAT || type == VDBQ_DOUBLE
               ? run_value_real(real)
               : run_value_integer(integer);
}

/* ------------------------------------------------------------ constants -- */

/* What a text stands for, of which it is asked what digests it has, or those of
 * what begins like it. */
enum digest_of { DIGEST_EXACT, DIGEST_LEAST, DIGEST_MOST };

static struct run_value digest_value(struct vdbq_text text, enum digest_of of)
{
    return run_value_integer(of == DIGEST_EXACT
                                 ? index_digest(COLLATION_BINARY, text)
                             : of == DIGEST_LEAST ? index_digest_least(text)
                                                  : index_digest_most(text));
}

static void take_value(struct seek_terms *terms,
                       const struct parameter *parameters, unsigned key,
                       const struct seek_value *value, enum digest_of of,
                       struct seek_constant *to)
{
    const struct parameter *parameter =
        value->parameter >= 0 ? &parameters[value->parameter] : NULL;

    if (parameter != NULL && parameter->null) {
        terms->none = true;
        return;
    }
    to->text = parameter != NULL ? parameter->text : value->text;
    if (is_digest(terms, key))
        to->value = digest_value(to->text, of);
    else if (!seek_terms_is_text(terms, key))
        to->value = number_value(
            terms, key, parameter != NULL ? parameter->integer : value->integer,
            parameter != NULL ? parameter->real : value->real);
}

/* ----------------------------------------------------------------- list -- */

/* A value of a column of the list, or of the input, as one of a key. */
static bool number_of(const struct seek_terms *terms, unsigned key,
                      const struct vdbq_vector *list, uint64_t i,
                      struct run_value *to)
{
    const struct vdbq_text *texts = list->values;
    int64_t integer = 0;
    double real = 0;

    if (list->nulls != NULL && list->nulls[i] != 0)
        return false;
    if (is_digest(terms, key)) {
        *to = digest_value(texts[i], DIGEST_EXACT);
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
    *to = number_value(terms, key, integer, real);
    return real == real;
}

bool seek_terms_number(const struct seek_terms *terms, unsigned column,
                       uint64_t i, struct run_value *to)
{
    return number_of(terms, terms->step->equal_count + column,
                     &terms->list[column], i, to);
}

/* Writes numbers in order, each once; how many these are. */
static enum vdbq_status order_numbers(struct seek_terms *terms, int64_t *values,
                                      uint32_t *order, uint32_t count,
                                      unsigned threads, struct error *error)
{
    const struct sort_key key = { .type = TYPE_I64, .values = values };
    enum vdbq_status status = sort_order(&key, 1, count, threads, order, error);

    for (uint32_t i = 0; status == VDBQ_OK && i < count; i++)
        if (i == 0 || values[order[i]] != values[order[i - 1]])
            terms->numbers[terms->list_count++] =
                run_value_integer(values[order[i]]);
    return status;
}

static enum vdbq_status take_numbers(struct seek_terms *terms, unsigned threads,
                                     struct error *error)
{
    uint64_t all = terms->list_rows;
    int64_t *values = memory_resize(NULL, (all + 1) * sizeof *values);
    uint32_t *order = memory_resize(NULL, (all + 1) * sizeof *order);
    enum vdbq_status status = VDBQ_OK;
    uint32_t count = 0;

    terms->numbers = memory_resize(NULL, (all + 1) * sizeof *terms->numbers);
    if (values == NULL || order == NULL || terms->numbers == NULL)
        status = error_no_memory(error);
    for (uint64_t i = 0; i < all && status == VDBQ_OK; i++) {
        struct run_value value;
        if (!seek_terms_number(terms, 0, i, &value))
            continue;
        /* signed again, for the sort: its order is that of run_value_integer */
        values[count++] = (int64_t)(value.value ^ UINT64_C(1) << 63);
    }
    if (status == VDBQ_OK)
        status = order_numbers(terms, values, order, count, threads, error);
    memory_release(values);
    memory_release(order);
    return status;
}

/* Puts texts in order, each once. */
static enum vdbq_status order_texts(struct seek_terms *terms,
                                    const struct vdbq_text *texts,
                                    uint32_t count, struct error *error)
{
    uint32_t *order = memory_resize(NULL, (count + (size_t)1) * sizeof *order);
    bool done = order != NULL && dictionary_sort(texts, count, order);

    for (uint32_t i = 0; i < count && done; i++) {
        struct vdbq_text text = texts[order[i]];
        if (i == 0 || text_compare(texts[order[i - 1]], text) != 0)
            terms->texts[terms->list_count++] = text;
    }
    memory_release(order);
    return done ? VDBQ_OK : stop_or_no_memory(error);
}

static enum vdbq_status take_texts(struct seek_terms *terms,
                                   struct error *error)
{
    const struct vdbq_vector *list = terms->list;
    const struct vdbq_text *from = list->values;
    size_t size = (terms->list_rows + 1) * sizeof *from;
    struct vdbq_text *texts = memory_resize(NULL, size);
    enum vdbq_status status;
    uint32_t count = 0;

    terms->texts = memory_resize(NULL, size);
    for (uint64_t i = 0; texts != NULL && i < terms->list_rows; i++)
        if (list->nulls == NULL || list->nulls[i] == 0)
            texts[count++] = from[i];
    status = texts != NULL && terms->texts != NULL
                 ? order_texts(terms, texts, count, error)
                 : error_no_memory(error);
    memory_release(texts);
    return status;
}

/* What is behind all texts that begin so: its last byte, which in UTF-8 is not
 * the greatest, is one more. */
static bool take_end(struct seek_terms *terms, uint32_t i)
{
    struct vdbq_text start = terms->texts[i];
    char *bytes = arena_copy(&terms->arena, start.bytes, start.length);

    if (bytes == NULL)
        return false;
    assert(start.length > 0 && (uint8_t)bytes[start.length - 1] < UINT8_MAX);
    bytes[start.length - 1]++;
    terms->ends[i] = (struct vdbq_text){ bytes, start.length };
    return true;
}

static enum vdbq_status take_starts(struct seek_terms *terms,
                                    struct error *error)
{
    enum vdbq_status status = take_texts(terms, error);
    bool done = true;

    if (status != VDBQ_OK)
        return status;
    terms->ends = memory_resize(NULL, (terms->list_count + (size_t)1)
                                          * sizeof *terms->ends);
    for (uint32_t i = 0; terms->ends != NULL && i < terms->list_count && done;
         i++)
        done = take_end(terms, i);
    return terms->ends != NULL && done ? VDBQ_OK : error_no_memory(error);
}

static enum vdbq_status take_list(struct seek_terms *terms, unsigned threads,
                                  struct error *error)
{
    enum vdbq_status status;

    if (terms->step->list_columns > 1) {
        status = seek_rows_init(&terms->rows, terms, threads, error);
        terms->list_count = terms->rows.count;
    } else if (terms->step->list_starts)
        status = take_starts(terms, error);
    else if (seek_terms_is_text(terms, terms->step->equal_count))
        status = take_texts(terms, error);
    else
        status = take_numbers(terms, threads, error);
    terms->none |= terms->list_count == 0;
    return status;
}

/* ----------------------------------------------------------------- init -- */

/* A value of a key that the only row of the input has; a bound that is no number
 * bounds nothing, and none is found where it is NULL, or there is no row. */
static void take_fed(struct seek_terms *terms, unsigned key,
                     const struct vdbq_vector *fed, enum digest_of of,
                     struct seek_constant *to)
{
    assert(terms->fed_rows <= 1);
    if (terms->fed_rows == 0 || vector_null(fed, 0)) {
        terms->none = true;
        return;
    }
    if (fed->type == VDBQ_TEXT)
        to->text = *(const struct vdbq_text *)fed->values;
    if (is_digest(terms, key))
        to->value = digest_value(to->text, of);
    else if (!seek_terms_is_text(terms, key)
             && !number_of(terms, key, fed, 0, &to->value)) {
        terms->none |= of == DIGEST_EXACT;
        to->value.value = of == DIGEST_LEAST ? 0 : UINT64_MAX;
    }
}

/* What a key is compared with: it is known, or comes with this run. */
static void take(struct seek_terms *terms, const struct parameter *parameters,
                 unsigned key, const struct seek_value *value,
                 enum digest_of of, struct seek_constant *to)
{
    if (value->fed)
        take_fed(terms, key, &terms->fed[value->input], of, to);
    else
        take_value(terms, parameters, key, value, of, to);
}

/* The ends of an order, as long as a run hopes that they need be. */
static struct seek_ends ask_ends(const struct step_seek *step,
                                 const struct stream_params *params)
{
    struct seek_ends ends = step->ends;

    if (ends.hopes) {
        ends.first *= params->hope->times;
        ends.last *= params->hope->times;
    }
    return ends;
}

enum vdbq_status seek_terms_init(struct seek_terms *terms,
                                 const struct stream_params *params,
                                 struct error *error)
{
    const struct parameter *parameters = params->parameters;
    const struct step_seek *step = terms->step;

    terms->asked = ask_ends(step, params);
    for (unsigned i = 0; i < step->equal_count; i++)
        take(terms, parameters, i, &step->equals[i], DIGEST_EXACT,
             &terms->equals[i]);
    if (step->low.there)
        take(terms, parameters, step->equal_count, &step->low.value,
             DIGEST_LEAST, &terms->low);
    if (step->high.there)
        take(terms, parameters, step->equal_count, &step->high.value,
             DIGEST_MOST, &terms->high);
    return step->list_columns > 0
               ? take_list(terms, stream_threads(params), error)
               : VDBQ_OK;
}

void seek_terms_finish(struct seek_terms *terms)
{
    memory_release(terms->numbers);
    memory_release(terms->texts);
    memory_release(terms->ends);
    arena_finish(&terms->arena);
    terms->numbers = NULL;
    terms->texts = NULL;
    terms->ends = NULL;
    seek_rows_finish(&terms->rows);
}

/* ---------------------------------------------------------------- facts -- */

bool seek_terms_extremes(const struct seek_terms *terms,
                         const struct tablet_ref *ref, unsigned key,
                         uint64_t *least, uint64_t *greatest)
{
    const struct column_facts *facts = &ref->facts[terms->step->keys[key]];

    *least =
        number_value(terms, key, facts->minimum, facts->minimum_real).value;
    *greatest =
        number_value(terms, key, facts->maximum, facts->maximum_real).value;
    return !facts->empty;
}

/* Whether a tablet has no value of a key from `low` to `high`; NULL: there is
 * no bound. */
static bool lacks(const struct seek_terms *terms, const struct tablet_ref *ref,
                  unsigned key, const struct run_value *low,
                  const struct run_value *high)
{
    const struct column_facts *facts = &ref->facts[terms->step->keys[key]];
    uint64_t least, greatest;

    if (facts->empty)
        return true;
    if (seek_terms_is_text(terms, key))
        return false;
    seek_terms_extremes(terms, ref, key, &least, &greatest);
    return (low != NULL && low->value > greatest)
           || (high != NULL && high->value < least);
}

/* Whether it has none of the list. */
static bool lacks_list(const struct seek_terms *terms,
                       const struct tablet_ref *ref)
{
    size_t last = terms->list_count - (size_t)1;
    const struct run_value *first = terms->numbers;

    if (terms->step->list_columns > 1) {
        first = terms->rows.values; /* of texts nobody asks */
        last *= terms->rows.columns;
    }
    return lacks(terms, ref, terms->step->equal_count, first,
                 first != NULL ? first + last : NULL);
}

bool seek_terms_pass(const struct seek_terms *terms,
                     const struct tablet_ref *ref)
{
    const struct step_seek *step = terms->step;
    unsigned last = step->equal_count;

    if (terms->index != NULL)
        return false;
    for (unsigned i = 0; i < last; i++)
        if (lacks(terms, ref, i, &terms->equals[i].value,
                  &terms->equals[i].value))
            return true;
    if (step->list_columns > 0)
        return lacks_list(terms, ref);
    if (!step->low.there && !step->high.there)
        return false;
    return lacks(terms, ref, last, step->low.there ? &terms->low.value : NULL,
                 step->high.there ? &terms->high.value : NULL);
}

/* ------------------------------------------------------------ one tablet -- */

/* A constant in a tablet, which is needed for texts alone. */
static struct run_value value_in(const struct seek_terms *terms, unsigned key,
                                 const struct seek_constant *constant,
                                 const void *block, const struct run *run)
{
    return seek_terms_is_text(terms, key)
               ? run_value_text(block, terms->step->keys[key], constant->text,
                                run != NULL ? &run->columns[key] : NULL)
               : constant->value;
}

/* The texts of the list that the tablet has. */
static bool texts_in(struct tablet_terms *in, const struct seek_terms *terms,
                     const void *block, const struct run *run)
{
    unsigned key = terms->step->equal_count;
    const struct run_column *of = run != NULL ? &run->columns[key] : NULL;

    in->list =
        memory_resize(NULL, (terms->list_count + (size_t)1) * sizeof *in->list);
    if (in->list == NULL)
        return false;
    run_value_texts(block, terms->step->keys[key], terms->texts,
                    terms->list_count, of, in->list);
    for (uint32_t i = 0; i < terms->list_count; i++)
        if (in->list[i].exact)
            in->list[in->terms.list_count++] = in->list[i];
    if (stop_asked())
        return false;
    in->terms.list = in->list;
    return true;
}

/* What begins like the texts of the list, as ranges of digests: several texts may
 * have one, and then ranges are put together, so that they ascend. */
static bool digests_in(struct tablet_terms *in, const struct seek_terms *terms)
{
    unsigned count = terms->list_count, made = 0;

    in->bounds = memory_zeroed(2 * (size_t)count, sizeof *in->bounds);
    if (in->bounds == NULL)
        return false;
    for (unsigned i = 0; i < count; i++) {
        struct run_value low = digest_value(terms->texts[i], DIGEST_LEAST);
        struct run_value high = digest_value(terms->texts[i], DIGEST_MOST);
        if (made == 0 || in->bounds[count + made - 1].value.value < low.value)
            in->bounds[made++].value = low;
        if (in->bounds[count + made - 1].value.value < high.value)
            in->bounds[count + made - 1].value = high;
    }
    in->terms.low = in->bounds;
    in->terms.high = in->bounds + count;
    in->terms.more = made - 1;
    return true;
}

/* What begins like the texts of the list, as ranges of the tablet's words. */
static bool starts_in(struct tablet_terms *in, const struct seek_terms *terms,
                      const void *block, const struct run *run)
{
    unsigned key = terms->step->equal_count, count = terms->list_count;
    unsigned column = terms->step->keys[key];
    const struct run_column *of = run != NULL ? &run->columns[key] : NULL;

    in->bounds = memory_zeroed(2 * (size_t)count, sizeof *in->bounds);
    if (in->bounds == NULL)
        return false;
    for (unsigned i = 0; i < count; i++) {
        in->bounds[i].value =
            run_value_text(block, column, terms->texts[i], of);
        in->bounds[count + i] = (struct run_bound){
            run_value_text(block, column, terms->ends[i], of), .open = true
        };
    }
    in->terms.low = in->bounds;
    in->terms.high = in->bounds + count;
    in->terms.more = count - 1;
    return true;
}

static bool list_in(struct tablet_terms *in, const struct seek_terms *terms,
                    const void *block, const struct run *run)
{
    if (terms->ends != NULL && terms->index != NULL)
        return digests_in(in, terms);
    if (terms->ends != NULL)
        return starts_in(in, terms, block, run);
    in->terms.list_columns = terms->step->list_columns;
    if (terms->step->list_columns > 1) {
        bool done = seek_rows_in(&terms->rows, terms, block, run, &in->list,
                                 &in->terms.list_count);
        in->terms.list = in->list != NULL ? in->list : terms->rows.values;
        return done;
    }
    if (terms->texts != NULL)
        return texts_in(in, terms, block, run);
    in->terms.list = terms->numbers;
    in->terms.list_count = terms->list_count;
    return true;
}

/* What the last key of an order does not say of it. */
static uint64_t rough_bits(const struct seek_terms *terms)
{
    const struct step_seek *step = terms->step;
    unsigned count = step->ends.key_count;

    return count > 0 && is_digest(terms, step->equal_count + count - 1)
               ? INDEX_HASH_MASK
               : 0;
}

bool tablet_terms_init(struct tablet_terms *in, const struct seek_terms *terms,
                       const void *block, const struct run *run)
{
    const struct step_seek *step = terms->step;
    unsigned last = step->equal_count;

    *in = (struct tablet_terms){
        .terms = { .columns = step->keys,
                   .equal_count = last,
                   .ends = { .first = (uint32_t)terms->asked.first,
                             .last = (uint32_t)terms->asked.last,
                             .columns = last + terms->asked.key_count,
                             .alike = terms->asked.alike,
                             .rough = rough_bits(terms) },
                   .apart = terms->asked.apart,
                   .not_null = terms->asked.not_null }
    };
    for (unsigned i = 0; i < last; i++)
        in->terms.equals[i] = value_in(terms, i, &terms->equals[i], block, run);
    in->low.open = step->low.open;
    in->high.open = step->high.open;
    if (step->low.there) {
        in->low.value = value_in(terms, last, &terms->low, block, run);
        in->terms.low = &in->low;
    }
    if (step->high.there) {
        in->high.value = value_in(terms, last, &terms->high, block, run);
        in->terms.high = &in->high;
    }
    return step->list_columns == 0 || list_in(in, terms, block, run);
}

void tablet_terms_finish(struct tablet_terms *in)
{
    memory_release(in->list);
    memory_release(in->bounds);
    in->list = NULL;
    in->bounds = NULL;
}
