//! `/openapi.json`: a placeholder list, replaced below.
use serde_json::{Value, json};

/// The document.
pub fn document() -> Value {
    json!({})
}
