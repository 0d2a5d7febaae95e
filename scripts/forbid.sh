#!/usr/bin/env bash
# Refuses things that must not be in the tree: unfinished work, focused or skipped tests, paths of one machine, casts to
# a brand, two decisions with the same number; and the findings of scripts/forbid/check.ts.
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0
search=(git grep)
# an unpacked archive is searched too
git rev-parse --git-dir >/dev/null 2>&1 || search+=(--no-index --exclude-standard)
look() { # why, pattern, paths…
  local why=$1 pattern=$2; shift 2
  local hits
  hits=$("${search[@]}" -nE "$pattern" -- "$@" ':!scripts/forbid.sh' ':!package-lock.json' || true)
  if [[ -n $hits ]]; then printf '%s\n%s\n' "$why" "$hits"; bad=1; fi
}
look 'left for later:' '\b(TODO|FIXME|XXX|HACK)\b' '*.ts' '*.sql' '*.md' '*.sh' '*.css' '*.js'
look 'tests that may not run:' '\b(it|test|describe)\.(only|todo)\b' '*.ts'
look 'paths of one machine:' '(^|[^A-Za-z.])/(work|farm)/|\.\./shared|\.\./\.library' .
look 'functions of PostgreSQL 18 alone (chain.hash32, chain.hash64):' '\bhashbytea' '*.ts'
look 'types silenced:' '@ts-(ignore|expect-error)|\bas any[];,).]' '*.ts'
look 'brands are given by the functions of src/kernel/primitives, src/kernel/runes and src/kernel/sats:' '\bas (Height|InscriptionKey|Sats?|(Txid|BlockHash)(Hex)?|Rune|U128|Brand<)\b' '*.ts' ':!src/kernel/primitives' ':!src/kernel/runes' ':!src/kernel/sats'
look 'test() is the one way to write a test:' '^\s*it(\.\w+)*\(' 'test/*.ts'
for file in docs/adr/[0-9]*.md; do
  number=$(basename "$file" | cut -d- -f1)
  others=(docs/adr/"$number"-*.md)
  if [[ ${#others[@]} -ne 1 || $(head -n 1 "$file") != "# $((10#$number)). "* ]]; then
    printf 'the number of a decision, which is in its name and its heading, and is its alone:\n%s\n' "$file"; bad=1
  fi
done
node scripts/forbid/check.ts || bad=1
exit "$bad"
