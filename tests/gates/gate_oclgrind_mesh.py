#!/usr/bin/env python3
"""The kernels of meshes under Oclgrind: no access out of bounds, no data race (oclgrind_mesh.c)."""
import sys

import gatelib
import oclgrindlib

if __name__ == "__main__":
    sys.exit(gatelib.main([("clean", oclgrindlib.clean("oclgrind_mesh", "sp", group=128))]))
