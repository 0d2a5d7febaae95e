#!/usr/bin/env bash
# The browser that the page's tests drive, and its shell without windows, which takes half of the time. As root on a
# Debian machine they are installed if they are missing; on any other machine one line says what to do, and the tests
# are skipped (or fail, with CI=true). Without the shell the browser is used.
set -uo pipefail
there() { [[ -n $1 ]] && command -v "$1" >/dev/null 2>&1; }
there "${CHROMIUM:-}" && exit 0
packages=()
there chromium || there chromium-browser || there google-chrome || packages+=(chromium)
there chromium-headless-shell || packages+=(chromium-headless-shell)
((${#packages[@]} > 0)) || exit 0
if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null 2>&1; then
  [[ ${packages[0]} == chromium ]] || exit 0
  echo 'chromium is missing: install it, or set CHROMIUM to a browser, for the tests of the page'
  exit 0
fi
echo "installing ${packages[*]} by apt (10 seconds to a minute)"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt-get -qq update >"$log" 2>&1
# one by one: not every system has the shell
for package in "${packages[@]}"; do
  apt-get -qq install -y --no-install-recommends "$package" >"$log" 2>&1 && continue
  tail -3 "$log"
  echo "$package could not be installed: without chromium the tests of the page are skipped"
done
exit 0
