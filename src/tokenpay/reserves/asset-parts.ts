import { strict as assert } from 'node:assert';
import { displayHash } from '#kernel/primitives/hash.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import type { ReserveFacts } from './read-facts.ts';

/** The asset name of sats. Runes are named by the txid of their etching. */
const bitcoin = 'BTC';

/** The amounts of an asset in base units. `held` equals liabilities - debts + fees + aside + waiting. */
export interface AssetParts {
  readonly asset: string;
  /** Number in service.assets, or null if no account ever had the asset. */
  readonly number: number | null;
  readonly token: string;
  readonly divisibility: number;
  readonly liabilities: bigint;
  readonly debts: bigint;
  readonly fees: bigint;
  readonly aside: bigint;
  readonly waiting: bigint;
  readonly held: bigint;
}

/** Computes the parts of BTC and of each rune. The etching identifies a rune. Pure. */
export function assetParts({ runes, fees, balances, outputs, heldRunes }: ReserveFacts): AssetParts[] {
  const sats = balances.filter(({ asset }) => asset === satsAsset).map(({ amount }) => amount);
  const satsOf = (outcome: 'aside' | 'waiting'): bigint =>
    sum(outputs.filter((output) => output.outcome === outcome).map((output) => output.sats));
  const ofBitcoin: AssetParts = {
    asset: bitcoin,
    number: satsAsset,
    token: bitcoin,
    divisibility: 8,
    liabilities: sum(sats.filter((amount) => amount > 0n)),
    debts: -sum(sats.filter((amount) => amount < 0n)),
    fees,
    aside: satsOf('aside'),
    waiting: satsOf('waiting'),
    held: sum(outputs.map((output) => output.sats)),
  };
  const listed = Map.groupBy(heldRunes, ({ etching }) => displayHash(etching));
  const ofRunes = runes.map(({ etching, asset: number, name, ...amounts }) => {
    const asset = displayHash(etching);
    const units = (listed.get(asset) ?? []).map(({ amount }) => amount);
    assert(sum(units) === amounts.held, 'an amount of a rune is the sum of its outputs');
    return { ...amounts, asset, number, token: name, fees: 0n };
  });
  return [ofBitcoin, ...ofRunes.toSorted((a, b) => (a.asset < b.asset ? -1 : 1))];
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, amount) => all + amount, 0n);
