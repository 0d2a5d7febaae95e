#!/usr/bin/env bash
# What `npm test` leaves out, because it takes minutes each: the files of test/proofs and test/chaos, attacks, and the
# tests elsewhere that are tagged `proof`. An hour on two cores.
#   npm run test:proofs                 all of them
#   npm run test:proofs -- FILE...      some
set -uo pipefail
cd "$(dirname "$0")/.."
[[ $# -eq 0 ]] || exec bash scripts/test.sh "$@"
status=0
bash scripts/test.sh --project=proofs --project=attack || status=1
# without the list all files would be loaded
set -- --tags-filter=proof
while IFS= read -r file; do
  set -- "$@" "$file"
done < <(grep -rlE --include='*.test.ts' "'proof'" test/unit test/integration test/e2e | sort)
bash scripts/test.sh "$@" || status=1
exit "$status"
