"""Gravity with units outside, the way AMUSE calls it: a code with its own units needs accelerations at points.

gravel computes with G = 1 in whatever units it gets, so a caller with kpc, solar masses and km/s multiplies by his own G
once.  The class below has the two calls that AMUSE's bridge makes of a gravity code.
"""
# %%
import numpy as np

import gravel

G = 4.30091e-6  # kpc (km/s)^2 / Msun


class Gravity:
    """get_gravity_at_point and get_potential_at_point over bodies in kpc and Msun; accelerations in (km/s)^2 / kpc."""

    def __init__(self, mass, position, eps):
        self.bodies = gravel.Bodies(precision="ds", position=position, mass=mass)
        self.direct = gravel.Direct(order=2, precision="ds")
        self.eps = eps

    def _at(self, points):
        return self.direct.forces(self.bodies.all(), np.atleast_2d(points), self.eps)

    def get_gravity_at_point(self, points):
        return G * self._at(points).acc

    def get_potential_at_point(self, points):
        return G * self._at(points).pot


# %% A ring of stars of 1e10 Msun at 8 kpc: in its middle there is no force, far away that of a point
n = 360
angle = 2 * np.pi * np.arange(n) / n
ring = np.stack([8 * np.cos(angle), 8 * np.sin(angle), np.zeros(n)], axis=1)
gravity = Gravity(np.full(n, 1e10 / n), ring, eps=0.0)
middle, far = gravity.get_gravity_at_point([[0.0, 0.0, 0.0], [0.0, 0.0, 800.0]])
print("in the middle %s, at 800 kpc %.6e (point mass %.6e) (km/s)^2/kpc" % (middle, far[2], -G * 1e10 / 800**2))
# the ring's next term is 3/2 (8/800)^2 of the first; the sum in the middle cancels to rounding
assert abs(far[2] / (-G * 1e10 / 800**2) - 1) < 2 * 1.5 * (8 / 800) ** 2
assert np.all(np.abs(middle) < 1e-5 * G * 1e10 / 8**2)
print("potential in the middle %.3f (km/s)^2" % gravity.get_potential_at_point([0.0, 0.0, 0.0])[0])
