// What node-seal needs before it can work.

/** A context for CKKS at degree `n` with primes of the given sizes, the last one special. */
export function seal(lib, n, bits) {
  const parms = new lib.EncryptionParameters(lib.SchemeType.ckks);
  parms.setPolyModulusDegree(n);
  parms.setCoeffModulus(lib.CoeffModulus.Create(n, Int32Array.from(bits)));
  return new lib.SEALContext(parms, true, lib.SecLevelType.tc128);
}
