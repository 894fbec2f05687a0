"""Runs of a driver on Oclgrind's simulated device, which sees every access to memory."""
import os
import subprocess
import tempfile

import gatelib
from gatelib import BUILD, Failed

# Inlined and in registers, as drivers do it: half as many instructions to simulate as with -O1, the same accesses to
# global and local memory.
OPTIONS = "-O2"
# The precompiled header would bring its own extensions along.
NO_FP64 = "-cl-ext=-cl_khr_fp64"
LIMIT = 900  # seconds a run; each takes about ten on an idle machine


def run(driver, *arguments, fp64=True, kernels=None):
    """(what build/gates/<driver> printed, its exit status, what Oclgrind found)"""
    tool = gatelib.need_tool("oclgrind")
    program = gatelib.need_file(BUILD, "gates", driver)
    env = dict(os.environ)
    env.pop("GRAVEL_DEVICE", None)
    if kernels:
        env["GRAVEL_KERNEL_DIR"] = kernels
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        command = [tool, "--data-races", "--max-errors", "20", "--log", log]
        command += ["--build-options", OPTIONS] if fp64 else ["--build-options", OPTIONS + " " + NO_FP64, "--disable-pch"]
        done = subprocess.run([*command, program, *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False, env=env, timeout=LIMIT)
        found = ""
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as handle:
                found = handle.read()
    if "device: Oclgrind" not in done.stdout:
        raise Failed("the driver did not run on Oclgrind's device:\n" + done.stdout)
    return done.stdout, done.returncode, found.strip()


def clean(driver, *arguments, fp64=True):
    """A case: nothing is found, and the driver is content with its results."""
    def check():
        printed, status, found = run(driver, *arguments, fp64=fp64)
        print(printed)
        if found or status != 0 or "\n0 cases failed" not in printed:
            raise Failed(printed + found + "\nexit status %d" % status)
    return check
