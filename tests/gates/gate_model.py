#!/usr/bin/env python3
"""`gravel model` and its figures: no device is needed, JSON in and out, what is wrong is named."""
import json
import os
import shutil
import sys

import gatelib
from clilib import USAGE, WORK, expect, good, path, read, refused, write
from gatelib import TOP, Skipped


def predictions_add_up():
    for solver in ("direct", "tree"):
        done = json.loads(good("model", "--solver", solver, "-n", "1e5,1e7", "--ranks", "1,4,64", "--json").stdout)
        expect(len(done["predictions"]) == 6 and len(done["limits"]) == 2, "six predictions")
        for p in done["predictions"]:
            parts = p["host_s"] + p["transfer_s"] + p["network_s"] + p["device_s"]
            expect(abs(parts - p["step_s"]) < 1e-9 * p["step_s"], "parts add up: %s" % p)
            expect(p["ranks"] > 1 or abs(p["efficiency"] - 1) < 1e-9, "efficiency of one rank: %s" % p)


def example_is_a_machine():
    good("model", "--example", "-o", path("m.json"))
    one = good("model", "-n", "1e6", "--ranks", "1,8").stdout
    two = good("model", "m.json", "-n", "1e6", "--ranks", "1,8").stdout
    expect(one == two and "more ranks are slower beyond" in one, "the example's numbers are those without a file")
    machine = json.loads(read("m.json"))
    machine["network"]["bytes_per_s"] = 1e9
    write("slow.json", json.dumps(machine))
    expect(good("model", "slow.json", "-n", "1e6", "--ranks", "64").stdout not in one, "a slower network")


def measured_trees_are_met():
    """The walk's curve goes through the points of theta 0.5, stages are lines: largest 25 %, median 10 %."""
    times = os.path.join(TOP, "bench", "results", "h200_tree_times.json")
    good("model", "--fit", times, "-o", path("fit.json"))
    check = json.loads(good("model", "--check", "fit.json", times, "--json").stdout)
    expect(len(check["points"]) == 21, "21 points")
    expect(check["deviation_median"] < 0.1 and check["deviation_max"] < 0.25, str(check["deviation_max"]))


def figures():
    if not shutil.which("gnuplot"):
        raise Skipped("gnuplot is not installed")
    for kind in ("bodies", "ranks", "speedup", "parts"):
        good("plot", "model", "-o", path(kind + ".svg"), "--figure", kind, "--ranks", "1,4,16")
        expect(len(read(kind + ".svg")) > 5000, "a figure")


def what_is_wrong_is_named():
    refused(USAGE, "nothing that is known", "model", write("a.json", '{"direct": {"cal_s": 1}}'))
    refused(USAGE, "no JSON of a machine", "model", write("b.json", "["))
    refused(USAGE, "cannot be opened", "model", "nothing.json")
    refused(USAGE, "no results of", "model", "--fit", "a.json")
    refused(USAGE, "are missing", "model", "--check", "m.json")
    refused(USAGE, "one of them", "model", "--check", "--fit", "m.json")
    refused(USAGE, "results are for", "model", "m.json", "m.json")


def main():
    try:
        return gatelib.main([predictions_add_up, example_is_a_machine, measured_trees_are_met, figures,
                             what_is_wrong_is_named])
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
