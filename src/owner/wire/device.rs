//! Devices as the owner sees them, and what a device sends and hears while it is paired.
//!
//! A code is shown once, to whoever offers the pairing; a device's secret is in its own hands only.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder, ObjectBuilder, Type};

/// `device_pair_begin`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DevicePairBegin {
    /// What may be approved at most: `chat`, `steer`, `observe`, `terminal_control`, `device_admin`.
    #[schema(schema_with = grants_by_name)]
    pub grants: Vec<String>,
}

/// `device_approve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceApprove {
    /// Which, as `device_list` shows it.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub device_id: String,
    /// What it may do from now on.
    #[schema(schema_with = grants_by_name)]
    pub grants: Vec<String>,
}

/// `device_revoke`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceRevoke {
    /// Which, as `device_list` shows it.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub device_id: String,
}

/// Grants, each by its name.
fn grants_by_name() -> Array {
    let names = ["chat", "steer", "observe", "terminal_control", "device_admin"];
    let name = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
    ArrayBuilder::new().items(name).build()
}

/// A code that was just offered.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairingOffer {
    /// What to type on the device: shown now and never again.
    pub code: String,
    /// Until when it may be redeemed, once.
    pub expires_at: String,
    /// What may be approved at most.
    pub grants: Vec<String>,
    /// Where the device sends it.
    pub url: String,
}

impl fmt::Debug for PairingOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairingOffer").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// One device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeviceBody {
    /// Its id: 32 hexadecimal digits, and its token's id once it is approved.
    pub device_id: String,
    /// `pending`, `active`, `expired`, `revoked` or `denied`.
    pub state: String,
    /// The name that it gave itself; nothing vouches for it.
    pub reported_name: String,
    /// The name under which it talks in local rooms; none while it is pending.
    pub account: Option<String>,
    /// What it may do; nothing while it is pending.
    pub grants: Vec<String>,
    /// What may be approved at most; empty once it is.
    pub offered: Vec<String>,
    /// The address that it redeemed its code from; none once it is approved.
    pub address: Option<String>,
    /// When it redeemed its code, or was approved.
    pub created_at: String,
    /// When it stops waiting, or its token stops by itself.
    pub expires_at: Option<String>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// Every device: those that wait, then the others, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Devices {
    /// Revoked ones included.
    pub devices: Vec<DeviceBody>,
}

/// `POST /pair/v1/redeem`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Redeem {
    /// The code as it was typed: case and dashes do not count.
    #[schema(max_length = 64, pattern = "^[ -~]*$")]
    pub code: String,
    /// What the device calls itself, 1–64 characters.
    #[schema(
        min_length = 1,
        max_length = 64,
        pattern = "[^\\s\\x00-\\x1f\\x7f-\\x9f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]"
    )]
    pub name: String,
}

impl fmt::Debug for Redeem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redeem").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A device that now waits for its approval.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Redeemed {
    /// Its id, for whoever approves to compare.
    pub device_id: String,
    /// What it sends as a bearer to `GET /pair/v1/poll`, and nowhere else.
    pub poll_token: String,
    /// Seconds between two polls.
    pub interval_s: u64,
    /// Until when it may be approved.
    pub expires_at: String,
}

impl fmt::Debug for Redeemed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redeemed").field("device_id", &self.device_id).finish_non_exhaustive()
    }
}

/// How a device stands that polls.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum PollBody {
    /// Nobody has decided yet.
    Pending {
        /// Seconds between two polls.
        interval_s: u64,
    },
    /// The same, and it asked too soon.
    SlowDown {
        /// Seconds between two polls from now on.
        interval_s: u64,
    },
    /// It will not be approved.
    Denied,
    /// It is one of the owner's devices.
    Approved {
        /// Its id.
        device_id: String,
        /// Its token, `clk_device_…`.
        token: String,
        /// The name under which it talks in local rooms.
        account: String,
        /// What it may do.
        grants: Vec<String>,
    },
}

impl fmt::Debug for PollBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending { .. } => "Pending",
            Self::SlowDown { .. } => "SlowDown",
            Self::Denied => "Denied",
            Self::Approved { .. } => "Approved(…)",
        })
    }
}
