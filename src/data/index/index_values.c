/* SPDX-License-Identifier: MIT */
/*
 * Keys are computed by who knows SQL (struct index_request).
 */
#include "data/index/index_values.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/type.h"
#include "base/vector.h"
#include "data/database/database_inner.h"
#include "data/tablet/block.h"

/* -------------------------------------------------------------- digests -- */

enum { FOLDED_ONCE = 256 /* bytes of a text */ };
_Static_assert(8 * INDEX_HEAD_BYTES + INDEX_HASH_BITS == 64, "a digest's bits");

/* The first bytes of a text; those that it has not are `rest`. */
static uint64_t head_of(enum collation collation, struct vdbq_text text,
                        uint8_t rest)
{
    size_t length = collation_length(collation, text.bytes, text.length);
    size_t count = length < INDEX_HEAD_BYTES ? length : INDEX_HEAD_BYTES;
    char folded[INDEX_HEAD_BYTES];
    uint64_t head = 0;

    if (count > 0)
        collation_fold(collation, text.bytes, count, folded);
    for (size_t i = 0; i < INDEX_HEAD_BYTES; i++)
        head = head << 8 | (i < count ? (uint8_t)folded[i] : rest);
    return head;
}

/* XXH3 of what a collation compares of a text: equal texts have equal ones. */
static uint64_t hash_of(enum collation collation, struct vdbq_text text)
{
    size_t length = collation_length(collation, text.bytes, text.length);
    char folded[FOLDED_ONCE];
    struct checksum sum;

    if (collation != COLLATION_NOCASE)
        return block_checksum(text.bytes, length);
    checksum_begin(&sum);
    for (size_t at = 0, count; at < length; at += count) {
        count = length - at < sizeof folded ? length - at : sizeof folded;
        collation_fold(collation, text.bytes + at, count, folded);
        checksum_add(&sum, folded, count);
    }
    return checksum_end(&sum);
}

/* Numbers without a sign become such that have one, in their order. */
static int64_t signed_of(uint64_t digest)
{
    return (int64_t)(digest ^ UINT64_C(1) << 63);
}

int64_t index_digest(enum collation collation, struct vdbq_text text)
{
    return signed_of(head_of(collation, text, 0) << INDEX_HASH_BITS
                     | (hash_of(collation, text) & INDEX_HASH_MASK));
}

int64_t index_digest_least(struct vdbq_text start)
{
    return signed_of(head_of(COLLATION_BINARY, start, 0) << INDEX_HASH_BITS);
}

int64_t index_digest_most(struct vdbq_text start)
{
    return signed_of(head_of(COLLATION_BINARY, start, UINT8_MAX)
                         << INDEX_HASH_BITS
                     | INDEX_HASH_MASK);
}

enum vdbq_type index_key_type(const struct column *key)
{
    return key->type == VDBQ_TEXT ? VDBQ_BIGINT : key->type;
}

/* --------------------------------------------------------------- values -- */

/* What the computed rows are: numbers, and keys. NULL: no memory. */
static struct column *describe(const struct index *index, struct table *table)
{
    unsigned count = index->column_count;
    struct column *columns = memory_zeroed(count + (size_t)1, sizeof *columns);

    if (columns == NULL)
        return NULL;
    columns[0] = (struct column){ .name = "row", .type = VDBQ_BIGINT };
    if (count > 0) /* of a CHECK there are none */
        memcpy(columns + 1, index->keys->columns, count * sizeof *columns);
    *table = (struct table){ .name = "keys",
                             .column_count = count + 1,
                             .columns = columns,
                             .key = NO_KEY };
    return columns;
}

/* Whether numbers of rows ascend and are of these rows. */
static bool are_numbers(const struct index_values *values, uint64_t rows)
{
    const int64_t *numbers = values->vectors[0].values;
    bool ascend = values->vectors[0].nulls == NULL;

    for (uint32_t i = 0; i < values->rows.count && ascend; i++)
        ascend = numbers[i] > (i > 0 ? numbers[i - 1] : -1)
                 && numbers[i] < (int64_t)rows;
    return ascend;
}

static enum vdbq_status compute(const struct index_of *of, uint64_t rows,
                                const struct vdbq_vector *vectors,
                                struct index_values *values,
                                struct error *error)
{
    const struct database *database = of->database;
    const struct index_request request = { .catalogue = of->catalogue,
                                           .table = of->table,
                                           .index = of->index,
                                           .rows = rows,
                                           .vectors = vectors };
    enum vdbq_status status;

    assert(rows > 0 && of->index->keys != NULL);
    if (database->compute == NULL)
        return error_set(error, VDBQ_MISUSE,
                         "index %s: nobody computes its keys", of->index->name);
    status = database->compute(database->compute_context, &request,
                               &values->rows, error);
    if (status != VDBQ_OK)
        return status;
    rows_vectors(&values->rows, values->vectors);
    return are_numbers(values, rows)
               ? VDBQ_OK
               : error_set(error, VDBQ_MISUSE,
                           "index %s: rows have other numbers",
                           of->index->name);
}

enum vdbq_status index_values_compute(const struct index_of *of, uint64_t rows,
                                      const struct vdbq_vector *vectors,
                                      struct index_values *values,
                                      struct error *error)
{
    struct table table;
    struct column *columns = describe(of->index, &table);
    bool room = columns != NULL;

    *values = (struct index_values){ 0 };
    if (room)
        values->vectors =
            memory_zeroed(table.column_count, sizeof *values->vectors);
    room = room && values->vectors != NULL && rows_init(&values->rows, &table);
    memory_release(columns);
    if (!room)
        return error_no_memory(error);
    if (rows > 0)
        return compute(of, rows, vectors, values, error);
    rows_vectors(&values->rows, values->vectors);
    return VDBQ_OK;
}

void index_values_finish(struct index_values *values)
{
    rows_finish(&values->rows);
    memory_release(values->vectors);
    *values = (struct index_values){ 0 };
}

/* One key of all rows. */
static bool spread(const struct index_values *values, uint64_t rows,
                   const struct vdbq_vector *from, struct arena *arena,
                   struct vdbq_vector *to)
{
    const int64_t *numbers = values->vectors[0].values;
    size_t width = type_bytes(from->type);
    char *room = arena_alloc(arena, (size_t)rows * width + 1);
    uint8_t *nulls = arena_alloc(arena, (size_t)rows + 1);

    if (room == NULL || nulls == NULL)
        return false;
    memset(room, 0, (size_t)rows * width);
    memset(nulls, 1, (size_t)rows);
    for (uint32_t i = 0; i < values->rows.count; i++) {
        assert(numbers[i] >= 0 && (uint64_t)numbers[i] < rows);
        nulls[numbers[i]] = vector_null(from, i);
        memcpy(room + (size_t)numbers[i] * width,
               (const char *)from->values + i * width, width);
    }
    *to = (struct vdbq_vector){ from->type, room, nulls };
    return true;
}

bool index_values_spread(const struct index_values *values, uint64_t rows,
                         struct arena *arena, struct vdbq_vector *vectors)
{
    bool done = true;

    for (unsigned i = 1; i < values->rows.column_count && done; i++)
        done =
            spread(values, rows, &values->vectors[i], arena, &vectors[i - 1]);
    return done;
}
