#!/usr/bin/env python3
"""The kernels of tasks and requests under Oclgrind: no access out of bounds, no data race (oclgrind_tasks.c)."""
import os
import subprocess
import sys
import tempfile

import gatelib
from gate_oclgrind import LIMIT, OPTIONS
from gatelib import BUILD, Failed


def clean():
    tool = gatelib.need_tool("oclgrind")
    driver = gatelib.need_file(BUILD, "gates", "oclgrind_tasks")
    env = dict(os.environ)
    env.pop("GRAVEL_DEVICE", None)
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        done = subprocess.run([tool, "--data-races", "--max-errors", "20", "--log", log, "--build-options", OPTIONS,
                               driver], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False, env=env, timeout=LIMIT)
        found = ""
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as handle:
                found = handle.read().strip()
    print(done.stdout)
    if "device: Oclgrind" not in done.stdout:
        raise Failed("the driver did not run on Oclgrind's device:\n" + done.stdout)
    if found or done.returncode != 0 or "\n0 cases failed" not in done.stdout:
        raise Failed(done.stdout + found + "\nexit status %d" % done.returncode)


if __name__ == "__main__":
    sys.exit(gatelib.main([clean]))
