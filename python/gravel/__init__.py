"""gravel: gravity on OpenCL, from numpy arrays.

    import gravel
    context = gravel.Context()                    # the best device; "cpu", "gpu", "H200", ... choose
    acc, pot = gravel.forces(mass, pos, eps=0.01)                   # direct summation
    acc, pot = gravel.forces(mass, pos, eps=0.01, method="tree")    # tree code

Bodies that stay on the device between calls, orders 4 and 6, neighbours and active subsets are in the classes Bodies,
Direct and Tree.  Units are the caller's, with G = 1.
"""
from ._library import GravelError, lib as _lib
from .bodies import Bodies, List, View
from .context import Context, Device, devices
from .forces import Direct, Forces, Ticket, Tree, forces
from .profiles import profiles

__version__ = _lib.gravel_version().decode()
__all__ = ["Bodies", "Context", "Device", "Direct", "Forces", "GravelError", "List", "Ticket", "Tree", "View",
           "devices", "forces", "profiles"]
