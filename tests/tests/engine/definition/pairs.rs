//! Pairs by their definitions.

use serde_json::Value;

/// Pairs, ascending.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) ambiguous: u64,
    pub(crate) unmatched: u64,
}

fn ph(event: &Value) -> &str {
    event["ph"].as_str().unwrap_or("")
}

fn ts(event: &Value) -> u64 {
    event["ts"].as_u64().expect("a time")
}

/// The indexes of events of these phases, in the order of time and then of the file.
fn in_time(events: &[Value], wanted: impl Fn(&Value) -> bool) -> Vec<usize> {
    let mut found: Vec<usize> = (0..events.len()).filter(|&at| wanted(&events[at])).collect();
    found.sort_by_key(|&at| (ts(&events[at]), at));
    found
}

/// Everything in which two events with the same id agree.
fn id(event: &Value) -> String {
    let shared = format!("{} {}", event["cat"], event["scope"]);
    // A string of digits is the number.
    let plain = |id: &Value| id.as_str().map_or_else(|| id.to_string(), String::from);
    match (&event["id2"]["local"], &event["id2"]["global"]) {
        (Value::Null, Value::Null) => format!("{shared} id {}", plain(&event["id"])),
        (Value::Null, global) => format!("{shared} global {}", plain(global)),
        (local, _) => format!("{shared} local {} of {}", plain(local), event["pid"]),
    }
}

pub(crate) fn asyncs(events: &[Value]) -> Found {
    let mut found = Found::default();
    let mut open: Vec<usize> = Vec::new();
    let mut waiting: Vec<usize> = Vec::new();
    let rows = in_time(events, |event| matches!(ph(event), "b" | "e" | "S" | "F"));
    for (at, &row) in rows.iter().enumerate() {
        if matches!(ph(&events[row]), "b" | "S") {
            open.push(row);
        } else if !close(events, &mut open, row, &mut found) {
            waiting.push(row);
        }
        let is_last = rows.get(at + 1).is_none_or(|&next| ts(&events[next]) > ts(&events[row]));
        if is_last {
            for end in waiting.drain(..) {
                found.unmatched += u64::from(!close(events, &mut open, end, &mut found));
            }
        }
    }
    found.unmatched += open.len() as u64;
    found.pairs.sort_unstable();
    found
}

fn close(events: &[Value], open: &mut Vec<usize>, end: usize, found: &mut Found) -> bool {
    let end_event = &events[end];
    let fits = |begin: &usize| {
        let begin = &events[*begin];
        id(begin) == id(end_event) && begin["name"] == end_event["name"]
    };
    let fitting: Vec<usize> = open.iter().copied().filter(fits).collect();
    let of_process: Vec<usize> =
        fitting.iter().copied().filter(|&begin| events[begin]["pid"] == end_event["pid"]).collect();
    let Some(&begin) = of_process.last().or(fitting.last()) else { return false };
    let begin_event = &events[begin];
    let ambiguous = if of_process.is_empty() {
        fitting.iter().any(|&other| events[other]["pid"] != begin_event["pid"])
    } else if ph(end_event) == "F" {
        of_process.len() > 1
    } else {
        let thread = |event: &Value| event["tid"].clone();
        thread(begin_event) != thread(end_event)
            && of_process.iter().any(|&other| thread(&events[other]) == thread(end_event))
    };
    found.ambiguous += u64::from(ambiguous);
    open.retain(|&other| other != begin);
    found.pairs.push((begin, end));
    true
}

pub(crate) fn flows(events: &[Value]) -> Found {
    let mut found = Found::default();
    let of_two = |event: &Value| event["flow_in"] == true || event["flow_out"] == true;
    let rows = in_time(events, |event| matches!(ph(event), "s" | "t" | "f") || of_two(event));
    let key = |row: usize| match &events[row]["bind_id"] {
        Value::Null => id(&events[row]),
        bind => format!("bind {bind}"),
    };
    let mut keys: Vec<String> = rows.iter().map(|&row| key(row)).collect();
    keys.sort_unstable();
    keys.dedup();
    for wanted in keys {
        let mut starts: Vec<(usize, bool)> = Vec::new();
        let mut replaced = 0;
        let mut waiting: Vec<usize> = Vec::new();
        let group: Vec<usize> = rows.iter().copied().filter(|&row| key(row) == wanted).collect();
        for (at, &row) in group.iter().enumerate() {
            let event = &events[row];
            let is_end = matches!(ph(event), "t" | "f") || event["flow_in"] == true;
            let is_start = ph(event) == "s" || event["flow_out"] == true;
            if is_end && !arrive(events, &mut starts, row, &mut found) {
                waiting.push(row);
            }
            if is_start {
                let of_process = starts.iter().position(|start| events[start.0]["pid"] == event["pid"]);
                replaced += of_process.map_or(0, |at| u64::from(!starts.remove(at).1));
                starts.push((row, false));
            }
            if group.get(at + 1).is_none_or(|&next| ts(&events[next]) > ts(event)) {
                for end in waiting.drain(..) {
                    found.unmatched += u64::from(!arrive(events, &mut starts, end, &mut found));
                }
            }
        }
        found.unmatched += replaced + starts.iter().filter(|start| !start.1).count() as u64;
    }
    found.pairs.sort_unstable();
    found
}

/// Pairs an end with one of the last starts of every process.
fn arrive(events: &[Value], starts: &mut [(usize, bool)], end: usize, found: &mut Found) -> bool {
    let of_process = starts.iter().position(|start| events[start.0]["pid"] == events[end]["pid"]);
    let unused = starts.iter().position(|start| !start.1);
    let Some(at) = of_process.or(unused).or(starts.len().checked_sub(1)) else { return false };
    starts[at].1 = true;
    found.pairs.push((starts[at].0, end));
    true
}

/// Begins and ends of threads, by the rules in the documentation of `pair`.
pub(crate) fn spans(events: &[Value]) -> Vec<(usize, usize)> {
    let name = |row: usize| events[row]["name"].as_str().unwrap_or("");
    let fits = |begin: usize, end: usize| name(end).is_empty() || name(begin) == name(end);
    let track = |row: usize| (events[row]["pid"].as_u64(), events[row]["tid"].as_u64());
    let all = in_time(events, |event| matches!(ph(event), "B" | "E"));
    let mut tracks: Vec<_> = all.iter().map(|&row| track(row)).collect();
    tracks.sort_unstable();
    tracks.dedup();
    let mut pairs = Vec::new();
    for wanted in tracks {
        let mut left: Vec<usize> = all.iter().copied().filter(|&row| track(row) == wanted).collect();
        let mut open: Vec<usize> = Vec::new();
        while !left.is_empty() {
            let instant = ts(&events[left[0]]);
            let ties = left.iter().take_while(|&&row| ts(&events[row]) == instant).count();
            let row = left.remove(next(events, &open, &left[..ties], &fits));
            if ph(&events[row]) == "B" {
                open.push(row);
                continue;
            }
            let inner = open.iter().rposition(|&begin| fits(begin, row));
            let Some(at) = inner.or(open.len().checked_sub(1)) else { continue };
            pairs.push((open[at], row));
            open.truncate(at);
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Which of the events at one time is next.
fn next(events: &[Value], open: &[usize], ties: &[usize], fits: &dyn Fn(usize, usize) -> bool) -> usize {
    let end = ties[0];
    let is_end = |row: usize| ph(&events[row]) == "E";
    let top = open.last().copied();
    if !is_end(end) || top.is_some_and(|begin| fits(begin, end)) {
        return 0;
    }
    let named = |begin: usize, row: usize| events[row]["name"] == events[begin]["name"];
    if let Some(begin) = top
        && let Some(at) = ties.iter().position(|&row| is_end(row) && named(begin, row))
    {
        return at;
    }
    if open.iter().any(|&begin| fits(begin, end)) {
        return 0;
    }
    ties.iter().position(|&row| !is_end(row) && fits(row, end)).unwrap_or(0)
}
