/* SPDX-License-Identifier: MIT */
/*
 * Messages of an exchange: see exchange_store.h. Each is given out once, and its
 * memory is free for others with the next one.
 */
#include "exec/gather/exchange_store.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* A message: in memory, or in the file. */
struct exchange_kept {
    uint8_t *bytes;  /* owned; NULL: it is in the file */
    uint64_t offset; /* ... there */
    size_t size;
    unsigned from; /* the rank that sent it */
    size_t number; /* of messages that came before it */
};

void exchange_store_init(struct exchange_store *store,
                         struct account_share *memory,
                         const struct os_file_calls *files)
{
    *store =
        (struct exchange_store){ .memory = memory,
                                 .messages = VECTOR(struct exchange_kept) };
    spill_file_init(&store->file, files, memory);
}

/* Frees what was given out last. */
static void take_back(struct exchange_store *store)
{
    memory_release(store->given);
    account_give(store->memory, store->given_bytes);
    store->given = NULL;
    store->given_bytes = 0;
}

void exchange_store_finish(struct exchange_store *store)
{
    if (store->memory == NULL)
        return;
    take_back(store);
    for (size_t i = store->next; i < store->messages.count; i++) {
        struct exchange_kept *kept = vector_at(&store->messages, i);
        if (kept->bytes != NULL)
            account_give(store->memory, kept->size);
        memory_release(kept->bytes);
    }
    vector_finish(&store->messages);
    spill_file_close(&store->file);
    *store = (struct exchange_store){ 0 };
}

/* Puts a message into the file. */
static enum vdbq_status put_aside(struct exchange_store *store,
                                  struct exchange_kept *kept,
                                  struct error *error)
{
    enum vdbq_status status = spill_file_append(
        &store->file, kept->bytes, kept->size, &kept->offset, error);
    memory_release(kept->bytes);
    kept->bytes = NULL;
    return status;
}

enum vdbq_status exchange_store_add(struct exchange_store *store,
                                    struct rank_message message, unsigned from,
                                    struct error *error)
{
    struct exchange_kept kept = { .bytes = message.bytes,
                                  .size = message.size,
                                  .from = from,
                                  .number = store->messages.count };
    assert(message.bytes != NULL && message.size > 0 && store->next == 0);
    enum vdbq_status status = VDBQ_OK;
    if (!account_take(store->memory, kept.size))
        status = put_aside(store, &kept, error);
    if (status != VDBQ_OK || vector_append(&store->messages, &kept, 1))
        return status;
    if (kept.bytes != NULL)
        account_give(store->memory, kept.size);
    memory_release(kept.bytes);
    return error_no_memory(error);
}

static int compare(const void *left, const void *right)
{
    const struct exchange_kept *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

void exchange_store_order(struct exchange_store *store)
{
    assert(store->next == 0);
    if (store->messages.count > 1)
        qsort(store->messages.items, store->messages.count,
              sizeof(struct exchange_kept), compare);
}

/* Brings a message back from the file. */
static enum vdbq_status bring_back(struct exchange_store *store,
                                   struct exchange_kept *kept,
                                   struct error *error)
{
    kept->bytes = memory_resize(NULL, kept->size);
    if (kept->bytes == NULL)
        return error_no_memory(error);
    account_take_anyway(store->memory, kept->size);
    return spill_file_read(&store->file, kept->bytes, kept->size, kept->offset,
                           error);
}

enum vdbq_status exchange_store_next(struct exchange_store *store,
                                     struct rank_message *message,
                                     unsigned *from, struct error *error)
{
    *message = (struct rank_message){ 0 };
    take_back(store);
    if (store->next == store->messages.count)
        return VDBQ_OK;
    struct exchange_kept *kept = vector_at(&store->messages, store->next);
    enum vdbq_status status = VDBQ_OK;
    if (kept->bytes == NULL)
        status = bring_back(store, kept, error);
    if (status != VDBQ_OK)
        return status;
    store->next++;
    store->given = kept->bytes;
    store->given_bytes = kept->size;
    *message =
        (struct rank_message){ .bytes = kept->bytes, .size = kept->size };
    *from = kept->from;
    return VDBQ_OK;
}
