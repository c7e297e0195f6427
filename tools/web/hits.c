/* SPDX-License-Identifier: MIT */
/*
 * Hits on web sites, a table of ClickBench's shape. Rows lie in the order of
 * their site's counter and, there, of their day, as in the published table: four
 * neighbours are a visit of one user. A row is made from its number and the
 * seed alone.
 */
#include "hits.h"

#include <string.h>

#include "tools/generate/generate.h"
#include "line.h"

enum {
    VISIT_HITS = 4,
    DAY_SECONDS = 86400,
    COUNTER_STEP = 30, /* between numbers of counters: 2, 32, 62, ...   */
    ASKED_COUNTER = 2, /* number 62, of which the queries ask           */
    ASKED_USER = 7,    /* the queries ask for one user, one address ... */
    TEXT_BYTES = 2048  /* of a row                                      */
};
#define ASKED_USER_ID      INT64_C(435090932899640449)
#define ASKED_URL_HASH     INT64_C(2868770270353813622)
#define ASKED_REFERER_HASH INT64_C(3594120000172545465)

struct hits {
    uint64_t seed, rows;
    uint64_t first[HITS_COUNTERS + 1]; /* row of each counter */
};

/* A page of a site. */
struct page {
    uint64_t site, number;
};

/* A hit while it is made. */
struct hit {
    const struct hits *hits;
    struct batch *batch;
    uint64_t row;     /* in the batch         */
    uint64_t counter; /* its number, from 0   */
    uint64_t user;
    struct random random; /* of this hit          */
};

/* ------------------------------------------------------------- counters -- */

/* Zipf's law: the second has half as many hits as the first. Which counter has
 * which rank is mixed; the one that queries ask for has a hundredth. */
static void share_rows(struct hits *hits)
{
    uint64_t weight[HITS_COUNTERS], total = 0, sum = 0;
    for (unsigned i = 0; i < HITS_COUNTERS; i++) {
        unsigned rank = (2957u * i + 97u) % HITS_COUNTERS;
        total += weight[i] = (UINT64_C(1) << 24) / (rank + 1);
    }
    for (unsigned i = 0; i < HITS_COUNTERS; i++) {
        hits->first[i] = sum * hits->rows / total;
        sum += weight[i];
    }
    hits->first[HITS_COUNTERS] = hits->rows;
}

/* The counter whose rows hold this one. */
static uint64_t counter_of(const struct hits *hits, uint64_t row)
{
    uint64_t low = 0, high = HITS_COUNTERS;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (hits->first[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint64_t counter_rows(const struct hits *hits, uint64_t counter)
{
    return hits->first[counter + 1] - hits->first[counter];
}

/* ---------------------------------------------------------------- texts -- */

static struct page draw_page(struct hit *hit, uint64_t site)
{
    uint64_t pages = counter_rows(hit->hits, site) * 3 / 10 + 1;
    return (struct page){ site, line_mixed(&hit->random, pages, 3) };
}

static int64_t page_hash(struct page page)
{
    return (int64_t)generate_mix(generate_mix(page.site * 3) + page.number);
}

static bool is_asked_page(struct page page)
{
    return page.site == ASKED_COUNTER && page.number == 0;
}

static void fill_address(struct hit *hit, struct page page)
{
    struct line line = { 0 };
    line_add_address(&line, page.site, page.number, true);
    line_take(&line, hit->batch, HITS_URL, hit->row);
    batch_integer(hit->batch, HITS_URLHash, hit->row,
                  is_asked_page(page) ? ASKED_URL_HASH : page_hash(page));
    if (random_below(&hit->random, 50) == 0)
        line_add_address(&line, page.site, page.number + 1, true);
    line_take(&line, hit->batch, HITS_OriginalURL, hit->row);
}

/* One page in seven has no title. */
static void fill_title(struct hit *hit, struct page page)
{
    struct line line = { 0 };
    uint64_t bits = (uint64_t)page_hash(page);
    if (bits % 7 != 0) {
        line_add_words(&line, bits, 3 + bits / 7 % 8, " ");
        line_add(&line, bits % 4093 < 3 ? " - Google" : "");
        line_add(&line, " | ");
        line_add_words(&line, page.site, 2, " ");
    }
    line_take(&line, hit->batch, HITS_Title, hit->row);
}

static void add_phrase(struct line *line, uint64_t phrase, const char *between)
{
    line_add_words(line, generate_mix(phrase), 1 + phrase % 5, between);
}

/* Sets what a hit that a search led to has, and adds the address of the search
 * to `line`. */
static void fill_search(struct hit *hit, struct line *line)
{
    static const char *const engines[] = {
        "http://yandex.ru/yandsearch?text=", "http://www.google.ru/search?q=",
        "http://go.mail.ru/search?q=", "http://nova.rambler.ru/search?query="
    };
    struct line words = { 0 };
    uint64_t engine = line_skewed(&hit->random, 4);
    uint64_t phrase = line_mixed(&hit->random, hit->hits->rows / 10 + 1, 2);
    add_phrase(&words, phrase, " ");
    line_take(&words, hit->batch, HITS_SearchPhrase, hit->row);
    batch_integer(hit->batch, HITS_SearchEngineID, hit->row,
                  (int64_t)engine + 2);
    line_add(line, engines[engine]);
    add_phrase(line, phrase, "+");
}

static int64_t referer_hash(struct page page)
{
    return is_asked_page(page)
               ? ASKED_REFERER_HASH
               : (int64_t)generate_mix((uint64_t)page_hash(page));
}

/* Where a hit comes from: nowhere, the same site, another one, a search. */
static void fill_referer(struct hit *hit)
{
    struct line line = { 0 };
    unsigned kind = random_below(&hit->random, 100);
    int64_t source = kind < 20 ? 0 : kind < 62 ? -1 : kind < 87 ? 1 : 2;
    int64_t hash = 0;
    batch_integer(hit->batch, HITS_SearchEngineID, hit->row, 0);
    batch_words(hit->batch, HITS_SearchPhrase, hit->row, "");
    if (source == 2) {
        fill_search(hit, &line);
        hash = (int64_t)random_bits(&hit->random);
    } else if (source != 0) {
        struct page page = draw_page(
            hit, source < 0
                     ? hit->counter
                     : counter_of(hit->hits,
                                  random_below(&hit->random,
                                               (uint32_t)hit->hits->rows)));
        line_add_address(&line, page.site, page.number, true);
        hash = referer_hash(page);
    }
    line_take(&line, hit->batch, HITS_Referer, hit->row);
    batch_integer(hit->batch, HITS_RefererHash, hit->row, hash);
    batch_integer(hit->batch, HITS_TraficSourceID, hit->row, source);
}

/* ----------------------------------------------------------------- user -- */

static void fill_screen(struct random *random, struct batch *batch,
                        uint64_t row, bool is_mobile)
{
    static const int16_t widths[] = { 1366, 1920, 1280, 1024, 1600,
                                      1440, 1680, 1152, 1368, 2560 };
    static const int16_t heights[] = { 768, 1080, 1024, 768, 900,
                                       900, 1050, 864,  768, 1440 };
    uint64_t screen = line_skewed(random, 10);
    int64_t width =
        is_mobile ? 320 + 40 * random_between(random, 0, 12) : widths[screen];
    int64_t height = is_mobile ? width * 3 / 2 : heights[screen];
    batch_integer(batch, HITS_ResolutionWidth, row, width);
    batch_integer(batch, HITS_ResolutionHeight, row, height);
    batch_integer(batch, HITS_ResolutionDepth, row,
                  random_below(random, 8) ? 32 : 24);
    batch_integer(batch, HITS_WindowClientWidth, row,
                  width - 10 * (int64_t)line_skewed(random, 30));
    batch_integer(batch, HITS_WindowClientHeight, row,
                  height - 5 * (int64_t)line_skewed(random, 60));
}

static void fill_phone(struct random *random, struct batch *batch, uint64_t row,
                       bool is_mobile)
{
    static const char *const makers[] = { "iPad",    "iPhone ", "Galaxy ",
                                          "Lumia ",  "Nokia ",  "HTC ",
                                          "Xperia ", "MI " };
    uint64_t maker = line_skewed(random, 8), model = line_skewed(random, 22);
    batch_integer(batch, HITS_IsMobile, row, is_mobile);
    batch_integer(batch, HITS_MobilePhone, row,
                  is_mobile ? (int64_t)maker + 1 : 0);
    if (!is_mobile)
        batch_words(batch, HITS_MobilePhoneModel, row, "");
    else if (maker == 0)
        batch_words(batch, HITS_MobilePhoneModel, row, makers[0]);
    else
        batch_print(batch, HITS_MobilePhoneModel, row, "%s%u", makers[maker],
                    (unsigned)model * 10);
}

/* What goes with a user, always the same. */
static void fill_user(struct hit *hit)
{
    static const char *const languages[] = {
        "ru", "en", "uk", "tr", "kk", "de"
    };
    struct batch *batch = hit->batch;
    uint64_t row = hit->row, bits = generate_mix(hit->hits->seed ^ hit->user);
    struct random random = { generate_mix(bits) };
    bool is_mobile = random_below(&random, 100) < 6;
    int64_t address = (int32_t)random_bits(&random);
    int64_t browser = (int64_t)line_skewed(&random, 80);
    batch_integer(batch, HITS_UserID, row,
                  hit->user == ASKED_USER ? ASKED_USER_ID
                                          : (int64_t)(bits >> 1));
    batch_integer(batch, HITS_FUniqID, row,
                  bits % 3 ? (int64_t)generate_mix(bits) : 0);
    batch_integer(batch, HITS_RegionID, row,
                  (int64_t)line_skewed(&random, 9000) + 1);
    batch_integer(batch, HITS_ClientIP, row,
                  address + random_below(&hit->random, 8) / 7);
    batch_integer(batch, HITS_RemoteIP, row, address);
    batch_integer(batch, HITS_IPNetworkID, row,
                  (int64_t)line_skewed(&random, 4000000));
    batch_integer(batch, HITS_OS, row, (int64_t)line_skewed(&random, 90));
    batch_integer(batch, HITS_UserAgent, row, browser);
    batch_integer(batch, HITS_UserAgentMajor, row,
                  (browser * 7 + random_below(&random, 9)) % 50);
    batch_words(batch, HITS_BrowserLanguage, row,
                languages[line_skewed(&random, 6)]);
    batch_words(batch, HITS_BrowserCountry, row,
                languages[line_skewed(&random, 6)]);
    fill_screen(&random, batch, row, is_mobile);
    fill_phone(&random, batch, row, is_mobile);
}

/* ------------------------------------------------------------------ hit -- */

/* Hits of a visit follow one another within minutes. */
static void fill_time(struct hit *hit, struct random *visit, uint64_t number)
{
    int64_t day =
        HITS_FIRST_DAY
        + (int64_t)(number * HITS_DAYS / counter_rows(hit->hits, hit->counter));
    int64_t second =
        (random_below(visit, DAY_SECONDS) + random_below(visit, DAY_SECONDS))
        / 2;
    second +=
        (int64_t)(number % VISIT_HITS) * 40 + random_below(&hit->random, 40);
    if (second >= DAY_SECONDS)
        second = DAY_SECONDS - 1;
    int64_t time = (day * DAY_SECONDS + second) * 1000000;
    int64_t off = random_between(&hit->random, -60, 60) * 1000000;
    batch_integer(hit->batch, HITS_EventDate, hit->row, day);
    batch_integer(hit->batch, HITS_EventTime, hit->row, time);
    batch_integer(hit->batch, HITS_ClientEventTime, hit->row, time + off);
    batch_integer(hit->batch, HITS_LocalEventTime, hit->row,
                  time + 2 * off + INT64_C(14400000000));
}

static void fill_hit(struct hit *hit, uint64_t number)
{
    struct page page = draw_page(hit, hit->counter);
    struct batch *batch = hit->batch;
    batch_integer(batch, HITS_WatchID, hit->row,
                  (int64_t)(random_bits(&hit->random) >> 1));
    batch_integer(batch, HITS_CounterID, hit->row,
                  (int64_t)hit->counter * COUNTER_STEP + 2);
    batch_integer(batch, HITS_AdvEngineID, hit->row,
                  random_below(&hit->random, 160) == 0
                      ? 1 + (int64_t)line_skewed(&hit->random, 60)
                      : 0);
    hits_fill_simple(&hit->random, batch, hit->row);
    fill_address(hit, page);
    fill_title(hit, page);
    fill_referer(hit);
    fill_user(hit);
    struct random visit = { generate_mix(hit->user + number / VISIT_HITS) };
    fill_time(hit, &visit, number);
}

extern const struct maker hits_maker;

/* Row `number` of a counter. */
static void fill_row(struct hit *hit, uint64_t number)
{
    const struct hits *hits = hit->hits;
    const struct output_table *table = &hits_maker.output;
    uint64_t first = hits->first[hit->counter] + number;
    struct random visit = random_start(~hits->seed, table,
                                       hits->first[hit->counter]
                                           + number / VISIT_HITS * VISIT_HITS);
    hit->user = line_mixed(&visit, hits->rows * 35 / 100 + 8, 2);
    hit->random = random_start(hits->seed, table, first);
    fill_hit(hit, number);
}

static void fill(const void *tables, struct batch *batch)
{
    struct hit hit = { .hits = tables, .batch = batch };
    hit.counter = counter_of(hit.hits, batch->first);
    for (uint64_t row = 0; row < batch->rows; row++) {
        while (hit.hits->first[hit.counter + 1] <= batch->first + row)
            hit.counter++;
        hit.row = row;
        fill_row(&hit, batch->first + row - hit.hits->first[hit.counter]);
    }
}

static uint64_t row_count(const void *tables)
{
    return ((const struct hits *)tables)->rows;
}

const struct maker hits_maker = {
    .output = { .name = "hits",
                .columns = HITS_COLUMNS,
                .names = hits_names,
                .types = hits_types },
    .text_bytes = TEXT_BYTES,
    .batch_units = 8192,
    .unit_rows = 1,
    .units = row_count,
    .fill = fill,
};

int hits_write(const struct tables_options *options)
{
    struct hits hits = { .seed = options->seed,
                         .rows = maker_scaled(options->scale, 1) };
    share_rows(&hits);
    return maker_write(&hits_maker, &hits, &options->places);
}
