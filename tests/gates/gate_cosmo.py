#!/usr/bin/env python3
"""`gravel ic cosmo` and `gravel run --cosmology`: what a folder holds, a run that is stopped and goes on with equal bits,
bad input."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import gatelib
from clilib import FAILURE, OK, PROGRAM, USAGE, WORK, expect, good, need_device, path, read, refused, run, write
from gatelib import Failed, Skipped

# few long steps: 8^3 bodies in a second
SMALL = ("--until", "z=3", "--redshifts", "24,9", "--step-max", "0.125", "--steps", "shared", "--eps", "2000")


def box():
    if not os.path.exists(path("ic.hdf5")):
        done = run("ic", "cosmo", "-n", "8", "--box", "64", "--seed", "3", "-o", "ic.hdf5")
        if "without HDF5" in done.stderr:
            raise Skipped("built without HDF5")
        expect(done.returncode == OK, "initial conditions", done)
    return "ic.hdf5"


def content(folder):
    files = {}
    for name in os.listdir(path(folder)):
        if name not in ("summary.json", "run.json", "checkpoint.gvc"):
            with open(path(os.path.join(folder, name)), "rb") as handle:
                files[name] = handle.read()
    return files


def reference():
    need_device()
    if not os.path.exists(path("reference")):
        good("run", "--cosmology", "-i", box(), "-o", "reference", *SMALL)
    return "reference"


def what_a_run_leaves():
    files = content(reference())
    expect({"snapshot_0000.hdf5", "snapshot_0001.hdf5", "snapshot_0002.hdf5", "cosmology.txt"} <= set(files),
           "files: %s" % sorted(files))
    rows = [line.split() for line in read("reference/cosmology.txt").splitlines() if not line.startswith("#")]
    expect(float(rows[0][0]) == 0.02 and float(rows[-1][0]) == 0.25, "from and to: %s %s" % (rows[0], rows[-1]))
    # measured 2e-3 with these steps
    expect(abs(float(rows[-1][4])) < 0.02, "energies after Layzer and Irvine: %s" % rows[-1])
    summary = json.loads(read("reference/summary.json"))
    expect(summary["finished"] and summary["snapshots"] == 3 and summary["bodies"] == 512, "summary: %s" % summary)
    expect({"spectrum_0001.txt", "massfunction_0001.txt"} <= set(files), "analysis: %s" % sorted(files))
    # a snapshot is a beginning
    good("run", "--cosmology", "-i", "reference/snapshot_0001.hdf5", "-o", "later", "--until", "a=0.12", *SMALL[4:])
    expect(abs(float(read("later/cosmology.txt").splitlines()[-1].split()[0]) - 0.12) < 1e-12, "the end of the later run")


def what_is_in_a_box():
    """The tables beside a snapshot are those of `gravel analyse`; plots of them."""
    here = reference()
    done = good("analyse", here + "/snapshot_0002.hdf5", "--spectrum", "p.txt", "--massfunction", "n.txt", "--json")
    expect(read("p.txt") == read(here + "/spectrum_0002.txt"), "the spectrum beside the snapshot is another")
    expect(read("n.txt") == read(here + "/massfunction_0002.txt"), "the mass function beside the snapshot is another")
    expect("a side, periodic" in good("info", here + "/snapshot_0002.hdf5").stdout, "no word about the box")
    expect(len(json.loads(done.stdout)["spectrum"]["k"]) == 8, "shells of a mesh of 16: %s" % done.stdout[:300])
    good("analyse", here + "/snapshot_0002.hdf5", "--least", "2", "--linking", "0.9", "--massfunction", "few.txt",
         "--groups", "groups.txt")
    expect(len(read("groups.txt").splitlines()) > 25, "groups: %s" % read("groups.txt"))
    refused(USAGE, "linking", "analyse", here + "/snapshot_0002.hdf5", "--linking", "0")
    refused(USAGE, "no spectrum_NNNN.txt", "plot", "spectrum", ".", "-o", "x.svg")
    refused(USAGE, "'gravel run --cosmology --help' lists", "run", "--cosmology", "--snapshots", "3")
    refused(USAGE, "not a spectrum", "plot", "spectrum", "few.txt", "-o", "x.svg")
    if not shutil.which("gnuplot"):
        raise Skipped("no gnuplot")
    good("plot", "spectrum", here, "-o", "spectrum.svg")
    good("plot", "massfunction", "few.txt", "-o", "massfunction.svg")
    os.makedirs(path("odd"), exist_ok=True)  # in order of redshift, whatever the files are called
    for name, number in (("9999", "0001"), ("10000", "0002"), ("first", "0001")):
        shutil.copy(path(here + "/spectrum_%s.txt" % number), path("odd/spectrum_%s.txt" % name))
    good("plot", "spectrum", "odd", "-o", "odd.svg")
    shown = re.findall(r">z = ([0-9.e+-]+)<", read("odd.svg").replace("\u00a0", " "))
    expect(shown[:3] == ["9", "9", "3"], "order of %s" % shown)  # the key of points comes first
    good("plot", "slice", here, "-o", "slice.svg", "--thickness", "0.5")
    for kind in ("image", "profile"):
        good("plot", kind, here, "--snapshot", "1", "-o", kind + ".svg")
        # texts alone: a picture is base64, in which three letters are found by chance
        shown = " ".join(re.findall(r">([^<]*)<", read(kind + ".svg").replace("\u00a0", " ")))
        expect("z = 9.00" in shown and "Myr" not in shown, "the redshift of an " + kind)
    expect("halofit" in read("spectrum.svg") and "Reed" in read("massfunction.svg"), "curves of theory")
    expect("a slice of 32 Mpc/h" in read("slice.svg").replace("\u00a0", " "), "the slice's title")


def stopped_runs_have_the_same_bits():
    reference()
    command = [PROGRAM, "run", "--cosmology", "-i", box(), "-o", "stopped", "--checkpoint-every", "0.01", *SMALL]
    child = subprocess.Popen(command, cwd=WORK, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    table = path("stopped/cosmology.txt")
    while child.poll() is None and not (os.path.exists(table) and len(read("stopped/cosmology.txt").splitlines()) > 8):
        time.sleep(0.005)
    child.send_signal(signal.SIGTERM)
    words = child.communicate()[1]
    if child.returncode == OK:
        raise Skipped("the run was faster than its signal")
    expect(child.returncode == 128 + signal.SIGTERM and "--resume" in words, "%d: %s" % (child.returncode, words))
    refused(USAGE, "cannot be changed", "run", "--cosmology", "--resume", "stopped", "--eps", "1")
    good("run", "--resume", "stopped")  # the folder says what it is
    mine, other = content("stopped"), content("reference")
    differ = [name for name in sorted(set(mine) | set(other)) if mine.get(name) != other.get(name)]
    if differ:
        raise Failed("these files differ: %s" % differ)


def shorter_steps_on_the_way():
    """A step that became too short before the first snapshot: the run is kept, and goes on with shorter ones."""
    reference()
    steps = ("--until", "z=3", "--step-max", "0.125", "--eps", "20")
    good("run", "--cosmology", "-i", box(), "-o", "whole", *steps)
    refused(FAILURE, "gravel run --resume short --step-min X", "run", "--cosmology", "-i", box(), "-o", "short", *steps,
            "--step-min", "0.03125", "--checkpoint-every", "1e-9")
    expect(not os.path.exists(path("short/snapshot_0000.hdf5")), "there was a snapshot before")
    refused(USAGE, "can become smaller but not larger", "run", "--resume", "short", "--step-min", "0.0625")
    good("run", "--resume", "short", "--step-min", str(2.0 ** -24))
    expect(json.loads(read("short/run.json"))["options"]["step_min"] == 2.0 ** -24, "step_min of run.json")
    expect(json.loads(read("short/run.json"))["cosmology"] == json.loads(read("whole/run.json"))["cosmology"], "cosmology of run.json")
    expect(content("short") == content("whole"), "the run that went on is another")


def limit_files(most):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def run_files():
    """--file, --example and run.json as a run file, as of other runs; a folder whose run was killed before its first
    checkpoint begins again."""
    here = reference()
    example = good("run", "--cosmology", "--example").stdout
    write("example.json", example.replace('"ic.hdf5"', '"%s"' % box()).replace('"3,1"', "null"))
    expect('"mesh_step"' in example and '"no_fp64"' in example, "the example: %s" % example[:500])
    good("run", "--cosmology", "--file", "example.json", "-o", "by_file", *SMALL)
    good("run", "--cosmology", "--file", here + "/run.json", "-o", "again")
    expect(content("again") == content(here), "the run of run.json differs")
    shutil.rmtree(path("again"))
    shutil.copytree(path("later"), path("again"))
    refused(USAGE, "half of the splitting", "run", "--cosmology", "-i", box(), "-o", "again", *SMALL, "--eps", "1e30", "--replace")
    expect(content("again") == content("later"), "a run that did not start has replaced an earlier one")
    # Compiled before, and with a checkpoint that is larger than what PoCL writes whenever a program is built (150 kB) and
    # the binary of one (370 kB).
    good("ic", "cosmo", "-n", "24", "--box", "64", "-o", "large.hdf5")
    large = ("run", "--cosmology", "-i", "large.hdf5", *SMALL, "--eps", "500", "-o")
    good(*large, "large")
    size = os.path.getsize(path("large/checkpoint.gvc")) - 1000
    expect(size > 700000, "a checkpoint of %d bytes" % size)
    done = subprocess.run([PROGRAM, *large, "again", "--replace"], cwd=WORK, capture_output=True, text=True, check=False,
                          preexec_fn=lambda: limit_files(size))
    expect(done.returncode == FAILURE and "cannot write again/checkpoint.gvc" in done.stderr, "full disk", done)
    expect(content("again") == content("later") and sorted(os.listdir(path("again"))) == sorted(os.listdir(path("later"))),
           "a run without first files has replaced an earlier one")
    good("run", "--cosmology", "--file", here + "/run.json", "-o", "again", "--replace")
    write("bad.json", '{"redshift": 3}')
    refused(USAGE, "unknown key 'redshift'; did you mean 'redshifts'?", "run", "--cosmology", "--file", "bad.json")
    os.remove(path("again/checkpoint.gvc"))
    good("run", "--resume", "again")
    expect(content("again") == content(here) == content("by_file"), "the run that began again, or that of the example, "
           "differs")
    os.remove(path("again/run.json"))
    good("run", "--resume=again")  # the checkpoint has all of it
    os.truncate(path("again/checkpoint.gvc"), os.path.getsize(path("again/checkpoint.gvc")) // 2)
    refused(USAGE, "cut short or damaged; without this file the run begins again", "run", "--resume", "again")
    refused(USAGE, "no double", "run", "--cosmology", "--file", "example.json", "-o", "none", "--precision", "dp", "--no-fp64")


def what_is_refused():
    need_device()
    ic = ("ic", "cosmo", "-n", "8", "-o", "x.hdf5")
    refused(USAGE, "above 0", *ic, "--box", "0")
    refused(USAGE, "above -1", *ic, "--redshift", "-1")
    refused(USAGE, "Omega_b", *ic, "--omega-b", "0.9")
    refused(USAGE, "10 and 12", "ic", "cosmo", "-n", "11", "-o", "x.hdf5")
    refused(USAGE, "needs HDF5", "ic", "cosmo", "-n", "8", "-o", "x.txt")
    write("table", "0.1 100\n1 20\n0.5 3\n2 1\n")
    refused(USAGE, "table, line 3: k does not rise", *ic, "--table", "table")
    refused(USAGE, "later is needed", "ic", "pancake", "-n", "8", "--crossing", "60", "-o", "x.hdf5")
    here = ("run", "--cosmology", "-o", "none")
    write("bodies.txt", "0 1 0 0 0 0 0 0\n1 1 1 0 0 0 0.5 0\n")
    good("ic", "plummer", "-n", "10", "-o", "plummer.hdf5")
    for file in ("bodies.txt", "plummer.hdf5"):
        refused(USAGE, "no cosmology", *here, "-i", file)
    refused(USAGE, "too coarse", *here, "-i", box(), "--mesh", "12")
    refused(USAGE, "are possible", *here, "-i", box(), "--mesh", "22")
    refused(USAGE, "already", *here, "-i", box(), "--until", "60")
    refused(USAGE, "a redshift", *here, "-i", box(), "--until", "soon")
    refused(USAGE, "powers of two", *here, "-i", box(), "--step-max", "0.1")
    refused(USAGE, "--redshifts", *here, "-i", box(), "--redshifts", "60")
    refused(USAGE, "-o, --output", "run", "--cosmology", "-i", box())
    refused(USAGE, "give --cosmology", "run", "-i", box(), "-o", "none", "--until", "0.03", "--eps", "10")
    refused(USAGE, "cannot", "run", "--cosmology", "--resume", "nowhere")
    expect(not os.path.exists(path("none")), "a folder was made")


if __name__ == "__main__":
    try:
        code = gatelib.main([what_a_run_leaves, what_is_in_a_box, stopped_runs_have_the_same_bits,
                             shorter_steps_on_the_way, run_files, what_is_refused])
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    sys.exit(code)
