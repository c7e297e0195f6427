/* SPDX-License-Identifier: MIT */
/*
 * The names of the columns: what the first record holds, or c1, c2 ... Of
 * those that are the same but for case, all but the first get a number: a,
 * a_2, a_3. Names are found in a hash table, and each one remembers the number
 * that its followers got last: a million equal names take no longer than a
 * million different ones.
 */
#include "io/import/import_inner.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

/* The columns that have their names. A slot holds a column's number and one
 * more, or 0; at least half of the slots hold 0. */
struct names {
    struct import *import;
    unsigned *slot;
    size_t slots;   /* a power of two                                */
    unsigned *last; /* of each column: the number that the column got
                       that was called the same last                 */
};

static bool names_open(struct names *names, struct import *import)
{
    *names = (struct names){ .import = import, .slots = 2 };
    while (names->slots < 2 * (size_t)import->columns)
        names->slots *= 2;
    names->slot = calloc(names->slots, sizeof *names->slot);
    names->last = calloc(import->columns, sizeof *names->last);
    return names->slot != NULL && names->last != NULL;
}

static void names_close(struct names *names)
{
    free(names->slot);
    free(names->last);
}

/* Names that differ in the case of ASCII letters alone have the same hash. */
static size_t name_hash(const char *name)
{
    uint64_t hash = 0;
    for (; *name != 0; name++) {
        char letter = (char)tolower((unsigned char)*name);
        hash = XXH3_64bits_withSeed(&letter, 1, hash);
    }
    return (size_t)hash;
}

/* The slot of the column of that name, or the free one where it belongs. */
static unsigned *names_find(const struct names *names, const char *name)
{
    size_t at = name_hash(name);
    for (;; at++) {
        unsigned *slot = &names->slot[at & (names->slots - 1)];
        if (*slot == 0
            || strcasecmp(names->import->column[*slot - 1].name, name) == 0)
            return slot;
    }
}

static void trim(char *name)
{
    size_t blanks = strspn(name, " \t\r\n"), length = strlen(name);
    while (length > blanks && strchr(" \t\r\n", name[length - 1]))
        length--;
    memmove(name, name + blanks, length - blanks);
    name[length - blanks] = 0;
}

/* The name with a number behind it that makes it single; NULL without
 * memory. */
static char *single_name(struct names *names, const char *base)
{
    size_t size = strlen(base) + 16;
    char *name = malloc(size);
    if (!name)
        return NULL;
    snprintf(name, size, "%s", base);
    const unsigned *same = names_find(names, name);
    if (*same != 0)
        for (unsigned *last = &names->last[*same - 1];
             *names_find(names, name) != 0;)
            snprintf(name, size, "%s_%u", base, ++*last + 1);
    return name;
}

/* Gives column `index` the header's name, made single, or c1, c2 ... */
static enum vdbq_status name_column(struct names *names, unsigned index)
{
    struct import *import = names->import;
    struct import_column *column = &import->column[index];
    struct vdbq_text text;
    char number[16];
    snprintf(number, sizeof number, "c%u", index + 1);
    trim(column->name);
    bool named = import->header && *column->name;
    if (named
        && !vdbq_value_parse(VDBQ_TEXT, 0, 0, column->name,
                             strlen(column->name), &text))
        return import_fail(import, VDBQ_TYPE,
                           "convert the file: iconv -f LATIN1 -t UTF-8 ...",
                           "the name of column %u is not UTF-8", index + 1);
    char *name = single_name(names, named ? column->name : number);
    free(column->name);
    column->name = name;
    if (!name)
        return import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    unsigned *slot = names_find(names, name);
    assert(*slot == 0);
    *slot = index + 1;
    return VDBQ_OK;
}

enum vdbq_status import_names(struct import *import)
{
    struct names names;
    enum vdbq_status status = VDBQ_OK;
    if (!names_open(&names, import))
        status = import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    for (unsigned i = 0; i < import->columns && status == VDBQ_OK; i++)
        status = name_column(&names, i);
    names_close(&names);
    return status;
}
