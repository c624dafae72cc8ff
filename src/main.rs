use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match dermaga::cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("dermaga: {why}");
            ExitCode::FAILURE
        }
    }
}
