import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { type HashKey, hashKey } from '#indexer/mempool/stream/membership.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import type { BlockRef, BlockSource } from '#kernel/contracts/block-source.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import { BlockPayments } from '#payments/follow/block-payments.ts';
import { PaymentChain } from '#payments/follow/payment-chain.ts';
import { MempoolOutputs } from '#payments/memory/mempool-outputs.ts';
import { ScriptSet } from '#payments/memory/script-set.ts';
import { TransactionScan } from '#payments/memory/transaction-scan.ts';
import { UnconfirmedPayments } from '#payments/memory/unconfirmed-payments.ts';
import { jumpOffset } from '#payments/store/offset.store.ts';
import { pickUpWatches, watchScripts } from '#payments/store/watches.store.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { readBlockFiles } from '../block-files.ts';
import { numberOption } from '../options.ts';
import type { Report } from '../report.ts';
import { median, percentile } from '../statistics.ts';

const megabyte = 1_000_000;
// lets the bench collect garbage before it measures memory
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const scriptBytes = 34;
const watchesAtOnce = 10_000;
/** Number of payments that wait for a block, and the number of inputs that each has in a usual wallet. */
const unconfirmedCount = 1000;
const inputsEach = 3;
/** Number of transactions in a full mempool. */
const mempoolTransactions = 200_000;
const outputsEach = 3;

interface Memory {
  readonly scripts: ScriptSet;
  readonly unconfirmed: UnconfirmedPayments;
  readonly watchedMB: number;
  readonly mempoolMB: number;
}

/** Measures the memory of watched scripts, and the cost that they add to a block. */
export async function paymentsBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      blocks: { type: 'string', default: 'samples/mainnet' },
      scripts: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '9' },
      seed: { type: 'string', default: '1' },
    },
  });
  const count = numberOption('scripts', values.scripts, 1);
  const rounds = numberOption('rounds', values.rounds, 1);
  const random = seededRandom(values.seed);
  const all = scriptsOf(random, count);
  const blocks = readBlockFiles(values.blocks).map(({ bytes }) => bytes);
  const memory = fill(random, all);
  const scanned = scanTimes(memory, blocks, rounds);
  const applied = await applyTimes(memory, all, blocks);
  const megabytes = blocks.reduce((sum, { length }) => sum + length, 0) / megabyte;
  return {
    bench: 'payments',
    notes: [
      `${count} watched scripts, ${unconfirmedCount} payments that wait for a block, none in these blocks`,
      `${blocks.length} blocks of ${(megabytes / blocks.length).toFixed(2)} MB, ${rounds} rounds, warm`,
      'scan: processor time that keeps the main thread busy; apply: with its transaction in an embedded Postgres',
    ],
    figures: [
      { name: 'watched_mb', value: memory.watchedMB, unit: 'MB', target: { most: 30 } },
      { name: 'scan_ms', value: median(scanned), unit: 'ms a block', target: { most: 5 } },
      { name: 'scan_p99_ms', value: percentile(scanned, 0.99), unit: 'ms a block' },
      { name: 'apply_ms', value: median(applied), unit: 'ms a block' },
    ],
    details: [
      {
        name: `outputs of ${mempoolTransactions} transactions of the mempool`,
        value: memory.mempoolMB,
        unit: 'MB',
      },
    ],
  };
}

function bytesOf(random: Random, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  random.fill(bytes, 0, length);
  return bytes;
}

/** Makes scripts of Taproot outputs, like those of orders. */
function scriptsOf(random: Random, count: number): Buffer[] {
  return Array.from({ length: count }, () =>
    Buffer.concat([Buffer.of(0x51, 0x20), bytesOf(random, scriptBytes - 2)]),
  );
}

function inUse(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function fill(random: Random, all: readonly Buffer[]): Memory {
  const before = inUse();
  const scripts = new ScriptSet();
  for (const script of all) scripts.add(script);
  const unconfirmed = new UnconfirmedPayments();
  for (let index = 0; index < unconfirmedCount; index++) {
    const txid = hashKey(bytesOf(random, 32));
    const spends = [{ spender: txid, outpoints: bytesOf(random, inputsEach * 36) }];
    unconfirmed.add({ txid, spends, isGone: false });
  }
  const watchedMB = (inUse() - before) / megabyte;
  const txids: HashKey[] = Array.from({ length: mempoolTransactions }, () => hashKey(bytesOf(random, 32)));
  const beforeOutputs = inUse();
  const outputs = new MempoolOutputs();
  for (const txid of txids) {
    outputs.add(
      txid,
      Array.from({ length: outputsEach }, () => random.u32()),
    );
  }
  const mempoolMB = (inUse() - beforeOutputs) / megabyte;
  if (outputs.find(new Set([0])).length > txids.length) throw new RangeError('more than there are');
  return { scripts, unconfirmed, watchedMB, mempoolMB };
}

function scanTimes(
  { scripts, unconfirmed }: Memory,
  blocks: readonly Uint8Array[],
  rounds: number,
): number[] {
  const scan = new TransactionScan(scripts, unconfirmed);
  const times: number[] = [];
  // the first rounds do not count, because the code is not compiled yet; a service has compiled it after some blocks
  for (let round = -3; round < rounds; round++) {
    for (const block of blocks) {
      const before = process.cpuUsage();
      const found = scan.block(block);
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) times.push((user + system) / 1000);
      if (!Array.isArray(found) || found.length > 0)
        throw new Error('a random script is paid in a real block');
    }
  }
  return times;
}

/** A source of blocks in memory. Only their heights link them. */
function memorySource(blocks: readonly Uint8Array[]): BlockSource {
  const refs = blocks.map(
    (bytes, height): BlockRef => ({
      height: asHeight(height),
      hash: asBlockHash(doubleSha256(bytes.subarray(0, 80))),
    }),
  );
  return {
    name: 'blocks in memory',
    network: 'mainnet',
    trusted: true,
    islands: () =>
      Promise.resolve([{ firstHeight: genesisHeight, lastHeight: asHeight(refs.length - 1), start: {} }]),
    refs: (from = genesisHeight) => Promise.resolve(refs.slice(from)),
    read: (ref) =>
      Promise.resolve({
        ref,
        bytes: Uint8Array.from(blocks[ref.height] as Uint8Array),
        spentOutputs: null,
        spentHeights: null,
      }),
    close: () => Promise.resolve(),
  };
}

async function applyTimes(
  { scripts, unconfirmed }: Memory,
  all: readonly Buffer[],
  blocks: readonly Uint8Array[],
): Promise<number[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'satscribe-payments-bench-'));
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir });
  try {
    await migrate(server.url);
    const client = await connectClient(server.url);
    const source = memorySource(blocks);
    const chain = new PaymentChain(source, null, new AbortController().signal);
    const [first] = await source.refs();
    await withTransaction(client, (tx) => jumpOffset(tx, [first as BlockRef], scripts.size));
    for (let from = 0; from < all.length; from += watchesAtOnce) {
      const some = all
        .slice(from, from + watchesAtOnce)
        .map((script) => ({ script, sinceHeight: asHeight(1) }));
      await watchScripts(client, `order ${from}`, some);
      await pickUpWatches(client, genesisHeight);
    }
    const payments = new BlockPayments({ client, chain, scripts: () => scripts, unconfirmed });
    await payments.load();
    const start = performance.now();
    await payments.follow();
    const times = [(performance.now() - start) / (blocks.length - 1)];
    await client.end();
    return times;
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
