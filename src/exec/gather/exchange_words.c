/* SPDX-License-Identifier: MIT */
/*
 * Words of rows on their way: see exchange_words.h. A message has the number of
 * the column, how many words the sender has there, and of some of them the
 * numbers, the ends and the bytes.
 */
#include "exec/gather/exchange_words.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/paged.h"
#include "exec/dictionary/dictionary_table.h"

enum { MESSAGE_BYTES = HOSTILE(8, 1 << 20) }; /* of words, about */

/* -------------------------------------------------------- init, finish -- */

bool exchange_words_travel(const struct exchange_words *words, unsigned column)
{
    assert(column < words->columns);
    return words->stream->reads[column]
           && words->stream->step->columns[column].type == VDBQ_TEXT;
}

enum vdbq_status exchange_words_init(struct exchange_words *words,
                                     const struct stream *stream,
                                     uint64_t block_rows, struct error *error)
{
    unsigned columns = stream->inputs[0]->step->column_count;
    unsigned ranks = stream->params->ranks->count;
    size_t all = (size_t)ranks * columns;
    assert(columns <= stream->step->column_count);
    *words = (struct exchange_words){
        .stream = stream,
        .ranks = ranks,
        .columns = columns,
        .sent = memory_zeroed(all + 1, sizeof *words->sent),
        .numbers = memory_zeroed(all + 1, sizeof *words->numbers),
        .gathers = memory_zeroed(columns + 1, sizeof *words->gathers),
        .joined = memory_zeroed(columns + 1, sizeof *words->joined),
        .fresh = memory_zeroed(block_rows, sizeof *words->fresh),
    };
    if (!words->sent || !words->numbers || !words->gathers || !words->joined
        || !words->fresh)
        return error_no_memory(error);
    for (unsigned i = 0; i < columns; i++)
        gather_init(&words->gathers[i]);
    return VDBQ_OK;
}

/* What was sent is of use no more. */
static void forget_sent(struct exchange_words *words)
{
    for (size_t i = 0;
         words->sent != NULL && i < (size_t)words->ranks * words->columns; i++)
        paged_release(words->sent[i]);
    memory_release(words->sent);
    memory_release(words->fresh);
    words->sent = NULL;
    words->fresh = NULL;
}

void exchange_words_finish(struct exchange_words *words)
{
    size_t all = (size_t)words->ranks * words->columns;
    forget_sent(words);
    for (size_t i = 0; words->numbers != NULL && i < all; i++)
        paged_release(words->numbers[i].numbers);
    for (unsigned i = 0; words->gathers != NULL && i < words->columns; i++)
        gather_finish(&words->gathers[i]);
    for (unsigned i = 0; words->joined != NULL && i < words->columns; i++)
        dictionary_release(words->joined[i]);
    memory_release(words->numbers);
    memory_release(words->gathers);
    memory_release(words->joined);
    *words = (struct exchange_words){ 0 };
}

/* ---------------------------------------------------------------- send -- */

static struct dictionary *own_words(const struct exchange_words *words,
                                    unsigned column)
{
    return stream_dictionary(words->stream->inputs[0], column);
}

/* The bits of a rank's words; NULL: no memory. */
static uint8_t *sent_bits(struct exchange_words *words, unsigned to,
                          unsigned column, uint32_t count)
{
    uint8_t **bits = &words->sent[to * words->columns + column];
    assert(to < words->ranks && column < words->columns);
    if (*bits == NULL)
        *bits = paged_zeroed(count / 8 + 1);
    return *bits;
}

/* Whether a word is sent the first time, which is noted. */
static bool is_fresh(uint8_t *bits, uint32_t number)
{
    uint8_t bit = (uint8_t)(1U << number % 8);
    bool fresh = (bits[number / 8] & bit) == 0;
    bits[number / 8] |= bit;
    return fresh;
}

/* Lists words that a rank lacks of rows [*at, ...): how many. `*bytes`: of them. */
static uint32_t list_fresh(struct exchange_words *words,
                           const struct exchange_pick *pick,
                           const struct dictionary *own, uint8_t *bits,
                           uint64_t *at, uint64_t *bytes)
{
    const uint32_t *values = pick->vector->values;
    const uint8_t *nulls = pick->vector->nulls;
    uint32_t count = 0;
    *bytes = 0;
    for (; *at < pick->count && *bytes < MESSAGE_BYTES; ++*at) {
        uint32_t row = pick->rows[*at], number = values[row];
        if ((nulls != NULL && nulls[row] != 0) || number >= own->count
            || !is_fresh(bits, number))
            continue;
        words->fresh[count++] = number;
        *bytes += dictionary_text(own, number).length;
    }
    return count;
}

/* Writes the bytes of listed words behind their ends. */
static void put_texts(const struct exchange_words *words,
                      const struct dictionary *own, uint32_t count,
                      uint64_t bytes, struct message_writer *writer)
{
    uint32_t *ends = message_put(writer, NULL, count * sizeof *ends);
    char *to = message_put(writer, NULL, bytes);
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct vdbq_text text = dictionary_text(own, words->fresh[i]);
        if (text.length > 0)
            memcpy(to + at, text.bytes, text.length);
        at += (uint32_t)text.length;
        ends[i] = at;
    }
    assert(at == bytes);
}

enum vdbq_status exchange_words_pack(struct exchange_words *words,
                                     const struct exchange_pick *pick,
                                     uint64_t *at,
                                     struct message_writer *writer,
                                     struct error *error)
{
    const struct dictionary *own = own_words(words, pick->column);
    uint64_t bytes, first = *at;
    *writer = (struct message_writer){ 0 };
    *at = pick->count;
    if (own == NULL || own->count == 0)
        return VDBQ_OK;
    uint8_t *bits = sent_bits(words, pick->to, pick->column, own->count);
    if (bits == NULL)
        return error_no_memory(error);
    *at = first;
    const uint32_t count = list_fresh(words, pick, own, bits, at, &bytes);
    if (count == 0)
        return VDBQ_OK;
    const uint64_t head[] = { EXCHANGE_WORDS, pick->column, own->count, count };
    size_t numbers = count * sizeof *words->fresh;
    if (!message_begin(writer, sizeof head + 2 * message_item(numbers)
                                   + message_item(bytes)))
        return error_no_memory(error);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        message_put(writer, &head[i], sizeof *head);
    message_put(writer, words->fresh, numbers);
    put_texts(words, own, count, bytes, writer);
    return VDBQ_OK;
}

/* ------------------------------------------------------------- receive -- */

/* Words as they lie in a message. */
struct arrived {
    uint64_t column, of, count; /* `of`: words that the sender has          */
    const uint32_t *numbers, *ends;
    const char *bytes;
};

/* A number of 64 bits; 0 where it is not there. */
static uint64_t take_number(struct message_reader *reader)
{
    const uint64_t *number = message_take(reader, 1, sizeof *number);
    return number != NULL ? *number : 0;
}

/* Reads them; marks the message as cut where they are not what is sent. */
static void read_arrived(const struct exchange_words *words,
                         struct message_reader *reader, struct arrived *arrived)
{
    arrived->column = take_number(reader);
    arrived->of = take_number(reader);
    arrived->count = take_number(reader);
    arrived->numbers =
        message_take(reader, arrived->count, sizeof *arrived->numbers);
    arrived->ends = message_take(reader, arrived->count, sizeof *arrived->ends);
    reader->cut |= arrived->count == 0 || arrived->of > UINT32_MAX
                   || arrived->column >= words->columns
                   || !exchange_words_travel(words, (unsigned)arrived->column);
    if (!reader->cut)
        arrived->bytes =
            message_take(reader, arrived->ends[arrived->count - 1], 1);
}

/* Gathers one of them; false: no memory, or it is cut. */
static bool gather_word(struct exchange_words *words,
                        struct message_reader *reader,
                        const struct arrived *arrived, uint64_t number,
                        uint32_t *places)
{
    uint32_t start = number > 0 ? arrived->ends[number - 1] : 0;
    uint32_t end = arrived->ends[number];
    if (arrived->numbers[number] >= arrived->of || start > end
        || end > arrived->ends[arrived->count - 1]) {
        reader->cut = true;
        return false;
    }
    struct vdbq_text text = { arrived->bytes + start, end - start };
    return gather_add(&words->gathers[arrived->column], text,
                      &places[arrived->numbers[number]]);
}

enum vdbq_status exchange_words_take(struct exchange_words *words,
                                     struct message_reader *reader,
                                     struct error *error)
{
    struct arrived arrived = { 0 };
    read_arrived(words, reader, &arrived);
    if (reader->cut)
        return message_check(reader, error);
    struct exchange_numbers *numbers =
        &words->numbers[reader->from * words->columns + arrived.column];
    if (numbers->numbers == NULL) {
        numbers->numbers = paged_zeroed(arrived.of * sizeof(uint32_t));
        if (numbers->numbers == NULL)
            return error_no_memory(error);
        numbers->count = arrived.of;
    }
    reader->cut |= numbers->count != arrived.of;
    bool taken = !reader->cut;
    for (uint64_t i = 0; taken && i < arrived.count; i++)
        taken = gather_word(words, reader, &arrived, i, numbers->numbers);
    enum vdbq_status status = message_check(reader, error);
    return status == VDBQ_OK && !taken ? error_no_memory(error) : status;
}

/* ----------------------------------------------------------------- end -- */

/* Makes numbers of the places of a column's words that a rank has sent. */
static void end_numbers(const struct exchange_words *words, unsigned from,
                        unsigned column)
{
    const struct exchange_numbers *numbers =
        &words->numbers[from * words->columns + column];
    const uint32_t *places = words->gathers[column].numbers;
    for (uint64_t i = 0; numbers->numbers != NULL && i < numbers->count; i++)
        if (!stop_at(i))
            numbers->numbers[i] = places[numbers->numbers[i]];
}

/* Makes the words of a column. */
static enum vdbq_status end_column(struct exchange_words *words,
                                   unsigned column, struct error *error)
{
    struct gather *gather = &words->gathers[column];
    words->joined[column] =
        gather_together(gather, 1, (enum texts_use)words->stream->texts[column],
                        stream_threads(words->stream->params));
    if (words->joined[column] == NULL)
        return stop_or_no_memory(error);
    for (unsigned r = 0; r < words->ranks; r++)
        end_numbers(words, r, column);
    gather_finish(gather);
    return stop_pause(error);
}

enum vdbq_status exchange_words_end(struct exchange_words *words,
                                    struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    forget_sent(words);
    for (unsigned i = 0; status == VDBQ_OK && i < words->columns; i++)
        if (exchange_words_travel(words, i))
            status = end_column(words, i, error);
    return status;
}

void exchange_words_follow(const struct exchange_words *words, unsigned from,
                           unsigned column, uint32_t *values, uint64_t rows)
{
    assert(from < words->ranks && exchange_words_travel(words, column));
    const struct exchange_numbers *numbers =
        &words->numbers[from * words->columns + column];
    const struct dictionary_table table = { numbers->numbers,
                                            (uint32_t)numbers->count };
    dictionary_follow(&table, values, rows, values);
}
