//! WebAssembly surface of refloat, one file per topic and no logic of its own.
