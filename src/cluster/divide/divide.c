/* SPDX-License-Identifier: MIT */
/*
 * Division of steps: see divide.h.
 */
#include "cluster/divide/divide.h"

#include <assert.h>
#include <string.h>

#include "cluster/divide/divide_broadcast.h"
#include "cluster/divide/divide_distinct.h"
#include "cluster/divide/divide_exchange.h"
#include "cluster/divide/divide_groups.h"
#include "cluster/divide/divide_local.h"
#include "cluster/divide/divide_numbers.h"

/* Looks for the largest table that can be shared out. */
struct search {
    struct steps *steps;
    const struct divide_params *params;
    struct broadcasts broadcasts; /* ways in front of the best one          */
    const struct divide_way
        *before; /* where a way is sought behind this one ... */
    bool *below; /* ... by step: whether that follows from it       */
    struct divide_way best;
    const char *alone;   /* why a table is not shared out: the largest one */
    uint64_t alone_rows; /* ... its rows                                   */
};

int divide_reader(const struct steps *steps, int number, size_t *input)
{
    int found = -1;
    if (steps_readers(steps, number) != 1)
        return -1;
    for (int i = number + 1; i < (int)steps->steps.count; i++) {
        const struct vector *inputs = &steps_at(steps, i)->inputs;
        for (size_t j = 0; j < inputs->count; j++)
            if (VECTOR_ITEMS(inputs, int)[j] == number) {
                found = i;
                *input = j;
            }
    }
    return found;
}

/* Whether a program runs over the rows of a table, one after the other: that of
 * its step's input `from` - 1, or where that is 0, one of the catalogue. Other
 * axes are run over for each of these rows. */
static bool runs_over(const struct program *program, size_t from)
{
    const struct program_table *first = program->tables.items;
    return program->tables.count > 0 && first->input == from;
}

/* Whether it asks for the numbers of these rows: those of an input's are others
 * where there is but a share of them. */
static bool asks_numbers(const struct program *program)
{
    for (size_t pc = 0; pc < program->code.count; pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        if (op_facts(in->op)->form == FORM_ROWID && in->c == 0)
            return true;
    }
    return false;
}

bool divide_passes(const struct step *step, size_t input)
{
    switch (step->kind) {
    case STEP_SCAN:
        return runs_over(&step->scan.program, input + 1)
               && !asks_numbers(&step->scan.program);
    case STEP_JOIN:
        return input == 0 && step->join.kind != JOIN_RIGHT
               && step->join.kind != JOIN_FULL;
    case STEP_MAP:
    case STEP_APPLY:
    case STEP_FETCH:
        return input == 0;
    default:
        return false;
    }
}

/* The last step that passes the rows of a step on. */
static int find_top(const struct steps *steps, int number)
{
    size_t input = 0;
    int reader = divide_reader(steps, number, &input);
    while (reader >= 0 && divide_passes(steps_at(steps, reader), input)) {
        number = reader;
        reader = divide_reader(steps, number, &input);
    }
    return number;
}

/* Why what sees the rows of step `top` must see all; NULL: it need not. */
static const char *why_whole(const struct search *search, int top,
                             const struct step *sees)
{
    return sees != NULL && sees->kind == STEP_GROUP
                   && divide_has_distinct(&sees->group)
                   && !divide_groups_pays(search->steps, search->params, top)
               ? divide_distinct_alone(steps_at(search->steps, top),
                                       &sees->group, search->params->ranks)
               : NULL;
}

/* The step that sees the rows of a way's end; NULL: nobody does, or several. */
static struct step *reader_of(const struct steps *steps, int number,
                              int *reader)
{
    size_t input = 0;
    *reader = divide_reader(steps, number, &input);
    return *reader >= 0 && input == 0 ? steps_at(steps, *reader) : NULL;
}

const struct table *divide_scanned(const struct catalogue *catalogue,
                                   const struct step *step)
{
    const struct program *program = &step->scan.program;
    if (step->kind != STEP_SCAN || !runs_over(program, 0))
        return NULL;
    return catalogue_table_id(
        catalogue, VECTOR_ITEMS(&program->tables, struct program_table)[0].id);
}

/* Whether a way can be walked behind the one before, and that pays. */
static bool follows(const struct search *search, const struct divide_way *way)
{
    if (search->before == NULL)
        return true;
    if (divide_is_everywhere(
            divide_scanned(search->params->catalogue,
                           steps_at(search->steps, search->before->scan))))
        return false;
    struct broadcast broadcast =
        divide_broadcast_of(search->steps, search->before->top);
    return !search->below[way->scan]
           && divide_broadcast_pays(search->steps, search->params, broadcast,
                                    way)
           && divide_can_broadcast(search->steps, &search->broadcasts,
                                   broadcast, way->top);
}

/* Notes why a scan of so many rows is not shared out. */
static void refuse(struct search *search, uint64_t rows, const char *why)
{
    if (search->alone != NULL && rows < search->alone_rows)
        return;
    search->alone = why;
    search->alone_rows = rows;
}

/* Looks at one step. */
static void look_at(struct search *search, int number)
{
    const struct step *step = steps_at(search->steps, number);
    const struct table *table = divide_scanned(search->params->catalogue, step);
    int reader;
    if (step->kind == STEP_SEEK)
        refuse(search, step->seek.rows, "an index finds the rows");
    if (table == NULL)
        return;
    int top = find_top(search->steps, number);
    const struct step *sees = reader_of(search->steps, top, &reader);
    const char *whole = table->tablet_count < 2
                            ? "its largest table has one tablet"
                            : why_whole(search, top, sees);
    struct divide_way way = { .scan = number, .top = top, .rows = table->rows };
    way.rows += divide_local_rows(search->steps, search->params, number, top);
    if (whole != NULL)
        refuse(search, table->rows, whole);
    else if ((search->best.scan < 0 || way.rows > search->best.rows)
             && follows(search, &way))
        search->best = way;
}

/* Rows that a step gives at most, where it has a limit. */
static uint64_t rows_wanted(uint64_t offset, uint64_t limit)
{
    return offset < UINT64_MAX - limit ? offset + limit : UINT64_MAX;
}

/* Has each rank sort its rows, where only the first are wanted. The ranks' rows
 * have all columns, for the keys are looked at again. */
static bool push_sort(struct steps *steps, int *top, int reader)
{
    struct step_sort sort = steps_at(steps, reader)->sort;
    uint64_t wanted = rows_wanted(sort.offset, sort.limit);
    if (wanted == UINT64_MAX)
        return true;
    struct step *pushed = steps_insert(steps, *top, STEP_SORT);
    if (pushed == NULL
        || !vector_append(&pushed->sort.keys, sort.keys.items, sort.keys.count))
        return false;
    pushed->sort.limit = wanted;
    ++*top;
    return true;
}

/* Has each rank give no more rows than are wanted of all. */
static bool push_limit(struct steps *steps, int *top, int reader)
{
    const struct step *limit = steps_at(steps, reader);
    uint64_t wanted = rows_wanted(limit->limit.offset, limit->limit.limit);
    if (limit->inputs.count > 1 || wanted == UINT64_MAX)
        return true;
    struct step *pushed = steps_insert(steps, *top, STEP_LIMIT);
    if (pushed == NULL)
        return false;
    pushed->limit.limit = wanted;
    ++*top;
    return true;
}

/* Puts in front of the gather what each of several ranks can do of the step behind
 * it; `exchanged`: its rows are not side by side as one process has them;
 * `numbered`: the last column are numbers of them. */
static bool push(struct steps *steps, unsigned ranks, int *top, bool exchanged,
                 bool numbered)
{
    int reader;
    struct step *sees = reader_of(steps, *top, &reader);
    if (sees == NULL || ranks == 1
        || (exchanged && sees->kind == STEP_GROUP
            && !divide_is_free_group(steps, *top, &sees->group)))
        return true;
    if (sees->kind == STEP_GROUP && divide_has_distinct(&sees->group))
        return divide_distinct(steps, top, reader);
    if (sees->kind == STEP_GROUP) {
        sees->group.apart = true;
        *top = reader;
        return !numbered || divide_number_groups(steps, reader);
    }
    if (sees->kind == STEP_SORT)
        return push_sort(steps, top, reader);
    return sees->kind == STEP_LIMIT ? push_limit(steps, top, reader) : true;
}

/* The way from the other side, the left one, of the join of which the largest
 * table is the right side: only an exchange takes both. */
static struct divide_way across(const struct search *search)
{
    size_t input = 0;
    int join = divide_reader(search->steps, search->best.top, &input);
    struct divide_way none = { .scan = -1 };
    if (join < 0 || input != 1
        || steps_at(search->steps, join)->kind != STEP_JOIN)
        return none;
    int left = VECTOR_ITEMS(&steps_at(search->steps, join)->inputs, int)[0];
    const struct table *table = divide_scanned(search->params->catalogue,
                                               steps_at(search->steps, left));
    if (table == NULL || steps_readers(search->steps, left) != 1)
        return none;
    return (struct divide_way){ .scan = left,
                                .top = find_top(search->steps, left),
                                .rows = table->rows };
}

/* Has a join's sides exchanged, if there is one on the best way, or across it,
 * which is the best then. False: no memory. */
static bool exchange(struct steps *steps, const struct divide_params *params,
                     struct search *search, struct divide_exchanged *exchanged)
{
    struct divide_way other = across(search);
    const char *why = NULL;
    *exchanged = (struct divide_exchanged){ .left = -1 };
    if (!divide_local_joins(steps, params, search->best.scan, search->best.top,
                            &exchanged->local))
        return false;
    if (exchanged->local)
        return true;
    if (other.scan >= 0) {
        if (!divide_exchange(steps, params, other.scan, &other.top, exchanged))
            return false;
        if (exchanged->left >= 0) {
            search->best = other;
            return true;
        }
        why = exchanged->why;
    }
    steps_at(steps, search->best.scan)->scan.ranks = params->ranks;
    if (!divide_exchange(steps, params, search->best.scan, &search->best.top,
                         exchanged))
        return false;
    if (exchanged->why == NULL)
        exchanged->why = why;
    return true;
}

/* Notes which steps the rows of step `top` follow from, itself among them. */
static void note_below(const struct search *search, int top)
{
    bool *below = search->below;
    memset(below, 0, search->steps->steps.count * sizeof *below);
    below[top] = true;
    for (int i = top; i >= 0; i--) {
        const struct vector *inputs = &steps_at(search->steps, i)->inputs;
        for (size_t j = 0; below[i] && j < inputs->count; j++)
            below[VECTOR_ITEMS(inputs, int)[j]] = true;
    }
}

/* The best way behind that which is the best so far; none: its scan is -1. */
static struct divide_way next_way(const struct search *search)
{
    struct search next = *search;
    next.before = &search->best;
    next.best = (struct divide_way){ .scan = -1 };
    note_below(search,
               divide_broadcast_of(search->steps, search->best.top).top);
    for (int i = 0; i < (int)search->steps->steps.count; i++)
        look_at(&next, i);
    return next.best;
}

/* Has all ranks get the rows of a way, whose scan is shared out. */
static void broadcast_way(struct search *search, int scan,
                          struct broadcast broadcast)
{
    struct broadcasts *broadcasts = &search->broadcasts;
    assert(broadcasts->count < BROADCASTS_MAX);
    broadcasts->items[broadcasts->count++] = broadcast;
    steps_at(search->steps, scan)->scan.ranks = search->params->ranks;
}

/* Has all ranks go on with the rows of the best way where another one behind it is
 * worth it, which is the best then. */
static void go_on(struct search *search)
{
    struct divide_way *best = &search->best;
    for (struct divide_way next = next_way(search); next.scan >= 0;
         next = next_way(search)) {
        broadcast_way(search, best->scan,
                      divide_broadcast_of(search->steps, best->top));
        steps_at(search->steps, next.scan)->scan.ranks = search->params->ranks;
        *best = next;
    }
}

/* Has a scan in front of the best way, that each rank would run over all its table,
 * shared out where that is worth it. */
static void share_front(struct search *search, int number)
{
    struct step *step = steps_at(search->steps, number);
    const struct table *table = divide_scanned(search->params->catalogue, step);
    if (table == NULL || table->tablet_count < 2 || step->scan.ranks > 0
        || divide_is_everywhere(table))
        return;
    const struct divide_way way = { .scan = number,
                                    .top = find_top(search->steps, number),
                                    .rows = table->rows };
    struct broadcast broadcast = divide_broadcast_of(search->steps, way.top);
    if (divide_broadcast_pays(search->steps, search->params, broadcast, &way)
        && divide_can_broadcast(search->steps, &search->broadcasts, broadcast,
                                search->best.top))
        broadcast_way(search, number, broadcast);
}

/* Has all ranks get the rows of ways behind and in front of the best one where that is
 * worth it; rows of the last one in a row are `grouped`: nothing goes on behind it.
 * False: no memory. */
static bool broadcast(struct search *search, bool grouped)
{
    struct broadcasts *broadcasts = &search->broadcasts;
    search->below =
        memory_zeroed(search->steps->steps.count, sizeof *search->below);
    if (search->below == NULL)
        return false;
    if (!grouped)
        go_on(search);
    note_below(search, search->best.top);
    for (int i = 0; i < (int)search->steps->steps.count; i++)
        if (search->below[i])
            share_front(search, i);
    memory_release(search->below);
    if (!divide_broadcast(search->steps, search->params, broadcasts))
        return false;
    search->best.scan = divide_moved(broadcasts, search->best.scan);
    search->best.top = divide_moved(broadcasts, search->best.top);
    return true;
}

/* Gathers the rows of step `top`; `numbered`: in the order of the numbers that are
 * their last column. */
static bool gather(struct steps *steps, int top, unsigned ranks, bool numbered)
{
    struct step *made = steps_insert(steps, top, STEP_GATHER);
    if (made == NULL)
        return false;
    made->gather.ranks = ranks;
    return !numbered || divide_order(steps, top + 1);
}

/* What EXPLAIN says of exchanges. */
static const char *why_exchanged(const struct search *search,
                                 const struct divide_exchanged *exchanged,
                                 const struct divide_grouped *grouped)
{
    if ((exchanged->local || grouped->local) && search->broadcasts.count == 0)
        return "no: co-located: rows of equal keys are in one part";
    if (grouped->exchanged || exchanged->left >= 0)
        return grouped->exchanged ? grouped->why : exchanged->why;
    if (search->broadcasts.count == 0)
        return exchanged->why != NULL ? exchanged->why : grouped->why;
    return search->params->exchange == EXCHANGE_ON
               ? "of rows that each rank gets all of: it is set to on"
               : "of rows that each rank gets all of: costs less than to have "
                 "one scan all of their tables";
}

/* Numbers the rows of a join that is co-located; and has a scan read by parts where
 * nobody can tell, so that each rank reads its own file. */
static bool read_parts(const struct search *search, bool local, int *top,
                       bool *numbered)
{
    const int scan = search->best.scan;
    if (!local)
        return search->broadcasts.count > 0
               || !divide_local_counts(search->steps, search->params, scan,
                                       *top)
               || divide_local_scan(search->steps, search->params, scan);
    *numbered = divide_needs_numbers(search->steps, *top);
    return !*numbered
           || divide_local_number(search->steps, search->params, scan, top);
}

/* Among several ranks, or for one that has all rows. */
static bool divide(struct steps *steps, const struct divide_params *params,
                   struct query_division *division)
{
    struct search search = { .steps = steps,
                             .params = params,
                             .best = { .scan = -1 } };
    struct divide_exchanged exchanged;
    struct divide_grouped grouped = { 0 };
    division->gather = -1;
    for (int i = 0; i < (int)steps->steps.count; i++)
        look_at(&search, i);
    division->alone =
        search.alone != NULL ? search.alone : "no table is scanned";
    if (search.best.scan < 0)
        return true;
    if (!exchange(steps, params, &search, &exchanged))
        return false;
    if (exchanged.left < 0
        && !broadcast(
            &search, exchanged.local
                         || divide_groups_pays(steps, params, search.best.top)))
        return false;
    int top = search.best.top;
    bool numbered = exchanged.numbered, joined = exchanged.left >= 0;
    if (numbered && !divide_number_rows(steps, exchanged.left, &top))
        return false;
    if (!joined
        && !divide_groups(steps, params, search.best.scan, &top,
                          exchanged.local, &grouped))
        return false;
    numbered |= grouped.numbered;
    bool moved = joined || grouped.exchanged || grouped.local;
    division->exchange = why_exchanged(&search, &exchanged, &grouped);
    if (!moved && !read_parts(&search, exchanged.local, &top, &numbered))
        return false;
    moved |= exchanged.local;
    if (!push(steps, params->ranks, &top, moved, numbered)
        || !gather(steps, top, params->ranks, numbered))
        return false;
    division->gather = top + 1;
    division->alone = NULL;
    return true;
}

bool steps_divide(struct steps *steps, const struct divide_params *params,
                  struct query_division *division)
{
    struct divide_params own = *params;
    if (params->ranks == 1)
        own.exchange = EXCHANGE_OFF;
    bool done = divide(steps, &own, division);
    if (params->ranks == 1)
        division->exchange = NULL; /* there is nobody to exchange with */
    return done;
}
