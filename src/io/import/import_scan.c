/* SPDX-License-Identifier: MIT */
/*
 * The first look at all of the file: what the values of each column look like.
 */
#include "io/import/import_inner.h"

#include <stdlib.h>
#include <string.h>

/* What was found in one part. */
struct slot {
    unsigned *seen;           /* one a column */
    struct csv_field *fields; /* of a record  */
    uint64_t rows;
    struct import_fault fault;
};

struct scan {
    struct import *import;
    struct slot slot[IMPORT_SLOTS_MAX];
};

/* Says that the record, whose last field is at hand, has the wrong size. */
static bool miscounted(const struct import *import, const struct csv_reader *at,
                       const char *place, unsigned count,
                       struct import_fault *fault)
{
    struct csv_reader reader = *at;
    struct csv_field field;
    if (count > import->columns)
        while (csv_next(&reader, &field) == CSV_MORE)
            count++;
    fault->kind = count > import->columns ? FAULT_MORE : FAULT_FEWER;
    fault->place = place;
    fault->column = count;
    return false;
}

bool import_record(const struct import *import, struct csv_reader *reader,
                   struct csv_field *fields, struct import_fault *fault)
{
    const char *place = reader->at;
    unsigned count = 0;
    enum csv_next next = CSV_MORE;
    while (next == CSV_MORE && count < import->columns)
        next = csv_next(reader, &fields[count++]);
    if (next == CSV_LAST && count == import->columns)
        return true;
    if (next == CSV_STRAY || next == CSV_OPEN) {
        fault->kind = next == CSV_OPEN ? FAULT_OPEN : FAULT_STRAY;
        fault->place = fields[count - 1].bytes;
        return false;
    }
    return miscounted(import, reader, place,
                      next == CSV_MORE ? count + 1 : count, fault);
}

/* Once a column is known to hold texts, nothing more can be learnt of it. */
static void see_record(const struct import *import, struct slot *slot)
{
    for (unsigned i = 0; i < import->columns; i++)
        if (!(slot->seen[i] & (SEEN_TEXT | SEEN_CODE)))
            slot->seen[i] |= import_seen(&slot->fields[i]);
}

static void look(void *context, const struct import_part *part, unsigned number)
{
    struct scan *scan = context;
    const struct import *import = scan->import;
    struct slot *slot = &scan->slot[number];
    struct csv_reader reader = import_reader(import, part->start, part->end);
    slot->fault.kind = FAULT_NONE;
    slot->rows = 0;
    memset(slot->seen, 0, import->columns * sizeof *slot->seen);
    while (csv_record(&reader)
           && import_record(import, &reader, slot->fields, &slot->fault)) {
        see_record(import, slot);
        slot->rows++;
    }
}

static enum vdbq_status take(void *context, unsigned number, uint64_t *rows)
{
    struct scan *scan = context;
    struct import *import = scan->import;
    struct slot *slot = &scan->slot[number];
    if (slot->fault.kind)
        return import_fail_at(import, &slot->fault);
    for (unsigned i = 0; i < import->columns; i++)
        import->column[i].seen |= slot->seen[i];
    *rows += slot->rows;
    return VDBQ_OK;
}

static bool slots_open(struct scan *scan, unsigned slots)
{
    size_t columns = scan->import->columns;
    for (unsigned i = 0; i < slots; i++) {
        struct slot *slot = &scan->slot[i];
        slot->seen = calloc(columns, sizeof *slot->seen);
        slot->fields = calloc(columns, sizeof *slot->fields);
        if (!slot->seen || !slot->fields)
            return false;
    }
    return true;
}

static void slots_close(struct scan *scan, unsigned slots)
{
    for (unsigned i = 0; i < slots; i++) {
        free(scan->slot[i].seen);
        free(scan->slot[i].fields);
    }
}

enum vdbq_status import_infer(struct import *import)
{
    struct scan scan = { .import = import };
    unsigned threads = import_threads(import);
    enum vdbq_status status;
    if (slots_open(&scan, threads + 1))
        status = import_work(&(struct import_work){ .import = import,
                                                    .threads = threads,
                                                    .slots = threads + 1,
                                                    .look = look,
                                                    .take = take,
                                                    .context = &scan });
    else
        status = import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    slots_close(&scan, threads + 1);
    return status;
}
