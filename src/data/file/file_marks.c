/* SPDX-License-Identifier: MIT */
/*
 * Marks by which readers tell what they read, and who they are (file rules 5
 * and 7), and writers what is durable (rule 8). Nothing is written for them, and
 * they end with their connection, be it by a kill.
 *
 *   mark                      set while
 *       0 + (key << 20)       the state of that key is read
 *         + tag
 *   2^58 + (tag << 36)        anything is read: since when; it says nothing of
 *         + tenths            who has no mark of a state. Tenths of a second
 *                             since 2020, and
 *   2^59 + (tag << 38)        from the first read on: which process that is
 *         + process           (os_process_told())
 *   2^59 + 2^58 + key         the heads of these bytes are durable, or were: from
 *                             a commit on, for some commits of that connection
 *
 * A tag is drawn by each connection: two that have the same are told as one,
 * and nothing else comes of it. The key of a state is 24 bits of its
 * generation above 14 of its catalogue's checksum: two states that have the
 * same are both kept.
 */
#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "data/file/file.h"

enum {
    TAG_BITS = 20,
    KEY_BITS = FILE_KEY_GENERATION_BITS + FILE_KEY_SUM_BITS,
    SINCE_BITS = 36,
    DURABLE_MOST = 8 /* marks of durable heads */
};
#define BITS(count)   ((UINT64_C(1) << (count)) - 1)
#define STATE_MARKS   UINT64_C(0)
#define STATE_END     (UINT64_C(1) << (KEY_BITS + TAG_BITS))
#define SINCE_MARKS   (UINT64_C(1) << 58)
#define PEOPLE_MARKS  (UINT64_C(1) << 59)
#define DURABLE_MARKS (PEOPLE_MARKS + (UINT64_C(1) << 58))
#define EPOCH_MS      UINT64_C(1577836800000) /* 2020-01-01 */

_Static_assert(KEY_BITS + TAG_BITS <= 58 && SINCE_BITS + TAG_BITS < 58
                   && OS_PROCESS_BITS + TAG_BITS <= 58
                   && DURABLE_MARKS + (UINT64_C(1) << 58) <= OS_MARKS,
               "marks of one kind are none of another");

uint64_t file_state_key(const struct file_head *head)
{
    return (head->generation & BITS(FILE_KEY_GENERATION_BITS))
               << FILE_KEY_SUM_BITS
           | (head->catalogue_checksum & BITS(FILE_KEY_SUM_BITS));
}

/* The system refuses a mark. */
static enum vdbq_status cannot_mark(const struct file *file, int failure,
                                    struct error *error)
{
    return error_set(error, VDBQ_IO, "%s: cannot mark what is read: %s",
                     file->path, strerror(failure));
}

/* -------------------------------------------------------------- setting -- */

static uint64_t tenths_of(uint64_t ms)
{
    return ms < EPOCH_MS ? 0 : (ms - EPOCH_MS) / 100 & BITS(SINCE_BITS);
}

/* Draws the tag and says who this is, once. What is told of people may fail. */
static int introduce(struct file *file)
{
    uint64_t drawn = 0;
    int failure = file->introduced ? 0 : file->calls->random(&drawn);

    if (failure != 0 || file->introduced)
        return failure;
    file->tag = drawn & BITS(TAG_BITS);
    file->calls->mark(file->os, PEOPLE_MARKS + (file->tag << OS_PROCESS_BITS)
                                    + os_process_told());
    file->introduced = true;
    return 0;
}

/* Says since when anything is read, which it has said already in the same tenth of a
 * second. What is told of that may fail. */
static void tell_since(struct file *file)
{
    const uint64_t first = SINCE_MARKS + (file->tag << SINCE_BITS);
    uint64_t before = file->since_ms, now = (uint64_t)os_clock_us() / 1000;

    file->since_ms = now;
    if (before != 0 && tenths_of(before) == tenths_of(now))
        return;
    if (before != 0)
        file->calls->unmark(file->os, first, BITS(SINCE_BITS) + 1);
    file->calls->mark(file->os, first + tenths_of(now));
}

enum vdbq_status file_mark(struct file *file, const struct file_head *head,
                           struct error *error)
{
    int failure = introduce(file);

    if (failure == 0 && file->marks == 0)
        tell_since(file);
    if (failure == 0)
        failure = file->calls->mark(
            file->os,
            STATE_MARKS + (file_state_key(head) << TAG_BITS) + file->tag);
    if (failure != 0)
        return cannot_mark(file, failure, error);
    /* The heads are read after it, as a writer writes one before it looks. */
    atomic_thread_fence(memory_order_seq_cst);
    file->marks++;
    return VDBQ_OK;
}

void file_unmark(struct file *file, const struct file_head *head)
{
    assert(file->marks > 0);
    file->marks--;
    file->calls->unmark(
        file->os, STATE_MARKS + (file_state_key(head) << TAG_BITS) + file->tag,
        1);
}

/* -------------------------------------------------------------- looking -- */

enum vdbq_status file_marked_keys(struct file *file, struct vector *keys,
                                  struct error *error)
{
    uint64_t from = STATE_MARKS;
    int failure = 0;

    atomic_thread_fence(memory_order_seq_cst); /* as file_mark() */
    while (failure == 0 && from < STATE_END) {
        uint64_t mark, key;
        failure = file->calls->marked(file->os, from, STATE_END, &mark);
        if (failure != 0 || mark == STATE_END)
            break;
        key = mark >> TAG_BITS;
        if (!vector_append(keys, &key, 1))
            return error_no_memory(error);
        from = (key + 1) << TAG_BITS;
    }
    return failure == 0 ? VDBQ_OK : cannot_mark(file, failure, error);
}

/* ------------------------------------------------------- what is durable -- */

/* The mark of the heads as they are: of all their bytes, in 58 bits. */
static uint64_t durable_mark(const struct file *file)
{
    return DURABLE_MARKS
           + (block_checksum(file->heads, sizeof file->heads) & BITS(58));
}

/* Marks of former heads say what is true, and help nobody: they are taken back some
 * at a time, in one call. */
void file_tell_durable(struct file *file)
{
    if (file->no_sync)
        return;
    if (file->durable == DURABLE_MOST) {
        file->calls->unmark(file->os, DURABLE_MARKS, UINT64_C(1) << 58);
        file->durable = 0;
    }
    if (file->calls->mark(file->os, durable_mark(file)) == 0)
        file->durable++;
}

bool file_are_durable(const struct file *file)
{
    uint64_t wanted = durable_mark(file), mark;

    return file->alike
           && file->calls->marked(file->os, wanted, wanted + 1, &mark) == 0
           && mark == wanted;
}

/* --------------------------------------------------------------- telling -- */

/* What follows the tag in a mark of others that tells of it; false: none does, as
 * whoever set it has gone. */
static bool find_told(const struct file *file, uint64_t marks, uint64_t tag,
                      unsigned bits, uint64_t *told)
{
    uint64_t first = marks + (tag << bits), end = first + BITS(bits) + 1, mark;

    if (file->calls->marked(file->os, first, end, &mark) != 0 || mark == end)
        return false;
    *told = mark - first;
    return true;
}

/* The reader who has set a mark of a state. */
static struct file_use use_of(const struct file *file, uint64_t mark)
{
    uint64_t tag = mark & BITS(TAG_BITS), told;
    struct file_use use = { .key = mark >> TAG_BITS };

    if (find_told(file, PEOPLE_MARKS, tag, OS_PROCESS_BITS, &told))
        use.who = os_process_of(told);
    if (find_told(file, SINCE_MARKS, tag, SINCE_BITS, &told))
        use.who.since_ms = EPOCH_MS + told * 100;
    return use;
}

enum vdbq_status file_uses(struct file *file, struct vector *uses,
                           struct error *error)
{
    struct file_use use = { .writes = true };
    int failure = 0;

    if (file->calls->signature != NULL
        && file->calls->signature(file->os, &use.who)
        && !vector_append(uses, &use, 1))
        return error_no_memory(error);
    for (uint64_t from = STATE_MARKS, mark = 0; mark < STATE_END;
         from = mark + 1) {
        failure = file->calls->marked(file->os, from, STATE_END, &mark);
        if (failure != 0 || mark == STATE_END)
            break;
        use = use_of(file, mark);
        if (!vector_append(uses, &use, 1))
            return error_no_memory(error);
    }
    return failure == 0 ? VDBQ_OK : cannot_mark(file, failure, error);
}
