use std::{io::Write, process::ExitCode};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Only the service's own user may read its databases, mail, backups and keys.
    // SAFETY: it sets a number of the process, and no other thread runs yet.
    #[cfg(unix)]
    unsafe {
        libc::umask(0o077)
    };
    // Memory of the start is returned to the system at once. Later, memory is kept for a moment, so
    // that a burst of requests does not return and request it again and again.
    set_purge_delay(0);
    match dermaga::cli::run(after_start) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Where stderr is closed, the exit code remains.
            let _ = writeln!(std::io::stderr(), "dermaga: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Returns unused memory to the system, and from then on keeps it for a moment.
fn after_start() {
    // SAFETY: it frees what this thread does not use any more.
    unsafe { libmimalloc_sys::mi_collect(true) };
    set_purge_delay(100);
}

/// How long the allocator keeps freed memory. It checks only when it allocates.
fn set_purge_delay(milliseconds: std::ffi::c_long) {
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: it sets a number that may be read concurrently.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, milliseconds) };
}
