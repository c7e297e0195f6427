/* SPDX-License-Identifier: MIT */
/*
 * The first rows of an order, of which nobody asks how they lie among one
 * another: their keys become one long number (sort_fields.h), which is looked at
 * by digits, the highest first. Rows with lower digits than the last one wanted
 * are among the first, those with greater ones are not; only those with its digit
 * are looked at further. So a row is moved about once, however many are wanted.
 */
#include "exec/sort/sort.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/sort/sort_fields.h"

enum { WORD_BITS = 32, DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS };

struct narrowing {
    const struct sort_fields *fields; /* of the keys                       */
    uint64_t *elements; /* rows that may be: their number, above it a word */
    uint32_t count;     /* of them                                         */
    uint32_t *order;    /* rows that are among the first                   */
    uint32_t found;     /* of them so far                                  */
    uint32_t limit;     /* of them in the end                              */
};

/* An element's digit; `shift` is that of its lowest bit. */
static unsigned digit_of(uint64_t element, unsigned shift)
{
    return element >> shift & (BUCKETS - 1);
}

/* The digit of the last row wanted. */
static unsigned last_digit(const struct narrowing *narrowing, unsigned shift)
{
    uint32_t counts[BUCKETS] = { 0 }, rows = narrowing->found;
    unsigned digit = 0;

    for (uint32_t i = 0; i < narrowing->count && !stop_at(i); i++)
        counts[digit_of(narrowing->elements[i], shift)]++;
    while (digit + 1 < BUCKETS && rows + counts[digit] < narrowing->limit)
        rows += counts[digit++];
    return digit;
}

/* Takes the rows with lower digits than the last one wanted, and leaves out those
 * with greater ones. */
static void narrow(struct narrowing *narrowing, unsigned shift)
{
    unsigned last = last_digit(narrowing, shift);
    uint32_t left = 0, found = narrowing->found;

    for (uint32_t i = 0; i < narrowing->count && !stop_at(i); i++) {
        uint64_t element = narrowing->elements[i];
        unsigned digit = digit_of(element, shift);
        narrowing->order[found] = (uint32_t)element;
        narrowing->elements[left] = element;
        found += digit < last;
        left += digit == last;
    }
    assert(found < narrowing->limit || stop_asked());
    narrowing->found = found;
    narrowing->count = left;
}

/* Puts a word over the numbers of the rows that are left. */
static void put_word(struct narrowing *narrowing, unsigned word)
{
    uint32_t count = narrowing->count;
    for (uint32_t at = 0, rows; at < count && !stop_asked(); at += rows) {
        rows = count - at < STOP_ROWS ? count - at : STOP_ROWS;
        sort_fields_put(narrowing->fields, word, narrowing->elements + at,
                        rows);
    }
}

/* Looks at all digits; the rows left are equal, and the first of them follow. */
static void narrow_all(struct narrowing *narrowing)
{
    const struct sort_fields *fields = narrowing->fields;
    unsigned end = WORD_BITS + fields->highest_bits;

    for (unsigned word = fields->words; word-- > 0; end = 2 * WORD_BITS) {
        put_word(narrowing, word);
        for (; end > WORD_BITS && !stop_asked(); narrow(narrowing, end))
            end = end > WORD_BITS + DIGIT_BITS ? end - DIGIT_BITS : WORD_BITS;
    }
    for (uint32_t i = 0; narrowing->found < narrowing->limit; i++)
        narrowing->order[narrowing->found++] = (uint32_t)narrowing->elements[i];
}

enum vdbq_status sort_first(const struct sort_key *keys, unsigned key_count,
                            uint32_t count, uint32_t limit, unsigned threads,
                            uint32_t *order, struct error *error)
{
    struct sort_fields fields;
    struct narrowing narrowing = {
        .fields = &fields, .count = count, .order = order, .limit = limit
    };
    assert(limit <= count);
    if (limit == 0)
        return VDBQ_OK;
    narrowing.elements =
        memory_resize(NULL, (size_t)count * sizeof *narrowing.elements);
    if (narrowing.elements == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        sort_fields_init(&fields, keys, key_count, 0, count,
                         parallel_threads(threads, count), error);
    for (uint32_t i = 0; i < count; i++)
        narrowing.elements[i] = i;
    if (status == VDBQ_OK)
        narrow_all(&narrowing);
    sort_fields_finish(&fields);
    memory_release(narrowing.elements);
    return status == VDBQ_OK ? stop_pause(error) : status;
}
