//! Deletes kept files whose handoff is not kept any more: at the start, then now and then.

use std::time::Duration;

use clankie_actors::Clankie;

use crate::files::Files;

/// How often it is looked: records are pruned by the day.
const LOOK_EVERY: Duration = Duration::from_secs(60 * 60);

/// Looks for as long as the service runs.
pub(super) async fn tidy(files: Files, clankie: Clankie) {
    loop {
        let (files, clankie) = (files.clone(), clankie.clone());
        // What cannot be read stays: a fault of the store must not cost a file.
        let stays = move |handoff| !matches!(clankie.handoff(handoff), Ok(None));
        match tokio::task::spawn_blocking(move || files.sweep(stays)).await {
            Ok(Ok(())) => {}
            Ok(Err(why)) => tracing::warn!(%why, "kept files were not looked through"),
            Err(why) => tracing::warn!(%why, "kept files were not looked through"),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
