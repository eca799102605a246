//! Memory of the caller's: text, arrays, and places for results.

use core::{
    ffi::{CStr, c_char},
    marker::PhantomData,
    slice,
};

use zeroize::Zeroizing;

use super::{Argument, Result};
use crate::status::{BUFFER, Failure};

/// Types without padding, for which every bit pattern is a value.
pub trait Plain: Copy + 'static {}

impl Plain for u8 {}
impl Plain for i8 {}
impl Plain for i32 {}
impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for usize {}
impl Plain for f64 {}

/// C's `bool`. Callers that are not C pass bytes other than 0 and 1, which must not become a `bool` here.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Flag(u8);

impl Flag {
    /// Whether it is set.
    pub fn is_set(self) -> bool {
        self.0 != 0
    }
}

impl Argument for Flag {
    type Value<'a> = bool;

    fn take(&self, _name: &'static str) -> Result<bool> {
        Ok(self.is_set())
    }
}

/// Text that ends with a NUL.
#[repr(transparent)]
pub struct Text(*const c_char);

impl Argument for Text {
    type Value<'a> = &'a str;

    fn take<'a>(&'a self, name: &'static str) -> Result<&'a str> {
        if self.0.is_null() {
            return Err(Failure::invalid(format!("{name} is NULL; pass text that ends with a NUL")));
        }
        // SAFETY: not NULL; the header requires text that ends with a NUL and does not change during the call.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map_err(|_| Failure::invalid(format!("{name} is not UTF-8")))
    }
}

/// Items that are lent for the call; another argument gives their number.
#[repr(transparent)]
pub struct Array<T>(pub(super) *const T);

/// [`Array`], checked, with its name.
pub struct Items<'a, T>(*const T, &'static str, PhantomData<&'a T>);

impl<T: Plain> Argument for Array<T> {
    type Value<'a> = Items<'a, T>;

    fn take<'a>(&'a self, name: &'static str) -> Result<Items<'a, T>> {
        Ok(Items(self.0, name, PhantomData))
    }
}

impl<'a, T: Plain> Items<'a, T> {
    /// The items, `count` of them. NULL is allowed if there are none.
    pub fn of(self, count: usize) -> Result<&'a [T]> {
        let Self(pointer, name, _) = self;
        if pointer.is_null() && count == 0 {
            return Ok(&[]);
        }
        if pointer.is_null() {
            return Err(Failure::invalid(format!("{name} is NULL, and {count} items were to be there")));
        }
        let fits = count.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
        if !pointer.is_aligned() || !fits {
            return Err(Failure::invalid(format!(
                "{name} is not an array of {count} items of {} bytes",
                size_of::<T>()
            )));
        }
        // SAFETY: neither NULL nor misaligned, not longer than memory can be, and any bits are a `T`; the header requires `count` items
        // that do not change during the call.
        Ok(unsafe { slice::from_raw_parts(pointer, count) })
    }

    /// The number of items that the header states, `N`.
    pub fn exactly<const N: usize>(self) -> Result<[T; N]> {
        let name = self.1;
        let items = self.of(N)?;
        items.try_into().map_err(|_| Failure::invalid(format!("{name} has not {N} items")))
    }
}

/// 32 bytes of randomness, or NULL for the system's.
#[repr(transparent)]
pub struct SeedBytes(*const u8);

impl Argument for SeedBytes {
    type Value<'a> = Option<Zeroizing<[u8; 32]>>;

    const SECRET: bool = true;

    fn take<'a>(&'a self, name: &'static str) -> Result<Self::Value<'a>> {
        if self.0.is_null() {
            return Ok(None);
        }
        Array(self.0).take(name)?.exactly().map(|bytes| Some(Zeroizing::new(bytes)))
    }
}

/// Room for a result; another argument gives its capacity. NULL has none.
#[repr(transparent)]
pub struct Room<T>(*mut T);

/// [`Room`], checked, with its name.
pub struct Space<'a, T>(*mut T, &'static str, PhantomData<&'a T>);

impl<T: Plain> Argument for Room<T> {
    type Value<'a> = Space<'a, T>;

    fn take<'a>(&'a self, name: &'static str) -> Result<Space<'a, T>> {
        if self.0.is_aligned() {
            return Ok(Space(self.0, name, PhantomData));
        }
        Err(Failure::invalid(format!("{name} is not aligned to its items of {} bytes", size_of::<T>())))
    }
}

impl<T: Plain> Space<'_, T> {
    /// Refuses a result that will not fit, and then writes its length.
    pub fn check(&self, capacity: usize, length: &Spot<'_, usize>, needed: usize) -> Result<()> {
        let name = self.1;
        if capacity < needed {
            length.put(needed);
            return Err(Failure::new(
                BUFFER,
                format!("{name} has room for {capacity} items, and {needed} are needed"),
            ));
        }
        if self.0.is_null() && needed > 0 {
            return Err(Failure::invalid(format!("{name} is NULL, and has no room for {needed} items")));
        }
        Ok(())
    }

    /// Writes a whole result and its length; if the result does not fit, only the length.
    pub fn fill(&self, capacity: usize, length: &Spot<'_, usize>, items: &[T]) -> Result<()> {
        self.check(capacity, length, items.len())?;
        self.copy(items);
        length.put(items.len());
        Ok(())
    }

    /// Writes a result whose length the header states.
    pub fn put(&self, items: &[T]) -> Result<()> {
        if self.0.is_null() {
            return Err(Failure::invalid(format!("{} is NULL; pass room for {} items", self.1, items.len())));
        }
        self.copy(items);
        Ok(())
    }

    fn copy(&self, items: &[T]) {
        if items.is_empty() {
            return;
        }
        // SAFETY: callers have checked that the pointer is not NULL; it is aligned, and the caller states that there is room for `capacity`
        // items, which is enough. The items are this library's own, so nothing overlaps.
        unsafe { core::ptr::copy_nonoverlapping(items.as_ptr(), self.0, items.len()) };
    }
}

impl Room<c_char> {
    /// Writes as much of a text as fits, with a NUL at its end; returns the bytes that all of it needs. For [`crate::about`].
    pub fn fill_part(&self, capacity: usize, text: &str) -> usize {
        if let (false, Some(room)) = (self.0.is_null(), capacity.checked_sub(1)) {
            let end = text.floor_char_boundary(room.min(text.len()));
            Space(self.0, "out", PhantomData).copy(&chars(&text[..end]));
        }
        text.len() + 1
    }
}

impl Space<'_, c_char> {
    /// Writes a text with a NUL at its end.
    pub fn fill_text(&self, capacity: usize, length: &Spot<'_, usize>, text: &str) -> Result<()> {
        self.fill(capacity, length, &chars(text))
    }
}

fn chars(text: &str) -> Vec<c_char> {
    text.bytes().chain([0]).map(|byte| byte as c_char).collect()
}

/// Place for a number.
#[repr(transparent)]
pub struct Place<T>(*mut T);

/// [`Place`], checked.
pub struct Spot<'a, T>(*mut T, PhantomData<&'a T>);

impl<T: Plain> Argument for Place<T> {
    type Value<'a> = Spot<'a, T>;

    fn take<'a>(&'a self, name: &'static str) -> Result<Spot<'a, T>> {
        if self.0.is_null() || !self.0.is_aligned() {
            return Err(Failure::invalid(format!(
                "{name} is not a place for a number; pass the address of one"
            )));
        }
        Ok(Spot(self.0, PhantomData))
    }
}

impl<T: Plain> Spot<'_, T> {
    /// Writes the number.
    pub fn put(&self, value: T) {
        // SAFETY: not NULL and aligned, and the header requires it to point to a number of the caller's.
        unsafe { self.0.write(value) };
    }
}

#[cfg(test)]
mod tests {
    use core::ptr::{null, null_mut};

    use super::*;

    #[test]
    fn arrays_are_checked_before_they_are_read() {
        let numbers = [1.0f64, 2.0, 3.0];
        let array = |pointer: *const f64| Items(pointer, "x", PhantomData);
        assert_eq!(array(numbers.as_ptr()).of(3).ok().unwrap(), numbers);
        assert_eq!(array(null::<f64>()).of(0).ok().unwrap(), [0.0f64; 0]);
        assert!(array(null::<f64>()).of(1).is_err());
        assert!(array(numbers.as_ptr()).of(usize::MAX).is_err());
        assert!(array(numbers.as_ptr()).of(usize::MAX / 8).is_err());
        assert!(array(numbers.as_ptr().wrapping_byte_add(1)).of(1).is_err());
        assert!(array(null::<f64>()).exactly::<2>().is_err());
        assert!(SeedBytes(null()).take("seed").ok().unwrap().is_none());
    }

    #[test]
    fn results_are_written_whole_or_not_at_all() {
        let (mut bytes, mut length) = ([9u8; 4], 77usize);
        {
            let (room, place) = (Room(bytes.as_mut_ptr()), Place(&raw mut length));
            let (room, place) = (room.take("out").ok().unwrap(), place.take("length").ok().unwrap());
            assert!(room.fill(2, &place, &[1, 2, 3]).is_err_and(|failure| failure.status == BUFFER));
        }
        assert_eq!((bytes, length), ([9; 4], 3));
        let nowhere = Room(null_mut::<u8>());
        let place = Place(&raw mut length);
        let place = place.take("length").ok().unwrap();
        let nowhere = nowhere.take("out").ok().unwrap();
        assert!(nowhere.fill(0, &place, &[1]).is_err_and(|failure| failure.status == BUFFER));
        assert!(nowhere.fill(5, &place, &[1, 2]).is_err_and(|failure| failure.status != BUFFER));
        assert!(nowhere.put(&[1]).is_err());
        assert_eq!(
            length, 1,
            "the length of a result that did not fit, and not of one that had nowhere to go"
        );
        assert!(Place(null_mut::<usize>()).take("length").is_err());
        assert!(Text(null()).take("name").is_err());
        assert_eq!(
            [0, 1, 2, 255].map(|byte| Flag(byte).take("flag").ok().unwrap()),
            [false, true, true, true]
        );
        assert!(Text(c"\xff".as_ptr()).take("name").is_err());
    }

    #[test]
    fn a_text_that_does_not_fit_is_cut_between_characters() {
        let mut out: [c_char; 8] = [1; 8];
        assert_eq!(Room(out.as_mut_ptr()).fill_part(4, "aöo"), 5);
        assert_eq!(
            out[..5].iter().map(|&c| c as u8).collect::<Vec<_>>(),
            ["aö".as_bytes(), &[0, 1]].concat()
        );
        assert_eq!(Room(out.as_mut_ptr()).fill_part(3, "aöo"), 5);
        assert_eq!(out[..3].iter().map(|&c| c as u8).collect::<Vec<_>>(), [b'a', 0, 0xb6]);
        assert_eq!(Room(null_mut()).fill_part(9, "a"), 2);
        assert_eq!(Room(out.as_mut_ptr()).fill_part(0, "b"), 2);
        assert_eq!(out[0] as u8, b'a');
    }
}
