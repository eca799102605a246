// What an artefact is made of, told twice from one list: as a bill of materials and as the licences of others.
import { cratesWithTexts, thirdParty } from './licences.mjs';
import { bill, mergeCrates, npmComponent, runtimeComponent } from './sbom.mjs';

/**
 * The bill of materials, as JSON, and THIRD-PARTY.txt of the artefact `own`, made of these parts. Parts may share crates, runtime
 * libraries and npm packages; each name and version is listed once.
 * @param {{ name: string, version: string, type?: string }} own
 * @param {{ crates: object[], runtimes: object[], bundled: object[] }[]} parts
 */
export function contentsOf(own, parts) {
  const crates = mergeCrates(...parts.map((part) => part.crates));
  const runtimes = distinct(parts.flatMap((part) => part.runtimes));
  const bundled = distinct(parts.flatMap((part) => part.bundled));
  const made = bill(own, crates, [...runtimes.map(runtimeComponent), ...bundled.map(npmComponent)]);
  return { json: `${JSON.stringify(made, undefined, 2)}\n`, licences: thirdParty([...cratesWithTexts(crates), ...runtimes, ...bundled]) };
}

const distinct = (packages) => [...new Map(packages.map((each) => [`${each.name} ${each.version}`, each])).values()];
