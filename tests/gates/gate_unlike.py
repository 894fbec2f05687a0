#!/usr/bin/env python3
"""Several devices of different platforms in one list: runs where there are two platforms (.ci/run sees to that)."""
import json
import math
import shutil
import sys

import gatelib
from clilib import PROGRAM, WORK, cluster, expect, good, need_device, read, table
from gate_mpi import mpirun, need_mpirun


def unlike():
    need_device()
    platforms = {}
    for device in json.loads(good("devices", "--json").stdout):
        platforms.setdefault(device["platform"], str(device["index"]))
    if len(platforms) < 2:
        raise gatelib.Skipped("all devices here are of one platform")
    return ("--devices", ",".join(platforms.values()))


def worst(rows, truth):
    return max(math.dist([float(v) for v in row[1:4]], [float(v) for v in true[1:4]]) /
               math.hypot(*[float(v) for v in true[1:4]]) for row, true in zip(rows, truth))


def forces():
    """Right, and the same digits from run to run: direct sums and trees."""
    devices, name = unlike(), cluster(1500)
    good("force", "-i", name, "-o", "truth.txt", "-m", "reference", "--eps", "0.01")
    truth = table(read("truth.txt"))[1]
    # the ceiling of ds, doc/benchmarks.md; a tree with theta 0.3: ten times what 99 % of bodies have (gate_several)
    for method, options, ceiling in (("direct", (), 2e-6), ("tree", ("--theta", "0.3"), 1e-3)):
        texts = []
        for turn in range(2):
            good("force", "-i", name, "-o", "f.txt", "-m", method, *options, "--eps", "0.01", *devices)
            texts.append(read("f.txt"))
        expect(texts[0] == texts[1], "%s: not the same digits twice" % method)
        error = worst(table(texts[0])[1], truth)
        expect(error < ceiling, "%s: acc error %g" % (method, error))


def shares():
    """Each device has some of the sources, and the bench times all that may answer."""
    devices, name = unlike(), cluster(1500)
    good("force", "-i", name, "-o", "f.txt", "--eps", "0.01", "--report", "r.json", *devices)
    report = json.loads(read("r.json"))
    expect(sorted(report["devices_used"]) == [0, 1] and math.isclose(sum(report["shares"]), 1), "shares: %s" % report)
    done = good("bench", "several", *devices, "-n", "500", "--sinks", "1,64", "--order", "2", "--json")
    for result in json.loads(done.stdout)["results"]:
        times = {a["by"] for a in result["answers"]}
        expect(times == {"host", "1 device", "2 devices"}, "answers: %s" % times)
        expect(result["regret"] >= 1, "regret: %s" % result)


def ranks():
    """A run with a tree, a rank on each platform, beside one rank: forces of theta 0.3 differ by 1e-3 at worst
    (doc/tree.md), the largest are about 10 with this softening, so velocities by 2.5e-3 after a quarter."""
    devices, name = unlike(), cluster(1500)
    need_mpirun()
    what = ("run", "-i", name, "--solver", "tree", "--theta", "0.3", "--eps", "0.05", "--until", "0.25",
            "--snapshot-format", "text", "--snapshot-every", "0.25")
    good(*what, "-o", "alone")
    for folder in ("two", "again"):
        done = mpirun(2, PROGRAM, *what, "-d", devices[1].replace(",", ";"), "-o", folder, cwd=WORK)
        expect(done.returncode == 0, "over ranks: " + done.stdout + done.stderr)
    expect(read("two/snapshot_0001.txt") == read("again/snapshot_0001.txt"), "not the same digits twice")
    far = max(abs(float(a) - float(b)) for one, two in zip(*[table(read(f + "/snapshot_0001.txt"))[1]
                                                             for f in ("alone", "two")]) for a, b in zip(one, two))
    expect(far < 2.5e-3, "%g from one rank" % far)


if __name__ == "__main__":
    gatelib.need_file(PROGRAM)
    try:
        sys.exit(gatelib.main([forces, shares, ranks]))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
