//! Backups of a service on SQLite: created during sales, verified, restored.

use dermaga::{
    app::App,
    backup::{backup, restore},
    config::Config,
    kernel::{clock::Clock, db::Db},
};
use futures_util::{StreamExt, stream};

use crate::{harbour::order, storms::assert_invariants, world::World};

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_made_under_load_and_restored() {
    let world = World::on_sqlite().await;
    let sailing = world.sailing().await;
    world.db().sql("UPDATE sailings SET capacity = 5000").run().await.unwrap();
    world.uploads_document(&sailing.partner, "papers.pdf").await;
    let config = world.app.config.clone();
    let folder = tempfile::tempdir().unwrap();
    let sells = stream::iter(0..400)
        .map(|n| {
            let (world, sailing) = (&world, &sailing);
            async move {
                let email = format!("guest{n}@example.com");
                let booking = world.books(order(sailing, 1, &email)).await.ok();
                if n % 3 > 0 {
                    world.pays(&booking).await;
                }
                booking
            }
        })
        .buffer_unordered(16)
        .collect::<Vec<_>>();
    let backups = async {
        let mut made = Vec::new();
        for n in 0..4 {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            // Each has a name by the second.
            let clock = Clock::manual(world.now() + chrono::TimeDelta::seconds(n));
            made.push(backup(&config, folder.path(), &clock).await.unwrap());
        }
        made
    };
    let (sold, made) = tokio::join!(sells, backups);
    assert_eq!((sold.len(), made.len()), (400, 4));
    for one in &made {
        assert!(one.rules > 20 && one.files == 1 && one.bytes > 0);
    }

    // What was sold before the last backup began is in it, whole.
    let data_dir = folder.path().join("restored");
    let config = Config { data_dir: data_dir.clone(), database_url: None, ..config };
    let back = restore(&config, &made[3].folder).await.unwrap();
    assert_eq!(back.folder, data_dir);
    assert!(restore(&config, &made[3].folder).await.err().unwrap().contains("move it away first"));
    let app = App::start(config, Clock::manual(world.now())).await.unwrap();
    let count: i64 = app.db.sql("SELECT COUNT(*) FROM bookings").scalar().await.unwrap();
    assert!((1..=400).contains(&count), "{count}");
    let id = sold[0]["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(dermaga::bookings::get(&app.db, id).await.unwrap().unwrap().code, sold[0]["code"]);
    app.db.close().await;
    assert_invariants(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_backup_is_refused() {
    let world = World::on_sqlite().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    let folder = tempfile::tempdir().unwrap();
    let (config, clock) = (world.app.config.clone(), Clock::manual(world.now()));
    let made = backup(&config, folder.path(), &clock).await.unwrap();
    // A backup that was damaged since is not restored.
    let file = made.folder.join("dermaga.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 9_000].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    let data_dir = folder.path().join("restored");
    let config = Config { data_dir: data_dir.clone(), database_url: None, ..config };
    assert!(restore(&config, &made.folder).await.is_err());
    assert!(!data_dir.join("dermaga.db").exists());
    let nothing = restore(&config, folder.path()).await.err().unwrap();
    assert!(nothing.contains("this is not a backup"), "{nothing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_an_older_version_is_kept_as_it_is() {
    let world = World::on_sqlite().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    dermaga::reports::roll_up(&world.app).await.unwrap();
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::manual(world.now()));
    let config = world.app.config.clone();
    let older = "UPDATE applied_triggers SET edition = 0, sha256 = 'older'";
    world.db().sql(older).run().await.unwrap();
    let mut audit = crate::binary::dermaga(folder.path());
    let why = crate::binary::run_expecting_failure(
        audit.arg("audit").env("DERMAGA_DATA_DIR", &config.data_dir),
    );
    assert!(why.contains("run `dermaga migrate` first"), "{why}");
    let made = backup(&config, folder.path(), &clock).await.unwrap();
    assert!(made.rules > 20);
    let data_dir = folder.path().join("restored");
    let config = Config { data_dir: data_dir.clone(), database_url: None, ..config };
    restore(&config, &made.folder).await.unwrap();
    for copy in [&made.folder, &data_dir] {
        let db = Db::open(copy.join("dermaga.db").to_str().unwrap()).await.unwrap();
        assert!(db.is_behind().await.unwrap());
        db.close().await;
        assert!(!copy.join("trial").exists());
    }
    let app = App::start(config, clock).await.unwrap();
    assert!(!app.db.is_behind().await.unwrap());
    // One that does not add up is found in any version.
    world
        .db()
        .sql("UPDATE sailings SET seats_taken = 3 WHERE seats_taken = 2")
        .run()
        .await
        .unwrap();
    let clock = Clock::manual(world.now() + chrono::TimeDelta::seconds(1));
    let made = backup(&world.app.config, folder.path(), &clock).await.unwrap();
    assert!(made.violations[0].contains("seats taken"), "{:?}", made.violations);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_reports_faults() {
    let folder = tempfile::tempdir().unwrap();
    let look = |settings: &[(&str, &str)]| {
        let mut command = crate::binary::dermaga(folder.path());
        command.arg("doctor").env("DERMAGA_DATA_DIR", folder.path());
        command.envs(settings.iter().copied());
        let looked = command.output().unwrap();
        (looked.status.success(), String::from_utf8(looked.stdout).unwrap())
    };
    let (well, said) = look(&[]);
    assert!(well, "{said}");
    for what in ["configuration", "data directory", "database", "clock", "storage", "mail"] {
        assert!(said.contains(&format!("ok   {what}: ")), "{what} in {said}");
    }
    // Nobody listens there.
    let (well, said) = look(&[
        ("DERMAGA_MAIL_URL", "smtp://127.0.0.1:9"),
        ("DERMAGA_PAYMENT_PROVIDER", "midtrans"),
        ("DERMAGA_PAYMENT_SERVER_KEY", "SB-x"),
        ("DERMAGA_PAYMENT_URL", "http://127.0.0.1:9"),
        (
            "DERMAGA_STORAGE_URL",
            "s3://x?endpoint=http://127.0.0.1:9&region=x&access_key_id=x&secret_access_key=x",
        ),
    ]);
    assert!(!well);
    for what in ["mail", "payment provider", "storage"] {
        assert!(said.contains(&format!("FAIL {what}: ")), "{what} in {said}");
    }
    assert!(said.contains("ok   database: "));
}
