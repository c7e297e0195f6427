/* SPDX-License-Identifier: MIT */
/*
 * A web server's log of a month, in the order of time, as a file of it would be:
 * addresses with letters of several alphabets, fields with quotes, commas and
 * line breaks, and NULLs. Visitors are few that come often and many that come
 * once; some of them log in, and buy. A row is made from its number and the
 * seed alone.
 */
#include "tools/generate/generate.h"
#include "line.h"

enum { TS, IP, AGENT, URL, REFERER, STATUS, BYTES, USER_ID, SESSION, COLUMNS };

static const char *const names[COLUMNS] = { "ts",    "ip",      "agent",
                                            "url",   "referer", "status",
                                            "bytes", "user_id", "session" };
static const enum vdbq_type types[COLUMNS] = {
    VDBQ_TIMESTAMP, VDBQ_TEXT,   VDBQ_TEXT,    VDBQ_TEXT, VDBQ_TEXT,
    VDBQ_SMALLINT,  VDBQ_BIGINT, VDBQ_INTEGER, VDBQ_TEXT
};

enum {
    MONTH_SECONDS = 30 * 86400,
    FIRST_SECOND = 1709251200, /* 2024-03-01 00:00:00 */
    SESSION_SECONDS = 5400,
    TEXT_BYTES = 1024,
    BOTS = 20 /* one visitor in so many is a program */
};

struct weblog {
    uint64_t seed, rows;
};

/* A request while it is made. */
struct request {
    struct batch *batch;
    uint64_t row;
    uint64_t visitor; /* bits that say all about one */
    uint64_t second;  /* since the month began       */
    bool is_bot, is_known;
    struct random random;
};

/* ---------------------------------------------------------------- fields -- */

static void fill_agent(struct request *request)
{
    static const char *const people[] = {
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, "
        "like Gecko) Chrome/%.0 Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_3 like Mac OS X) "
        "AppleWebKit/605.1.15 Version/%.1 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (X11; Linux x86_64; rv:%.0) Gecko/20100101 Firefox/%.0",
        "Mozilla/5.0 (Linux; Android 14; \"Pixel 8\") AppleWebKit/537.36 "
        "Chrome/%.0 Mobile Safari/537.36",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_%) Version/17.3 "
        "Safari/605.1.15",
        "Mozilla/5.0 (Windows NT 10.0) Chrome/%.0 Safari/537.36 Edg/%.0",
        "Opera/9.80 (J2ME/MIDP; Opera Mini/%,\nU; ru) Presto/2.12"
    };
    static const char *const bots[] = {
        "Mozilla/5.0 (compatible; Googlebot/2.%; +http://www.google.com/bot)",
        "Mozilla/5.0 (compatible; bingbot/2.%)", "curl/8.%.0",
        "python-requests/2.%"
    };
    struct line line = { 0 };
    struct random random = { generate_mix(request->visitor + 1) };
    const char *form = request->is_bot ? bots[line_skewed(&random, 4)]
                                       : people[line_skewed(&random, 7)];
    uint64_t version = 100 + line_skewed(&random, 25);
    for (char one[2] = ""; *form; form++) {
        one[0] = *form;
        if (*form == '%')
            line_add_number(&line, version);
        else
            line_add(&line, one);
    }
    line_take(&line, request->batch, AGENT, request->row);
}

static void fill_ip(struct request *request)
{
    uint64_t bits = generate_mix(request->visitor + 2);
    batch_print(request->batch, IP, request->row, "%u.%u.%u.%u",
                (unsigned)(bits % 223) + 1, (unsigned)(bits >> 8 & 255),
                (unsigned)(bits >> 16 & 63), (unsigned)(bits >> 24 & 255));
}

/* The way of a sale, the search, and pages of all kinds. */
static void fill_url(struct request *request)
{
    static const char *const places[] = { "/",      "/cart",  "/checkout",
                                          "/about", "/login", "/order/thanks" };
    struct line line = { 0 };
    unsigned kind = random_below(&request->random, 100);
    uint64_t bits = random_bits(&request->random);
    if (kind < 30) {
        line_add(&line, places[line_skewed(&request->random, 6)]);
    } else if (kind < 55) {
        line_add(&line, "/product/");
        line_add_number(&line, line_skewed(&request->random, 20000) + 1);
        line_add(&line, bits & 1 ? "?utm_source=" : "");
        line_add(&line, bits & 1 ? bits & 2 ? "mail" : "ads" : "");
    } else if (kind < 70) {
        line_add(&line, "/search?q=");
        line_add_words(&line, line_skewed(&request->random, 5000), 1 + bits % 3,
                       "+");
        line_add(&line, bits & 4 ? "&page=2" : "");
    } else if (kind < 85) {
        line_add(&line, "/static/");
        line_add_words(&line, line_skewed(&request->random, 300) * 4, 2, "/");
        line_add(&line, bits & 1 ? ".js" : bits & 2 ? ".css" : ".png");
    } else {
        line_add(&line, kind < 92 ? "/каталог" : "/blog");
        line_add_address(&line, 7, line_skewed(&request->random, 8000), false);
    }
    line_take(&line, request->batch, URL, request->row);
}

static void fill_referer(struct request *request)
{
    struct line line = { 0 };
    unsigned kind = random_below(&request->random, 100);
    if (kind < 35 || request->is_bot) {
        batch_null(request->batch, REFERER, request->row);
        return;
    }
    if (kind < 55) {
        line_add(&line, "https://www.google.com/search?q=");
        line_add_words(&line, line_skewed(&request->random, 3000), 2, "+");
    } else {
        line_add_address(&line, line_skewed(&request->random, 400),
                         line_skewed(&request->random, 500), kind != 99);
    }
    line_add(&line, kind == 98 ? "\n\"quoted\"" : "");
    line_take(&line, request->batch, REFERER, request->row);
}

static void fill_status(struct request *request)
{
    static const int16_t others[] = { 304, 301, 404, 302, 500, 403, 503, 400 };
    bool is_good = random_below(&request->random, 100) < 88;
    int64_t status = is_good ? 200 : others[line_skewed(&request->random, 8)];
    batch_integer(request->batch, STATUS, request->row, status);
    batch_integer(request->batch, BYTES, request->row,
                  200 + (int64_t)line_skewed(&request->random, 4000000));
    if (status == 304)
        batch_null(request->batch, BYTES, request->row);
}

static void fill_visitor(struct request *request)
{
    uint64_t part = request->second / SESSION_SECONDS;
    batch_integer(request->batch, USER_ID, request->row,
                  (int64_t)(generate_mix(request->visitor + 3) % 90000000));
    if (!request->is_known)
        batch_null(request->batch, USER_ID, request->row);
    batch_print(request->batch, SESSION, request->row, "%016llx",
                (unsigned long long)generate_mix(request->visitor ^ part));
    if (request->is_bot)
        batch_null(request->batch, SESSION, request->row);
}

/* ------------------------------------------------------------------ rows -- */

extern const struct maker weblog_maker;

static void fill_row(const struct weblog *log, struct request *request,
                     uint64_t row)
{
    request->random = random_start(log->seed, &weblog_maker.output, row);
    uint64_t visitor = line_mixed(&request->random, log->rows / 8 + 1, 2);
    request->visitor = generate_mix(log->seed ^ generate_mix(visitor));
    request->is_bot = request->visitor % BOTS == 0;
    request->is_known = !request->is_bot && request->visitor % 5 < 2;
    uint64_t micros =
        (uint64_t)((double)row / (double)log->rows * MONTH_SECONDS * 1000.0)
        * 1000;
    request->second = micros / 1000000;
    batch_integer(request->batch, TS, request->row,
                  INT64_C(1000000) * FIRST_SECOND + (int64_t)micros);
    fill_ip(request);
    fill_agent(request);
    fill_url(request);
    fill_referer(request);
    fill_status(request);
    fill_visitor(request);
}

static void fill(const void *tables, struct batch *batch)
{
    struct request request = { .batch = batch };
    for (; request.row < batch->rows; request.row++)
        fill_row(tables, &request, batch->first + request.row);
}

static uint64_t row_count(const void *tables)
{
    return ((const struct weblog *)tables)->rows;
}

const struct maker weblog_maker = {
    .output = { .name = "weblog",
                .columns = COLUMNS,
                .names = names,
                .types = types,
                .schema = "(ts timestamp not null, ip text not null, "
                          "agent text not null, url text not null, "
                          "referer text, status smallint not null, "
                          "bytes bigint, user_id integer, session text)" },
    .text_bytes = TEXT_BYTES,
    .batch_units = 8192,
    .unit_rows = 1,
    .units = row_count,
    .fill = fill,
};

int weblog_write(const struct tables_options *options)
{
    struct weblog log = { .seed = options->seed,
                          .rows = maker_scaled(options->scale, 1) };
    return maker_write(&weblog_maker, &log, &options->places);
}
