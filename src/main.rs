use std::{io::Write, process::ExitCode};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Databases, letters, backups and keys are for the service's own user alone.
    // SAFETY: it sets a number of the process, and no other thread runs yet.
    #[cfg(unix)]
    unsafe {
        libc::umask(0o077)
    };
    // What the start took is given back at once; what a rush took, only when it is not soon needed
    // again.
    give_back_after(0);
    match dermaga::cli::run(settle) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Where it cannot be said, the exit code says it.
            let _ = writeln!(std::io::stderr(), "dermaga: {why}");
            ExitCode::FAILURE
        }
    }
}

fn settle() {
    // SAFETY: it looks through what this thread does not need any more.
    unsafe { libmimalloc_sys::mi_collect(true) };
    give_back_after(100);
}

/// How long the allocator keeps what is not needed any more. It looks only while it is asked for
/// more.
fn give_back_after(milliseconds: std::ffi::c_long) {
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: it sets a number, which may be read meanwhile.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, milliseconds) };
}
