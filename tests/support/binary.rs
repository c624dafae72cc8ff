//! The binary itself, as a process.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
};

/// The command in this folder, with its address as the only setting.
pub fn dermaga(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dermaga"));
    command.env_clear().current_dir(folder).env("DERMAGA_LISTEN", "127.0.0.1:0");
    command
}

pub struct Running {
    child: Child,
    pub url: String,
    /// The output up to "Ctrl-C".
    pub greeting: String,
}

/// Starts it and waits until it has printed its address.
pub fn start(command: &mut Command) -> Running {
    start_logging_to(command, Stdio::null())
}

pub fn start_logging_to(command: &mut Command, log: impl Into<Stdio>) -> Running {
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().expect("it starts");
    let mut greeting = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    while !greeting.contains("Ctrl-C") {
        assert_ne!(lines.read_line(&mut greeting).unwrap(), 0, "it stopped: {greeting}");
    }
    // Reads further output, so that a full pipe does not block it.
    std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
    let url = greeting.split("address").nth(1).unwrap().split_whitespace().next().unwrap();
    Running { url: url.to_owned(), child, greeting }
}

impl Running {
    pub fn signal(&mut self, name: &str) -> std::process::ExitStatus {
        // `kill` is a built-in of every shell; not every machine has the command.
        let kill = format!("kill {name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        self.child.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command that must fail, and returns its message.
pub fn run_expecting_failure(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}
