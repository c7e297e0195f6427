/* SPDX-License-Identifier: MIT */
/*
 * The steps of a query: what passes from the planner to the executor. Each
 * step makes rows from those of its inputs, which come before it; the last
 * one's are the query's. Where rows are computed, filtered or shaped, a step
 * is a program of the machine; the others join, group, order and count what
 * programs gave.
 *
 * Rows are columns of machine values (cl/types.h) with NULL flags. Each
 * step's comment says in what order its rows come: it is the same on every
 * device and in every mode.
 */
#ifndef VDBQ_PROGRAM_STEPS_H
#define VDBQ_PROGRAM_STEPS_H

#include "program/program.h"
#include "program/steps/aggregates.h"
#include "program/steps/frame.h"
#include "program/steps/texts_use.h"

enum step_kind {
    STEP_SCAN,    /* a program over a table, over an input's rows, or once */
    STEP_GROUP,   /* one row for each group of its input's rows             */
    STEP_SORT,    /* its input's rows in the order of keys                  */
    STEP_LIMIT,   /* some of its input's rows                               */
    STEP_JOIN,    /* pairs of rows of its two inputs                        */
    STEP_CONCAT,  /* the rows of all its inputs, one input after the other  */
    STEP_APPLY,   /* its input's rows, with the answer of a query to each   */
    STEP_WINDOW,  /* its input's rows, with values of their neighbours      */
    STEP_MAP,     /* its input's rows, with functions computed row by row   */
    STEP_VALUES,  /* rows that the plan has: VALUES, long lists of IN       */
    STEP_FETCH,   /* its input's rows, with columns of rows of a table      */
    STEP_SEEK,    /* rows of a table, found by values of their columns      */
    STEP_RECURSE, /* its input's rows, then rounds of a query over them     */
    STEP_WORKING, /* ... the rows of the round before, in that query        */
    STEP_GATHER,  /* the rows that all ranks have of its input              */
    STEP_EXCHANGE /* its input's rows of all ranks whose keys are this one's */
};

/* A column of a step's rows. */
struct step_column {
    const char *name;
    enum vdbq_type type; /* in SQL; the machine's is type_machine(type)  */
    unsigned precision;  /* of VDBQ_DECIMAL                              */
    unsigned scale;
};

/* STEP_SCAN. Rows in the order of those that are read; where the program has
 * several axes, in the order of the rows of the first one, then of the next. An
 * axis of the program is a table of the catalogue, or the rows of an input: its
 * `input` says which. Tables behind the only axis are probed, and each is an
 * input; a program of several axes probes none. Such a table has the input's
 * columns, and Rowid gives the row's number. Each input is one table. */
struct step_scan {
    struct program program;
    unsigned ranks; /* that each run over a share of the tablets of its first
                       table, the first rank over the first ones; 0: all are
                       run over                                             */
    bool local;     /* ... for a co-located join: no rank wants others' rows */
};

/* STEP_GROUP. Rows of one group have the same keys, NULL being one of them.
 * Gives the keys, then a column for each aggregate; groups come in the order
 * of their first rows. Without keys there is exactly one group. */
struct step_aggregate {
    enum aggregate_function function;
    int column;         /* of the input; -1: rows are counted              */
    int filter;         /* column of the input that must be true; -1: none */
    bool distinct;      /* each value once                                 */
    struct position at; /* for its failures                                */
};
struct step_group {
    unsigned keys;            /* the first so many columns of the input    */
    struct vector aggregates; /* of struct step_aggregate                  */
    double combinations;      /* of values of all columns that it reads: about
                                 how many there are; 0: nobody said        */
    bool apart;               /* the groups of a rank's rows: STEP_GATHER
                                 takes them as they are, and nobody else
                                 does                                      */
    bool numbered;            /* ... ranks have rows that were exchanged, whose
                                 numbers (struct step_exchange) never fall: the
                                 last aggregate is the least one, and the rank
                                 that has it has a group's first row       */
    bool local;               /* all rows of a group are on one rank       */
    bool hopes; /* without keys: that a row comes that is not NULL in what all
                   aggregates are of, although a seek of `hopes` leaves some
                   out                                                    */
};

/* STEP_SORT. Stable. Gives the first `columns` columns of its input. */
struct step_key {
    int column;
    bool descending;
    bool nulls_last;
};
struct step_sort {
    struct vector keys; /* of struct step_key; the first one decides first */
    uint64_t offset;    /* rows left out at the start                      */
    uint64_t limit;     /* UINT64_MAX: all                                 */
    bool hopes; /* that as many rows come as are asked for, although a seek
                   of `hopes` leaves some out                              */
};

/* STEP_LIMIT: as those of STEP_SORT. A second input takes their place: its one
 * row has both as BIGINTs, the limit first; NULL or below 0 says nothing. It is
 * read first: where no row is given, the other input is not run. */
struct step_limit {
    uint64_t offset, limit;
};

/* STEP_JOIN. A pair matches where its keys are equal, none being NULL, it is in
 * the range, and the condition keeps it. In the order of the left rows, then of
 * the right ones; right rows without a partner come last. */
enum join_kind {
    JOIN_INNER, /* left columns, right columns; without keys all pairs  */
    JOIN_LEFT,  /* ... and left rows without a partner, NULLs beside    */
    JOIN_RIGHT, /* ... and right rows without one                       */
    JOIN_FULL,  /* ... and both                                         */
    JOIN_SEMI,  /* left rows with a partner, once                       */
    JOIN_ANTI,  /* left rows without                                    */
    JOIN_MARK   /* left rows with a BOOLEAN: the left key is IN the right
                   ones; one key, no condition                          */
};
/* "inner" */
const char *join_name(enum join_kind kind);

/* A range: the value of a column of one side lies between those of two columns
 * of the other one. NULL lies nowhere. */
enum range_join_side { RANGE_JOIN_NONE, RANGE_JOIN_LEFT, RANGE_JOIN_RIGHT };
struct step_range_join {
    /* that has the value; RANGE_JOIN_NONE: there is no range */
    enum range_join_side side;
    int column;               /* ... of that side                             */
    int low, high;            /* of the other side; -1: no bound              */
    bool low_open, high_open; /* the bound itself is left out            */
};
struct step_join {
    enum join_kind kind;
    struct vector left_keys, right_keys; /* of int: columns, pairwise of one
                                            machine type                 */
    bool nulls_match;             /* NULL equals NULL                       */
    struct step_range_join range; /* of integers, or of one type of floats;
                                     beside keys it leaves out pairs that the
                                     keys or the condition refuse, and no
                                     others: who looks by keys may leave it */
    struct program *condition;    /* over one table of the columns of both,
                                  one after the other, as a scan's input;
                                  rows that it outputs match, no matter
                                  what columns it gives. NULL: none      */
};

/* STEP_APPLY. The inner query runs once for each different tuple of the
 * columns that its parameters take their values from. */
enum apply_kind {
    APPLY_SCALAR, /* the first column of its first row; NULL: no row     */
    APPLY_EXISTS, /* BOOLEAN: whether there is a row                     */
    APPLY_IN      /* BOOLEAN: `column` is IN its first column            */
};
struct step_apply {
    enum apply_kind kind;
    struct steps *inner;
    int column;               /* APPLY_IN: of the input                  */
    struct vector parameters; /* of struct step_parameter                */
};
struct step_parameter {
    int parameter; /* number that the inner programs use                 */
    int column;    /* of the input                                       */
};

/* STEP_WINDOW. Gives the input's columns, then one for each function; rows
 * stay in their order. Of `firsts` nobody wants another row than the first of
 * each partition: on the host no other comes. */
struct step_window_function {
    enum window_function function;
    struct step_aggregate aggregate; /* its column: the argument         */
    struct step_frame frame;         /* of aggregates, FIRST, LAST, NTH  */
    int64_t offset;                  /* LAG, LEAD, NTH; bits of a quantile's
                                        share                            */
    int fallback;                    /* LAG, LEAD: column of the value
                                        where there is no such row; -1: NULL.
                                        STRING_AGG: of what stands before a
                                        text, but the first; -1: nothing     */
    struct vector partition;         /* of int: columns                  */
    struct vector order;             /* of struct step_key               */
};
struct step_window {
    struct vector functions; /* of struct step_window_function           */
    bool firsts; /* all give one value, of the same partitions: of each the
                    first row is enough                                  */
};
/* Whether a function gives all rows of a partition one value: it is a quantile, or
 * the first value. */
bool step_window_gives_one(const struct step_window_function *function);
/* Whether two functions have partitions of the same columns in the same order. */
bool step_window_parts_alike(const struct step_window_function *a,
                             const struct step_window_function *b);

/* STEP_MAP. Functions that the machine cannot compute: they make new texts,
 * or take several. Gives the input's columns, then one for each function; it
 * is NULL where an argument is, or where the function says so. */
enum { STEP_FIRSTS_KEYS = 4 };
struct step_firsts {
    uint32_t count; /* 0: all rows' texts are wanted */
    bool descending;
    unsigned key_count;         /* with keys: of each group of rows        */
    int keys[STEP_FIRSTS_KEYS]; /* ... whose values are equal in these
                                   columns of the input; `count` is 1      */
};
/* How many texts count where a sort puts rows in order by them: those of the rows
 * that it keeps; 0: so many that a heap keeps them no faster than they are sorted. */
uint32_t step_sort_firsts(const struct step_sort *sort);
struct step_function {
    const char *name; /* of program/functions/function.h                    */
    bool
        looks_up; /* `name` is a call as function_lookup_read() reads it, of the
                      only argument, a text                              */
    struct vector arguments; /* of int: columns of the input             */
    struct vector then;      /* of const char *: calls, as above, none of which
                           fails: each of the text that the one before gave, the
                           first of what `name` gives                    */
    struct step_firsts firsts; /* what counts of a text: a row that is behind so
                                  many others by it may have any text that is
                                  behind theirs, too                     */
    struct position at; /* for its failures                              */
};
struct step_map {
    struct vector functions; /* of struct step_function                  */
};

/* STEP_VALUES: without inputs. */
struct step_values {
    uint64_t rows;
    struct vdbq_vector *vectors; /* one a column, texts as texts; with all
                                    they point to in the steps' arena      */
};

/* STEP_RECURSE. Gives the input's rows, the first round; then the rows that the term
 * makes of them, and so on, until a round has none. Each round's rows come in the
 * order that the term gives them. The term is a query of its own, which runs once a
 * round. */
struct step_recurse {
    struct steps *term;
    bool distinct; /* a row that equals one before is left out, NULL equals
                      NULL                                               */
};

/* STEP_WORKING: without inputs, in the steps of a term. Gives the rows of the round
 * before, which are of the columns of the STEP_RECURSE. */

/* STEP_FETCH. Gives the input's columns, then those of a table, in the row whose
 * id (what Rowid gives) a column of the input has; NULL where that is NULL. All
 * rows of the input are taken first. */
struct step_fetch {
    uint32_t table;        /* its id in the catalogue; has no key, or one that
                              is an integer to the machine               */
    const char *name;      /* of the table                               */
    int row;               /* column of the input                        */
    struct vector columns; /* of int: of the table; some are texts       */
};

/* STEP_SEEK. Rows of a table, in its order, of whose columns each of the first
 * `equal_count` of `keys` equals a value; the next one is between bounds, or one
 * of a list, or begins with one. No row is kept for a NULL. With an input the
 * list is a column of that, of the key's machine type, or its only row has values that
 * keys equal, and bounds. */
enum { SEEK_KEYS_MAX = 3, SEEK_FROM_MAX = SEEK_KEYS_MAX + 1 };
struct seek_value {
    int parameter; /* its number; -1: it is a constant                     */
    int64_t integer;
    double real;
    struct vdbq_text text;
    bool fed;       /* it is in the only row of the input, ...              */
    unsigned input; /* ... in the column that `from` has at this place      */
};
struct seek_bound {
    bool there, open; /* open: without the value itself                     */
    struct seek_value value;
};
/* Of each tablet no more rows than the first and the last ones in the order of
 * keys behind those that equal a value, rows with equal keys in their order;
 * more may come. Of texts of an index's keys the first bytes are known: all rows
 * come in which these are the last one's. */
struct seek_ends {
    uint64_t first, last; /* rows; both 0: all come                          */
    unsigned key_count;   /* of the keys that make the order                 */
    bool apart;    /* rows whose first such key is NULL are counted apart    */
    bool not_null; /* ... do not count                                       */
    bool alike;    /* rows whose such keys equal the last one's come, too    */
    bool hopes;    /* of the rows that come some are wanted, and these may not
                      be enough of them: a sort or a group that hopes finds
                      out                                                    */
};
struct step_seek {
    uint32_t table;     /* its id in the catalogue                          */
    const char *name;   /* of the table                                     */
    const char *index;  /* the index that is searched, in words             */
    uint64_t rows;      /* of the table, when it was planned: a seek is taken
                           where it finds few of them                       */
    unsigned key_count; /* of `keys`: all that the index has, or its first   */
    uint64_t origin;    /* of the index's keys (struct index_keys); 0: these
                           are columns                                     */
    unsigned keys[SEEK_KEYS_MAX]; /* columns of the table, or numbers of keys */
    unsigned equal_count;         /* of the keys                            */
    struct seek_value equals[SEEK_KEYS_MAX];
    struct seek_bound low, high;
    unsigned list_columns; /* keys behind those that equal a value that are one
                              of a list, or together one row of it; 0: there
                              is none                                      */
    struct vdbq_vector list[SEEK_KEYS_MAX]; /* one of each: machine values,
                                               texts as texts              */
    /* of each the parameters whose values come into it, by their places, -1:
     * none; NULL: it has none at all */
    const int *given[SEEK_KEYS_MAX];
    uint64_t list_count;     /* of their rows                              */
    bool list_fed;           /* the list is the input's rows: all of `from` */
    int from[SEEK_FROM_MAX]; /* with an input: its columns that are the list, or
                                what keys equal, and bounds                */
    unsigned from_count;     /* of these                                   */
    struct seek_ends ends; /* without a list                                 */
    uint64_t most; /* rows that it hopes for: it fails where there are more; 0:
                      there may be any number                                */
    bool list_starts;      /* it has texts: the key begins with one of them  */
    struct vector columns; /* of int: of the table; behind the last one the
                              row's number                                  */
};

/* STEP_GATHER. The input's rows of rank 0, then those of rank 1, and so on; of
 * groups apart, the groups of all. Rank 0 has them; the others have none. */
struct step_gather {
    unsigned ranks;
    bool ordered; /* the input's last column, which is not given, are numbers
                     that never fall on a rank: rows come in their order       */
};

/* STEP_EXCHANGE. Of the input's rows of all ranks those whose keys hash to this
 * rank, so that rows of equal keys are on one; without keys all of them. Those of the
 * first rank come first. Where they are numbered, a last column has numbers in the
 * order of all ranks' rows, no two the same. */
enum exchange_nulls {
    EXCHANGE_NULLS_DROP, /* rows with a NULL key go: they equal none        */
    EXCHANGE_NULLS_STAY, /* ... stay where they are                         */
    EXCHANGE_NULLS_MATCH /* NULL is a key as any                            */
};
struct step_exchange {
    unsigned ranks;
    struct vector keys; /* of int: columns; none: every rank has all rows,
                           up to the first that fails, as one process has them */
    enum exchange_nulls nulls;
    bool numbered;
};

struct step {
    enum step_kind kind;
    struct vector inputs; /* of int: numbers of steps              */
    unsigned column_count;
    struct step_column *columns;
    double rows;  /* about how many it gives, as the
                                            planner thinks; below 0: it said
                                            nothing                      */
    bool sampled; /* ... for it a table's sample had a say                 */
    union {
        struct step_scan scan;
        struct step_group group;
        struct step_sort sort;
        struct step_limit limit;
        struct step_join join;
        struct step_apply apply;
        struct step_window window;
        struct step_map map;
        struct step_values values;
        struct step_recurse recurse;
        struct step_fetch fetch;
        struct step_seek seek;
        struct step_gather gather;
        struct step_exchange exchange;
    };
};

struct steps {
    struct vector steps; /* of struct step; each behind its inputs        */
    struct arena arena;  /* of names, columns and inner steps             */
};

/* TYPE_... in which the machine has values of a type; its number of a word
 * stands for a text. */
int step_machine_type(enum vdbq_type type);

void steps_init(struct steps *steps);
void steps_finish(struct steps *steps); /* inner ones, too; accepts zeroed */
struct step *steps_at(const struct steps *steps, int number);
/* The step whose rows are the query's. */
struct step *steps_last(const struct steps *steps);
/* Adds a zeroed step of that kind, its vectors and its program ready; NULL:
 * no memory. It moves when another one is added. */
struct step *steps_add(struct steps *steps, enum step_kind kind);
/* Adds such a step behind step `number`, with that as its input and its columns;
 * who read the rows of that one reads those of the new one. NULL: no memory.
 * Steps move. */
struct step *steps_insert(struct steps *steps, int number, enum step_kind kind);
/* How many steps, each as often as it does, read the rows of step `number`; and
 * whether any step's rows are read more than once. */
unsigned steps_readers(const struct steps *steps, int number);
bool steps_share(const struct steps *steps);
/* Sets reads[i] to whether a step, or who runs the steps, reads column i of
 * step `number`'s rows. */
void steps_reads(const struct steps *steps, int number, bool *reads);
/* Whether a step gives the same rows in whatever order those of its inputs come: a
 * scan or a join of which no row fails, for the first that does would be told of. */
bool step_passes_order(const struct step *step);
/* Whether nobody sees in which order the rows of step `number` come: they are but
 * counted, added up or compared, and no row fails on the way. */
bool steps_any_order(const struct steps *steps, int number);
/* What steps ask at most of the numbers of texts, and who runs them of the last
 * one's: an enum texts_use for each column of each step, [step][column]. To be
 * released; NULL: no memory. */
uint8_t **steps_texts(const struct steps *steps, enum texts_use last);
/* Gives the scan `step` the columns that its program's ResultColumns name;
 * the program need not be checked. False: no memory. */
bool steps_describe(struct steps *steps, struct step *step);

/* Runs program_check() over every program, inner ones too, and proves that
 * inputs, columns and counts fit. Nothing may run before. Fails as
 * program_check(). */
enum vdbq_status steps_check(struct steps *steps, struct error *error);

/* EXPLAIN's text: of one step that is a scan, its program and nothing else;
 * of several, a line for each, with the rows that are expected, in front of
 * its program. */
void steps_print(const struct steps *steps, struct text *text);

/* A line for each step, for people: columns by their names, steps numbered from
 * 1, no programs. */
void steps_print_names(const struct steps *steps, struct text *text);

/* What running a step came to; of a step that ran several times, in all. */
struct step_count {
    const struct step *step;
    uint64_t rows;
    uint64_t time_ns; /* with that of its inputs                           */
    uint64_t runs;
    uint64_t memory_bytes; /* of the account, the most that a run held     */
    uint64_t spill_bytes;  /* written to temporary files                   */
    bool seen;             /* its rows were counted; not so where they were
                         taken without being asked for                     */
};
/* Adds one to a vector of struct step_count, to that of the same step where
 * there is one. False: no memory. */
bool step_count_add(struct vector *counts, const struct step_count *added);
/* The same text, with what running came to beside what was expected. */
void steps_print_counts(const struct steps *steps, const struct vector *counts,
                        struct text *text);

#endif
