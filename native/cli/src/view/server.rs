//! `kinetoscope view`: serves the page and the traces on a loopback address.
//!
//! The server accepts connections of this machine only, and only under a secret path. Requests with another `Host` header are refused,
//! which prevents DNS rebinding.

use crate::args;
use crate::failure::{Failure, report};
use crate::random::random;
use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use clap::ArgMatches;
use kinetoscope::files::{Source, sources};
use std::fmt::Write;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;
use tower_http::services::ServeFile;

/// The page; empty if it was not built before the binary.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/kinetoscope.html"));

const NO_PAGE: &str = "this binary was built without the page: run `cargo xtask page`, then build it again";

/// Serves the page until the process ends.
pub(crate) fn view(matches: &ArgMatches) -> Result<u8, Failure> {
    if PAGE.is_empty() {
        return Err(Failure::usage(NO_PAGE));
    }
    let sources = sources(&args::traces_of(matches))?;
    let port = matches.get_one::<u16>("port").copied().unwrap_or(0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(serve(&sources, port, !matches.get_flag("no-open")))?;
    Ok(0)
}

async fn serve(sources: &[Source], port: u16, opens: bool) -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    let secret = secret()?;
    let url = url(address, &secret, sources);
    println!("{url}");
    report("the page is at this address until Ctrl+C");
    if opens && let Err(error) = open::that_detached(&url) {
        report(format!("no browser could be started ({error}); open the address yourself"));
    }
    axum::serve(listener, router(address, &secret, sources)?).await?;
    Ok(())
}

/// The address of the page with the traces as parameters.
fn url(address: SocketAddr, secret: &str, sources: &[Source]) -> String {
    let mut url = format!("http://{address}/{secret}/");
    for (at, source) in sources.iter().enumerate() {
        let separator = if at == 0 { '?' } else { '&' };
        let _ = write!(url, "{separator}trace=trace/{at}/{}", escaped(&source.name()));
    }
    url
}

fn router(address: SocketAddr, secret: &str, sources: &[Source]) -> Result<Router, Failure> {
    let mut router = Router::new().route(&format!("/{secret}/"), get(|| async { Html(PAGE) }));
    for (at, source) in sources.iter().enumerate() {
        // The page shows the name; the number identifies the trace.
        let path = format!("/{secret}/trace/{at}/{{name}}");
        router = match source {
            Source::File(file) => router.route_service(&path, ServeFile::new(file)),
            Source::Stdin => {
                let mut bytes = Vec::new();
                source.reader()?.read_to_end(&mut bytes)?;
                let bytes = Bytes::from(bytes);
                router.route(&path, get(|| async move { bytes }))
            }
        };
    }
    let host = HeaderValue::from_str(&address.to_string()).map_err(|e| Failure::usage(e.to_string()))?;
    Ok(router.layer(from_fn(move |request, next| guard(host.clone(), request, next))))
}

/// Refuses requests for another host, and sets headers so that the browser does not decompress a trace.
async fn guard(host: HeaderValue, request: Request, next: Next) -> Response {
    if request.headers().get(HOST) != Some(&host) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let is_trace = request.uri().path().contains("/trace/");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if is_trace {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    }
    response
}

/// A secret path of 128 random bits.
fn secret() -> Result<String, Failure> {
    Ok(format!("{:032x}", u128::from_ne_bytes(random()?)))
}

/// Percent-encodes everything but letters, digits and `-._`.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            out.push(byte as char);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
