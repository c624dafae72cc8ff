//! Backups of SQLite and local files.
//!
//! A backup is a folder with a consistent copy of the database, the files and the secret key. It is
//! made while the service runs and verified before it is complete.

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

/// Content of a backup.
pub struct Backup {
    pub folder: PathBuf,
    pub bytes: u64,
    pub files: u64,
    /// Number of invariants that were checked.
    pub rules: usize,
    /// Those that are violated. Such a backup is better than none.
    pub violations: Vec<String>,
}

/// Creates a backup in a new folder below `into`.
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
    // Renamed only after verification.
    fs::rename(&unfinished, &folder).map_err(|why| fault(&folder, &why))?;
    Ok(Backup { folder, ..made })
}

async fn fill(config: &Config, source: &Path, folder: &Path) -> Result<Backup, String> {
    let database = folder.join(DATABASE);
    db::copy(source, &database).await.map_err(|why| fault(&database, &why))?;
    // Copied after the database, so that all files it refers to are included.
    let files = copied(&config.data_dir.join(FILES), &folder.join(FILES))?;
    let key = config.data_dir.join(KEY);
    // A configured key is the one in use; the file would be an older one.
    if key.exists() && config.secret_key.is_none() {
        copy_private(&key, &folder.join(KEY))?;
    }
    let (rules, violations) = verified(&database, folder).await?;
    let bytes = fs::metadata(&database).map_err(|why| fault(&database, &why))?.len();
    Ok(Backup { folder: folder.to_owned(), bytes, files, rules, violations })
}

/// Restores a backup into a data directory without a database.
pub async fn restore(config: &Config, from: &Path) -> Result<Backup, String> {
    let target = database_file(config)?;
    if target.exists() {
        return Err(format!("{}: a database exists; move it away first", target.display()));
    }
    let source = from.join(DATABASE);
    if !source.exists() {
        return Err(format!("{}: this is not a backup", from.display()));
    }
    private_folder(&config.data_dir)?;
    let (rules, violations) = verified(&source, &config.data_dir).await?;
    let files = copied(&from.join(FILES), &config.data_dir.join(FILES))?;
    let (kept, key) = (from.join(KEY), config.data_dir.join(KEY));
    if kept.exists() && config.secret_key.is_none() {
        if key.exists() && fs::read(&key).ok() != fs::read(&kept).ok() {
            return Err(format!("{}: a different key exists; move it away first", key.display()));
        }
        if !key.exists() {
            copy_private(&kept, &key)?;
        }
    }
    // The database is copied last, under a temporary name, so that an interrupted restore can be
    // repeated.
    let part = target.with_extension("part");
    let bytes = private::copy(&source, &part).map_err(|why| fault(&part, &why))?;
    let whole = fs::File::open(&part).and_then(|file| file.sync_all());
    whole.map_err(|why| fault(&part, &why))?;
    fs::rename(&part, &target).map_err(|why| fault(&target, &why))?;
    Ok(Backup { folder: config.data_dir.clone(), bytes, files, rules, violations })
}

/// Verifies integrity and invariants; returns the number of invariants and the violations. They are
/// those of this version, so a database of an older version is checked in a migrated copy.
async fn verified(database: &Path, room: &Path) -> Result<(usize, Vec<String>), String> {
    let faults = db::faults(database).await.map_err(|why| fault(database, &why))?;
    if let Some(first) = faults.first() {
        return Err(format!("{}: the database is damaged: {first}", database.display()));
    }
    let copy = opened(database).await?;
    let behind = copy.is_behind().await;
    if let Ok(false) = behind {
        return check_invariants(database, copy).await;
    }
    copy.close().await;
    behind.map_err(|why| fault(database, &why))?;
    let trial = room.join("trial");
    // Removes the rest of an interrupted run.
    let _ = fs::remove_dir_all(&trial);
    let done = tried(database, &trial).await;
    let _ = fs::remove_dir_all(&trial);
    done
}

async fn tried(database: &Path, trial: &Path) -> Result<(usize, Vec<String>), String> {
    private_folder(trial)?;
    let file = trial.join(DATABASE);
    db::copy(database, &file).await.map_err(|why| fault(&file, &why))?;
    let copy = opened(&file).await?;
    copy.migrate().await.map_err(|why| fault(database, &why))?;
    check_invariants(database, copy).await
}

async fn opened(database: &Path) -> Result<Db, String> {
    let url = format!("sqlite:{}", database.display());
    Db::open_without_timeout(&url).await.map_err(|why| fault(database, &why))
}

async fn check_invariants(database: &Path, copy: Db) -> Result<(usize, Vec<String>), String> {
    let checked = invariants::check(&copy).await;
    copy.close().await;
    let checked = checked.map_err(|why| fault(database, &why))?;
    let broken = checked.iter().filter_map(|question| Some((question, question.broken.first()?)));
    let broken = broken.map(|(question, first)| format!("{}: {first}", question.rule));
    Ok((checked.len(), broken.collect()))
}

fn database_file(config: &Config) -> Result<PathBuf, String> {
    let only = "only for SQLite; with PostgreSQL use pg_dump (docs/operating.md)";
    config.sqlite_file().ok_or_else(|| only.into())
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
                // Deleted in the meantime.
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
