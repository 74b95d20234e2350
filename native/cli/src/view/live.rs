//! What the page shows while a program records: the last seconds of a file, and the program that writes it.

use super::program::{Command, Program, State};
use crate::failure::Failure;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use kinetoscope::files::Follower;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tower_http::services::ServeFile;

/// The most that is kept, in bytes: the page can read it several times a second.
const LIMIT: usize = 4 << 20;

/// The first bytes of a recording.
const MAGIC: &[u8] = b"KTS1";

/// A recording that is followed, or a program whose recordings are.
pub(crate) struct Live {
    program: Option<Program>,
    follower: Option<Follower>,
    keep: Duration,
    /// The number of files that were followed before.
    files: u64,
}

pub(crate) type SharedLive = Arc<Mutex<Live>>;

impl Live {
    /// Follows a file.
    pub(crate) fn from_file(path: &Path, keep: Duration) -> Result<Live, Failure> {
        let mut head = Vec::new();
        if path.exists() && !path.is_file() {
            return Err(Failure::usage(format!("{} is not a file", path.display())));
        }
        if let Ok(file) = File::open(path) {
            file.take(MAGIC.len() as u64).read_to_end(&mut head)?;
        }
        if !MAGIC.starts_with(&head) {
            return Err(Failure::usage(format!("{} is not a recording (.ktrace)", path.display())));
        }
        let follower = Some(Follower::new(path, keep, LIMIT));
        Ok(Live { program: None, follower, keep, files: 0 })
    }

    /// Follows what a program records.
    pub(crate) fn from_program(program: Program, keep: Duration) -> Live {
        Live { program: Some(program), follower: None, keep, files: 0 }
    }

    pub(crate) fn shared(self) -> SharedLive {
        Arc::new(Mutex::new(self))
    }

    /// Reads what is new. Returns the state for the page, with the answer of the program if there is one.
    fn status(&mut self, program: Option<Result<State, String>>) -> Value {
        if let Some(Ok(State { file: Some(file), .. })) = &program
            && self.follower.as_ref().is_none_or(|follower| follower.path() != file)
        {
            self.follower = Some(Follower::new(file, self.keep, LIMIT));
            self.files += 1;
        }
        let polled = self.follower.as_mut().map_or(Ok(false), Follower::poll);
        let follower = self.follower.as_ref();
        let name = follower.and_then(|of| of.path().file_name()).map(|name| name.to_string_lossy());
        let (state, version) =
            follower.map_or(("waiting", 0), |follower| (follower.state().as_str(), follower.version()));
        json!({
            "file": name,
            "state": state,
            "version": format!("{}.{version}", self.files),
            "keep_ns": u64::try_from(self.keep.as_nanos()).unwrap_or(u64::MAX),
            "program": program.map(|state| match state {
                Ok(state) => json!({
                    "name": state.program, "pid": state.pid, "recording": state.is_recording, "error": state.error,
                }),
                Err(error) => json!({ "gone": true, "error": error }),
            }),
            "error": polled.err().map(|error| error.to_string()),
        })
    }
}

/// The addresses of the page for what is live.
pub(crate) fn router(live: &SharedLive) -> Router {
    let status = |command| {
        let live = Arc::clone(live);
        // The program can be slow to answer: nothing is locked meanwhile.
        move || {
            blocking(move || {
                let program = lock(&live).program.clone();
                let answer = program.map(|program| program.send(command));
                lock(&live).status(answer).to_string().into_response()
            })
        }
    };
    let (recording, file) = (Arc::clone(live), Arc::clone(live));
    let snapshot = |live: &Live| {
        let snapshot = live.follower.as_ref().and_then(Follower::snapshot);
        snapshot
            .map_or_else(|| StatusCode::NO_CONTENT.into_response(), |bytes| Body::from(bytes).into_response())
    };
    Router::new()
        .route("/status", get(status(Command::Status)))
        .route("/start", post(status(Command::Start)))
        .route("/stop", post(status(Command::Stop)))
        .route("/recording", get(move || blocking(move || snapshot(&lock(&recording)))))
        .route("/file/{name}", get(move |request| complete(file, request)))
}

fn lock(live: &SharedLive) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls a function that may wait for files or for the program, on another thread.
async fn blocking(run: impl FnOnce() -> Response + Send + 'static) -> Response {
    let done = tokio::task::spawn_blocking(run).await;
    done.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

/// The complete file.
async fn complete(live: SharedLive, request: Request) -> Response {
    let path = lock(&live).follower.as_ref().map(|follower| follower.path().to_owned());
    let Some(path) = path.filter(|path| path.is_file()) else { return StatusCode::NOT_FOUND.into_response() };
    match ServeFile::new(path).try_call(request).await {
        Ok(response) => response.map(Body::new),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}
