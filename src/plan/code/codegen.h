/* SPDX-License-Identifier: MIT */
/*
 * Expressions to instructions: as values in registers, and as conditions
 * that jump.
 */
#ifndef VDBQ_PLAN_CODE_CODEGEN_H
#define VDBQ_PLAN_CODE_CODEGEN_H

#include "plan/code/emit.h"
#include "plan/tree/binder.h"

/* codegen.c: the program of a NODE_SELECT whose rows come from a table, from
 * a step's columns or from nowhere. */
struct codegen_source {
    const struct table *table;           /* NULL: none                     */
    const struct step *input;            /* NULL: none                     */
    unsigned input_number;               /* of it, as in program_table     */
    const char *name;                    /* of the input; NULL: "input"    */
    const struct column_place *columns;  /* by the number that expressions
                                          have for them                  */
    const struct codegen_source *others; /* further axes of a grid; their
                                          columns are not looked at      */
    unsigned other_count;
};
struct codegen_result {
    const char *name;
    struct expression *expression;
};
enum vdbq_status codegen_select(const struct binder *binder,
                                const struct codegen_source *source,
                                const struct expression *where,
                                const struct codegen_result *results,
                                unsigned result_count, struct program *program);

/* Adds the next cursor to a program, over the table or the input. */
enum vdbq_status codegen_add_source(const struct codegen_source *source,
                                    struct program *program,
                                    struct error *error);
/* The results, over what is emitted so far, and the end of the program; rows
 * that jump to `end` are none of them. */
void codegen_finish(struct generator *generator,
                    const struct codegen_result *results, unsigned count,
                    int end);

#endif
