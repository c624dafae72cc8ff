//! `#[derive(FromRow)]` for structs with named fields and without generics.
//!
//! A field is read from the column of its name. `#[row(rename = "…")]` names another column,
//! `#[row(flatten)]` reads a struct from the same row, and `#[row(skip)]` takes the default.
//! The parser is written by hand, because `syn` would take longer to build than it saves here.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

#[proc_macro_derive(FromRow, attributes(row))]
pub fn from_row(input: TokenStream) -> TokenStream {
    let text = implementation(input).unwrap_or_else(|why| format!("compile_error!({why:?});"));
    text.parse().expect("the derived code is valid")
}

fn implementation(input: TokenStream) -> Result<String, &'static str> {
    let mut tokens = input.into_iter().skip_while(|token| token.to_string() != "struct").skip(1);
    let name = tokens.next().ok_or("FromRow is for structs")?;
    let Some(TokenTree::Group(fields)) = tokens.next() else {
        return Err("FromRow is for structs with named fields and without generics");
    };
    if fields.delimiter() != Delimiter::Brace {
        return Err("FromRow is for structs with named fields");
    }
    let values = values(fields)?;
    Ok(format!(
        "#[automatically_derived]
        impl ::dermaga::kernel::db::FromRow for {name} {{
            fn from_row(
                row: &::dermaga::kernel::db::Row<'_>,
            ) -> ::dermaga::kernel::db::Result<Self> {{
                ::std::result::Result::Ok(Self {{ {values} }})
            }}
        }}"
    ))
}

/// `field: value, …`
fn values(fields: Group) -> Result<String, &'static str> {
    let mut values = String::new();
    let mut tokens = fields.stream().into_iter().peekable();
    while tokens.peek().is_some() {
        let (mut options, mut name) = (String::new(), None);
        // Attributes and visibility, then the name before its colon.
        for token in tokens.by_ref() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => break,
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                    let text = group.stream().to_string().replace(' ', "");
                    options += text.strip_prefix("row(").unwrap_or_default();
                }
                TokenTree::Ident(ident) => name = Some(ident.to_string()),
                _ => {}
            }
        }
        let name = name.ok_or("a field has a name")?;
        // The type ends at a comma outside of angle brackets.
        let mut depth = 0;
        for token in tokens.by_ref() {
            match token.to_string().as_str() {
                "<" => depth += 1,
                ">" => depth -= 1,
                "," if depth == 0 => break,
                _ => {}
            }
        }
        let column = name.trim_start_matches("r#");
        values += &match options.trim_end_matches(')') {
            "" => format!("{name}: row.field({column:?})?, "),
            "skip" => format!("{name}: ::std::default::Default::default(), "),
            "flatten" => format!("{name}: ::dermaga::kernel::db::FromRow::from_row(row)?, "),
            option => match option.strip_prefix("rename=") {
                Some(column) => format!("{name}: row.field({column})?, "),
                None => return Err("row(…) takes rename = \"…\", flatten or skip"),
            },
        };
    }
    Ok(values)
}
