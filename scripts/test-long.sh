#!/usr/bin/env bash
# The tests of random cases with ten times as many of them as `npm test` has time for, and whole lists where it takes samples.
#   npm run test:long                 all of them
#   npm run test:long -- FILE...      some
# TEST_RUNS says how many times as many. A property of which each case takes seconds ends after 150 s at the latest. Some
# have a number of their own from TEST_RUNS=10 on: 5,000 chains of runes, 2,000 of sats.
set -euo pipefail
cd "$(dirname "$0")/.."
export TEST_RUNS=${TEST_RUNS:-10}
if [[ $# -eq 0 ]]; then
  # files that ask how much they may try, and the suites of the search engines
  while IFS= read -r file; do
    set -- "$@" "$file"
  done < <(grep -rlE --include='*.test.ts' 'support/(property-runs|search/search-engine-conformance)\.ts' test/unit test/integration test/proofs | sort)
fi
exec bash scripts/test.sh "$@"
