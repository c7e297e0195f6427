/* SPDX-License-Identifier: MIT */
/*
 * Feeds. Packed codes start a line at every 512th row, so a feed of them
 * starts there and says how many rows to pass over.
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
                         .bits = from->encoding == ENCODING_PACKED ? from->bits
                                                                   : 0 };
    if (from->nulls == 0 && from->null_count > 0)
        feed.nulls = FEED_ALL_NULL;
    return feed_from(feed, row);
}

struct feed feed_from(struct feed feed, u64 row)
{
    assert(row % 64 == 0);
    if (feed.nulls != 0 && feed.nulls != FEED_ALL_NULL)
        feed.nulls += row / 8;
    if (feed.encoding == ENCODING_PLAIN) {
        feed.values += row * feed.width;
    } else if (feed.encoding == ENCODING_SEQUENCE) {
        feed.base += (i64)row;
    } else if (feed.encoding == ENCODING_PACKED) {
        feed.values += row / PACKED_ROWS * feed.bits * PACKED_LINE;
        feed.row = (u32)(row % PACKED_ROWS);
    }
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
    if (feed->encoding == ENCODING_PLAIN)
        return rows * feed->width;
    if (feed->encoding == ENCODING_PACKED)
        return PACKED_SIZE(feed->row + rows, feed->bits);
    return 0;
}

u64 feed_null_bytes(const struct feed *feed, u64 rows)
{
    if (feed->nulls == 0 || feed->nulls == FEED_ALL_NULL)
        return 0;
    return feed->encoding == ENCODING_PLAIN && feed->bits == 8 ? rows
                                                               : (rows + 7) / 8;
}
