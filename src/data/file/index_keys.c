/* SPDX-License-Identifier: MIT */
/*
 * Keys of indexes to and from bytes: index_keys.h.
 */
#include "data/file/index_keys.h"

#include <string.h>

enum {
    KEY_BYTES = 13, /* that the smallest key takes */
    READ_BYTES = 4
};

/* ------------------------------------------------------------- encoding -- */

static void put_32(struct text *text, uint32_t value)
{
    text_add(text, (const char *)&value, sizeof value);
}

static void put_sql(struct text *text, const char *sql)
{
    size_t length = sql != NULL ? strlen(sql) : 0;

    put_32(text, (uint32_t)length);
    if (length > 0)
        text_add(text, sql, length);
}

void index_keys_encode(const struct index *index, struct text *text)
{
    const struct index_keys *keys = index->keys;

    text_add(text, (const char *)&keys->origin, sizeof keys->origin);
    put_32(text, keys->read_count);
    for (unsigned i = 0; i < keys->read_count; i++)
        put_32(text, keys->reads[i]);
    put_32(text, index->column_count);
    for (unsigned i = 0; i < index->column_count; i++) {
        const struct column *key = &keys->columns[i];
        put_32(text, (uint32_t)key->type);
        put_32(text, key->precision | key->scale << 8
                         | (uint32_t)key->collation << 24);
        put_sql(text, key->name);
    }
    put_sql(text, keys->where_sql);
}

/* ------------------------------------------------------------- decoding -- */

void decoder_prove_sql(struct decoder *decoder, const char *sql)
{
    const struct ast_expression *tree;
    struct arena arena = { 0 };
    struct error why = { 0 };
    enum vdbq_status status = VDBQ_OK;

    if (decoder->parse != NULL)
        status = decoder->parse(sql, &arena, &tree, &why);
    arena_finish(&arena);
    if (status == VDBQ_SYNTAX || status == VDBQ_LIMIT) {
        decoder_fail(decoder, why.message, NULL);
    } else if (status != VDBQ_OK && !decoder->failed) {
        *decoder->error = why;
        decoder->failed = true;
    }
}

unsigned *decoder_reads(struct decoder *decoder, const struct table *table,
                        unsigned *count)
{
    size_t many = decoder_bound(decoder, decoder_get_32(decoder), READ_BYTES,
                                "how many columns are read");
    unsigned *reads;

    if (!decoder->failed && many == 0)
        decoder_fail(decoder, "the columns that are read", table->name);
    reads = decoder_take(decoder, many, sizeof *reads);
    for (size_t i = 0; i < many && !decoder->failed; i++) {
        reads[i] = decoder_get_32(decoder);
        if (reads[i] >= table->column_count
            || (i > 0 && reads[i] <= reads[i - 1]))
            decoder_fail(decoder, "the columns that are read", table->name);
    }
    *count = (unsigned)many;
    return reads;
}

static void get_key(struct decoder *decoder, const struct table *table,
                    struct column *key)
{
    uint32_t more;

    key->type = (enum vdbq_type)decoder_get_32(decoder);
    more = decoder_get_32(decoder);
    key->precision = more & 255;
    key->scale = more >> 8 & 255;
    key->collation = (enum collation)(more >> 24);
    key->name = decoder_sql(decoder);
    if (!decoder->failed
        && (key->name == NULL || (more >> 16 & 255) != 0 || !column_valid(key)))
        decoder_fail(decoder, "a key of an index", table->name);
    if (!decoder->failed)
        decoder_prove_sql(decoder, key->name);
}

void index_keys_decode(struct decoder *decoder, const struct table *table,
                       struct index *index)
{
    struct index_keys *keys = decoder_take(decoder, 1, sizeof *keys);
    size_t count;

    if (keys == NULL)
        return;
    keys->origin = decoder_get_64(decoder);
    keys->reads = decoder_reads(decoder, table, &keys->read_count);
    count = decoder_bound(decoder, decoder_get_32(decoder), KEY_BYTES,
                          "how many keys an index has");
    if (!decoder->failed && (count == 0 || count > COLUMNS_MAX))
        decoder_fail(decoder, "how many keys an index has", table->name);
    keys->columns = decoder_take(decoder, count, sizeof *keys->columns);
    index->columns = decoder_take(decoder, count, sizeof *index->columns);
    for (size_t i = 0; i < count && !decoder->failed; i++) {
        index->columns[i] = (unsigned)i;
        get_key(decoder, table, &keys->columns[i]);
    }
    keys->where_sql = decoder_sql(decoder);
    if (!decoder->failed && keys->where_sql != NULL)
        decoder_prove_sql(decoder, keys->where_sql);
    index->column_count = (unsigned)count;
    index->keys = keys;
}
