/* SPDX-License-Identifier: MIT */
/*
 * What EXPLAIN (TREE) shows of rewriting.
 */
#include "plan/rewrite/trace.h"

#include <assert.h>
#include <string.h>

#include "plan/tree/print.h"

void trace_bound(struct trace *trace, struct node **root)
{
    trace->root = root;
    trace->pass = NULL;
    text_print(&trace->text, "; bound\n");
    trace->tree = trace->text.length;
    tree_print(*root, &trace->text);
}

void trace_pass(struct trace *trace, const char *pass, const char *what)
{
    assert(trace->root != NULL && pass != NULL);
    assert(trace->begin <= trace->text.length);
    if (trace->pass == pass && !trace->text.failed)
        trace->text.length = trace->begin;
    trace->pass = pass;
    trace->begin = trace->text.length;
    text_print(&trace->text, "; %s: %s\n", pass, what);
    trace->tree = trace->text.length;
    tree_print(*trace->root, &trace->text);
}

void trace_tree(struct trace *trace, const char *pass, const char *what)
{
    struct text *text = &trace->text;
    const struct trace before = *trace;
    size_t size = text->length - trace->tree;

    trace->pass = NULL; /* what was shown stays */
    trace_pass(trace, pass, what);
    if (text->failed || text->length - trace->tree != size
        || memcmp(text->bytes + before.tree, text->bytes + trace->tree, size)
               != 0)
        return;
    text->length = before.text.length;
    trace->pass = before.pass;
    trace->begin = before.begin;
    trace->tree = before.tree;
}
