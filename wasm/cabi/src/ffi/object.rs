//! Objects that C holds by pointer. Each begins with a number that tells its type.

use core::marker::PhantomData;

use super::{Argument, Result};
use crate::status::Failure;

/// A type that C knows by name only.
pub trait Opaque: Send + Sync + 'static {
    /// Its name in the header.
    const NAME: &'static str;

    /// Whether it is secret: calls that take or give one wipe their stack.
    const SECRET: bool = false;
}

/// The memory that a pointer to an object points to.
#[repr(C)]
struct Object<T> {
    /// [`kind_of`] the type's name. It comes first in every object.
    kind: u64,
    value: T,
}

/// A number for a type: FNV-1a of its name. `tests/hostile.mjs` passes objects of each type where every other type is expected.
const fn kind_of(name: &str) -> u64 {
    let (bytes, mut hash, mut i) = (name.as_bytes(), 0xcbf2_9ce4_8422_2325_u64, 0);
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x100_0000_01b3);
        i += 1;
    }
    hash
}

/// Whether there is a `T` at a pointer that is not NULL.
fn is_one<T: Opaque>(pointer: *const Object<T>) -> bool {
    // SAFETY: the header requires callers to pass only objects of this library. Each begins with its kind, at the same place and with the
    // same alignment, so the kind can be read before the type is known.
    pointer.is_aligned() && unsafe { (&raw const (*pointer).kind).read() } == kind_of(T::NAME)
}

fn of_another_type<T: Opaque>(name: &str) -> Failure {
    Failure::invalid(format!("{name} is an object of another type; pass a {}", T::NAME))
}

/// An object that is lent for the call.
#[repr(transparent)]
pub struct In<T>(*const Object<T>);

impl<T: Opaque> Argument for In<T> {
    type Value<'a> = &'a T;

    const SECRET: bool = T::SECRET;

    fn take<'a>(&'a self, name: &'static str) -> Result<&'a T> {
        if self.0.is_null() {
            return Err(Failure::invalid(format!("{name} is NULL; pass a {}", T::NAME)));
        }
        if !is_one(self.0) {
            return Err(of_another_type::<T>(name));
        }
        // SAFETY: it is a `T` that `Out::give` made, and the header requires callers to keep it until the call is over. Objects never
        // change, so any number of threads may hold such references.
        Ok(unsafe { &(*self.0).value })
    }
}

/// An object that is given back to be freed; NULL is none.
#[repr(transparent)]
pub struct Own<T>(*mut Object<T>);

impl<T: Opaque> Own<T> {
    /// Frees the object. An object of another type is left alone.
    pub fn free(self) {
        if !self.0.is_null() && is_one(self.0) {
            // SAFETY: it is a `T` in a box that `Out::give` gave away, and the header requires callers to free it only once, when nothing
            // uses it any more.
            unsafe {
                // Volatile, or the write would be optimised away. Until the memory is used again, a second call finds no object there.
                (&raw mut (*self.0).kind).write_volatile(0);
                drop(Box::from_raw(self.0));
            }
        }
    }
}

/// Place for a pointer to a new object.
#[repr(transparent)]
pub struct Out<T>(*mut *mut Object<T>);

/// [`Out`], checked.
pub struct Slot<'a, T>(*mut *mut Object<T>, PhantomData<&'a T>);

impl<T: Opaque> Argument for Out<T> {
    type Value<'a> = Slot<'a, T>;

    const SECRET: bool = T::SECRET;

    fn take<'a>(&'a self, name: &'static str) -> Result<Slot<'a, T>> {
        if self.0.is_null() || !self.0.is_aligned() {
            return Err(Failure::invalid(format!(
                "{name} is not a place for a pointer; pass the address of a {} *",
                T::NAME
            )));
        }
        Ok(Slot(self.0, PhantomData))
    }
}

impl<T: Opaque> Slot<'_, T> {
    /// Gives an object to the caller.
    pub fn give(self, value: T) {
        let object = Box::into_raw(Box::new(Object { kind: kind_of(T::NAME), value }));
        // SAFETY: the place is not NULL and aligned, and the header requires it to be a pointer of the caller's. Its old value is not
        // looked at.
        unsafe { self.0.write(object) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Number(u32);
    struct Other;

    impl Opaque for Number {
        const NAME: &'static str = "rf_number";
    }

    impl Opaque for Other {
        const NAME: &'static str = "rf_other";
    }

    #[test]
    fn an_object_is_what_it_was_made_as() {
        let mut held: *mut Object<Number> = core::ptr::null_mut();
        Out(&raw mut held).take("out").ok().unwrap().give(Number(7));
        let value = In(held.cast_const());
        assert_eq!(value.take("x").ok().unwrap().0, 7);
        assert!(In(held.cast::<Object<Other>>().cast_const()).take("x").is_err());
        assert!(In::<Number>(core::ptr::null()).take("x").is_err());
        assert!(Out::<Number>(core::ptr::null_mut()).take("x").is_err());
        Own(held.cast::<Object<Other>>()).free();
        assert_eq!(value.take("x").ok().unwrap().0, 7);
        Own(held).free();
        Own::<Number>(core::ptr::null_mut()).free();
    }
}
