//! Files and folders that only the service's user may access: the database, mails, keys and
//! backups. The binary also sets its umask; this module sets explicit modes.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
};

/// Creates the folder and missing parents with mode 0700. Existing folders are not changed.
pub fn folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a file with mode 0600; fails if it exists.
pub fn create(path: &Path) -> io::Result<File> {
    options().create_new(true).open(path)
}

/// Creates the file with mode 0600 unless it exists. An existing file is not opened: closing it
/// would release this process's POSIX locks, which SQLite uses.
pub fn ensure(path: &Path) -> io::Result<()> {
    match create(path) {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// Opens a file, created with mode 0600 if it does not exist.
pub fn open(path: &Path) -> io::Result<File> {
    options().create(true).truncate(false).open(path)
}

/// Writes a file with mode 0600, replacing its content.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut create_truncated(path)?, content)
}

/// Copies a file; the copy has mode 0600.
pub fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let mut source = File::open(from)?;
    io::copy(&mut source, &mut create_truncated(to)?)
}

fn create_truncated(path: &Path) -> io::Result<File> {
    let file = options().create(true).truncate(true).open(path)?;
    // The mode at creation does not apply to an existing file.
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

/// Whether group or others have any permission. Symbolic links are ignored.
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

/// Removes all permissions of group and others.
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
