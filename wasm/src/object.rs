//! Plain JavaScript objects.

use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;

/// Sets a property of a plain object.
pub fn set(object: &Object, name: &str, value: impl Into<JsValue>) {
    // Setting a property of an ordinary, extensible object cannot fail.
    let _ = Reflect::set(object, &JsValue::from_str(name), &value.into());
}

/// A plain object, built field by field.
pub struct Fields(Object);

impl Fields {
    /// An empty object.
    pub fn new() -> Self {
        Self(Object::new())
    }

    /// Adds a field, unless its value is undefined.
    pub fn with(self, name: &str, value: impl Into<JsValue>) -> Self {
        let value = value.into();
        if !value.is_undefined() {
            set(&self.0, name, value);
        }
        self
    }

    /// The object.
    pub fn done(self) -> JsValue {
        self.0.into()
    }
}

/// A JavaScript array of an iterator's items.
pub fn array(items: impl IntoIterator<Item = JsValue>) -> JsValue {
    items.into_iter().collect::<js_sys::Array>().into()
}
