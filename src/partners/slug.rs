//! Addresses of partners' public pages, made from their names.

use unicode_normalization::UnicodeNormalization;

use crate::kernel::ids::Uuid;

const LONGEST: usize = 48;

/// `PT Bahari & Putra` → `pt-bahari-putra`
pub fn of(name: &str) -> String {
    let mut slug = String::new();
    // Letters lose their marks.
    for letter in name.nfkd().filter(char::is_ascii) {
        match letter.is_ascii_alphanumeric() {
            true => slug.push(letter.to_ascii_lowercase()),
            false if slug.ends_with('-') || slug.is_empty() => {}
            false => slug.push('-'),
        }
        if slug.len() == LONGEST {
            break;
        }
    }
    match slug.trim_end_matches('-') {
        "" => "partner".to_owned(),
        // A page can be asked for by id, too.
        slug if slug.parse::<Uuid>().is_ok() => format!("p-{slug}"),
        slug => slug.to_owned(),
    }
}

/// The wanted address, then with a number, then with a random one.
pub fn candidates(wanted: &str) -> impl Iterator<Item = String> {
    let numbered = (2..10).map(move |number| format!("{wanted}-{number}"));
    let random = (0..3).map(move |_| format!("{wanted}-{}", rand::random_range(10_000..100_000)));
    std::iter::once(wanted.to_owned()).chain(numbered).chain(random)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_becomes_an_address() {
        assert_eq!(of("PT Bahari & Putra"), "pt-bahari-putra");
        assert_eq!(of("  Café Océan!  "), "cafe-ocean");
        assert_eq!(of("船"), "partner");
        let id = "01a1ed16-5e85-7635-a183-061b70353dae";
        assert_eq!(of(id), format!("p-{id}"));
        assert_eq!(of(&"a".repeat(200)).len(), LONGEST);
    }

    #[test]
    fn candidates_differ() {
        let all: Vec<_> = candidates("bahari").take(9).collect();
        assert_eq!((all[0].as_str(), all[1].as_str()), ("bahari", "bahari-2"));
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), 9);
    }

    proptest! {
        #[test]
        fn an_address_has_letters_digits_and_single_hyphens(name in ".{0,120}") {
            let slug = of(&name);
            prop_assert!(!slug.is_empty() && slug.len() <= LONGEST);
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let fits = |part: &str| !part.is_empty() && part.bytes().all(is_plain);
            prop_assert!(slug.split('-').all(fits));
        }
    }
}
