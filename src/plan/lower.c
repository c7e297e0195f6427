/* SPDX-License-Identifier: MIT */
/*
 * Nodes become steps, from below. On the way down each node is told which of
 * its columns are needed; on the way up it says where they are: steps carry
 * nothing that nobody reads.
 */
#include "plan/plan_inner.h"

#include <assert.h>
#include <string.h>

struct lowering {
    struct binder *binder;
    struct steps *steps;
};

static int lower_node(struct lowering *lowering, struct node *node,
                      const bool *needed, int *map);

/* -------------------------------------------------------------- columns -- */

/* One flag a column, in the arena; NULL: no memory. */
static bool *flags(struct lowering *lowering, unsigned count)
{
    bool *made = arena_alloc(lowering->binder->arena, count + 1);

    if (made == NULL)
        error_no_memory(lowering->binder->error);
    return made;
}

static int *numbers(struct lowering *lowering, unsigned count)
{
    int *made =
        arena_alloc(lowering->binder->arena, (count + 1) * sizeof *made);

    if (made == NULL) {
        error_no_memory(lowering->binder->error);
        return NULL;
    }
    for (unsigned i = 0; i < count; i++)
        made[i] = -1;
    return made;
}

static bool mark_columns(void *context, struct expression **operand)
{
    bool *needed = context;

    if ((*operand)->kind == EXPRESSION_COLUMN)
        needed[(*operand)->column] = true;
    return expression_each(*operand, mark_columns, context);
}

static struct step_column step_column(const struct node_column *column)
{
    return (struct step_column){ .name = column->name,
                                 .type = (enum vdbq_type)column->type,
                                 .precision = column->precision,
                                 .scale = column->scale };
}

/* A new step, with room for `columns` columns and with `inputs`. Its number;
 * -1: a failure. */
static int add_step(struct lowering *lowering, enum step_kind kind,
                    unsigned columns, const int *inputs, unsigned count)
{
    struct steps *steps = lowering->steps;
    struct step *step = steps_add(steps, kind);

    if (step != NULL)
        step->columns = arena_alloc(&steps->arena,
                                    (columns + 1) * sizeof *step->columns);
    if (step == NULL || step->columns == NULL
        || (count > 0 && !vector_append(&step->inputs, inputs, count))) {
        error_no_memory(lowering->binder->error);
        return -1;
    }
    return (int)steps->steps.count - 1;
}

/* Adds a column to a step; its name lives as long. */
static bool add_column(struct lowering *lowering, int number,
                       const struct step_column *column)
{
    struct step *step = steps_at(lowering->steps, number);
    struct step_column *added = &step->columns[step->column_count++];

    *added = *column;
    added->name = arena_copy(&lowering->steps->arena, column->name,
                             strlen(column->name));
    if (added->name == NULL)
        error_no_memory(lowering->binder->error);
    return added->name != NULL;
}

/* Adds all columns of one of its inputs. */
static bool add_columns_of(struct lowering *lowering, int number, int input)
{
    unsigned count = steps_at(lowering->steps, input)->column_count;
    bool done = true;

    for (unsigned i = 0; i < count && done; i++) {
        struct step_column column =
            steps_at(lowering->steps, input)->columns[i];
        done = add_column(lowering, number, &column);
    }
    return done;
}

/* A copy of numbers of columns, as the step has them. */
static bool move_numbers(struct lowering *lowering, const struct vector *from,
                         const int *map, struct vector *to)
{
    for (size_t i = 0; i < from->count; i++) {
        int number = map[VECTOR_ITEMS(from, int)[i]];
        assert(number >= 0);
        if (!vector_append(to, &number, 1)) {
            error_no_memory(lowering->binder->error);
            return false;
        }
    }
    return true;
}

static bool move_keys(struct lowering *lowering, const struct vector *from,
                      const int *map, struct vector *to)
{
    for (size_t i = 0; i < from->count; i++) {
        struct step_key key = VECTOR_ITEMS(from, struct step_key)[i];
        key.column = map[key.column];
        if (!vector_append(to, &key, 1)) {
            error_no_memory(lowering->binder->error);
            return false;
        }
    }
    return true;
}

/* -------------------------------------------------------------- select -- */

/* The columns of a table as programs number them. */
static void number_table(const struct table *table, int *columns)
{
    int number = 0;

    for (unsigned i = 0; i < table->column_count; i++)
        columns[i] = i == table->key ? -1 : number++;
    columns[table->column_count] = -1;
}

/* Where the rows of a SELECT come from; the input's step, -1: none, or -2: a
 * failure. */
static int lower_source(struct lowering *lowering, struct node *node,
                        const bool *needed, struct codegen_source *source)
{
    struct node *below = node->left;
    bool *used = flags(lowering, below->column_count);
    int *columns = numbers(lowering, below->column_count);
    int input;

    if (used == NULL || columns == NULL)
        return -2;
    source->columns = columns;
    if (below->kind == NODE_ONCE)
        return -1;
    if (below->kind == NODE_TABLE) {
        source->table = below->table;
        number_table(below->table, columns);
        return -1;
    }
    if (node->where != NULL)
        mark_columns(used, &node->where);
    for (unsigned i = 0; i < node->column_count; i++)
        if (needed[i])
            mark_columns(used, &node->results[i]);
    input = lower_node(lowering, below, used, columns);
    return input >= 0 ? input : -2;
}

/* What the program gives: the needed results, or just a number. */
static struct codegen_result *needed_results(struct lowering *lowering,
                                             struct node *node,
                                             const bool *needed, int *map,
                                             unsigned *count)
{
    struct binder *binder = lowering->binder;
    struct codegen_result *results = arena_alloc(
        binder->arena, (node->column_count + 1) * sizeof *results);

    *count = 0;
    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < node->column_count; i++) {
        if (!needed[i])
            continue;
        map[i] = (int)*count;
        results[(*count)++] =
            (struct codegen_result){ node->columns[i].name,
                                     node->results[i] };
    }
    if (*count > 0)
        return results;
    results[0] = (struct codegen_result){
        "", expression_truth(binder, true, (struct position){ 0 })
    };
    *count = 1;
    return results[0].expression ? results : NULL;
}

static bool describe_results(struct lowering *lowering, int number,
                             const struct codegen_result *results,
                             unsigned count)
{
    bool done = true;

    for (unsigned i = 0; i < count && done; i++) {
        const struct expression *e = results[i].expression;
        struct step_column column = { .name = results[i].name,
                                      .type = (enum vdbq_type)e->type,
                                      .precision = e->precision,
                                      .scale = e->scale };
        done = add_column(lowering, number, &column);
    }
    return done;
}

/* Whether a SELECT gives its input's rows as they are. */
static bool is_input(const struct lowering *lowering, const struct node *node,
                     int input, const int *columns,
                     const struct codegen_result *results, unsigned count)
{
    if (input < 0 || node->where != NULL
        || steps_at(lowering->steps, input)->column_count != count)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (results[i].expression->kind != EXPRESSION_COLUMN
            || columns[results[i].expression->column] != (int)i)
            return false;
    return true;
}

static int lower_select(struct lowering *lowering, struct node *node,
                        const bool *needed, int *map)
{
    struct codegen_source source = { 0 };
    int input = lower_source(lowering, node, needed, &source), number;
    struct codegen_result *results;
    unsigned count;

    if (input == -2)
        return -1;
    results = needed_results(lowering, node, needed, map, &count);
    if (results == NULL)
        return -1;
    if (is_input(lowering, node, input, source.columns, results, count))
        return input;
    number = add_step(lowering, STEP_SCAN, count, &input, input >= 0);
    if (number < 0 || !describe_results(lowering, number, results, count))
        return -1;
    if (input >= 0)
        source.input = steps_at(lowering->steps, input);
    return codegen_select(lowering->binder, &source, node->where, results,
                          count,
                          &steps_at(lowering->steps, number)->scan.program)
                   == VDBQ_OK
               ? number : -1;
}

static int lower_table(struct lowering *lowering, struct node *node,
                       const bool *needed, int *map)
{
    struct node *select = node_filter(lowering->binder, node, NULL);

    return select ? lower_select(lowering, select, needed, map) : -1;
}

/* ------------------------------------------------------- groups, order -- */

static int lower_group(struct lowering *lowering, struct node *node,
                       const bool *needed, int *map)
{
    const struct step_group *group = &node->group;
    bool *used = flags(lowering, node->left->column_count);
    int *below = numbers(lowering, node->left->column_count);
    int input, number;
    bool done = true;

    if (used == NULL || below == NULL)
        return -1;
    for (unsigned i = 0; i < group->keys; i++)
        used[i] = true;
    for (size_t i = 0; i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        if (needed[group->keys + i] && aggregate->column >= 0)
            used[aggregate->column] = true;
        if (needed[group->keys + i] && aggregate->filter >= 0)
            used[aggregate->filter] = true;
    }
    input = lower_node(lowering, node->left, used, below);
    if (input < 0)
        return -1;
    number = add_step(lowering, STEP_GROUP, node->column_count, &input, 1);
    if (number < 0)
        return -1;
    steps_at(lowering->steps, number)->group.keys = group->keys;
    for (unsigned i = 0; i < node->column_count && done; i++) {
        struct step *step = steps_at(lowering->steps, number);
        struct step_column column = step_column(&node->columns[i]);
        struct step_aggregate aggregate;
        if (i >= group->keys && !needed[i])
            continue;
        assert(i >= group->keys || below[i] == (int)i);
        map[i] = (int)step->column_count;
        done = add_column(lowering, number, &column);
        if (i < group->keys)
            continue;
        aggregate = VECTOR_ITEMS(&group->aggregates,
                                 struct step_aggregate)[i - group->keys];
        if (aggregate.column >= 0)
            aggregate.column = below[aggregate.column];
        if (aggregate.filter >= 0)
            aggregate.filter = below[aggregate.filter];
        if (done && !vector_append(&step->group.aggregates, &aggregate, 1)) {
            error_no_memory(lowering->binder->error);
            done = false;
        }
    }
    return done ? number : -1;
}

static int lower_sort(struct lowering *lowering, struct node *node,
                      const bool *needed, int *map)
{
    unsigned below_count = node->left->column_count;
    bool *used = flags(lowering, below_count);
    int *below = numbers(lowering, below_count), input, number;
    bool done = true;

    if (used == NULL || below == NULL)
        return -1;
    memcpy(used, needed, node->column_count);
    for (size_t i = 0; i < node->sort.keys.count; i++)
        used[VECTOR_ITEMS(&node->sort.keys, struct step_key)[i].column] =
            true;
    input = lower_node(lowering, node->left, used, below);
    if (input < 0)
        return -1;
    number = add_step(lowering, STEP_SORT, node->column_count, &input, 1);
    if (number < 0)
        return -1;
    for (unsigned i = 0; i < node->column_count && done; i++) {
        struct step_column column = step_column(&node->columns[i]);
        if (below[i] < 0)
            continue;
        map[i] = below[i];
        assert(below[i]
               == (int)steps_at(lowering->steps, number)->column_count);
        done = add_column(lowering, number, &column);
    }
    if (done) {
        struct step_sort *sort = &steps_at(lowering->steps, number)->sort;
        sort->offset = node->sort.offset;
        sort->limit = node->sort.limit;
        done = move_keys(lowering, &node->sort.keys, below, &sort->keys);
    }
    return done ? number : -1;
}

static int lower_limit(struct lowering *lowering, struct node *node,
                       const bool *needed, int *map)
{
    int input = lower_node(lowering, node->left, needed, map), number;

    if (input < 0)
        return -1;
    number = add_step(lowering, STEP_LIMIT,
                      steps_at(lowering->steps, input)->column_count, &input,
                      1);
    if (number < 0 || !add_columns_of(lowering, number, input))
        return -1;
    steps_at(lowering->steps, number)->limit = node->limit;
    return number;
}

/* ----------------------------------------------------------------- join -- */

/* What a join needs of its sides, and where it is. */
struct sides {
    bool *used[2];
    int *maps[2];
    int inputs[2];
};

static bool start_sides(struct lowering *lowering, const struct node *node,
                        struct sides *sides)
{
    for (int i = 0; i < 2; i++) {
        unsigned count =
            (i == 0 ? node->left : node->right)->column_count;
        sides->used[i] = flags(lowering, count);
        sides->maps[i] = numbers(lowering, count);
        if (sides->used[i] == NULL || sides->maps[i] == NULL)
            return false;
    }
    return true;
}

static bool mark_sides(struct lowering *lowering, struct node *node,
                       const bool *needed, struct sides *sides)
{
    unsigned left = node->left->column_count;
    unsigned right = node->right->column_count;
    bool both = node->join.kind <= JOIN_FULL;
    bool *used = flags(lowering, left + right);

    if (used == NULL)
        return false;
    if (node->where != NULL)
        mark_columns(used, &node->where);
    for (unsigned i = 0; i < left; i++)
        sides->used[0][i] = used[i] || needed[i];
    for (unsigned i = 0; i < right; i++)
        sides->used[1][i] = used[left + i] || (both && needed[left + i]);
    for (size_t i = 0; i < node->join.left_keys.count; i++) {
        sides->used[0][VECTOR_ITEMS(&node->join.left_keys, int)[i]] = true;
        sides->used[1][VECTOR_ITEMS(&node->join.right_keys, int)[i]] = true;
    }
    return true;
}

/* The columns of both sides, one after the other, as one step's. */
static bool join_columns(struct lowering *lowering, const int inputs[2],
                         struct step *joined)
{
    const struct step *left = steps_at(lowering->steps, inputs[0]);
    const struct step *right = steps_at(lowering->steps, inputs[1]);

    joined->column_count = left->column_count + right->column_count;
    joined->columns =
        arena_alloc(lowering->binder->arena,
                    (joined->column_count + 1) * sizeof *joined->columns);
    if (joined->columns == NULL) {
        error_no_memory(lowering->binder->error);
        return false;
    }
    memcpy(joined->columns, left->columns,
           left->column_count * sizeof *joined->columns);
    memcpy(joined->columns + left->column_count, right->columns,
           right->column_count * sizeof *joined->columns);
    return true;
}

/* Numbers of columns of both sides' nodes, as they are joined. */
static int *both_maps(struct lowering *lowering, const struct node *node,
                      const struct sides *sides)
{
    unsigned left = node->left->column_count;
    unsigned right = node->right->column_count;
    int moved = (int)steps_at(lowering->steps,
                              sides->inputs[0])->column_count;
    int *map = numbers(lowering, left + right);

    if (map == NULL)
        return NULL;
    memcpy(map, sides->maps[0], left * sizeof *map);
    for (unsigned i = 0; i < right; i++)
        map[left + i] =
            sides->maps[1][i] < 0 ? -1 : sides->maps[1][i] + moved;
    return map;
}

static bool lower_condition(struct lowering *lowering, struct node *node,
                            const struct sides *sides, int number)
{
    struct binder *binder = lowering->binder;
    struct codegen_source source = { 0 };
    struct codegen_result result = { .name = "" };
    struct step joined = { .kind = STEP_JOIN };
    struct program *program;

    if (node->where == NULL)
        return true;
    program = arena_alloc(&lowering->steps->arena, sizeof *program);
    source.columns = both_maps(lowering, node, sides);
    result.expression =
        expression_truth(binder, true, (struct position){ 0 });
    if (program == NULL || source.columns == NULL || result.expression == NULL
        || !join_columns(lowering, sides->inputs, &joined))
        return false;
    source.input = &joined;
    program_init(program);
    steps_at(lowering->steps, number)->join.condition = program;
    return codegen_select(binder, &source, node->where, &result, 1, program)
           == VDBQ_OK;
}

static bool map_joined(struct lowering *lowering, const struct node *node,
                       const struct sides *sides, int number, int *map)
{
    bool both = node->join.kind <= JOIN_FULL;
    int *maps = both_maps(lowering, node, sides);
    unsigned count = node->column_count;

    if (maps == NULL || !add_columns_of(lowering, number, sides->inputs[0]))
        return false;
    if (both && !add_columns_of(lowering, number, sides->inputs[1]))
        return false;
    if (node->join.kind == JOIN_MARK) {
        struct step_column mark = step_column(&node->columns[--count]);
        map[count] =
            (int)steps_at(lowering->steps, number)->column_count;
        if (!add_column(lowering, number, &mark))
            return false;
    }
    memcpy(map, maps, count * sizeof *map);
    return true;
}

static int lower_join(struct lowering *lowering, struct node *node,
                      const bool *needed, int *map)
{
    struct sides sides;
    struct step_join *join;
    int number;

    if (!start_sides(lowering, node, &sides)
        || !mark_sides(lowering, node, needed, &sides))
        return -1;
    sides.inputs[0] =
        lower_node(lowering, node->left, sides.used[0], sides.maps[0]);
    if (sides.inputs[0] < 0)
        return -1;
    sides.inputs[1] =
        lower_node(lowering, node->right, sides.used[1], sides.maps[1]);
    if (sides.inputs[1] < 0)
        return -1;
    number = add_step(
        lowering, STEP_JOIN,
        steps_at(lowering->steps, sides.inputs[0])->column_count
            + steps_at(lowering->steps, sides.inputs[1])->column_count + 1,
        sides.inputs, 2);
    if (number < 0)
        return -1;
    join = &steps_at(lowering->steps, number)->join;
    join->kind = node->join.kind;
    join->nulls_match = node->join.nulls_match;
    if (!move_numbers(lowering, &node->join.left_keys, sides.maps[0],
                      &join->left_keys)
        || !move_numbers(lowering, &node->join.right_keys, sides.maps[1],
                         &join->right_keys)
        || !lower_condition(lowering, node, &sides, number)
        || !map_joined(lowering, node, &sides, number, map))
        return -1;
    return number;
}

/* --------------------------------------------------------------- others -- */

static int lower_concat(struct lowering *lowering, struct node *node,
                        int *map)
{
    struct vector inputs = VECTOR(int);
    int number = -1, input = 0;

    for (size_t i = 0; i < node->parts.count && input >= 0; i++) {
        struct node *part = VECTOR_ITEMS(&node->parts, struct node *)[i];
        bool *all = flags(lowering, part->column_count);
        int *same = numbers(lowering, part->column_count);
        input = -1;
        if (all == NULL || same == NULL)
            break;
        memset(all, true, part->column_count);
        input = lower_node(lowering, part, all, same);
        if (input >= 0 && !vector_append(&inputs, &input, 1)) {
            error_no_memory(lowering->binder->error);
            input = -1;
        }
    }
    if (input >= 0)
        number = add_step(lowering, STEP_CONCAT, node->column_count,
                          inputs.items, (unsigned)inputs.count);
    vector_finish(&inputs);
    for (unsigned i = 0; i < node->column_count && number >= 0; i++) {
        struct step_column column = step_column(&node->columns[i]);
        map[i] = (int)i;
        if (!add_column(lowering, number, &column))
            return -1;
    }
    return number;
}

/* A node whose columns are those below and some more: what is below, with
 * what `used` says beside what is needed, and a step over it. */
static int lower_wider(struct lowering *lowering, struct node *node,
                       enum step_kind kind, const bool *needed, bool *used,
                       int *below, int *map)
{
    unsigned count = node->left->column_count;
    int input, number;

    for (unsigned i = 0; i < count; i++)
        used[i] |= needed[i];
    input = lower_node(lowering, node->left, used, below);
    if (input < 0)
        return -1;
    number = add_step(lowering, kind,
                      steps_at(lowering->steps, input)->column_count
                          + node->column_count - count,
                      &input, 1);
    if (number < 0 || !add_columns_of(lowering, number, input))
        return -1;
    memcpy(map, below, count * sizeof *map);
    for (unsigned i = count; i < node->column_count; i++) {
        struct step_column column = step_column(&node->columns[i]);
        map[i] = (int)steps_at(lowering->steps, number)->column_count;
        if (!add_column(lowering, number, &column))
            return -1;
    }
    return number;
}

static void use(bool *used, int column)
{
    if (column >= 0)
        used[column] = true;
}

static int moved(const int *map, int column)
{
    return column < 0 ? column : map[column];
}

/* The query that is applied: its rows' columns as far as they matter. */
static bool lower_inner(struct lowering *lowering, struct node *node,
                        struct steps *inner)
{
    struct node *query = node->right;
    struct lowering inside = { lowering->binder, inner };
    bool *needed = flags(lowering, query->column_count);
    int *map = numbers(lowering, query->column_count);

    if (needed == NULL || map == NULL)
        return false;
    needed[0] = node->apply.kind != APPLY_EXISTS;
    if (lower_node(&inside, query, needed, map) < 0)
        return false;
    assert(!needed[0] || map[0] == 0);
    return true;
}

static int lower_apply(struct lowering *lowering, struct node *node,
                       const bool *needed, int *map)
{
    const struct vector *parameters = &node->apply.parameters;
    bool *used = flags(lowering, node->left->column_count);
    int *below = numbers(lowering, node->left->column_count), number;
    struct step_apply *apply;
    struct steps *inner;

    if (used == NULL || below == NULL)
        return -1;
    for (size_t i = 0; i < parameters->count; i++)
        use(used, VECTOR_ITEMS(parameters, struct step_parameter)[i].column);
    if (node->apply.kind == APPLY_IN)
        use(used, node->apply.column);
    number = lower_wider(lowering, node, STEP_APPLY, needed, used, below,
                         map);
    if (number < 0)
        return -1;
    apply = &steps_at(lowering->steps, number)->apply;
    inner = arena_alloc(&lowering->steps->arena, sizeof *inner);
    if (inner == NULL)
        return error_no_memory(lowering->binder->error), -1;
    steps_init(inner);
    apply->inner = inner;
    apply->kind = node->apply.kind;
    apply->column = apply->kind == APPLY_IN ? below[node->apply.column] : -1;
    for (size_t i = 0; i < parameters->count; i++) {
        struct step_parameter parameter =
            VECTOR_ITEMS(parameters, struct step_parameter)[i];
        parameter.column = below[parameter.column];
        if (!vector_append(&apply->parameters, &parameter, 1))
            return error_no_memory(lowering->binder->error), -1;
    }
    return lower_inner(lowering, node, inner) ? number : -1;
}

static int lower_window(struct lowering *lowering, struct node *node,
                        const bool *needed, int *map)
{
    const struct vector *functions = &node->window.functions;
    bool *used = flags(lowering, node->left->column_count);
    int *below = numbers(lowering, node->left->column_count), number;
    bool done = true;

    if (used == NULL || below == NULL)
        return -1;
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_window_function *function =
            vector_at(functions, i);
        use(used, function->aggregate.column);
        use(used, function->aggregate.filter);
        use(used, function->fallback);
        for (size_t k = 0; k < function->partition.count; k++)
            use(used, VECTOR_ITEMS(&function->partition, int)[k]);
        for (size_t k = 0; k < function->order.count; k++)
            use(used, VECTOR_ITEMS(&function->order,
                                   struct step_key)[k].column);
    }
    number = lower_wider(lowering, node, STEP_WINDOW, needed, used, below,
                         map);
    for (size_t i = 0; number >= 0 && i < functions->count && done; i++) {
        const struct step_window_function *from = vector_at(functions, i);
        struct step_window_function function = *from;
        function.aggregate.column = moved(below, from->aggregate.column);
        function.aggregate.filter = moved(below, from->aggregate.filter);
        function.fallback = moved(below, from->fallback);
        function.partition = VECTOR(int);
        function.order = VECTOR(struct step_key);
        done = move_numbers(lowering, &from->partition, below,
                            &function.partition)
               && move_keys(lowering, &from->order, below, &function.order)
               && vector_append(
                   &steps_at(lowering->steps, number)->window.functions,
                   &function, 1);
    }
    return done ? number : -1;
}

static int lower_map(struct lowering *lowering, struct node *node,
                     const bool *needed, int *map)
{
    const struct vector *functions = &node->map.functions;
    bool *used = flags(lowering, node->left->column_count);
    int *below = numbers(lowering, node->left->column_count), number;
    bool done = true;

    if (used == NULL || below == NULL)
        return -1;
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_function *function = vector_at(functions, i);
        for (size_t k = 0; k < function->arguments.count; k++)
            use(used, VECTOR_ITEMS(&function->arguments, int)[k]);
    }
    number = lower_wider(lowering, node, STEP_MAP, needed, used, below, map);
    for (size_t i = 0; number >= 0 && i < functions->count && done; i++) {
        const struct step_function *from = vector_at(functions, i);
        struct step_function function = { .name = from->name,
                                          .arguments = VECTOR(int),
                                          .at = from->at };
        done = move_numbers(lowering, &from->arguments, below,
                            &function.arguments)
               && vector_append(
                   &steps_at(lowering->steps, number)->map.functions,
                   &function, 1);
    }
    return done ? number : -1;
}

static int lower_values(struct lowering *lowering, struct node *node,
                        const bool *needed, int *map)
{
    struct arena *arena = &lowering->steps->arena;
    int number =
        add_step(lowering, STEP_VALUES, node->column_count, NULL, 0);
    bool done = number >= 0
                && values_fill(arena, node, needed,
                               &steps_at(lowering->steps, number)->values);

    for (unsigned i = 0; i < node->column_count && done; i++) {
        struct step_column column = step_column(&node->columns[i]);
        if (!needed[i])
            continue;
        map[i] = (int)steps_at(lowering->steps, number)->column_count;
        done = add_column(lowering, number, &column);
    }
    if (number >= 0 && !done)
        error_no_memory(lowering->binder->error);
    return done ? number : -1;
}

/* The number of the node's step, or -1: a failure. */
static int lower_node(struct lowering *lowering, struct node *node,
                      const bool *needed, int *map)
{
    switch (node->kind) {
    case NODE_ONCE:
    case NODE_TABLE:
        return lower_table(lowering, node, needed, map);
    case NODE_SELECT:
        return lower_select(lowering, node, needed, map);
    case NODE_JOIN:
        return lower_join(lowering, node, needed, map);
    case NODE_GROUP:
        return lower_group(lowering, node, needed, map);
    case NODE_SORT:
        return lower_sort(lowering, node, needed, map);
    case NODE_LIMIT:
        return lower_limit(lowering, node, needed, map);
    case NODE_CONCAT:
        return lower_concat(lowering, node, map);
    case NODE_APPLY:
        return lower_apply(lowering, node, needed, map);
    case NODE_WINDOW:
        return lower_window(lowering, node, needed, map);
    case NODE_VALUES:
        return lower_values(lowering, node, needed, map);
    case NODE_MAP:
        break;
    }
    return lower_map(lowering, node, needed, map);
}

enum vdbq_status lower(struct binder *binder, struct node *node,
                       struct steps *steps)
{
    struct lowering lowering = { binder, steps };
    bool *needed = flags(&lowering, node->column_count);
    int *map = numbers(&lowering, node->column_count);
    struct node *last = node;

    if (needed == NULL || map == NULL)
        return binder->error->status;
    memset(needed, true, node->column_count);
    if (lower_node(&lowering, last, needed, map) < 0)
        return binder->error->status;
    for (unsigned i = 0; i < node->column_count; i++) {
        assert(map[i] == (int)i);
        steps_last(steps)->columns[i].name = arena_copy(
            &steps->arena, node->columns[i].name,
            strlen(node->columns[i].name));
    }
    return VDBQ_OK;
}
