#!/usr/bin/env python3
"""The kernels of tasks and requests under Oclgrind: no access out of bounds, no data race (oclgrind_tasks.c)."""
import sys

import gatelib
import oclgrindlib

if __name__ == "__main__":
    sys.exit(gatelib.main([("clean", oclgrindlib.clean("oclgrind_tasks", group=64))]))
