/* SPDX-License-Identifier: MIT */
/*
 * Texts by a format, as SQLite has it. All values are texts here; the planner
 * makes them of numbers, and an empty one of NULL. Widths and precisions count
 * characters, and floats are rounded as round() does. What SQLite passes over, a
 * letter that means nothing, is an error.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "program/functions/bound.h"
#include "program/functions/digits.h"
#include "program/functions/function_inner.h"

/* What stands between a % and its letter. */
struct spec {
    bool left, other, zero, thousands; /* - # 0 , */
    char sign; /* of what is not below zero: + or a blank; 0: none */
    int64_t width;
    int64_t precision; /* -1: none is said */
};

struct printing {
    struct function_call_state *state;
    const char *at, *end; /* of the format */
    unsigned next;        /* argument      */
    struct text made;
    struct text one; /* a number without sign and padding */
    bool too_long;
};

/* ------------------------------------------------------------ reading -- */

/* The next value; one that is not there is an empty text. */
static struct vdbq_text take_value(struct printing *printing)
{
    const struct function_call_state *state = printing->state;

    return printing->next < state->count
               ? state->arguments[printing->next++].text
               : (struct vdbq_text){ "", 0 };
}

/* Digits, or a * for a value; -1: neither is there. What is too much for any
 * text stays so. */
static int64_t take_number(struct printing *printing)
{
    int64_t number = -1;

    if (printing->at < printing->end && *printing->at == '*') {
        printing->at++;
        number = text_integer(take_value(printing));
        return number > FUNCTION_TEXT_MAX    ? FUNCTION_TEXT_MAX
               : number < -FUNCTION_TEXT_MAX ? -FUNCTION_TEXT_MAX
                                             : number;
    }
    for (; printing->at < printing->end && *printing->at >= '0'
           && *printing->at <= '9';
         printing->at++) {
        number = (number < 0 ? 0 : number) * 10 + (*printing->at - '0');
        number = number > FUNCTION_TEXT_MAX ? FUNCTION_TEXT_MAX : number;
    }
    return number;
}

/* Whether a flag is next, which it notes. */
static bool take_flag(struct printing *printing, struct spec *spec)
{
    char flag = printing->at < printing->end ? *printing->at : '\0';

    if (flag == '\0' || strchr("-+ #0,", flag) == NULL)
        return false;
    spec->left |= flag == '-';
    spec->other |= flag == '#';
    spec->zero |= flag == '0';
    spec->thousands |= flag == ',';
    if (flag == '+' || flag == ' ')
        spec->sign = flag;
    printing->at++;
    return true;
}

/* Reads what is between a % and its letter. */
static struct spec take_spec(struct printing *printing)
{
    struct spec spec = { .precision = -1 };

    while (take_flag(printing, &spec))
        ;
    spec.width = take_number(printing);
    if (spec.width < -1) {
        spec.left = true;
        spec.width = -spec.width;
    }
    if (printing->at < printing->end && *printing->at == '.') {
        printing->at++;
        spec.precision = take_number(printing);
        spec.precision = spec.precision == -1  ? 0
                         : spec.precision < -1 ? -spec.precision
                                               : spec.precision;
    }
    while (printing->at < printing->end && *printing->at == 'l')
        printing->at++;
    return spec;
}

/* ------------------------------------------------------------ writing -- */

static void add(struct printing *printing, const char *bytes, size_t length)
{
    printing->too_long = printing->too_long
                         || !function_text_add(&printing->made, bytes, length);
}

static void add_times(struct printing *printing, struct vdbq_text text,
                      int64_t times)
{
    size_t left = FUNCTION_TEXT_MAX - printing->made.length;

    if (times <= 0 || text.length == 0)
        return;
    printing->too_long |= (uint64_t)times > left / text.length;
    if (!printing->too_long)
        text_add_times(&printing->made, text.bytes, text.length, (size_t)times);
}

static void add_blanks(struct printing *printing, int64_t times)
{
    add_times(printing, (struct vdbq_text){ " ", 1 }, times);
}

/* Adds a text with blanks on one of its sides. */
static void add_padded(struct printing *printing, const struct spec *spec,
                       const char *prefix, struct vdbq_text text)
{
    int64_t lack = spec->width - (int64_t)(strlen(prefix) + utf8_count(text));

    add_blanks(printing, spec->left ? 0 : lack);
    add(printing, prefix, strlen(prefix));
    add(printing, text.bytes, text.length);
    add_blanks(printing, spec->left ? lack : 0);
}

static void add_text(struct printing *printing, const struct spec *spec)
{
    struct vdbq_text text = take_value(printing);

    if (spec->precision >= 0)
        text.length = utf8_offset(text, (size_t)spec->precision);
    add_padded(printing, spec, "", text);
}

/* The first character of a value, as often as the precision says. */
static void add_character(struct printing *printing, const struct spec *spec)
{
    struct vdbq_text text = take_value(printing);
    int64_t times = spec->precision > 1 ? spec->precision : 1, lack;

    text.length = utf8_offset(text, 1);
    lack = spec->width - (text.length > 0 ? times : 0);
    add_blanks(printing, spec->left ? 0 : lack);
    add_times(printing, text, times);
    add_blanks(printing, spec->left ? lack : 0);
}

static const char *sign_of(const struct spec *spec, bool negative)
{
    return negative ? "-" : spec->sign == '+' ? "+" : spec->sign ? " " : "";
}

/* ------------------------------------------------------------ integers -- */

/* Writes zeros in front of a number, of which so many are still to come and so
 * many digits behind them; how many it wrote. With commas threes go at once. */
static int64_t write_zeros(struct printing *printing, int64_t zeros,
                           int64_t behind, bool thousands)
{
    int64_t threes = (zeros + behind) % 3 == 0 ? zeros / 3 : 0;

    if (!thousands && zeros > 0)
        text_add_times(&printing->one, "0", 1, (size_t)zeros);
    if (!thousands)
        return zeros;
    if (threes > 0)
        text_add_times(&printing->one, "000,", 4, (size_t)threes);
    return 3 * threes;
}

/* Writes digits of a base, at least `least` of them, into `one`. */
static void write_digits(struct printing *printing, uint64_t number,
                         unsigned base, bool capital, int64_t least,
                         bool thousands)
{
    const char *digits = capital ? "0123456789ABCDEF" : "0123456789abcdef";
    char room[24];
    int64_t count = 0;

    for (; number > 0 || count == 0; number /= base)
        room[count++] = digits[number % base];
    for (int64_t left = least > count ? least : count; left > 0; left--) {
        if (left > count)
            left -= write_zeros(printing, left - count, count, thousands);
        text_add(&printing->one, left > count ? "0" : &room[left - 1], 1);
        if (thousands && left > 1 && left % 3 == 1)
            text_add(&printing->one, ",", 1);
    }
}

/* The integer that a text is, or begins with; of a float its whole part, or the
 * nearest that there is. */
static int64_t integer_of(struct vdbq_text text)
{
    struct any_number number;

    if (!number_of_text(text, &number) || !number.is_real)
        return text_integer(text);
    return number.real >= 0x1p63    ? INT64_MAX
           : number.real <= -0x1p63 ? INT64_MIN
                                    : (int64_t)number.real;
}

static void add_integer(struct printing *printing, const struct spec *spec,
                        char letter)
{
    bool signs = letter == 'd' || letter == 'i';
    int64_t value = integer_of(take_value(printing)), least = spec->precision;
    bool negative = signs && value < 0;
    uint64_t number = negative ? 0 - (uint64_t)value : (uint64_t)value;
    unsigned base = letter == 'o' ? 8 : (letter | 0x20) == 'x' ? 16 : 10;
    const char *prefix = signs ? sign_of(spec, negative) : "";

    if (spec->zero && least < spec->width - (int64_t)strlen(prefix))
        least = spec->width - (int64_t)strlen(prefix);
    if (spec->other && number != 0 && base != 10)
        prefix = base == 8 ? "0" : letter == 'x' ? "0x" : "0X";
    write_digits(printing, number, base, letter == 'X', least,
                 spec->thousands && base == 10);
    add_padded(printing, spec, prefix,
               (struct vdbq_text){ printing->one.bytes, printing->one.length });
}

/* --------------------------------------------------------------- floats -- */

/* (An infinity has a name, with which no other text begins a number.) */
static double real_of(struct vdbq_text text)
{
    double value;

    return text_to_double(text.bytes, text.length, &value) && !isnan(value)
               ? value
               : text_real(text);
}

static void add_real(struct printing *printing, const struct spec *spec,
                     char letter)
{
    double value = real_of(take_value(printing));
    struct spec padding = *spec;
    const char *prefix = sign_of(spec, value < 0);
    struct digits_form form = { .letter = (char)(letter | 0x20),
                                .capital = letter < 'a',
                                .keeps = spec->other,
                                .precision = spec->precision < 0
                                                 ? 6
                                                 : (int)spec->precision };
    int64_t lack;

    if (isinf(value))
        text_add(&printing->one, "Inf", 3);
    else
        digits_add(&printing->one, fabs(value), form);
    lack = spec->width - (int64_t)(strlen(prefix) + printing->one.length);
    if (spec->zero && !spec->left && !isinf(value)) {
        add(printing, prefix, strlen(prefix));
        add_times(printing, (struct vdbq_text){ "0", 1 }, lack);
        padding.width = 0;
        prefix = "";
    }
    add_padded(printing, &padding, prefix,
               (struct vdbq_text){ printing->one.bytes, printing->one.length });
}

/* ------------------------------------------------------------- the whole -- */

/* Of a letter that was passed over. */
static enum vdbq_status refuse(const struct printing *printing)
{
    struct vdbq_text format = printing->state->arguments[0].text;
    const char *letter = printing->at - 1;

    return error_set(printing->state->error, VDBQ_RANGE,
                     "the format \"%.*s\" has %%%.*s, which is not one of %%d "
                     "%%i %%u %%x %%X %%o %%f %%e %%E %%g %%G %%s %%c %%%%",
                     utf8_shown(format), format.bytes,
                     (int)utf8_length(letter, printing->end), letter);
}

/* Adds what a % asks for, from behind it. One at the end stands for itself. */
static enum vdbq_status add_one(struct printing *printing)
{
    struct spec spec = take_spec(printing);
    char letter = printing->at < printing->end ? *printing->at++ : '%';

    printing->one.length = 0;
    if (spec.precision > FUNCTION_TEXT_MAX / 2
        || spec.width > FUNCTION_TEXT_MAX / 2)
        printing->too_long = true;
    else if (letter == '%')
        add(printing, "%", 1);
    else if (letter == 's')
        add_text(printing, &spec);
    else if (letter == 'c')
        add_character(printing, &spec);
    else if (memchr("diuxXo", letter, 6) != NULL)
        add_integer(printing, &spec, letter);
    else if (memchr("feEgG", letter, 5) != NULL)
        add_real(printing, &spec, letter);
    else
        return refuse(printing);
    return VDBQ_OK;
}

FUNCTION_BODY(printf)
{
    struct vdbq_text format = state->arguments[0].text;
    struct printing printing = { .state = state,
                                 .at = format.bytes,
                                 .end = format.bytes + format.length,
                                 .next = 1 };
    enum vdbq_status status = VDBQ_OK;

    while (printing.at < printing.end && status == VDBQ_OK
           && !printing.too_long) {
        size_t left = (size_t)(printing.end - printing.at);
        const char *next = memchr(printing.at, '%', left);
        size_t length = next ? (size_t)(next - printing.at) : left;
        add(&printing, printing.at, length);
        printing.at += length + (next != NULL);
        if (next != NULL)
            status = add_one(&printing);
    }
    printing.made.failed |= printing.one.failed;
    if (status == VDBQ_OK)
        status = function_text_made(state, &printing.made, printing.too_long);
    text_finish(&printing.made);
    text_finish(&printing.one);
    return status;
}
