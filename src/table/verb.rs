//! The first column of the table: the method, and what the operation does.

use axum::http::Method;

/// What an operation does to offers, which cached responses show (ADR 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferChange {
    /// Cached responses stay.
    None,
    /// Its handler invalidates the responses that it concerns.
    Some,
    /// All cached responses are invalidated, unless it is refused.
    All,
}

/// Who, of those that must set up a second factor first, may call an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeforeEnrolment {
    Nobody,
    /// Pages, to show who is signed in.
    Pages,
    Everybody,
}

/// A method, with what the operation does.
#[derive(Clone, Debug)]
pub struct Verb {
    pub(super) method: Method,
    pub(super) changes: bool,
    pub(super) cached: bool,
    pub(super) offers: OfferChange,
    pub(super) recent_sign_in: bool,
    pub(super) before_enrolment: BeforeEnrolment,
}

impl Verb {
    /// Reads, unless it says otherwise. A GET that changes something must be meant: neither a HEAD
    /// nor a prefetch runs it.
    pub const GET: Self = Self {
        method: Method::GET,
        changes: false,
        cached: false,
        offers: OfferChange::None,
        recent_sign_in: false,
        before_enrolment: BeforeEnrolment::Nobody,
    };

    /// The response is the same for every caller, and may be a few seconds old.
    pub fn cached(self) -> Self {
        Self { cached: true, ..self }
    }

    /// Changes something that no offer shows.
    pub fn keeps_offers(self) -> Self {
        self.changing(OfferChange::None)
    }

    /// The handler invalidates the cached responses that it concerns.
    pub fn changes_some_offers(self) -> Self {
        self.changing(OfferChange::Some)
    }

    /// Invalidates all cached responses.
    pub fn changes_offers(self) -> Self {
        self.changing(OfferChange::All)
    }

    /// Needs the password within the last hour: a sign-in, or `POST /user/me/reauthenticate`.
    pub fn recent_sign_in(self) -> Self {
        Self { recent_sign_in: true, ..self }
    }

    /// Also for accounts that must set up a second factor first (`DERMAGA_REQUIRE_SECOND_FACTOR`).
    pub fn before_enrolment(self) -> Self {
        Self { before_enrolment: BeforeEnrolment::Everybody, ..self }
    }

    /// The same for pages only.
    pub fn before_enrolment_for_pages(self) -> Self {
        Self { before_enrolment: BeforeEnrolment::Pages, ..self }
    }

    fn changing(self, offers: OfferChange) -> Self {
        Self { changes: true, offers, ..self }
    }
}

/// Any other method. It has no default: a line of the table says what the operation does.
pub struct UnsafeMethod(Method);

impl UnsafeMethod {
    pub const POST: Self = Self(Method::POST);
    pub const PUT: Self = Self(Method::PUT);
    pub const PATCH: Self = Self(Method::PATCH);
    pub const DELETE: Self = Self(Method::DELETE);

    /// Changes nothing.
    pub fn read_only(self) -> Verb {
        Verb { method: self.0, ..Verb::GET }
    }

    /// See [`Verb::keeps_offers`].
    pub fn keeps_offers(self) -> Verb {
        self.read_only().keeps_offers()
    }

    /// See [`Verb::changes_some_offers`].
    pub fn changes_some_offers(self) -> Verb {
        self.read_only().changes_some_offers()
    }

    /// See [`Verb::changes_offers`].
    pub fn changes_offers(self) -> Verb {
        self.read_only().changes_offers()
    }
}
