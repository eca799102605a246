//! Programs as text, for people without a compiler. The table of operations is in the documentation of the folder.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Asked, Bounds, Builder, Order, Program, Reading, Value, Way};
use crate::{
    circuits::polynomial::{Polynomial, PolynomialBasis, clamp},
    error::Error,
    schemes::ckks::Complex,
};

/// Bits of a number that is read modulo another, if none are asked for.
const DEFAULT_BITS: u32 = 15;

/// What a line may do.
const OPERATIONS: &str = "input, constant, add, subtract, multiply, negate, conjugate, bootstrap, rotate, rotate-sum, polynomial, \
    chebyshev, clamp, mod, mod-centred, int-mod, bit, lut, lut-exact, quantise, quantise-nearest, argmax, argmin, rank, top, sign and \
    output";

/// Longest text that is read, in bytes.
pub const MAX_TEXT: usize = 8 << 20;

impl Program {
    /// Reads the text of a program, whose lines are in [the table of operations](crate::circuits::program#text). Matrices have no text;
    /// bytes do.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] with the number of the line for what is not understood; those of [`Program::new`];
    /// [`Error::Limit`] for a text longer than [`MAX_TEXT`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_TEXT {
            return Err(Error::Limit(format!(
                "the text has {} bytes, at most {MAX_TEXT} are read; write the program as bytes",
                text.len()
            )));
        }
        let mut parser = Parser::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                let understood = parser.statement(line).and_then(|()| parser.builder.mistake());
                understood.map_err(|error| error.within(&format!("line {}", number + 1)))?;
            }
        }
        parser.builder.finish()
    }
}

#[derive(Default)]
struct Parser {
    builder: Builder,
    values: BTreeMap<String, Value>,
    outputs: BTreeSet<String>,
}

impl Parser {
    fn statement(&mut self, line: &str) -> Result<(), Error> {
        let (name, rest) =
            line.split_once('=').ok_or_else(|| refuse("no = in it; write NAME = OPERATION ARGUMENTS"))?;
        let (name, words): (_, Vec<&str>) = (name.trim(), rest.split_whitespace().collect());
        let (&operation, words) = words
            .split_first()
            .ok_or_else(|| refuse("no operation follows =; write NAME = OPERATION ARGUMENTS"))?;
        if name.is_empty() || name.contains(char::is_whitespace) || complex(name).is_ok() {
            return Err(refuse(format!(
                "{:?} is not a name: take one word that is not a number",
                short(name)
            )));
        }
        if operation == "output" {
            let [x] = self.operands(operation, words)?;
            if !self.outputs.insert(name.to_string()) {
                return Err(refuse(format!(
                    "there is an output {:?} already; take another name",
                    short(name)
                )));
            }
            self.builder.output(name, x);
            return Ok(());
        }
        if self.values.contains_key(name) {
            return Err(refuse(format!("there is a value {:?} already; take another name", short(name))));
        }
        let before = self.builder.count();
        let value = self.value(name, operation, words)?;
        // The sum of one slot is the value itself, which keeps its name.
        if value.index() >= before {
            self.builder.name(value, name);
        }
        self.values.insert(name.to_string(), value);
        Ok(())
    }

    fn value(&mut self, name: &str, operation: &str, words: &[&str]) -> Result<Value, Error> {
        match operation {
            "input" => {
                let [] = self.operands(operation, words)?;
                Ok(self.builder.input(name))
            }
            "constant" => Ok(self.builder.constant(numbers(words)?)),
            "add" | "subtract" | "multiply" => {
                let [x, y] = self.operands(operation, words)?;
                Ok(match operation {
                    "add" => self.builder.add(x, y),
                    "subtract" => self.builder.subtract(x, y),
                    _ => self.builder.multiply(x, y),
                })
            }
            "negate" | "conjugate" | "bootstrap" => {
                let [x] = self.operands(operation, words)?;
                Ok(match operation {
                    "negate" => self.builder.negate(x),
                    "conjugate" => self.builder.conjugate(x),
                    _ => self.builder.bootstrap(x),
                })
            }
            "rotate" | "rotate-sum" => {
                let &[x, count] = words else {
                    return Err(refuse(format!("{operation} takes a value and a whole number")));
                };
                let [x] = self.operands(operation, &[x])?;
                if operation == "rotate" {
                    return Ok(self.builder.rotate(x, whole(count)?));
                }
                Ok(self.builder.rotate_sum(x, whole(count)?))
            }
            "polynomial" | "chebyshev" => {
                let (&x, mut words) =
                    words.split_first().ok_or_else(|| refuse(format!("{operation} takes a value")))?;
                let [x] = self.operands(operation, &[x])?;
                let mut basis = PolynomialBasis::Monomial;
                if let ("chebyshev", [from, to, rest @ ..]) = (operation, words) {
                    basis = PolynomialBasis::Chebyshev { from: number(from)?, to: number(to)? };
                    words = rest;
                } else if operation == "chebyshev" {
                    return Err(refuse("chebyshev takes a value, the ends of an interval, and coefficients"));
                }
                Ok(self.builder.polynomial(x, &Polynomial::new(basis, numbers(words)?)?))
            }
            "clamp" => {
                let &[x, overshoot, margin, degree] = words else {
                    return Err(refuse("clamp takes a value, an overshoot, a margin and a degree"));
                };
                let [x] = self.operands(operation, &[x])?;
                let degree =
                    degree.parse().map_err(|_| refuse(format!("{:?} is not a degree", short(degree))))?;
                clamp(number(overshoot)?, number(margin)?, degree)
                    .map(|fit| self.builder.polynomial(x, &fit.polynomial))
            }
            "mod" | "mod-centred" | "int-mod" | "bit" | "lut" | "lut-exact" => {
                let (&x, words) =
                    words.split_first().ok_or_else(|| refuse(format!("{operation} takes a value")))?;
                let [x] = self.operands(operation, &[x])?;
                let reading = reading(operation, words)?;
                Ok(self.builder.digits(x, reading))
            }
            "argmax" | "argmin" | "rank" | "top" | "sign" => {
                let (&x, words) =
                    words.split_first().ok_or_else(|| refuse(format!("{operation} takes a value")))?;
                let [x] = self.operands(operation, &[x])?;
                let order = order(operation, words)?;
                Ok(self.builder.order(x, order))
            }
            "quantise" | "quantise-nearest" => {
                let &[x, count] = words else {
                    return Err(refuse(format!("{operation} takes a value and a number of steps")));
                };
                let [x] = self.operands(operation, &[x])?;
                let count = whole(count)?;
                Ok(match operation {
                    "quantise" => self.builder.quantise(x, count),
                    _ => self.builder.quantise_nearest(x, count),
                })
            }
            other => Err(refuse(format!("there is no operation {:?}; there are {OPERATIONS}", short(other)))),
        }
    }

    /// `N` values, by name or as numbers.
    fn operands<const N: usize>(&mut self, operation: &str, words: &[&str]) -> Result<[Value; N], Error> {
        let found: Vec<Value> =
            words.iter().take(N + 1).map(|word| self.operand(word)).collect::<Result<_, _>>()?;
        found.try_into().map_err(|_| refuse(format!("{operation} takes {N} values, not {}", words.len())))
    }

    fn operand(&mut self, word: &str) -> Result<Value, Error> {
        if let Some(&value) = self.values.get(word) {
            return Ok(value);
        }
        match complex(word) {
            Ok(number) => Ok(self.builder.constant([number])),
            Err(_) => Err(refuse(format!(
                "no line before this one gives {:?} a value; give it one above",
                short(word)
            ))),
        }
    }
}

/// The reading of digits that the words after the value describe.
fn reading(operation: &str, words: &[&str]) -> Result<Reading, Error> {
    match (operation, words) {
        ("mod" | "mod-centred", &[modulus, ref bits @ ..]) if bits.len() < 2 => Ok(Reading::Modulo {
            modulus: number(modulus)?,
            bits: bits.first().map_or(Ok(DEFAULT_BITS), |bits| whole(bits))?,
            centred: operation == "mod-centred",
        }),
        ("int-mod", [modulus]) => Ok(Reading::Integer { modulus: whole(modulus)? }),
        ("bit", [bits, index]) => Ok(Reading::Bit { bits: whole(bits)?, index: whole(index)? }),
        ("lut", table) => Ok(Reading::LookUp(numbers(table)?)),
        ("lut-exact", table) => Ok(Reading::LookUpExact(numbers(table)?)),
        ("int-mod", _) => Err(refuse("int-mod takes a value and a modulus")),
        ("bit", _) => Err(refuse("bit takes a value, a number of bits, and which of them, 0 for the lowest")),
        _ => Err(refuse(format!("{operation} takes a value, a modulus, and bits or none"))),
    }
}

/// The question about an order that the words after the value describe.
fn order(operation: &str, words: &[&str]) -> Result<Order, Error> {
    let (count, mut words) = words
        .split_first()
        .ok_or_else(|| refuse(format!("{operation} takes a value, and of how many slots")))?;
    let asked = match operation {
        "sign" => Asked::Sign,
        "rank" => Asked::Rank,
        "argmax" => Asked::Argmax,
        "argmin" => Asked::Argmin,
        _ => {
            let (most, rest) = words
                .split_first()
                .ok_or_else(|| refuse("top takes a value, of how many slots, and how many"))?;
            words = rest;
            Asked::Top(whole(most)?)
        }
    };
    let by = match words {
        [rest @ .., "by", way] => {
            words = rest;
            Some(match *way {
                "gates" => Way::Gates,
                "digits" => Way::Digits,
                other => {
                    return Err(refuse(format!(
                        "{:?} is not a way to compare: by gates, or by digits",
                        short(other)
                    )));
                }
            })
        }
        _ => None,
    };
    let bounds = match words {
        [] | ["signed"] => Bounds::Signed,
        ["unit"] => Bounds::Unit,
        ["grid", bits] => Bounds::Grid(whole(bits)?),
        _ => {
            return Err(refuse(format!(
                "{operation} ends with nothing, signed, unit, or grid and bits, and by gates or by digits"
            )));
        }
    };
    Ok(Order { asked, count: whole(count)?, bounds, by })
}

fn whole<T: core::str::FromStr>(word: &str) -> Result<T, Error> {
    word.parse().map_err(|_| refuse(format!("{:?} is not a whole number", short(word))))
}

fn numbers(words: &[&str]) -> Result<Vec<Complex>, Error> {
    words.iter().map(|word| complex(word)).collect()
}

fn complex(word: &str) -> Result<Complex, Error> {
    let (re, im) = word.split_once(',').unwrap_or((word, "0"));
    Ok(Complex::new(number(re)?, number(im)?))
}

fn number(word: &str) -> Result<f64, Error> {
    word.parse()
        .map_err(|_| refuse(format!("{:?} is not a number; write 0.5, or 0.5,-1 for 0.5 - i", short(word))))
}

/// The beginning of a word, which is all that a message shows.
fn short(word: &str) -> String {
    word.chars().take(32).collect()
}

fn refuse(what: impl Into<String>) -> Error {
    Error::InvalidArgument(what.into())
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn text_is_the_program_of_the_builder() {
        let text = "
            # a mean, and a polynomial of it
            x = input
            w = constant 0.5 0.25 -0.25,0.5 0
            p = multiply x w
            s = rotate-sum p 4
            t = rotate s -1
            z = subtract t 0.125
            c = conjugate z
            n = negate c
            b = bootstrap n
            y = polynomial b 0.5 0.25 0 -0.02
            v = chebyshev y -2 2 0 1
            k = clamp v 0.05 0 7
            s = output s
            v = output v
            k = output k";
        let program = Program::parse(text).unwrap();
        let mut b = Builder::new();
        let x = b.input("x");
        let w = b.constant([
            Complex::new(0.5, 0.0),
            Complex::new(0.25, 0.0),
            Complex::new(-0.25, 0.5),
            Complex::ZERO,
        ]);
        let p = b.multiply(x, w);
        let s = b.rotate_sum(p, 4);
        let t = b.rotate(s, -1);
        let eighth = b.constant([0.125]);
        let z = b.subtract(t, eighth);
        let c = b.conjugate(z);
        let n = b.negate(c);
        let boot = b.bootstrap(n);
        let cubic = Polynomial::new(PolynomialBasis::Monomial, [0.5, 0.25, 0.0, -0.02]).unwrap();
        let y = b.polynomial(boot, &cubic);
        let line = Polynomial::new(PolynomialBasis::Chebyshev { from: -2.0, to: 2.0 }, [0.0, 1.0]).unwrap();
        let v = b.polynomial(y, &line);
        let k = b.clamp(v, 0.05, 0.0, 7);
        b.output("s", s);
        b.output("v", v);
        b.output("k", k);
        for (value, name) in [
            (w, "w"),
            (p, "p"),
            (s, "s"),
            (t, "t"),
            (z, "z"),
            (c, "c"),
            (n, "n"),
            (boot, "b"),
            (y, "y"),
            (v, "v"),
            (k, "k"),
        ] {
            b.name(value, name);
        }
        assert_eq!(program.to_bytes(), b.finish().unwrap().to_bytes());
        let x = vec![Complex::new(1.0, 0.0); 4];
        assert_eq!(program.evaluate(4, &[x]).unwrap().len(), 3);
    }

    #[test]
    fn another_name_for_a_value_leaves_it_its_own() {
        let program = Program::parse("x = input\ny = rotate-sum x 1\nz = output y").unwrap();
        assert_eq!(program.input_names().collect::<Vec<_>>(), ["x"]);
        assert_eq!(program.nodes().len(), 2);
    }

    #[test]
    fn every_operation_that_a_message_lists_is_one() {
        for operation in OPERATIONS.split(", ").flat_map(|words| words.split(" and ")) {
            let error =
                Program::parse(&format!("x = {operation} 1 2 3 4 5 6 7 8 9")).err().unwrap().to_string();
            assert!(!error.contains("there is no operation"), "{error}");
        }
    }

    #[test]
    fn what_is_not_understood_is_told_with_its_line() {
        for (text, part) in [
            ("x", "line 1: no = in it; write NAME"),
            ("x =", "line 1: no operation"),
            ("x = input\nx = input", "line 2: there is a value \"x\""),
            ("x = input y", "line 1: no line before"),
            ("x = input 1", "input takes 0 values, not 1"),
            ("1 = input", "\"1\" is not a name"),
            ("1,-2 = input", "\"1,-2\" is not a name"),
            ("a b = input", "\"a b\" is not a name"),
            ("x = input\ny = add x", "line 2: add takes 2 values, not 1"),
            ("x = input\ny = add x x x", "add takes 2 values, not 3"),
            ("x = input\ny = add x z", "\"z\""),
            ("x = input\ny = divide x x", "no operation \"divide\""),
            ("x = input\ny = rotate x 0.5", "\"0.5\" is not a whole number"),
            ("x = input\ny = rotate x 99999999999", "not a whole number"),
            ("x = input\ny = rotate x", "rotate takes a value"),
            ("x = input\ny = rotate-sum x 3", "line 2: a sum of 3 slots by rotations; take a power of two"),
            ("x = input\ny = chebyshev x 1", "interval"),
            ("x = input\ny = chebyshev x 1 1 1", "in order"),
            ("x = input\ny = polynomial x", "coefficients"),
            ("x = input\ny = polynomial x one", "\"one\" is not a number"),
            ("x = input\ny = polynomial x NaN", "finite"),
            ("w = constant", "no number"),
            ("x = input\ny = output x\ny = output x", "line 3: there is an output"),
            ("x = input\ny = output z", "line 2: no line before"),
            ("x = input\ny = mod x", "modulus"),
            ("x = input\ny = mod x 1 5 6", "modulus"),
            ("x = input\ny = mod x 1 0.5", "\"0.5\" is not a whole number"),
            ("x = input\ny = int-mod x", "int-mod takes"),
            ("x = input\ny = int-mod x 0.5", "not a whole number"),
            ("x = input\ny = bit x 3", "bit takes"),
            ("x = input\ny = lut x 1", "1 values"),
            ("x = input\ny = quantise x", "number of steps"),
            ("x = input\ny = quantise x 4294967295\ny = output y", "line 2: 4294967295 steps"),
            ("", "output"),
        ] {
            let error = Program::parse(text).err().unwrap().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
