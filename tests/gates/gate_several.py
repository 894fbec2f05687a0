#!/usr/bin/env python3
"""The program on several devices: parts of a CPU stand for them."""
import json
import math
import shutil
import sys

import gatelib
from clilib import OK, PROGRAM, USAGE, WORK, cluster, expect, good, need_device, read, refused, run, table

PARTS = ("--devices", "cpu:1,cpu:1")


def need_parts():
    need_device()
    done = run("force", "-i", cluster(10), *PARTS)
    if done.returncode != OK:
        raise gatelib.Skipped("no CPU that can be divided: " + done.stderr.strip())


def worst(rows, truth):
    return max(math.dist([float(v) for v in row[1:4]], [float(v) for v in true[1:4]]) /
               math.hypot(*[float(v) for v in true[1:4]]) for row, true in zip(rows, truth))


def forces_of_parts():
    need_parts()
    name = cluster(300)
    good("force", "-i", name, "-o", "truth.txt", "-m", "reference", "--eps", "0.01")
    truth = table(read("truth.txt"))[1]
    texts = []
    for out in ("a.txt", "b.txt"):
        good("force", "-i", name, "-o", out, "--eps", "0.01", "--report", "r.json", *PARTS)
        texts.append(read(out))
    expect(texts[0] == texts[1], "not the same digits twice")
    rows = table(texts[0])[1]
    expect(worst(rows, truth) < 2e-6, "acc error %g" % worst(rows, truth))  # the ceiling of ds, doc/benchmarks.md
    report = json.loads(read("r.json"))
    expect(report["devices_used"] == [0, 1] and report["shares"] == [0.5, 0.5], "shares: %s" % report)


def tree_of_parts():
    need_parts()
    name = cluster(3000)
    good("force", "-i", name, "-o", "truth.txt", "-m", "reference", "--eps", "0.01", "--sinks", "100:50")
    good("force", "-i", name, "-o", "f.txt", "-m", "tree", "--theta", "0.3", "--eps", "0.01", "--sinks", "100:50", *PARTS)
    truth, rows = table(read("truth.txt"))[1], table(read("f.txt"))[1]
    # as in gate_cli: 99 % of bodies below 1e-4 on Plummer spheres; ten times that for the worst of 50
    expect(worst(rows, truth) < 1e-3, "acc error %g" % worst(rows, truth))


def bench_of_parts():
    need_parts()
    done = good("bench", "several", *PARTS, "-n", "500", "--sinks", "1,64", "--order", "2", "--json", "-o", "b.json")
    report = json.loads(done.stdout)
    expect(len(report["devices"]) == 2 and len(report["results"]) == 2, "two devices, two results", done)
    for r in report["results"]:
        times = {a["by"]: a["call_s_median"] for a in r["answers"]}
        expect(set(times) == {"host", "1 device", "2 devices"}, "answers: %s" % times)
        expect(math.isclose(r["regret"], times[r["chosen"]] / min(times.values()), rel_tol=1e-9), "regret: %s" % r)
    expect(json.loads(read("b.json"))["results"] == report["results"], "the file holds the same")


def misuse():
    need_device()
    refused(USAGE, "no device fits", "force", "-i", cluster(10), "--devices", "abacus")
    refused(USAGE, "without a device", "force", "-i", cluster(10), "-m", "reference", "--devices", "cpu")
    refused(USAGE, "no device fits", "bench", "several", "--devices", "abacus")
    refused(USAGE, "not one of", "bench", "several", "--order", "3")


if __name__ == "__main__":
    gatelib.need_file(PROGRAM)
    try:
        sys.exit(gatelib.main([forces_of_parts, tree_of_parts, bench_of_parts, misuse]))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
