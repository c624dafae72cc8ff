//! A temporary S3 server (moto), if it is installed.

use std::{
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

static SERVER: OnceLock<Option<(Child, u16)>> = OnceLock::new();

/// The address of a fresh bucket; `None` if the server is not installed.
pub async fn bucket() -> Option<String> {
    let (_, port) = SERVER.get_or_init(start).as_ref()?;
    let endpoint = format!("http://127.0.0.1:{port}");
    let client = super::world::client();
    for _ in 0..1_200 {
        if client.get(&endpoint).send().await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let name = dermaga::kernel::ids::fresh().to_string();
    let made = client.put(format!("{endpoint}/{name}")).send().await.expect("the server answers");
    assert!(made.status().is_success());
    let credentials = "access_key_id=test&secret_access_key=test&region=us-east-1";
    Some(format!("s3://{name}?{credentials}&endpoint={endpoint}"))
}

fn start() -> Option<(Child, u16)> {
    let server = std::env::var_os("MOTO_SERVER").unwrap_or("moto_server".into());
    let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
    // Ends with this process: the shell reads a pipe that only this process holds.
    let script = r#""$0" -H 127.0.0.1 -p "$1" & cat >/dev/null; kill $!"#;
    let mut probe = Command::new(&server);
    let probe = probe.arg("--help").stdout(Stdio::null()).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        let required = std::env::var_os("REQUIRE_S3").is_some();
        assert!(!required, "an S3 server is required and not installed");
        use std::io::Write;
        let note = "\n*** moto_server is not installed: S3 was not tested ***\n\n";
        let _ = std::io::stderr().write_all(note.as_bytes());
        return None;
    }
    let child = Command::new("sh")
        .args(["-c", script])
        .arg(server)
        .arg(port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    Some((child, port))
}
