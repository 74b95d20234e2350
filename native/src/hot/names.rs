//! The names of open spans that are named at run time and began while nothing recorded them. If a recording starts
//! before such a span ends, it is recorded with this name.
//!
//! Each thread keeps its names in one string, so that a span allocates nothing once the buffers have grown.

use crate::hot::local::unrecorded;
use crate::hot::state::flag;
use std::cell::RefCell;

/// The largest serial number of a name; numbers repeat after it.
const MAX_SERIAL: u32 = (flag::NAMED >> flag::BITS) - 1;

#[derive(Default)]
struct Names {
    text: String,
    /// The serial number of each name and where it starts in `text`. The number is 0 if its span has ended and the span
    /// of a later name has not.
    starts: Vec<(u32, usize)>,
    serial: u32,
}

thread_local! {
    static NAMES: RefCell<Names> = const { RefCell::new(Names { text: String::new(), starts: Vec::new(), serial: 0 }) };
}

/// Keeps a name. Returns the state for the guard of its span; 0 if the thread is ending.
pub(crate) fn keep(name: &str) -> u32 {
    let push = |names: &RefCell<Names>| {
        // An allocator of the program may begin a span while the recorder holds the names.
        let Ok(mut names) = names.try_borrow_mut() else { return 0 };
        names.serial = names.serial % MAX_SERIAL + 1;
        let has_room = names.text.capacity() - names.text.len() >= name.len();
        if has_room && names.starts.len() < names.starts.capacity() {
            names.push(name);
        } else {
            unrecorded(|| names.push(name));
        }
        flag::NAMED | names.serial << flag::BITS
    };
    NAMES.try_with(push).unwrap_or(0)
}

/// Removes the name of a span that ends. It is passed to `read` before that.
pub(crate) fn take(state: u32, read: impl FnOnce(&str)) {
    let serial = (state & !flag::NAMED) >> flag::BITS;
    let _ = NAMES.try_with(|names| {
        if let Ok(mut names) = names.try_borrow_mut() {
            names.take(serial, read);
        }
    });
}

impl Names {
    fn push(&mut self, name: &str) {
        self.starts.push((self.serial, self.text.len()));
        self.text.push_str(name);
    }

    fn take(&mut self, serial: u32, read: impl FnOnce(&str)) {
        let Some(at) = self.starts.iter().rposition(|entry| entry.0 == serial) else { return };
        let end = self.starts.get(at + 1).map_or(self.text.len(), |next| next.1);
        read(&self.text[self.starts[at].1..end]);
        self.starts[at].0 = 0;
        // Guards can be dropped in another order than the reverse of their creation.
        while let Some(&(0, start)) = self.starts.last() {
            self.starts.pop();
            self.text.truncate(start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_inside_the_recorder_has_no_name() {
        let outer = keep("outer");
        take(outer, |_| {
            assert_eq!(keep("inner"), 0);
            assert_eq!(taken(outer), None);
        });
    }

    fn taken(state: u32) -> Option<String> {
        let mut name = None;
        take(state, |text| name = Some(text.to_owned()));
        name
    }

    #[test]
    fn names_are_found_in_any_order_and_their_space_is_reused() {
        let [a, b, c] = ["a", "", "cé"].map(keep);
        assert_eq!(taken(b).as_deref(), Some(""));
        assert_eq!(taken(b), None, "a name is removed once");
        let d = keep("d");
        assert_eq!([c, a, d].map(|state| taken(state).expect("a name")), ["cé", "a", "d"]);
        NAMES.with(|names| assert!(names.borrow().text.is_empty() && names.borrow().starts.is_empty()));
        NAMES.with(|names| names.borrow_mut().serial = MAX_SERIAL);
        assert_eq!(keep("first again"), flag::NAMED | 1 << flag::BITS);
    }
}
