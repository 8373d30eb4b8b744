//! Which harness catches which mutant, and by which test: the cheapest one that is to see it.

use clankie_domain::mutant::Mutant;

/// Something that runs with a mutant and must then fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Harness {
    /// The walls.
    Architecture,
    /// The small worlds of the domain.
    Worlds,
    /// The direct tests of the domain.
    Domain,
    /// The store over disks that tear and fail.
    Store,
    /// The actors over a store.
    System,
    /// Simulated worlds.
    Sim,
    /// The program over its public HTTP.
    Service,
    /// The program on a fake Discord.
    Discord,
    /// The mailbox's story, with power cuts.
    Story,
}

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// What is caught within seconds and needs no program.
    Short,
    /// Everything.
    Whole,
}

/// One proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Catch {
    /// The bug; none in a control run.
    pub(crate) mutant: Option<Mutant>,
    /// Who is to catch it.
    pub(crate) harness: Harness,
    /// A test of that harness, or a part of the names of several, or its arguments.
    pub(crate) test: &'static str,
}

impl Harness {
    /// Its name, as it is printed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Architecture => "architecture",
            Self::Worlds => "small worlds",
            Self::Domain => "domain",
            Self::Store => "store",
            Self::System => "system",
            Self::Sim => "simulation",
            Self::Service => "service",
            Self::Discord => "discord",
            Self::Story => "story",
        }
    }

    /// The file that its executable is built from.
    pub(crate) fn source(self) -> &'static str {
        match self {
            Self::Architecture => "tests/architecture.rs",
            Self::Worlds => "actors/domain/tests/small_worlds/main.rs",
            Self::Domain => "actors/domain/tests/it/main.rs",
            Self::Store => "actors/tests/store/main.rs",
            Self::System => "actors/tests/system/main.rs",
            Self::Sim => "tests/sim.rs",
            Self::Service => "tests/it/main.rs",
            Self::Discord => "tests/discord/main.rs",
            Self::Story => "tests/story/main.rs",
        }
    }

    /// Its target's name. Two packages may have a target of one name; then both are built.
    pub(crate) fn target(self) -> &'static str {
        match self {
            Self::Architecture => "architecture",
            Self::Worlds => "small_worlds",
            Self::Domain | Self::Service => "it",
            Self::Store => "store",
            Self::System => "system",
            Self::Sim => "sim",
            Self::Discord => "discord",
            Self::Story => "story",
        }
    }

    /// When its proofs are tried. The direct tests share their target's name with a large one, so they wait.
    fn pace(self) -> Pace {
        match self {
            Self::Architecture | Self::Worlds | Self::Store | Self::System => Pace::Short,
            Self::Domain | Self::Sim | Self::Service | Self::Discord | Self::Story => Pace::Whole,
        }
    }
}

impl Catch {
    /// When it is tried.
    pub(crate) fn pace(&self) -> Pace {
        if SLOW.contains(&self.test) { Pace::Whole } else { self.harness.pace() }
    }
}

const fn by(mutant: Mutant, harness: Harness, test: &'static str) -> Catch {
    Catch { mutant: Some(mutant), harness, test }
}

const ONE_SLOT: &str = "i1_i5_i6_two_rooms_share_one_slot_and_one_place";
const TURNS: &str = "i6_rooms_take_turns_at_one_slot";
const REPEATS: &str = "i2_i3_repeats_conflicts_and_other_grants";
const SHRINKING: &str = "i4_i8_authority_that_shrinks_stops_and_never_widens";
const CANCELS: &str = "i5_i9_cancels_lose_no_permit_and_no_joiner";
const MAILBOX: &str = "m1_m5_m6_two_asks_through_a_boot_and_a_reset";
const FULL: &str = "m3_a_full_mailbox_forgets_only_what_is_settled";
const SECRET: &str = "m7_a_secret_reaches_its_session_and_nothing_else";
const CANCELLED_TRIES: &str = "i2_i5_cancels_in_flight_and_pending_pass_permits_on";
const DISPLACED: &str = "i1_i2_i6_a_permit_serves_the_oldest";
const TAKEN: &str = "mailbox::m1_an_accepted_answer_wakes_its_source_once";
const COMES_BACK: &str = "mailbox::m2_an_answer_of_a_credential_that_is_gone";
const POWER_CUTS: &str = "power_cut::i2_i3_";
const FEW_WORLDS: &str = "a_broken_invariant_shows_in_a_few_worlds";

/// Tests that take long to pass, or long to fail because they wait for what never comes.
const SLOW: [&str; 7] = [SHRINKING, CANCELS, CANCELLED_TRIES, DISPLACED, TAKEN, COMES_BACK, POWER_CUTS];

/// Every proof, in the order of the invariants. Another harness that catches a mutant is another row.
pub(crate) const CATCHES: &[Catch] = &[
    by(Mutant::I1OneMoreRuns, Harness::Worlds, ONE_SLOT),
    by(Mutant::I1OneMoreRuns, Harness::Sim, FEW_WORLDS),
    by(Mutant::I1OneMoreRunsInARoom, Harness::Worlds, "i1_i5_i6_two_rooms_share_two_slots_and_two_places"),
    by(Mutant::I1OneMoreWaits, Harness::Worlds, ONE_SLOT),
    by(Mutant::I1OneMoreWaits, Harness::Service, "i1_i2_forty_at_once_are_thirty_six_admitted_and_four_busy"),
    by(Mutant::I1BootForgetsPlaces, Harness::Worlds, "i1_i3_i9_a_crash_at_any_step_is_recovered"),
    by(Mutant::I1BootForgetsPlaces, Harness::Sim, FEW_WORLDS),
    by(Mutant::I2AcceptedLeavesNothing, Harness::Worlds, REPEATS),
    by(Mutant::I2AcceptedLeavesNothing, Harness::Sim, FEW_WORLDS),
    by(Mutant::I2BusyLeavesARecord, Harness::Worlds, REPEATS),
    by(Mutant::I2BusyLeavesARecord, Harness::Sim, FEW_WORLDS),
    by(Mutant::I2ToldBeforeDurable, Harness::System, "steering::"),
    by(Mutant::I2ToldBeforeDurable, Harness::Sim, FEW_WORLDS),
    by(Mutant::I2CommitIsNotFlushed, Harness::Store, POWER_CUTS),
    by(Mutant::I2CommitIsNotFlushed, Harness::Sim, FEW_WORLDS),
    by(Mutant::I3AcceptedHasNoReceipt, Harness::Worlds, REPEATS),
    by(Mutant::I3AcceptedHasNoReceipt, Harness::Sim, FEW_WORLDS),
    by(Mutant::I3RepeatRunsAgain, Harness::Worlds, REPEATS),
    by(Mutant::I3RepeatRunsAgain, Harness::Sim, FEW_WORLDS),
    by(Mutant::I3OtherWordsShare, Harness::Worlds, REPEATS),
    by(Mutant::I3ResultIsNotSaved, Harness::Worlds, REPEATS),
    by(Mutant::I3ResultIsNotSaved, Harness::Sim, FEW_WORLDS),
    by(Mutant::I3KilledRunReadNothing, Harness::Worlds, CANCELS),
    by(Mutant::I4OtherGrantJoins, Harness::Worlds, REPEATS),
    by(Mutant::I4OtherGrantJoins, Harness::Sim, FEW_WORLDS),
    by(Mutant::I4OtherGrantIsHeld, Harness::Worlds, SHRINKING),
    by(Mutant::I4IntentOutlivesItsRun, Harness::System, "tools::i4_no_intent_commits"),
    by(Mutant::I5FreedBeforeGone, Harness::Worlds, ONE_SLOT),
    by(Mutant::I5FreedBeforeGone, Harness::Sim, FEW_WORLDS),
    by(Mutant::I5NobodyIsServed, Harness::Worlds, ONE_SLOT),
    by(Mutant::I5NobodyIsServed, Harness::Sim, FEW_WORLDS),
    by(Mutant::I5UselessPermitIsKept, Harness::Worlds, CANCELLED_TRIES),
    by(Mutant::I6NewestFirst, Harness::Worlds, TURNS),
    by(Mutant::I6NewestFirst, Harness::Sim, FEW_WORLDS),
    by(Mutant::I6TryOvertakes, Harness::Worlds, DISPLACED),
    by(Mutant::I6SameRoomAgain, Harness::Worlds, TURNS),
    by(Mutant::I7EndedEndsAgain, Harness::Domain, "i7_a_record_moves_along_the_arrows_and_no_others"),
    by(Mutant::I7LostCountsAsArrived, Harness::System, "posting::i7_a_restart_comes_back"),
    by(Mutant::I7LostCountsAsArrived, Harness::Discord, "i7_a_post_that_is_not_found_is_uncertain"),
    by(Mutant::I8GrantGrows, Harness::Worlds, SHRINKING),
    by(Mutant::I8WishIsGranted, Harness::Domain, "i8_words_and_names_change_neither_actor_nor_grant"),
    by(Mutant::I8AnyLaneVouches, Harness::Domain, "i8_only_a_lane_that_vouches_proves_an_owner"),
    by(Mutant::I8RevokedReplies, Harness::Worlds, SHRINKING),
    by(Mutant::I8ArgumentsSayMore, Harness::System, "tools::i8_arguments_cannot_name"),
    by(Mutant::I8AnyToolIsThere, Harness::System, "gates::i8_a_machine_tool_is_there"),
    by(Mutant::I9UnreadIsAbsorbed, Harness::Worlds, "i4_i9_a_burst_is_read_or_owed"),
    by(Mutant::I9UnreadIsAbsorbed, Harness::Sim, FEW_WORLDS),
    by(Mutant::I9OwedGetsStale, Harness::Worlds, "i3_i9_b13_b34_a_long_outage_leaves_stale_work_unstarted"),
    by(Mutant::I9JoinersEndUnheard, Harness::Worlds, CANCELS),
    by(Mutant::I9BootForgetsJoiners, Harness::Domain, "i9_a_joiner_whose_target_is_over_is_owed"),
    by(Mutant::M1AnsweredTwice, Harness::Worlds, MAILBOX),
    by(Mutant::M1AnsweredTwice, Harness::Sim, FEW_WORLDS),
    by(Mutant::M1CrossedIsReturned, Harness::Domain, "m1_what_may_have_crossed_at_a_crash_is_uncertain"),
    by(Mutant::M1UncertainIsSentAgain, Harness::Domain, "m1_every_arrow_of_a_claim_and_no_other"),
    by(Mutant::M1TakenIsNotNoted, Harness::System, TAKEN),
    by(Mutant::M2AnybodyAnswers, Harness::Worlds, "m1_m2_m5_m6_one_ask_through_boots_resets_and_revocations"),
    by(Mutant::M2AnybodyAnswers, Harness::Sim, FEW_WORLDS),
    by(Mutant::M2RevokedStillCrosses, Harness::System, COMES_BACK),
    by(Mutant::M2StaleVersionCommits, Harness::Store, "mailbox::m2_a_commit_is_fenced"),
    by(Mutant::M2ApprovalOpensTwice, Harness::System, "gates::m2_an_approval_opens_its_category_for_one_call"),
    by(Mutant::M2EveryDeviceMay, Harness::Service, "b83_b87_every_credential_reaches_exactly"),
    by(Mutant::M3PendingIsForgotten, Harness::Worlds, FULL),
    by(Mutant::M3PendingIsForgotten, Harness::Sim, FEW_WORLDS),
    by(Mutant::M3UnseenIsForgotten, Harness::Worlds, FULL),
    by(Mutant::M3FullTakesNoAnswer, Harness::Worlds, FULL),
    by(Mutant::M4TwoCommits, Harness::System, "mailbox::m4_one_write_is_one_commit"),
    by(Mutant::M4TwoCommits, Harness::Sim, FEW_WORLDS),
    by(Mutant::M5CancelledIsAnswered, Harness::Worlds, MAILBOX),
    by(Mutant::M5CancelledIsAnswered, Harness::Sim, FEW_WORLDS),
    by(Mutant::M5CancelledOpens, Harness::Worlds, MAILBOX),
    by(Mutant::M6SilenceOpens, Harness::Worlds, MAILBOX),
    by(Mutant::M6DeclineOpens, Harness::Domain, "m6_only_an_approve_opens_a_category"),
    by(Mutant::M6RestartSettles, Harness::Worlds, MAILBOX),
    by(Mutant::M7StoredOpen, Harness::System, SECRET),
    by(Mutant::M7StoredOpen, Harness::Story, "--short"),
    by(Mutant::M7StoredOpen, Harness::Sim, FEW_WORLDS),
    by(Mutant::M7PassedOn, Harness::System, SECRET),
    by(Mutant::M7PassedOn, Harness::Sim, FEW_WORLDS),
    by(Mutant::M7PassedOnInPieces, Harness::System, SECRET),
    by(Mutant::M7CarriedByTools, Harness::System, SECRET),
    by(Mutant::M7KeyIsKept, Harness::System, SECRET),
];
