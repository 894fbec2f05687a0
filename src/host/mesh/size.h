/* Sides of a mesh that its FFT can do: products of 2, 3, 5 and 7. */
#ifndef GV_MESH_SIZE_H
#define GV_MESH_SIZE_H

enum { GV_FFT_LEAST = 4, GV_FFT_MOST = 1024, GV_MOST_WAVES = 32 };
int gv_fft_can(int n);
/* The possible sides next to n, below and above (or n itself). */
int gv_fft_below(int n);
int gv_fft_above(int n);

#endif
