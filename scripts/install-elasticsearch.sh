#!/usr/bin/env bash
# Installs the Elasticsearch of the tests: a real server. Does nothing if ELASTICSEARCH names the program of one, or an
# earlier run of this script installed one. Otherwise it unpacks the server that Elastic publishes to Maven's central
# repository for integration tests into a folder of the user: the same jars with few modules. It does not have the
# `ngram` tokenizer, which a plugin of a few lines restores (scripts/elasticsearch-ngram). It also lacks the following,
# so we do not use them: painless, wildcard fields, ingest, reindex, `GET /`. Needs mvn, unzip and a JDK of 21 or newer;
# without them one line says so, and the tests of Elasticsearch are skipped (or fail, with CI=true). usage:
# install-elasticsearch.sh [PREFIX] default: ~/.cache/satscribe/elasticsearch, of root
# /var/cache/satscribe/elasticsearch (it runs as an ordinary account, which cannot read root's own folder); the program
# is PREFIX/home/bin/elasticsearch
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
version=9.5.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}
[[ $(id -u) == 0 ]] && cache=/var/cache
prefix=${1:-$cache/satscribe/elasticsearch}

[[ -n ${ELASTICSEARCH:-} && -x $ELASTICSEARCH ]] && exit 0
[[ -x $prefix/home/bin/elasticsearch && $(cat "$prefix/version" 2>/dev/null) == "$version" ]] && exit 0

skip() { echo "Elasticsearch is missing, and $1: its tests are skipped"; exit 0; }

find_jdk() {
  local candidate major
  for candidate in "${ES_JAVA_HOME:-}" "${JAVA_HOME:-}" /usr/lib/jvm/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
    [[ -n $candidate && -x $candidate/bin/javac && -x $candidate/bin/jar ]] || continue
    major=$("$candidate/bin/javac" -version 2>&1 | sed -E 's/^javac ([0-9]+).*/\1/')
    [[ $major =~ ^[0-9]+$ && $major -ge 21 ]] && { echo "$candidate"; return; }
  done
  return 1
}

jdk=$(find_jdk) || skip 'there is no JDK of 21 or newer (set JAVA_HOME)'
for program in mvn unzip; do
  command -v "$program" >/dev/null 2>&1 || skip "there is no $program"
done
echo "Elasticsearch is missing: unpacking $version under $prefix (some seconds)"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

download() {
  local artifact=org.elasticsearch.distribution.integ-test-zip:elasticsearch:$version:zip
  mvn -q -B dependency:get "-Dartifact=$artifact" -Dtransitive=false &&
    mvn -q -B dependency:copy "-Dartifact=$artifact" "-DoutputDirectory=$build" &&
    unzip -q "$build/elasticsearch-$version.zip" -d "$build"
}

add_ngram() {
  local plugin=$build/elasticsearch-$version/plugins/ngram
  mkdir -p "$build/classes" "$plugin" &&
    "$jdk/bin/javac" --release 21 -cp "$build/elasticsearch-$version/lib/*" -d "$build/classes" scripts/elasticsearch-ngram/NgramPlugin.java &&
    "$jdk/bin/jar" cf "$plugin/ngram.jar" -C "$build/classes" . &&
    cat >"$plugin/plugin-descriptor.properties" <<PROPERTIES
name=ngram
description=The tokenizer ngram
version=1
classname=NgramPlugin
java.version=21
elasticsearch.version=$version
PROPERTIES
}

place() {
  rm -rf "$prefix" && mkdir -p "$prefix" && mv "$build/elasticsearch-$version" "$prefix/home" &&
    echo "$jdk" >"$prefix/jdk" && echo "$version" >"$prefix/version"
}

if ! { download && add_ngram && place; } >"$build/log" 2>&1; then
  tail -3 "$build/log"
  skip 'it could not be downloaded from the repository of Maven'
fi
exit 0
