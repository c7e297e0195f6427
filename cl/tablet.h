/* SPDX-License-Identifier: MIT */
/*
 * The tablet: a run of neighbouring rows of one table as one contiguous,
 * self-contained, relocatable block, the same bytes on disk, in host memory
 * and on a device (Bakkum & Chakradhar, Efficient Data Management for GPU
 * Databases, section 3). All numbers are little-endian, all offsets are bytes
 * from the tablet's first byte.
 *
 *   offset  size  field
 *        0     8  magic        "VDBQTABL"
 *        8     4  format       the least that describes it: 1 knows PLAIN and
 *                              SEQUENCE only, 2 CONSTANT and PACKED, too, 3
 *                              columns of words, 4 RUNS, 5 (TABLET_FORMAT)
 *                              packed words
 *       12     4  columns      C; the primary key is one of them
 *       16     8  rows         N, at least 1
 *       24     8  size         of the whole block, a multiple of 64
 *       32     4  key          which column is the primary key, or NO_KEY
 *       36     4  reserved     0
 *       40     8  variable     offset of the variable-size area
 *       48     8  variable_size  in bytes, a multiple of 64; 0: there is
 *                              none, and variable is 0
 *       56     8  reserved     0
 *       64  64*C  one struct tablet_column for each column, in table order
 *        .     .  the areas of the columns, each 64-byte aligned, in table
 *                 order, a column's values before its NULL bits
 *        .     .  the variable-size area, 64-byte aligned
 *
 * An area ends at a multiple of 64 bytes; what lies between the end of its
 * values and there is 0, so that equal tablets are equal bytes.
 */
#ifndef VDBQ_CL_TABLET_H
#define VDBQ_CL_TABLET_H

#include "bits.h"
#include "types.h"

#define TABLET_MAGIC 0x4c42415451424456UL /* "VDBQTABL" */
#define TABLET_FORMAT_FIRST 1
#define TABLET_FORMAT_ENCODED 2
#define TABLET_FORMAT_WORDS 3
#define TABLET_FORMAT_RUNS 4
#define TABLET_FORMAT 5
#define TABLET_ALIGN 64
/* Where the next area starts, at or behind `offset`. */
#define TABLET_ALIGNED(offset) \
    (((offset) + TABLET_ALIGN - 1) / TABLET_ALIGN * TABLET_ALIGN)
#define TABLET_NO_KEY 0xffffffffu
/* The most rows of a tablet; a file may hold smaller ones. */
#define TABLET_ROWS_MAX (1 << 20)

/* How a column's values are stored: an encoding's name, and its number in
 * files. What the host does with one is a row of src/data/tablet/encoding.c,
 * what kernels do its decoder in cl/column.cl. */
#define VDBQ_ENCODINGS(_)                                                   \
    _(PLAIN, plain, 0)       /* value i at values + i * width            */ \
    _(SEQUENCE, sequence, 1) /* value i is base + i; nothing is stored   */ \
    _(CONSTANT, constant, 2) /* value i is base; nothing is stored       */ \
    _(PACKED, packed, 3)     /* value i is base + a code of `bits` bits  */ \
    _(RUNS, runs, 4)         /* value i is that of the run row i is in   */
#define ENCODING_NUMBER(NAME, name, number) ENCODING_##NAME = number,
enum { VDBQ_ENCODINGS(ENCODING_NUMBER) ENCODINGS };

/*
 *   offset  size  field
 *        0     8  values       offset of the values, 64-byte aligned; 0 with
 *                              ENCODING_SEQUENCE and ENCODING_CONSTANT
 *        8     8  nulls        offset of N bits, bit i % 8 of byte i / 8 is
 *                              set where value i is NULL; 0: no NULLs, or
 *                              all are with ENCODING_CONSTANT
 *       16     4  type         TYPE_I32 .. TYPE_WORD
 *       20     1  encoding     ENCODING_...
 *       21     1  bits         of a code of ENCODING_PACKED, 1 to 32; else 0
 *       22     1  words_packed of TYPE_WORD, in a file: 1 where its words are
 *                              packed; else 0
 *       23     1  reserved     0
 *       24     4  width        bytes of a value
 *       28     4  words        of TYPE_WORD: where its words are, in units of
 *                              64 bytes from the variable-size area's start;
 *                              else 0
 *       32     8  null_count
 *       40     8  minimum      of the values that are not NULL: as an i64,
 *       48     8  maximum      or the bits of an f64; 0 if all are NULL
 *       56     8  base         as an i64; with ENCODING_CONSTANT of a float
 *                              the bits of the f32 or f64; 0 if all are NULL
 *
 * A value that is NULL is stored as 0 with ENCODING_PLAIN and ENCODING_RUNS,
 * else it is base: which of the two it is, it lies between 0, minimum and
 * maximum, and the planner counts on no more than that.
 *
 * ENCODING_PACKED (integers only, at least one not NULL; base is minimum):
 * code i belongs to lane i % 16 and is number i / 16 in it. A lane is a
 * stream of bits, codes one after the other, lowest bit first, cut into
 * 32-bit words; words of the same number lie side by side:
 *
 *             lane 0   lane 1   ...  lane 15
 *   line 0    word 0   word 0   ...  word 0     64 bytes
 *   line 1    word 1   word 1   ...  word 1
 *
 * Sixteen neighbouring rows so come out of two lines with one shift that is
 * the same for all: vectors on a CPU, neighbouring words on a GPU. Each 512
 * rows start a line anew, line number rows / 512 * bits.
 */
#define PACKED_LANES 16
#define PACKED_ROWS 512  /* after so many rows, codes start a line         */
#define PACKED_LINE 64   /* bytes of a line                                */
#define PACKED_BITS_MAX 32
/* Bytes of the lines of `rows` codes. */
#define PACKED_SIZE(rows, bits)                                             \
    ((((u64)(rows) + PACKED_LANES - 1) / PACKED_LANES * (bits) + 31) / 32   \
     * PACKED_LINE)

/*
 * ENCODING_RUNS (integers only; base is R, how many runs there are, 1 to N): a
 * run is neighbouring rows of one value. At `values`:
 *
 *   offset  size      field
 *        0  R*width   the value of each run, and 0 up to a multiple of 64
 *        .  8 a head  one struct run_head for each 32 rows, and 0 up to a
 *                     multiple of 64
 *
 * The run of any row so is found in two loads, without a search.
 */
#define RUN_ROWS 32
struct run_head {
    u32 starts; /* bit i: row i of these 32 is the first of a run; bits of rows
                   that there are not are 0                               */
    u32 before; /* how many runs start before these rows                  */
};
/* Offset of the heads of so many runs, and bytes of the heads of rows. */
#define RUNS_VALUES(runs, width) TABLET_ALIGNED((u64)(runs) * (width))
#define RUNS_HEADS(rows) (((u64)(rows) + RUN_ROWS - 1) / RUN_ROWS * 8)

/* `run`, if there is one of that number, else the last one: no byte of a file
 * leads elsewhere, whoever wrote it meanwhile. */
static inline u32 run_clamp(u32 run, u32 runs)
{
    return run < runs ? run : runs - 1;
}

/* The run of row i of a head's rows. */
static inline u32 run_of(u32 starts, u32 before, u32 i, u32 runs)
{
    u32 begun = bits_count(starts & 0xffffffffu >> (31 - i));
    return run_clamp(before + begun - 1, runs);
}

/*
 * A value of TYPE_WORD is an i32, encoded as any other: its code, the number
 * of its text among the column's words (minimum and maximum are of codes).
 * The variable-size area has them, for each such column in table order:
 *
 *   offset  size  field
 *        0     4  count    W, of the words: all codes of values that are not
 *                          NULL are less
 *        4     4  bytes    B, of all words together
 *        8   4*W  ends     u32: word i is bytes [ends[i - 1], ends[i]), the
 *                          first one from 0 on; ends[W - 1] is B
 *        .     B  UTF-8    words in ascending order of their bytes, none
 *                          twice
 *        .     .  0 up to a multiple of 64 bytes
 */
struct tablet_words {
    u32 count;
    u32 bytes;
    /* u32 ends[count] and the bytes follow */
};
#define TABLET_WORDS_SIZE(count, bytes)                                     \
    TABLET_ALIGNED(sizeof(struct tablet_words) + (u64)(count) * 4 + (bytes))

/*
 * In a file the words of a column may be packed: neighbouring words are a unit,
 * which Zstandard compresses by itself (RFC 8878), so that one word costs no more
 * than its unit.
 *
 *   offset  size  field
 *        0     4  count    W, as above
 *        4     4  bytes    B, as above
 *        8     4  units    U
 *       12     4  packed   P, bytes of all units
 *       16  16*U  struct words_unit of each
 *        .     P  the units, one behind the other
 *        .     .  0 up to a multiple of 64 bytes
 *
 * A unit of N words is compressed from: N numbers, with how many bytes of the
 * word before it each word begins (none, the first one); N numbers, how many
 * bytes follow; and these bytes, word by word (front coding: Witten, Moffat,
 * Bell, Managing Gigabytes, section 4.1). A number is 7 bits a byte, lowest
 * first; all bytes but its last have bit 7 set.
 */
struct packed_words {
    u32 count;
    u32 bytes;
    u32 units;
    u32 packed;
};
struct words_unit {
    u32 words;  /* N */
    u32 bytes;  /* of its words */
    u32 raw;    /* bytes that it is compressed from */
    u32 packed; /* bytes that it is compressed to */
};
#define UNIT_RAW 65536          /* bytes, unless it is one word */
#define UNIT_RATIO_MAX 1024     /* bytes of words for one of packed ones */
/* Bytes of the area of packed words. */
#define PACKED_WORDS_SIZE(units, packed)                                    \
    TABLET_ALIGNED(sizeof(struct packed_words) +                            \
                   (u64)(units) * sizeof(struct words_unit) + (packed))

/* A code, from the words of its lane that hold its first and its last bit;
 * they may be the same one. `shift` is the place of the first bit. */
static inline u32 packed_code(u32 first, u32 last, u32 shift, u32 mask)
{
    return (first >> shift | last << 1 << (31 - shift)) & mask;
}

struct tablet_column {
    u64 values;
    u64 nulls;
    u32 type;
    u8 encoding;
    u8 bits;
    u8 words_packed;
    u8 reserved1;
    u32 width;
    u32 words;
    u64 null_count;
    i64 minimum;
    i64 maximum;
    i64 base;
};

struct tablet {
    u64 magic;
    u32 format;
    u32 columns;
    u64 rows;
    u64 size;
    u32 key;
    u32 reserved1;
    u64 variable;
    u64 variable_size;
    u64 reserved2;
    /* struct tablet_column column[columns] follows */
};

VDBQ_ASSERT_LAYOUT(tablet_column, sizeof(struct tablet_column) == 64);
VDBQ_ASSERT_LAYOUT(tablet, sizeof(struct tablet) == 64);
VDBQ_ASSERT_LAYOUT(run_head, sizeof(struct run_head) == 8);
VDBQ_ASSERT_LAYOUT(tablet_column, offsetof(struct tablet_column, width) == 24);
VDBQ_ASSERT_LAYOUT(tablet_column, offsetof(struct tablet_column, base) == 56);
VDBQ_ASSERT_LAYOUT(tablet, offsetof(struct tablet, key) == 32);
VDBQ_ASSERT_LAYOUT(tablet, offsetof(struct tablet, variable) == 40);

#endif
