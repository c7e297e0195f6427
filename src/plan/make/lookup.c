/* SPDX-License-Identifier: MIT */
/*
 * Writes calls as function_lookup_read() reads them. Where one argument alone is
 * no constant and is a text, that is the text. Elsewhere the text is a column,
 * and all other arguments are calls of it that are looked up themselves, or sums
 * of such calls and constants: then no row needs what these give.
 */
#include "plan/make/lookup.h"

#include <string.h>

#include "base/text.h"
#include "plan/make/expression_new.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

enum {
    CALL_BYTES_MAX = 1000, /* of calls in calls: they may double */
    TERMS_MAX = 64         /* of all sums in a call              */
};

/* A call that is being written. */
struct writing {
    struct text text;
    struct expression *open; /* the text; NULL: not yet known          */
    bool nests;              /* a call stands in it                    */
    unsigned terms;          /* of sums, looked at so far              */
    bool first;              /* no term of this sum is written         */
    unsigned depth;          /* of calls in it                         */
    bool nulls, fails;       /* of these                               */
};

int lookup_result(const struct function *function)
{
    return function->result == VDBQ_BOOLEAN ? VDBQ_INTEGER
                                            : (int)function->result;
}

bool lookup_is_constant(const struct expression *e)
{
    return e->type != VDBQ_TEXT || e->constant.text.length == 0
           || memchr(e->constant.text.bytes, '\0', e->constant.text.length)
                  == NULL;
}

static void write_constant(struct text *text, const struct expression *e)
{
    if (e->type != VDBQ_TEXT) {
        if (is_float(e->type))
            text_print(text, "%.17g", e->constant.real);
        else
            text_print(text, "%lld", (long long)e->constant.integer);
        return;
    }
    text_print(text, "'");
    for (size_t i = 0; i < e->constant.text.length; i++)
        text_print(text, e->constant.text.bytes[i] == '\'' ? "''" : "%c",
                   e->constant.text.bytes[i]);
    text_print(text, "'");
}

/* --------------------------------------------------- calls of a column -- */

/* The text is this column; false: it is another one, or none. */
static bool open_column(struct writing *writing, struct expression *e)
{
    if (e->kind != EXPRESSION_COLUMN || e->type != VDBQ_TEXT)
        return false;
    if (writing->open == NULL)
        writing->open = e;
    return expression_same(writing->open, e);
}

/* A call in the call; false: it is of something else. */
static bool write_nested(struct writing *writing, const struct expression *e,
                         unsigned depth);

/* Writes what a call is of. */
static bool write_operand(struct writing *writing, struct expression *e,
                          unsigned depth)
{
    if (e->kind == EXPRESSION_LOOKUP)
        return write_nested(writing, e, depth);
    text_print(&writing->text, "?");
    return open_column(writing, e);
}

static bool write_nested(struct writing *writing, const struct expression *e,
                         unsigned depth)
{
    bool quoted = false, fits = e->kind == EXPRESSION_LOOKUP;
    depth += fits ? e->lookup.depth : 0;
    fits &=
        depth < FUNCTION_LOOKUP_DEPTH && writing->text.length <= CALL_BYTES_MAX;
    for (const char *at = fits ? e->lookup.call : ""; *at != '\0' && fits;
         at++) {
        quoted ^= *at == '\'';
        if (*at == '?' && !quoted)
            fits = write_operand(writing, e->left, depth);
        else
            text_add(&writing->text, at, 1);
    }
    if (!fits)
        return false;
    writing->nests = true;
    writing->nulls |= e->lookup.nulls;
    writing->fails |= e->lookup.fails;
    if (writing->depth < depth)
        writing->depth = depth;
    return true;
}

/* Whether a call gives numbers so small that no sum of some overflows. */
static bool is_count(const struct expression *e)
{
    static const char *const counts[] = { "length",  "char_length",
                                          "len",     "character_length",
                                          "strlen",  "octet_length",
                                          "instr",   "strpos",
                                          "unicode", "bit_length" };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (e->lookup.function == function_find(counts[i]))
            return true;
    return false;
}

/* A sum, or what is left of it; false: it is none of calls and constants. */
static bool write_terms(struct writing *writing, const struct expression *e,
                        bool minus, bool calls);

/* Writes a constant of a sum. */
static bool write_number(struct writing *writing, const struct expression *e,
                         bool minus)
{
    int64_t number = e->constant.integer;
    if (e->constant.null || number < INT32_MIN || number > INT32_MAX)
        return false;
    text_print(&writing->text, " %c %lld", minus != (number < 0) ? '-' : '+',
               (long long)(number < 0 ? -number : number));
    return true;
}

/* Writes the terms that are calls, or those that are constants. */
static bool write_terms(struct writing *writing, const struct expression *e,
                        bool minus, bool calls)
{
    if ((e->type != VDBQ_BIGINT && e->type != VDBQ_INTEGER)
        || writing->terms++ == TERMS_MAX)
        return false;
    if (e->kind == EXPRESSION_OPERATOR
        && (e->operation.op == AST_ADD || e->operation.op == AST_SUB))
        return write_terms(writing, e->left, minus, calls)
               && write_terms(writing, e->right,
                              minus != (e->operation.op == AST_SUB), calls);
    if (e->kind == EXPRESSION_CONSTANT)
        return calls || write_number(writing, e, minus);
    if (e->kind != EXPRESSION_LOOKUP || !is_count(e))
        return false;
    if (calls && (minus || !writing->first))
        text_print(&writing->text, "%s%c%s", writing->first ? "" : " ",
                   minus ? '-' : '+', writing->first ? "" : " ");
    writing->first = false;
    return !calls || write_nested(writing, e, 0);
}

static bool write_argument(struct writing *writing, struct expression *e)
{
    if (e->kind == EXPRESSION_CONSTANT) {
        write_constant(&writing->text, e);
        return lookup_is_constant(e);
    }
    if (e->type == VDBQ_TEXT)
        return write_operand(writing, e, 0);
    if (e->kind != EXPRESSION_OPERATOR)
        return !is_float(e->type) && write_nested(writing, e, 0);
    writing->first = true;
    return write_terms(writing, e, false, true)
           && write_terms(writing, e, false, false);
}

/* ----------------------------------------------------------------- calls -- */

/* The argument that alone is no constant, where it is a text; NULL: there is
 * none. */
static struct expression *only_text(struct expression *const *arguments,
                                    unsigned count)
{
    struct expression *only = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (arguments[i]->kind == EXPRESSION_CONSTANT)
            continue;
        if (only != NULL)
            return NULL;
        only = arguments[i];
    }
    return only != NULL && only->type == VDBQ_TEXT ? only : NULL;
}

/* Writes the call; false: it has no such form. */
static bool write_call(struct writing *writing, const struct function *function,
                       struct expression *const *arguments, unsigned count)
{
    struct expression *only = only_text(arguments, count);
    bool fits = true;
    writing->open = only;
    text_print(&writing->text, "%s(", function->name);
    for (unsigned i = 0; i < count && fits; i++) {
        text_print(&writing->text, "%s", i > 0 ? ", " : "");
        if (arguments[i] == only)
            text_print(&writing->text, "?");
        else
            fits = write_argument(writing, arguments[i]);
    }
    text_print(&writing->text, ")");
    return fits && writing->open != NULL
           && writing->depth < FUNCTION_LOOKUP_DEPTH
           && (!writing->nests || writing->text.length <= CALL_BYTES_MAX);
}

/* Ends a writing. `*call` is what was written, NULL where that `fits` no look-up.
 * False: no memory. */
static bool end_writing(struct binder *binder, struct writing *writing,
                        bool fits, const char **call)
{
    struct text *text = &writing->text;
    *call = fits && !text->failed
                ? arena_copy(binder->arena, text->bytes, text->length)
                : NULL;
    text_finish(text);
    if (fits && *call == NULL)
        return error_no_memory(binder->error), false;
    return true;
}

/* The expression of a call that was written; NULL: a failure. */
static struct expression *make(struct binder *binder,
                               const struct function *function,
                               const struct writing *writing, const char *call,
                               struct position at)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_LOOKUP, lookup_result(function), at);
    if (e == NULL)
        return NULL;
    e->lookup.function = function;
    e->lookup.call = call;
    e->lookup.depth = writing->depth + 1;
    e->lookup.nulls = function->nulls || writing->nulls;
    e->lookup.fails = function->fails || writing->fails;
    e->left = writing->open;
    range_update(e);
    return expression_fits(binder, e) ? e : NULL;
}

bool lookup_make(struct binder *binder, const struct function *function,
                 struct expression *const *arguments, unsigned count,
                 struct position at, struct expression **made)
{
    struct writing writing = { 0 };
    bool fits = write_call(&writing, function, arguments, count);
    const char *call;
    *made = NULL;
    if (!end_writing(binder, &writing, fits, &call))
        return false;
    if (fits)
        *made = make(binder, function, &writing, call, at);
    return !fits || *made != NULL;
}

/* A look-up that gives what `e` does, by the call that was written; NULL: a
 * failure. */
static struct expression *make_nested(struct binder *binder,
                                      const struct expression *e,
                                      const struct writing *writing,
                                      const char *call)
{
    struct expression *made =
        expression_new(binder, EXPRESSION_LOOKUP, e->type, e->at);
    if (made == NULL)
        return NULL;
    *made = *e;
    made->left = writing->open;
    made->lookup.depth = writing->depth;
    made->lookup.nulls = writing->nulls;
    made->lookup.fails = writing->fails;
    made->lookup.call = call;
    return made;
}

bool lookup_nest(struct binder *binder, const struct expression *e,
                 struct expression **made)
{
    struct writing writing = { 0 };
    bool fits = write_nested(&writing, e, 0);
    const char *call;
    *made = NULL;
    if (!end_writing(binder, &writing, fits, &call))
        return false;
    if (fits)
        *made = make_nested(binder, e, &writing, call);
    return !fits || *made != NULL;
}

bool lookup_fails_if_long(const struct expression *e)
{
    return e->kind == EXPRESSION_LOOKUP && e->lookup.depth == 1
           && e->lookup.function->only_long
           && e->left->kind == EXPRESSION_COLUMN;
}
