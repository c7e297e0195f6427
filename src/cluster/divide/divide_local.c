/* SPDX-License-Identifier: MIT */
/*
 * Co-located joins and groups: see divide_local.h. What is a key of a join, or of a
 * group, is followed down to the column of a table that it is the value of; what is
 * computed is none.
 *
 * Where a row may fail on the way to a join it is not co-located: a rank whose part of
 * one table is empty does not look at the other one, and would not see the row.
 */
#include "cluster/divide/divide_local.h"

#include <assert.h>
#include <string.h>

#include "cluster/divide/divide_exchange.h"
#include "cluster/divide/divide_numbers.h"

enum { MEMBERS_MAX = 16 };

/* Where the values of a column come from. */
struct origin {
    int scan;                  /* the step; -1: they are computed             */
    const struct table *table; /* that it scans                               */
    unsigned column;           /* of the table                                */
    bool partial; /* NULL stands for rows that are not there, too */
};
static const struct origin no_origin = { .scan = -1 };

/* Scans whose tables lie alike, and whose rows of equal keys are joined. */
struct members {
    const struct steps *steps;
    const struct divide_params *params;
    int scans[MEMBERS_MAX]; /* the first one is the way's */
    unsigned count;
};

bool divide_is_everywhere(const struct table *table)
{
    return table->parts != NULL && table->parts->key_count == 0;
}

static int input_of(const struct step *step, size_t number)
{
    return VECTOR_ITEMS(&step->inputs, int)[number];
}

/* Whether a step scans a table that lies by hash in a part for each rank. */
static bool lies_by_hash(const struct steps *steps,
                         const struct divide_params *params, int number)
{
    const struct table *table =
        divide_scanned(params->catalogue, steps_at(steps, number));
    return table != NULL && params->ranks > 1
           && (table_is_copy(table) || table_copy(table) != NULL)
           && table->parts->parts == params->ranks;
}

/* -------------------------------------------------------------- origin -- */

/* The instruction that writes a register, behind casts that keep values; NULL: there
 * is none. */
static const struct instruction *writer_of(const struct program *program,
                                           int register_)
{
    const struct program_part part = program_part(program);
    for (int pc = part.converge; register_ >= 0 && pc-- > part.first;) {
        const struct instruction *in = program_at(program, pc);
        if (instruction_writes(in) != register_)
            continue;
        if (in->op != OP_CAST_I64_I32)
            return in;
        register_ = in->b; /* written before */
    }
    return NULL;
}

/* Whether an instruction loads a column, or a primary key. */
static bool is_load(const struct instruction *in)
{
    const enum op_form form = op_facts(in->op)->form;
    return (form == FORM_COLUMN && in->op != OP_COLUMN_NULL)
           || form == FORM_ROWID
           || (form == FORM_COLUMN_AT && in->op != OP_COLUMN_AT_NULL);
}

/* Whether a result is NULL just where the column is that it loads. */
static bool has_its_nulls(const struct program *program,
                          const struct instruction *load, int null_register)
{
    const struct instruction *in = writer_of(program, null_register);
    if (null_register < 0)
        return true;
    return in != NULL
           && (in->op == OP_COLUMN_NULL || in->op == OP_COLUMN_AT_NULL)
           && in->b == load->b && in->c == load->c && in->d == load->d;
}

/* The column of a table that an instruction loads; the number of them: none. */
static unsigned column_of(const struct table *table,
                          const struct instruction *load)
{
    const unsigned column = (unsigned)load->b;
    if (op_facts(load->op)->form == FORM_ROWID)
        return table->key != NO_KEY ? table->key : table->column_count;
    return column + (table->key != NO_KEY && column >= table->key);
}

/* Follows a load of a scan: to the table, or to a column of an input, where
 * `*number` and `*column` are that. False: it is neither. */
static bool follow(const struct steps *steps,
                   const struct divide_params *params,
                   const struct instruction *load, int *number,
                   unsigned *column, struct origin *origin)
{
    const struct step *step = steps_at(steps, *number);
    const struct program_table *from =
        vector_at(&step->scan.program.tables, (size_t)load->c);
    const bool rowid = op_facts(load->op)->form == FORM_ROWID;
    origin->partial |= op_facts(load->op)->form == FORM_COLUMN_AT;
    if (from->input > 0) {
        *number = input_of(step, from->input - 1);
        *column = (unsigned)load->b;
        return !rowid && *column < steps_at(steps, *number)->column_count;
    }
    origin->table = catalogue_table_id(params->catalogue, from->id);
    if (origin->table == NULL)
        return false;
    origin->scan = *number;
    origin->column = column_of(origin->table, load);
    return origin->column < origin->table->column_count;
}

/* Goes down to the input of a step that is no scan which has a column. */
static bool go_down(const struct steps *steps, int *number, unsigned *column,
                    bool *partial)
{
    const struct step *step = steps_at(steps, *number);
    const enum step_kind kind = step->kind;
    if (kind == STEP_GROUP) {
        *number = input_of(step, 0);
        return *column < step->group.keys;
    }
    if (kind != STEP_JOIN && kind != STEP_MAP && kind != STEP_APPLY
        && kind != STEP_FETCH)
        return false;
    const unsigned left = steps_at(steps, input_of(step, 0))->column_count;
    *number = input_of(step, 0);
    if (*column < left) {
        *partial |=
            kind == STEP_JOIN
            && (step->join.kind == JOIN_RIGHT || step->join.kind == JOIN_FULL);
        return true;
    }
    if (kind != STEP_JOIN || step->join.kind > JOIN_FULL)
        return false;
    *partial |= step->join.kind != JOIN_INNER;
    *number = input_of(step, 1);
    *column -= left;
    return *column < steps_at(steps, *number)->column_count;
}

/* Where a value comes from that an instruction of step `number` loads, or, where that
 * is NULL, a column of it. */
static struct origin origin_from(const struct steps *steps,
                                 const struct divide_params *params, int number,
                                 unsigned column,
                                 const struct instruction *load)
{
    struct origin origin = no_origin;
    while (origin.scan < 0) {
        const struct step *step = steps_at(steps, number);
        const struct program *program = &step->scan.program;
        if (step->kind != STEP_SCAN) {
            if (!go_down(steps, &number, &column, &origin.partial))
                return no_origin;
            continue;
        }
        if (load == NULL) {
            const struct program_result result =
                program_result(program, column);
            load = writer_of(program, result.register_);
            if (load != NULL
                && !has_its_nulls(program, load, result.null_register))
                return no_origin;
        }
        if (load == NULL || !is_load(load)
            || !follow(steps, params, load, &number, &column, &origin))
            return no_origin;
        load = NULL;
    }
    return origin;
}

static struct origin origin_of(const struct members *members, int number,
                               int column)
{
    return origin_from(members->steps, members->params, number,
                       (unsigned)column, NULL);
}

/* ---------------------------------------------------------------- alike -- */

static bool is_whole_number(enum vdbq_type type)
{
    return type == VDBQ_INTEGER || type == VDBQ_BIGINT || type == VDBQ_SMALLINT;
}

/* Whether equal values of two columns have the same hash. */
static bool hash_alike(const struct column *one, const struct column *other)
{
    if (is_whole_number(one->type))
        return is_whole_number(other->type);
    return one->type == other->type && one->scale == other->scale;
}

/* Whether a value is that of key `key` of a member that lies as `table` does. */
static bool is_key(const struct members *members, const struct origin *origin,
                   const struct table *table, unsigned key)
{
    bool member = false;
    for (unsigned i = 0; i < members->count; i++)
        member |= members->scans[i] == origin->scan;
    if (!member || origin->table->parts->key_count != table->parts->key_count
        || origin->table->parts->keys[key] != origin->column)
        return false;
    return hash_alike(&origin->table->columns[origin->column],
                      &table->columns[table->parts->keys[key]]);
}

/* Two values that are equal for rows that are joined. */
struct equal {
    struct origin left, right;
};

/* Whether rows of a scan are joined with those of members on their rank: each key by
 * which its table lies is equal to theirs. */
static bool is_covered(const struct members *members, int scan,
                       const struct equal *equals, size_t count)
{
    const struct table *table = divide_scanned(members->params->catalogue,
                                               steps_at(members->steps, scan));
    for (unsigned key = 0; key < table->parts->key_count; key++) {
        bool found = false;
        for (size_t i = 0; !found && i < count; i++)
            found = equals[i].right.scan == scan
                    && equals[i].right.column == table->parts->keys[key]
                    && is_key(members, &equals[i].left, table, key);
        if (!found)
            return false;
    }
    return true;
}

/* -------------------------------------------------------------- members -- */

/* Whether a step groups rows and cannot fail. A group by the keys of a part is whole
 * there; one by others is not, but then it is not covered, either. */
static bool is_group(const struct step *step)
{
    bool free = step->kind == STEP_GROUP && !step->group.apart;
    for (size_t i = 0; free && i < step->group.aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&step->group.aggregates, i);
        free = aggregate->function != AGGREGATE_SUM;
    }
    return free;
}

/* The scan whose rows, or groups, a step of one reader gives, where none fails on the
 * way and the scan can be of a part; -1: there is none. */
static int bottom_of(const struct members *members, int number)
{
    const struct steps *steps = members->steps;
    while (steps_readers(steps, number) == 1) {
        const struct step *step = steps_at(steps, number);
        if (!divide_is_free(step) && !is_group(step))
            return -1;
        if (step->kind == STEP_SCAN && step->scan.ranks == 0
            && lies_by_hash(steps, members->params, number))
            return number;
        if (!divide_passes(step, 0) && !is_group(step))
            return -1;
        number = input_of(step, 0);
    }
    return -1;
}

static void add_member(struct members *members, int scan,
                       const struct equal *equals, size_t count)
{
    if (members->count < MEMBERS_MAX
        && is_covered(members, scan, equals, count))
        members->scans[members->count++] = scan;
}

/* Looks at the right side of a join. */
static void try_join(struct members *members, int number)
{
    const struct step *step = steps_at(members->steps, number);
    const struct step_join *join = &step->join;
    const int left = input_of(step, 0), right = input_of(step, 1);
    struct equal equals[PART_KEYS_MAX];
    const size_t keys = join->left_keys.count;
    const int scan = bottom_of(members, right);
    if (scan < 0 || join->kind == JOIN_MARK || join->nulls_match
        || keys > PART_KEYS_MAX)
        return;
    for (size_t i = 0; i < keys; i++)
        equals[i] = (struct equal){
            origin_of(members, left, VECTOR_ITEMS(&join->left_keys, int)[i]),
            origin_of(members, right, VECTOR_ITEMS(&join->right_keys, int)[i])
        };
    add_member(members, scan, equals, keys);
}

/* The instruction that probes a cursor; NULL: there is none, there are several, or
 * it is read in other ways, too. */
static const struct instruction *probe_of(const struct program *program,
                                          int cursor)
{
    const struct program_part part = program_part(program);
    const struct instruction *probe = NULL;
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct instruction *in = program_at(program, pc);
        const enum op_form form = op_facts(in->op)->form;
        if (in->c != cursor)
            continue;
        if (form == FORM_COLUMN || form == FORM_ROWID
            || (form == FORM_PROBE && probe != NULL))
            return NULL;
        if (form == FORM_PROBE)
            probe = in;
    }
    return probe;
}

/* Looks at a table that a scan probes. */
static void try_probe(struct members *members, int number, int cursor)
{
    const struct step *step = steps_at(members->steps, number);
    const struct program *program = &step->scan.program;
    const struct program_table *table = vector_at(&program->tables, cursor);
    const struct instruction *probe = probe_of(program, cursor);
    if (table->input == 0 || probe == NULL)
        return;
    const int build = input_of(step, table->input - 1);
    const int scan = bottom_of(members, build);
    const struct instruction *key = writer_of(program, probe->b);
    if (scan < 0 || key == NULL || !is_load(key))
        return;
    const struct equal equal = { origin_from(members->steps, members->params,
                                             number, 0, key),
                                 origin_of(members, build, probe->d) };
    add_member(members, scan, &equal, 1);
}

/* Whether all rows of any group of step `top` are in one part. */
static bool is_whole_group(const struct steps *steps,
                           const struct divide_params *params, int top,
                           const struct step_group *group);

/* Sums of a group that do not fit one after another: each tells of its own place.
 * Without keys the first of them is told in any case. */
static unsigned count_sums(const struct step_group *group, bool whole)
{
    unsigned sums = 0;
    for (size_t i = 0;
         (whole || group->keys > 0) && i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        sums += aggregate->function == AGGREGATE_SUM;
    }
    return sums;
}

/* Whether a group is the same whatever the order of ranks' rows is, as long as it can
 * be told; `faults` may fail before. */
static bool can_group(const struct steps *steps,
                      const struct divide_params *params, int top,
                      unsigned faults)
{
    size_t input;
    const struct step_group *group = divide_group_of(steps, top);
    if (group == NULL)
        return true;
    const bool whole = is_whole_group(steps, params, top, group);
    const unsigned sums = count_sums(group, whole);
    if (!whole)
        return sums <= 1 && divide_is_free_group(steps, top, group);
    return sums + faults <= 1
           && divide_can_number(
               steps_at(steps, divide_reader(steps, top, &input)));
}

/* Whether rows of a way may come in the order of parts: one process would give the
 * same rows, groups and errors where they have numbers if they need some. A failure
 * is the same for all rows if there is one instruction that fails. */
static bool can_part(const struct steps *steps,
                     const struct divide_params *params, int scan, int top)
{
    unsigned faults = divide_faults(steps_at(steps, scan));
    size_t input;
    for (int at = scan; at != top && faults <= 1;) {
        at = divide_reader(steps, at, &input);
        faults += divide_faults(steps_at(steps, at));
    }
    return faults <= 1 && (faults == 0 || divide_sees_all(steps, top))
           && can_group(steps, params, top, faults)
           && (!divide_needs_numbers(steps, top)
               || divide_can_carry(steps, scan, top));
}

/* Finds the scans that are joined with a way's on each rank, up to the first step
 * that may fail. */
static struct members find_members(const struct steps *steps,
                                   const struct divide_params *params, int scan,
                                   int top)
{
    struct members members = { .steps = steps, .params = params };
    size_t input;
    if (!lies_by_hash(steps, params, scan)
        || !can_part(steps, params, scan, top))
        return members;
    members.scans[members.count++] = scan;
    for (int at = scan; divide_is_free(steps_at(steps, at));) {
        const struct step *step = steps_at(steps, at);
        const size_t tables =
            step->kind == STEP_SCAN ? step->scan.program.tables.count : 0;
        for (size_t i = 1; i < tables; i++)
            try_probe(&members, at, (int)i);
        if (step->kind == STEP_JOIN)
            try_join(&members, at);
        if (at == top)
            break;
        at = divide_reader(steps, at, &input);
    }
    return members;
}

uint64_t divide_local_rows(const struct steps *steps,
                           const struct divide_params *params, int scan,
                           int top)
{
    const struct members members = find_members(steps, params, scan, top);
    uint64_t rows = 0;
    for (unsigned i = 1; i < members.count; i++)
        rows +=
            divide_scanned(params->catalogue, steps_at(steps, members.scans[i]))
                ->rows;
    return rows;
}

/* The place of the numbers of a copy's rows to a program. */
static unsigned numbers_at(const struct table *copy)
{
    return copy->column_count - 1 - (copy->key != NO_KEY);
}

/* Has a program run over a table's copy, in which a row's number is that which it has
 * in the table. Of one with a primary key the numbers come where the row's number
 * was. */
static bool read_copy(struct program *program, const struct table *copy)
{
    struct program_table *table = vector_at(&program->tables, 0);
    const unsigned count = table->column_count;
    int *types = arena_alloc(&program->arena, (count + 1) * sizeof *types);
    if (types == NULL)
        return false;
    memcpy(types, table->column_types, count * sizeof *types);
    types[count] = TYPE_I64;
    table->column_types = types;
    table->column_count = count + 1;
    table->id = copy->id;
    for (size_t pc = 0; copy->key == NO_KEY && pc < program->code.count; pc++) {
        struct instruction *in = program_at(program, (int)pc);
        if (op_facts(in->op)->form != FORM_ROWID || in->c != 0)
            continue;
        assert(in->op == OP_ROWID_I64);
        in->op = OP_COLUMN_I64;
        in->b = (int)numbers_at(copy);
    }
    return true;
}

bool divide_local_scan(struct steps *steps, const struct divide_params *params,
                       int scan)
{
    struct step *step = steps_at(steps, scan);
    const struct table *table = divide_scanned(params->catalogue, step);
    assert(lies_by_hash(steps, params, scan));
    step->scan.ranks = params->ranks;
    return table_is_copy(table)
           || read_copy(&step->scan.program, table_copy(table));
}

bool divide_local_number(struct steps *steps,
                         const struct divide_params *params, int scan, int *top)
{
    const struct table *copy =
        divide_scanned(params->catalogue, steps_at(steps, scan));
    assert(table_is_copy(copy));
    return divide_number_part(steps, scan, numbers_at(copy), top);
}

bool divide_local_joins(struct steps *steps, const struct divide_params *params,
                        int scan, int top, bool *local)
{
    const struct members members = find_members(steps, params, scan, top);
    bool done = true;
    *local = members.count > 1;
    for (unsigned i = 0; *local && done && i < members.count; i++) {
        struct step_scan *member = &steps_at(steps, members.scans[i])->scan;
        assert(i == 0 || member->ranks == 0);
        member->local = i > 0;
        done = divide_local_scan(steps, params, members.scans[i]);
    }
    return done;
}

bool divide_local_counts(const struct steps *steps,
                         const struct divide_params *params, int scan, int top)
{
    return lies_by_hash(steps, params, scan)
           && !divide_needs_numbers(steps, top)
           && can_part(steps, params, scan, top);
}

/* ---------------------------------------------------------------- group -- */

/* The scan whose rows come to a step as its first input, and that of it. */
static int first_scan(const struct steps *steps, int number)
{
    const struct step *step = steps_at(steps, number);
    while (step->inputs.count > 0 && divide_passes(step, 0)) {
        number = input_of(step, 0);
        step = steps_at(steps, number);
    }
    return number;
}

static bool is_whole_group(const struct steps *steps,
                           const struct divide_params *params, int top,
                           const struct step_group *group)
{
    const int scan = first_scan(steps, top);
    if (!lies_by_hash(steps, params, scan))
        return false;
    const struct members members = { steps, params, { scan }, 1 };
    const struct table *table =
        divide_scanned(params->catalogue, steps_at(steps, scan));
    for (unsigned key = 0; key < table->parts->key_count; key++) {
        bool found = false;
        for (unsigned i = 0; !found && i < group->keys; i++) {
            const struct origin origin = origin_of(&members, top, (int)i);
            found = origin.scan == scan && !origin.partial
                    && origin.column == table->parts->keys[key];
        }
        if (!found)
            return false;
    }
    return true;
}

bool divide_local_group(const struct steps *steps,
                        const struct divide_params *params, int top)
{
    const struct step_group *group = divide_group_of(steps, top);
    const int scan = first_scan(steps, top);
    return group != NULL && is_whole_group(steps, params, top, group)
           && can_part(steps, params, scan, top);
}
