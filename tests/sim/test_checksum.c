/* src/sim/checksum: how bytes are cut, and that every change of one shows. */
#include "problem.h"

#include <string.h>

#include "sim/checksum.h"

static gv_checksum_value sum_of(const void *data, size_t size, size_t piece)
{
    gv_checksum sum;
    gv_checksum_start(&sum);
    for (size_t at = 0; at < size; at += piece)
        gv_checksum_add(&sum, (const char *)data + at, size - at < piece ? size - at : piece);
    return gv_checksum_end(&sum);
}

static int same(gv_checksum_value a, gv_checksum_value b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void pieces_do_not_matter(void **state)
{
    (void)state;
    unsigned char data[1000];
    for (size_t k = 0; k < sizeof data; k++)
        data[k] = (unsigned char)(k * 131 >> 3);
    for (size_t size = 0; size <= sizeof data; size += 37)
        for (size_t piece = 1; piece <= 200; piece = 2 * piece + 1)
            assert_true(same(sum_of(data, size, 1000), sum_of(data, size, piece)));
}

static void changes_show(void **state)
{
    (void)state;
    unsigned char data[200] = {0};
    const gv_checksum_value zeros = sum_of(data, sizeof data, 64);
    /* zeros at the end are bytes, too */
    assert_false(same(zeros, sum_of(data, sizeof data - 1, 64)));
    for (size_t bit = 0; bit < 8 * sizeof data; bit++) {
        data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_false(same(zeros, sum_of(data, sizeof data, 64)));
        data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    /* words that change places, within a lane and between two */
    for (size_t k = 0; k < sizeof data; k++)
        data[k] = (unsigned char)k;
    const gv_checksum_value rising = sum_of(data, sizeof data, 64);
    for (size_t other = 8; other < 192; other += 8) {
        unsigned char swapped[sizeof data];
        memcpy(swapped, data, sizeof data);
        memcpy(swapped, data + other, 8);
        memcpy(swapped + other, data, 8);
        assert_false(same(rising, sum_of(swapped, sizeof data, 64)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_do_not_matter), cmocka_unit_test(changes_show)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
