#!/usr/bin/env python3
"""gravel tune --regret on small grids: every point is there, each ratio follows from its times, what was stopped is marked,
wrong use is refused."""
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

import gatelib
from clilib import (FAILURE, PROGRAM, USAGE, WORK, by_default, expect, good, need_device, on_terminal, path, read,
                    refused, run, said_until, send_as_timeout, write, wrong_kernels)

DIGITS = 1.1e-3  # a ratio of two times that are written with four digits, each off by half a unit of 1.000 at most
ONE = ("tune", "--device", "cpu", "--quick", "--profile-dir", "profiles")


def ratios(point, turns):
    """What the choice takes over each that met it, a median over the turns."""
    mine = turns[point["choice"]]
    return {name: statistics.median(a / b for a, b in zip(mine, times)) for name, times in turns.items()}


def check_turns(p):
    """Figures are medians over the turns, geometric means over both sittings of a point that was beyond a mark."""
    first = {t[0]: t[1] for t in p["times"]}
    sittings = [{t[0]: t[at] for t in p["times"] if len(t) > at} for at in (2, 3)]
    over = ratios(p, sittings[0])
    choice_s = statistics.median(sittings[0][p["choice"]])
    best = max(over.values())
    if "over_best_each" in p:
        expect(sittings[0].keys() == sittings[1].keys(), "who meets again: %s" % p)
        expect(math.isclose(best, p["over_best_each"][0], rel_tol=DIGITS), "the first sitting: %s" % p)
        again = ratios(p, sittings[1])
        expect(math.isclose(max(again.values()), p["over_best_each"][1], rel_tol=DIGITS), "the second: %s" % p)
        expect(p["over_best_each"][0] > 1.08 or p["over_default_each"][0] > 1.02, "measured again for nothing: %s" % p)
        over = {name: math.sqrt(over[name] * again[name]) for name in over}
        choice_s = math.sqrt(choice_s * statistics.median(sittings[1][p["choice"]]))
        best = max(over.values())
    expect(math.isclose(best, p["over_best"], rel_tol=DIGITS), "over_best: %s" % p)
    expect(math.isclose(over[p["best"]], p["over_best"], rel_tol=DIGITS), "best: %s" % p)
    expect(math.isclose(p["choice_s"], choice_s, rel_tol=DIGITS), "choice_s: %s" % p)
    expect(min(first, key=first.get) in sittings[0], "the fastest is not timed again: %s" % p)
    expect(p["turns"] in range(3, 102, 2) and set(map(len, sittings[0].values())) == {p["turns"]}, "turns: %s" % p)


def check_points(report, wanted, keys):
    points = report["points"]
    expect(sorted(tuple(p[k] for k in keys) for p in points) == sorted(wanted), "points: %s" % points)
    for p in points:
        first = {t[0]: t[1] for t in p["times"]}
        expect(p["complete"] and len(first) == p["candidates"] - p["failed"], "times of every candidate: %s" % p)
        check_turns(p)
        expect(math.isclose(p["over_best"], p["choice_s"] / p["best_s"], rel_tol=1e-12), "over_best: %s" % p)
    decided = [p for p in points if p["decided"]]
    expect(report["complete"] and report["points_left_out"] == 0, "is complete and does not say so")
    summary = report["summary"][0]
    expect(summary["points"] == len(decided), "summary: %s" % summary)
    expect(summary["undecided"] == len(points) - len(decided), "summary: %s" % summary)
    expect(summary["twice"] == sum("over_best_each" in p for p in decided), "summary: %s" % summary)
    expect(not decided or summary["over_best_most"] == max(p["over_best"] for p in decided), "summary: %s" % summary)


def regret(*arguments):
    """With --json the exit status says whether the mark is kept, which a loaded machine cannot promise."""
    done = run(*ONE, "--regret", "--json", "--most", "4", *arguments)  # profiles of CPUs keep some thirty, each a program
    expect(done.returncode in (0, 1), "exit status %d" % done.returncode, done)
    return json.loads(done.stdout)


def rounded(point):
    return {key: float("%.8g" % value) if isinstance(value, float) else
            [time[:2] + [turns[:15] for turns in time[2:]] for time in value] if key == "times" else value
            for key, value in point.items()}


def packed_is_the_same(report):
    """What bench/regret.py keeps of it: all but digits and turns that nobody needs."""
    tool = [sys.executable, os.path.join(gatelib.TOP, "bench", "regret.py")]
    whole, packed = path("whole.json"), path("packed.json")
    with open(whole, "w", encoding="utf-8") as f:
        json.dump(report, f)
    subprocess.run(tool + ["pack", whole, "-o", packed, "--machine", "here"], check=True)
    again = json.loads(subprocess.run(tool + ["unpack", packed], check=True, stdout=subprocess.PIPE).stdout)
    expect(again == dict(report, machine="here", points=[rounded(p) for p in report["points"]]), "packed: %s" % again)
    said = subprocess.run(tool + ["summary", packed], check=True, stdout=subprocess.PIPE, text=True).stdout
    decided = sum(p["decided"] for p in report["points"])
    expect("%d points;" % decided in said or decided == 0 and "no point" in said, said)


def direct_grid():
    need_device()
    good(*ONE, "--variant", "sp2", "--sinks", "8", "--sources", "512", "--evaluations", "3", "--log", "l.jsonl")
    # more processes than candidates at a point: those of several points are compiled together
    report = regret("--variant", "sp2", "--sinks", "5,12", "--sources", "300,700", "--nearest", "--jobs", "6")
    check_points(report, [(i, j, 1) for i in (5, 12) for j in (300, 700)], ("sinks", "sources", "features"))
    expect(all(p["candidates"] > 1 for p in report["points"]), "what the profile keeps is timed beside the default")
    packed_is_the_same(report)


def text(result):
    return " ".join("%s=%s" % item for item in result["configuration"].items())


def default_of(point):
    """The candidate that the choice was compared with as the default, by its turns: the first of both sittings."""
    over = ratios(point, {t[0]: t[2] for t in point["times"] if len(t) > 2})
    return min(over, key=lambda name: abs(over[name] - point.get("over_default_each", [point["over_default"]])[0]))


def worth(point):
    """What --keep makes an answer of: halfway to a mark over the best or over the default."""
    return point["decided"] and (point["over_best"] > 1.04 or point["over_default"] > 1.01)


def keep():
    """A profile that says of a slow configuration that it is fast: what is measured there takes its place, and is what
    a call gets from then on."""
    need_device()
    sizes = ("--variant", "sp2", "--plain", "--sinks", "8", "--sources", "64000")
    good(*ONE, *sizes, "--evaluations", "3", "--log", "l.jsonl")
    (name,) = [n for n in os.listdir(path("profiles")) if n.endswith(".json")]
    profile = json.loads(read("profiles/" + name))
    entry = next(e for e in profile["devices"][0]["entries"] if (e["sinks"], e["sources"]) == (8, 64000))
    slow = dict(entry["results"][0], time_s=1e-9, time_min_s=1e-9)
    slow_rsqrt = 0 if slow["configuration"]["rsqrt"] != 0 else 3
    slow["configuration"] = dict(slow["configuration"], sinks_per_item=4, unroll=2, rsqrt=slow_rsqrt)
    entry["results"].insert(0, slow)
    entry["date"] = "2026-01-01T00:00:00Z"
    with open(path("profiles/" + name), "w", encoding="utf-8") as f:
        json.dump(profile, f)
    (point,) = regret(*sizes)["points"]
    expect(point["choice"] == text(slow) and "answer" not in point, "choice: %s" % point)
    if point["over_default"] < 1.1:
        raise gatelib.Skipped("the configuration that was to be slow takes %.2f of the default here" % point["over_default"])
    # the default stays, which was measured: no other time is near enough to the slow one's for a mean of both
    default = default_of(point)
    entry["results"] = [r for r in entry["results"] if text(r) in (text(slow), default)]
    with open(path("profiles/" + name), "w", encoding="utf-8") as f:
        json.dump(profile, f)
    done = run(*ONE, "--regret", "--json", "--most", "4", "--keep", *sizes)
    (point,) = json.loads(done.stdout)["points"]
    expect("answer" in point and worth(point) and point["choice"] == text(slow), "answer: %s" % point)
    expect("1 of 1 points became answers of the profile" in done.stderr, "what was kept is said", done)
    entry = next(e for e in json.loads(read("profiles/" + name))["devices"][0]["entries"]
                 if (e["sinks"], e["sources"]) == (8, 64000))
    leads, ahead = text(entry["results"][0]), point["default_s"] / point["best_s"]
    # the default comes before what is ahead of it by less than 2 %; 0.1 % for the digits of times
    expect(leads != text(slow), "the slow one leads: %s" % entry)
    expect(leads == point["best"] or ahead < 1.021, "%s leads: %s" % (leads, point))
    (point,) = regret("--keep", *sizes)["points"]
    expect(("answer" in point) == worth(point), "what is worth an answer: %s" % point)
    # a CPU keeps the default for what is ahead by less than 4 % and a quarter of the larger spread, at most 0.2
    spread = max(r["spread"] for r in entry["results"] if text(r) in (leads, default))
    least = 1.04 * (1 + 0.25 * min(spread, 0.2))
    wanted = default if ahead < least else leads
    expect(point["choice"] == wanted or abs(ahead - least) < 0.002, "%s leads, and a call gets %s"
           % (wanted, point["choice"]))
    good("profiles", "validate", "profiles/" + name)


def keep_of_tasks():
    """Questions of tasks have one number of sources, so that there are none between: the usual ones are measured."""
    need_device()
    tasks = (*ONE[:-1], "tasks", "--kernel", "tasks", "--variant", "sp2")
    good(*tasks, "--sinks", "16,64", "--sources", "2000", "--evaluations", "1", "--log", "t.jsonl")
    done = run(*tasks, "--regret", "--keep", "--json", "--most", "2", "--budget", "1m")
    expect(done.returncode in (0, 1), "exit status %d" % done.returncode, done)
    points = json.loads(done.stdout)["points"]
    expect({(p["sinks"], p["sources"]) for p in points} == {(32, 3000), (32, 12000)}, "sizes: %s" % points)


def calls_of_a_program():
    """A program writes the sizes of its calls, and they are what is measured."""
    need_device()
    write("p.txt", "".join("%d 1 %r %r %r\n" % (k, math.sin(k), math.cos(3 * k), math.sin(7 * k)) for k in range(300)))
    for _ in range(2):
        good("force", "--device", "cpu", "p.txt", "-o", "f.txt", "-p", "sp", env={"GRAVEL_CALLS_DIR": path("calls")})
    expect(len(os.listdir(path("calls"))) == 2, "a file for each of both: %s" % os.listdir(path("calls")))
    done = run(*ONE, "--regret", "--json", "--most", "2", "--calls", "calls")
    report = json.loads(done.stdout)
    check_points(report, [("sp2", 300, 300, 0, 2)], ("variant", "sinks", "sources", "features", "calls"))
    (point,) = report["points"]
    if point["decided"]:
        total = report["calls"]
        expect(total["sizes"] == 1 and total["calls"] == total["all_calls"] == 2, "calls: %s" % total)
        for key in ("choice_s", "best_s", "default_s"):
            expect(math.isclose(total[key], 2 * point[key], rel_tol=1e-12), "calls: %s" % total)
        expect("2 of 2 calls, of 1 size:" in done.stderr, "what they take is said", done)
    other = re.sub("device .*", "device another one", read(os.path.join("calls", os.listdir(path("calls"))[0])))
    refused(USAGE, "in these variants", *ONE, "--regret", "--calls", "calls", "--variant", "dp4")
    refused(USAGE, "1 file is of other devices", *ONE, "--regret", "--calls", write("other.calls", other))
    refused(USAGE, "no.calls", *ONE, "--regret", "--calls", "no.calls")
    refused(USAGE, "not a file of GRAVEL_CALLS_DIR", *ONE, "--regret", "--calls", "p.txt")
    refused(USAGE, "--calls is for --regret", *ONE, "--calls", "calls")
    refused(USAGE, "leave out --sinks", *ONE, "--regret", "--calls", "calls", "--sinks", "5")
    refused(USAGE, "leave out --sinks", *ONE, "--regret", "--calls", "calls", "--theta", "0.5")


def tree_grid():
    need_device()
    report = regret("--kernel", "tree", "--variant", "sp2", "--sources", "300", "--theta", "0.4,0.75", "--active",
                    "0.1,1")
    check_points(report, [(300, t, a) for t in (0.4, 0.75) for a in (0.1, 1)], ("sources", "theta", "active"))


def check_incomplete(report, most):
    """What was measured is there, of whole points the figures, and that something is missing is said."""
    whole = [p for p in report["points"] if p["complete"]]
    expect(not report["complete"] and report["points_left_out"] == most - len(whole), "what is missing: %s" % report)
    expect(report["points"], "a point that was begun is lost")
    expect(report["summary"][0]["points"] + report["summary"][0]["undecided"] == len(whole), "summary: %s" % report)
    for p in report["points"]:
        expect(p["choice_s"] > 0 and p["default_s"] > 0, "neither the choice nor the default was timed: %s" % p)


def budget_ends_it():
    need_device()
    few = ("--regret", "--budget", "0.001s", "--variant", "sp2", "--sinks", "5,12", "--sources", "300", "--nearest")
    done = good(*ONE, *few, "--json", "--plot", "none.svg")
    expect("incomplete: the budget was over, 0 of 2 points" in done.stderr, "what was left out is said", done)
    expect("nothing to draw" in done.stderr and not os.path.exists(path("none.svg")), "no plot of nothing", done)
    check_incomplete(json.loads(done.stdout), 2)
    done = good(*ONE, *few)
    expect("0 of 2" in done.stdout and "-" in done.stdout, "the table is printed", done)


def ctrl_c_ends_it():
    """In the middle of a long grid, behind three points; also of the tree."""
    need_device()
    direct = ("--sinks", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "--sources", "400,500,600,700,800,900", "--nearest")
    tree = ("--kernel", "tree", "--sources", "300", "--theta", "0.3,0.31,0.32,0.33,0.34,0.35,0.36,0.37,0.38,0.39",
            "--active", "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1")
    for grid, most, number in ((direct, 96, signal.SIGINT), (tree, 100, signal.SIGTERM)):
        with open(path("said"), "w", encoding="utf-8") as err, open(path("json"), "w", encoding="utf-8") as out:
            child = subprocess.Popen([PROGRAM, *ONE, "--regret", "--json", "--verbose", "--variant", "sp2", "--most", "3",
                                      *grid, "--plot", "some.svg"], stdout=out, stderr=err, cwd=WORK, preexec_fn=by_default)
            while read("said").count("of the best of") < 3 and child.poll() is None:
                time.sleep(0.02)
            send_as_timeout(child, number)
            child.wait(timeout=300)
        expect(child.returncode == 128 + number, "exit status %d: %s" % (child.returncode, read("said")))
        expect("incomplete: stopped on request" in read("said"), "does not say that it is incomplete: " + read("said"))
        report = json.loads(read("json"))
        expect(len(report["points"]) >= 3, "what was measured is lost: %s" % report)
        check_incomplete(report, most)
        if shutil.which("gnuplot") and any(p["decided"] for p in report["points"]):
            expect("(incomplete)" in read("some.svg"), "the plot does not say that it is incomplete")
            os.unlink(path("some.svg"))


def progress_on_a_terminal():
    """Of more than two seconds a line says how far it is."""
    need_device()
    said = said_until("left", *on_terminal(*ONE, "--regret", "--variant", "sp2", "--plain", "--most", "4", "--sources",
                                           "700,900", "--sinks", ",".join(str(k) for k in range(1, 65))))
    expect(re.search(r"\rpoints: [0-9]+ %, about .* left", said.replace("\x1b[K", "")), "silent: %r" % said[:300])


def a_failing_choice_says_why():
    need_device()
    done = run(*ONE, "--regret", "--variant", "sp2", "--sinks", "2", "--sources", "64", "--plain", "--most", "2",
               env={"GRAVEL_KERNEL_DIR": wrong_kernels()})
    expect(done.returncode == FAILURE and "which programs would get, fails (wrong: acc is wrong: relative error 0.001"
           in done.stderr, "why it fails", done)


def wrong_use():
    need_device()
    refused(USAGE, "not a list of numbers", *ONE, "--regret", "--kernel", "tree", "--theta", "0.5;1")
    refused(USAGE, "parts of the bodies", *ONE, "--regret", "--kernel", "tree", "--active", "2")
    refused(USAGE, "for --kernel tree", *ONE, "--regret", "--theta", "0.5")
    refused(USAGE, "--keep is for --regret", *ONE, "--keep")
    refused(USAGE, "--keep is for --kernel direct and tasks", *ONE, "--regret", "--keep", "--kernel", "tree")
    done = run(*ONE, "--regret", "--variant", "dp2", "--sinks", "2", "--sources", "64", "--no-fp64", "--json")
    expect(done.returncode == USAGE and "dp2 is left out" in done.stderr and not done.stdout, "nothing is left", done)
    # nothing was tuned on one core of it: there is nothing to go between
    refused(USAGE, "tune first, or name --sinks and --sources", "tune", "--device", "cpu:1", "--profile-dir", "none",
            "--regret", "--keep")
    done = run(*ONE[:-1], path("said"), "--regret", "--keep", "--budget", "1s")
    expect(done.returncode in (FAILURE, USAGE) and "said" in done.stderr, "a profile folder that is a file", done)


if __name__ == "__main__":
    gatelib.need_file(PROGRAM)
    try:
        sys.exit(gatelib.main([direct_grid, keep, keep_of_tasks, calls_of_a_program, tree_grid, budget_ends_it, ctrl_c_ends_it,
                               progress_on_a_terminal, a_failing_choice_says_why, wrong_use]))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
