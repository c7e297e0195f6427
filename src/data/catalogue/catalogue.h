/* SPDX-License-Identifier: MIT */
/*
 * The catalogue: every table with its columns, its tablets and what is known
 * of their values; views and indexes. A catalogue never changes once it is current; a writer
 * makes the next one from it. It is shared by counting its holders.
 */
#ifndef VDBQ_DATA_CATALOGUE_H
#define VDBQ_DATA_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collation.h"
#include "base/error.h"
#include "base/hostile.h"
#include "base/memory.h"
#include "base/text.h"
#include "cl/tablet.h"
#include "data/catalogue/defaults.h"
#include "data/catalogue/edit.h"
#include "data/catalogue/identity.h"
#include "data/catalogue/sample.h"

enum {
    COLUMNS_MAX = 4096,      /* of one table       */
    TABLES_MAX = 65536,      /* of one database; as many views, and indexes */
    NAME_BYTES_MAX = 1024,   /* of table or column */
    CHECKS_MAX = 4096,       /* of one table */
    STORED_SQL_MAX = 1 << 20 /* of a DEFAULT, a CHECK, a view */
};

/* What is known of the values of one column, in one tablet or in all. */
struct column_facts {
    uint64_t null_count; /* rows that are NULL */
    bool empty;          /* no value that is not NULL: no minimum        */
    int64_t minimum;     /* of an integer column                         */
    int64_t maximum;     /* ...; of a text column: the words in a tablet,
                             0: not known                                 */
    double minimum_real; /* of a floating-point column                   */
    double maximum_real; /* of floats; not NaN */
};

/* Columns that no two rows have alike; NULLs are different from one another. */
struct unique {
    unsigned column_count; /* of `columns`, at least 1 */
    unsigned *columns;     /* places in the table, in the order of the rule */
};

/* CHECK: a condition that is false of no row. */
struct row_check {
    const char *name; /* behind CONSTRAINT; NULL: it has none */
    const char *sql;  /* the condition */
    unsigned read_count;
    unsigned *reads; /* columns of the table that it reads, ascending, at least
                        one                                              */
};

/* A tablet in the file. One with an edit is the rows of its base, whose place,
 * size and checksum are given, as they are with the edit. */
struct tablet_ref {
    struct identity identity;   /* its own for ever: identity rule 1    */
    uint64_t offset;            /* in the file                              */
    uint64_t size_bytes;        /* as it is stored */
    uint64_t checksum;          /* XXH3 of its bytes                        */
    uint64_t row_first;         /* number of its first row in the table     */
    uint32_t rows;              /* at least 1 */
    struct column_facts *facts; /* one for each column; with an edit bounds of
                                   what they are; NULL of a base alone       */
    struct edit *edit;          /* held by the catalogue; NULL: none         */
};

struct column {
    const char *name;         /* in the arena of the catalogue */
    enum vdbq_type type;      /* of SQL */
    unsigned precision;       /* VDBQ_DECIMAL: digits in all, 1 to 18     */
    unsigned scale;           /* VDBQ_DECIMAL: digits behind the point    */
    enum collation collation; /* BINARY of all but VDBQ_TEXT              */
    bool not_null;            /* NULL is refused */
    bool unique;              /* a value may be there once */
    const char *default_sql;  /* an expression; NULL: there is no DEFAULT */
    const struct ast_expression *default_tree; /* of default_sql: the table's
                                                  `defaults` own it; NULL: it
                                                  was not parsed           */
};

/* How a table of part files (data/file/part_files.h) lies in them, where that is
 * not by runs of its rows. By hash its rows lie in them once more. */
enum { PART_KEYS_MAX = 8 };
struct table_parts {
    uint32_t table;               /* its id                                  */
    unsigned parts;               /* how many there are                      */
    unsigned key_count;           /* of `keys`; 0: it is whole in each part  */
    unsigned keys[PART_KEYS_MAX]; /* columns whose hash says in which part a
                                     row is                                  */
    struct identity state; /* with keys, of the table's rows that are there  */
    struct table *copy;    /* ... the rows as they lie there: parts_join();
                              NULL: nobody asked for them                    */
    size_t *first;         /* ... of each part, its first tablet of `copy`;
                              behind them how many there are                 */
    struct arena arena;    /* of both */
};

struct table {
    uint32_t id;           /* never used again, but after a ROLLBACK */
    const char *name;      /* in the arena of the catalogue */
    unsigned column_count; /* of `columns`, the key among them */
    struct column *columns;
    unsigned key;           /* the primary key's column, or NO_KEY */
    unsigned unique_count;  /* rules of more than one column */
    struct unique *uniques; /* besides what is said of one column */
    unsigned check_count;   /* of `checks` */
    struct row_check *checks;
    uint64_t rows;              /* of all tablets */
    size_t tablet_count;        /* of `tablets` */
    struct tablet_ref *tablets; /* in the order of their rows */
    struct tablets *held;       /* which has them; NULL: there are none */
    struct identity state;      /* of its rows: identity rule 3 */
    struct defaults *defaults;  /* held; NULL: no column has a tree */
    struct sample *sample;      /* held; of all rows; NULL: there is none, as
                              in files of vdbq 0.3                          */
    bool sample_lost; /* the file has one that is not what it should be   */
    const struct table_parts *parts; /* of part files, which have it; NULL: its
                                        rows lie in them by runs, if at all   */
    const struct column_facts *bounds; /* of each column, wider than what is so:
                              catalogue_wider(); else NULL                   */
};
#define NO_KEY TABLET_NO_KEY

struct view {
    const char *name; /* in the arena of the catalogue */
    const char *sql;  /* its CREATE VIEW statement */
    bool temporary;   /* one of the connection's own: CREATE TEMP VIEW */
};

/* A run in the file: the rows of a tablet in the order of the first columns of
 * an index (data/index/run.h). It is found by the tablet's name and the columns;
 * without it, it is made where it is needed. */
enum { RUN_COLUMNS_MAX = 3 };
struct run_ref {
    struct identity tablet; /* that it belongs to, or whose tablet of keys:
                               index_identity()                        */
    unsigned column_count;  /* of `columns`, at least 1                */
    unsigned columns[RUN_COLUMNS_MAX]; /* of the table; others are 0   */
    uint64_t offset;                   /* in the file                  */
    uint64_t size_bytes;               /* of its block                 */
    uint64_t head_bytes;               /* of these, its head           */
    uint64_t checksum;                 /* XXH3 of the head             */
};

/* What an index is of that is more than columns of all rows: expressions, or
 * rows that meet a condition. The keys of those rows of a tablet are a tablet of
 * their own, the tablet of keys, of which runs alone are kept
 * (data/index/index_values.h). */
struct index_keys {
    uint64_t origin; /* a random number, by which tablets of keys have names */
    struct column
        *columns;          /* what each key is: `name` is its SQL             */
    const char *where_sql; /* the condition's SQL; NULL: it is of all rows    */
    unsigned read_count;   /* of `reads` */
    unsigned *reads;       /* columns of the table that all of it is made of,
                        ascending                                           */
};

/* A named index: rows are found by the runs of its columns. One that is unique
 * says what rows the table may have. */
struct index {
    const char *name;      /* in the arena of the catalogue */
    uint32_t table_id;     /* the table it belongs to */
    bool unique;           /* CREATE UNIQUE INDEX */
    unsigned column_count; /* of `columns` */
    unsigned *columns;     /* of the table; with `keys` 0, 1, ..., its keys */
    enum collation *collations; /* of each; NULL: the columns' own */
    struct index_keys *keys;    /* NULL: it is of columns of all rows */
};

struct catalogue {
    unsigned holders;       /* catalogue_hold() and _release()             */
    uint64_t generation;    /* of the commit that made it; 0: a new file   */
    uint64_t origin;        /* of the identities that the transaction gives
                             which made it; 0: it was read from the file */
    uint32_t next_table_id; /* numbers are never given twice */
    size_t table_count;     /* of `tables` */
    struct table *tables;
    size_t view_count; /* of `views` */
    struct view *views;
    size_t index_count; /* of `indexes` */
    struct index *indexes;
    size_t run_count;     /* of `runs` */
    struct run_ref *runs; /* by tablet, in ... */
    struct shared_runs
        *held_runs;     /* ... what copies of the catalogue share; held.
                                      NULL: there are none               */
    size_t runs_listed; /* in the list that the file has, whatever became of
                           them */
    struct catalogue_names *names; /* held: of tables, views and indexes, which
                                      copies of the catalogue share       */
    struct arena arena; /* everything else above lives in it, but trees
                            of DEFAULTs                                 */
};

/* What becomes of a row whose key another row has. */
enum conflict {
    CONFLICT_FAIL,    /* it fails the statement         */
    CONFLICT_REPLACE, /* the rows that have it go       */
    CONFLICT_IGNORE   /* it is left out                 */
};

/* Columns that are unique together, in any order, or the keys of a unique index:
 * what ON CONFLICT is about. */
struct conflict_target {
    uint64_t origin;   /* of the index's keys; 0: it is about columns */
    unsigned *columns; /* `count` of them; of keys none               */
    unsigned count;    /* of columns, or keys; 0: there is no target  */
};

/* Ids of tables that catalogue_join() took from a database of files. */
#define CATALOGUE_FILES 0x40000000u
/* With this bit the id of a table is that of its copy by hash (struct table_parts). */
#define CATALOGUE_COPY 0x20000000u
/* Ids of temporary tables, which are in a database of their own, are beyond this one,
 * and all others below it. */
#define CATALOGUE_TEMPORARY 0x10000000u
bool table_is_temporary(uint32_t table_id);

/* A new catalogue with all that `catalogue` has, and behind it what `temporary` has,
 * and the tables of `files`, a database whose tables stand for files; NULL, both: there
 * is none. Names are looked up from behind, so that a temporary table hides another one
 * of its name. NULL: no memory. */
struct catalogue *catalogue_join(const struct catalogue *catalogue,
                                 const struct catalogue *temporary,
                                 const struct catalogue *files);
/* The table of the file of that name; NULL: there is none. */
const struct table *catalogue_file(const struct catalogue *catalogue,
                                   const char *name);

struct catalogue *catalogue_hold(struct catalogue *catalogue);
void catalogue_release(struct catalogue *catalogue);

/* The table of that name or id, which may be a copy's; NULL: there is none. */
const struct table *catalogue_table(const struct catalogue *catalogue,
                                    const char *name);
const struct table *catalogue_table_id(const struct catalogue *catalogue,
                                       uint32_t id);
const struct view *catalogue_view(const struct catalogue *catalogue,
                                  const char *name);
/* The same in a schema, SCHEMA_MAIN or SCHEMA_TEMPORARY; NULL: in that which
 * catalogue_schema() says. */
#define SCHEMA_MAIN      "main"
#define SCHEMA_TEMPORARY "temp"
const struct table *catalogue_table_in(const struct catalogue *catalogue,
                                       const char *schema, const char *name);
const struct view *catalogue_view_in(const struct catalogue *catalogue,
                                     const char *schema, const char *name);
const struct index *catalogue_index_in(const struct catalogue *catalogue,
                                       const char *schema, const char *name);
/* The schema in which a name of a table or view is meant that comes without one: that of
 * temporary ones, where it is there, else the other one. */
const char *catalogue_schema(const struct catalogue *catalogue,
                             const char *name);
const struct index *catalogue_index(const struct catalogue *catalogue,
                                    const char *name);
/* The index whose keys have that origin; NULL: there is none. */
const struct index *catalogue_index_of(const struct catalogue *catalogue,
                                       uint64_t origin);
/* The columns that an index's numbers are of: those of its keys, or of its
 * table. */
const struct column *index_columns(const struct index *index,
                                   const struct table *table);
/* The rows of which `where_sql` is true as an index without keys, whose parts are in
 * `keys`: of those that a CHECK reads. */
struct index row_check_index(const struct table *table,
                             const struct row_check *check,
                             const char *where_sql, struct index_keys *keys);
/* Whether it reads one of the table's columns that are set. */
bool row_check_reads(const struct row_check *check, const bool *columns);
/* Adds it to SQL: CONSTRAINT name CHECK (condition). */
void row_check_sql(const struct row_check *check, struct text *text);

/* Whether an index reads one of the table's columns that are set. */
bool index_reads(const struct index *index, const bool *columns);
/* Whether it is of some rows; `index` may be NULL: it is not. */
bool index_is_partial(const struct index *index);
/* The identity of the tablet of keys that belongs to a tablet; of an index of
 * columns, or NULL, the tablet's own. */
struct identity index_identity(const struct index *index,
                               struct identity tablet);
/* The run of a tablet by these columns; NULL: there is none. */
const struct run_ref *catalogue_run(const struct catalogue *catalogue,
                                    struct identity tablet,
                                    const unsigned *columns, unsigned count);
/* The same, likely one of the few from `*near` on, which then is behind it: for who asks
 * for those of one tablet after the other, from 0 on. */
const struct run_ref *catalogue_run_near(const struct catalogue *catalogue,
                                         struct identity tablet,
                                         const unsigned *columns,
                                         unsigned count, size_t *near);
/* How many of `runs` are a tablet's: they stand side by side, from `*first` on. */
size_t catalogue_runs_of(const struct catalogue *catalogue,
                         struct identity tablet, size_t *first);
/* Number of the column of that name, or column_count: there is none. */
unsigned table_column(const struct table *table, const char *name);

/* Whether there can be such a column: its type, precision and scale. */
bool column_valid(const struct column *column);

/* One of which a plan can be made that lasts longer: the same tables, but with more
 * rows, and values farther apart, than they have. The caller holds it; NULL: there is
 * no memory. */
struct catalogue *catalogue_wider(const struct catalogue *catalogue);

/* What becomes of one table: names that change, or other columns, of which its rows
 * are to come anew. */
struct alteration {
    uint32_t table_id;
    const char *name;             /* the table's from then on; NULL: as it is */
    const struct column *columns; /* NULL: they are what they are     */
    unsigned column_count;
    const int
        *from; /* of each column, which it was, or -1: it was none; all rows
                        go. NULL: columns have other names alone       */
    const struct row_check *checks; /* that come with the columns */
    unsigned check_count;
};
/* A catalogue with the table as it is afterwards, which the caller holds; NULL: no
 * memory. What its indexes and rules are of must have columns still. */
struct catalogue *catalogue_altered(const struct catalogue *catalogue,
                                    const struct alteration *alteration);

/* Facts of a column over all tablets of a table. */
struct column_facts table_facts(const struct table *table, unsigned column);
/* Those of each column over the TABLETS_TOGETHER tablets that begin at one, a multiple
 * of that, or over as many as there are; NULL: nobody has put them together. */
enum { TABLETS_TOGETHER = HOSTILE(2, 32) };
const struct column_facts *table_facts_together(const struct table *table,
                                                size_t tablet);
/* Whether these are what a count of the values would give: bounds are not. */
bool table_facts_exact(const struct table *table, unsigned column);
/* Where a share of a table's rows, of TABLE_SHARE_ALL, ends and the next one begins:
 * the first tablet of which the middle is behind it. */
enum { TABLE_SHARE_ALL = 1 << 16 };
size_t table_share(const struct table *table, uint32_t share);
/* Whether values of a column have a hash, by which equal ones are in one part: not
 * floats, of which 0.0 equals -0.0, nor texts that are equal by a COLLATE. */
bool column_has_hash(const struct column *column);
/* A table's rows as they lie in parts by hash: its columns, and behind them the
 * number that each row has in the table, which ascend in each part. Tablets of a
 * part lie at their places in its file, behind as many times TABLE_PART_BYTES as
 * part_place() says. NULL: there are none, or nobody asked for them. */
#define TABLE_PART_BYTES (UINT64_C(1) << 48)
const struct table *table_copy(const struct table *table);
/* Why rows of a table that lay in parts by hash do not lie so any more; NULL: they do, or
 * never did. */
const char *table_parts_left(const struct table *table);
/* Whether it is such rows. */
bool table_is_copy(const struct table *table);
/* Makes them of the rows of each part, none of which has an edit. False: no
 * memory. */
bool table_parts_join(struct table_parts *parts, const struct table *table,
                      const struct table *const *of_parts);
void table_parts_finish(struct table_parts *parts); /* accepts zeroed */
/* The place of what a part has at a place, among all that parts have; and the part of
 * such a place. */
uint64_t part_place(unsigned part, uint64_t offset);
bool part_of_place(uint64_t place, unsigned *part, uint64_t *offset);
/* Whether a tablet of the table has an edit. */
bool table_has_edits(const struct table *table);
/* The tablet that an edit is over: as it was written, without facts. */
struct tablet_ref tablet_base(const struct tablet_ref *tablet);
/* The identity by which a tablet was written. */
struct identity tablet_written(const struct tablet_ref *tablet);

/* Whether a name needs no quotes in SQL. */
bool name_is_plain(const char *name);
/* Adds a name to SQL, in quotes where it needs them: one in it is doubled. */
void name_sql(const char *name, struct text *text);
/* The CREATE TABLE statement that makes an equal, empty table; names that
 * need it are quoted. */
void table_sql(const struct table *table, struct text *text);
/* The CREATE INDEX statement of an index. */
void index_sql(const struct catalogue *catalogue, const struct index *index,
               struct text *text);

#endif
