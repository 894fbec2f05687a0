"""Devices and contexts."""
from ctypes import POINTER, byref, c_int, c_void_p
from dataclasses import dataclass
from typing import List, Optional

from . import _library
from ._library import lib

_TYPES = {1: "cpu", 2: "gpu", 3: "accelerator"}


@dataclass(frozen=True)
class Device:
    """One OpenCL device, as `gravel devices` shows it."""
    index: int
    type: str
    name: str
    platform: str
    driver: str
    compute_units: int
    has_fp64: bool
    global_memory: int


def _device(info: _library.DeviceInfo) -> Device:
    return Device(info.index, _TYPES.get(info.type, "?"), info.name.decode(errors="replace"),
                  info.platform.decode(errors="replace"), info.driver.decode(errors="replace"), info.compute_units,
                  bool(info.has_fp64), info.global_memory)


def devices() -> List[Device]:
    """All OpenCL devices of this machine."""
    table, count = POINTER(_library.DeviceInfo)(), c_int()
    lib.gravel_device_list(byref(table), byref(count))
    try:
        return [_device(table[k]) for k in range(count.value)]
    finally:
        lib.gravel_device_list_free(table)


class Context:
    """One device that is open: everything else is made from it."""

    def __init__(self, device: Optional[str] = None):
        """`device`: an index, part of a name, "gpu" or "cpu"; None: GRAVEL_DEVICE, else the best one."""
        options = _library.defaults(_library.ContextOptions, "gravel_context_options_init")
        options.device = None if device is None else str(device).encode()
        self.handle = c_void_p()
        lib.gravel_context_create(byref(self.handle), byref(options))

    @property
    def device(self) -> Device:
        return _device(lib.gravel_context_get_device(self.handle, 0).contents)

    def __del__(self):
        if getattr(self, "handle", None):
            lib.gravel_context_release(self.handle)

    def __repr__(self) -> str:
        return "gravel.Context(%r)" % self.device.name


_standard: Optional[Context] = None


def standard_context() -> Context:
    """The context of calls that name none: opened once."""
    global _standard
    if _standard is None:
        _standard = Context()
    return _standard
