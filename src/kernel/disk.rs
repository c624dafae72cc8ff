//! Free space on disk.

use std::path::Path;

/// Bytes that the service's user can still write to the file system of a folder, or of its closest
/// existing parent. `None` if the system does not tell.
#[cfg(unix)]
pub fn free(folder: &Path) -> Option<u64> {
    let folder = std::path::absolute(folder).ok()?;
    let existing = folder.ancestors().find(|folder| folder.exists())?;
    let found = nix::sys::statvfs::statvfs(existing).ok()?;
    Some(found.blocks_available() as u64 * found.fragment_size() as u64)
}

#[cfg(not(unix))]
pub fn free(_: &Path) -> Option<u64> {
    None
}
