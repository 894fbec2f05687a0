#!/usr/bin/env python3
"""What PoCL makes of direct summation for x86: functions that keep vectors on the stack align it, so that no vector
crosses cache lines wherever the stack of a program lies (GV_ALIGN_STACK of kernels/lib/real.h)."""
import glob
import os
import platform
import re
import shutil
import sys

import gatelib
from clilib import WORK, cluster, expect, good, need_device, path

# a vector of 32 or 64 bytes beside the stack pointer
KEPT = re.compile(r"%[yz]mm\d+,(?:-?0x[0-9a-f]+)?\(%rsp\)|(?:-?0x[0-9a-f]+)?\(%rsp\),%[yz]mm\d+")
ALIGNED = re.compile(r"\band +\$0xf+[c-e]0,%rsp")


def functions(library):
    """Name and instructions of each."""
    text = gatelib.call([gatelib.need_tool("objdump"), "-d", "--no-show-raw-insn", library])
    return re.findall(r"^[0-9a-f]+ <(\w+)>:\n((?:.+\n)+)", text, re.M)


def vectors_are_aligned():
    need_device()
    if platform.machine() != "x86_64":
        raise gatelib.Skipped("not an x86-64 processor")
    # no cache has the program yet, so that the compiler's output is here
    here = {"POCL_CACHE_DIR": path("pocl"), "GRAVEL_CACHE_DIR": path("cache")}
    os.makedirs(here["POCL_CACHE_DIR"])
    bodies = cluster(64)
    for precision in ("sp", "ds"):
        good("force", "-i", bodies, "-o", "f.txt", "--order", "6", "--precision", precision, "--eps", "0.01", "--nearest",
             "--device", "cpu", env=here)
    good("bench", "tasks", "-n", "500", "--leaf", "32", "--repeats", "1", "--device", "cpu", env=here)
    libraries = [library for name in ("gv_force", "gv_tasks_evaluate")
                 for library in glob.glob(path("pocl/**/%s.so" % name), recursive=True)
                 if os.path.basename(os.path.dirname(library)) != "0-0-0"]  # for any group, launched by nobody
    if not libraries:
        raise gatelib.Skipped("the CPU's OpenCL is not PoCL")
    kept = 0
    for library in libraries:
        for function, text in functions(library):
            uses = len(KEPT.findall(text))
            kept += uses
            print("%s of %s: %d vectors on the stack" % (function, os.path.relpath(library, WORK), uses))
            expect(not uses or ALIGNED.search(text), "%s keeps vectors on a stack that it does not align" % function)
    if not kept:
        raise gatelib.Skipped("this processor has room for all vectors, or none of 32 bytes")


try:
    sys.exit(gatelib.main([vectors_are_aligned]))
finally:
    shutil.rmtree(WORK, ignore_errors=True)
