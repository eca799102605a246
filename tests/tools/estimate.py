#!/usr/bin/env python3
"""Estimates every key that a secure parameter set publishes, by every attack of the lattice estimator.

    git clone https://github.com/malb/lattice-estimator && git -C lattice-estimator checkout 27a581b
    python3 -m venv venv && venv/bin/pip install passagemath-flint==10.8.13 passagemath-symbolics==10.8.13 scipy numpy
    cargo test -p refloat-tests --test sets -- --ignored --nocapture print_the_instances \
        | venv/bin/python tests/tools/estimate.py lattice-estimator

Instances, as JSON objects one a line, are read from standard input; other lines are passed over. Each attack that
tests/vectors/security.json does not have is estimated and added, one after the other, so that a run can be stopped and taken up;
an entry that no instance asks for any more is removed at the end. `--again` estimates all of them anew.

Short keys and rings of 2^10 take a minute each, large rings some minutes, sparse secrets in them longest: the hybrid attacks
search over thousands of guessed coordinates.

The estimator runs on Sage; passagemath is Sage in pip's packages, which lack the module `sage.all` that the estimator imports:
it is put together here. Python 3.11.
"""

import argparse
import importlib
import json
import math
import pathlib
import subprocess
import sys
import time
import types
from functools import partial

COMMIT = "27a581b"
VECTOR = pathlib.Path(__file__).parent.parent / "vectors" / "security.json"
NOTE = (
    "malb/lattice-estimator, its default cost model (MATZOV) and shape (GSA), classical; log2 of rop. Made by "
    "tests/tools/estimate.py. A block-sparse secret is estimated as a sparse one of the same weight; the core takes less for it. "
    "null: the attack cannot be mounted, or costs more than 2^1000."
)


def estimator(folder):
    """The package, with `sage.all` made of passagemath's parts."""
    sage = types.ModuleType("sage.all")
    for part in ("categories", "modules", "ntl", "flint", "gsl", "symbolics"):
        names = vars(importlib.import_module(f"sage.all__sagemath_{part}"))
        vars(sage).update((name, value) for name, value in names.items() if not name.startswith("__"))
    sage.line = None  # of a plot
    # To compare symbolic expressions of large moduli, such as log(2^808), takes parts of Sage that are not there.
    sage.log, sage.sqrt = numeric(sage, sage.log), numeric(sage, sage.sqrt)
    sys.modules["sage.all"] = sage
    head = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout
    if head and not head.startswith(COMMIT):
        sys.exit(f"{folder} is at {head.strip()}; check out {COMMIT}")
    sys.path.insert(0, str(folder))
    return importlib.import_module("estimator")


def numeric(sage, function):
    """The function with 256 bits where it would give a symbolic expression."""

    def evaluated(*arguments, **options):
        result = function(*arguments, **options)
        return sage.RealField(256)(result) if hasattr(result, "pyobject") else result

    return evaluated


class Shape:
    """Squared lengths of a basis of the geometric series, as an array of their logarithms to base 2."""

    def __init__(self, log):
        self.log = log

    def __len__(self):
        return len(self.log)

    def __getitem__(self, part):
        return Shape(self.log[part])


def vectorise():
    """The estimator's loops over the vectors of a basis by numpy: the same numbers, hours sooner for large rings."""
    numpy, special = importlib.import_module("numpy"), importlib.import_module("scipy.special")
    primal, simulator, prob = (importlib.import_module(f"estimator.{name}") for name in ("lwe_primal", "simulator", "prob"))
    sage = sys.modules["sage.all"]
    geometric, babai, mitm = simulator.GSA, prob.babai, prob.mitm_babai_probability

    def fast_geometric(d, n, q, beta, xi=1, tau=1, dual=False):
        assert 2 <= beta <= d and not tau
        volume = float(sage.RR(sage.log(q, 2) * (d - n) + sage.log(xi, 2) * n))
        delta = float(sage.RR(sage.log(primal.deltaf(beta), 2)))
        return Shape(2 * ((d - 1 - 2 * numpy.arange(d)) * delta + volume / d))

    def fast_babai(shape, norm):
        ratio = numpy.minimum(numpy.exp2(numpy.minimum(shape.log - 2 * math.log2(2 * norm), 1)), 1)
        return float(numpy.prod(1 - special.betainc((len(shape) - 1) / 2, 0.5, 1 - ratio)))

    def fast_mitm(shape, deviation):
        with numpy.errstate(over="ignore"):
            x = numpy.exp2(shape.log / 2 - 0.5 - math.log2(deviation))
            each = special.erf(x) + numpy.expm1(-(x**2)) / (x * math.sqrt(math.pi))
        return sage.RR(2) ** sage.RR(float(numpy.sum(numpy.log2(each))))

    for d, n, log_q, beta in ((1500, 700, 20, 150), (2600, 1400, 40, 300), (900, 600, 16, 380)):
        shape, fast = geometric(d, n, 2**log_q, beta, tau=False), fast_geometric(d, n, 2**log_q, beta, tau=False)
        for old, new, argument in ((babai, fast_babai, math.sqrt(d) * 3.2), (mitm, fast_mitm, 3.2)):
            a, b = float(old(shape, argument)), float(new(fast, argument))
            assert abs(a - b) <= 1e-6 * a, f"{old.__name__}: {a} and {b}"
    primal.GSA, primal.prob_babai, primal.mitm_babai_probability = fast_geometric, fast_babai, fast_mitm
    return {"red_shape_model": fast_geometric}


def out_of_reach(parameters, bits=1000):
    """Whether MATZOV's dual hybrid costs more than 2^bits by its own formulas (`MATZOV.cost`), seen without the search for its least cost.

    A short sparse key in a large ring would keep the search busy for hours, among costs that no float holds. The first factors of
    T_guess at least double with every guessed coordinate, be it by enumeration or by the transform, so at most `bits` are guessed.
    All others are left to the lattice, and then the samples (Nf) alone are more than 2^bits, at every block size.
    """
    numpy = importlib.import_module("numpy")
    dual = importlib.import_module("estimator.lwe_dual")
    parameters = parameters.normalize()
    n, deviation, log_q = parameters.n, float(parameters.Xs.stddev), float(math.log2(parameters.q))
    if n <= bits or dual.MATZOV.Hf(parameters.Xs) < 1:
        return False
    beta = numpy.arange(40, dual.max_beta_global + 1)
    delta = numpy.log2([float(dual.deltaf(int(b))) for b in beta])
    lattice = numpy.arange(n - bits, n + 1)[:, None]
    # log2 of l sigma_s / q, with m = n.
    share = lattice / (n + lattice)
    shortest = (
        (1 - share) * math.log2(float(parameters.Xe.stddev))
        + share * (math.log2(deviation) + log_q)
        + math.log2(4 / 3) / 2
        + numpy.log2(beta / (2 * math.pi * math.e)) / 2
        + delta * (n + lattice - beta)
        - log_q
    )
    log_of_samples = float(2 * shortest.min() + math.log2(4 * math.pi**2 / math.log(2)))
    return log_of_samples > math.log2(bits)


def matzov(parameters):
    """MATZOV's dual hybrid, infinite where it is out of reach."""
    if out_of_reach(parameters):
        return {"rop": math.inf}
    return importlib.import_module("estimator.lwe_dual").matzov(parameters)


def attacks(fast):
    """Every attack of `LWE.estimate` that is one on lattices, and the dual hybrids without MATZOV's improvements, whose guesses are tried
    one by one or met in the middle. (The name dual_hybrid there is MATZOV's.)"""
    primal = importlib.import_module("estimator.lwe_primal")
    dual = importlib.import_module("estimator.lwe_dual")
    return {
        "usvp": partial(primal.primal_usvp, **fast),
        "bdd": partial(primal.primal_bdd, **fast),
        "bdd_hybrid": partial(primal.primal_hybrid, mitm=False, babai=False, **fast),
        "bdd_mitm_hybrid": partial(primal.primal_hybrid, mitm=True, babai=True, **fast),
        "dual": dual.dual,
        "dual_hybrid": dual.dual_hybrid,
        "dual_mitm_hybrid": partial(dual.dual_hybrid, mitm_optimization=True),
        "matzov": matzov,
    }


def attacks_on_ntru(fast):
    """Every attack of `NTRU.estimate`; dsd looks for the dense sublattice that a large modulus uncovers."""
    primal = importlib.import_module("estimator.ntru_primal")
    return {
        "usvp": partial(primal.primal_usvp, **fast),
        "dsd": primal.primal_dsd,
        "bdd": partial(primal.primal_bdd, **fast),
        "bdd_hybrid": partial(primal.primal_hybrid, mitm=False, babai=False, **fast),
        "bdd_mitm_hybrid": partial(primal.primal_hybrid, mitm=True, babai=True, **fast),
    }


def secret(nd, name, n):
    """binary, ternary, binomial-21 (f and g of NTRU) or sparse-WEIGHT."""
    if name == "binary":
        return nd.Binary
    if name == "ternary":
        return nd.Ternary
    kind, number = name.rsplit("-", 1)
    if kind == "binomial":
        return nd.CenteredBinomial(int(number))
    weight = int(number)
    return nd.SparseTernary((weight + 1) // 2, weight // 2, n=n)


def run(package, instance, name, attack):
    """log2 of the cost of an attack; None if it cannot be mounted, or costs more than 2^1000, for so small a modulus."""
    n, q = instance["n"], 2 ** int(instance["logQ"])
    s = secret(package.ND, instance["secret"], n)
    if is_ntru(instance):
        parameters = package.NTRU.Parameters(n=n, q=q, Xs=s, Xe=s, ntru_type="matrix").normalize()
    else:
        e = package.ND.DiscreteGaussian(instance["sigma"])
        parameters = package.LWE.Parameters(n=n, q=q, Xs=s, Xe=e).normalize()
    start = time.time()
    cost = attack(parameters)
    rop = math.log2(cost["rop"])
    bits = round(rop, 2) if math.isfinite(rop) else None
    print(f"{key(instance)} {name}: {bits} ({time.time() - start:.0f} s)  {cost!r}", file=sys.stderr, flush=True)
    return bits


def is_ntru(instance):
    return instance["secret"].startswith("binomial")


def key(instance):
    return (instance["n"], instance["logQ"], instance["sigma"], instance["secret"])


def read():
    known = json.loads(VECTOR.read_text())["instances"] if VECTOR.exists() else []
    return {key(entry): entry for entry in known}


def write(entries):
    lines = ",\n".join("    " + json.dumps(entry) for entry in sorted(entries.values(), key=key))
    VECTOR.write_text(
        "{\n"
        f'  "note": {json.dumps(NOTE)},\n  "estimator": "malb/lattice-estimator",\n  "commit": "{COMMIT}",\n'
        f'  "instances": [\n{lines}\n  ]\n}}\n'
    )


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("estimator", type=pathlib.Path, help="folder of the estimator's repository")
    arguments.add_argument("--again", action="store_true", help="estimate what the vector has too")
    arguments.add_argument("--only", help="estimate instances of these dimensions only, such as 661,1024; remove nothing")
    arguments = arguments.parse_args()
    package = estimator(arguments.estimator)
    fast = vectorise()
    on_lwe, on_ntru = attacks(fast), attacks_on_ntru(fast)
    wanted = {}
    for line in sys.stdin:
        if line.startswith("{"):
            instance = json.loads(line)
            wanted[key(instance)] = instance
    only = {int(n) for n in arguments.only.split(",")} if arguments.only else None
    for name, instance in sorted(wanted.items()):
        if only and instance["n"] not in only:
            continue
        fresh = arguments.again
        for attack, estimate in (on_ntru if is_ntru(instance) else on_lwe).items():
            bits = {} if fresh else read().get(name, {}).get("bits", {})
            if attack in bits:
                continue
            bits[attack] = run(package, instance, attack, estimate)
            fresh = False
            least = min((value for value in bits.values() if value is not None), default=None)
            # Read again: another process may have added to it meanwhile.
            write({**read(), name: {**instance, "bits": bits, "min": least}})
    if only is None:
        write({name: entry for name, entry in read().items() if name in wanted})


if __name__ == "__main__":
    main()
