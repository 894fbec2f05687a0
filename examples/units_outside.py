"""Gravity with units outside, the way AMUSE calls it: a code with its own units needs accelerations at points.

gravel computes with G = 1 in whatever units it gets, so a caller with kpc, solar masses and km/s multiplies by his own G
once.  The class below has the two calls that AMUSE's bridge makes of a gravity code.
"""
# %%
import numpy as np

import gravel

G = 4.30091e-6  # kpc (km/s)^2 / Msun


class Gravity:
    """A gravity code for AMUSE's bridge, which calls get_gravity_at_point(eps, x, y, z) and takes (ax, ay, az) back.

    Here lengths are in kpc, masses in Msun and accelerations in (km/s)^2 / kpc; in AMUSE the quantities carry their
    units, and `value_in(units.kpc)` on the way in and `| units.kms**2 / units.kpc` on the way out frame these calls.
    """

    def __init__(self, mass, position):
        self.bodies = gravel.Bodies(precision="ds", position=position, mass=mass)
        self.direct = gravel.Direct(order=2, precision="ds")

    def _at(self, eps, x, y, z):
        points = np.column_stack([np.ravel(x), np.ravel(y), np.ravel(z)])
        # AMUSE passes a softening length a point; one for all is what a call of gravel takes
        return self.direct.forces(self.bodies.all(), points, float(np.max(eps)))

    def get_gravity_at_point(self, eps, x, y, z):
        acc = G * self._at(eps, x, y, z).acc
        return acc[:, 0], acc[:, 1], acc[:, 2]

    def get_potential_at_point(self, eps, x, y, z):
        return G * self._at(eps, x, y, z).pot


# %% A ring of stars of 1e10 Msun at 8 kpc: in its middle there is no force, far away that of a point
n = 360
angle = 2 * np.pi * np.arange(n) / n
ring = np.stack([8 * np.cos(angle), 8 * np.sin(angle), np.zeros(n)], axis=1)
gravity = Gravity(np.full(n, 1e10 / n), ring)
ax, ay, az = gravity.get_gravity_at_point([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 800.0])
print("in the middle %.1e, at 800 kpc %.6e (point mass %.6e) (km/s)^2/kpc"
      % (np.hypot(ax[0], ay[0]), az[1], -G * 1e10 / 800**2))
# the ring's next term is 3/2 (8/800)^2 of the first; the sum in the middle cancels to rounding
assert abs(az[1] / (-G * 1e10 / 800**2) - 1) < 2 * 1.5 * (8 / 800) ** 2
assert np.hypot(ax[0], ay[0]) < 1e-5 * G * 1e10 / 8**2
print("potential in the middle %.3f (km/s)^2" % gravity.get_potential_at_point(0.0, 0.0, 0.0, 0.0)[0])
