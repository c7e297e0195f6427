/* SPDX-License-Identifier: MIT */
/*
 * The scalar functions: a row each. Names, numbers of arguments, declarations,
 * what the planner makes of a call, what the host computes, and what the tests
 * try all follow from these rows (program/functions/function.c,
 * plan/call/bind_scalar.c, tests/functions/forms.py).
 *
 *   BOUND(name, least, most, bound by, meaning)
 *     is made of other expressions by scalar_...(), in src/plan/bind.
 *   OPCODE(name, least, most, bound by, opcode, meaning)
 *     is one opcode OP_..._F64 of the machine, its arguments being DOUBLEs.
 *   HOST(name, least, most, gives, takes, may, computed by, meaning)
 *     is computed by function_...(), in this folder: once for each text of a
 *     dictionary, or else row by row (function.h).
 *
 * `least` and `most` count arguments, MANY being as many as a call can have.
 * A host's function gives a VDBQ_ type and takes TEXT, BIGINT and DOUBLE,
 * written T, I and D, an argument each: the planner casts others. A NULL among
 * them gives NULL at once. It may be PLAIN, or give NULLS where no argument
 * is, or it FAILS for some values, or where texts become too LONG alone.
 *
 * To add a function: its row here, and the one that the row names.
 */
#ifndef VDBQ_PROGRAM_FUNCTION_TABLE_H
#define VDBQ_PROGRAM_FUNCTION_TABLE_H

/* What a host's function may do where no argument is NULL. */
enum function_may {
    FUNCTION_PLAIN,
    FUNCTION_NULLS,
    FUNCTION_FAILS,
    FUNCTION_LONG
};

/* clang-format off */

/* Those with names in SQL. */
#define SCALAR_FUNCTIONS(BOUND, OPCODE, HOST)                                  \
    /* texts */                                                                \
    HOST(lower, 1, 1, TEXT, "T", PLAIN, lower,                                 \
         "ASCII letters as small ones")                                        \
    HOST(upper, 1, 1, TEXT, "T", PLAIN, upper,                                 \
         "ASCII letters as capitals")                                          \
    HOST(lcase, 1, 1, TEXT, "T", PLAIN, lower,                                 \
         "as lower")                                                           \
    HOST(ucase, 1, 1, TEXT, "T", PLAIN, upper,                                 \
         "as upper")                                                           \
    HOST(unicode_lower, 1, 1, TEXT, "T", PLAIN, unicode_lower,                 \
         "letters of Unicode as small ones")                                   \
    HOST(unicode_upper, 1, 1, TEXT, "T", PLAIN, unicode_upper,                 \
         "letters of Unicode as capitals")                                     \
    HOST(casefold, 1, 1, TEXT, "T", PLAIN, casefold,                           \
         "equal for texts that differ in the case of letters alone")           \
    HOST(strip_accents, 1, 1, TEXT, "T", PLAIN, strip_accents,                 \
         "without accents and other marks")                                    \
    HOST(length, 1, 1, BIGINT, "T", PLAIN, length,                             \
         "number of characters")                                               \
    HOST(char_length, 1, 1, BIGINT, "T", PLAIN, length,                        \
         "as length")                                                          \
    HOST(character_length, 1, 1, BIGINT, "T", PLAIN, length,                   \
         "as length")                                                          \
    HOST(len, 1, 1, BIGINT, "T", PLAIN, length,                                \
         "as length")                                                          \
    HOST(octet_length, 1, 1, BIGINT, "T", PLAIN, octet_length,                 \
         "number of bytes")                                                    \
    HOST(strlen, 1, 1, BIGINT, "T", PLAIN, octet_length,                       \
         "as octet_length")                                                    \
    HOST(bit_length, 1, 1, BIGINT, "T", PLAIN, bit_length,                     \
         "number of bits")                                                     \
    HOST(substr, 2, 3, TEXT, "TII", PLAIN, substr,                             \
         "characters from a position on, counted from 1, or from the end if "  \
         "negative; so many of them, or if negative those before")             \
    HOST(substring, 2, 3, TEXT, "TII", PLAIN, substr,                          \
         "as substr")                                                          \
    HOST(trim, 1, 2, TEXT, "TT", PLAIN, trim,                                  \
         "without blanks, or given characters, at both ends")                  \
    HOST(ltrim, 1, 2, TEXT, "TT", PLAIN, ltrim,                                \
         "... at the start")                                                   \
    HOST(rtrim, 1, 2, TEXT, "TT", PLAIN, rtrim,                                \
         "... at the end")                                                     \
    HOST(replace, 3, 3, TEXT, "TTT", LONG, replace,                            \
         "with each second text replaced by the third")                        \
    HOST(instr, 2, 2, BIGINT, "TT", PLAIN, instr,                              \
         "where the second text starts in the first, from 1; 0: nowhere")      \
    HOST(strpos, 2, 2, BIGINT, "TT", PLAIN, instr,                             \
         "as instr")                                                           \
    HOST(translate, 3, 3, TEXT, "TTT", PLAIN, translate,                       \
         "with each character of the second text replaced by the one at its "  \
         "place in the third, or left out if that is shorter")                 \
    BOUND(concat, 1, MANY, concat,                                             \
         "all values as texts, one after another, but NULLs")                  \
    BOUND(concat_ws, 2, MANY, concat_ws,                                       \
         "all values but the first, which stands between them")                \
    BOUND(printf, 1, 8, printf,                                                \
         "a text by a format: %d %u %x %o %f %e %g %s %c, as in SQLite")       \
    BOUND(format, 1, 8, printf,                                                \
         "as printf")                                                          \
    HOST(reverse, 1, 1, TEXT, "T", PLAIN, reverse,                             \
         "characters from the last to the first")                              \
    HOST(repeat, 2, 2, TEXT, "TI", FAILS, repeat,                              \
         "so many times the text")                                             \
    HOST(lpad, 2, 3, TEXT, "TIT", FAILS, lpad,                                 \
         "exactly so many characters: filled up at the start, with blanks "    \
         "or the third text, or cut")                                          \
    HOST(rpad, 2, 3, TEXT, "TIT", FAILS, rpad,                                 \
         "... filled up at the end")                                           \
    HOST(left, 2, 2, TEXT, "TI", PLAIN, left,                                  \
         "the first characters; if negative, all but so many")                 \
    HOST(right, 2, 2, TEXT, "TI", PLAIN, right,                                \
         "the last characters; if negative, all but so many")                  \
    HOST(starts_with, 2, 2, BOOLEAN, "TT", PLAIN, starts_with,                 \
         "whether the first text starts with the second")                      \
    HOST(ends_with, 2, 2, BOOLEAN, "TT", PLAIN, ends_with,                     \
         "whether the first text ends with the second")                        \
    HOST(prefix, 2, 2, BOOLEAN, "TT", PLAIN, starts_with,                      \
         "as starts_with")                                                     \
    HOST(suffix, 2, 2, BOOLEAN, "TT", PLAIN, ends_with,                        \
         "as ends_with")                                                       \
    HOST(contains, 2, 2, BOOLEAN, "TT", PLAIN, contains,                       \
         "whether the second text is in the first")                            \
    HOST(split_part, 3, 3, TEXT, "TTI", PLAIN, split_part,                     \
         "a part of the first text, cut at the second; parts count from 1, "   \
         "or from the end if negative")                                        \
    BOUND(hex, 1, 1, hex,                                                      \
         "its bytes as hexadecimal digits; of NULL none")                      \
    HOST(md5, 1, 1, TEXT, "T", PLAIN, md5,                                     \
         "the MD5 digest of its bytes as hexadecimal digits")                  \
    HOST(sha1, 1, 1, TEXT, "T", PLAIN, sha1,                                   \
         "... SHA-1")                                                          \
    HOST(sha256, 1, 1, TEXT, "T", PLAIN, sha256,                               \
         "... SHA-256")                                                        \
    HOST(unicode, 1, 1, BIGINT, "T", NULLS, unicode,                           \
         "code point of the first character; NULL: there is none")             \
    HOST(ascii, 1, 1, BIGINT, "T", NULLS, unicode,                             \
         "as unicode")                                                         \
    HOST(ord, 1, 1, BIGINT, "T", NULLS, unicode,                               \
         "as unicode")                                                         \
    HOST(char, 1, 8, TEXT, "IIIIIIII", PLAIN, char,                            \
         "characters of these code points")                                    \
    HOST(chr, 1, 1, TEXT, "I", PLAIN, char,                                    \
         "as char")                                                            \
    HOST(levenshtein, 2, 2, BIGINT, "TT", PLAIN, levenshtein,                  \
         "how many characters are to be added, left out or replaced to come "  \
         "from one text to the other")                                         \
    HOST(editdist3, 2, 2, BIGINT, "TT", PLAIN, levenshtein,                    \
         "as levenshtein")                                                     \
    HOST(damerau_levenshtein, 2, 2, BIGINT, "TT", PLAIN, damerau_levenshtein,  \
         "... or to change places")                                            \
    HOST(hamming, 2, 2, BIGINT, "TT", FAILS, hamming,                          \
         "at how many places texts of one length have other characters")       \
    HOST(mismatches, 2, 2, BIGINT, "TT", FAILS, hamming,                       \
         "as hamming")                                                         \
    HOST(jaccard, 2, 2, DOUBLE, "TT", PLAIN, jaccard,                          \
         "how many characters both texts have, of those that one has")         \
    HOST(jaro_similarity, 2, 2, DOUBLE, "TT", PLAIN, jaro_similarity,          \
         "0 to 1 by the characters that both have near the same place")        \
    HOST(jaro_winkler_similarity, 2, 2, DOUBLE, "TT", PLAIN,                   \
         jaro_winkler_similarity,                                              \
         "... more where both begin with the same ones")                       \
    BOUND(like, 2, 3, like,                                                    \
         "whether the second text is LIKE the first, a pattern")               \
    BOUND(ilike, 2, 3, like,                                                   \
         "as like")                                                            \
    BOUND(glob, 2, 2, like,                                                    \
         "whether the second text is GLOB the first, a pattern")               \
    HOST(regexp_matches, 2, 3, BOOLEAN, "TTT", FAILS, regexp_matches,          \
         "whether the second text, a regular expression, matches some of the " \
         "first; the third has options")                                       \
    HOST(regexp_like, 2, 3, BOOLEAN, "TTT", FAILS, regexp_matches,             \
         "as regexp_matches")                                                  \
    HOST(regexp_full_match, 2, 3, BOOLEAN, "TTT", FAILS, regexp_full_match,    \
         "... matches all of the first")                                       \
    HOST(regexp_extract, 2, 4, TEXT, "TTIT", FAILS, regexp_extract,            \
         "what the regular expression, or a group of it, matches first; an "   \
         "empty text: nothing")                                                \
    HOST(regexp_replace, 3, 4, TEXT, "TTTT", FAILS, regexp_replace,            \
         "with the first match, or with option g each, replaced by the third " \
         "text, in which \\\\1 is the first group")                              \
    HOST(regexp_escape, 1, 1, TEXT, "T", PLAIN, regexp_escape,                 \
         "as a regular expression that matches it")                            \
    /* choices and types */                                                    \
    BOUND(coalesce, 1, MANY, coalesce,                                         \
         "the first value that is not NULL")                                   \
    BOUND(ifnull, 2, 2, coalesce,                                              \
         "as coalesce")                                                        \
    BOUND(nullif, 2, 2, nullif,                                                \
         "NULL where both are equal, else the first")                          \
    BOUND(iif, 2, 3, iif,                                                      \
         "the second where the first is true, else the third, or NULL")        \
    BOUND(if, 2, 3, iif,                                                       \
         "as iif")                                                             \
    BOUND(min, 2, MANY, least,                                                 \
         "as least; of one value it is the aggregate")                         \
    BOUND(least, 1, MANY, least,                                               \
         "the least value; NULL where one is")                                 \
    BOUND(max, 2, MANY, greatest,                                              \
         "as greatest; of one value it is the aggregate")                      \
    BOUND(greatest, 1, MANY, greatest,                                         \
         "the greatest value; NULL where one is")                              \
    BOUND(typeof, 1, 1, typeof,                                                \
         "name of the type")                                                   \
    /* numbers */                                                              \
    OPCODE(floor, 1, 1, whole, FLOOR,                                          \
         "the next whole number below")                                        \
    OPCODE(ceil, 1, 1, whole, CEIL,                                            \
         "the next whole number above")                                        \
    OPCODE(ceiling, 1, 1, whole, CEIL,                                         \
         "as ceil")                                                            \
    OPCODE(trunc, 1, 1, whole, TRUNC,                                          \
         "without its fraction")                                               \
    OPCODE(sqrt, 1, 1, opcode, SQRT,                                           \
         "square root")                                                        \
    HOST(cbrt, 1, 1, DOUBLE, "D", PLAIN, cbrt,                                 \
         "cube root, of numbers below 0, too")                                 \
    OPCODE(exp, 1, 1, opcode, EXP,                                             \
         "power of e")                                                         \
    OPCODE(ln, 1, 1, opcode, LN,                                               \
         "natural logarithm")                                                  \
    BOUND(log, 1, 2, log,                                                      \
         "as log10, or to base of the first of two")                           \
    OPCODE(log10, 1, 1, opcode, LOG10,                                         \
         "logarithm to base 10")                                               \
    OPCODE(log2, 1, 1, opcode, LOG2,                                           \
         "logarithm to base 2")                                                \
    OPCODE(sin, 1, 1, opcode, SIN,                                             \
         "sine")                                                               \
    OPCODE(cos, 1, 1, opcode, COS,                                             \
         "cosine")                                                             \
    OPCODE(tan, 1, 1, opcode, TAN,                                             \
         "tangent")                                                            \
    OPCODE(asin, 1, 1, opcode, ASIN,                                           \
         "the angle of a sine")                                                \
    OPCODE(acos, 1, 1, opcode, ACOS,                                           \
         "the angle of a cosine")                                              \
    OPCODE(atan, 1, 1, opcode, ATAN,                                           \
         "the angle of a tangent")                                             \
    OPCODE(atan2, 2, 2, opcode, ATAN2,                                         \
         "the angle of the point at the height and the width")                 \
    OPCODE(power, 2, 2, opcode, POWER,                                         \
         "the first to the power of the second")                               \
    OPCODE(pow, 2, 2, opcode, POWER,                                           \
         "as power")                                                           \
    BOUND(mod, 2, 2, mod,                                                      \
         "what is left of the first, divided by the second")                   \
    BOUND(abs, 1, 1, abs,                                                      \
         "without its sign")                                                   \
    BOUND(sign, 1, 1, sign,                                                    \
         "-1, 0 or 1")                                                         \
    BOUND(xor, 2, 2, xor,                                                      \
         "the bits that one of both integers has")                             \
    HOST(bit_count, 1, 1, BIGINT, "I", PLAIN, bit_count,                       \
         "how many of its 64 bits are 1")                                      \
    HOST(gcd, 2, 2, BIGINT, "II", FAILS, gcd,                                  \
         "the largest number that divides both")                               \
    HOST(lcm, 2, 2, BIGINT, "II", FAILS, lcm,                                  \
         "the smallest number that both divide; 0 where one is 0")             \
    HOST(sinh, 1, 1, DOUBLE, "D", NULLS, sinh,                                 \
         "hyperbolic sine")                                                    \
    HOST(cosh, 1, 1, DOUBLE, "D", NULLS, cosh,                                 \
         "hyperbolic cosine")                                                  \
    HOST(tanh, 1, 1, DOUBLE, "D", NULLS, tanh,                                 \
         "hyperbolic tangent")                                                 \
    HOST(asinh, 1, 1, DOUBLE, "D", NULLS, asinh,                               \
         "the number of a hyperbolic sine")                                    \
    HOST(acosh, 1, 1, DOUBLE, "D", NULLS, acosh,                               \
         "the number of a hyperbolic cosine, from 0 on")                       \
    HOST(atanh, 1, 1, DOUBLE, "D", NULLS, atanh,                               \
         "the number of a hyperbolic tangent")                                 \
    HOST(cot, 1, 1, DOUBLE, "D", NULLS, cot,                                   \
         "cotangent")                                                          \
    HOST(even, 1, 1, DOUBLE, "D", NULLS, even,                                 \
         "the next even number away from 0")                                   \
    HOST(isinf, 1, 1, BOOLEAN, "D", PLAIN, isinf,                              \
         "whether it is infinite")                                             \
    HOST(isfinite, 1, 1, BOOLEAN, "D", PLAIN, isfinite,                        \
         "whether it is not")                                                  \
    HOST(factorial, 1, 1, BIGINT, "I", FAILS, factorial,                       \
         "the product of all numbers from 1 on up to it")                      \
    HOST(bin, 1, 1, TEXT, "I", PLAIN, bin,                                     \
         "its bits as digits")                                                 \
    HOST(to_hex, 1, 1, TEXT, "I", PLAIN, to_hex,                               \
         "... in hexadecimal digits")                                          \
    BOUND(random, 0, 0, random,                                                \
         "any integer of 64 bits, another one in each row")                    \
    BOUND(pi, 0, 0, pi,                                                        \
         "the circumference of a circle through its diameter")                 \
    BOUND(degrees, 1, 1, degrees,                                              \
         "an angle in radians, in degrees")                                    \
    BOUND(radians, 1, 1, radians,                                              \
         "an angle in degrees, in radians")                                    \
    BOUND(round, 1, 2, round,                                                  \
         "rounded to so many digits behind the point, or to a whole number")   \
    /* dates and times */                                                      \
    BOUND(extract, 2, 2, extract,                                              \
         "a part of a date or a time, by name")                                \
    BOUND(date_part, 2, 2, extract,                                            \
         "as extract")                                                         \
    BOUND(date_diff, 3, 3, date_diff,                                          \
         "how often a part of a date or a time begins from one to another")    \
    BOUND(datediff, 3, 3, date_diff,                                           \
         "as date_diff")                                                       \
    BOUND(date_trunc, 2, 2, date_trunc,                                        \
         "when the part of a date or a time began, as a TIMESTAMP")            \
    BOUND(make_date, 3, 3, make_date,                                          \
         "the day of a year, a month and a day of the month")                  \
    HOST(strptime, 2, 2, TIMESTAMP, "TT", FAILS, strptime,                     \
         "the moment that a text is by a format")                              \
    HOST(try_strptime, 2, 2, TIMESTAMP, "TT", NULLS, try_strptime,             \
         "... NULL where it is none")                                          \
    BOUND(make_timestamp, 1, 6, make_timestamp,                                \
         "the time of six numbers, or of microseconds since 1970")             \
    BOUND(make_timestamp_ms, 1, 1, make_timestamp_ms,                          \
         "the time of milliseconds since 1970")                                \
    BOUND(to_timestamp, 1, 1, to_timestamp,                                    \
         "the time of seconds since 1970")                                     \
    BOUND(epoch_ms, 1, 1, epoch_ms,                                            \
         "milliseconds since 1970, or the time of these")                      \
    BOUND(epoch_us, 1, 1, epoch_us,                                            \
         "microseconds since 1970")                                            \
    BOUND(epoch_ns, 1, 1, epoch_ns,                                            \
         "nanoseconds since 1970")                                             \
    BOUND(last_day, 1, 1, last_day,                                            \
         "the last day of a date's month")                                     \
    BOUND(dayname, 1, 1, dayname,                                              \
         "the English name of the day of the week")                            \
    BOUND(monthname, 1, 1, monthname,                                          \
         "the English name of the month")                                      \
    BOUND(epoch, 1, 1, epoch,                                                  \
         "seconds since 1970, as a DOUBLE")                                    \
    BOUND(year, 1, 1, part,                                                    \
         "the year of a date or a time")                                       \
    BOUND(month, 1, 1, part,                                                   \
         "its month")                                                          \
    BOUND(day, 1, 1, part,                                                     \
         "its day")                                                            \
    BOUND(hour, 1, 1, part,                                                    \
         "its hour")                                                           \
    BOUND(minute, 1, 1, part,                                                  \
         "its minute")                                                         \
    BOUND(second, 1, 1, part,                                                  \
         "its second")                                                         \
    BOUND(quarter, 1, 1, part,                                                 \
         "its quarter of the year, from 1 on")                                 \
    BOUND(week, 1, 1, part,                                                    \
         "its week of the year, by ISO 8601")                                  \
    BOUND(weekofyear, 1, 1, part,                                              \
         "as week")                                                            \
    BOUND(dayofmonth, 1, 1, part,                                              \
         "as day")                                                             \
    BOUND(dayofweek, 1, 1, part,                                               \
         "its day of the week, 0 being Sunday")                                \
    BOUND(weekday, 1, 1, part,                                                 \
         "as dayofweek")                                                       \
    BOUND(isodow, 1, 1, part,                                                  \
         "its day of the week, from Monday, 1, on")                            \
    BOUND(dayofyear, 1, 1, part,                                               \
         "its day of the year, from 1 on")                                     \
    BOUND(decade, 1, 1, part,                                                  \
         "its tens of years")                                                  \
    BOUND(century, 1, 1, part,                                                 \
         "its century: from 1901 on the 20th")                                 \
    BOUND(millennium, 1, 1, part,                                              \
         "its millennium: from 1001 on the 2nd")                               \
    BOUND(isoyear, 1, 1, part,                                                 \
         "the year of its week, by ISO 8601")                                  \
    BOUND(yearweek, 1, 1, part,                                                \
         "... and the week: 202453")                                           \
    BOUND(millisecond, 1, 1, part,                                             \
         "the milliseconds of its minute")                                     \
    BOUND(microsecond, 1, 1, part,                                             \
         "the microseconds of its minute")                                     \
    BOUND(datepart, 2, 2, extract,                                             \
         "as extract")                                                         \
    BOUND(datetrunc, 2, 2, date_trunc,                                         \
         "as date_trunc")                                                      \
    BOUND(today, 0, 0, date,                                                   \
         "the day of the statement")                                           \
    BOUND(date, 0, MANY, date,                                                 \
         "the day of a moment, which modifiers move")                          \
    BOUND(datetime, 0, MANY, datetime,                                         \
         "... as a TIMESTAMP of whole seconds")                                \
    BOUND(timestamp, 1, MANY, timestamp,                                       \
         "... as a TIMESTAMP")                                                 \
    BOUND(time, 0, MANY, time,                                                 \
         "... its time of the day as a text")                                  \
    BOUND(julianday, 0, MANY, julianday,                                       \
         "... as days since noon of 4714-11-24 BC")                            \
    BOUND(unixepoch, 0, MANY, unixepoch,                                       \
         "... as seconds since 1970")                                          \
    BOUND(strftime, 1, MANY, strftime,                                         \
         "... as a format says")                                               \
    BOUND(now, 0, 0, timestamp,                                                \
         "the time of the statement")                                          \
    BOUND(likely, 1, 1, likely,                                                \
         "the value: what a planner may expect of it")                         \
    BOUND(unlikely, 1, 1, likely,                                              \
         "as likely")                                                          \
    BOUND(likelihood, 2, 2, likely,                                            \
         "as likely")                                                          \
    BOUND(changes, 0, 0, changes,                                              \
         "how many rows the last statement that changes some has changed")     \
    BOUND(total_changes, 0, 0, total_changes,                                  \
         "... all of them on the connection")                                  \
    BOUND(last_insert_rowid, 0, 0, last_insert_rowid,                          \
         "the integer key of the row that the connection inserted last")       \
    BOUND(version, 0, 0, version,                                              \
         "of vdbq, a TEXT")

/* Those that only the planner calls: casts, and what functions with names in
 * SQL are made of. Two of one name are two functions: like(text, pattern) here
 * is like(pattern, text) there. */
#define INNER_FUNCTIONS(HOST)                                                  \
    HOST(concat, 1, 8, TEXT, "TTTTTTTT", LONG, concat,                         \
         "all texts, one after another")                                       \
    HOST(concat_ws, 2, 8, TEXT, "TTTTTTTT", LONG, concat_ws,                   \
         "all texts but the first, which stands between them")                 \
    HOST(printf, 1, 8, TEXT, "TTTTTTTT", FAILS, printf,                        \
         "values by a format; those that are not there are empty texts")       \
    HOST(compare, 2, 2, INTEGER, "TT", PLAIN, compare,                         \
         "-1, 0 or 1: the first text is less, equal or greater, by bytes")     \
    HOST(hex, 1, 1, TEXT, "T", PLAIN, hex,                                     \
         "its bytes as hexadecimal digits")                                    \
    HOST(like, 2, 3, BOOLEAN, "TTT", PLAIN, like,                              \
         "whether the text is like the pattern: % any characters, _ one; "     \
         "ASCII letters match in either case. The third text is the escape, "  \
         "one character")                                                      \
    HOST(ilike, 2, 3, BOOLEAN, "TTT", PLAIN, like,                             \
         "as like")                                                            \
    HOST(glob, 2, 2, BOOLEAN, "TT", PLAIN, glob,                               \
         "whether the text is like the pattern: * any characters, ? one, "     \
         "[...] one of these, [^...] none of them")                            \
    HOST(strftime, 2, 2, TEXT, "TI", NULLS, strftime,                          \
         "a timestamp as the format says; NULL: it has an unknown letter")     \
    HOST(to_date, 1, 1, DATE, "T", FAILS, to_date,                             \
         "CAST of a text to DATE")                                             \
    HOST(to_timestamp, 1, 1, TIMESTAMP, "T", FAILS, to_timestamp,              \
         "CAST of a text to TIMESTAMP")                                        \
    HOST(to_moment, 1, 1, TIMESTAMP, "T", NULLS, to_moment,                    \
         "the moment that a text is, a date, a time or a Julian day; NULL: "   \
         "none")                                                               \
    HOST(from_julian, 1, 1, TIMESTAMP, "D", NULLS, from_julian,                \
         "the moment of a Julian day; NULL: outside the years of dates")       \
    HOST(from_unix, 1, 1, TIMESTAMP, "D", NULLS, from_unix,                    \
         "the moment so many seconds after 1970-01-01; NULL likewise")         \
    HOST(moved, 2, 2, TIMESTAMP, "IT", NULLS, moved,                           \
         "a moment moved as the text says, '+1 month'; NULL: it says "         \
         "nothing")                                                            \
    HOST(to_smallint, 1, 1, SMALLINT, "T", FAILS, to_smallint,                 \
         "CAST of a text to SMALLINT: the number it starts with")              \
    HOST(to_integer, 1, 1, INTEGER, "T", FAILS, to_integer,                    \
         "CAST of a text to INTEGER: the number it starts with")               \
    HOST(to_bigint, 1, 1, BIGINT, "T", FAILS, to_bigint,                       \
         "CAST of a text to BIGINT: the number it starts with")                \
    HOST(to_float, 1, 1, FLOAT, "T", PLAIN, to_float,                          \
         "CAST of a text to FLOAT: the number it starts with")                 \
    HOST(to_double, 1, 1, DOUBLE, "T", PLAIN, to_double,                       \
         "CAST of a text to DOUBLE: the number it starts with")                \
    HOST(to_decimal, 3, 3, DECIMAL, "TII", FAILS, to_decimal,                  \
         "CAST of a text to DECIMAL of a precision and a scale")               \
    HOST(to_boolean, 1, 1, BOOLEAN, "T", FAILS, to_boolean,                    \
         "CAST of a text to BOOLEAN")                                          \
    HOST(try_smallint, 1, 1, SMALLINT, "T", NULLS, try_smallint,               \
         "TRY_CAST of a text to SMALLINT")                                     \
    HOST(try_integer, 1, 1, INTEGER, "T", NULLS, try_integer,                  \
         "TRY_CAST of a text to INTEGER")                                      \
    HOST(try_bigint, 1, 1, BIGINT, "T", NULLS, try_bigint,                     \
         "TRY_CAST of a text to BIGINT")                                       \
    HOST(try_double, 1, 1, DOUBLE, "T", NULLS, try_double,                     \
         "TRY_CAST of a text to DOUBLE")                                       \
    HOST(try_decimal, 3, 3, DECIMAL, "TII", NULLS, try_decimal,                \
         "TRY_CAST of a text to DECIMAL of a precision and a scale")           \
    HOST(try_boolean, 1, 1, BOOLEAN, "T", NULLS, try_boolean,                  \
         "TRY_CAST of a text to BOOLEAN")                                      \
    HOST(try_date, 1, 1, DATE, "T", NULLS, try_date,                           \
         "TRY_CAST of a text to DATE")                                         \
    HOST(try_timestamp, 1, 1, TIMESTAMP, "T", NULLS, try_timestamp,            \
         "TRY_CAST of a text to TIMESTAMP")                                    \
    HOST(from_integer, 1, 1, TEXT, "I", PLAIN, from_integer,                   \
         "CAST of an integer to TEXT")                                         \
    HOST(from_float, 1, 1, TEXT, "D", PLAIN, from_float,                       \
         "CAST of a FLOAT to TEXT")                                            \
    HOST(from_double, 1, 1, TEXT, "D", PLAIN, from_double,                     \
         "CAST of a DOUBLE to TEXT")                                           \
    HOST(from_decimal, 2, 2, TEXT, "II", PLAIN, from_decimal,                  \
         "CAST of a DECIMAL of a scale to TEXT")                               \
    HOST(from_boolean, 1, 1, TEXT, "I", PLAIN, from_boolean,                   \
         "CAST of a BOOLEAN to TEXT")                                          \
    HOST(from_date, 1, 1, TEXT, "I", PLAIN, from_date,                         \
         "CAST of a DATE to TEXT")                                             \
    HOST(from_timestamp, 1, 1, TEXT, "I", PLAIN, from_timestamp,               \
         "CAST of a TIMESTAMP to TEXT")                                        \
    HOST(bound_bigint, 2, 2, BIGINT, "TI", NULLS, bound_bigint,                \
         "what a BIGINT is compared with in the place of a text: bound.h")     \
    HOST(bound_double, 2, 2, DOUBLE, "TI", NULLS, bound_double,                \
         "what a DOUBLE is compared with in the place of a text: bound.h")     \
    HOST(number_text, 1, 1, TEXT, "T", PLAIN, number_text,                     \
         "a text, but one for all texts that look like the same number")       \
    HOST(number_text_of, 1, 1, TEXT, "D", PLAIN, number_text_of,               \
         "one text for all numbers that are equal")

/* clang-format on */

#endif
