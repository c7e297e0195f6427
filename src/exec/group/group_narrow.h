/* SPDX-License-Identifier: MIT */
/*
 * Records of a run in a file are narrow: of each word as many bytes as its values
 * need above the least of the run. All are as wide, so that each is found by its
 * number.
 */
#ifndef VDBQ_EXEC_GROUP_NARROW_H
#define VDBQ_EXEC_GROUP_NARROW_H

#include <string.h>

#include "exec/group/group_table.h"

struct group_narrow_word {
    uint64_t least; /* what is added to what lies in the file */
    uint64_t mask;  /* of its bits */
    size_t bytes;   /* that it takes there: 0 to 8 */
};
struct group_narrow {
    struct group_narrow_word *words; /* owned: of a record; NULL: no run */
    unsigned count;                  /* of `words` */
    size_t width;                    /* bytes of a record there */
};
/* What is written or read reaches so far behind the last record. */
enum { GROUP_NARROW_SLACK = 8 };

/* Looks at all records of a table. group_narrow_finish() is due where it returns
 * true; false: no memory. */
bool group_narrow_init(struct group_narrow *narrow,
                       const struct group_table *table);
void group_narrow_finish(struct group_narrow *narrow);

/* Writes a record, narrow. */
static inline void group_narrow_put(const struct group_narrow *narrow,
                                    const uint8_t *record, uint8_t *to)
{
    for (unsigned i = 0; i < narrow->count; i++) {
        uint64_t value;
        memcpy(&value, record + 8 * i, sizeof value);
        value -= narrow->words[i].least;
        memcpy(to, &value, sizeof value);
        to += narrow->words[i].bytes;
    }
}

/* Makes wide ones of so many that lie side by side. */
void group_narrow_take(const struct group_narrow *narrow, const uint8_t *from,
                       uint32_t count, uint8_t *records);

#endif
