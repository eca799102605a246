//! Programs as graphs and as bytes: what is refused, and that nothing hostile gets further.

use refloat::Error;
use refloat::circuits::linear_transform::Diagonals;
use refloat::circuits::polynomial::{Polynomial, PolynomialBasis};
use refloat::circuits::program::{
    Asked, Bounds, Builder, MAX_INPUTS, MAX_NAME, MAX_NODES, MAX_VALUES, Node, Operation, Order, Program,
    Reading, VERSION, Value,
};
use refloat::schemes::ckks::Complex;
use refloat_tests::portable::unhex;

/// One node of every kind.
fn sample() -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x"), b.input("y"));
    let reals = b.constant([0.5, -0.0, 1e-300]);
    let complex = b.constant([Complex::new(0.5, 0.25)]);
    let sum = b.add(x, reals);
    let difference = b.subtract(sum, y);
    let product = b.multiply(difference, complex);
    let negative = b.negate(product);
    let turned = b.rotate(negative, -7);
    let conjugate = b.conjugate(turned);
    b.name(conjugate, "mirror image");
    let basis = PolynomialBasis::Chebyshev { from: -2.0, to: 0.1 };
    let p = b.polynomial(conjugate, &Polynomial::new(basis, [0.1, 0.0, 0.3]).unwrap());
    let q = b.polynomial(p, &Polynomial::new(PolynomialBasis::Monomial, [Complex::I, Complex::ONE]).unwrap());
    let mut matrix = Diagonals::new(4).unwrap();
    matrix.insert(-1, vec![Complex::ONE; 4]).unwrap();
    matrix.insert(2, vec![Complex::I; 4]).unwrap();
    let z = b.linear_transform(q, &matrix);
    let fresh = b.bootstrap(z);
    b.output("z", fresh);
    b.output("q", q);
    b.finish().unwrap()
}

/// One reading of digits of every kind.
fn digits() -> Program {
    let mut b = Builder::new();
    let x = b.input("x");
    let modulo = b.digits(x, Reading::Modulo { modulus: 0.25, bits: 15, centred: false });
    let centred = b.digits(modulo, Reading::Modulo { modulus: 1.0, bits: 10, centred: true });
    let integer = b.digits(x, Reading::Integer { modulus: 24 });
    let bit = b.digits(x, Reading::Bit { bits: 10, index: 3 });
    let table = [0.5, -1.0, 2.0].map(|x| Complex::new(x, 0.0)).to_vec();
    let looked_up = b.digits(x, Reading::LookUp(table));
    let exact = b.digits(looked_up, Reading::LookUpExact(vec![Complex::I, Complex::ONE]));
    let quantised = b.quantise_nearest(x, 4);
    for (name, value) in [
        ("centred", centred),
        ("integer", integer),
        ("bit", bit),
        ("looked up", looked_up),
        ("exact", exact),
        ("quantised", quantised),
    ] {
        b.output(name, value);
    }
    b.finish().unwrap()
}

#[test]
fn questions_of_order_are_text_bytes_and_answers() {
    let text = "x = input
        a = argmax x 4
        b = argmin x 4 unit
        c = rank x 4 grid 8
        d = top x 4 2 signed
        e = sign x 3
        a = output a
        b = output b
        c = output c
        d = output d
        e = output e";
    let program = Program::parse(text).unwrap();
    let bytes = program.to_bytes();
    // None of them says how to compare.
    assert_eq!(bytes[6], 3);
    let again = Program::from_bytes(&bytes).unwrap();
    assert_eq!(again.to_bytes(), bytes);
    let mut older = bytes.clone();
    older[6] = 2;
    let error = Program::from_bytes(&older).err().unwrap().to_string();
    assert!(error.contains("reading 6") && error.contains("version 2"), "{error}");
    // Equal ones: the first is the larger.
    let x: Vec<Complex> = [0.5, -0.25, 0.5, 0.0, 9.0, 9.0, 9.0, 9.0].map(Complex::from).to_vec();
    let found = again.evaluate(8, &[x]).unwrap();
    let wanted = [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [3.0, 0.0, 2.0, 1.0],
        [1.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 1.0, 0.0],
    ];
    for (found, wanted) in found.iter().zip(wanted) {
        let found: Vec<f64> = found.iter().map(|z| z.re).collect();
        assert_eq!(found[..4], wanted);
        assert_eq!(found[4..], [0.0; 4]);
    }
    for (line, part) in [
        ("argmax x", "how many slots"),
        ("argmax x 1", "2 to"),
        ("argmax x 0.5", "whole number"),
        ("argmax x 4 grid", "grid and bits"),
        ("argmax x 4 grid 0", "bits"),
        ("argmax x 4 near", "signed"),
        ("top x 4", "how many"),
        ("top x 4 5", "1 to 4"),
        ("top x 4 0", "1 to 4"),
        ("sign x 0", "1 to"),
        ("sign x 4 unit", "signed"),
        ("sign x 4 grid 8", "signed"),
        ("rank y 4", "\"y\""),
        ("rank x 4 by hand", "by gates, or by digits"),
    ] {
        let error =
            Program::parse(&format!("x = input\nm = {line}\nm = output m")).err().unwrap().to_string();
        assert!(error.contains(part), "{line}: {error}");
    }
    let few = Program::parse("x = input\nm = argmax x 16\nm = output m").unwrap();
    assert!(few.evaluate(8, &[vec![Complex::ZERO; 8]]).unwrap_err().to_string().contains("16 numbers"));
    // Every beginning and every byte is read without a panic.
    for end in 0..bytes.len() {
        assert!(Program::from_bytes(&bytes[..end]).is_err());
    }
    for at in 12..bytes.len() {
        for value in [0, 7, 255] {
            let mut changed = bytes.clone();
            changed[at] = value;
            let _ = Program::from_bytes(&changed);
        }
    }
}

#[test]
fn digits_mean_what_their_definitions_say() {
    let program = digits();
    let x: Vec<Complex> =
        [0.3, -0.3, 1.99, -0.5, 5.0, -24.0, 0.25, 47.6].map(|x| Complex::new(x, 9.0)).to_vec();
    let y = program.evaluate(8, std::slice::from_ref(&x)).unwrap();
    let real = |i: usize| y[i].iter().map(|z| z.re).collect::<Vec<_>>();
    let close = |found: Vec<f64>, wanted: [f64; 8]| {
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}, {wanted:?} wanted");
    };
    // Below 0.25 already, and therefore below 0.5.
    close(real(0), [0.05, 0.2, 0.24, 0.0, 0.0, 0.0, 0.0, 0.1]);
    close(real(1), [0.0, 0.0, 2.0, 23.0, 5.0, 0.0, 0.0, 0.0]);
    // 307, 716, 1013, 512, 0, 0, 256 and 614 of 1024.
    close(real(2), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    close(real(3), [0.5, 2.0, 2.0, -1.0, 0.5, 0.5, 0.5, -1.0]);
    close(real(5), [0.25, 0.75, 0.0, 0.5, 0.0, 0.0, 0.25, 0.5]);
    assert!(y[4].iter().all(|z| *z == Complex::I || *z == Complex::ONE));
}

#[test]
fn bytes_come_back_and_mean_the_same() {
    let program = digits();
    let back = Program::from_bytes(&program.to_bytes()).unwrap();
    assert_eq!(back.to_bytes(), program.to_bytes());
    let x = [vec![Complex::new(-0.7, 0.2); 8]];
    assert_eq!(back.evaluate(8, &x).unwrap(), program.evaluate(8, &x).unwrap());
    // Readings came with version 2; other programs are written as before.
    assert_eq!((program.to_bytes()[6], sample().to_bytes()[6]), (2, 1));
    let mut earlier = program.to_bytes();
    earlier[6] = 1;
    let error = Program::from_bytes(&earlier).err().unwrap().to_string();
    assert!(error.contains("operation 12") && error.contains("version 1"), "{error}");

    let program = sample();
    let bytes = program.to_bytes();
    let back = Program::from_bytes(&bytes).unwrap();
    assert_eq!(back.to_bytes(), bytes);
    assert_eq!(back.input_names().collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(back.output_names().collect::<Vec<_>>(), ["z", "q"]);
    let inputs = [vec![Complex::new(0.1, 0.2); 8], vec![Complex::I; 3]];
    assert_eq!(back.evaluate(8, &inputs).unwrap(), program.evaluate(8, &inputs).unwrap());
    assert_eq!(back.describe(9), "node 9 \"mirror image\" (conjugate)");
}

/// One question of order of every kind.
fn orders() -> Program {
    let mut b = Builder::new();
    let x = b.input("x");
    let mut ask = |asked, count, bounds| b.order(x, Order::new(asked, count, bounds));
    let answers = [
        ("sign", ask(Asked::Sign, 8, Bounds::Signed)),
        ("rank", ask(Asked::Rank, 4, Bounds::Grid(8))),
        ("argmax", ask(Asked::Argmax, 4, Bounds::Unit)),
        ("argmin", ask(Asked::Argmin, 4, Bounds::Signed)),
        ("top", ask(Asked::Top(2), 4, Bounds::Unit)),
    ];
    for (name, answer) in answers {
        b.output(name, answer);
    }
    b.finish().unwrap()
}

/// The npm package writes the same program: its tests read the same file.
#[test]
fn the_bytes_are_those_of_the_npm_package() {
    let vector: serde_json::Value = serde_json::from_str(include_str!("../../vectors/program.json")).unwrap();
    for (name, program) in [("bytes", sample()), ("digits", digits()), ("orders", orders())] {
        assert_eq!(program.to_bytes(), unhex(vector[name].as_str().unwrap()), "{name}");
    }
}

/// The encoding is a format that others write: these bytes never change.
#[test]
fn the_layout_is_fixed() {
    let mut b = Builder::new();
    let x = b.input("x");
    let c = b.constant([1.5]);
    let y = b.multiply(x, c);
    let y = b.rotate(y, -2);
    b.output("y", y);
    let expected = [
        b"rfprog\x01\x00\x05\x00\x00\x00".as_slice(),
        b"\x00\x01x",
        b"\x01\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\xf8\x3f",
        b"\x04\x00\x00\x00\x00\x00\x01\x00\x00\x00",
        b"\x06\x00\x02\x00\x00\x00\xfe\xff\xff\xff",
        b"\x0b\x01y\x03\x00\x00\x00",
    ];
    assert_eq!(b.finish().unwrap().to_bytes(), expected.concat());
}

#[test]
fn every_truncation_is_refused_and_no_flipped_bit_does_harm() {
    for program in [sample(), digits()] {
        damage(&program.to_bytes(), program.inputs().count());
    }
}

fn damage(bytes: &[u8], inputs: usize) {
    for length in 0..bytes.len() {
        assert!(Program::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    let long = [bytes, &[0]].concat();
    assert_eq!(Program::from_bytes(&long).err().unwrap().code(), "BAD_BYTES");
    let mut accepted = 0;
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        if let Ok(program) = Program::from_bytes(&damaged) {
            // Another number, name or operand; it has to be a program all the same.
            accepted += 1;
            let _ = program.evaluate(8, &vec![vec![Complex::ONE; 8]; inputs]);
            assert!(Program::from_bytes(&program.to_bytes()).is_ok());
        }
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn counts_are_refused_before_anything_is_made_of_them() {
    let refusal = |bytes: &[u8]| {
        let error = Program::from_bytes(bytes).err().unwrap();
        (error.code(), error.to_string())
    };
    let header = |version: u16, count: u32| {
        [b"rfprog".as_slice(), &version.to_le_bytes(), &count.to_le_bytes()].concat()
    };
    assert_eq!(refusal(b"rfprof\x01\x00\x00\x00\x00\x00").0, "BAD_BYTES");
    let (code, message) = refusal(&header(VERSION + 1, 0));
    assert!(code == "BAD_BYTES" && message.contains("version 5"), "{message}");
    assert_eq!(refusal(&header(VERSION, u32::MAX)).0, "LIMIT");
    assert_eq!(refusal(&header(VERSION, MAX_NODES as u32)).0, "BAD_BYTES");
    // A constant that states 2^32 - 1 numbers, and one that states as many as it may but has fewer.
    for (count, code) in [(u32::MAX, "LIMIT"), (MAX_VALUES as u32, "BAD_BYTES")] {
        let node = [&header(VERSION, 1), [1u8, 0].as_slice(), &count.to_le_bytes(), &[1]].concat();
        let (found, message) = refusal(&node);
        assert!(found == code && message.contains("node 0"), "{message}");
    }
    // A matrix of 2^17 slots with 2^32 - 1 diagonals; a basis, a kind and a number of parts that do not exist.
    for (content, code) in [
        (&b"\x09\x00\x00\x00\x00\x00\x00\x00\x02\x00\xff\xff\xff\xff"[..], "BAD_BYTES"),
        (b"\x09\x00\x00\x00\x00\x00\x03\x00\x00\x00\x01\x00\x00\x00", "INVALID_ARGUMENT"),
        (b"\x08\x00\x00\x00\x00\x00\x02", "BAD_BYTES"),
        (b"\x0d\x00", "BAD_BYTES"),
        (b"\x0c\x00\x00\x00\x00\x00\x06", "BAD_BYTES"),
        (b"\x0c\x00\x00\x00\x00\x00\x04\xff\xff\xff\xff\x01", "LIMIT"),
        (b"\x01\x00\x01\x00\x00\x00\x03", "BAD_BYTES"),
        (b"\x01\x01\xff", "BAD_BYTES"),
    ] {
        assert_eq!(refusal(&[&header(VERSION, 1), content].concat()).0, code, "{content:?}");
    }
}

/// Matrices at the edges of their shape: one slot, two, and as many diagonals as the limits let pass.
#[test]
fn every_program_within_the_limits_is_read_back() {
    let with_matrices = |count: usize, slots: usize, name: &str| {
        let mut matrix = Diagonals::new(slots).unwrap();
        for k in 0..slots {
            matrix.insert(k as i64, vec![Complex::I; slots]).unwrap();
        }
        let mut builder = Builder::new();
        let mut x = builder.input("x");
        for _ in 0..count {
            x = builder.linear_transform(x, &matrix);
            builder.name(x, name);
        }
        builder.output("y", x);
        builder.finish().unwrap()
    };
    let long = "n".repeat(MAX_NAME);
    for (count, slots) in [(1, 1), (1, 2), (4094, 16)] {
        let bytes = with_matrices(count, slots, &long).to_bytes();
        let back = Program::from_bytes(&bytes).map_err(|error| format!("{slots} slots: {error}")).unwrap();
        assert_eq!(back.to_bytes(), bytes);
    }
}

#[test]
fn graphs_that_make_no_sense_are_refused_by_the_name_of_the_node() {
    let node = |name: &str, operation| Node { name: name.into(), operation };
    let input = || node("x", Operation::Input);
    let constant = || node("", Operation::Constant(vec![Complex::ONE]));
    let output = |at| node("y", Operation::Output(Value::new(at)));
    let v = Value::new;
    let cases = [
        (vec![], "no output"),
        (vec![input()], "no output"),
        // A cycle is a use of what comes later.
        (
            vec![input(), node("", Operation::Add(v(0), v(2))), node("", Operation::Negate(v(1))), output(2)],
            "node 1 (add)",
        ),
        (vec![node("me", Operation::Negate(v(0))), output(0)], "node 0 \"me\" (negate): it uses node 0"),
        (vec![input(), output(9)], "uses node 9"),
        (vec![input(), output(0), node("z", Operation::Output(v(1)))], "node 2 \"z\" (output)"),
        (vec![input(), constant(), node("", Operation::Rotate(v(1), 1)), output(2)], "constants only"),
        (
            vec![constant(), constant(), node("", Operation::Multiply(v(0), v(1))), output(2)],
            "node 2 (multiply)",
        ),
        (vec![constant(), output(0)], "constants only"),
        (vec![input(), input(), output(0)], "a name that another one has"),
        (vec![input(), output(0), output(0)], "a name that another one has"),
        (vec![node("", Operation::Input), output(0)], "has no name"),
        (vec![node("a\nb", Operation::Input), output(0)], "node 0 (input): its name"),
        (vec![node(&"n".repeat(65), Operation::Input), output(0)], "its name"),
        (
            vec![input(), node("", Operation::Constant(vec![])), output(0)],
            "node 1 (constant): it has no number",
        ),
        (
            vec![input(), node("", Operation::Constant(vec![Complex::new(0.0, f64::NAN)])), output(0)],
            "not finite",
        ),
        (
            vec![input(), node("", Operation::LinearTransform(v(0), Diagonals::new(4).unwrap())), output(1)],
            "is zero",
        ),
        (
            vec![input(), node("", Operation::Digits(v(0), Reading::LookUp(vec![Complex::ONE]))), output(1)],
            "node 1 (lut)",
        ),
        (
            vec![
                input(),
                node("m", Operation::Digits(v(0), Reading::Modulo { modulus: -1.0, bits: 5, centred: true })),
                output(1),
            ],
            "node 1 \"m\" (mod-centred)",
        ),
        (
            vec![input(), node("", Operation::Digits(v(0), Reading::Integer { modulus: 1 })), output(1)],
            "less than 2",
        ),
        (
            vec![input(), node("", Operation::Digits(v(0), Reading::Bit { bits: 3, index: 3 })), output(1)],
            "bit 3 of 3",
        ),
        (
            vec![input(), node("", Operation::Digits(v(0), Reading::Bit { bits: 53, index: 3 })), output(1)],
            "1 to 52",
        ),
        (
            vec![
                input(),
                constant(),
                node("", Operation::Digits(v(1), Reading::Integer { modulus: 5 })),
                output(2),
            ],
            "constants only",
        ),
    ];
    for (nodes, expected) in cases {
        let error = Program::new(nodes).err().unwrap();
        assert!(
            matches!(error, Error::InvalidArgument(_)) && error.to_string().contains(expected),
            "{error}"
        );
    }
    let inputs = (0..=MAX_INPUTS).map(|i| node(&i.to_string(), Operation::Input));
    assert!(matches!(Program::new(inputs.collect()), Err(Error::Limit(_))));
    let nodes = (0..=MAX_NODES).map(|_| constant());
    assert!(matches!(Program::new(nodes.collect()), Err(Error::Limit(_))));
    let mut builder = Builder::new();
    let x = builder.input("x");
    let y = builder.rotate_sum(x, 3);
    builder.output("y", y);
    assert!(matches!(builder.finish(), Err(Error::InvalidArgument(_))));
}

#[test]
fn clear_evaluation_says_what_does_not_fit() {
    let program = sample();
    let x = vec![Complex::ONE; 8];
    assert!(program.evaluate(8, std::slice::from_ref(&x)).is_err());
    assert!(program.evaluate(6, &[x.clone(), x.clone()]).is_err());
    // The matrix has four slots, and the constant three numbers.
    let error = program.evaluate(2, &[vec![], vec![]]).err().unwrap();
    assert!(error.to_string().contains("node 2 (constant)"), "{error}");
}
