#!/usr/bin/env bash
# The node that the tests run: a real bitcoind with bitcoin-cli. Nothing is done where BITCOIND names one, one is on the
# path, or an earlier run of this script left one. Else, on a Debian machine, Debian's package of Bitcoin Knots (Bitcoin
# Core's RPC, REST and ZMQ, /rest/spenttxouts too) is unpacked under a folder of the user, together with the libraries it
# was linked to; the system itself is not changed. Anywhere else one line says what to do, and the tests of the node are
# skipped (or fail, with CI=true).
#
# usage: install-bitcoind.sh [PREFIX]     default: ~/.cache/satscribe/bitcoind; the programs are PREFIX/bin/*
set -uo pipefail
prefix=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/satscribe/bitcoind}

for program in "${BITCOIND:-}" bitcoind "$prefix/bin/bitcoind"; do
  [[ -n $program ]] && command -v "$program" >/dev/null 2>&1 && exit 0
done
if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-deb >/dev/null 2>&1; then
  echo 'bitcoind is missing: install it, or set BITCOIND to one, for the tests of the node'
  exit 0
fi
echo "bitcoind is missing: unpacking one under $prefix"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# Downloads Debian unstable's bitcoin-knots and everything below it, as if nothing were installed here: its C library is
# newer than that of a stable release.
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

# A wrapper for each program: it runs under the loader that was unpacked with it.
unpack() {
  local package loader
  for package in "$build"/archives/*.deb; do dpkg-deb --extract "$package" "$build/root" || return; done
  loader=$(cd "$build/root" && find usr/lib -name 'ld-linux-*.so.*' | head -1)
  [[ -n $loader && -x $build/root/usr/bin/bitcoind ]] || return
  rm -rf "$prefix" && mkdir -p "$prefix/bin" && mv "$build/root" "$prefix/root" || return
  local program
  for program in bitcoind bitcoin-cli; do
    cat >"$prefix/bin/$program" <<WRAPPER || return
#!/bin/sh
exec '$prefix/root/$loader' --library-path '$prefix/root/$(dirname "$loader")' '$prefix/root/usr/bin/$program' "\$@"
WRAPPER
    chmod 755 "$prefix/bin/$program" || return
  done
  "$prefix/bin/bitcoind" --version | head -1
}

if ! { download && unpack; } >"$build/log" 2>&1; then
  tail -3 "$build/log"
  echo 'bitcoind could not be unpacked: the tests of the node are skipped'
fi
exit 0
