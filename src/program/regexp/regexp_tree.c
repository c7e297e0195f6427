/* SPDX-License-Identifier: MIT */
/*
 * Patterns are read into a tree by recursive descent.
 */
#include "program/regexp/regexp_reading.h"

#include <string.h>

#include "program/letters/letter.h"
#include "program/letters/utf8.h"

enum { DEPTH_MAX = 100 /* of parentheses */ };

static struct regexp_node *read_or(struct reading *reading);

/* ------------------------------------------------------------- failures -- */

struct regexp_node *reading_refuse(struct reading *reading, const char *at,
                                   const char *what)
{
    struct vdbq_text before = { reading->start, (size_t)(at - reading->start) };

    if (reading->error->status == VDBQ_OK)
        error_set(reading->error, VDBQ_RANGE,
                  "a regular expression has %s, at character %zu", what,
                  utf8_count(before) + 1);
    return NULL;
}

struct regexp_node *reading_make(struct reading *reading,
                                 enum regexp_node_kind kind)
{
    struct regexp_node *node = arena_alloc(reading->arena, sizeof *node);

    if (node == NULL)
        error_no_memory(reading->error);
    else
        node->kind = kind;
    return node;
}

struct regexp_node *reading_make_one(struct reading *reading, enum regexp_op op,
                                     uint32_t a)
{
    struct regexp_node *node = reading_make(reading, NODE_ONE);

    if (node != NULL)
        node->code = (struct regexp_code){ .op = op, .a = a };
    return node;
}

bool reading_is_letter(uint32_t character)
{
    return (character | 0x20) >= 'a' && (character | 0x20) <= 'z'
           && character < 128;
}

struct regexp_node *reading_make_character(struct reading *reading,
                                           uint32_t character)
{
    return reading->flags.folds
                   && letter_changed(character, LETTER_NEXT) != character
               ? reading_make_one(reading, REGEXP_FOLDED,
                                  letter_changed(character, LETTER_FOLD))
               : reading_make_one(reading, REGEXP_CHAR, character);
}

/* -------------------------------------------------------------- reading -- */

bool reading_is_next(const struct reading *reading, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(reading->end - reading->at) >= length
           && memcmp(reading->at, text, length) == 0;
}

bool reading_take(struct reading *reading, const char *text)
{
    bool taken = reading_is_next(reading, text);

    reading->at += taken ? strlen(text) : 0;
    return taken;
}

uint32_t reading_take_character(struct reading *reading)
{
    unsigned bytes;
    uint32_t character = utf8_character(reading->at, reading->end, &bytes);

    reading->at += bytes;
    return character;
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
           && (reading_is_letter((unsigned char)*reading->at)
               || *reading->at == '_' || reading_digit(*reading->at) < 10))
        reading->at++;
    return reading->at > from && reading_take(reading, ">");
}

/* Reads what is left of a group, which is kept as that number if it has one. */
static struct regexp_node *read_rest(struct reading *reading, const char *from,
                                     unsigned number)
{
    struct regexp_node *node =
        number > 0 ? reading_make(reading, NODE_GROUP) : NULL;
    struct regexp_node *inside = read_or(reading);

    if (inside == NULL || (number > 0 && node == NULL))
        return NULL;
    if (!reading_take(reading, ")"))
        return reading_refuse(reading, from, "a ( without its )");
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

    if (reading_take(reading, "?P<") || reading_take(reading, "?<")) {
        if (!take_name(reading))
            return reading_refuse(reading, from,
                                  "a name of a group that is none");
        number = ++reading->groups;
    } else if (reading_take(reading, "?")) {
        if (!take_flags(reading))
            return reading_refuse(reading, from, "flags that are unknown");
        if (reading_take(reading, ")"))
            return reading_make(reading, NODE_EMPTY);
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
    struct regexp_node *end = reading_make(reading, NODE_EMPTY);

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
    struct regexp_node *node = reading_make(reading, NODE_EMPTY), *tail = node;

    while (node != NULL && reading->at < reading->end
           && (to_end || !reading_take(reading, "\\E")))
        if (!append(reading, &tail,
                    reading_make_character(reading,
                                           reading_take_character(reading))))
            return NULL;
    return node;
}

/* Reads what begins with a backslash. */
static struct regexp_node *read_escape(struct reading *reading)
{
    const char *from = reading->at;
    bool inverted;
    const struct class *class = reading_peek_class(reading, &inverted);
    uint32_t character;

    if (class != NULL)
        return reading_class(reading, class, inverted);
    reading->at++;
    if (reading_take(reading, "Q"))
        return read_literal(reading, false);
    if (reading_take(reading, "A"))
        return reading_make_one(reading, REGEXP_BEGIN, 0);
    if (reading_take(reading, "z"))
        return reading_make_one(reading, REGEXP_END, 0);
    if (reading_take(reading, "b"))
        return reading_make_one(reading, REGEXP_WORD, 0);
    if (reading_take(reading, "B"))
        return reading_make_one(reading, REGEXP_NO_WORD, 0);
    if (!reading_take_escape(reading, &character))
        return reading_refuse(reading, from, "an escape that is unknown");
    return reading_make_character(reading, character);
}

/* Reads what stands for one thing. */
static struct regexp_node *read_atom(struct reading *reading)
{
    const char *from = reading->at;
    bool lines = reading->flags.lines;

    if (reading_is_next(reading, "\\"))
        return read_escape(reading);
    if (reading_take(reading, "("))
        return read_group(reading);
    if (reading_take(reading, "["))
        return reading_set(reading);
    if (reading_take(reading, "."))
        return reading_make_one(
            reading, reading->flags.dot_breaks ? REGEXP_ANY : REGEXP_NO_BREAK,
            0);
    if (reading_take(reading, "^"))
        return reading_make_one(reading,
                                lines ? REGEXP_LINE_BEGIN : REGEXP_BEGIN, 0);
    if (reading_take(reading, "$"))
        return reading_make_one(reading, lines ? REGEXP_LINE_END : REGEXP_END,
                                0);
    if (strchr("*+?", *from) != NULL && *from != '\0')
        return reading_refuse(reading, from, "nothing that could be repeated");
    return reading_make_character(reading, reading_take_character(reading));
}

/* ---------------------------------------------------------- repetitions -- */

/* Reads {2}, {2,} or {2,4}; false: that is not next, and a brace stands for
 * itself. */
static bool take_braces(struct reading *reading, int *least, int *most)
{
    const char *from = reading->at;
    uint32_t low = 0, high = 0;
    bool taken = reading_take(reading, "{")
                 && reading_take_number(reading, 10, 1, 6, &low);

    *least = *most = (int)low;
    if (taken && reading_take(reading, ",")) {
        bool bounded = !reading_is_next(reading, "}");
        taken = !bounded || reading_take_number(reading, 10, 1, 6, &high);
        *most = bounded ? (int)high : REGEXP_UNBOUNDED;
    }
    taken = taken && reading_take(reading, "}");
    reading->at = taken ? reading->at : from;
    return taken;
}

/* Reads how often something is to be there; false: once. */
static bool take_repeat(struct reading *reading, int *least, int *most)
{
    *least = reading_is_next(reading, "+");
    *most = reading_is_next(reading, "?") ? 1 : REGEXP_UNBOUNDED;
    return reading_take(reading, "*") || reading_take(reading, "+")
           || reading_take(reading, "?") || take_braces(reading, least, most);
}

static struct regexp_node *repeated(struct reading *reading,
                                    struct regexp_node *of, int least, int most)
{
    struct regexp_node *node = reading_make(reading, NODE_REPEAT);

    if (node == NULL)
        return NULL;
    node->left = of;
    node->least = least;
    node->most = most;
    node->lazy = reading_take(reading, "?") != reading->flags.lazy;
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
            return reading_refuse(reading, from,
                                  "a repetition of a repetition");
        if (least > REGEXP_REPEAT_MAX || most > REGEXP_REPEAT_MAX
            || (most != REGEXP_UNBOUNDED && most < least))
            return reading_refuse(reading, from,
                                  "a number of repetitions that is none");
        node = repeated(reading, node, least, most);
        from = reading->at;
    }
    return node;
}

/* ---------------------------------------------------------- sequences -- */

static struct regexp_node *read_then(struct reading *reading)
{
    struct regexp_node *node = reading_make(reading, NODE_EMPTY), *tail = node;

    while (node != NULL && reading->at < reading->end
           && !reading_is_next(reading, "|") && !reading_is_next(reading, ")"))
        if (!append(reading, &tail, read_repeat(reading)))
            return NULL;
    return node;
}

/* Reads alternatives, one behind the other. */
static struct regexp_node *read_or(struct reading *reading)
{
    struct regexp_node *node = NULL, **place = &node;

    if (++reading->depth > DEPTH_MAX)
        return reading_refuse(reading, reading->at, "too many parentheses");
    for (bool more = true; more; more = reading_take(reading, "|")) {
        struct regexp_node *next = read_then(reading);
        if (next == NULL)
            return NULL;
        if (reading_is_next(reading, "|")) {
            struct regexp_node *either = reading_make(reading, NODE_OR);
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
        tree->root = reading_refuse(&reading, reading.at, "a ) without its (");
    tree->sets = reading.sets;
    tree->groups = reading.groups;
    vector_finish(&reading.ranges);
    return error->status;
}
