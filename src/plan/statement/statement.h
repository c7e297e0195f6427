/* SPDX-License-Identifier: MIT */
/*
 * Statements other than queries, each by itself.
 */
#ifndef VDBQ_PLAN_STATEMENT_STATEMENT_H
#define VDBQ_PLAN_STATEMENT_STATEMENT_H

#include "plan/plan.h"

struct binder;
struct expression;
struct node;

/* A bound query (NULL: binding failed) is rewritten and becomes the steps of
 * the plan. */
enum vdbq_status plan_steps(struct binder *binder, struct node *node,
                            struct plan *plan);

enum vdbq_status plan_create_table(const struct ast_create *create,
                                   struct binder *binder, struct plan *plan);

enum vdbq_status plan_drop(const struct ast_drop *drop, enum plan_kind kind,
                           struct binder *binder, struct plan *plan);

/* ddl.c: what CREATE TABLE and ALTER TABLE check. Whether a name can be that of
 * `what`; that no table and no view has it, or (`keeps`) one may have it; what a
 * column of a table is. */
enum vdbq_status ddl_check_name(const struct ast_name *name, const char *what,
                                struct error *error);
enum vdbq_status ddl_check_free(const struct binder *binder,
                                const struct ast_name *name, bool keeps);
enum vdbq_status ddl_describe_column(struct binder *binder,
                                     const struct ast_column *from,
                                     struct column *column);

enum vdbq_status plan_alter(const struct ast_alter *alter,
                            struct binder *binder, struct plan *plan);

/* alter_check.c: that no index has the column, or (`by_name`) has it in a text that is
 * kept; that the texts of indexes mean something under another name of the table; that
 * all views that mean something still do once the table is altered. */
enum vdbq_status alter_check_indexes(const struct binder *binder,
                                     const struct table *table, unsigned column,
                                     bool by_name, struct position at);
enum vdbq_status alter_check_keys(struct binder *binder,
                                  const struct table *table, const char *name,
                                  struct position at);
enum vdbq_status alter_check_views(const struct binder *binder,
                                   const struct alteration *alteration,
                                   struct position at);

enum vdbq_status plan_create_view(const struct ast_view *view,
                                  struct binder *binder, struct plan *plan);

enum vdbq_status plan_create_index(const struct ast_index *index,
                                   struct binder *binder, struct plan *plan);

enum vdbq_status plan_insert_rows(const struct ast_statement *statement,
                                  struct binder *binder, struct plan *plan);

/* Whether plan_insert_fill() knows columns of that type. */
bool insert_takes_parameters(enum vdbq_type type);

enum vdbq_status plan_update(const struct ast_statement *statement,
                             struct binder *binder, struct plan *plan);

enum vdbq_status plan_delete(const struct ast_statement *statement,
                             struct binder *binder, struct plan *plan);

/* Puts a constant of a column's type into its vector. */
void store_constant(enum vdbq_type type, void *values, size_t row,
                    const struct expression *e);

/* COPY FROM: looks for the table and its columns. */
enum vdbq_status plan_copy_from(const struct ast_copy *copy,
                                struct binder *binder, struct plan *plan);

/* DESCRIBE and SUMMARIZE: rows about the columns of a query. */
enum vdbq_status plan_description(const struct ast_query *query,
                                  struct binder *binder, struct plan *plan);

/* PRAGMA: rows about tables and indexes. */
enum vdbq_status plan_pragma(const struct ast_pragma *asked,
                             struct binder *binder, struct plan *plan);
/* ANALYZE of a table, an index or all: there is nothing to do, for what is known of
 * rows is kept with each tablet. */
enum vdbq_status plan_analyze(const struct ast_drop *analyze,
                              struct binder *binder, struct plan *plan);

enum vdbq_status plan_summary(const struct ast_query *query,
                              struct binder *binder, struct plan *plan);

#endif
