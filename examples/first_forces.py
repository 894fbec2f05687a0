"""First forces from Python: devices, direct summation, the tree, and bodies that stay on the device.

Run it, or open it as a notebook: `# %%` begins a cell.
"""
# %% What there is
import numpy as np

import gravel

for device in gravel.devices():
    print(device.index, device.name, device.platform)
context = gravel.Context()

# %% Some bodies: a sphere of uniform density
rng = np.random.default_rng(1)
n = 2000
direction = rng.normal(size=(n, 3))
pos = direction / np.linalg.norm(direction, axis=1)[:, None] * rng.random((n, 1)) ** (1 / 3)
mass = np.full(n, 1 / n)

# %% Direct summation, exact within the precision
acc, pot = gravel.forces(mass, pos, eps=0.02, context=context)
print("potential energy %.4f (uniform sphere without softening: -0.6)" % (0.5 * np.sum(mass * pot)))

# %% The tree: faster for many bodies, with an error that theta chooses
acc_tree, pot_tree = gravel.forces(mass, pos, eps=0.02, method="tree", theta=0.5, context=context)
error = np.linalg.norm(acc_tree - acc, axis=1) / np.linalg.norm(acc, axis=1)
print("tree: median error %.1e" % np.median(error))
assert np.median(error) < 1e-3  # theta 0.5 means about 1e-4

# %% Bodies that stay on the device: order 4, nearest neighbours of some of them
bodies = gravel.Bodies(precision="ds", context=context, position=pos, mass=mass,
                       velocity=rng.normal(size=(n, 3)), id=np.arange(n))
direct = gravel.Direct(order=4, precision="ds", context=context)
active = bodies.list([3, 14, 159])
f = direct.forces(bodies.all(), active, eps=0.02, nearest=True)
print("nearest neighbours:", f.nearest_id, "at", f.nearest_distance)
for k, a in enumerate([3, 14, 159]):
    distance = np.linalg.norm(pos - pos[a], axis=1)
    distance[a] = np.inf
    assert f.nearest_id[k] == np.argmin(distance)
    assert np.allclose(f.acc[k], acc[a], rtol=1e-4, atol=1e-6)  # both are float terms summed in two-floats
