//! Who asks: for roles, for the audit, and as the source of what is reported.

use crate::tokens::Role;
use crate::wire::{ApiError, Code};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `token:NAME`, `uid:NUMBER` of a local process, `driver:NAME` in this process, or `anyone` where no
    /// token is needed.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// The address they come from; empty within this machine.
    pub address: String,
    /// The id of the request, the caller's own if it sent one; empty in this process.
    pub request: String,
    /// The only ports for which they may report; not limited if there are none.
    pub ports: Vec<String>,
}

impl Actor {
    /// A driver in this process.
    pub fn driver(name: &str) -> Self {
        Self {
            name: format!("driver:{name}"),
            role: Role::Operator,
            address: String::new(),
            request: String::new(),
            ports: Vec::new(),
        }
    }
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Peer {
    /// Its address, without the port; empty within this machine.
    pub address: String,
    /// The user of its process, if the system says so.
    pub uid: Option<u32>,
}

/// The actor that the guard has found.
impl<S: Sync> FromRequestParts<S> for Actor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get().cloned().ok_or_else(|| ApiError::new(Code::Internal, "nobody asks"))
    }
}
