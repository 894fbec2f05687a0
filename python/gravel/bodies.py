"""Bodies that live on the device."""
from ctypes import byref, c_void_p
from typing import Optional, Tuple

import numpy as np

from . import _library
from ._library import lib
from .context import Context, standard_context

PRECISIONS = {"sp": 0, "ds": 1, "dp": 2}
_PLANES = ("mass", "id", "position", "velocity", "acceleration", "jerk", "snap", "crackle", "time", "step", "potential",
           "softening", "radius") + tuple("user%d" % k for k in range(8))
_VECTORS = ("position", "velocity", "acceleration", "jerk", "snap", "crackle")
_TYPES = {np.dtype(np.float64): 0, np.dtype(np.float32): 1, np.dtype(np.int32): 2}


def plane_number(name: str) -> int:
    if name not in _PLANES:
        raise ValueError("no plane is called %r: %s" % (name, ", ".join(_PLANES)))
    return _PLANES.index(name)


def precision_number(name: str) -> int:
    if name not in PRECISIONS:
        raise ValueError("precision is %r: sp, ds or dp" % (name,))
    return PRECISIONS[name]


def _as_plane(name: str, values) -> np.ndarray:
    """Contiguous and of a type that the library takes; whole numbers of other widths only where they fit."""
    a = np.asarray(values)
    if name == "id":
        b = a.astype(np.int32)
        if not np.array_equal(a, b):
            raise ValueError("ids must be whole numbers of 32 bits")
        a = b
    elif a.dtype not in (np.float64, np.float32):
        a = a.astype(np.float64)
    if name in _VECTORS and (a.ndim != 2 or a.shape[1] != 3):
        raise ValueError("%s has the shape %s, not (n, 3)" % (name, a.shape))
    if name not in _VECTORS and a.ndim != 1:
        raise ValueError("%s has the shape %s, not (n,)" % (name, a.shape))
    return np.ascontiguousarray(a)


def _array(a: np.ndarray) -> _library.Array:
    at, size = a.ctypes.data, a.itemsize
    if a.ndim == 1:
        return _library.Array(at, None, None, 1, _TYPES[a.dtype])
    return _library.Array(at, at + size, at + 2 * size, 3, _TYPES[a.dtype])


class List:
    """Addresses on the device: the active bodies of a step."""

    def __init__(self, addresses, context: Optional[Context] = None):
        self.context = context or standard_context()
        self.handle = c_void_p()
        lib.gravel_list_create(byref(self.handle), self.context.handle, 0)
        self.write(addresses)

    def write(self, addresses) -> None:
        a = np.ascontiguousarray(addresses, dtype=np.uint32)
        lib.gravel_list_write(self.handle, a.ctypes.data, a.size)

    def __len__(self) -> int:
        return lib.gravel_list_get_count(self.handle)

    def __del__(self):
        if getattr(self, "handle", None):
            lib.gravel_list_release(self.handle)


class View:
    """Some of a Bodies: what forces come from or act on.  Made by Bodies.all, range and list."""

    def __init__(self, bodies: "Bodies", kind: int, first: int = 0, count: int = 0, addresses: Optional[List] = None):
        self.bodies, self.addresses = bodies, addresses
        self.struct = _library.View(bodies.handle, kind, first, count, addresses.handle if addresses is not None else None)

    def __len__(self) -> int:
        kind = self.struct.kind
        return len(self.bodies) if kind == 0 else self.struct.count if kind == 1 else len(self.addresses)


class Bodies:
    """Planes (mass, position, ...) of n bodies on one device.

    `bodies.write("position", pos)` and `bodies.read("acceleration")` move whole planes; with `addresses` some of them.
    """

    def __init__(self, count: int = 0, precision: str = "ds", context: Optional[Context] = None, **planes):
        """`planes`: mass=..., position=..., velocity=... written at once."""
        self.context = context or standard_context()
        self.precision = precision
        options = _library.defaults(_library.BodiesOptions, "gravel_bodies_options_init")
        options.precision = precision_number(precision)
        options.capacity = count
        self.handle = c_void_p()
        lib.gravel_bodies_create(byref(self.handle), self.context.handle, byref(options))
        if count:
            self.resize(count)
        for name, values in planes.items():
            self.write(name, values)

    def __len__(self) -> int:
        return lib.gravel_bodies_get_count(self.handle)

    def __del__(self):
        if getattr(self, "handle", None):
            lib.gravel_bodies_release(self.handle)

    def resize(self, count: int) -> None:
        """More bodies are massless at the origin of the frame; if there are fewer, the last ones are removed."""
        lib.gravel_bodies_resize(self.handle, count)

    def write(self, plane: str, values, first: int = 0, addresses=None) -> None:
        """Bodies first, first + 1, ..., or those of `addresses`.  A write beyond the last body adds bodies."""
        a = _as_plane(plane, values)
        number = plane_number(plane)
        if addresses is None:
            lib.gravel_bodies_write(self.handle, number, first, a.shape[0], byref(_array(a)))
            return
        to = np.ascontiguousarray(addresses, dtype=np.uint32)
        if to.size != a.shape[0]:
            raise ValueError("%d addresses for %d bodies" % (to.size, a.shape[0]))
        lib.gravel_bodies_scatter(self.handle, number, to.ctypes.data, to.size, byref(_array(a)))

    def read(self, plane: str, first: int = 0, count: Optional[int] = None, addresses=None,
             dtype=np.float64) -> np.ndarray:
        """A new array: (n, 3) for vectors, (n,) for the rest."""
        number = plane_number(plane)
        dtype = np.int32 if plane == "id" else dtype
        at = None if addresses is None else np.ascontiguousarray(addresses, dtype=np.uint32)
        n = at.size if at is not None else len(self) - first if count is None else count
        if first < 0 or n < 0:
            raise ValueError("bodies %d ... %d: there are %d" % (first, first + n - 1, len(self)))
        out = np.empty((n, 3) if plane in _VECTORS else n, dtype=dtype)
        if n and at is None:
            lib.gravel_bodies_read(self.handle, number, first, n, byref(_array(out)))
        elif n:
            lib.gravel_bodies_gather(self.handle, number, at.ctypes.data, n, byref(_array(out)))
        return out

    def fill(self, plane: str, value: float) -> None:
        """All bodies get this number."""
        lib.gravel_bodies_fill(self.handle, plane_number(plane), value)

    @property
    def frame(self) -> Tuple[np.ndarray, float, float]:
        """Origin, unit of length and unit of mass that the device computes in."""
        f = _library.Frame()
        lib.gravel_bodies_get_frame(self.handle, byref(f))
        return np.array(f.origin[:]), f.length, f.mass

    def set_frame(self, origin, length: float, mass: float) -> None:
        f = _library.Frame((_library.c_double * 3)(*origin), length, mass)
        lib.gravel_bodies_set_frame(self.handle, byref(f))

    def all(self) -> View:
        return View(self, 0)

    def range(self, first: int, count: int) -> View:
        return View(self, 1, first, count)

    def list(self, addresses) -> View:
        """Bodies of these addresses: a List, or what one is made from."""
        return View(self, 2, addresses=addresses if isinstance(addresses, List) else List(addresses, self.context))
