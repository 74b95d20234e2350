//! The server of the page: it accepts connections of this machine only, and only under a secret path. Requests with another
//! `Host` header are refused, which prevents DNS rebinding.

use crate::failure::{Failure, report};
use crate::random::random;
use crate::view::live::{self, SharedLive};
use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use kinetoscope::files::Source;
use std::fmt::Write;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;
use tower_http::services::ServeFile;

/// The page; empty if it was not built before the binary.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/kinetoscope.html"));

const NO_PAGE: &str = "this binary was built without the page: run `cargo xtask page`, then build it again";

/// What the page shows.
pub(crate) enum Content {
    Traces(Vec<Source>),
    Live(SharedLive),
}

/// Serves the page until the process ends.
pub(crate) fn serve(content: &Content, port: u16, opens: bool) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(serve_on(content, port, opens))
}

/// Refuses to serve a page that was not built.
pub(crate) fn require_page() -> Result<(), Failure> {
    if PAGE.is_empty() { Err(Failure::usage(NO_PAGE)) } else { Ok(()) }
}

async fn serve_on(content: &Content, port: u16, opens: bool) -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    let secret = secret()?;
    let url = url(address, &secret, content);
    println!("{url}");
    report("the page is at this address until Ctrl+C");
    if opens && let Err(error) = open::that_detached(&url) {
        report(format!("no browser could be started ({error}); open the address yourself"));
    }
    axum::serve(listener, router(address, &secret, content)?).await?;
    Ok(())
}

/// The address of the page, with what it shows as parameters.
fn url(address: SocketAddr, secret: &str, content: &Content) -> String {
    let mut url = format!("http://{address}/{secret}/");
    match content {
        Content::Traces(sources) => {
            for (at, source) in sources.iter().enumerate() {
                let separator = if at == 0 { '?' } else { '&' };
                let _ = write!(url, "{separator}trace=trace/{at}/{}", escaped(&source.name()));
            }
        }
        Content::Live(_) => url.push_str("?live=live"),
    }
    url
}

fn router(address: SocketAddr, secret: &str, content: &Content) -> Result<Router, Failure> {
    let page = Router::new().route(&format!("/{secret}/"), get(|| async { Html(PAGE) }));
    let router = match content {
        Content::Traces(sources) => traces(page, secret, sources)?,
        Content::Live(live) => page.nest(&format!("/{secret}/live"), live::router(live)),
    };
    let host = HeaderValue::from_str(&address.to_string()).map_err(|e| Failure::usage(e.to_string()))?;
    Ok(router.layer(from_fn(move |request, next| guard(host.clone(), request, next))))
}

fn traces(mut router: Router, secret: &str, sources: &[Source]) -> Result<Router, Failure> {
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
    Ok(router)
}

/// Refuses requests for another host, and sets headers so that the browser does not decompress a trace.
async fn guard(host: HeaderValue, request: Request, next: Next) -> Response {
    if request.headers().get(HOST) != Some(&host) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let is_trace = ["/trace/", "/live/"].iter().any(|part| request.uri().path().contains(part));
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
