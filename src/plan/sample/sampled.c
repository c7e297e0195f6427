/* SPDX-License-Identifier: MIT */
/*
 * Values of a sample's rows: sampled.h. The machine reads no texts here: what is
 * computed of them is a column of numbers to it, which the host has computed.
 */
#include "plan/sample/sampled.h"

#include <assert.h>
#include <string.h>

#include "base/os/stack.h"
#include "data/catalogue/sample.h"
#include "plan/code/codegen.h"
#include "plan/code/host_run.h"
#include "plan/make/expression_new.h"
#include "plan/make/replace.h"
#include "plan/tree/expression.h"

_Static_assert((int)SAMPLE_ROWS <= (int)HOST_RUN_ROWS,
               "a sample is run at once");

enum { LEAVES_MAX = 32 }; /* columns that one program reads */

/* The values of the parts that the machine does not compute. */
struct leaves {
    struct sampling *sampling;
    struct vdbq_vector columns[LEAVES_MAX];
    const struct expression *expressions[LEAVES_MAX];
    uint64_t unknown;
    unsigned count;
};

static bool sampled_column(const struct sampling *sampling,
                           const struct expression *e, struct sampled *sampled);
static bool sampled_constant(struct sampling *sampling,
                             const struct expression *e,
                             struct sampled *sampled);
static bool sampled_lookup(struct sampling *sampling,
                           const struct expression *e, struct sampled *sampled);
static bool sampled_call(struct sampling *sampling, const struct expression *e,
                         struct sampled *sampled);
static bool sampled_choice(struct sampling *sampling,
                           const struct expression *e, struct sampled *sampled);
static bool compare_texts(struct sampling *sampling, const struct expression *e,
                          struct sampled *sampled);
static bool compute(struct sampling *sampling, const struct expression *e,
                    struct sampled *sampled);

static uint32_t rows_of(const struct sampling *sampling)
{
    return sampling->table->sample->rows;
}

/* Whether an operator has texts for operands. */
static bool is_of_texts(const struct expression *e)
{
    return e->kind == EXPRESSION_OPERATOR && e->right != NULL
           && (e->left->type == VDBQ_TEXT || e->right->type == VDBQ_TEXT);
}

bool sampled_values(struct sampling *sampling, const struct expression *e,
                    struct sampled *sampled)
{
    if (stack_is_short())
        return false;
    *sampled = (struct sampled){ .unknown = 0 };
    switch (e->kind) {
    case EXPRESSION_CONSTANT:
        return sampled_constant(sampling, e, sampled);
    case EXPRESSION_COLUMN:
        return sampled_column(sampling, e, sampled);
    case EXPRESSION_LOOKUP:
        return sampled_lookup(sampling, e, sampled);
    case EXPRESSION_FUNCTION:
        return sampled_call(sampling, e, sampled);
    case EXPRESSION_CHOICE:
        return e->type == VDBQ_TEXT ? sampled_choice(sampling, e, sampled)
                                    : compute(sampling, e, sampled);
    case EXPRESSION_OPERATOR:
        return is_of_texts(e) ? compare_texts(sampling, e, sampled)
                              : compute(sampling, e, sampled);
    case EXPRESSION_CAST:
    case EXPRESSION_MATH:
    case EXPRESSION_CHECK:
        return e->type != VDBQ_TEXT && compute(sampling, e, sampled);
    default:
        return false;
    }
}

/* Room for values of a type; NULL: no memory. */
static void *room_for(struct sampling *sampling, int type,
                      struct sampled *sampled, uint8_t **nulls)
{
    void *values = arena_alloc(sampling->binder.arena,
                               SAMPLE_ROWS * type_bytes((enum vdbq_type)type));

    *nulls = arena_alloc(sampling->binder.arena, SAMPLE_ROWS);
    sampled->values =
        (struct vdbq_vector){ (enum vdbq_type)type, values, *nulls };
    return *nulls != NULL ? values : NULL;
}

/* ----------------------------------------------------- what is there -- */

/* Rows whose text is cut. */
static uint64_t cut_texts(const struct sampling *sampling,
                          const struct vdbq_vector *column)
{
    const struct vdbq_text *texts = column->values;
    uint64_t cut = 0;

    for (uint32_t i = 0; i < rows_of(sampling); i++)
        if (column->nulls[i] == 0 && sample_cuts(texts[i]))
            cut |= UINT64_C(1) << i;
    return cut;
}

static bool sampled_column(const struct sampling *sampling,
                           const struct expression *e, struct sampled *sampled)
{
    static const uint8_t no_nulls[SAMPLE_ROWS] = { 0 };
    const struct table *table = sampling->table;
    const struct sample *sample = table->sample;
    unsigned column = (unsigned)e->column.number;

    if (column == table->column_count)
        column = table->key;
    if (column == NO_KEY) {
        sampled->values =
            (struct vdbq_vector){ VDBQ_BIGINT, sample->numbers, no_nulls };
        return true;
    }
    if (column >= sample->column_count
        || (int)sample->columns[column].type != e->type)
        return false;
    sampled->values = sample->columns[column];
    if (e->type == VDBQ_TEXT)
        sampled->unknown = cut_texts(sampling, &sampled->values);
    return true;
}

/* -------------------------------------------- constants and functions -- */

/* A value as a function takes it. */
static struct function_value value_at(const struct sampled *sampled, uint32_t i)
{
    const void *values = sampled->values.values;

    switch (sampled->values.type) {
    case VDBQ_TEXT:
        return (struct function_value){
            .text = ((const struct vdbq_text *)values)[i]
        };
    case VDBQ_FLOAT:
        return (struct function_value){ .real = (double)((
                                            const float *)values)[i] };
    case VDBQ_DOUBLE:
        return (struct function_value){ .real = ((const double *)values)[i] };
    default:
        return (struct function_value){
            .integer = type_bytes(sampled->values.type) == 8
                           ? ((const int64_t *)values)[i]
                           : ((const int32_t *)values)[i]
        };
    }
}

static void put_value(const struct sampled *sampled, uint32_t i,
                      const struct function_value *value)
{
    void *values = (void *)(uintptr_t)sampled->values.values;

    switch (sampled->values.type) {
    case VDBQ_TEXT:
        ((struct vdbq_text *)values)[i] = value->text;
        break;
    case VDBQ_FLOAT:
        ((float *)values)[i] = (float)value->real;
        break;
    case VDBQ_DOUBLE:
        ((double *)values)[i] = value->real;
        break;
    default:
        if (type_bytes(sampled->values.type) == 8)
            ((int64_t *)values)[i] = value->integer;
        else
            ((int32_t *)values)[i] = (int32_t)value->integer;
        break;
    }
}

static bool sampled_constant(struct sampling *sampling,
                             const struct expression *e,
                             struct sampled *sampled)
{
    const struct function_value value = { .integer = e->constant.integer,
                                          .real = e->constant.real,
                                          .text = e->constant.text };
    uint8_t *nulls;

    if (room_for(sampling, e->type, sampled, &nulls) == NULL)
        return false;
    for (uint32_t i = 0; i < rows_of(sampling); i++) {
        put_value(sampled, i, &value);
        nulls[i] = e->constant.null;
    }
    return true;
}

/* Calls a function for each row; those of a text that was cut are passed over. */
static bool call_rows(struct sampling *sampling,
                      const struct function *function,
                      const struct sampled *arguments, unsigned count,
                      struct sampled *sampled, uint8_t *nulls)
{
    for (uint32_t i = 0; i < rows_of(sampling); i++) {
        struct function_value values[FUNCTION_ARGUMENTS_MAX], value = { 0 };
        for (unsigned k = 0; k < count; k++) {
            values[k] = value_at(&arguments[k], i);
            nulls[i] |= arguments[k].values.nulls[i];
        }
        if (nulls[i] != 0 || (sampled->unknown >> i & 1) != 0)
            continue;
        if (function_call(function, values, count, sampling->binder.arena,
                          &value, sampling->binder.error)
            != VDBQ_OK)
            return false;
        nulls[i] = value.null;
        put_value(sampled, i, &value);
    }
    return true;
}

static bool call(struct sampling *sampling, const struct expression *e,
                 const struct function *function,
                 const struct sampled *arguments, unsigned count,
                 struct sampled *sampled)
{
    uint8_t *nulls;

    if (room_for(sampling, e->type, sampled, &nulls) == NULL)
        return false;
    for (unsigned k = 0; k < count; k++)
        sampled->unknown |= arguments[k].unknown;
    return call_rows(sampling, function, arguments, count, sampled, nulls);
}

static bool sampled_call(struct sampling *sampling, const struct expression *e,
                         struct sampled *sampled)
{
    struct sampled arguments[FUNCTION_ARGUMENTS_MAX];

    for (unsigned k = 0; k < e->call.count; k++)
        if (!sampled_values(sampling, e->call.arguments[k], &arguments[k]))
            return false;
    return call(sampling, e, e->call.function, arguments, e->call.count,
                sampled);
}

/* The call for each text. */
static bool sampled_lookup(struct sampling *sampling,
                           const struct expression *e, struct sampled *sampled)
{
    struct function_lookup lookup;
    struct sampled texts;
    uint8_t *nulls;

    if (function_lookup_read(e->lookup.call, sampling->binder.arena, &lookup,
                             sampling->binder.error)
            != VDBQ_OK
        || !sampled_values(sampling, e->left, &texts)
        || room_for(sampling, e->type, sampled, &nulls) == NULL)
        return false;
    sampled->unknown |= texts.unknown;
    for (uint32_t i = 0; i < rows_of(sampling); i++) {
        struct function_value value = { 0 };
        nulls[i] |= texts.values.nulls[i];
        if (nulls[i] != 0 || (sampled->unknown >> i & 1) != 0)
            continue;
        if (function_lookup_call(
                &lookup, lookup.arguments, value_at(&texts, i).text,
                sampling->binder.arena, &value, sampling->binder.error)
            != VDBQ_OK)
            return false;
        nulls[i] = value.null;
        put_value(sampled, i, &value);
    }
    return true;
}

/* --------------------------------------------------------------- texts -- */

/* A value that is not 0, where it is not NULL. */
static bool is_true(const struct sampled *sampled, uint32_t i)
{
    struct function_value value = value_at(sampled, i);

    return sampled->values.nulls[i] == 0
           && (value.integer != 0 || value.real != 0);
}

/* A text by a condition. */
static bool sampled_choice(struct sampling *sampling,
                           const struct expression *e, struct sampled *sampled)
{
    struct sampled condition, left, right;
    struct vdbq_text *texts;
    uint8_t *nulls;

    if (!sampled_values(sampling, e->condition, &condition)
        || !sampled_values(sampling, e->left, &left)
        || !sampled_values(sampling, e->right, &right))
        return false;
    texts = room_for(sampling, VDBQ_TEXT, sampled, &nulls);
    for (uint32_t i = 0; texts != NULL && i < rows_of(sampling); i++) {
        const struct sampled *one = is_true(&condition, i) ? &left : &right;
        texts[i] = value_at(one, i).text;
        nulls[i] = one->values.nulls[i];
        sampled->unknown |= one->unknown & UINT64_C(1) << i;
    }
    sampled->unknown |= condition.unknown;
    return texts != NULL;
}

/* As strcmp() gives it: by bytes, then by length. */
static int text_order(struct vdbq_text a, struct vdbq_text b)
{
    size_t least = a.length < b.length ? a.length : b.length;
    int order = least > 0 ? memcmp(a.bytes, b.bytes, least) : 0;

    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static bool holds(enum ast_operator op, int order)
{
    switch (op) {
    case AST_EQ:
    case AST_IS:
        return order == 0;
    case AST_NEQ:
    case AST_IS_NOT:
        return order != 0;
    case AST_LT:
        return order < 0;
    case AST_LE:
        return order <= 0;
    case AST_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

/* What a comparison of two texts, of which one may be NULL, gives for a row. */
static void compare_row(enum ast_operator op, const struct sampled *left,
                        const struct sampled *right, uint32_t i, int32_t *value,
                        uint8_t *null)
{
    uint8_t left_null = left->values.nulls[i];
    uint8_t right_null = right->values.nulls[i];

    if (left_null == 0 && right_null == 0)
        *value = holds(
            op, text_order(value_at(left, i).text, value_at(right, i).text));
    else if (op == AST_IS || op == AST_IS_NOT)
        *value = (left_null == right_null) == (op == AST_IS);
    else
        *null = 1;
}

static bool compare_texts(struct sampling *sampling, const struct expression *e,
                          struct sampled *sampled)
{
    enum ast_operator op = e->operation.op;
    struct sampled left, right;
    int32_t *values;
    uint8_t *nulls;

    if ((!is_comparison(op) && op != AST_IS && op != AST_IS_NOT)
        || type_bytes((enum vdbq_type)e->type) != sizeof *values
        || !sampled_values(sampling, e->left, &left)
        || !sampled_values(sampling, e->right, &right)
        || (left.values.type != VDBQ_TEXT || right.values.type != VDBQ_TEXT))
        return false;
    values = room_for(sampling, e->type, sampled, &nulls);
    sampled->unknown = left.unknown | right.unknown;
    for (uint32_t i = 0; values != NULL && i < rows_of(sampling); i++)
        compare_row(op, &left, &right, i, &values[i], &nulls[i]);
    return values != NULL;
}

/* ------------------------------------------------------------- numbers -- */

/* Whether the machine computes it from its operands. */
static bool is_computed(const struct expression *e)
{
    return e->kind >= EXPRESSION_OPERATOR && e->kind <= EXPRESSION_CHECK
           && e->kind != EXPRESSION_LOOKUP && !is_of_texts(e)
           && e->type != VDBQ_TEXT;
}

/* The column that stands for a part. */
static struct expression *
leaf_column(struct leaves *leaves, const struct expression *e, unsigned number)
{
    const struct vdbq_vector *values = &leaves->columns[number];
    struct expression *column = expression_new(
        &leaves->sampling->binder, EXPRESSION_COLUMN, e->type, e->at);

    if (column == NULL)
        return NULL;
    column->column.number = (int)number;
    column->precision = e->precision;
    column->scale = e->scale;
    column->range = e->range;
    column->nullable =
        e->nullable || memchr(values->nulls, 1, SAMPLE_ROWS) != NULL;
    return column;
}

/* expression_replacer: parts that the machine does not compute become columns. */
static struct expression *replace_leaf(void *context, struct expression *e,
                                       bool *failed)
{
    struct leaves *leaves = context;
    struct sampled sampled;
    struct expression *column = NULL;

    if (is_computed(e)
        || (e->kind == EXPRESSION_CONSTANT && e->type != VDBQ_TEXT))
        return NULL;
    for (unsigned i = 0; i < leaves->count; i++)
        if (expression_same(leaves->expressions[i], e))
            return leaf_column(leaves, e, i);
    if (leaves->count < LEAVES_MAX && e->type != VDBQ_TEXT
        && sampled_values(leaves->sampling, e, &sampled)) {
        leaves->columns[leaves->count] = sampled.values;
        leaves->expressions[leaves->count] = e;
        leaves->unknown |= sampled.unknown;
        column = leaf_column(leaves, e, leaves->count++);
    }
    *failed = column == NULL;
    return column;
}

/* The program of an expression over the leaves. */
static enum vdbq_status make_program(struct sampling *sampling,
                                     const struct leaves *leaves,
                                     struct expression *e,
                                     struct program *program)
{
    struct binder *binder = &sampling->binder;
    struct codegen_result result = { .name = "", .expression = e };
    struct step_column types[LEAVES_MAX];
    struct column_place places[LEAVES_MAX];
    struct step step = { .column_count = leaves->count, .columns = types };
    const struct codegen_source source = { .input =
                                               leaves->count > 0 ? &step : NULL,
                                           .columns = places };
    enum vdbq_status status;

    for (unsigned i = 0; i < leaves->count; i++) {
        types[i] =
            (struct step_column){ .name = "", .type = leaves->columns[i].type };
        places[i] = (struct column_place){ .column = (int)i, .row = -1 };
    }
    status = codegen_select(binder, &source, NULL, &result, 1, program);
    return status == VDBQ_OK ? program_check(program, binder->error) : status;
}

/* Takes the result's values, which are of the type's width. */
static bool take_result(struct sampling *sampling, int type,
                        const struct host_result *result,
                        struct sampled *sampled)
{
    uint8_t *nulls;
    void *values = room_for(sampling, type, sampled, &nulls);
    size_t width = type_bytes((enum vdbq_type)type);

    if (values == NULL)
        return false;
    memcpy(values, &result->values, width * rows_of(sampling));
    memcpy(nulls, result->nulls, rows_of(sampling));
    return true;
}

static bool compute(struct sampling *sampling, const struct expression *e,
                    struct sampled *sampled)
{
    struct leaves leaves = { .sampling = sampling };
    struct host_rows rows = { rows_of(sampling), leaves.columns };
    struct binder *binder = &sampling->binder;
    struct expression *over = expression_replace(
        binder, (struct expression *)(uintptr_t)e, replace_leaf, &leaves);
    struct host_result result;
    struct program program;
    bool done;

    if (over == NULL)
        return false;
    program_init(&program);
    done =
        make_program(sampling, &leaves, over, &program) == VDBQ_OK
        && host_run(&binder->machine, &program, &rows, &result, binder->error)
               == VDBQ_OK
        && take_result(sampling, e->type, &result, sampled);
    sampled->unknown = leaves.unknown;
    program_finish(&program);
    return done;
}
