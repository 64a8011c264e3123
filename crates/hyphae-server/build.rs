//! Links the program so that the system's loader has less to do at each start.
//!
//! Both are for a program that runs where it was built, and both are left out where the tools
//! do not tell that they can: the program is the same, and starts a tenth of a millisecond later.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told by variables what it builds for"
)]

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let target = env::var("TARGET").unwrap_or_default();
    let runs_here = env::var("HOST").is_ok_and(|host| host == target);
    if !runs_here || !target.ends_with("-linux-gnu") {
        return Ok(());
    }
    if glibc().is_some_and(|version| version >= PACKED) {
        // The loader fixes 17,000 addresses; packed, their list takes 5 KB instead of 410.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    if let (Some(unwinder), Some(out)) = (unwinder(), env::var_os("OUT_DIR")) {
        // The standard library asks for `gcc_s`, the compiler's shared library, only to unwind
        // panics. A script of that name, found first, gives it the part that does, so that
        // there is one library less to load.
        let script = format!("INPUT({})\n", unwinder.display());
        fs::write(Path::new(&out).join("libgcc_s.so"), script)?;
        println!("cargo::rustc-link-search=native={}", out.display());
    }
    Ok(())
}

/// The first version of glibc that reads packed relocations; an older one refuses the program.
const PACKED: (u32, u32) = (2, 36);

fn glibc() -> Option<(u32, u32)> {
    let told = told_by("getconf", "GNU_LIBC_VERSION")?;
    let (major, minor) = told.strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Where the unwinder lies as a library to be linked in.
fn unwinder() -> Option<PathBuf> {
    let place = PathBuf::from(told_by("cc", "-print-file-name=libgcc_eh.a")?);
    // A compiler that does not have it says the bare name.
    place.is_absolute().then_some(place)
}

fn told_by(program: &str, argument: &str) -> Option<String> {
    let told = Command::new(program).arg(argument).output().ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    Some(told.trim().to_owned())
}
