//! Every fail-point of the service: what leads to it, or why nothing can.

/// What the harness does so that the point is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nudge {
    /// The load alone leads there.
    Load,
    /// The load does, and sooner while the model answers at once.
    Hurry,
    /// The load does, when it finds every permit free.
    Quiet,
    /// The start itself does, for something lives when it begins.
    Boot,
    /// The owner makes a token.
    TokenCreate,
    /// The owner makes a token and revokes it.
    TokenRevoke,
    /// The owner makes a token and rotates it.
    TokenRotate,
    /// The owner pairs a device.
    DeviceApprove,
    /// The owner changes the configuration and has it read again.
    Reload,
}

/// One durable step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    /// Its name; the sides stand behind a full stop.
    pub(crate) name: &'static str,
    /// What leads there.
    pub(crate) nudge: Nudge,
    /// How often it may be passed first.
    pub(crate) passes: u64,
}

/// The two sides of a durable step.
pub(crate) const SIDES: [&str; 2] = ["before", "after"];

const fn load(name: &'static str, passes: u64) -> Point {
    Point { name, nudge: Nudge::Load, passes }
}

const fn hurried(name: &'static str, passes: u64) -> Point {
    Point { name, nudge: Nudge::Hurry, passes }
}

const fn nudged(name: &'static str, nudge: Nudge) -> Point {
    Point { name, nudge, passes: 0 }
}

/// The points that are reached.
pub(crate) const POINTS: [Point; 26] = [
    load("room.join", 8),
    load("room.edit", 2),
    load("room.cancel", 2),
    Point { name: "room.run", nudge: Nudge::Quiet, passes: 1 },
    load("room.wait", 2),
    load("room.permit", 6),
    load("room.ready", 8),
    load("room.doing", 1),
    load("room.ended", 8),
    hurried("tool.say", 1),
    load("store.commit", 40),
    hurried("mail.publish", 2),
    hurried("room.continue", 1),
    hurried("room.dispatch", 1),
    hurried("room.took", 1),
    hurried("mail.cancel", 0),
    hurried("mail.update", 1),
    hurried("mail.read", 0),
    hurried("mail.dismiss", 0),
    hurried("mail.seen", 0),
    nudged("boot.recover", Nudge::Boot),
    nudged("token.create", Nudge::TokenCreate),
    nudged("token.revoke", Nudge::TokenRevoke),
    nudged("token.rotate", Nudge::TokenRotate),
    nudged("device.approve", Nudge::DeviceApprove),
    nudged("grants.reload", Nudge::Reload),
];

/// The steps that commit nothing here, so that there is no durable step to stand beside.
pub(crate) const UNREACHED: [(&str, &str); 6] = [
    (
        "room.gone",
        "a session in this process is gone before its end is handled, so the end's own commit ends its permit",
    ),
    ("mail.answer", "an accepted answer is committed by its room, at room.continue; a refused one changes nothing"),
    ("room.busy", "busy is never stored, so the step commits nothing"),
    ("room.authority", "it only tells runs to stop; their ends commit"),
    ("room.drain", "it only answers what is in flight; it commits nothing"),
    ("room.stop", "it only tells runs to stop; their ends commit"),
];
