/* SPDX-License-Identifier: MIT */
/*
 * Feeds: what the encodings (data/tablet/encoding.h) say of rows of a column.
 */
#include "exec/launch/feed.h"

#include <assert.h>

#include "data/tablet/tablet.h"

unsigned feed_table_column(const struct table *table, int column)
{
    if (column < 0)
        return table->key;
    return (unsigned)column
           + (table->key != NO_KEY && (unsigned)column >= table->key);
}

struct feed feed_column(const struct tablet *tablet, unsigned column, u64 row)
{
    const struct tablet_column *from = tablet_column(tablet, column);
    struct feed feed = { .values = from->values,
                         .nulls = from->nulls,
                         .base = from->base,
                         .width = from->width,
                         .encoding = from->encoding,
                         .bits = from->bits };
    if (from->nulls == 0 && from->null_count > 0)
        feed.nulls = FEED_ALL_NULL;
    return feed_from(feed, row);
}

struct feed feed_from(struct feed feed, u64 row)
{
    const struct encoding *encoding = encoding_at(feed.encoding);

    assert(row % 64 == 0);
    if (feed.nulls != 0 && feed.nulls != FEED_ALL_NULL)
        feed.nulls += row / 8;
    if (encoding->slice != NULL)
        encoding->slice(&feed, row);
    return feed;
}

struct feed feed_numbers(u64 first)
{
    return (struct feed){ .base = (i64)first,
                          .width = sizeof(i64),
                          .encoding = ENCODING_SEQUENCE };
}

u64 feed_value_bytes(const struct feed *feed, u64 rows)
{
    const struct encoding *encoding = encoding_at(feed->encoding);

    return encoding->bytes != NULL ? encoding->bytes(feed, rows) : 0;
}

u64 feed_null_bytes(const struct feed *feed, u64 rows)
{
    if (feed->nulls == 0 || feed->nulls == FEED_ALL_NULL)
        return 0;
    return feed->encoding == ENCODING_PLAIN && feed->bits == 8 ? rows
                                                               : (rows + 7) / 8;
}
