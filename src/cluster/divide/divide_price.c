/* SPDX-License-Identifier: MIT */
/*
 * Prices of rows on their way: see divide_price.h. A word travels once to a rank,
 * and is gathered there and put in order; where rows have few different ones,
 * that is nothing beside the rows.
 */
#include "cluster/divide/divide_price.h"

#include <assert.h>
#include <math.h>

#include "cluster/divide/divide.h"
#include "program/loads.h"

/* Nanoseconds. */
enum {
    ROW_NS = 25,  /* of a row                         */
    TEXT_NS = 4,  /* ... of each of its texts         */
    WORD_NS = 500 /* of a word, sent, taken, in order */
};

/* The column of its table that a scan gives as its column `number`; -1: it is
 * computed, or nobody knows. */
static int scanned_column(const struct table *table, const struct step *step,
                          unsigned number)
{
    const struct program *program = &step->scan.program;
    if (program->tables.count > 1)
        return -1;
    int register_ = program_result(program, number).register_;
    int column = program_loaded_column(program, false, register_);
    if (column >= 0 && table->key != NO_KEY && column >= (int)table->key)
        column++;
    return column < (int)table->column_count ? column : -1;
}

/* About how many different texts a table has in a column, at most: those that
 * tablets share are counted in each. Below 0: nobody counted. */
static double count_words(const struct table *table, int column)
{
    double words = 0;
    assert(column >= 0 && column < (int)table->column_count);
    for (size_t i = 0; i < table->tablet_count; i++) {
        const struct column_facts *facts = table->tablets[i].facts;
        if (facts == NULL
            || (facts[column].maximum == 0 && !facts[column].empty))
            return -1;
        words += (double)facts[column].maximum;
    }
    return words;
}

/* What the words cost that the rows of a step have in a column. */
static double words_ns(const struct catalogue *catalogue,
                       const struct step *step, unsigned column)
{
    const struct table *table = divide_scanned(catalogue, step);
    int of_table = table != NULL ? scanned_column(table, step, column) : -1;
    double words = of_table >= 0 ? count_words(table, of_table) : -1;
    return WORD_NS * (words >= 0 ? fmin(words, step->rows) : step->rows);
}

double divide_move_ns(const struct steps *steps,
                      const struct catalogue *catalogue, int number)
{
    const struct step *step = steps_at(steps, number);
    bool *reads = memory_zeroed(step->column_count + 1, sizeof *reads);
    double ns = step->rows * ROW_NS;
    if (step->rows < 0) {
        memory_release(reads);
        return -1;
    }
    if (reads != NULL)
        steps_reads(steps, number, reads);
    for (unsigned i = 0; i < step->column_count; i++)
        if ((reads == NULL || reads[i]) && step->columns[i].type == VDBQ_TEXT)
            ns += step->rows * TEXT_NS + words_ns(catalogue, step, i);
    memory_release(reads);
    return ns;
}
