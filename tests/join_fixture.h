/* SPDX-License-Identifier: MIT */
/*
 * For tests of joins: joins of both sides made by hand, and their rows by two
 * nested loops.
 */
#ifndef VDBQ_TESTS_JOIN_FIXTURE_H
#define VDBQ_TESTS_JOIN_FIXTURE_H

#include "stream_fixture.h"

static struct fixture fixture;

static inline void open_sides(uint32_t left, uint32_t right, uint32_t keys)
{
    fill_side(&fixture.sides[0], left, keys, 1);
    fill_side(&fixture.sides[1], right, keys, 77);
    fixture.mode = MODE_MAPPED;
    fixture_open(&fixture);
}

/* --------------------------------------------------------------- joins -- */

/* left.v < right.v, over the four columns of a pair. */
static const char less[] = "Table 0 0 0 \"pair\"\n"
                           "ResultColumn 1 0 0 \"k\"\n"
                           "ResultColumn 2 0 0 \"v\"\n"
                           "Parallel 0 0 15\n"
                           "Column.I32 4 0 0\n"
                           "Column.I64 5 1 0\n"
                           "ColumnNull 2 1 0\n"
                           "ColumnNull 3 3 0\n"
                           "Or.I32 2 3 13 0\n"
                           "Column.I64 0 1 0\n"
                           "Column.I64 1 3 0\n"
                           "Lt.I64 0 1 13 1\n"
                           "Invalid\n"
                           "Result 4 2\n"
                           "Converge\n"
                           "Finish\n";

struct join_case {
    enum join_kind kind;
    bool keys, condition, nulls_match;
    bool wide; /* v is a key, too */
};

/* Number `bits`, under 16, of the joins of a kind. */
static inline struct join_case join_case_of(enum join_kind kind, unsigned bits)
{
    return (struct join_case){ .kind = kind,
                               .keys = bits & 1,
                               .condition = bits & 2,
                               .nulls_match = bits & 4,
                               .wide = bits & 8 };
}

/* Whether there is such a join. */
static inline bool join_exists(struct join_case how)
{
    if (how.kind == JOIN_MARK)
        return how.keys && !how.condition && !how.nulls_match && !how.wide;
    return how.keys || !how.wide;
}

static inline void add_join(struct join_case how)
{
    struct steps *steps = &fixture.steps;
    const int keys[] = { 0, 1 };
    int left = add_side(&fixture, steps, "l");
    int right = add_side(&fixture, steps, "r");
    struct step *step = add_step(steps, STEP_JOIN, left, right);
    bool half =
        how.kind == JOIN_SEMI || how.kind == JOIN_ANTI || how.kind == JOIN_MARK;
    take_columns(steps, step, left, half ? -1 : right);
    if (how.kind == JOIN_MARK)
        add_column(step, "mark", VDBQ_BOOLEAN);
    step->join.kind = how.kind;
    step->join.nulls_match = how.nulls_match;
    if (how.keys) {
        assert_true(
            vector_append(&step->join.left_keys, keys, how.wide ? 2 : 1));
        assert_true(
            vector_append(&step->join.right_keys, keys, how.wide ? 2 : 1));
    }
    if (!how.condition)
        return;
    struct step_column columns[4] = { side_columns[0], side_columns[1],
                                      side_columns[0], side_columns[1] };
    step->join.condition =
        arena_alloc(&steps->arena, sizeof *step->join.condition);
    program_init(step->join.condition);
    read_program(step->join.condition, less, columns, 4, NULL);
}

static inline bool same_key(struct join_case how, bool l_null, int64_t l,
                            bool r_null, int64_t r)
{
    if (l_null || r_null)
        return how.nulls_match && l_null && r_null;
    return l == r;
}

static inline bool matches(struct join_case how, uint32_t i, uint32_t j)
{
    const struct side *l = &fixture.sides[0], *r = &fixture.sides[1];
    if (how.keys
        && !same_key(how, l->k_null[i], l->k[i], r->k_null[j], r->k[j]))
        return false;
    if (how.keys && how.wide
        && !same_key(how, l->v_null[i], l->v[i], r->v_null[j], r->v[j]))
        return false;
    return !how.condition
           || (!l->v_null[i] && !r->v_null[j] && l->v[i] < r->v[j]);
}

static inline void print_value(bool null, int64_t value, struct text *text)
{
    if (null)
        text_print(text, "NULL ");
    else
        text_print(text, "%" PRId64 " ", value);
}

/* The columns of a row of a side; UINT32_MAX: NULLs. */
static inline void print_side(const struct side *side, uint32_t row,
                              struct text *text)
{
    bool none = row == UINT32_MAX;
    print_value(none || side->k_null[row], none ? 0 : side->k[row], text);
    print_value(none || side->v_null[row], none ? 0 : side->v[row], text);
}

static inline void print_pair(uint32_t i, uint32_t j, struct text *text)
{
    print_side(&fixture.sides[0], i, text);
    print_side(&fixture.sides[1], j, text);
    text_print(text, "\n");
}

static inline void print_mark(uint32_t i, bool matched, struct text *text)
{
    const struct side *l = &fixture.sides[0], *r = &fixture.sides[1];
    bool null = r->rows > 0 && l->k_null[i];
    for (uint32_t j = 0; j < r->rows; j++)
        null |= r->k_null[j];
    print_side(l, i, text);
    print_value(!matched && null, matched, text);
    text_print(text, "\n");
}

/* What becomes of a left row behind its pairs. */
static inline void print_end(enum join_kind kind, uint32_t i, bool matched,
                             struct text *text)
{
    if (kind == JOIN_MARK)
        print_mark(i, matched, text);
    if ((kind == JOIN_LEFT || kind == JOIN_FULL) && !matched)
        print_pair(i, UINT32_MAX, text);
    if ((kind == JOIN_SEMI && matched) || (kind == JOIN_ANTI && !matched)) {
        print_side(&fixture.sides[0], i, text);
        text_print(text, "\n");
    }
}

static inline void print_expected(struct join_case how, struct text *text)
{
    const struct side *l = &fixture.sides[0], *r = &fixture.sides[1];
    uint8_t partners[SIDE_ROWS_MAX] = { 0 };
    for (uint32_t i = 0; i < l->rows; i++) {
        bool matched = false;
        for (uint32_t j = 0; j < r->rows; j++) {
            if (!matches(how, i, j))
                continue;
            matched = true;
            partners[j] = 1;
            if (how.kind <= JOIN_FULL)
                print_pair(i, j, text);
        }
        print_end(how.kind, i, matched, text);
    }
    for (uint32_t j = 0; j < r->rows; j++)
        if ((how.kind == JOIN_RIGHT || how.kind == JOIN_FULL) && !partners[j])
            print_pair(UINT32_MAX, j, text);
}

#endif
