//! Allocations of a program that uses the recorder's allocator.

#[path = "recorder/support.rs"]
mod support;

use kinetoscope::Profiler;
use kinetoscope::memory::{
    Device, ProfilingAllocator, record_alloc, record_free, record_out_of_memory, record_reserved,
};
use kinetoscope::{args, scope, user_scope};
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::trace::table::layout::Key;
use std::hint::black_box;
use support::{alone, check, row, rows};

#[global_allocator]
static ALLOCATOR: ProfilingAllocator = ProfilingAllocator::system();

fn allocations_add_to_the_allocating_scope_and_releases_subtract_from_the_freeing_scope() {
    let _alone = alone();
    let mut profiler = Profiler::builder().profile_memory(true).start().expect("recording should start");
    let bytes = {
        let _scope = user_scope!("test_user_scope_alloc");
        black_box(vec![1u8; 100_000])
    };
    {
        let _scope = user_scope!("test_user_scope_dealloc");
        drop(bytes);
    }
    let top_level = black_box(Box::new([0u8; 5000]));
    drop(top_level);
    let recording = profiler.stop().expect("a recording").expect("a recording");
    check(&recording);
    let averages = recording.key_averages(GroupBy::default()).expect("a trace");
    let of = |name: &str| averages.iter().find(|row| row.key == name).map(|row| row.cpu_memory_usage);
    assert_eq!(of("test_user_scope_alloc"), Some(100_000));
    assert_eq!(of("test_user_scope_dealloc"), Some(-100_000));
    // An allocation outside of all scopes is a separate event.
    assert!(averages.iter().any(|row| row.key == "[memory]" && row.count >= 2));
    let trace = recording.trace().expect("a trace");
    let recorded: Vec<[i64; 3]> = rows(trace, "[memory]")
        .into_iter()
        .map(|row| {
            [Key::Bytes, Key::Addr, Key::TotalAllocated]
                .map(|key| trace.table.int(row, key).expect("a number"))
        })
        .collect();
    let at = recorded.iter().position(|memory| memory[0] == 5000).expect("the box");
    let freed = recorded[at..].iter().find(|memory| memory[0] == -5000).expect("its end");
    assert_eq!(freed[1], recorded[at][1], "one address");
    assert_eq!(recorded[at][2] - freed[2], 5000);
}

fn reallocations_are_recorded_as_a_release_and_an_allocation() {
    let _alone = alone();
    let mut profiler = Profiler::builder().profile_memory(true).start().expect("recording should start");
    let work = scope!("work");
    let mut list: Vec<u64> = Vec::with_capacity(1000);
    list.resize(100_000, 7);
    drop(black_box(list));
    drop(work);
    let recording = profiler.stop().expect("a recording").expect("a recording");
    let trace = recording.trace().expect("a trace");
    // Only the test's own thread: other threads of this program also allocate.
    let track = trace.table.track_id(row(trace, "work"));
    let bytes: Vec<i64> = rows(trace, "[memory]")
        .into_iter()
        .filter(|&row| trace.table.track_id(row) == track)
        .map(|row| trace.table.bytes(row, Key::Bytes))
        .collect();
    assert_eq!(bytes, [8000, -8000, 800_000, -800_000]);
}

/// Long texts, many arguments and shapes make the recorder allocate; the program allocates nothing.
fn allocations_of_the_recorder_are_not_recorded() {
    let _alone = alone();
    let text = "x".repeat(2000);
    let shapes: Vec<[usize; 2]> = vec![[1024, 1024]; 200];
    let builder = Profiler::builder().profile_memory(true).record_shapes(true).with_flops(true);
    let mut profiler = builder.start().expect("recording should start");
    let parent = scope!("parent");
    for _ in 0..3 {
        let span = scope!("child", shapes: &shapes, dtype: "float", concrete: [1, 2.5], tensors: [1, 2], text = text,
            debug = ?text, list = [1, 2, 3], a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10);
        args!(span, more = text, number = u64::MAX);
    }
    // Guards that end out of order, on a thread that has not done that before.
    let (a, b) = (scope!("a"), scope!("b"));
    drop(a);
    drop(b);
    drop(parent);
    let recording = profiler.stop().expect("a recording").expect("a recording");
    let trace = recording.trace().expect("a trace");
    let track = trace.table.track_id(row(trace, "parent"));
    let bytes: Vec<i64> = rows(trace, "[memory]")
        .into_iter()
        .filter(|&row| trace.table.track_id(row) == track)
        .map(|row| trace.table.bytes(row, Key::Bytes))
        .collect();
    assert_eq!(bytes, [0i64; 0]);
}

fn memory_is_not_recorded_by_default() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    drop(black_box(vec![1u8; 1000]));
    drop(scope!("work"));
    let recording = profiler.stop().expect("a recording").expect("a recording");
    assert!(rows(recording.trace().expect("a trace"), "[memory]").is_empty());
}

fn a_framework_can_report_device_allocations_and_out_of_memory() {
    let _alone = alone();
    let device = Device::Cuda(3);
    let mut profiler = Profiler::builder().profile_memory(true).start().expect("recording should start");
    {
        let _scope = scope!("on the device");
        record_reserved(device, 1 << 20);
        record_alloc(device, 0x7f00, 4096);
        record_out_of_memory(device, 1 << 40);
    }
    record_free(device, 0x7f00, 4096);
    let recording = profiler.stop().expect("a recording").expect("a recording");
    check(&recording);
    let trace = recording.trace().expect("a trace");
    let number = |row, key| trace.table.int(row, key).expect("a number");
    let failed = row(trace, "[OutOfMemory]");
    assert_eq!(number(failed, Key::Bytes), 1 << 40);
    assert_eq!(number(failed, Key::TotalAllocated), 4096);
    assert_eq!(number(failed, Key::TotalReserved), 1 << 20);
    let recorded: Vec<_> = rows(trace, "[memory]")
        .into_iter()
        .filter(|&row| number(row, Key::DeviceType) == 1)
        .map(|row| [Key::DeviceId, Key::Bytes, Key::TotalAllocated].map(|key| number(row, key)))
        .collect();
    assert_eq!(recorded, [[3, 4096, 4096], [3, -4096, 0]]);
    let averages = recording.key_averages(GroupBy::default()).expect("a trace");
    let scope = averages.iter().find(|row| row.key == "on the device").expect("the scope");
    assert_eq!(scope.device_memory_usage, 4096);
    assert_eq!((device.allocated(), device.peak()), (0, 4096));
    device.reset_peak();
    assert_eq!(device.peak(), 0);
}

/// The test runs alone: torch counts the allocations of every thread while a scope is open.
#[test]
fn memory_events_have_torchs_form() {
    // The test runner still allocates after it has started a test.
    std::thread::sleep(std::time::Duration::from_millis(300));
    allocations_add_to_the_allocating_scope_and_releases_subtract_from_the_freeing_scope();
    reallocations_are_recorded_as_a_release_and_an_allocation();
    allocations_of_the_recorder_are_not_recorded();
    memory_is_not_recorded_by_default();
    a_framework_can_report_device_allocations_and_out_of_memory();
}
