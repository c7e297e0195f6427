/* SPDX-License-Identifier: MIT */
/*
 * Texts as each format writes them: in quotes, with escapes, or as they are.
 */
#include "io/format_inner.h"

#include <string.h>

void format_plain_text(struct out *out, const char *bytes, size_t length)
{
    out_bytes(out, bytes, length);
}

/* Text between `quote`s, with the quotes inside doubled. */
void format_doubled(struct out *out, const char *bytes, size_t length,
                    char quote)
{
    out_char(out, quote);
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == quote)
            out_char(out, quote);
        out_char(out, bytes[i]);
    }
    out_char(out, quote);
}

/* In quotes where a reader may take it for something else: whatever it thinks
 * that separates values, or quotes them. */
void format_csv_text(struct out *out, const char *bytes, size_t length)
{
    static const char special[256] = {
        ['\n'] = 1, ['\r'] = 1, ['"'] = 1, [','] = 1,
        [';'] = 1,  ['\t'] = 1, ['|'] = 1,
    };
    bool plain = length > 0 && *bytes != '\'';
    for (size_t i = 0; i < length && plain; i++)
        plain = !special[(unsigned char)bytes[i]];
    if (plain)
        out_bytes(out, bytes, length);
    else
        format_doubled(out, bytes, length, '"');
}

static bool is_null_text(const struct format_result *result, const char *bytes,
                         size_t length)
{
    const char *null = result->null_text;
    return result->quote_null && length == strlen(null)
           && memcmp(bytes, null, length) == 0;
}

void format_text(const struct format_result *result, struct out *out,
                 const char *bytes, size_t length)
{
    char delimiter = *result->delimiter;
    if ((delimiter && memchr(bytes, delimiter, length))
        || is_null_text(result, bytes, length))
        format_doubled(out, bytes, length, '"');
    else
        result->format->text(out, bytes, length);
}

void format_quote_text(struct out *out, const char *bytes, size_t length)
{
    format_doubled(out, bytes, length, '\'');
}

/* One line a row: what would end a value or a row is written as an escape. */
void format_tabs_text(struct out *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        static const char plain[] = "\t\n\r\\", letters[] = "tnr\\";
        const char *found = bytes[i] ? strchr(plain, bytes[i]) : NULL;
        if (found)
            out_char(out, '\\');
        out_char(out, found ? letters[found - plain] : bytes[i]);
    }
}

void format_markdown_text(struct out *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '\n')
            out_text(out, "<br>");
        else if ((unsigned char)bytes[i] < 0x20)
            out_char(out, ' ');
        else if (bytes[i] == '|')
            out_text(out, "\\|");
        else
            out_char(out, bytes[i]);
    }
}

static void json_character(struct out *out, char c)
{
    static const char names[][3] = {
        ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n",
        ['\f'] = "\\f", ['\r'] = "\\r",
    };
    if (c == '"' || c == '\\') {
        out_char(out, '\\');
        out_char(out, c);
    } else if ((unsigned char)c >= 0x20) {
        out_char(out, c);
    } else if (c <= '\r' && *names[(unsigned char)c]) {
        out_text(out, names[(unsigned char)c]);
    } else {
        out_print(out, "\\u%04x", (unsigned)c);
    }
}

void format_json_text(struct out *out, const char *bytes, size_t length)
{
    out_char(out, '"');
    for (size_t i = 0; i < length; i++)
        json_character(out, bytes[i]);
    out_char(out, '"');
}
