/* SPDX-License-Identifier: MIT */
/*
 * The keys of a row as one number of 64 bits, or as many of them as fit: the first
 * key in its highest bits, each of as many bits as its values need.
 */
#ifndef VDBQ_EXEC_SORT_CODES_H
#define VDBQ_EXEC_SORT_CODES_H

#include "exec/rows/order.h"
#include "exec/sort/sort_fields.h"

/* A key, or whether it is NULL, as bits of the number. */
struct sort_code {
    int column;      /* of the rows                                     */
    int type;        /* TYPE_... of its values                          */
    bool null;       /* only whether it is NULL                         */
    bool nulls_last; /* ... these have the greater bit                  */
    bool descending; /* the greatest value has the least bits           */
    int shift;       /* of the lowest bit in the number; less than 0: so
                        many bits do not fit                            */
    uint64_t from;   /* code of the value that has bits 0               */
};

struct sort_codes {
    struct sort_code *codes; /* owned: one or two a key                 */
    unsigned count;          /* of `codes`                              */
    bool exact;              /* rows with equal numbers have equal keys */
};

/* What values keys have, or may have, say `extents`, one a key; `columns` are
 * those of the rows. sort_codes_finish() is due whatever it returns. */
enum vdbq_status
sort_codes_init(struct sort_codes *codes, const struct step_column *columns,
                const struct step_key *keys, unsigned key_count,
                const struct sort_extent *extents, struct error *error);
void sort_codes_finish(struct sort_codes *codes);

/* The bits of a row: 0 where the value is NULL. */
static inline uint64_t sort_code_bits(const struct sort_code *code,
                                      const struct vdbq_vector *column,
                                      uint64_t row)
{
    bool null = column->nulls != NULL && column->nulls[row] != 0;
    if (code->null)
        return null == code->nulls_last;
    if (null)
        return 0;
    uint64_t value = order_at(code->type, column->values, row);
    return code->descending ? code->from - value : value - code->from;
}

/* The number of a row: smaller goes first. */
static inline uint64_t sort_code_at(const struct sort_codes *codes,
                                    const struct vdbq_vector *columns,
                                    uint64_t row)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < codes->count; i++) {
        const struct sort_code *code = &codes->codes[i];
        uint64_t bits = sort_code_bits(code, &columns[code->column], row);
        number |= code->shift >= 0 ? bits << code->shift : bits >> -code->shift;
    }
    return number;
}

#endif
