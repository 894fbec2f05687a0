#!/usr/bin/env python3
"""The strategies of another tuner, Kernel Tuner, on gravel's recordings: what `gravel tune --simulate` says of gravel's.

    python3 -m venv FOLDER && FOLDER/bin/pip install kernel_tuner==1.5.0
    FOLDER/bin/python bench/other_tuner.py -o bench/results/kernel_tuner.json

Each recording becomes a cache file of Kernel Tuner's simulation mode.  Its space is the recorded points; those that
failed are errors and cost an evaluation, as in gravel.  Quality is the best time of all over the best time found, after
30 and 50 different points; median and worst tenth are taken over the seeds as in src/tuner/simulate.c.  Strategies that
take a start begin once from a point of their own and once from the configuration that gravel's begin from ("from":
"default")."""
import argparse
import contextlib
import datetime
import glob
import importlib.metadata
import io
import json
import math
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import unittest.mock
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
MARKS = (30, 50)
STRATEGIES = ["mls", "greedy_mls", "greedy_ils", "hybrid_vndx", "adaptive_tabu_greywolf", "genetic_algorithm",
              "simulated_annealing", "firefly_algorithm", "bayes_opt", "random_sample"]
LIMIT_S = 2  # of processor time: some strategies go round in circles where a space has holes; a search takes 0.05
NO_START = {"hybrid_vndx", "adaptive_tabu_greywolf", "bayes_opt", "random_sample"}

try:
    import numpy
    import kernel_tuner.interface
    import kernel_tuner.runners.simulation
    import kernel_tuner.searchspace
    from kernel_tuner.util import FunctionConstraint
except ImportError as error:
    sys.exit("other_tuner.py: %s: run it with the Python of an environment where `pip install kernel_tuner==1.5.0` was "
             "done" % error)


class Recording:
    """One file of tuning_db/recordings, less the tunables that have one value."""

    def __init__(self, path, folder):
        with open(path, encoding="utf-8") as handle:
            data = json.load(handle)
        if data.get("format") != "gravel-recording":
            sys.exit("other_tuner.py: %s is no recording: `gravel tune --record FILE` makes one" % path)
        self.name = os.path.splitext(os.path.basename(path))[0]
        used = [d for d, tunable in enumerate(data["tunables"]) if len(tunable["values"]) > 1]
        names = [data["tunables"][d]["name"] for d in used]
        self.values = {data["tunables"][d]["name"]: data["tunables"][d]["values"] for d in used}

        def point(row):
            return tuple(data["tunables"][d]["values"][row[d]] for d in used)

        self.time = {point(row): row[-1] if row[-1] > 0 else math.inf for row in data["rows"]}
        self.best = min(self.time.values())
        self.default = point(data["built_in"]) if data["built_in"] else None
        cache = {"device_name": data["device"], "kernel_name": data["kernel"], "problem_size": [data["sinks"]],
                 "tune_params_keys": names, "tune_params": self.values, "objective": "time", "cache": {}}
        for at, time in self.time.items():
            entry = dict(zip(names, at), time=time)
            if math.isinf(time):
                entry.update(time="RuntimeFailedConfig", __error__="RuntimeFailedConfig")
            cache["cache"][",".join(map(str, at))] = entry
        self.cache = os.path.join(folder, self.name + ".json")
        with open(self.cache, "w", encoding="utf-8") as handle:
            json.dump(cache, handle)
        self.task = {"kernel_name": data["kernel"], "kernel_source": "", "problem_size": (data["sinks"],),
                     "arguments": [], "tune_params": self.values, "cache": self.cache, "simulation_mode": True,
                     "lang": "C", "quiet": True}
        known = self.time
        self.space = kernel_tuner.searchspace.Searchspace(
            self.values, [FunctionConstraint(lambda *at: at in known)], 1 << 30)

    def search(self, strategy, start, seed):
        """Quality after 1 ... 50 different points."""
        random.seed(seed)
        numpy.random.seed(seed)
        options = {"max_fevals": min(MARKS[-1], len(self.time))}
        if start:
            options["x0"] = list(self.default)
        order = []
        run = kernel_tuner.runners.simulation.SimulationRunner.run

        def note(runner, points, tuning_options):
            points = list(points)
            order.extend(tuple(at) for at in points)
            return run(runner, points, tuning_options)

        # the space takes longer to list than a search: it is the same for all
        with unittest.mock.patch.object(kernel_tuner.interface, "Searchspace", lambda *_, **__: self.space), \
                unittest.mock.patch.object(kernel_tuner.runners.simulation.SimulationRunner, "run", note), \
                contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(TimeoutError):
            signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
            kernel_tuner.interface.tune_kernel(**self.task, strategy=strategy, strategy_options=options)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        found, quality = math.inf, []
        for at in dict.fromkeys(at for at in order if at in self.time):
            found = min(found, self.time[at])
            quality.append(self.best / found)
        # a search that ends early keeps what it has
        return (quality + quality[-1:] * MARKS[-1])[:MARKS[-1]], min(len(quality), MARKS[-1])


TASKS = []


def stop(*_):
    raise TimeoutError


def take(tasks):
    TASKS.extend(tasks)
    signal.signal(signal.SIGVTALRM, stop)


def summary(which):
    """Of one strategy on one recording: what goes into the file, and why there is nothing."""
    recording, strategy, start, seeds = TASKS[which]
    try:
        curves, points = zip(*(recording.search(strategy, start, seed) for seed in range(1, seeds + 1)))
    except Exception as error:  # whatever a strategy of theirs fails with: said, and the others go on
        return None, "%s, %s: left out: %r" % (recording.name, strategy, error)
    marks = []
    for mark in MARKS:
        column = sorted(curve[mark - 1] for curve in curves)
        marks.append({"evaluations": mark, "median": round(column[(seeds - 1) // 2], 5),
                      "worst_tenth": round(column[(seeds - 1) // 10], 5)})
    return {"recording": recording.name, "strategy": strategy, "from": "default" if start else "anywhere",
            "seeds": seeds, "fewest_points": min(points), "after": marks}, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="recordings; those of tuning_db/recordings if none is named")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="names with commas between them")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-o", "--output", help="JSON; else standard output")
    arguments = parser.parse_args()
    files = arguments.files or sorted(glob.glob(os.path.join(HERE, "..", "tuning_db", "recordings", "*.json")))
    warnings.simplefilter("ignore")
    tasks = []
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            recording = Recording(path, folder)
            for strategy in arguments.strategies.split(","):
                tasks.append((recording, strategy, False, arguments.seeds))
                if strategy not in NO_START and recording.default is not None:
                    tasks.append((recording, strategy, True, arguments.seeds))
        results = []
        # processes that fork: the spaces are theirs, too
        with multiprocessing.get_context("fork").Pool(arguments.jobs, take, (tasks,), maxtasksperchild=1) as pool:
            for result, why in pool.imap(summary, range(len(tasks)), chunksize=1):
                print(why or json.dumps(result), file=sys.stderr)
                if result is not None:
                    results.append(result)
    text = json.dumps({"tuner": "Kernel Tuner " + importlib.metadata.version("kernel_tuner"),
                       "date": datetime.date.today().isoformat(), "results": results})
    text = text.replace('{"recording"', '\n{"recording"') + "\n"
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as handle:
            handle.write(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
