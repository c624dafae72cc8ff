//! Detection of addresses that a mail client would turn into a link.
//!
//! Names and reasons from guests appear in mails to addresses that the guest chose, so they must
//! not contain links. Titles and initials without spaces ("S.Kom", "A.A.Gde", "PT.Laut Biru"),
//! numbers and e-mail addresses are allowed.

use unicode_normalization::UnicodeNormalization;

use crate::kernel::{error::Fault, lang::text};

/// Top-level domains that are common in links and are not titles or abbreviations. Other domains
/// are detected by a path that follows.
const DOMAINS: &str = "\
    ai app art asia beauty best bet bid bio biz blog bond buzz cam casa cash casino cc center \
    cfd chat city click cloud club cn co com company cyou date dev digital download edu email \
    events eu expert express fit fun fyi games gg gift gle global gov group guru help homes \
    host icu id info ink io jp land life link live loan lol ltd ly market me media mil mobi \
    mom monster name net network news ngo ninja online ooo org page party pics plus pro pw \
    quest racing rest review rocks ru run sale sbs school science services sg shop site skin \
    social software solutions space store stream support systems tech today tools top tours \
    trade travel tv uk uno us video vip wang watch webcam website win work works world ws wtf \
    xin xyz zip zone рф";

/// Abbreviations before a dot that are not hosts: "No.ID 7", "PT.Express Bahari".
const ABBREVIATIONS: &str = "\
    bpk cv dr dra drs hj ibu ir jl no ny pt sdr st tn ud";

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// Upper bound of text lengths, enforced by the schema.
const LONGEST: usize = 20_000;

/// Adds a fault if the text contains a link.
pub fn without_url(field: impl Into<String>, said: &str, faults: &mut Vec<Fault>) {
    if said.len() <= LONGEST && has_url(said) {
        let message =
            text("Web addresses are not allowed here.", "Alamat web tidak diperbolehkan di sini.");
        faults.push(Fault::new(field, "url_not_allowed", message));
    }
}

/// The cost is linear in the length of the text.
pub fn has_url(text: &str) -> bool {
    let text = plain(text);
    let schemes = ["://", "http:", "https:", "mailto:", "javascript:"];
    schemes.iter().any(|scheme| text.contains(scheme)) || hosts(&text).any(|host| host.is_link())
}

/// Normalises to lower case, one form of each letter, without invisible characters.
fn plain(text: &str) -> String {
    let seen = text.chars().filter(|c| !is_invisible(*c)).nfkc().filter(|c| !is_invisible(*c));
    let one_form = |c| match c {
        // Characters that browsers treat as a dot in host names, and slash look-alikes.
        '\u{3002}' | '\u{ff0e}' | '\u{ff61}' => '.',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' => '/',
        c => c,
    };
    seen.map(one_form).flat_map(char::to_lowercase).collect()
}

/// Format characters and other zero-width characters.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A dotted token with its surroundings.
struct Host<'a> {
    labels: &'a str,
    before: Option<char>,
    after: &'a str,
}

/// The longest runs of labels and dots.
fn hosts(text: &str) -> impl Iterator<Item = Host<'_>> {
    let of_host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(of_host)?;
        let length = text[start..].find(|c| !of_host(c)).unwrap_or(text.len() - start);
        from = start + length;
        let before = text[..start].chars().next_back();
        Some(Host { labels: &text[start..from], before, after: &text[from..] })
    })
}

impl Host<'_> {
    fn is_link(&self) -> bool {
        let labels: Vec<&str> = self.labels.split('.').filter(|label| !label.is_empty()).collect();
        if labels.len() < 2 {
            return false;
        }
        let path = self.has_path();
        // An e-mail address is not a link, but what follows the sign may be one.
        if !path && (self.before == Some('@') || self.after.starts_with('@')) {
            return false;
        }
        let is_domain = |label: &str| is_in(DOMAINS, label) || label.starts_with("xn--");
        let long = |label: &str| label.chars().nth(1).is_some();
        let is_host = |label: &str| long(label) && !is_in(ABBREVIATIONS, label);
        let named = labels.windows(2).any(|pair| is_domain(pair[1]) && (is_host(pair[0]) || path));
        // The last label must not be a number, as in "No.5/6".
        let worded = |label: &str| long(label) && label.chars().all(char::is_alphabetic);
        let last = labels[labels.len() - 1];
        let under_any = path && worded(last) && long(labels[labels.len() - 2]);
        let is_ip = labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok());
        named || under_any || labels[0] == "www" || (is_ip && path)
    }

    /// Whether a path follows, perhaps after a port.
    fn has_path(&self) -> bool {
        let after = match self.after.strip_prefix(':') {
            Some(port) => port.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => self.after,
        };
        after.starts_with('/')
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};

    use super::*;

    #[test]
    fn links_are_found() {
        for link in [
            "http://evil.example",
            "HTTPS://EVIL.EXAMPLE",
            "ftp://x",
            "evil://x",
            "http:evil",
            "mailto:a@evil.example",
            "www.evil",
            "Menang di www.evil.example!",
            "evil.example/x",
            "evil.example:8080/x",
            "evil.com",
            "Hadiah: evil.com, klik",
            "(evil.com)",
            "evil.com.",
            "evil.com.au",
            "evil.co.id",
            "promo.evil.xyz?x=1",
            "bit.ly/abc",
            "t.me/abc",
            "x.co/a",
            "wa.me/628123",
            "10.0.0.1/x",
            "user@evil.example/x",
            "xn--evl-xyz.xn--p1ai",
            "skom.com",
            "evil\u{ff0e}com",
            "evil\u{3002}com",
            "evil\u{ff61}com",
            "ev\u{200b}il.\u{200d}com",
            "evil.c\u{ad}om",
            "h\u{feff}ttp://evil",
            "ｅｖｉｌ．ｃｏｍ",
            "evil.com\u{2044}x",
            "evil.example\u{ff0f}x",
            "Sari\nevil.com\nx",
        ] {
            assert!(has_url(link), "{link:?}");
        }
    }

    #[test]
    fn names_and_plain_words_pass() {
        for name in [
            "Sari",
            "PT. Laut Biru",
            "PT.Laut Biru",
            "CV. Bahari Jaya",
            "Drs. H. Amir",
            "Drs.H.Amir, M.M.",
            "Ir. Wayan, S.Kom",
            "S.Kom",
            "B.Com",
            "S.Kom/M.M",
            "Ph.D",
            "St.Joseph",
            "No.5",
            "No.ID 7",
            "PT.Express Bahari",
            "Jl. Raya No.5/6",
            "A.A.Gde",
            "I.B.Md.Ari",
            "I Gst. Ngr. Agung",
            "Dr.dr.Ni Luh",
            "KH.Ahmad",
            "O'Brien-Smith",
            "Jam 10.30/11.00",
            "Rp 1.500.000,-",
            "sari@example.com",
            "sari.id@example.com",
            "Mohon kursi depan. Terima kasih.",
            "Naik di dermaga 1/2",
            "12.11.2026/13.11.2026",
            "...",
            ".",
            "",
            "http",
            "王小明。",
        ] {
            assert!(!has_url(name), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn a_domain_is_found_however_it_is_written(
            host in "[a-z0-9][a-z0-9-]{1,20}", domain in select(DOMAINS.split(' ').collect::<Vec<_>>()),
            (before, after) in ("([A-Za-z]{1,8} ){0,3}[(]?", "([ ,!)]( [a-z]{1,8}){0,3})?"),
            hidden in select(&['\u{200b}', '\u{200d}', '\u{ad}', '\u{2060}', '\u{feff}'][..]),
            dot in select(&['.', '\u{ff0e}', '\u{3002}', '\u{ff61}'][..]),
            at in 0_usize..64, upper in any::<bool>(),
        ) {
            prop_assume!(!is_in(ABBREVIATIONS, &host));
            let mut link: Vec<char> = format!("{host}{dot}{domain}").chars().collect();
            link.insert(at % link.len(), hidden);
            let link: String = link.into_iter().collect();
            let link = if upper { link.to_uppercase() } else { link };
            let said = format!("{before}{link}{after}");
            prop_assert!(has_url(&said));
        }

        #[test]
        fn words_without_a_dot_pass(said in "([A-Za-zÀ-ÿ'-]{1,12}[ ,]{1,2}){0,8}") {
            prop_assert!(!has_url(&said));
        }

        #[test]
        fn initials_pass(said in "([A-Z][.] ?){1,6}[A-Z][a-z]{8,12}") {
            prop_assert!(!has_url(&said));
        }

        #[test]
        fn anything_can_be_looked_at(said in "\\PC{0,200}") {
            let _ = has_url(&said);
        }
    }
}
