/* SPDX-License-Identifier: MIT */
/*
 * A database of part files: a folder in which the tablets of one database lie in
 * several files, one for each rank (docs/cluster.md).
 *
 *     FOLDER/layout   which bytes of the database are in which part, as text
 *     FOLDER/whole    the database file without the tablets of tables that lie in
 *                     parts by runs
 *     FOLDER/part.0   its own tablets, at the places that they have in the
 *     ...             database; each an ordinary database of these rows
 *
 * All of it is read as if it were the one file, of which all places are what they
 * were: rows, their order and all plans are its own. `layout` and the parts never
 * change. What is new is written to `whole` alone: its heads, locks and marks are the
 * database's, and all rules of file.c hold of it. Places that are in parts are never
 * free, whoever needs what lies there: no block is given one (part_reserve()), none
 * is written there and `whole` is not cut before the last of them ends, whatever it
 * is asked for; and who opens a state proves that no block lies in two files
 * (part_prove()).
 *
 * Rows of a table that lies by hash are in `whole`, and once more in parts, each of
 * which has those of its keys, with their numbers, in the order of these. Their
 * tablets are what the part's own catalogue says. They are read at part_place()s,
 * once that is known (database_join_parts()), as long as the table has the state that
 * it had when the folder was made.
 */
#ifndef VDBQ_DATA_PART_FILES_H
#define VDBQ_DATA_PART_FILES_H

#include "base/error.h"
#include "base/os/os.h"
#include "base/text.h"
#include "base/vector.h"
#include "data/catalogue/catalogue.h"

enum {
    PARTS_MAX = 4096,
    PART_PATH_MAX = 4096,       /* bytes of the path of a file of the folder */
    PART_HEADS_BYTES = 2 * 4096 /* of a part, by which it is known           */
};

/* Bytes of the database that are in a part. */
struct part_range {
    uint64_t offset;
    uint64_t size;
    uint32_t part; /* as many as there are: each has them, and `whole`, too */
};

struct part_layout {
    uint64_t database; /* a random number: parts of one have the same one */
    uint64_t state;    /* the database's generation when they were made */
    unsigned parts;
    uint64_t *heads;            /* of each part: XXH3 of PART_HEADS_BYTES   */
    struct table_parts *tables; /* that lie in parts by hash, or whole      */
    size_t table_count;
    struct part_range *ranges; /* by their offsets */
    size_t range_count;
};
void part_layout_finish(struct part_layout *layout); /* accepts zeroed */

/* The path of a file of a folder, which fits PART_PATH_MAX bytes or is cut; of
 * part `part`. */
void part_path(const char *folder, const char *name, char *path);
void part_path_of(const char *folder, unsigned part, char *path);
/* Adds what the file `layout` has. */
void part_layout_print(const struct part_layout *layout, struct text *text);
/* Reads the file. Fails with IO, CORRUPT, NO_MEMORY. */
enum vdbq_status part_layout_read(const char *folder,
                                  struct part_layout *layout,
                                  struct error *error);
/* The first range that ends behind a place; `range_count`: none does. */
size_t part_range_at(const struct part_layout *layout, uint64_t offset);
/* Where the last range ends; 0: there is none. */
uint64_t part_layout_end(const struct part_layout *layout);
/* Tells the tables of a catalogue how they lie in the parts, or did when the folder was
 * made. Fails, of the state that this was made with, with CORRUPT. */
enum vdbq_status part_layout_tell(struct part_layout *layout,
                                  struct catalogue *catalogue,
                                  const char *folder, struct error *error);
/* Proves that each of these extents is a range, or touches none. Fails with CORRUPT. */
enum vdbq_status part_layout_prove(const struct part_layout *layout,
                                   const struct vector *extents,
                                   const char *folder, struct error *error);
/* What is known of a part by its heads. */
int part_heads(struct os_file *file, uint64_t *sum);

/* Whether a path is that of such a folder. */
bool part_folder(const char *path);
/* Looks at all files of a folder, as who `reads` it, or writes to it, too: says which
 * part is missing, or is another one than was made. */
enum vdbq_status part_check(const char *folder, bool reads,
                            struct error *error);

/* Opens folders; none is ever made so. */
extern const struct os_file_calls part_files;
/* How `whole` is opened, read and written: os_files, unless a test takes its place. */
extern const struct os_file_calls *part_whole_calls;
/* How many parts a folder has that is open, and their database's number. */
unsigned part_count(const struct os_file *file, uint64_t *database);
/* From now on what each part has is read in this one. */
void part_own(struct os_file *file, unsigned part);
/* How its tables lie in parts, where not by runs. */
struct table_parts *part_tables(const struct os_file *file, size_t *count);
/* Adds the places that are in parts to extents that are in use; false: no memory. And
 * where the last of them ends. */
bool part_reserve(const struct os_file *file, struct vector *extents);
uint64_t part_end(const struct os_file *file);
/* part_layout_tell() and part_layout_prove() of a folder that is open. */
enum vdbq_status part_tell(struct os_file *file, struct catalogue *catalogue,
                           const char *folder, struct error *error);
enum vdbq_status part_prove(const struct os_file *file,
                            const struct vector *extents, const char *folder,
                            struct error *error);

#endif
