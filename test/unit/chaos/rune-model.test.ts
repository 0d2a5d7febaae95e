import { describe, expect, test } from 'vitest';
import {
  afterBlock,
  type ModelTransaction,
  noRunes,
  plainMessage,
  type RuneMessage,
  type RuneState,
} from '#test/chaos/tokens/rune-model.ts';

const etched: ModelTransaction = transactionOf('etched', [], 1);
const etching = { premine: 100n, cap: 1, amount: 5n };
const start = afterBlock(noRunes, [etched], new Map([['etched', { ...plainMessage, etching }]]));

function transactionOf(txid: string, inputs: string[], outputs: number): ModelTransaction {
  return {
    txid,
    inputs,
    outputs: [
      ...Array.from({ length: outputs }, (_, vout) => ({ script: `51${vout}`, sats: 1n })),
      { script: '6a5d', sats: 0n },
    ],
  };
}

/** Units in the outputs of a transaction that spends the premine, and the burned units. */
function spent(message: Partial<RuneMessage>, outputs = 3, inputs = ['etched:0']) {
  const made = transactionOf('made', inputs, outputs);
  const after = afterBlock(start, [made], new Map([['made', { ...plainMessage, ...message }]]));
  return [unitsOf(after), after.burned.get('etched') ?? 0n];
}
const unitsOf = (state: RuneState): Record<string, bigint> =>
  Object.fromEntries(
    [...state.unspent].map(([outpoint, { runes }]) => [outpoint, runes.get('etched') ?? 0n]),
  );
const edict = (amount: bigint, output: number) => ({ rune: 'etched', amount, output });

describe('the model of runes', () => {
  test.each<readonly [string, Partial<RuneMessage>, Record<string, bigint>, bigint]>([
    ['without a runestone all goes to the first output', {}, { 'made:0': 100n }, 0n],
    [
      'an edict, and the rest to the pointer',
      { edicts: [edict(30n, 1)], pointer: 2 },
      { 'made:1': 30n, 'made:2': 70n },
      0n,
    ],
    ['an edict of all', { edicts: [edict(0n, 2)] }, { 'made:2': 100n }, 0n],
    ['more than there is', { edicts: [edict(90n, 1), edict(90n, 2)] }, { 'made:1': 90n, 'made:2': 10n }, 0n],
    [
      'as much to each output',
      { edicts: [edict(40n, 4)] },
      { 'made:0': 40n, 'made:1': 40n, 'made:2': 20n },
      0n,
    ],
    ['all to each output', { edicts: [edict(0n, 4)] }, { 'made:0': 34n, 'made:1': 33n, 'made:2': 33n }, 0n],
    ['an edict to the OP_RETURN', { edicts: [edict(30n, 3)] }, { 'made:0': 70n }, 30n],
    ['a pointer to the OP_RETURN', { pointer: 3 }, {}, 100n],
    ['a cenotaph', { edicts: [edict(30n, 99)], isCenotaph: true }, {}, 100n],
  ])('%s', (_name, message, units, burned) => {
    expect(spent(message)).toEqual([units, burned]);
  });

  test('without an output all is burned', () => expect(spent({}, 0)).toEqual([{}, 100n]));

  test('a mint counts up to the cap, also one that a cenotaph burns', () => {
    const mint = { ...plainMessage, mint: 'etched' };
    const made = (txid: string) => transactionOf(txid, [], 1);
    const both = afterBlock(
      start,
      [made('first'), made('second')],
      new Map([
        ['first', mint],
        ['second', mint],
      ]),
    );
    expect(unitsOf(both)).toEqual({ 'etched:0': 100n, 'first:0': 5n });
    const burning = new Map([
      ['first', { ...mint, isCenotaph: true }],
      ['second', mint],
    ]);
    const after = afterBlock(start, [made('first'), made('second')], burning);
    expect([unitsOf(after), after.burned.get('etched'), after.mints.get('etched')]).toEqual([
      { 'etched:0': 100n },
      5n,
      1,
    ]);
    // the state of the block before has not changed
    expect(unitsOf(start)).toEqual({ 'etched:0': 100n });
  });
});
