//! The walls, as data: which words may not stand in which room.

/// One room and what its files may not name.
pub(crate) struct Wall {
    /// What the room is called in the docs.
    pub(crate) room: &'static str,
    /// Its files: folders, or single files.
    pub(crate) files: &'static [&'static str],
    /// Paths and words that no code in it may name. A trailing `::` stands for a path's beginning.
    pub(crate) may_not_name: &'static [&'static str],
}

/// Every wall.
pub(crate) const ROOMS: &[Wall] = &[
    Wall {
        room: "domain",
        files: &["actors/domain/src"],
        may_not_name: &[
            "tokio::",
            "ractor::",
            "redb::",
            "clankie_actors::",
            "std::fs",
            "std::net",
            "std::time::SystemTime",
            "std::time::Instant",
            "new_v4",
            "now_v7",
            "rand::",
            "async_trait::",
        ],
    },
    Wall {
        room: "store",
        files: &["actors/src/store.rs", "actors/src/store"],
        may_not_name: &["ractor::", "tokio::runtime", "tokio::spawn", "crate::system", "crate::ports"],
    },
    Wall { room: "system", files: &["actors/src/system.rs", "actors/src/system"], may_not_name: &["redb::"] },
    Wall {
        room: "ports and the front door",
        files: &["actors/src/ports.rs", "actors/src/front.rs", "actors/src/front"],
        may_not_name: &["redb::"],
    },
    Wall {
        room: "gateways",
        files: &["src/gateways.rs", "src/gateways"],
        may_not_name: &[
            "crate::executors",
            "crate::owner",
            "crate::cli",
            "crate::compose",
            "clankie_actors::store",
            "redb::",
        ],
    },
    Wall {
        room: "executors",
        files: &["src/executors.rs", "src/executors"],
        may_not_name: &[
            "crate::gateways",
            "crate::owner",
            "crate::cli",
            "crate::compose",
            "crate::http",
            "clankie_actors::store",
            "redb::",
        ],
    },
    Wall {
        room: "files",
        files: &["src/files.rs"],
        may_not_name: &[
            "crate::gateways",
            "crate::executors",
            "crate::owner",
            "crate::http",
            "crate::cli",
            "crate::compose",
            "clankie_actors::",
            "redb::",
        ],
    },
    Wall {
        room: "owner",
        files: &["src/owner.rs", "src/owner"],
        may_not_name: &[
            "crate::gateways",
            "crate::executors",
            "crate::cli",
            "crate::compose",
            "clankie_actors::store",
            "redb::",
        ],
    },
    Wall {
        room: "http",
        files: &["src/http.rs", "src/http"],
        may_not_name: &[
            "crate::gateways",
            "crate::executors",
            "crate::owner",
            "crate::cli",
            "crate::compose",
            "clankie_actors::store",
            "redb::",
        ],
    },
    Wall {
        room: "cli",
        files: &["src/cli.rs", "src/cli"],
        may_not_name: &[
            "clankie_actors::",
            "clankie_domain::",
            "crate::gateways",
            "crate::executors",
            "crate::owner::http",
            "crate::owner::auth",
            "redb::",
            "ractor::",
        ],
    },
    Wall {
        room: "sim",
        files: &["src/sim.rs", "src/sim"],
        may_not_name: &[
            "crate::gateways",
            "crate::executors",
            "crate::owner",
            "crate::http",
            "crate::cli",
            "crate::compose",
            "ractor::",
            "std::time::SystemTime",
            "new_v4",
            "now_v7",
            "rand::",
            "HashMap",
            "HashSet",
        ],
    },
    // It knows the values of the domain, and calls none of its machines.
    Wall {
        room: "the oracle",
        files: &["src/sim/oracle.rs", "src/sim/oracle"],
        may_not_name: &[
            "clankie_actors::Clankie",
            "clankie_actors::store::Store",
            "clankie_domain::admission::room::Room",
            "clankie_domain::admission::global",
            "clankie_domain::admission::recover",
            "clankie_domain::session",
            "clankie_domain::mailbox::Mailbox",
            "clankie_domain::scope",
            "ClaimStep",
            "PostingStep",
        ],
    },
    Wall {
        room: "bench",
        files: &["src/bench.rs", "src/bench"],
        may_not_name: &["crate::gateways", "crate::owner", "crate::cli", "crate::http", "ractor::"],
    },
];
