/* SPDX-License-Identifier: MIT */
/*
 * The grammar's symbols are letters. A choice of a small letter is a form,
 * whose letters stand for symbols and whose other signs for themselves; one
 * of a capital is a word. The text is made in blocks, each of which has random
 * numbers of its own and begins with a sentence.
 */
#include "tpch_text.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workers.h"

enum {
    BLOCK_BYTES = 1 << 20,
    SENTENCE_BYTES = 256, /* more than any has                     */
    WEIGHTS_MAX = 512     /* of all choices of a symbol together   */
};

struct choice {
    const char *text;
    unsigned weight;
};

/* clang-format off */
static const struct choice sentences[] = {
    { "n v.", 3 }, { "n v p.", 3 }, { "n v n.", 3 }, { "n p v n.", 1 },
    { "n p v p.", 1 }
};
static const struct choice noun_phrases[] = {
    { "N", 10 }, { "J N", 20 }, { "J, J N", 10 }, { "D J N", 50 }
};
static const struct choice verb_phrases[] = {
    { "V", 30 }, { "X V", 1 }, { "V D", 40 }, { "X V D", 1 }
};
static const struct choice prepositional_phrases[] = { { "P the n", 1 } };
static const struct choice nouns[] = {
    { "packages", 40 }, { "requests", 40 }, { "accounts", 40 },
    { "deposits", 40 }, { "foxes", 20 }, { "ideas", 20 },
    { "theodolites", 20 }, { "pinto beans", 20 }, { "instructions", 20 },
    { "dependencies", 10 }, { "excuses", 10 }, { "platelets", 10 },
    { "asymptotes", 10 }, { "courts", 5 }, { "dolphins", 5 },
    { "multipliers", 1 }, { "sauternes", 1 }, { "warthogs", 1 },
    { "frets", 1 }, { "dinos", 1 }, { "attainments", 1 }, { "somas", 1 },
    { "Tiresias", 1 }, { "patterns", 1 }, { "forges", 1 }, { "braids", 1 },
    { "frays", 1 }, { "warhorses", 1 }, { "dugouts", 1 }, { "notornis", 1 },
    { "epitaphs", 1 }, { "pearls", 1 }, { "tithes", 1 }, { "waters", 1 },
    { "orbits", 1 }, { "gifts", 1 }, { "sheaves", 1 }, { "depths", 1 },
    { "sentiments", 1 }, { "decoys", 1 }, { "realms", 1 }, { "pains", 1 },
    { "grouches", 1 }, { "escapades", 1 }, { "hockey players", 1 }
};
static const struct choice verbs[] = {
    { "sleep", 20 }, { "wake", 20 }, { "are", 20 }, { "cajole", 20 },
    { "haggle", 20 }, { "nag", 10 }, { "use", 10 }, { "boost", 10 },
    { "affix", 5 }, { "detect", 5 }, { "integrate", 5 }, { "maintain", 1 },
    { "nod", 1 }, { "was", 1 }, { "lose", 1 }, { "sublate", 1 },
    { "solve", 1 }, { "thrash", 1 }, { "promise", 1 }, { "engage", 1 },
    { "hinder", 1 }, { "print", 1 }, { "x-ray", 1 }, { "breach", 1 },
    { "eat", 1 }, { "grow", 1 }, { "impress", 1 }, { "mold", 1 },
    { "poach", 1 }, { "serve", 1 }, { "run", 1 }, { "dazzle", 1 },
    { "snooze", 1 }, { "doze", 1 }, { "unwind", 1 }, { "kindle", 1 },
    { "play", 1 }, { "hang", 1 }, { "believe", 1 }, { "doubt", 1 }
};
static const struct choice adjectives[] = {
    { "special", 20 }, { "pending", 20 }, { "unusual", 20 },
    { "express", 20 }, { "furious", 1 }, { "sly", 1 }, { "careful", 1 },
    { "blithe", 1 }, { "quick", 1 }, { "fluffy", 1 }, { "slow", 1 },
    { "quiet", 1 }, { "ruthless", 1 }, { "thin", 1 }, { "close", 1 },
    { "dogged", 1 }, { "daring", 1 }, { "brave", 1 }, { "stealthy", 1 },
    { "permanent", 1 }, { "enticing", 1 }, { "idle", 1 }, { "busy", 1 },
    { "regular", 50 }, { "final", 40 }, { "ironic", 40 }, { "even", 30 },
    { "bold", 20 }, { "silent", 10 }
};
static const struct choice adverbs[] = {
    { "sometimes", 1 }, { "always", 1 }, { "never", 1 }, { "furiously", 50 },
    { "slyly", 50 }, { "carefully", 50 }, { "blithely", 40 },
    { "quickly", 30 }, { "fluffily", 20 }, { "slowly", 1 }, { "quietly", 1 },
    { "ruthlessly", 1 }, { "thinly", 1 }, { "closely", 1 },
    { "doggedly", 1 }, { "daringly", 1 }, { "bravely", 1 },
    { "stealthily", 1 }, { "permanently", 1 }, { "enticingly", 1 },
    { "idly", 1 }, { "busily", 1 }, { "regularly", 1 }, { "finally", 1 },
    { "ironically", 1 }, { "evenly", 1 }, { "boldly", 1 }, { "silently", 1 }
};
static const struct choice prepositions[] = {
    { "about", 50 }, { "above", 50 }, { "according to", 50 },
    { "across", 50 }, { "after", 50 }, { "against", 40 }, { "along", 40 },
    { "alongside of", 30 }, { "among", 30 }, { "around", 20 }, { "at", 10 },
    { "atop", 1 }, { "before", 1 }, { "behind", 1 }, { "beneath", 1 },
    { "beside", 1 }, { "besides", 1 }, { "between", 1 }, { "beyond", 1 },
    { "by", 1 }, { "despite", 1 }, { "during", 1 }, { "except", 1 },
    { "for", 1 }, { "from", 1 }, { "in place of", 1 }, { "inside", 1 },
    { "instead of", 1 }, { "into", 1 }, { "near", 1 }, { "of", 1 },
    { "on", 1 }, { "outside", 1 }, { "over", 1 }, { "past", 1 },
    { "since", 1 }, { "through", 1 }, { "throughout", 1 }, { "to", 1 },
    { "toward", 1 }, { "under", 1 }, { "until", 1 }, { "up", 1 },
    { "upon", 1 }, { "without", 1 }, { "with", 1 }, { "within", 1 }
};
static const struct choice auxiliaries[] = {
    { "do", 1 }, { "may", 1 }, { "might", 1 }, { "shall", 1 }, { "will", 1 },
    { "would", 1 }, { "can", 1 }, { "could", 1 }, { "should", 1 },
    { "ought to", 1 }, { "must", 1 }, { "will have to", 1 },
    { "shall have to", 1 }, { "could have to", 1 }, { "should have to", 1 },
    { "must have to", 1 }, { "need to", 1 }, { "try to", 1 }
};
static const struct choice terminators[] = {
    { ".", 50 }, { ";", 1 }, { ":", 1 }, { "?", 1 }, { "!", 1 }, { "--", 1 }
};

#define CHOICES(name) name, sizeof name / sizeof name[0]
static const struct symbol {
    char letter;
    const struct choice *choices;
    unsigned count;
} symbols[] = {
    { 's', CHOICES(sentences) },   { 'n', CHOICES(noun_phrases) },
    { 'v', CHOICES(verb_phrases) }, { 'p', CHOICES(prepositional_phrases) },
    { 'N', CHOICES(nouns) },       { 'V', CHOICES(verbs) },
    { 'J', CHOICES(adjectives) },  { 'D', CHOICES(adverbs) },
    { 'P', CHOICES(prepositions) }, { 'X', CHOICES(auxiliaries) },
    { '.', CHOICES(terminators) }
};
/* clang-format on */

/* A symbol's texts, each as often as its weight says. */
struct drawn {
    unsigned weights; /* 0: no symbol */
    const char *text[WEIGHTS_MAX];
};

/* The work of all threads. */
struct making {
    struct tpch_text *text;
    uint64_t seed;
    atomic_size_t next;      /* block that nobody makes yet */
    struct drawn drawn[128]; /* by letter                   */
};

static void spread_weights(struct making *making)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        const struct symbol *symbol = &symbols[i];
        struct drawn *drawn = &making->drawn[(unsigned char)symbol->letter];
        for (unsigned k = 0; k < symbol->count; k++)
            for (unsigned n = 0; n < symbol->choices[k].weight; n++)
                drawn->text[drawn->weights++] = symbol->choices[k].text;
    }
}

static char *write_symbol(const struct making *making, struct random *random,
                          char letter, char *to);

/* Returns where what it wrote ends. */
static char *write_form(const struct making *making, struct random *random,
                        const char *form, char *to)
{
    for (; *form; form++) {
        const struct drawn *drawn = &making->drawn[(unsigned char)*form];
        if (drawn->weights > 0)
            to = write_symbol(making, random, *form, to);
        else
            *to++ = *form;
    }
    return to;
}

static char *write_symbol(const struct making *making, struct random *random,
                          char letter, char *to)
{
    const struct drawn *drawn = &making->drawn[(unsigned char)letter];
    const char *text = drawn->text[random_below(random, drawn->weights)];
    if (letter >= 'a')
        return write_form(making, random, text, to);
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

/* Sentences, the last of which is cut off. */
static void make_block(const struct making *making, size_t block)
{
    static const struct output_table stream = { .name = "text" };
    struct random random = random_start(making->seed, &stream, block);
    size_t first = block * BLOCK_BYTES, left = making->text->size - first;
    char sentence[SENTENCE_BYTES], *to = making->text->bytes + first;
    left = left < BLOCK_BYTES ? left : BLOCK_BYTES;
    while (left > 0) {
        char *end = write_symbol(making, &random, 's', sentence);
        *end++ = ' ';
        size_t size = (size_t)(end - sentence);
        size = size < left ? size : left;
        memcpy(to, sentence, size);
        to += size;
        left -= size;
    }
}

static void *make_blocks(void *context)
{
    struct making *making = context;
    size_t block;
    while (block = atomic_fetch_add(&making->next, 1),
           block * BLOCK_BYTES < making->text->size)
        make_block(making, block);
    return NULL;
}

int tpch_text_make(struct tpch_text *text, size_t size, uint64_t seed,
                   unsigned threads)
{
    struct making *making = calloc(1, sizeof *making);
    struct workers workers;
    bool good = false;
    *text = (struct tpch_text){ malloc(size), size };
    if (text->bytes && making) {
        making->text = text;
        making->seed = seed;
        spread_weights(making);
        good = workers_start(&workers, threads, make_blocks, making);
        if (good)
            workers_join(&workers);
    } else {
        fputs("generate: out of memory\n", stderr);
    }
    free(making);
    return good ? 0 : 1;
}

void tpch_text_finish(struct tpch_text *text)
{
    free(text->bytes);
    *text = (struct tpch_text){ 0 };
}

struct vdbq_text tpch_text_cut(const struct tpch_text *text,
                               struct random *random, unsigned least,
                               unsigned most)
{
    size_t length = (size_t)random_between(random, least, most);
    size_t first = random_below(random, (uint32_t)(text->size - length));
    return (struct vdbq_text){ text->bytes + first, length };
}
