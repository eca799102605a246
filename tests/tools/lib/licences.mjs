// The licences of what an artefact contains besides refloat: THIRD-PARTY.txt has each text once, with the names of those under it.
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './paths.mjs';

/** Names of files that hold a licence or a notice. */
const LICENCE = /^(un)?licen[cs]e|^copying|^copyright|^notice/i;

/** How many folders deep a package keeps the licences of libraries that it carries. */
const DEPTH = 4;

/** The licence files of a package, as {file, text}, sorted by name. */
export function licenceTexts(folder) {
  const found = [];
  const visit = (path, depth) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) {
        if (depth > 0 && entry.name !== 'node_modules') visit(inside, depth - 1);
      } else if (LICENCE.test(entry.name)) found.push({ file: relative(folder, inside), text: readFileSync(inside, 'utf8') });
    }
  };
  visit(folder, DEPTH);
  return found.sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** Crates with their licence texts; crates of this repository have its own licence, and are left out. */
export function cratesWithTexts(crates) {
  return crates.filter(({ digest }) => digest).map((each) => ({ ...each, texts: textsOf(each) }));
}

/** A crate's own texts. A crate without any gets the text of the Apache licence, if it is under that: this text is always the same. */
function textsOf({ folder, license }) {
  const texts = licenceTexts(folder);
  if (texts.length > 0 || !/\bApache-2\.0\b(?! WITH)/.test(license)) return texts;
  return [{ file: 'LICENSE-APACHE', text: readFileSync(join(root, 'LICENSE-APACHE'), 'utf8') }];
}

/** The document, for {name, version, license, texts} of everything. A package without a text is an error. */
export function thirdParty(packages) {
  const named = ({ name, version, license }) => `${[name, version].filter(Boolean).join(' ')} (${license})`;
  const bare = packages.filter(({ texts }) => texts.length === 0);
  if (bare.length) throw new Error(`no text of a licence in ${bare.map(named).join(', ')}`);
  const users = new Map();
  for (const each of packages) {
    for (const { text } of each.texts) {
      // Copies of one licence differ in their line breaks.
      const key = text.replace(/\s+/g, ' ').trim();
      if (!users.has(key)) users.set(key, { text: text.replace(/\r\n?/g, '\n').trim(), names: new Set() });
      users.get(key).names.add(named(each));
    }
  }
  const rule = '-'.repeat(100);
  const all = [...new Set(packages.map(named))].sort();
  const sections = [...users.values()].map(({ text, names }) => `${rule}\n${[...names].sort().join('\n')}\n${rule}\n\n${text}\n`);
  return `In what this file comes with there is, besides refloat itself:\n\n${all.join('\n')}\n\nTheir licences and notices:\n\n${sections.join('\n')}`;
}
