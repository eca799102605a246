//! Functions that the caller passes.

use core::{
    ffi::{c_char, c_void},
    ptr::null,
};
use std::ffi::CString;

use super::{Argument, Array, Flag, Result};
use crate::status::Failure;

/// The pointer that the caller's functions get back.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct User(*mut c_void);

// SAFETY: the pointer is never followed here, and the caller's functions are called by the thread that called this library.
unsafe impl Send for User {}

/// `rf_progress`, or NULL.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Progress(Option<extern "C" fn(User, *const c_char, u64, u64) -> Flag>);

impl Argument for Progress {
    type Value<'a> = Self;

    fn take(&self, _name: &'static str) -> Result<Self> {
        Ok(*self)
    }
}

impl Progress {
    /// Tells how far a stage is; returns whether to go on.
    pub fn tell(self, user: User, stage: &str, done: usize, total: usize) -> bool {
        let Some(call) = self.0 else { return true };
        // Names of stages have no NUL.
        let stage = CString::new(stage).unwrap_or_default();
        call(user, stage.as_ptr(), done as u64, total as u64).is_set()
    }
}

/// `rf_part_reader`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct PartReader(Option<extern "C" fn(User, usize, *mut *const u8, *mut usize) -> Flag>);

impl Argument for PartReader {
    type Value<'a> = Self;

    fn take(&self, name: &'static str) -> Result<Self> {
        if self.0.is_some() {
            return Ok(*self);
        }
        Err(Failure::invalid(format!("{name} is NULL; pass the function that gives the parts of the keys")))
    }
}

impl PartReader {
    /// Calls `work` with a part of evaluation keys; `None` if the caller has none to give.
    pub fn with_part<T>(
        self,
        user: User,
        index: usize,
        work: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        let (mut bytes, mut length) = (null(), 0);
        let Some(call) = self.0 else { return Ok(None) };
        if !call(user, index, &raw mut bytes, &raw mut length).is_set() {
            return Ok(None);
        }
        // The header requires the bytes to stay until the function is called again, or the call is over.
        let array = Array(bytes);
        work(array.take("a part of the keys")?.of(length)?).map(Some)
    }
}
