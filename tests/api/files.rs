//! Files: uploads, access and quotas.

use std::{io::Cursor, time::Duration};

use chrono::TimeDelta;
use dermaga::kernel::{access::Rule, ids};
use image::{ImageFormat, RgbImage};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::{
    on_both_engines, s3,
    support::form::Form,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_picture_is_uploaded_and_seen_by_everyone,
    a_document_is_private,
    invalid_files_are_refused_at_once,
    a_form_with_faults_is_named,
    a_presigned_address_takes_one_file,
    a_presigned_address_is_bound_to_file_type_and_size,
    of_two_uploads_to_one_address_one_counts,
    a_pending_file_cannot_be_used_and_is_swept_away,
    a_file_is_referred_to_by_its_uploader_for_its_purpose,
    an_account_has_a_quota_of_bytes,
    an_account_has_a_quota_of_files,
    slow_uploads_of_an_account_hold_up_nobody_else,
    removed_files_release_their_quota,
    only_editors_upload_contents,
    a_file_that_nothing_refers_to_is_removed,
    an_unreferenced_file_is_kept_for_a_week,
    attaching_races_with_the_sweep,
    a_form_has_a_limited_number_of_parts,
];

pub fn picture(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let image = RgbImage::from_fn(40, 30, |x, y| image::Rgb([x as u8 * 6, y as u8 * 8, 90]));
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

const PDF: &[u8] = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n";

async fn upload(
    world: &World,
    who: &Someone,
    name: &str,
    content: Vec<u8>,
    purpose: &str,
) -> Answer {
    let form = Form::new().text("purpose", purpose).file(name, &content);
    world.call(Method::POST, "/v1/files/upload").by(who).multipart(form).send().await
}

fn path_of(url: &Value) -> String {
    let url = url.as_str().unwrap();
    url.split_once("/v1/").map(|(_, path)| format!("/v1/{path}")).unwrap()
}

async fn a_picture_is_uploaded_and_seen_by_everyone(world: World) {
    let made = world.partner("made@bahari.id").await;
    let png = picture(ImageFormat::Png);
    let file = upload(&world, &made, "../../my boat.png", png.clone(), "photo").await.ok();
    assert_eq!(file["filename"], "my boat.png");
    assert_eq!(file["content_type"], "image/png");
    assert_eq!(file["size"], json!(png.len()));
    assert_eq!(file["status"], "ready");
    let answer = world.get(&path_of(&file["url"])).bytes().await;
    assert_eq!((answer.0, &answer.2), (200, &png));
    let header = |name: &str| answer.1.get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "image/png");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert!(header("cache-control").contains("immutable"));
    assert!(header("content-security-policy").contains("sandbox"));
    assert_eq!(header("content-disposition"), "inline; filename*=UTF-8''my%20boat.png");
    let etag = header("etag");
    let again = world.get(&path_of(&file["url"])).header("if-none-match", &etag).bytes().await;
    assert_eq!((again.0, again.2.len()), (304, 0));
}

async fn a_document_is_private(world: World) {
    let made = world.partner("made@bahari.id").await;
    let ketut = world.partner("ketut@bahari.id").await;
    let admin = world.admin().await;
    let file = upload(&world, &made, "ktp.pdf", PDF.to_vec(), "document").await.ok();
    let signed = path_of(&file["url"]);
    let plain = signed.split('?').next().unwrap();
    world.get(plain).send().await.is(404, "not_found");
    world.get(plain).by(&ketut).send().await.is(404, "not_found");
    assert_eq!(world.get(plain).by(&made).bytes().await.2, PDF);
    assert_eq!(world.get(plain).by(&admin).bytes().await.2, PDF);
    let answer = world.get(&signed).bytes().await;
    assert_eq!((answer.0, answer.2.as_slice()), (200, PDF));
    assert_eq!(answer.1["cache-control"], "private, no-store");
    assert!(answer.1["content-disposition"].to_str().unwrap().starts_with("attachment"));

    // The signature is for this file, and for five minutes.
    let other = upload(&world, &made, "other.pdf", PDF.to_vec(), "proof").await.ok();
    let query = signed.split_once('?').unwrap().1;
    let foreign = format!("/v1/files/{}?{query}", other["id"].as_str().unwrap());
    world.get(&foreign).send().await.is(404, "not_found");
    let later = signed.replace("expires=1", "expires=2");
    world.get(&later).send().await.is(404, "not_found");
    world.get(&format!("{plain}?expires=9999999999&signature=x")).send().await.is(404, "not_found");
    world.advances_clock(TimeDelta::minutes(5));
    world.get(&signed).send().await.is(404, "not_found");
    world.get(&format!("/v1/files/{}", ids::fresh())).send().await.is(404, "not_found");
}

async fn invalid_files_are_refused_at_once(world: World) {
    let made = world.partner("made@bahari.id").await;
    let refused = async |name: &str, content: &[u8], purpose: &str, rule: &str| {
        let answer = upload(&world, &made, name, content.to_vec(), purpose).await;
        answer.has_field_errors(&[("file", rule)]);
    };
    refused("a.png", b"#!/bin/sh\necho hi", "photo", "kind").await;
    refused("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "photo", "kind")
        .await;
    refused("a.png", b"PK\x03\x04bomb", "photo", "kind").await;
    refused("a.pdf", PDF, "avatar", "kind").await;
    refused("a.png", &picture(ImageFormat::Png)[..200], "photo", "broken").await;
    let polyglot = [picture(ImageFormat::Jpeg), b"PK\x03\x04\x14\0".to_vec()].concat();
    refused("a.jpg", &polyglot, "photo", "broken").await;
    // 50,000 × 50,000 pixels, announced in a head of a few bytes.
    let mut flood = picture(ImageFormat::Png);
    flood[16..24].copy_from_slice(&[0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50]);
    let crc = crc32(&flood[12..29]);
    flood[29..33].copy_from_slice(&crc.to_be_bytes());
    refused("a.png", &flood, "photo", "pixels").await;

    let mut large = picture(ImageFormat::Jpeg);
    large.resize(5 * 1024 * 1024 + 1, 0);
    upload(&world, &made, "a.jpg", large, "photo").await.is(413, "payload_too_large");
    let mut large = PDF.to_vec();
    large.resize(10 * 1024 * 1024 + 1, b' ');
    upload(&world, &made, "a.pdf", large, "document").await.is(413, "payload_too_large");
    // Ten gigabytes, announced: refused without waiting for one of them.
    let head = format!(
        "POST /v1/files/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 10737418240\r\n\r\n",
        made.token
    );
    let text = world.raw_response(&head).await;
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
    assert_eq!(world.count("SELECT COUNT(*) FROM files").await, 0);
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

async fn a_form_with_faults_is_named(world: World) {
    let made = world.partner("made@bahari.id").await;
    let send = async |form: Form| {
        world.call(Method::POST, "/v1/files/upload").by(&made).multipart(form).send().await
    };
    let form = Form::new().text("note", "nothing here");
    send(form).await.has_field_errors(&[("file", "required"), ("purpose", "required")]);
    let form = Form::new().file("a.pdf", PDF).text("purpose", "treasure");
    send(form).await.has_field_errors(&[("purpose", "enum")]);
    let call = world.call(Method::POST, "/v1/files/upload").by(&made);
    call.json(json!({})).send().await.is(415, "unsupported_media_type");
    let call = world.call(Method::POST, "/v1/files/upload").by(&made);
    let call = call.header("content-type", "multipart/form-data; boundary=b");
    call.body("--b\r\nnonsense").send().await.is(400, "malformed_request");
}

async fn presign(
    world: &World,
    who: &Someone,
    content_type: &str,
    size: usize,
    purpose: &str,
) -> Answer {
    let query =
        format!("filename=boat.png&content_type={content_type}&size={size}&purpose={purpose}");
    world.get(&format!("/v1/files/presign-url?{query}")).by(who).send().await
}

async fn put(world: &World, path: &str, content_type: &str, content: Vec<u8>) -> Answer {
    let call = world.call(Method::PUT, path).header("content-type", content_type);
    call.body(content).send().await
}

async fn a_presigned_address_takes_one_file(world: World) {
    let made = world.partner("made@bahari.id").await;
    let png = picture(ImageFormat::Png);
    let wanted = presign(&world, &made, "image/png", png.len(), "avatar").await.ok();
    assert_eq!(wanted["method"], "PUT");
    assert_eq!(wanted["headers"]["Content-Type"], "image/png");
    assert_eq!(wanted["expires_at"], "2026-11-15T03:10:00Z");
    let address = path_of(&wanted["upload_url"]);
    let file = put(&world, &address, "image/png", png.clone()).await.ok();
    assert_eq!((&file["id"], &file["status"]), (&wanted["file_id"], &json!("ready")));
    assert_eq!(world.get(&path_of(&file["url"])).bytes().await.2, png);
    put(&world, &address, "image/png", png).await.is(409, "invalid_state");
    presign(&world, &made, "image/png", 5 * 1024 * 1024 + 1, "avatar")
        .await
        .is(413, "payload_too_large");
    let answer = presign(&world, &made, "application/pdf", 10, "avatar").await;
    answer.has_field_errors(&[("content_type", "kind")]);
    let answer = presign(&world, &made, "text/html", 0, "treasure").await;
    answer.has_field_errors(&[("content_type", "enum"), ("purpose", "enum"), ("size", "min")]);
}

async fn a_presigned_address_is_bound_to_file_type_and_size(world: World) {
    let made = world.partner("made@bahari.id").await;
    let (png, jpeg) = (picture(ImageFormat::Png), picture(ImageFormat::Jpeg));
    let wanted = presign(&world, &made, "image/png", png.len(), "photo").await.ok();
    let other = presign(&world, &made, "image/png", png.len(), "photo").await.ok();
    let address = path_of(&wanted["upload_url"]);
    put(&world, &address, "image/jpeg", png.clone()).await.is(403, "forbidden");
    put(&world, &address, "image/png", [png.clone(), vec![0]].concat()).await.is(403, "forbidden");
    put(&world, &address, "image/png", png[1..].to_vec()).await.is(403, "forbidden");
    let ids = (wanted["file_id"].as_str().unwrap(), other["file_id"].as_str().unwrap());
    put(&world, &address.replace(ids.0, ids.1), "image/png", png.clone())
        .await
        .is(403, "forbidden");
    let unknown = address.replace(ids.0, &ids::fresh().to_string());
    put(&world, &unknown, "image/png", png.clone()).await.is(404, "not_found");
    put(&world, &address[..address.len() - 2], "image/png", png.clone()).await.is(403, "forbidden");
    let odd = format!(
        "{}?expires=soon&signature={}",
        address.split('?').next().unwrap(),
        "x".repeat(200)
    );
    put(&world, &odd, "image/png", png.clone()).await.is(403, "forbidden");
    let unsigned = address.split('?').next().unwrap();
    put(&world, unsigned, "image/png", png.clone()).await.is(403, "forbidden");
    // The right size and the wrong content.
    let mut disguised = jpeg.clone();
    disguised.resize(png.len().max(jpeg.len()), 0);
    let answer = presign(&world, &made, "image/png", disguised.len(), "photo").await.ok();
    let answer = put(&world, &path_of(&answer["upload_url"]), "image/png", disguised).await;
    answer.has_field_errors(&[("content", "kind")]);
    // After all these refusals the address is still good, and not for longer than it said.
    world.advances_clock(TimeDelta::minutes(10) - TimeDelta::seconds(1));
    put(&world, &address, "image/png", png.clone()).await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    let expired = path_of(&other["upload_url"]);
    put(&world, &expired, "image/png", png).await.is(403, "forbidden");
}

async fn of_two_uploads_to_one_address_one_counts(world: World) {
    let made = world.partner("made@bahari.id").await;
    let png = picture(ImageFormat::Png);
    let other = {
        let mut bytes = Cursor::new(Vec::new());
        RgbImage::new(40, 30).write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    };
    // Two pictures, brought to one size by what a phone might append.
    let size = png.len().max(other.len()) + 8;
    let sized = |picture: &[u8]| [picture, &vec![b'x'; size - picture.len()]].concat();
    for _ in 0..4 {
        let wanted = presign(&world, &made, "image/png", size, "photo").await.ok();
        let address = path_of(&wanted["upload_url"]);
        let (a, b) = tokio::join!(
            put(&world, &address, "image/png", sized(&png)),
            put(&world, &address, "image/png", sized(&other)),
        );
        let (won, lost, picture) = if a.status == 200 { (a, b, &png) } else { (b, a, &other) };
        let file = won.ok();
        lost.is(409, "invalid_state");
        assert_eq!(&world.get(&path_of(&file["url"])).bytes().await.2, picture);
        assert_eq!(file["size"], json!(picture.len()));
        put(&world, &address, "image/png", sized(&png)).await.is(409, "invalid_state");
    }
}

async fn a_pending_file_cannot_be_used_and_is_swept_away(world: World) {
    let made = world.partner("made@bahari.id").await;
    let png = picture(ImageFormat::Png);
    let wanted = presign(&world, &made, "image/png", png.len(), "avatar").await.ok();
    let id = wanted["file_id"].as_str().unwrap();
    avatar(&world, &made, id).await.has_field_errors(&[("avatar_file_id", "unknown")]);
    world.get(&format!("/v1/files/{id}")).by(&made).send().await.is(404, "not_found");
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM files").await, 1);
    upload(&world, &made, "kept.png", png, "photo").await.ok();
    world.advances_clock(TimeDelta::minutes(10));
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM files WHERE status = 'ready'").await, 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM files").await, 1);
}

async fn avatar(world: &World, who: &Someone, file: &str) -> Answer {
    let profile = json!({
        "name": "Made", "email": who.email, "phone": "081234567890", "avatar_file_id": file,
    });
    world.put("/user/me", profile).by(who).send().await
}

async fn a_file_is_referred_to_by_its_uploader_for_its_purpose(world: World) {
    let made = world.partner("made@bahari.id").await;
    let ketut = world.partner("ketut@bahari.id").await;
    let admin = world.admin().await;
    let png = picture(ImageFormat::Png);
    let id = |file: &Value| file["id"].as_str().unwrap().to_owned();
    let photo = id(&upload(&world, &made, "a.png", png.clone(), "photo").await.ok());
    let face = id(&upload(&world, &made, "a.png", png, "avatar").await.ok());
    avatar(&world, &made, &photo).await.has_field_errors(&[("avatar_file_id", "unknown")]);
    avatar(&world, &ketut, &face).await.has_field_errors(&[("avatar_file_id", "unknown")]);
    let profile = avatar(&world, &made, &face).await.ok();
    assert_eq!(profile["avatar_file_id"], json!(face));
    assert!(profile["avatar_url"].as_str().unwrap().ends_with(&format!("/v1/files/{face}")));
    let seen = world.get(&format!("/v1/users/{}", made.id)).by(&admin).send().await.ok();
    assert_eq!(seen["avatar_url"], profile["avatar_url"]);
    avatar(&world, &admin, &face).await.ok();
    let cleared = avatar(&world, &made, "").await.ok();
    assert_eq!(cleared["avatar_url"], json!(null));
}

const FIVE: usize = 5 * 1024 * 1024;

/// The counted usage equals the stored files.
async fn assert_invariants(world: &World) {
    for question in dermaga::invariants::check(world.db()).await.unwrap() {
        assert!(question.broken.is_empty(), "{}: {:?}", question.rule, question.broken);
    }
}

/// The number of concurrent requests that succeeded; the others exceeded the quota.
fn count_granted(answers: Vec<Answer>) -> usize {
    let mut granted = 0;
    for answer in answers {
        match answer.status {
            200 => granted += 1,
            _ => drop(answer.is(409, "quota_exceeded")),
        }
    }
    granted
}

async fn an_account_has_a_quota_of_bytes(world: World) {
    let made = world.partner("made@bahari.id").await;
    let ask = |size| presign(&world, &made, "image/png", size, "photo");
    for _ in 0..38 {
        ask(FIVE).await.ok();
    }
    // 190 MiB: there is room for two more.
    let answers = futures_util::future::join_all((0..20).map(|_| ask(FIVE))).await;
    assert_eq!(count_granted(answers), 2);
    assert_eq!(world.count("SELECT CAST(SUM(size) AS BIGINT) FROM files").await, 200 << 20);
    ask(1).await.is(409, "quota_exceeded");
    let png = picture(ImageFormat::Png);
    upload(&world, &made, "a.png", png.clone(), "photo").await.is(409, "quota_exceeded");
    assert_eq!(world.count("SELECT COUNT(*) FROM files").await, 40, "nothing is left behind");
    assert_invariants(&world).await;
    // It is theirs alone.
    let ketut = world.partner("ketut@bahari.id").await;
    upload(&world, &ketut, "a.png", png, "photo").await.ok();
    // Pending uploads that expire release their quota.
    world.advances_clock(TimeDelta::minutes(10));
    world.app.sweep().await.unwrap();
    ask(FIVE).await.ok();
    assert_invariants(&world).await;
}

/// More of them than there are slots.
async fn slow_uploads_of_an_account_hold_up_nobody_else(world: World) {
    let made = world.partner("made@bahari.id").await;
    let ketut = world.partner("ketut@bahari.id").await;
    let head = format!(
        "POST /v1/files/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\n",
        made.token
    );
    let mut slow = Vec::new();
    for _ in 0..10 {
        let mut stream = TcpStream::connect(world.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let png = picture(ImageFormat::Png);
    let mut refused = upload(&world, &made, "a.png", png.clone(), "photo").await;
    // The slow ones take the share of the account once they are authenticated.
    for _ in 0..50 {
        if refused.status != 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        refused = upload(&world, &made, "a.png", png.clone(), "photo").await;
    }
    let retry_after =
        refused.headers.get("retry-after").map(|value| value.to_str().unwrap().parse());
    assert!(matches!(retry_after, Some(Ok(1..=60u64))), "{:?}", refused.headers);
    refused.is(429, "too_many_requests");
    upload(&world, &ketut, "a.png", png.clone(), "photo").await.ok();
    drop(slow);
    upload(&world, &made, "a.png", png, "photo").await.ok();
}

async fn an_account_has_a_quota_of_files(world: World) {
    let made = world.partner("made@bahari.id").await;
    let clerk = world.staff("isi@dermaga.test", &[]).await;
    let admin = world.admin().await;
    let png = picture(ImageFormat::Png);
    for who in [&made, &clerk, &admin] {
        upload(&world, who, "a.png", png.clone(), "photo").await.ok();
    }
    world.db().sql("UPDATE file_usage SET files = 490").run().await.unwrap();
    for who in [&made, &clerk] {
        let (world, png) = (&world, &png);
        let one = |n: usize| async move {
            if n.is_multiple_of(2) {
                return presign(world, who, "image/png", 100, "photo").await;
            }
            let answer = upload(world, who, "a.png", png.clone(), "photo").await;
            // There is room for so many uploads at once.
            if ![429, 503].contains(&answer.status) {
                return answer;
            }
            upload(world, who, "a.png", png.clone(), "photo").await
        };
        let answers = futures_util::future::join_all((0..20).map(one));
        assert_eq!(count_granted(answers.await), 10);
    }
    world.db().sql("UPDATE file_usage SET files = 5000").run().await.unwrap();
    upload(&world, &admin, "a.png", png.clone(), "photo").await.ok();
    presign(&world, &admin, "image/png", 100, "photo").await.ok();
    upload(&world, &made, "a.png", png, "photo").await.is(409, "quota_exceeded");
}

async fn removed_files_release_their_quota(world: World) {
    let made = world.partner("made@bahari.id").await;
    let png = picture(ImageFormat::Png);
    upload(&world, &made, "a.png", png.clone(), "photo").await.ok();
    // What a phone appends is cut off, and not counted.
    let longer = [png.clone(), vec![b'x'; 5000]].concat();
    let wanted = presign(&world, &made, "image/png", longer.len(), "photo").await.ok();
    assert_invariants(&world).await;
    let file = put(&world, &path_of(&wanted["upload_url"]), "image/png", longer).await.ok();
    assert_eq!(file["size"], json!(png.len()));
    assert_invariants(&world).await;
    presign(&world, &made, "image/png", 100, "photo").await.ok();
    world.advances_clock(TimeDelta::days(8));
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM files").await, 0);
    assert_eq!(world.count("SELECT CAST(SUM(files + bytes) AS BIGINT) FROM file_usage").await, 0);
    assert_invariants(&world).await;
}

async fn only_editors_upload_contents(world: World) {
    let made = world.partner("made@bahari.id").await;
    let clerk = world.staff("loket@dermaga.test", &[Rule::BookingsRead]).await;
    let editor = world.staff("isi@dermaga.test", &[Rule::ContentsWrite]).await;
    let png = picture(ImageFormat::Png);
    for who in [&made, &clerk] {
        upload(&world, who, "a.png", png.clone(), "content").await.is(403, "forbidden");
        presign(&world, who, "image/png", 100, "content").await.is(403, "forbidden");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM files").await, 0);
    upload(&world, &editor, "a.png", png, "content").await.ok();
    presign(&world, &editor, "image/png", 100, "content").await.ok();
}

/// How many contents there are in the storage.
fn stored(world: &World) -> usize {
    let folder = world.app.config.data_dir.join("files");
    let mut folders = vec![folder];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => found += 1,
            }
        }
    }
    found
}

async fn is_ready(world: &World, file: &str) -> bool {
    let id: ids::Uuid = file.parse().unwrap();
    let found = world.db().sql("SELECT COUNT(*) FROM files WHERE id = $1 AND status = 'ready'");
    found.bind(id).scalar::<i64>().await.unwrap() == 1
}

async fn a_file_that_nothing_refers_to_is_removed(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let png = picture(ImageFormat::Png);
    let id = |file: Value| file["id"].as_str().unwrap().to_owned();
    let new = async |who: &Someone, purpose: &str| {
        id(upload(&world, who, "a.png", png.clone(), purpose).await.ok())
    };
    let mut kept = Vec::new();
    let face = new(&made, "avatar").await;
    avatar(&world, &made, &face).await.ok();
    kept.push(face);
    let photo = new(&made, "photo").await;
    let mut boat = crate::harbour::boat("GT. 1");
    boat["photo_file_ids"] = json!([photo]);
    world.post("/v1/speedboats", boat).by(&made).send().await.ok();
    kept.push(photo);
    let newcomer = world.partner("ketut@bahari.id").await;
    let paper = new(&newcomer, "document").await;
    let handed_in = json!({ "documents": [{ "type": "nib", "file_id": paper }] });
    world.updates_onboarding(&newcomer, handed_in).await.ok();
    kept.push(paper);
    let banner = new(&admin, "content").await;
    let call = json!({
        "title": "Join", "description": "us", "button_label": "Go",
        "button_url": "https://dermaga.test/join", "image_file_id": banner, "is_active": true,
    });
    world.post("/v1/contents/cta-partnership", call).by(&admin).send().await.ok();
    kept.push(banner);
    let drawing = new(&admin, "content").await;
    let terms = json!({
        "type": "customer", "user_creator_id": admin.id,
        "content": format!("<p><img src=\"/v1/files/{}\"></p>", drawing.to_uppercase()),
    });
    world.post("/v1/configurations/term-condition/create", terms).by(&admin).send().await.ok();
    kept.push(drawing);
    let loose = [
        new(&made, "document").await,
        new(&made, "photo").await,
        new(&made, "avatar").await,
        new(&admin, "content").await,
        new(&admin, "proof").await,
    ];
    assert_eq!(stored(&world), kept.len() + loose.len());
    world.advances_clock(TimeDelta::days(7) - TimeDelta::seconds(1));
    world.app.sweep().await.unwrap();
    assert_eq!(stored(&world), kept.len() + loose.len(), "not before a week is over");
    for _ in 0..3 {
        world.advances_clock(TimeDelta::days(7));
        world.app.sweep().await.unwrap();
        for file in &kept {
            assert!(is_ready(&world, file).await);
        }
        assert_eq!(stored(&world), kept.len());
        assert_eq!(world.count("SELECT COUNT(*) FROM files").await, kept.len() as i64);
    }
    for file in &loose {
        world.get(&format!("/v1/files/{file}")).send().await.is(404, "not_found");
    }
    assert_invariants(&world).await;
}

async fn an_unreferenced_file_is_kept_for_a_week(world: World) {
    let made = world.partner("made@bahari.id").await;
    let png = picture(ImageFormat::Png);
    let face = upload(&world, &made, "a.png", png, "avatar").await.ok();
    let face = face["id"].as_str().unwrap();
    avatar(&world, &made, face).await.ok();
    // Used until a moment before the sweep looks.
    world.advances_clock(TimeDelta::days(7));
    let made = world.signs_in("made@bahari.id", "mitra").await;
    avatar(&world, &made, "").await.ok();
    world.app.sweep().await.unwrap();
    assert!(is_ready(&world, face).await);
    world.advances_clock(TimeDelta::days(7) - TimeDelta::seconds(1));
    world.app.sweep().await.unwrap();
    let made = world.signs_in("made@bahari.id", "mitra").await;
    avatar(&world, &made, face).await.ok();
    avatar(&world, &made, "").await.ok();
    world.advances_clock(TimeDelta::days(7));
    world.app.sweep().await.unwrap();
    assert!(is_ready(&world, face).await, "it was used within the week");
    world.advances_clock(TimeDelta::days(7));
    world.app.sweep().await.unwrap();
    assert!(!is_ready(&world, face).await);
    let made = world.signs_in("made@bahari.id", "mitra").await;
    avatar(&world, &made, face).await.has_field_errors(&[("avatar_file_id", "unknown")]);
}

async fn attaching_races_with_the_sweep(world: World) {
    let mut made = world.partner("made@bahari.id").await;
    let png = picture(ImageFormat::Png);
    for _ in 0..8 {
        let face = upload(&world, &made, "a.png", png.clone(), "avatar").await.ok();
        let face = face["id"].as_str().unwrap();
        world.advances_clock(TimeDelta::days(8));
        made = world.signs_in("made@bahari.id", "mitra").await;
        let (attached, swept) = tokio::join!(avatar(&world, &made, face), world.app.sweep());
        swept.unwrap();
        world.app.sweep().await.unwrap();
        let is_attached = match attached.status {
            200 => true,
            _ => {
                attached.has_field_errors(&[("avatar_file_id", "unknown")]);
                false
            }
        };
        assert_eq!(is_ready(&world, face).await, is_attached);
        avatar(&world, &made, "").await.ok();
    }
    assert_invariants(&world).await;
}

async fn a_form_has_a_limited_number_of_parts(world: World) {
    let made = world.partner("made@bahari.id").await;
    let png = picture(ImageFormat::Png);
    let send = async |extra: usize| {
        let mut form = Form::new();
        for n in 0..extra {
            form = form.text(&format!("x{n}"), "");
        }
        let form = form.text("purpose", "photo").file("a.png", &png);
        world.call(Method::POST, "/v1/files/upload").by(&made).multipart(form).send().await
    };
    send(18).await.ok();
    send(19).await.is(400, "malformed_request");
}

/// The same service on a real S3 server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_stored_on_s3() {
    let Some(url) = s3::bucket().await else { return };
    let change = |config: &mut dermaga::config::Config| {
        config.storage_url = dermaga::config::StorageUrl(dermaga::config::Url(url));
    };
    let world = World::on_sqlite().await.with(change).await;
    assert_eq!(world.get("/health").send().await.ok()["storage"], "s3");
    let made = world.partner("made@bahari.id").await;
    let png = picture(ImageFormat::Png);
    let file = upload(&world, &made, "boat.png", png.clone(), "photo").await.ok();
    assert_eq!(world.get(&path_of(&file["url"])).bytes().await.2, png);

    // A presigned upload goes to the store itself, and counts once it is looked at.
    let store = crate::world::client();
    let send = async |wanted: &Value, content: Vec<u8>| {
        let call = store.put(wanted["upload_url"].as_str().unwrap());
        let call = call.header("content-type", wanted["headers"]["Content-Type"].as_str().unwrap());
        call.body(content).send().await.unwrap().status()
    };
    let wanted = presign(&world, &made, "image/png", png.len(), "avatar").await.ok();
    let address = wanted["upload_url"].as_str().unwrap();
    assert!(address.contains("X-Amz-Signature=") && address.contains("content-type"), "{address}");
    let id = wanted["file_id"].as_str().unwrap();
    avatar(&world, &made, id).await.has_field_errors(&[("avatar_file_id", "unknown")]);
    assert_eq!(send(&wanted, png.clone()).await, 200);
    avatar(&world, &made, id).await.ok();
    assert_eq!(world.get(&format!("/v1/files/{id}")).bytes().await.2, png);
    // Sending something else afterwards changes nothing.
    assert_eq!(send(&wanted, vec![0; png.len()]).await, 200);
    assert_eq!(world.get(&format!("/v1/files/{id}")).bytes().await.2, png);

    // Another size is never taken in.
    let wanted = presign(&world, &made, "image/png", png.len() - 1, "avatar").await.ok();
    assert_eq!(send(&wanted, png.clone()).await, 200);
    let longer = wanted["file_id"].as_str().unwrap();
    avatar(&world, &made, longer).await.has_field_errors(&[("avatar_file_id", "unknown")]);

    // What does not pass never becomes ready, and is swept away with its row.
    let wanted = presign(&world, &made, "image/png", 20, "avatar").await.ok();
    assert_eq!(send(&wanted, vec![b'x'; 20]).await, 200);
    let bad = wanted["file_id"].as_str().unwrap();
    avatar(&world, &made, bad).await.has_field_errors(&[("avatar_file_id", "unknown")]);
    world.advances_clock(TimeDelta::minutes(10));
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM files WHERE status = 'pending'").await, 0);
}
