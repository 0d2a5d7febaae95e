#!/usr/bin/env bash
# Runs every test that this machine can run. What is missing and can be installed here is installed first;
# what cannot is said in one line each by the suite, and is a failure with CI=true.
set -uo pipefail
cd "$(dirname "$0")/.."
bash scripts/install-chromium.sh
report=$(mktemp)
trap 'rm -f "$report"' EXIT
node node_modules/vitest/vitest.mjs run --reporter=default --reporter=json --outputFile.json="$report" "$@"
status=$?
node -e '
  const r = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
  console.log(`tests: ${r.numPassedTests} passed, ${r.numFailedTests} failed, ${r.numPendingTests + r.numTodoTests} skipped`);
' "$report" || true
exit "$status"
