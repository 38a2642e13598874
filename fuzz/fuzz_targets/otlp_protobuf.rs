//! Any bytes can be sent as an OTLP request in protobuf: nothing panics, and what is kept of it is
//! a request again, with as many records, all of which are good.

#![no_main]

#[allow(dead_code, reason = "the modules alone, without the server around them")]
mod otlp {
    #[path = "../../../crates/antiphon-server/src/otlp/proto.rs"]
    mod proto;
    #[path = "../../../crates/antiphon-server/src/otlp/request.rs"]
    pub(crate) mod request;
}

use libfuzzer_sys::fuzz_target;
use otlp::request::{Signal, decode_json, decode_protobuf as decode};

fuzz_target!(|bytes: &[u8]| {
    for signal in [Signal::Traces, Signal::Logs] {
        let Some(request) = decode(bytes, signal) else { continue };
        let kept = decode_json(request.line(|_| true).as_bytes(), signal);
        let kept = kept.expect("what is kept is a request");
        assert_eq!((kept.len(), kept.refused().count), (request.len(), 0));
        assert_eq!(kept.traces(), request.traces());
    }
});
