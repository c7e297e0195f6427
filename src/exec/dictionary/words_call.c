/* SPDX-License-Identifier: MIT */
#include "exec/dictionary/words_call.h"

#include "base/threads/stop.h"

enum {
    AT_ONCE_WORDS = 1 << 15, /* computed at most between two looks at a stop */
    AT_ONCE_BYTES = 1 << 23  /* ... of so many bytes, but for a single one   */
};

/* The end of the words from `first` on, up to `end`, that are computed at once. */
static uint32_t at_once_end(const struct dictionary *dictionary, uint32_t first,
                            uint32_t end)
{
    uint32_t start = first > 0 ? dictionary->ends[first - 1] : 0;
    uint32_t count = end - first < AT_ONCE_WORDS ? end - first : AT_ONCE_WORDS;
    while (count > 1
           && dictionary->ends[first + count - 1] - start > AT_ONCE_BYTES)
        count /= 2;
    return first + count;
}

void words_call(const struct function_lookup *lookup,
                const struct dictionary *dictionary, uint32_t first,
                uint32_t end, void *values)
{
    struct function_words words = { .bytes = dictionary->bytes,
                                    .ends = dictionary->ends,
                                    .first = first };
    for (; words.first < end && !stop_asked(); words.first = words.end) {
        words.end = at_once_end(dictionary, words.first, end);
        function_words_call(lookup, &words, values);
    }
}
