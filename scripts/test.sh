#!/usr/bin/env bash
# Runs every test that this machine can run. Installs missing programs first, where it can; the suite reports each
# other one in one line, which is a failure with CI=true.
set -uo pipefail
cd "$(dirname "$0")/.."
bash scripts/install-chromium.sh
bash scripts/install-bitcoind.sh
bash scripts/install-knots.sh
bash scripts/install-elasticsearch.sh
bash scripts/install-pgbouncer.sh
report=$(mktemp)
trap 'rm -f "$report"' EXIT

if [[ ${1:-} == --changed ]]; then
  files=$(node scripts/changed-tests/main.ts "${@:2}") || exit
  if [[ -z $files ]]; then
    echo 'no test is touched'
    exit 0
  fi
  # no path has a blank
  # shellcheck disable=SC2086
  set -- '--tags-filter=!proof' $files
fi
# tests that take minutes have a command of their own (npm run test:proofs)
[[ $# -gt 0 ]] || set -- --project=unit --project=integration --project=e2e '--tags-filter=!proof'
# why: vitest.config.ts. The threads of its unit tests have the flags of the process
flags=()
[[ $(uname -sm) == 'Linux x86_64' ]] && flags=(--no-memory-protection-keys)
node ${flags[@]+"${flags[@]}"} node_modules/vitest/vitest.mjs run --reporter=default --reporter=json \
  --outputFile.json="$report" "$@"
status=$?
node -e '
  const r = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
  for (const file of r.testResults)
    for (const { status, fullName, failureMessages: [first] } of file.assertionResults)
      if (status === "passed" && first !== undefined) console.log(`passed at its second try only: ${file.name} > ${fullName}\n  ${first}`);
  const crashed = process.argv[2] !== "0" && r.numFailedTests === 0 ? 1 : 0;
  console.log(`tests: ${r.numPassedTests} passed, ${r.numFailedTests + crashed} failed, ${r.numPendingTests + r.numTodoTests} skipped`);
' "$report" "$status" || true
exit "$status"
