import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import type { HeaderRef, LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { asBlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { BlockBuilder } from '#test/builders/block.ts';
import { SpentWriter } from '#test/builders/block-folder.ts';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { type Output, writeRevealScript } from '#test/builders/transaction.ts';
import { dumpChain, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const first = networks.signet.firstInscriptionHeight;
const databases: TestDatabase[] = [];
afterEach(async () => {
  for (const database of databases.splice(0)) await database.drop();
});

async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  databases.push(database);
  await pinFingerprintKey(database.pool, 'signet');
  return database;
}

interface Block {
  readonly ref: HeaderRef;
  readonly bytes: Uint8Array;
  readonly spent: Uint8Array;
}

const script = Buffer.concat([Buffer.from([0x51, 0x20]), Buffer.alloc(32, 5)]);
const subsidy: Output = { value: 5_000_000_000, script };

/** A block that reveals its branch's name and its height. */
function blockOn(below: Block | null, height: number, branch: string): Block {
  const out = new ByteWriter();
  writeRevealScript(out, Buffer.alloc(32, 1), Buffer.from('text/plain'), Buffer.from(`${branch} ${height}`));
  const builder = new BlockBuilder();
  const txid = Buffer.alloc(32, branch);
  txid.writeUInt32LE(height, 0);
  builder.add({
    inputs: [
      {
        txid,
        vout: 0,
        scriptSig: new Uint8Array(0),
        witness: [Buffer.alloc(64), Uint8Array.from(out.view()), Buffer.alloc(33, 0xc0)],
      },
    ],
    outputs: [subsidy],
  });
  const spent = new SpentWriter();
  spent.add([subsidy]);
  const previous = below?.ref.hash ?? Buffer.alloc(32, 9);
  const { hash, bytes } = builder.finish(height, previous, 1_700_000_000 + height, [subsidy]);
  return {
    ref: { height: asHeight(height), hash: asBlockHash(hash), header: bytes.slice(0, 80) },
    bytes,
    spent: spent.finish(),
  };
}

/**
 * A chain with two blocks below the first inscription height, and this many blocks from that height on. The branch
 * begins at `forkAt`.
 */
function chainOf(length: number, branch: string, trunk: readonly Block[] = [], forkAt = 0): Block[] {
  const chain = trunk.filter(({ ref }) => ref.height < forkAt);
  for (let height = first - 2 + chain.length; height < first + length; height++) {
    chain.push(blockOn(chain.at(-1) ?? null, height, branch));
  }
  return chain;
}

/** A signet node in this process, because tests cannot mine on the real network. */
function nodeOf(
  chain: readonly Block[],
): LiveBlockSource & { chain: readonly Block[]; isFollowedAtTip: boolean } {
  const node = {
    name: 'signet in this process',
    network: 'signet' as const,
    trusted: true,
    chain,
    isFollowedAtTip: false,
    islands: () => {
      const lastHeight = node.chain.at(-1)!.ref.height;
      return Promise.resolve(lastHeight < first ? [] : [{ firstHeight: first, lastHeight, start: {} }]);
    },
    tip: () => Promise.resolve(node.chain.at(-1)!.ref),
    headers: (from: number, count: number) => {
      const refs = node.chain.map(({ ref }) => ref);
      return Promise.resolve(refs.filter(({ height }) => height >= from && height < from + count));
    },
    refs: () => Promise.resolve(node.chain.map(({ ref }) => ref)),
    read: (ref: { hash: Uint8Array }) => {
      const found = node.chain.find((block) => Buffer.compare(block.ref.hash, ref.hash) === 0)!;
      return Promise.resolve({
        ref: found.ref,
        bytes: Uint8Array.from(found.bytes),
        spentOutputs: Uint8Array.from(found.spent),
        spentHeights: null,
      });
    },
    isInvalid: () => Promise.resolve(false),
    news: (timeoutMs: number, signal: AbortSignal, isAtTip = false) => {
      node.isFollowedAtTip = isAtTip;
      return sleep(timeoutMs, undefined, { signal }).catch(() => undefined);
    },
    close: () => Promise.resolve(),
  };
  return node;
}

async function tipOf({ pool }: TestDatabase): Promise<string | null> {
  const { rows } = await pool.query<{ tip_hash: Buffer | null }>('SELECT tip_hash FROM chain.state');
  return rows[0]?.tip_hash == null ? null : displayHash(rows[0].tip_hash);
}

async function until(isSo: () => Promise<boolean> | boolean, end: Promise<unknown>): Promise<void> {
  let failure: { error: unknown } | null = null;
  end.catch((error: unknown) => {
    failure = { error };
  });
  await waitUntil(async () => failure !== null || (await isSo()));
  if (failure !== null) throw (failure as { error: unknown }).error;
}

/** Follows a node through several chains, and waits for each. The result must equal a clean index of the last chain. */
async function walk(chains: readonly (readonly Block[])[]): Promise<void> {
  const database = await freshDatabase();
  const node = nodeOf(chains[0] as readonly Block[]);
  const controller = new AbortController();
  const options = { signal: controller.signal, threads: parseThreads(), bounds: { pollMs: 20 } };
  const end = follow({ source: node, pool: database.pool, ...options });
  for (const chain of chains) {
    node.chain = chain;
    const hash = displayHash(chain.at(-1)!.ref.hash);
    await until(async () => (await tipOf(database)) === hash, end);
  }
  controller.abort();
  await end;
  const clean = await freshDatabase();
  const last = chains.at(-1) as readonly Block[];
  await follow({
    source: nodeOf(last),
    pool: clean.pool,
    ...options,
    until: last.at(-1)!.ref.height,
    signal: new AbortController().signal,
  });
  expect(await dumpChain(database.pool)).toEqual(await dumpChain(clean.pool));
}

describe('a reorganisation across the first height that can hold inscriptions', () => {
  const trunk = chainOf(4, 'trunk');

  test.each([first - 1, first + 1])('from height %i on takes back as much as it has to', async (forkAt) => {
    await walk([trunk, chainOf(5, 'branch', trunk, forkAt), chainOf(7, 'other', trunk, forkAt)]);
  });

  test('waits if the node went back below it, and takes everything back once its chain has the work', async () => {
    const database = await freshDatabase();
    const node = nodeOf(trunk);
    const statuses: FollowerStatus[] = [];
    const controller = new AbortController();
    const end = follow({
      source: node,
      pool: database.pool,
      signal: controller.signal,
      threads: parseThreads(),
      bounds: { pollMs: 20 },
      onStatus: (status) => statuses.push(status),
    });
    const tip = displayHash(trunk.at(-1)!.ref.hash);
    await until(async () => (await tipOf(database)) === tip, end);
    // the source may read announced blocks early only while our tip is the tip of the source
    await until(() => node.isFollowedAtTip, end);
    const branch = chainOf(4, 'branch', trunk, first - 1);
    node.chain = branch.filter(({ ref }) => ref.height < first);
    await until(() => statuses.at(-1)?.problem?.code === 'node_behind', end);
    await until(() => !node.isFollowedAtTip, end);
    expect(await tipOf(database)).toBe(tip);
    node.chain = branch;
    await until(async () => (await tipOf(database)) === displayHash(branch.at(-1)!.ref.hash), end);
    await until(() => node.isFollowedAtTip, end);
    node.chain = branch.filter(({ ref }) => ref.height < first);
    node.isInvalid = () => Promise.resolve(true);
    await until(async () => (await tipOf(database)) === null, end);
    await until(() => !node.isFollowedAtTip, end);
    const { rows } = await database.pool.query<{ left: number }>(
      'SELECT (SELECT count(*) FROM chain.blocks) + (SELECT count(*) FROM chain.inscriptions) AS left',
    );
    expect(rows).toEqual([{ left: 0 }]);
    controller.abort();
    await end;
  });
});
