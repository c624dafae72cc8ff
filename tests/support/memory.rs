//! Folders of tests in memory where there is room, because each commit of a database on disk waits for it.

use std::{path::Path, process::Command, sync::LazyLock};

use tempfile::{Builder, TempDir};

/// Containers often have 64 MB, which a few databases fill.
const ENOUGH_KILOBYTES: u64 = 4 << 20;

/// A new temporary folder.
pub fn folder(prefix: &str) -> std::io::Result<TempDir> {
    static IN_MEMORY: LazyLock<Option<&Path>> = LazyLock::new(|| {
        let memory = Path::new("/dev/shm");
        let shown = Command::new("df").args(["-k", "--output=avail"]).arg(memory).output().ok()?;
        let free = String::from_utf8(shown.stdout).ok()?;
        let free: u64 = free.split_whitespace().last()?.parse().ok()?;
        (free >= ENOUGH_KILOBYTES).then_some(memory)
    });
    let mut builder = Builder::new();
    let builder = builder.prefix(prefix);
    match *IN_MEMORY {
        Some(memory) => builder.tempdir_in(memory),
        None => builder.tempdir(),
    }
}
