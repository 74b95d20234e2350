//! Finds the browser for the tests: an installed one, otherwise Debian's.

use crate::shell::Failure;
use crate::toolchain::debian;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The paths of Chromium and Chrome, on Debian and elsewhere. Chromium's headless shell is first: a browser test takes
/// a third of the time in it.
const PLACES: [&str; 7] = [
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// The path of Firefox on Debian.
const FIREFOX: &str = "/usr/bin/firefox-esr";

/// Installs the browser and the font if they are missing and can be installed.
pub(crate) fn install_if_missing() -> Result<(), Failure> {
    if env::var_os("CHROMIUM").is_none() && found().is_none() {
        let instead = "install Chromium or Chrome, or set CHROMIUM to the path of one";
        debian::provide(&[PLACES[0]], &["chromium-headless-shell"], instead)?;
    }
    font()
}

/// Sets `CHROMIUM` for a command to an installed browser, unless the variable is set. Installs one if necessary.
pub(crate) fn locate(command: &mut Command) -> Result<(), Failure> {
    install_if_missing()?;
    if env::var_os("CHROMIUM").is_none() {
        command.env("CHROMIUM", found().unwrap_or_else(|| PLACES[0].into()));
    }
    Ok(())
}

/// Sets `FIREFOX` for a command to Debian's, unless the variable is set. Installs it if necessary.
pub(crate) fn locate_firefox(command: &mut Command) -> Result<(), Failure> {
    if env::var_os("FIREFOX").is_none() {
        debian::provide(&[FIREFOX], &["firefox-esr"], "install Firefox, and set FIREFOX to its path")?;
        command.env("FIREFOX", FIREFOX);
    }
    Ok(())
}

fn found() -> Option<PathBuf> {
    PLACES.iter().map(PathBuf::from).find(|path| path.exists())
}

/// Installs the font that the reference pictures are rendered in.
fn font() -> Result<(), Failure> {
    const FONT: &str = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
    if Path::new("/usr/bin/apt-get").exists() {
        debian::provide(
            &[FONT],
            &["fonts-dejavu-core"],
            "install DejaVu Sans, in which the reference pictures are rendered",
        )?;
    }
    Ok(())
}
