/* SPDX-License-Identifier: MIT */
/*
 * The tree of a pattern is written as code. What repeats is written as often as
 * it must, so that the code grows with the numbers in braces: it is bounded.
 */
#include "program/regexp/regexp_tree.h"

#include <string.h>

#include "program/letters/letter.h"
#include "program/letters/utf8.h"

struct writing {
    struct vector code; /* of struct regexp_code */
    struct error *error;
};

/* Adds an instruction; its number, or -1: there are too many. */
static int add_code(struct writing *writing, enum regexp_op op, uint32_t a,
                    uint32_t b)
{
    const struct regexp_code code = { op, a, b };

    if (writing->code.count >= REGEXP_CODE_MAX) {
        error_set(writing->error, VDBQ_RANGE,
                  "a regular expression is too large: it says more than %d "
                  "things, with all that it repeats",
                  REGEXP_CODE_MAX);
        return -1;
    }
    if (!vector_append(&writing->code, &code, 1)) {
        error_no_memory(writing->error);
        return -1;
    }
    return (int)writing->code.count - 1;
}

static uint32_t next_code(const struct writing *writing)
{
    return (uint32_t)writing->code.count;
}

static struct regexp_code *code_at(struct writing *writing, int number)
{
    return &VECTOR_ITEMS(&writing->code, struct regexp_code)[number];
}

/* Whether a node can match nothing. */
static bool is_nullable(const struct regexp_node *node)
{
    for (; node->kind == NODE_THEN; node = node->right)
        if (!is_nullable(node->left))
            return false;
    for (; node->kind == NODE_OR; node = node->right)
        if (is_nullable(node->left))
            return true;
    switch (node->kind) {
    case NODE_ONE:
        return node->code.op >= REGEXP_BEGIN;
    case NODE_REPEAT:
        return node->least == 0 || is_nullable(node->left);
    case NODE_EMPTY:
        return true;
    default:
        return is_nullable(node->left);
    }
}

static bool write_node(struct writing *writing, const struct regexp_node *node);

/* Sets a split, one way of which is what follows it: that way first, unless it
 * is lazy. */
static void set_split(struct writing *writing, int split, uint32_t inside,
                      uint32_t behind, bool lazy)
{
    code_at(writing, split)->a = lazy ? behind : inside;
    code_at(writing, split)->b = lazy ? inside : behind;
}

/* Writes a node that may be there once more. */
static bool write_optional(struct writing *writing,
                           const struct regexp_node *node, bool lazy,
                           int *split)
{
    *split = add_code(writing, REGEXP_SPLIT, 0, 0);
    if (*split < 0 || !write_node(writing, node))
        return false;
    set_split(writing, *split, (uint32_t)*split + 1, next_code(writing), lazy);
    return true;
}

/* Writes a node as often as it goes, at least once. */
static bool write_plus(struct writing *writing, const struct regexp_node *node,
                       bool lazy)
{
    uint32_t first = next_code(writing);
    int split;

    if (!write_node(writing, node))
        return false;
    split = add_code(writing, REGEXP_SPLIT, 0, 0);
    if (split >= 0)
        set_split(writing, split, first, next_code(writing), lazy);
    return split >= 0;
}

/* Writes a node as often as it goes. One that can be empty is so as one that is
 * there once or more, if at all: an empty round ends it, as in Perl. */
static bool write_star(struct writing *writing, const struct regexp_node *node,
                       bool lazy)
{
    int split = add_code(writing, REGEXP_SPLIT, 0, 0);

    if (split < 0)
        return false;
    if (is_nullable(node)) {
        if (!write_plus(writing, node, lazy))
            return false;
    } else if (!write_node(writing, node)
               || add_code(writing, REGEXP_JUMP, (uint32_t)split, 0) < 0) {
        return false;
    }
    set_split(writing, split, (uint32_t)split + 1, next_code(writing), lazy);
    return true;
}

/* Writes x{2,4} as xx(x(x)?)?, so that there is one way for each number. */
static bool write_repeat(struct writing *writing,
                         const struct regexp_node *node)
{
    int last = -1,
        split; /* each split leads to the one before, until all are set */
    bool written = true;

    for (int i = 0;
         i + (node->most == REGEXP_UNBOUNDED) < node->least && written; i++) {
        uint32_t before = next_code(writing);
        written = write_node(writing, node->left);
        if (next_code(writing) == before)
            break; /* however often, nothing is nothing */
    }
    if (node->most == REGEXP_UNBOUNDED)
        return written
               && (node->least > 0
                       ? write_plus(writing, node->left, node->lazy)
                       : write_star(writing, node->left, node->lazy));
    for (int i = node->least; i < node->most && written; i++) {
        written = write_optional(writing, node->left, node->lazy, &split);
        if (written)
            code_at(writing, split)->a = (uint32_t)last;
        last = written ? split : last;
    }
    for (; last >= 0 && written; last = split) {
        split = (int)code_at(writing, last)->a;
        set_split(writing, last, (uint32_t)last + 1, next_code(writing),
                  node->lazy);
    }
    return written;
}

static bool write_or(struct writing *writing, const struct regexp_node *node)
{
    int split = add_code(writing, REGEXP_SPLIT, 0, 0), jump;

    if (split < 0 || !write_node(writing, node->left))
        return false;
    jump = add_code(writing, REGEXP_JUMP, 0, 0);
    if (jump < 0)
        return false;
    set_split(writing, split, (uint32_t)split + 1, next_code(writing), false);
    if (!write_node(writing, node->right))
        return false;
    code_at(writing, jump)->a = next_code(writing);
    return true;
}

static bool write_group(struct writing *writing, const struct regexp_node *node)
{
    uint32_t place = (uint32_t)node->least * 2;

    if (node->least >= REGEXP_GROUPS)
        return write_node(writing, node->left);
    return add_code(writing, REGEXP_SAVE, place, 0) >= 0
           && write_node(writing, node->left)
           && add_code(writing, REGEXP_SAVE, place + 1, 0) >= 0;
}

static bool write_node(struct writing *writing, const struct regexp_node *node)
{
    for (; node->kind == NODE_THEN; node = node->right)
        if (!write_node(writing, node->left))
            return false;
    switch (node->kind) {
    case NODE_ONE:
        return add_code(writing, node->code.op, node->code.a, 0) >= 0;
    case NODE_OR:
        return write_or(writing, node);
    case NODE_REPEAT:
        return write_repeat(writing, node);
    case NODE_GROUP:
        return write_group(writing, node);
    default:
        return true;
    }
}

/* ------------------------------------------------------------ first bytes -- */

/* Finds the bytes that a match can begin with. */
struct firsts {
    struct regexp *regexp;
    uint32_t *waiting; /* instructions to be looked at, each once */
    unsigned count;
    bool *seen;
};

static void visit(struct firsts *firsts, uint32_t code)
{
    if (!firsts->seen[code])
        firsts->waiting[firsts->count++] = code;
    firsts->seen[code] = true;
}

/* Adds the first bytes of characters beyond ASCII. */
static void add_wide(struct regexp *regexp)
{
    for (unsigned i = 128; i < 256; i++)
        regexp->first[i] = true;
}

/* Adds the first byte of a character; UTF8_NONE is many bytes that are none. */
static void add_character(struct regexp *regexp, uint32_t character)
{
    char bytes[4];

    if (character == UTF8_NONE)
        add_wide(regexp);
    utf8_write(character, bytes);
    regexp->first[(unsigned char)bytes[0]] = true;
}

static void add_first(struct regexp *regexp, const struct regexp_code *code)
{
    uint32_t other = code->a;

    if (code->op == REGEXP_CHAR || code->op == REGEXP_FOLDED) {
        do {
            add_character(regexp, other);
            other = letter_changed(other, LETTER_NEXT);
        } while (code->op == REGEXP_FOLDED && other != code->a);
        return;
    }
    for (unsigned i = 0; i < 128; i++)
        regexp->first[i] |=
            code->op != REGEXP_SET || regexp_in_set(&regexp->sets[code->a], i);
    add_wide(regexp);
}

static void find_firsts(struct firsts *firsts)
{
    struct regexp *regexp = firsts->regexp;

    visit(firsts, 0);
    while (firsts->count > 0) {
        uint32_t at = firsts->waiting[--firsts->count];
        const struct regexp_code *code = &regexp->code[at];
        if (code->op == REGEXP_MATCH)
            regexp->empty = true;
        else if (code->op == REGEXP_SPLIT || code->op == REGEXP_JUMP)
            visit(firsts, code->a);
        else if (code->op > REGEXP_JUMP)
            visit(firsts, at + 1); /* it takes no character */
        else
            add_first(regexp, code);
        if (code->op == REGEXP_SPLIT)
            visit(firsts, code->b);
    }
}

/* ----------------------------------------------------------------- read -- */

/* Moves what was written, and finds out what a match can begin with. */
static enum vdbq_status finish(struct writing *writing,
                               const struct regexp_tree *tree,
                               struct arena *arena, struct regexp *regexp)
{
    size_t count = writing->code.count;
    struct regexp_code *code = arena_alloc(arena, count * sizeof *code);
    struct regexp_set *sets =
        arena_alloc(arena, (tree->sets.count + 1) * sizeof *sets);
    struct firsts firsts = {
        .regexp = regexp,
        .waiting = arena_alloc(arena, count * sizeof *firsts.waiting),
        .seen = arena_alloc(arena, count),
    };

    if (!code || !sets || !firsts.waiting || !firsts.seen)
        return error_no_memory(writing->error);
    memcpy(code, writing->code.items, count * sizeof *code);
    if (tree->sets.count > 0)
        memcpy(sets, tree->sets.items, tree->sets.count * sizeof *sets);
    *regexp = (struct regexp){ .code = code,
                               .count = (unsigned)count,
                               .sets = sets,
                               .groups = tree->groups };
    find_firsts(&firsts);
    return VDBQ_OK;
}

enum vdbq_status regexp_read(struct vdbq_text pattern,
                             struct regexp_options options, struct arena *arena,
                             struct regexp *regexp, struct error *error)
{
    struct regexp_tree tree = { 0 };
    struct writing writing = { .code = VECTOR(struct regexp_code),
                               .error = error };
    enum vdbq_status status =
        regexp_tree_read(pattern, options, arena, &tree, error);

    if (status == VDBQ_OK
        && (!write_node(&writing, tree.root)
            || add_code(&writing, REGEXP_MATCH, 0, 0) < 0))
        status = error->status;
    if (status == VDBQ_OK)
        status = finish(&writing, &tree, arena, regexp);
    vector_finish(&tree.sets);
    vector_finish(&writing.code);
    return status;
}
