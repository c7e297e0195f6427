/* SPDX-License-Identifier: MIT */
/*
 * The words of a run. A program computes with numbers of words; here they are
 * collected: those of the columns that it reads, of its constants and
 * parameters, and of its lookups' results, in the order of its instructions.
 * From them come the values of constants and parameters, the lookup tables,
 * and the order codes: which number each code of a column stands for.
 *
 * Words of an input that are only looked up are none of the run's: they keep
 * their numbers in a list of their own (word_list.h), and so do the tables of
 * what the calls give for them. Whatever else they are, in no order and few or
 * many, no other word moves for their sake, and nobody sorts them. So do words
 * that are shown: results have them, of which nobody asks more than the texts.
 * The same goes for many words that are only compared with constants: the number
 * of such a word is its place among these.
 *
 * Dictionaries come from where rows come from: a table's tablets, the morsels
 * of another step's rows, build rows. Where a run adds no word to those of one
 * dictionary, its codes are the numbers and nothing is computed.
 */
#ifndef VDBQ_EXEC_RUN_DICTIONARY_H
#define VDBQ_EXEC_RUN_DICTIONARY_H

#include "data/tablet/dictionary.h"
#include "exec/dictionary/word_list.h"
#include "exec/launch/control.h"
#include "program/parameter.h"
#include "program/steps/texts_use.h"

/* Words of all dictionaries together. Never changes; shared by counting. */
struct dictionary_base {
    unsigned holders; /* dictionary_base_release() frees it at 0 */
    /* all entries of all dictionaries, sorted, but of those that are apart;
     * held */
    struct dictionary *dictionary;
    struct word_list **apart; /* of input f: its words, whose dictionaries are
                                 held; NULL: `dictionary` has them        */
    bool *shown; /* whether the words of input f, which are apart, are shown:
                    their numbers are the list's, in all launches */
    unsigned inputs; /* column inputs of the program */
    size_t morsels;  /* of the table's tablets */
    bool *left_out; /* of morsel c: its words are not here, and none of its rows
                       is read; NULL: all are here                       */
    bool *is_text;  /* whether input f has words                   */
    /* of input f in morsel c: [c * inputs + f]; numbers of its words */
    struct order_codes *order_codes;
    uint32_t *counts;   /* words of the dictionaries: likewise        */
    struct arena arena; /* of all arrays */
    /* whose dictionaries and lists these are, held: dictionary_base_view();
     * NULL: its own */
    struct dictionary_base *of;
};

struct dictionary_base_params {
    /* [c * inputs + f]: the words of input f in morsel c; NULL where it is no
     * text. They may be released afterwards. */
    struct dictionary *const *dictionaries;
    const bool *left_out; /* of morsel c: it has no dictionaries; or NULL */
    size_t morsels;
    unsigned inputs;
    const enum words_use *uses; /* of input f: dictionary_base_uses(), or as
                                   program_pack() says where it is not known what
                                   is asked of results; not used where there are
                                   no inputs                              */
    unsigned threads;           /* that join them at most; 0: one */
};
/* What the words of each input are for, where result i of the program is asked for
 * texts[i] (enum texts_use): WORDS_SHOWN, too. In the arena; NULL: no memory. */
const enum words_use *dictionary_base_uses(const struct program_pack *pack,
                                           const uint8_t *texts,
                                           struct arena *arena);
/* NULL: no memory. */
struct dictionary_base *
dictionary_base_make(const struct dictionary_base_params *params);
/* What a program asks of words that are there already. */
struct dictionary_view {
    unsigned inputs; /* of the program */
    const int *from; /* input f is the base's input from[f]; below 0: no text */
    const enum words_use *uses; /* of input f */
};
/* Whether the base has what dictionary_base_make() would make of the dictionaries
 * of these inputs for these uses: other words that are joined would be in the way.
 */
bool dictionary_base_fits(const struct dictionary_base *base,
                          const struct dictionary_view *view);
/* The same words for the inputs of a view that fits. NULL: no memory. */
struct dictionary_base *
dictionary_base_view(struct dictionary_base *base,
                     const struct dictionary_view *view);
struct dictionary_base *dictionary_base_hold(struct dictionary_base *base);
void dictionary_base_release(struct dictionary_base *base); /* accepts NULL */

struct run_dictionary {
    /* of the run: what Result's texts are that are not shown */
    struct dictionary *dictionary;
    struct run_values values; /* for launcher_params                        */
    /* as those of dictionary_base */
    struct order_codes *order_codes;
    bool has_order_codes; /* else every code is its number */
    /* those that words which are apart are compared with; or NULL */
    struct dictionary *constants;
    /* one a column of build rows */
    struct order_codes *build_order_codes;
    struct dictionary_base *base; /* the table's dictionaries; held */
    const int *shown_inputs;      /* as the pack's; NULL: there are none */
    struct arena arena;           /* of all arrays */
};

/* Whether a program leaves anything open, so that a run needs a word table:
 * texts, parameters, lookups, or columns of words. */
bool run_dictionary_needed(const struct program *program);
/* Whether it leaves nothing open but parameters that are numbers. */
bool run_dictionary_no_words(const struct program *program);

struct words_place;

struct run_dictionary_params {
    const struct program *program; /* checked                           */
    struct dictionary_base *base;  /* held while the table lives; NULL: the
                                      program has no words, and the table
                                      is the values of parameters alone */
    struct dictionary *const *build_side; /* of columns of build rows; NULL: one
                                           that is no text                   */
    unsigned build_count;                 /* of `inner` */
    const struct parameter *parameters;   /* of the run */
    unsigned parameter_count; /* those behind are NULL             */
    unsigned threads;         /* that compute functions at most; 0: one */
    const struct words_place *where; /* where words of the base may be asked;
                                        NULL: on the host                  */
};
/* Fails with PROGRAM (a call that is none), NO_MEMORY. run_dictionary_finish()
 * is due whatever it returns. */
enum vdbq_status run_dictionary_init(struct run_dictionary *table,
                                     const struct run_dictionary_params *params,
                                     struct error *error);
/* Accepts a zeroed one. */
void run_dictionary_finish(struct run_dictionary *table);

/* The words of result i, a text. Of the run. */
struct dictionary *run_dictionary_words(const struct run_dictionary *table,
                                        unsigned result);

/* The least and the greatest number of the words that an input has in a morsel;
 * unchanged where it has none. */
void run_dictionary_range(const struct run_dictionary *table, size_t morsel,
                          unsigned input, int64_t *low, int64_t *high);

/* The order codes of the inputs in a morsel, for launcher_request. */
const struct order_codes *
run_dictionary_codes(const struct run_dictionary *table, size_t morsel);

#endif
