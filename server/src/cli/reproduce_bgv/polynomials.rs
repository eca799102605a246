//! `refloat reproduce bgv --polynomials`: the cost of reading a digit, method by method.

use refloat::bootstrapping::bgv::{BgvPreset, published_sets};
use refloat::circuits::digit_removal::{
    AllDigits, DigitReader, NullPolynomials, TwoDigits, Way as Reading, digit_beside, lifting, lowest_digit,
    small_digit,
};
use refloat::circuits::polynomial::{Plan, Polynomial};
use refloat::schemes::bgv::PrimePower;
use serde::Serialize;
use serde_json::json;

use crate::cli::failure::Failure;
use crate::cli::output::{Output, table};
use crate::cli::progress;

/// Source of the published degrees.
const SOURCE: &str = "slides of Ma, Huang, Wang, Wang (EUROCRYPT 2024, ePrint 2024/115): degrees of HElib's polynomials, and bounds on \
                      theirs";

/// Our polynomials are checked on supports of fewer than `WHOLE` points entirely; otherwise, and for the other ways, on about `SAMPLE`.
const WHOLE: u64 = 4_000_000;
const SAMPLE: u64 = 100_000;

/// Which digits are read, and from what.
#[derive(Debug, Clone, Copy)]
enum Digits {
    /// I of I + p^t y modulo p^e, |I| <= bound < p/2.
    One { p: u64, e: u32, t: u32, bound: u64 },
    /// I of I + p^t y modulo p^e, |I| <= bound, which is two digits.
    Two { p: u64, e: u32, t: u32, bound: u64 },
    /// I of I + step J modulo p, both at most the bound.
    Beside { p: u64, step: u64, bound: u64 },
    /// The t lowest digits of any number modulo p^e, one after the other.
    All { p: u64, e: u32, t: u32 },
}

/// A set, and what is published of it.
struct Case {
    set: &'static str,
    digits: Digits,
    /// Published degrees of HElib's polynomials, which read digits of any size.
    any: &'static [usize],
    /// Published bounds on degrees with null polynomials.
    null: &'static [usize],
}

const fn case(set: &'static str, digits: Digits, any: &'static [usize], null: &'static [usize]) -> Case {
    Case { set, digits, any, null }
}

/// The published sets, and small primes.
const PUBLISHED: [Case; 12] = [
    case("I-A", Digits::Two { p: 17, e: 6, t: 2, bound: 23 }, &[17, 81, 65], &[17, 81, 14]),
    case("II-A", Digits::One { p: 127, e: 3, t: 1, bound: 22 }, &[253], &[134]),
    case("III-A", Digits::One { p: 257, e: 3, t: 1, bound: 22 }, &[513], &[134]),
    case("IV-A", Digits::One { p: 8191, e: 2, t: 1, bound: 23 }, &[8191], &[93]),
    case("V-A", Digits::One { p: 65537, e: 2, t: 1, bound: 23 }, &[65536], &[93]),
    case("IV-B", Digits::Beside { p: 8191, step: 45, bound: 22 }, &[], &[2024]),
    case("V-B", Digits::Beside { p: 65537, step: 47, bound: 23 }, &[], &[2208]),
    case("P16", Digits::One { p: 65537, e: 2, t: 1, bound: 13 }, &[], &[]),
    case("bits", Digits::All { p: 2, e: 7, t: 6 }, &[], &[]),
    case("p3", Digits::All { p: 3, e: 5, t: 4 }, &[], &[]),
    case("p5", Digits::All { p: 5, e: 4, t: 3 }, &[], &[]),
    case("p7", Digits::All { p: 7, e: 4, t: 2 }, &[], &[]),
];

/// The name of the case with the digits of a set: thin and general bootstraps read the same digits, in either pipeline.
fn read_as(set: &str) -> &str {
    match set.trim_end_matches("-thin").trim_end_matches("-source") {
        "m21845" => "bits",
        name => name,
    }
}

/// The published sets and our own.
fn cases() -> Vec<Case> {
    let own = BgvPreset::all()
        .iter()
        .chain(published_sets().iter().filter(|set| set.secure() && read_as(set.name) == set.name))
        .map(|preset| {
            let spec = (preset.spec)();
            let e = spec.plaintexts().largest_exponent;
            let (p, t, bound) = (spec.prime, spec.digit_exponent, u64::from(spec.bound));
            let digits = if 2 * bound < p { Digits::One { p, e, t, bound } } else { Digits::All { p, e, t } };
            Case { set: preset.name, digits, any: &[], null: &[] }
        });
    PUBLISHED.into_iter().chain(own).collect()
}

/// A way to read a digit.
enum Way {
    /// One polynomial, once or several times in a row.
    Repeated { polynomial: Polynomial<i64>, times: u32 },
    /// `lift` and `low` at the same argument, then `high` at what `lift` leaves.
    Two { lift: Polynomial<i64>, low: Polynomial<i64>, high: Polynomial<i64> },
}

impl Way {
    fn degrees(&self) -> Vec<usize> {
        match self {
            Self::Repeated { polynomial, times } => vec![polynomial.degree(); *times as usize],
            Self::Two { lift, low, high } => [lift, low, high].map(Polynomial::degree).to_vec(),
        }
    }

    /// Key switches and levels.
    fn cost(&self) -> Result<(usize, usize), Failure> {
        Ok(match self {
            Self::Repeated { polynomial, times } => {
                let (plan, times) = (Plan::new(std::slice::from_ref(polynomial))?, *times as usize);
                (times * plan.key_switches(), times * plan.levels())
            }
            Self::Two { lift, low, high } => {
                let both = Plan::new(&[lift.clone(), low.clone()])?.key_switches();
                let last = Plan::new(std::slice::from_ref(high))?.key_switches();
                (both + last, low.levels().max(lift.levels() + high.levels()))
            }
        })
    }
}

/// A way for a set, beside what is published of it.
#[derive(Debug, Serialize)]
struct Row {
    set: &'static str,
    digits: String,
    way: &'static str,
    published: Vec<usize>,
    degrees: Vec<usize>,
    key_switches: usize,
    levels: usize,
    /// `None` if the polynomial is too long to be made; its cost follows from its degree.
    checked_points: Option<u64>,
    all_points: u64,
    wrong_points: u64,
}

/// Prints the rows of the named sets, or of all if none is named.
///
/// # Errors
/// [`Failure`] for an unknown set, and after printing if a polynomial is wrong anywhere.
pub fn run(sets: &[String], output: &Output) -> Result<(), Failure> {
    let cases = cases();
    let sets: Vec<&str> = sets.iter().map(|name| read_as(name)).collect();
    if let Some(unknown) = sets.iter().find(|name| cases.iter().all(|case| case.set != **name)) {
        let known = cases.iter().map(|case| case.set).collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!("--set {unknown}: --polynomials has {known}")));
    }
    let mut rows = Vec::new();
    for case in cases.iter().filter(|case| sets.is_empty() || sets.contains(&case.set)) {
        let spinner = progress::spinner(output, &format!("{}: making polynomials", case.set));
        rows.extend(case.rows(WHOLE)?);
        spinner.finish_and_clear();
    }
    let value = json!({ "suite": "bgv-polynomials", "source": SOURCE, "rows": rows });
    output.result(&value, || text(&rows))?;
    match rows.iter().find(|row| row.wrong_points > 0) {
        None => Ok(()),
        Some(row) => Err(Failure {
            code: "WRONG_RESULT".to_owned(),
            detail: format!(
                "{} of {} points of {}, {}, have another digit; please report this",
                row.wrong_points,
                row.checked_points.unwrap_or_default(),
                row.set,
                row.way
            ),
        }),
    }
}

impl Case {
    /// The rows of the case. Our own polynomials are checked at every point of supports of fewer than `whole` points.
    fn rows(&self, whole: u64) -> Result<Vec<Row>, Failure> {
        match self.digits {
            Digits::One { p, e, t, bound } => self.one(PrimePower::new(p, e)?, (t, bound), whole),
            Digits::All { p, e, t } => Ok(self.all(PrimePower::new(p, e)?, t)?),
            Digits::Two { p, e, t, bound } => self.two(PrimePower::new(p, e)?, (t, bound), whole),
            Digits::Beside { p, step, bound } => {
                let ring = PrimePower::new(p, 1)?;
                let f = digit_beside(ring, step, bound)?;
                let way = once(ring, &f)?;
                let points = (2 * bound + 1).pow(2);
                let wrong = pairs(bound, bound)
                    .filter(|&(i, j)| {
                        let x = ring.reduce_signed(i + step as i64 * j);
                        odd_value(ring, &f, x) != ring.reduce_signed(i)
                    })
                    .count();
                Ok(vec![self.row("interpolated", self.null, &way, (Some(points), points, wrong as u64))?])
            }
        }
    }

    fn one(&self, ring: PrimePower, (t, bound): (u32, u64), whole: u64) -> Result<Vec<Row>, Failure> {
        let (p, e) = (ring.prime(), ring.exponent());
        let support = Support { ring, t, bound };
        let f = small_digit(ring, t, bound)?;
        let own = support.check(whole, |x| odd_value(ring, &f, x));
        let mut rows = vec![self.row("closed form", self.null, &once(ring, &f)?, own)?];
        // The polynomial for all digits, reduced by null polynomials and as it is, if it can be made; otherwise its cost by its degree.
        let degree = (p - 1) * u64::from(e - 1) + 1;
        match lowest_digit(ring) {
            Ok(any) => {
                let reduced = NullPolynomials::new(ring, t, bound)?.reduce(&any);
                let of_reduced = support.check(SAMPLE, |x| odd_value(ring, &reduced, x));
                rows.push(self.row("Chen-Han, reduced", self.null, &once(ring, &reduced)?, of_reduced)?);
                let of_any = support.check(SAMPLE, |x| odd_value(ring, &any, x));
                rows.push(self.row("Chen-Han", self.any, &once(ring, &any)?, of_any)?);
            }
            Err(_) => {
                rows.push(self.row("Chen-Han", self.any, &shape(degree, 1)?, (None, support.points(), 0))?);
            }
        }
        rows.push(match lifting(ring) {
            Ok(f) => {
                let value = |x| (1..e).fold(x, |x, _| odd_value(ring, &f, x));
                let way = Way::Repeated { polynomial: centred(ring, &f)?, times: e - 1 };
                self.row("lifting", &[], &way, support.check(SAMPLE, value))?
            }
            Err(_) => self.row("lifting", &[], &shape(p, e - 1)?, (None, support.points(), 0))?,
        });
        rows.push(self.all_pairs(ring, (t, bound))?);
        Ok(rows)
    }

    fn two(&self, ring: PrimePower, (t, bound): (u32, u64), whole: u64) -> Result<Vec<Row>, Failure> {
        let support = Support { ring, t, bound };
        let (above, below) = (ring.with_exponent(t)?, ring.with_exponent(ring.exponent() - 1)?);
        let two = TwoDigits::new(ring, t, bound)?;
        let (lift, low) = (centred(above, two.lift())?, centred(ring, two.low())?);
        let way = |high: &[u64]| -> Result<Way, Failure> {
            Ok(Way::Two { lift: lift.clone(), low: low.clone(), high: centred(below, high)? })
        };
        let own = support.check(whole, |x| two.value(x));
        // The second digit read by the polynomial for digits of any size.
        let any = lowest_digit(below)?;
        let of_any = support.check(SAMPLE, |x| {
            let z = ring.sub(x, odd_value(ring, two.lift(), x)) / ring.prime();
            let high = odd_value(below, &any, below.reduce(z));
            ring.add(odd_value(ring, two.low(), x), ring.mul(ring.prime(), high))
        });
        Ok(vec![
            self.row("two digits", self.null, &way(two.high())?, own)?,
            self.row("Chen-Han", self.any, &way(&any)?, of_any)?,
            self.all_pairs(ring, (t, bound))?,
        ])
    }

    /// The second approach of the source, where both the digit and its neighbour J are small: the product of the x - (I + p^t J) over
    /// all pairs vanishes, so an odd polynomial of a degree below (2B + 1)^2 reads the digit. The row is an upper bound on its cost; the
    /// polynomial is not made, because the others are shorter.
    fn all_pairs(&self, ring: PrimePower, (t, bound): (u32, u64)) -> Result<Row, Failure> {
        let pairs = (2 * bound + 1).pow(2);
        let mut row =
            self.row("all pairs of small digits, at most", &[], &shape(pairs - 2, 1)?, (None, pairs, 0))?;
        row.digits = format!(
            "|I|, |J| <= {bound}, I + {}^{t} J mod {}^{}",
            ring.prime(),
            ring.prime(),
            ring.exponent()
        );
        Ok(row)
    }

    /// The rows for digits of any number modulo p^e, checked at all of them.
    fn all(&self, ring: PrimePower, t: u32) -> Result<Vec<Row>, Failure> {
        let (e, points) = (ring.exponent(), ring.value());
        let (step, below) = (ring.prime().pow(t), ring.with_exponent(e - t)?);
        let row = |way: &'static str, digits: &AllDigits| {
            let right = |&x: &u64| digits.quotient(x) == below.reduce((x + step / 2) / step);
            Row {
                set: self.set,
                digits: format!("{t} lowest digits, any, mod {}^{e}", ring.prime()),
                way,
                published: Vec::new(),
                degrees: digits.readers().iter().map(DigitReader::degree).collect(),
                key_switches: digits.products(),
                levels: digits.levels(),
                checked_points: Some(points),
                all_points: points,
                wrong_points: (0..points).filter(|x| !right(x)).count() as u64,
            }
        };
        let mut rows = vec![
            row("cheapest of each digit", &AllDigits::new(ring, t)?),
            row("Chen-Han, common powers", &AllDigits::by(ring, t, Reading::Polynomials)?),
            row("lifting", &AllDigits::by(ring, t, Reading::Lifting)?),
        ];
        // The best of the exponents at which the second polynomial may take over.
        let twice = (2..e).filter_map(|first| AllDigits::by(ring, t, Reading::Twice(first)).ok());
        if let Some(best) = twice.min_by_key(|digits| (digits.levels(), digits.products())) {
            rows.push(row("Chen-Han, then lifting by one polynomial", &best));
        }
        Ok(rows)
    }

    fn row(
        &self,
        way: &'static str,
        published: &[usize],
        evaluated: &Way,
        (checked_points, all_points, wrong_points): (Option<u64>, u64, u64),
    ) -> Result<Row, Failure> {
        let (key_switches, levels) = evaluated.cost()?;
        let digits = match self.digits {
            Digits::One { p, e, t, bound } | Digits::Two { p, e, t, bound } => {
                format!("|I| <= {bound} beside {p}^{t} mod {p}^{e}")
            }
            Digits::All { p, e, t } => format!("{t} lowest digits, any, mod {p}^{e}"),
            Digits::Beside { p, step, bound } => format!("|I|, |J| <= {bound}, I + {step} J mod {p}"),
        };
        Ok(Row {
            set: self.set,
            digits,
            way,
            published: published.to_vec(),
            degrees: evaluated.degrees(),
            key_switches,
            levels,
            checked_points,
            all_points,
            wrong_points,
        })
    }
}

/// All I + p^t y modulo p^e with |I| <= bound.
struct Support {
    ring: PrimePower,
    t: u32,
    bound: u64,
}

impl Support {
    /// Multiples of p^t.
    fn multiples(&self) -> u64 {
        self.ring.value() / self.ring.prime().pow(self.t)
    }

    fn points(&self) -> u64 {
        (2 * self.bound + 1) * self.multiples()
    }

    /// How many points `read` is compared with the digit at, how many there are, and at how many it differs: all points if they are fewer
    /// than `whole`, otherwise about [`SAMPLE`], spread evenly over the digits.
    fn check(&self, whole: u64, read: impl Fn(u64) -> u64) -> (Option<u64>, u64, u64) {
        let (ring, all) = (self.ring, self.points());
        let stride = if all < whole { 1 } else { all / SAMPLE };
        let step = ring.prime().pow(self.t);
        let (mut checked, mut wrong) = (0, 0);
        for node in -(self.bound as i64)..=self.bound as i64 {
            let digit = ring.reduce_signed(node);
            for y in (0..self.multiples()).step_by(stride as usize) {
                checked += 1;
                wrong += u64::from(read(ring.add(digit, ring.mul(y, step))) != digit);
            }
        }
        (Some(checked), all, wrong)
    }
}

fn pairs(i: u64, j: u64) -> impl Iterator<Item = (i64, i64)> {
    let range = |bound: u64| -(bound as i64)..=bound as i64;
    range(i).flat_map(move |i| range(j).map(move |j| (i, j)))
}

/// The value of an odd polynomial.
fn odd_value(ring: PrimePower, f: &[u64], x: u64) -> u64 {
    let (m, square) = (ring.modulus(), ring.shoup(ring.mul(x, x)));
    let sum = f.iter().skip(1).step_by(2).rev().fold(0, |sum, &c| m.add(m.mul_shoup(sum, &square), c));
    ring.mul(sum, x)
}

fn centred(ring: PrimePower, f: &[u64]) -> Result<Polynomial<i64>, Failure> {
    Ok(Polynomial::of_integers(f.iter().map(|&c| ring.centered(c)))?)
}

fn once(ring: PrimePower, f: &[u64]) -> Result<Way, Failure> {
    Ok(Way::Repeated { polynomial: centred(ring, f)?, times: 1 })
}

/// An odd polynomial of a degree, for its cost.
fn shape(degree: u64, times: u32) -> Result<Way, Failure> {
    Ok(Way::Repeated { polynomial: Polynomial::of_integers((0..=degree).map(|i| (i % 2) as i64))?, times })
}

fn text(rows: &[Row]) -> String {
    let mut cells = vec![
        ["set", "digits", "way", "published", "degree", "key switches", "levels", "points", "wrong"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let list = |degrees: &[usize]| match degrees {
        [] => "-".to_owned(),
        all => all.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    cells.extend(rows.iter().map(|row| {
        vec![
            row.set.to_owned(),
            row.digits.clone(),
            row.way.to_owned(),
            list(&row.published),
            list(&row.degrees),
            row.key_switches.to_string(),
            row.levels.to_string(),
            row.checked_points.map_or("-".to_owned(), |checked| format!("{checked} of {}", row.all_points)),
            row.checked_points.map_or("-".to_owned(), |_| row.wrong_points.to_string()),
        ]
    }));
    format!("published: {SOURCE}\n\n{}", table(&cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound on the digit, if there is one.
    fn bound(case: &Case) -> Option<u64> {
        match case.digits {
            Digits::One { bound, .. } | Digits::Two { bound, .. } | Digits::Beside { bound, .. } => {
                Some(bound)
            }
            Digits::All { .. } => None,
        }
    }

    /// The degrees that section 6.1 gives for the paper's sets, and the costs that the planner gives.
    #[test]
    fn null_polynomials_are_cheaper_than_digits_of_any_size() {
        for case in
            cases().iter().filter(|case| ["I-A", "II-A", "IV-B", "bgv15", "toy-bgv7"].contains(&case.set))
        {
            let rows = case.rows(SAMPLE).unwrap();
            assert!(rows.iter().all(|row| row.wrong_points == 0), "{rows:?}");
            let (own, rest) = rows.split_first().unwrap();
            assert!(own.degrees.iter().zip(case.null).all(|(own, bound)| own <= bound));
            assert!(rest.iter().all(|row| row.key_switches >= own.key_switches), "{rows:?}");
            let expected = match case.set {
                "I-A" => (vec![17, 81, 13], 9),
                "II-A" => (vec![127], 7),
                "IV-B" => (vec![2023], 11),
                "bgv15" => (vec![61], 6),
                _ => (vec![91], 7),
            };
            assert_eq!((own.degrees.clone(), own.levels), expected, "{}", case.set);
            if case.set == "II-A" {
                assert_eq!((own.key_switches, rest[1].degrees.clone()), (19, vec![253]));
            }
        }
    }

    /// Every way reads the digits of every number modulo p^e, and none is cheaper than the chosen one.
    #[test]
    fn all_digits_of_small_primes_are_read() {
        for (set, levels) in [("bits", 6), ("p3", 8)] {
            let case = cases().into_iter().find(|case| case.set == set).unwrap();
            let rows = case.rows(SAMPLE).unwrap();
            assert!(rows.len() > 3 && rows.iter().all(|row| row.wrong_points == 0), "{rows:?}");
            let cost = |row: &Row| (row.levels, row.key_switches);
            assert!(
                rows.iter().all(|row| cost(row) >= cost(&rows[0])) && rows[0].levels == levels,
                "{rows:?}"
            );
        }
    }

    #[test]
    fn the_polynomials_of_every_set_have_a_name() {
        let cases = cases();
        let named = |name| cases.iter().find(|case| case.set == read_as(name));
        for preset in BgvPreset::all().iter().chain(published_sets()) {
            let (case, spec) = (named(preset.name).expect(preset.name), (preset.spec)());
            assert_eq!(bound(case).unwrap_or(spec.bound.into()), u64::from(spec.bound), "{}", preset.name);
        }
    }

    /// The second approach needs a longer polynomial than the first.
    #[test]
    fn the_second_approach_costs_more() {
        for case in PUBLISHED.iter().filter(|case| ["I-A", "II-A"].contains(&case.set)) {
            let rows = case.rows(SAMPLE).unwrap();
            let (own, second) = (&rows[0], rows.last().unwrap());
            let width = 2 * bound(case).unwrap() as usize + 1;
            assert_eq!(second.degrees, [width * width - 2], "{second:?}");
            assert!(second.key_switches > own.key_switches && second.levels > own.levels, "{second:?}");
        }
    }

    #[test]
    fn other_sets_are_refused_by_name() {
        let failure = run(&["bgv16".to_owned()], &Output::new(true)).unwrap_err();
        assert!(failure.detail.contains("bgv16") && failure.detail.contains("III-A"), "{failure:?}");
    }
}
