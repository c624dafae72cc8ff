//! Files and folders for the service's own user alone: the database, letters with live links, keys
//! and backups. The binary also sets its umask; here the modes are given to what the service
//! creates itself.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
};

/// Creates the folder, and those above it that are missing, with mode 0700. One that exists stays
/// as it is.
pub fn folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a file with mode 0600; an error when there is one.
pub fn create(path: &Path) -> io::Result<File> {
    options().create_new(true).open(path)
}

/// Creates the file with mode 0600 unless it is there. One that is there is not opened: closing it
/// again would give up the locks that this process has on it, and SQLite's are such.
pub fn ensure(path: &Path) -> io::Result<()> {
    match create(path) {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// Writes a file of mode 0600, in place of what was there.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut emptied(path)?, content)
}

/// Copies a file to one of mode 0600, whatever the mode of the original is.
pub fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let mut source = File::open(from)?;
    io::copy(&mut source, &mut emptied(to)?)
}

fn emptied(path: &Path) -> io::Result<File> {
    let file = options().create(true).truncate(true).open(path)?;
    // A mode given at creation does not change one that was there.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Whether group or others may do anything with it. A symbolic link is somebody else's decision.
#[cfg(unix)]
pub fn is_open(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let found = fs::symlink_metadata(path)?;
    Ok(!found.is_symlink() && found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
pub fn is_open(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Takes away what group and others may do with a file or folder.
#[cfg(unix)]
pub fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path)?.permissions().mode() & 0o700;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
pub fn close(_: &Path) -> io::Result<()> {
    Ok(())
}
