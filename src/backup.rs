//! Backups of a service that keeps everything in its data directory: SQLite and local files.
//!
//! A backup is a folder with a consistent copy of the database, the files, and the key that decrypts
//! sealed columns. It is made while the service runs, and verified before it gets its final name.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    config::Config,
    invariants,
    kernel::{
        clock::Clock,
        db::{self, Db},
        private,
    },
};

const DATABASE: &str = "dermaga.db";
const FILES: &str = "files";
const KEY: &str = "secret.key";

/// What a backup holds.
pub struct Backup {
    pub folder: PathBuf,
    pub bytes: u64,
    pub files: u64,
    pub rules: usize,
}

/// Makes a backup in a new folder below `into`.
pub async fn backup(config: &Config, into: &Path, clock: &Clock) -> Result<Backup, String> {
    let source = database_file(config)?;
    if !source.exists() {
        return Err(format!("{}: there is no database to back up", source.display()));
    }
    let name = format!("dermaga-{}", clock.now().format("%Y%m%dT%H%M%SZ"));
    let (folder, unfinished) = (into.join(&name), into.join(format!("{name}.part")));
    private_folder(&unfinished)?;
    let made = fill(config, &source, &unfinished).await;
    let made = match made {
        Ok(made) => made,
        Err(why) => {
            let _ = fs::remove_dir_all(&unfinished);
            return Err(why);
        }
    };
    // Only a verified backup gets its name.
    fs::rename(&unfinished, &folder).map_err(|why| fault(&folder, &why))?;
    Ok(Backup { folder, ..made })
}

async fn fill(config: &Config, source: &Path, folder: &Path) -> Result<Backup, String> {
    let database = folder.join(DATABASE);
    db::copy(source, &database).await.map_err(|why| fault(&database, &why))?;
    // Copy files after the database, so that every file that it refers to is there.
    let files = copied(&config.data_dir.join(FILES), &folder.join(FILES))?;
    let key = config.data_dir.join(KEY);
    if key.exists() {
        copy_private(&key, &folder.join(KEY))?;
    }
    let rules = verified(&database, folder).await?;
    let bytes = fs::metadata(&database).map_err(|why| fault(&database, &why))?.len();
    Ok(Backup { folder: folder.to_owned(), bytes, files, rules })
}

/// Puts a backup into a data directory that has no database yet.
pub async fn restore(config: &Config, from: &Path) -> Result<Backup, String> {
    let target = database_file(config)?;
    if target.exists() {
        return Err(format!(
            "{}: there is a database already; move it away first",
            target.display()
        ));
    }
    let source = from.join(DATABASE);
    if !source.exists() {
        return Err(format!("{}: this is no backup", from.display()));
    }
    private_folder(&config.data_dir)?;
    let rules = verified(&source, &config.data_dir).await?;
    let files = copied(&from.join(FILES), &config.data_dir.join(FILES))?;
    let (kept, key) = (from.join(KEY), config.data_dir.join(KEY));
    if kept.exists() && config.secret_key.is_none() {
        if key.exists() && fs::read(&key).ok() != fs::read(&kept).ok() {
            return Err(format!("{}: another key is there; move it away first", key.display()));
        }
        if !key.exists() {
            copy_private(&kept, &key)?;
        }
    }
    // The database comes last, under another name until it is complete: an interrupted restore can
    // be started again.
    let part = target.with_extension("part");
    let bytes = private::copy(&source, &part).map_err(|why| fault(&part, &why))?;
    let whole = fs::File::open(&part).and_then(|file| file.sync_all());
    whole.map_err(|why| fault(&part, &why))?;
    fs::rename(&part, &target).map_err(|why| fault(&target, &why))?;
    Ok(Backup { folder: config.data_dir.clone(), bytes, files, rules })
}

/// Checks SQLite's integrity and every invariant; returns how many there are. The invariants are
/// those of this release, so a database of an older one is copied, and the copy is migrated and
/// checked. The database itself is not changed.
async fn verified(database: &Path, room: &Path) -> Result<usize, String> {
    let faults = db::faults(database).await.map_err(|why| fault(database, &why))?;
    if let Some(first) = faults.first() {
        return Err(format!("{}: it is damaged: {first}", database.display()));
    }
    let copy = opened(database).await?;
    let behind = copy.is_behind().await;
    if let Ok(false) = behind {
        return adds_up(database, copy).await;
    }
    copy.close().await;
    behind.map_err(|why| fault(database, &why))?;
    let trial = room.join("trial");
    // An interrupted run may have left it.
    let _ = fs::remove_dir_all(&trial);
    let done = tried(database, &trial).await;
    let _ = fs::remove_dir_all(&trial);
    done
}

async fn tried(database: &Path, trial: &Path) -> Result<usize, String> {
    private_folder(trial)?;
    let file = trial.join(DATABASE);
    db::copy(database, &file).await.map_err(|why| fault(&file, &why))?;
    let copy = opened(&file).await?;
    copy.migrate().await.map_err(|why| fault(database, &why))?;
    adds_up(database, copy).await
}

async fn opened(database: &Path) -> Result<Db, String> {
    let url = format!("sqlite:{}", database.display());
    Db::open_without_timeout(&url).await.map_err(|why| fault(database, &why))
}

async fn adds_up(database: &Path, copy: Db) -> Result<usize, String> {
    let checked = invariants::check(&copy).await;
    copy.close().await;
    let checked = checked.map_err(|why| format!("{}: {why}", database.display()))?;
    for question in &checked {
        if let Some(first) = question.broken.first() {
            return Err(format!("{}: not so: {}: {first}", database.display(), question.rule));
        }
    }
    Ok(checked.len())
}

fn database_file(config: &Config) -> Result<PathBuf, String> {
    let url = config.database_url();
    if url.starts_with("postgres") {
        return Err("this is for SQLite; with PostgreSQL use pg_dump (docs/operating.md)".into());
    }
    Ok(PathBuf::from(url.trim_start_matches("sqlite:").trim_start_matches("//")))
}

/// Copies a folder recursively; returns the number of files.
fn copied(from: &Path, to: &Path) -> Result<u64, String> {
    if !from.exists() {
        return Ok(0);
    }
    private_folder(to)?;
    let mut count = 0;
    for entry in fs::read_dir(from).map_err(|why| fault(from, &why))? {
        let entry = entry.map_err(|why| fault(from, &why))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match source.is_dir() {
            true => count += copied(&source, &target)?,
            false => match private::copy(&source, &target) {
                Ok(_) => count += 1,
                // Swept in the meantime: nothing refers to it.
                Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
                Err(why) => return Err(fault(&source, &why)),
            },
        }
    }
    Ok(count)
}

fn private_folder(folder: &Path) -> Result<(), String> {
    private::folder(folder).map_err(|why| fault(folder, &why))
}

fn copy_private(from: &Path, to: &Path) -> Result<(), String> {
    private::copy(from, to).map(drop).map_err(|why| fault(to, &why))
}

fn fault(path: &Path, why: &dyn std::fmt::Display) -> String {
    format!("{}: {why}", path.display())
}
