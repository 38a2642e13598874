//! OTLP/HTTP: spans and log records as OpenTelemetry SDKs send them, in protobuf or in JSON.
//!
//! Both become the same: records as OTLP JSON, each with the resource and the scope that it came
//! with. What has no proper ids is refused and counted; the rest is kept.

mod proto;
mod request;
mod spool;

pub(crate) use request::Request;
pub use request::{Signal, decode_json, decode_protobuf};
pub(crate) use spool::Spool;
