//! Whether a connection still moves: the bytes that its peer takes, and the answers under way.
//!
//! There are two signs of a peer that takes nothing: its socket buffer is full, or a chunk of an answer is ready and is not polled. Only
//! the second shows in HTTP/2, where the connection goes on moving while a stream stands still. To make it visible in every answer,
//! chunks are small and the last byte is a chunk of its own: HTTP/2 holds a chunk until the window of the stream has room for some of
//! it, and after the last one no longer polls the body.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::turns::Slot;
use crate::config::LimitsSection;

/// How patient a connection is with its peer.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Longest time without a request.
    pub quiet: Duration,
    /// Longest time without taking bytes that are ready.
    pub write: Duration,
    /// Least average speed of an answer of known length, in bytes per second.
    pub rate: u64,
}

impl Patience {
    /// The patience that is configured.
    pub fn new(limits: &LimitsSection) -> Self {
        Self {
            quiet: Duration::from_secs(limits.header_seconds),
            write: Duration::from_secs(limits.write_idle_seconds),
            rate: limits.min_bytes_per_second,
        }
    }
}

/// How a connection moves.
pub struct Progress {
    patience: Patience,
    state: Mutex<State>,
}

struct State {
    /// Since when the socket takes no more bytes.
    stuck: Option<Instant>,
    /// Since when there has been no request, if there is none. A ping is not a request.
    rested: Instant,
    /// Requests being answered.
    active: usize,
    /// When the piece that an answer has ready has to be taken.
    due: HashMap<u64, Instant>,
    next: u64,
}

impl Progress {
    /// A connection that has just begun.
    pub fn new(patience: Patience) -> Arc<Self> {
        let state = State { stuck: None, rested: Instant::now(), active: 0, due: HashMap::new(), next: 0 };
        Arc::new(Self { patience, state: Mutex::new(state) })
    }

    /// Why the connection is to be closed, if it is.
    pub fn verdict(&self) -> Option<&'static str> {
        let (now, state) = (Instant::now(), self.state());
        if state.stuck.is_some_and(|since| now - since > self.patience.write) {
            return Some("takes_no_bytes");
        }
        if state.due.values().any(|due| *due < now) {
            return Some("takes_answers_too_slowly");
        }
        let quiet = state.active == 0 && state.stuck.is_none() && now - state.rested > self.patience.quiet;
        quiet.then_some("sends_no_request")
    }

    /// Notes a request, whose answer is under way until the returned value is dropped.
    pub fn begin(self: &Arc<Self>) -> Exchange {
        let mut state = self.state();
        state.active += 1;
        state.next += 1;
        Exchange { progress: Arc::clone(self), id: state.next }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request being answered.
pub struct Exchange {
    progress: Arc<Progress>,
    id: u64,
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let mut state = self.progress.state();
        state.active -= 1;
        state.rested = Instant::now();
        state.due.remove(&self.id);
    }
}

/// What is done when an answer has ended, given the bytes that were handed over and whether that was all.
pub type AtEnd = Box<dyn FnOnce(u64, bool) + Send + Sync>;

/// Bytes of an answer that are handed over at once.
const PIECE: usize = 16 << 10;

/// The body of an answer, watched.
pub struct Watched {
    inner: Body,
    exchange: Exchange,
    began: Instant,
    /// The rest of the last frame, still to be handed over.
    pending: Bytes,
    handed: u64,
    /// Length of the body, if known: only then does its speed depend on the peer alone.
    length: Option<u64>,
    ended: bool,
    at_end: Option<AtEnd>,
    _held: Option<Arc<Slot>>,
}

impl Watched {
    /// Watches a body, which has `stated` bytes if its header says so, and keeps the turn that is `held` for it to its end.
    pub fn new(
        inner: Body,
        exchange: Exchange,
        stated: Option<u64>,
        held: Option<Arc<Slot>>,
        at_end: AtEnd,
    ) -> Self {
        // An answer to HEAD states the length of what it does not have.
        let length = if inner.is_end_stream() { Some(0) } else { stated.or(inner.size_hint().exact()) };
        Self {
            inner,
            exchange,
            began: Instant::now(),
            pending: Bytes::new(),
            handed: 0,
            length,
            ended: false,
            at_end: Some(at_end),
            _held: held,
        }
    }

    /// The next piece of what is pending.
    fn piece(&mut self) -> Bytes {
        let all = self.pending.len();
        let last = self.inner.is_end_stream() || self.length == Some(self.handed + all as u64);
        let bytes = if last && (2..=PIECE).contains(&all) { all - 1 } else { all.min(PIECE) };
        let patience = self.exchange.progress.patience;
        let mut due = Instant::now() + patience.write;
        if self.length.is_some() {
            // The bytes taken so far have earned this much time.
            due = due.min(self.began + patience.write + Duration::from_secs(self.handed / patience.rate));
        }
        self.handed += bytes as u64;
        self.exchange.progress.state().due.insert(self.exchange.id, due);
        self.pending.split_to(bytes)
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.exchange.progress.state().due.remove(&self.exchange.id);
        if self.pending.is_empty() {
            let frame = match std::task::ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                end => {
                    self.ended = end.is_none();
                    return Poll::Ready(end);
                }
            };
            match frame.into_data() {
                Ok(data) => self.pending = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        Poll::Ready(Some(Ok(Frame::data(self.piece()))))
    }

    fn is_end_stream(&self) -> bool {
        self.pending.is_empty() && (self.inner.is_end_stream() || self.length == Some(self.handed))
    }

    fn size_hint(&self) -> SizeHint {
        match self.length {
            Some(length) => SizeHint::with_exact(length.saturating_sub(self.handed)),
            None => SizeHint::default(),
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let whole = self.ended || self.is_end_stream();
        if let Some(at_end) = self.at_end.take() {
            at_end(self.handed, whole);
        }
    }
}

/// A socket, watched.
pub struct Socket<S> {
    inner: S,
    progress: Arc<Progress>,
}

impl<S> Socket<S> {
    /// Watches a socket.
    pub fn new(inner: S, progress: Arc<Progress>) -> Self {
        Self { inner, progress }
    }

    fn note(&self, outcome: &Poll<std::io::Result<usize>>) {
        let mut state = self.progress.state();
        match outcome {
            Poll::Pending => {
                state.stuck.get_or_insert_with(Instant::now);
            }
            Poll::Ready(_) => state.stuck = None,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Socket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Socket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.note(&outcome);
        outcome
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write_vectored(context, bytes);
        self.note(&outcome);
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
