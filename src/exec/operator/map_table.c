/* SPDX-License-Identifier: MIT */
/*
 * A call of few rows is not worth a look at all words, and one of many not worth as
 * many calls: the table is made after a share of the words, so that both together
 * cost little more than the better one alone.
 */
#include "exec/operator/map_table.h"

#include <assert.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/dictionary/words_call.h"

enum {
    /* of the words, in rows, before they are worth it */
    ASKED_SHARE = HOSTILE(2, 16),
    ROOM_PART = 4 /* of the memory that there is, at most */
};

/* The rows' words: neighbours of one dictionary. */
struct span {
    struct dictionary *words;
    uint32_t first; /* the number of its first word */
};

/* ----------------------------------------------------------------- words -- */

/* The dictionary in which numbers from `least` to `most` are; no words: there is
 * none. */
static struct span find_part(struct dictionary *words, uint32_t least,
                             uint32_t most)
{
    const struct dictionary_parts *parts = words->parts;
    size_t i = 0;

    if (parts == NULL)
        return (struct span){ .words = words };
    while (i < parts->count && parts->firsts[i + 1] <= least)
        i++;
    return i < parts->count && most < parts->firsts[i + 1]
               ? (struct span){ .words = parts->dictionaries[i],
                                .first = parts->firsts[i] }
               : (struct span){ .words = NULL };
}

/* The words of the rows, as far as they lie in memory one behind the other. */
static struct span find_words(const struct vdbq_vector *vector, uint64_t rows,
                              struct dictionary *words)
{
    const uint32_t *numbers = vector->values;
    uint32_t least = UINT32_MAX, most = 0;
    struct span span = { .words = NULL };

    for (uint64_t i = 0; i < rows; i++) {
        if (vector->nulls != NULL && vector->nulls[i] != 0)
            continue;
        least = numbers[i] < least ? numbers[i] : least;
        most = numbers[i] > most ? numbers[i] : most;
    }
    if (least <= most)
        span = find_part(words, least, most);
    return span.words != NULL && span.words->bytes != NULL
               ? span
               : (struct span){ .words = NULL };
}

/* ---------------------------------------------------------------- values -- */

/* Filling a table, its words shared out to threads. */
struct filling {
    const struct function_lookup *lookup;
    const struct map_table *table;
    unsigned threads;
};

static void fill_share(void *context, unsigned share)
{
    const struct filling *filling = context;
    const struct dictionary *words = filling->table->words;
    uint64_t count = words->count;

    words_call(filling->lookup, words,
               (uint32_t)(count * share / filling->threads),
               (uint32_t)(count * (share + 1) / filling->threads),
               filling->table->values);
}

/* Makes the values of all words; false: no memory, or the thread is to stop. */
static bool fill(struct map_table *table, const struct map_call *call,
                 unsigned width)
{
    struct filling filling = { .lookup = call->lookup,
                               .table = table,
                               .threads = parallel_threads(
                                   call->threads, table->words->count) };

    table->values =
        memory_resize(NULL, (table->words->count + (size_t)1) * width);
    if (table->values == NULL)
        return false;
    parallel_run(filling.threads, fill_share, &filling);
    if (!stop_asked())
        return true;
    memory_release(table->values);
    table->values = NULL;
    return false;
}

static void put(const struct map_table *table, const struct map_call *call,
                const struct vdbq_vector *vector, uint32_t first,
                unsigned width)
{
    struct row_set_column *column = call->column;
    const uint32_t *numbers = vector->values;
    const uint8_t *narrow = table->values;
    const int64_t *wide = table->values;

    for (uint64_t i = 0; i < call->batch->rows; i++) {
        bool null = vector->nulls != NULL && vector->nulls[i] != 0;
        uint64_t at = call->first + i;
        int64_t value = null         ? 0
                        : width == 1 ? narrow[numbers[i] - first]
                                     : wide[numbers[i] - first];
        column->nulls[at] = null;
        if (column->width == sizeof(int32_t))
            ((int32_t *)column->values)[at] = (int32_t)value;
        else
            ((int64_t *)column->values)[at] = value;
    }
}

/* ------------------------------------------------------------------- all -- */

/* Bytes of a value of the call; 0: it has no table. */
static unsigned width_of(const struct map_call *call)
{
    assert(call->lookup != NULL);
    return call->step->then.count == 0 && call->column->type != VDBQ_TEXT
               ? function_words_width(call->lookup)
               : 0;
}

/* Whether a table of the words is worth its time, and has room. */
static bool pays(const struct map_table *table, const struct dictionary *words,
                 unsigned width, uint64_t room)
{
    return table->asked * ASKED_SHARE >= words->count
           && (uint64_t)words->count * width <= room / ROOM_PART;
}

bool map_table_put(struct map_table *table, const struct map_call *call,
                   struct dictionary *words, uint64_t room)
{
    const struct vdbq_vector *vector =
        &call->batch
             ->column[*(const int *)vector_at(&call->step->arguments, 0)];
    unsigned width = width_of(call);
    struct span span;

    if (width == 0)
        return false;
    span = find_words(vector, call->batch->rows, words);
    if (span.words == NULL)
        return false;
    if (span.words != table->words) {
        map_table_finish(table);
        table->words = dictionary_hold(span.words);
    }
    table->asked += call->batch->rows;
    if (table->values == NULL
        && (!pays(table, span.words, width, room) || !fill(table, call, width)))
        return false;
    put(table, call, vector, span.first, width);
    return true;
}

void map_table_finish(struct map_table *table)
{
    dictionary_release(table->words);
    memory_release(table->values);
    *table = (struct map_table){ .words = NULL };
}
