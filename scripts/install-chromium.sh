#!/usr/bin/env bash
# The browser that the page's tests drive. As root on a Debian machine it is installed where it is missing;
# anywhere else one line says what to do, and the tests are skipped (or fail, with CI=true).
set -uo pipefail
for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
  [[ -n $browser ]] && command -v "$browser" >/dev/null 2>&1 && exit 0
done
if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null 2>&1; then
  echo 'chromium is missing: install it, or set CHROMIUM to a browser, for the tests of the page'
  exit 0
fi
echo 'chromium is missing: installing it by apt (10 seconds to a minute)'
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium; } >"$log" 2>&1; then
  tail -3 "$log"
  echo 'chromium could not be installed: the tests of the page are skipped'
fi
exit 0
