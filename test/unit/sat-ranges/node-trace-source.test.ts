import { expect, test } from 'vitest';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { CallOptions, NodeRpc } from '#kernel/contracts/node.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';
import { testAsker } from '#test/support/asker.ts';

/** A node that answers a call when the test lets it, and never before. */
class HeldNode implements NodeRpc {
  readonly url = 'http://held.example';
  readonly held = new Set<() => void>();
  begun = 0;

  call<Result>(_method: string, _parameters?: readonly unknown[], options?: CallOptions): Promise<Result> {
    this.begun++;
    return new Promise((resolve, reject) => {
      const answer = (): void => {
        this.held.delete(answer);
        // spent, or never there
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
