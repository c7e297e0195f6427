/* SPDX-License-Identifier: MIT */
/*
 * Merging runs: see sort_merge.h. A tree of losers has the runs by their next rows
 * [Knuth, The Art of Computer Programming, volume 3, 5.4.1]. Rows are picked run by
 * run and then copied column by column, at the latest when a block of a run ends.
 */
#include "exec/sort/sort_merge.h"

#include <assert.h>

#include "base/memory.h"
#include "exec/sort/sort_codes.h"

enum {
    PICKS = 1 << 12
}; /* rows that are picked at most before they are
                             copied                                       */

/* A run, and its next row. */
struct head {
    struct spill_reader reader;
    struct vdbq_batch batch; /* a block of the run */
    uint64_t at;             /* the next row of it */
};

/* A head that has played. */
struct player {
    uint64_t code; /* of its next row: sort_code_at() */
    uint32_t head; /* its number; NO_HEAD: of a run that has ended */
};
enum { NO_HEAD = 0x7fffffff };

struct sort_merge {
    struct sort_merge_params params;
    struct head *heads;      /* of each run */
    struct sort_codes codes; /* of their rows */
    struct player *tree; /* 0: whose row goes first; place n, of 1 to the number
                                of runs - 1, has who lost against who came from
                                below there. Run i comes from place (i + number) / 2 */
    unsigned count;      /* runs that have rows left */
    uint32_t *from;      /* picked rows: their heads ... */
    uint32_t *rows;      /* ... and rows of the blocks   */
    unsigned picks;      /* how many */
    const void **values; /* of one column, in each head's block */
    const uint8_t **nulls;
};

/* --------------------------------------------------------------- order -- */

/* Whether the key of a row is NULL. */
static bool is_null(const struct vdbq_vector *key, uint64_t row)
{
    return key->nulls != NULL && key->nulls[row] != 0;
}

/* The key of a head's row: a code, and whether that is compared behind others
 * (NULLs lie on one side of all values). */
static uint64_t code_of(const struct head *head, const struct step_key *key,
                        bool *late)
{
    const struct vdbq_vector *vector = &head->batch.column[key->column];
    bool null = is_null(vector, head->at);
    *late = null == key->nulls_last;
    if (null)
        return 0;
    uint64_t code = order_at(sort_type(vector->type), vector->values, head->at);
    return key->descending ? ~code : code;
}

/* Whether the row of head `a` goes before that of head `b`; their numbers are
 * equal, and may lack bits of the keys. */
static bool goes_before(const struct sort_merge *merge, uint32_t a, uint32_t b)
{
    if (a == NO_HEAD || b == NO_HEAD)
        return a != NO_HEAD;
    const struct head *x = &merge->heads[a], *y = &merge->heads[b];
    for (unsigned i = 0; i < merge->params.key_count; i++) {
        const struct step_key *key = &merge->params.keys[i];
        bool late_x, late_y;
        uint64_t code_x = code_of(x, key, &late_x);
        uint64_t code_y = code_of(y, key, &late_y);
        if (late_x != late_y)
            return late_y;
        if (code_x != code_y)
            return code_x < code_y;
    }
    return a < b;
}

/* ---------------------------------------------------------------- tree -- */

/* Whether a player wins by the numbers, equal ones by those of their runs: without
 * a branch, since nobody can foretell it. */
static inline bool wins(struct player a, struct player b)
{
    return (a.code < b.code) | ((a.code == b.code) & (a.head < b.head));
}

/* The same where equal numbers decide nothing. */
static bool wins_by_keys(const struct sort_merge *merge, struct player a,
                         struct player b)
{
    return a.code != b.code ? a.code < b.code
                            : goes_before(merge, a.head, b.head);
}

/* Lets run `number` play with its next row, `player`, up to the top. */
static void play(struct sort_merge *merge, unsigned number,
                 struct player player)
{
    struct player *tree = merge->tree;
    unsigned at = (number + merge->params.count) / 2;
    if (merge->codes.exact)
        for (; at > 0; at /= 2) {
            struct player other = tree[at];
            bool other_wins = wins(other, player);
            tree[at] = other_wins ? player : other;
            player = other_wins ? other : player;
        }
    else
        for (; at > 0; at /= 2)
            if (wins_by_keys(merge, tree[at], player)) {
                struct player other = tree[at];
                tree[at] = player;
                player = other;
            }
    tree[0] = player;
}

/* A head with its next row, or a run that has ended. */
static struct player player_of(const struct sort_merge *merge, uint32_t number)
{
    const struct head *head = &merge->heads[number];
    if (head->batch.rows == 0)
        return (struct player){ .code = UINT64_MAX, .head = NO_HEAD };
    assert(head->at < head->batch.rows);
    return (struct player){ .code = sort_code_at(&merge->codes,
                                                 head->batch.column, head->at),
                            .head = number };
}

/* Has all runs play; false: no memory. */
static bool play_all(struct sort_merge *merge)
{
    unsigned count = merge->params.count;
    struct player *winners =
        memory_zeroed(2 * (size_t)count + 1, sizeof *winners);
    if (winners == NULL)
        return false;
    for (unsigned i = 0; i < count; i++)
        winners[count + i] = player_of(merge, i);
    for (unsigned at = count; at-- > 1;) {
        struct player a = winners[2 * at], b = winners[2 * at + 1];
        bool first = wins_by_keys(merge, a, b);
        winners[at] = first ? a : b;
        merge->tree[at] = first ? b : a;
    }
    merge->tree[0] = count > 0 ? winners[1] : (struct player){ 0 };
    memory_release(winners);
    return true;
}

/* Reads the next block of a head; it has no rows at the run's end. */
static enum vdbq_status read_block(struct head *head, struct error *error)
{
    head->at = 0;
    return spill_read(&head->reader, &head->batch, error);
}

/* Brings the next row of the foremost run, of which a block has ended. */
static enum vdbq_status refill(struct sort_merge *merge, struct error *error)
{
    uint32_t first = merge->tree[0].head;
    struct head *head = &merge->heads[first];
    enum vdbq_status status = read_block(head, error);
    if (status == VDBQ_OK) {
        merge->count -= head->batch.rows == 0;
        play(merge, first, player_of(merge, first));
    }
    return status;
}

/* ---------------------------------------------------- create, destroy -- */

/* Opens all runs, and has them play. */
static enum vdbq_status open_heads(struct sort_merge *merge,
                                   struct error *error)
{
    const struct sort_merge_params *params = &merge->params;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < params->count && status == VDBQ_OK; i++) {
        struct head *head = &merge->heads[i];
        unsigned partition = params->first + i;
        status = spill_reader_init(
            &head->reader,
            &(struct spill_range){ .spill = params->spill,
                                   .partition = partition,
                                   .rows =
                                       spill_rows(params->spill, partition) },
            error);
        if (status == VDBQ_OK)
            status = read_block(head, error);
        merge->count += status == VDBQ_OK && head->batch.rows > 0;
    }
    if (status == VDBQ_OK && !play_all(merge))
        status = error_no_memory(error);
    return status;
}

enum vdbq_status sort_merge_create(const struct sort_merge_params *params,
                                   struct sort_merge **merge,
                                   struct error *error)
{
    assert(params->key_count > 0 && params->spill->plain);
    struct sort_merge *made = memory_zeroed(1, sizeof *made);
    size_t count = params->count > 0 ? params->count : 1;
    *merge = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->params = *params;
    made->heads = memory_zeroed(count, sizeof *made->heads);
    made->tree = memory_zeroed(count, sizeof *made->tree);
    made->values = memory_zeroed(count, sizeof *made->values);
    made->nulls = memory_zeroed(count, sizeof *made->nulls);
    made->from = memory_zeroed(PICKS, sizeof *made->from);
    made->rows = memory_zeroed(PICKS, sizeof *made->rows);
    enum vdbq_status status =
        sort_codes_init(&made->codes, params->spill->columns, params->keys,
                        params->key_count, params->extents, error);
    if (!made->heads || !made->tree || !made->values || !made->nulls
        || !made->from || !made->rows)
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        status = open_heads(made, error);
    if (status == VDBQ_OK)
        *merge = made;
    else
        sort_merge_destroy(made);
    return status;
}

void sort_merge_destroy(struct sort_merge *merge)
{
    if (merge == NULL)
        return;
    for (unsigned i = 0; merge->heads != NULL && i < merge->params.count; i++)
        spill_reader_finish(&merge->heads[i].reader);
    memory_release(merge->heads);
    memory_release(merge->tree);
    sort_codes_finish(&merge->codes);
    memory_release((void *)merge->values);
    memory_release((void *)merge->nulls);
    memory_release(merge->from);
    memory_release(merge->rows);
    memory_release(merge);
}

/* ---------------------------------------------------------------- copy -- */

/* Looks at a column in all blocks; whether any has NULLs. */
static bool look_at(const struct sort_merge *merge, unsigned column)
{
    bool nulls = false;
    for (unsigned i = 0; i < merge->params.count; i++) {
        const struct vdbq_batch *batch = &merge->heads[i].batch;
        if (batch->rows == 0)
            continue;
        merge->values[i] = batch->column[column].values;
        merge->nulls[i] = batch->column[column].nulls;
        nulls |= merge->nulls[i] != NULL;
    }
    return nulls;
}

/* Copies the values of the picked rows behind the output's. */
static void copy_values(const struct sort_merge *merge,
                        const struct row_set_column *to, uint64_t at)
{
    const uint32_t *from = merge->from, *rows = merge->rows;
    uint32_t *narrow = (uint32_t *)to->values + at;
    uint64_t *wide = (uint64_t *)to->values + at;
    if (to->width == sizeof *narrow)
        for (unsigned i = 0; i < merge->picks; i++)
            narrow[i] = ((const uint32_t *)merge->values[from[i]])[rows[i]];
    else
        for (unsigned i = 0; i < merge->picks; i++)
            wide[i] = ((const uint64_t *)merge->values[from[i]])[rows[i]];
}

static void copy_nulls(const struct sort_merge *merge, uint8_t *to)
{
    for (unsigned i = 0; i < merge->picks; i++) {
        const uint8_t *nulls = merge->nulls[merge->from[i]];
        to[i] = nulls != NULL && nulls[merge->rows[i]] != 0;
    }
}

/* Copies what was picked; there is room. */
static enum vdbq_status copy_picks(struct sort_merge *merge,
                                   struct row_set *output, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    assert(output->rows + merge->picks <= output->rows_room);
    for (unsigned i = 0; i < output->column_count && status == VDBQ_OK; i++) {
        struct row_set_column *to = &output->columns[i];
        if (look_at(merge, i))
            status = row_set_flags(output, i, error);
        if (status != VDBQ_OK)
            break;
        copy_values(merge, to, output->rows);
        if (to->nulls != NULL)
            copy_nulls(merge, to->nulls + output->rows);
    }
    output->rows += merge->picks;
    merge->picks = 0;
    return status;
}

/* Picks rows until a block ends, or there are so many; whether one ended. */
static bool pick(struct sort_merge *merge, uint64_t most)
{
    while (merge->picks < most) {
        uint32_t first = merge->tree[0].head;
        struct head *head = &merge->heads[first];
        merge->from[merge->picks] = first;
        merge->rows[merge->picks++] = (uint32_t)head->at++;
        if (head->at == head->batch.rows)
            return true;
        play(merge, first, player_of(merge, first));
    }
    return false;
}

enum vdbq_status sort_merge_rows(struct sort_merge *merge, uint64_t rows,
                                 struct row_set *output, struct error *error)
{
    assert(output->rows == 0 && merge->picks == 0);
    enum vdbq_status status = row_set_room(output, rows, error);
    while (status == VDBQ_OK && merge->count > 0 && output->rows < rows) {
        uint64_t left = rows - output->rows;
        bool ended = pick(merge, left < PICKS ? left : PICKS);
        status = copy_picks(merge, output, error);
        if (status == VDBQ_OK && ended)
            status = refill(merge, error);
    }
    return status;
}
