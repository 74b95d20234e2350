//! The plans: the steps, what each step needs, and which steps run at the same time. Steps that take longest, including
//! the steps that wait for them, are listed first.

use crate::schedule::{Load, Step};
use crate::shell::Failure;
use crate::tally::Tally;
use crate::{
    api, book, browser, cost, cudarc, cupti, dependencies, dimensions, examples, features, fuzz, imports,
    msrv, native, npm, package, page, perfetto, release, rust_tests, silent, sql, steps, targets, toolchain,
    tools, words,
};

type Run = fn() -> Result<Tally, Failure>;

const fn step(name: &'static str, load: Load, needs: &'static [&'static str], run: Run) -> Step {
    Step { name, run, needs, load }
}

/// The steps of `cargo xtask test`.
pub(crate) const TEST: [Step; 19] = [
    step("packages", Load::Waits, &[], packages),
    step("npm", Load::Waits, &[], npm::install_all),
    step("imports", Load::Shares, &[], imports::check),
    step("locks", Load::Shares, &[], steps::locks),
    step("format", Load::Shares, &[], steps::format),
    step("words", Load::Shares, &[], words::check),
    step("tools", Load::Shares, &["packages"], wasm_tools),
    step("package", Load::Shares, &["tools", "npm"], package::step),
    step("page", Load::Shares, &["package", "npm"], page::run_all),
    step("build", Load::Debug, &[], rust_tests::build),
    step("lints", Load::Debug, &[], steps::lints),
    step("library", Load::Debug, &[], steps::library),
    step("docs", Load::Debug, &[], steps::docs),
    step("doc-tests", Load::Debug, &["build"], rust_tests::doc_tests),
    step("no-std", Load::Shares, &["tools"], toolchain::check_no_std),
    step("silent", Load::Shares, &[], silent::check),
    step("tests", Load::Alone, &["build"], tests_and_examples),
    step("test-package", Load::Alone, &["package", "packages", "build"], package::test),
    step("test-page", Load::Alone, &["page", "packages", "build"], page::test),
];

/// The steps of `cargo xtask test slow`: checks that take longer.
pub(crate) const SLOW: [Step; 30] = [
    step("readme", Load::Shares, &[], native::first_command),
    step("book", Load::Shares, &[], book::build),
    step("cupti", Load::Debug, &[], cupti::test),
    step("perfetto", Load::Debug, &[], perfetto::test),
    step("features", Load::Debug, &[], features::check),
    step("sql", Load::Debug, &[], sql::test),
    step("sql-lints", Load::Debug, &[], sql::lints),
    step("engines", Load::Shares, &[], sql::engines),
    step("api", Load::Shares, &[], api::check),
    step("cost", Load::Shares, &[], cost::check),
    step("msrv", Load::Shares, &[], msrv::check),
    step("targets", Load::Shares, &[], targets::check),
    step("systems", Load::Shares, &[], targets::systems),
    step("cudarc", Load::Shares, &[], cudarc::check),
    step("candle", Load::Shares, &[], examples::candle),
    step("opentelemetry", Load::Shares, &[], examples::opentelemetry),
    step("wgpu", Load::Shares, &[], examples::wgpu),
    step("sanitizer", Load::Shares, &[], steps::sanitizer),
    step("fuzz", Load::Shares, &[], fuzz::regress),
    step("fuzz-fresh", Load::Shares, &[], fuzz::explore),
    step("properties-fresh", Load::Shares, &[], rust_tests::fresh),
    step("programs", Load::Shares, &[], rust_tests::programs),
    step("gpu", Load::Shares, &[], steps::gpu),
    step("release", Load::Shares, &[], release::rehearse),
    step("test-page-file", Load::Alone, &[], page::test_from_a_file),
    step("test-page-firefox", Load::Alone, &[], page::test_in_firefox),
    step("speed", Load::Alone, &[], page::test_speed),
    step("dimensions", Load::Alone, &[], dimensions::check),
    step("mutants", Load::Alone, &[], dimensions::mutants),
    step("dependencies", Load::Shares, &[], dependencies::check),
];

/// Returns the step of this name.
pub(crate) fn find(name: &str) -> Option<&'static Step> {
    TEST.iter().chain(&SLOW).find(|step| step.name == name)
}

/// Installs missing browsers and toolchains from Debian's packages.
fn packages() -> Result<Tally, Failure> {
    toolchain::install_if_missing()?;
    browser::install_if_missing()?;
    Ok(Tally::PASSED)
}

/// Builds the tools for WebAssembly.
fn wasm_tools() -> Result<Tally, Failure> {
    // Builds the standard library for WebAssembly if rustup cannot add the target.
    toolchain::wasm(&[])?;
    tools::bindgen()?;
    Ok(Tally::PASSED)
}

/// Runs the Rust tests, then the examples.
fn tests_and_examples() -> Result<Tally, Failure> {
    let mut sum = rust_tests::test()?;
    sum.add(examples::run_all()?);
    Ok(sum)
}
