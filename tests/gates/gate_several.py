#!/usr/bin/env python3
"""The program on several devices: parts of a CPU stand for them."""
import json
import math
import os
import shutil
import sys

import gatelib
from clilib import OK, PROGRAM, USAGE, WORK, cluster, expect, good, need_device, path, read, refused, run, table, write

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


RUN = ("--eps", "0.01", "--step-max", "0.0625", "--snapshot-every", "0.0625", "--diagnose-every", "0.03125",
       "--snapshot-format", "text", "--all-devices")


def files(folder):
    names = sorted(n for n in os.listdir(path(folder)) if n.startswith("snapshot_") or n.endswith(".txt"))
    return {n: read(os.path.join(folder, n)) for n in names}


def runs_of_parts(name, *options):
    """Whole, and stopped at half its time and resumed; the folder of the whole one."""
    need_parts()
    if not os.path.exists(path("ic.txt")):
        good("ic", "plummer", "-n", "100", "--seed", "3", "-o", "ic.txt")
    whole, half = name, name + "_half"
    write("run.json", json.dumps({"devices": PARTS[1], "all_devices": True}))
    good("run", "--file", "run.json", "-i", "ic.txt", "-o", whole, "--until", "0.125", *RUN, *options)
    good("run", "-i", "ic.txt", "-o", half, "--until", "0.0625", *RUN, *PARTS, *options)
    good("run", "--resume", half, "--until", "0.125")
    expect(files(whole) == files(half), "%s: other digits after a stop" % name)
    summary = json.loads(read(whole + "/summary.json"))
    expect([d["sinks"] > 0 for d in summary["devices"]] == [True, True], "sinks of both: %s" % summary["devices"])
    expect(summary["shared_calls"] == summary["force_calls"] > 3 and summary["shared_bytes"] > 0, "calls: %s" % summary)
    return whole


def hermite_of_parts():
    folder = runs_of_parts("cluster", "--host", "never")
    record = json.loads(read(folder + "/run.json"))
    expect(record["options"]["devices"] == PARTS[1] and len(record["made_by"]["devices"]) == 2, "record: %s" % record)
    error = json.loads(read(folder + "/summary.json"))["energy_error_max"]
    expect(error < 1e-6, "energy error %g" % error)
    refused(USAGE, "--allow device", "run", "--resume", folder, "--until", "0.15", "--devices", "cpu:1")
    refused(USAGE, "made on 2 devices", "run", "--resume", folder, "--until", "0.15", "-d", "cpu:1")
    good("run", "--resume", folder, "--until", "0.15", "-d", "cpu:1", "--allow", "device")
    expect("devices" not in json.loads(read(folder + "/summary.json")), "one device went on")
    good("run", "--resume", folder, "--until", "0.175", *PARTS, "--allow", "device")


def tree_of_steps():
    runs_of_parts("disk", "--solver", "tree")


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
    for command in (("force",), ("run", "--until", "1", "-o", "never")):
        refused(USAGE, "-device is one device", *command, "-i", cluster(10), "-d", "cpu", *PARTS)
    refused(USAGE, "no device fits", "bench", "several", "--devices", "abacus")
    refused(USAGE, "--calls is for calls from host arrays", "bench", "several", "--blocks", "--calls", "3", *PARTS)
    refused(USAGE, "no device fits", "run", "-i", cluster(10), "--until", "1", "-o", "never", "--devices", "abacus")
    refused(USAGE, "not one of", "bench", "several", "--order", "3")


if __name__ == "__main__":
    gatelib.need_file(PROGRAM)
    try:
        sys.exit(gatelib.main([forces_of_parts, tree_of_parts, hermite_of_parts, tree_of_steps, bench_of_parts, misuse]))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
