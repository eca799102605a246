"""The smallest of some numbers by scheme switching of OpenFHE, for `refloat reproduce scheme-switching --peer openfhe`.

    python3 - COUNT RUNS THREADS SET < argmin.py

COUNT numbers, a power of two, multiples of 1/29 in random orders. SET is `128`, both schemes at
128 bits by the standard's tables, or `toy`. Prints one line of JSON: seconds of each run from slots to slots, how many answers were
wrong, seconds that keys took, and what was used. Exits with 3 where the package `openfhe` is not there.
"""

import json
import os
import random
import sys
import time


def main():
    count, runs, threads, which = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    # Read when the library is loaded.
    os.environ["OMP_NUM_THREADS"] = threads
    try:
        import openfhe as fhe
    except ImportError as error:
        print(f"{error}", file=sys.stderr)
        sys.exit(3)
    secure = which == "128"
    scale, first = 50, 60
    log_q_of_gates = 25

    parameters = fhe.CCParamsCKKSRNS()
    # 13 levels of the switch there and back, and one a comparison of halves.
    parameters.SetMultiplicativeDepth(13 + count.bit_length() - 1)
    parameters.SetScalingModSize(scale)
    parameters.SetFirstModSize(first)
    parameters.SetScalingTechnique(fhe.ScalingTechnique.FLEXIBLEAUTOEXT)
    parameters.SetKeySwitchTechnique(fhe.KeySwitchTechnique.HYBRID)
    parameters.SetNumLargeDigits(3)
    parameters.SetBatchSize(count)
    parameters.SetSecurityLevel(fhe.SecurityLevel.HEStd_128_classic if secure else fhe.SecurityLevel.HEStd_NotSet)
    if not secure:
        parameters.SetRingDim(1 << 13)
    context = fhe.GenCryptoContext(parameters)
    for feature in ["PKE", "KEYSWITCH", "LEVELEDSHE", "ADVANCEDSHE", "SCHEMESWITCH"]:
        context.Enable(getattr(fhe.PKESchemeFeature, feature))

    began = time.perf_counter()
    keys = context.KeyGen()
    switch = fhe.SchSwchParams()
    switch.SetSecurityLevelCKKS(fhe.SecurityLevel.HEStd_128_classic if secure else fhe.SecurityLevel.HEStd_NotSet)
    switch.SetSecurityLevelFHEW(fhe.BINFHE_PARAMSET.STD128 if secure else fhe.BINFHE_PARAMSET.TOY)
    switch.SetCtxtModSizeFHEWLargePrec(log_q_of_gates)
    switch.SetNumSlotsCKKS(count)
    switch.SetNumValues(count)
    switch.SetComputeArgmin(True)
    switch.SetOneHotEncoding(True)
    gates_key = context.EvalSchemeSwitchingSetup(switch)
    gates = context.GetBinCCForSchemeSwitch()
    gates.BTKeyGen(gates_key)
    context.EvalSchemeSwitchingKeyGen(keys, gates_key)
    beta = gates.GetBeta()
    modulus = (1 << log_q_of_gates) // (2 * beta)
    # The scale of the library's own examples: differences of numbers in [0, 1] stay far below half the plaintext modulus.
    context.EvalCompareSwitchPrecompute(modulus, 512.0)
    key_seconds = time.perf_counter() - began

    seconds, wrong = [], 0
    for _ in range(runs):
        numbers = [i / 29 for i in range(count)]
        random.shuffle(numbers)
        x = context.Encrypt(keys.publicKey, context.MakeCKKSPackedPlaintext(numbers))
        began = time.perf_counter()
        answer = context.EvalMinSchemeSwitching(x, keys.publicKey, count, count)
        seconds.append(time.perf_counter() - began)
        mask = context.Decrypt(keys.secretKey, answer[1])
        mask.SetLength(count)
        found = mask.GetRealPackedValue()
        wanted = [1.0 if number == min(numbers) else 0.0 for number in numbers]
        wrong += any(abs(a - b) > 0.25 for a, b in zip(found, wanted))
    print(
        json.dumps(
            {
                "ring": context.GetRingDimension(),
                "seconds": seconds,
                "wrong": wrong,
                "keySeconds": key_seconds,
            }
        )
    )


main()
