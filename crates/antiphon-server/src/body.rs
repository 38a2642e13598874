//! The body of a request: of a type that is expected, and no larger than allowed, before and after
//! it is unpacked.

use std::io::Read;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use hyper::body::Body as _;

use crate::call::Call;
use crate::problem::Problem;

/// As it is sent.
const PACKED_BYTES_MAX: usize = 16 << 20;
/// As it is unpacked.
const BYTES_MAX: usize = 64 << 20;
/// What is unpacked to more than this…
const SUSPECT_BYTES: usize = 1 << 20;
/// … may not be so many times as long as it was.
const RATIO_MAX: usize = 200;
/// A client that sends nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const JSON: &str = "application/json";
pub(crate) const NDJSON: &str = "application/x-ndjson";
pub(crate) const PROTOBUF: &str = "application/x-protobuf";

/// The type of a body, without parameters, in lower case.
fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let kind = value.split(';').next().unwrap_or_default();
    Some(kind.trim().to_ascii_lowercase())
}

pub(crate) fn is_protobuf(headers: &HeaderMap) -> bool {
    content_type(headers).is_some_and(|kind| kind == PROTOBUF)
}

#[derive(Debug, Clone, Copy)]
enum Coding {
    Identity,
    Gzip,
    Zstd,
}

fn coding(headers: &HeaderMap) -> Result<Coding, Problem> {
    let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
    let first = values.next().map(|value| value.to_str().unwrap_or("?").trim());
    let name = first.map(str::to_ascii_lowercase);
    match (name.as_deref(), values.next()) {
        (None | Some("" | "identity"), None) => Ok(Coding::Identity),
        (Some("gzip"), None) => Ok(Coding::Gzip),
        (Some("zstd"), None) => Ok(Coding::Zstd),
        _ => Err(Problem::unsupported("only gzip and zstd are known as a coding")),
    }
}

/// Reads a body of one of these types, and unpacks it.
pub(crate) async fn read(call: &Call, kinds: &[&str]) -> Result<Bytes, Problem> {
    let (app, headers, body) = (&call.app, &call.headers, call.take_body());
    let kind = content_type(headers).unwrap_or_default();
    if !kinds.contains(&kind.as_str()) {
        return Err(Problem::unsupported(format!("expected {}", kinds.join(" or "))));
    }
    let coding = coding(headers)?;
    let packed = collect(body).await?;
    let bytes = match coding {
        Coding::Identity => packed,
        Coding::Gzip => {
            app.compute(move |_| unpack(flate2::read::MultiGzDecoder::new(&*packed), packed.len()))
                .await?
        }
        Coding::Zstd => {
            app.compute(move |_| {
                let reader =
                    zstd::stream::read::Decoder::new(&*packed).map_err(|_| not_packed())?;
                unpack(reader, packed.len())
            })
            .await?
        }
    };
    app.metrics.bytes_in.add(u64::try_from(bytes.len()).unwrap_or_default());
    Ok(bytes)
}

fn not_packed() -> Problem {
    Problem::bad_request("the body is not packed as it says")
}

async fn collect(body: Body) -> Result<Bytes, Problem> {
    if body.size_hint().lower() > PACKED_BYTES_MAX as u64 {
        return Err(Problem::too_large());
    }
    let mut body = std::pin::pin!(body);
    let mut all = Vec::new();
    loop {
        let next = std::future::poll_fn(|context| body.as_mut().poll_frame(context));
        let next = tokio::time::timeout(PATIENCE, next).await;
        let Ok(next) = next else { return Err(Problem::bad_request("the body does not end")) };
        match next {
            None => return Ok(all.into()),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    if all.len() + data.len() > PACKED_BYTES_MAX {
                        return Err(Problem::too_large());
                    }
                    all.extend_from_slice(&data);
                }
            }
            Some(Err(_)) => return Err(Problem::bad_request("the body breaks off")),
        }
    }
}

fn unpack(mut reader: impl Read, packed: usize) -> Result<Bytes, Problem> {
    let mut all = Vec::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        let read = match reader.read(&mut piece) {
            Ok(0) => return Ok(all.into()),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(not_packed()),
        };
        all.extend_from_slice(piece.get(..read).unwrap_or_default());
        let is_bomb = all.len() > SUSPECT_BYTES && all.len() / RATIO_MAX > packed;
        if all.len() > BYTES_MAX || is_bomb {
            return Err(Problem::too_large());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{BYTES_MAX, unpack};

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        let fine = packed(&b"some words ".repeat(1000));
        assert_eq!(unpack(flate2::read::GzDecoder::new(&*fine), fine.len()).unwrap().len(), 11_000);
        let bomb = packed(&vec![b' '; 3 << 20]);
        let refused = unpack(flate2::read::GzDecoder::new(&*bomb), bomb.len());
        assert_eq!(refused.unwrap_err().status, 413);
        let long = std::io::Read::take(std::io::repeat(b'x'), BYTES_MAX as u64 + 1);
        assert_eq!(unpack(long, BYTES_MAX).unwrap_err().status, 413);
        assert_eq!(
            unpack(flate2::read::GzDecoder::new(&b"no gzip"[..]), 7).unwrap_err().status,
            400
        );
    }
}
