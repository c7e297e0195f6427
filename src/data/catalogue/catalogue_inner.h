/* SPDX-License-Identifier: MIT */
/*
 * Making catalogues, for the data floor itself: the next one from a current
 * one, and to and from the bytes of the file.
 */
#ifndef VDBQ_DATA_CATALOGUE_INNER_H
#define VDBQ_DATA_CATALOGUE_INNER_H

#include "data/catalogue/catalogue.h"

/* What catalogues that are copies of one another have together: names and columns
 * of tables, their rules of several columns, and what views and indexes are. It
 * never changes, though more may be added. */
struct catalogue_names {
    unsigned holders;   /* names_hold() and names_release()        */
    struct arena arena; /* of all that, but for trees of DEFAULTs  */
};
/* Empty ones, which the caller holds; NULL: no memory. */
struct catalogue_names *names_create(void);
struct catalogue_names *names_hold(struct catalogue_names *names);
void names_release(struct catalogue_names *names); /* accepts NULL */

/* Tablets of a table, which catalogues that are copies of one another share. They do
 * not change once others see them. */
struct tablets {
    unsigned holders; /* tablets_hold() and tablets_release()         */
    unsigned columns; /* facts of each tablet, which follow the last  */
    size_t count;     /* of `refs`                                    */
    struct column_facts *together; /* behind the facts of tablets, those of each
                                      TABLETS_TOGETHER of them: a look-up passes over
                                      these at once. NULL: not yet       */
    struct tablet_ref refs[];      /* their edits are held */
};
/* So many, which are to be put; without columns they have no facts. The caller holds
 * them; NULL: no memory. */
struct tablets *tablets_create(unsigned columns, size_t count);
/* Both accept NULL: there are none. */
struct tablets *tablets_hold(struct tablets *tablets);
void tablets_release(struct tablets *tablets);
/* Copies a tablet and its facts, and holds its edit. */
void tablets_put(struct tablets *tablets, size_t i,
                 const struct tablet_ref *tablet);
/* The facts of all are there: puts them together, but for what is known of those that
 * are the same tablets as before. NULL: there were none. */
void tablets_join(struct tablets *tablets, const struct tablets *before);
/* Gives them to a table, which lets go those that it had; they are held no more. */
void table_take_tablets(struct table *table, struct tablets *tablets);
/* Gives a table copies of its tablets, which may be changed. False: no memory. */
bool table_own_tablets(struct table *table);

/* An empty catalogue, or one equal to `from` with room for `room` tables,
 * views and indexes more; the caller holds it and may change it until others see it.
 * Without room it has the same names. NULL: there is no memory. */
struct catalogue *catalogue_create(void);
struct catalogue *catalogue_copy(const struct catalogue *from, size_t room);

/* Adds a table without tablets, in the room that catalogue_copy() made, as the
 * last one. The names are copied. False: no memory. */
bool catalogue_add(struct catalogue *catalogue, const struct table *table);
/* Adds one as it is, with its id and tablets, in that room. False: no memory. */
bool catalogue_add_same(struct catalogue *catalogue, const struct table *table);
/* Removes a table with its indexes. */
void catalogue_remove(struct catalogue *catalogue, uint32_t id);
/* As catalogue_add(), of what has a name of its own. */
bool catalogue_add_view(struct catalogue *catalogue, const struct view *view);
bool catalogue_add_index(struct catalogue *catalogue,
                         const struct index *index);
void catalogue_remove_view(struct catalogue *catalogue, const char *name);
void catalogue_remove_index(struct catalogue *catalogue, const char *name);
/* Copies views and indexes, with room for more; with the same names those stay what
 * they are. False: no memory. */
bool catalogue_copy_names(struct catalogue *copy, const struct catalogue *from,
                          size_t room);
/* The same in a copy that was made with room, so that its names are its own: columns
 * get no trees of their DEFAULTs. False: no memory. */
bool catalogue_alter(struct catalogue *catalogue,
                     const struct alteration *alteration);
/* Gives a table that has none the columns that are unique together. */
bool catalogue_constrain(struct catalogue *catalogue, uint32_t id,
                         const struct unique *uniques, unsigned count);
bool copy_uniques(struct arena *arena, const struct unique *uniques,
                  unsigned count, struct table *to);
/* Gives a table CHECKs, behind those that it has; their columns are its own by now. False:
 * no memory. */
bool catalogue_add_checks(struct catalogue *catalogue, uint32_t id,
                          const struct row_check *checks, unsigned count);
/* Gives a table copies of these. False: no memory. */
bool copy_checks(struct arena *arena, const struct row_check *checks,
                 unsigned count, struct table *to);
/* Lets a table keep the first `kept` of its tablets and adds copies of
 * `count` more; counts its rows anew. False: no memory. */
bool catalogue_extend(struct catalogue *catalogue, uint32_t id, size_t kept,
                      const struct tablet_ref *more, size_t count);

/* Gives a copy the runs of a catalogue, which they share until one gets others. */
void catalogue_share_runs(struct catalogue *copy, const struct catalogue *from);
void shared_runs_release(struct shared_runs *runs); /* accepts NULL */
/* Gives a catalogue room for so many runs of its own, and none so far. False: no
 * memory, and nothing changed. */
bool catalogue_new_runs(struct catalogue *catalogue, size_t count);
/* The same with copies of those that it has. */
bool catalogue_own_runs(struct catalogue *catalogue);
/* Puts its own runs in order. */
void catalogue_sort_runs(struct catalogue *catalogue);

/* Gives a table another sample, which it holds; NULL: none. */
void catalogue_sample(struct catalogue *catalogue, uint32_t id,
                      struct sample *sample);

/* Numbers the rows of a table's tablets, and counts them. */
void table_number_rows(struct table *table);
/* The same, and works out its state. */
void table_count_rows(struct table *table);

/* The catalogue's bytes in the file; text->failed: no memory. */
void catalogue_encode(const struct catalogue *catalogue, struct text *text);
/* Of features_read of a file (file rule 14), those that its catalogue needs. */
uint64_t catalogue_features(const struct catalogue *catalogue);

/* What holds for the file that a catalogue was read from. */
struct catalogue_bounds {
    uint64_t generation; /* that its head names              */
    uint64_t first;      /* where blocks begin               */
    uint64_t end;        /* and end: the file is this long   */
    uint64_t offset;     /* the catalogue's own block        */
    uint64_t size;       /* of the catalogue in bytes */
    uint64_t copies;     /* the second copies of the heads; 0: there are none */
    uint64_t copies_size; /* of the copies of the heads */
    bool places; /* where blocks are is all that is wanted: neither names nor
                    values are taken, nor views and indexes               */
};

/* Reads the bytes back and proves that nothing in them points outside the
 * bounds or, but for `places`, twice at the same place, and that DEFAULTs are
 * expressions to `parse`. Fails with CORRUPT, NO_MEMORY. */
enum vdbq_status catalogue_decode(const void *bytes,
                                  const struct catalogue_bounds *bounds,
                                  const char *path, default_parser parse,
                                  struct catalogue **catalogue,
                                  struct error *error);

/* The order of names without case, as strcmp() gives it. */
int name_order(const char *a, const char *b);
/* Two names that are equal without case, or NULL: there are none. May sort. */
const char *names_twice(const char **names, size_t count);

#endif
