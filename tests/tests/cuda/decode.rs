//! Records of every CUPTI version from 12.0 to 13.5 are decoded to the values that were written.

use kinetoscope::device::decode::{decode, kind, size_of_record};
use kinetoscope::device::decoded::{Decoded, Span};
use kinetoscope_tests::cupti_records::{Bytes, TOOLKITS, Toolkit, Writer};

const SPAN: (u64, u64) = (1_700_000_000_000_000_001, 1_700_000_000_000_005_003);
const TIMES: Span = Span { start: SPAN.0, end: SPAN.1 };
const LANE: (u32, u32, u32) = (1, 2, 7);

/// Decodes a record. The result must not depend on what follows the record.
fn read(bytes: &Bytes, version: u32) -> Decoded {
    let alone = decode(&bytes.0, version);
    let mut followed = bytes.0.clone();
    followed.extend([0xAB; 300]);
    assert_eq!(decode(&followed, version), alone, "{version}");
    let kind = u32::from_le_bytes(bytes.0[..4].try_into().expect("4 bytes"));
    let size = size_of_record(kind, version).expect("a kind that is read");
    for length in 4..size {
        assert_eq!(decode(&bytes.0[..length], version), Decoded::Short(kind), "{version}, {length} bytes");
    }
    alone
}

#[test]
fn record_sizes_equal_those_of_the_headers() {
    for toolkit in TOOLKITS {
        let size = |kind| size_of_record(kind, toolkit.version).expect("a kind that is read");
        assert_eq!((size(kind::CONCURRENT_KERNEL), size(kind::KERNEL)), (toolkit.kernel, toolkit.kernel));
        assert_eq!((size(kind::MEMCPY), size(kind::MEMSET)), (toolkit.memcpy, toolkit.memset));
        assert_eq!(size(kind::SYNCHRONIZATION), toolkit.synchronization, "{}", toolkit.version);
        assert_eq!((size(kind::CUDA_EVENT), size(kind::MEMORY2)), (toolkit.cuda_event, toolkit.memory));
        assert_eq!((size(kind::RUNTIME), size(kind::DRIVER), size(kind::MEMCPY2)), (40, 40, 96));
        assert_eq!((size(kind::EXTERNAL_CORRELATION), size(kind::MARKER)), (24, 56));
        assert!(size(kind::OVERHEAD) <= toolkit.overhead);
    }
}

#[test]
fn kernels_of_every_version_are_decoded() {
    for Toolkit { version, .. } in TOOLKITS {
        let writer = Writer::new(version);
        let plain = writer.kernel(c"name", SPAN, LANE, 42, [640, 256]);
        let Decoded::Kernel(kernel) = read(&plain, version) else { panic!("{version}") };
        assert_eq!((kernel.span, kernel.grid, kernel.block), (TIMES, [640, 1, 1], [256, 1, 1]));
        assert_eq!(
            (kernel.registers, kernel.shared, kernel.queued, kernel.cluster),
            (32, [1024, 0], 0, [0; 3])
        );
        let place = kernel.place;
        assert_eq!((place.device, place.context, place.stream, place.correlation), (1, 2, 7, 42));
        assert_eq!((place.graph, place.node, place.channel), (0, 0, (3, 1)));
        assert_eq!(kernel.priority, (version >= 130_100).then_some(-2), "{version}");
        let of_graph = Writer::in_graph(plain, 5, u64::MAX - 1);
        let Decoded::Kernel(kernel) = read(&of_graph, version) else { panic!("{version}") };
        assert_eq!((kernel.place.graph, kernel.place.node), (5, u64::MAX - 1));
    }
}

#[test]
fn memcpys_and_memsets_of_every_version_are_decoded() {
    for Toolkit { version, .. } in TOOLKITS {
        let writer = Writer::new(version);
        let Decoded::Copy(copy) = read(&writer.copy(4096, SPAN, LANE, 43), version) else {
            panic!("{version}")
        };
        assert_eq!((copy.span, copy.direction, copy.memories, copy.bytes), (TIMES, 1, [1, 3], 4096));
        assert_eq!((copy.place.stream, copy.place.correlation, copy.place.channel), (7, 43, (4, 2)));
        assert_eq!(copy.peers, None);
        let peers = [(1, 2), (3, 4)];
        let bytes = writer.peer_copy(8192, SPAN, LANE, peers, 44);
        let Decoded::Copy(copy) = read(&bytes, version) else { panic!("{version}") };
        assert_eq!((copy.direction, copy.bytes, copy.peers), (10, 8192, Some(peers)));
        assert_eq!((copy.place.device, copy.place.correlation, copy.place.channel), (1, 44, (4, 2)));
        let Decoded::Fill { span, place, memory, bytes } = read(&writer.memset(512, SPAN, LANE, 45), version)
        else {
            panic!("{version}")
        };
        assert_eq!((span, place.context, place.correlation, memory, bytes), (TIMES, 2, 45, 3, 512));
    }
}

#[test]
fn calls_synchronizations_and_correlations_of_every_version_are_decoded() {
    for Toolkit { version, .. } in TOOLKITS {
        let writer = Writer::new(version);
        for is_driver in [false, true] {
            let expected =
                Decoded::Call { is_driver, span: TIMES, cbid: 211, thread: 77, correlation: 46, result: 2 };
            assert_eq!(read(&writer.call(is_driver, 211, SPAN, 77, 46, 2), version), expected);
        }
        let expected =
            Decoded::Sync { span: TIMES, what: 3, context: 2, stream: 7, correlation: 47, event: u32::MAX };
        assert_eq!(read(&writer.sync(3, SPAN, (2, 7), u32::MAX, 47), version), expected);
        let expected = Decoded::External { kind: 3, id: 1 << 40, correlation: 48 };
        assert_eq!(read(&writer.external(3, 1 << 40, 48), version), expected);
        // Before CUDA 12.8, events have no times.
        let time = if version >= 26 { 99 } else { 0 };
        let expected = Decoded::Event { time, context: 2, stream: 7, event: 5, correlation: 49 };
        assert_eq!(read(&writer.event(5, 99, (2, 7), 49), version), expected);
        let expected = Decoded::Overhead { span: TIMES, what: 2 << 16 };
        assert_eq!(read(&writer.overhead(2 << 16, SPAN), version), expected);
    }
}

#[test]
fn memory_and_markers_of_every_version_are_decoded() {
    for Toolkit { version, .. } in TOOLKITS {
        let writer = Writer::new(version);
        for is_release in [false, true] {
            let expected = Decoded::Memory {
                time: 9,
                is_release,
                memory: 3,
                address: 0x7000,
                bytes: 64,
                device: 1,
                correlation: 50,
            };
            assert_eq!(read(&writer.memory(is_release, 0x7000, 64, 9, 1, 50), version), expected);
        }
        let expected = Decoded::Marker { time: 10, flags: 4, id: 11, thread: 78, texts: [0, 0] };
        assert_eq!(read(&writer.marker(4, 11, 10, 78, None), version), expected);
    }
}

#[test]
fn unknown_kinds_and_later_versions_are_handled() {
    assert_eq!(decode(&Writer::new(18).unknown().0, 18), Decoded::Unknown(46));
    assert_eq!(decode(&[], 18), Decoded::Unknown(0));
    // A later version is decoded like the newest known version.
    let writer = Writer::new(140_000);
    let kernel = writer.kernel(c"name", SPAN, LANE, 1, [1, 32]);
    assert!(matches!(decode(&kernel.0, 140_000), Decoded::Kernel(_)));
}
