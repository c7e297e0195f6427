/* SPDX-License-Identifier: MIT */
/* Characters of any bytes: their number is that of the steps from one to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixtures/chance.h"
#include "program/letters/utf8.h"

enum { TEXTS = 20000, LENGTH_MAX = 40 };

/* Bytes that begin characters, and more of those that continue one. */
static struct vdbq_text any_text(char *bytes)
{
    static const char kinds[] = "a\x80\xbf\x80\x95\xc3\xe6\xf0\xff";
    size_t length = (size_t)chance_below(LENGTH_MAX + 1);

    for (size_t i = 0; i < length; i++)
        bytes[i] = kinds[chance_below(sizeof kinds - 1)];
    return (struct vdbq_text){ bytes, length };
}

static size_t steps(struct vdbq_text text)
{
    const char *at = text.bytes, *end = at + text.length;
    size_t count = 0;

    for (; at < end; at += utf8_length(at, end))
        count++;
    return count;
}

static void characters_are_as_many_as_steps(void **state)
{
    char bytes[LENGTH_MAX];

    (void)state;
    chance_start();
    for (unsigned i = 0; i < TEXTS; i++) {
        struct vdbq_text text = any_text(bytes);
        size_t count = utf8_count(text);
        assert_int_equal(count, steps(text));
        assert_int_equal(utf8_offset(text, count), text.length);
        if (count > 0)
            assert_true(utf8_offset(text, count - 1) < text.length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_as_many_as_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
