/* SPDX-License-Identifier: MIT */
/* Inside the generator of hits: the table's columns, and who made a hit. */
#ifndef VDBQ_TOOLS_HITS_H
#define VDBQ_TOOLS_HITS_H

#include "tools/generate/maker.h"

enum {
    HITS_COUNTERS = 6000, /* sites that count their hits                  */
    HITS_DAYS = 31,
    HITS_FIRST_DAY = 15887 /* 2013-07-01                                   */
};

/* How values come to be that say nothing of others. The number after them is
 * a limit or a share. */
enum hits_rule {
    HITS_MADE,  /* by hits.c                                     */
    HITS_FIXED, /* always the number                             */
    HITS_FLAG,  /* 1 in so many of a thousand rows, else 0       */
    HITS_EVEN,  /* below the number, each as likely              */
    HITS_SKEW,  /* below the number, the first far more often    */
    HITS_SOME,  /* as SKEW in one of 64 rows, else 0             */
    HITS_WORD   /* a word in so many of a thousand rows, else '' */
};

/* All columns: name, type, rule, number. Names, types and their order are those
 * that ClickBench published. */
#define HITS_COLUMN_LIST(_)                                                    \
    _(WatchID, BIGINT, MADE, 0)                                                \
    _(JavaEnable, SMALLINT, FLAG, 850)                                         \
    _(Title, TEXT, MADE, 0)                                                    \
    _(GoodEvent, SMALLINT, FIXED, 1)                                           \
    _(EventTime, TIMESTAMP, MADE, 0)                                           \
    _(EventDate, DATE, MADE, 0)                                                \
    _(CounterID, INTEGER, MADE, 0)                                             \
    _(ClientIP, INTEGER, MADE, 0)                                              \
    _(RegionID, INTEGER, MADE, 0)                                              \
    _(UserID, BIGINT, MADE, 0)                                                 \
    _(CounterClass, SMALLINT, FLAG, 300)                                       \
    _(OS, SMALLINT, MADE, 0)                                                   \
    _(UserAgent, SMALLINT, MADE, 0)                                            \
    _(URL, TEXT, MADE, 0)                                                      \
    _(Referer, TEXT, MADE, 0)                                                  \
    _(IsRefresh, SMALLINT, FLAG, 120)                                          \
    _(RefererCategoryID, SMALLINT, SKEW, 3000)                                 \
    _(RefererRegionID, INTEGER, SKEW, 5000)                                    \
    _(URLCategoryID, SMALLINT, SKEW, 3000)                                     \
    _(URLRegionID, INTEGER, SKEW, 5000)                                        \
    _(ResolutionWidth, SMALLINT, MADE, 0)                                      \
    _(ResolutionHeight, SMALLINT, MADE, 0)                                     \
    _(ResolutionDepth, SMALLINT, MADE, 0)                                      \
    _(FlashMajor, SMALLINT, EVEN, 12)                                          \
    _(FlashMinor, SMALLINT, SKEW, 10)                                          \
    _(FlashMinor2, TEXT, WORD, 700)                                            \
    _(NetMajor, SMALLINT, SKEW, 5)                                             \
    _(NetMinor, SMALLINT, SKEW, 3)                                             \
    _(UserAgentMajor, SMALLINT, MADE, 0)                                       \
    _(UserAgentMinor, TEXT, WORD, 900)                                         \
    _(CookieEnable, SMALLINT, FLAG, 990)                                       \
    _(JavascriptEnable, SMALLINT, FLAG, 980)                                   \
    _(IsMobile, SMALLINT, MADE, 0)                                             \
    _(MobilePhone, SMALLINT, MADE, 0)                                          \
    _(MobilePhoneModel, TEXT, MADE, 0)                                         \
    _(Params, TEXT, WORD, 4)                                                   \
    _(IPNetworkID, INTEGER, MADE, 0)                                           \
    _(TraficSourceID, SMALLINT, MADE, 0)                                       \
    _(SearchEngineID, SMALLINT, MADE, 0)                                       \
    _(SearchPhrase, TEXT, MADE, 0)                                             \
    _(AdvEngineID, SMALLINT, MADE, 0)                                          \
    _(IsArtifical, SMALLINT, FLAG, 5)                                          \
    _(WindowClientWidth, SMALLINT, MADE, 0)                                    \
    _(WindowClientHeight, SMALLINT, MADE, 0)                                   \
    _(ClientTimeZone, SMALLINT, EVEN, 12)                                      \
    _(ClientEventTime, TIMESTAMP, MADE, 0)                                     \
    _(SilverlightVersion1, SMALLINT, SKEW, 6)                                  \
    _(SilverlightVersion2, SMALLINT, SKEW, 2)                                  \
    _(SilverlightVersion3, INTEGER, SKEW, 70000)                               \
    _(SilverlightVersion4, SMALLINT, FIXED, 0)                                 \
    _(PageCharset, TEXT, WORD, 970)                                            \
    _(CodeVersion, INTEGER, SKEW, 2000)                                        \
    _(IsLink, SMALLINT, FLAG, 80)                                              \
    _(IsDownload, SMALLINT, FLAG, 4)                                           \
    _(IsNotBounce, SMALLINT, FLAG, 90)                                         \
    _(FUniqID, BIGINT, MADE, 0)                                                \
    _(OriginalURL, TEXT, MADE, 0)                                              \
    _(HID, INTEGER, EVEN, 2147483647)                                          \
    _(IsOldCounter, SMALLINT, FIXED, 0)                                        \
    _(IsEvent, SMALLINT, FIXED, 0)                                             \
    _(IsParameter, SMALLINT, FIXED, 0)                                         \
    _(DontCountHits, SMALLINT, FLAG, 70)                                       \
    _(WithHash, SMALLINT, FIXED, 0)                                            \
    _(HitColor, TEXT, WORD, 1000)                                              \
    _(LocalEventTime, TIMESTAMP, MADE, 0)                                      \
    _(Age, SMALLINT, EVEN, 56)                                                 \
    _(Sex, SMALLINT, EVEN, 3)                                                  \
    _(Income, SMALLINT, EVEN, 5)                                               \
    _(Interests, SMALLINT, SKEW, 30000)                                        \
    _(Robotness, SMALLINT, SKEW, 10)                                           \
    _(RemoteIP, INTEGER, MADE, 0)                                              \
    _(WindowName, INTEGER, SKEW, 1000000)                                      \
    _(OpenerName, INTEGER, SKEW, 1000000)                                      \
    _(HistoryLength, SMALLINT, SKEW, 500)                                      \
    _(BrowserLanguage, TEXT, MADE, 0)                                          \
    _(BrowserCountry, TEXT, MADE, 0)                                           \
    _(SocialNetwork, TEXT, WORD, 2)                                            \
    _(SocialAction, TEXT, WORD, 2)                                             \
    _(HTTPError, SMALLINT, FIXED, 0)                                           \
    _(SendTiming, INTEGER, SKEW, 30000)                                        \
    _(DNSTiming, INTEGER, SKEW, 3000)                                          \
    _(ConnectTiming, INTEGER, SKEW, 3000)                                      \
    _(ResponseStartTiming, INTEGER, SKEW, 30000)                               \
    _(ResponseEndTiming, INTEGER, SKEW, 30000)                                 \
    _(FetchTiming, INTEGER, SKEW, 60000)                                       \
    _(SocialSourceNetworkID, SMALLINT, SOME, 8)                                \
    _(SocialSourcePage, TEXT, WORD, 3)                                         \
    _(ParamPrice, BIGINT, SOME, 1000000)                                       \
    _(ParamOrderID, TEXT, WORD, 1)                                             \
    _(ParamCurrency, TEXT, WORD, 1)                                            \
    _(ParamCurrencyID, SMALLINT, SOME, 4)                                      \
    _(OpenstatServiceName, TEXT, WORD, 12)                                     \
    _(OpenstatCampaignID, TEXT, WORD, 12)                                      \
    _(OpenstatAdID, TEXT, WORD, 12)                                            \
    _(OpenstatSourceID, TEXT, WORD, 12)                                        \
    _(UTMSource, TEXT, WORD, 30)                                               \
    _(UTMMedium, TEXT, WORD, 30)                                               \
    _(UTMCampaign, TEXT, WORD, 30)                                             \
    _(UTMContent, TEXT, WORD, 15)                                              \
    _(UTMTerm, TEXT, WORD, 15)                                                 \
    _(FromTag, TEXT, WORD, 20)                                                 \
    _(HasGCLID, SMALLINT, FLAG, 10)                                            \
    _(RefererHash, BIGINT, MADE, 0)                                            \
    _(URLHash, BIGINT, MADE, 0)                                                \
    _(CLID, INTEGER, SOME, 5000)

#define HITS_NUMBER(name, type, rule, number) HITS_##name,
enum hits_column { HITS_COLUMN_LIST(HITS_NUMBER) HITS_COLUMNS };
#undef HITS_NUMBER

/* Sets a row's values of all columns that are not MADE. */
void hits_fill_simple(struct random *random, struct batch *batch, uint64_t row);

extern const char *const hits_names[HITS_COLUMNS];
extern const enum vdbq_type hits_types[HITS_COLUMNS];

#endif
