//! stub
/// stub
#[derive(Debug, Clone)]
pub struct Store;
