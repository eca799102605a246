//! Reading and writing messages in files: numbers as CSV or JSON, pictures as greyscale PNG.

use std::io::Read;
use std::path::Path;

use clap::ValueEnum;
use image::imageops::FilterType;
use image::{GrayImage, ImageFormat, ImageReader};
use zeroize::Zeroizing;

use super::failure::Failure;
use crate::engine::SlotMode;

/// Largest input file, in bytes.
const LARGEST: u64 = 64 << 20;

/// How a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Numbers separated by commas, semicolons, spaces or line ends.
    Csv,
    /// An array of numbers.
    Json,
    /// A picture, in grey.
    Png,
}

impl Format {
    /// The format asked for, or the one the name of the file says.
    pub fn of(asked: Option<Self>, path: &Path) -> Result<Self, Failure> {
        if let Some(asked) = asked {
            return Ok(asked);
        }
        match path
            .extension()
            .and_then(|extension| extension.to_str())
            .map(str::to_ascii_lowercase)
            .as_deref()
        {
            Some("csv" | "txt") => Ok(Self::Csv),
            Some("json") => Ok(Self::Json),
            Some("png") => Ok(Self::Png),
            _ if path == Path::new("-") => Ok(Self::Csv),
            _ => Err(Failure::usage(format!(
                "{} does not say by its name what it holds; end it in .csv, .json or .png, or give --format",
                path.display()
            ))),
        }
    }
}

/// How many numbers a ciphertext holds, and of what kind.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// How many numbers.
    pub numbers: usize,
    /// What a slot holds.
    pub mode: SlotMode,
}

impl Shape {
    /// The numbers of a ciphertext with `slots` slots.
    pub fn new(slots: usize, mode: SlotMode) -> Self {
        Self { numbers: if mode == SlotMode::Complex { 2 * slots } else { slots }, mode }
    }

    /// The picture that fills a ciphertext: as square as a power of two allows.
    pub fn picture(self) -> (u32, u32) {
        let bits = self.numbers.max(1).ilog2();
        (1 << bits.div_ceil(2), 1 << (bits / 2))
    }
}

/// Reads a message. A picture is cropped and scaled to fill the ciphertext, unless `size` says how
/// large it is to be.
pub fn read(
    path: &Path,
    format: Format,
    shape: Shape,
    size: Option<(u32, u32)>,
) -> Result<Zeroizing<Vec<f64>>, Failure> {
    if size.is_some() && format != Format::Png {
        return Err(Failure::usage(format!(
            "--size is for pictures, and {} is not read as one; leave --size away or name a .png",
            path.display()
        )));
    }
    let bytes = read_file(path)?;
    let values = match format {
        Format::Png => read_picture(path, &bytes, shape, size)?,
        Format::Csv => parse_csv(path, &bytes)?,
        Format::Json => parse_json(path, &bytes)?,
    };
    if values.is_empty() {
        return Err(Failure::usage(format!(
            "{} holds no numbers; write at least one, separated by commas, spaces or line ends in CSV",
            path.display()
        )));
    }
    if shape.mode == SlotMode::Complex && format != Format::Png && values.len() % 2 == 1 {
        return Err(Failure::usage(format!(
            "{} holds {} numbers, and complex slots take a real and an imaginary part each; add the last imaginary part, which \
             may be 0",
            path.display(),
            values.len()
        )));
    }
    if values.len() > shape.numbers {
        return Err(Failure::usage(format!(
            "{} holds {} numbers, one ciphertext holds {}; split the file or choose a larger set",
            path.display(),
            values.len(),
            shape.numbers
        )));
    }
    Ok(Zeroizing::new(values))
}

/// The bytes of a message.
pub fn encode(
    format: Format,
    values: &[f64],
    shape: Shape,
    size: Option<(u32, u32)>,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let bytes = match format {
        Format::Csv => {
            values.iter().fold(String::new(), |text, value| text + &value.to_string() + "\n").into_bytes()
        }
        Format::Json => serde_json::to_vec(values).map_err(|error| Failure::system(&error))?,
        Format::Png => write_picture(values, shape, size.unwrap_or(shape.picture()))?,
    };
    Ok(Zeroizing::new(bytes))
}

/// Reads `64x32`.
pub fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let parse = |part: &str| part.parse().ok().filter(|side| (1..=4096).contains(side));
    text.split_once('x')
        .and_then(|(width, height)| Some((parse(width)?, parse(height)?)))
        .ok_or_else(|| "a size is WIDTHxHEIGHT, such as 64x64".to_owned())
}

/// Reads a file of bounded length.
pub fn read_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let file = std::fs::File::open(path).map_err(|error| Failure::file("read", path, &error))?;
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| Failure::file("read", path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::usage(format!(
            "{} is larger than {LARGEST} bytes; no object of refloat is",
            path.display()
        )));
    }
    Ok(bytes)
}

/// Errors number the entries from 1 over the whole file, as the numbers go to slots.
fn parse_csv(path: &Path, bytes: &[u8]) -> Result<Vec<f64>, Failure> {
    let text = std::str::from_utf8(without_mark(bytes))
        .map_err(|_| Failure::usage(format!("{} is not text in UTF-8", path.display())))?;
    let mut values = Vec::new();
    for (line, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let refused = |what: String| Failure::usage(format!("{}, line {}: {what}", path.display(), line + 1));
        if text.contains(',') && text.contains(';') {
            return Err(refused(
                "both commas and semicolons; write a point before decimals, and one kind of separator"
                    .to_owned(),
            ));
        }
        for cell in text.split([',', ';']) {
            let entry = values.len() + 1;
            if cell.trim().is_empty() {
                return Err(refused(format!(
                    "entry {entry} is empty; write a number there, or remove the separator"
                )));
            }
            for word in cell.split_whitespace() {
                let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
                let shown: String = word.chars().take(32).collect();
                let entry = values.len() + 1;
                values
                    .push(value.ok_or_else(|| refused(format!("entry {entry} is {shown:?}, not a number")))?);
            }
        }
    }
    Ok(values)
}

/// Text without the byte order mark that spreadsheets put before it.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

fn parse_json(path: &Path, bytes: &[u8]) -> Result<Vec<f64>, Failure> {
    serde_json::from_slice(without_mark(bytes)).map_err(|error| {
        Failure::usage(format!("{} is not a JSON array of numbers: {error}", path.display()))
    })
}

fn read_picture(
    path: &Path,
    bytes: &[u8],
    shape: Shape,
    size: Option<(u32, u32)>,
) -> Result<Vec<f64>, Failure> {
    let mut reader = ImageReader::with_format(std::io::Cursor::new(bytes), ImageFormat::Png);
    reader.limits(image::Limits::default());
    let picture = reader
        .decode()
        .map_err(|error| Failure::usage(format!("{} is not a PNG picture: {error}", path.display())))?;
    let (width, height) = size.unwrap_or(shape.picture());
    let grey = if (picture.width(), picture.height()) == (width, height) {
        picture.into_luma8()
    } else {
        picture.resize_to_fill(width, height, FilterType::Lanczos3).into_luma8()
    };
    Ok(grey.into_raw().into_iter().map(|pixel| from_pixel(pixel, shape.mode)).collect())
}

fn write_picture(values: &[f64], shape: Shape, (width, height): (u32, u32)) -> Result<Vec<u8>, Failure> {
    let pixels = width as usize * height as usize;
    if pixels > values.len() {
        return Err(Failure::usage(format!(
            "a picture of {width}x{height} has {pixels} pixels, the ciphertext holds {} numbers",
            values.len()
        )));
    }
    let raw = values[..pixels].iter().map(|value| to_pixel(*value, shape.mode)).collect();
    let picture =
        GrayImage::from_raw(width, height, raw).ok_or_else(|| Failure::usage("the picture has no pixels"))?;
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png).map_err(|error| Failure::system(&error))?;
    Ok(bytes.into_inner())
}

/// Black is -1 and white is 1; for bits, dark is 0 and bright is 1; integers are grey levels.
fn from_pixel(pixel: u8, mode: SlotMode) -> f64 {
    match mode {
        SlotMode::Real | SlotMode::Complex => f64::from(pixel) / 127.5 - 1.0,
        SlotMode::Bits => f64::from(pixel >> 7),
        SlotMode::Integers => f64::from(pixel),
    }
}

fn to_pixel(value: f64, mode: SlotMode) -> u8 {
    let grey: f64 = match mode {
        SlotMode::Real | SlotMode::Complex => (value + 1.0) * 127.5,
        SlotMode::Bits => f64::from(u8::from(value >= 0.5)) * 255.0,
        SlotMode::Integers => value,
    };
    grey.round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_fill_a_ciphertext_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture.png");
        for (slots, mode, size) in [
            (512, SlotMode::Real, (32, 16)),
            (512, SlotMode::Complex, (32, 32)),
            (4096, SlotMode::Bits, (64, 64)),
            (1024, SlotMode::Integers, (32, 32)),
        ] {
            let shape = Shape::new(slots, mode);
            assert_eq!(shape.picture(), size);
            let values: Vec<f64> =
                (0..shape.numbers).map(|index| from_pixel((index % 256) as u8, mode)).collect();
            std::fs::write(&path, encode(Format::Png, &values, shape, None).unwrap()).unwrap();
            assert_eq!(*read(&path, Format::Png, shape, None).unwrap(), values);
        }
        let large = Shape::new(4096, SlotMode::Real);
        std::fs::write(&path, encode(Format::Png, &vec![0.0; 4096], large, None).unwrap()).unwrap();
        let small = Shape::new(512, SlotMode::Real);
        assert_eq!(read(&path, Format::Png, small, None).unwrap().len(), 512);
        assert_eq!(read(&path, Format::Png, small, Some((64, 64))).unwrap_err().code, "INVALID_ARGUMENT");
        assert!(encode(Format::Png, &[0.0; 512], small, Some((64, 64))).is_err());
    }

    #[test]
    fn numbers_come_back_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let shape = Shape::new(4, SlotMode::Real);
        let values = [0.1, -1.0, 1e-17, 0.333_333_333_333_333_3];
        for (name, format) in [("a.csv", Format::Csv), ("a.json", Format::Json)] {
            let path = folder.path().join(name);
            assert_eq!(Format::of(None, &path).unwrap(), format);
            std::fs::write(&path, encode(format, &values, shape, None).unwrap()).unwrap();
            assert_eq!(*read(&path, format, shape, None).unwrap(), values);
        }
        let path = folder.path().join("b.csv");
        for good in
            ["1, 0.5 -0.25\n\n0.125\r\n", "\u{feff}1;0.5\r\n-0.25 ; +.125", "\n1\n 0.5\t-0.25\n  \n0.125"]
        {
            std::fs::write(&path, good).unwrap();
            assert_eq!(*read(&path, Format::Csv, shape, None).unwrap(), [1.0, 0.5, -0.25, 0.125], "{good:?}");
        }
        assert!(Format::of(None, Path::new("message")).is_err());
    }

    #[test]
    fn what_is_no_list_of_numbers_is_refused_and_says_where() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |name: &str, content: &[u8], mode: SlotMode| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            let failure =
                read(&path, Format::of(None, &path).unwrap(), Shape::new(4, mode), None).unwrap_err();
            assert_eq!(failure.code, "INVALID_ARGUMENT");
            assert!(failure.detail.contains(name), "{failure:?}");
            failure.detail
        };
        for (content, part) in [
            ("1,2,3,4,5", "holds 5 numbers, one ciphertext holds 4"),
            ("1,x", "line 1: entry 2 is \"x\", not a number"),
            ("re,im\n1,0", "line 1: entry 1 is \"re\""),
            ("1\n0 # the end", "line 2: entry 3 is \"#\""),
            ("\u{1}\0", "entry 1"),
            ("1\n0,,1", "line 2: entry 3 is empty"),
            ("1,0,\n", "line 1: entry 3 is empty"),
            (",1", "line 1: entry 1 is empty"),
            ("0,5;0,25", "both commas and semicolons"),
            ("1\nnan", "line 2: entry 2 is \"nan\""),
            ("-inf", "entry 1"),
            ("1e400", "entry 1"),
            ("0x1", "entry 1"),
        ] {
            let detail = refused("a.csv", content.as_bytes(), SlotMode::Real);
            assert!(detail.contains(part), "{content:?}: {detail}");
        }
        assert!(refused("utf16.csv", b"\xff\xfe1\0,\0", SlotMode::Real).contains("not text in UTF-8"));
        for content in ["[1,2]x", "[1,]", "[null]", "[NaN]", "[1e400]", "[\"1\"]", "[[1]]", "{}", "1", ""] {
            let detail = refused("a.json", content.as_bytes(), SlotMode::Real);
            assert!(detail.contains("not a JSON array of numbers"), "{content:?}: {detail}");
        }
        for (name, content) in [("a.csv", "1,0,1"), ("a.json", "[1,0,1]")] {
            let detail = refused(name, content.as_bytes(), SlotMode::Complex);
            assert!(detail.contains("3 numbers, and complex slots take"), "{detail}");
        }
        let picture = encode(Format::Png, &[0.0; 4], Shape::new(4, SlotMode::Real), None).unwrap();
        for content in [&b""[..], b"GIF89a", &picture[..picture.len() / 2], &picture[1..]] {
            assert!(refused("a.png", content, SlotMode::Real).contains("not a PNG picture"));
        }
    }

    #[test]
    fn a_size_is_for_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "1").unwrap();
        let shape = Shape::new(4, SlotMode::Real);
        let detail = read(&path, Format::Csv, shape, Some((2, 2))).unwrap_err().detail;
        assert!(detail.contains("--size") && detail.contains("a.csv"), "{detail}");
    }

    #[test]
    fn a_file_without_numbers_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let shape = Shape::new(4, SlotMode::Real);
        for (name, content) in [("a.csv", ""), ("b.csv", " \r\n\t\n"), ("c.json", "[]"), ("d.json", " [ ] ")]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            let failure = read(&path, Format::of(None, &path).unwrap(), shape, None).unwrap_err();
            assert_eq!(failure.code, "INVALID_ARGUMENT", "{name}");
            assert!(
                failure.detail.contains("holds no numbers") && failure.detail.contains(name),
                "{failure:?}"
            );
        }
    }

    #[test]
    fn sizes_are_read_strictly() {
        assert_eq!(parse_size("64x32"), Ok((64, 32)));
        for bad in ["64", "64x", "0x1", "5000x1", "64X32", "-1x2"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
