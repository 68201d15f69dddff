//! Sets the soname of the shared library to the one that programs linked with C-Blosc 1 load.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libblosc.so.1");
    }
}
