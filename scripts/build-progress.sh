#!/usr/bin/env bash
# Shows how far a build is, from its log, until a process ends: on a terminal one line that is rewritten every two seconds,
# elsewhere (CI) a line every 30 seconds. It knows lines "==> step" and the percentages of make and ninja.
#
# usage: build-progress.sh PID LOG [SECONDS]     PID: ends with this process; SECONDS: another interval
set -uo pipefail
pid=${1:?usage: build-progress.sh PID LOG [SECONDS]} log=${2:?usage: build-progress.sh PID LOG [SECONDS]}
[[ -t 1 ]] && is_terminal=1 || is_terminal=0
if [[ $is_terminal == 1 ]]; then every=2; else every=30; fi
every=${3:-$every}
began=$SECONDS
compiling= # when the first percentage was seen
trap '[[ $is_terminal == 1 ]] && printf "\r\033[K"' EXIT
trap 'kill $! 2>/dev/null; exit 0' TERM

minutes() { # of seconds
  if (($1 < 60)); then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi
}

# The last percentage in the log; empty: none.
percentage() {
  grep -oE '^\[( *[0-9]+%|[0-9]+/[0-9]+)\]' "$log" 2>/dev/null | tail -1 |
    tr -d '[] ' | awk -F/ '/%/ { print $1 + 0 } $2 > 0 { print int(100 * $1 / $2) }'
}

while kill -0 "$pid" 2>/dev/null; do
  # in the background, so that a signal ends it at once; it keeps neither the output nor a lock (9) of the caller open
  sleep "$every" >/dev/null 2>&1 9>&- & wait $! || exit 0
  elapsed=$((SECONDS - began))
  percent=$(percentage)
  if [[ -z $percent ]]; then
    line=$(grep '^==> ' "$log" 2>/dev/null | tail -1)
    line="${line#==> }, $(minutes "$elapsed") so far"
  else
    compiling=${compiling:-$elapsed}
    line="compiling: $percent %, $(minutes "$elapsed") so far"
    spent=$((elapsed - compiling))
    ((percent >= 5 && spent >= every)) && line+=", about $(minutes $((spent * (100 - percent) / percent))) left"
  fi
  if [[ $is_terminal == 1 ]]; then printf '\r\033[K%s' "$line"; else echo "$line"; fi
done
