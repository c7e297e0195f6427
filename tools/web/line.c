/* SPDX-License-Identifier: MIT */
/* Words and addresses of our own making. Relies on vdbq.h alone. */
#include "line.h"

#include <stdio.h>
#include <string.h>

#include "tools/generate/generate.h"

/* clang-format off */
static const char *const english[] = {
    "news", "price", "photo", "video", "weather", "music", "forum", "shop",
    "car", "house", "recipe", "game", "film", "map", "school", "travel",
    "phone", "book", "garden", "winter", "summer", "ticket", "train", "garage",
    "kitchen", "doctor", "market", "report", "city", "river", "bridge",
    "paint", "window", "engine", "dress", "shoes", "lamp", "bicycle", "camera",
    "printer", "tablet", "hotel", "island", "mountain", "football", "chess",
    "guitar", "piano", "calendar", "horoscope", "coffee", "bread", "apple",
    "orange", "cat", "dog", "horse", "bird", "fish", "forest", "stone",
    "silver", "gold", "paper"
};
static const char *const russian[] = {
    "новости", "цена", "фото", "видео", "погода", "музыка", "форум", "магазин",
    "машина", "дом", "рецепт", "игра", "фильм", "карта", "школа", "отдых",
    "телефон", "книга", "сад", "зима", "лето", "билет", "поезд", "гараж",
    "кухня", "врач", "рынок", "отчёт", "город", "река", "мост", "краска",
    "окно", "мотор", "платье", "обувь", "лампа", "велосипед", "камера",
    "принтер", "планшет", "гостиница", "остров", "гора", "футбол", "шахматы",
    "гитара", "рояль", "календарь", "гороскоп", "кофе", "хлеб", "яблоко",
    "апельсин", "кошка", "собака", "лошадь", "птица", "рыба", "лес", "камень",
    "серебро", "золото", "бумага"
};
/* clang-format on */
enum { WORDS = sizeof english / sizeof english[0] };
_Static_assert(WORDS == sizeof russian / sizeof russian[0], "one count");

/* ---------------------------------------------------------------- line -- */

void line_add(struct line *line, const char *words)
{
    size_t length = strlen(words);
    if (length > LINE_BYTES - line->length)
        return;
    memcpy(line->bytes + line->length, words, length);
    line->length += length;
}

void line_add_number(struct line *line, uint64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    line_add(line, digits);
}

void line_add_words(struct line *line, uint64_t bits, unsigned count,
                    const char *between)
{
    const char *const *words = (bits & 3) == 0 ? english : russian;
    for (unsigned i = 0; i < count; i++) {
        bits = generate_mix(bits);
        line_add(line, i > 0 ? between : "");
        line_add(line, words[generate_below(bits, WORDS)]);
    }
}

void line_take(struct line *line, struct batch *batch, unsigned column,
               uint64_t row)
{
    memcpy(batch_room(batch, column, row, line->length), line->bytes,
           line->length);
    line->length = 0;
}

/* -------------------------------------------------------------- address -- */

static const char *latin(uint64_t bits)
{
    return english[generate_below(generate_mix(bits), WORDS)];
}

static void add_host(struct line *line, uint64_t site)
{
    static const char *const ends[] = { ".ru", ".ru", ".ru", ".com",
                                        ".ua", ".ru", ".kz", ".com.tr" };
    uint64_t bits = generate_mix(site);
    line_add(line, bits & 8 ? "http://www." : "http://");
    line_add(line, latin(bits));
    line_add(line, bits & 16 ? "-" : "");
    line_add(line, latin(bits + 1));
    line_add_number(line, site % 97);
    line_add(line, ends[bits % 8]);
}

/* One page in some thousands is about a search engine, or lies on one. */
void line_add_address(struct line *line, uint64_t site, uint64_t page,
                      bool whole)
{
    uint64_t bits = generate_mix(generate_mix(site) + page);
    if (whole && bits % 8192 == 3)
        line_add(line, "http://maps.google.ru");
    else if (whole)
        add_host(line, site);
    line_add(line, "/");
    if (page == 0)
        return;
    if (bits % 8192 < 3)
        line_add(line, "google/");
    for (unsigned i = 0; i < 1 + bits / 64 % 3; i++) {
        line_add(line, latin(bits + i));
        line_add(line, "/");
    }
    if (bits & 16) {
        line_add(line, bits & 32 ? "index.php?id=" : "?page=");
        line_add_number(line, page);
        line_add(line, bits & 128 ? "&text=" : "&category=");
        line_add_words(line, bits >> 8, 1 + (bits >> 60) % 4, "+");
    } else {
        line_add_number(line, page);
        line_add(line, bits & 32 ? ".html" : "/");
    }
}

/* -------------------------------------------------------------- numbers -- */

uint64_t line_skewed(struct random *random, uint64_t limit)
{
    unsigned bits = 1;
    while (UINT64_C(1) << bits <= limit)
        bits++;
    for (;;) {
        uint32_t lowest = UINT32_C(1) << random_below(random, bits);
        uint64_t drawn = lowest + random_below(random, lowest);
        if (drawn <= limit)
            return drawn - 1;
    }
}

uint64_t line_mixed(struct random *random, uint64_t limit, unsigned share)
{
    return random_below(random, share) == 0
               ? random_below(random, (uint32_t)limit)
               : line_skewed(random, limit);
}
