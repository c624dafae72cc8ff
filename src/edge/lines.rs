//! Which line of the table a path belongs to: some things are decided before the table is asked.

use axum::http::Method;
use matchit::Router;

use crate::table::Operation;

pub struct Line {
    /// The path as the table has it.
    pub route: &'static str,
    /// How operations are asked whose answers are shared, and their names.
    shared: Vec<(Method, &'static str)>,
}

static NONE: Line = Line { route: "-", shared: Vec::new() };

impl Line {
    /// The operation, if its answers are shared.
    pub fn shared_by(&self, method: &Method) -> Option<&'static str> {
        // Nobody sees the rest of it.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.shared.iter().find(|(shared, _)| shared == method).map(|(_, operation)| *operation)
    }
}

pub struct Lines(Router<Line>);

impl Lines {
    pub fn new<'a>(
        operations: &[Operation],
        pages: impl Iterator<Item = &'a &'static str>,
    ) -> Self {
        let mut routes: Vec<_> = operations.iter().map(|operation| operation.path).collect();
        routes.extend(pages);
        routes.sort_unstable();
        routes.dedup();
        let mut lines = Router::new();
        for route in routes {
            let shared = operations.iter().filter(|known| known.path == route && known.shared);
            let shared = shared.map(|known| (known.method.clone(), known.id)).collect();
            lines.insert(route, Line { route, shared }).expect("paths of the table differ");
        }
        Self(lines)
    }

    pub fn find(&self, path: &str) -> &Line {
        self.0.at(path).map_or(&NONE, |found| found.value)
    }
}
