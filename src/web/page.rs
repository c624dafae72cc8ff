//! A line of the table of pages.

use axum::response::Response;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{format::Locale, forms::Values, visit::Visit};
use crate::kernel::lang::{Text, text};

/// A page of the console.
pub struct Page {
    pub path: &'static str,
    pub kind: Kind,
    pub title: Text,
    /// The operation that it reads or submits. Whoever may call it may see the page.
    pub operation: &'static str,
    /// Another operation that decides who may see the page, where its own is open to more people.
    pub guard: &'static str,
    /// Further operations that it uses.
    pub also: &'static [&'static str],
    /// Further operations that it uses for a partner, about itself.
    pub of_partner: &'static [&'static str],
    pub template: &'static str,
    /// Without a sign-in.
    pub public: bool,
    /// Whether search engines may list it.
    pub indexed: bool,
    /// Whether it is the same for every visitor, and is kept for a moment.
    pub shared: bool,
    pub menu: Option<(Group, &'static str)>,

    // Lists and records
    /// Fields that are shown. `path:format` names a format.
    pub columns: &'static str,
    /// Where the rows of a list are in the data.
    pub rows: &'static str,
    /// Where a row leads to.
    pub row: &'static str,
    /// What of a record its template shows.
    pub record: Option<fn(&Value, Locale) -> Value>,
    /// The parameter whose values are tabs.
    pub tabs: &'static str,
    /// Parameters of a list that the address leaves out. `{today}` is the present day.
    pub first: &'static [(&'static str, &'static str)],
    /// What an empty list says.
    pub empty: Option<Text>,
    /// Lists inside of a record: path and columns.
    pub tables: Vec<(&'static str, &'static str)>,
    /// The field of a record that is its name.
    pub heading: &'static str,

    // Forms
    pub fields: &'static str,
    /// The operation that reads the record of a form.
    pub subject: &'static str,
    /// Whether the form starts with the values of its record.
    pub prefilled: bool,
    /// The part of the record that the form changes.
    pub part: &'static str,
    /// A field that starts with an amount of the record, and where that is.
    pub amount: Option<(&'static str, &'static str)>,
    pub choices: Vec<Choices>,
    /// Values that the form sends and does not show.
    pub fixed: &'static [(&'static str, &'static str)],
    /// A field that is sent as null when it was left empty.
    pub stated: &'static str,
    /// Where it leads to when it has succeeded.
    pub then: &'static str,
    /// Shows the answer instead, because it cannot be read again.
    pub shows_answer: bool,
    /// Cannot be undone.
    pub danger: bool,
    /// What it means.
    pub says: Option<Text>,
    pub button: Option<Text>,
    /// Whether the form can only be looked at while acting for a partner.
    pub locked: bool,
    /// Whether its own handler shows a form again that had to wait for a sign-in.
    pub resumes: bool,
    /// The state of the record in which it is offered.
    pub when: Option<(&'static str, &'static [&'static str])>,
}

#[derive(Clone, Copy)]
pub enum Kind {
    List,
    Show,
    Form,
    /// The answer of the operation as it is: a file or a stream.
    File,
    /// What no kind covers.
    Own(Handler),
}

/// The handler of a page of its own. It gets the posted form.
pub type Handler = fn(Visit, Option<Values>) -> BoxFuture<'static, Response>;

/// The records that a field chooses from.
#[derive(Clone, Copy)]
pub struct Choices {
    pub field: &'static str,
    pub operation: &'static str,
    /// Fields that name a record.
    pub label: &'static str,
    pub query: &'static [(&'static str, &'static str)],
    /// Only while another field has this value.
    pub when: Option<(&'static str, &'static str)>,
    /// The operation that reads one of them, for those that are chosen and not among the first.
    pub one: &'static str,
}

/// A group of the menu, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Today,
    Sales,
    Fleet,
    Partners,
    Money,
    Books,
    Service,
}

impl Group {
    pub const fn title(self) -> Text {
        match self {
            Self::Today => text("Today", "Hari ini"),
            Self::Sales => text("Sales", "Penjualan"),
            Self::Fleet => text("Fleet", "Armada"),
            Self::Partners => text("Partners", "Mitra"),
            Self::Money => text("Money", "Keuangan"),
            Self::Books => text("Books", "Pembukuan"),
            Self::Service => text("Service", "Layanan"),
        }
    }
}

impl Page {
    fn new(
        path: &'static str,
        kind: Kind,
        operation: &'static str,
        template: &'static str,
        (en, id): (&'static str, &'static str),
    ) -> Self {
        Self {
            path,
            kind,
            title: text(en, id),
            operation,
            guard: operation,
            also: &[],
            of_partner: &[],
            template,
            public: false,
            indexed: false,
            shared: false,
            menu: None,
            columns: "",
            rows: "",
            row: "",
            record: None,
            tabs: "",
            first: &[],
            empty: None,
            tables: Vec::new(),
            heading: "name",
            fields: "",
            subject: "",
            prefilled: false,
            part: "",
            amount: None,
            choices: Vec::new(),
            fixed: &[],
            stated: "",
            then: "",
            shows_answer: false,
            danger: false,
            says: None,
            button: None,
            locked: false,
            resumes: false,
            when: None,
        }
    }

    /// All operations that the page uses.
    pub fn operations(&self) -> impl Iterator<Item = &'static str> {
        let named = [self.operation, self.subject].into_iter().filter(|id| !id.is_empty());
        let further = self.also.iter().chain(self.of_partner).copied();
        named.chain(further).chain(self.choices.iter().map(|one| one.operation))
    }

    pub fn has_form(&self) -> bool {
        matches!(self.kind, Kind::Form | Kind::Own(_))
    }

    /// Values of its form without what must not be shown again. A code is a secret where it is one of
    /// the second factor.
    pub fn without_secrets(&self, values: Values) -> Values {
        let mut values = values.without_secrets();
        if self.operation.ends_with("_totp") {
            values.take("code");
        }
        values
    }
}

/// The table of pages. A method changes the line above it.
#[derive(Default)]
pub struct Pages {
    pub pages: Vec<Page>,
    /// How many pages the last line has: a page of the travellers' site is one in each language.
    line: usize,
}

type Words = (&'static str, &'static str);

impl Pages {
    /// A list of records.
    pub fn list(self, path: &'static str, operation: &'static str, title: Words) -> Self {
        self.add(Page::new(path, Kind::List, operation, "list.html", title))
    }

    /// One record.
    pub fn show(self, path: &'static str, operation: &'static str, title: Words) -> Self {
        self.add(Page::new(path, Kind::Show, operation, "show.html", title))
    }

    /// A new record, or an act on one.
    pub fn form(self, path: &'static str, operation: &'static str, title: Words) -> Self {
        self.add(Page::new(path, Kind::Form, operation, "form.html", title))
    }

    /// Changes the record that `subject` reads.
    pub fn edit(
        self,
        path: &'static str,
        operation: &'static str,
        subject: &'static str,
        title: Words,
    ) -> Self {
        let mut page = Page::new(path, Kind::Form, operation, "form.html", title);
        (page.subject, page.prefilled) = (subject, true);
        self.add(page)
    }

    /// Does something with the record that `subject` reads.
    pub fn act(
        self,
        path: &'static str,
        operation: &'static str,
        subject: &'static str,
        title: Words,
    ) -> Self {
        let mut page = Page::new(path, Kind::Form, operation, "form.html", title);
        page.subject = subject;
        self.add(page)
    }

    /// A file or a stream.
    pub fn file(self, path: &'static str, operation: &'static str, title: Words) -> Self {
        self.add(Page::new(path, Kind::File, operation, "", title))
    }

    /// A page with a handler of its own.
    pub fn own(
        self,
        path: &'static str,
        operation: &'static str,
        handler: Handler,
        title: Words,
    ) -> Self {
        self.add(Page::new(path, Kind::Own(handler), operation, "", title))
    }

    /// A page of the travellers' site in both languages.
    pub fn guest(
        self,
        paths: [&'static str; 2],
        operations: &'static [&'static str],
        handler: Handler,
        title: Words,
    ) -> Self {
        let line = paths.len();
        let pages = paths.into_iter().fold(self, |pages, path| {
            pages.own(path, operations[0], handler, title).also(&operations[1..]).public()
        });
        Self { line, ..pages }
    }

    fn add(mut self, page: Page) -> Self {
        self.pages.push(page);
        self.line = 1;
        self
    }

    fn last(mut self, change: impl Fn(&mut Page)) -> Self {
        self.pages.iter_mut().rev().take(self.line).for_each(change);
        self
    }

    /// The operation that reads the record of a form, which starts with its values.
    pub fn prefilled(self, subject: &'static str) -> Self {
        self.last(|page| (page.subject, page.prefilled) = (subject, true))
    }

    /// The operation that reads the record that a form is about.
    pub fn about(self, subject: &'static str) -> Self {
        self.last(|page| page.subject = subject)
    }

    pub fn also(self, operations: &'static [&'static str]) -> Self {
        self.last(|page| page.also = operations)
    }

    pub fn of_partner(self, operations: &'static [&'static str]) -> Self {
        self.last(|page| page.of_partner = operations)
    }

    /// For those who may call this operation.
    pub fn only_if(self, operation: &'static str) -> Self {
        self.last(|page| page.guard = operation)
    }

    pub fn template(self, template: &'static str) -> Self {
        self.last(|page| page.template = template)
    }

    pub fn public(self) -> Self {
        self.last(|page| page.public = true)
    }

    pub fn indexed(self) -> Self {
        self.last(|page| page.indexed = true)
    }

    pub fn shared(self) -> Self {
        self.last(|page| page.shared = true)
    }

    pub fn menu(self, group: Group, icon: &'static str) -> Self {
        self.last(|page| page.menu = Some((group, icon)))
    }

    pub fn columns(self, columns: &'static str) -> Self {
        self.last(|page| page.columns = columns)
    }

    pub fn rows(self, rows: &'static str) -> Self {
        self.last(|page| page.rows = rows)
    }

    pub fn row(self, path: &'static str) -> Self {
        self.last(|page| page.row = path)
    }

    pub fn record(self, shown: fn(&Value, Locale) -> Value) -> Self {
        self.last(|page| page.record = Some(shown))
    }

    pub fn tabs(self, parameter: &'static str) -> Self {
        self.last(|page| page.tabs = parameter)
    }

    pub fn first(self, parameters: &'static [(&'static str, &'static str)]) -> Self {
        self.last(|page| page.first = parameters)
    }

    pub fn empty(self, en: &'static str, id: &'static str) -> Self {
        self.last(|page| page.empty = Some(text(en, id)))
    }

    pub fn table(self, path: &'static str, columns: &'static str) -> Self {
        self.last(|page| page.tables.push((path, columns)))
    }

    pub fn heading(self, path: &'static str) -> Self {
        self.last(|page| page.heading = path)
    }

    pub fn fields(self, fields: &'static str) -> Self {
        self.last(|page| page.fields = fields)
    }

    pub fn part(self, path: &'static str) -> Self {
        self.last(|page| page.part = path)
    }

    /// A field that starts with an amount of the record.
    pub fn amount(self, field: &'static str, path: &'static str) -> Self {
        self.last(|page| page.amount = Some((field, path)))
    }

    pub fn fixed(self, values: &'static [(&'static str, &'static str)]) -> Self {
        self.last(|page| page.fixed = values)
    }

    /// A field that the operation needs, with null for none.
    pub fn stated(self, field: &'static str) -> Self {
        self.last(|page| page.stated = field)
    }

    pub fn choose(
        self,
        field: &'static str,
        operation: &'static str,
        label: &'static str,
        query: &'static [(&'static str, &'static str)],
    ) -> Self {
        let choices = Choices { field, operation, label, query, when: None, one: "" };
        self.last(|page| page.choices.push(choices))
    }

    /// Several records to choose from, while another field has a value.
    pub fn choose_if(
        self,
        when: (&'static str, &'static str),
        field: &'static str,
        operation: &'static str,
        label: &'static str,
        one: &'static str,
    ) -> Self {
        let choices = Choices { field, operation, label, query: &[], when: Some(when), one };
        self.last(|page| page.choices.push(choices))
    }

    pub fn then(self, path: &'static str) -> Self {
        self.last(|page| page.then = path)
    }

    pub fn shows_answer(self, template: &'static str) -> Self {
        self.last(|page| (page.shows_answer, page.then) = (true, template))
    }

    pub fn danger(self) -> Self {
        self.last(|page| page.danger = true)
    }

    pub fn says(self, en: &'static str, id: &'static str) -> Self {
        self.last(|page| page.says = Some(text(en, id)))
    }

    pub fn button(self, en: &'static str, id: &'static str) -> Self {
        self.last(|page| page.button = Some(text(en, id)))
    }

    /// The API refuses it to whoever acts for a partner.
    pub fn locked_while_acting(self) -> Self {
        self.last(|page| page.locked = true)
    }

    pub fn resumes(self) -> Self {
        self.last(|page| page.resumes = true)
    }

    pub fn when(self, field: &'static str, values: &'static [&'static str]) -> Self {
        self.last(|page| page.when = Some((field, values)))
    }
}
