//! The data, and a model of it: in the clear.

use refloat::{
    Error,
    arith::DoubleDouble,
    circuits::polynomial::{Parity, Polynomial, PolynomialBasis, minimax},
};

const DATA: &str = include_str!("breast-cancer-wisconsin.csv");

/// A row of the data.
pub struct Patient {
    /// Thirty measurements; after [`Patients::split`] in [-1, 1].
    pub measurements: Vec<f64>,
    /// The diagnosis.
    pub malignant: bool,
}

/// Rows of the data.
pub struct Patients(Vec<Patient>);

impl Patients {
    /// All rows, in their order.
    pub fn read() -> Self {
        let row = |line: &str| {
            let mut fields = line.split(',');
            let malignant = fields.next() == Some("M");
            let measurements = fields.map(|x| x.parse().expect("a number")).collect();
            Patient { measurements, malignant }
        };
        Self(DATA.lines().skip(1).map(row).collect())
    }

    /// Two rows of three to train with, the others to test. Measurements are in units of four standard deviations from
    /// their mean, both over the rows to train with, and cut off at 1.
    pub fn split(self) -> (Vec<Patient>, Vec<Patient>) {
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for (i, patient) in self.0.into_iter().enumerate() {
            if i % 3 == 2 { &mut test } else { &mut train }.push(patient);
        }
        for j in 0..train[0].measurements.len() {
            let count = train.len() as f64;
            let mean = train.iter().map(|p| p.measurements[j]).sum::<f64>() / count;
            let square = |p: &Patient| (p.measurements[j] - mean).powi(2);
            let deviation = (train.iter().map(square).sum::<f64>() / count).sqrt();
            for patient in train.iter_mut().chain(&mut test) {
                let x = (patient.measurements[j] - mean) / (4.0 * deviation);
                patient.measurements[j] = x.clamp(-1.0, 1.0);
            }
        }
        (train, test)
    }
}

/// sigmoid(R (w x + v x^2 + b)), with w x + v x^2 + b in [-1, 1].
pub struct Model {
    /// w.
    pub linear: Vec<f64>,
    /// v.
    pub quadratic: Vec<f64>,
    /// b.
    pub bias: f64,
    /// R.
    pub range: f64,
    /// sigmoid(R t) for t in [-1, 1], in Chebyshev polynomials of t.
    pub sigmoid: Polynomial,
    /// Largest error of that fit.
    pub sigmoid_error: f64,
}

/// Steps of the descent, their size, and the weight of the penalty on large weights.
const STEPS: usize = 400;
const RATE: f64 = 2.0;
const PENALTY: f64 = 2e-3;
/// How much further the model may go than on any row to train with.
const MARGIN: f64 = 1.25;

impl Model {
    /// Gradient descent on the logistic loss, from zero: the same model every time.
    pub fn train(patients: &[Patient]) -> Result<Self, Error> {
        let width = patients[0].measurements.len();
        let (mut w, mut v, mut b) = (vec![0.0; width], vec![0.0; width], 0.0);
        for _ in 0..STEPS {
            let (mut dw, mut dv, mut db) = (vec![0.0; width], vec![0.0; width], 0.0);
            for patient in patients {
                let x = &patient.measurements;
                let off = sigmoid(value(&w, &v, b, x)) - f64::from(patient.malignant);
                for j in 0..width {
                    dw[j] += off * x[j];
                    dv[j] += off * x[j] * x[j];
                }
                db += off;
            }
            let rate = RATE / patients.len() as f64;
            for j in 0..width {
                w[j] -= rate * dw[j] + RATE * PENALTY * w[j];
                v[j] -= rate * dv[j] + RATE * PENALTY * v[j];
            }
            b -= rate * db;
        }
        let size = |p: &Patient| value(&w, &v, b, &p.measurements).abs();
        let range = MARGIN * patients.iter().map(size).fold(0.0, f64::max);
        let f = |x: DoubleDouble| DoubleDouble::new(sigmoid(range * x.to_f64()) - 0.5);
        // sigmoid - 1/2 is odd: half the products.
        let fit = minimax(&f, &[[-1.0, 1.0]], 31, Parity::Odd)?;
        let mut coefficients: Vec<f64> =
            fit.polynomial.coefficients().iter().map(|c| c.to_complex().re).collect();
        coefficients[0] += 0.5;
        let over = |weights: Vec<f64>| weights.into_iter().map(|x| x / range).collect();
        Ok(Self {
            linear: over(w),
            quadratic: over(v),
            bias: b / range,
            range,
            sigmoid: Polynomial::new(PolynomialBasis::UNIT, coefficients)?,
            sigmoid_error: fit.error,
        })
    }

    /// The share of the patients whose diagnosis is found, with the exact sigmoid.
    pub fn accuracy(&self, patients: &[Patient]) -> f64 {
        let found = |p: &Patient| value(&self.linear, &self.quadratic, self.bias, &p.measurements) > 0.0;
        let right = patients.iter().filter(|p| found(p) == p.malignant).count();
        right as f64 / patients.len() as f64
    }
}

fn value(w: &[f64], v: &[f64], b: f64, x: &[f64]) -> f64 {
    let terms = x.iter().zip(w).zip(v).map(|((x, w), v)| x * w + x * x * v);
    b + terms.sum::<f64>()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
