#!/usr/bin/env python3
"""The tree under Oclgrind in its shapes: no access out of bounds, no data race, right forces.

A case is a precision and a configuration; the runs are those of oclgrind_tree.c.  The work-group shape is the one that
GPUs run: here without shuffles, so every exchange between work-items goes through local memory and barriers.
The shape of one work-item runs with one lane here and with vectors on PoCL (test_tree): Oclgrind 21.10 extends a vector
of one-bit values with zeros to 255, not to 1, and so sees list indices that no device has.
Few sinks walk in groups of 128 work-items, whose sums are added in parts.
Each of a sort's 256 digits is a row of as many work-items as a group has, up to 256, that sum one or two numbers, most of
what there would be to simulate: groups sort by 4 bits here, on a device whose groups have 64 work-items at most (which
there are), and one pass by 8 bits in rows of 256 is a case of its own.
"""
import sys

import gatelib
import oclgrindlib
from gatelib import LONG, QUICK

CASES = {
    "group": ("sp", 400, "threads=32 n_group=32 split=1 tile=32 lanes=1 rsqrt=2 sort_threads=64 sort_items=4 "
              "sort_bits=4"),
    "group/split": ("ds", 640, "threads=64 n_group=16 split=4 tile=64 lanes=1 rsqrt=2 sort_threads=64 sort_items=8 "
                    "sort_bits=4"),
    "group/few": ("sp", 600, "threads=32 n_group=64 split=1 tile=32 lanes=1 rsqrt=2 sort_threads=1 sort_items=4096",
                  "active"),
    "group/periodic": ("sp", 200, "threads=32 n_group=32 split=1 tile=32 lanes=1 rsqrt=2 sort_threads=64 sort_items=4 "
                       "sort_bits=4", "periodic"),
    "sort": ("sort",),
    "lanes": ("ds", 400, "threads=1 split=1 n_group=16 lanes=1 rsqrt=3 sort_threads=1 sort_items=4096 tile=16"),
    "lanes/halved": ("sp", 600, "threads=1 split=1 n_group=64 lanes=1 rsqrt=3 sort_threads=64 sort_items=4 sort_bits=4 "
                     "tile=16", "some"),
}

if __name__ == "__main__":
    # "group/split" has all that "group" has, but for one work-item a sink; each precision of groups is compiled for 15 s
    chosen = ["group/split"] if QUICK else list(CASES) if LONG else ["group/split", "sort", "lanes"]
    most = {"sort": None, "group/few": 128}
    sys.exit(gatelib.main([(name, oclgrindlib.clean("oclgrind_tree", *CASES[name], group=most.get(name, 64)))
                           for name in chosen]))
