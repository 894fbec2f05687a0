#!/usr/bin/env python3
"""Results of `gravel tune --regret --json`: shorter ones to keep, whole ones again, and the figures of doc/numbers.md.

    bench/regret.py pack FILE --machine "one NVIDIA H100, ..." -o bench/results/h100_regret_x.json
    bench/regret.py unpack bench/results/h100_regret_x.json > whole.json
    bench/regret.py summary bench/results/h100_regret_*.json
"""
import argparse
import json
import os
import signal
import statistics
import sys

TURNS = 15  # kept of each candidate
P95_MARK, MOST_MARK, DEFAULT_MARK = 1.08, 1.20, 1.02  # those of doc/tuning.md


def read(name):
    try:
        with open(name, encoding="utf-8") as handle:
            found = json.load(handle)
    except OSError as error:
        sys.exit("%s: %s" % (name, error.strerror))
    except ValueError as error:
        sys.exit("%s: no JSON: %s" % (name, error))
    if not isinstance(found, dict) or not all("choice" in p for p in found.get("points", [{}])):
        sys.exit("%s: not what 'gravel tune --regret --json' prints" % name)
    return found


def unpack(found):
    """Configurations as texts, where they are places in a list of all."""
    texts = found.pop("configurations", None)
    for point in found["points"] if texts is not None else []:
        for key in ("choice", "best"):
            if key in point:
                point[key] = texts[point[key]]
        for time in point.get("times", []):
            time[0] = texts[time[0]]
    return found


def pack(found):
    """The same in half the bytes: each configuration once, eight digits, at most TURNS turns."""
    found, places = unpack(found), {}
    for point in found["points"]:
        for key, value in point.items():
            if key in ("choice", "best"):
                point[key] = places.setdefault(value, len(places))
            elif isinstance(value, float):
                point[key] = float("%.8g" % value)
        for time in point.get("times", []):
            time[0] = places.setdefault(time[0], len(places))
            time[2:] = [more[:TURNS] if isinstance(more, list) else more for more in time[2:]]
    return dict(found, configurations=list(places))


def summary(name, found):
    points = [p for p in found["points"] if p.get("decided", p.get("complete", True))]
    best, default = sorted(p["over_best"] for p in points), sorted(p["over_default"] for p in points)
    if not points:
        print("%s: no point that decides" % name)
        return
    print("%s: %d points; over the best %.3f, 95 %% %.3f, most %.3f, mean %.4f, %d above %.2f; over the default most "
          "%.3f, mean %.3f, %d above %.2f" % (
              os.path.basename(name), len(points), statistics.median(best), best[-(-95 * len(best) // 100) - 1],
              best[-1], statistics.mean(best), sum(x > P95_MARK for x in best), P95_MARK, default[-1],
              statistics.mean(default), sum(x > DEFAULT_MARK for x in default), DEFAULT_MARK))
    for p in sorted(points, key=lambda p: -p["over_default"]):
        if p["over_best"] > MOST_MARK or p["over_default"] > DEFAULT_MARK:
            print("    %s, features %s, %d x %d%s: %.3f of the best, %.3f of the default, %.3g us" % (
                p["variant"], p.get("features", 0), p["sinks"], p["sources"],
                ", theta %g" % p["theta"] if "theta" in p else "", p["over_best"], p["over_default"],
                1e6 * p["choice_s"]))


def write(found, name):
    """One line; into a new file beside `name` first."""
    text = json.dumps(found, separators=(",", ":")) + "\n"
    if name is None:
        sys.stdout.write(text)
        return
    new = name + ".new"
    try:
        with open(new, "w", encoding="utf-8") as handle:
            handle.write(text)
        os.replace(new, name)
    except OSError as error:
        if os.path.exists(new):
            os.remove(new)
        sys.exit("%s: %s; nothing was written, choose another place with -o" % (name, error.strerror))


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as of 'summary ... | head'
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("pack", "unpack", "summary"))
    parser.add_argument("file", nargs="+")
    parser.add_argument("-o", "--output", help="without it standard output")
    parser.add_argument("--machine", help="what it was measured on, and how")
    given = parser.parse_args()
    if given.command != "summary" and len(given.file) > 1:
        parser.error("one file at a time")
    for name in given.file:
        found = read(name)
        if given.machine:
            found["machine"] = given.machine
        if given.command == "summary":
            summary(name, found)
        else:
            write(pack(found) if given.command == "pack" else unpack(found), given.output)


if __name__ == "__main__":
    main()
