/* SPDX-License-Identifier: MIT */
/*
 * Words of all ranks: see gather_words.h. Rank by rank: it sends a hash of each
 * column's words, rank 0 answers which of them it lacks, and gets these.
 */
#include "exec/gather/gather_words.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "exec/gather/message.h"

/* What rank 0 knows of a rank while it joins. */
struct lacking {
    struct message_reader reader; /* its words, in use until they are joined */
    uint8_t *wanted;              /* of each column: it has other words      */
    bool any;
};

static bool is_text(const struct stream *stream, unsigned column)
{
    return stream->step->columns[column].type == VDBQ_TEXT;
}

static unsigned text_columns(const struct stream *stream)
{
    unsigned count = 0;
    for (unsigned i = 0; i < stream->step->column_count; i++)
        count += is_text(stream, i);
    return count;
}

static uint32_t count_of(const struct dictionary *words)
{
    return words != NULL ? words->count : 0;
}

static size_t bytes_of(const struct dictionary *words)
{
    return count_of(words) > 0 ? words->ends[words->count - 1] : 0;
}

static uint64_t hash_of(const struct dictionary *words)
{
    if (count_of(words) == 0)
        return 0;
    return XXH3_64bits_withSeed(
        words->bytes, bytes_of(words),
        XXH3_64bits(words->ends, words->count * sizeof *words->ends));
}

/* ------------------------------------------------------- other ranks -- */

static enum vdbq_status send_hashes(const struct stream *stream,
                                    struct error *error)
{
    struct message_writer writer;
    if (!message_begin(&writer, text_columns(stream) * sizeof(uint64_t)))
        return error_no_memory(error);
    for (unsigned i = 0; i < stream->step->column_count; i++)
        if (is_text(stream, i)) {
            uint64_t hash = hash_of(stream_dictionary(stream, i));
            message_put(&writer, &hash, sizeof hash);
        }
    return message_send(&writer, stream->params->ranks, 0, error);
}

/* Sends the words of the columns that rank 0 lacks, if it lacks any. */
static enum vdbq_status send_words(const struct stream *stream,
                                   const uint8_t *wanted, struct error *error)
{
    struct message_writer writer;
    size_t size = 0;
    for (unsigned i = 0; i < stream->step->column_count; i++) {
        const struct dictionary *words = stream_dictionary(stream, i);
        if (wanted[i])
            size += sizeof(uint64_t)
                    + message_item(count_of(words) * sizeof(uint32_t))
                    + message_item(bytes_of(words));
    }
    if (size == 0)
        return VDBQ_OK;
    if (!message_begin(&writer, size))
        return error_no_memory(error);
    for (unsigned i = 0; i < stream->step->column_count; i++) {
        const struct dictionary *words = stream_dictionary(stream, i);
        uint64_t count = count_of(words);
        if (!wanted[i])
            continue;
        message_put(&writer, &count, sizeof count);
        message_put(&writer, count > 0 ? words->ends : NULL,
                    count * sizeof(uint32_t));
        message_put(&writer, count > 0 ? words->bytes : NULL, bytes_of(words));
    }
    return message_send(&writer, stream->params->ranks, 0, error);
}

static enum vdbq_status tell_words(const struct stream *stream,
                                   struct error *error)
{
    struct message_reader reader = { 0 };
    unsigned columns = stream->step->column_count;
    enum vdbq_status status = send_hashes(stream, error);
    if (status == VDBQ_OK)
        status = message_receive(&reader, stream->params->ranks, 0, error);
    const uint8_t *wanted =
        status == VDBQ_OK ? message_take(&reader, columns, 1) : NULL;
    if (status == VDBQ_OK)
        status = message_check(&reader, error);
    if (status == VDBQ_OK)
        status = send_words(stream, wanted, error);
    message_end(&reader);
    return status;
}

/* ------------------------------------------------------------ rank 0 -- */

/* Asks a rank for the words of the columns whose hash is another one. */
static enum vdbq_status ask_rank(const struct stream *stream, unsigned rank,
                                 struct lacking *lacking, struct error *error)
{
    struct ranks *ranks = stream->params->ranks;
    unsigned columns = stream->step->column_count;
    struct message_writer writer;
    struct message_reader hashes = { 0 };
    enum vdbq_status status = message_receive(&hashes, ranks, rank, error);
    for (unsigned i = 0; status == VDBQ_OK && i < columns; i++) {
        const uint64_t *hash =
            is_text(stream, i) ? message_take(&hashes, 1, sizeof *hash) : NULL;
        lacking->wanted[i] =
            hash != NULL && *hash != hash_of(stream_dictionary(stream, i));
        lacking->any |= lacking->wanted[i];
    }
    if (status == VDBQ_OK)
        status = message_check(&hashes, error);
    message_end(&hashes);
    if (status == VDBQ_OK && !message_begin(&writer, message_item(columns)))
        status = error_no_memory(error);
    if (status != VDBQ_OK)
        return status;
    message_put(&writer, lacking->wanted, columns);
    return message_send(&writer, ranks, rank, error);
}

/* Adds the words of a dictionary to texts. */
static void list_own(const struct dictionary *words, struct vdbq_text *texts)
{
    for (uint32_t i = 0; i < count_of(words); i++)
        texts[i] = dictionary_text(words, i);
}

/* Adds those of a rank, at which its message is; false: it is cut. */
static bool list_words(struct message_reader *reader, uint32_t count,
                       struct vector *texts)
{
    const uint32_t *ends = message_take(reader, count, sizeof *ends);
    uint32_t size = ends != NULL && count > 0 ? ends[count - 1] : 0, at = 0;
    const char *bytes = message_take(reader, size, 1);
    for (uint32_t i = 0; bytes != NULL && i < count; i++) {
        if (ends[i] < at || ends[i] > size)
            return false;
        struct vdbq_text text = { .bytes = bytes + at, .length = ends[i] - at };
        if (!vector_append(texts, &text, 1))
            return false;
        at = ends[i];
    }
    return bytes != NULL;
}

/* The words of a column of all ranks that lack some, behind rank 0's own. */
static enum vdbq_status list_texts(struct gather_words *words, unsigned column,
                                   struct lacking *lacking,
                                   struct vector *texts, struct error *error)
{
    for (unsigned r = 1; r < words->ranks; r++) {
        struct gather_numbers *numbers =
            &words->numbers[r * words->columns + column];
        if (!lacking[r].wanted[column])
            continue;
        const uint64_t *count =
            message_take(&lacking[r].reader, 1, sizeof *count);
        numbers->count = count != NULL ? (uint32_t)*count : 0;
        if (!list_words(&lacking[r].reader, numbers->count, texts))
            lacking[r].reader.cut = true;
        enum vdbq_status status = message_check(&lacking[r].reader, error);
        if (status != VDBQ_OK)
            return status;
    }
    return VDBQ_OK;
}

/* Gives each rank its part of the numbers; one without other words has those of
 * rank 0. */
static bool share_numbers(struct gather_words *words, unsigned column,
                          const struct lacking *lacking,
                          const uint32_t *numbers)
{
    const struct gather_numbers *own = &words->numbers[column];
    size_t at = own->count;
    for (unsigned r = 0; r < words->ranks; r++) {
        struct gather_numbers *to =
            &words->numbers[r * words->columns + column];
        bool other = r > 0 && lacking[r].wanted[column];
        if (!other)
            to->count = own->count;
        to->numbers = memory_zeroed((size_t)to->count + 1, sizeof *numbers);
        if (to->numbers == NULL)
            return false;
        memcpy(to->numbers, other ? numbers + at : numbers,
               to->count * sizeof *numbers);
        at += other ? to->count : 0;
    }
    return true;
}

/* Joins the words of one column. */
static enum vdbq_status join_column(struct gather_words *words,
                                    struct dictionary *own, unsigned column,
                                    struct lacking *lacking,
                                    struct error *error)
{
    struct vector texts = VECTOR(struct vdbq_text);
    const struct vdbq_text none = { .bytes = "" };
    uint32_t *numbers = NULL;
    enum vdbq_status status = VDBQ_OK;
    words->numbers[column].count = count_of(own);
    for (uint32_t i = 0; status == VDBQ_OK && i < count_of(own); i++)
        if (!vector_append(&texts, &none, 1))
            status = error_no_memory(error);
    if (status == VDBQ_OK) {
        list_own(own, texts.items);
        status = list_texts(words, column, lacking, &texts, error);
    }
    if (status == VDBQ_OK) {
        numbers = memory_zeroed(texts.count + 1, sizeof *numbers);
        words->joined[column] =
            numbers != NULL ? dictionary_make(texts.items, texts.count, numbers)
                            : NULL;
        if (words->joined[column] == NULL
            || !share_numbers(words, column, lacking, numbers))
            status = stop_or_no_memory(error);
    }
    memory_release(numbers);
    vector_finish(&texts);
    return status;
}

/* Whether a rank has other words of a column than rank 0. */
static bool differ(const struct gather_words *words, unsigned column,
                   const struct lacking *lacking)
{
    for (unsigned r = 1; r < words->ranks; r++)
        if (lacking[r].wanted[column])
            return true;
    return false;
}

static enum vdbq_status join_columns(struct gather_words *words,
                                     const struct stream *stream,
                                     struct lacking *lacking,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; status == VDBQ_OK && i < words->columns; i++) {
        struct dictionary *own = stream_dictionary(stream, i);
        if (is_text(stream, i) && differ(words, i, lacking))
            status = join_column(words, own, i, lacking, error);
        else
            words->joined[i] = dictionary_hold(own);
    }
    return status;
}

/* Hears of all ranks what they have, then joins. */
static enum vdbq_status hear_words(struct gather_words *words,
                                   const struct stream *stream,
                                   struct lacking *lacking, struct error *error)
{
    struct ranks *ranks = stream->params->ranks;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned r = 1; status == VDBQ_OK && r < words->ranks; r++) {
        lacking[r].wanted = memory_zeroed(words->columns + 1, 1);
        status = lacking[r].wanted != NULL ? VDBQ_OK : error_no_memory(error);
        if (status == VDBQ_OK && text_columns(stream) > 0)
            status = ask_rank(stream, r, &lacking[r], error);
    }
    for (unsigned r = 1; status == VDBQ_OK && r < words->ranks; r++)
        if (lacking[r].any)
            status = message_receive(&lacking[r].reader, ranks, r, error);
    return status == VDBQ_OK ? join_columns(words, stream, lacking, error)
                             : status;
}

enum vdbq_status gather_words_join(struct gather_words *words,
                                   const struct stream *stream,
                                   struct error *error)
{
    const struct ranks *ranks = stream->params->ranks;
    unsigned count = ranks != NULL ? ranks->count : 1;
    *words = (struct gather_words){ .columns = stream->step->column_count,
                                    .ranks = count };
    if (ranks != NULL && ranks->rank > 0)
        return text_columns(stream) > 0 ? tell_words(stream, error) : VDBQ_OK;
    struct lacking *lacking = memory_zeroed(count, sizeof *lacking);
    words->joined = memory_zeroed(words->columns + 1, sizeof *words->joined);
    words->numbers = memory_zeroed((size_t)count * words->columns + 1,
                                   sizeof *words->numbers);
    enum vdbq_status status =
        lacking != NULL && words->joined != NULL && words->numbers != NULL
            ? hear_words(words, stream, lacking, error)
            : error_no_memory(error);
    for (unsigned r = 0; lacking != NULL && r < count; r++) {
        message_end(&lacking[r].reader);
        memory_release(lacking[r].wanted);
    }
    memory_release(lacking);
    return status;
}

void gather_words_finish(struct gather_words *words)
{
    for (unsigned i = 0; words->joined != NULL && i < words->columns; i++)
        dictionary_release(words->joined[i]);
    for (size_t i = 0;
         words->numbers != NULL && i < (size_t)words->ranks * words->columns;
         i++)
        memory_release(words->numbers[i].numbers);
    memory_release(words->joined);
    memory_release(words->numbers);
    *words = (struct gather_words){ 0 };
}

bool gather_words_change(const struct gather_words *words, unsigned rank,
                         unsigned column)
{
    assert(rank < words->ranks && column < words->columns);
    return words->numbers[rank * words->columns + column].numbers != NULL;
}

uint32_t gather_words_number(const struct gather_words *words, unsigned rank,
                             unsigned column, uint32_t number)
{
    const struct gather_numbers *numbers =
        &words->numbers[rank * words->columns + column];
    if (numbers->numbers == NULL)
        return number;
    return number < numbers->count ? numbers->numbers[number] : ROW_SET_NO_ROW;
}
