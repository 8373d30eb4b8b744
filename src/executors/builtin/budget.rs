//! What one run has used of its budgets.

use clankie_domain::handoff::Usage;

use super::settings::Budgets;

/// Bytes to a token, for what a provider does not count itself: the usual rule of thumb.
const BYTES_PER_TOKEN: u64 = 4;

/// What was used so far. A call that still streams is charged by its bytes.
#[derive(Debug, Default)]
pub(super) struct Spent {
    tokens: u64,
    tool_calls: u32,
    bytes: u64,
    in_call: u64,
}

impl Spent {
    /// The model wrote this many bytes.
    pub(super) fn wrote(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_add(bytes);
        self.in_call = self.in_call.saturating_add(bytes);
    }

    /// A tool gave back this many bytes.
    pub(super) fn tool_gave(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// A call is over, with what the provider counted or, where it does not say, by its bytes.
    pub(super) fn call_over(&mut self, counted: Option<Usage>) {
        let tokens = counted.map_or(self.in_call / BYTES_PER_TOKEN, |usage| usage.input_tokens + usage.output_tokens);
        self.tokens = self.tokens.saturating_add(tokens);
        self.in_call = 0;
    }

    /// Charges one tool call, unless none is left.
    pub(super) fn tool_call(&mut self, budgets: &Budgets) -> Result<u32, Exhausted> {
        if self.tool_calls >= budgets.tool_calls {
            return Err(Exhausted("tool calls"));
        }
        self.tool_calls += 1;
        Ok(self.tool_calls)
    }

    /// Whether the model may write on.
    pub(super) fn check(&self, budgets: &Budgets) -> Result<(), Exhausted> {
        if self.tokens.saturating_add(self.in_call / BYTES_PER_TOKEN) >= budgets.tokens {
            return Err(Exhausted("tokens"));
        }
        if self.bytes >= budgets.bytes {
            return Err(Exhausted("bytes"));
        }
        Ok(())
    }
}

/// One of the budgets is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("This run used up its budget of {0}.")]
pub(super) struct Exhausted(&'static str);
