//! What the list of bookings searches for: words in the texts of `booking_search`, and the job that
//! indexes these texts on SQLite.

use crate::kernel::{
    db::{Db, EXACT, List, Sort},
    error::Result,
    set_aside::Pass,
};

/// A search for less than three characters looks at this many bookings, the first of the list.
const FIRST: i64 = 5_000;
/// How `@` is stored in the texts. PostgreSQL indexes letters and digits only.
const AT: &str = "qqq";

/// What a search looks for: a part of the code, the contact or the name of a passenger.
pub struct Words {
    /// As the index of three characters knows it: any character stands for a wildcard.
    like: String,
    /// With wildcards escaped.
    exactly: String,
    pub has_wildcards: bool,
    /// The index finds no fewer than three characters.
    is_short: bool,
}

/// The texts that contain `?`. Those that are not indexed yet are few.
macro_rules! matching {
    ($value:literal) => {
        concat!(
            "SELECT i.rowid AS number FROM booking_search_index i WHERE i.text LIKE lower(",
            $value,
            ") UNION ALL SELECT t.number FROM booking_search t
             WHERE t.number > (SELECT w.indexed_to FROM booking_search_state w)
               AND t.text LIKE lower(",
            $value,
            ")"
        )
    };
}

impl Words {
    /// A phone number is searched as it is stored, however it is written.
    pub fn new(words: &str) -> Self {
        let words = phone_digits(words).unwrap_or_else(|| words.replace('@', AT));
        let is_wildcard = |c: char| matches!(c, '%' | '_' | '\\');
        let like = words.replace(is_wildcard, "_");
        let mut exactly = String::new();
        for c in words.chars() {
            exactly.extend(is_wildcard(c).then_some('\\').into_iter().chain([c]));
        }
        Self {
            has_wildcards: words.contains(is_wildcard),
            is_short: like.split('_').all(|part| part.chars().count() < 3),
            like: format!("%{like}%"),
            exactly: format!("%{exactly}%"),
        }
    }

    /// How many bookings contain them, at most one more than [`EXACT`]. `None` if they are too short
    /// to be counted.
    pub async fn frequency(&self, db: &Db) -> Result<Option<i64>> {
        if self.is_short {
            return Ok(None);
        }
        if db.frequent_words().contains(&self.like) {
            return Ok(Some(EXACT + 1));
        }
        let found = db
            .sql(concat!(
                "SELECT COUNT(*) FROM (",
                matching!("$1"),
                " LIMIT CAST($2 AS BIGINT)) AS found"
            ))
            .without_cached_plan()
            .bind(self.like.clone())
            .bind(EXACT + 1)
            .long()
            .scalar()
            .await?;
        if found > EXACT {
            db.frequent_words().remember(&self.like);
        }
        Ok(Some(found))
    }

    /// The list of bookings that contain them. `drives`: they find the bookings.
    pub fn narrow<'a>(self, list: List<'a>, drives: bool, sort: Sort) -> List<'a> {
        let list = match drives {
            true => list.filter(
                concat!(
                    "k.id IN (SELECT n.booking_id FROM booking_search n WHERE n.number IN (",
                    matching!("?"),
                    "))"
                ),
                Some(self.like),
            ),
            false if self.is_short => list.only_first(FIRST, sort, "k.id"),
            false => list,
        };
        let check = (!drives || self.has_wildcards).then_some(self.exactly);
        list.check(
            "EXISTS (SELECT 1 FROM booking_search e WHERE e.booking_id = k.id
               AND e.text LIKE lower(?) ESCAPE '\\')",
            check,
        )
    }
}

/// The digits of a text that can be part of a phone number, as they are stored: without the zero
/// before the area, which stands for the country.
fn phone_digits(text: &str) -> Option<String> {
    let is_of_number = |c: char| c.is_ascii_digit() || "+-. ()".contains(c);
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.strip_prefix('0').map(str::to_owned).unwrap_or(digits);
    (text.chars().all(is_of_number) && digits.len() >= 3).then_some(digits)
}

/// Indexes a batch of the texts that are not indexed yet, if there are so many. A text costs a twentieth of
/// what it costs alone. The others are found without the index. PostgreSQL indexes texts itself,
/// so there is nothing to do.
pub async fn index_texts(db: &Db, batch: i64) -> Result<Pass> {
    let waiting: Vec<(i64,)> = db
        .sql(
            "SELECT number FROM booking_search
             WHERE number > (SELECT indexed_to FROM booking_search_state)
             ORDER BY number LIMIT CAST($1 AS BIGINT)",
        )
        .without_cached_plan()
        .bind(batch)
        .all()
        .await?;
    let Some((last,)) = waiting.last().copied().filter(|_| waiting.len() as i64 == batch) else {
        return Ok(Pass::default());
    };
    let mut tx = db.begin().await?;
    let indexed = tx
        .sql(
            "INSERT INTO booking_search_index (rowid, text)
             SELECT number, text FROM booking_search
             WHERE number > (SELECT indexed_to FROM booking_search_state) AND number <= $1",
        )
        .bind(last)
        .run()
        .await?;
    let state = tx.sql("UPDATE booking_search_state SET indexed_to = $1 WHERE indexed_to < $1");
    state.bind(last).run().await?;
    tx.commit().await?;
    Ok(Pass { done: indexed, more: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_number_is_found_as_people_write_it() {
        let digits = |text: &str| phone_digits(text);
        assert_eq!(digits("0812-3456 7890").as_deref(), Some("81234567890"));
        assert_eq!(digits("+62 812 3456").as_deref(), Some("628123456"));
        assert_eq!(digits("7890").as_deref(), Some("7890"));
        for no_number in ["Sari", "12", "DMG-1234", ""] {
            assert_eq!(digits(no_number), None, "{no_number}");
        }
    }

    #[test]
    fn wildcards_are_plain_characters() {
        let words = Words::new(r"50%_\a bcd");
        assert_eq!(words.like, "%50___a bcd%");
        assert_eq!(words.exactly, r"%50\%\_\\a bcd%");
        assert!(words.has_wildcards && !words.is_short);
        assert!(Words::new("a_bc%").is_short);
        assert!(!Words::new("abc").is_short);
    }
}
