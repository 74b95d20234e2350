//! PyTorch's device types: names and numbers.

use crate::base::words::Vocabulary;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::Key;

macro_rules! device_types {
    ($($variant:ident $name:literal $number:literal;)*) => {
        /// PyTorch's device types.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        #[non_exhaustive]
        pub enum DeviceType { #[default] $($variant),* }

        impl DeviceType {
            /// PyTorch's names.
            pub const VOCABULARY: Vocabulary = Vocabulary::new("DeviceType", &[$($name),*]);

            /// Returns PyTorch's name, as in `DeviceType.CUDA`.
            pub const fn as_str(self) -> &'static str {
                DeviceType::VOCABULARY.words[self as usize]
            }

            /// Returns the type with this name.
            pub fn from_name(name: &str) -> Option<DeviceType> {
                match name { $($name => Some(DeviceType::$variant),)* _ => None }
            }

            /// Returns the type with this number in PyTorch.
            pub fn from_number(number: i64) -> Option<DeviceType> {
                match number { $($number => Some(DeviceType::$variant),)* _ => None }
            }
        }
    };
}

device_types! {
    Cpu "CPU" 0;
    Cuda "CUDA" 1;
    MklDnn "MKLDNN" 2;
    OpenGl "OPENGL" 3;
    OpenCl "OPENCL" 4;
    IdeepCpu "IDEEP" 5;
    Hip "HIP" 6;
    Fpga "FPGA" 7;
    Maia "MAIA" 8;
    Xla "XLA" 9;
    Vulkan "Vulkan" 10;
    Metal "Metal" 11;
    Xpu "XPU" 12;
    Mps "MPS" 13;
    Meta "Meta" 14;
    Hpu "HPU" 15;
    Ve "VE" 16;
    Lazy "Lazy" 17;
    Ipu "IPU" 18;
    Mtia "MTIA" 19;
    PrivateUse1 "PrivateUse1" 20;
}

impl DeviceType {
    /// Whether it is memory of the host.
    pub(crate) const fn is_host(self) -> bool {
        matches!(self, DeviceType::Cpu | DeviceType::MklDnn | DeviceType::IdeepCpu)
    }

    /// Returns the device type of a memory event: the host if the event has none, `None` if it is unknown.
    pub(crate) fn from_event(table: &Table, row: Row) -> Option<DeviceType> {
        match table.field(row, Key::DeviceType) {
            Some(Value::Text(name)) => DeviceType::from_name(name),
            Some(number) => number.as_i64().and_then(DeviceType::from_number),
            None => Some(DeviceType::Cpu),
        }
    }
}
