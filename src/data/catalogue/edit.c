/* SPDX-License-Identifier: MIT */
/*
 * Edits: edit.h. The next edit merges what was with what changes; where both
 * have a value, the new one counts, and of rows that go no value stays.
 */
#include "data/catalogue/edit.h"

#include <assert.h>
#include <string.h>

#include "base/type.h"

struct edit *edit_create(struct identity base, uint32_t rows)
{
    struct edit *edit = memory_zeroed(1, sizeof *edit);

    if (edit == NULL)
        return NULL;
    edit->holders = 1;
    edit->base = base;
    edit->name = base;
    edit->rows = rows;
    return edit;
}

struct edit *edit_hold(struct edit *edit)
{
    if (edit != NULL)
        edit->holders++;
    return edit;
}

void edit_release(struct edit *edit)
{
    if (edit == NULL || --edit->holders > 0)
        return;
    edit_release(edit->origin);
    arena_finish(&edit->arena);
    memory_release(edit);
}

enum vdbq_status edit_check(const struct edit *edit, struct error *error)
{
    return edit == NULL || edit->status == VDBQ_OK
               ? VDBQ_OK
               : error_set(error, edit->status, "%s", edit->fault);
}

bool edit_fail(struct edit *edit, struct identity tablet, uint32_t rows,
               const struct error *why)
{
    edit->base = tablet;
    edit->rows = rows;
    edit->gone_count = 0;
    edit->column_count = 0;
    edit->status = why->status;
    edit->fault =
        arena_copy(&edit->arena, why->message, strlen(why->message) + 1);
    return edit->fault != NULL;
}

/* -------------------------------------------------------------- finding -- */

uint64_t edit_size(const struct edit *edit)
{
    uint64_t size = edit->gone_count;

    for (unsigned i = 0; i < edit->column_count; i++)
        size += edit->columns[i].count;
    return size;
}

/* How many of ascending places are less. */
static uint32_t count_below(const uint32_t *places, uint32_t count,
                            uint32_t place)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (places[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t edit_pass(const uint32_t *places, uint32_t count, uint32_t from,
                   uint32_t place)
{
    uint32_t step = 1, left = count - from;

    assert(from <= count && (from == 0 || places[from - 1] < place));
    for (; step <= left && places[from + step - 1] < place; step *= 2) {
        from += step;
        left -= step;
    }
    return from + count_below(places + from, step < left ? step : left, place);
}

uint32_t edit_place(const struct edit *edit, uint32_t row)
{
    uint32_t low = 0, high = edit != NULL ? edit->gone_count : 0;

    /* Before gone[i] there are gone[i] - i rows left. */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (edit->gone[middle] - middle <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return row + low;
}

uint32_t edit_gone_before(const struct edit *edit, uint32_t place, bool *gone)
{
    uint32_t before = count_below(edit->gone, edit->gone_count, place);

    *gone = before < edit->gone_count && edit->gone[before] == place;
    return before;
}

const struct edit_column *edit_column(const struct edit *edit, unsigned column)
{
    for (unsigned i = 0; i < edit->column_count; i++)
        if (edit->columns[i].column == column)
            return &edit->columns[i];
    return NULL;
}

bool edit_changes(const struct edit *edit, unsigned column)
{
    return edit->gone_count > 0 || edit_column(edit, column) != NULL;
}

bool edit_find(const struct edit_column *column, uint32_t place, uint32_t *at)
{
    *at = count_below(column->places, column->count, place);
    return *at < column->count && column->places[*at] == place;
}

bool edit_has(const struct edit *edit, const unsigned *columns, unsigned count)
{
    bool has = false;

    for (unsigned i = 0; i < count && !has; i++)
        has = edit_column(edit, columns[i]) != NULL;
    return has;
}

bool edit_has_at(const struct edit *edit, const unsigned *columns,
                 unsigned count, uint32_t place)
{
    bool has = false;
    uint32_t at;

    for (unsigned i = 0; i < count && !has; i++) {
        const struct edit_column *news = edit_column(edit, columns[i]);
        has = news != NULL && edit_find(news, place, &at);
    }
    return has;
}

bool edit_is_recent(const struct edit *edit, uint32_t place)
{
    uint32_t at = count_below(edit->recent, edit->recent_count, place);

    return at < edit->recent_count && edit->recent[at] == place;
}

/* All places, by a bit for each of the base. */
static bool all_places(const struct edit *edit, const unsigned *columns,
                       unsigned count, struct vector *places)
{
    size_t words = edit->rows / 64 + (size_t)1;
    uint64_t *bits = memory_zeroed(words, sizeof *bits);
    bool done = bits != NULL;

    for (unsigned i = 0; i < count && done; i++) {
        const struct edit_column *news = edit_column(edit, columns[i]);
        for (uint32_t k = 0; news != NULL && k < news->count; k++)
            bits[news->places[k] / 64] |= UINT64_C(1) << news->places[k] % 64;
    }
    for (size_t i = 0; i < words && done; i++)
        for (uint64_t left = bits[i]; left != 0 && done; left &= left - 1) {
            uint32_t place =
                (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(left);
            done = vector_append(places, &place, 1);
        }
    memory_release(bits);
    return done;
}

bool edit_places(const struct edit *edit, const unsigned *columns,
                 unsigned count, struct vector *places)
{
    const struct edit_column *only =
        count == 1 ? edit_column(edit, columns[0]) : NULL;
    bool done = true;

    if (edit->origin == NULL && only != NULL)
        return vector_append(places, only->places, only->count);
    if (edit->origin == NULL)
        return all_places(edit, columns, count, places);
    for (uint32_t i = 0; i < edit->recent_count && done; i++)
        if (edit_has_at(edit, columns, count, edit->recent[i]))
            done = vector_append(places, &edit->recent[i], 1);
    return done;
}

/* -------------------------------------------------------------- merging -- */

/* Room for new values of a column. */
static bool make_column(struct edit *edit, unsigned number, enum vdbq_type type,
                        uint32_t room, struct edit_column *column)
{
    void *values = arena_alloc(&edit->arena, room * type_bytes(type));
    uint8_t *nulls = arena_alloc(&edit->arena, room);

    *column = (struct edit_column){ .column = number };
    column->places = arena_alloc(&edit->arena, room * sizeof(uint32_t));
    column->values = (struct vdbq_vector){ type, values, nulls };
    return column->places != NULL && values != NULL && nulls != NULL;
}

/* Adds value `at` of a vector as that of a place. False: no memory. */
static bool put(struct edit *edit, struct edit_column *column, uint32_t place,
                const struct vdbq_vector *from, uint64_t at)
{
    size_t width = type_bytes(from->type);
    uint32_t to = column->count++;
    char *value = (char *)column->values.values + to * width;

    assert(from->type == column->values.type);
    column->places[to] = place;
    if (vector_null(from, at)) {
        ((uint8_t *)column->values.nulls)[to] = 1;
        return true;
    }
    memcpy(value, (const char *)from->values + at * width, width);
    if (from->type != VDBQ_TEXT)
        return true;
    struct vdbq_text *text = (struct vdbq_text *)(void *)value;
    text->bytes = arena_copy(&edit->arena, text->bytes, text->length);
    return text->bytes != NULL;
}

/* What becomes of one column. */
struct merging {
    const struct edit_column *old; /* NULL: it had no new values      */
    const struct edit_change *change;
    const struct vdbq_vector *news; /* NULL: it gets none now          */
};

/* Copies the bytes of some texts from the first on that lie one behind the other, and
 * has these be there; returns how many texts they are of. */
static uint32_t move_texts(struct vdbq_text *texts, uint32_t count, char **to)
{
    const char *from = texts[0].bytes;
    size_t length = 0, own;
    uint32_t moved = 0;

    if (from == NULL)
        return 1; /* it is NULL */
    for (; moved < count && texts[moved].bytes == from + length; moved++) {
        own = texts[moved].length;
        texts[moved].bytes = *to + length;
        length += own;
    }
    memcpy(*to, from, length);
    *to += length;
    return moved;
}

/* Has texts of another edit be this one's, in one piece: most of them are there, too. */
static bool own_texts(struct edit *edit, struct vdbq_text *texts,
                      uint32_t count)
{
    size_t bytes = 0;
    char *to;

    for (uint32_t i = 0; i < count; i++)
        bytes += texts[i].length;
    to = arena_alloc(&edit->arena, bytes + 1);
    for (uint32_t i = 0; to != NULL && i < count;)
        i += move_texts(texts + i, count - i, &to);
    return to != NULL;
}

/* Adds `count` of the values that are there, from the first on. */
static bool put_olds(struct edit *edit, struct edit_column *column,
                     const struct edit_column *old, uint32_t first,
                     uint32_t count)
{
    size_t width = type_bytes(column->values.type);
    uint32_t to = column->count;

    if (count == 0)
        return true;
    assert(first + count <= old->count);
    memcpy(column->places + to, old->places + first,
           count * sizeof *column->places);
    memcpy((char *)column->values.values + to * width,
           (const char *)old->values.values + first * width, count * width);
    memcpy((uint8_t *)column->values.nulls + to, old->values.nulls + first,
           count);
    column->count += count;
    return column->values.type != VDBQ_TEXT
           || own_texts(edit, (struct vdbq_text *)column->values.values + to,
                        count);
}

/* Adds the values that are there or come, by their places. */
static bool merge(struct edit *edit, const struct merging *merging,
                  struct edit_column *column)
{
    const struct edit_change *change = merging->change;
    const struct edit_column *old = merging->old;
    uint32_t olds = old != NULL ? old->count : 0, next = 0;
    bool gets = merging->news != NULL, done = true;
    uint32_t replaced = gets || change->column_count == 0 ? change->count : 0;

    for (uint32_t i = 0; i < replaced && done; i++) {
        uint32_t place = change->places[i];
        uint32_t at = olds > 0 ? count_below(old->places, olds, place) : 0;
        done = put_olds(edit, column, old, next, at - next);
        next = at < olds && old->places[at] == place ? at + 1 : at;
        if (done && gets)
            done = put(edit, column, place, merging->news, change->first + i);
    }
    return done && put_olds(edit, column, old, next, olds - next);
}

static bool merge_column(struct edit *edit, unsigned number,
                         const struct merging *merging)
{
    const struct edit_column *old = merging->old;
    struct edit_column *column = &edit->columns[edit->column_count];
    uint32_t room = (old != NULL ? old->count : 0)
                    + (merging->news != NULL ? merging->change->count : 0);
    enum vdbq_type type = old != NULL ? old->values.type : merging->news->type;
    bool done = make_column(edit, number, type, room, column)
                && merge(edit, merging, column);

    edit->column_count += column->count > 0;
    return done;
}

/* The least column, of those from `from` on, that has new values or gets some;
 * false: there is none. */
static bool next_column(const struct edit *before,
                        const struct edit_change *change, unsigned from,
                        unsigned *number, struct merging *merging)
{
    *number = UINT32_MAX;
    *merging = (struct merging){ .change = change };
    for (unsigned i = 0; i < before->column_count; i++)
        if (before->columns[i].column >= from
            && before->columns[i].column < *number)
            *number = before->columns[i].column;
    for (unsigned i = 0; i < change->column_count; i++)
        if (change->columns[i] >= from && change->columns[i] < *number)
            *number = change->columns[i];
    if (*number == UINT32_MAX)
        return false;
    merging->old = edit_column(before, *number);
    for (unsigned i = 0; i < change->column_count; i++)
        if (change->columns[i] == *number)
            merging->news = &change->vectors[i];
    return true;
}

/* The places of rows that are gone: those that were, and those that go. */
static bool merge_gone(struct edit *edit, const struct edit *before,
                       const struct edit_change *change)
{
    uint32_t more = change->column_count == 0 ? change->count : 0;
    uint32_t a = 0, b = 0;

    edit->gone = arena_alloc(&edit->arena, (before->gone_count + (size_t)more)
                                               * sizeof *edit->gone);
    while (edit->gone != NULL && (a < before->gone_count || b < more)) {
        bool old =
            b == more
            || (a < before->gone_count && before->gone[a] < change->places[b]);
        edit->gone[edit->gone_count++] =
            old ? before->gone[a++] : change->places[b++];
    }
    return edit->gone != NULL;
}

struct edit *edit_next(struct edit *before, const struct edit_change *change)
{
    struct edit *edit = edit_create(before->base, before->rows);
    size_t room = before->column_count + (size_t)change->column_count + 1;
    struct merging merging;
    unsigned number = 0;
    bool done = edit != NULL && merge_gone(edit, before, change);

    if (done)
        edit->columns = arena_alloc(&edit->arena, room * sizeof *edit->columns);
    done = done && edit->columns != NULL;
    for (unsigned from = 0;
         done && next_column(before, change, from, &number, &merging);
         from = number + 1)
        done = merge_column(edit, number, &merging);
    done = done
           && edit_note_recent(edit, before, change->places,
                               change->column_count > 0 ? change->count : 0);
    if (done)
        return edit;
    edit_release(edit);
    return NULL;
}
