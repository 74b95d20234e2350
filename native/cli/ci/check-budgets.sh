#!/bin/sh
# The step of action.yml: checks budgets, and passes the results to the job. Reads BUDGET, TRACES and BASE, and the variables
# of GitHub: GITHUB_ACTION_PATH, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY, RUNNER_TEMP.
set -u

command -v kinetoscope > /dev/null || cargo install --quiet --locked --path "$GITHUB_ACTION_PATH/native/cli" || exit 2

reports="${RUNNER_TEMP:-.}/kinetoscope"
mkdir -p "$reports"
rm -f "$reports"/budgets.*

# A name that begins with `-` is a file, not an option and not standard input.
file() {
  case $1 in
    -*) printf '%s\n' "./$1" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

# The lists are split at blanks, and patterns in them are expanded.
set -- --report "$reports/budgets.md" --report "$reports/budgets.xml" --report "$reports/budgets.sarif"
for trace in $BASE; do
  set -- "$@" "--base=$(file "$trace")"
done
set -- "$@" -- "$(file "$BUDGET")"
for trace in $TRACES; do
  set -- "$@" "$(file "$trace")"
done
kinetoscope check "$@"
code=$?

case $code in
  0) outcome=pass ;;
  1) outcome=breach ;;
  3) outcome=unfit ;;
  *) outcome=error ;;
esac
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  {
    echo "outcome=$outcome"
    echo "junit=$reports/budgets.xml"
    echo "sarif=$reports/budgets.sarif"
  } >> "$GITHUB_OUTPUT"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$reports/budgets.md" ]; then
  cat "$reports/budgets.md" >> "$GITHUB_STEP_SUMMARY"
fi
exit $code
