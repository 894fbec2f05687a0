#!/usr/bin/env python3
"""`gravel run` over ranks on this machine: the same bits, kills and resumes, other numbers of ranks, failures."""
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import gatelib
from gate_mpi import MPI, mpirun, need_mpirun
from gatelib import BUILD, QUICK, Failed

PROGRAM = os.path.join(BUILD, "bin", "gravel")
WORK = tempfile.mkdtemp(prefix="gravel-ranks-")
UNTIL = 0.25
SMALL = ("--until", str(UNTIL), "--eps", "0.01", "--snapshot-every", "0.125", "--diagnose-every", "0.0625",
         "--snapshot-format", "text", "-d", "cpu:1")


def path(name):
    return os.path.join(WORK, name)


def read(*parts):
    with open(os.path.join(WORK, *parts), "rb") as handle:
        return handle.read()


def good(ranks, *command):
    if ranks:
        done = mpirun(ranks, PROGRAM, *command)
    else:
        done = subprocess.run([PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
    if done.returncode != 0:
        raise Failed("%s over %d ranks: exit status %d\n%s%s" % (command, ranks, done.returncode, done.stdout,
                                                                 done.stderr))
    return done


def refused(ranks, says, *command):
    done = mpirun(ranks, PROGRAM, *command)
    if done.returncode not in (1, 2) or done.stderr.count(says) != 1:
        raise Failed("%s over %d ranks: exit status %d, '%s' not once in\n%s%s" % (
            command, ranks, done.returncode, says, done.stdout, done.stderr))


def particles():
    if not os.path.exists(path("ic.txt")):
        good(0, "ic", "plummer", "-n", "64", "--seed", "5", "-o", path("ic.txt"))
    return path("ic.txt")


def simulate(ranks, folder, *options):
    if not os.path.exists(path(folder)):
        good(ranks, "run", "-i", particles(), "-o", path(folder), *SMALL, *options)


def same(one, two):
    for name in ("diagnostics.txt", "blocks.txt", "snapshot_0000.txt", "snapshot_0001.txt", "snapshot_0002.txt"):
        if read(one, name) != read(two, name):
            raise Failed("%s of %s and %s differ" % (name, one, two))


def close(one, two):
    """Forces in ds have errors of 1e-7, orbits without close pairs make them some ten times larger by the end."""
    lines = [read(folder, "snapshot_0002.txt").splitlines() for folder in (one, two)]
    if len(lines[0]) != len(lines[1]):
        raise Failed("%s and %s have other numbers of bodies" % (one, two))
    for a, b in zip(*lines):
        if not a.startswith(b"#"):
            x, y = [list(map(float, line.split())) for line in (a, b)]
            if x[:2] != y[:2] or max(abs(p - q) for p, q in zip(x[2:], y[2:])) > 1e-5:
                raise Failed("%s and %s are not close: %s %s" % (one, two, a, b))


def same_ranks_give_the_same_bits():
    simulate(2, "two")
    good(2, "run", "-i", particles(), "-o", path("again"), *SMALL)
    same("two", "again")


def any_number_of_ranks_agrees():
    simulate(0, "alone")
    simulate(2, "two")
    close("alone", "two")
    simulate(3, "three-ranks")
    close("alone", "three-ranks")


def hosts_of_all_ranks_move_blocks():
    """Every rank's host moves all blocks, or those where it is faster, and all find the same bits, which checkpoints
    compare.  Energies are those of one rank but for forces in ds, which have errors of 1e-7, on some ten close bodies."""
    errors = []
    for ranks, answer, name in ((0, "always", "host-one"), (2, "always", "host-all"), (3, "auto", "host-auto")):
        simulate(ranks, name, "--host", answer, "--checkpoint-every", "0.01")
        summary = json.loads(read(name, "summary.json"))
        errors.append(summary["energy_error_max"])
        if answer == "always" and not 0 < summary["host_blocks"] == summary["blocks"]:
            raise Failed("%s: %d of %d blocks by the host" % (name, summary["host_blocks"], summary["blocks"]))
        close("host-one", name)
    if not max(errors) < 1e-5 or max(errors) - min(errors) > 1e-6:
        raise Failed("energy errors %s" % errors)
    good(2, "run", "-i", particles(), "-o", path("host-half"), *SMALL, "--host", "always", "--until", "0.125")
    good(2, "run", "--resume", path("host-half"), "--until", str(UNTIL), "-d", "cpu:1")
    same("host-all", "host-half")


def forces_are_those_of_one_rank():
    """dp: other shares add in another order; the largest force here is 1000 times a usual one."""
    with open(path("forces.txt"), "w", encoding="utf-8") as one:
        one.write(good(0, "force", particles(), "--order", "6", "-p", "dp", "-d", "cpu:1").stdout)
    good(3, "force", particles(), "-o", path("forces3.txt"), "--order", "6", "-p", "dp", "-d", "cpu:1")
    one, three = [[list(map(float, line.split())) for line in read(name).splitlines() if not line.startswith(b"#")]
                  for name in ("forces.txt", "forces3.txt")]
    if len(one) != 64 or len(three) != 64 or any(abs(x - y) > 1e-10 * (1 + abs(x)) for a, b in zip(one, three)
                                                 for x, y in zip(a, b)):
        raise Failed("forces of one and of three ranks differ")


def tree_forces_are_near_those_of_one_rank():
    """Errors of theta 0.3 are about 2e-5 each (doc/tree.md), 1e-3 at worst."""
    what = ("force", particles(), "--method", "tree", "--theta", "0.3", "--eps", "0.1", "-d", "cpu:1")
    with open(path("tree1.txt"), "w", encoding="utf-8") as one:
        one.write(good(0, *what).stdout)
    good(3, *what, "-o", path("tree3.txt"), "--report", path("tree3.json"))
    one, three = [[list(map(float, line.split())) for line in read(name).splitlines() if not line.startswith(b"#")]
                  for name in ("tree1.txt", "tree3.txt")]
    if len(one) != 64 or len(three) != 64 or any(a[0] != b[0] or abs(x - y) > 2e-3 * max(map(abs, a[1:4]))
                                                 for a, b in zip(one, three) for x, y in zip(a[1:4], b[1:4])):
        raise Failed("tree forces of one and of three ranks differ")
    if json.loads(read("tree3.json"))["ranks"] != 3:
        raise Failed(read("tree3.json"))


def process_of(rank, above):
    """The process below mpirun, be it through another one of the launcher, that is this rank."""
    wanted = [b"OMPI_COMM_WORLD_RANK=%d" % rank, b"PMI_RANK=%d" % rank]
    parent, found = {}, []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % entry, encoding="utf-8", errors="replace") as handle:
                parent[int(entry)] = int(handle.read().rsplit(")", 1)[1].split()[1])
            with open("/proc/%s/environ" % entry, "rb") as handle:
                environment = handle.read().split(b"\0")
        except (OSError, ValueError, IndexError):
            continue
        if any(w in environment for w in wanted):
            found.append(int(entry))
    for process in found:
        at = process
        while at in parent and at != above:
            at = parent[at]
        if at == above:
            return process
    raise Failed("mpirun has no rank %d" % rank)


def killed():
    """A folder whose run lost a rank in the middle, after 0.0625 and hours before its end."""
    tool = need_mpirun()
    folder = path("killed")
    if os.path.exists(folder):
        return
    command = [tool, "-n", "2", PROGRAM, "run", "-i", particles(), "-o", folder, *SMALL, "--checkpoint-every", "0.001",
               "--until", "10000"]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, **MPI))
    lines = os.path.join(folder, "diagnostics.txt")
    for _ in range(6000):
        time.sleep(0.05)
        if job.poll() is not None:
            raise Failed("the run ended by itself: %s" % (job.communicate(),))
        if os.path.exists(lines) and len(read("killed", "diagnostics.txt").splitlines()) >= 5 and \
                os.path.exists(os.path.join(folder, "checkpoint.gvc")):
            break
    os.kill(process_of(1, job.pid), signal.SIGKILL)
    out, err = job.communicate(timeout=300)
    if job.returncode == 0 or not (out + err).strip():  # MPICH's mpirun tells on stdout
        raise Failed("exit status %d without a message: %s%s" % (job.returncode, out, err))


def killed_rank_ends_the_job_and_resume_goes_on():
    killed()
    # 0.5 unless this machine was so busy that the run went beyond before it was killed
    reached = float(read("killed", "diagnostics.txt").split(b"\n")[-2].split()[0])  # of the last whole line
    end = max(0.5, 0.25 * math.ceil((reached + 0.125) / 0.25))
    for copy in ("back", "three", "one"):
        shutil.copytree(path("killed"), path(copy))
    good(2, "run", "-i", particles(), "-o", path("whole"), *SMALL, "--until", str(end))
    good(2, "run", "--resume", path("back"), "--until", str(end), "-d", "cpu:1")
    for name in ("diagnostics.txt", "snapshot_0002.txt", "snapshot_%04d.txt" % round(end / 0.125)):
        if read("whole", name) != read("back", name):
            raise Failed("%s differs after a kill and a resume" % name)
    for ranks, folder in ((3, "three"), (0, "one")):
        done = good(ranks, "run", "--resume", path(folder), "--until", str(end), "-d", "cpu:1")
        if "made by 2 ranks" not in done.stderr:
            raise Failed(done.stderr)
        close(folder, "whole")


def bodies_dealt_out_make_the_same_run():
    """--scheme ring beside one rank; its checkpoint goes on with the same bits on as many ranks, and anywhere else."""
    simulate(0, "alone")
    simulate(2, "ring", "--scheme", "ring")
    close("alone", "ring")
    # a rounding may choose another step now and then: 1 % of 1 + 70 + 233 ... moved bodies
    one, ring = [[list(map(int, l.split())) for l in read(f, "blocks.txt").splitlines() if not l.startswith(b"#")]
                 for f in ("alone", "ring")]
    for column in (2, 3):
        a, b = [sum(row[column] for row in table) for table in (one, ring)]
        if a < 1000 or abs(a - b) > 0.01 * a:
            raise Failed("%d and %d steps of bodies" % (a, b))
    half = path("ring-half")
    good(2, "run", "-i", particles(), "-o", half, *SMALL, "--scheme", "ring", "--until", "0.125")
    for copy in ("ring-three", "ring-one"):
        shutil.copytree(half, path(copy))
    for ranks, folder in ((2, "ring-half"), (3, "ring-three"), (0, "ring-one")):
        good(ranks, "run", "--resume", path(folder), "--until", str(UNTIL), "-d", "cpu:1")
        close("alone", folder)
    same("ring", "ring-half")


def failures_of_any_rank_end_the_job_with_a_message():
    refused(2, "already and not empty", "run", "-i", particles(), "-o", WORK, *SMALL)
    refused(2, "rank 1 on", "run", "-i", particles(), "-o", path("none"), *SMALL[:-1], "cpu:1;nonsense")
    refused(2, "is missing", "run", "-i", particles())
    refused(2, "--order 4 or 6", "run", "-i", particles(), "-o", path("none"), *SMALL, "--order", "2", "--scheme", "ring")
    refused(2, "cannot write", "force", particles(), "-o", os.path.join(WORK, "no", "folder"), "-d", "cpu:1")
    if os.path.exists(path("none")):
        raise Failed("a run that was refused left a folder")


def short_steps_are_told_once():
    """With all bodies on every rank the message names the nearest neighbour; where they are dealt out none is known."""
    for scheme in ("copies", "ring"):
        done = mpirun(2, PROGRAM, "run", "-i", particles(), "-o", path("short_" + scheme), *SMALL, "--scheme", scheme, "--step-max",
                      "0.0625", "--step-min", "0.0625")
        told = [line for line in done.stderr.splitlines() if "is below step_min" in line]
        if done.returncode != 1 or len(told) != 1 or told[0].count("rank ") > 1 or "inf" in told[0] or (
                ("nearest neighbour" in told[0]) != (scheme == "copies")):
            raise Failed("%s: exit status %d, %s" % (scheme, done.returncode, done.stderr))


def near(one, *others):
    """Forces of theta 0.3 differ by 1e-3 at worst (doc/tree.md); the largest are about 10 with softening 0.05, so
    velocities by 2.5e-3 after a quarter."""
    ends = [[list(map(float, line.split())) for line in read(folder, "snapshot_0002.txt").splitlines()
             if not line.startswith(b"#")] for folder in (one, *others)]
    for folder, end in zip(others, ends[1:]):
        if len(end) != 64 or max(abs(p - q) for a, b in zip(ends[0], end) for p, q in zip(a, b)) > 2.5e-3:
            raise Failed("%s and %s are not close" % (folder, one))


def trees_go_on_over_any_number_of_ranks():
    """Same ranks, same bits; other numbers are near."""
    tree = ("--solver", "tree", "--steps", "shared", "--theta", "0.3", "--eps", "0.05", "--step-max", "0.03125")
    simulate(2, "tree", *tree)
    good(2, "run", "-i", particles(), "-o", path("half"), *SMALL, *tree, "--until", "0.125")
    for folder in ("half2", "half3", "half1"):
        shutil.copytree(path("half"), path(folder))
    for ranks, folder in ((2, "half2"), (3, "half3"), (0, "half1")):
        good(ranks, "run", "--resume", path(folder), "--until", str(UNTIL), "-d", "cpu:1")
    same("tree", "half2")
    near("tree", "half3", "half1")


def trees_run_over_unlike_devices():
    """One core and two: other devices by their compute units.  Direct sums in one order are refused, trees are near one
    rank, give the same bits again, and go on on the same devices only, or where that is allowed."""
    tree = ("--solver", "tree", "--theta", "0.3", "--eps", "0.05", "--step-max", "0.0625")
    what = ("run", "-i", particles(), *SMALL[:-1], "cpu:1;cpu:2")
    refused(2, "another device than on rank 0", *what, "-o", path("unlike-direct"), "--scheme", "copies")
    good(0, *what[:-1], "cpu:1", *tree, "-o", path("unlike-alone"))
    for folder, until in (("unlike", UNTIL), ("unlike-half", 0.125)):
        good(2, *what, *tree, "--until", str(until), "-o", path(folder))
    for folder in ("unlike-moved", "unlike-three"):
        shutil.copytree(path("unlike-half"), path(folder))
    on = ("--until", str(UNTIL), "-d")
    good(2, "run", "--resume", path("unlike-half"), *on, "cpu:1;cpu:2")
    same("unlike", "unlike-half")
    refused(2, "had other devices", "run", "--resume", path("unlike-moved"), *on, "cpu:1")
    good(2, "run", "--resume", path("unlike-moved"), "--allow", "device", *on, "cpu:1")
    good(3, "run", "--resume", path("unlike-three"), *on, "cpu:1")
    near("unlike-alone", "unlike", "unlike-moved", "unlike-three")


def sanitized_runs(name):
    done = mpirun(2, PROGRAM, "run", "-i", particles(), "-o", path(name + "direct"), "--eps", "0.01", "-d", "cpu:1",
                  "--until", "0.03125", "--snapshot-writers", "all")
    if done.returncode != 0 and not (done.returncode == 2 and "parallel HDF5" in done.stderr):
        raise Failed("exit status %d\n%s%s" % (done.returncode, done.stdout, done.stderr))
    tree = ("--solver", "tree", "--eps", "0.05", "--step-max", "0.03125")
    good(3, "run", "-i", particles(), "-o", path(name + "tree"), *SMALL, *tree, "--until", "0.0625")
    good(2, "run", "--resume", path(name + "tree"), "--until", "0.09375", "-d", "cpu:1")


def runs_under_the_sanitizer():
    """Direct on 2 ranks, which write one file where that is built in; a tree on 3, that goes on on 2. The leak checker
    looks at a rank from a thread of its own, which crashes at times when all is done: then nothing was checked, and
    the runs are made once more."""
    try:
        sanitized_runs("")
    except Failed as failure:
        if "Tracer caught signal" not in str(failure) or "AddressSanitizer" in str(failure):
            raise
        sanitized_runs("again-")


def block_steps_of_trees_go_on_over_any_number_of_ranks():
    """Same ranks, same bits, also after a stop where steps have just ended; on other numbers of ranks as above."""
    tree = ("--solver", "tree", "--theta", "0.3", "--eps", "0.05", "--step-max", "0.0625")
    simulate(2, "blocks", *tree)
    good(2, "run", "-i", particles(), "-o", path("part"), *SMALL, *tree, "--until", "0.125")
    for folder in ("part2", "part3", "part1"):
        shutil.copytree(path("part"), path(folder))
    for ranks, folder in ((2, "part2"), (3, "part3"), (0, "part1")):
        good(ranks, "run", "--resume", path(folder), "--until", str(UNTIL), "-d", "cpu:1")
    same("blocks", "part2")
    near("blocks", "part3", "part1")
    rows = [line.split() for line in read("blocks", "blocks.txt").splitlines() if not line.startswith(b"#")]
    moved, counted = [sum(int(row[column]) for row in rows) for column in (2, 3)]
    if moved != counted or moved == 0:
        raise Failed("%d bodies moved, %d time-steps are counted" % (moved, counted))


SOME = [same_ranks_give_the_same_bits, failures_of_any_rank_end_the_job_with_a_message, short_steps_are_told_once]

if __name__ == "__main__":
    try:
        if gatelib.sanitized():
            sys.exit(gatelib.main([runs_under_the_sanitizer]))
        sys.exit(gatelib.main(SOME if QUICK else SOME + [forces_are_those_of_one_rank,
                                                         tree_forces_are_near_those_of_one_rank, any_number_of_ranks_agrees,
                                                         hosts_of_all_ranks_move_blocks,
                                                         bodies_dealt_out_make_the_same_run,
                                                         trees_go_on_over_any_number_of_ranks,
                                                         block_steps_of_trees_go_on_over_any_number_of_ranks,
                                                         trees_run_over_unlike_devices,
                                                         killed_rank_ends_the_job_and_resume_goes_on]))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
