/* SPDX-License-Identifier: MIT */
/*
 * A value is known by the hash of what runs compare: of a number by that of what it
 * is ordered by, of a text by that of its bytes, since its code is another one in
 * each tablet. A tablet with an edit has other rows than its run, and is never passed
 * over.
 */
#include "exec/seek/seek_sieve.h"

#include "base/hostile.h"
#include "base/text.h"
#include "cl/hash.h"
#include "data/index/index_values.h"

enum { TABLETS_LEAST = HOSTILE(1, 8) };

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

bool seek_sieve_ask(const struct seek_work *work)
{
    uint64_t hashes[RUN_ASKED_MOST];
    unsigned count = work->place.runs != NULL
                             && work->terms.table->tablet_count >= TABLETS_LEAST
                         ? asked_hashes(&work->terms, hashes)
                         : 0;

    if (count > 0)
        run_cache_ask(work->place.runs, hashes, count);
    return count > 0;
}

bool seek_sieve_passes(const struct seek_work *work,
                       const struct tablet_ref *ref)
{
    struct tablet_ref named = { .identity = index_identity(work->terms.index,
                                                           ref->identity) };
    struct run_want want = { .tablet = &named,
                             .columns = work->terms.step->keys,
                             .count = work->terms.step->key_count };

    return ref->edit == NULL && run_cache_lacks(work->place.runs, &want);
}

/* ---------------------------------------------------------------- sieve -- */

/* The hash of a code of a run's first column, which is not 0: of a text the value is
 * the number of a word, in its lower bits. */
static uint64_t code_hash(const struct seek_work *work,
                          const struct seek_job *job, uint64_t code)
{
    uint64_t value = run_value_of(&job->run->columns[0], code);

    if (!seek_terms_is_text(&work->terms, 0))
        return hash_number(value);
    return text_number(tablet_word(device_memory_host(job->slot->memory),
                                   work->terms.step->keys[0], (uint32_t)value));
}

/* Puts each value of the run once. */
static void add_values(const struct seek_work *work, const struct seek_job *job,
                       struct sieve *sieve, unsigned set)
{
    const struct run *run = job->run;
    unsigned behind = run->key_bits - run->columns[0].bits;
    uint64_t last = 0;

    for (uint32_t place = 0; place < run->rows; place++) {
        uint64_t code = run_key(run, place) >> behind;
        if (code != last)
            sieve_add(sieve, set, code_hash(work, job, code));
        last = code;
    }
}

void seek_sieve_note(const struct seek_work *work, const struct seek_job *job)
{
    struct run_want want = seek_want(work, job);
    struct sieve *sieve;
    unsigned set;

    if (job->over != NULL || job->run == NULL || job->run == job->made
        || job->run->keys == NULL || job->found.count > 0
        || !run_cache_sieves(work->place.runs, &want, job->run->rows))
        return;
    sieve = run_cache_sieve(work->place.runs, &want, job->run->rows,
                            work->place.runs_bytes, &set);
    if (sieve != NULL)
        add_values(work, job, sieve, set);
}
