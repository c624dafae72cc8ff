//! Texts in English and Indonesian.

use std::borrow::Cow;

crate::string_enum! {
    /// Language of a response or mail.
    pub enum Lang { En = "en", Id = "id" }
}

impl Lang {
    /// Selects the text in this language.
    pub fn of(self, en: &'static str, id: &'static str) -> &'static str {
        match self {
            Lang::En => en,
            Lang::Id => id,
        }
    }

    /// The supported language that `Accept-Language` prefers; English by default.
    pub fn from_header(accept: &str) -> Self {
        let mut best = (0.0, Lang::En);
        for part in accept.split(',') {
            let (tag, weight) = part.split_once(";q=").unwrap_or((part, "1"));
            let weight = weight.trim().parse::<f32>().unwrap_or(0.0);
            let lang = match tag.trim().split('-').next() {
                Some(tag) if tag.eq_ignore_ascii_case("id") => Lang::Id,
                Some(tag) if tag.eq_ignore_ascii_case("en") => Lang::En,
                _ => continue,
            };
            if weight > best.0 {
                best = (weight, lang);
            }
        }
        best.1
    }
}

/// A text in both languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    en: Cow<'static, str>,
    id: Cow<'static, str>,
}

pub const fn text(en: &'static str, id: &'static str) -> Text {
    Text { en: Cow::Borrowed(en), id: Cow::Borrowed(id) }
}

impl Text {
    pub fn new(en: impl Into<Cow<'static, str>>, id: impl Into<Cow<'static, str>>) -> Self {
        Self { en: en.into(), id: id.into() }
    }

    pub fn say(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Id => &self.id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_chooses_by_weight_and_ignores_what_we_do_not_speak() {
        assert_eq!(Lang::from_header("id"), Lang::Id);
        assert_eq!(Lang::from_header("id-ID,id;q=0.9,en;q=0.8"), Lang::Id);
        assert_eq!(Lang::from_header("en;q=0.5, id;q=0.4"), Lang::En);
        assert_eq!(Lang::from_header("fr, id;q=0.2"), Lang::Id);
        assert_eq!(Lang::from_header("fr"), Lang::En);
        assert_eq!(Lang::from_header("id;q=rubbish"), Lang::En);
        assert_eq!(Lang::from_header(""), Lang::En);
    }
}
