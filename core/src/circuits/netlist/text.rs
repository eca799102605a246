//! Netlists as text.

use alloc::{
    borrow::ToOwned,
    collections::{BTreeMap, btree_map::Entry},
    format,
    string::String,
    vec::Vec,
};
use core::fmt;

use super::circuit::{Defect, MAX_GATES, MAX_INPUTS, MAX_NAME, MAX_OUTPUTS, arity, is_name};
use super::{Gate, Netlist, Node, Operand, Wire};
use crate::error::Error;

/// Longest text that is read, in bytes.
pub const MAX_TEXT: usize = 8 << 20;

impl Netlist {
    /// Reads the text described at the [module](super).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], with the number of the line, for what is not understood, a name that is unknown or used twice, a wrong
    /// number of operands, gates that need each other; [`Error::Limit`] for a text longer than [`MAX_TEXT`] or a circuit beyond the limits.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_TEXT {
            return Err(Error::Limit(format!(
                "the text has {} bytes, at most {MAX_TEXT} are read; split the circuit",
                text.len()
            )));
        }
        let mut parser = Parser::default();
        for (number, line) in text.lines().enumerate() {
            parser.line = number + 1;
            parser.statement(line.split('#').next().unwrap_or_default().trim())?;
        }
        parser.finish()
    }
}

impl fmt::Display for Netlist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names(f, "input", self.input_names().iter().map(String::as_str))?;
        names(f, "output", self.output_names())?;
        for (i, node) in self.nodes().iter().enumerate() {
            write!(f, "{} =", self.name(Wire((self.inputs() + i) as u32)))?;
            if let Some(gate) = node.gate() {
                write!(f, " {}", gate.name().to_ascii_uppercase())?;
            }
            for operand in node.operands() {
                match operand {
                    Operand::Constant(value) => write!(f, " {}", u8::from(*value))?,
                    Operand::Wire(wire) => write!(f, " {}", self.name(*wire))?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Names after a word, eight to a line.
fn names<'a>(f: &mut fmt::Formatter<'_>, word: &str, names: impl Iterator<Item = &'a str>) -> fmt::Result {
    for (i, name) in names.enumerate() {
        match i {
            0 => write!(f, "{word}")?,
            i if i % 8 == 0 => write!(f, "\n{word}")?,
            _ => {}
        }
        write!(f, " {name}")?;
    }
    writeln!(f)
}

/// A gate as written.
struct Written<'a> {
    line: usize,
    gate: Option<Gate>,
    operands: Vec<&'a str>,
}

#[derive(Default)]
struct Parser<'a> {
    line: usize,
    inputs: Vec<String>,
    /// Names of the outputs, and their lines.
    outputs: Vec<(String, usize)>,
    gates: Vec<(&'a str, Written<'a>)>,
}

impl<'a> Parser<'a> {
    fn statement(&mut self, line: &'a str) -> Result<(), Error> {
        if let Some((name, value)) = line.split_once('=') {
            return self.gate(name.trim(), value);
        }
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            None => Ok(()),
            Some("input") => {
                for word in words {
                    let names = self.expand(word, MAX_INPUTS - self.inputs.len(), "inputs", MAX_INPUTS)?;
                    self.inputs.extend(names);
                }
                Ok(())
            }
            Some("output") => {
                for word in words {
                    let names =
                        self.expand(word, MAX_OUTPUTS - self.outputs.len(), "outputs", MAX_OUTPUTS)?;
                    let line = self.line;
                    self.outputs.extend(names.into_iter().map(|name| (name, line)));
                }
                Ok(())
            }
            Some(other) => Err(self.error(format_args!(
                "{} begins no statement; write input, output, or NAME = GATE OPERAND ...",
                quoted(other)
            ))),
        }
    }

    fn gate(&mut self, name: &'a str, value: &'a str) -> Result<(), Error> {
        if !is_name(name) {
            return Err(self.bad_name(name));
        }
        if self.gates.len() == MAX_GATES {
            return Err(Error::Limit(format!(
                "line {}: more than {MAX_GATES} gates; split the circuit",
                self.line
            )));
        }
        // One more than any gate takes is enough to see that there are too many.
        let words: Vec<&str> = value.split_ascii_whitespace().take(5).collect();
        let (gate, operands) = match words.as_slice() {
            [] => return Err(self.error(format_args!("{name} = what? write a gate and its operands"))),
            [operand] if gate_of(operand).is_none() => (None, words.clone()),
            [gate, operands @ ..] => (Some(self.known_gate(gate)?), operands.to_vec()),
        };
        if operands.len() != arity(gate) {
            let (takes, given) = (arity(gate), operands.len());
            return Err(self.error(format_args!(
                "{} takes {takes} operand{} and was given {}{given}",
                words[0],
                if takes == 1 { "" } else { "s" },
                if given == 4 { "at least " } else { "" }
            )));
        }
        self.gates.push((name, Written { line: self.line, gate, operands }));
        Ok(())
    }

    fn known_gate(&self, name: &str) -> Result<Gate, Error> {
        gate_of(name).ok_or_else(|| {
            let all: Vec<String> = Gate::ALL.iter().map(|gate| gate.name().to_ascii_uppercase()).collect();
            self.error(format_args!("there is no gate {}; there are {}", quoted(name), all.join(", ")))
        })
    }

    /// One name, or `name[low..high]` as its names; at most `room` of them.
    fn expand(&self, word: &str, room: usize, what: &str, limit: usize) -> Result<Vec<String>, Error> {
        let range = word.strip_suffix(']').and_then(|word| word.split_once('[')).and_then(|(name, range)| {
            let (low, high) = range.split_once("..")?;
            Some((name, low.parse::<u32>().ok()?, high.parse::<u32>().ok()?))
        });
        let (name, count) = match range {
            Some((name, low, high)) if low < high => (name, (high - low) as usize),
            Some(_) => return Err(self.error(format_args!("{} is an empty range", quoted(word)))),
            None => (word, 1),
        };
        if count > room {
            return Err(Error::Limit(format!(
                "line {}: more than {limit} {what}; split the circuit",
                self.line
            )));
        }
        let names: Vec<String> = match range {
            Some((_, low, high)) => (low..high).map(|i| format!("{name}[{i}]")).collect(),
            None => [word.to_owned()].into(),
        };
        match names.iter().find(|name| !is_name(name)) {
            Some(bad) => Err(self.bad_name(bad)),
            None => Ok(names),
        }
    }

    fn finish(self) -> Result<Netlist, Error> {
        let inputs = self.inputs.len();
        let mut known: BTreeMap<&str, Wire> = BTreeMap::new();
        let lines = self.gates.iter().map(|(_, gate)| gate.line);
        let all = self.inputs.iter().map(String::as_str).chain(self.gates.iter().map(|(name, _)| *name));
        for (index, (name, line)) in all.zip(core::iter::repeat_n(0, inputs).chain(lines)).enumerate() {
            match known.entry(name) {
                Entry::Vacant(free) => drop(free.insert(Wire(index as u32))),
                Entry::Occupied(_) if line == 0 => {
                    return Err(Error::InvalidArgument(format!("input {name} is named twice; rename one")));
                }
                Entry::Occupied(first) => {
                    let before = match first.get().index().checked_sub(inputs) {
                        None => "as an input".into(),
                        Some(gate) => format!("on line {}", self.gates[gate].1.line),
                    };
                    return Err(at(line, format_args!("{name} has a source already, {before}; rename one")));
                }
            }
        }
        let find =
            |name: &str, line: usize| {
                known.get(name).copied().ok_or_else(|| {
                at(line, format_args!(
                    "{} is neither an input nor the name of a gate; give it a source or correct the name",
                    quoted(name)
                ))
            })
            };
        let mut nodes = Vec::with_capacity(self.gates.len());
        for (_, Written { line, gate, operands }) in &self.gates {
            let operands = operands.iter().map(|operand| match *operand {
                "0" => Ok(Operand::Constant(false)),
                "1" => Ok(Operand::Constant(true)),
                name => find(name, *line).map(Operand::Wire),
            });
            nodes.extend(Node::new(*gate, &operands.collect::<Result<Vec<_>, Error>>()?));
        }
        let outputs = self.outputs.iter().map(|(name, line)| find(name, *line));
        let outputs = outputs.collect::<Result<Vec<_>, Error>>()?;
        let names = self.inputs.iter().cloned().chain(self.gates.iter().map(|(name, _)| (*name).to_owned()));
        Netlist::new(names.collect(), inputs, nodes, outputs).map_err(|defect| match defect {
            Defect::Other(error) => error,
            Defect::Cycle(gates) => cycle(&self.gates, &gates),
        })
    }

    fn error(&self, what: fmt::Arguments<'_>) -> Error {
        at(self.line, what)
    }

    fn bad_name(&self, name: &str) -> Error {
        self.error(format_args!(
            "{} cannot name a wire; take at most {MAX_NAME} letters, digits, '_', '.', '[' and ']', a letter or '_' first",
            quoted(name)
        ))
    }
}

/// The gate of a name in capitals.
fn gate_of(name: &str) -> Option<Gate> {
    Gate::ALL.into_iter().find(|gate| {
        let bytes = gate.name().bytes().map(|byte| byte.to_ascii_uppercase());
        bytes.eq(name.bytes())
    })
}

fn at(line: usize, what: fmt::Arguments<'_>) -> Error {
    Error::InvalidArgument(format!("line {line}: {what}"))
}

/// The text in quotes, cut to the length of a name.
fn quoted(text: &str) -> String {
    format!("{:?}", text.chars().take(MAX_NAME).collect::<String>())
}

/// Names the first gates of a cycle.
fn cycle(gates: &[(&str, Written<'_>)], cycle: &[usize]) -> Error {
    let first = cycle.first().copied().unwrap_or_default();
    let mut path: Vec<&str> = cycle.iter().take(8).map(|&gate| gates[gate].0).collect();
    if cycle.len() > path.len() {
        path.push("...");
    }
    path.push(gates[first].0);
    at(
        gates[first].1.line,
        format_args!("a loop: {}, each needing the next; a circuit has none", path.join(" <- ")),
    )
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::super::{Clear, aes, arithmetic};
    use super::*;

    fn refusal(text: &str) -> String {
        Netlist::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn text_is_read_in_any_order_and_printed_to_be_read_again() {
        let text = "# carry first\ncarry = AND a[0] a[1] # both\noutput sum carry\r\n\ninput a[0..2]\nsum = XOR a[0] a[1]\n";
        let netlist = Netlist::parse(text).unwrap();
        assert_eq!(netlist.input_names(), ["a[0]", "a[1]"]);
        assert_eq!(netlist.plan().run(&Clear, &[true, true], &mut ()).unwrap(), [false, true]);
        for netlist in
            [netlist, arithmetic::adder(9, arithmetic::Form::Prefix).unwrap(), aes::sbox_netlist().unwrap()]
        {
            assert_eq!(Netlist::parse(&netlist.to_string()).as_ref(), Ok(&netlist));
        }
    }

    #[test]
    fn every_mistake_is_named_with_its_line() {
        let cases = [
            ("hello", "line 1: \"hello\" begins no statement"),
            ("input a\n\noutput b\n", "line 3: \"b\" is neither an input nor the name of a gate"),
            ("input a\noutput y\ny = AND a\n", "line 3: AND takes 2 operands and was given 1"),
            (
                "input a\noutput y\ny = NOT a a a a a a\n",
                "line 3: NOT takes 1 operand and was given at least 4",
            ),
            ("input a\noutput y\ny = FOO a\n", "line 3: there is no gate \"FOO\"; there are NOT, AND, NAND"),
            ("input a\noutput y\ny =\n", "line 3: y = what?"),
            ("input a\noutput y\ny = AND a q\n", "line 3: \"q\" is neither"),
            ("input a\noutput y\ny = NOT a\ny = NOT a\n", "line 4: y has a source already, on line 3"),
            ("input a\noutput a\na = NOT 1\n", "line 3: a has a source already, as an input"),
            ("input a a\noutput a\n", "input a is named twice"),
            ("input a\noutput a a\n", "a is an output twice"),
            ("input a\n", "no output"),
            ("input a\noutput a\n= NOT a\n", "line 3: \"\" cannot name a wire"),
            ("input 0\n", "line 1: \"0\" cannot name a wire"),
            ("input a[3..3]\n", "line 1: \"a[3..3]\" is an empty range"),
            ("input a\noutput x\nx = AND a y\ny = OR z a\nz = NOT x\n", "line 3: a loop: x <- y <- z <- x"),
            ("output x\nx = NOT x\n", "line 2: a loop: x <- x"),
        ];
        for (text, message) in cases {
            let found = refusal(text);
            assert!(found.contains(message), "{text:?} gave {found}");
        }
    }

    #[test]
    fn sizes_are_bounded_before_anything_is_made_of_them() {
        for text in ["input a[0..4294967295]", "input a[0..8192] b", "output a[0..8193]"] {
            assert_eq!(Netlist::parse(text).unwrap_err().code(), "LIMIT", "{text}");
        }
        let gates = "x = 1\n".repeat(MAX_GATES + 1);
        assert_eq!(Netlist::parse(&gates).unwrap_err().code(), "LIMIT");
        assert_eq!(Netlist::parse(&" ".repeat(MAX_TEXT + 1)).unwrap_err().code(), "LIMIT");
        // A message repeats no more of a text than a name's length.
        assert!(refusal(&"y".repeat(1 << 20)).len() < 300);
        assert!(refusal(&format!("input a\noutput a\nx = {} a", "Y".repeat(1 << 20))).len() < 400);
    }

    /// Deletes, repeats and swaps bytes of a good text: the result is read or refused.
    #[test]
    fn no_text_brings_the_parser_down() {
        let good = aes::sbox_netlist().unwrap().to_string();
        let mut state = 1u64;
        let mut next = |bound: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as usize % bound
        };
        let mut read = 0;
        for _ in 0..2000 {
            let mut bytes = good.clone().into_bytes();
            for _ in 0..=next(3) {
                let place = next(bytes.len());
                match next(3) {
                    0 => drop(bytes.remove(place)),
                    1 => bytes.insert(place, b"=[]#01 \nzX"[next(10)]),
                    _ => {
                        let other = next(bytes.len());
                        bytes.swap(place, other);
                    }
                }
            }
            if let Ok(netlist) = Netlist::parse(&String::from_utf8(bytes).unwrap()) {
                let plan = netlist.plan();
                let inputs = alloc::vec![true; plan.inputs()];
                assert_eq!(plan.run(&Clear, &inputs, &mut ()).unwrap().len(), netlist.outputs().len());
                read += 1;
            }
        }
        assert!((100..1900).contains(&read), "{read} of 2000 were circuits: the test sees one side only");
    }
}
