#!/usr/bin/env python3
"""Estimates every key that a secure parameter set publishes, by every attack of the lattice estimator.

    git clone https://github.com/malb/lattice-estimator && git -C lattice-estimator checkout 27a581b
    python3 -m venv venv && venv/bin/pip install passagemath-flint==10.8.13 passagemath-symbolics==10.8.13 scipy numpy
    cargo test -p refloat-tests --test security_vectors -- --ignored --nocapture print_the_instances \
        | venv/bin/python tests/tools/estimate.py lattice-estimator

Instances, as JSON objects one a line, are read from standard input; other lines are passed over. Each that is not in
tests/vectors/security.json is estimated and added, one after the other, so that a run can be stopped and taken up; an entry that
no instance asks for any more is removed at the end. `--again` estimates all of them anew.

Short keys and rings of 2^10 take a minute each, rings of 2^13 to 2^14 some minutes, those of 2^15 and 2^16 up to hours: the
hybrid attacks search over thousands of guessed coordinates.

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
    "tests/tools/estimate.py. A block-sparse secret is estimated as a sparse one of the same weight; the core takes less for it."
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


def attacks():
    """Every attack of `LWE.estimate` that is one on lattices, and the plain dual hybrid. (The name dual_hybrid there is MATZOV's.)"""
    primal = importlib.import_module("estimator.lwe_primal")
    dual = importlib.import_module("estimator.lwe_dual")
    return {
        "usvp": primal.primal_usvp,
        "bdd": primal.primal_bdd,
        "bdd_hybrid": partial(primal.primal_hybrid, mitm=False, babai=False),
        "bdd_mitm_hybrid": partial(primal.primal_hybrid, mitm=True, babai=True),
        "dual": dual.dual,
        "dual_hybrid": dual.dual_hybrid,
        "matzov": dual.matzov,
    }


def secret(nd, name, n):
    """binary, ternary, binomial-21 (the key of NTRU) or sparse-WEIGHT."""
    if name == "binary":
        return nd.Binary
    if name == "ternary":
        return nd.Ternary
    kind, number = name.rsplit("-", 1)
    if kind == "binomial":
        return nd.CenteredBinomial(int(number))
    weight = int(number)
    return nd.SparseTernary((weight + 1) // 2, weight // 2, n=n)


def run(package, instance, todo):
    n, log_q = instance["n"], instance["logQ"]
    parameters = package.LWE.Parameters(
        n=n,
        q=2 ** int(log_q),
        Xs=secret(package.ND, instance["secret"], n),
        Xe=package.ND.DiscreteGaussian(instance["sigma"]),
    ).normalize()
    bits = {}
    for name, attack in todo.items():
        start = time.time()
        cost = attack(parameters)
        rop = math.log2(cost["rop"])
        # An attack that cannot be mounted at all, for so small a modulus, costs infinitely much.
        bits[name] = round(rop, 2) if math.isfinite(rop) else None
        print(f"{key(instance)} {name}: {bits[name]} ({time.time() - start:.0f} s)  {cost!r}", file=sys.stderr, flush=True)
    return bits


def key(instance):
    return (instance["n"], instance["logQ"], instance["sigma"], instance["secret"])


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
    todo = attacks()
    wanted = {}
    for line in sys.stdin:
        if line.startswith("{"):
            instance = json.loads(line)
            wanted[key(instance)] = instance
    only = {int(n) for n in arguments.only.split(",")} if arguments.only else None
    known = json.loads(VECTOR.read_text())["instances"] if VECTOR.exists() else []
    entries = {key(entry): entry for entry in known}
    for name, instance in sorted(wanted.items()):
        if (only and instance["n"] not in only) or (name in entries and not arguments.again):
            continue
        bits = run(package, instance, todo)
        # Another process may have added to it meanwhile.
        known = json.loads(VECTOR.read_text())["instances"] if VECTOR.exists() else []
        entries = {key(entry): entry for entry in known}
        entries[name] = {**instance, "bits": bits, "min": min(value for value in bits.values() if value is not None)}
        write(entries)
    if only is None:
        write({name: entry for name, entry in entries.items() if name in wanted})


if __name__ == "__main__":
    main()
