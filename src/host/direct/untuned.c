/* The untuned default of the direct force kernel: what calls get on a device that no profile knows. */
#include "host/direct/plan.h"

#define VALUE(name) (config->value[GV_T_##name])

/* Few sinks: rows make up for missing sinks, so that every work-item has one.  The values are the tuned ones of an
 * H200, where they agree between variants. */
static void untuned_groups(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                           size_t sources)
{
    const int light = variant->order == 2 && variant->precision != GRAVEL_DP;
    VALUE(THREADS) = 128;
    VALUE(LANES) = 1;
    VALUE(RSQRT) = 1;
    VALUE(MEET) = sinks > 48 && gv_direct_are_strewn(sinks, sources);
    VALUE(UNROLL) = variant->precision == GRAVEL_DP && variant->order >= 4 ? 2 : 4; /* 4 spills on 256 registers */
    if (limits->info.type == GRAVEL_DEVICE_CPU) {
        VALUE(UNROLL) = 1; /* 16 registers: llvmpipe takes 2.5 times as long with 4 */
        VALUE(RSQRT) = gv_limits_root(limits, variant->precision, 1);
    }
    if (sinks >= 1024) {
        const int few = light && sinks < 16384;
        VALUE(TILE) = 128;
        VALUE(SPLIT) = few ? 4 : 1;
        VALUE(BLOCKS_PER_CU) = 8;
        VALUE(SINKS_PER_ITEM) = variant->order == 6 ? 1 : light && !few ? 4 : 2;
        return;
    }
    VALUE(SINKS_PER_ITEM) = 1;
    VALUE(TILE) = sinks > 48 ? 64 : 32;
    VALUE(SPLIT) = sinks <= 1 ? 64 : sinks < 16 ? 16 : 4;
    VALUE(BLOCKS_PER_CU) = sinks <= 1 ? 8 : sinks < 16 ? 2 : 4;
}

/* What a GPU gets instead, at all sizes: the first row counts that has room for the call.  By the answers of an H200,
 * over the best of which it takes 1.019 in the mean of 3263 (doc/numbers.md, "Untuned on a GPU" and the sections from
 * "Few sinks of few sources, and the grid by this kernel" on). */
typedef struct gpu_groups {
    int threads, blocks_per_cu, split, sinks_per_item, tile, unroll, meet;
} gpu_groups;

typedef struct gpu_sizes {
    size_t least_sinks, sinks, least_sources, sources, pairs; /* sinks, sources and pairs: at most */
    enum { ALL_CALLS, PLAIN, SEARCHES } kind;                 /* PLAIN: without searches */
} gpu_sizes;

static const struct {
    gpu_sizes sizes;
    gpu_groups of[3][3]; /* sp, ds, dp; order 2, 4, 6 */
} gpu_table[] = {
    /* so few sources: more parts than a tile each can fill pay in order 2 and sp4 */
    {{1, 63, 0, 1500, SIZE_MAX, PLAIN},
     {{{128, 8, 32, 1, 32, 8, 0}, {128, 8, 64, 1, 0, 4, 0}, {128, 4, 4, 1, 32, 8, 1}},
      {{128, 8, 64, 1, 0, 4, 0}, {128, 4, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 8, 1}},
      {{128, 4, 32, 1, 32, 4, 1}, {128, 3, 4, 1, 32, 2, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{1, 63, 0, 12000, SIZE_MAX, ALL_CALLS},
     {{{128, 4, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 8, 1}},
      {{128, 4, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 8, 1}},
      {{128, 4, 4, 1, 32, 8, 1}, {128, 4, 8, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{1, 8, 0, 75000, SIZE_MAX, ALL_CALLS},
     {{{128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 2, 16, 1, 32, 4, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 6, 16, 1, 32, 8, 1}, {128, 3, 16, 1, 32, 8, 1}, {128, 1, 8, 1, 32, 4, 1}}}},
    {{9, 16, 0, 65536, SIZE_MAX, ALL_CALLS},
     {{{256, 3, 16, 1, 32, 8, 1}, {128, 4, 16, 1, 32, 8, 1}, {128, 4, 16, 1, 32, 8, 1}},
      {{256, 3, 16, 1, 64, 8, 1}, {256, 4, 16, 1, 32, 4, 0}, {128, 4, 16, 1, 32, 8, 1}},
      {{256, 3, 16, 1, 64, 4, 1}, {128, 4, 8, 1, 32, 8, 1}, {128, 1, 8, 1, 32, 4, 1}}}},
    {{17, 32, 0, 65536, SIZE_MAX, ALL_CALLS},
     {{{256, 1, 8, 1, 64, 4, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 4, 1}},
      {{128, 3, 4, 1, 32, 8, 1}, {256, 1, 8, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 4, 16, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{33, 48, 0, 65536, SIZE_MAX, ALL_CALLS},
     {{{256, 2, 8, 1, 64, 4, 1}, {128, 4, 8, 1, 64, 8, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 1, 64, 8, 1}, {128, 4, 8, 1, 64, 8, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 1, 64, 8, 1}, {128, 4, 8, 1, 32, 4, 1}, {128, 4, 8, 1, 32, 2, 1}}}},
    {{49, 63, 0, 65536, SIZE_MAX, ALL_CALLS},
     {{{128, 4, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 4, 1}},
      {{128, 4, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 4, 1}},
      {{128, 4, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{1, 1, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{128, 8, 32, 1, 32, 8, 1}, {128, 8, 32, 1, 32, 8, 0}, {128, 2, 64, 1, 0, 8, 0}},
      {{128, 4, 32, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 4, 0}},
      {{128, 4, 32, 1, 32, 4, 1}, {128, 8, 64, 1, 0, 4, 0}, {128, 8, 64, 1, 0, 2, 0}}}},
    {{2, 4, 0, 262144, SIZE_MAX, ALL_CALLS},
     {{{128, 8, 32, 1, 32, 8, 0}, {128, 4, 32, 1, 32, 8, 1}, {128, 3, 32, 1, 0, 4, 0}},
      {{128, 4, 32, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 4, 32, 1, 32, 4, 1}, {128, 4, 32, 1, 0, 8, 0}, {128, 8, 32, 1, 0, 4, 0}}}},
    {{2, 4, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{128, 8, 32, 1, 32, 8, 0}, {128, 4, 32, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 4, 32, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 4, 32, 1, 32, 4, 1}, {128, 2, 16, 1, 32, 4, 1}, {256, 8, 64, 1, 0, 2, 0}}}},
    {{5, 8, 0, 400000, SIZE_MAX, ALL_CALLS},
     {{{128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 6, 16, 1, 32, 8, 1}, {128, 3, 16, 1, 32, 8, 1}, {128, 4, 16, 1, 0, 2, 0}}}},
    {{5, 8, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{256, 8, 32, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 8, 1}},
      {{128, 6, 16, 1, 32, 8, 1}, {128, 2, 16, 1, 32, 4, 1}, {256, 8, 64, 1, 0, 2, 0}}}},
    {{9, 16, 0, 400000, SIZE_MAX, ALL_CALLS},
     {{{256, 3, 16, 1, 32, 16, 1}, {128, 4, 16, 1, 32, 8, 1}, {128, 4, 16, 1, 32, 8, 1}},
      {{256, 3, 16, 1, 64, 8, 1}, {128, 4, 16, 1, 32, 8, 1}, {128, 4, 16, 1, 32, 8, 1}},
      {{256, 3, 16, 1, 64, 4, 1}, {128, 4, 8, 1, 32, 8, 1}, {128, 4, 8, 1, 32, 2, 1}}}},
    {{9, 16, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{256, 3, 16, 1, 32, 16, 1}, {128, 4, 8, 1, 128, 4, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{256, 3, 16, 1, 64, 8, 1}, {128, 4, 8, 1, 64, 8, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{256, 3, 16, 1, 64, 4, 1}, {128, 4, 8, 1, 32, 4, 1}, {128, 4, 8, 1, 32, 2, 1}}}},
    /* rows of 8 where these win: with three sinks an item, or three groups beside each other */
    {{17, 24, 262145, SIZE_MAX, SIZE_MAX, PLAIN},
     {{{128, 4, 16, 3, 32, 4, 1}, {128, 4, 16, 3, 32, 4, 1}, {128, 4, 16, 1, 32, 8, 1}},
      {{128, 4, 16, 3, 64, 4, 1}, {128, 4, 16, 3, 32, 4, 1}, {128, 4, 16, 1, 32, 8, 1}},
      {{128, 4, 16, 3, 32, 4, 1}, {128, 4, 16, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{17, 24, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{256, 2, 8, 1, 64, 4, 1}, {128, 3, 16, 1, 64, 4, 1}, {128, 4, 16, 1, 32, 8, 1}},
      {{128, 4, 8, 1, 64, 8, 1}, {128, 4, 16, 1, 32, 4, 1}, {128, 4, 16, 1, 32, 8, 1}},
      {{128, 6, 16, 1, 32, 8, 1}, {128, 4, 16, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{25, 32, 0, 262144, SIZE_MAX, ALL_CALLS},
     {{{256, 2, 8, 1, 64, 4, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 1, 64, 8, 1}, {256, 2, 8, 1, 32, 8, 1}, {128, 4, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{25, 32, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{256, 2, 8, 1, 64, 4, 1}, {256, 2, 8, 1, 64, 8, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 1, 64, 8, 1}, {128, 4, 4, 1, 128, 4, 1}, {128, 4, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 2, 1}}}},
    /* three sinks an item: 0.89 to 0.96 of the next row, which is as good for others and with searches (dp4 spills) */
    {{33, 48, 262145, SIZE_MAX, SIZE_MAX, PLAIN},
     {{{128, 4, 8, 3, 32, 8, 1}, {128, 4, 8, 1, 128, 4, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 3, 64, 8, 1}, {128, 4, 8, 3, 32, 4, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 3, 64, 4, 1}, {128, 4, 8, 1, 64, 4, 1}, {128, 4, 8, 1, 32, 2, 1}}}},
    {{33, 48, 0, SIZE_MAX, SIZE_MAX, ALL_CALLS},
     {{{128, 4, 8, 1, 128, 8, 1}, {128, 4, 8, 1, 128, 4, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 1, 128, 8, 1}, {128, 4, 8, 1, 64, 8, 1}, {128, 4, 8, 1, 64, 4, 1}},
      {{128, 4, 8, 1, 128, 4, 1}, {128, 4, 8, 1, 64, 4, 1}, {128, 4, 8, 1, 32, 2, 1}}}},
    {{64, 383, 0, 1500, SIZE_MAX, PLAIN},
     {{{128, 8, 32, 1, 32, 8, 0}, {128, 2, 4, 1, 32, 8, 1}, {128, 3, 4, 1, 32, 8, 1}},
      {{256, 3, 16, 1, 64, 8, 1}, {128, 2, 4, 1, 32, 8, 0}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 4, 32, 1, 32, 4, 1}, {128, 3, 4, 1, 32, 2, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{384, 2999, 0, 1500, SIZE_MAX, PLAIN},
     {{{128, 8, 32, 1, 32, 8, 0}, {256, 1, 4, 1, 64, 16, 1}, {128, 2, 4, 1, 32, 4, 1}},
      {{256, 3, 16, 1, 64, 8, 1}, {256, 1, 8, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 4, 32, 1, 32, 4, 1}, {128, 4, 4, 2, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{384, 1023, 1501, 16384, SIZE_MAX, ALL_CALLS},
     {{{128, 4, 4, 1, 32, 8, 1}, {256, 2, 4, 1, 64, 8, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{128, 6, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 4, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 1, 32, 4, 1}, {256, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{64, 1023, 0, 16384, SIZE_MAX, ALL_CALLS},
     {{{128, 4, 4, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 8, 1}, {128, 3, 4, 1, 32, 8, 1}},
      {{128, 6, 4, 1, 32, 8, 1}, {128, 4, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 8, 4, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    /* groups of 32 sinks: two of 64, as of later rows, would be a quarter empty or more */
    {{65, 96, 16385, SIZE_MAX, SIZE_MAX, PLAIN},
     {{{256, 2, 8, 1, 64, 4, 1}, {256, 2, 8, 1, 64, 8, 1}, {128, 4, 4, 1, 32, 4, 1}},
      {{128, 4, 8, 2, 32, 8, 1}, {128, 4, 8, 2, 32, 4, 1}, {128, 4, 8, 2, 32, 4, 1}},
      {{128, 4, 8, 2, 32, 4, 1}, {128, 4, 8, 2, 32, 4, 1}, {128, 4, 4, 1, 32, 2, 1}}}},
    {{64, 255, 0, 65536, SIZE_MAX, ALL_CALLS},
     {{{256, 2, 8, 1, 64, 4, 1}, {256, 2, 8, 1, 64, 8, 1}, {128, 2, 4, 1, 32, 4, 1}},
      {{128, 4, 4, 1, 32, 4, 1}, {256, 2, 8, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 4, 4, 1, 32, 8, 1}, {256, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{256, 1023, 16385, SIZE_MAX, SIZE_MAX, PLAIN},
     {{{256, 2, 8, 2, 64, 16, 1}, {256, 2, 4, 2, 64, 8, 1}, {128, 4, 4, 2, 128, 4, 1}},
      {{128, 4, 4, 4, 64, 8, 1}, {256, 2, 8, 2, 64, 4, 1}, {128, 2, 4, 2, 64, 4, 1}},
      {{256, 2, 8, 2, 64, 4, 1}, {128, 4, 4, 2, 64, 4, 1}, {128, 4, 4, 1, 64, 2, 1}}}},
    {{49, 1023, 16385, SIZE_MAX, SIZE_MAX, PLAIN},
     {{{256, 2, 8, 2, 64, 16, 1}, {256, 2, 4, 1, 64, 8, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 2, 32, 8, 1}, {256, 2, 8, 2, 64, 4, 1}, {128, 2, 4, 2, 64, 4, 1}},
      {{256, 2, 8, 2, 64, 4, 1}, {128, 4, 4, 2, 64, 4, 1}, {128, 4, 4, 1, 64, 2, 1}}}},
    /* groups of 32 sinks here too: of 64 they took 1.25 to 1.52 of the best for 96 and 160 in sp4 and ds4 */
    {{49, 255, 16385, SIZE_MAX, SIZE_MAX, SEARCHES},
     {{{256, 2, 8, 1, 64, 4, 1}, {256, 2, 8, 1, 64, 8, 1}, {128, 2, 4, 1, 32, 4, 1}},
      {{128, 4, 4, 1, 64, 8, 1}, {256, 2, 8, 1, 32, 8, 1}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 4, 1}, {128, 4, 4, 1, 64, 2, 1}}}},
    {{256, 1023, 16385, SIZE_MAX, SIZE_MAX, SEARCHES},
     {{{128, 4, 2, 1, 64, 4, 1}, {256, 2, 4, 1, 128, 8, 1}, {256, 2, 4, 1, 128, 4, 1}},
      {{128, 4, 2, 1, 64, 4, 1}, {128, 4, 4, 2, 128, 4, 1}, {128, 4, 2, 1, 64, 4, 1}},
      {{256, 2, 4, 1, 128, 4, 1}, {128, 3, 1, 1, 64, 4, 1}, {128, 4, 2, 1, 64, 4, 1}}}},
    {{1024, 16383, 0, 2048, SIZE_MAX, PLAIN},
     {{{256, 1, 8, 1, 64, 4, 1}, {256, 1, 4, 1, 64, 16, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{256, 2, 4, 2, 64, 16, 0}, {256, 1, 8, 1, 32, 4, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{256, 2, 8, 2, 64, 4, 1}, {128, 4, 4, 2, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{1024, 16383, 0, 2048, SIZE_MAX, SEARCHES},
     {{{128, 4, 4, 1, 32, 8, 1}, {256, 2, 4, 1, 64, 8, 1}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 4, 4, 1, 64, 8, 1}, {128, 4, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 8, 1}},
      {{128, 8, 4, 1, 32, 8, 1}, {256, 2, 4, 1, 32, 4, 1}, {128, 2, 4, 1, 32, 4, 1}}}},
    {{16384, SIZE_MAX, 0, SIZE_MAX, 100000000, PLAIN},
     {{{256, 2, 8, 2, 64, 16, 1}, {256, 2, 4, 1, 64, 16, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{128, 8, 4, 2, 64, 8, 0}, {256, 2, 8, 2, 64, 8, 0}, {256, 2, 4, 1, 64, 4, 1}},
      {{256, 2, 8, 2, 64, 4, 1}, {128, 4, 4, 2, 32, 4, 1}, {256, 1, 1, 2, 256, 2, 1}}}},
    {{1024, SIZE_MAX, 0, SIZE_MAX, 100000000, PLAIN},
     {{{256, 2, 8, 2, 64, 16, 1}, {256, 2, 4, 1, 64, 16, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{128, 4, 4, 2, 64, 8, 1}, {256, 2, 8, 2, 64, 4, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{256, 2, 8, 2, 64, 4, 1}, {128, 4, 4, 2, 32, 4, 1}, {256, 1, 1, 2, 256, 2, 1}}}},
    {{16384, SIZE_MAX, 0, SIZE_MAX, 100000000, SEARCHES},
     {{{128, 4, 2, 1, 64, 4, 1}, {256, 2, 4, 1, 128, 8, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{128, 6, 1, 1, 512, 4, 1}, {256, 2, 8, 2, 64, 4, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{256, 2, 4, 1, 128, 4, 1}, {256, 2, 1, 1, 128, 4, 1}, {128, 4, 1, 1, 64, 4, 1}}}},
    {{1024, SIZE_MAX, 0, SIZE_MAX, 100000000, SEARCHES},
     {{{256, 2, 8, 1, 64, 4, 1}, {256, 2, 4, 1, 128, 8, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{128, 4, 2, 1, 64, 4, 1}, {256, 2, 8, 2, 64, 4, 1}, {256, 2, 4, 1, 64, 4, 1}},
      {{256, 2, 4, 1, 128, 4, 1}, {256, 2, 1, 1, 128, 4, 1}, {128, 4, 1, 1, 64, 4, 1}}}},
    {{16384, SIZE_MAX, 0, SIZE_MAX, SIZE_MAX, PLAIN},
     {{{256, 4, 8, 2, 128, 16, 0}, {128, 24, 1, 2, 256, 4, 1}, {128, 4, 4, 2, 128, 4, 1}},
      {{256, 8, 1, 3, 512, 8, 1}, {128, 4, 1, 2, 128, 4, 1}, {256, 4, 1, 2, 512, 4, 1}},
      {{256, 24, 2, 2, 256, 8, 1}, {128, 8, 1, 2, 128, 2, 1}, {256, 1, 1, 2, 256, 2, 1}}}},
    {{16384, SIZE_MAX, 0, SIZE_MAX, 600000000, SEARCHES},
     {{{128, 4, 2, 1, 64, 4, 1}, {128, 4, 1, 2, 128, 4, 1}, {128, 3, 1, 2, 128, 8, 1}},
      {{128, 8, 1, 2, 512, 4, 1}, {256, 2, 1, 2, 256, 8, 1}, {256, 2, 1, 2, 512, 4, 1}},
      {{128, 16, 1, 1, 256, 4, 1}, {256, 2, 1, 1, 128, 4, 1}, {128, 16, 1, 1, 128, 2, 1}}}},
    {{16384, SIZE_MAX, 0, SIZE_MAX, SIZE_MAX, SEARCHES},
     {{{128, 3, 1, 3, 128, 4, 0}, {128, 4, 1, 2, 128, 4, 1}, {128, 3, 1, 2, 128, 8, 1}},
      {{128, 8, 4, 2, 128, 8, 0}, {256, 2, 1, 2, 256, 8, 1}, {256, 2, 1, 2, 512, 4, 1}},
      {{128, 8, 1, 2, 128, 4, 0}, {256, 2, 1, 1, 128, 4, 1}, {128, 16, 1, 1, 128, 2, 1}}}},
    {{1024, SIZE_MAX, 0, SIZE_MAX, SIZE_MAX, PLAIN},
     {{{256, 6, 4, 2, 128, 16, 1}, {128, 4, 4, 2, 64, 8, 1}, {128, 4, 4, 2, 128, 4, 1}},
      {{256, 4, 4, 2, 128, 16, 1}, {128, 4, 1, 2, 128, 4, 1}, {256, 4, 1, 2, 512, 4, 1}},
      {{256, 6, 4, 2, 128, 8, 1}, {128, 8, 1, 2, 128, 2, 1}, {256, 1, 1, 2, 256, 2, 1}}}},
    {{1024, SIZE_MAX, 0, SIZE_MAX, SIZE_MAX, SEARCHES},
     {{{128, 8, 4, 2, 128, 4, 1}, {128, 4, 1, 2, 128, 4, 1}, {128, 8, 1, 1, 128, 4, 1}},
      {{128, 8, 4, 2, 128, 8, 1}, {256, 2, 8, 2, 64, 4, 1}, {256, 2, 1, 2, 512, 4, 1}},
      {{128, 8, 1, 1, 128, 4, 1}, {256, 2, 1, 1, 128, 4, 1}, {128, 16, 1, 1, 128, 2, 1}}}},
};

static void untuned_gpu(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                        size_t sources)
{
    untuned_groups(config, variant, limits, sinks, sources);
    for (size_t k = 0; k < sizeof gpu_table / sizeof gpu_table[0]; k++) {
        const gpu_sizes *of_row = &gpu_table[k].sizes;
        if (sinks < of_row->least_sinks || sinks > of_row->sinks || sources < of_row->least_sources ||
            sources > of_row->sources || sinks > of_row->pairs / (sources > 0 ? sources : 1) ||
            (of_row->kind != ALL_CALLS && (of_row->kind == SEARCHES) != gv_direct_searches(variant)))
            continue;
        const gpu_groups *of = &gpu_table[k].of[variant->precision][variant->order / 2 - 1];
        VALUE(THREADS) = of->threads;
        VALUE(BLOCKS_PER_CU) = of->blocks_per_cu;
        VALUE(SPLIT) = of->split;
        VALUE(SINKS_PER_ITEM) = of->sinks_per_item;
        VALUE(TILE) = of->tile;
        VALUE(UNROLL) = of->unroll;
        VALUE(MEET) = of->meet;
        return;
    }
}

/* 0 nothing, 1 nearest neighbours alone, 2 lists */
static int cpu_searches(const gv_variant *variant)
{
    return variant->features & GV_DIRECT_LISTS ? 2 : gv_direct_searches(variant);
}

/* What AVX-512 (wide) and AVX2 were tuned to.  A comparison a pair is a chain from source to source: with searches
 * several sources in flight take 0.6 to 0.8 of the time of one (doc/numbers.md). */
static int cpu_unroll(const gv_variant *variant, int wide)
{
    /* order 2, 4, 6; sp, ds, dp; without searches, nearest neighbours, lists */
    static const int unroll[2][3][3][3] = {
        {{{4, 4, 4}, {8, 4, 4}, {4, 4, 4}}, {{4, 4, 4}, {8, 8, 4}, {4, 8, 8}}, {{4, 4, 4}, {4, 4, 4}, {2, 8, 8}}},
        {{{8, 8, 8}, {1, 4, 4}, {8, 8, 4}}, {{1, 4, 4}, {1, 4, 4}, {8, 4, 4}}, {{1, 8, 4}, {1, 8, 8}, {8, 8, 2}}}};
    return unroll[wide][variant->order / 2 - 1][variant->precision][cpu_searches(variant)];
}

/* Time with it over time without: AVX2 0.7 to 0.99 with order 2, sp4 0.94, but 1.03 to 1.1 in order 6 and 1.04 in dp4,
 * and ds4 takes 0.8 to 0.94 of it without and with longer runs; AVX-512: sp and order 2 0.77 to 0.94, ds4 and dp4 1.01
 * to 1.06 (doc/numbers.md). */
static int cpu_keep(const gv_variant *variant, int wide)
{
    const int sp = variant->precision == GRAVEL_SP;
    return variant->order == 2 || (sp && (wide || variant->order == 4));
}

static void untuned_cpu(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks)
{
    const int dp = variant->precision == GRAVEL_DP;
    const int width = dp ? limits->info.simd_width_double : limits->info.simd_width_float;
    VALUE(THREADS) = 1;
    VALUE(SPLIT) = 1;
    VALUE(TILE) = 0;
    VALUE(LANES) = gv_limits_lanes(limits, variant->precision);
    /* one vector of sinks and a long loop, or several vectors: what AVX-512 and AVX2 were tuned to */
    const int wide = width >= (dp ? 8 : 16), many = sinks > 4 * (size_t)VALUE(LANES);
    const int ds2 = variant->precision == GRAVEL_DS && variant->order == 2;
    VALUE(SINKS_PER_ITEM) = wide && ds2 && many && !gv_direct_searches(variant) ? 4 : 1;
    VALUE(UNROLL) = cpu_unroll(variant, wide);
    VALUE(RSQRT) = gv_limits_root(limits, variant->precision, VALUE(LANES));
    VALUE(KEEP) = cpu_searches(variant) == 1 && cpu_keep(variant, wide);
    /* with searches 0.5 to 0.8 of the time where active bodies stand anywhere, as long where all are active */
    VALUE(MEET) = gv_direct_searches(variant);
    VALUE(BLOCKS_PER_CU) = 4;
}

void gv_direct_untuned(gv_config *config, const gv_variant *variant, const gv_limits *limits, size_t sinks,
                       size_t sources)
{
    if (!gv_limits_groups(limits))
        untuned_cpu(config, variant, limits, sinks);
    else if (limits->info.type == GRAVEL_DEVICE_CPU)
        untuned_groups(config, variant, limits, sinks, sources);
    else
        untuned_gpu(config, variant, limits, sinks, sources);
}
