/* SPDX-License-Identifier: MIT */
/*
 * The heads of the file, and which of them counts (rules 2, 3, 13 and 14 of
 * file.c). What is not whole is no head, whatever else it says.
 */
#include <assert.h>
#include <string.h>

#include "data/file/catalogue_file.h"
#include "data/file/file.h"
#include "data/tablet/tablet_pack.h"

_Static_assert(sizeof(struct file_head) == 120, "layout of file_head");
_Static_assert(sizeof(struct file_head) <= 512, "file rule 3");
_Static_assert(offsetof(struct file_head, format) == 8, "layout");
_Static_assert(offsetof(struct file_head, generation) == 16, "layout");
_Static_assert(offsetof(struct file_head, catalogue) == 24, "layout");
_Static_assert(offsetof(struct file_head, catalogue_checksum) == 40, "layout");
_Static_assert(offsetof(struct file_head, end) == 48, "layout");
_Static_assert(offsetof(struct file_head, checksum) == 64, "layout");
_Static_assert(offsetof(struct file_head, features_write) == 88, "layout");
_Static_assert(offsetof(struct file_head, version_read) == 96, "layout");
_Static_assert(offsetof(struct file_head, checksum_all) == 112, "layout");

static const uint8_t magic[8] = { 0x89, 'V', 'D', 'B', 'Q', '\r', '\n', 0x1a };

/* A head as it is read: two copies. With format 1 there is but the first. */
struct pair {
    struct file_head copy[2]; /* the head, and its copy further back */
    enum head_state state[2]; /* what each of them is */
};

static void take_pairs(struct file *file, const struct pair pairs[FILE_HEADS]);
static bool is_whole(enum head_state state);

/* Those of features_read that this vdbq knows. */
static uint64_t known_features(void)
{
    return tablet_features() | FEATURE_COLLATIONS | FEATURE_EDITS | FEATURE_KEYS
           | FEATURE_CHECKS;
}

/* The first vdbq that knows all of these. */
static uint32_t version_of(uint64_t features)
{
    uint32_t tablets = tablet_version(features & tablet_features());
    uint64_t third =
        FEATURE_COLLATIONS | FEATURE_EDITS | FEATURE_KEYS | FEATURE_CHECKS;
    uint32_t least =
        (features & third) != 0 ? FILE_VERSION(0, 3) : FILE_VERSION(0, 2);

    return tablets > least ? tablets : least;
}

void file_seal_head(struct file_head *head, uint32_t format)
{
    memcpy(head->magic, magic, sizeof magic);
    head->format = format;
    head->page_bytes = PAGE_BYTES;
    head->checksum = block_checksum(head, offsetof(struct file_head, checksum));
    if (format == FILE_FORMAT_FIRST)
        return;
    head->features &= FILE_SAMPLES | FILE_RUNS | FILE_STATES;
    head->features_write &= FILE_MARKS | FILE_AHEAD;
    head->features_read &= known_features();
    head->version_read = version_of(head->features_read);
    head->version_write = FILE_VERSION(0, head->features_write == 0 ? 2 : 3);
    head->reserved = 0;
    head->checksum_all =
        block_checksum(head, offsetof(struct file_head, checksum_all));
}

struct file_head file_other_bytes(const struct file *file, unsigned which)
{
    struct file_head head = file->heads[which];
    uint64_t drawn;

    if (file->states[which] != HEAD_VALID || head.format == FILE_FORMAT_FIRST)
        return head;
    if (file->calls->random(&drawn) != 0)
        drawn = head.reserved + 1;
    head.reserved = drawn;
    head.checksum_all =
        block_checksum(&head, offsetof(struct file_head, checksum_all));
    return head;
}

/* ------------------------------------------------------------- reading -- */

/* Reads a copy of both heads, from two neighbouring pages, at once; where the file
 * ends before one, nothing but zeros. */
static enum vdbq_status read_copies(const struct file *file, uint64_t offset,
                                    unsigned copy, uint64_t size,
                                    struct pair pairs[FILE_HEADS],
                                    struct error *error)
{
    char bytes[PAGE_BYTES + sizeof(struct file_head)] = { 0 };
    const size_t head_bytes = sizeof pairs->copy[copy];
    uint64_t left = offset < size ? size - offset : 0;
    enum vdbq_status status = VDBQ_OK;

    if (left < sizeof bytes) /* the first one, or none */
        left = left < head_bytes ? 0 : head_bytes;
    else
        left = sizeof bytes;
    if (left > 0)
        status = file_read(file, bytes, (size_t)left, offset, error);
    for (unsigned i = 0; i < FILE_HEADS && status == VDBQ_OK; i++)
        memcpy(&pairs[i].copy[copy], bytes + (size_t)i * PAGE_BYTES,
               head_bytes);
    return status;
}

/* Where the second copies are, as far as the first ones tell; 0: there are
 * none. */
static uint64_t find_copies(const struct pair pairs[FILE_HEADS], uint64_t size)
{
    bool first_format = false;

    for (unsigned i = 0; i < FILE_HEADS; i++) {
        const struct file_head *head = &pairs[i].copy[0];
        if (!is_whole(file_judge(head, size)))
            continue;
        if (head->format != FILE_FORMAT_FIRST)
            return head->copies;
        first_format = true;
    }
    return first_format ? 0 : FILE_COPIES;
}

/* Reads both heads and, where the format has them, their copies. */
static enum vdbq_status read_pairs(struct file *file,
                                   struct pair pairs[FILE_HEADS],
                                   struct error *error)
{
    enum vdbq_status status = file_size(file, &file->size_bytes, error);

    memset(pairs, 0, FILE_HEADS * sizeof *pairs);
    if (status == VDBQ_OK)
        status = read_copies(file, 0, 0, file->size_bytes, pairs, error);
    if (status != VDBQ_OK)
        return status;
    file->copies = find_copies(pairs, file->size_bytes);
    return file->copies == 0 ? VDBQ_OK
                             : read_copies(file, file->copies, 1,
                                           file->size_bytes, pairs, error);
}

/* Whether the first copies, which every commit writes first, are those that
 * were read last: every query asks that, so both are read at once. A file that
 * is too short for it is not. */
enum vdbq_status file_heads_stay(const struct file *file, bool *stay,
                                 struct error *error)
{
    char bytes[PAGE_BYTES + sizeof(struct file_head)];
    uint64_t size;
    enum vdbq_status status;

    *stay = false;
    if (!file->known || file->size_bytes < sizeof bytes)
        return VDBQ_OK;
    status = file_read(file, bytes, sizeof bytes, 0, error);
    if (status != VDBQ_OK) {
        struct error ignored;
        bool is_short =
            file_size(file, &size, &ignored) == VDBQ_OK && size < sizeof bytes;
        return is_short ? VDBQ_OK : status;
    }
    *stay =
        memcmp(bytes, &file->first[0], sizeof file->first[0]) == 0
        && memcmp(bytes + PAGE_BYTES, &file->first[1], sizeof file->first[1])
               == 0;
    return VDBQ_OK;
}

/* Takes what was read. Whether it is other than what was known: a file that ends
 * within the heads is read anew each time. */
static bool take_changed(struct file *file, const struct pair pairs[FILE_HEADS])
{
    struct file_head first[FILE_HEADS], heads[FILE_HEADS];
    bool known = file->known;

    memcpy(first, file->first, sizeof first);
    memcpy(heads, file->heads, sizeof heads);
    take_pairs(file, pairs);
    file->known = true;
    if (known && memcmp(first, file->first, sizeof first) == 0
        && memcmp(heads, file->heads, sizeof heads) == 0)
        return false;
    file->settled = file->follows = false;
    return true;
}

/* A head that is being written by another connection may be read in halves:
 * what was read twice in the same way is believed. */
enum vdbq_status file_read_heads(struct file *file, bool *changed,
                                 struct error *error)
{
    struct pair pairs[FILE_HEADS], before[FILE_HEADS];
    enum vdbq_status status;
    bool same;

    *changed = false;
    status = file_heads_stay(file, &same, error);
    if (status != VDBQ_OK || same)
        return status;
    status = read_pairs(file, pairs, error);
    do {
        memcpy(before, pairs, sizeof pairs);
        if (status == VDBQ_OK)
            status = read_pairs(file, pairs, error);
        if (status != VDBQ_OK)
            return status;
    } while (memcmp(pairs, before, sizeof pairs) != 0);
    *changed = take_changed(file, pairs);
    return VDBQ_OK;
}

/* ------------------------------------------------------------- judging -- */

/* Whether everything in a head makes sense, but for what is newer. */
static bool is_sound(const struct file_head *head)
{
    bool first = head->format == FILE_FORMAT_FIRST;

    return head->page_bytes == PAGE_BYTES && head->generation < INT64_MAX
           && head->end % PAGE_BYTES == 0 && head->end <= INT64_MAX
           && head->catalogue % PAGE_BYTES == 0 && head->catalogue >= FILE_FIRST
           && head->catalogue <= head->end && head->catalogue_size > 0
           && head->catalogue_size <= head->end - head->catalogue
           && (first ? head->copies == 0
                     : head->copies >= FILE_FIRST
                           && head->copies % PAGE_BYTES == 0
                           && head->copies <= head->end
                           && head->end - head->copies >= FILE_FIRST);
}

/* Whether a head is whole that is longer than one of format 1. */
static bool is_whole_all(const struct file_head *head)
{
    return head->checksum_all
           == block_checksum(head, offsetof(struct file_head, checksum_all));
}

/* What the bytes of a head are, by its checksums and its bounds. */
enum head_state file_judge(const struct file_head *head, uint64_t size)
{
    uint64_t checksum =
        block_checksum(head, offsetof(struct file_head, checksum));

    if (memcmp(head->magic, magic, sizeof magic) != 0)
        return HEAD_NONE;
    if (head->checksum != checksum)
        return HEAD_DAMAGED;
    if (head->format > FILE_FORMAT)
        return HEAD_NEWER;
    if (head->format < FILE_FORMAT_FIRST || !is_sound(head)
        || (head->format != FILE_FORMAT_FIRST && !is_whole_all(head)))
        return HEAD_DAMAGED;
    return head->end > size ? HEAD_SHORT : HEAD_VALID;
}

/* Whether all bytes of the head are as they were written. */
static bool is_whole(enum head_state state)
{
    return state == HEAD_VALID || state == HEAD_SHORT;
}

/* Whether a whole head is of a newer state than another. Of the same state,
 * that of the newer format is (rule 13). */
static bool is_newer(const struct file_head *head,
                     const struct file_head *other)
{
    if (head->generation != other->generation)
        return head->generation > other->generation;
    return head->format > other->format;
}

/* Which of the copies counts. */
static unsigned better(const struct pair *pair)
{
    bool whole = is_whole(pair->state[1]);

    if (pair->state[0] == HEAD_NEWER || pair->state[1] == HEAD_NEWER)
        return pair->state[0] != HEAD_NEWER;
    if (is_whole(pair->state[0]))
        return whole && pair->copy[1].generation > pair->copy[0].generation;
    return whole
           || (pair->state[0] == HEAD_NONE && pair->state[1] != HEAD_NONE);
}

/* Whether nothing was ever written there. */
static bool is_zero(const struct file_head *head)
{
    static const struct file_head zero;

    return memcmp(head, &zero, sizeof zero) == 0;
}

/* Whether a head has but one copy since its file's creation was cut short. */
static bool is_half_created(const struct pair *pair, unsigned whole)
{
    return pair->copy[whole].generation == 0 && is_zero(&pair->copy[1 - whole]);
}

/* Tells the user of a head of which one copy is whole; of one of format 1,
 * which has but one, where that is not. */
static void warn(struct file *file, const struct pair *pair, unsigned which)
{
    uint64_t page = (uint64_t)which * PAGE_BYTES;
    bool first = is_whole(pair->state[0]);

    if (file->copies != 0 && first != is_whole(pair->state[1])
        && !is_half_created(pair, !first))
        error_set(&file->warning, VDBQ_CORRUPT,
                  "%s: a head at byte %llu is damaged; its copy is used, and "
                  "the next write mends it",
                  file->path,
                  (unsigned long long)(first ? file->copies + page : page));
    if (file->copies == 0 && !first && !is_zero(&pair->copy[0]))
        error_set(&file->warning, VDBQ_CORRUPT,
                  "%s: the head at byte %llu is damaged; what is read may be "
                  "older than the newest state",
                  file->path, (unsigned long long)page);
}

/* Judges the copies of a head. What is behind a head of format 1 is none of
 * it; one of a later format knows where the second copies are. */
static void judge_pair(const struct file *file, struct pair *pair)
{
    for (unsigned i = 0; i < 2; i++) {
        struct file_head *head = &pair->copy[i];
        bool first = head->format == FILE_FORMAT_FIRST;
        pair->state[i] = file_judge(head, file->size_bytes);
        if (!is_whole(pair->state[i]))
            continue;
        if (first ? i > 0 : head->copies != file->copies)
            pair->state[i] = HEAD_DAMAGED;
        if (first)
            memset((char *)head + FILE_HEAD_FIRST, 0,
                   sizeof *head - FILE_HEAD_FIRST);
    }
}

/* Of each pair the better one is used. */
static void take_pairs(struct file *file, const struct pair pairs[FILE_HEADS])
{
    error_clear(&file->warning);
    file->alike = file->copies != 0;
    for (unsigned i = 0; i < FILE_HEADS; i++) {
        struct pair pair = pairs[i];
        unsigned used;
        judge_pair(file, &pair);
        file->alike &=
            pair.state[0] == HEAD_VALID && pair.copy[0].format == FILE_FORMAT
            && memcmp(&pair.copy[0], &pair.copy[1], sizeof pair.copy[0]) == 0;
        used = better(&pair);
        file->first[i] = pairs[i].copy[0];
        file->heads[i] = pair.copy[used];
        file->states[i] = pair.state[used];
        warn(file, &pair, i);
    }
}

/* ------------------------------------------------------------ choosing -- */

uint64_t file_next_generation(const struct file *file)
{
    uint64_t newest = 0;

    for (unsigned i = 0; i < FILE_HEADS; i++)
        if (is_whole(file->states[i]) && file->heads[i].generation > newest)
            newest = file->heads[i].generation;
    return newest + 1;
}

/* The hint is only as good as the head: its checksum must fit. */
static enum vdbq_status say_newer(const struct file *file,
                                  const struct file_head *head,
                                  struct error *error)
{
    error_set(error, VDBQ_CORRUPT,
              "%s: the file has format %u, this vdbq reads up to %u",
              file->path, (unsigned)head->format, (unsigned)FILE_FORMAT);
    if (is_whole_all(head))
        error_hint(error, "it needs vdbq %u.%u or newer",
                   (unsigned)(head->version_read >> 16),
                   (unsigned)(head->version_read & 0xffff));
    return VDBQ_CORRUPT;
}

/* Says why there is no head at all. */
static enum vdbq_status say_none(const struct file *file, struct error *error)
{
    if (file->size_bytes == 0)
        return error_set(error, VDBQ_CORRUPT,
                         "%s: not a vdbq database: the file is empty",
                         file->path);
    if (file->states[0] == HEAD_NONE && file->states[1] == HEAD_NONE)
        return error_set(error, VDBQ_CORRUPT, "%s: not a vdbq database",
                         file->path);
    return error_set(error, VDBQ_CORRUPT,
                     "%s: no head of the file is whole (%llu bytes)",
                     file->path, (unsigned long long)file->size_bytes);
}

/* File rule 14. */
static enum vdbq_status check_readable(const struct file *file, unsigned which,
                                       struct error *error)
{
    assert(which < FILE_HEADS);
    const struct file_head *head = &file->heads[which];

    if ((head->features_read & ~known_features()) == 0)
        return VDBQ_OK;
    error_set(error, VDBQ_CORRUPT, "%s: needs vdbq %u.%u or newer", file->path,
              (unsigned)(head->version_read >> 16),
              (unsigned)(head->version_read & 0xffff));
    return error_hint(error, "this is vdbq %s", VDBQ_VERSION);
}

enum vdbq_status file_newest(const struct file *file, unsigned *newest,
                             struct error *error)
{
    bool whole[FILE_HEADS];

    for (unsigned i = 0; i < FILE_HEADS; i++) {
        if (file->states[i] == HEAD_NEWER)
            return say_newer(file, &file->heads[i], error);
        whole[i] = is_whole(file->states[i]);
    }
    if (!whole[0] && !whole[1])
        return say_none(file, error);
    *newest =
        whole[1] && (!whole[0] || is_newer(&file->heads[1], &file->heads[0]));
    return check_readable(file, *newest, error);
}

enum vdbq_status file_check_head(const struct file *file, unsigned which,
                                 struct error *error)
{
    assert(which < FILE_HEADS);
    if (file->states[which] == HEAD_SHORT)
        return error_set(error, VDBQ_CORRUPT,
                         "%s: the file is too short: "
                         "%llu bytes, head %u needs %llu",
                         file->path, (unsigned long long)file->size_bytes,
                         which, (unsigned long long)file->heads[which].end);
    return check_readable(file, which, error);
}

bool file_knows(const struct file *file, const struct file_head *head)
{
    uint64_t size;
    struct error ignored;

    return file_size(file, &size, &ignored) == VDBQ_OK && head->end <= size
           && is_sound(head) && (head->features_read & ~known_features()) == 0;
}

bool file_has_older(const struct file *file, unsigned newest)
{
    assert(newest < FILE_HEADS);
    const struct file_head *heads = file->heads;

    return file->states[1 - newest] == HEAD_VALID
           && heads[1 - newest].generation < heads[newest].generation;
}

enum vdbq_status file_check_writable(const struct file *file,
                                     struct error *error)
{
    const struct file_head *head = &file->heads[file->current];

    if ((head->features_write & ~(FILE_MARKS | FILE_AHEAD)) == 0)
        return VDBQ_OK;
    error_set(error, VDBQ_READ_ONLY,
              "%s: needs vdbq %u.%u or newer to be written", file->path,
              (unsigned)(head->version_write >> 16),
              (unsigned)(head->version_write & 0xffff));
    return error_hint(error, "this is vdbq %s, which can read it",
                      VDBQ_VERSION);
}
