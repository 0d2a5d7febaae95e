import { describe, expect, test } from 'vitest';
import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import { asRune } from '#kernel/runes/rune.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { burnVerdict, readRuneBurn } from '#psbts/tokens/burn-verdict.ts';

const [own, other] = [7, 8].map((tx) => ({ block: asU128(5), tx })) as [RuneId, RuneId];
type RuneId = Runestone['edicts'][number]['id'];
const spendable = { script: Uint8Array.of(0x51) };
/** Holdings with 100 units of the rune, and 9 units of another rune. */
const runes = [
  { id: own, amount: asU128(100) },
  { id: other, amount: asU128(9) },
];
const stone = (fields: Partial<Runestone>): { script: Uint8Array } => ({
  script: encipher({ kind: 'runestone', edicts: [], etching: null, mint: null, pointer: null, ...fields }),
});
const edict = (amount: number, output: number) => ({ id: own, amount: asU128(amount), output });

describe('the burn of a rune by a transaction', () => {
  test.each<[string, Partial<Runestone>, number, string[]]>([
    ['by an edict', { edicts: [edict(30, 1)] }, 30, []],
    ['by an edict of all', { edicts: [edict(0, 1)] }, 100, []],
    ['by an edict of more than there is', { edicts: [edict(300, 1)] }, 100, []],
    ['by edicts after one another', { edicts: [edict(30, 0), edict(20, 1)] }, 20, []],
    ['by a pointer', { edicts: [edict(30, 0)], pointer: 1 }, 70, ['It also burns other runes: 5:8.']],
    ['nothing', { edicts: [edict(30, 0)] }, 0, []],
    [
      'as a cenotaph',
      { edicts: [edict(30, 9)] },
      100,
      [
        'Its runestone is a cenotaph (edict-output), which burns all runes that the transaction spends.',
        'It also burns other runes: 5:8.',
      ],
    ],
  ])('%s', (_name, fields, burned, warnings) => {
    expect(readRuneBurn([spendable, stone(fields)], runes, own)).toEqual({
      kind: 'read',
      burned: BigInt(burned),
      warnings,
    });
  });

  test('without a runestone and without a spendable output, it burns everything', () => {
    const outputs = [{ script: Uint8Array.of(0x6a) }];
    expect(readRuneBurn(outputs, runes, own)).toMatchObject({ burned: 100n });
  });

  test('is unknown if it mints the rune, and known if it mints another one', () => {
    const minting = (mint: RuneId) => [spendable, stone({ edicts: [edict(30, 1)], mint })];
    expect(readRuneBurn(minting(own), runes, own).kind).toBe('unknown');
    expect(readRuneBurn(minting(other), runes, own)).toMatchObject({ burned: 30n });
  });

  test.each([
    [30n, true, null],
    [29n, false, 'it burns 2.9 FAZ, less than the 3 that should be burned.'],
    [31n, false, 'it burns 3.1 FAZ, more than the 3 that should be burned.'],
    [0n, false, 'it burns no FAZ, but 3 should be burned.'],
  ])('%s of 30 base units', (burned, valid, reason) => {
    const rune = { rune: asRune(4_107n), spacers: 0, divisibility: 1 } as RuneDetail;
    expect(burnVerdict({ rune, amount: 30n }, { burned, warnings: ['told'] })).toEqual({
      valid,
      reason,
      burned,
      warnings: ['told'],
    });
  });
});
