import type { RuneEntry } from '#indexer/ledger/runes/rune-entry.ts';
import type { U128 } from '#kernel/runes/u128.ts';
import type { RuneModel } from './rune-model.ts';

/**
 * The lowest free name on regtest, from ord's test vectors. Only for names of 12 letters, which are free within the
 * first step.
 */
export function lowestName(height: number): bigint {
  const [first, last] = [99246114928149462n, 3817158266467286n];
  return first - ((first - last) * BigInt(height + 1)) / 17500n;
}

export const byText = ([a]: [string, string[]], [b]: [string, string[]]): number => (a < b ? -1 : 1);

/** A number of the index as the model stores it. */
export const big = (value: U128 | number | null | undefined): bigint | null =>
  value == null ? null : BigInt(value);

/** A rune of the index as the model stores it, without its totals. */
export const shownEntry = ({
  block,
  tx,
  rune,
  premine,
  spacers,
  divisibility,
  symbol,
  turbo,
  terms,
}: RuneEntry) => ({
  id: `${block}:${tx}`,
  name: rune as bigint,
  premine: big(premine),
  shown: [big(spacers), big(divisibility), big(symbol), turbo],
  terms:
    terms === null
      ? null
      : [terms.cap, terms.amount, terms.heightStart, terms.heightEnd, terms.offsetStart, terms.offsetEnd].map(
          big,
        ),
});

/** The state of the model at its last block: runes with their totals, and unspent balances. */
export function stateOfModel({ runes, held }: RuneModel['state']) {
  const termNames = ['cap', 'amount', 'heightStart', 'heightEnd', 'offsetStart', 'offsetEnd'];
  return {
    runes: [...runes.values()].map(({ id, name, etching, premine, mints, burned }) => ({
      id,
      name,
      premine,
      mints,
      burned,
      shown: [
        etching['spacers'] ?? 0n,
        etching['divisibility'] ?? 0n,
        etching['symbol'] ?? null,
        etching['turbo'] === true,
      ],
      terms: etching['terms'] === true ? termNames.map((term) => etching[term] ?? null) : null,
    })),
    held: [...held]
      .map(([outpoint, amounts]): [string, string[]] => [
        outpoint,
        [...amounts].map(([id, amount]) => `${id} ${amount}`).sort(),
      ])
      .sort(byText),
  };
}
