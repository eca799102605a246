// Which licences crates may be under: what .cargo/deny.toml allows, by the expressions (SPDX) in their manifests.

/** The licences that .cargo/deny.toml allows. */
export function allowedLicences(toml) {
  const [, list] = /^\[licenses\]\n(?:[^[\n].*\n)*?allow = \[([^\]]*)\]/m.exec(toml) ?? [];
  if (!list) throw new Error('.cargo/deny.toml has no list `allow` below [licenses]');
  return new Set([...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name));
}

/** What the crates of `cargo metadata` with other licences are under, a line each. */
export function refused(packages, allowed) {
  return packages
    .filter(({ license }) => !license || !permits(license, allowed))
    .map(({ name, version, license }) => `${name} ${version}: ${license ?? 'no licence in its manifest'}`)
    .sort();
}

/**
 * Whether an expression permits use under the allowed licences alone. `AND` binds more tightly than `OR`; a licence with an exception
 * (`Apache-2.0 WITH LLVM-exception`) is one of its own; a slash is how older manifests say `OR`.
 */
export function permits(expression, allowed) {
  const words = expression.replaceAll('/', ' OR ').match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const taken = (word) => words[at] === word && (at += 1) > 0;
  const one = () => {
    if (taken('(')) {
      const inside = either();
      if (!taken(')')) throw new Error(`a parenthesis of the licence ${expression} is not closed`);
      return inside;
    }
    const name = words[at++];
    if (!/^[\w.+-]+$/.test(name ?? '')) throw new Error(`the licence ${expression} cannot be read`);
    return allowed.has(taken('WITH') ? `${name} WITH ${words[at++]}` : name);
  };
  const both = () => {
    let all = one();
    while (taken('AND')) all = one() && all;
    return all;
  };
  const either = () => {
    let any = both();
    while (taken('OR')) any = both() || any;
    return any;
  };
  const answer = either();
  if (at < words.length) throw new Error(`the licence ${expression} cannot be read`);
  return answer;
}
