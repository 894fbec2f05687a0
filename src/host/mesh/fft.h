/* Transforms of real cubes of n^3 numbers, in place, for the mesh: one interface over an FFT on the device (VkFFT,
 * where it is built in) and one on the host.
 *
 * A cube has rows of gv_fft_row(n) reals, x first; the last one or two of a row are not used.  Transformed, a row holds
 * n / 2 + 1 complex numbers:  F(h) = sum f(x) exp(-2 pi i h.x / n).  The inverse of the forward transform is n^3 times
 * the cube. */
#ifndef GV_FFT_H
#define GV_FFT_H

#include "gravel/mesh.h"
#include "host/mesh/size.h"
#include "host/program/launch.h"

typedef struct gv_fft gv_fft;

static inline size_t gv_fft_row(int n)
{
    return 2 * ((size_t)n / 2 + 1);
}

/* Plans, and compares some modes of a cube in `cube` (its contents are lost) with a direct transform.
 * ERR_UNSUPPORTED: GRAVEL_FFT_DEVICE, and no library of it in this build, or one that is wrong on this device. */
gravel_status gv_fft_plan(gv_fft **fft, gv_worker *worker, int n, gravel_precision precision, gravel_fft kind,
                          cl_mem cube);
gravel_status gv_fft_forward(gv_fft *fft, cl_mem cube);
gravel_status gv_fft_inverse(gv_fft *fft, cl_mem cube);
/* A transform on the host has found no memory: what came after it is wrong. */
int gv_fft_has_failed(const gv_fft *fft);
void gv_fft_forget_failure(gv_fft *fft);
gravel_fft gv_fft_kind(const gv_fft *fft); /* DEVICE or HOST */
void gv_fft_release(gv_fft *fft);

/* ------------------------------------------------------------- the two of them */

/* fft_device.c: 0 in builds without VkFFT, whose functions are not called. */
extern const int gv_fft_has_device;
typedef struct gv_fft_device gv_fft_device;
gravel_status gv_fft_device_plan(gv_fft_device **plan, gv_worker *worker, int n, gravel_precision precision,
                                 cl_mem cube);
gravel_status gv_fft_device_run(gv_fft_device *plan, gv_worker *worker, cl_mem cube, int inverse);
void gv_fft_device_release(gv_fft_device *plan);

/* fft_host.c: on memory of the host, with threads.  twiddles: gv_fft_host_twiddles(n) numbers. */
size_t gv_fft_host_twiddles(int n);
void gv_fft_host_prepare(int n, int is_double, void *twiddles);
/* 0: no memory */
int gv_fft_host_share(gv_pool *pool, int n, int is_double, const void *twiddles, void *cube, int inverse);

#endif
