/* SPDX-License-Identifier: MIT */
/*
 * A value is known by the hash of what runs compare: of a number by that of what it
 * is ordered by, of a text by that of its bytes, since its code is another one in
 * each tablet. Of a tablet with an edit a sieve says what its base lacks.
 */
#include "exec/seek/seek_sieve.h"

#include "base/text.h"
#include "base/threads/stop.h"
#include "cl/hash.h"
#include "data/index/index_values.h"

enum { WORD_BYTES = 64 /* take as long as a number */ };

static uint64_t text_number(struct vdbq_text text)
{
    return hash_number(text_hash(text.bytes, text.length));
}

/* ------------------------------------------------------------------ ask -- */

/* The hashes of a list of one column, none of texts' beginnings. */
static unsigned list_hashes(const struct seek_terms *terms, uint64_t *hashes)
{
    if (terms->step->list_columns != 1 || terms->step->list_starts
        || terms->list_count > RUN_ASKED_MOST)
        return 0;
    for (uint32_t i = 0; i < terms->list_count; i++) {
        if (terms->numbers != NULL && !terms->numbers[i].exact)
            return 0;
        hashes[i] = terms->texts != NULL ? text_number(terms->texts[i])
                                         : hash_number(terms->numbers[i].value);
    }
    return terms->list_count;
}

/* The hashes of what the first key is to be; 0: other things are asked of it. */
static unsigned asked_hashes(const struct seek_terms *terms, uint64_t *hashes)
{
    const struct seek_constant *first = &terms->equals[0];

    if (terms->step->equal_count == 0)
        return list_hashes(terms, hashes);
    if (seek_terms_is_text(terms, 0))
        hashes[0] = text_number(first->text);
    else if (first->value.exact)
        hashes[0] = hash_number(first->value.value);
    else
        return 0;
    return 1;
}

uint64_t seek_sieve_ask(const struct seek_work *work)
{
    uint64_t hashes[RUN_ASKED_MOST];
    unsigned count =
        work->place.runs != NULL
                && work->terms.table->tablet_count >= RUN_SIEVED_TABLETS
            ? asked_hashes(&work->terms, hashes)
            : 0;

    return count > 0 ? run_cache_ask(work->place.runs, hashes, count) : 0;
}

bool seek_sieve_lacks(const struct seek_work *work,
                      const struct tablet_ref *ref)
{
    struct tablet_ref named = { 0 };
    struct run_want want = { .tablet = &named,
                             .columns = work->terms.step->keys,
                             .count = work->terms.step->key_count };

    if (work->asked == 0)
        return false;
    named.identity =
        index_identity(work->terms.index, tablet_base(ref).identity);
    return run_cache_lacks(work->place.runs, &want, work->asked);
}

/* ---------------------------------------------------------------- sieve -- */

/* The words of a job's tablet, which may be long. */
struct of_words {
    const void *block;
    unsigned column;
    uint64_t since; /* for stop_after() */
};

/* A value is the number of a word, in its lower bits. */
static bool word_hash(void *context, uint64_t value, uint64_t *hash)
{
    struct of_words *of = context;
    struct vdbq_text word = tablet_word(of->block, of->column, (uint32_t)value);

    *hash = text_number(word);
    return !stop_after(&of->since, 1 + word.length / WORD_BYTES);
}

void seek_sieve_note(const struct seek_work *work, const struct seek_job *job)
{
    struct run_want want = seek_want(work, job);
    bool is_text = seek_terms_is_text(&work->terms, 0);
    struct of_words of = { .column = work->terms.step->keys[0] };

    if (work->asked == 0 || job->run == NULL || job->run == job->made
        || !job->vain)
        return;
    if (is_text)
        of.block = device_memory_host(job->slot->memory);
    run_cache_vain(work->place.runs, &want, work->place.runs_bytes,
                   is_text ? word_hash : run_hash_number, &of);
}
