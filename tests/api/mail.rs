//! Letters over SMTP, to a server that speaks it.

use std::sync::{Arc, Mutex};

use chrono::TimeDelta;
use dermaga::config::{MailUrl, Url};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
};

use crate::{on_both_engines, world::World};

on_both_engines![a_letter_goes_out_over_smtp, a_refused_letter_comes_back_later];

/// Takes letters, and refuses the first so many for now.
async fn smtp_server(refusals: usize) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let letters = Arc::new(Mutex::new(Vec::new()));
    let received = letters.clone();
    tokio::spawn(async move {
        let mut refusals = refusals;
        while let Ok((stream, _)) = listener.accept().await {
            let (reader, mut writer) = stream.into_split();
            let mut lines = BufReader::new(reader).lines();
            let mut letter: Option<String> = None;
            writer.write_all(b"220 mail.test\r\n").await.unwrap();
            while let Ok(Some(line)) = lines.next_line().await {
                let answer = match (&mut letter, line.as_str()) {
                    (Some(text), ".") => {
                        received.lock().unwrap().push(std::mem::take(text));
                        letter = None;
                        "250 taken"
                    }
                    (Some(text), line) => {
                        text.push_str(line);
                        text.push('\n');
                        continue;
                    }
                    (None, "QUIT") => break,
                    (None, "DATA") => {
                        letter = Some(String::new());
                        "354 go on"
                    }
                    (None, line) if line.starts_with("MAIL") && refusals > 0 => {
                        refusals -= 1;
                        "451 come back later"
                    }
                    (None, _) => "250 yes",
                };
                writer.write_all(format!("{answer}\r\n").as_bytes()).await.unwrap();
            }
        }
    });
    (port, letters)
}

async fn with_mail_server(world: World, port: u16) -> World {
    let url = format!("smtp://127.0.0.1:{port}");
    let world = world.with(|config| config.mail_url = MailUrl(Url(url))).await;
    world.account("made@bahari.id", "admin").await;
    world.post("/auth/forgot-password", json!({ "email": "made@bahari.id" })).send().await.ok();
    world
}

async fn a_letter_goes_out_over_smtp(world: World) {
    let (port, letters) = smtp_server(0).await;
    let world = with_mail_server(world, port).await;
    world.delivers_outbox().await;
    let letters = letters.lock().unwrap();
    assert_eq!(letters.len(), 1);
    assert!(letters[0].contains("To: Wayan <made@bahari.id>"), "{}", letters[0]);
    assert!(letters[0].contains("Subject: Choose a new password"));
    assert!(letters[0].contains("multipart/alternative"));
}

async fn a_refused_letter_comes_back_later(world: World) {
    let (port, letters) = smtp_server(1).await;
    let world = with_mail_server(world, port).await;
    world.delivers_outbox().await;
    assert_eq!(letters.lock().unwrap().len(), 0);
    let why: String = world.db().sql("SELECT last_error FROM outbox").scalar().await.unwrap();
    assert!(why.contains("come back later"), "{why}");
    world.advances_clock(TimeDelta::seconds(5));
    world.delivers_outbox().await;
    assert_eq!(letters.lock().unwrap().len(), 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM outbox").await, 0);
}
