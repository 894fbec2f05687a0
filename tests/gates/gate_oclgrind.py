#!/usr/bin/env python3
"""Every direct variant under Oclgrind: no access out of bounds, no data race, right results; sp and ds with fp64 switched
off in the compiler and in the library.  With fp64 their kernels differ only in what takes words of dp bodies, so that
one of them runs both ways.

The runs are those of oclgrind_driver.c.  Two cases spoil a copy of the kernels on purpose and must be noticed, so that
a silent Oclgrind cannot pass for a clean one.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import gatelib
from gatelib import BUILD, Failed, QUICK, TOP

# Inlined and in registers, as drivers do it: half as many instructions to simulate as with -O1, the same accesses to
# global and local memory.
OPTIONS = "-O2"
# The precompiled header would bring its own extensions along.
NO_FP64 = "-cl-ext=-cl_khr_fp64"
LIMIT = 900  # seconds a run; each takes about ten on an idle machine


def oclgrind(variant, fp64=True, kernels=None):
    """(what the driver printed, its exit status, what Oclgrind found)"""
    tool = gatelib.need_tool("oclgrind")
    driver = gatelib.need_file(BUILD, "gates", "oclgrind_driver")
    env = dict(os.environ)
    env.pop("GRAVEL_DEVICE", None)
    if kernels:
        env["GRAVEL_KERNEL_DIR"] = kernels
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        command = [tool, "--data-races", "--max-errors", "20", "--log", log]
        if fp64:
            command += ["--build-options", OPTIONS, driver, variant]
        else:
            command += ["--build-options", OPTIONS + " " + NO_FP64, "--disable-pch", driver, "--no-fp64", variant]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              check=False, env=env, timeout=LIMIT)
        found = ""
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as handle:
                found = handle.read()
    if "device: Oclgrind" not in done.stdout:
        raise Failed("the driver did not run on Oclgrind's device:\n" + done.stdout)
    return done.stdout, done.returncode, found.strip()


def clean(variant, fp64):
    def check():
        printed, status, found = oclgrind(variant, fp64)
        if found:
            raise Failed(printed + found)
        if status != 0 or "\n0 cases failed" not in printed:
            raise Failed(printed + "exit status %d" % status)
    return "%s%s" % (variant, "" if fp64 else "/no-fp64"), check


def spoiled(change):
    """A copy of the kernels after `change(folder)`."""
    folder = tempfile.mkdtemp()
    copy = os.path.join(folder, "kernels")
    shutil.copytree(os.path.join(TOP, "kernels"), copy)
    change(copy)
    return copy


def edit(path, pattern, replacement):
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    changed, count = re.subn(pattern, replacement, text)
    if not count:
        raise Failed("%s holds nothing like %s any more: this case needs a new way to spoil it" % (path, pattern))
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(changed)


def notices_a_race():
    """Without its barriers the force kernel reads tiles that others are still writing."""
    copy = spoiled(lambda d: edit(os.path.join(d, "direct", "force.cl"), r"barrier\(CLK_LOCAL_MEM_FENCE\);", ";"))
    try:
        _, _, found = oclgrind("sp2", kernels=copy)
    finally:
        shutil.rmtree(os.path.dirname(copy))
    if "race" not in found:
        raise Failed("force.cl without barriers gave no data race: " + (found or "nothing was found"))


def notices_fp64():
    """With fp64 switched off a kernel that uses it must not build, or the no-fp64 cases prove nothing."""
    line = "\nstatic inline double gv_spoiled(double x)\n{\n    return 2 * x;\n}\n"
    copy = spoiled(lambda d: edit(os.path.join(d, "lib", "real.h"), r"\Z", line))
    try:
        printed, status, _ = oclgrind("sp2", fp64=False, kernels=copy)
    finally:
        shutil.rmtree(os.path.dirname(copy))
    if status == 0 or "ERR_BUILD" not in printed:
        raise Failed("double was accepted with fp64 switched off:\n" + printed)


if __name__ == "__main__":
    names = ["sp2", "sp4", "sp6", "ds2", "ds4", "ds6", "dp2", "dp4", "dp6"]
    cases = [clean(v, True) for v in (["ds4", "dp6"] if QUICK else ["ds4"] + names[6:])]
    cases += [clean(v, False) for v in (["sp2", "ds6"] if QUICK else names[:6])]
    sys.exit(gatelib.main(cases + [notices_a_race, notices_fp64]))
