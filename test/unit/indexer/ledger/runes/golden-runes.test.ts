import { describe, expect, test } from 'vitest';
import type { RuneEntry } from '#indexer/ledger/runes/rune-entry.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { runeLetters } from '#kernel/runes/rune.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { mintable } from '#kernel/runes/terms.ts';
import { smallU128, type U128 } from '#kernel/runes/u128.ts';
import { minimumRuneAt } from '#kernel/runes/unlock-schedule.ts';
import { GoldenChain, type GoldenTip, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { RuneStore, shownOutpoint } from '#test/support/chain/runes/rune-store.ts';
import { exactJson } from '#test/support/exact-json.ts';

/** The store at a tip, after batches of `batch` blocks. */
function replay(golden: GoldenChain, tip: GoldenTip, batch = 1): RuneStore {
  const store = new RuneStore(networks[golden.chain.network]);
  const blocks = tip.headers.map((header) => golden.block(header));
  for (let at = 0; at < blocks.length; at += batch) store.apply(blocks.slice(at, at + batch));
  return store;
}

/** A copy of all rows. */
const rowsOf = ({ runes, balances, mints, burned }: RuneStore) => ({
  runes: [...runes],
  balances: balances.map((row) => ({ ...row })),
  mints: [...mints],
  burned: [...burned],
});

const characterOf = (symbol: number | null): string | null =>
  symbol === null ? null : String.fromCodePoint(symbol);

/** A rune as ord's `entry` shows it. */
function entryOf(store: RuneStore, entry: RuneEntry): Record<string, unknown> {
  const { key, block, divisibility, etching, premine, symbol, terms, timestamp, turbo } = entry;
  return {
    block,
    burned: store.total(store.burned, key),
    divisibility,
    etching: displayHash(etching),
    mints: store.total(store.mints, key),
    number: key,
    premine,
    spaced_rune: formatSpacedRune(entry),
    symbol: characterOf(symbol),
    terms:
      terms === null
        ? null
        : {
            amount: terms.amount,
            cap: terms.cap,
            height: [terms.heightStart, terms.heightEnd],
            offset: [terms.offsetStart, terms.offsetEnd],
          },
    timestamp,
    turbo,
  };
}

interface Pile {
  readonly amount: U128;
  readonly divisibility: number;
  readonly symbol: string | null;
}

/** The balances of every unspent output, as ord lists them in `/output`: sorted by the number of the name. */
function pilesByOutput(store: RuneStore): Map<string, [string, Pile][]> {
  const piles = [...store.unspent()].map(([outpoint, balances]): [string, [string, Pile][]] => {
    const entries = balances.map(({ key, amount }) => ({ entry: store.runes[key]!, amount }));
    entries.sort((a, b) => (a.entry.rune < b.entry.rune ? -1 : 1));
    const shown = entries.map(({ entry, amount }): [string, Pile] => [
      formatSpacedRune(entry),
      { amount, divisibility: entry.divisibility, symbol: characterOf(entry.symbol) },
    ]);
    return [shownOutpoint(outpoint), shown];
  });
  return new Map(piles);
}

interface Recorded {
  readonly key: string;
  readonly value: Record<string, unknown>;
}

describe.each(goldenChainNames)('%s', (name) => {
  const golden = new GoldenChain(name);

  describe.each(golden.tips())('at its tip $name', (tip) => {
    const store = replay(golden, tip);
    const recorded = (question: string): Recorded[] =>
      golden.runeAnswers(tip, `${question}.ndjson`).map((line) => exactJson(line) as Recorded);
    const tipHeight = tip.headers.at(-1)!.height;

    test('every rune is as in ord', () => {
      const inscriptions = golden.inscriptions(tip);
      const ours = store.runes.map((entry) => {
        const parent = `${displayHash(entry.etching)}i0`;
        const mints = Number(store.total(store.mints, entry.key));
        return {
          entry: entryOf(store, entry),
          id: `${entry.block}:${entry.tx}`,
          mintable: mintable(entry.terms, smallU128(entry.block), tipHeight + 1, mints) !== null,
          parent: inscriptions.has(parent) ? parent : null,
        };
      });
      const ords = recorded('rune').map(({ value }) => value);
      expect(Object.fromEntries(ours.map((rune) => [rune.id, rune]))).toEqual(
        Object.fromEntries(ords.map((rune) => [rune['id'], rune])),
      );
    });

    test('the list of runes is that of ord', () => {
      const ours = store.runes
        .map((entry) => [`${entry.block}:${entry.tx}`, entryOf(store, entry)])
        .toReversed();
      const pages = recorded('runes').sort((a, b) => Number(a.key) - Number(b.key));
      // ord repeats the last entry of a full page as the first entry of the next page
      const ords = pages.flatMap(({ value }) => (value['entries'] as unknown[]).slice(0, 50));
      expect(ours).toEqual(ords);
    });

    test('every output has the balances of ord', () => {
      const piles = pilesByOutput(store);
      for (const question of ['output', 'output-empty']) {
        if (!golden.hasAnswers(tip, question)) continue;
        for (const line of golden.answerLines(tip, question)) {
          const { key, value } = exactJson(line) as Recorded;
          const runes = (value as { runes?: Record<string, Pile> | null } | undefined)?.runes ?? {};
          expect(Object.entries(runes), key).toEqual(piles.get(key) ?? []);
          piles.delete(key);
        }
      }
      expect([...piles]).toEqual([]);
    });

    test('the balances are those of ord', () => {
      const ours: Record<string, Record<string, Pile>> = {};
      for (const [outpoint, piles] of pilesByOutput(store))
        for (const [spaced, pile] of piles) (ours[spaced] ??= {})[outpoint] = pile;
      const text = golden.runeAnswers(tip, 'balances.json').join('\n');
      expect(ours).toEqual((exactJson(text) as { runes: unknown }).runes);
    });

    test('the status is that of ord', () => {
      const [{ value }] = recorded('status') as [Recorded];
      const minimum = minimumRuneAt(networks[golden.chain.network], tipHeight + 1);
      expect(store.runes).toHaveLength(value['runes'] as number);
      expect(runeLetters(minimum)).toBe(value['minimum_rune_for_next_block']);
    });

    test('batches of other sizes give the same rows and events', () => {
      for (const batch of [7, tip.headers.length]) {
        const other = replay(golden, tip, batch);
        expect(other.runes).toEqual(store.runes);
        expect(other.balances).toEqual(store.balances);
        expect([other.mints, other.burned]).toEqual([store.mints, store.burned]);
        expect(other.blocks.map(({ events }) => events)).toEqual(store.blocks.map(({ events }) => events));
      }
    });
  });

  test('undoing all blocks and applying them again changes nothing', () => {
    const [best] = golden.tips() as [GoldenTip];
    const store = replay(golden, best);
    const before = rowsOf(store);
    const again = best.headers.slice(-40);
    for (const _ of again) store.undo();
    store.apply(again.map((header) => golden.block(header)));
    expect(rowsOf(store)).toEqual(before);
  });
});
