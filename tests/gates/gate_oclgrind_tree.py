#!/usr/bin/env python3
"""The tree under Oclgrind in its shapes: no access out of bounds, no data race, right forces.

A case is a precision and a configuration; the runs are those of oclgrind_tree.c.  The work-group shape is the one that
GPUs run: here without shuffles, so every exchange between work-items goes through local memory and barriers.
The shape of one work-item runs with one lane here and with vectors on PoCL (test_tree): Oclgrind 21.10 extends a vector
of one-bit values with zeros to 255, not to 1, and so sees list indices that no device has.
Each of a sort's 256 digits is a row of 256 work-items that sum one or two numbers, most of what there would be to
simulate: groups sort by 4 bits here, and one pass by 8 bits is a case of its own.
"""
import os
import subprocess
import sys
import tempfile

import gatelib
from gate_oclgrind import LIMIT, OPTIONS
from gatelib import BUILD, Failed, QUICK

CASES = {
    "group": ("sp", 400, "threads=32 n_group=32 split=1 tile=32 lanes=1 rsqrt=2 sort_threads=64 sort_items=4 "
              "sort_bits=4"),
    "group/split": ("ds", 640, "threads=64 n_group=16 split=4 tile=64 lanes=1 rsqrt=2 sort_threads=64 sort_items=8 "
                    "sort_bits=4"),
    "group/sparse": ("sp", 600, "threads=32 n_group=64 split=1 tile=32 lanes=1 rsqrt=2 sort_threads=1 sort_items=4096",
                     "active"),
    "group/periodic": ("sp", 200, "threads=32 n_group=32 split=1 tile=32 lanes=1 rsqrt=2 sort_threads=64 sort_items=4 "
                       "sort_bits=4", "periodic"),
    "sort": ("sort",),
    "lanes": ("ds", 400, "threads=1 split=1 n_group=16 lanes=1 rsqrt=3 sort_threads=1 sort_items=4096 tile=16"),
}


def clean(*arguments):
    def check():
        tool = gatelib.need_tool("oclgrind")
        driver = gatelib.need_file(BUILD, "gates", "oclgrind_tree")
        env = dict(os.environ)
        env.pop("GRAVEL_DEVICE", None)
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            command = [tool, "--data-races", "--max-errors", "20", "--log", log, "--build-options", OPTIONS, driver,
                       *map(str, arguments)]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", check=False, env=env, timeout=LIMIT)
            found = ""
            if os.path.exists(log):
                with open(log, encoding="utf-8", errors="replace") as handle:
                    found = handle.read().strip()
        if "device: Oclgrind" not in done.stdout:
            raise Failed("the driver did not run on Oclgrind's device:\n" + done.stdout)
        if found or done.returncode != 0 or "\n0 cases failed" not in done.stdout:
            raise Failed(done.stdout + found + "\nexit status %d" % done.returncode)
    return check


if __name__ == "__main__":
    chosen = ["group/split"] if QUICK else list(CASES)
    sys.exit(gatelib.main([(name, clean(*CASES[name])) for name in chosen]))
