#include "host/base/digest.h"

#include <string.h>

/* gcc knows the name of these instructions since version 11, clang 16 does not */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define HAVE_SHA 1
#include <immintrin.h>
#endif

/* the fractional parts of the cube roots of the first 64 primes */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t read_big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The names of the eight words turn from round to round, so that none moves. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                               \
    h += (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + round_constant[i] + w[i];             \
    d += h;                                                                                                            \
    h += (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))

static void add_blocks_plain(uint32_t state[8], const unsigned char *p, size_t blocks)
{
    uint32_t w[64];

    for (; blocks > 0; blocks--, p += 64) {
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 16; i++)
            w[i] = read_big_endian(p + 4 * i);
        for (int i = 16; i < 64; i++) {
            uint32_t x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[i - 7] +
                   (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
        }
        for (int i = 0; i < 64; i += 8) {
            ROUND(a, b, c, d, e, f, g, h, i);
            ROUND(h, a, b, c, d, e, f, g, i + 1);
            ROUND(g, h, a, b, c, d, e, f, i + 2);
            ROUND(f, g, h, a, b, c, d, e, i + 3);
            ROUND(e, f, g, h, a, b, c, d, i + 4);
            ROUND(d, e, f, g, h, a, b, c, i + 5);
            ROUND(c, d, e, f, g, h, a, b, i + 6);
            ROUND(b, c, d, e, f, g, h, a, i + 7);
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

#if HAVE_SHA
/* Two rounds an instruction: `abef` and `cdgh` hold the words of these names, the first in the highest place. */
__attribute__((target("sha,sse4.1"))) static void add_blocks_sha(uint32_t state[8], const unsigned char *p,
                                                                 size_t blocks)
{
    const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    uint32_t out[8];
    __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);

    for (; blocks > 0; blocks--, p += 64) {
        __m128i w[4], abef_before = abef, cdgh_before = cdgh;
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            __m128i *now = &w[i % 4], last = w[(i + 3) % 4];
            if (i < 4)
                *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), swap);
            else
                *now = _mm_sha256msg2_epu32(
                    _mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) % 4]), _mm_alignr_epi8(last, w[(i + 2) % 4], 4)),
                    last);
            __m128i k = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(round_constant + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_unpackhi_epi64(k, k));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    _mm_storeu_si128((__m128i *)out, abef);
    _mm_storeu_si128((__m128i *)(out + 4), cdgh);
    state[0] = out[3], state[1] = out[2], state[4] = out[1], state[5] = out[0];
    state[2] = out[7], state[3] = out[6], state[6] = out[5], state[7] = out[4];
}
#endif

static void add_blocks(gv_hasher *hasher, const unsigned char *p, size_t blocks)
{
#if HAVE_SHA
    if (!hasher->plain && __builtin_cpu_supports("sha") && __builtin_cpu_supports("sse4.1")) {
        add_blocks_sha(hasher->state, p, blocks);
        return;
    }
#endif
    add_blocks_plain(hasher->state, p, blocks);
}

void gv_hash_start(gv_hasher *hasher)
{
    /* the fractional parts of the square roots of the first 8 primes */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    memcpy(hasher->state, start, sizeof start);
    hasher->length = 0;
    hasher->plain = false;
}

void gv_hash_add(gv_hasher *hasher, const void *data, size_t size)
{
    const unsigned char *p = data;
    size_t used = hasher->length % 64;

    hasher->length += size;
    if (size == 0)
        return; /* `data` may be NULL */
    if (used > 0) {
        size_t part = 64 - used < size ? 64 - used : size;
        memcpy(hasher->block + used, p, part);
        p += part;
        size -= part;
        if (used + part < 64)
            return;
        add_blocks(hasher, hasher->block, 1);
    }
    add_blocks(hasher, p, size / 64);
    memcpy(hasher->block, p + size / 64 * 64, size % 64);
}

void gv_hash_text(gv_hasher *hasher, const char *text)
{
    const char *p = text ? text : "";

    gv_hash_add(hasher, p, strlen(p) + 1);
}

void gv_hash_end(gv_hasher *hasher, gv_digest *digest)
{
    uint64_t bits = hasher->length * 8;
    unsigned char tail[72] = {0x80};
    size_t used = hasher->length % 64;
    size_t zeros = (used < 56 ? 56 : 120) - used; /* with the 0x80 in front */

    for (int i = 0; i < 8; i++)
        tail[zeros + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    gv_hash_add(hasher, tail, zeros + 8);
    for (int i = 0; i < 32; i++)
        digest->byte[i] = (unsigned char)(hasher->state[i / 4] >> (24 - 8 * (i % 4)));
}

void gv_digest_hex(const gv_digest *digest, size_t digits, char *text)
{
    for (size_t i = 0; i < digits / 2; i++) {
        text[2 * i] = "0123456789abcdef"[digest->byte[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[digest->byte[i] & 15];
    }
    text[digits / 2 * 2] = '\0';
}
