#!/usr/bin/env python3
"""`gravel run` as its user meets it: what a folder holds, kills and resumes with equal bits, orders of convergence, every
bad input.  GRAVEL_KILLS=10000 makes as many kills of the small run as that (a day), GRAVEL_KILLS_SEED other moments."""
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

try:
    import h5py
    import numpy
except ImportError:
    # Before clilib makes its folder.  The tests may run under a Python of the user's own, the package is the system's.
    system = "/usr/bin/python3"
    if os.path.realpath(sys.executable) != os.path.realpath(system) and os.path.exists(system) and \
            subprocess.call([system, "-c", "import h5py"], stderr=subprocess.DEVNULL) == 0:
        os.execv(system, [system] + sys.argv)
    h5py = numpy = None

import gatelib
from clilib import (FAILURE, OK, PROGRAM, USAGE, WORK, expect, good, need_device, path, read, refused, run,
                    send_as_timeout, write)
from gatelib import Failed, Skipped

KILLS = int(os.environ.get("GRAVEL_KILLS", "10"))
# By the device alone: the host moves 64 bodies so fast that a run is over before its signal comes.
SMALL = ("--until", "0.5", "--host", "never", "--eps", "0.01", "--snapshot-every", "0.1", "--diagnose-every", "0.0625",
         "--checkpoint-every", "0.05", "--snapshot-format", "text")


def small():
    if not os.path.exists(path("small.txt")):
        good("ic", "plummer", "-n", "64", "--seed", "5", "-o", "small.txt")
    return "small.txt"


def simulate(folder, *options, ic=None, **more):
    return good("run", "-i", ic or small(), "-o", folder, *options, **more)


def reference(until=0.5):
    folder = "reference" if until == 0.5 else "reference_%g" % until
    if not os.path.exists(path(folder)):
        simulate(folder, *SMALL, "--until", str(until))
    return folder


def content(folder):
    """Files by name; the summary has wall times, run.json the folder's name, the checkpoint both."""
    files = {}
    for name in os.listdir(path(folder)):
        if name not in ("summary.json", "run.json", "checkpoint.gvc"):
            with open(path(os.path.join(folder, name)), "rb") as handle:
                files[name] = handle.read()
    return files


def same(folder, other):
    one, two = content(folder), content(other)
    expect(sorted(one) == sorted(two), "files: %s and %s" % (sorted(one), sorted(two)))
    for name, text in one.items():
        expect(text == two[name], "%s of %s and of %s differ" % (name, folder, other))


def rows(folder):
    lines = read(os.path.join(folder, "diagnostics.txt")).splitlines()
    names = [line for line in lines if line.startswith("#")][-1][1:].split()
    return names, [dict(zip(names, map(float, line.split()))) for line in lines if not line.startswith("#")]


# ---------------------------------------------------------------------- what it writes


def folder_holds_what_was_asked_for():
    names, lines = rows(reference())
    expect([line["time"] for line in lines] == [k * 0.0625 for k in range(9)], "times of lines")
    expect("energy_error" in names and max(abs(line["energy_error"]) for line in lines) < 1e-6, "energy is kept")
    expect(lines[-1]["steps"] > 64 and 0 < lines[-1]["active_share"] < 1, "steps and active share")
    snapshots = sorted(n for n in os.listdir(path("reference")) if n.startswith("snapshot_"))
    expect(snapshots == ["snapshot_%04d.txt" % k for k in range(6)], "snapshots: %s" % snapshots)
    summary = json.loads(read("reference/summary.json"))
    expect(summary["finished"] and summary["steps"] == lines[-1]["steps"] and summary["blocks"] > 10, "summary")
    expect(summary["energy_error_max"] == max(abs(line["energy_error"]) for line in lines), "largest error")
    blocks = [list(map(float, line.split())) for line in read("reference/blocks.txt").splitlines() if line[0] != "#"]
    expect(sum(row[2] for row in blocks) == sum(row[3] for row in blocks) == summary["steps"], "moved bodies and time-steps")
    split = summary["time_s"]
    expect(abs(sum(split.values()) - summary["wall_s"]) < 1e-6 and split["wait"] > 0, "split of the time")
    expect(split["rest"] >= 0, "time that was counted twice: %g s" % -split["rest"])
    record = json.loads(read("reference/run.json"))
    expect(record["options"]["eps"] == 0.01 and record["options"]["order"] == "4" and
           record["input"]["bodies"] == 64 and len(record["input"]["sha256"]) == 64, "run.json")
    expect(float(record["options"]["step_min"]) == 2.0 ** -40, "numbers of run.json have all their digits")


def no_time_is_counted_twice():
    """A checkpoint after each block waits for the block; that is not the checkpoint's time, too."""
    good("ic", "plummer", "-n", "2000", "-o", "many.txt")
    simulate("split", "--until", "0.125", "--eps", "0.05", "--order", "2", "--steps", "fixed", "--step-max", "0.0078125",
             "--checkpoint-every", "0.0001", "--snapshot-format", "text", ic="many.txt")
    split = json.loads(read("split/summary.json"))["time_s"]
    expect(split["checkpoint"] > 0 and split["rest"] >= 0, "time that was counted twice: %g s" % -split["rest"])


def device_time_by_kernel():
    done = simulate("device", *SMALL, "--timing")
    kernels = {k["name"]: k for k in json.loads(read("device/summary.json"))["kernels"]}
    summary = json.loads(read("device/summary.json"))
    expect(kernels["gv_step_finish"]["launches"] >= summary["blocks"], "an end of each block: %s" % kernels)
    expect(0 < sum(k["device_s"] for k in kernels.values()) < summary["wall_s"] and "gv_force" in done.stdout, "times")
    expect(summary["host_blocks"] == 0 and "timing" not in json.loads(read("device/run.json"))["options"], "run.json")


def blocks_timed():
    done = good("bench", "blocks", "-n", "100", "--blocks", "40", "--warm-up", "30", "--json")
    row, = json.loads(done.stdout)["results"]
    expect(row["n"] == 100 and row["blocks"] == 40 and row["host_blocks"] == 0 and 0 < row["calls"] < 40, str(row))
    expect(0 < row["mean_active"] <= row["most_active"] <= 100 and row["block_s"] > 0, str(row))


def snapshots_for_others():
    if h5py is None:
        raise Skipped("no h5py (package python3-h5py)")
    done = run("ic", "plummer", "-n", "64", "--seed", "5", "-o", "small.hdf5")
    if done.returncode == USAGE and "without HDF5" in done.stderr:
        raise Skipped("built without HDF5")
    options = [o for o in SMALL if o not in ("--snapshot-format", "text")]
    simulate("binary", *options, ic="small.hdf5")
    for k in range(6):
        with h5py.File(path("binary/snapshot_%04d.hdf5" % k), "r") as f:
            want = numpy.loadtxt(path("%s/snapshot_%04d.txt" % (reference(), k)))
            p = f["PartType1"]
            # at exact times: the doubles k * 0.1
            expect(f["Header"].attrs["Time"] == (k * 0.1 if k < 5 else 0.5), "time %r" % f["Header"].attrs["Time"])
            expect((p["Coordinates"][:] == want[:, 2:5]).all() and (p["Velocities"][:] == want[:, 5:8]).all() and
                   (p["Masses"][:] == want[:, 1]).all() and (p["ParticleIDs"][:] == want[:, 0] + 1).all(), "values")
    # a snapshot is where another run begins
    good("run", "-i", "binary/snapshot_0005.hdf5", "--until", "0.625", "--eps", "0.01", "-o", "later")
    expect([line["time"] for line in rows("later")[1]] == [0.5, 0.625], "a run from a snapshot")
    names, _ = rows("binary")
    table = numpy.loadtxt(path("binary/diagnostics.txt"))
    with h5py.File(path("binary/diagnostics.hdf5"), "r") as f:
        for k, name in enumerate(names):
            expect(numpy.array_equal(f["Diagnostics"][name][:], table[:, k], equal_nan=True), name)
    expect(not os.path.exists(path("reference/diagnostics.hdf5")), "HDF5 beside snapshots in text")


def outputs_do_not_change_the_run():
    simulate("quiet", *SMALL[:6], "--snapshot-format", "text")
    simulate("as_usual", *SMALL[:6], "--snapshot-every", "0.25")
    expect([row["time"] for row in rows("as_usual")[1]] == [0, 0.25, 0.5], "a line of diagnostics for each snapshot")
    expect(read("quiet/snapshot_0001.txt") == read("%s/snapshot_0005.txt" % reference()), "the end is another")


def boxes_are_ignored_aloud():
    if h5py is None:
        raise Skipped("no h5py (package python3-h5py)")
    good("ic", "twobody", "-o", "boxed.hdf5")
    with h5py.File(path("boxed.hdf5"), "r+") as f:
        f["Header"].attrs.modify("BoxSize", 10.0)
    options = ("--until", "0.125", "--diagnose-every", "0.125")
    done = run("run", "-i", "boxed.hdf5", "-o", "boxed", *options)
    expect(done.returncode == OK and "warning: boxed.hdf5 has a box of side 10 (BoxSize)" in done.stderr, "no word of the box", done)
    os.remove(path("boxed/checkpoint.gvc"))
    good("run", "--resume", "boxed")  # from the beginning, without a word
    with h5py.File(path("boxed/snapshot_0001.hdf5"), "r") as f:
        expect(f["Header"].attrs["BoxSize"] == 0, "bodies in empty space are in a box")


def run_files():
    example = good("run", "--example").stdout
    write("example.json", example)
    simulate("by_file", "--file", "example.json", *SMALL)
    same("by_file", reference())
    # what a run recorded repeats it
    simulate("again", "--file", "by_file/run.json")
    same("again", reference())
    for text, part in (('{ "util": 3 }', "did you mean 'until'"), ('{ "step-max": 1 }', "did you mean 'step_max'"),
                       ('{ "zzzzzzzz": 3 }', "unknown key"), ('{ "eps": "much" }', "is not a number"),
                       ('{ "eps": true }', "must be a number"), ('{ "order": "5" }', "not one of 2|4|6"),
                       ('{\n\n "eps": 1,, }', "line 3"), ("[]", "not an object"), ("", "not as JSON"),
                       ('{ "theta": 7 }', "out of range")):
        write("bad.json", text)
        refused(USAGE, part, "run", "--file", "bad.json", "-i", small(), "-o", "never")
    refused(USAGE, "missing.json", "run", "--file", "missing.json")


# ------------------------------------------------------------------------- physics


def orders_of_convergence():
    """Two bodies of eccentricity 0.5: errors of the positions fall with the order."""
    good("ic", "twobody", "--eccentricity", "0.5", "-o", "two.txt")

    def end(order, steps):
        folder = "two_%d_%d" % (order, steps)
        simulate(folder, "--until", "2", "--order", str(order), "--precision", "dp", "--steps", "fixed", "--step-max",
                 repr(1.0 / steps), "--snapshot-format", "text", ic="two.txt")
        return [float(x) for x in read(folder + "/snapshot_0001.txt").splitlines()[-2].split()[2:5]]

    exact = end(6, 1024)
    for order in (2, 4, 6):
        slope = math.log2(math.dist(end(order, 32), exact) / math.dist(end(order, 64), exact))
        print("order %d: slope %.2f" % (order, slope))
        # C h^p (1 + O(h)), h = 1/64 being a fiftieth of the pericentre's time scale
        expect(abs(slope - order) < 0.7, "order %d: slope %.2f" % (order, slope))


def trees_and_precisions():
    for folder, options, limit in (
            # second order with steps of a tenth of the shortest orbits, forces to 1e-3
            ("tree", ("--solver", "tree", "--eps", "0.05", "--rebuild", "1"), 2e-3),
            ("shared", ("--order", "2", "--steps", "shared", "--eps", "0.05"), 2e-3)):
        simulate(folder, "--until", "0.25", "--diagnose-every", "0.125", *options, "--snapshot-format", "text")
        worst = json.loads(read(folder + "/summary.json"))["energy_error_max"]
        print("%s: %g" % (folder, worst))
        expect(worst < limit, "%s: energy error %g" % (folder, worst))


# ------------------------------------------------------------------- kills and resumes


def kill(folder, options, after, number=signal.SIGKILL):
    """Starts or resumes, and kills after some seconds.  True if the run had ended before."""
    command = ["run", "--resume", folder] if os.path.exists(path(folder + "/run.json")) else \
        ["run", "-i", small(), "-o", folder, "--replace", *options]
    child = subprocess.Popen([PROGRAM, *command], cwd=WORK, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        child.wait(timeout=after)
    except subprocess.TimeoutExpired:
        child.send_signal(number)
    words = child.communicate()[1]
    if child.returncode not in (OK, -signal.SIGKILL, 128 + number):
        raise Failed("%s -> %d: %s" % (command, child.returncode, words))
    return child.returncode


def kills_at_any_moment():
    random.seed(int(os.environ.get("GRAVEL_KILLS_SEED", "1")))
    kinds = [(*SMALL[:2], "--host", "always", *SMALL[4:]),
             ("--until", "0.5", "--solver", "tree", "--eps", "0.05", "--rebuild", "1.5", "--diagnose-every", "0.1",
              "--snapshot-every", "0.125", "--checkpoint-every", "0.02", "--snapshot-format", "text")]
    simulate("reference_host", *kinds[0])
    simulate("reference_tree", *kinds[1])
    ended = [0, 0]
    killed = 0
    for kind, options in enumerate(kinds):
        original, folder = ("reference_host", "killed") if kind == 0 else ("reference_tree", "killed_tree")
        begin = time.monotonic()
        simulate("timed", *options, "--replace")
        whole = time.monotonic() - begin
        mine = 0
        while mine < KILLS / 2:
            code = kill(folder, options, random.uniform(0, 0.6 * whole))
            mine += code != OK
            if code == OK:
                same(folder, original)
                ended[kind] += 1
                shutil.rmtree(path(folder))
        killed += mine
        expect(kill(folder, options, 600) == OK, "the last one is left alone")
        same(folder, original)
        ended[kind] += 1
    print("%d kills, %d runs that ended with equal bits" % (killed, sum(ended)))


def stop(folder, number):
    """A run of hours gets the signal soon after its first blocks; the kernels that these need may still have to be read
    when the first checkpoint is there.  Returns an end that it had not come near to, 0.5 unless this machine is very
    busy."""
    child = subprocess.Popen([PROGRAM, "run", "-i", small(), "-o", folder, "--until", "10000", *SMALL[2:]], cwd=WORK,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = folder + "/diagnostics.txt"
    while (not os.path.exists(path(lines)) or len(re.findall("(?m)^[^#].*\n", read(lines))) < 2) and child.poll() is None:
        time.sleep(0.02)
    send_as_timeout(child, number)
    words = child.communicate()[1]
    expect(child.returncode == 128 + number and "--resume" in words, "exit status %d: %s" % (child.returncode, words))
    return 0.5 * math.ceil((float(re.search(r"stopped at time ([0-9.e+-]+)", words).group(1)) + 0.2) / 0.5)


def signals_leave_a_checkpoint():
    for number in (signal.SIGTERM, signal.SIGINT):
        folder = "stopped_%d" % number
        end = stop(folder, number)
    # as a run leaves them that is killed while it writes
    left = [path("%s/%s.gravel-0123456789ab" % (folder, name)) for name in ("diagnostics.txt", "blocks.txt")]
    for name in left:
        open(name, "w").close()
    # the end may be a new one: as if it had been that from the beginning
    good("run", "--resume", folder, "--until", str(end))
    expect(not [name for name in left if os.path.exists(name)], "temporary files of killed runs are removed")
    same(folder, reference(end))
    expect(json.loads(read(folder + "/run.json"))["options"]["until"] == end, "the new end is recorded")
    before = content(folder)
    good("run", "--resume", folder)
    expect(content(folder) == before, "resuming a finished run changes nothing")


def input_from_a_named_pipe():
    """It is read once: its writer has gone when the record is written."""
    os.mkfifo(path("pipe"))
    text = read(small())
    child = subprocess.Popen([PROGRAM, "run", "-i", "pipe", "-o", "piped", *SMALL], cwd=WORK, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    with open(path("pipe"), "w") as pipe:
        pipe.write(text)
    try:
        words = child.communicate(timeout=120)[1]
    except subprocess.TimeoutExpired as why:
        child.kill()
        raise Failed("the run waits for the pipe") from why
    expect(child.returncode == OK, "exit status %d: %s" % (child.returncode, words))
    same("piped", reference())
    expect("sha256" not in json.loads(read("piped/run.json"))["input"], "a digest of a pipe")
    os.remove(path("piped/checkpoint.gvc"))
    refused(USAGE, "came from a pipe", "run", "--resume", "piped")


def ends_on_a_decimal_grid():
    """3 x 0.1 is above 0.3: the output of that end is the regular one, also when the run goes on."""
    grid = ("--host", "always", "--eps", "0.01", "--snapshot-every", "0.1", "--diagnose-every", "0.1", "--snapshot-format", "text")
    simulate("grid", "--until", "0.3", *grid)
    good("run", "--resume", "grid", "--until", "0.6")
    times = [line["time"] for line in rows("grid")[1]]
    expect(len(times) == 7 and max(abs(time - 0.1 * k) for k, time in enumerate(times)) < 1e-12, "lines at %s" % times)
    snapshots = sorted(name for name in os.listdir(path("grid")) if name.startswith("snapshot_"))
    expect(snapshots == ["snapshot_%04d.txt" % k for k in range(7)], "snapshots: %s" % snapshots)
    # a run that begins again with another end records it
    os.remove(path("grid/checkpoint.gvc"))
    good("run", "--resume", "grid", "--until", "0.7")
    until = json.loads(read("grid/run.json"))["options"]["until"]
    expect(until == json.loads(read("grid/summary.json"))["until"] == 0.7, "the end in run.json is %s" % until)


def catches(pid, number):
    with open("/proc/%d/status" % pid) as status:
        mask = next(line.split()[1] for line in status if line.startswith("SigCgt:"))
    return int(mask, 16) >> (number - 1) & 1


def signals_before_the_first_block():
    """First forces of 150000 bodies on two cores take seconds, which nothing has to wait for: no state is lost.  The run
    begins again, and can be stopped again."""
    if "GPU" in good("devices").stdout:
        raise Skipped("a GPU is through with the first block before the signal comes")
    good("ic", "plummer", "-n", "150000", "--seed", "5", "-o", "many.txt")
    begin = ["run", "-i", "many.txt", "-o", "early", "--until", "1", "--eps", "0.01", "--snapshot-format", "text"]
    for command in (begin, ["run", "--resume", "early"]):
        child = subprocess.Popen([PROGRAM, *command], cwd=WORK, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not os.path.exists(path("early/diagnostics.txt")) and child.poll() is None:
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        words = child.communicate()[1]
        expect(child.returncode == 128 + signal.SIGINT and "before a block had ended" in words and "--resume early" in words,
               "exit status %d: %s" % (child.returncode, words))
        expect(not [name for name in os.listdir(path("early")) if ".gravel-" in name], "half a file was left")
        os.rename(path("early/diagnostics.txt"), path("early_diagnostics"))
    shutil.copytree(path(reference()), path("earlier"))
    child = subprocess.Popen([PROGRAM, *begin, "-o", "earlier", "--replace"], cwd=WORK, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    while child.poll() is None and not catches(child.pid, signal.SIGINT):
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    words = child.communicate()[1]
    expect(child.returncode == 128 + signal.SIGINT, "exit status %d: %s" % (child.returncode, words))
    same("earlier", reference())


def replaced_runs():
    """The earlier run stays where the new one does not get to its first forces."""
    shutil.copytree(path(reference()), path("replaced"))
    record = read("replaced/run.json")
    # found with the first forces
    refused(USAGE, "squares overflow", "run", "-i", small(), "-o", "replaced", "--replace", *SMALL, "--eps", "1e30")
    same("replaced", reference())
    refused(USAGE, "copy it to another folder", "run", "-i", "replaced/snapshot_0001.txt", "-o", "replaced", "--replace", *SMALL)
    same("replaced", reference())
    # found when the device is waited for
    write("near.txt", "0 .5 0 0 0 0 0 0\n1 .5 1e-12 0 0 0 1 0\n")
    refused(FAILURE, "below step_min", "run", "-i", "near.txt", "-o", "replaced", "--replace", "--until", "1", "--precision", "dp",
            "--snapshot-format", "text")
    same("replaced", reference())
    expect(read("replaced/run.json") == record, "run.json of the earlier run")
    good("run", "--resume", "replaced")
    write("replaced/notes", "mine")
    simulate("replaced", "--replace", "--until", "0.125", "--host", "always", "--eps", "0.01", "--snapshot-format", "text")
    expect(sorted(os.listdir(path("replaced"))) == ["blocks.txt", "checkpoint.gvc", "diagnostics.txt", "notes", "run.json",
                                                    "snapshot_0000.txt", "snapshot_0001.txt", "summary.json"], "files of the new run")
    expect(json.loads(read("replaced/run.json"))["options"]["until"] == 0.125, "run.json of the new run")


def earlier_run_comes_back():
    """A disk that is full before the first files of the new run are complete: its snapshot, then its checkpoint."""
    def limit(most):
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    shutil.copytree(path(reference()), path("back"))
    write("back/notes", "mine")
    kept = {name: os.stat(path("back/" + name)).st_size for name in os.listdir(path("back"))}
    snapshot, checkpoint = kept["snapshot_0000.txt"], kept["checkpoint.gvc"]
    expect(snapshot + 2000 < checkpoint, "a snapshot of %d bytes, a checkpoint of %d" % (snapshot, checkpoint))
    for most, what in ((snapshot - 1000, "snapshot_0000.txt"), (checkpoint - 1000, "checkpoint.gvc")):
        done = subprocess.run([PROGRAM, "run", "-i", small(), "-o", "back", "--replace", *SMALL], cwd=WORK, capture_output=True,
                              text=True, check=False, preexec_fn=lambda most=most: limit(most))
        expect(done.returncode == FAILURE and "cannot write back/" + what in done.stderr, "full disk", done)
        left = {name: os.stat(path("back/" + name)).st_size for name in os.listdir(path("back"))}
        expect(left == kept, "the earlier run is not what it was: %s, %s" % (left, kept))
    os.remove(path("back/notes"))
    same("back", reference())
    good("run", "--resume", "back")
    # what a run leaves that is killed in between: the earlier one is removed when it goes on, or is replaced once more
    for command in (("--resume", "killed"), ("-i", small(), "-o", "killed", "--replace", *SMALL)):
        shutil.rmtree(path("killed"), ignore_errors=True)
        shutil.copytree(path(reference()), path("killed/.gravel-earlier"))
        shutil.copy(path(reference() + "/run.json"), path("killed"))
        good("run", *command)
        same("killed", reference())
    # one that was killed while files were on their way: they all come back, or are all replaced
    shutil.rmtree(path("killed"))
    shutil.copytree(path(reference()), path("killed"))
    os.mkdir(path("killed/.gravel-earlier.part"))
    os.rename(path("killed/checkpoint.gvc"), path("killed/.gravel-earlier.part/checkpoint.gvc"))
    again = [PROGRAM, "run", "-i", small(), "-o", "killed", "--replace", *SMALL]
    done = subprocess.run(again, cwd=WORK, capture_output=True, text=True, check=False,
                          preexec_fn=lambda: limit(snapshot - 1000))
    expect(done.returncode == FAILURE, "full disk", done)
    same("killed", reference())
    os.mkdir(path("killed/.gravel-earlier.part"))
    os.rename(path("killed/checkpoint.gvc"), path("killed/.gravel-earlier.part/checkpoint.gvc"))
    good(*again[1:])
    same("killed", reference())


def shorter_steps_on_the_way():
    """A run that ended since a step became too short goes on with shorter ones, with the bits of a run that had them from
    the beginning, whether its last checkpoint is of the block before or of the start.  Two bodies fall towards each
    other: steps become shorter with them."""
    good("ic", "twobody", "--eccentricity", "0.99", "-o", "falling.txt")
    text = ("--until", "3.125", "--snapshot-every", "0.25", "--snapshot-format", "text")
    # and the longest step of those that become too short
    kinds = {"hermite": (-6, "--precision", "dp", "--host", "never"), "host": (-6, "--precision", "dp", "--host", "always"),
             "shared": (-6, "--precision", "ds", "--steps", "shared", "--host", "never"),
             "leapfrog": (-7, "--order", "2", "--precision", "dp", "--eps", "1e-3")}
    for kind, (power, *options) in kinds.items():
        whole, step_min = kind + "_whole", [str(2.0 ** (power + k)) for k in (1, 0, -1)]
        good("run", "-i", "falling.txt", "-o", whole, *options, *text)
        for every in ("1e-9", "1h"):
            here = "%s_%s" % (kind, every)
            refused(FAILURE, "gravel run --resume %s --step-min X" % here, "run", "-i", "falling.txt", "-o", here, *options, *text,
                    "--step-min", step_min[1], "--checkpoint-every", every)
            expect(not os.path.exists(path(here + "/summary.json")), "the run came to its end")
            refused(USAGE, "can become smaller but not larger", "run", "--resume", here, "--step-min", step_min[0])
            refused(USAGE, "powers of two", "run", "--resume", here, "--step-min", "0.001")
            if every == "1h":  # and again, from a checkpoint that knows of the first time
                refused(FAILURE, "below step_min", "run", "--resume", here, "--step-min", step_min[2])
                expect(json.loads(read(here + "/run.json"))["options"]["step_min"] == float(step_min[2]), "step_min of run.json")
                refused(USAGE, "the run has %g" % float(step_min[2]), "run", "--resume", here, "--step-min", step_min[1])
            good("run", "--resume", here, "--step-min", str(2.0 ** -40))
            expect(json.loads(read(here + "/run.json"))["options"]["step_min"] == 2.0 ** -40, "step_min of run.json")
            expect(not [name for name in os.listdir(path(here)) if ".gravel-" in name], "half a file was left")
            same(here, whole)
    # without a checkpoint the run begins again
    os.mkdir(path("anew"))
    shutil.copy(path("hermite_1h/run.json"), path("anew"))
    good("run", "--resume", "anew", "--step-min", str(2.0 ** -41))
    same("anew", "hermite_whole")
    # first steps that are too short leave nothing to go on with
    write("near.txt", "0 .5 0 0 0 0 0 0\n1 .5 1e-12 0 0 0 1 0\n")
    done = run("run", "-i", "near.txt", "-o", "nothing", *kinds["hermite"][1:], *text)
    expect(done.returncode == FAILURE and "below step_min" in done.stderr and "--resume" not in done.stderr
           and not os.path.exists(path("nothing")), "too short from the beginning", done)


def resumes_are_refused_by_name():
    shutil.copytree(path(reference()), path("kept"))
    os.mkdir(path("profiles"))
    write("profiles/mine.json", "{}")
    refused(USAGE, "--allow profile", "run", "--resume", "kept", env={"GRAVEL_PROFILE_DIR": path("profiles")})
    refused(USAGE, "--allow device", "run", "--resume", "kept", "-d", "cpu:1")
    refused(USAGE, "leave --cosmology out", "run", "--resume", "kept", "--cosmology")
    other = path("gravel")
    shutil.copy(PROGRAM, other)
    with open(other, "ab") as handle:
        handle.write(b"\0")
    done = subprocess.run([other, "run", "--resume", "kept"], cwd=WORK, capture_output=True, text=True, check=False)
    expect(done.returncode == USAGE and "--allow version" in done.stderr, "another program", done)
    done = subprocess.run([other, "run", "--resume", "kept", "--allow", "device,version"], cwd=WORK, capture_output=True,
                          text=True, check=False)
    expect(done.returncode == OK, "allowed by name", done)
    refused(USAGE, "'versions' is not one of version, device, profile", "run", "--resume", "kept", "--allow", "device,versions")
    refused(USAGE, "cannot be changed", "run", "--resume", "kept", "--eps", "0.1")
    refused(USAGE, "cannot open", "run", "--resume", "nowhere")
    os.mkdir(path("empty"))
    refused(USAGE, "no run in", "run", "--resume", "empty")


def damaged_checkpoints():
    with open(path(reference() + "/checkpoint.gvc"), "rb") as handle:
        whole = handle.read()
    shutil.copytree(path("reference"), path("damaged"))
    random.seed(3)
    for cut in [0, 5, 100, len(whole) // 2, len(whole) - 1]:
        with open(path("damaged/checkpoint.gvc"), "wb") as handle:
            handle.write(whole[:cut])
        refused(USAGE, "checkpoint.gvc", "run", "--resume", "damaged")
    for _ in range(8):
        at = random.randrange(len(whole))
        with open(path("damaged/checkpoint.gvc"), "wb") as handle:
            handle.write(whole[:at] + bytes([whole[at] ^ 1 << random.randrange(8)]) + whole[at + 1:])
        refused(USAGE, "checkpoint.gvc", "run", "--resume", "damaged")


def full_disk():
    """A limit on the size of files: the write that fails names its file, and what was there stays good."""
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))

    end = stop("full", signal.SIGTERM)
    done = subprocess.run([PROGRAM, "run", "--resume", "full"], cwd=WORK, capture_output=True, text=True, check=False,
                          preexec_fn=limited)
    expect(done.returncode == FAILURE and "cannot write" in done.stderr and "full/" in done.stderr, "full disk", done)
    good("run", "--resume", "full", "--until", str(end))
    same("full", reference(end))


# ---------------------------------------------------------------------------- bad input


def bad_input():
    ok = "0 1 0 0 0 0 0 0\n1 1 1 0 0 0 0.5 0\n"
    for name, text, part in (("nan", ok.replace("0.5", "nan"), "bad_nan"), ("negative", ok.replace("0 1 0", "0 -1 0"), "below zero"),
                             ("twice", ok.replace("\n1 1", "\n0 1"), "more than once"),
                             ("nobody", ok.replace("\n1 1", "\n-1 1"), "the id -1 stands for no body"),
                             ("still", "0 1 0 0 0\n1 1 1 0 0\n", "no velocities"), ("torn", ok[:-8], "bad_torn"),
                             ("empty", "", "bad_empty")):
        write("bad_" + name, text)
        refused(USAGE, part, "run", "-i", "bad_" + name, "--until", "1", "-o", "never")
    write("good", ok)
    common = ("run", "-i", "good", "-o", "never", "--until", "1")
    # found with the first forces, when the folder is there already
    for part, more in (("squares overflow", ("--eps", "1e30")), ("already", ("--until", "0")), ("already", ("--until", "-3")),
                       ("not one of", ("--units", "parsec")),
                       ("powers of two: 0.0625 or 0.125", ("--step-max", "0.1")), ("above --step-max", ("--step-min", "1")),
                       ("must be above 0", ("--step-max", "0")), ("needs --order 2", ("--solver", "tree", "--order", "4")),
                       ("ds or dp", ("--precision", "sp")), ("needs --order 6", ("--criterion", "average")),
                       ("without softening", ("--order", "2")), ("1e7 outputs", ("--snapshot-every", "1e-9")),
                       ("more than the 1300000 lines", ("--diagnose-every", "7e-7")),
                       ("too small", ("--eps", "-1")), ("did you mean --until", ("--untill", "3")),
                       ("no tunable", ("--configuration", "treads=7")),
                       *(("is for Hermite steps", ("--eps", "1", *other, option, value)) for other, option, value in (
                           (("--solver", "tree"), "--eta4", "0.01"), (("--solver", "tree"), "--eta6", "0.1"),
                           (("--solver", "tree"), "--eta-start", "0.01"), (("--solver", "tree"), "--iterations", "2"),
                           (("--solver", "tree"), "--criterion", "aarseth"), (("--order", "2"), "--host", "never"))),
                       *(("%s is for --solver tree" % option, ("--eps", "1", *other, option, value)) for other, option, value in (
                           ((), "--theta", "0.5"), ((), "--mac", "last"), ((), "--moments", "1"), ((), "--rebuild", "0"),
                           ((), "--softening", "spline"), (("--order", "2"), "--sum-up-to", "10"))),
                       *(("--eta%s is for" % eta, ("--order", "6", "--criterion", criterion, "--eta" + eta, "0.1")) for eta, criterion in (
                           ("6", "aarseth"), ("4", "generalised"))), ("--eta6 is for", ("--eta6", "0.1")),
                       ("--eta4 is for", ("--order", "6", "--precision", "dp", "--eta4", "0.1")),
                       *(("--steps fixed takes", ("--steps", "fixed", *option)) for option in (
                           ("--eta4", "0.1"), ("--eta-start", "0.1"), ("--criterion", "aarseth"), ("--order", "2", "--eta", "0.1"))),
                       ("is for ranks", ("--scheme", "copies")), ("is for ranks", ("--snapshot-writers", "first")),
                       ("goes with --devices", ("--all-devices",)), ("is for the leapfrog", ("--eta", "0.01"))):
        refused(USAGE, part, *common, *more)
    refused(USAGE, "is for ranks", "run", "--resume", "nowhere", "--scheme", "auto")
    good("run", "-i", "good", "-o", "with_effect", "--until", "0.125", "--order", "6", "--criterion", "average", "--eta4", "0.1", "--eta6", "0.1",
         "--snapshot-format", "text")
    refused(USAGE, "cannot read", "run", "-i", "no_such_file", "--until", "1", "-o", "never")
    refused(USAGE, "--until T is missing", "run", "-i", "good", "-o", "never")
    refused(USAGE, "-i, --input", "run", "--until", "1", "-o", "never")
    expect(not os.path.exists(path("never")), "a folder was made for a refused run")
    refused(FAILURE, "cannot make the folder", "run", "-i", "good", "--until", "1", "-o", "good/inside")
    refused(FAILURE, "cannot make the folder", "run", "-i", "good", "--until", "1", "-o", "no/such")
    refused(USAGE, "not empty", "run", "-i", "good", "--until", "1", "-o", reference())


if __name__ == "__main__":
    try:
        need_device()
        outcome = gatelib.main([folder_holds_what_was_asked_for, no_time_is_counted_twice, device_time_by_kernel, blocks_timed, snapshots_for_others,
                                outputs_do_not_change_the_run, boxes_are_ignored_aloud, run_files,
                                orders_of_convergence, trees_and_precisions, kills_at_any_moment,
                                signals_leave_a_checkpoint, input_from_a_named_pipe, ends_on_a_decimal_grid,
                                signals_before_the_first_block, replaced_runs, earlier_run_comes_back,
                                shorter_steps_on_the_way,
                                resumes_are_refused_by_name, damaged_checkpoints, full_disk,
                                bad_input])
    except Skipped as why:
        print(why)
        outcome = 0
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    sys.exit(outcome)
