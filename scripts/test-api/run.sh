#!/usr/bin/env bash
# Sends requests made by Schemathesis, valid and invalid, to every path of a running demo's OpenAPI document, and
# checks the answers against it. Half of the generated values are replaced by ids, hashes and addresses of the demo
# (real_values.py). Ends with counts by status.
#   npm run test:api -- [--cases N] [--seed N] [--minutes N]
#     --cases    requests over all paths, at least (API_CASES; default 10000)
#     --seed     the same seed makes the same requests (API_SEED; default 1)
#     --minutes  the run is stopped, and fails, after this time (API_MINUTES; default 60)
set -euo pipefail
cd "$(dirname "$0")/../.."
cases=${API_CASES:-10000} seed=${API_SEED:-1} minutes=${API_MINUTES:-60}
while (($# > 0)); do
  [[ ${2:-} =~ ^[0-9]+$ ]] || { echo "test:api: $1 needs a number" >&2; exit 2; }
  case $1 in
    --cases) cases=$2 ;;
    --seed) seed=$2 ;;
    --minutes) minutes=$2 ;;
    *) echo "test:api: unknown option $1 (--cases, --seed, --minutes)" >&2; exit 2 ;;
  esac
  shift 2
done
here=$PWD/scripts/test-api
version=4.32.5
tools=${XDG_CACHE_HOME:-$HOME/.cache}/satscribe/schemathesis

if [[ $("$tools/bin/schemathesis" --version 2>/dev/null) != *"$version"* ]]; then
  python3 -c 'import ensurepip, venv' 2>/dev/null ||
    { echo 'test:api needs python3 with pip and venv (Debian: apt-get install python3-venv)' >&2; exit 1; }
  echo "schemathesis $version is missing: installing it to $tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
fi

folder=$(mktemp -d)
# as root the database runs as another user, which must be able to reach the folder
chmod 755 "$folder"
server=
end() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM

port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
origin=http://127.0.0.1:$port
# not `npm run demo`: npm does not forward signals. The regtest sample has every kind of object that paths name
echo '{"bitcoin": {"usd": 91234.5}}' >"$folder/rates.json"
FX_RATES_FILE="$folder/rates.json" node src/main.ts demo --sample regtest --host 127.0.0.1 --port "$port" --data "$folder/data" >"$folder/log" 2>&1 &
server=$!
for ((second = 0; ; second++)); do
  node -e 'fetch(process.argv[1]).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))' \
    "$origin/health/ready" && break
  if ! kill -0 "$server" 2>/dev/null || ((second >= 180)); then
    echo 'the demo is not ready:' >&2
    tail -20 "$folder/log" >&2
    exit 1
  fi
  sleep 1
done

# operations without parameters get one request each
varied=$(node -e '
  const { paths } = JSON.parse(require("fs").readFileSync("docs/openapi.json", "utf8"));
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  console.log(operations.filter(({ parameters, requestBody }) => parameters !== undefined || requestBody !== undefined).length);')
# without a node there is no mempool, without a wallet there are no orders and no reserves, and rates may be too old:
# these paths say so
# The tool reads answers for values to send, and cuts them at 1 MiB: it ends where a cut one is YAML, as ours of the API is
cat >"$folder/schemathesis.toml" <<'TOML'
[output.truncation]
max-recorded-payload-size = 0

[[operations]]
include-path-regex = "^/(mempool/|tokenpay/reserves|fxrate$|inscribe$|order$|textorder$|runes/etch$|runes/mint$|address/[^/]+/runes$)"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]
TOML
each=$(((cases + varied - 1) / varied))
echo "$cases cases: $each for each of $varied operations with parameters, seed $seed"
status=0
# A path that is nothing but a stream that stays open is left out: each request would take until the timeout, which cuts
# the streams that clients choose by their headers. Answers come long before it. The tool stores its findings in the
# current folder
(
  cd "$folder"
  TEST_API_ORIGIN=$origin TEST_API_COUNTS=$folder/counts SCHEMATHESIS_HOOKS=$here/real_values.py \
    timeout --signal=INT --kill-after=60 "${minutes}m" "$tools/bin/schemathesis" --no-color run "$origin/openapi.json" \
    --exclude-path /marketplace/data/sales/stream \
    --phases examples,fuzzing --max-examples "$each" --seed "$seed" --generation-database none \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
    --continue-on-failure --no-shrink --request-timeout 20 --suppress-health-check all --warnings off
) || status=$?
if [[ -f $folder/counts ]]; then node "$here/summary.ts" "$folder/counts" "$cases" || status=1; fi
((status != 124)) || echo "stopped: $minutes minutes are over" >&2
kill -0 "$server" 2>/dev/null || { echo 'the demo ended meanwhile' >&2; status=1; }
if [[ -s $folder/log ]] && ((status != 0)); then
  echo 'the last lines of the log:' >&2
  tail -20 "$folder/log" >&2
fi
exit "$status"
