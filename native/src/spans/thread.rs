//! The names of threads.

#[cfg(feature = "record")]
use super::local;
use std::fmt::Display;

/// Sets the name of the calling thread in recordings, in place of the one that the operating system has, which Linux cuts
/// to 15 bytes. The operating system's name is not changed.
///
/// The name applies to the recording that runs, also if the thread has recorded already, and to all later ones. It is at
/// most 4 KiB long and cut there. An empty one restores the system's. A span does not cost more.
///
/// Thread pools call a function at the start of each thread. Of rayon:
///
/// ```
/// rayon::ThreadPoolBuilder::new()
///     .start_handler(|index| kinetoscope::name_thread(format_args!("image decoder {index}")))
///     .build_global()?;
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
///
/// Of tokio:
///
/// ```
/// let runtime = tokio::runtime::Builder::new_multi_thread()
///     .on_thread_start(|| kinetoscope::name_thread("runtime of the public interface"))
///     .build()?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// Without the feature `record` it compiles to nothing, and the name is not formatted.
pub fn name_thread(name: impl Display) {
    #[cfg(feature = "record")]
    local::name_thread(local::unrecorded(|| name.to_string()));
    #[cfg(not(feature = "record"))]
    let _ = name;
}
