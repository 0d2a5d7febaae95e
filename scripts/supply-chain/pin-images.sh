#!/usr/bin/env bash
# Pins the images of Dockerfile and docker-compose.yml to the digests that their tags have now: NAME:TAG@sha256:…. Needs
# docker with buildx, and a registry of images that answers. A pinned image gets the digest of today.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
images=$(sed -nE 's/^FROM +([^ ]+).*/\1/p' Dockerfile; sed -nE 's/^ +image: +([^ ]+).*/\1/p' docker-compose.yml)
for image in $(sort -u <<<"$images"); do
  # built here
  [[ $image != satscribe ]] || continue
  tag=${image%@*}
  digest=$(docker buildx imagetools inspect "$tag" --format '{{.Manifest.Digest}}')
  if [[ ! $digest =~ ^sha256:[0-9a-f]{64}$ ]]; then
    printf 'no digest for %s: %s\n' "$tag" "$digest" >&2
    exit 1
  fi
  escaped=$(sed 's/[.[\*^$]/\\&/g' <<<"$image")
  # not sed -i: its form differs between systems
  for file in Dockerfile docker-compose.yml; do
    sed -E "s|^((FROM\|[[:space:]]+image:)[[:space:]]+)${escaped}([[:space:]]\|\$)|\1${tag}@${digest}\3|" "$file" >"$file.new"
    cat "$file.new" >"$file"
    rm "$file.new"
  done
  printf '%s\n' "$tag@$digest"
done
