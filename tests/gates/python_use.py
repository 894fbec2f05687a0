"""The Python package used carelessly: objects that go too early, nothing at all, arrays that do not fit.

Run by gate_languages.py, with numpy; every case that is wrong ends it with a message.
"""
import gc

import numpy as np

import gravel

N = 200
rng = np.random.default_rng(3)
POS, MASS = rng.normal(size=(N, 3)), np.full(N, 1 / N)


def refused(error, part, call):
    try:
        call()
    except error as why:
        assert part in str(why), "%r is not in %r" % (part, str(why))
        return
    raise AssertionError("accepted, without a word of " + part)


def objects_that_go_too_early():
    """A call in flight keeps all that it needs."""
    bodies = gravel.Bodies(position=POS, mass=MASS)
    expected = gravel.Direct().forces(bodies.all(), bodies.all(), 0.1).acc
    ticket = gravel.Direct().start(bodies.all(), bodies.all(), 0.1)
    gc.collect()
    assert np.array_equal(ticket.collect().acc, expected)
    ticket = gravel.Direct().start(gravel.Bodies(position=POS, mass=MASS).all(), bodies.list(np.arange(N)), 0.1)
    gc.collect()
    assert ticket.collect().acc.shape == (N, 3)
    tree = gravel.Tree()
    tree.set_sources(bodies.all())
    ticket = tree.start(bodies.all(), 0.1)
    del tree
    gc.collect()
    # theta 0.5 means about 1e-4 of a typical acceleration
    error = np.linalg.norm(ticket.collect().acc - expected, axis=1) / np.linalg.norm(expected, axis=1)
    assert np.median(error) < 1e-3


def nothing():
    bodies, empty = gravel.Bodies(position=POS, mass=MASS), gravel.Bodies()
    direct, tree = gravel.Direct(), gravel.Tree()
    tree.set_sources(bodies.all())
    for sinks in (bodies.list([]), bodies.range(0, 0), bodies.range(N, 0), np.zeros((0, 3)), empty.all()):
        for forces in (direct.forces(bodies.all(), sinks, 0.1), tree.forces(sinks, 0.1)):
            assert forces.acc.shape == (0, 3) and forces.pot.shape == (0,)
    assert not direct.forces(empty.all(), bodies.all(), 0.1).acc.any()
    for method in ("direct", "tree"):
        acc, pot = gravel.forces([], np.zeros((0, 3)), method=method)
        assert acc.shape == (0, 3) and pot.shape == (0,)
        acc, pot = gravel.forces([1.0], [[1.0, 2.0, 3.0]], method=method)
        assert not acc.any() and not pot.any()
    bodies.write("position", np.zeros((0, 3)))
    assert bodies.read("mass", addresses=[]).shape == (0,)


def what_does_not_fit():
    bodies = gravel.Bodies(position=POS, mass=MASS)
    direct = gravel.Direct()
    refused(ValueError, "(3,) and (200, 3)", lambda: gravel.forces(MASS[:3], POS))
    refused(ValueError, "() and (200, 3)", lambda: gravel.forces(1.0, POS))
    refused(ValueError, "(3, 200)", lambda: gravel.forces(MASS, POS.T))
    refused(ValueError, "there are 200", lambda: bodies.read("mass", first=-1))
    refused(ValueError, "there are 200", lambda: bodies.read("mass", first=N + 1))
    refused(gravel.GravelError, "there are 200", lambda: bodies.read("mass", 0, N + 1))
    refused(gravel.GravelError, "there are 200", lambda: direct.forces(bodies.all(), bodies.list([N])))
    refused(gravel.GravelError, "not a number", lambda: gravel.forces(MASS, np.full((N, 3), np.nan)))
    refused(ValueError, "in planes", lambda: direct.forces(bodies.all(), bodies.all(), into="planes"))
    refused(ValueError, "32 bits", lambda: bodies.write("id", np.full(N, 2**40)))
    refused(gravel.GravelError, "no device fits", lambda: gravel.Context("no such thing"))
    # arrays in any order and width are taken as they are
    expected = gravel.forces(MASS, POS, 0.1)[1]
    assert np.array_equal(gravel.forces(MASS, np.asfortranarray(POS), 0.1)[1], expected)
    assert np.array_equal(gravel.forces(MASS, np.repeat(POS, 2, axis=0)[::2], 0.1)[1], expected)
    assert np.array_equal(gravel.forces(list(MASS), POS.tolist(), 0.1)[1], expected)


for case in (objects_that_go_too_early, nothing, what_does_not_fit):
    case()
    print(case.__name__)
