//! The address that clients connect to: a Unix socket in a folder of the user, or a port of the loopback address.

use super::with_path;
use crate::error::RecordError;
use crate::replace;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest line of a client, in bytes.
const LONGEST: usize = 256;

/// How long a client may take to send or to receive a line.
const PATIENCE: Duration = Duration::from_secs(2);

/// A connection to a client.
pub(super) trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

pub(super) type Connection = Box<dyn Stream>;

/// An address that clients connect to.
pub(super) enum Listener {
    #[cfg(unix)]
    Socket { listener: UnixListener, path: PathBuf },
    Port {
        listener: TcpListener,
        secret: String,
        /// The file with the address and the secret.
        path: PathBuf,
    },
}

impl Listener {
    /// Listens on a port, or without one on a socket in the folder where there are sockets.
    pub(super) fn bind(folder: &Path, port: Option<u16>) -> Result<Listener, RecordError> {
        #[cfg(unix)]
        if port.is_none() {
            return Ok(socket(folder.join(format!("{}.sock", std::process::id())))?);
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)))?;
        listener.set_nonblocking(true)?;
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(|error| io::Error::other(error.to_string()))?;
        let secret = format!("{:032x}", u128::from_ne_bytes(secret));
        let path = folder.join(format!("{}.port", std::process::id()));
        replace::write(&path, format!("{}/{secret}\n", listener.local_addr()?))?;
        Ok(Listener::Port { listener, secret, path })
    }

    pub(super) fn address(&self) -> String {
        match self {
            #[cfg(unix)]
            Listener::Socket { path, .. } => path.display().to_string(),
            Listener::Port { path, .. } => path.display().to_string(),
        }
    }

    /// Returns the next connection; an error of the kind `WouldBlock` if there is none.
    pub(super) fn accept(&self) -> io::Result<Connection> {
        match self {
            #[cfg(unix)]
            Listener::Socket { listener, .. } => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Ok(Box::new(stream))
            }
            Listener::Port { listener, .. } => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Ok(Box::new(stream))
            }
        }
    }

    /// Reads the command of a client; `None` if its secret is wrong.
    ///
    /// # Errors
    /// Returns an error if the client sends no line in time, or one that is too long.
    pub(super) fn command(&self, connection: &mut Connection) -> io::Result<Option<String>> {
        let (begun, mut line, mut byte) = (Instant::now(), Vec::new(), [0]);
        let may_go_on = |line: &[u8]| line.len() < LONGEST && begun.elapsed() < PATIENCE;
        while may_go_on(&line) && connection.read(&mut byte)? == 1 && byte[0] != b'\n' {
            line.push(byte[0]);
        }
        if byte[0] != b'\n' {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a line"));
        }
        let line = String::from_utf8_lossy(&line);
        let (secret, command) = line.trim_end().split_once(' ').unwrap_or((&line, ""));
        let expected = match self {
            #[cfg(unix)]
            Listener::Socket { .. } => "-",
            Listener::Port { secret, .. } => secret,
        };
        Ok(is_equal(secret.as_bytes(), expected.as_bytes()).then(|| command.to_owned()))
    }

    /// Removes the socket, or the file with the port.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(match self {
            #[cfg(unix)]
            Listener::Socket { path, .. } => path,
            Listener::Port { path, .. } => path,
        });
    }
}

/// Compares without a dependence of the time on the place of the first difference.
fn is_equal(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(unix)]
fn socket(path: PathBuf) -> io::Result<Listener> {
    if UnixStream::connect(&path).is_ok() {
        let text = "this process can be attached to already";
        return Err(with_path(&path)(io::Error::new(io::ErrorKind::AddrInUse, text)));
    }
    // Left by a process with the same id that was killed.
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(with_path(&path)(error)),
        _ => {}
    }
    let listener = UnixListener::bind(&path).map_err(with_path(&path))?;
    listener.set_nonblocking(true)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(with_path(&path))?;
    Ok(Listener::Socket { listener, path })
}

/// The folder in which programs listen and record unless they choose another one: `kinetoscope-UID` in the folder for
/// temporary files, without `-UID` on Windows.
pub fn default_folder() -> PathBuf {
    #[cfg(unix)]
    let name = format!("kinetoscope-{}", user());
    #[cfg(not(unix))]
    let name = "kinetoscope";
    std::env::temp_dir().join(name)
}

/// Returns the [default folder](default_folder) for a client. One that does not exist yet is no error.
///
/// # Errors
/// Returns an error if another user made the folder or can write to it: a program in it is not one of this user.
pub fn own_default_folder() -> io::Result<PathBuf> {
    let folder = default_folder();
    #[cfg(unix)]
    if let Ok(known) = fs::symlink_metadata(&folder) {
        require_own(&known).map_err(with_path(&folder))?;
    }
    Ok(folder)
}

/// The effective user of the process.
#[cfg(unix)]
fn user() -> u32 {
    // SAFETY: the function has no preconditions and always succeeds.
    unsafe { libc::geteuid() }
}

/// Returns the folder of the recordings, and creates it. One that exists is refused if another user could change it.
#[cfg(unix)]
pub(super) fn folder(chosen: Option<PathBuf>) -> io::Result<PathBuf> {
    let is_chosen = chosen.is_some();
    let folder = std::path::absolute(chosen.unwrap_or_else(default_folder))?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(with_path(&folder))?;
    // In the folder for temporary files, another user could have made a link to a folder of this user.
    let known = if is_chosen { fs::metadata(&folder) } else { fs::symlink_metadata(&folder) };
    let known = known.map_err(with_path(&folder))?;
    require_own(&known).map_err(with_path(&folder))?;
    Ok(folder)
}

/// Refuses a folder that other users own or can write to, and other kinds of files.
#[cfg(unix)]
fn require_own(known: &fs::Metadata) -> io::Result<()> {
    if known.is_dir() && known.uid() == user() && known.mode() & 0o022 == 0 {
        return Ok(());
    }
    let text = "the folder belongs to another user, or other users can write to it";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

/// Returns the folder of the recordings, and creates it.
#[cfg(not(unix))]
pub(super) fn folder(chosen: Option<PathBuf>) -> io::Result<PathBuf> {
    let folder = std::path::absolute(chosen.unwrap_or_else(default_folder))?;
    fs::create_dir_all(&folder).map_err(with_path(&folder))?;
    Ok(folder)
}
