/* SPDX-License-Identifier: MIT */
/*
 * Brings the words of each tablet to the device, once, and asks them there.
 */
#include "exec/dictionary/device_words.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "device/kernel.h"
#include "exec/launch/resident.h"

enum {
    WORDS_LEAST = HOSTILE(2, 1 << 16), /* fewer are asked sooner on the host */
    BUDGET_SHARE = 4 /* of what stays on the device: words are no more     */
};

/* The words of all tablets, there. */
struct asking {
    const struct words_asked *asked;
    struct words_part *parts;        /* those that have words           */
    struct resident_tablet **pinned; /* of each part; NULL: it is ours  */
    unsigned count;                  /* of both */
};

static const struct word_list *list_of(const struct words_asked *asked)
{
    return asked->base->apart[asked->input];
}

bool device_words_pays(const struct words_asked *asked)
{
    const struct run_place *place = asked->where->place;
    const struct word_list *list = list_of(asked);
    uint64_t bytes = 0;

    if (!place->takes || !device_has_kernels(place->device)
        || word_list_count(list) < WORDS_LEAST)
        return false;
    if (place->resident == NULL)
        return device_facts(place->device)->shares_memory;
    for (size_t i = 0; i < list->count; i++) {
        const struct dictionary *part = list->parts[i];
        if (part->count > 0)
            bytes += words_room(
                &(struct words){ part->ends, part->bytes, part->count });
    }
    return bytes <= resident_budget(place->resident) / BUDGET_SHARE;
}

/* ---------------------------------------------------------------- there -- */

/* What the words of a column of a tablet are known by on a device. */
static struct identity identity_of(const struct tablet_ref *tablet,
                                   unsigned column)
{
    struct {
        struct identity tablet;
        char what[8];
        uint64_t column;
    } known;

    memset(&known, 0, sizeof known);
    known.tablet = tablet->identity;
    memcpy(known.what, "words", sizeof "words");
    known.column = column;
    return identity_of_bytes(&known, sizeof known);
}

/* Room for the words of a tablet, on a device that keeps them, or for once. */
static enum vdbq_status make_room(struct asking *asking, size_t tablet,
                                  uint64_t size, struct error *error)
{
    const struct words_place *where = asking->asked->where;
    const struct tablet_ref *of = &where->table->tablets[tablet];
    struct words_part *part = &asking->parts[asking->count];
    enum vdbq_status status;

    if (where->place->resident == NULL)
        return device_memory_create(where->place->device, MEMORY_DEVICE, size,
                                    &part->memory, error);
    status = resident_pin_made(where->place->resident, where->table->id, of,
                               identity_of(of, asking->asked->column), size,
                               &asking->pinned[asking->count], error);
    if (status == VDBQ_OK)
        part->memory = asking->pinned[asking->count]->memory;
    return status;
}

/* Brings the words of a tablet to the device, unless they are there. */
static enum vdbq_status bring(struct asking *asking, size_t tablet,
                              const struct words *words, uint32_t first,
                              struct error *error)
{
    struct words_part *part = &asking->parts[asking->count];
    enum vdbq_status status =
        make_room(asking, tablet, words_room(words), error);
    struct resident_tablet *pinned = asking->pinned[asking->count];

    if (status != VDBQ_OK)
        return status;
    part->count = words->count;
    part->first = first;
    asking->count++;
    if (pinned != NULL && pinned->filled)
        return VDBQ_OK;
    status =
        words_write(words, part->memory, asking->asked->where->times, error);
    if (pinned != NULL)
        pinned->filled = status == VDBQ_OK;
    return status;
}

/* The dictionary of a list to which a number belongs. */
static const struct dictionary *part_with(const struct word_list *list,
                                          uint32_t number)
{
    size_t low = 0, high = list->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (list->firsts[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    assert(list->firsts[low] <= number && number < list->firsts[low + 1]);
    return list->parts[low];
}

/* Brings those of all tablets. */
static enum vdbq_status bring_all(struct asking *asking, struct error *error)
{
    const struct words_asked *asked = asking->asked;
    const struct dictionary_base *base = asked->base;
    enum vdbq_status status = VDBQ_OK;

    assert(base->morsels == asked->where->table->tablet_count);
    for (size_t i = 0; i < base->morsels && status == VDBQ_OK; i++) {
        const struct order_codes *codes =
            &base->order_codes[i * base->inputs + asked->input];
        if (codes->count == 0)
            continue;
        const struct dictionary *part =
            part_with(list_of(asked), codes->before);
        assert(part->count == codes->count);
        status = bring(asking, i,
                       &(struct words){ part->ends, part->bytes, part->count },
                       codes->before, error);
    }
    return status;
}

static void let_go(struct asking *asking)
{
    for (unsigned i = 0; i < asking->count; i++)
        if (asking->pinned[i] != NULL)
            resident_release(asking->asked->where->place->resident,
                             asking->pinned[i]);
        else
            device_memory_release(asking->parts[i].memory);
    memory_release(asking->parts);
    memory_release(asking->pinned);
}

/* ------------------------------------------------------------------ ask -- */

enum vdbq_status device_words_ask(const struct words_asked *asked,
                                  const struct words_pattern *pattern,
                                  uint32_t *bits, struct error *error)
{
    const struct words_place *where = asked->where;
    size_t most = asked->base->morsels + 1;
    struct asking asking = {
        .asked = asked,
        .parts = memory_zeroed(most, sizeof *asking.parts),
        .pinned = memory_zeroed(most, sizeof(struct resident_tablet *)),
    };
    enum vdbq_status status = asking.parts != NULL && asking.pinned != NULL
                                  ? bring_all(&asking, error)
                                  : error_no_memory(error);

    if (status == VDBQ_OK)
        status = words_match(
            where->place->device, asking.parts, asking.count, pattern, bits,
            ((uint64_t)word_list_count(list_of(asked)) + 31) / 32, where->times,
            error);
    let_go(&asking);
    return status;
}
