//! Mails, sent by SMTP or written to files.

use std::{
    io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use chrono::{DateTime, Utc};
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Attachment as Part, Mailbox, MultiPart, header::ContentType},
};
use minijinja::{Environment, context};

use super::{
    address_hash::{self, AddressHasher},
    email::Email,
    error::{Error, Result},
    html,
    ids::Uuid,
    lang::{Lang, Text},
    private,
};

/// A mail to one person. All mails use the same template.
pub struct Letter {
    pub to: Email,
    pub name: String,
    pub lang: Lang,
    pub subject: Text,
    pub paragraphs: Vec<Text>,
    /// Rows of label and value.
    pub facts: Vec<(Text, Text)>,
    /// Label and address of the button.
    pub action: Option<(Text, String)>,
    pub attachment: Option<Attachment>,
}

impl Letter {
    /// A mail with text only.
    pub fn new(to: Email, name: String, lang: Lang, subject: Text, paragraphs: Vec<Text>) -> Self {
        let (facts, action, attachment) = (Vec::new(), None, None);
        Self { to, name, lang, subject, paragraphs, facts, action, attachment }
    }
}

/// A PDF attachment.
pub struct Attachment {
    pub name: String,
    pub pdf: Vec<u8>,
}

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let templates = [
        ("letter.html", include_str!("../../templates/letter.html")),
        ("letter.txt", include_str!("../../templates/letter.txt")),
    ];
    html::engine(&templates).expect("every mail is written with them")
});

/// Writes a mail with the template of this name.
fn written(template: &str, letter: &Letter) -> Result<String> {
    let lang = letter.lang;
    let say = |text: &Text| text.say(lang).to_owned();
    let facts = letter.facts.iter().map(|(label, value)| (say(label), say(value)));
    let contents = context! {
        lang => lang.as_str(),
        subject => letter.subject.say(lang),
        greeting => lang.of("Hello", "Halo"),
        name => letter.name.as_str(),
        paragraphs => letter.paragraphs.iter().map(say).collect::<Vec<_>>(),
        facts => facts.collect::<Vec<_>>(),
        action => letter.action.as_ref().map(|(label, link)| (say(label), link)),
    };
    let template = TEMPLATES.get_template(template).map_err(Error::internal)?;
    template.render(contents).map_err(Error::internal)
}

#[derive(Clone)]
pub struct Mailer {
    from: Mailbox,
    way: Way,
}

#[derive(Clone)]
enum Way {
    Files(PathBuf, AddressHasher),
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
}

impl Mailer {
    pub fn files(from: Mailbox, folder: PathBuf, hasher: AddressHasher) -> Self {
        Self { from, way: Way::Files(folder, hasher) }
    }

    /// `smtp://user:password@host:port?tls=required`, or `smtps://…`.
    pub fn smtp(from: Mailbox, url: &str) -> Result<Self, String> {
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|error| error.to_string())?
            .timeout(Some(std::time::Duration::from_secs(20)))
            .build();
        Ok(Self { from, way: Way::Smtp(transport) })
    }

    /// `id` determines the Message-ID: a mail that is sent again after a crash is shown once by
    /// mail clients.
    pub async fn send(&self, id: Uuid, letter: &Letter) -> Result<()> {
        let message = self.message(id, letter)?;
        match &self.way {
            Way::Smtp(transport) => {
                transport.send(message).await.map_err(|e| Error::Unavailable(e.to_string()))?;
            }
            Way::Files(folder, hasher) => {
                // The hash finds the mails to an address without opening each.
                let to = hasher.hash(&letter.to).short();
                let file = folder.join(format!("{id}.{to}.eml"));
                let written = tokio::task::spawn_blocking(move || keep(&file, &message));
                let written = written.await.map_err(Error::internal)?;
                written.map_err(|e| Error::Unavailable(e.to_string()))?;
            }
        }
        Ok(())
    }

    /// Checks whether mails can be sent, without sending one.
    pub async fn test(&self) -> Result<String> {
        match &self.way {
            Way::Files(folder, _) => Ok(format!("mails are written to {}", folder.display())),
            Way::Smtp(transport) => match transport.test_connection().await {
                Ok(true) => Ok("the SMTP server responds".into()),
                Ok(false) => Err(Error::Unavailable("the SMTP server does not respond".into())),
                Err(why) => Err(Error::Unavailable(why.to_string())),
            },
        }
    }

    /// The mails to an address that are stored as files, the oldest first.
    pub async fn stored(&self, to: &Email) -> Result<Vec<StoredMail>> {
        let Way::Files(folder, hasher) = &self.way else { return Ok(Vec::new()) };
        let hashes: Vec<_> = hasher.hashes(to).iter().map(|hash| hash.text()).collect();
        let mut mails = in_folder(folder.clone(), move |path| is_to(path, &hashes)).await?;
        mails.sort_by_key(|mail| mail.modified_at);
        Ok(mails)
    }

    /// Deletes the stored mails to an address; returns their number.
    pub async fn forget(&self, to: &Email) -> Result<u64> {
        let Way::Files(_, hasher) = &self.way else { return Ok(0) };
        self.forget_hashes(hasher.hashes(to).iter().map(|hash| hash.text()).collect()).await
    }

    /// The same for the hash of an address.
    pub async fn forget_hash(&self, hash: &str) -> Result<u64> {
        self.forget_hashes(vec![hash.to_owned()]).await
    }

    async fn forget_hashes(&self, hashes: Vec<String>) -> Result<u64> {
        let Way::Files(folder, _) = &self.way else { return Ok(0) };
        delete(in_folder(folder.clone(), move |path| is_to(path, &hashes)).await?).await
    }

    /// Deletes stored mails that were written before a time; returns their number.
    pub async fn forget_before(&self, time: DateTime<Utc>) -> Result<u64> {
        let Way::Files(folder, _) = &self.way else { return Ok(0) };
        let mut mails = in_folder(folder.clone(), |_| true).await?;
        mails.retain(|mail| mail.modified_at < time);
        delete(mails).await
    }

    fn message(&self, id: Uuid, letter: &Letter) -> Result<Message> {
        let lang = letter.lang;
        let to = letter.to.as_str().parse().map_err(Error::internal)?;
        let html = written("letter.html", letter)?;
        let plain = written("letter.txt", letter)?;
        let mut parts = MultiPart::alternative_plain_html(plain, html);
        if let Some(Attachment { name, pdf }) = &letter.attachment {
            let kind = ContentType::parse("application/pdf").map_err(Error::internal)?;
            let pdf = Part::new(name.clone()).body(pdf.clone(), kind);
            parts = MultiPart::mixed().multipart(parts).singlepart(pdf);
        }
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(Some(letter.name.clone()), to))
            .subject(letter.subject.say(lang))
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            .multipart(parts)
            .map_err(Error::internal)
    }
}

/// A mail that is stored as a file.
#[derive(Clone, Debug)]
pub struct StoredMail {
    pub path: PathBuf,
    pub size: u64,
    pub modified_at: DateTime<Utc>,
}

/// Whether the name of a file says that the mail is to the address with one of these hashes.
fn is_to(path: &Path, hashes: &[String]) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let to = name.split_once('.').map(|(_, to)| to);
    hashes.iter().any(|hash| to == Some(address_hash::short(hash)))
}

/// The mails in the folder that are wanted, unfinished ones included. Reads the names of all files of
/// the folder, sizes and times of those that are wanted, and no content.
async fn in_folder(
    folder: PathBuf,
    is_wanted: impl Fn(&Path) -> bool + Send + 'static,
) -> Result<Vec<StoredMail>> {
    let read = move || {
        let entries = match std::fs::read_dir(&folder) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut wanted = Vec::new();
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            let is_mail = path.extension().is_some_and(|end| end == "eml" || end == "part");
            if !is_mail || !is_wanted(&path) {
                continue;
            }
            // Another process may have deleted it.
            let Ok(found) = entry.metadata() else { continue };
            let modified_at = found.modified()?.into();
            wanted.push(StoredMail { path, size: found.len(), modified_at });
        }
        Ok(wanted)
    };
    on_files(read).await
}

async fn delete(mails: Vec<StoredMail>) -> Result<u64> {
    let delete = move || {
        let mut deleted = 0;
        for mail in mails {
            match std::fs::remove_file(&mail.path) {
                Ok(()) => deleted += 1,
                Err(why) if why.kind() == io::ErrorKind::NotFound => {}
                Err(why) => return Err(why),
            }
        }
        Ok(deleted)
    };
    on_files(delete).await
}

async fn on_files<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?;
    done.map_err(|why| Error::Unavailable(format!("stored mails: {why}")))
}

/// Mails contain working links, so only the service's user may read them.
fn keep(file: &Path, message: &Message) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        private::folder(folder)?;
    }
    let unfinished = file.with_extension("part");
    private::write(&unfinished, &message.formatted())?;
    std::fs::rename(unfinished, file)
}
