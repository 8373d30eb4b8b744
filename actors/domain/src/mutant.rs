//! Seeded bugs, one of which a harness may switch on to prove that it would be caught.
//!
//! With the feature `failpoints` a process may [`choose`] one of them; without it each is a constant
//! `false`, and nothing of it is compiled in. Each name begins with the id of the invariant that
//! the bug breaks; `tests/mutants` says which harness is to catch it, and proves it.

/// The variable of the environment that tells a process which mutant it is to be.
pub const VARIABLE: &str = "MUTANT";

macro_rules! mutants {
    ($($(#[$doc:meta])* $mutant:ident = $name:literal),+ $(,)?) => {
        /// A seeded bug.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Mutant {
            $($(#[$doc])* $mutant),+
        }

        impl Mutant {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$mutant),+];

            /// Its name, as a harness gives it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$mutant => $name),+
                }
            }

            /// Its name in the source, where it is planted.
            pub fn planted_as(self) -> &'static str {
                match self {
                    $(Self::$mutant => stringify!($mutant)),+
                }
            }
        }
    };
}

mutants! {
    /// One more runs than the limit says.
    I1OneMoreRuns = "i1-one-more-runs",
    /// One more runs in a room than its limit says.
    I1OneMoreRunsInARoom = "i1-one-more-runs-in-a-room",
    /// One more waits than the limit says.
    I1OneMoreWaits = "i1-one-more-waits",
    /// A boot forgets who had a place.
    I1BootForgetsPlaces = "i1-boot-forgets-places",
    /// An accepted delivery has no record.
    I2AcceptedLeavesNothing = "i2-accepted-leaves-nothing",
    /// A delivery that was told busy has a record.
    I2BusyLeavesARecord = "i2-busy-leaves-a-record",
    /// Callers hear before the commit.
    I2ToldBeforeDurable = "i2-told-before-durable",
    /// A commit is not flushed.
    I2CommitIsNotFlushed = "i2-commit-is-not-flushed",
    /// An accepted delivery has no receipt.
    I3AcceptedHasNoReceipt = "i3-accepted-has-no-receipt",
    /// A repeated delivery is taken for a new one.
    I3RepeatRunsAgain = "i3-repeat-runs-again",
    /// Other words under a known key share its result.
    I3OtherWordsShare = "i3-other-words-share",
    /// A result does not reach its receipt.
    I3ResultIsNotSaved = "i3-result-is-not-saved",
    /// What a killed run had read is taken for unread.
    I3KilledRunReadNothing = "i3-killed-run-read-nothing",
    /// Words of another grant join a record.
    I4OtherGrantJoins = "i4-other-grant-joins",
    /// Words of another grant wait behind a try and join with it.
    I4OtherGrantIsHeld = "i4-other-grant-is-held",
    /// A tool's intent commits though its run is over.
    I4IntentOutlivesItsRun = "i4-intent-outlives-its-run",
    /// A permit is free while something of its session is left.
    I5FreedBeforeGone = "i5-freed-before-gone",
    /// A permit that comes back is given to nobody.
    I5NobodyIsServed = "i5-nobody-is-served",
    /// A permit that a room has no use for is kept.
    I5UselessPermitIsKept = "i5-useless-permit-is-kept",
    /// A permit serves the newest that waits in its room.
    I6NewestFirst = "i6-newest-first",
    /// A try with a permit of its own overtakes what waits.
    I6TryOvertakes = "i6-try-overtakes",
    /// The room that was served is the next again.
    I6SameRoomAgain = "i6-same-room-again",
    /// What ended ends once more.
    I7EndedEndsAgain = "i7-ended-ends-again",
    /// A post that nobody can speak for counts as arrived.
    I7LostCountsAsArrived = "i7-lost-counts-as-arrived",
    /// What grew after the arrival counts at the start.
    I8GrantGrows = "i8-grant-grows",
    /// What a request wants is what it gets.
    I8WishIsGranted = "i8-wish-is-granted",
    /// Every lane vouches for owners.
    I8AnyLaneVouches = "i8-any-lane-vouches",
    /// A run whose authority went still replies.
    I8RevokedReplies = "i8-revoked-replies",
    /// Arguments of a model may say more than the tool takes.
    I8ArgumentsSayMore = "i8-arguments-say-more",
    /// A tool that the grant does not hold can be called.
    I8AnyToolIsThere = "i8-any-tool-is-there",
    /// Words that nobody read count as absorbed.
    I9UnreadIsAbsorbed = "i9-unread-is-absorbed",
    /// Promised work gets stale in an outage.
    I9OwedGetsStale = "i9-owed-gets-stale",
    /// What joined a waiting record is lost with it.
    I9JoinersEndUnheard = "i9-joiners-end-unheard",
    /// A boot leaves what joined a lost run joined.
    I9BootForgetsJoiners = "i9-boot-forgets-joiners",
    /// A second answer is accepted.
    M1AnsweredTwice = "m1-answered-twice",
    /// What may have crossed at a crash comes back as if it had not.
    M1CrossedIsReturned = "m1-crossed-is-returned",
    /// What may have crossed is sent again.
    M1UncertainIsSentAgain = "m1-uncertain-is-sent-again",
    /// That a session took an answer is not noted.
    M1TakenIsNotNoted = "m1-taken-is-not-noted",
    /// Any credential answers.
    M2AnybodyAnswers = "m2-anybody-answers",
    /// An answer crosses though who gave it may not answer any more.
    M2RevokedStillCrosses = "m2-revoked-still-crosses",
    /// A commit of the mailbox is not fenced by the version it was decided on.
    M2StaleVersionCommits = "m2-stale-version-commits",
    /// An approval opens its category for ever.
    M2ApprovalOpensTwice = "m2-approval-opens-twice",
    /// Any device may deal with the mailbox.
    M2EveryDeviceMay = "m2-every-device-may",
    /// What waits for the owner may be forgotten.
    M3PendingIsForgotten = "m3-pending-is-forgotten",
    /// What failed and was not seen may be forgotten.
    M3UnseenIsForgotten = "m3-unseen-is-forgotten",
    /// A full mailbox takes no answer.
    M3FullTakesNoAnswer = "m3-full-takes-no-answer",
    /// One write of the mailbox is two commits.
    M4TwoCommits = "m4-two-commits",
    /// An answer to what was cancelled is told as accepted.
    M5CancelledIsAnswered = "m5-cancelled-is-answered",
    /// A cancelled approval opens its category.
    M5CancelledOpens = "m5-cancelled-opens",
    /// Silence opens a category.
    M6SilenceOpens = "m6-silence-opens",
    /// Any option opens a category.
    M6DeclineOpens = "m6-decline-opens",
    /// A restart settles what waits for the owner.
    M6RestartSettles = "m6-restart-settles",
    /// A private answer is stored as it is.
    M7StoredOpen = "m7-stored-open",
    /// A private answer that a session repeats is passed on.
    M7PassedOn = "m7-passed-on",
    /// A private answer is passed on when it comes in pieces.
    M7PassedOnInPieces = "m7-passed-on-in-pieces",
    /// Tools carry a private answer on.
    M7CarriedByTools = "m7-carried-by-tools",
    /// The key of a delivered answer is kept.
    M7KeyIsKept = "m7-key-is-kept",
}

#[cfg(feature = "failpoints")]
static CHOSEN: std::sync::OnceLock<Mutant> = std::sync::OnceLock::new();

/// From now on this process is the mutant of that name; the first choice stands. An unknown name
/// chooses none, and without the feature `failpoints` there is nothing to choose.
#[cfg_attr(not(feature = "failpoints"), allow(unused_variables, reason = "the mutants are compiled out"))]
pub fn choose(name: &str) {
    #[cfg(feature = "failpoints")]
    if let Some(mutant) = Mutant::ALL.iter().find(|mutant| mutant.as_str() == name) {
        CHOSEN.get_or_init(|| *mutant);
    }
}

/// Whether this process is that mutant.
#[cfg(feature = "failpoints")]
pub fn on(mutant: Mutant) -> bool {
    CHOSEN.get() == Some(&mutant)
}

/// Whether this process is that mutant: it is not.
#[cfg(not(feature = "failpoints"))]
pub const fn on(_: Mutant) -> bool {
    false
}
