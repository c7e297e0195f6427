/* SPDX-License-Identifier: MIT */
/*
 * Finds what a text is separated and quoted by: its start is read under each
 * delimiter and quote, and the way that fits best is taken. A text of which
 * no way makes a table is left to its reader, who says where it breaks.
 */
#include "io/csv.h"

#include <string.h>

enum { SAMPLE_BYTES = 1 << 18 };

/* The start of the text. */
struct sample {
    const char *start, *end;
    bool whole; /* it is all of the text; else its last record may be cut */
};

/* How a sample reads with one delimiter and quote. */
struct look {
    struct csv_dialect dialect;
    bool fault;       /* text behind a quoted field, or no end of it      */
    unsigned columns; /* fields of the first record                       */
    unsigned records;
    unsigned alike; /* records of as many fields                        */
    unsigned fields;
    unsigned quoted; /* those in quotes                                  */
    unsigned bare;   /* those without quotes that are no numbers         */
    unsigned mixed;  /* of these, those that hold another delimiter      */
};

/* Whether it is made of digits and what stands between those of a number, so
 * that a comma in it may be a decimal one. */
static bool is_numeric(const struct csv_field *field)
{
    for (size_t i = 0; i < field->length; i++)
        if (!memchr("0123456789.,+- ", field->bytes[i], 15))
            return false;
    return true;
}

/* Its own delimiter a field without quotes can't hold. */
static bool holds_delimiter(const struct csv_field *field)
{
    for (const char *at = CSV_DELIMITERS; *at; at++)
        if (memchr(field->bytes, *at, field->length))
            return true;
    return false;
}

static void add_field(struct look *look, const struct csv_field *field)
{
    bool bare = !field->quote && !is_numeric(field);
    look->fields++;
    look->quoted += field->quote != 0;
    look->bare += bare;
    look->mixed += bare && holds_delimiter(field);
}

/* Reads a record and returns its fields; 0 where it has a fault. A quote that
 * the sample's end leaves open is none where the text goes on. */
static unsigned read_record(struct look *look, struct csv_reader *reader,
                            bool whole)
{
    struct csv_field field;
    enum csv_next next = CSV_MORE;
    unsigned count = 0;
    while (next == CSV_MORE) {
        next = csv_next(reader, &field);
        if (next == CSV_STRAY || next == CSV_OPEN) {
            look->fault = next == CSV_STRAY || whole;
            return 0;
        }
        add_field(look, &field);
        count++;
    }
    return count;
}

static struct look look_at(const struct sample *sample,
                           struct csv_dialect dialect)
{
    struct look look = { .dialect = dialect };
    struct csv_reader reader = { .at = sample->start,
                                 .end = sample->end,
                                 .delimiter = dialect.delimiter,
                                 .quote = dialect.quote == CSV_UNQUOTED
                                              ? 0
                                              : (char)dialect.quote,
                                 .escape = dialect.escape };
    while (csv_record(&reader)) {
        unsigned count = read_record(&look, &reader, sample->whole);
        if (!count || (reader.at == sample->end && !sample->whole))
            break;
        look.columns = look.records++ ? look.columns : count;
        look.alike += count == look.columns;
    }
    return look;
}

/* From no table at all to one whose records have as many fields. */
static int rank(const struct look *look)
{
    if (look->fault || look->columns < 2 || look->alike * 2 <= look->records)
        return 0;
    return look->alike == look->records ? 2 : 1;
}

/* Of two regular ones the one whose fields hold fewer delimiters is better,
 * then the one with more columns. */
static bool is_better(const struct look *look, const struct look *than)
{
    uint64_t mixed = (uint64_t)look->mixed * than->fields;
    uint64_t others = (uint64_t)than->mixed * look->fields;
    if (rank(look) != rank(than))
        return rank(look) > rank(than);
    if (rank(look) < 2)
        return (uint64_t)look->alike * than->records
               > (uint64_t)than->alike * look->records;
    return mixed != others ? mixed < others : look->columns > than->columns;
}

/* The best delimiter with that quote. */
static struct look best_of(const struct sample *sample, int quote,
                           struct csv_dialect told, char otherwise)
{
    const char known = told.delimiter;
    struct csv_dialect dialect = { known ? known : otherwise, quote,
                                   told.escape };
    struct look best = look_at(sample, dialect);
    for (const char *at = CSV_DELIMITERS; *at && !known; at++) {
        dialect.delimiter = *at;
        struct look look = look_at(sample, dialect);
        if (is_better(&look, &best) && rank(&look))
            best = look;
    }
    return best;
}

/* Whether single quotes are quotes, not characters: they do for most texts,
 * and double ones for none. */
static bool is_single(const struct look *single, const struct look *plain)
{
    return !single->fault && single->alike == single->records && single->quoted
           && single->quoted >= single->bare && !plain->quoted
           && rank(single) >= rank(plain);
}

struct csv_dialect csv_sniff(const char *start, const char *end,
                             struct csv_dialect known, char delimiter)
{
    bool whole = end - start <= SAMPLE_BYTES;
    struct sample sample = { start, whole ? end : start + SAMPLE_BYTES, whole };
    if (known.delimiter && known.quote)
        return known;
    int quote = known.quote ? known.quote : '"';
    struct look plain = best_of(&sample, quote, known, delimiter);
    if (known.quote)
        return plain.dialect;
    struct look single = best_of(&sample, '\'', known, delimiter);
    return is_single(&single, &plain) ? single.dialect : plain.dialect;
}
