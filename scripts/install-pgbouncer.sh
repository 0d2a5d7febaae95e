#!/usr/bin/env bash
# The pooler that tests put before Postgres. As root on a Debian machine it is installed if it is missing; on any other
# machine one line says what to do, and its tests are skipped (or fail, with CI=true).
set -uo pipefail
for program in "${PGBOUNCER:-}" pgbouncer /usr/sbin/pgbouncer; do
  [[ -n $program ]] && command -v "$program" >/dev/null 2>&1 && exit 0
done
if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null 2>&1; then
  echo 'pgbouncer is missing: install it, or set PGBOUNCER to one, for the tests of poolers'
  exit 0
fi
echo 'pgbouncer is missing: installing it'
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get -qq update && apt-get -qq install -y --no-install-recommends pgbouncer; } >"$log" 2>&1; then
  tail -3 "$log"
  echo 'pgbouncer could not be installed: the tests of poolers are skipped'
fi
exit 0
