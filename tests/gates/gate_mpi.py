#!/usr/bin/env python3
"""Forces over the ranks of an MPI job on this machine: the cases of tests/cluster/, and `gravel cluster`."""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile

import gatelib
from gatelib import BUILD, QUICK, Failed, Skipped

# Open MPI: ranks as root and more of them than cores, as CI has it, and its way of reading another process' memory is
# forbidden in containers.  MPICH wants nothing of that.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_hwloc_base_binding_policy": "none",
       "OMPI_MCA_mpi_yield_when_idle": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
       "OMP_NUM_THREADS": "1", "GRAVEL_CLUSTER_LEAST_PAIRS": "1"}  # calls as small as in tests are shared


def keep_plugins():
    """A library for the ranks in which no other is unloaded: Open MPI unloads its plug-ins at the end, and what was
    allocated in one cannot be told from other memory any more then."""
    library = os.path.join(BUILD, "keep_plugins.so")
    made = "%s.%d" % (library, os.getpid())
    gatelib.call([gatelib.need_tool("cc", "gcc"), "-shared", "-fPIC", "-x", "c", "-o", made, "-"],
                 input="int dlclose(void *handle) { (void)handle; return 0; }\n")
    os.rename(made, library)
    return library


def suppressions():
    """Leaks of others: those of all tests, and those of ranks."""
    path = os.path.join(BUILD, "ranks.%d.supp" % os.getpid())
    with open(path, "w", encoding="utf-8") as out:
        for name in ("lsan.supp", "lsan_ranks.supp"):
            with open(os.path.join(gatelib.TOP, "tests", name), encoding="utf-8") as part:
                out.write(part.read())
    atexit.register(os.unlink, path)
    return path


if gatelib.sanitized():
    MPI["LSAN_OPTIONS"] = "suppressions=%s:print_suppressions=0" % suppressions()
    MPI["LD_PRELOAD"] = keep_plugins()
    MPI["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"


def which_mpi():
    """What the build found: its kind, openmpi or mpich, and the program that starts its ranks."""
    if not os.path.exists(os.path.join(BUILD, "cluster", "ranks")):
        raise Skipped("built without MPI (scons mpi=1)")
    with open(gatelib.need_file(BUILD, "mpi.json"), encoding="utf-8") as handle:
        return json.load(handle)


def need_mpirun():
    tool = which_mpi()["run"]
    if not tool:
        raise Skipped("the mpirun of this MPI is not installed")
    return tool


def mpirun(ranks, *command, limit=600, tool=None, cwd=None):
    tool = tool or need_mpirun()
    return subprocess.run([tool, "-n", str(ranks), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False, timeout=limit, env=dict(os.environ, **MPI), cwd=cwd)


def run_case(program, ranks, *arguments):
    done = mpirun(ranks, os.path.join(BUILD, "cluster", program), *arguments)
    if done.returncode != 0:
        raise Failed("%d ranks: exit status %d\n%s%s" % (ranks, done.returncode, done.stdout, done.stderr))
    print(done.stdout, end="")


def case(program, ranks, *names):
    """Several cases in one start, which takes longer than most of them."""
    return "%s: %s/%d" % (program, ", ".join(names), ranks), lambda: run_case(program, ranks, *names)


def a_rank_fails_in_the_middle(ranks, kernel, folder):
    """On the last rank a kernel is missing: before messages are under way, or while they are."""
    def runs():
        with tempfile.TemporaryDirectory() as top:
            copy = os.path.join(top, "kernels")
            shutil.copytree(os.path.join(gatelib.TOP, "kernels"), copy)
            path = os.path.join(copy, folder)
            with open(path, encoding="utf-8") as handle:
                text = handle.read()
            with open(path, "w", encoding="utf-8") as handle:
                handle.write(text.replace(kernel, kernel + "_missing"))
            run_case("ranks_tree", ranks, "broken", copy)
    return "rank_fails_at_%s/%d" % (kernel, ranks), runs


def snapshots_of_all_ranks(ranks):
    """One HDF5 file by all: empty ranks, several pieces, a rank that fails at any moment, a full disk."""
    def runs():
        with tempfile.TemporaryDirectory() as folder:
            done = mpirun(ranks, os.path.join(BUILD, "cluster", "snapshots"), folder)
        if done.returncode == 77:
            raise Skipped("built without parallel HDF5 (libhdf5-openmpi-dev)")
        if done.returncode != 0:
            raise Failed("%d ranks: exit status %d\n%s%s" % (ranks, done.returncode, done.stdout, done.stderr))
    return "snapshots/%d" % ranks, runs


def program_lists_the_ranks():
    done = mpirun(3, os.path.join(BUILD, "bin", "gravel"), "cluster", "devices", "--json")
    if done.returncode != 0:
        raise Failed(done.stdout + done.stderr)
    ranks = json.loads(done.stdout)
    if [r["rank"] for r in ranks] != [0, 1, 2] or any(r["compute_units"] < 1 or not r["name"] or r["cores"] < 1
                                                      for r in ranks):
        raise Failed(done.stdout)


def program_warns_of_ranks_that_are_bound():
    """Two compute units on one core, as Open MPI binds two ranks by itself."""
    core = str(min(os.sched_getaffinity(0)))
    what = ["bench", "hermite", "-n", "100", "--samples", "1"]
    for devices, says in (("cpu:2", 1), ("cpu:1", 0)):
        done = mpirun(2, gatelib.need_tool("taskset"), "-c", core, os.path.join(BUILD, "bin", "gravel"), *what, "-d",
                      devices)
        if done.returncode != 0 or done.stderr.count("computes on 2 cores and is bound to 1") != says:
            raise Failed("%s: exit status %d\n%s%s" % (devices, done.returncode, done.stdout, done.stderr))


def program_names_the_rank_without_a_device():
    done = mpirun(2, os.path.join(BUILD, "bin", "gravel"), "cluster", "devices", "--devices", "cpu:1;nonsense")
    if done.returncode == 0 or done.stderr.count("rank 1 on") != 1:
        raise Failed("exit status %d\n%s%s" % (done.returncode, done.stdout, done.stderr))


def program_names_the_rank_that_differs():
    """Another version (its number changed in a copy of the program), other options, another order of profiles."""
    gravel = os.path.join(BUILD, "bin", "gravel")
    with tempfile.TemporaryDirectory() as folder:
        other = os.path.join(folder, "gravel")
        version = gatelib.call([gravel, "--version"]).split()[1].encode()
        with open(gravel, "rb") as handle:
            text = handle.read()
        with open(other, "wb") as handle:
            handle.write(text.replace(version + b"\0", version[:-1] + b"x\0"))
        os.chmod(other, 0o755)
        what = ["cluster", "devices", "--json"]
        force = ["force", "none.txt", "--order"]
        for says, first, last in (("runs gravel " + version[:-1].decode() + "x", [gravel, *what], [other, *what]),
                                  ("--order 6", [gravel, *force, "4"], [gravel, *force, "6"]),
                                  ("GRAVEL_PROFILE_DIR=" + folder, [gravel, *force, "4"],
                                   ["env", "GRAVEL_PROFILE_DIR=" + folder, gravel, *force, "4"])):
            done = mpirun(1, *first, ":", "-n", "1", *last)
            if done.returncode not in (1, 2) or done.stderr.count("rank 1 on") != 1 or says not in done.stderr:
                raise Failed("exit status %d, '%s'\n%s%s" % (done.returncode, says, done.stdout, done.stderr))


def program_names_a_foreign_mpirun():
    """For this MPI each rank is alone then, and would do the whole work."""
    kind = which_mpi()["kind"]
    other = gatelib.need_tool("mpirun." + {"openmpi": "mpich", "mpich": "openmpi"}[kind])
    for what in (["cluster", "devices"], ["force", "none.txt"]):
        done = mpirun(2, os.path.join(BUILD, "bin", "gravel"), *what, tool=other)
        if done.returncode != 2 or done.stderr.count("need the mpirun of that MPI") != 1:
            raise Failed("exit status %d\n%s%s" % (done.returncode, done.stdout, done.stderr))


def program_refuses_what_is_for_one():
    done = mpirun(2, os.path.join(BUILD, "bin", "gravel"), "info", "nothing")
    if done.returncode != 2 or done.stderr.count("does not run over ranks") != 1:
        raise Failed("exit status %d\n%s%s" % (done.returncode, done.stdout, done.stderr))


def program_measures_steps():
    done = mpirun(2, os.path.join(BUILD, "bin", "gravel"), "bench", "hermite", "-n", "500", "--active", "3,100",
                  "--samples", "2", "--json")
    if done.returncode != 0:
        raise Failed(done.stdout + done.stderr)
    measured = json.loads(done.stdout)
    if measured["ranks"] != 2 or [(r["mode"], r["active"], r["shared"]) for r in measured["results"]] != [
            ("step", 500, True), ("forces", 3, True), ("forces", 100, True)]:
        raise Failed(done.stdout)


def program_measures_the_network():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "network.json")
        done = mpirun(2, os.path.join(BUILD, "bin", "gravel"), "cluster", "measure", "--quick", "-o", path)
        if done.returncode != 0:
            raise Failed(done.stdout + done.stderr)
        with open(path, encoding="utf-8") as handle:
            measured = json.load(handle)
    if not (measured["latency_s"] > 0 and measured["bytes_per_s"] > 0 and measured["ring"] and measured["all_to_all"]):
        raise Failed(json.dumps(measured))


def program_times_leapfrog_steps():
    gravel = os.path.join(BUILD, "bin", "gravel")
    what = [gravel, "bench", "leapfrog", "-n", "3000", "--samples", "1", "--json"]
    done = mpirun(2, *what)
    if done.returncode != 0:
        raise Failed(done.stdout + done.stderr)
    seen = {1: json.loads(gatelib.call(what))["results"][0], 2: json.loads(done.stdout)["results"][0]}
    if any(not seen[r]["step_s_median"] > 0 for r in seen) or "bytes" in seen[1] or not seen[2]["bytes"] > 0 or \
            not 0 <= seen[2]["imbalance"] < 0.5:
        raise Failed(json.dumps(seen))


CASES = [("ranks", 1, "forces-copies", "failures"), ("ranks", 2, "forces-ring", "one-place", "no-device"),
         ("near", 4), ("near", 5), ("ranks", 3, "forces-copies", "updates-ring", "failures"), ("ranks", 4, "updates-copies"),
         ("ranks", 5, "forces-ring"), ("steps", 2, "failure", "dealt"), ("steps", 3, "steps", "hosts", "ahead"),
         ("steps", 4, "machines"), ("steps", 5, "steps", "dealt"), ("ranks_tree", 2, "forces"), ("ranks_tree", 2, "corners"),
         ("ranks_tree", 3, "failures"), ("ranks_tree", 3, "kept"), ("ranks_tree", 4, "forces"),
         ("ranks_tree", 4, "steps"), ("ranks_tree", 4, "machines"), ("ranks_tree", 3, "machines"),
         ("ranks_tree", 3, "blocks"), ("ranks_tree", 5, "corners"), ("faults", 2, "steps"), ("faults", 2, "blocks"),
         ("faults", 2, "meetings")]
SOME = [("ranks", 3, "forces-ring", "failures"), ("steps", 2, "dealt"), ("ranks_tree", 2, "corners"),
        ("ranks_tree", 3, "steps")]

# gate_mpi_run has the trees: their kernels compile there once
SANITIZED = [case("ranks", 2, "forces-ring"), case("near", 4), snapshots_of_all_ranks(3)]

if __name__ == "__main__":
    if gatelib.sanitized():
        sys.exit(gatelib.main(SANITIZED))
    sys.exit(gatelib.main([case(*c) for c in (SOME if QUICK else CASES)] +
                          [a_rank_fails_in_the_middle(3, "gv_essential_mark", "tree/essential.cl"),
                           a_rank_fails_in_the_middle(3, "gv_tree_store", "tree/gather.cl")] +
                          [snapshots_of_all_ranks(ranks) for ranks in ((3,) if QUICK else (1, 4, 5))] +
                          [program_lists_the_ranks, program_warns_of_ranks_that_are_bound, program_names_the_rank_without_a_device,
                           program_names_the_rank_that_differs, program_names_a_foreign_mpirun,
                           program_refuses_what_is_for_one,
                           program_measures_steps, program_measures_the_network, program_times_leapfrog_steps]))
