//! A library that says it is ONNX Runtime 1.10, compiled by the test that needs it.

#[repr(C)]
pub struct Base {
    api: extern "C" fn(u32) -> *const u8,
    version: extern "C" fn() -> *const u8,
}

extern "C" fn api(_version: u32) -> *const u8 {
    std::ptr::null()
}

extern "C" fn version() -> *const u8 {
    c"1.10.0".as_ptr().cast()
}

static BASE: Base = Base { api, version };

#[cfg_attr(not(stub), unsafe(no_mangle))]
pub extern "C" fn OrtGetApiBase() -> *const Base {
    &BASE
}
