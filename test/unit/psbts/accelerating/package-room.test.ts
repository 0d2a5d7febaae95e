import { describe, expect, test } from 'vitest';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import type { MempoolPackage, UnconfirmedTransaction } from '#psbts/accelerating/mempool-package.ts';
import { packageRoom, whyNoRoom } from '#psbts/accelerating/package-room.ts';

const transaction = (index: number, virtualBytes: number, descendants: number): UnconfirmedTransaction => ({
  txid: displayHash(asTxid(Buffer.alloc(32, index))),
  version: 2,
  virtualBytes,
  fee: 1n,
  parents: [],
  descendants: { count: descendants, virtualBytes: 200 * descendants },
  inputs: [],
  outputs: [],
});
const last = transaction(2, 300, 1);
const found: MempoolPackage = { last, transactions: [transaction(1, 200, 24), last] };

/** A node that knows clusters, or a node from before Bitcoin Core 31 if `cluster` is `null`. */
const node = (cluster: object | null): NodeRpc => ({
  url: 'http://127.0.0.1',
  call: async <Result>() => {
    if (cluster !== null) return cluster as Result;
    throw new AppError('node_call_failed', 'Method not found', { rpcCode: -32_601 });
  },
});
const limits = { count: 64, virtualBytes: 101_000 };

describe('the room for a child', () => {
  test('is that of its cluster, if the node has clusters', async () => {
    const room = await packageRoom(node({ clusterweight: 4_001, txcount: 63 }), found, limits);
    expect(room).toEqual({ taken: { count: 63, virtualBytes: 1_001 }, limits });
    expect(whyNoRoom(room, 100)).toBeNull();
    expect(whyNoRoom(room, 100_000)).toMatch(/exceed the 101000 that the node accepts/u);
    const full = await packageRoom(node({ clusterweight: 4_000, txcount: 64 }), found, limits);
    expect(whyNoRoom(full, 100)).toMatch(/^64 unconfirmed transactions already depend on each other/u);
  });

  test('is that of the longest chain before, and one ancestor with 24 descendants has room for one more', async () => {
    const room = await packageRoom(node(null), found, limits);
    expect(room).toEqual({
      taken: { count: 24, virtualBytes: 4_800 },
      limits: { count: 25, virtualBytes: 101_000 },
    });
    expect(whyNoRoom(room, 100)).toBeNull();
    const full = { ...found, transactions: [transaction(1, 200, 25), last] };
    expect(whyNoRoom(await packageRoom(node(null), full, limits), 100)).toMatch(/^25 unconfirmed/u);
  });

  test('is unknown if the node does not answer', async () => {
    const silent: NodeRpc = {
      ...node(null),
      call: () => Promise.reject(new AppError('node_unreachable', 'gone')),
    };
    await expect(packageRoom(silent, found, limits)).rejects.toMatchObject({ code: 'node_unreachable' });
  });
});
