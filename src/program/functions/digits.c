/* SPDX-License-Identifier: MIT */
/*
 * The digits of a float, rounded and laid out.
 */
#include "program/functions/digits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 32 };

/* 0.DIGITS times 10^point; no digits: zero. */
struct digits {
    char digits[DIGITS_MAX];
    int count;
    int point;
};

/* Reads what text_from_double() writes: "12.5", "1.0e+300". */
static void read_digits(double value, struct digits *to)
{
    char room[DIGITS_MAX], *at = room;
    bool behind = false;

    *to = (struct digits){ 0 };
    text_from_double(value, room);
    for (; *at != '\0' && *at != 'e'; at++) {
        behind |= *at == '.';
        if (*at == '.' || (to->count == 0 && *at == '0' && !behind))
            continue;
        if (to->count == 0 && *at == '0') {
            to->point--;
            continue;
        }
        to->digits[to->count++] = *at;
        to->point += !behind;
    }
    if (*at == 'e')
        to->point += atoi(at + 1);
    while (to->count > 0 && to->digits[to->count - 1] == '0')
        to->count--;
    assert(to->count < DIGITS_MAX);
}

/* Keeps so many digits. */
static void round_to(struct digits *number, int keep)
{
    bool up = keep >= 0 && keep < number->count && number->digits[keep] >= '5';

    if (keep < number->count)
        number->count = keep > 0 ? keep : 0;
    while (up && number->count > 0 && number->digits[number->count - 1] == '9')
        number->count--;
    if (up && number->count > 0) {
        number->digits[number->count - 1]++;
    } else if (up) {
        number->digits[number->count++] = '1';
        number->point++;
    }
    while (number->count > 0 && number->digits[number->count - 1] == '0')
        number->count--;
    if (number->count == 0)
        number->point = 0;
}

static int bounded(int number, int least, int most)
{
    return number < least ? least : number > most ? most : number;
}

/* Adds digits [from, from + count), zeros where there is none. */
static void add_range(struct text *text, const struct digits *number, int from,
                      int count)
{
    int all = count > 0 ? count : 0;
    int before = bounded(-from, 0, all), first = from + before;
    int there = bounded(number->count - first, 0, all - before);

    text_add_times(text, "0", 1, (size_t)before);
    if (there > 0)
        text_add(text, &number->digits[first], (size_t)there);
    text_add_times(text, "0", 1, (size_t)(all - before - there));
}

static void add_plain(struct text *text, const struct digits *number,
                      int behind, bool point)
{
    if (number->point > 0)
        add_range(text, number, 0, number->point);
    else
        text_add(text, "0", 1);
    if (behind > 0 || point)
        text_add(text, ".", 1);
    add_range(text, number, number->point, behind);
}

static void add_exponent(struct text *text, const struct digits *number,
                         int behind, struct digits_form form)
{
    int exponent = number->count > 0 ? number->point - 1 : 0;

    add_range(text, number, 0, 1);
    if (behind > 0 || form.keeps)
        text_add(text, ".", 1);
    add_range(text, number, 1, behind);
    text_print(text, "%c%c%02d", form.capital ? 'E' : 'e',
               exponent < 0 ? '-' : '+', abs(exponent));
}

/* Shorter numbers plain, others with an exponent. */
static void add_general(struct text *text, struct digits *number,
                        struct digits_form form)
{
    int all = form.precision > 0 ? form.precision : 1, exponent, behind;

    round_to(number, all);
    exponent = number->count > 0 ? number->point - 1 : 0;
    if (exponent >= -4 && exponent < all) {
        behind =
            form.keeps ? all - 1 - exponent : number->count - number->point;
        add_plain(text, number, behind > 0 ? behind : 0, form.keeps);
    } else {
        behind = (form.keeps ? all : number->count) - 1;
        add_exponent(text, number, behind, form);
    }
}

void digits_add(struct text *text, double value, struct digits_form form)
{
    struct digits number;

    assert(value >= 0 && form.precision >= 0);
    read_digits(value, &number);
    if (form.letter == 'g') {
        add_general(text, &number, form);
    } else if (form.letter == 'e') {
        round_to(&number, form.precision + 1);
        add_exponent(text, &number, form.precision, form);
    } else {
        assert(form.letter == 'f');
        round_to(&number, number.point + form.precision);
        add_plain(text, &number, form.precision, form.keeps);
    }
}
