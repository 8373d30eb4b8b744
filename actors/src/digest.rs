//! Hashes over identities and requests. The domain only compares them.

use clankie_domain::ids::{ConversationId, Fingerprint, Malformed, RoomId};
use clankie_domain::request::Request;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// SHA-256 over the stable fields of a request: room, actor, source, transport (which is also the
/// proof it presents), body and attachment ids. Never over context, names or what its grant
/// resolves to, so a retry stays the same request when those move.
pub fn fingerprint(request: &Request) -> Fingerprint {
    let mut hash = Sha256::new();
    let mut field = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    field(b"clankie/request/1");
    field(request.room.as_str().as_bytes());
    field(request.actor.as_str().as_bytes());
    field(format!("{:?}", request.source).as_bytes());
    field(format!("{:?}", request.transport.gateway).as_bytes());
    field(request.transport.lane.as_str().as_bytes());
    field(request.text.as_bytes());
    for attachment in &request.attachments {
        field(attachment.id.as_bytes());
    }
    Fingerprint(hash.finalize().into())
}

/// SHA-256 of a secret: the only form in which it is stored.
pub fn secret_hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// The conversation of a room: `room-` and 24 hexadecimal digits of the SHA-256 of its id.
pub fn room_conversation(room: &RoomId) -> Result<ConversationId, Malformed> {
    let digest = Sha256::digest(room.as_str().as_bytes());
    let hex: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    ConversationId::parse(&format!("room-{hex}"))
}

/// Whether two hashes are the same, in time that does not tell where they differ.
pub fn same_hash(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.ct_eq(other).into()
}
