//! Pure rules of files.

use chrono::TimeDelta;

use super::model::{Kind, Purpose};
use crate::kernel::access::{Role, Rule};

const MIB: usize = 1024 * 1024;

/// The largest file of any kind.
pub const LARGEST: usize = 10 * MIB;

/// Quota of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub files: i64,
    pub bytes: i64,
}

/// `None` for no limit. Anybody can register, so an account has little room until its e-mail address
/// is verified.
pub fn quota(role: Role, email_verified: bool) -> Option<Quota> {
    let mib = if email_verified { 200 } else { 20 };
    match role {
        Role::Admin => None,
        Role::Staff | Role::Mitra | Role::Crew | Role::Reseller => {
            Some(Quota { files: 500, bytes: (mib * MIB) as i64 })
        }
    }
}

/// How long a file without references is kept.
pub const UNUSED: TimeDelta = TimeDelta::days(7);

/// Number of bytes needed to detect the type.
const START: usize = 4096;

impl Kind {
    pub fn limit(self) -> usize {
        if self == Kind::Pdf { LARGEST } else { 5 * MIB }
    }

    /// Detects the type by the first bytes.
    pub fn sniff(content: &[u8]) -> Option<Self> {
        // Callers that read in pieces call this for each of them, so only the start is examined.
        let start = &content[..content.len().min(START)];
        match infer::get(start)?.mime_type() {
            "image/jpeg" => Some(Kind::Jpeg),
            "image/png" => Some(Kind::Png),
            "image/webp" => Some(Kind::Webp),
            "application/pdf" => Some(Kind::Pdf),
            _ => None,
        }
    }
}

impl Purpose {
    pub fn is_public(self) -> bool {
        matches!(self, Purpose::Avatar | Purpose::Photo | Purpose::Content)
    }

    /// The rule that an upload for this purpose requires.
    pub fn rule(self) -> Option<Rule> {
        (self == Purpose::Content).then_some(Rule::ContentsWrite)
    }

    pub fn allows(self, kind: Kind) -> bool {
        kind != Kind::Pdf || !self.is_public()
    }
}

/// A file name without folders and control characters, of limited length.
pub fn clean_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    // Bidirectional control characters could display `jpg.exe` as `exe.gpj`.
    let tricky = |c: &char| {
        c.is_control()
            || "<>:\"|?*;%\u{200e}\u{200f}".contains(*c)
            || ('\u{202a}'..='\u{202e}').contains(c)
            || ('\u{2066}'..='\u{2069}').contains(c)
    };
    let kept: String = last.chars().filter(|c| !tricky(c)).collect();
    let edge = |c: char| c == '.' || c.is_whitespace();
    let short: String = kept.trim_start_matches(edge).chars().take(120).collect();
    match short.trim_end_matches(edge) {
        "" => "file".into(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_cleaned() {
        for (name, clean) in [
            ("photo.jpg", "photo.jpg"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\me\\ktp depan.png", "ktp depan.png"),
            ("a\r\nSet-Cookie: x", "aSet-Cookie x"),
            ("invoice\u{202e}fdp.exe", "invoicefdp.exe"),
            ("..", "file"),
            ("", "file"),
        ] {
            assert_eq!(clean_name(name), clean);
        }
    }

    proptest! {
        #[test]
        fn a_clean_name_is_harmless_and_stays_clean(name in "\\PC{0,300}|.{0,200}") {
            let clean = clean_name(&name);
            prop_assert!(!clean.is_empty() && clean.chars().count() <= 120);
            prop_assert!(!clean.contains(['/', '\\', '"', '\n', '\r', '\0']));
            prop_assert_eq!(clean_name(&clean), clean);
        }
    }
}
