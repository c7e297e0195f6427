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

/* Nanoseconds. */
enum {
    ROW_NS = 25,  /* of a row                         */
    TEXT_NS = 4,  /* ... of each of its texts         */
    WORD_NS = 500 /* of a word, sent, taken, in order */
};

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

/* The instruction that loads the text that a scan gives as its column `number`; NULL:
 * that is computed. */
static const struct instruction *load_of(const struct step *step,
                                         unsigned number)
{
    const struct program *program = &step->scan.program;
    const struct program_part part = program_part(program);
    int register_ = program_result(program, number).register_;
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct instruction *in = program_at(program, pc);
        if (in->a == register_
            && (in->op == OP_COLUMN_WORD || in->op == OP_COLUMN_AT_WORD))
            return in;
    }
    return NULL;
}

/* The words of a column of the catalogue's table that a program has. */
static double table_words(const struct catalogue *catalogue,
                          const struct program_table *has, int column)
{
    const struct table *table = catalogue_table_id(catalogue, has->id);
    if (table == NULL)
        return -1;
    if (table->key != NO_KEY && column >= (int)table->key)
        column++;
    return column < (int)table->column_count ? count_words(table, column) : -1;
}

/* About how many different texts the rows of a step have in a column, at most: no
 * more than the rows, or the table, that it comes from, through scans. */
static double words_most(const struct steps *steps,
                         const struct catalogue *catalogue, int number,
                         unsigned column)
{
    const struct step *step = steps_at(steps, number);
    double most = step->rows;
    while (step->kind == STEP_SCAN) {
        const struct instruction *load = load_of(step, column);
        if (load == NULL)
            return most;
        const struct program_table *from =
            vector_at(&step->scan.program.tables, (size_t)load->c);
        if (from->input == 0) {
            double words = table_words(catalogue, from, load->b);
            return words >= 0 ? fmin(words, most) : most;
        }
        column = (unsigned)load->b;
        step =
            steps_at(steps, VECTOR_ITEMS(&step->inputs, int)[from->input - 1]);
        most = step->rows >= 0 ? fmin(most, step->rows) : most;
    }
    return most;
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
            ns += step->rows * TEXT_NS
                  + WORD_NS * words_most(steps, catalogue, number, i);
    memory_release(reads);
    return ns;
}
