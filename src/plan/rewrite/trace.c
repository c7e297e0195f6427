/* SPDX-License-Identifier: MIT */
/*
 * What EXPLAIN (TREE) shows of rewriting.
 */
#include "plan/rewrite/trace.h"

#include <assert.h>

#include "plan/tree/print.h"

void trace_bound(struct trace *trace, struct node **root)
{
    trace->root = root;
    trace->pass = NULL;
    text_print(&trace->text, "; bound\n");
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
    tree_print(*trace->root, &trace->text);
}
