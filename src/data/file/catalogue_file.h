/* SPDX-License-Identifier: MIT */
/*
 * The catalogue as bytes of the file. Numbers are little-endian and not
 * aligned; a name is its length (4 bytes) and its bytes, without a NUL.
 *
 *   the catalogue    size  field
 *                       8  magic: "VDBQCAT3"
 *                       8  generation, the same as in the head
 *                       4  id that the next table gets
 *                       4  tables; that many follow
 *                     * 4  views; that many follow: name and the CREATE VIEW
 *                          statement
 *                     * 4  indexes; that many follow: id of the table (4),
 *                          flags (4): 1 UNIQUE, 2 it has keys; name, numbers
 *                          of columns; a number's highest byte is 0 (the
 *                          column's own collation) or 1 more than the number
 *                          of another; of one with keys (index_keys.h) in
 *                          place of the numbers
 *   a table             4  id
 *                       4  number of the primary key's column, or NO_KEY
 *                       4  columns, at least 1
 *                       8  tablets
 *                       .  name
 *                       .  columns
 *                     * 4  how many times columns are unique together; that
 *                          many numbers of columns follow
 *                       .  tablets
 *   numbers of columns  4  how many, at least 1; then 4 for each
 *   a column            4  type
 *                       .  name
 *                     * 1  precision, of DECIMAL; else 0
 *                     * 1  scale, of DECIMAL; else 0
 *                     * 1  flags: 1 NOT NULL, 2 UNIQUE
 *                     * 1  collation (base/collation.h); 0 of what is no
 *                          TEXT
 *                     * .  DEFAULT: length (4; 0: there is none) and bytes
 *   a tablet            8  offset in the file
 *                       8  size
 *                       8  checksum
 *                      16  identity: origin and number; no two tablets of a
 *                          catalogue have the same
 *                       4  rows, at least 1
 *                     + 8  offset in the file of its edit's block, or 0: it has
 *                          none
 *                     + 8  size of the edit's block
 *                     + 8  checksum of the edit's block
 *                      24  for each column: null count, minimum, maximum as
 *                          in struct tablet_column; of a TEXT column 0 and
 *                          the number of its words, or 0: nobody counted
 *
 * What is marked with + is there where the magic is "VDBQCAT4": some tablet has
 * an edit (data/database/edits.h).
 *
 * Files of format 1 have two other forms, which are read and not written. In
 * both a tablet has, for its identity, 8 bytes: the generation of the commit
 * that wrote it. "VDBQCAT2" is all else as above; "VDBQCATA" has nothing of
 * what is marked with *, and only types before TEXT.
 *
 * catalogue_encode.c writes it, catalogue_decode.c reads it by decoder.h.
 */
#ifndef VDBQ_DATA_CATALOGUE_FILE_H
#define VDBQ_DATA_CATALOGUE_FILE_H

#include <stdint.h>

enum { CATALOGUE_MAGIC_BYTES = 8 };
#define CATALOGUE_MAGIC        "VDBQCAT3"
#define CATALOGUE_MAGIC_EDITS  "VDBQCAT4"
#define CATALOGUE_MAGIC_FIRST  "VDBQCATA"
#define CATALOGUE_MAGIC_SECOND "VDBQCAT2"

/* Bytes that the smallest of each takes. */
enum {
    TABLE_BYTES = 25,
    COLUMN_BYTES = 9,
    TABLET_BYTES = 36,
    FACTS_BYTES = 24,
    EDIT_BYTES = 24,
    UNIQUE_BYTES = 8,
    VIEW_BYTES = 10,
    INDEX_BYTES = 21,
    CHECK_BYTES = 21
};

/* Bytes of a tablet that is written, but for its edit and its facts. */
enum { TABLET_WRITTEN_BYTES = 44 };

/* Flags of a column, and all of them; of an index. */
enum { FLAG_NOT_NULL = 1, FLAG_UNIQUE = 2, FLAGS = 3 };
enum { INDEX_UNIQUE = 1, INDEX_KEYS = 2 };
/* Where the collation of an index's column begins, above its number. */
enum { COLLATION_SHIFT = 24 };

/* The feature of files whose columns or indexes have another collation than
 * BINARY (file rule 14): rows are equal, and in order, by these. vdbq 0.3 was
 * the first to know them. */
#define FEATURE_COLLATIONS (UINT64_C(1) << 2)

/* The feature of files of which some tablet has an edit: its rows are not what
 * the tablet's block says. vdbq 0.3 was the first to know it. */
#define FEATURE_EDITS (UINT64_C(1) << 3)

/* The feature of files of which some index is of expressions or of some rows:
 * who does not know what it is of finds no rows by it, and lets rows in that it
 * refuses. vdbq 0.3 was the first to know it. */
#define FEATURE_KEYS (UINT64_C(1) << 4)

/* The feature of files of which some table has a CHECK: who does not know it lets
 * rows in that it refuses. Bit 5 is that of tablets (tablet/page_sums.h). vdbq 0.3 was
 * the first to know it. */
#define FEATURE_CHECKS (UINT64_C(1) << 6)

#endif
