/* SPDX-License-Identifier: MIT */
/*
 * Orders: see order.h. A struct order, the text, and for each parameter a struct
 * parameter_item with its text.
 */
#include "cluster/order.h"

#include <string.h>

static size_t parameter_bytes(const vdbq_query *query)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < query_parameter_count(query); i++)
        bytes +=
            sizeof(struct parameter_item) + query->parameters[i].text.length;
    return bytes;
}

uint8_t *order_make(const vdbq_query *query, size_t *size)
{
    struct order order = { .settings = query->settings,
                           .state = cluster_state(query->snapshot.catalogue),
                           .plan = cluster_plan(&query->plan.steps),
                           .now = query->plan.now,
                           .changes = query->db->changes,
                           .given = query->given,
                           .careful = query->careful,
                           .probed_most = query->db->probed_most,
                           .parameters = query_parameter_count(query),
                           .text_bytes = query->length };
    *size = sizeof order + query->length + parameter_bytes(query);
    uint8_t *bytes = memory_zeroed(*size, 1), *at = bytes;
    if (bytes == NULL)
        return NULL;
    memcpy(at, &order, sizeof order);
    at += sizeof order;
    memcpy(at, query->text, query->length);
    at += query->length;
    for (unsigned i = 0; i < order.parameters; i++) {
        const struct parameter_item item = { query->parameters[i] };
        memcpy(at, &item, sizeof item);
        at += sizeof item;
        if (item.value.text.length > 0)
            memcpy(at, item.value.text.bytes, item.value.text.length);
        at += item.value.text.length;
    }
    return bytes;
}

bool order_is_whole(const uint8_t *bytes, size_t size)
{
    struct order order;
    struct parameter_item item;
    if (size < sizeof order)
        return false;
    memcpy(&order, bytes, sizeof order);
    size_t left = size - sizeof order;
    const uint8_t *at = bytes + sizeof order;
    uint64_t skip = order.text_bytes;
    for (uint32_t i = 0; i < order.parameters && skip <= left; i++) {
        at += skip;
        left -= skip;
        if (left < sizeof item)
            return false;
        memcpy(&item, at, sizeof item);
        at += sizeof item;
        left -= sizeof item;
        skip = item.value.text.length;
    }
    return skip == left;
}

void order_share(uint8_t *order, uint32_t first, uint32_t end)
{
    struct order head;
    memcpy(&head, order, sizeof head);
    head.share_first = first;
    head.share_end = end;
    memcpy(order, &head, sizeof head);
}

enum vdbq_status order_bind(vdbq_query *query, const struct order *order,
                            const uint8_t *at)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; status == VDBQ_OK && i < order->parameters; i++) {
        struct parameter_item item;
        memcpy(&item, at, sizeof item);
        at += sizeof item;
        item.value.text.bytes = NULL;
        if (item.value.type == VDBQ_TEXT) {
            char *text = memory_zeroed(item.value.text.length + 1, 1);
            if (text == NULL)
                return error_no_memory(&query->db->error);
            memcpy(text, at, item.value.text.length);
            item.value.text.bytes = text;
        }
        at += item.value.text.length;
        status = query_bind(query, i + 1, item.value);
    }
    return status;
}
