#include "sim/checksum.h"

#include <string.h>

/* the fractional parts of the square roots of the first eight odd primes, made odd */
static const uint64_t factor[GV_CHECKSUM_LANES] = {
    0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1,
    0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179, 0xcbbb9d5dc1059ed9,
};

static uint64_t mix(uint64_t n, uint64_t word, uint64_t by)
{
    n = (n ^ word) * by;
    return n ^ n >> 32;
}

void gv_checksum_start(gv_checksum *sum)
{
    memset(sum, 0, sizeof *sum);
    for (int k = 0; k < GV_CHECKSUM_LANES; k++)
        sum->lane[k] = factor[k] >> 1;
}

/* Whole stripes; lanes are local, so that they stay in registers. */
static void add_stripes(gv_checksum *sum, const unsigned char *data, size_t stripes)
{
    uint64_t lane[GV_CHECKSUM_LANES], word[GV_CHECKSUM_LANES];
    memcpy(lane, sum->lane, sizeof lane);
    for (size_t s = 0; s < stripes; s++) {
        memcpy(word, data + s * sizeof word, sizeof word);
        for (int k = 0; k < GV_CHECKSUM_LANES; k++)
            lane[k] = mix(lane[k], word[k], factor[k]);
    }
    memcpy(sum->lane, lane, sizeof lane);
}

void gv_checksum_add(gv_checksum *sum, const void *data, size_t size)
{
    const unsigned char *at = data;
    const size_t used = sum->length % GV_CHECKSUM_STRIPE;
    sum->length += size;
    if (size == 0)
        return;
    if (used) {
        const size_t part = GV_CHECKSUM_STRIPE - used < size ? GV_CHECKSUM_STRIPE - used : size;
        memcpy(sum->rest + used, at, part);
        if (used + part < GV_CHECKSUM_STRIPE)
            return;
        add_stripes(sum, sum->rest, 1);
        at += part;
        size -= part;
    }
    add_stripes(sum, at, size / GV_CHECKSUM_STRIPE);
    memcpy(sum->rest, at + size / GV_CHECKSUM_STRIPE * GV_CHECKSUM_STRIPE, size % GV_CHECKSUM_STRIPE);
}

gv_checksum_value gv_checksum_end(const gv_checksum *sum)
{
    enum { HALF = GV_CHECKSUM_LANES / 2 };
    gv_checksum last = *sum;
    gv_checksum_value value;
    const size_t used = sum->length % GV_CHECKSUM_STRIPE;
    memset(last.rest + used, 0, sizeof last.rest - used);
    add_stripes(&last, last.rest, 1);
    for (int k = 0; k < HALF; k++) {
        value.word[k] = mix(mix(last.lane[k], last.length, factor[k]), last.lane[k + HALF], factor[k + HALF]);
        value.word[k] = mix(value.word[k], 0, factor[k]);
    }
    return value;
}
