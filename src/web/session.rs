//! Cookies of a browser: its session, its language, and a message for the next page.

use axum::http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_LANGUAGE, COOKIE},
};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::kernel::lang::Lang;

const SESSION: &str = "dermaga_session";
/// The session of a partner that staff act for.
const ACTING: &str = "dermaga_acting";
/// The remember token. Not the cookie of the API, which would resume a session for every site that
/// CORS admits.
const REMEMBER: &str = "dermaga_remembered_device";
/// Whose device it is: resuming needs the address.
const REMEMBERED_EMAIL: &str = "dermaga_remembered_email";
const LANGUAGE: &str = "dermaga_lang";
const FLASH: &str = "dermaga_flash";
/// The bookings that a guest has opened.
const BOOKINGS: &str = "dermaga_bookings";

const DAY: i64 = 24 * 60 * 60;
/// How long a guest's bookings can be opened.
pub const BOOKINGS_LIFETIME: i64 = 30 * DAY;
const YEAR: i64 = 365 * DAY;

/// What a browser sent.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The token of the person's own session.
    pub own: Option<String>,
    pub acting: Option<Acting>,
    pub remember: Option<String>,
    pub remembered_email: Option<String>,
    pub lang: Option<Lang>,
    pub flash: Option<String>,
    /// Sealed.
    pub bookings: Option<String>,
}

/// An impersonated session.
#[derive(Clone, Debug)]
pub struct Acting {
    pub token: String,
    /// Seconds since 1970.
    pub until: i64,
}

impl Session {
    pub fn read(headers: &HeaderMap) -> Self {
        let mut session = Self::default();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        for (name, value) in cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            Some((name, percent_decode_str(value).decode_utf8().ok()?.into_owned()))
        }) {
            // Tokens become headers.
            let is_token = value.bytes().all(|byte| byte.is_ascii_graphic());
            match name {
                _ if value.is_empty() => {}
                SESSION | ACTING | REMEMBER if !is_token => {}
                SESSION => session.own = Some(value),
                ACTING => session.acting = acting(&value),
                REMEMBER => session.remember = Some(value),
                REMEMBERED_EMAIL => session.remembered_email = Some(value),
                LANGUAGE => session.lang = value.parse().ok(),
                FLASH => session.flash = Some(value),
                BOOKINGS => session.bookings = Some(value),
                _ => {}
            }
        }
        session
    }

    /// What the travellers' site may know.
    pub fn of_guest(self) -> Self {
        Self { flash: self.flash, bookings: self.bookings, ..Self::default() }
    }

    /// The token that pages act with.
    pub fn token(&self) -> Option<&str> {
        let acting = self.acting.as_ref().map(|acting| acting.token.as_str());
        acting.or(self.own.as_deref())
    }
}

fn acting(value: &str) -> Option<Acting> {
    let (token, until) = value.rsplit_once('.')?;
    Some(Acting { token: token.to_owned(), until: until.parse().ok()? })
}

/// The language of a page: the one that was chosen, else the browser's, else Indonesian.
pub fn language(headers: &HeaderMap, session: &Session) -> Lang {
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let accepted = accepted.filter(|accepted| {
        let mut tags = accepted.split([',', ';', '-']).map(str::trim);
        tags.any(|tag| tag.eq_ignore_ascii_case("en") || tag.eq_ignore_ascii_case("id"))
    });
    session.lang.or(accepted.map(Lang::from_header)).unwrap_or(Lang::Id)
}

/// Writes cookies.
#[derive(Clone, Debug)]
pub struct Jar {
    secure: bool,
    pub cookies: Vec<HeaderValue>,
}

impl Jar {
    pub fn new(public_url: &str) -> Self {
        Self { secure: public_url.starts_with("https://"), cookies: Vec::new() }
    }

    pub fn sign_in(&mut self, token: &str, seconds: i64) {
        self.set(SESSION, token, seconds);
        self.set(ACTING, "", 0);
    }

    pub fn sign_out(&mut self) {
        for name in [SESSION, ACTING, REMEMBER, REMEMBERED_EMAIL] {
            self.set(name, "", 0);
        }
    }

    pub fn act_as(&mut self, token: &str, seconds: i64, until: i64) {
        self.set(ACTING, &format!("{token}.{until}"), seconds);
    }

    pub fn stop_acting(&mut self) {
        self.set(ACTING, "", 0);
    }

    pub fn remember_email(&mut self, email: &str) {
        self.set(REMEMBERED_EMAIL, email, 90 * DAY);
    }

    /// The API decides how long the token is valid: no longer than this.
    pub fn remember(&mut self, token: &str) {
        self.set(REMEMBER, token, 30 * DAY);
    }

    pub fn forget_device(&mut self) {
        self.set(REMEMBER, "", 0);
        self.set(REMEMBERED_EMAIL, "", 0);
    }

    pub fn language(&mut self, lang: Lang) {
        self.set(LANGUAGE, lang.as_str(), YEAR);
    }

    /// A message that the next page shows once.
    pub fn flash(&mut self, message: &str) {
        self.set(FLASH, message, 60);
    }

    pub fn forget_flash(&mut self) {
        self.set(FLASH, "", 0);
    }

    pub fn bookings(&mut self, sealed: &str) {
        self.set(BOOKINGS, sealed, BOOKINGS_LIFETIME);
    }

    /// For all paths: the console is not the only site with pages. The API reads none of these.
    fn set(&mut self, name: &str, value: &str, seconds: i64) {
        let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
        let secure = if self.secure { "; Secure" } else { "" };
        let cookie =
            format!("{name}={value}; Max-Age={seconds}; Path=/; HttpOnly; SameSite=Lax{secure}");
        self.cookies.extend(HeaderValue::from_str(&cookie));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookie: &str, accept: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, cookie.parse().unwrap());
        headers.insert(ACCEPT_LANGUAGE, accept.parse().unwrap());
        headers
    }

    #[test]
    fn an_impersonated_session_is_used_before_the_own_one() {
        let session = Session::read(&headers("dermaga_session=a; dermaga_acting=b.17", ""));
        assert_eq!(session.token(), Some("b"));
        assert_eq!(session.acting.as_ref().map(|acting| acting.until), Some(17));
        let session = Session::read(&headers("dermaga_session=a; dermaga_acting=", ""));
        assert_eq!(session.token(), Some("a"));
    }

    #[test]
    fn the_language_is_the_chosen_one_or_the_browsers_or_indonesian() {
        let language = |cookie, accept| {
            let headers = headers(cookie, accept);
            language(&headers, &Session::read(&headers))
        };
        assert_eq!(language("dermaga_lang=en", "id"), Lang::En);
        assert_eq!(language("", "en-GB,en;q=0.9"), Lang::En);
        assert_eq!(language("", "fr"), Lang::Id);
        assert_eq!(language("dermaga_lang=fr", "de, id;q=0.5"), Lang::Id);
    }
}
