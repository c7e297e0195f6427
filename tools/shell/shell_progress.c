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

void shell_bar_start(struct shell *shell)
{
    shell->bar_start_ns = shell_now_ns();
    shell->bar_next_ns = shell->bar_start_ns + bar_after_ns;
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

/* "1,234,567 rows, 182 MB/s" */
static void write_import(struct out *out,
                         const struct import_progress *progress, double seconds)
{
    out_text(out, "  ");
    write_count(out, progress->rows);
    out_print(out, " rows, %.0f MB/s", (double)progress->done / seconds / 1e6);
}

/* `import`: what is told beside the share that is done; or NULL. */
static void draw(struct shell *shell, double part,
                 const struct import_progress *import)
{
    struct out *err = &shell->err;
    double seconds = (double)(shell_now_ns() - shell->bar_start_ns) * 1e-9;
    const char *waits = vdbq_waits_for(shell->db);
    size_t full = (size_t)(part * BAR_WIDTH);
    out_text(err, "\r[");
    out_repeat(err, "#", full);
    out_repeat(err, "-", BAR_WIDTH - full);
    out_print(err, "] %3.0f %%", part * 100);
    if (import)
        write_import(err, import, seconds);
    out_print(err, "  %.1f s", seconds);
    if (waits)
        out_print(err, ", %s", waits);
    else if (part > 0.02)
        out_print(err, ", %.0f s left", seconds / part - seconds);
    out_text(err, "\033[K");
    out_flush(err);
    shell->bar_drawn = true;
}

static bool step(struct shell *shell, uint64_t done, uint64_t all,
                 const struct import_progress *import)
{
    int64_t now = shell->bar ? shell_now_ns() : 0;
    if (shell->bar && all && now >= shell->bar_next_ns) {
        shell->bar_next_ns = now + bar_every_ns;
        draw(shell, done < all ? (double)done / (double)all : 1, import);
    }
    return !shell_interrupted();
}

bool shell_bar_step(void *context, uint64_t done, uint64_t all)
{
    return step(context, done, all, NULL);
}

bool shell_bar_import(void *context, const struct import_progress *progress)
{
    return step(context, progress->done, progress->all, progress);
}

void shell_bar_clear(struct shell *shell)
{
    if (!shell->bar_drawn)
        return;
    out_text(&shell->err, "\r\033[K");
    out_flush(&shell->err);
    shell->bar_drawn = false;
}
