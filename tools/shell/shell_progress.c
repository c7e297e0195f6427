/* SPDX-License-Identifier: MIT */
/*
 * The progress bar: one line on stderr, where that is a terminal, once the
 * work has taken half a second.
 */
#include "shell.h"

#include "io/import/import.h"
#include "io/number.h"

#include <string.h>

enum { BAR_WIDTH = 30 };

static const int64_t bar_after_ns = 500000000;
static const int64_t bar_every_ns = 100000000;

void shell_bar_start(struct shell *shell, const char *unit)
{
    shell->bar_start_ns = shell_now_ns();
    shell->bar_next_ns = shell->bar_start_ns + bar_after_ns;
    shell->bar_unit = unit;
}

/* 1234567 as 1,234,567 */
static void write_count(struct out *out, uint64_t count)
{
    char digits[NUMBER_ROOM];
    size_t length = (size_t)(number_from_int((int64_t)count, digits) - digits);
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            out_char(out, ',');
        out_char(out, digits[i]);
    }
}

static void write_counts(struct shell *shell, uint64_t done, uint64_t all)
{
    out_text(&shell->err, "  ");
    write_count(&shell->err, done);
    out_text(&shell->err, " of ");
    write_count(&shell->err, all);
    out_print(&shell->err, " %s", shell->bar_unit);
}

static void draw(struct shell *shell, double part, uint64_t done, uint64_t all,
                 double seconds)
{
    struct out *err = &shell->err;
    size_t full = (size_t)(part * BAR_WIDTH);
    out_text(err, "\r[");
    out_repeat(err, "#", full);
    out_repeat(err, "-", BAR_WIDTH - full);
    out_print(err, "] %3.0f %%", part * 100);
    if (shell->bar_unit)
        write_counts(shell, done, all);
    out_print(err, "  %.1f s", seconds);
    if (part > 0.02)
        out_print(err, ", %.0f s left", seconds / part - seconds);
    out_text(err, "\033[K");
    out_flush(err);
    shell->bar_drawn = true;
}

bool shell_bar_step(void *context, uint64_t done, uint64_t all)
{
    struct shell *shell = context;
    int64_t now = shell->bar ? shell_now_ns() : 0;
    if (shell->bar && all && now >= shell->bar_next_ns) {
        double part = done < all ? (double)done / (double)all : 1;
        shell->bar_next_ns = now + bar_every_ns;
        draw(shell, part, done, all,
             (double)(now - shell->bar_start_ns) * 1e-9);
    }
    return !shell_interrupted();
}

bool shell_bar_import(void *context, const struct import_progress *progress)
{
    return shell_bar_step(context, progress->done, progress->all);
}

void shell_bar_clear(struct shell *shell)
{
    if (!shell->bar_drawn)
        return;
    out_text(&shell->err, "\r\033[K");
    out_flush(&shell->err);
    shell->bar_drawn = false;
}
