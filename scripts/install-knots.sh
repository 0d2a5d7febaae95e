#!/usr/bin/env bash
# Installs Bitcoin Knots, for the tests of its differences from Bitcoin Core: it relays no inscription. Does nothing if
# KNOTS_BITCOIND names one, or an earlier run of this script installed one. Otherwise, on a Debian machine, it unpacks
# Debian's package and the libraries it was linked to into a folder of the user; the system itself is not changed.
# On other machines one line says what to do, and the tests of Knots are skipped (or fail, with CI=true).
#
# usage: install-knots.sh [PREFIX]     default: ~/.cache/satscribe/bitcoin-knots; the program is PREFIX/bin/bitcoind
set -uo pipefail
prefix=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/satscribe/bitcoin-knots}

for program in "${KNOTS_BITCOIND:-}" "$prefix/bin/bitcoind"; do
  [[ -n $program ]] && "$program" --version >/dev/null 2>&1 && exit 0
done
if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-deb >/dev/null 2>&1; then
  echo 'Bitcoin Knots is missing: set KNOTS_BITCOIND to one for its tests'
  exit 0
fi
echo "Bitcoin Knots is missing: unpacking Debian's package under $prefix (some seconds)"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# Downloads Debian unstable's bitcoin-knots and everything that it depends on, as if nothing were installed here: its C
# library is newer than that of a stable release.
download() {
  mkdir -p "$build/lists/partial" "$build/archives/partial" || return
  : >"$build/status"
  local site # the mirror that this machine uses
  site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian/\?$' | grep -v security | head -1)
  [[ -n $site ]] || { echo 'no mirror of Debian among the sources of apt'; return 1; }
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site sid main" >"$build/sources.list"
  local options=(-qq -o "Dir::Etc::SourceList=$build/sources.list" -o 'Dir::Etc::SourceParts=-'
    -o "Dir::State::Lists=$build/lists" -o "Dir::State::Status=$build/status"
    -o "Dir::Cache::Archives=$build/archives" -o "Dir::Cache::PkgCache=" -o "Dir::Cache::SrcPkgCache="
    -o 'Debug::NoLocking=1' -o 'APT::Sandbox::User=' -o 'APT::Install-Recommends=0')
  apt-get "${options[@]}" update && apt-get "${options[@]}" --download-only --yes install bitcoin-knots
}

# A wrapper: the program runs under the loader that was unpacked with it.
unpack() {
  local package loader
  for package in "$build"/archives/*.deb; do dpkg-deb --extract "$package" "$build/root" || return; done
  loader=$(cd "$build/root" && find usr/lib -name 'ld-linux-*.so.*' | head -1)
  [[ -n $loader && -x $build/root/usr/bin/bitcoind ]] || return
  rm -rf "$prefix" && mkdir -p "$prefix/bin" && mv "$build/root" "$prefix/root" || return
  cat >"$prefix/bin/bitcoind" <<WRAPPER || return
#!/bin/sh
exec '$prefix/root/$loader' --library-path '$prefix/root/$(dirname "$loader")' '$prefix/root/usr/bin/bitcoind' "\$@"
WRAPPER
  chmod 755 "$prefix/bin/bitcoind" || return
  "$prefix/bin/bitcoind" --version | head -1
}

if ! { download && unpack; } >"$build/log" 2>&1; then
  tail -3 "$build/log"
  echo 'Bitcoin Knots could not be unpacked: its tests are skipped'
fi
exit 0
