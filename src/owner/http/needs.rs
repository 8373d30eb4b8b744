//! What each operation of the contract needs: one row each, also for those that a build does not have.

use clankie_domain::scope::Need;

/// Every operation and what it needs, by name.
pub(super) const OPERATIONS: [(&str, Need); 26] = [
    ("account_open", Need::Tokens),
    ("config_reload", Need::Configuration),
    ("conversation_get", Need::Mailbox),
    ("conversation_list", Need::Mailbox),
    ("conversation_tail", Need::Mailbox),
    ("device_approve", Need::Devices),
    ("device_list", Need::Devices),
    ("device_pair_begin", Need::Pair),
    ("device_revoke", Need::Devices),
    ("handoff_cancel", Need::Steer),
    ("handoff_get", Need::ReadHandoffs),
    ("handoff_list", Need::ReadHandoffs),
    ("handoff_repost", Need::Steer),
    ("input_answer", Need::Mailbox),
    ("input_cancel", Need::Mailbox),
    ("input_get", Need::Mailbox),
    ("input_list", Need::Mailbox),
    ("mark_seen", Need::Mailbox),
    ("owner_update_dismiss", Need::Mailbox),
    ("owner_update_list", Need::Mailbox),
    ("owner_update_read", Need::Mailbox),
    ("rooms_list", Need::ReadHandoffs),
    ("token_create", Need::Tokens),
    ("token_list", Need::Tokens),
    ("token_revoke", Need::Tokens),
    ("token_rotate", Need::Tokens),
];

/// What that operation needs; `None` when there is no such operation.
pub(super) fn needed(op: &str) -> Option<Need> {
    OPERATIONS.iter().find(|(name, _)| *name == op).map(|(_, need)| *need)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_stands_in_the_table_once() {
        assert!(OPERATIONS.is_sorted_by(|(one, _), (other, _)| one < other));
        assert_eq!(needed("token_list"), Some(Need::Tokens));
        assert_eq!(needed("Token_List"), None);
    }
}
