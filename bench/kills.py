#!/usr/bin/env python3
"""A week in small: `gravel run` killed at random moments and resumed, thousands of times; and its memory over many blocks.

    bench/kills.py --kills 10000 -o kills.json
    bench/kills.py --blocks 1e6 -o memory.json

Kills: runs of 64 bodies of three kinds (Hermite on the device, Hermite by the host, leapfrog with the tree), in turn.  Each
is killed with SIGKILL after a random time, resumed and killed again until it comes to its end; then all it has written must
be, byte for byte, what a run has written that was never killed.  Times are drawn up to a limit that grows with each kill and
falls with each end, so that some runs end however busy the machine is.
Blocks: resident memory of one long run, read every second; what it had after a tenth of the blocks and at the end."""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

KINDS = {
    "hermite on the device": ["--until", "0.25", "--host", "never", "--eps", "0.01"],
    "hermite by the host": ["--until", "2", "--host", "always", "--order", "6", "--eps", "0.01"],
    "leapfrog and tree": ["--until", "0.5", "--solver", "tree", "--eps", "0.05", "--rebuild", "1.5"],
}
OUTPUTS = ["--diagnose-every", "0.0625", "--snapshot-every", "0.125", "--snapshot-format", "text", "--checkpoint-every", "0.02"]
# with wall times or the name of the folder in them
OF_THE_MOMENT = ("summary.json", "run.json", "checkpoint.gvc")


def start(program, *arguments):
    return subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(child):
    words = child.communicate()[1]
    if child.returncode != 0:
        sys.exit("%s ended with status %d: %s" % (" ".join(child.args), child.returncode, words))


def content(folder):
    files = {}
    for name in sorted(os.listdir(folder)):
        if name not in OF_THE_MOMENT:
            with open(os.path.join(folder, name), "rb") as handle:
                files[name] = handle.read()
    return files


class Kind:
    def __init__(self, program, ic, folder, name, options):
        self.program, self.name, self.folder = program, name, folder
        self.begin = ["run", "-i", ic, "-o", folder, "--replace", *options, *OUTPUTS]
        finish(start(program, *self.begin))  # compiles
        since = time.monotonic()
        finish(start(program, *self.begin))
        self.whole = self.limit = time.monotonic() - since
        self.wanted = content(folder)
        self.kills = self.ended = 0
        shutil.rmtree(folder)

    def turn(self):
        """One kill, or an end that came before it."""
        command = ["run", "--resume", self.folder] if os.path.exists(self.folder + "/run.json") else self.begin
        child = start(self.program, *command)
        try:
            child.wait(timeout=random.uniform(0, self.limit))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
        if child.wait() == -signal.SIGKILL:
            self.kills += 1
            self.limit *= 1.03
            child.stderr.close()
            return
        finish(child)
        self.compare()

    def compare(self):
        found = content(self.folder)
        for name in sorted(set(found) | set(self.wanted)):
            if found.get(name) != self.wanted.get(name):
                kept = shutil.copytree(self.folder, tempfile.mkdtemp(prefix="gravel_differs_") + "/run")
                sys.exit("%s, after %d kills: %s differs: see %s" % (self.name, self.kills, name, kept))
        self.ended += 1
        self.limit *= 0.7
        shutil.rmtree(self.folder)


def kill(options, folder, ic):
    random.seed(options.seed)
    kinds = [Kind(options.program, ic, os.path.join(folder, "run%d" % k), name, more)
             for k, (name, more) in enumerate(KINDS.items())]
    since = time.monotonic()
    while sum(kind.kills for kind in kinds) < options.kills:
        for kind in kinds:
            kind.turn()
        write(options.output, kinds, options.seed, time.monotonic() - since)
    for kind in kinds:  # the last of each goes to its end
        finish(start(options.program, *(["run", "--resume", kind.folder] if os.path.exists(kind.folder + "/run.json")
                                        else kind.begin)))
        kind.compare()
    return write(options.output, kinds, options.seed, time.monotonic() - since)


def write(output, kinds, seed, seconds):
    result = {"seed": seed, "kills": sum(kind.kills for kind in kinds), "ended_with_equal_bits": sum(k.ended for k in kinds),
              "seconds": round(seconds), "kinds": {k.name: {"kills": k.kills, "ended_with_equal_bits": k.ended,
                                                            "whole_run_s": round(k.whole, 3)} for k in kinds}}
    return put(output, result)


def put(output, result):
    text = json.dumps(result, indent=2)
    if output:
        with open(output + ".tmp", "w") as handle:
            handle.write(text + "\n")
        os.replace(output + ".tmp", output)
    return text


def resident(pid):
    with open("/proc/%d/status" % pid) as handle:
        return int(re.search(r"VmRSS:\s+(\d+) kB", handle.read()).group(1))


def watch(options, folder, ic):
    """Blocks of 64 bodies by the host: some 3500 in a unit of time."""
    run = os.path.join(folder, "long")
    child = start(options.program, "run", "-i", ic, "-o", run, "--replace", "--until", repr(options.blocks / 3500), "--host",
                  "always", "--eps", "0.05", "--snapshot-format", "text", "--checkpoint-every", "2")
    memory = []
    while child.poll() is None:
        try:
            memory.append(resident(child.pid))
        except (OSError, AttributeError):  # it has just ended
            break
        time.sleep(options.every)
    finish(child)
    with open(run + "/summary.json") as handle:
        summary = json.load(handle)
    tenth = memory[len(memory) // 10]
    return put(options.output, {"blocks": summary["blocks"], "steps": summary["steps"], "seconds": summary["wall_s"],
                                "memory_kB": {"after_a_tenth": tenth, "most_later": max(memory[len(memory) // 10:]),
                                              "at_the_end": memory[-1]}, "readings": len(memory)})


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default="build/bin/gravel")
    options.add_argument("--kills", type=int, default=0)
    options.add_argument("--blocks", type=float, default=0)
    options.add_argument("--every", type=float, default=1, help="seconds between two readings of the memory")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("-o", "--output", help="JSON; written anew after each kill")
    given = options.parse_args()
    given.program = os.path.abspath(given.program)
    with tempfile.TemporaryDirectory(prefix="gravel_kills_") as folder:
        ic = os.path.join(folder, "ic.txt")
        finish(start(given.program, "ic", "plummer", "-n", "64", "--seed", "5", "-o", ic))
        if given.kills:
            print(kill(given, folder, ic))
        if given.blocks:
            print(watch(given, folder, ic))


if __name__ == "__main__":
    main()
