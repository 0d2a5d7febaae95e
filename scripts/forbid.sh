#!/usr/bin/env bash
# What must not be in the tree: work left for later, tests that run alone or not at all, paths of one machine.
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0
look() { # why, pattern, paths…
  local why=$1 pattern=$2; shift 2
  local hits
  hits=$(git grep -nE "$pattern" -- "$@" ':!scripts/forbid.sh' ':!package-lock.json' || true)
  if [[ -n $hits ]]; then printf '%s\n%s\n' "$why" "$hits"; bad=1; fi
}
look 'left for later:' '\b(TODO|FIXME|XXX|HACK)\b' '*.ts' '*.sql' '*.md' '*.sh' '*.css' '*.js'
look 'tests that may not run:' '\b(it|test|describe)\.(only|todo)\b' '*.ts'
look 'paths of one machine:' '(^|[^A-Za-z.])/(work|farm)/|\.\./shared|\.\./\.library' .
look 'functions of PostgreSQL 18 alone (chain.hash32, chain.hash64):' '\bhashbytea' '*.ts'
look 'types silenced:' '@ts-(ignore|expect-error)|\bas any[];,).]' '*.ts'
exit "$bad"
