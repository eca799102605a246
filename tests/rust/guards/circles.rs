//! Circles: files of the core that import each other, directly or by way of others.

use std::collections::{BTreeMap, BTreeSet};

use refloat_tests::source::{Token, files, tokens};

use crate::layering::{collect, imports, module_of};

/// Files that may stand in one circle: what two or three of them say together can still be read together.
const MOST: usize = 3;

type Module = Vec<String>;

/// The files of the core and, for each module, the path of every name that it exports from its own sub-modules.
struct Core {
    texts: BTreeMap<Module, String>,
    exports: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl Core {
    fn new(texts: BTreeMap<Module, String>) -> Self {
        let mut exports = BTreeMap::new();
        for (module, text) in &texts {
            let own: BTreeMap<String, Module> = uses(&texts, module, text)
                .into_iter()
                .filter(|(public, _)| *public)
                .filter_map(|(_, path)| Some((path.last()?.clone(), path)))
                .collect();
            exports.insert(module.clone(), own);
        }
        Self { texts, exports }
    }

    /// The file that defines the item at a path.
    fn home(&self, path: &[String]) -> Module {
        let mut path = path.to_vec();
        // As many exports as there are modules, at most, unless they export each other's.
        for _ in 0..8 {
            let length = (0..=path.len()).rev().find(|&n| self.texts.contains_key(&path[..n])).unwrap_or(0);
            let (module, rest) = path.split_at(length);
            let exported = rest.first().and_then(|name| self.exports.get(module)?.get(name));
            let Some(exported) = exported else { return module.to_vec() };
            path = exported.iter().chain(&rest[1..]).cloned().collect();
        }
        path
    }

    /// The files that each file imports from.
    fn arrows(&self) -> BTreeMap<&Module, BTreeSet<&Module>> {
        // Exports are not imports of the module that has them.
        self.texts.iter().map(|(module, text)| (module, self.imported(module, text))).collect()
    }

    /// The files that one file imports from.
    fn imported(&self, module: &Module, text: &str) -> BTreeSet<&Module> {
        let private = uses(&self.texts, module, text).into_iter().filter(|(public, _)| !public);
        let named = imports(text, "crate", module).into_iter().filter(|import| !import.test);
        let paths = private.map(|(_, path)| path).chain(named.map(|import| import.path));
        let homes = paths.map(|path| self.home(&path)).filter(|home| home != module);
        homes.filter_map(|home| self.texts.get_key_value(&home).map(|(key, _)| key)).collect()
    }

    /// All circles, each with its files in order.
    fn circles(&self) -> BTreeSet<Vec<&Module>> {
        let arrows = self.arrows();
        let reached = |from| {
            let (mut seen, mut next) = (BTreeSet::<&Module>::new(), vec![from]);
            while let Some(at) = next.pop() {
                next.extend(arrows.get(at).into_iter().flatten().copied().filter(|&to| seen.insert(to)));
            }
            seen
        };
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            self.texts.keys().map(|module| (module, reached(module))).collect();
        let mut circles = BTreeSet::new();
        for (module, others) in &reached {
            let circle: Vec<&Module> =
                others.iter().copied().filter(|&other| reached[other].contains(module)).collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles
    }
}

/// The paths of `use` statements that name a sub-module first, outside of tests: whether each is exported, and its path from the root.
fn uses(texts: &BTreeMap<Module, String>, module: &[String], text: &str) -> Vec<(bool, Module)> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (at, (_, token)) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        if word == "mod" && matches!(tokens.get(at + 1), Some((_, Token::Word(name))) if name == "tests") {
            break;
        }
        if word != "use" {
            continue;
        }
        let public = at > 0 && !matches!(tokens[at - 1].1, Token::Mark(';' | '}' | ']'));
        let mut paths = Vec::new();
        collect(&tokens, at + 1, &[], &mut paths);
        for import in paths {
            let path = match import.path.first().map(String::as_str) {
                Some("crate") => import.path[1..].to_vec(),
                Some("super") => {
                    let climbs = import.path.iter().take_while(|part| *part == "super").count();
                    let above = &module[..module.len().saturating_sub(climbs)];
                    above.iter().chain(&import.path[climbs..]).cloned().collect()
                }
                Some("self") => module.iter().chain(&import.path[1..]).cloned().collect(),
                Some(first) => {
                    let inside: Module = module.iter().cloned().chain([first.to_owned()]).collect();
                    if !texts.contains_key(&inside) {
                        continue;
                    }
                    module.iter().chain(&import.path).cloned().collect()
                }
                None => continue,
            };
            found.push((public, path));
        }
    }
    found
}

#[test]
fn no_circle_has_more_than_three_files() {
    let texts: BTreeMap<Module, String> = files("core/src", &["rs"])
        .into_iter()
        .map(|file| (module_of(&file.path), file.text))
        .filter(|(module, _)| !module.iter().any(|part| part == "tests") && module != &["lib"])
        .collect();
    assert!(texts.len() > 200, "only {} files found", texts.len());
    let core = Core::new(texts);
    let too_large: Vec<String> = core
        .circles()
        .into_iter()
        .filter(|circle| circle.len() > MOST)
        .map(|circle| circle.iter().map(|module| module.join("/")).collect::<Vec<_>>().join(", "))
        .collect();
    assert!(too_large.is_empty(), "files that import each other:\n{}\n", too_large.join("\n"));
}

#[test]
fn the_test_sees_circles() {
    let core = |files: &[(&str, &str)]| {
        let texts = files.iter().map(|(path, text)| (module_of(path), (*text).to_owned())).collect();
        let core = Core::new(texts);
        core.circles().iter().map(Vec::len).collect::<Vec<_>>()
    };
    let first = ("core/src/a/b.rs", "use super::c::X;");
    assert_eq!(core(&[first, ("core/src/a/c.rs", "use crate::a::d::Y;"), ("core/src/a/d.rs", "")]), [0; 0]);
    assert_eq!(
        core(&[
            first,
            ("core/src/a/c.rs", "use crate::a::d::Y;"),
            ("core/src/a/d.rs", "fn f(x: super::b::Z) {}")
        ]),
        [3]
    );
    // By way of what a module exports; the export itself is not an import of the module.
    let exporting = ("core/src/a/mod.rs", "mod b; mod c; pub use b::Z;");
    assert_eq!(core(&[exporting, first, ("core/src/a/c.rs", "use super::Z;")]), [2]);
    assert_eq!(core(&[exporting, first, ("core/src/a/c.rs", "mod tests { use super::super::Z; }")]), [0; 0]);
}
