//! The fields that a form shows.

/// A field of a form: its path, how it is edited, and what a row of a list has.
/// `description:long times[departure_time days]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    pub path: String,
    pub widget: String,
    pub children: Vec<Spec>,
}

impl Spec {
    pub fn parse(text: &str) -> Vec<Self> {
        let mut specs = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let end = rest.find([' ', '\n', '[']).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let (path, widget) = word.split_once(':').unwrap_or((word, ""));
            let (children, after) = match after.strip_prefix('[') {
                Some(inner) => {
                    let (inner, after) = inner.split_once(']').unwrap_or((inner, ""));
                    (Self::parse(inner), after)
                }
                None => (Vec::new(), after),
            };
            specs.push(Self { path: path.into(), widget: widget.into(), children });
            rest = after.trim_start();
        }
        specs
    }

    /// Whether files are chosen in it.
    pub fn is_file(&self) -> bool {
        match self.widget.as_str() {
            "" => self.path.ends_with("file_id") || self.path.ends_with("file_ids"),
            widget => widget.starts_with("file"),
        }
    }

    /// Whether files are chosen in it or in its rows.
    pub fn has_files(&self) -> bool {
        self.is_file() || self.children.iter().any(Self::has_files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_names_paths_widgets_and_rows() {
        let spec = Spec::parse("name description:long times[departure_time days] discount.type");
        let paths: Vec<_> = spec.iter().map(|field| field.path.as_str()).collect();
        assert_eq!(paths, ["name", "description", "times", "discount.type"]);
        assert_eq!(spec[1].widget, "long");
        assert_eq!(spec[2].children.len(), 2);
    }
}
