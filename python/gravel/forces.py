"""Forces: direct summation and the tree, over bodies on the device or arrays."""
from ctypes import byref, c_int, c_size_t, c_void_p, create_string_buffer
from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from . import _library
from ._library import lib
from .bodies import Bodies, View, precision_number
from .context import Context, standard_context

_SOFTEN = {"eps": 0, "sinks": 1, "sources": 2, "sum": 3, "max": 4}
_INTO = {"host": 1, "planes": 2, "add": 6}
_MOVED = {"rebuild": 0, "refit": 1, "as is": 2}
_MAC = {"relative": 0, "last": 1, "geometric": 2}


def _choose(table: dict, what: str, value: str) -> int:
    if value not in table:
        raise ValueError("%s is %r: %s" % (what, value, ", ".join(table)))
    return table[value]


@dataclass
class Forces:
    """Results on n sinks; what was not computed is None."""
    acc: np.ndarray
    pot: np.ndarray
    jerk: Optional[np.ndarray] = None
    snap: Optional[np.ndarray] = None
    nearest_id: Optional[np.ndarray] = None
    nearest_distance: Optional[np.ndarray] = None
    neighbour_count: Optional[np.ndarray] = None
    neighbour_id: Optional[np.ndarray] = None


def _vec(a: Optional[np.ndarray]) -> _library.Vec:
    if a is None:
        return _library.Vec(None, None, None, 0)
    return _library.Vec(a.ctypes.data, a.ctypes.data + 8, a.ctypes.data + 16, 3)


def _pointer(a: Optional[np.ndarray]):
    return None if a is None else a.ctypes.data


class Ticket:
    """A call in flight.  `collect` waits and returns its Forces."""

    def __init__(self, handle: c_void_p, keep, n: int, order: int, nearest: bool, capacity: int,
                 to_host: bool):
        self.handle, self._keep = handle, keep  # solver, bodies, lists and points of the call live on until it is done
        self._n, self._order, self._nearest, self._capacity = n, order, nearest, capacity
        self._to_host = to_host

    @property
    def ready(self) -> bool:
        answer = c_int()
        lib.gravel_ticket_get_ready(self.handle, byref(answer))
        return bool(answer.value)

    def wait(self) -> None:
        lib.gravel_ticket_wait(self.handle)

    def collect(self) -> Forces:
        if not self._to_host:
            raise ValueError("the results are in planes of the bodies: wait() and Bodies.read()")
        n, out = self._n, Forces(np.zeros((self._n, 3)), np.zeros(self._n))
        if self._order >= 4:
            out.jerk = np.zeros((n, 3))
        if self._order >= 6:
            out.snap = np.zeros((n, 3))
        if self._nearest:
            out.nearest_id, out.nearest_distance = np.full(n, -1, np.int32), np.full(n, np.inf)
        if self._capacity > 0:
            out.neighbour_count = np.zeros(n, np.uint32)
            out.neighbour_id = np.full((n, self._capacity), -1, np.int32)
        places = _library.Forces(_vec(out.acc), _vec(out.jerk), _vec(out.snap), _pointer(out.pot),
                                 _pointer(out.nearest_id), None, _pointer(out.nearest_distance),
                                 _pointer(out.neighbour_count), _pointer(out.neighbour_id), None)
        lib.gravel_ticket_collect(self.handle, byref(places), byref(c_size_t()))
        return out

    def __del__(self):
        if getattr(self, "handle", None):
            lib.gravel_ticket_release(self.handle)


def _points(positions, velocities=None, accelerations=None, ids=None, radius=None):
    """A gravel_sinks and the arrays it points to."""
    keep = [None if a is None else np.ascontiguousarray(a, dtype=np.float64)
            for a in (positions, velocities, accelerations, radius)]
    number = None if ids is None else np.ascontiguousarray(ids, dtype=np.int32)
    for a in keep[:3]:
        if a is not None and (a.ndim != 2 or a.shape[1] != 3):
            raise ValueError("points have the shape %s, not (n, 3)" % (a.shape,))
    sinks = _library.Sinks(keep[0].shape[0], _pointer(number), _vec(keep[0]), _vec(keep[1]), _vec(keep[2]),
                           _pointer(keep[3]))
    return sinks, keep + [number]


class Direct:
    """Direct summation: order 2 (acc, pot), 4 (and jerk) or 6 (and snap)."""

    def __init__(self, order: int = 2, precision: str = "ds", context: Optional[Context] = None,
                 configuration: Optional[str] = None):
        self.context, self.order = context or standard_context(), order
        options = _library.defaults(_library.DirectOptions, "gravel_direct_options_init")
        options.order, options.precision = order, precision_number(precision)
        options.configuration = configuration.encode() if configuration else None
        self.handle = c_void_p()
        lib.gravel_direct_create(byref(self.handle), self.context.handle, byref(options))

    def __del__(self):
        if getattr(self, "handle", None):
            lib.gravel_direct_release(self.handle)

    def start(self, sources: View, sinks, eps: float = 0.0, *, order: Optional[int] = None, soften: str = "eps",
              time: Optional[float] = None, nearest: bool = False, neighbours: int = 0, into: str = "host",
              velocities=None, accelerations=None, ids=None, radius=None) -> Ticket:
        """Submits a call.  `sinks`: a View, or an array (n, 3) of positions with `velocities`, `accelerations`, `ids`
        and `radius` of the points.  `time`: sources (and sinks that are bodies) are predicted to it.  `into`: "host",
        "planes" (of the sinks' bodies) or "add" (to these planes)."""
        call = _library.defaults(_library.DirectCall, "gravel_direct_call_init")
        call.sources = sources.struct
        keep = [self, sources, sinks]
        if isinstance(sinks, View):
            call.sinks, n = sinks.struct, len(sinks)
        else:
            points, arrays = _points(sinks, velocities, accelerations, ids, radius)
            keep += [points, arrays]
            call.points, n = _library.POINTER(_library.Sinks)(points), points.count
        call.order = order or self.order
        call.eps, call.soften = eps, _choose(_SOFTEN, "soften", soften)
        call.predict, call.time = int(time is not None), time or 0.0
        call.nearest, call.neighbour_capacity = int(nearest), neighbours
        call.into = _choose(_INTO, "into", into)
        ticket = c_void_p()
        lib.gravel_direct_start(self.handle, byref(call), byref(ticket))
        return Ticket(ticket, keep, n, call.order, nearest, neighbours, into == "host")

    def forces(self, sources: View, sinks, eps: float = 0.0, **more) -> Forces:
        """`start` and `collect` in one."""
        return self.start(sources, sinks, eps, **more).collect()

    def configuration(self, sinks: int) -> str:
        """The tunables that a call with so many sinks uses."""
        text = create_string_buffer(512)
        lib.gravel_direct_get_configuration(self.handle, sinks, text, 512, None)
        return text.value.decode()


class Tree:
    """Tree code: accelerations and potentials of many bodies, with an error that theta chooses."""

    def __init__(self, theta: float = 0.5, precision: str = "sp", context: Optional[Context] = None,
                 criterion: str = "relative", spline: bool = False, configuration: Optional[str] = None):
        self.context = context or standard_context()
        options = _library.defaults(_library.TreeOptions, "gravel_tree_options_init")
        options.theta, options.precision = theta, precision_number(precision)
        options.mac, options.softening = _choose(_MAC, "criterion", criterion), int(spline)
        options.configuration = configuration.encode() if configuration else None
        self.handle = c_void_p()
        self._sources: Optional[View] = None
        lib.gravel_tree_create(byref(self.handle), self.context.handle, byref(options))

    def __del__(self):
        if getattr(self, "handle", None):
            lib.gravel_tree_release(self.handle)

    def set_sources(self, sources: View) -> None:
        """The bodies of the tree.  Built with the first forces, and anew when they have moved."""
        lib.gravel_tree_set_sources(self.handle, byref(sources.struct))
        self._sources = sources

    def start(self, sinks, eps: float = 0.0, *, soften: str = "eps", moved: str = "rebuild",
              shift: Tuple[float, float, float] = (0.0, 0.0, 0.0), into: str = "host") -> Ticket:
        """Submits a walk.  `sinks`: a View, or an array (n, 3) of points.  `moved`: what to do if the sources moved
        since the tree was built: "rebuild", "refit" or "as is".  `shift` displaces the sources."""
        call = _library.defaults(_library.TreeCall, "gravel_tree_call_init")
        keep = [self, self._sources, sinks]
        if isinstance(sinks, View):
            call.sinks, n = sinks.struct, len(sinks)
        else:
            points, arrays = _points(sinks)
            keep += [points, arrays]
            call.points, n = _library.POINTER(_library.Sinks)(points), points.count
        call.eps, call.soften = eps, _choose(_SOFTEN, "soften", soften)
        call.moved, call.into = _choose(_MOVED, "moved", moved), _choose(_INTO, "into", into)
        call.shift = (_library.c_double * 3)(*shift)
        ticket = c_void_p()
        lib.gravel_tree_walk(self.handle, byref(call), byref(ticket))
        return Ticket(ticket, keep, n, 2, False, 0, into == "host")

    def forces(self, sinks, eps: float = 0.0, **more) -> Forces:
        """`start` and `collect` in one."""
        return self.start(sinks, eps, **more).collect()


def forces(mass, pos, eps: float = 0.0, method: str = "direct", theta: float = 0.5, precision: str = "ds",
           points=None, context: Optional[Context] = None) -> Tuple[np.ndarray, np.ndarray]:
    """Accelerations (n, 3) and potentials (n,) of bodies on each other, or on `points` (m, 3)."""
    if np.shape(pos)[1:] != (3,) or np.shape(mass) != np.shape(pos)[:1]:
        raise ValueError("mass and pos have the shapes %s and %s, not (n,) and (n, 3)" % (np.shape(mass), np.shape(pos)))
    bodies = Bodies(precision=precision, context=context, position=pos, mass=mass)
    bodies.write("id", np.arange(len(bodies), dtype=np.int32))
    sinks = bodies.all() if points is None else np.asarray(points)
    if method == "tree" and len(bodies) == 0:
        return np.zeros((len(sinks), 3)), np.zeros(len(sinks))
    if method == "tree":
        tree = Tree(theta=theta, precision=precision, context=context)
        tree.set_sources(bodies.all())
        result = tree.forces(sinks, eps)
    elif method == "direct":
        result = Direct(precision=precision, context=context).forces(bodies.all(), sinks, eps)
    else:
        raise ValueError("method is %r: direct or tree" % (method,))
    return result.acc, result.pot
