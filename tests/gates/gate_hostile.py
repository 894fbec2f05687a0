#!/usr/bin/env python3
"""What goes wrong around the program: hostile names, full disks, signals, files of others, streams that are closed."""
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

import gatelib
from clilib import (FAILURE, OK, PROGRAM, USAGE, WORK, by_default, cluster, expect, good, need_device, on_terminal, path,
                    read, refused, run, said_until, write)
from gatelib import Failed

# For a shell behind backquotes or $(), for gnuplot's double quotes, single quotes and new lines, for a terminal.
HOSTILE = "`touch OBEYED`$(touch OBEYED)'\"; set print 'OBEYED'; print 1\n!touch OBEYED\nsystem 'touch OBEYED'\r\b\x1b[2J"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def check_harmless(done, what):
    if os.path.exists(path("OBEYED")):
        os.unlink(path("OBEYED"))
        raise Failed("a name was run as a command: " + what)
    for text in (done.stdout, done.stderr):
        expect(not CONTROL.search(text), "control characters reach the terminal: %s: %r" % (what, text[:300]))


def every_field(value, at=()):
    """Paths to all strings and numbers inside a JSON value."""
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from every_field(value[key], at + (key,))
    else:
        yield at


def changed(value, at, by):
    copy = json.loads(json.dumps(value))
    place = copy
    for key in at[:-1]:
        place = place[key]
    place[at[-1]] = by
    return copy


def log_lines():
    header = {"log": "gravel-tune", "schema": 1, "name": "A GPU", "vendor": "V", "platform": "P", "type": "gpu",
              "compute_units": 2, "simd_width_float": 1, "simd_width_double": 1, "fp64": 1, "driver": "1",
              "kernel": "direct", "kernel_version": "0123456789abcdef", "gravel": "0.1.0", "date": "2026-11-22T00:00:00Z"}
    record = {"kernel": "direct", "variant": "sp2", "features": 0, "sinks": 64, "sources": 8192, "stage": "search",
              "round": 0, "configuration": "threads=64 blocks_per_cu=1 split=1", "status": "ok", "time_s": 1e-3,
              "time_min_s": 1e-3, "spread": 0.01, "call_s": 2e-3, "samples": 9, "cost_s": 1, "reason": ""}
    return [header, record, dict(record, configuration="threads=128 blocks_per_cu=1 split=1"), dict(record, sinks=96)]


def write_log(name, lines):
    return write(name, "".join(json.dumps(line) + "\n" for line in lines))


def tree_record(n, theta):
    stages = ("keys", "sort", "build", "moments", "groups", "walk", "total")
    record = {"device": "A GPU", "model": "plummer", "mac": "relative", "n": n, "theta": theta, "moments": 2,
              "err_acc_p50": 1e-4 * theta, "err_acc_p99": 1e-3 * theta, "err_acc_above": [[1e-6, 0.9], [1e-3, 0.1]]}
    return dict(record, **{"%s_s_median" % s: 1e-3 * n for s in stages})


# Per command: plot arguments, and the JSON value whose fields are tried.
def plots_take_no_orders():
    gatelib.need_tool("gnuplot")
    log, tree = log_lines(), [tree_record(1000, 0.3), tree_record(1000, 0.5)]
    recording = {"format": "gravel-recording", "schema": 1, "device": "A GPU", "type": "gpu", "driver": "1",
                 "kernel": "direct", "kernel_version": "0", "date": "d", "variant": "sp2", "features": 0, "sinks": 64,
                 "sources": 8192, "tunables": [{"name": "threads", "builds": 1, "values": [32, 64, 128]}],
                 "built_in": [0], "rows": [[0, 3.0], [1, 2.0], [2, 1.0]]}
    done = run("plot", "tuning", write_log("good.jsonl", log), "-o", "p.svg", "--sinks", "64")
    expect(done.returncode == OK and "A GPU" in read("p.svg"), "a good log is not drawn", done)
    for at in every_field(log[:2]):
        is_text = isinstance(log[at[0]][at[1]], str)
        for by in (HOSTILE,) if is_text else (1e300, -1):
            write_log("bad.jsonl", changed(log, at, by))
            check_harmless(run("plot", "tuning", "bad.jsonl", "-o", "p.svg", "--kind", "threads"), "log %s" % (at,))
    good("plot", "tree", write("tree.json", json.dumps(tree)), "-o", "p.svg", "--kind", "theta")
    for at in every_field(tree[:1]):
        for kind in ("distribution" if "above" in at[1] else "theta",):
            bad = changed(tree, at, HOSTILE)
            check_harmless(run("plot", "tree", write("bad.json", json.dumps(bad)), "-o", "p.svg", "--kind", kind),
                           "tree %s" % (at,))
    for at in list(every_field(recording))[:12]:
        name = write("bad.json", json.dumps(changed(recording, at, HOSTILE)))
        check_harmless(run("tune", "--simulate", name, "--runs", "1", "--plot", "p.svg"), "recording %s" % (at,))
        check_harmless(run("tune", "--simulate", name, "--runs", "1", "--json"), "recording %s" % (at,))


def terminals_get_plain_text():
    name = "a\x1b]0;b\x07\x7f\u009b31m\r\b"
    for words in (("force", "-i", name), ("force", "-i", "x", "--eps", name), ("force", "-i", "x", "--order", name),
                  (name,), ("ic", name), ("force", "--" + name), ("force", "-i", "x", name, name),
                  ("profiles", "show", name), ("profiles", "validate", name), ("plot", "tuning", name, "-o", "x.png"),
                  ("ic", "plummer", "-n", "3", "-o", "no/" + name)):
        done = run(*words)
        expect(done.returncode in (USAGE, FAILURE), "accepted", done)
        check_harmless(done, repr(words))


def names_that_are_not_utf8():
    """JSON is UTF-8, whatever bytes a name has."""
    need_device()
    good("ic", "plummer", "-n", "16", "-o", "sixteen.txt")
    odd = b"odd\xff\xc3(\xed\xa0\x80\xf5 \xc3\xa9\xc2\x9b\x7f"
    shown = "odd\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffd \u00e9\u009b\x7f"
    shutil.copy(path("sixteen.txt"), os.path.join(WORK.encode(), odd))
    done = subprocess.run([PROGRAM.encode(), b"info", odd, b"--json"], cwd=WORK, capture_output=True, check=False)
    expect(done.returncode == OK, "exit status %d" % done.returncode)
    expect(b"\x7f" not in done.stdout and b"\xc2\x9b" not in done.stdout, "controls: %r" % done.stdout[:200])
    facts = json.loads(done.stdout.decode("utf-8"))
    expect(facts["file"] == shown, "the name is %r" % facts["file"])
    folder = b"folder\xff"
    done = subprocess.run([PROGRAM.encode(), b"run", b"-i", odd, b"--until", b"0.125", b"--eps", b"0.01", b"--host", b"always",
                           b"-o", folder], cwd=WORK, capture_output=True, check=False)
    expect(done.returncode == OK, "exit status %d: %r" % (done.returncode, done.stderr))
    for name in (b"run.json", b"summary.json"):
        with open(os.path.join(WORK.encode(), folder, name), "rb") as handle:
            record = json.loads(handle.read().decode("utf-8"))
        expect(record["options"]["output"] == "folder\ufffd" and record["options"]["input"] == shown, "%r" % name)
    done = subprocess.run([PROGRAM.encode(), b"run", b"--resume", folder, b"--until", b"0.25"], cwd=WORK, capture_output=True,
                          check=False)
    expect(done.returncode == OK, "the checkpoint has the name: %r" % done.stderr)


def plots_say_what_is_missing():
    one = write("one.json", json.dumps([tree_record(1000, 0.5)]))
    for kind, part in (("theta", "1 opening angle,"), ("n", "1 number of bodies,"), ("time", "1 number of bodies,"),
                       ("crossover", "0 points")):
        refused(USAGE, part, "plot", "tree", one, "-o", "p.svg", "--kind", kind)
    log = write_log("one.jsonl", log_lines()[:2])
    refused(USAGE, "1 value of threads", "plot", "tuning", log, "-o", "p.svg", "--kind", "threads")
    refused(USAGE, "1 number of sinks", "plot", "tuning", log, "-o", "p.svg", "--kind", "sinks")
    lines = write_log("odd.jsonl", log_lines())
    with open(path(lines), "ab") as handle:
        handle.write(b'{"half": \x00 1}\n{"log": 3\nnot JSON\n' + json.dumps(log_lines()[3]).encode() + b"\n")
    gatelib.need_tool("gnuplot")
    done = good("plot", "tuning", "odd.jsonl", "-o", "p.svg", "--kind", "sinks")
    expect("no records: 3, the first is line 5" in done.stderr, "no word about bad lines", done)


# --------------------------------------------------------------------- files


def with_stream_closed(number, *arguments):
    done = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, cwd=WORK, check=False,
                          preexec_fn=lambda: os.close(number))  # pylint: disable=subprocess-popen-preexec-fn
    print("$ gravel %s, descriptor %d closed -> %d" % (" ".join(arguments), number, done.returncode))
    return done


def closed_streams_catch_no_file():
    twice = write("twice.txt", "5 1 0 0 0\n5 1 1 0 0\n")
    for number in (0, 1, 2):
        done = with_stream_closed(number, "force", "-i", twice, "-m", "reference", "-o", "f.txt")
        expect(done.returncode == OK, "force with a closed stream", done)
        expect(len(read("f.txt").splitlines()) == 3 and "warning" not in read("f.txt"),
               "what belongs to a stream is in the file: " + read("f.txt"))
    done = with_stream_closed(1, "ic", "plummer", "-n", "3")
    expect(done.returncode == FAILURE and "standard output" in done.stderr, "closed standard output unnoticed", done)


def a_home_that_is_no_folder():
    need_device()
    write("no-folder", "")
    good("devices", env={"POCL_CACHE_DIR": ""})  # PoCL ends the process where it gets that
    env = {"HOME": path("no-folder")}
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "GRAVEL_PROFILE_DIR"):
        env[name] = ""
    done = good("force", cluster(50), "-p", "sp", "-o", "f.txt", env=env)
    expect("profile" not in done.stderr, "no profiles of one's own is no fault", done)
    refused(USAGE, "an argument is missing", "info")
    good("convert", cluster(50), "-o", "converted.txt")
    refused(USAGE, "a file is missing: 'gravel convert FILE", "convert", "-o", "converted.txt")
    refused(USAGE, "one file of particles, not two", "convert", cluster(50), "-i", cluster(50), "-o", "converted.txt")


def values_that_no_tunable_takes():
    good("profiles", "validate", "--shipped")
    write("own.json", good("profiles", "export", "--shipped", "H200").stdout)
    write("values.json", re.sub(r'"threads": *[0-9]+', '"threads": -1', read("own.json"), count=1))
    refused(FAILURE, "threads=-1", "profiles", "validate", "values.json")
    write("tasks.json", read("values.json").replace('"kernel": "tree"', '"kernel": "tasks"'))
    refused(FAILURE, "tasks: results left out", "profiles", "validate", "tasks.json")


def profiles_differ_from_others_only():
    """The H200's has questions that two versions of a kernel answered: the newest counts."""
    write("own.json", good("profiles", "export", "--shipped", "H200").stdout)
    entries = json.loads(read("own.json"))["devices"][0]["entries"]
    questions = {tuple(e[k] for k in ("kernel", "variant", "features", "sinks", "sources")) for e in entries}
    done = good("profiles", "diff", "own.json", "own.json")
    expect("%d entries compared: 0 with another configuration, 0 with a time that differs by more than 5 %%; 0 only in the "
           "first, 0 only in the second" % len(questions) in done.stdout, "a file and itself", done)
    done = good("profiles", "merge", "own.json", "own.json")
    expect(done.stdout == read("own.json"), "a file joined with itself is another")
    data = json.loads(read("own.json"))
    max(data["devices"][0]["entries"], key=lambda e: e["date"])["results"][0]["time_s"] *= 2
    write("other.json", json.dumps(data))
    done = good("profiles", "diff", "own.json", "other.json")
    expect("+100.0 %" in done.stdout and "the same" in done.stdout, "a time that was doubled", done)


def special_files_stay():
    os.mkfifo(path("pipe"))
    write("own.json", good("profiles", "export", "--shipped", "H200").stdout)
    write("target.json", "old\n")
    os.symlink("target.json", path("link.json"))
    reader = os.open(path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
    for command in (("profiles", "export", "--shipped", "-o"), ("profiles", "merge", "own.json", "-o")):
        child = subprocess.Popen([PROGRAM, *command, "pipe"], cwd=WORK)
        while child.poll() is None:
            try:
                os.read(reader, 65536)
            except BlockingIOError:
                time.sleep(0.01)
        expect(child.returncode == OK and stat.S_ISFIFO(os.lstat(path("pipe")).st_mode), "a pipe was replaced")
        good(*command, "link.json")
        expect(os.path.islink(path("link.json")) and len(read("target.json")) > 100, "a link was replaced")
    os.close(reader)


def left_over(name):
    return [f for f in os.listdir(WORK) if f.startswith(name + ".")]


def disks_run_full():
    if not os.path.exists("/dev/full"):
        raise gatelib.Skipped("no /dev/full")
    for end in ("json", "png", "svg"):
        os.symlink("/dev/full", path("full." + end))
    log = write_log("good.jsonl", log_lines())
    commands = [("profiles", "export", "--shipped", "-o", "full.json"),
                ("profiles", "merge", write("own.json", good("profiles", "export", "--shipped", "H200").stdout), "-o",
                 "full.json")]
    if shutil.which("gnuplot"):
        commands += [("plot", "tuning", log, "-o", "full.png", "--kind", "threads"),
                     ("plot", "tuning", log, "-o", "full.svg", "--kind", "threads")]
    for command in commands:
        refused(FAILURE, "No space left", *command)
        expect("/dev/full" in run(*command).stderr, "the file is not named")
    done = run("model", "-n", "1000", "--ranks", "1", "-o", "full.json")
    expect(done.returncode == FAILURE and "No space left" in done.stderr, "full disk unnoticed: model", done)
    with open("/dev/full", "w", encoding="utf-8") as full:
        for command in (("profiles", "list"), ("info", path(cluster(50)), "--json"), ("profiles", "export", "--shipped"),
                        ("tune", "--simulate", "--runs", "1", "--json")):
            done = subprocess.run([PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            expect(done.returncode == FAILURE and "No space left" in done.stderr,
                   "full disk unnoticed: %s" % " ".join(command))
    write("out.txt", "precious\n")
    refused(FAILURE, "No space left", "force", cluster(50), "-m", "reference", "-o", "out.txt", "--report", "full.json")
    expect(read("out.txt") == "precious\n" and not left_over("out.txt"), "new forces without their report")


def places_are_looked_at_first():
    """Where results cannot be written nothing is measured; where the disk is full at the end they are shown at least."""
    need_device()
    name = cluster(50)
    for words in (("bench", "direct"), ("bench", "tree"), ("bench", "periodic", "-n", "64"), ("tune", "--regret", "--plot"),
                  ("plot", "energy", "none"), ("model", "-n", "1000", "--ranks", "1"), ("profiles", "export", "--shipped")):
        words += () if words[-1] == "--plot" else ("-o",)
        refused(FAILURE, "cannot write no/such.png: No such file", *words, "no/such.png")
    refused(FAILURE, "Is a directory", "bench", "tree", "-o", ".")
    for first, second in (("both.txt", "./both.txt"), ("-", "-")):
        refused(USAGE, "both would be written to", "force", name, "-o", first, "--report", second)
    refused(USAGE, "--spectrum and --groups", "analyse", "none.hdf5", "--spectrum", "both.txt", "--groups", "both.txt")
    good("force", name, "-m", "reference", "-o", "/dev/null", "--report", "/dev/null")
    expect(not left_over("both.txt") and not os.path.exists(path("both.txt")), "a file was left")
    if os.path.exists("/dev/full"):
        done = run("bench", "transfer", "-n", "100", "--repeats", "1", "-o", "/dev/full")
        expect(done.returncode == FAILURE and "No space left" in done.stderr and "GB/s" in done.stdout, "lost", done)


def files_have_a_limit():
    """`ulimit -f`: a write beyond it would end the program by SIGXFSZ, where that is not ignored."""
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    particles = path(cluster(50))
    for name, command in (("l.txt", ("ic", "plummer", "-n", "100")), ("l.hdf5", ("ic", "plummer", "-n", "100")),
                          ("l.txt", ("force", particles, "-m", "reference"))):
        if name.endswith("hdf5") and run("ic", "plummer", "-n", "2", "-o", "two.hdf5").returncode != OK:
            continue  # built without HDF5
        done = subprocess.run([PROGRAM, *command, "-o", name], cwd=WORK, capture_output=True, text=True, check=False,
                              preexec_fn=limited)
        expect(done.returncode == FAILURE and name in done.stderr and "File too large" in done.stderr,
               "a file beyond the limit: %s: %s" % (command, done))
        expect(not os.path.exists(path(name)) and not left_over(name), "half a file stays")


def leftovers_go():
    for name in ("f.txt.gravel-0123456789ab", "f.txt.gravel-notes", "f.txt.gravel-0123456789abc",
                 "f.txt.gravel-ba9876543210", "g.txt.gravel-0123456789ab"):
        write(name, "x\n")
    with open(path("f.txt.gravel-ba9876543210"), encoding="utf-8") as busy:
        fcntl.flock(busy, fcntl.LOCK_EX)
        good("ic", "plummer", "-n", "3", "-o", "f.txt")
        there = sorted(f for f in os.listdir(WORK) if ".txt.gravel-" in f)
    expect(there == ["f.txt.gravel-0123456789abc", "f.txt.gravel-ba9876543210", "f.txt.gravel-notes",
                     "g.txt.gravel-0123456789ab"], "left over or removed: " + " ".join(there))
    for name in there:
        os.unlink(path(name))


def tuning_keeps_its_log():
    need_device()
    log = write_log("kept.jsonl", log_lines())
    before = read(log)
    base = ("tune", "--variant", "sp2", "--evaluations", "1", "--sinks", "64", "--sources", "1024", "--log", log)
    refused(USAGE, "no tunable 'foo' (threads, ", *base, "--only", "foo=3")
    refused(FAILURE, "no/such", *base, "--record", "no/such/file.json")
    write("a file", "")
    refused(FAILURE, "a file", *base, "--profile-dir", "a file/x")
    with open(path(log), encoding="utf-8") as busy:
        fcntl.flock(busy, fcntl.LOCK_EX)
        refused(FAILURE, "another `gravel tune`", *base, "--profile-dir", "p")
    expect(read(log) == before and not os.path.exists(path(log + ".old")), "the log lost its name")


def one_thing_at_a_time():
    need_device()
    for words, part in ((("--simulate", "--regret"), "--simulate and --regret"), (("--list", "--record", "r.json"), "--list and"),
                        (("--plot", "p.svg"), "--plot is for --simulate"), (("--regret", "--plot", "p.gif"), "p.gif: a plot is"),
                        (("--kernel", "tree", "--sources", "1"), "a body alone has no force"),
                        (("--theta", "0.3"), "--theta is for --regret"), (("--most", "3"), "--most is for --regret")):
        refused(USAGE, part, "tune", *words)
    done = run("tune", "--variant", "sp2", "--plain", "--sinks", "64", "--sources", "1024", "--evaluations", "1", "--log",
               "none.jsonl", "--candidate-time", "0.000001", "--profile-dir", "none")
    expect(done.returncode == FAILURE and "a longer --candidate-time" in done.stderr and not os.listdir(path("none")),
           "nothing that works, but", done)
    refused(FAILURE, "keeps nothing of these variants", "tune", "--cross", "--variant", "sp2", "--plain", "--sinks", "7", "--log",
            "none.jsonl", "--profile-dir", "none")


def tune_speaks_json():
    """--list and a tuning itself, too: nothing but JSON on standard output."""
    need_device()
    space = json.loads(good("tune", "--list", "--variant", "sp2,ds4", "--plain", "--json").stdout)
    expect([v["variant"] for v in space["variants"]] == ["sp2", "ds4"] and space["variants"][0]["may_run"] > 0 and
           any(t["tunable"] == "threads" and 64 in t["values"] for t in space["tunables"]), "the space: %s" % space)
    base = ("tune", "--variant", "sp2", "--plain", "--sinks", "64", "--sources", "1024", "--evaluations", "1", "--json", "--log",
            "json.jsonl", "--profile-dir", "json")
    done = run(*base)
    told = json.loads(done.stdout)
    expect(done.returncode == OK and told["questions_done"] == 1 and not told["interrupted"] and
           told["profile"].startswith("json/") and told["questions"][0]["sources"] == 1024 and
           told["questions"][0]["time_s"] > 0 and "threads=" in told["questions"][0]["configuration"], "the tuning", done)


def a_first_call_speaks():
    """On a terminal: what takes more than two seconds says that it compiles; a check says which run it is at, a
    benchmark which size, a periodic box which part of its forces.  The program is halted for these seconds while it
    compiles or begins, however fast the machine is; which size or run it is at after two seconds depends on that.  CI
    has all programs, else there are two."""
    need_device()
    name = cluster(300)
    box = write("box.txt", "".join("%d 0.01 %g %g %g\n" % (k, k % 10 + 0.5, k // 10 % 10 + 0.5, k // 100 + 0.5) for k in range(300)))
    for words, part, cache in ((("force", name, "--order", "6", "-o", "f.txt"), r"compiling kernels \(once per device\), \d+ of \d+", "a"),
                               (("bench", "blocks", "-n", "64,128", "--blocks", "5"), "measuring: size [12] of 2", "b"),
                               (("check", "--quick", "--variant", "sp2"), r": run \d+ of \d\d", "c"),
                               (("force", box, "--periodic", "10", "--mesh", "16", "-o", "f.txt"),
                                r"forces \(kernels are compiled once per device\): part [123] of 3", "d"))[:4 if gatelib.LONG else 2]:
        kept, compiled = path("cold-" + cache), path("cold-pocl-" + cache)
        env = dict(os.environ, GRAVEL_CACHE_DIR=kept, POCL_CACHE_DIR=compiled)
        os.makedirs(compiled)
        process, main_end = on_terminal(*words, env=env)
        while process.poll() is None and not os.path.exists(kept) and not os.listdir(compiled):
            time.sleep(0.005)
        if process.poll() is not None:
            raise gatelib.Skipped("it ended before it could be halted")
        process.send_signal(signal.SIGSTOP)
        time.sleep(2.5)
        process.send_signal(signal.SIGCONT)
        said = said_until(part, process, main_end)
        expect(re.search(part, said), "silent: %r" % said[:300])


# ------------------------------------------------------------------- signals


def left_to_one(pid, number):
    """Whether the threads leave the signal to the one that waits for it: handlers that an OpenCL driver puts over ours
    then have no effect.  True where that cannot be seen."""
    takers = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/status" % (pid, task), encoding="ascii") as handle:
                mask = int(re.search(r"^SigBlk:\s*([0-9a-f]+)", handle.read(), re.M).group(1), 16)
            takers += [int(task)] if not mask >> (number - 1) & 1 else []  # the one that waits has it open meanwhile
    except OSError:  # it ended, or there is no /proc
        return True
    return pid not in takers and len(takers) <= 1


def stopped(numbers, begun, *arguments, env=None, group=False):
    """Starts the program, waits until begun() holds, sends the signals (to its children too); what it said."""
    more = dict(os.environ, **(env or {}))
    process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=WORK, env=more, preexec_fn=by_default, start_new_session=True)
    deadline = time.monotonic() + 300
    while not begun() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    safe = all(left_to_one(process.pid, number) for number in numbers)
    for number in numbers:
        (os.killpg if group else os.kill)(process.pid, number)
    try:
        output, message = process.communicate(timeout=300)
    except subprocess.TimeoutExpired as late:
        process.kill()
        raise Failed("does not stop") from late
    print("$ gravel %s, signals %s -> %d" % (" ".join(arguments), numbers, process.returncode))
    expect(safe, "a thread takes signals by itself")
    expect(process.returncode == 128 + numbers[0], "exit status %d: %s" % (process.returncode, message))
    return output, message


def signals_leave_nothing():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        write("big.txt", "precious\n")
        stopped([number], lambda: left_over("big.txt"), "ic", "plummer", "-n", "5M", "-o", "big.txt")
        expect(read("big.txt") == "precious\n" and not left_over("big.txt"), "a part was left, or the file was lost")
    # a drawing program that never ends is ended with ours
    os.makedirs(path("bin"), exist_ok=True)
    write("bin/gnuplot", "#!/bin/sh\ngrep SigBlk /proc/self/status > %s\necho $$ > %s\nexec sleep 1000\n" %
          (path("blocked"), path("pid")))
    os.chmod(path("bin/gnuplot"), 0o755)
    log = write_log("good.jsonl", log_lines())
    env = {"PATH": path("bin") + ":" + os.environ["PATH"]}
    stopped([signal.SIGTERM], lambda: os.path.exists(path("pid")) and read("pid").strip(), "plot", "tuning", log, "-o",
            "big.png", "--kind", "threads", env=env)
    expect(not left_over("big.png"), "a part of a plot was left")
    expect(not read("blocked").strip("SigBlk:\t0\n"), "gnuplot has signals blocked: " + read("blocked"))
    try:
        os.kill(int(read("pid")), signal.SIGKILL)
    except ProcessLookupError:
        return
    raise Failed("gnuplot goes on without us")


def a_stopped_check_has_no_verdict():
    need_device()
    # a cache of its own: the first kernel takes the compiler seconds
    env = {"GRAVEL_CACHE_DIR": path("cold"), "POCL_CACHE_DIR": path("cold-pocl")}
    os.makedirs(path("cold-pocl"))
    output, message = stopped([signal.SIGTERM], lambda: os.path.exists(path("cold")) or os.listdir(path("cold-pocl")),
                              "check", "--quick", env=env)
    expect("PASS" not in output.replace("PASS:", "") and "no verdict" in output + message,
           "a verdict of a check that was stopped: %s%s" % (output, message))


def a_stopped_tuning_keeps_what_it_found():
    need_device()
    log = "tuned.jsonl"
    _, message = stopped([signal.SIGTERM], lambda: os.path.exists(path(log)) and len(read(log).splitlines()) > 2,
                         "tune", "--variant", "sp2", "--sinks", "64", "--sources", "1024", "--log", log, "--evaluations",
                         "1000", "--profile-dir", "profiles", group=True)
    expect("stopped on request" in message, "does not say what was kept: " + message)
    found = [json.loads(line) for line in read(log).splitlines()[1:]]
    expect([one["status"] for one in found[:2]] == ["ok", "ok"], "what was found is lost")
    expect(not [one for one in found if "process" in one.get("reason", "")], "a worker ended before us: %s" % found[-1])
    before = len(read(log).splitlines())
    stopped([signal.SIGINT, signal.SIGINT], lambda: len(read(log).splitlines()) > before, "tune", "--variant", "sp2",
            "--sinks", "64", "--sources", "1024", "--log", log, "--evaluations", "1000", "--resume", "--profile-dir",
            "profiles")


def main():
    gatelib.need_file(PROGRAM)
    try:
        return gatelib.main([plots_take_no_orders, terminals_get_plain_text, names_that_are_not_utf8, plots_say_what_is_missing,
                             closed_streams_catch_no_file, a_home_that_is_no_folder, values_that_no_tunable_takes,
                             profiles_differ_from_others_only, special_files_stay, disks_run_full, places_are_looked_at_first, files_have_a_limit, leftovers_go, tuning_keeps_its_log, one_thing_at_a_time, tune_speaks_json, a_first_call_speaks,
                             signals_leave_nothing, a_stopped_check_has_no_verdict, a_stopped_tuning_keeps_what_it_found])
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
