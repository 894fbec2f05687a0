#!/usr/bin/env python3
"""gravel tune --regret on small grids: every point is there, each ratio follows from its times, wrong use is refused."""
import json
import math
import shutil
import sys

import gatelib
from clilib import PROGRAM, USAGE, WORK, expect, good, need_device, refused, run

ONE = ("tune", "--device", "cpu", "--quick", "--profile-dir", "profiles")


def check_points(report, wanted, keys):
    points = report["points"]
    expect(sorted(tuple(p[k] for k in keys) for p in points) == sorted(wanted), "points: %s" % points)
    for p in points:
        least = {}
        for name, seconds in p["times"]:
            least[name] = min(seconds, least.get(name, seconds))
        expect(len(least) == p["candidates"] - p["failed"], "times of every candidate: %s" % p)
        expect(p["best_s"] == min(least.values()) and p["choice_s"] == least[p["choice"]], "times: %s" % p)
        expect(math.isclose(p["over_best"], p["choice_s"] / p["best_s"], rel_tol=1e-12), "over_best: %s" % p)
    ratios = [p["over_best"] for p in points]
    expect(report["summary"][0]["over_best_most"] == max(ratios), "summary: %s" % report["summary"])
    expect(report["summary"][0]["points"] == len(points), "summary: %s" % report["summary"])


def regret(*arguments):
    """With --json the exit status says whether the mark is kept, which a loaded machine cannot promise."""
    done = run(*ONE, "--regret", "--json", *arguments)
    expect(done.returncode in (0, 1), "exit status %d" % done.returncode, done)
    return json.loads(done.stdout)


def direct_grid():
    need_device()
    good(*ONE, "--variant", "sp2", "--sinks", "8", "--sources", "512", "--evaluations", "3", "--log", "l.jsonl")
    report = regret("--variant", "sp2", "--sinks", "5,12", "--sources", "300,700", "--nearest")
    check_points(report, [(i, j, 1) for i in (5, 12) for j in (300, 700)], ("sinks", "sources", "features"))
    expect(all(p["candidates"] > 1 for p in report["points"]), "what the profile keeps is timed beside the default")


def tree_grid():
    need_device()
    report = regret("--kernel", "tree", "--variant", "sp2", "--sources", "300", "--theta", "0.4,0.75", "--active",
                    "0.1,1")
    check_points(report, [(300, t, a) for t in (0.4, 0.75) for a in (0.1, 1)], ("sources", "theta", "active"))


def budget_ends_it():
    need_device()
    done = good(*ONE, "--regret", "--budget", "0.001s", "--variant", "sp2", "--sinks", "2,3", "--sources", "64",
                "--nearest")
    expect("the budget was over before 1 point" in done.stderr, "what was left out is said", done)


def wrong_use():
    need_device()
    refused(USAGE, "not a list of numbers", *ONE, "--regret", "--kernel", "tree", "--theta", "0.5;1")
    refused(USAGE, "parts of the bodies", *ONE, "--regret", "--kernel", "tree", "--active", "2")
    refused(USAGE, "for --kernel tree", *ONE, "--regret", "--theta", "0.5")


if __name__ == "__main__":
    gatelib.need_file(PROGRAM)
    try:
        sys.exit(gatelib.main([direct_grid, tree_grid, budget_ends_it, wrong_use]))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
