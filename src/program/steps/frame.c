/* SPDX-License-Identifier: MIT */
/*
 * Frames as text, and whether two are the same: see frame.h.
 */
#include "program/steps/frame.h"

#include "base/text.h"

static bool bound_same(const struct frame_bound *a, const struct frame_bound *b)
{
    return a->unbounded == b->unbounded && a->offset == b->offset
           && !(a->real < b->real) && !(a->real > b->real);
}

bool frame_same(const struct step_frame *a, const struct step_frame *b)
{
    return a->unit == b->unit && a->known == b->known
           && (a->unit == FRAME_DEFAULT
               || (bound_same(&a->begin, &b->begin)
                   && bound_same(&a->end, &b->end)));
}

static void print_bound(const struct frame_bound *bound, const char *side,
                        struct text *text)
{
    int64_t offset = bound->offset;

    if (bound->unbounded)
        text_print(text, "UNBOUNDED %s", side);
    else if (bound->real < 0 || bound->real > 0)
        text_print(text, "%g %s", bound->real < 0 ? -bound->real : bound->real,
                   bound->real < 0 ? "PRECEDING" : "FOLLOWING");
    else if (offset == 0)
        text_print(text, "CURRENT ROW");
    else
        text_print(text, "%lld %s", (long long)(offset < 0 ? -offset : offset),
                   offset < 0 ? "PRECEDING" : "FOLLOWING");
}

void frame_print(const struct step_frame *frame, struct text *text)
{
    if (frame->known)
        text_print(text, " IGNORE NULLS");
    if (frame->unit == FRAME_DEFAULT)
        return;
    text_print(text, " %s BETWEEN ",
               frame->unit == FRAME_ROWS ? "ROWS" : "RANGE");
    print_bound(&frame->begin, "PRECEDING", text);
    text_print(text, " AND ");
    print_bound(&frame->end, "FOLLOWING", text);
}
