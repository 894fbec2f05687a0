#!/usr/bin/env python3
"""Runs the test programs and the gates, counts every test case, and says readably what failed.

    tests/run_tests.py                     everything built in build/
    tests/run_tests.py space gate_lint     those whose name contains one of the words
    tests/run_tests.py --quick             without what takes long

A test program is BUILD/tests/test_<module>, written with cmocka.  A gate is tests/gates/gate_<name>.py: it prints the
same marks as cmocka ("[ RUN      ] case", then "[       OK ] case", "[  FAILED  ] case" or "[  SKIPPED ] case").  What a
case prints before its mark is the reason of a failure or a skip.  A program that crashes, runs out of time or exits
with an error without a failed case counts as one failure.  As many run at once as there are cores (--jobs), those that
mind company by themselves at the end; they are told of in one order.

The programs see: GRAVEL_SOURCE_DIR, GRAVEL_BUILD_DIR, GRAVEL_PROGRAM (the built `gravel`), GRAVEL_TEST_QUICK=1 with
--quick.  Caches, profiles and HOME are folders under BUILD/run, so that nothing of the user is read or written; TMPDIR
is a folder of each program alone.  Of the user's variables GRAVEL_... only GRAVEL_DEVICE, GRAVEL_KILLS... and
GRAVEL_TEST_... are passed on.

Exit status 0 if nothing failed and something ran.  The last line is "N passed, N failed, N skipped".
"""
import argparse
import atexit
import concurrent.futures
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARK = re.compile(r"^\[\s*(RUN|OK|FAILED|SKIPPED|ERROR|LINE)\s*\] (.*)$")
SHOWN_LINES = 60  # of one failed case; the log file has the rest
# begun first: what takes minutes must not be left for one core at the end
LONG = ("test_direct_forces", "gate_amd", "gate_oclgrind", "gate_oclgrind_tree", "test_direct_hostile", "gate_cli",
        "test_tree", "test_faults", "gate_mpi", "gate_mpi_run", "gate_hostile", "test_tuner_run", "test_tuner_program")
LEAK_CHECK_CRASHED, LEAK_CHECKS = "LeakSanitizer has encountered a fatal error", 4
ALONE = {
    "test_measure": "rates of a device that others use are not its rates",
    "gate_install": "calls scons on the build folder",
}


class Case:
    def __init__(self, name, status, output):
        self.name, self.status, self.output = name, status, output


def parse(text):
    """The cases of one program's output, in order; a case that started and never ended has the status 'died'."""
    cases, current, lines, summary = [], None, [], False
    for line in text.splitlines():
        mark = MARK.match(line)
        if line.startswith("[==========]"):
            summary = "run" in line and "Running" not in line  # cmocka repeats the failed names below its total
        if mark is None or summary:
            if current is not None:
                lines.append(line)
            continue
        word, name = mark.group(1), mark.group(2).strip()
        if word == "RUN":
            if current is not None:
                cases.append(Case(current, "died", lines))
            current, lines = name, []
        elif word in ("ERROR", "LINE"):  # cmocka: the message of an assertion and its place
            lines.append(name.lstrip("- "))
        elif current is not None:
            status = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}[word]
            cases.append(Case(current, status, lines))
            current, lines = None, []
    if current is not None:
        cases.append(Case(current, "died", lines))
    return cases


def environment(build, quick):
    env = {name: value for name, value in os.environ.items()
           if not re.match(r"GRAVEL_(?!DEVICE$|KILLS|TEST_(?!QUICK))|(GPU_LIST|GNUTERM)$", name)}
    run = os.path.join(build, "run")
    folders = {"HOME": "home", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data", "XDG_STATE_HOME": "state",
               "GRAVEL_CACHE_DIR": "cache/gravel", "GRAVEL_PROFILE_DIR": "data/gravel", "POCL_CACHE_DIR": "cache/pocl"}
    for name, folder in folders.items():
        path = os.path.join(run, folder)
        if name == "POCL_CACHE_DIR" and env.get(name):
            continue  # so that several builds may share it: PoCL keys it by all that goes into a kernel
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o700)  # others may not write where compiled kernels are, whatever the umask says
        env[name] = path
    env.update({"GRAVEL_SOURCE_DIR": TOP, "GRAVEL_BUILD_DIR": build,
                "GRAVEL_PROGRAM": os.path.join(build, "bin", "gravel"), "LC_ALL": "C",
                "CMOCKA_MESSAGE_OUTPUT": "STDOUT"})
    if quick:
        env["GRAVEL_TEST_QUICK"] = "1"
    suppress = os.path.join(TOP, "tests", "lsan.supp")
    env.setdefault("LSAN_OPTIONS", "suppressions=%s:print_suppressions=0" % suppress)
    # LLVM inside PoCL gives the thread that calls it first a signal stack, which the sanitizer would take for its own
    env.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=0:use_sigaltstack=0")
    env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    return env


running = set()  # processes
stopped = False  # by a signal


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def interrupt(number, frame):
    """Ctrl-C or a plain kill: nothing that was started is left behind, and nothing else is started."""
    global stopped
    stopped = True
    for process in list(running):
        kill(process)
    raise KeyboardInterrupt


def run_program(command, env, timeout):
    """Output, exit status (negative: signal), whether time ran out, seconds; nothing it started is left behind."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               env=env, cwd=TOP, start_new_session=True)
    running.add(process)
    late = False
    if stopped:
        kill(process)
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        late = True
        kill(process)
        output, _ = process.communicate()
    running.discard(process)
    return output.decode("utf-8", "replace"), process.returncode, late, time.monotonic() - start


def run_again(command, env, timeout):
    """run_program, up to LEAK_CHECKS times where the leak check itself crashed: its tracer now and then does when PoCL's
    threads end, and jobs of ranks have seven of them."""
    folder = os.path.join(env["TMPDIR"], os.path.basename(command[-1]))
    os.mkdir(folder)
    mine = dict(env, TMPDIR=folder)
    for _ in range(LEAK_CHECKS):
        result = run_program(command, mine, timeout)
        if LEAK_CHECK_CRASHED not in result[0]:
            break
    return result


def left_behind(scratch):
    """What programs left in their folders for temporary files; Open MPI's, of jobs that were killed, do not count."""
    return ["%s/%s" % (program, name) for program in sorted(os.listdir(scratch))
            for name in sorted(os.listdir(os.path.join(scratch, program))) if not re.match(r"(ompi|prte|pmix)\b", name)]


def run_all(chosen, env, timeout, jobs):
    """Yields name and what run_program returns, in the order of `chosen`; those of ALONE come last."""
    together = [(name, command) for name, command in chosen if name not in ALONE]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        begun = {name: pool.submit(run_again, command, env, timeout)
                 for name, command in sorted(together, key=lambda t: t[0] not in LONG)}
        for name, _ in together:
            yield name, begun[name].result()
    for name, command in chosen:
        if name in ALONE:
            yield name, run_again(command, env, timeout)


def judge(name, text, status, late, timeout):
    """The cases of a run, with one more for an end that no case explains."""
    cases = parse(text)
    if late:
        why = "stopped after %g s" % timeout
    elif status < 0:
        try:
            why = "ended by " + signal.Signals(-status).name
        except ValueError:
            why = "ended by signal %d" % -status
    else:
        why = "exit status %d" % status
    explained = False
    for case in cases:
        if case.status == "died":
            case.status = "failed"
            case.output.append("(%s)" % why)
        explained = explained or case.status == "failed"
    if not explained and (status != 0 or late or not cases):
        reason = why if status != 0 or late else "ran no test case"
        cases.append(Case("(whole program)", "failed", text.splitlines()[-SHOWN_LINES:] + ["(%s)" % reason]))
    return cases


def find(build, with_gates, with_programs):
    found = []
    folder = os.path.join(build, "tests")
    if with_programs and os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            source = glob.glob(os.path.join(TOP, "tests", "*", name + ".c"))  # a leftover of a removed test is not run
            if name.startswith("test_") and os.access(os.path.join(folder, name), os.X_OK) and source:
                found.append((name, [os.path.join(folder, name)]))
    folder = os.path.join(TOP, "tests", "gates")
    if with_gates and os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            if re.match(r"gate_\w+\.py$", name):
                found.append((name[:-3], [sys.executable, os.path.join(folder, name)]))
    return found


def missing_programs(build):
    """Test sources without a program: a test that does not compile must not look like one that passes."""
    sources = sorted(os.path.basename(f)[:-2] for f in glob.glob(os.path.join(TOP, "tests", "*", "test_*.c")))
    return [s for s in sources if not os.access(os.path.join(build, "tests", s), os.X_OK)]


told_reasons = set()


def report_skipped(cases):
    """One line a reason; a reason that was printed before is not repeated in full."""
    by_reason = {}
    for case in cases:
        lines = [line for line in case.output if line.strip()]
        by_reason.setdefault(lines[-1].strip() if lines else "no reason given", []).append(case.name)
    for reason, names in by_reason.items():
        what = names[0] if len(names) == 1 else "%d cases" % len(names)
        again = reason in told_reasons and len(reason) > 40
        print("    skipped %s: %s" % (what, reason[:32] + "... (as above)" if again else reason))
        told_reasons.add(reason)


def report(name, cases, seconds):
    count = {s: sum(c.status == s for c in cases) for s in ("passed", "failed", "skipped")}
    parts = ["%d %s" % (count[s], s) for s in ("passed", "failed", "skipped") if count[s]]
    print("%-28s %s  (%.1f s)" % (name, ", ".join(parts), seconds))
    report_skipped([case for case in cases if case.status == "skipped"])
    for case in cases:
        reason = [line for line in case.output if line.strip()]
        if case.status == "failed":
            print("    FAILED %s" % case.name)
            if len(reason) > SHOWN_LINES:
                reason = ["... (%d lines before)" % (len(reason) - SHOWN_LINES)] + reason[-SHOWN_LINES:]
            for line in reason:
                print("        " + line)
    sys.stdout.flush()


def main():
    about = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(description=about[0], formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="\n\n".join(about[1:]))
    parser.add_argument("words", nargs="*", metavar="NAME", help="run what contains this; default: everything")
    parser.add_argument("--build", default=os.path.join(TOP, "build"), help="build folder (default: build)")
    parser.add_argument("--quick", action="store_true", help="leave out what takes long")
    parser.add_argument("--no-gates", action="store_true", help="test programs only")
    parser.add_argument("--only-gates", action="store_true", help="gates only")
    parser.add_argument("--timeout", type=float, default=1500, help="seconds per program (default 1500)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="programs that run at once (default: as many as there are cores)")
    parser.add_argument("--list", action="store_true", help="name programs and gates, run nothing")
    parser.add_argument("--json", default=os.environ.get("GRAVEL_TEST_JSON"),
                        help="write the counts and every case to this file (default: $GRAVEL_TEST_JSON)")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    chosen = find(build, not args.no_gates, not args.only_gates)
    if args.words:
        chosen = [(name, command) for name, command in chosen if any(word in name for word in args.words)]
    if args.list:
        print("\n".join(name for name, _ in chosen))
        return 0

    env = environment(build, args.quick)
    scratch = tempfile.mkdtemp(prefix="gravel-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    env["TMPDIR"] = scratch
    logs = os.path.join(build, "test-logs")
    os.makedirs(logs, exist_ok=True)
    total = {"passed": 0, "failed": 0, "skipped": 0}
    record = []
    begin = time.monotonic()
    for name, (text, status, late, seconds) in run_all(chosen, env, args.timeout, max(args.jobs, 1)):
        with open(os.path.join(logs, name + ".log"), "w", encoding="utf-8") as log:
            log.write(text)
        cases = judge(name, text, status, late, args.timeout)
        report(name, cases, seconds)
        for case in cases:
            total[case.status] += 1
            record.append({"program": name, "case": case.name, "status": case.status, "output": case.output})
    left = left_behind(scratch)
    if left:
        print("%-28s FAILED: left in the folders for temporary files: %s" % ("(all)", " ".join(left)))
        total["failed"] += 1
        record.append({"program": "(all)", "case": "(leaves nothing)", "status": "failed", "output": left})
    if not args.words and not args.only_gates:
        for name in missing_programs(build):
            print("%-28s FAILED: not built in %s" % (name, os.path.relpath(build, os.getcwd())))
            total["failed"] += 1
            record.append({"program": name, "case": "(not built)", "status": "failed", "output": []})
    if not record:
        print("nothing to run in %s: build first (scons), or no name contains %s" % (build, " ".join(args.words)))
    elif total["failed"]:
        print("\nfailed (full output in %s):" % logs)
        for entry in record:
            if entry["status"] == "failed":
                print("    %s: %s" % (entry["program"], entry["case"]))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as handle:
            json.dump({"total": total, "seconds": time.monotonic() - begin, "cases": record}, handle, indent=1)
    print("%d passed, %d failed, %d skipped" % (total["passed"], total["failed"], total["skipped"]))
    return 0 if record and not total["failed"] else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted")
        sys.exit(130)
