//! Shapes of inputs, as in PyTorch's `Input Dims`.

use crate::json::append_list;
use std::fmt::Write;

/// The shape of an input: of a tensor, or of a list of tensors, which may contain lists. Shapes that are plain slices,
/// arrays or vectors of `usize` need no `Shape`.
///
/// ```
/// use kinetoscope::scope;
/// use kinetoscope::spans::Shape::{List, Tensor};
///
/// // `Input Dims` is [[[2, 3], [4, 3]], []].
/// let _span = scope!("aten::cat", shapes: [List(&[Tensor(&[2, 3]), Tensor(&[4, 3])]), Tensor(&[])],
///     dtypes: ["TensorList", "Scalar"], concrete: ["", 0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// The sizes of a tensor's dimensions, in elements. Empty for an input without a shape.
    Tensor(&'a [usize]),
    /// The shapes of the elements of a list.
    List(&'a [Shape<'a>]),
}

/// A type that gives the shape or the strides of an input: [`Shape`], and everything that is a slice of `usize`.
pub trait InputShape {
    /// Appends the shape as JSON.
    #[doc(hidden)]
    fn append_to(&self, json: &mut String);
}

impl<T: AsRef<[usize]> + ?Sized> InputShape for T {
    fn append_to(&self, json: &mut String) {
        append_list(json, self.as_ref(), |json, size| {
            let _ = write!(json, "{size}");
        });
    }
}

impl InputShape for Shape<'_> {
    fn append_to(&self, json: &mut String) {
        match self {
            Shape::Tensor(sizes) => sizes.append_to(json),
            Shape::List(list) => append_list(json, *list, |json, shape| shape.append_to(json)),
        }
    }
}
