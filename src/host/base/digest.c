#include "host/base/digest.h"

#include <string.h>

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

static void add_block(gv_hasher *hasher, const unsigned char *p)
{
    uint32_t w[64], s[8];

    for (int i = 0; i < 16; i++, p += 4)
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] =
            w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(s, hasher->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t t1 =
            s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice + round_constant[i] + w[i];
        uint32_t t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        hasher->state[i] += s[i];
}

void gv_hash_start(gv_hasher *hasher)
{
    /* the fractional parts of the square roots of the first 8 primes */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    memcpy(hasher->state, start, sizeof start);
    hasher->length = 0;
}

void gv_hash_add(gv_hasher *hasher, const void *data, size_t size)
{
    const unsigned char *p = data;
    size_t used = hasher->length % 64;

    hasher->length += size;
    while (size > 0) {
        size_t part = 64 - used < size ? 64 - used : size;
        memcpy(hasher->block + used, p, part);
        p += part;
        size -= part;
        used += part;
        if (used == 64) {
            add_block(hasher, hasher->block);
            used = 0;
        }
    }
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
