//! Words that very many rows contain.
//!
//! Counting them takes longer than the page of the list that they are searched in. They are remembered
//! for a minute, so that the next page, filter or order does not count them again. Rare words are counted
//! each time: their number is shown.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

const LIFETIME: Duration = Duration::from_secs(60);
/// Words that are remembered.
const CAPACITY: usize = 500;

#[derive(Default)]
pub struct Frequent(Mutex<HashMap<String, Instant>>);

impl Frequent {
    pub fn contains(&self, words: &str) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(words).is_some_and(|since| since.elapsed() < LIFETIME)
    }

    pub fn remember(&self, words: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CAPACITY {
            known.retain(|_, since| since.elapsed() < LIFETIME);
        }
        if known.len() < CAPACITY {
            known.insert(words.to_owned(), Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_words_are_remembered() {
        let frequent = Frequent::default();
        assert!(!frequent.contains("sari"));
        frequent.remember("sari");
        assert!(frequent.contains("sari") && !frequent.contains("sar"));
        for number in 0..2 * CAPACITY {
            frequent.remember(&number.to_string());
        }
        assert_eq!(frequent.0.lock().unwrap().len(), CAPACITY);
    }
}
