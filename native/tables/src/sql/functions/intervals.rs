//! Lengths of unions of intervals.

use arrow_array::builder::Int64Builder;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array};
use arrow_schema::{DataType, Field, FieldRef};
use datafusion::common::cast::{as_boolean_array, as_int64_array, as_list_array};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// `busy_ns(ts, dur)`: the length of the union of intervals. `exposed_ns(ts, dur, counts)`: the time in which an interval with `counts`
/// is open, and none without it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Union {
    name: &'static str,
    signature: Signature,
}

impl Union {
    pub(super) fn busy() -> Union {
        let signature = Signature::exact(vec![DataType::Int64; 2], Volatility::Immutable);
        Union { name: "busy_ns", signature }
    }

    pub(super) fn exposed() -> Union {
        let types = vec![DataType::Int64, DataType::Int64, DataType::Boolean];
        Union { name: "exposed_ns", signature: Signature::exact(types, Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for Union {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Intervals::default()))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let list = |what: &str| {
            let item = Arc::new(Field::new_list_field(DataType::Int64, true));
            Arc::new(Field::new(format!("{}_{what}", args.name), DataType::List(item), false))
        };
        Ok(vec![list("counted"), list("others")])
    }
}

/// Intervals as starts and ends, those that count and the others.
#[derive(Debug, Default)]
struct Intervals {
    counted: Vec<(i64, i64)>,
    others: Vec<(i64, i64)>,
    /// The number of intervals from which on they are united.
    limit: usize,
}

impl Intervals {
    /// Unites intervals when their number has doubled, so that memory follows the size of the union.
    fn shrink(&mut self) {
        if self.counted.len() + self.others.len() > self.limit.max(1 << 12) {
            unite(&mut self.counted);
            unite(&mut self.others);
            self.limit = 2 * (self.counted.len() + self.others.len());
        }
    }
}

impl Accumulator for Intervals {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (starts, durations) = (as_int64_array(&values[0])?, as_int64_array(&values[1])?);
        let counts: Option<&BooleanArray> = values.get(2).map(|flags| as_boolean_array(flags)).transpose()?;
        for at in 0..starts.len() {
            if starts.is_null(at) || durations.is_null(at) || durations.value(at) <= 0 {
                continue;
            }
            let interval = (starts.value(at), starts.value(at).saturating_add(durations.value(at)));
            let counted = counts.is_none_or(|flags| flags.is_valid(at) && flags.value(at));
            if counted { self.counted.push(interval) } else { self.others.push(interval) }
        }
        self.shrink();
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        unite(&mut self.others);
        let hidden = length(&self.others);
        let mut all = std::mem::take(&mut self.counted);
        all.extend(&self.others);
        unite(&mut all);
        Ok(ScalarValue::Int64(Some(length(&all) - hidden)))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + (self.counted.capacity() + self.others.capacity()) * size_of::<(i64, i64)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        unite(&mut self.counted);
        unite(&mut self.others);
        Ok(vec![list(&self.counted), list(&self.others)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        add(&mut self.counted, &states[0])?;
        add(&mut self.others, &states[1])?;
        self.shrink();
        Ok(())
    }
}

/// Sorts intervals and joins those that touch.
fn unite(intervals: &mut Vec<(i64, i64)>) {
    intervals.sort_unstable();
    intervals.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
}

fn length(intervals: &[(i64, i64)]) -> i64 {
    intervals.iter().map(|interval| interval.1 - interval.0).sum()
}

/// The starts and ends in one list.
fn list(intervals: &[(i64, i64)]) -> ScalarValue {
    let edges = Int64Array::from_iter_values(intervals.iter().flat_map(|&(start, end)| [start, end]));
    SingleRowListArrayBuilder::new(Arc::new(edges)).build_list_scalar()
}

fn add(intervals: &mut Vec<(i64, i64)>, lists: &ArrayRef) -> Result<()> {
    let lists = as_list_array(lists)?;
    for list in lists.iter().flatten() {
        let edges = as_int64_array(&list)?.values().clone();
        intervals.extend(edges.as_chunks::<2>().0.iter().map(|&[start, end]| (start, end)));
    }
    Ok(())
}

/// `overlap(ts_a, dur_a, ts_b, dur_b)`: the time that two intervals have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Overlap {
    signature: Signature,
}

impl Default for Overlap {
    fn default() -> Overlap {
        Overlap { signature: Signature::exact(vec![DataType::Int64; 4], Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Overlap {
    fn name(&self) -> &'static str {
        "overlap"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [a, a_dur, b, b_dur] = &arrays[..] else { return exec_err!("overlap takes four integers") };
        let columns =
            [as_int64_array(a)?, as_int64_array(a_dur)?, as_int64_array(b)?, as_int64_array(b_dur)?];
        let mut common = Int64Builder::with_capacity(args.number_rows);
        for at in 0..columns[0].len() {
            let value = |column: usize| columns[column].is_valid(at).then(|| columns[column].value(at));
            let overlap = || {
                let (a, b) = (value(0)?, value(2)?);
                let (a_end, b_end) = (a.saturating_add(value(1)?), b.saturating_add(value(3)?));
                Some(a_end.min(b_end).saturating_sub(a.max(b)).max(0))
            };
            common.append_option(overlap());
        }
        Ok(ColumnarValue::Array(Arc::new(common.finish())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(rows: &[(i64, i64, bool)], pieces: usize) -> i64 {
        let mut merged = Intervals::default();
        for piece in rows.chunks(rows.len().div_ceil(pieces)) {
            let mut part = Intervals::default();
            let starts = Int64Array::from_iter_values(piece.iter().map(|row| row.0));
            let durations = Int64Array::from_iter_values(piece.iter().map(|row| row.1));
            let flags: BooleanArray = piece.iter().map(|row| Some(row.2)).collect();
            part.update_batch(&[Arc::new(starts), Arc::new(durations), Arc::new(flags)]).expect("intervals");
            let states: Vec<ArrayRef> = part
                .state()
                .expect("a state")
                .iter()
                .map(|state| state.to_array().expect("an array"))
                .collect();
            merged.merge_batch(&states).expect("a state");
        }
        match merged.evaluate().expect("a length") {
            ScalarValue::Int64(Some(ns)) => ns,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn exposed_time_is_that_of_a_clock_with_ticks() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for count in [1, 5, 40, 9_000] {
            let rows: Vec<(i64, i64, bool)> =
                (0..count).map(|_| (random(500) as i64, random(20) as i64, random(3) > 0)).collect();
            let open = |at: i64, flag: bool| {
                rows.iter().any(|row| row.2 == flag && row.0 <= at && at < row.0 + row.1)
            };
            let ticks = (0..600).filter(|&at| open(at, true) && !open(at, false)).count() as i64;
            assert_eq!(busy(&rows, 1), ticks);
            assert_eq!(busy(&rows, 7), ticks);
        }
    }
}
