/* An exponential disk of finite thickness in the field of itself and of spherical components.
 *
 *   rho(R, z) = S0 exp(-R / scale) sech^2(z / height) / (2 height),  R < cut
 *
 * Forces are means over the disk's own height.  Of the disk itself (S: its Hankel transform, d: distance in height of
 * two points of the disk):
 *   mean dPhi/dR   = 2 pi  integral of k S(k) J1(kR) <exp(-k |d|)> dk
 *   mean z dPhi/dz = 2 pi  integral of k S(k) J0(kR) <|d| exp(-k |d|)> / 2 dk
 *   S(k) = S0 scale^2 (1 + k^2 scale^2)^(-3/2)
 * (The field is that of the disk without its cut, which matters for cuts below 5 scale lengths.)  Then
 *   circular speed     vc^2 = R mean dPhi/dR
 *   epicycles          gamma^2 = kappa^2 / 4 Omega^2 = d(R^2 vc^2)/dR / (4 R vc^2)
 *   virial in height   sigma_z^2 = mean z dPhi/dz
 *   in the plane       sigma_R^2 ~ exp(-R / scale), Toomre's Q as given at 2.5 scales;  sigma_phi = gamma sigma_R
 *   asymmetric drift   mean v_phi^2 = vc^2 + sigma_R^2 (1 - gamma^2 - 2 R / scale)
 */
#ifndef GV_IC_DISK_H
#define GV_IC_DISK_H

#include "sim/ic_sphere.h"

enum { GV_DISK_NODES = 256 };

typedef struct gv_disk {
    double mass, scale, height, cut, toomre_q;
    double radius[GV_DISK_NODES]; /* cut (k / (nodes - 1))^2 */
    double vc2[GV_DISK_NODES], gamma2[GV_DISK_NODES];
    double sigma_r[GV_DISK_NODES], sigma_z[GV_DISK_NODES], v_phi[GV_DISK_NODES];
} gv_disk;

/* The disk's mass inside a sphere: its attraction on the spherical components, averaged over directions. */
double gv_disk_mass_inside(const gv_disk *disk, double r);
/* Fills the tables; mass ... toomre_q are set.  `spheres` is the potential of the spherical components alone. */
void gv_disk_set(gv_disk *disk, const gv_sphere_grid *spheres);
/* `v_max`: bodies faster than this are drawn again */
void gv_disk_draw_position(const gv_disk *disk, gv_random *random, double x[3]);
void gv_disk_draw_velocity(const gv_disk *disk, double v_max, gv_random *random, const double x[3], double v[3]);

#endif
