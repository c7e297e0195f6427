/* SPDX-License-Identifier: MIT */
/*
 * Conditions of joins. A condition's program outputs columns that nobody
 * needs; the one that runs is the same with the row's number in their place.
 */
#include "exec/join/condition.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "exec/stream/stream_inner.h"

/* ------------------------------------------------------------- program -- */

/* How instructions move to where they are in the new program. */
struct moving {
    int shift;  /* of those in the rows' part */
    int result; /* Result's old place: one more stands in front of it */
};

/* The new place of a jump's target. */
static int moved(const struct moving *moving, int target)
{
    return target + moving->shift + (target > moving->result);
}

/* Shifts every jump of the instruction. */
static struct instruction move(const struct moving *moving,
                               struct instruction in)
{
    const char *letters = op_operands(in.op);
    int *const operands[4] = { &in.a, &in.b, &in.c, &in.d };
    for (int i = 0; i < 4; i++)
        if (letters[i] == 'j')
            *operands[i] = moved(moving, *operands[i]);
    return in;
}

/* Adds the row's number and its output. */
static bool add_result(struct program *program, int register_)
{
    return program_add(program, &(struct instruction){ .op = OP_ROWID_I64,
                                                       .a = register_ })
               >= 0
           && program_add(program, &(struct instruction){ .op = OP_RESULT,
                                                          .a = register_,
                                                          .b = 1 })
                  >= 0;
}

/* Where the only OP_RESULT of the program is. */
static int result_at(const struct program *program)
{
    int pc = program_part(program).first;
    assert(pc > 0);
    while (program_at(program, pc)->op != OP_RESULT)
        pc++;
    return pc;
}

/* Copies the condition, but a pair that passes gives its row number, not its
   columns. */
static bool make_program(const struct program *from, struct program *made)
{
    struct moving moving = { .shift = 1 - (int)program_results(from),
                             .result = result_at(from) };
    struct instruction column = { .op = OP_RESULT_COLUMN,
                                  .a = TYPE_I64,
                                  .name = "row" };
    int count = (int)from->code.count;
    bool good =
        vector_append(&made->tables, from->tables.items, from->tables.count)
        && program_add(made, program_at(from, 0)) >= 0
        && program_add(made, &column) >= 0;
    for (int pc = program_part(from).first - 1; pc < count && good; pc++) {
        struct instruction in = move(&moving, *program_at(from, pc));
        if (in.op == OP_RESULT)
            good = add_result(made, (int)from->registers);
        else
            good = program_add(made, &in) >= 0;
    }
    return good;
}

enum vdbq_status condition_program(const struct program *from,
                                   struct program *made, struct error *error)
{
    program_init(made);
    return make_program(from, made) ? program_check(made, error)
                                    : error_no_memory(error);
}

/* The words of the columns of a pair. */
static struct dictionary **words_of_pairs(const struct condition_params *params)
{
    unsigned left = params->left->column_count;
    unsigned right = params->right->column_count;
    struct dictionary **dictionaries =
        memory_zeroed(left + right, sizeof *dictionaries);
    for (unsigned i = 0; dictionaries != NULL && i < left; i++)
        dictionaries[i] = params->left->columns[i].dictionary;
    for (unsigned i = 0; dictionaries != NULL && i < right; i++)
        dictionaries[left + i] = params->right->columns[i].dictionary;
    return dictionaries;
}

enum vdbq_status condition_init(struct condition *condition,
                                const struct condition_params *params,
                                struct error *error)
{
    *condition =
        (struct condition){ .threads = stream_threads(params->stream) };
    enum vdbq_status status =
        condition_program(params->program, &condition->program, error);
    if (status != VDBQ_OK)
        return status;
    const struct stream_params *stream = params->stream;
    struct run_place place;
    status = stream->choose(stream->choose_context, NULL, &condition->program,
                            params->pairs, &place, error);
    if (status != VDBQ_OK)
        return status;
    struct dictionary **dictionaries = words_of_pairs(params);
    if (dictionaries == NULL)
        return error_no_memory(error);
    status = host_morsels_init(
        &condition->morsels,
        &(struct host_morsels_params){ .stream = stream,
                                       .place = &place,
                                       .program = &condition->program,
                                       .dictionaries = dictionaries,
                                       .rows = params->pairs },
        error);
    memory_release(dictionaries);
    return status;
}

void condition_finish(struct condition *condition)
{
    host_morsels_finish(&condition->morsels);
    program_finish(&condition->program);
    memory_release(condition->left);
    memory_release(condition->right);
    memory_release(condition->at);
    *condition = (struct condition){ 0 };
}

/* ----------------------------------------------------------------- run -- */

/* Makes an array of row numbers larger; false: no memory, and it is as it
   was. */
static bool grow(uint32_t **numbers, uint64_t count)
{
    uint32_t *larger = memory_resize(*numbers, count * sizeof *larger);
    if (larger != NULL)
        *numbers = larger;
    return larger != NULL;
}

/* Makes room for the pairs of a morsel. */
static enum vdbq_status make_room(struct condition *condition, uint64_t rows,
                                  struct error *error)
{
    if (rows <= condition->room)
        return VDBQ_OK;
    if (!grow(&condition->left, rows) || !grow(&condition->right, rows)
        || !grow(&condition->at, rows))
        return error_no_memory(error);
    condition->room = rows;
    return VDBQ_OK;
}

/* Candidates [first, first + count), whose pairs threads take. */
struct taking {
    struct condition *condition;               /* gets the pairs */
    const struct condition_pairs *pairs;       /* the candidates */
    uint64_t first, count;                     /* those at hand */
    unsigned threads;                          /* that share them */
    uint64_t places[PARALLEL_THREADS_MAX + 1]; /* where each share's pairs go,
                                            and how many all are */
};

/* Where a thread's share begins. */
static uint64_t share_start(const struct taking *taking, unsigned share)
{
    assert(share <= taking->threads);
    return taking->first + taking->count * share / taking->threads;
}

/* How many pairs a thread's share has, for those behind. */
static void count_share(void *context, unsigned share)
{
    struct taking *taking = context;
    const uint32_t *right = taking->pairs->right_rows;
    uint64_t end = share_start(taking, share + 1), count = 0;
    for (uint64_t i = share_start(taking, share); i < end; i++)
        count += right[i] != ROW_SET_NO_ROW;
    taking->places[share + 1] = count;
}

/* Copies the pairs of a thread's share. */
static void take_share(void *context, unsigned share)
{
    const struct taking *taking = context;
    const struct condition *condition = taking->condition;
    const struct condition_pairs *pairs = taking->pairs;
    uint64_t at = taking->places[share], end = share_start(taking, share + 1);
    for (uint64_t i = share_start(taking, share); i < end; i++) {
        if (pairs->right_rows[i] == ROW_SET_NO_ROW)
            continue;
        condition->left[at] = pairs->left_rows[i];
        condition->right[at] = pairs->right_rows[i];
        condition->at[at++] = (uint32_t)i;
    }
    assert(at == taking->places[share + 1]);
}

/* Takes the pairs of candidates [first, first + count), behind those that were
 * taken; how many there are then. */
static uint64_t take_more(struct condition *condition,
                          const struct condition_pairs *pairs, uint64_t first,
                          uint64_t count, uint64_t taken)
{
    struct taking taking = { .condition = condition,
                             .pairs = pairs,
                             .first = first,
                             .count = count,
                             .threads =
                                 parallel_threads(condition->threads, count),
                             .places = { taken } };
    parallel_run(taking.threads, count_share, &taking);
    for (unsigned i = 0; i < taking.threads; i++)
        taking.places[i + 1] += taking.places[i];
    parallel_run(taking.threads, take_share, &taking);
    return taking.places[taking.threads];
}

/* Takes up to `most` pairs from candidate *next on; how many. As many
 * candidates as there is room for never have too many. */
static uint64_t take_pairs(struct condition *condition,
                           const struct condition_pairs *pairs, uint64_t most,
                           uint64_t *next)
{
    uint64_t taken = 0;
    while (*next < pairs->count && taken < most) {
        uint64_t left = pairs->count - *next, room = most - taken;
        uint64_t count = left < room ? left : room;
        taken = take_more(condition, pairs, *next, count, taken);
        *next += count;
    }
    return taken;
}

/* Runs the morsel that was filled, and marks what it keeps. */
static enum vdbq_status run_morsel(struct condition *condition, uint8_t *kept,
                                   struct error *error)
{
    struct host_morsels *morsels = &condition->morsels;
    int64_t first = (int64_t)morsels->rows_started;
    enum vdbq_status status = host_morsels_start(morsels, error);
    while (status == VDBQ_OK && host_morsels_in_flight(morsels) > 0) {
        struct vdbq_batch batch = { 0 };
        status = host_morsels_batch(morsels, &batch, error);
        assert(status != VDBQ_OK || batch.columns == 1);
        for (uint64_t i = 0; status == VDBQ_OK && i < batch.rows; i++)
            kept[condition->at[((const int64_t *)batch.column[0].values)[i]
                               - first]] = 1;
    }
    return status;
}

enum vdbq_status condition_run(struct condition *condition,
                               const struct condition_pairs *pairs,
                               uint8_t *kept, uint64_t *judged,
                               struct error *error)
{
    struct host_morsels *morsels = &condition->morsels;
    enum vdbq_status status = VDBQ_OK;
    uint64_t next = 0;
    memset(kept, 0, pairs->count);
    *judged = 0;
    while (next < pairs->count && status == VDBQ_OK) {
        struct host_morsel *morsel;
        status = host_morsels_begin(morsels, &morsel, error);
        if (status == VDBQ_OK)
            status = make_room(condition, morsel->rows_room, error);
        assert(status != VDBQ_OK || condition->room >= morsel->rows_room);
        if (status != VDBQ_OK)
            return status;
        uint64_t count = take_pairs(condition, pairs, morsel->rows_room, &next);
        if (count == 0)
            break;
        host_morsel_pick(morsels, morsel, 0, pairs->left, condition->left,
                         count);
        host_morsel_pick(morsels, morsel, pairs->left->column_count,
                         pairs->right, condition->right, count);
        status = run_morsel(condition, kept, error);
        if (status == VDBQ_RANGE)
            *judged = condition->at[launcher_rows_before(morsels->launcher)];
    }
    return status;
}
