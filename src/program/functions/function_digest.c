/* SPDX-License-Identifier: MIT */
/*
 * Digests of a text's bytes, as small hexadecimal digits: MD5 (RFC 1321), SHA-1
 * and SHA-256 (FIPS 180-4). They tell texts apart; the first two keep no secret.
 */
#include <assert.h>
#include <string.h>

#include "base/threads/stop.h"
#include "program/functions/function_inner.h"

enum { BLOCK_BYTES = 64, BLOCK_WORDS = 16, STATE_WORDS_MAX = 8 };

/* How a digest is made: block by block. */
struct manner {
    uint32_t start[STATE_WORDS_MAX];
    unsigned words;  /* of the state */
    bool big_endian; /* words of blocks and of the state; else little-endian */
    void (*add)(uint32_t *state, const uint32_t *block);
};

static uint32_t turn_left(uint32_t word, unsigned bits)
{
    return word << bits | word >> (32 - bits);
}

static uint32_t turn_right(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

/* ------------------------------------------------------------------ MD5 -- */

/* 2^32 times the sine of 1, 2, ..., without sign. */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
    0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
    0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
    0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
    0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
    0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
    0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
    0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
    0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391
};

/* What a round makes of three words. */
static uint32_t md5_mixed(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
    return round == 0   ? (b & c) | (~b & d)
           : round == 1 ? (d & b) | (~d & c)
           : round == 2 ? b ^ c ^ d
                        : c ^ (b | ~d);
}

/* Four steps of a round, behind which each word is in its place again. With `round`
 * and `step` known, the compiler leaves nothing but sums and turns of them. */
static inline void md5_steps(uint32_t *words, const uint32_t *block,
                             unsigned round, unsigned step)
{
    static const unsigned turns[4][4] = { { 7, 12, 17, 22 },
                                          { 5, 9, 14, 20 },
                                          { 4, 11, 16, 23 },
                                          { 6, 10, 15, 21 } };
    static const unsigned first[4] = { 0, 1, 5, 0 }, apart[4] = { 1, 5, 3, 7 };

    for (unsigned i = 0; i < 4; i++) {
        unsigned at = (first[round] + apart[round] * (step + i)) % BLOCK_WORDS;
        uint32_t *a = &words[-i % 4], b = words[(1 - i) % 4];
        uint32_t mixed =
            md5_mixed(round, b, words[(2 - i) % 4], words[(3 - i) % 4]);
        uint32_t sum = *a + mixed + sines[16 * round + step + i] + block[at];
        *a = b + turn_left(sum, turns[round][i]);
    }
}

static inline void md5_round(uint32_t *words, const uint32_t *block,
                             unsigned round)
{
    for (unsigned step = 0; step < 16; step += 4)
        md5_steps(words, block, round, step);
}

static void add_md5(uint32_t *state, const uint32_t *block)
{
    uint32_t words[4];

    memcpy(words, state, sizeof words);
    md5_round(words, block, 0);
    md5_round(words, block, 1);
    md5_round(words, block, 2);
    md5_round(words, block, 3);
    for (unsigned i = 0; i < 4; i++)
        state[i] += words[i];
}

static const struct manner md5 = {
    .start = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 },
    .words = 4,
    .add = add_md5,
};

/* ---------------------------------------------------------------- SHA-1 -- */

static void add_sha1(uint32_t *state, const uint32_t *block)
{
    static const uint32_t constants[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc,
                                           0xca62c1d6 };
    uint32_t words[80], a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4];

    memcpy(words, block, BLOCK_BYTES);
    for (unsigned i = 16; i < 80; i++)
        words[i] = turn_left(
            words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    for (unsigned i = 0; i < 80; i++) {
        unsigned round = i / 20;
        uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                         : round == 2 ? (b & c) | (b & d) | (c & d)
                                      : b ^ c ^ d;
        uint32_t sum =
            turn_left(a, 5) + mixed + e + constants[round] + words[i];
        e = d;
        d = c;
        c = turn_left(b, 30);
        b = a;
        a = sum;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

static const struct manner sha1 = {
    .start = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 },
    .words = 5,
    .big_endian = true,
    .add = add_sha1,
};

/* -------------------------------------------------------------- SHA-256 -- */

/* 2^32 times what is behind the point of the cube roots of the first primes. */
static const uint32_t cube_roots[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

/* The words of a block become 64. */
static void spread(uint32_t *words, const uint32_t *block)
{
    memcpy(words, block, BLOCK_BYTES);
    for (unsigned i = 16; i < 64; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        a = turn_right(a, 7) ^ turn_right(a, 18) ^ a >> 3;
        b = turn_right(b, 17) ^ turn_right(b, 19) ^ b >> 10;
        words[i] = words[i - 16] + a + words[i - 7] + b;
    }
}

static void add_sha256(uint32_t *state, const uint32_t *block)
{
    uint32_t words[64], now[8];

    spread(words, block);
    memcpy(now, state, sizeof now);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t a = now[0], e = now[4];
        uint32_t e_turned =
            turn_right(e, 6) ^ turn_right(e, 11) ^ turn_right(e, 25);
        uint32_t a_turned =
            turn_right(a, 2) ^ turn_right(a, 13) ^ turn_right(a, 22);
        uint32_t chosen = (e & now[5]) ^ (~e & now[6]);
        uint32_t most = (a & now[1]) ^ (a & now[2]) ^ (now[1] & now[2]);
        uint32_t sum = now[7] + e_turned + chosen + cube_roots[i] + words[i];
        memmove(now + 1, now, 7 * sizeof *now);
        now[4] += sum;
        now[0] = sum + a_turned + most;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += now[i];
}

static const struct manner sha256 = {
    .start = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
               0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
    .words = 8,
    .big_endian = true,
    .add = add_sha256,
};

/* ----------------------------------------------------------- all blocks -- */

static void add_block(const struct manner *manner, uint32_t *state,
                      const unsigned char *bytes)
{
    uint32_t block[BLOCK_WORDS];

    for (unsigned i = 0; i < BLOCK_WORDS; i++, bytes += 4) {
        uint32_t word = bytes[0] | (uint32_t)bytes[1] << 8
                        | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        block[i] = manner->big_endian ? __builtin_bswap32(word) : word;
    }
    manner->add(state, block);
}

/* Adds what is left of a text, a bit, and at the end of a block the number of
 * the text's bits. */
static void add_end(const struct manner *manner, uint32_t *state,
                    const unsigned char *bytes, size_t length)
{
    unsigned char end[2 * BLOCK_BYTES] = { 0 };
    size_t left = length % BLOCK_BYTES;
    size_t size = left + 9 <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    uint64_t bits = (uint64_t)length * 8;

    if (left > 0)
        memcpy(end, bytes + (length - left), left);
    end[left] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        end[size - 8 + i] =
            (unsigned char)(bits >> 8 * (manner->big_endian ? 7 - i : i));
    for (size_t at = 0; at < size; at += BLOCK_BYTES)
        add_block(manner, state, end + at);
}

/* Writes a word, its highest bits first. */
static void put_digits(uint32_t word, char *to)
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < 8; i++)
        to[i] = digits[word >> (28 - 4 * i) & 15];
}

static enum vdbq_status digest(struct function_call_state *state,
                               const struct manner *manner)
{
    struct vdbq_text text = state->arguments[0].text;
    const unsigned char *bytes = (const unsigned char *)text.bytes;
    uint32_t words[STATE_WORDS_MAX];
    uint64_t since = 0;
    char *to = function_room(state, (size_t)8 * manner->words);

    assert(manner->words <= STATE_WORDS_MAX);
    if (to == NULL)
        return error_no_memory(state->error);
    memcpy(words, manner->start, sizeof words);
    for (size_t at = 0;
         at + BLOCK_BYTES <= text.length && !stop_after(&since, 1);
         at += BLOCK_BYTES)
        add_block(manner, words, bytes + at);
    add_end(manner, words, bytes, text.length);
    for (unsigned i = 0; i < manner->words; i++, to += 8)
        put_digits(manner->big_endian ? words[i] : __builtin_bswap32(words[i]),
                   to);
    return stop_pause(state->error);
}

FUNCTION_BODY(md5)
{
    return digest(state, &md5);
}

FUNCTION_BODY(sha1)
{
    return digest(state, &sha1);
}

FUNCTION_BODY(sha256)
{
    return digest(state, &sha256);
}
