/* Waves of the density to waves of a force or the potential.
 *
 * Of one axis the table has, for each wave j = 0 ... n / 2 with k = 2 pi j / n (in cells):
 *   0  k, t, s, a     t = U^2 exp(-k^2 r_s^2): U = (sin(k/2) / (k/2))^width, what assignment and interpolation do
 *                     s, a = sum and alternating sum of U^2 over all waves k + 2 pi n that the mesh takes for this one
 *   1  d, 0, 0, 0     the gradient: i d; with differences of mesh points not k, and 0 for j = n / 2
 *
 * Green's function that makes the mean square error of forces least (Hockney & Eastwood), for a long range that ends
 * below the mesh's shortest waves:
 *   G = -4 pi / k^2 (d.k / d^2) t_x t_y t_z / D    spectral: d = k, and (d.k / d^2) is left out
 *   D = S^2, or (S^2 + A^2) / 2 for the mean of two meshes half a cell apart, S and A products over axes
 * of k = 0, the limit of the part that the mesh leaves to the short range: +4 pi r_s^2 times the mean density.
 *
 * Without images (the bodies in one half of each axis, zeros in the other) 4 pi / k^2 exp(-k^2 r_s^2 / 2) is replaced
 * by the transform of erf(r / sqrt(2) r_s) / r over the nearest images of mesh points, which gv_mesh_isolated writes,
 * and t has the other half of the Gaussian.
 */
#include "lib/real.h"
#include "mesh/layout.h"

typedef GV_PASTE(GV_SCALAR, 2) gv_scalar2;

kernel void gv_mesh_green(global const gv_scalar2 *density, global const gv_scalar4 *wave, uint n, int interlaced,
                          int differences, int component, gv_scalar per_all, gv_scalar mean_factor,
                          global const gv_scalar2 *isolated, global gv_scalar2 *out)
{
    uint half_n = n / 2 + 1, x = get_global_id(0), line = get_global_id(1), y = line % n, z = line / n;
    if (x >= half_n || line >= n * n)
        return;
    size_t at = x + half_n * (size_t)line;
    gv_scalar2 f = density[at];
    /* waves of negative k are those of positive k with the sign of k and d turned */
    gv_scalar sy = y < half_n ? 1 : -1, sz = z < half_n ? 1 : -1;
    uint jy = y < half_n ? y : n - y, jz = z < half_n ? z : n - z;
    gv_scalar4 wx = wave[2 * x], wy = wave[2 * jy], wz = wave[2 * jz];
    gv_scalar dx = wave[2 * x + 1].x, dy = sy * wave[2 * jy + 1].x, dz = sz * wave[2 * jz + 1].x;
    gv_scalar k2 = wx.x * wx.x + wy.x * wy.x + wz.x * wz.x;
    if (k2 == 0 && !isolated) {
        out[at] = component == GV_MESH_POT ? f * mean_factor : (gv_scalar2)(0);
        return;
    }
    gv_scalar s = wx.z * wy.z * wz.z, a = wx.w * wy.w * wz.w;
    gv_scalar below = interlaced ? GV_R(0.5) * (s * s + a * a) : s * s;
    gv_scalar g = per_all * (wx.y * wy.y * wz.y) / below * (isolated ? isolated[at].x : 1 / k2);
    if (differences) {
        gv_scalar d2 = dx * dx + dy * dy + dz * dz;
        g *= k2 == 0 ? 1 : d2 > 0 ? (dx * wx.x + dy * sy * wy.x + dz * sz * wz.x) / d2 : 0;
    }
    f *= g;
    /* acceleration: -i d of the potential */
    gv_scalar d = component == GV_MESH_X ? dx : component == GV_MESH_Y ? dy : dz;
    out[at] = component == GV_MESH_POT ? f : (gv_scalar2)(f.y * d, -f.x * d);
}

/* erf(r rate) / r of the nearest image of each mesh point, in cells; mesh[x + row (y + n z)] */
kernel void gv_mesh_isolated(uint n, uint row, gv_scalar rate, global gv_scalar *mesh)
{
    uint x = get_global_id(0), line = get_global_id(1), y = line % n, z = line / n;
    if (x >= n || line >= n * n)
        return;
    gv_scalar dx = min(x, n - x), dy = min(y, n - y), dz = min(z, n - z);
    gv_scalar r = sqrt(dx * dx + dy * dy + dz * dz);
    /* 2 / sqrt(pi) rate at r = 0 */
    mesh[x + row * (size_t)line] = r > 0 ? erf(r * rate) / r : GV_R(1.1283791670955126) * rate;
}
