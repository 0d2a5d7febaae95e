import { expect, test } from 'vitest';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { CallOptions, NodeRpc } from '#kernel/contracts/node.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { NodeTraceSource, type TraceRpc } from '#sat-ranges/node-trace-source.ts';
import { testAsker } from '#test/support/http/asker.ts';

/** A node that answers a call only when the test lets it. */
class HeldNode implements NodeRpc {
  readonly url = 'http://held.example';
  readonly held = new Set<() => void>();
  begun = 0;

  call<Result>(_method: string, _parameters?: readonly unknown[], options?: CallOptions): Promise<Result> {
    this.begun++;
    return new Promise((resolve, reject) => {
      const answer = (): void => {
        this.held.delete(answer);
        // `null` means that the output is spent, or was never there
        resolve(null as Result);
      };
      this.held.add(answer);
      options?.signal?.addEventListener('abort', () => {
        this.held.delete(answer);
        reject(options.signal?.reason as Error);
      });
    });
  }
}

const noBlocks = {} as BlockSource;
const outpoint = (index: number) => ({ txid: displayHash(asTxid(Buffer.alloc(32, index))), vout: 1 });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('look-ups of many outputs leave connections of the node to others', async () => {
  const node = new HeldNode();
  const source = new NodeTraceSource(node, noBlocks);
  const gone = new AbortController();
  const asker = testAsker('flood', gone.signal);
  const asked = Array.from({ length: 100 }, (_, index) => source.output(outpoint(index), asker));
  const settled = Promise.allSettled(asked);
  await turn();
  expect(node.held.size).toBe(3);
  gone.abort();
  await settled;
});

test('look-ups end with the client that asked, those that wait are never asked, and others are served', async () => {
  const node = new HeldNode();
  const source = new NodeTraceSource(node, noBlocks);
  const gone = new AbortController();
  const asker = testAsker('flood', gone.signal);
  const asked = Array.from({ length: 100 }, (_, index) => source.output(outpoint(index), asker));
  const settled = Promise.allSettled(asked);
  await turn();
  gone.abort();
  const outcomes = await settled;
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(node.begun).toBe(3);
  expect(node.held.size).toBe(0);

  let isAnswered = false;
  const other = source.output(outpoint(200), testAsker('other')).finally(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    for (const answer of node.held) answer();
    await turn();
  }
  expect(await other).toBeNull();
});

/** A node with a chain of blocks. Their hashes are known, and each block has a coinbase. */
class ChainNode implements TraceRpc {
  readonly url = 'http://chain.example';
  readonly calls: string[] = [];
  /** From this height on, hashes are those of another branch. */
  movedFrom = Number.POSITIVE_INFINITY;

  hashAt(height: number): string {
    return `${height >= this.movedFrom ? 'b' : 'a'}${height.toString(16).padStart(63, '0')}`;
  }

  call<Result>(method: string, parameters: readonly unknown[] = []): Promise<Result> {
    this.calls.push(method);
    if (method === 'getblockhash') return Promise.resolve(this.hashAt(Number(parameters[0])) as Result);
    const hash = String(parameters[2]);
    const isOnChain = this.hashAt(Number.parseInt(hash.slice(1), 16)) === hash;
    const vin = [{ coinbase: '00' }];
    const vout = [{ value: 50, scriptPubKey: { hex: '51' } }];
    return Promise.resolve({ in_active_chain: isOnChain, vin, vout } as Result);
  }

  batch<Result>(calls: readonly { readonly parameters: readonly unknown[] }[]): Promise<Result[]> {
    this.calls.push(`${calls.length} at once`);
    return Promise.resolve(calls.map(({ parameters }) => this.hashAt(Number(parameters[0])) as Result));
  }
}

const { txid } = outpoint(7);
const coinbase = { outputs: [5_000_000_000], inputs: null };

test('the hashes of the blocks below come with that of a block, in one request', async () => {
  const node = new ChainNode();
  const source = new NodeTraceSource(node, noBlocks);
  for (let height = 100; height > 30; height--)
    expect(await source.transaction(txid, asHeight(height))).toEqual(coinbase);
  const requests = node.calls.filter((name) => name !== 'getrawtransaction');
  expect(requests).toEqual(['64 at once', '37 at once']);
});

test('a hash from before a reorganisation is asked for again', async () => {
  const node = new ChainNode();
  const source = new NodeTraceSource(node, noBlocks);
  expect(await source.transaction(txid, asHeight(50))).toEqual(coinbase);
  node.movedFrom = 40;
  expect(await source.transaction(outpoint(8).txid, asHeight(45))).toEqual(coinbase);
  expect(node.calls).toEqual([
    '51 at once',
    'getrawtransaction',
    'getrawtransaction',
    'getblockhash',
    'getrawtransaction',
  ]);
});
