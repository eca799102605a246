//! Server-sent events, as the HTML standard defines them (section 9.2.6, "Interpreting an event stream"), from a sender that is
//! not trusted: the length of a line, of an event and of all of them together is bounded.

use std::io::{self, ErrorKind, Read};

/// Most bytes of a line, and of the data of an event.
const LARGEST: usize = 1 << 16;

/// Most bytes of all events of a job.
pub const ALL: u64 = 32 << 20;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The last identifier that the stream gave; empty if it gave none.
    pub id: String,
    /// The name of the event; "message" if the stream does not say.
    pub name: String,
    /// Its data.
    pub data: String,
}

/// The events of a stream.
pub struct EventStream<R> {
    reader: R,
    left: u64,
    buffer: Box<[u8]>,
    /// The part of the buffer that is still to be interpreted.
    pending: std::ops::Range<usize>,
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, so that a line feed would belong to the same line end.
    returned: bool,
    first: bool,
    id: String,
    name: String,
    data: String,
}

impl<R: Read> EventStream<R> {
    /// The events read from `reader`, which may bring up to `left` bytes.
    pub fn new(reader: R, left: u64) -> Self {
        Self {
            reader,
            left,
            buffer: vec![0; 1 << 13].into_boxed_slice(),
            pending: 0..0,
            line: Vec::new(),
            returned: false,
            first: true,
            id: String::new(),
            name: String::new(),
            data: String::new(),
        }
    }

    /// Bytes that may still come.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The next event; `None` when the stream has ended. An event cut off by the end does not count.
    ///
    /// # Errors
    /// The stream breaks off, or a line, an event or the whole stream is too long.
    pub fn next_event(&mut self) -> io::Result<Option<Event>> {
        while self.read_line()? {
            let line = std::mem::take(&mut self.line);
            let event = self.take_line(&String::from_utf8_lossy(&line))?;
            // The next line reuses this memory.
            self.line = line;
            self.line.clear();
            if event.is_some() {
                return Ok(event);
            }
        }
        Ok(None)
    }

    /// Reads the rest of a line, which ends in CR, LF or both, into `line`. Returns whether there was a line end.
    fn read_line(&mut self) -> io::Result<bool> {
        loop {
            if self.pending.is_empty() {
                let length = match self.reader.read(&mut self.buffer) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    outcome => outcome?,
                };
                if length == 0 {
                    return Ok(false);
                }
                self.left = self.left.checked_sub(length as u64).ok_or_else(|| too_long("all", ALL))?;
                self.pending = 0..length;
            }
            if std::mem::take(&mut self.returned) && self.buffer[self.pending.start] == b'\n' {
                self.pending.start += 1;
                continue;
            }
            let bytes = &self.buffer[self.pending.clone()];
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let length = end.unwrap_or(bytes.len());
            if self.line.len() + length > LARGEST {
                return Err(too_long("a line", LARGEST as u64));
            }
            self.line.extend_from_slice(&bytes[..length]);
            self.returned = end.is_some_and(|end| bytes[end] == b'\r');
            self.pending.start += length + usize::from(end.is_some());
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    fn take_line(&mut self, line: &str) -> io::Result<Option<Event>> {
        let line = if std::mem::take(&mut self.first) {
            line.strip_prefix('\u{feff}').unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                if self.data.len() + value.len() + 1 > LARGEST {
                    return Err(too_long("an event", LARGEST as u64));
                }
                self.data.push_str(value);
                self.data.push('\n');
            }
            "id" if !value.contains('\0') => value.clone_into(&mut self.id),
            // A comment, an unknown field, or the wait before the next try, which we choose ourselves.
            _ => {}
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Option<Event> {
        let (name, mut data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
        // Without any data, there is no event.
        data.pop()?;
        let name = if name.is_empty() { "message".to_owned() } else { name };
        Some(Event { id: self.id.clone(), name, data })
    }
}

fn too_long(what: &str, most: u64) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("{what} of the event stream has more than {most} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(buffer.len()).min(self.0.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    /// Events as name, data and identifier, which must not depend on the pieces in which the stream arrives.
    fn events(text: &[u8]) -> Vec<[String; 3]> {
        let of = |piece: usize| {
            let mut stream = EventStream::new(Trickle(text, piece), ALL);
            let mut found = Vec::new();
            while let Some(Event { id, name, data }) = stream.next_event().unwrap() {
                found.push([name, data, id]);
            }
            found
        };
        let whole = of(usize::MAX);
        for piece in 1..5 {
            assert_eq!(of(piece), whole, "pieces of {piece}");
        }
        whole
    }

    fn datas(text: &str) -> Vec<String> {
        events(text.as_bytes()).into_iter().map(|[_, data, _]| data).collect()
    }

    /// The cases of the web platform tests, `eventsource/format-*`, and of the examples in the standard.
    #[test]
    fn the_grammar_is_that_of_the_standard() {
        // format-bom, format-bom-2: one byte order mark is skipped, a second one belongs to the field.
        assert_eq!(datas("\u{feff}data:1\n\n\u{feff}data:2\n\ndata:3\n\n"), ["1", "3"]);
        assert_eq!(datas("\u{feff}\u{feff}data:1\n\ndata:2\n\ndata:3\n\n"), ["2", "3"]);
        // format-comments.
        let long = "x".repeat(2 * 1024);
        assert_eq!(
            datas(&format!("data:1\r:\0\n:\r\ndata:2\n:{long}\rdata:3\n:data:fail\r:{long}\ndata:4\n\n")),
            ["1\n2\n3\n4"]
        );
        // format-data-before-final-empty-line: an event that is cut off does not count.
        assert_eq!(datas("retry:1000\ndata:test1\n\nid:test\ndata:test2"), ["test1"]);
        // format-field-data.
        assert_eq!(datas("data:\n\ndata\ndata\n\ndata:test\n\n"), ["", "\n", "test"]);
        // format-field-event, format-field-event-empty.
        let named = events(b"event:test\ndata:x\n\ndata:x\n\nevent:\ndata:y\n\n");
        assert_eq!(
            named.iter().map(|[name, ..]| name.as_str()).collect::<Vec<_>>(),
            ["test", "message", "message"]
        );
        // format-field-id, -id-2, -id-null: an identifier persists, an empty one clears it, one with NUL is ignored.
        let ids = events(b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid: 2\0\ndata: d\n\n");
        assert_eq!(ids.iter().map(|[_, _, id]| id.as_str()).collect::<Vec<_>>(), ["1", "1", "", ""]);
        // format-field-parsing.
        let text = "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n";
        assert_eq!(datas(text), ["\0\n 2\n1\n3\n\n4"]);
        // format-field-retry, -retry-bogus, -retry-empty, format-field-unknown.
        assert_eq!(
            datas(
                "retry:3000\nretry:bogus\nretry\ndata:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n"
            ),
            ["test\n\ntest"]
        );
        // format-leading-space.
        assert_eq!(datas("data:\ttest\rdata: \ndata:test\n\n"), ["\ttest\n\ntest"]);
        // format-newlines.
        assert_eq!(datas("data:test\r\ndata\ndata:test\r\n\r\n"), ["test\n\ntest"]);
        // format-null-character.
        assert_eq!(datas("data:\0\n\n\n\n"), ["\0"]);
        // format-utf-8, and bytes that are not UTF-8.
        assert_eq!(datas("data:ok…\n\n"), ["ok…"]);
        assert_eq!(events(b"data:\xff\n\n")[0][1], "\u{fffd}");
        // The stock ticker of the standard, and its test stream, whose third event is cut off here.
        assert_eq!(datas("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
        assert_eq!(
            datas(
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n"
            ),
            ["first event", "second event"]
        );
    }

    #[test]
    fn endless_lines_and_events_are_refused() {
        const FEW: u64 = 1 << 20;
        struct Endless(&'static [u8], u64);
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                for byte in buffer.iter_mut() {
                    *byte = self.0[(self.1 % self.0.len() as u64) as usize];
                    self.1 += 1;
                }
                Ok(buffer.len())
            }
        }
        for (pattern, what) in
            [(&b"x"[..], "a line"), (b"data:x\n", "an event"), (b"data\n", "an event"), (b":", "a line")]
        {
            let mut stream = EventStream::new(Endless(pattern, 0), ALL);
            let error = stream.next_event().unwrap_err();
            assert!(error.to_string().starts_with(what), "{error}");
            assert!(stream.line.capacity() + stream.data.capacity() < 4 * LARGEST);
        }
        // Any number of short events is fine until their bytes exceed the limit for all connections together.
        let (mut left, mut events) = (FEW, 0_u64);
        let error = loop {
            let mut stream = EventStream::new(Endless(b"data:1\n\n", 0), left);
            let outcome = (0..50_000).try_for_each(|_| {
                events += u64::from(stream.next_event()?.is_some());
                Ok::<_, io::Error>(())
            });
            left = stream.left();
            if let Err(error) = outcome {
                break error;
            }
        };
        assert!(error.to_string().starts_with("all of the event stream"), "{error}");
        assert!((FEW / 8 - 8192..=FEW / 8).contains(&events), "{events}");
        let error = EventStream::new(Endless(b":\n", 0), FEW).next_event().unwrap_err();
        assert!(error.to_string().starts_with("all of the event stream"), "{error}");
    }
}
