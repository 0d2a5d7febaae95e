#!/usr/bin/env bash
# Builds Bitcoin Core for tests, without a wallet, from the tree that the crate libbitcoinkernel-sys carries, and puts it at
# PREFIX/bin/bitcoind: 15 to 20 minutes on two cores, 1 GB of disk meanwhile. Linux. Needs cargo, a C++ compiler, cmake, Boost,
# libevent and ZeroMQ; on a Debian machine, as root or with sudo, it installs all of these except cargo.
#
# usage: build-bitcoin-core.sh PREFIX
set -euo pipefail
prefix=${1:?usage: build-bitcoin-core.sh PREFIX}
crate=libbitcoinkernel-sys version=0.2.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { echo "==> $1"; } # read by build-progress.sh
as_root() { if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo -n "$@"; fi; }

command -v cargo >/dev/null 2>&1 || { echo 'there is no cargo'; exit 1; }
packages=(build-essential cmake pkg-config libboost-dev libevent-dev libzmq3-dev)
if command -v apt-get >/dev/null 2>&1 && ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
  step 'installing the compiler and libraries'
  export DEBIAN_FRONTEND=noninteractive
  as_root apt-get -qq update
  as_root apt-get -qq install -y --no-install-recommends "${packages[@]}"
fi

# cargo checks the hash of its downloads
step 'fetching the source'
mkdir -p "$work/fetch/src"
: >"$work/fetch/src/lib.rs"
cat >"$work/fetch/Cargo.toml" <<CARGO
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[dependencies]
$crate = "=$version"
CARGO
(cd "$work/fetch" && cargo fetch -q)
source_tree=$(ls -d "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$crate-$version"/bitcoin | head -1)

# the crate omits src/ipc; init.cpp needs this one declaration of it
mkdir -p "$work/include/ipc"
cat >"$work/include/ipc/exception.h" <<'HEADER'
#pragma once
#include <stdexcept>
namespace ipc {
class Exception : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};
}
HEADER
export CPATH=$work/include
step 'configuring'
# -O1 compiles in half the time of -O2, and makes no difference to tests
cmake -S "$source_tree" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 \
  -DCMAKE_BUILD_RPATH='$ORIGIN/../lib' -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags \
  -DBUILD_TESTS=OFF -DBUILD_GUI=OFF -DENABLE_WALLET=OFF -DENABLE_IPC=OFF -DWITH_ZMQ=ON -DBUILD_CLI=OFF -DBUILD_TX=OFF \
  -DBUILD_UTIL=OFF -DBUILD_BITCOIN_BIN=OFF -DINSTALL_MAN=OFF -DBUILD_BENCH=OFF -DWITH_CCACHE=OFF -DBUILD_SHARED_LIBS=OFF \
  -DBUILD_KERNEL_LIB=OFF
step 'compiling'
cmake --build "$work/build" -j"$(nproc)" --target bitcoind
strip "$work/build/bin/bitcoind"

# Its libraries are copied too, except those of C and C++: the folder can be moved to a machine without them.
mkdir -p "$prefix/bin" "$prefix/lib"
ldd "$work/build/bin/bitcoind" | awk '$2 == "=>" && $3 ~ "^/" { print $3 }' |
  { grep -Ev '/(libc|libm|libstdc\+\+|libgcc_s|libpthread|libresolv|libdl|librt)\.so' || true; } |
  while read -r library; do cp -L "$library" "$prefix/lib/"; done
# in one step: an interrupted build leaves nothing
cp "$work/build/bin/bitcoind" "$prefix/bin/.bitcoind"
mv -f "$prefix/bin/.bitcoind" "$prefix/bin/bitcoind"
"$prefix/bin/bitcoind" --version | head -1
