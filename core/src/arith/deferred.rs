//! Values computed when they are first asked for.

/// A value that is computed once, when it is first asked for. Without the standard library, whose cell threads can
/// share, it is computed in `new`.
#[derive(Clone, Debug)]
pub(crate) struct Deferred<T> {
    #[cfg(feature = "std")]
    cell: std::sync::OnceLock<T>,
    #[cfg(not(feature = "std"))]
    cell: T,
}

impl<T> Deferred<T> {
    /// `make` must give the same value as the one passed to [`Self::get`].
    #[cfg(feature = "std")]
    pub(crate) fn new(_make: impl FnOnce() -> T) -> Self {
        Self { cell: std::sync::OnceLock::new() }
    }

    /// `make` must give the same value as the one passed to [`Self::get`].
    #[cfg(not(feature = "std"))]
    pub(crate) fn new(make: impl FnOnce() -> T) -> Self {
        Self { cell: make() }
    }

    /// The value.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> &T {
        self.cell.get_or_init(make)
    }

    /// The value.
    #[cfg(not(feature = "std"))]
    #[inline]
    pub(crate) fn get(&self, _make: impl FnOnce() -> T) -> &T {
        &self.cell
    }

    /// The value, if it has been computed.
    #[cfg_attr(not(feature = "std"), allow(clippy::unnecessary_wraps))] // Without `std` it is there from the start.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        #[cfg(feature = "std")]
        return self.cell.get_mut();
        #[cfg(not(feature = "std"))]
        return Some(&mut self.cell);
    }
}
