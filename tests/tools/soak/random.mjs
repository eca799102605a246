// Numbers from a seed, so that a run can be asked for again.

/** mulberry32: a generator of 32 bits of state, good enough to choose faults. */
export function randomFrom(seed) {
  let state = Math.floor(seed) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    /** In [0, 1). */
    next,
    /** A whole number from `low` to `high`. */
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    /** An element of a list. */
    pick: (list) => list[Math.floor(next() * list.length)],
    /** True with this probability. */
    chance: (p) => next() < p,
  };
}

/** Resolves after a while. */
export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
