//! Rules of managing staff and permissions.

use crate::kernel::{
    access::{Level, Role, Rule},
    caller::Caller,
};

/// Current rights of a caller.
#[derive(Clone, Debug)]
pub enum Authority {
    Admin,
    Staff { level: Level, rules: Vec<Rule> },
}

impl Authority {
    /// Rights at the time of authentication.
    pub fn of(caller: &Caller) -> Self {
        match (caller.role, caller.level) {
            (Role::Admin, _) => Self::Admin,
            (Role::Staff | Role::Mitra | Role::Crew | Role::Reseller, level) => {
                let level = level.unwrap_or(Level::Viewer);
                Self::Staff { level, rules: caller.rules.clone() }
            }
        }
    }

    /// Whether the caller has the rule.
    pub fn holds(&self, rule: Rule) -> bool {
        match self {
            Self::Admin => true,
            Self::Staff { rules, .. } => rules.contains(&rule),
        }
    }

    /// Whether the caller may create, update, assign or delete the permission.
    pub fn covers(&self, level: Level, rules: &[Rule]) -> bool {
        match self {
            Self::Admin => true,
            Self::Staff { rules: own, .. } => {
                self.is_above(level) && rules.iter().all(|rule| own.contains(rule))
            }
        }
    }

    /// Whether the caller may manage staff of this level. `Level` is ordered from the highest.
    pub fn is_above(&self, level: Level) -> bool {
        match self {
            Self::Admin => true,
            Self::Staff { level: own, .. } => *own < level,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::subsequence};

    use super::*;

    fn rules() -> impl Strategy<Value = Vec<Rule>> {
        subsequence(Rule::ALL.to_vec(), 0..=Rule::ALL.len())
    }

    fn level() -> impl Strategy<Value = Level> {
        prop::sample::select(Level::ALL)
    }

    proptest! {
        /// Rights that are delegated, also in several steps, are always fewer than those of the first person.
        #[test]
        fn authority_only_shrinks(own in rules(), mine in level(), given in rules(), theirs in level()) {
            let me = Authority::Staff { level: mine, rules: own.clone() };
            prop_assert!(!me.covers(mine, &own), "nobody makes their equal");
            prop_assert!(!me.is_above(mine), "nor touches one, or themselves");
            if me.covers(theirs, &given) {
                prop_assert!(theirs > mine);
                prop_assert!(given.iter().all(|rule| own.contains(rule)));
                let they = Authority::Staff { level: theirs, rules: given };
                prop_assert!(!they.covers(mine, &[]) && !they.is_above(mine));
            }
        }

        #[test]
        fn an_admin_covers_everything(given in rules(), theirs in level()) {
            prop_assert!(Authority::Admin.covers(theirs, &given));
        }
    }
}
