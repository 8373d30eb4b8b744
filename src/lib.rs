//! Clankie's shell: gateways into rooms, executors, the owner's surface, and how they are put together.

pub mod bench;
pub mod cli;
pub mod compose;
pub mod config;
pub mod executors;
pub mod files;
pub mod gateways;
pub mod http;
pub mod owner;
pub mod sim;

#[cfg(test)]
mod tests {
    use clankie_domain::legible::{is_hidden, is_shaper};

    use crate::cli::clean::is_invisible;

    /// The command line may not name the domain, so its list is its own; it is the same one.
    #[test]
    fn a_terminal_is_kept_from_every_character_that_the_domain_calls_hidden() {
        for c in (char::MIN..=char::MAX).filter(|c| !c.is_control()) {
            let parts_lines = matches!(c, '\u{2028}' | '\u{2029}');
            assert_eq!(is_invisible(c), (is_hidden(c) && !is_shaper(c)) || parts_lines, "{c:?}");
        }
    }
}
