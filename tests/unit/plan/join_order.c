/* SPDX-License-Identifier: MIT */
/*
 * The order of joins that the planner chooses from numbers alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "plan/rewrite/join_order.h"

enum { EDGES_MAX = LEAVES_MAX * LEAVES_MAX };

static struct join_edge edges[EDGES_MAX];
static struct join_problem problem;

static void leaves(unsigned count, const double *rows)
{
    memset(&problem, 0, sizeof problem);
    problem.count = count;
    problem.edges = edges;
    for (unsigned i = 0; i < count; i++)
        problem.rows[i] = problem.bases[i] = rows[i];
}

/* The leaf `a` has a column of its own for `b`, whose column 0 is its key:
 * columns have numbers of their own in all of FROM. */
static void key(unsigned a, unsigned b, double values)
{
    uint64_t left = (uint64_t)1 << a, right = (uint64_t)1 << b;

    edges[problem.edge_count++] =
        (struct join_edge){ .leaves = left | right,
                            .sides = { left, right },
                            .columns = { (int)(a * 100 + b + 1),
                                         (int)(b * 100) },
                            .unique = { false, true },
                            .key = true,
                            .share = 1,
                            .values = values };
}

static void condition(unsigned a, unsigned b, double share)
{
    edges[problem.edge_count++] =
        (struct join_edge){ .leaves = (uint64_t)1 << a | (uint64_t)1 << b,
                            .share = share,
                            .price = 3 };
}

static void range(unsigned a, unsigned b, double share)
{
    condition(a, b, share);
    edges[problem.edge_count - 1].range = true;
}

/* How a sequence joins: "0 2 1", with what is joined first in parentheses. */
static void print_sequence(const int *sequence, char *text, size_t size)
{
    char parts[LEAVES_MAX][4 * LEAVES_MAX];
    unsigned count = 0;

    for (unsigned i = 0; i + 1 < 2 * problem.count; i++)
        if (sequence[i] != JOIN_BOTH) {
            snprintf(parts[count++], sizeof *parts, "%d", sequence[i]);
        } else {
            bool many = strchr(parts[count - 1], ' ') != NULL;
            char *left = parts[count - 2];
            snprintf(left + strlen(left), sizeof *parts - strlen(left),
                     many ? " (%s)" : " %s", parts[count - 1]);
            count--;
        }
    assert_int_equal(count, 1);
    snprintf(text, size, "%s", parts[0]);
}

/* That the leaves come so. */
static void comes(const char *expected)
{
    struct arena arena = { 0 };
    int sequence[JOIN_SEQUENCE_MAX];
    char text[4 * LEAVES_MAX] = "";

    assert_true(join_order(&arena, &problem, sequence));
    print_sequence(sequence, text, sizeof text);
    assert_string_equal(text, expected);
    arena_finish(&arena);
}

static void two_tables_build_the_smaller(void **state)
{
    (void)state;
    leaves(2, (const double[]){ 100, 1e6 });
    key(1, 0, 100);
    comes("1 0");
    leaves(2, (const double[]){ 1e6, 100 });
    key(0, 1, 100);
    comes("0 1");
    leaves(2, (const double[]){ 50, 50 });
    key(1, 0, 50);
    comes("1 0"); /* of the second one each row finds one partner */
}

/* The large table drives; dimensions come in the order of how few rows they
 * keep, whatever their own size. */
static void stars(void **state)
{
    (void)state;
    leaves(4, (const double[]){ 2000, 6e6, 30, 800 });
    key(1, 0, 2000);  /* keeps all     */
    key(1, 2, 150);   /* a fifth       */
    key(1, 3, 20000); /* one of 25    */
    comes("1 3 2 0");
    problem.rows[0] = 2; /* one of a thousand */
    comes("1 0 3 2");
}

static void chains(void **state)
{
    (void)state;
    leaves(4, (const double[]){ 10, 1000, 1e5, 1e7 });
    key(1, 0, 10);
    key(2, 1, 1000);
    key(3, 2, 1e5);
    comes("3 (2 (1 0))"); /* each large row then asks once */
    problem.rows[3] = 10;
    comes("2 3 1 0");
}

/* Many rows of one table for each of another: what is left of the other is
 * joined last. */
static void growing_joins_come_late(void **state)
{
    (void)state;
    leaves(3, (const double[]){ 1000, 900, 10 });
    key(0, 1, 10);
    key(0, 2, 1000);
    comes("0 2 1");
}

/* All equal one another: the third equality of a column takes nothing away. */
static void cliques(void **state)
{
    (void)state;
    leaves(4, (const double[]){ 300, 3e5, 20, 4000 });
    for (unsigned a = 0; a < 4; a++)
        for (unsigned b = a + 1; b < 4; b++) {
            key(a, b, 4000);
            edges[problem.edge_count - 1].columns[0] = (int)a * 100;
        }
    comes("1 2 0 3");
}

static void what_nothing_connects_comes_last(void **state)
{
    (void)state;
    leaves(3, (const double[]){ 2, 1000, 50 });
    key(1, 2, 50);
    comes("1 2 0");
    condition(0, 1, 0.001);
    comes("1 2 0");
    leaves(3, (const double[]){ 10, 20, 30 });
    comes("0 1 2");
    condition(0, 2, 0.001);
    comes("0 2 1");
}

/* A range that leaves few pairs is as good as a key, and comes before one that
 * leaves many. */
static void bands_connect(void **state)
{
    (void)state;
    leaves(3, (const double[]){ 1e6, 1e6, 1e3 });
    key(0, 1, 10);
    edges[0].unique[1] = false;
    condition(0, 2, 1e-6);
    comes("0 1 2");
    leaves(3, (const double[]){ 1e6, 1e6, 1e3 });
    key(0, 1, 10);
    edges[0].unique[1] = false;
    range(0, 2, 1e-6);
    comes("0 2 1");
    leaves(3, (const double[]){ 1e6, 1e6, 1e3 });
    key(0, 1, 1e6);
    range(1, 2, 0.5);
    comes("0 1 2");
}

/* That each leaf comes once. */
static void comes_somehow(void)
{
    struct arena arena = { 0 };
    int sequence[JOIN_SEQUENCE_MAX];
    uint64_t leaves = 0;

    assert_true(join_order(&arena, &problem, sequence));
    for (unsigned i = 0; i + 1 < 2 * problem.count; i++)
        if (sequence[i] != JOIN_BOTH)
            leaves |= (uint64_t)1 << sequence[i];
    assert_true(leaves == UINT64_MAX >> (64 - problem.count));
    arena_finish(&arena);
}

/* More leaves than the cheapest order can be sought for. */
static void many_leaves(void **state)
{
    double rows[LEAVES_MAX];

    (void)state;
    for (unsigned i = 0; i < 12; i++)
        rows[i] = i == 3 ? 1e6 : 100;
    leaves(12, rows);
    for (unsigned i = 0; i < 12; i++)
        if (i != 3)
            key(3, i, 100.0 * (i + 1));
    comes("3 11 10 9 8 7 6 5 4 2 1 0");
    for (unsigned i = 0; i < LEAVES_MAX; i++)
        rows[i] = i + 1;
    leaves(LEAVES_MAX, rows);
    for (unsigned i = 1; i < LEAVES_MAX; i++)
        key(i, i - 1, i);
    problem.rows[0] = 1e9;
    comes_somehow();
}

/* What is joined first, in parentheses, is asked once: where few rows of it are
 * left, and not where it costs as much to make as it saves. */
static void sets_are_joined(void **state)
{
    (void)state;
    leaves(5, (const double[]){ 1e7, 2e5, 30, 1e5, 10 });
    problem.bases[2] = problem.bases[4] = 300;
    key(0, 1, 2e5);
    key(1, 2, 300);
    key(0, 3, 1e5);
    key(3, 4, 300);
    comes("0 (3 4) 1 2"); /* few rows are left that ask 1 and 2 */
    problem.rows[0] = 1e5;
    problem.rows[2] = problem.rows[4] = 300; /* all: nothing is saved */
    comes("0 1 2 3 4");
    leaves(4, (const double[]){ 1e6, 1e5, 1e6, 1e5 });
    key(0, 1, 1e5);
    key(2, 3, 1e5);
    condition(0, 2, 1e-9); /* no key: each in turn */
    comes("0 1 2 3");
}

/* All leaves, joined to one another. */
static void all_shapes_of_all_leaves(void **state)
{
    double rows[LEAVES_MAX];

    (void)state;
    for (unsigned i = 0; i < LEAVES_MAX; i++)
        rows[i] = 1 + i * 7919 % 1000;
    for (unsigned count = 2; count <= LEAVES_MAX; count++) {
        leaves(count, rows);
        for (unsigned a = 0; a < count; a++)
            for (unsigned b = a + 1; b < count; b++)
                key(a, b, rows[b]);
        comes_somehow();
        leaves(count, rows);
        for (unsigned a = 0; a < count; a++)
            key(a, (a + 1) % count, rows[a]);
        comes_somehow();
        leaves(count, rows);
        for (unsigned a = 1; a < count; a++)
            key(a, (a - 1) / 2, rows[a]);
        comes_somehow();
    }
}

/* Numbers at the edges give an order, too. */
static void empty_and_endless(void **state)
{
    (void)state;
    leaves(3, (const double[]){ 0, 0, 0 });
    key(0, 1, 1);
    key(1, 2, 1);
    comes("0 1 2");
    leaves(3, (const double[]){ 1e30, 1e30, 1e30 });
    comes("0 1 2");
    leaves(1, (const double[]){ 5 });
    comes("0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tables_build_the_smaller),
        cmocka_unit_test(stars),
        cmocka_unit_test(chains),
        cmocka_unit_test(growing_joins_come_late),
        cmocka_unit_test(cliques),
        cmocka_unit_test(what_nothing_connects_comes_last),
        cmocka_unit_test(bands_connect),
        cmocka_unit_test(many_leaves),
        cmocka_unit_test(sets_are_joined),
        cmocka_unit_test(all_shapes_of_all_leaves),
        cmocka_unit_test(empty_and_endless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
