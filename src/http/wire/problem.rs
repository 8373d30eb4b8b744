//! Problem details after RFC 9457, with the fields that Clankie adds.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a call has no ordinary answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProblemBody {
    /// A stable reference such as `/problems/busy`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The same words for every problem of that type.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong with this call, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Which field of the request is wrong, such as `actor.id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The handoff that has the delivery id, for a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff_id: Option<String>,
    /// The facts of `/problems/busy`, side by side with the rest.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub busy: Option<BusyBody>,
}

/// The facts of a busy answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BusyBody {
    /// `waiting`, `waiting_per_room` or `waiting_per_actor`.
    pub limit: String,
    /// Which place in the queue it would have needed.
    pub position: usize,
    /// How many run.
    pub running: usize,
    /// How many wait.
    pub waiting: usize,
    /// How long the oldest has waited.
    pub oldest_wait_ms: u64,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_problem_without_facts_reads_back_without_them() {
        let wire = json!({"type": "/problems/not-found", "title": "not found", "status": 404});
        let body: ProblemBody = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(body.busy, None);
        assert_eq!(serde_json::to_value(body).unwrap(), wire);
    }
}
