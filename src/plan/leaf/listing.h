/* SPDX-License-Identifier: MIT */
/*
 * Lists of what the catalogue has, as rows: what PRAGMA answers, and the tables
 * sqlite_master and information_schema. A list is made when it is bound, of the
 * catalogue that the statement sees.
 */
#ifndef VDBQ_PLAN_LEAF_LISTING_H
#define VDBQ_PLAN_LEAF_LISTING_H

#include "base/vector.h"
#include "data/catalogue/catalogue.h"
#include "parser/ast.h"
#include "plan/tree/node.h"

enum { LISTED_COLUMNS_MAX = 11 };

struct binder;
struct listing;

/* A list that there is. */
struct listed {
    const char *name;
    bool asks; /* it is about one table, or one index */
    void (*list)(struct listing *listing);
    const char *types; /* a letter a column: i, a BIGINT; t, a TEXT */
    const char *columns[LISTED_COLUMNS_MAX];
};

/* The query of a view, whose columns are asked for alone; NULL: a failure. */
typedef struct node *(*listing_view)(struct binder *binder,
                                     const struct view *view);

/* The rows of one, while they are made. */
struct listing {
    struct binder *binder;
    const struct catalogue *catalogue;
    size_t table_count; /* of it, without the files in FROM */
    const struct listed *of;
    const char *asked;      /* the table or index; NULL: all of them */
    const char *subject;    /* ... of which rows are listed now          */
    size_t first;           /* ... the number of the first of these     */
    listing_view view;      /* binds a view */
    struct vector cells;    /* row by row: listing.c                     */
    struct vector subjects; /* const char *: of each row                 */
    bool failed;
};

/* The next value of a row. A text is copied; NULL: it is NULL. */
void listing_number(struct listing *listing, int64_t number);
void listing_text(struct listing *listing, const char *text);
/* The type as CREATE TABLE writes it. */
void listing_type(struct listing *listing, const struct ast_type *type);
/* Whether rows about that table or index are asked for; they follow. */
bool listing_begin(struct listing *listing, const char *name);
/* Whether a table or view of that name is passed over since a temporary one has it, too:
 * who asks about the name asks about that. */
bool listing_hides(const struct listing *listing, const char *name,
                   bool temporary);
/* How many of these are there. */
size_t listing_count(const struct listing *listing);
/* A failure to have memory. */
void listing_starve(struct listing *listing);
/* The columns of a view. NULL: it reads what is no longer there, a failure where the
 * list is asked about this view; or there is no memory. */
const struct node *listing_columns(struct listing *listing,
                                   const struct view *view);

/*
 * The rows of a list about `asked`. With `asked` NULL they are about all tables or
 * indexes; the name of each stands in one more column, the last one, where the list
 * asks for one. NULL: a failure.
 */
struct node *listing_node(struct binder *binder, const struct listed *of,
                          const char *asked, listing_view view);

#endif
