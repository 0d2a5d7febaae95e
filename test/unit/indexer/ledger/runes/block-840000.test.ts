import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasProofOfWork } from '#kernel/bitcoin/proof-of-work.ts';
import { asBlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { isReservedRune, runeCommitment } from '#kernel/runes/rune.ts';
import { parseRuneId, type RuneId } from '#kernel/runes/rune-id.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { formatSpacedRune, parseSpacedRune, type SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { minimumRuneAt } from '#kernel/runes/unlock-schedule.ts';
import { SpentWriter } from '#test/builders/block-folder.ts';
import { doubleHash } from '#test/builders/merkle.ts';
import { RuneStore } from '#test/support/chain/runes/rune-store.ts';
import { blockOf, push, transaction } from '#test/unit/indexer/parse/synthetic-block.ts';

type Reason = 'NameAlreadyTaken' | 'CommitmentNotFound' | 'ReservedRuneName';

/** The facts about a block without its bytes (test/fixtures/runes/ORIGIN.md). */
interface Summary {
  readonly height: number;
  readonly hash: string;
  readonly header: string;
  readonly etchings: number;
  readonly mints: number;
  readonly uncommonGoodsMints: number;
  readonly otherMint: string;
  readonly names: readonly string[];
  readonly refused: readonly { readonly rune: string; readonly reason: Reason }[];
}

const summary = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../fixtures/runes/block-840000.json'), 'utf8'),
) as Summary;
const { height } = summary;
const { mainnet } = networks;
const taproot = Buffer.concat([Buffer.from([0x51, 0x20]), Buffer.alloc(32, 3)]);
const runeOf = (name: string): SpacedRune => parseSpacedRune(name)!;

test('the header is that of the block', () => {
  const header = Buffer.from(summary.header, 'hex');
  const hash = asBlockHash(Uint8Array.from(doubleHash(header)));
  expect(displayHash(hash)).toBe(summary.hash);
  expect(hasProofOfWork(hash, header.readUInt32LE(72), 'mainnet')).toBe(true);
});

describe('the names of the first block with runes', () => {
  test('are read and written alike, unlocked and distinct', () => {
    const runes = summary.names.map(runeOf);
    expect(runes.map(formatSpacedRune)).toEqual(summary.names);
    expect(new Set(runes.map(({ rune }) => rune)).size).toBe(runes.length);
    const minimum = minimumRuneAt(mainnet, height);
    expect(runes.filter(({ rune }) => rune < minimum || isReservedRune(rune))).toEqual([]);
  });

  test('are refused for the reasons of the summary', () => {
    const names = new Set(summary.names.map((name) => runeOf(name).rune));
    for (const { rune: name, reason } of summary.refused) {
      const { rune } = runeOf(name);
      expect(names.has(rune), name).toBe(reason === 'NameAlreadyTaken');
      expect(isReservedRune(rune), name).toBe(reason === 'ReservedRuneName');
    }
    expect(summary.names.length + summary.refused.length).toBe(summary.etchings);
  });
});

/** Number of transactions that `spending` has made. Each transaction of the block spends another outpoint. */
let serial = 0;
function spending(script: Uint8Array, leaf: readonly number[]): Buffer {
  const outpoint = Buffer.alloc(36);
  outpoint.writeUInt32LE(++serial);
  const witness = [Uint8Array.from(leaf), Buffer.alloc(33, 0xc0)];
  return transaction(
    [{ outpoint, witness }],
    [
      { value: 0n, script },
      { value: 0n, script: taproot },
    ],
  );
}

function etching({ rune, spacers }: SpacedRune, isCommitted: boolean): Buffer {
  const script = encipher({
    kind: 'runestone',
    edicts: [],
    etching: { divisibility: null, premine: null, rune, spacers, symbol: null, terms: null, turbo: false },
    mint: null,
    pointer: null,
  });
  return spending(script, [...push(isCommitted ? runeCommitment(rune) : 'something else')]);
}

function minting(mint: RuneId): Buffer {
  return spending(encipher({ kind: 'runestone', edicts: [], etching: null, mint, pointer: null }), [0x51]);
}

test('a block made from the summary etches its names in their order, and refuses the others', () => {
  const times = (count: number, id: string): Buffer[] =>
    Array.from({ length: count }, () => minting(parseRuneId(id)!));
  const transactions = [
    ...summary.names.map((name) => etching(runeOf(name), true)),
    ...summary.refused.map(({ rune, reason }) => etching(runeOf(rune), reason !== 'CommitmentNotFound')),
    ...times(summary.uncommonGoodsMints, '1:0'),
    ...times(summary.mints - summary.uncommonGoodsMints, summary.otherMint),
  ];
  const spent = new SpentWriter();
  for (const _ of transactions) spent.add([{ value: 0, script: taproot }]);
  const store = new RuneStore(mainnet);
  store.apply([
    {
      height,
      bytes: Uint8Array.from(blockOf(transactions)),
      spent: Uint8Array.from(spent.finish()),
    },
  ]);
  const [uncommonGoods, ...etched] = store.runes;
  expect(etched.map(formatSpacedRune)).toEqual(summary.names);
  expect(etched.map(({ key, block, tx }) => [key, block, tx])).toEqual(
    summary.names.map((_, place) => [place + 1, height, place + 1]),
  );
  expect(formatSpacedRune(uncommonGoods!)).toBe('UNCOMMON•GOODS');
  expect(store.total(store.mints, 0)).toBe(summary.uncommonGoodsMints);
  expect(summary.mints).toBe(1197);
});
