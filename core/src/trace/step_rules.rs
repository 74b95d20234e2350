//! Which annotated ranges are iterations of an inference engine, decided by their names: the phase, the number of requests and
//! of tokens.
//!
//! The rules are lines of `step_rules.csv`, which describes the patterns. Lines given by the user come before them.

use crate::base::error::Error;
use crate::base::names::{NameId, Names};
use crate::base::without_comments::include_without_comments;
use crate::base::words::words;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const BUILT_IN: &str = include_without_comments!("step_rules.csv");

words! {
    "StepPhase"
    /// The phases that have a meaning for an analysis. Rules can name others.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Phase {
        /// Prompts are computed.
        Prefill = "prefill",
        /// Tokens are generated.
        Decode = "decode",
        /// Both, in one batch.
        Mixed = "mixed",
        /// No requests.
        Idle = "idle",
        /// A graph is captured.
        Capture = "capture",
        /// The name does not show it.
        Unknown = "unknown",
    }
}

/// The phase of a line that leaves it to the requests.
const BY_REQUESTS: &str = "requests";

/// The most `*` of a pattern: the time to match a name grows with each.
const MOST_ANY: usize = 4;

/// The phase of a range that the user names without one.
const ANY: &str = "step";

/// What the name of an iteration states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepName {
    /// The phase, such as `prefill` or `decode`.
    pub phase: String,
    /// The number of the iteration.
    pub number: Option<i64>,
    /// The number of requests.
    pub batch: Option<i64>,
    /// The number of tokens that are computed.
    pub tokens: Option<i64>,
    /// The number of tokens that are generated, if one is for each request.
    pub generated: Option<i64>,
}

impl StepName {
    /// An iteration of this phase, `step` without one, with the numbers that are known.
    pub fn new(
        phase: Option<&str>,
        batch: Option<i64>,
        tokens: Option<i64>,
        number: Option<i64>,
    ) -> StepName {
        let mut counts = Counts::default();
        let fields = [Field::Batch, Field::Tokens, Field::Number];
        for (field, value) in fields.into_iter().zip([batch, tokens, number]) {
            counts.0[field as usize] = value;
        }
        counts.named(&phase.unwrap_or(ANY).to_ascii_lowercase())
    }

    /// Whether another iteration has the same phase, requests and tokens.
    pub(crate) fn is_like(&self, other: &StepName) -> bool {
        (&self.phase, self.batch, self.tokens) == (&other.phase, other.batch, other.tokens)
    }

    /// Takes what is missing from an iteration within this one.
    pub(crate) fn complete(&mut self, inner: &StepName) {
        if self.phase == Phase::Unknown.as_str() {
            self.phase.clone_from(&inner.phase);
        }
        self.batch = self.batch.or(inner.batch);
        self.tokens = self.tokens.or(inner.tokens);
        self.generated = self.generated.or(inner.generated);
    }
}

/// A number in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Number,
    Batch,
    Tokens,
    PromptBatch,
    PromptTokens,
    DecodeBatch,
    DecodeTokens,
}

const FIELDS: [(&str, Field); 7] = [
    ("number", Field::Number),
    ("batch", Field::Batch),
    ("tokens", Field::Tokens),
    ("prompt_batch", Field::PromptBatch),
    ("prompt_tokens", Field::PromptTokens),
    ("decode_batch", Field::DecodeBatch),
    ("decode_tokens", Field::DecodeTokens),
];

/// The numbers of a name, by field.
#[derive(Clone, Copy, Debug, Default)]
struct Counts([Option<i64>; FIELDS.len()]);

impl Counts {
    fn get(&self, field: Field) -> Option<i64> {
        self.0[field as usize]
    }

    fn add(&mut self, field: Field, value: i64) {
        let sum = &mut self.0[field as usize];
        *sum = Some(sum.unwrap_or(0).saturating_add(value));
    }

    /// The iteration that has these numbers.
    fn named(&self, phase: &str) -> StepName {
        let sum = |a, b| Some(self.get(a)?.saturating_add(self.get(b)?));
        let prompts = self.get(Field::PromptTokens).or(self.get(Field::PromptBatch));
        let generating = self.get(Field::DecodeTokens).or(self.get(Field::DecodeBatch));
        let phase = if phase == BY_REQUESTS { by_requests(prompts, generating).as_str() } else { phase };
        let batch = self.get(Field::Batch).or(sum(Field::PromptBatch, Field::DecodeBatch));
        let is_decode = phase == Phase::Decode.as_str();
        let each = batch.filter(|_| is_decode);
        let of_prompts = self.get(Field::PromptTokens).or(prompts.filter(|&count| count == 0));
        let tokens = self.get(Field::Tokens).or(each_sum(of_prompts, generating)).or(each);
        let generated = generating.or(if is_decode { tokens } else { None });
        StepName { phase: phase.into(), number: self.get(Field::Number), batch, tokens, generated }
    }
}

fn each_sum(prompts: Option<i64>, generating: Option<i64>) -> Option<i64> {
    Some(prompts?.saturating_add(generating?))
}

/// The phase that the numbers of requests show.
fn by_requests(prompts: Option<i64>, generating: Option<i64>) -> Phase {
    match (prompts.map(|count| count > 0), generating.map(|count| count > 0)) {
        (Some(true), Some(true)) => Phase::Mixed,
        (Some(true), Some(false)) => Phase::Prefill,
        (Some(false), Some(true)) => Phase::Decode,
        (Some(false), Some(false)) => Phase::Idle,
        _ => Phase::Unknown,
    }
}

/// Which ranges are iterations: the rules that the user adds to the built-in ones, or the ranges that an expression of the user
/// matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepRules {
    /// The lines in lower case.
    user_lines: String,
    /// The names that were chosen instead of rules, sorted by their ids.
    chosen: Option<Vec<(NameId, StepName)>>,
}

impl StepRules {
    /// Reads the user's lines of `phase,pattern`. They come before the built-in ones.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] with the number of the first line that has no phase or no pattern, or a name in braces that
    /// is unknown.
    pub fn parse(text: &str) -> Result<StepRules, Error> {
        let user_lines = text.trim_start_matches('\u{feff}').to_ascii_lowercase();
        for (at, line) in user_lines.lines().enumerate() {
            Rule::parse(line).map_err(|what| {
                Error::BadOption(format!("step rules: line {} is `{line:.60}`, {what}", at + 1))
            })?;
        }
        Ok(StepRules { user_lines, chosen: None })
    }

    /// Uses these names of ranges, which are sorted by their ids, instead of rules.
    pub(crate) fn choose(&mut self, names: Vec<(NameId, StepName)>) {
        self.chosen = Some(names);
    }

    /// Whether names were chosen instead of rules.
    pub(crate) fn are_chosen(&self) -> bool {
        self.chosen.is_some()
    }

    /// Only the lines of the user, ready for use.
    pub(crate) fn own<'a>(&'a self, names: &'a Names) -> Matcher<'a> {
        Matcher { names, rules: self.user_lines.lines().filter_map(rule).collect(), chosen: &[] }
    }

    /// The rules, ready for use.
    pub(crate) fn matcher<'a>(&'a self, names: &'a Names) -> Matcher<'a> {
        let lines = self.user_lines.lines().chain(BUILT_IN.lines());
        let rules = if self.are_chosen() { Vec::new() } else { lines.filter_map(rule).collect() };
        Matcher { names, rules, chosen: self.chosen.as_deref().unwrap_or_default() }
    }
}

fn rule(line: &str) -> Option<Rule<'_>> {
    Rule::parse(line).ok().flatten()
}

/// Finds what names state.
pub(crate) struct Matcher<'a> {
    names: &'a Names,
    rules: Vec<Rule<'a>>,
    chosen: &'a [(NameId, StepName)],
}

impl Matcher<'_> {
    /// What a name states, if it is that of an iteration.
    pub(crate) fn step_name(&self, name: NameId) -> Option<StepName> {
        let chosen = self.chosen.binary_search_by_key(&name, |chosen| chosen.0);
        let by_rule = || self.by_rule(self.names.get(name));
        chosen.map_or_else(|_| by_rule(), |at| Some(self.chosen[at].1.clone()))
    }

    fn by_rule(&self, name: &str) -> Option<StepName> {
        let mut rules = self.rules.iter().filter(|rule| rule.can_begin(name)).peekable();
        rules.peek()?;
        let name = name.to_ascii_lowercase();
        rules.find_map(|rule| rule.matched(&name))
    }
}

/// A line of the rules.
struct Rule<'a> {
    phase: &'a str,
    parts: Vec<Part<'a>>,
}

#[derive(Clone, Copy)]
enum Part<'a> {
    Text(&'a str),
    Field(Field),
    Any,
}

impl<'a> Rule<'a> {
    /// Reads a line; `None` for a comment or an empty line.
    fn parse(line: &'a str) -> Result<Option<Rule<'a>>, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (phase, pattern) = line.split_once(',').unwrap_or_default();
        let (phase, pattern) = (phase.trim(), pattern.trim());
        if phase.is_empty() || pattern.is_empty() {
            return Err("expected phase,pattern".to_owned());
        }
        let mut parts = Vec::new();
        let mut rest = pattern;
        while let Some(at) = rest.find(['*', '{']) {
            if at > 0 {
                parts.push(Part::Text(&rest[..at]));
            }
            let special = &rest[at..];
            rest = if let Some(field) = special.strip_prefix('{') {
                let (name, after) =
                    field.split_once('}').ok_or_else(|| "a brace is not closed".to_owned())?;
                parts.push(Part::Field(field_of(name)?));
                after
            } else {
                // Several in a row match what one does.
                if !matches!(parts.last(), Some(Part::Any)) {
                    parts.push(Part::Any);
                }
                &special[1..]
            };
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest));
        }
        if parts.iter().filter(|part| matches!(part, Part::Any)).count() > MOST_ANY {
            Err(format!("the pattern has more than {MOST_ANY} `*`"))
        } else if parts.iter().any(|part| matches!(part, Part::Text(_))) {
            Ok(Some(Rule { phase, parts }))
        } else {
            Err("the pattern has no text".to_owned())
        }
    }

    /// Whether a name begins as the pattern does. Nearly all names do not.
    fn can_begin(&self, name: &str) -> bool {
        let Some(Part::Text(start)) = self.parts.first() else { return true };
        name.as_bytes().get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
    }

    fn matched(&self, name: &str) -> Option<StepName> {
        let mut counts = Counts::default();
        matches(&self.parts, name, &mut counts).then(|| counts.named(self.phase))
    }
}

fn field_of(name: &str) -> Result<Field, String> {
    let known = FIELDS.iter().find(|field| field.0 == name.trim());
    known.map(|field| field.1).ok_or_else(|| {
        let names = FIELDS.map(|field| field.0).join(", ");
        format!("{{{name:.20}}} is unknown; the names are {names}")
    })
}

/// Whether the parts match a complete text; adds up their numbers.
fn matches(parts: &[Part<'_>], text: &str, counts: &mut Counts) -> bool {
    let Some((part, rest)) = parts.split_first() else { return text.is_empty() };
    match *part {
        Part::Text(start) => text.strip_prefix(start).is_some_and(|text| matches(rest, text, counts)),
        Part::Field(field) => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let Ok(value) = text[..digits].parse() else { return false };
            counts.add(field, value);
            matches(rest, &text[digits..], counts)
        }
        Part::Any => {
            let next = match rest.first() {
                Some(Part::Text(start)) => *start,
                None => return true,
                _ => "",
            };
            let before = *counts;
            let mut ends = text.match_indices(next).map(|(at, _)| at);
            ends.any(|at| {
                *counts = before;
                matches(rest, &text[at..], counts)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn step(rules: &StepRules, name: &str) -> Option<(String, [Option<i64>; 4])> {
        let mut names = Names::default();
        let id = names.intern(name);
        let step = rules.matcher(&names).step_name(id)?;
        Some((step.phase, [step.batch, step.tokens, step.generated, step.number]))
    }

    fn built_in(name: &str) -> Option<(String, [Option<i64>; 4])> {
        step(&StepRules::default(), name)
    }

    #[test]
    fn every_built_in_line_is_a_rule_in_lower_case() {
        for line in BUILT_IN.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            assert!(Rule::parse(line).expect(line).is_some());
            assert_eq!(line, line.to_ascii_lowercase());
        }
    }

    /// Names as the engines' sources make them, and as traces have them.
    #[test]
    fn names_of_engines_state_phase_and_numbers() {
        let requests = |batch, tokens, generated| [Some(batch), Some(tokens), Some(generated), None];
        for (name, phase, numbers) in [
            ("execute_context_0(0)_generation_64(64)", "decode", requests(64, 64, 64)),
            ("execute_context_1(983)_generation_0(0)", "prefill", requests(1, 983, 0)),
            ("execute_context_2(1900)_generation_7(21)", "mixed", requests(9, 1921, 21)),
            ("execute_context_0(0)_generation_0(0)", "idle", requests(0, 0, 0)),
            (
                "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)",
                "mixed",
                requests(46, 8192, 37),
            ),
            (
                "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)",
                "decode",
                requests(32, 32, 32),
            ),
            ("execute_new_3_cached_0", "prefill", [Some(3), None, None, None]),
            ("execute_new_0_cached_12", "unknown", [Some(12), None, None, None]),
            ("execute_new_2_cached_12", "unknown", [Some(14), None, None, None]),
            ("step[DECODE bs=32]", "decode", requests(32, 32, 32)),
            ("step[DECODE bs=4 g_sqsq=4 g_sqsk=4000 g_sk=4000]", "decode", requests(4, 4, 4)),
            ("step[EXTEND bs=15 toks=15360]", "prefill", [Some(15), Some(15360), None, None]),
            (
                "step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]",
                "prefill",
                [Some(2), Some(12), None, None],
            ),
            ("step[MIXED bs=2]", "mixed", [Some(2), None, None, None]),
            (
                "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]",
                "mixed",
                requests(2, 6, 1),
            ),
            ("step[VERIFY bs=4]", "verify", [Some(4), None, None, None]),
            ("step[TARGET_VERIFY bs=4]", "verify", [Some(4), None, None, None]),
            ("step[DRAFT_EXTEND_V2 bs=4]", "draft", [Some(4), None, None, None]),
            ("step[IDLE bs=0]", "idle", [None; 4]),
            ("prefill[bs=2 tok=16384]", "prefill", [Some(2), Some(16384), None, None]),
            ("decode[bs=8]", "decode", requests(8, 8, 8)),
            (
                "[Executor] _forward_step 60000: 0 ctx reqs, 0 ctx tokens, 32 gen reqs",
                "decode",
                [Some(32), Some(32), Some(32), Some(60000)],
            ),
            (
                "[Executor] _forward_step 7: 3 ctx reqs, 9 gen reqs",
                "mixed",
                [Some(12), None, Some(9), Some(7)],
            ),
            ("[Executor] _forward_step: 0 ctx reqs, 9 gen reqs", "decode", requests(9, 9, 9)),
            ("execute_diffusion_1_256x256", "diffusion", [None; 4]),
            ("capture_32_DECODE", "capture", [Some(32), None, None, None]),
            ("capture_8192_PIECEWISE", "capture", [None, Some(8192), None, None]),
        ] {
            assert_eq!(built_in(name), Some((phase.to_owned(), numbers)), "{name}");
        }
    }

    #[test]
    fn other_names_are_no_iterations() {
        for name in [
            "",
            "ProfilerStep#3",
            "execute_context_1(2)",
            "execute_context_x(0)_generation_1(1)",
            "step[DECODE bs=]",
            "step[OTHER bs=3]",
            "my step[DECODE bs=3]",
            "prefill",
            "decode",
            "capture_DECODE",
            "execute_model",
            "[Executor] _forward_step 99999999999999999999: 1 ctx reqs, 2 gen reqs",
        ] {
            assert_eq!(built_in(name), None, "{name}");
        }
    }

    #[test]
    fn the_lines_of_the_user_come_first() {
        let rules = StepRules::parse("# mine\r\n\r\nDecode , Round {batch} of *\r\nwarm,step[DECODE*\r\n");
        let rules = rules.expect("rules");
        assert_eq!(
            step(&rules, "ROUND 4 of all"),
            Some(("decode".into(), [Some(4), Some(4), Some(4), None]))
        );
        assert_eq!(step(&rules, "step[DECODE bs=3]"), Some(("warm".into(), [None; 4])));
        assert_eq!(step(&rules, "step[EXTEND bs=3]"), built_in("step[EXTEND bs=3]"));
    }

    #[test]
    fn malformed_lines_are_refused_with_their_number() {
        for (line, what) in [
            ("decode", "expected phase,pattern"),
            (",x", "expected phase,pattern"),
            ("decode,", "expected phase,pattern"),
            ("decode,{batch", "not closed"),
            ("decode,a{bach}", "decode_tokens"),
            ("decode,*{batch}", "no text"),
            ("decode,*a*a*a*a*a", "more than 4"),
        ] {
            let error = StepRules::parse(&["decode,a\n#\n", line].concat()).expect_err(line).to_string();
            assert!(error.contains("line 3") && error.contains(what), "{error}");
        }
    }

    #[test]
    fn any_text_can_match_in_several_ways() {
        let rules = StepRules::parse("a,x*-{batch}*-{tokens}").expect("rules");
        assert_eq!(step(&rules, "x-y-1-z-2"), Some(("a".into(), [Some(1), Some(2), None, None])));
        assert_eq!(step(&rules, "x-y-z-2"), None);
        let many = ["a,", &"*".repeat(60), "x"].concat();
        assert_eq!(step(&StepRules::parse(&many).expect("rules"), &"y".repeat(300)), None);
        let rules = StepRules::parse("a,*é{batch}*").expect("rules");
        assert_eq!(step(&rules, "ééé7é"), Some(("a".into(), [Some(7), None, None, None])));
    }

    #[test]
    fn chosen_names_replace_the_rules() {
        let mut names = Names::default();
        let [a, b] = ["turn 1", "step[DECODE bs=3]"].map(|name| names.intern(name));
        let mut rules = StepRules::default();
        rules.choose(alloc::vec![(a, StepName::new(Some("Decode"), Some(2), None, Some(1)))]);
        let matcher = rules.matcher(&names);
        let found = matcher.step_name(a).expect("an iteration");
        assert_eq!((found.generated, found.number), (Some(2), Some(1)));
        assert_eq!(matcher.step_name(b), None);
    }
}
