"""The C library through ctypes: where it is, its structs, its functions.

The structs repeat the public headers member by member.  Each option struct begins with its own size, and the library's
init function says which size it has: if the two differ, the library is of another version and loading it fails.
"""
import ctypes
import ctypes.util
import os
from ctypes import POINTER, Structure, c_char, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from typing import Iterator

NAME_SIZE = 256
NONE = 0xFFFFFFFF  # GRAVEL_NONE: no such address


class GravelError(RuntimeError):
    """A call failed; the text says why and what to do.  `status` is the code of gravel.h, `name` its name."""

    def __init__(self, status: int, name: str, message: str):
        super().__init__(message)
        self.status, self.name = status, name


class DeviceInfo(Structure):
    _fields_ = [("index", c_int), ("type", c_int), ("name", c_char * NAME_SIZE), ("vendor", c_char * NAME_SIZE),
                ("platform", c_char * NAME_SIZE), ("driver", c_char * NAME_SIZE), ("opencl", c_char * NAME_SIZE),
                ("compute_units", c_int), ("max_group", c_int), ("clock_mhz", c_int), ("has_fp64", c_int),
                ("has_subgroups", c_int), ("host_memory", c_int), ("simd_width_float", c_int),
                ("simd_width_double", c_int), ("global_memory", c_uint64), ("max_allocation", c_uint64),
                ("local_memory", c_uint64)]


class ContextOptions(Structure):
    _fields_ = [("size", c_uint32), ("device", c_char_p), ("kernel_dir", c_char_p), ("cache_dir", c_char_p),
                ("profile_dir", c_char_p), ("no_fp64", c_int), ("log", c_void_p), ("log_user", c_void_p)]


class DirectOptions(Structure):
    _fields_ = [("size", c_uint32), ("order", c_int), ("precision", c_int), ("nearest", c_int),
                ("neighbour_capacity", c_int), ("prediction", c_int), ("device", c_int), ("configuration", c_char_p)]


class TreeOptions(Structure):
    _fields_ = [("size", c_uint32), ("theta", c_double), ("mac", c_int), ("moments", c_int), ("softening", c_int),
                ("precision", c_int), ("device", c_int), ("configuration", c_char_p), ("split", c_double),
                ("cut", c_double), ("period", c_double)]


class BodiesOptions(Structure):
    _fields_ = [("size", c_uint32), ("precision", c_int), ("device", c_int), ("capacity", c_size_t)]


class Frame(Structure):
    _fields_ = [("origin", c_double * 3), ("length", c_double), ("mass", c_double)]


class Array(Structure):  # gravel_array and gravel_array_out
    _fields_ = [("x", c_void_p), ("y", c_void_p), ("z", c_void_p), ("stride", c_size_t), ("type", c_int)]


class Vec(Structure):  # gravel_vec and gravel_vec_out
    _fields_ = [("x", c_void_p), ("y", c_void_p), ("z", c_void_p), ("stride", c_size_t)]


class Sinks(Structure):
    _fields_ = [("count", c_size_t), ("id", c_void_p), ("pos", Vec), ("vel", Vec), ("acc", Vec), ("radius", c_void_p),
                ("id_stride", c_size_t)]


class Forces(Structure):
    _fields_ = [("acc", Vec), ("jerk", Vec), ("snap", Vec), ("pot", c_void_p), ("nearest_id", c_void_p),
                ("nearest_address", c_void_p), ("nearest_distance", c_void_p), ("neighbour_count", c_void_p),
                ("neighbour_id", c_void_p), ("neighbour_address", c_void_p), ("pot_stride", c_size_t)]


class View(Structure):
    _fields_ = [("bodies", c_void_p), ("kind", c_int), ("first", c_size_t), ("count", c_size_t), ("list", c_void_p)]


class DirectCall(Structure):
    _fields_ = [("size", c_uint32), ("sources", View), ("sinks", View), ("points", POINTER(Sinks)), ("order", c_int),
                ("eps", c_double), ("soften", c_int), ("predict", c_int), ("time", c_double), ("nearest", c_int),
                ("neighbour_capacity", c_int), ("into", c_uint), ("rule", c_int), ("ahead", c_void_p),
                ("leave_out", c_int), ("shape", c_int), ("r_s", c_double), ("r_cut", c_double), ("level", c_int),
                ("quadrupoles", c_int), ("changes", c_void_p), ("points_eps", c_void_p)]


class TreeCall(Structure):
    _fields_ = [("size", c_uint32), ("sinks", View), ("points", POINTER(Sinks)), ("groups", c_void_p), ("last", c_int),
                ("eps", c_double), ("soften", c_int), ("moved", c_int), ("shift", c_double * 3), ("into", c_uint)]


def _candidates() -> Iterator[str]:
    """GRAVEL_LIBRARY, then a build beside this folder, then where the system looks."""
    named = os.environ.get("GRAVEL_LIBRARY")
    if named:
        yield named
        return
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(here, "..", "..", "build", "lib", "libgravel.so")
    found = ctypes.util.find_library("gravel")
    yield found or "libgravel.so.0"
    yield "/usr/local/lib/libgravel.so"


def _load() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as why:
            tried.append("  %s" % why)
    raise ImportError("gravel's library was not found. Build it (./quickstart build), install it (scons install), or "
                      "name it in GRAVEL_LIBRARY. Tried:\n" + "\n".join(tried))


lib = _load()

_PLAIN = {  # functions that do not return a status
    "gravel_version": (c_char_p, []),
    "gravel_status_name": (c_char_p, [c_int]),
    "gravel_error_message": (c_char_p, []),
    "gravel_device_list_free": (None, [c_void_p]),
    "gravel_context_release": (None, [c_void_p]),
    "gravel_context_get_device": (POINTER(DeviceInfo), [c_void_p, c_int]),
    "gravel_bodies_release": (None, [c_void_p]),
    "gravel_bodies_get_count": (c_size_t, [c_void_p]),
    "gravel_bodies_has_plane": (c_int, [c_void_p, c_int]),
    "gravel_list_release": (None, [c_void_p]),
    "gravel_list_get_count": (c_size_t, [c_void_p]),
    "gravel_direct_release": (None, [c_void_p]),
    "gravel_tree_release": (None, [c_void_p]),
    "gravel_ticket_release": (None, [c_void_p]),
    "gravel_origin_name": (c_char_p, [c_int]),
}
_OUT = POINTER(c_void_p)
_CHECKED = {
    "gravel_device_list": [POINTER(POINTER(DeviceInfo)), POINTER(c_int)],
    "gravel_context_create": [_OUT, POINTER(ContextOptions)],
    "gravel_bodies_create": [_OUT, c_void_p, POINTER(BodiesOptions)],
    "gravel_bodies_resize": [c_void_p, c_size_t],
    "gravel_bodies_write": [c_void_p, c_int, c_size_t, c_size_t, POINTER(Array)],
    "gravel_bodies_read": [c_void_p, c_int, c_size_t, c_size_t, POINTER(Array)],
    "gravel_bodies_scatter": [c_void_p, c_int, c_void_p, c_size_t, POINTER(Array)],
    "gravel_bodies_gather": [c_void_p, c_int, c_void_p, c_size_t, POINTER(Array)],
    "gravel_bodies_fill": [c_void_p, c_int, c_double],
    "gravel_bodies_set_frame": [c_void_p, POINTER(Frame)],
    "gravel_bodies_get_frame": [c_void_p, POINTER(Frame)],
    "gravel_list_create": [_OUT, c_void_p, c_int],
    "gravel_list_write": [c_void_p, c_void_p, c_size_t],
    "gravel_direct_create": [_OUT, c_void_p, POINTER(DirectOptions)],
    "gravel_direct_start": [c_void_p, POINTER(DirectCall), _OUT],
    "gravel_direct_get_configuration": [c_void_p, c_size_t, c_char_p, c_size_t, POINTER(c_int)],
    "gravel_tree_create": [_OUT, c_void_p, POINTER(TreeOptions)],
    "gravel_tree_set_sources": [c_void_p, POINTER(View)],
    "gravel_tree_walk": [c_void_p, POINTER(TreeCall), _OUT],
    "gravel_tree_get_configuration": [c_void_p, c_char_p, c_size_t, POINTER(c_int)],
    "gravel_ticket_get_ready": [c_void_p, POINTER(c_int)],
    "gravel_ticket_wait": [c_void_p],
    "gravel_ticket_collect": [c_void_p, POINTER(Forces), POINTER(c_size_t)],
}


def _check(status: int, function, arguments):
    if status:
        raise GravelError(status, lib.gravel_status_name(status).decode(), lib.gravel_error_message().decode())
    return status


for _name, (_result, _arguments) in _PLAIN.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments
for _name, _arguments in _CHECKED.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes, _function.errcheck = c_int, _arguments, _check


def defaults(struct, init: str):
    """A struct with the library's defaults, from the init function of this name."""
    value = struct()
    function = getattr(lib, init)
    function.restype, function.argtypes = None, [POINTER(struct)]
    # room behind it: a newer library may write more members than this module has
    room = ctypes.create_string_buffer(ctypes.sizeof(struct) + 1024)
    function(ctypes.cast(room, POINTER(struct)))
    ctypes.memmove(ctypes.byref(value), room, ctypes.sizeof(struct))
    if value.size != ctypes.sizeof(struct):
        raise ImportError("this gravel module does not fit the library %s: %s has %d bytes there, %d here"
                          % (lib._name, struct.__name__, value.size, ctypes.sizeof(struct)))
    return value
