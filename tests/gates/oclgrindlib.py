"""Runs of a driver on Oclgrind's simulated device, which sees every access to memory."""
import glob
import os
import subprocess
import tempfile
import time

import gatelib
from gatelib import BUILD, Failed

# Inlined and in registers, as drivers do it: half as many instructions to simulate as with -O1, the same accesses to
# global and local memory.
OPTIONS = "-O2"
# The precompiled header would bring its own extensions along; without it the compiler reads 17000 lines of header for
# each kernel, unless it is told to know the functions by itself and where the types of OpenCL are.
NO_FP64 = "-cl-ext=-cl_khr_fp64"
BASE = "/usr/lib/*/oclgrind/*/opencl-c-base.h"
LIMIT = 900  # seconds a run; each takes about ten on an idle machine


def without_fp64():
    base = glob.glob(BASE)
    known = "-D_OPENCL_H_ -fdeclare-opencl-builtins -finclude-default-header -I" + os.path.dirname(base[0]) if base else ""
    return ["--build-options", "%s %s %s" % (OPTIONS, NO_FP64, known), "--disable-pch"]


def read(name):
    if not os.path.exists(name):
        return ""
    with open(name, encoding="utf-8", errors="replace") as handle:
        return handle.read()


def run(driver, *arguments, fp64=True, kernels=None, group=None, until=None):
    """(what build/gates/<driver> printed, its exit status, what Oclgrind found); `group`: the largest work-group there is;
    `until`: the run is over when Oclgrind has said this"""
    tool = gatelib.need_tool("oclgrind")
    program = gatelib.need_file(BUILD, "gates", driver)
    env = dict(os.environ)
    env.pop("GRAVEL_DEVICE", None)
    if kernels:
        env["GRAVEL_KERNEL_DIR"] = kernels
    # The library times loops on a device that it sees for the first time, more than a variant has to simulate, and
    # keeps what it found there; a folder each for what was compiled with and without fp64.
    env["GRAVEL_CACHE_DIR"] = os.path.join(BUILD, "run", "cache", "oclgrind" if fp64 else "oclgrind-no-fp64")
    os.makedirs(env["GRAVEL_CACHE_DIR"], mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        command = [tool, "--data-races", "--max-errors", "20", "--log", log]
        command += ["--max-wgsize", str(group)] if group else []
        command += ["--build-options", OPTIONS] if fp64 else without_fp64()
        out = os.path.join(folder, "out")
        with open(out, "w", encoding="utf-8") as handle:
            child = subprocess.Popen([*command, program, *map(str, arguments)], stdout=handle, stderr=subprocess.STDOUT,
                                     env=env)
            end = time.monotonic() + LIMIT
            while child.poll() is None and time.monotonic() < end and not (until and until in read(log)):
                time.sleep(0.1)
            if child.poll() is None:
                child.kill()
            status, printed, found = child.wait(), read(out), read(log)
    if until and until in found:
        return printed, status, found.strip()
    if "device: Oclgrind" not in printed:
        raise Failed("the driver did not run on Oclgrind's device:\n" + printed)
    return printed, status, found.strip()


def clean(driver, *arguments, **more):
    """A case: nothing is found, and the driver is content with its results."""
    def check():
        printed, status, found = run(driver, *arguments, **more)
        print(printed)
        if found or status != 0 or "\n0 cases failed" not in printed:
            raise Failed(printed + found + "\nexit status %d" % status)
    return check
