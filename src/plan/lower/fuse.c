/* SPDX-License-Identifier: MIT */
/*
 * The code of a spine, from its lowest node up: conditions send rows that they
 * do not keep to the end, and so do joins with rows that have no partner, or
 * have one. From its place on, what a node gives is there for all rows that
 * came as far.
 *
 * A column of a SELECT in between is computed where it is read first. What
 * could fail is computed in its place, for the rows that are there then; so is
 * what is over such a column, that nothing is walked through ever more often.
 */
#include "plan/lower/fuse.h"

#include "base/text.h"
#include "base/vector.h"
#include "plan/code/registers.h"
#include "plan/code/value.h"

/* The code under way. */
struct fusing {
    struct lowering *lowering;
    struct generator generator;
    struct column_place *places; /* of the columns of the node at hand */
    unsigned count;
    int end; /* where rows go that are not kept    */
};

static enum vdbq_status add_tables(struct lowering *lowering,
                                   const struct spine *spine,
                                   struct program *program);
static bool place_base(struct fusing *fusing, const struct spine *spine);
static bool add_level(struct fusing *fusing, const struct level *level,
                      bool is_top);

enum vdbq_status fuse_code(struct lowering *lowering, const struct spine *spine,
                           const struct codegen_result *results,
                           unsigned result_count, struct program *program)
{
    struct fusing fusing = { .lowering = lowering };
    struct generator *generator = &fusing.generator;
    struct binder *binder = lowering->binder;
    enum vdbq_status status = add_tables(lowering, spine, program);
    bool done;

    if (status != VDBQ_OK)
        return status;
    generator_init(generator, program, binder->sql, binder->error);
    generator->idle = -1;
    fusing.end = emit_label(generator, 0);
    done = place_base(&fusing, spine);
    for (size_t i = spine->levels.count; i-- > 0 && done;)
        done = add_level(&fusing, vector_at(&spine->levels, i), i == 0);
    if (done)
        codegen_finish(generator, results, result_count, fusing.end);
    status = generator->status;
    generator_finish(generator);
    return done ? status : binder->error->status;
}

/* -------------------------------------------------------------- tables -- */

/* The table at the end of a node's left sides, if there is one. */
static const char *name_of(const struct node *node)
{
    while (node->left != NULL && node->kind != NODE_SEEK)
        node = node->left;
    return node->kind == NODE_TABLE || node->kind == NODE_SEEK
               ? node->table->name
               : "input";
}

static enum vdbq_status add_tables(struct lowering *lowering,
                                   const struct spine *spine,
                                   struct program *program)
{
    struct error *error = lowering->binder->error;
    bool fed = spine->base_step >= 0;
    struct codegen_source source = { .input_number = 1 };
    enum vdbq_status status;

    if (fed)
        source.input = steps_at(lowering->steps, spine->base_step);
    else
        source.table = spine->base->table;
    status = codegen_add_source(&source, program, error);
    source = (struct codegen_source){ .input_number = fed };
    for (size_t i = spine->levels.count; i-- > 0 && status == VDBQ_OK;) {
        const struct level *level = vector_at(&spine->levels, i);
        if (level->node->kind != NODE_JOIN)
            continue;
        source.input = steps_at(lowering->steps, level->build_step);
        source.name = name_of(level->build);
        source.input_number++;
        status = codegen_add_source(&source, program, error);
    }
    return status;
}

/* ------------------------------------------------------------- columns -- */

/* Places for that many columns, which become those of the node at hand. */
static struct column_place *new_places(struct fusing *fusing, unsigned count)
{
    struct binder *binder = fusing->lowering->binder;
    struct column_place *places =
        arena_alloc(binder->arena, (count + 1) * sizeof *places);

    if (places == NULL)
        error_no_memory(binder->error);
    return places;
}

static void use_places(struct fusing *fusing, struct column_place *places,
                       unsigned count)
{
    fusing->places = places;
    fusing->count = count;
    fusing->generator.columns = places;
}

static bool place_base(struct fusing *fusing, const struct spine *spine)
{
    unsigned count = spine->base->column_count;
    struct column_place *places =
        lower_places(fusing->lowering, spine->base_map, count, 0);

    use_places(fusing, places, count);
    return places != NULL;
}

/* Whether a column that the expression reads is computed where it is read; a
 * visitor that then ends. */
static bool reads_plain(void *context, struct expression **operand)
{
    const struct column_place *places = context;

    if ((*operand)->kind == EXPRESSION_COLUMN)
        return places[(*operand)->column.number].made == NULL
               || places[(*operand)->column.number].made->expression == NULL;
    return expression_each(*operand, reads_plain, context);
}

/* A column of a SELECT, over the columns at hand. */
static bool place_result(struct fusing *fusing, struct expression *e,
                         struct column_place *place)
{
    struct binder *binder = fusing->lowering->binder;
    struct made_column *made;
    struct value value;

    if (e->kind == EXPRESSION_COLUMN) {
        *place = fusing->places[e->column.number];
        return true;
    }
    made = arena_alloc(binder->arena, sizeof *made);
    if (made == NULL)
        return error_no_memory(binder->error), false;
    *place = (struct column_place){ .made = made, .row = -1 };
    if (!e->faults && reads_plain(fusing->places, &e)) {
        made->expression = e;
        made->columns = fusing->places;
        return true;
    }
    value = value_of(&fusing->generator, e,
                     step_machine_type((enum vdbq_type)e->type));
    made->r = value.r;
    made->null = value.null;
    return true;
}

static bool add_select(struct fusing *fusing, const struct level *level,
                       bool is_top)
{
    const struct node *node = level->node;
    struct column_place *places;
    bool done = true;

    if (node->where != NULL)
        condition_jump(&fusing->generator, node->where, WHEN_FALSE,
                       fusing->end);
    if (is_top)
        return true;
    places = new_places(fusing, node->column_count);
    if (places == NULL)
        return false;
    for (unsigned i = 0; i < node->column_count && done; i++)
        if (level->needed[i])
            done = place_result(fusing, node->results[i], &places[i]);
    use_places(fusing, places, node->column_count);
    return done;
}

/* ---------------------------------------------------------------- keys -- */

/* The row of what has no partner. */
static int no_partner(struct fusing *fusing)
{
    return register_integer(&fusing->generator, TYPE_I32, -1);
}

static bool needs_partner(const struct level *level)
{
    enum join_kind kind = level->node->join.kind;

    return kind == JOIN_INNER || kind == JOIN_SEMI;
}

static void end_where(struct fusing *fusing, int flag)
{
    emit_jump(&fusing->generator, OP_AND_I32, flag, flag, fusing->end,
              (struct position){ 0 });
}

/* A digit of a packed key counts from 0. One that no right row can have is
 * made 0, and the key then is as if it were NULL. */
static int digit(struct generator *generator, const struct probe_part *part,
                 struct value *value)
{
    const struct interval *has = &part->left->range, *range = &part->range;
    int low = register_integer(generator, TYPE_I64, range->low), outside = -1;

    if (has->low < range->low)
        outside = register_binary(generator, OP_IS_LT_I64, value->r, low);
    if (has->high > range->high)
        outside = register_any(
            generator, outside,
            register_binary(generator, OP_IS_LT_I64,
                            register_integer(generator, TYPE_I64, range->high),
                            value->r));
    if (outside >= 0)
        value->r = register_choose(generator, TYPE_I64, low, value->r, outside);
    value->null = register_any(generator, value->null, outside);
    return register_binary(generator, OP_SUB_I64, value->r, low);
}

/* Puts a digit behind those of a key. */
static int add_digit(struct generator *generator, int key, int size, int digit)
{
    return register_binary(generator, OP_ADD_I64,
                           register_binary(generator, OP_MUL_I64, key, size),
                           digit);
}

static bool packed_key(struct fusing *fusing, const struct level *level,
                       struct value *key)
{
    struct binder *binder = fusing->lowering->binder;
    struct generator *generator = &fusing->generator;
    unsigned count = probe_parts(&level->probe);

    *key = (struct value){ .null = -1 };
    if (count == 0)
        key->r = register_integer(generator, TYPE_I64, 0);
    for (unsigned i = 0; i < count; i++) {
        struct probe_part part;
        struct value value;
        int size;
        if (!probe_part(binder, &level->probe, i, &part))
            return false;
        value = value_of(generator, part.left, TYPE_I64);
        value.r = digit(generator, &part, &value);
        size = register_integer(generator, TYPE_I64,
                                part.range.high - part.range.low + 1);
        key->r = i == 0 ? value.r : add_digit(generator, key->r, size, value.r);
        key->null = register_any(generator, key->null, value.null);
    }
    return true;
}

static bool single_key(struct fusing *fusing, const struct level *level,
                       struct value *key)
{
    struct probe_part part;

    if (!probe_part(fusing->lowering->binder, &level->probe, 0, &part))
        return false;
    *key = value_of(&fusing->generator, part.left, part.left->machine);
    return true;
}

/* -------------------------------------------------------------- probes -- */

/* "date.d_datekey" */
static const char *comment_of(struct fusing *fusing, const struct level *level)
{
    const char *column = level->build->columns[level->key].name, *made;
    struct text text = { 0 };

    text_print(&text, "%s%s%s", name_of(level->build),
               column[0] != '\0' ? "." : "", column);
    /* Where the text itself had no memory, nothing is that long. */
    made = emit_text(&fusing->generator, text.bytes,
                     text.failed ? SIZE_MAX : text.length);
    text_finish(&text);
    return made;
}

static enum opcode probe_op(const struct level *level)
{
    int type = level->build->columns[level->key].type;

    if (type == VDBQ_TEXT)
        return OP_PROBE_WORD;
    return step_machine_type((enum vdbq_type)type) == TYPE_I32 ? OP_PROBE_I32
                                                               : OP_PROBE_I64;
}

/* The register of the right row, -1 where there is none. */
static bool find_row(struct fusing *fusing, const struct level *level, int *row)
{
    struct value key;
    bool done = level->probe.single < 0 ? packed_key(fusing, level, &key)
                                        : single_key(fusing, level, &key);

    if (!done)
        return false;
    if (key.null >= 0 && needs_partner(level))
        end_where(fusing, key.null);
    *row = emit_value(
        &fusing->generator,
        &(struct instruction){ .op = probe_op(level),
                               .b = key.r,
                               .c = level->cursor,
                               .d = level->build_map[level->key],
                               .comment = comment_of(fusing, level) });
    if (key.null >= 0 && !needs_partner(level))
        *row = register_choose(&fusing->generator, TYPE_I32, no_partner(fusing),
                               *row, key.null);
    return true;
}

/* The columns of both sides. */
static bool place_both(struct fusing *fusing, const struct level *level,
                       int row)
{
    unsigned left = fusing->count;
    unsigned right = level->node->right->column_count;
    struct column_place *places = new_places(fusing, left + right);

    if (places == NULL)
        return false;
    for (unsigned i = 0; i < left; i++)
        places[i] = fusing->places[i];
    for (unsigned i = 0; i < right; i++)
        places[left + i] = (struct column_place){ .cursor = level->cursor,
                                                  .column = level->build_map[i],
                                                  .row = row };
    use_places(fusing, places, left + right);
    return true;
}

/* What must hold of a pair beside the key: a row for which it does not has no
 * partner. */
static bool keep_partner(struct fusing *fusing, const struct level *level,
                         int *row)
{
    struct column_place *left = fusing->places;
    unsigned count = fusing->count;
    struct value value;

    if (level->rest == NULL)
        return true;
    if (!place_both(fusing, level, *row))
        return false;
    value = value_truth(&fusing->generator, level->rest);
    use_places(fusing, left, count);
    value.r = register_unless(&fusing->generator, value.r, value.null);
    *row = register_choose(&fusing->generator, TYPE_I32, *row,
                           no_partner(fusing), value.r);
    return true;
}

/* The column behind those at hand: whether there is a partner. */
static bool place_mark(struct fusing *fusing, const struct level *level,
                       int row)
{
    struct binder *binder = fusing->lowering->binder;
    struct made_column *made = arena_alloc(binder->arena, sizeof *made);
    struct generator *generator = &fusing->generator;
    int zero = register_integer(generator, TYPE_I32, 0);

    if (made == NULL)
        return error_no_memory(binder->error), false;
    if (!place_both(fusing, level, row))
        return false;
    made->r = register_not(generator,
                           register_binary(generator, OP_IS_LT_I32, row, zero));
    made->null = -1;
    fusing->places[level->node->left->column_count] =
        (struct column_place){ .made = made, .row = -1 };
    return true;
}

static void end_by_row(struct fusing *fusing, enum opcode op, int row)
{
    emit_jump(&fusing->generator, op, row,
              register_integer(&fusing->generator, TYPE_I32, 0), fusing->end,
              (struct position){ 0 });
}

/* What becomes of a left row whose right one is known. */
static bool add_partner(struct fusing *fusing, const struct level *level,
                        int row)
{
    switch (level->node->join.kind) {
    case JOIN_SEMI:
        end_by_row(fusing, OP_LT_I32, row);
        return true;
    case JOIN_ANTI:
        end_by_row(fusing, OP_GE_I32, row);
        return true;
    case JOIN_MARK:
        return place_mark(fusing, level, row);
    default:
        return place_both(fusing, level, row);
    }
}

/* The right side's key is the left one's, which is at hand. */
static void place_key(struct fusing *fusing, const struct level *level)
{
    const struct node *join = level->node;
    int single = level->probe.single, left, right;

    if (single < 0)
        return;
    left = VECTOR_ITEMS(&join->join.left_keys, int)[single];
    right = VECTOR_ITEMS(&join->join.right_keys, int)[single];
    fusing->places[join->left->column_count + (unsigned)right] =
        fusing->places[left];
}

static bool add_inner(struct fusing *fusing, const struct level *level, int row)
{
    end_by_row(fusing, OP_LT_I32, row);
    if (!place_both(fusing, level, row))
        return false;
    place_key(fusing, level);
    if (level->rest != NULL)
        condition_jump(&fusing->generator, level->rest, WHEN_FALSE,
                       fusing->end);
    return true;
}

static bool add_join(struct fusing *fusing, const struct level *level)
{
    int row;

    if (!find_row(fusing, level, &row))
        return false;
    if (level->node->join.kind == JOIN_INNER)
        return add_inner(fusing, level, row);
    return keep_partner(fusing, level, &row) && add_partner(fusing, level, row);
}

static bool add_level(struct fusing *fusing, const struct level *level,
                      bool is_top)
{
    return level->node->kind == NODE_JOIN ? add_join(fusing, level)
                                          : add_select(fusing, level, is_top);
}
