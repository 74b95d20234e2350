//! The server of the page: it accepts connections of this machine only, and answers only under a secret path.
//!
//! The secret is in no argument list and in no output. What is printed, and what a browser is started with, leads once to the
//! address with the secret. Requests with another `Host` header are refused, which prevents DNS rebinding.

use crate::failure::{Failure, report};
use crate::random::random;
use crate::view::live::{self, SharedLive};
use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use kinetoscope::files::{Source, Temporary};
use kinetoscope_core::base::escape;
use std::fmt::Write;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower_http::services::ServeFile;

/// The page; empty if it was not built before the binary.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/kinetoscope.html"));

const NO_PAGE: &str = "this binary was built without the page: run `cargo xtask page`, then build it again";

const USED: &str = "This address was opened before. Go on in that tab, or start the command again.\n";

/// The most connections at the same time. More wait.
const MOST_CONNECTIONS: usize = 128;

/// How long a client may take to send the head of a request, also of the next one on the same connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// The policy of answers that are not the page.
const NO_CONTENT: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";

/// What the page shows.
pub(crate) enum Content {
    Traces(Vec<Source>),
    Live(SharedLive),
}

/// Serves the page until the process ends.
pub(crate) fn serve(content: &Content, port: u16, opens: bool) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
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
    let entry = Entry::new(&secret, content)?;
    let url = format!("http://{address}/{}", entry.path);
    println!("{url}");
    report("the page opens once at this address, and stays until Ctrl+C");
    if opens && let Err(error) = entry.open(&url) {
        report(format!("no browser could be started ({error}); open the address yourself"));
    }
    let service = TowerToHyperService::new(router(address, &secret, content, entry)?);
    accept(&listener, service).await
}

/// Answers connections. One that sends nothing ends.
async fn accept(listener: &TcpListener, service: TowerToHyperService<Router>) -> Result<(), Failure> {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, for example.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
        let connection = http.serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(async move {
            // A client that goes away early is no error.
            let _ = connection.await;
            drop(place);
        });
    }
}

/// The way to the page, which can be used once: its path, and what it leads to.
struct Entry {
    path: String,
    leads_to: String,
    state: Arc<Mutex<State>>,
}

/// Whether the entry was used, and the file for the browser.
#[derive(Default)]
struct State {
    is_used: bool,
    file: Option<Temporary>,
}

impl Entry {
    fn new(page: &str, content: &Content) -> Result<Entry, Failure> {
        Ok(Entry { path: secret()?, leads_to: page_of(page, content), state: Arc::default() })
    }

    /// Starts a browser with a file that leads to the address. The file is only for its owner, unlike the arguments of a process.
    fn open(&self, url: &str) -> std::io::Result<()> {
        let page = format!(
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>Kinetoscope</title>\n"
        );
        let file = Temporary::write(".html", &page)?;
        open::that_detached(file.path())?;
        lock(&self.state).file = Some(file);
        Ok(())
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leads to the page for the first time, and removes the file for the browser.
fn enter(method: &Method, state: &Mutex<State>, leads_to: &str) -> Response {
    if method != Method::GET {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let mut state = lock(state);
    if std::mem::replace(&mut state.is_used, true) {
        return (StatusCode::GONE, USED).into_response();
    }
    state.file = None;
    Redirect::to(leads_to).into_response()
}

/// The path of the page, with what it shows as parameters.
fn page_of(secret: &str, content: &Content) -> String {
    let mut path = format!("/{secret}/");
    match content {
        Content::Traces(sources) => {
            for (at, source) in sources.iter().enumerate() {
                let separator = if at == 0 { '?' } else { '&' };
                let name = escape::address(&source.name().replace(['/', '\\'], "_"));
                let _ = write!(path, "{separator}trace=trace/{at}/{name}");
            }
        }
        Content::Live(_) => path.push_str("?live=live"),
    }
    path
}

fn router(address: SocketAddr, secret: &str, content: &Content, entry: Entry) -> Result<Router, Failure> {
    let Entry { path, leads_to, state } = entry;
    let page = Router::new()
        .route(&format!("/{path}"), get(async move |method: Method| enter(&method, &state, &leads_to)))
        .route(&format!("/{secret}/"), get(|| async { Html(PAGE) }));
    let router = match content {
        Content::Traces(sources) => traces(page, secret, sources)?,
        Content::Live(live) => page.nest(&format!("/{secret}/live"), live::router(live)),
    };
    let header = |text: String| HeaderValue::from_str(&text).map_err(|e| Failure::usage(e.to_string()));
    let server = ServerHeaders {
        host: header(address.to_string())?,
        origin: header(format!("http://{address}"))?,
        policy: header(format!("{}; frame-ancestors 'none'", policy()))?,
    };
    Ok(router.layer(from_fn(move |request, next| guard(server.clone(), request, next))))
}

/// The policy of the page, which it also has itself.
fn policy() -> &'static str {
    let start =
        PAGE.split_once("http-equiv=\"Content-Security-Policy\" content=\"").map_or("", |(_, rest)| rest);
    start.split_once('"').map_or("default-src 'none'", |(policy, _)| policy)
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

/// What requests and answers of this server have.
#[derive(Clone)]
struct ServerHeaders {
    host: HeaderValue,
    origin: HeaderValue,
    policy: HeaderValue,
}

/// Refuses requests for another host and of another page, and sets headers: so that no other page can show or read an answer, no
/// answer is kept or taken for something else, and the browser does not decompress a trace.
async fn guard(server: ServerHeaders, request: Request, next: Next) -> Response {
    let is_foreign = request.headers().get_all(ORIGIN).iter().any(|origin| *origin != server.origin);
    let is_trace = ["/trace/", "/live/"].iter().any(|part| request.uri().path().contains(part));
    let hosts: Vec<_> = request.headers().get_all(HOST).iter().collect();
    // An address of another host can also be in the first line.
    let is_elsewhere =
        request.uri().authority().is_some_and(|host| host.as_str().as_bytes() != server.host.as_bytes());
    let mut response = if hosts != [&server.host] || is_elsewhere || is_foreign {
        StatusCode::FORBIDDEN.into_response()
    } else {
        next.run(request).await
    };
    let is_refused = response.status().is_client_error();
    let headers = response.headers_mut();
    if is_refused {
        // Those without the secret do not keep connections.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if is_trace {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    }
    let is_page = headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    let policy = if is_page { server.policy } else { HeaderValue::from_static(NO_CONTENT) };
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A path of 128 random bits.
fn secret() -> Result<String, Failure> {
    Ok(format!("{:032x}", u128::from_ne_bytes(random()?)))
}
