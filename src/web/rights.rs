//! What the person may do, decided as the API decides it.

use std::sync::Arc;

use serde_json::Value;

use super::client::Client;
use crate::kernel::{
    access::{Access, Role, Rule},
    caller::{admits, admits_impersonator},
};

/// Role and rules of the person, and of whoever acts for them.
pub struct Rights {
    client: Option<Arc<Client>>,
    person: Option<Holder>,
    behind: Option<Holder>,
}

struct Holder {
    role: Role,
    rules: Vec<Rule>,
}

impl Holder {
    /// From the answer of `GET /user/me`.
    fn of(profile: &Value) -> Option<Self> {
        let rules = profile["permission"]["rules"].as_array().into_iter().flatten();
        let rules = rules.filter_map(|rule| rule.as_str()?.parse().ok());
        Some(Self { role: profile["role"].as_str()?.parse().ok()?, rules: rules.collect() })
    }
}

impl Rights {
    pub fn nobody() -> Self {
        Self { client: None, person: None, behind: None }
    }

    /// `behind` is the profile of the impersonator.
    pub fn of(client: &Arc<Client>, profile: &Value, behind: Option<&Value>) -> Self {
        Self {
            client: Some(client.clone()),
            person: Holder::of(profile),
            behind: behind.and_then(Holder::of),
        }
    }

    pub fn may(&self, operation: &str) -> bool {
        let Some(operation) = self.client.as_ref().and_then(|client| client.operation(operation))
        else {
            return false;
        };
        let access = operation.access;
        let Some(person) = &self.person else { return access == Access::Public };
        let impersonator_may = self.behind.as_ref().is_none_or(|behind| {
            admits_impersonator(access, operation.changes, behind.role, &behind.rules)
        });
        admits(access, person.role, &person.rules) && impersonator_may
    }

    pub fn role(&self) -> Option<Role> {
        self.person.as_ref().map(|person| person.role)
    }
}
