//! A run that uses up a budget ends as `budget_exhausted`, wherever it stands.

use clankie::executors::builtin::settings::Provider;
use clankie_domain::result::FailCode;

use super::super::bank::{Bank, Behaviour};
use super::super::{completed, failed};
use super::{PROVEN, run, settings};
use crate::model_peer::{Answer, ModelServer, Part};

fn forever() -> impl Iterator<Item = Answer> {
    std::iter::repeat_with(|| Answer::tool("c", "react", "{}")).take(50)
}

#[tokio::test]
async fn tokens_end_a_loop_before_the_next_call() {
    for provider in PROVEN {
        let server = ModelServer::start();
        server.script(forever());
        let mut tight = settings(provider, &server);
        tight.budgets.tokens = 40;
        let ended = run(tight, "x", Bank::of(&[("react", Behaviour::Gives("ok".to_owned()))])).await;
        assert_eq!(ended.outcome(), Some(&failed(FailCode::BudgetExhausted)));
        assert_eq!(server.calls().len(), 3, "three calls of 15 tokens reach 40");
        assert_eq!(ended.notes(), ["This run used up its budget of tokens."]);
    }
}

#[tokio::test]
async fn a_reply_that_was_finished_is_not_taken_back_by_its_own_cost() {
    let server = ModelServer::start();
    server.script([Answer::text(["Fine."])]);
    let mut tight = settings(Provider::OpenAiChat, &server);
    tight.budgets.tokens = 15;
    assert_eq!(run(tight, "x", Bank::empty()).await.outcome(), Some(&completed("Fine.")));
}

#[tokio::test]
async fn tool_calls_end_a_loop() {
    let server = ModelServer::start();
    server.script(forever());
    let mut tight = settings(Provider::Anthropic, &server);
    tight.budgets.tool_calls = 2;
    let bank = Bank::of(&[("react", Behaviour::Gives("ok".to_owned()))]);
    let ended = run(tight, "x", bank.clone()).await;
    assert_eq!(ended.outcome(), Some(&failed(FailCode::BudgetExhausted)));
    assert_eq!(bank.calls().len(), 2);
}

/// A model that never stops is stopped in the middle of its stream, counted or not.
#[tokio::test]
async fn bytes_and_uncounted_tokens_end_a_stream_in_the_middle() {
    let endless = || {
        let parts = (0..1_000).map(|_| Part::text(&"z".repeat(100)));
        Answer::Uncounted { parts: parts.chain([Part::Stall]).collect() }
    };
    let server = ModelServer::start();
    server.script([endless(), endless()]);
    let mut few_bytes = settings(Provider::OpenAiChat, &server);
    few_bytes.budgets.bytes = 2_000;
    let ended = run(few_bytes, "x", Bank::empty()).await;
    assert_eq!(ended.outcome(), Some(&failed(FailCode::BudgetExhausted)));
    assert_eq!((ended.texts().len(), ended.notes()), (20, vec!["This run used up its budget of bytes."]));

    let mut few_tokens = settings(Provider::OpenAiChat, &server);
    few_tokens.budgets.tokens = 1_000;
    let ended = run(few_tokens, "x", Bank::empty()).await;
    assert_eq!(ended.outcome(), Some(&failed(FailCode::BudgetExhausted)));
    assert_eq!((ended.texts().len(), ended.notes()), (40, vec!["This run used up its budget of tokens."]));
}

#[tokio::test]
async fn tool_output_counts_as_bytes() {
    let server = ModelServer::start();
    server.script(forever());
    let mut tight = settings(Provider::OpenAiChat, &server);
    tight.budgets.bytes = 10_000;
    let bank = Bank::of(&[("react", Behaviour::Gives("o".repeat(4_000)))]);
    let ended = run(tight, "x", bank).await;
    assert_eq!(ended.outcome(), Some(&failed(FailCode::BudgetExhausted)));
    assert_eq!(server.calls().len(), 3);
}
