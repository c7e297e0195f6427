/* SPDX-License-Identifier: MIT */
/*
 * Sets of characters, and what a backslash makes of the character behind it.
 */
#include "program/regexp/regexp_reading.h"

#include <stdlib.h>
#include <string.h>

#include "program/letters/letter.h"
#include "program/letters/utf8.h"

/* ----------------------------------------------------------------- sets -- */

static bool append_range(struct reading *reading, uint32_t low, uint32_t high)
{
    const struct regexp_range range = { low, high };

    if (vector_append(&reading->ranges, &range, 1))
        return true;
    error_no_memory(reading->error);
    return false;
}

/* Adds a range, and where the flags say so what differs from a character of it
 * in case alone. */
static bool add_range(struct reading *reading, uint32_t low, uint32_t high)
{
    bool added = append_range(reading, low, high);

    if (!reading->flags.folds)
        return added;
    for (uint32_t c = letter_next(low); c <= high && added;
         c = letter_next(c + 1))
        for (uint32_t other = letter_changed(c, LETTER_NEXT);
             other != c && added; other = letter_changed(other, LETTER_NEXT))
            if (other < low || other > high)
                added = append_range(reading, other, other);
    return added;
}

static int compare_ranges(const void *a_, const void *b_)
{
    const struct regexp_range *a = a_, *b = b_;

    return (a->low > b->low) - (a->low < b->low);
}

/* The ranges from number `from` on ascend then, and do not touch. */
static void sort_ranges(struct reading *reading, size_t from)
{
    struct regexp_range *ranges =
        VECTOR_ITEMS(&reading->ranges, struct regexp_range);
    size_t count = reading->ranges.count, kept = from;

    if (count == from)
        return;
    qsort(ranges + from, count - from, sizeof *ranges, compare_ranges);
    for (size_t i = from + 1; i < count; i++)
        if (ranges[i].low > ranges[kept].high + 1)
            ranges[++kept] = ranges[i];
        else if (ranges[i].high > ranges[kept].high)
            ranges[kept].high = ranges[i].high;
    reading->ranges.count = kept + 1;
}

/* What was in none of the ranges from number `from` on takes their place. */
static bool invert_ranges(struct reading *reading, size_t from)
{
    struct regexp_range *ranges =
        VECTOR_ITEMS(&reading->ranges, struct regexp_range);
    size_t kept = from;
    uint32_t low = 0;

    sort_ranges(reading, from);
    for (size_t i = from; i < reading->ranges.count; i++) {
        struct regexp_range range = ranges[i];
        if (range.low > low)
            ranges[kept++] = (struct regexp_range){ low, range.low - 1 };
        low = range.high + 1;
    }
    reading->ranges.count = kept;
    return low > UTF8_MAX || append_range(reading, low, UTF8_MAX);
}

/* Classes with a name of one letter, or of several in [: :]. */
static const struct class
{
    const char *name;
    unsigned count;
    struct regexp_range ranges[4]; /* ascending */
} classes[] = {
    { "d", 1, { { '0', '9' } } },
    { "s", 3, { { '\t', '\n' }, { '\f', '\r' }, { ' ', ' ' } } },
    { "w", 4, { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } } },
    { "alnum", 3, { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' } } },
    { "alpha", 2, { { 'A', 'Z' }, { 'a', 'z' } } },
    { "ascii", 1, { { 0, 127 } } },
    { "blank", 2, { { '\t', '\t' }, { ' ', ' ' } } },
    { "cntrl", 2, { { 0, 31 }, { 127, 127 } } },
    { "digit", 1, { { '0', '9' } } },
    { "graph", 1, { { '!', '~' } } },
    { "lower", 1, { { 'a', 'z' } } },
    { "print", 1, { { ' ', '~' } } },
    { "punct", 4, { { '!', '/' }, { ':', '@' }, { '[', '`' }, { '{', '~' } } },
    { "space", 2, { { '\t', '\r' }, { ' ', ' ' } } },
    { "upper", 1, { { 'A', 'Z' } } },
    { "word", 4, { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } } },
    { "xdigit", 3, { { '0', '9' }, { 'A', 'F' }, { 'a', 'f' } } },
};

static const struct class *find_class(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i].name) == length
            && memcmp(classes[i].name, name, length) == 0)
            return &classes[i];
    return NULL;
}

/* Adds a class or, with all that its letters match in either case, what is not
 * in it. */
static bool add_class(struct reading *reading, const struct class *class,
                      bool inverted)
{
    size_t from = reading->ranges.count;
    bool added = true;

    for (unsigned i = 0; i < class->count && added; i++)
        added = add_range(reading, class->ranges[i].low, class->ranges[i].high);
    return added && (!inverted || invert_ranges(reading, from));
}

/* The class of a backslash and a letter that is next, a capital for all others;
 * NULL: there is none. */
const struct class *reading_peek_class(const struct reading *reading,
                                       bool *inverted)
{
    char letter;

    if (reading->end - reading->at < 2 || reading->at[0] != '\\')
        return NULL;
    letter = (char)(reading->at[1] | 0x20);
    *inverted = reading->at[1] != letter;
    return letter == 'd' || letter == 's' || letter == 'w'
               ? find_class(&letter, 1)
               : NULL;
}

/* Notes which characters of ASCII are in a set. */
static void note_ascii(struct regexp_set *set)
{
    for (unsigned i = 0; i < set->count; i++)
        for (uint32_t c = set->ranges[i].low;
             c < 128 && c <= set->ranges[i].high; c++)
            set->ascii[c / 32] |= UINT32_C(1) << c % 32;
    for (unsigned i = 0; i < 4; i++)
        set->ascii[i] ^= set->inverted ? UINT32_MAX : 0;
}

/* The node of a set of the ranges at hand. */
static struct regexp_node *make_set(struct reading *reading, bool inverted)
{
    struct regexp_set *set;
    struct regexp_range *ranges;

    sort_ranges(reading, 0);
    ranges = arena_alloc(reading->arena,
                         (reading->ranges.count + 1) * sizeof *ranges);
    set = vector_add(&reading->sets);
    if (ranges == NULL || set == NULL) {
        error_no_memory(reading->error);
        return NULL;
    }
    if (reading->ranges.count > 0)
        memcpy(ranges, reading->ranges.items,
               reading->ranges.count * sizeof *ranges);
    *set = (struct regexp_set){ .ranges = ranges,
                                .count = (unsigned)reading->ranges.count,
                                .inverted = inverted };
    note_ascii(set);
    reading->ranges.count = 0;
    return reading_make_one(reading, REGEXP_SET,
                            (uint32_t)reading->sets.count - 1);
}

/* -------------------------------------------------------------- escapes -- */

int reading_digit(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : 16;
}

/* Reads digits of a base, `least` to `most` of them; false: they are fewer, or
 * the number is no character. */
bool reading_take_number(struct reading *reading, int base, unsigned least,
                         unsigned most, uint32_t *number)
{
    unsigned count = 0;

    for (*number = 0; count < most && reading->at < reading->end
                      && reading_digit(*reading->at) < base;
         count++)
        *number =
            *number * (uint32_t)base + (uint32_t)reading_digit(*reading->at++);
    return count >= least && *number <= UTF8_MAX;
}

/* Reads \x41 or \x{41}, from behind the x. */
static bool take_hexadecimal(struct reading *reading, uint32_t *character)
{
    if (!reading_take(reading, "{"))
        return reading_take_number(reading, 16, 2, 2, character);
    return reading_take_number(reading, 16, 1, 6, character)
           && reading_take(reading, "}");
}

/* Reads what follows a backslash, which stands for one character; false: it
 * does not. */
bool reading_take_escape(struct reading *reading, uint32_t *character)
{
    static const char letters[] = "aftnrv", meant[] = "\a\f\t\n\r\v";
    const char *at = reading->at, *letter;

    if (at == reading->end)
        return false;
    if (*at >= '0' && *at <= '7')
        return reading_take_number(reading, 8, *at == '0' ? 1 : 2, 3,
                                   character);
    if (reading_take(reading, "x"))
        return take_hexadecimal(reading, character);
    letter = strchr(letters, *at);
    if (letter != NULL && *at != '\0') {
        *character = (unsigned char)meant[letter - letters];
        reading->at++;
        return true;
    }
    if (reading_is_letter((unsigned char)*at) || reading_digit(*at) < 10)
        return false;
    *character = reading_take_character(reading);
    return true;
}

/* ------------------------------------------------------------- brackets -- */

/* Reads [:name:] or [:^name:]; false: that is not next, or there is no such
 * class, which is told. */
static bool take_named(struct reading *reading, bool *taken)
{
    const char *from = reading->at, *name = from + 2, *stop;
    const struct class *class;
    bool inverted;

    *taken = false;
    if (!reading_is_next(reading, "[:"))
        return true;
    stop = memchr(name, ':', (size_t)(reading->end - name));
    if (stop == NULL || stop + 1 >= reading->end || stop[1] != ']')
        return true;
    inverted = *name == '^';
    name += inverted;
    class = stop - name > 1 ? find_class(name, (size_t)(stop - name)) : NULL;
    if (class == NULL) {
        reading_refuse(reading, from, "a class that is unknown");
        return false;
    }
    reading->at = stop + 2;
    *taken = true;
    return add_class(reading, class, inverted);
}

/* Reads one end of a range in brackets; false: there is none. */
static bool take_end(struct reading *reading, uint32_t *character)
{
    if (reading_take(reading, "\\"))
        return reading_take_escape(reading, character);
    if (reading->at == reading->end)
        return false;
    *character = reading_take_character(reading);
    return true;
}

/* Reads a character in brackets, or a range of them. */
static bool take_range(struct reading *reading)
{
    const char *from = reading->at;
    uint32_t low, high;

    if (!take_end(reading, &low)) {
        reading_refuse(reading, from, "an escape that is unknown");
        return false;
    }
    high = low;
    if (reading->end - reading->at > 1 && reading->at[0] == '-'
        && reading->at[1] != ']') {
        reading->at++;
        if (!take_end(reading, &high) || high < low) {
            reading_refuse(reading, from, "a range that is none");
            return false;
        }
    }
    return add_range(reading, low, high);
}

/* Reads a set, from behind its bracket. */
struct regexp_node *reading_set(struct reading *reading)
{
    const char *from = reading->at - 1;
    bool inverted = reading_take(reading, "^"), first = true, taken = true,
         not ;

    reading->ranges.count = 0;
    for (; taken && (first || !reading_is_next(reading, "]")); first = false) {
        const struct class *class = reading_peek_class(reading, &not );
        bool named;
        if (reading->at == reading->end)
            return reading_refuse(reading, from, "a [ without its ]");
        if (class != NULL) {
            reading->at += 2;
            taken = add_class(reading, class, not );
            continue;
        }
        taken = take_named(reading, &named);
        if (taken && !named)
            taken = take_range(reading);
    }
    if (!taken)
        return NULL;
    reading->at++;
    return make_set(reading, inverted);
}

struct regexp_node *reading_class(struct reading *reading,
                                  const struct class *class, bool inverted)
{
    reading->at += 2;
    reading->ranges.count = 0;
    return add_class(reading, class, inverted) ? make_set(reading, false)
                                               : NULL;
}
