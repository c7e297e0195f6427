/* SPDX-License-Identifier: MIT */
/*
 * Messages between ranks: see message.h. Their times are the rank's.
 */
#include "exec/gather/message.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/os/os.h"

bool message_begin(struct message_writer *writer, size_t size)
{
    *writer = (struct message_writer){ .message = { .size = size } };
    writer->message.bytes = memory_zeroed(size + 1, 1);
    return writer->message.bytes != NULL;
}

void *message_put(struct message_writer *writer, const void *bytes, size_t size)
{
    uint8_t *item = writer->message.bytes + writer->at;
    assert(writer->at + message_item(size) <= writer->message.size);
    if (bytes != NULL)
        memcpy(item, bytes, size);
    writer->at += message_item(size);
    return item;
}

enum vdbq_status message_send(struct message_writer *writer,
                              struct ranks *ranks, unsigned to,
                              struct error *error)
{
    struct rank_message message = writer->message;
    assert(writer->at == message.size);
    *writer = (struct message_writer){ 0 };
    ranks->cost.bytes += message.size;
    return ranks->send(ranks, to, message, error);
}

enum vdbq_status message_receive(struct message_reader *reader,
                                 struct ranks *ranks, unsigned from,
                                 struct error *error)
{
    uint64_t start = os_time_ns();
    *reader = (struct message_reader){ .ranks = ranks, .from = from };
    enum vdbq_status status =
        ranks->receive(ranks, from, &reader->message, error);
    ranks->cost.wait_ns += os_time_ns() - start;
    return status;
}

void message_end(struct message_reader *reader)
{
    memory_release(reader->message.bytes);
    *reader = (struct message_reader){ 0 };
}

void *message_take(struct message_reader *reader, uint64_t count, size_t width)
{
    size_t left = reader->message.size - reader->at;
    if (reader->cut || count > left / width
        || message_item(count * width) > left) {
        reader->cut = true;
        return NULL;
    }
    void *item = reader->message.bytes + reader->at;
    reader->at += message_item(count * width);
    return item;
}

enum vdbq_status message_check(const struct message_reader *reader,
                               struct error *error)
{
    if (!reader->cut)
        return VDBQ_OK;
    if (reader->ranks != NULL)
        reader->ranks->garbled(reader->ranks, reader->from);
    return error_set(error, VDBQ_CORRUPT, "rank %u sent a message that is cut",
                     reader->from);
}
