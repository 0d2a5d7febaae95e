import { expect, test } from 'vitest';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { encipher, routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import { RuneChain } from '#test/chaos/tokens/rune-chain.ts';
import { plainMessage } from '#test/chaos/tokens/rune-model.ts';

const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');
const output = (script: string) => ({ value: 0.00001, scriptPubKey: { hex: script } });
const route = (to: number, pointer: number) =>
  hexOf(
    encipher(
      routeRunestone({
        edicts: [{ id: { block: smallU128(2), tx: 1 }, amount: smallU128(30), output: to }],
        pointer,
      }),
    ),
  );

/** Makes a chain. Its third block has a transaction that the run did not write. */
function chainWith(script: string): RuneChain {
  const blocks = [
    { hash: 'one', height: 1, previousblockhash: '', tx: [] },
    {
      hash: 'two',
      height: 2,
      previousblockhash: 'one',
      tx: [{ txid: 'etched', vin: [], vout: [output('51')] }],
    },
    {
      hash: 'three',
      height: 3,
      previousblockhash: 'two',
      tx: [
        {
          txid: 'sent',
          vin: [{ txid: 'etched', vout: 0 }],
          vout: [output('5101'), output('5102'), output(script)],
        },
      ],
    },
  ];
  const rpc = {
    url: '',
    call: (_method: string, [hash]: readonly unknown[]) =>
      Promise.resolve(blocks.find((block) => block.hash === hash)),
  } as NodeRpc;
  const chain = new RuneChain(rpc, 1);
  chain.messages.set('etched', { ...plainMessage, etching: { premine: 100n, cap: 0, amount: 0n } });
  chain.etchings.set('2:1', 'etched');
  return chain;
}

test.each<readonly [string, string, Record<string, bigint>, bigint]>([
  ['by its edict and pointer', route(1, 0), { 'sent:0': 70n, 'sent:1': 30n }, 0n],
  ['to its first output, where the pointer is there', route(0, 1), { 'sent:0': 30n, 'sent:1': 70n }, 0n],
  ['nowhere, where an edict names no output', route(4, 0), {}, 100n],
])('units of a transaction of the service go %s', async (_name, script, units, burned) => {
  const state = await chainWith(script).stateAt('three');
  expect(
    Object.fromEntries([...state.unspent].map(([name, { runes }]) => [name, runes.get('etched')])),
  ).toEqual(units);
  expect(state.burned.get('etched') ?? 0n).toBe(burned);
  // a spent output stays in `made`
  expect(state.made.get('etched:0')?.get('etched')).toBe(100n);
});
