/* SPDX-License-Identifier: MIT */
/*
 * The encodings of columns: one row each of one table, with all that the host
 * does with one. The layouts are drawn in cl/tablet.h; kernels decode in
 * cl/column.cl. Types here are those of stored values: a column of texts
 * stores codes, which are INTEGER.
 */
#ifndef VDBQ_DATA_ENCODING_H
#define VDBQ_DATA_ENCODING_H

#include "base/settings.h"
#include "cl/launch.h"
#include "cl/tablet.h"
#include "data/catalogue/facts.h"

/* Values that are to be stored. */
struct encoding_source {
    const struct vdbq_vector *vector;
    const struct column_facts *facts; /* of these values              */
    uint32_t rows;                    /* at least 1                   */
    enum encoding_choice choice;
};

/* A column of a block. */
struct encoded_column {
    const struct tablet_column *column; /* what the head says of it   */
    enum vdbq_type type;
    uint32_t rows;
    const uint8_t *values;    /* size() bytes; NULL: there are none          */
    const uint8_t *null_bits; /* NULL: none says which values are NULL       */
};

/* Bytes of a column's values, behind its first one. */
struct encoding_part {
    uint64_t offset, size;
};

struct encoding {
    const char *name;
    uint32_t format;  /* the least of tablets that have it              */
    uint64_t feature; /* a bit of a file's features_read (file rule 14);
                         0: every vdbq that reads the file's format knows
                         the encoding                                   */
    uint32_t version; /* ... and the first vdbq that does               */
    unsigned bits;    /* most that `bits` may be                        */
    bool counts;      /* `base` is how many items are stored, no value  */
    /* Whether values can be stored so; describes how in `base` and `bits`.
     * NULL: any can, as they are. */
    bool (*fits)(const struct encoding_source *source,
                 struct tablet_column *column);
    /* Bytes of the values, a multiple of TABLET_ALIGN, whatever a head from a
     * file says. NULL: none are stored. */
    uint64_t (*size)(const struct tablet_column *column, uint32_t rows);
    void (*write)(const struct encoding_source *source,
                  const struct tablet_column *column, void *values);
    /* Writes values of `count` rows from `first` on, a multiple of 64, as a
     * plain array. */
    void (*read)(const struct encoded_column *from, uint32_t first,
                 uint32_t count, void *values);
    /* Writes the values of rows, whose numbers ascend, as a plain array. NULL:
     * read() does it as well, some neighbours at a time. */
    void (*pick)(const struct encoded_column *from, const uint32_t *rows,
                 uint32_t count, void *values);
    /* Bytes at `values` without which rows [first, first + count), up to 64 that
     * begin at a multiple of 64, cannot be read. Part 1 is found by the bytes of
     * part 0, and so on; an empty one is the last. NULL: none are stored. */
    struct encoding_part (*part)(const struct encoded_column *from,
                                 uint32_t first, uint32_t count, unsigned part);
    /* What is wrong with a column from a file whose areas lie inside; NULL:
     * nothing, and minimum, maximum and count of NULLs are true. */
    const char *(*fault)(const struct encoded_column *from);
    /* Moves an input that starts at row 0 to `row`, a multiple of 64. NULL: it
     * is the same for all rows. */
    void (*slice)(struct column_input *input, u64 row);
    /* Bytes at `values` that so many rows of an input take. NULL: none. */
    u64 (*bytes)(const struct column_input *input, u64 rows);
    /* How far above `base` values of so many rows of an input can be, which are
     * integers. NULL: that is not known. */
    u64 (*span)(const struct column_input *input, u64 rows);
};

/* A version of vdbq, as a file's head has it (data/file/file.c). */
#define ENCODING_VERSION(major, minor) ((uint32_t)(major) << 16 | (minor))

/* The features of all encodings, and the first vdbq that knows some of them;
 * 0: there are none. */
uint64_t encoding_features(void);
uint32_t encoding_version(uint64_t features);
/* NULL: there is no such encoding. */
const struct encoding *encoding_find(uint32_t number);
/* Of a number that is one. */
const struct encoding *encoding_at(uint32_t number);
/* Picks an encoding for values, of which the column's type, width, null_count,
 * minimum and maximum are filled in. */
void encoding_choose(const struct encoding_source *source,
                     struct tablet_column *column);
/* Bytes of a column's values; 0 where the encoding is unknown. */
uint64_t encoding_size(const struct tablet_column *column, uint32_t rows);

/* Whether a column says of its values what they are; NULL: it does. */
const char *encoding_facts_fault(const struct encoded_column *from,
                                 const struct column_facts *facts);

#define ENCODING_ROW(NAME, name, number)                                       \
    extern const struct encoding encoding_##name;
VDBQ_ENCODINGS(ENCODING_ROW)
#undef ENCODING_ROW

#endif
