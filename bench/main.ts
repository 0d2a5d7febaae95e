import { OptionError } from './options.ts';
import { jsonLine, machine, type Report, reportLines } from './report.ts';

const usage = `npm run bench -- BENCH [options] [--json]

  parse   megabytes of blocks a second, from bytes to encoded columns, beside four references
            --blocks DIR     block folder, or any folder of HEIGHT-HASH.bin files (default samples/mainnet)
            --rounds N       measurements of each variant, taken in turns (default 9)
  index   from bytes on disk to searchable rows: real blocks and a generated chain, each in a process of its own
            --blocks DIR     real blocks that are repeated (default samples/mainnet)
            --megabytes N    least size of the repeated blocks (default 1000)
            --docs N         inscriptions of the generated chain (default 1000000)
            --moves SHARE    transfers beside the reveals of the generated chain (default 0)
            --rounds N       runs of the real blocks (default 5) and of the generated chain (default 5)
            --only real|generated
  snapshots  a first sync of both chains of 'index', beside a copy of its tables into a new database, checked by the events
            --blocks DIR     real blocks that are repeated (default samples/mainnet)
            --megabytes N    least size of the repeated blocks (default 200)
            --docs N         inscriptions of the generated chain (default 200000)
            --rounds N       first syncs and copies, in turns, of which the medians count (default 3)
            --only real|generated
  search  an engine's index is made and searched, on a generated chain (indexed first where it is not there)
            --engine postgres|elasticsearch   (default postgres; the other: scripts/install-elasticsearch.sh)
            --docs N         inscriptions of the generated chain (default 1000000)
  follow  beside a real node (bitcoind: scripts/install-bitcoind.sh), all of it generated
            --only PART      notice, sync, critical, transfers or restart; may be given several times (default all);
                             critical is the writer alone, on blocks that were parsed in memory before: Linux
            --ord PATH       measure the first sync of this ord as well
            --megabytes N    least size of the chain that is synced, and kept in memory for critical (default 600)
            --blocks N       blocks from whose notice on it is measured (default 20)
            --tracked N      outputs that hold inscriptions (default 10000000)
            --rounds N       first syncs, and runs of critical, of which the median counts (default 3)

  mempool a first snapshot of a generated mempool: how long, how much memory, and searches of what is pending
            --transactions N (default 200000)
  payments  memory of watched scripts, and what a block costs more because of them
            --scripts N      (default 100000)
            --blocks DIR     real blocks (default samples/mainnet)
            --rounds N       measurements of each block (default 9)

  watches   what saved searches cost a block, and how long after a reveal in the mempool its webhook arrives (bitcoind)
            --only PART      block or webhooks (default both)
            --searches N     (default 10000)
            --reveals N      reveals of the block (default 5000)
            --told N         reveals whose webhooks are waited for (default 100)
            --rounds N       measurements of the block (default 9)

  bodies    how late the event loop gets while orders with large files are posted, one alone and three together
            --megabytes N    size of an order as JSON (default 67)
            --files N        files of an order (default 50)
            --rounds N       (default 9)

  runes     what an index of runes costs a first sync, on chains with 5 % and 60 % of transactions with runestones; how long
            answers take; and how much later a block is readable with runes than without
            --only NAME      sync (with answers) or notice (default both)
            --blocks N       blocks of each chain (default 150)
            --tracked N      outputs with runes in memory (default 10000000)
            --rounds N       runs with and without, of which the medians count (default 3)
            --balances N     generated balances that answers are read from, and a tenth as many runes (default 1000000)

  sats      a first sync with an index of sats, from a real node, beside ord's in turns; sats on demand without it
            --only NAME      sync or on-demand (default both)
            --ord PATH       an ord to measure as well, with --index-sats
            --megabytes N    least size of the chain that is synced (default 300)
            --rounds N       first syncs of each, of which the medians count (default 3)
            --depth N        transactions between an output and the subsidies, on demand (default 1000)

  sales     whether sales are found among labelled moves, and how long pages of a collection's sales take
            --transactions N labelled transactions (default 20000)
            --sales N        generated sales of one collection (default 1000000)
            --blocks N       blocks of the chain that is synced with and without sales (default 150)
            --rounds N       runs with and without, of which the medians count (default 3)

  orders    what customers of orders wait for, from a real node: a price, an address, a payment seen, a webhook, a broadcast;
            and a payout of 1,000 shares to partners
            --orders N       orders of one file (default 100)
            --paid N         orders of 20 files that are paid (default 20)
            --open N         open orders beside which all of it is measured again (default 10000)
            --creations N    orders that 16 clients make at once (default 1500)
            --only NAME      customers, inputs, payout or large (default all)

  collections  orders of items of a collection beside managed orders, allocations of listed addresses, and a collection of
            many files from its upload to the list of delivered items; from a real node
            --only PART      orders, allocations or upload (default all)
            --orders N       orders of each kind (default 1500)
            --items N        items of the collection that is sold (default 20000)
            --listed N       addresses of the list (default 100000)
            --files N        files of the collection that is uploaded (default 10000)
            --delivered N    items of the long list (default 100000)

  tokenpay  what shops wait for that are paid in runes, beside many open orders: creations, balances, webhooks, blocks
            --only PART      orders, balances, webhooks or block (default all)
            --open N         open orders (default 10000)
            --accounts N     accounts of shops (default 1000)
            --reads N        reads of balances (default 10000)
            --paid N         payments whose webhooks are waited for (default 100)
            --block N        payments of one block (default 1000)

  withdrawals  from a reservation to its broadcast, alone and beside many open orders, and a batch of many withdrawals
            --only PART      arrivals, batch or history (default all)
            --history N      spent coins beside which statements of a batch are measured (default 100000)
            --open N         open orders (default 10000)
            --accounts N     accounts of shops (default 1000)
            --seconds N      for which two withdrawals arrive each second (default 60)
            --batch N        withdrawals of the batch (default 500)

  etchings  what a block costs while etchings wait for the depth of their commits, and when their reveals are broadcast
            --waiting N      etchings that wait (default 1000)

  psbts     PSBTs for an address with many outputs, from the index of addresses and from scans of the node
            --outputs N      outputs of the address (default 5000)
            --builds N       PSBTs of each kind (default 200)

  ledger    what the ledger costs beside many orders of an earlier version: their migration, a posting, an audit
            --orders N       orders of one file (default 100000)
            --until filled   stops before the migration, and keeps the server for other measurements

  backups   time and memory of a backup of many orders, and of its restore
            --orders N       orders of one file (default 100000)

  api       look-ups by id over HTTP by 64 connections, from answers that are kept for a tip and without them
            --docs N         inscriptions of the generated chain (default 1000000)

  --json    the last line is one JSON object {"bench", "machine", "results": {name: number}};
            of follow with all "stages" of a first sync
  --seed S  of all generators (default 1)
Generated chains and databases are kept under bench/data.`;

const benches: Readonly<Record<string, (args: string[]) => Promise<Report>>> = {
  parse: async (args) => (await import('./parse/parse-bench.ts')).parseBench(args),
  index: async (args) => (await import('./index/index-bench.ts')).indexBench(args),
  snapshots: async (args) => (await import('./snapshots/snapshots-bench.ts')).snapshotsBench(args),
  follow: async (args) => (await import('./follow/follow-bench.ts')).followBench(args),
  mempool: async (args) => (await import('./mempool/mempool-bench.ts')).mempoolBench(args),
  payments: async (args) => (await import('./payments/payments-bench.ts')).paymentsBench(args),
  watches: async (args) => (await import('./watches/watches-bench.ts')).watchesBench(args),
  bodies: async (args) => (await import('./bodies/bodies-bench.ts')).bodiesBench(args),
  runes: async (args) => (await import('./runes/runes-bench.ts')).runesBench(args),
  orders: async (args) => (await import('./orders/orders-bench.ts')).ordersBench(args),
  collections: async (args) => (await import('./collections/collections-bench.ts')).collectionsBench(args),
  tokenpay: async (args) => (await import('./tokenpay/tokenpay-bench.ts')).tokenpayBench(args),
  withdrawals: async (args) => (await import('./withdrawals/withdrawals-bench.ts')).withdrawalsBench(args),
  etchings: async (args) => (await import('./etchings/etchings-bench.ts')).etchingsBench(args),
  psbts: async (args) => (await import('./psbts/psbts-bench.ts')).psbtsBench(args),
  api: async (args) => (await import('./api/api-bench.ts')).apiBench(args),
  ledger: async (args) => (await import('./ledger/ledger-bench.ts')).ledgerBench(args),
  backups: async (args) => (await import('./backups/backups-bench.ts')).backupsBench(args),
  sats: async (args) => (await import('./sats/sats-bench.ts')).satsBench(args),
  sales: async (args) => (await import('./sales/sales-bench.ts')).salesBench(args),
  search: async (args) => (await import('./search/search-bench.ts')).searchBench(args),
};

const [bench = '', ...rest] = process.argv.slice(2);
const start = benches[bench];
const asked = [bench, ...rest].some((arg) => arg === '--help' || arg === '-h');

function isUsageError(error: unknown): error is Error {
  if (error instanceof OptionError) return true;
  return (
    error instanceof TypeError && (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') === true
  );
}

if (asked || start === undefined) {
  console.log(usage);
  process.exitCode = asked ? 0 : 2;
} else {
  try {
    const report = await start(rest.filter((arg) => arg !== '--json'));
    const on = machine();
    console.log(reportLines(report, on).join('\n'));
    if (rest.includes('--json')) console.log(jsonLine(report, on));
  } catch (error) {
    if (!isUsageError(error)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
  }
}
