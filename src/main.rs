use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long the allocator keeps what is not needed any more, in milliseconds.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> ExitCode {
    // It would look only while it is asked for more, and a service that has become quiet keep for
    // ever what its start or a rush took. SAFETY: nothing else runs yet.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 0) };
    match dermaga::cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("dermaga: {why}");
            ExitCode::FAILURE
        }
    }
}
