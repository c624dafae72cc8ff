//! Mails, sent by SMTP or written to files.

use std::{
    io,
    path::{Path, PathBuf},
};

use askama::Template;
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Attachment as Part, Mailbox, MultiPart, header::ContentType},
};

use super::{
    email::Email,
    error::{Error, Result},
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

#[derive(Template)]
#[template(path = "letter.html")]
struct Html<'a> {
    letter: &'a Letter,
    lang: Lang,
}

#[derive(Template)]
#[template(path = "letter.txt")]
struct Plain<'a> {
    letter: &'a Letter,
    lang: Lang,
}

#[derive(Clone)]
pub struct Mailer {
    from: Mailbox,
    way: Way,
}

#[derive(Clone)]
enum Way {
    Files(PathBuf),
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
}

impl Mailer {
    pub fn files(from: Mailbox, folder: PathBuf) -> Self {
        Self { from, way: Way::Files(folder) }
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
            Way::Files(folder) => {
                let file = folder.join(format!("{id}.eml"));
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
            Way::Files(folder) => Ok(format!("mails are written to {}", folder.display())),
            Way::Smtp(transport) => match transport.test_connection().await {
                Ok(true) => Ok("the SMTP server responds".into()),
                Ok(false) => Err(Error::Unavailable("the SMTP server does not respond".into())),
                Err(why) => Err(Error::Unavailable(why.to_string())),
            },
        }
    }

    fn message(&self, id: Uuid, letter: &Letter) -> Result<Message> {
        let lang = letter.lang;
        let to = letter.to.as_str().parse().map_err(Error::internal)?;
        let html = Html { letter, lang }.render().map_err(Error::internal)?;
        let plain = Plain { letter, lang }.render().map_err(Error::internal)?;
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

/// Mails contain working links, so only the service's user may read them.
fn keep(file: &Path, message: &Message) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        private::folder(folder)?;
    }
    let unfinished = file.with_extension("part");
    private::write(&unfinished, &message.formatted())?;
    std::fs::rename(unfinished, file)
}
