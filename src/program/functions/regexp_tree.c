/* SPDX-License-Identifier: MIT */
/*
 * Patterns are read into a tree by recursive descent.
 */
#include "program/functions/regexp_tree.h"

#include <string.h>

enum { DEPTH_MAX = 100 /* of parentheses */, CHARACTER_MAX = 0x10ffff };

struct flags {
    bool folds, dot_breaks, lines, lazy; /* i, s, m, U */
};

struct reading {
    const char *start, *at, *end;
    struct arena *arena;
    struct flags flags;
    unsigned groups, depth;
    struct vector sets;   /* of struct regexp_set */
    struct vector ranges; /* of struct regexp_range: of the set at hand */
    struct error *error;
};

static struct regexp_node *read_or(struct reading *reading);

/* ------------------------------------------------------------- failures -- */

static struct regexp_node *refuse(struct reading *reading, const char *at,
                                  const char *what)
{
    if (reading->error->status == VDBQ_OK)
        error_set(reading->error, VDBQ_RANGE,
                  "a regular expression has %s, at character %u", what,
                  (unsigned)(at - reading->start) + 1);
    return NULL;
}

static struct regexp_node *make(struct reading *reading,
                                enum regexp_node_kind kind)
{
    struct regexp_node *node = arena_alloc(reading->arena, sizeof *node);

    if (node == NULL)
        error_no_memory(reading->error);
    else
        node->kind = kind;
    return node;
}

static struct regexp_node *make_one(struct reading *reading, enum regexp_op op,
                                    uint32_t a)
{
    struct regexp_node *node = make(reading, NODE_ONE);

    if (node != NULL)
        node->code = (struct regexp_code){ .op = op, .a = a };
    return node;
}

static bool is_letter(uint32_t character)
{
    return (character | 0x20) >= 'a' && (character | 0x20) <= 'z'
           && character < 128;
}

static struct regexp_node *make_character(struct reading *reading,
                                          uint32_t character)
{
    return reading->flags.folds && is_letter(character)
               ? make_one(reading, REGEXP_FOLDED, character | 0x20)
               : make_one(reading, REGEXP_CHAR, character);
}

/* -------------------------------------------------------------- reading -- */

static bool is_next(const struct reading *reading, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(reading->end - reading->at) >= length
           && memcmp(reading->at, text, length) == 0;
}

static bool take(struct reading *reading, const char *text)
{
    bool taken = is_next(reading, text);

    reading->at += taken ? strlen(text) : 0;
    return taken;
}

static uint32_t take_character(struct reading *reading)
{
    unsigned bytes;
    uint32_t character = regexp_character(reading->at, reading->end, &bytes);

    reading->at += bytes;
    return character;
}

/* ----------------------------------------------------------------- sets -- */

static bool add_range(struct reading *reading, uint32_t low, uint32_t high)
{
    const struct regexp_range range = { low, high };

    if (vector_append(&reading->ranges, &range, 1))
        return true;
    error_no_memory(reading->error);
    return false;
}

/* Adds what is in none of so many ranges, which ascend. */
static bool add_others(struct reading *reading,
                       const struct regexp_range *ranges, unsigned count)
{
    uint32_t low = 0;
    bool added = true;

    for (unsigned i = 0; i < count && added; i++) {
        if (ranges[i].low > low)
            added = add_range(reading, low, ranges[i].low - 1);
        low = ranges[i].high + 1;
    }
    return added && add_range(reading, low, CHARACTER_MAX);
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

static bool add_class(struct reading *reading, const struct class *class,
                      bool inverted)
{
    bool added = true;

    if (inverted)
        return add_others(reading, class->ranges, class->count);
    for (unsigned i = 0; i < class->count && added; i++)
        added = add_range(reading, class->ranges[i].low, class->ranges[i].high);
    return added;
}

/* The class of a backslash and a letter that is next, a capital for all others;
 * NULL: there is none. */
static const struct class *peek_class(const struct reading *reading,
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

/* Whether the ranges have a character. */
static bool has(const struct regexp_set *set, uint32_t character)
{
    bool found = false;

    for (unsigned i = 0; i < set->count && !found; i++)
        found =
            character >= set->ranges[i].low && character <= set->ranges[i].high;
    return found != set->inverted;
}

/* Letters of either case join those that are there. */
static bool fold_ranges(struct reading *reading)
{
    size_t count = reading->ranges.count;
    bool added = true;

    for (uint32_t letter = 'a'; letter <= 'z' && added; letter++) {
        struct regexp_set set = { .ranges = reading->ranges.items,
                                  .count = (unsigned)count };
        bool is_small = has(&set, letter), is_capital = has(&set, letter - 32);
        if (is_small != is_capital)
            added = add_range(reading, is_small ? letter - 32 : letter,
                              is_small ? letter - 32 : letter);
    }
    return added;
}

/* The node of a set of the ranges at hand. */
static struct regexp_node *make_set(struct reading *reading, bool inverted)
{
    struct regexp_set *set;
    struct regexp_range *ranges;

    if (reading->flags.folds && !fold_ranges(reading))
        return NULL;
    ranges = arena_alloc(reading->arena,
                         (reading->ranges.count + 1) * sizeof *ranges);
    set = vector_add(&reading->sets);
    if (ranges == NULL || set == NULL) {
        error_no_memory(reading->error);
        return NULL;
    }
    memcpy(ranges, reading->ranges.items,
           reading->ranges.count * sizeof *ranges);
    *set = (struct regexp_set){ .ranges = ranges,
                                .count = (unsigned)reading->ranges.count,
                                .inverted = inverted };
    for (uint32_t i = 0; i < 128; i++)
        set->ascii[i / 32] |= (uint32_t)has(set, i) << i % 32;
    reading->ranges.count = 0;
    return make_one(reading, REGEXP_SET, (uint32_t)reading->sets.count - 1);
}

/* -------------------------------------------------------------- escapes -- */

static int digit_of(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : 16;
}

/* Reads digits of a base, `least` to `most` of them; false: they are fewer, or
 * the number is no character. */
static bool take_number(struct reading *reading, int base, unsigned least,
                        unsigned most, uint32_t *number)
{
    unsigned count = 0;

    for (*number = 0; count < most && reading->at < reading->end
                      && digit_of(*reading->at) < base;
         count++)
        *number = *number * (uint32_t)base + (uint32_t)digit_of(*reading->at++);
    return count >= least && *number <= CHARACTER_MAX;
}

/* Reads \x41 or \x{41}, from behind the x. */
static bool take_hexadecimal(struct reading *reading, uint32_t *character)
{
    if (!take(reading, "{"))
        return take_number(reading, 16, 2, 2, character);
    return take_number(reading, 16, 1, 6, character) && take(reading, "}");
}

/* Reads what follows a backslash, which stands for one character; false: it
 * does not. */
static bool take_escape(struct reading *reading, uint32_t *character)
{
    static const char letters[] = "aftnrv", meant[] = "\a\f\t\n\r\v";
    const char *at = reading->at, *letter;

    if (at == reading->end)
        return false;
    if (*at >= '0' && *at <= '7')
        return take_number(reading, 8, *at == '0' ? 1 : 2, 3, character);
    if (take(reading, "x"))
        return take_hexadecimal(reading, character);
    letter = strchr(letters, *at);
    if (letter != NULL && *at != '\0') {
        *character = (unsigned char)meant[letter - letters];
        reading->at++;
        return true;
    }
    if (is_letter((unsigned char)*at) || digit_of(*at) < 10)
        return false;
    *character = take_character(reading);
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
    if (!is_next(reading, "[:"))
        return true;
    stop = memchr(name, ':', (size_t)(reading->end - name));
    if (stop == NULL || stop + 1 >= reading->end || stop[1] != ']')
        return true;
    inverted = *name == '^';
    name += inverted;
    class = stop - name > 1 ? find_class(name, (size_t)(stop - name)) : NULL;
    if (class == NULL) {
        refuse(reading, from, "a class that is unknown");
        return false;
    }
    reading->at = stop + 2;
    *taken = true;
    return add_class(reading, class, inverted);
}

/* Reads one end of a range in brackets; false: there is none. */
static bool take_end(struct reading *reading, uint32_t *character)
{
    if (take(reading, "\\"))
        return take_escape(reading, character);
    if (reading->at == reading->end)
        return false;
    *character = take_character(reading);
    return true;
}

/* Reads a character in brackets, or a range of them. */
static bool take_range(struct reading *reading)
{
    const char *from = reading->at;
    uint32_t low, high;

    if (!take_end(reading, &low)) {
        refuse(reading, from, "an escape that is unknown");
        return false;
    }
    high = low;
    if (reading->end - reading->at > 1 && reading->at[0] == '-'
        && reading->at[1] != ']') {
        reading->at++;
        if (!take_end(reading, &high) || high < low) {
            refuse(reading, from, "a range that is none");
            return false;
        }
    }
    return add_range(reading, low, high);
}

/* Reads a set, from behind its bracket. */
static struct regexp_node *read_set(struct reading *reading)
{
    const char *from = reading->at - 1;
    bool inverted = take(reading, "^"), first = true, taken = true, not ;

    reading->ranges.count = 0;
    for (; taken && (first || !is_next(reading, "]")); first = false) {
        const struct class *class = peek_class(reading, &not );
        bool named;
        if (reading->at == reading->end)
            return refuse(reading, from, "a [ without its ]");
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

/* --------------------------------------------------------------- groups -- */

/* Reads letters of flags; false: some are unknown. */
static bool take_flags(struct reading *reading)
{
    bool on = true;

    for (; reading->at < reading->end && *reading->at != ')'
           && *reading->at != ':';
         reading->at++)
        switch (*reading->at) {
        case '-':
            if (!on)
                return false;
            on = false;
            break;
        case 'i':
            reading->flags.folds = on;
            break;
        case 's':
            reading->flags.dot_breaks = on;
            break;
        case 'm':
            reading->flags.lines = on;
            break;
        case 'U':
            reading->flags.lazy = on;
            break;
        default:
            return false;
        }
    return reading->at < reading->end;
}

/* Passes over a group's name, (?P<name> or (?<name>, from behind its <. */
static bool take_name(struct reading *reading)
{
    const char *from = reading->at;

    while (reading->at < reading->end
           && (is_letter((unsigned char)*reading->at) || *reading->at == '_'
               || digit_of(*reading->at) < 10))
        reading->at++;
    return reading->at > from && take(reading, ">");
}

/* Reads what is left of a group, which is kept as that number if it has one. */
static struct regexp_node *read_rest(struct reading *reading, const char *from,
                                     unsigned number)
{
    struct regexp_node *node = number > 0 ? make(reading, NODE_GROUP) : NULL;
    struct regexp_node *inside = read_or(reading);

    if (inside == NULL || (number > 0 && node == NULL))
        return NULL;
    if (!take(reading, ")"))
        return refuse(reading, from, "a ( without its )");
    if (number == 0)
        return inside;
    node->left = inside;
    node->least = (int)number;
    return node;
}

/* Reads a group, from behind its parenthesis. Flags hold up to its end; flags
 * alone up to the end of the group around them. */
static struct regexp_node *read_group(struct reading *reading)
{
    const char *from = reading->at - 1;
    struct flags before = reading->flags;
    struct regexp_node *node;
    unsigned number = 0;

    if (take(reading, "?P<") || take(reading, "?<")) {
        if (!take_name(reading))
            return refuse(reading, from, "a name of a group that is none");
        number = ++reading->groups;
    } else if (take(reading, "?")) {
        if (!take_flags(reading))
            return refuse(reading, from, "flags that are unknown");
        if (take(reading, ")"))
            return make(reading, NODE_EMPTY);
        reading->at++; /* the colon */
    } else {
        number = ++reading->groups;
    }
    node = read_rest(reading, from, number);
    reading->flags = before;
    return node;
}

/* ---------------------------------------------------------------- atoms -- */

/* Puts a node behind those of a sequence that ends at `*tail`, an empty node. */
static bool append(struct reading *reading, struct regexp_node **tail,
                   struct regexp_node *one)
{
    struct regexp_node *end = make(reading, NODE_EMPTY);

    if (one == NULL || end == NULL)
        return false;
    (*tail)->kind = NODE_THEN;
    (*tail)->left = one;
    (*tail)->right = end;
    *tail = end;
    return true;
}

/* Reads \Q...\E, from behind the Q: all of it stands for itself. */
static struct regexp_node *read_literal(struct reading *reading, bool to_end)
{
    struct regexp_node *node = make(reading, NODE_EMPTY), *tail = node;

    while (node != NULL && reading->at < reading->end
           && (to_end || !take(reading, "\\E")))
        if (!append(reading, &tail,
                    make_character(reading, take_character(reading))))
            return NULL;
    return node;
}

/* Reads what begins with a backslash. */
static struct regexp_node *read_escape(struct reading *reading)
{
    const char *from = reading->at;
    bool inverted;
    const struct class *class = peek_class(reading, &inverted);
    uint32_t character;

    if (class != NULL) {
        reading->at += 2;
        reading->ranges.count = 0;
        return add_class(reading, class, inverted) ? make_set(reading, false)
                                                   : NULL;
    }
    reading->at++;
    if (take(reading, "Q"))
        return read_literal(reading, false);
    if (take(reading, "A"))
        return make_one(reading, REGEXP_BEGIN, 0);
    if (take(reading, "z"))
        return make_one(reading, REGEXP_END, 0);
    if (take(reading, "b"))
        return make_one(reading, REGEXP_WORD, 0);
    if (take(reading, "B"))
        return make_one(reading, REGEXP_NO_WORD, 0);
    if (!take_escape(reading, &character))
        return refuse(reading, from, "an escape that is unknown");
    return make_character(reading, character);
}

/* Reads what stands for one thing. */
static struct regexp_node *read_atom(struct reading *reading)
{
    const char *from = reading->at;
    bool lines = reading->flags.lines;

    if (is_next(reading, "\\"))
        return read_escape(reading);
    if (take(reading, "("))
        return read_group(reading);
    if (take(reading, "["))
        return read_set(reading);
    if (take(reading, "."))
        return make_one(
            reading, reading->flags.dot_breaks ? REGEXP_ANY : REGEXP_NO_BREAK,
            0);
    if (take(reading, "^"))
        return make_one(reading, lines ? REGEXP_LINE_BEGIN : REGEXP_BEGIN, 0);
    if (take(reading, "$"))
        return make_one(reading, lines ? REGEXP_LINE_END : REGEXP_END, 0);
    if (strchr("*+?", *from) != NULL && *from != '\0')
        return refuse(reading, from, "nothing that could be repeated");
    return make_character(reading, take_character(reading));
}

/* ---------------------------------------------------------- repetitions -- */

/* Reads {2}, {2,} or {2,4}; false: that is not next, and a brace stands for
 * itself. */
static bool take_braces(struct reading *reading, int *least, int *most)
{
    const char *from = reading->at;
    uint32_t low = 0, high = 0;
    bool taken = take(reading, "{") && take_number(reading, 10, 1, 6, &low);

    *least = *most = (int)low;
    if (taken && take(reading, ",")) {
        bool bounded = !is_next(reading, "}");
        taken = !bounded || take_number(reading, 10, 1, 6, &high);
        *most = bounded ? (int)high : REGEXP_UNBOUNDED;
    }
    taken = taken && take(reading, "}");
    reading->at = taken ? reading->at : from;
    return taken;
}

/* Reads how often something is to be there; false: once. */
static bool take_repeat(struct reading *reading, int *least, int *most)
{
    *least = is_next(reading, "+");
    *most = is_next(reading, "?") ? 1 : REGEXP_UNBOUNDED;
    return take(reading, "*") || take(reading, "+") || take(reading, "?")
           || take_braces(reading, least, most);
}

static struct regexp_node *repeated(struct reading *reading,
                                    struct regexp_node *of, int least, int most)
{
    struct regexp_node *node = make(reading, NODE_REPEAT);

    if (node == NULL)
        return NULL;
    node->left = of;
    node->least = least;
    node->most = most;
    node->lazy = take(reading, "?") != reading->flags.lazy;
    return node;
}

static struct regexp_node *read_repeat(struct reading *reading)
{
    struct regexp_node *node = read_atom(reading);
    const char *from = reading->at;
    int least, most;

    for (unsigned times = 0;
         node != NULL && take_repeat(reading, &least, &most); times++) {
        if (times > 0)
            return refuse(reading, from, "a repetition of a repetition");
        if (least > REGEXP_REPEAT_MAX || most > REGEXP_REPEAT_MAX
            || (most != REGEXP_UNBOUNDED && most < least))
            return refuse(reading, from,
                          "a number of repetitions that is none");
        node = repeated(reading, node, least, most);
        from = reading->at;
    }
    return node;
}

/* ---------------------------------------------------------- sequences -- */

static struct regexp_node *read_then(struct reading *reading)
{
    struct regexp_node *node = make(reading, NODE_EMPTY), *tail = node;

    while (node != NULL && reading->at < reading->end && !is_next(reading, "|")
           && !is_next(reading, ")"))
        if (!append(reading, &tail, read_repeat(reading)))
            return NULL;
    return node;
}

/* Reads alternatives, one behind the other. */
static struct regexp_node *read_or(struct reading *reading)
{
    struct regexp_node *node = NULL, **place = &node;

    if (++reading->depth > DEPTH_MAX)
        return refuse(reading, reading->at, "too many parentheses");
    for (bool more = true; more; more = take(reading, "|")) {
        struct regexp_node *next = read_then(reading);
        if (next == NULL)
            return NULL;
        if (is_next(reading, "|")) {
            struct regexp_node *either = make(reading, NODE_OR);
            if (either == NULL)
                return NULL;
            either->left = next;
            *place = either;
            place = &either->right;
        } else {
            *place = next;
        }
    }
    reading->depth--;
    return node;
}

enum vdbq_status regexp_tree_read(struct vdbq_text pattern,
                                  struct regexp_options options,
                                  struct arena *arena, struct regexp_tree *tree,
                                  struct error *error)
{
    struct reading reading = {
        .start = pattern.bytes,
        .at = pattern.bytes,
        .end = pattern.bytes + pattern.length,
        .arena = arena,
        .flags = { .folds = options.folds, .dot_breaks = options.dot_breaks },
        .sets = VECTOR(struct regexp_set),
        .ranges = VECTOR(struct regexp_range),
        .error = error,
    };

    error_clear(error);
    tree->root =
        options.literal ? read_literal(&reading, true) : read_or(&reading);
    if (tree->root != NULL && reading.at < reading.end)
        tree->root = refuse(&reading, reading.at, "a ) without its (");
    tree->sets = reading.sets;
    tree->groups = reading.groups;
    vector_finish(&reading.ranges);
    return error->status;
}
