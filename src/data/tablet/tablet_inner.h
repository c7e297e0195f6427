/* SPDX-License-Identifier: MIT */
/*
 * Reading checked tablets on the host, for the data floor itself.
 */
#ifndef VDBQ_DATA_TABLET_INNER_H
#define VDBQ_DATA_TABLET_INNER_H

#include "data/tablet/encoding.h"
#include "data/tablet/tablet.h"

uint64_t tablet_nulls_size(uint32_t rows);
/* The least format that knows the columns' encodings, as far as they are known
 * at all. */
uint32_t tablet_format(const struct tablet_column *columns, unsigned count);
/* Whether all of a column is NULL, so that no bits say so. */
bool tablet_all_null(const struct tablet_column *column, uint32_t rows);
/* The areas that a column has, in the order in which they lie: how many. */
struct tablet_area {
    uint64_t offset, size;
};
enum { TABLET_AREAS_MAX = 2 };
unsigned tablet_areas(const struct tablet_column *column, uint32_t rows,
                      struct tablet_area areas[TABLET_AREAS_MAX]);
/* Finds out the facts of values of a type, and describes a column that stores
 * them, but for its places. The source's own facts are not looked at. */
void tablet_describe_column(const struct encoding_source *source,
                            enum vdbq_type type, struct tablet_column *column,
                            struct column_facts *facts);
/* Gives a column its areas, from `at` on; returns where they end. */
uint64_t tablet_place_column(struct tablet_column *column, uint32_t rows,
                             uint64_t at);
/* Writes the areas of a column. */
void tablet_build_column(const struct vdbq_vector *stored, uint32_t rows,
                         const struct tablet_column *column, uint8_t *block);
/* Bytes of the area of words; and writes it behind all that a tablet has. */
uint64_t tablet_dictionary_size(const struct dictionary *dictionary);
void tablet_add_dictionary(const struct dictionary *dictionary,
                           struct tablet *head);

/* Bytes of a tablet's head with the descriptions of so many columns. */
uint64_t tablet_head_size(unsigned columns);

/* The type whose values a column of that type stores: INTEGER for TEXT, whose
 * codes they are; and a vector as one of that type. */
enum vdbq_type stored_type(enum vdbq_type type);
struct vdbq_vector stored_vector(const struct vdbq_vector *vector);

/* The facts of a vector of stored values. */
void vector_facts(const struct vdbq_vector *vector, uint32_t rows,
                  struct column_facts *facts);
/* Copies values; those that are NULL as 0 where `nullable`. */
void vector_copy(const struct vdbq_vector *vector, uint32_t first,
                 uint32_t count, bool nullable, void *values);
/* Writes (count + 7) / 8 bytes. */
void vector_null_bits(const struct vdbq_vector *vector, uint32_t first,
                      uint32_t count, uint8_t *bits);

/* The bits of a column's NULLs, or NULL where there are no bits. */
const uint8_t *tablet_nulls(const void *block, unsigned column);
/* Writes the tablet's values as a plain array, whatever their encoding; those
 * of a text column are codes. */
void tablet_values(const void *block, unsigned column, void *values);

/* Proves of a head, behind which no area need be there, what tablet_check()
 * does, but for the columns: these it only proves to lie inside a tablet of
 * `size_bytes`, in table order. */
enum vdbq_status tablet_check_head(const struct table *table, const void *head,
                                   uint64_t size_bytes, uint32_t rows,
                                   struct error *error);
/* Words of a text column, in a room of so many bytes. */
struct tablet_check_words {
    const struct tablet_words *words;
    uint64_t size;
    bool proven; /* as words_unpack() does */
};
/* Proves of one column what tablet_check() does of all: of a tablet whose head
 * is proven, and lies at the start of the block or elsewhere. `words` are those
 * of a text column; NULL: they are where the head says. */
enum vdbq_status tablet_check_column(const struct table *table,
                                     const struct tablet *head,
                                     const void *block, unsigned column,
                                     const struct tablet_check_words *words,
                                     struct error *error);

/* Proves of it all but what its values and words are, so that those of any row can
 * be read once they are there. */
enum vdbq_status tablet_check_shape(const struct table *table,
                                    const struct tablet *head,
                                    const void *block, unsigned column,
                                    struct encoded_column *found,
                                    struct error *error);

/* The facts that a checked tablet keeps of a column. */
void tablet_facts(const void *block, unsigned column,
                  struct column_facts *facts);

#endif
