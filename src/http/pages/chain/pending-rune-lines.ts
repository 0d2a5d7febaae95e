import type {
  PendingEtchingRow,
  PendingMove,
  PendingRuneTransaction,
} from '#chain/pending/pending-runes.queries.ts';
import type { NamedRune } from '#chain/runes/address-runes.queries.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128, maxU128, type U128 } from '#kernel/runes/u128.ts';
import type { PendingRuneLine } from '#web/pages/mempool.page.ts';

/**
 * Maximum number of lines for one transaction in a list. A transaction may move a hundred runes, with one edict each;
 * its own page shows all.
 */
const linesMax = 5;

/** Etchings, mints and moves of runes by pending transactions. Each rune of a transaction has one line. */
export const pendingRuneLines = (rows: readonly PendingRuneTransaction[]): PendingRuneLine[] =>
  rows.flatMap((row) => [...etchingLine(row), ...moveLines(row)].slice(0, linesMax));

type Transaction = Pick<PendingRuneLine, 'txid' | 'seen' | 'fee' | 'vsize'>;

const transactionOf = ({ txid, first_seen, fee, vsize }: PendingRuneTransaction): Transaction => ({
  txid: displayHash(txid),
  seen: Math.floor(first_seen.getTime() / 1000),
  fee,
  vsize,
});

function etchingLine(row: PendingRuneTransaction): PendingRuneLine[] {
  const { etching } = row;
  if (etching === null) return [];
  const { premine, divisibility, symbol, state, rivalCount } = etching;
  const own = {
    kind: 'etched' as const,
    name: nameOf(etching),
    isEtched: false,
    amount: shownAmount(premine, divisibility),
    symbol: symbolOf(symbol),
    problem: problemOf(state, rivalCount),
  };
  return [{ ...own, ...transactionOf(row) }];
}

const symbolOf = (point: number | null): string | null =>
  point === null ? null : String.fromCodePoint(point);

/** Reasons why the next block would not accept the etching of a name, by state (docs/mempool.md, "Runes"). */
const problems: Readonly<Record<string, string>> = {
  taken: 'the name is taken',
  locked: 'the name is not free yet',
  reserved: 'the name is reserved',
  uncommitted: 'nothing commits to the name',
  immature: 'the commitment to the name is too young',
  unknown: 'it is unknown whether it may have the name',
};

function problemOf(state: string, rivalCount: number): string | null {
  const rivals = rivalCount === 0 ? null : 'others etch the same name, so at most one gets it';
  return problems[state] ?? rivals;
}

const kinds = { minted: 'minted', given: 'moved', burned: 'burned' } as const;

/**
 * Lines of moves. Amounts of the same rune are summed. Units that leave inputs get no line, because they are also in
 * the outputs, or burned.
 */
function moveLines(row: PendingRuneTransaction): PendingRuneLine[] {
  const sums = new Map<string, { readonly move: PendingMove; amount: bigint }>();
  const minted = new Set(row.moves.filter(({ step }) => step === 'minted').map(runeOf));
  for (const move of row.moves) {
    // a mint has one line, and no second line for the output that received the mint
    if (move.step === 'taken' || (move.step === 'given' && minted.has(runeOf(move)))) continue;
    const name = `${move.step} ${runeOf(move)}`;
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, { move, amount: BigInt(move.amount) });
    else sum.amount += BigInt(move.amount);
  }
  return [...sums.values()].flatMap(({ move, amount }) => lineOf(row, move, inRange(amount)));
}

/**
 * The amount, at most the largest amount of a rune. Each pending mint counts as if it were the next mint, so their sum
 * may exceed the possible supply.
 */
const inRange = (amount: bigint): U128 => asU128(amount < maxU128 ? amount : maxU128);

const runeOf = ({ rune, etchedBy }: PendingMove): string =>
  rune === null ? `etched by ${etchedBy === null ? '' : displayHash(etchedBy)}` : String(rune.key);

function lineOf(
  row: PendingRuneTransaction,
  { step, rune, etchedBy }: PendingMove,
  amount: U128,
): PendingRuneLine[] {
  if (step === 'taken') return [];
  const isOwn = etchedBy !== null && Buffer.compare(etchedBy, row.txid) === 0;
  // the line of the etching already contains the premine
  if (isOwn && step === 'given') return [];
  const etched = rune ?? (isOwn ? row.etching : null);
  return [
    {
      kind: kinds[step],
      name: nameOf(etched),
      isEtched: rune !== null,
      amount: shownAmount(amount, etched?.divisibility ?? 0),
      symbol: symbolOf(etched?.symbol ?? null),
      problem: etched === null ? 'in base units, because its etching is also pending' : null,
      ...transactionOf(row),
    },
  ];
}

/** The name of a rune. `null` if the block will assign the name. */
const nameOf = (of: NamedRune | PendingEtchingRow | null): string | null =>
  of === null || of.rune === null ? null : formatSpacedRune({ rune: of.rune, spacers: of.spacers });
