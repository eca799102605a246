"""Times OpenFHE's gates and look-ups for the program beside this file.

    pip install openfhe    # in a virtual environment of a Python that the wheel supports
    OMP_NUM_THREADS=1 python openfhe_gates.py [RUNS]

A line for each: row, name, seconds to make keys, seconds of the fastest run, between tabulators.
"""

import sys
import time

import openfhe as fhe


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def nand(runs, name, parameters, method):
    context = fhe.BinFHEContext()
    context.GenerateBinFHEContext(parameters, method)
    secret = context.KeyGen()
    keys = seconds(lambda: context.BTKeyGen(secret))
    for x in (0, 1):
        for y in (0, 1):
            result = context.EvalBinGate(fhe.NAND, context.Encrypt(secret, x), context.Encrypt(secret, y))
            assert context.Decrypt(secret, result) == 1 - x * y, name
    a, b = context.Encrypt(secret, 1), context.Encrypt(secret, 1)
    least = min(seconds(lambda: context.EvalBinGate(fhe.NAND, a, b)) for _ in range(runs))
    print("gate", name, keys, least, sep="\t", flush=True)


def modulo_eight(runs):
    # log2 Q = 12 is what the library's own example of arbitrary functions takes, and gives p = 8.
    context = fhe.BinFHEContext()
    context.GenerateBinFHEContext(fhe.STD128, True, 12, 0, fhe.GINX, False)
    secret = context.KeyGen()
    keys = seconds(lambda: context.BTKeyGen(secret))
    p = context.GetMaxPlaintextSpace()
    assert p == 8, p
    table = context.GenerateLUTviaFunction(lambda m, p: (m * m * m) % p, p)
    for m in range(p):
        result = context.EvalFunc(context.Encrypt(secret, m, fhe.FRESH, p), table)
        assert context.Decrypt(secret, result, p) == m**3 % p, m
    ciphertext = context.Encrypt(secret, 3, fhe.FRESH, p)
    least = min(seconds(lambda: context.EvalFunc(ciphertext, table)) for _ in range(max(3, runs // 4)))
    print("modulo 8", "EvalFunc STD128 GINX", keys, least, sep="\t", flush=True)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    nand(runs, "NAND STD128 GINX", fhe.STD128, fhe.GINX)
    nand(runs, "NAND STD128_LMKCDEY", fhe.STD128_LMKCDEY, fhe.LMKCDEY)
    modulo_eight(runs)


main()
