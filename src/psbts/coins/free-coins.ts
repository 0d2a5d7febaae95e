import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { inventoryOutputsAt } from '#inventory/inventory.store.ts';
import { TypeRules } from '#inventory/type-rules.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { hasSpecial } from '#kernel/satributes/has-special.ts';
import { CoinSupply, type CoinVerdict, firstLooks } from '#psbts/planning/coin-supply.ts';
import type { PsbtInput } from '#psbts/planning/psbt-plan.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import type { Holdings } from '#utxos/held-by-outputs.ts';
import { type ListedOutput, outpointText, type Utxo } from '#utxos/utxo.ts';
import { whyNotSpendable } from '#utxos/why-not-spendable.ts';
import type { CoinParts } from './coin-parts.ts';

/** A confirmed output of the payment address. */
export interface PaymentCoin extends PsbtInput {
  readonly listed: ListedOutput;
}

/** Coins of a payment address, and sentences about kinds of contents that were not searched for. */
export interface FreeCoins {
  readonly supply: CoinSupply<PaymentCoin>;
  /**
   * Sentences about kinds of contents that were not searched for. The set is complete after coins were checked. It is
   * empty if everything is proven.
   */
  readonly unproven: ReadonlySet<string>;
}

/** Number of outputs whose sat ranges are read at a time. An output of mainnet may have tens of thousands of ranges. */
const outputsOfRanges = 8;

const noSatIndex =
  'Special sats were not looked for in the payment coins, because this server has no index of sats. Keep such sats at another address.';

/**
 * Finds the confirmed outputs of a payment address that are proven to hold only common sats. They are mature, not spent
 * in the mempool, without inscriptions and runes, and not in the inventory. Only as many outputs as a transaction needs
 * are checked. Throws the codes of UtxoReader and of NodeRpc.
 *
 * @param except outputs that the transaction spends for another purpose
 */
export async function freeCoins(
  parts: CoinParts,
  signer: Signer,
  asker: Asker,
  except: readonly Outpoint[] = [],
): Promise<FreeCoins> {
  const { script, address } = signer;
  const owner = { script, address };
  const { outputs, tipHeight, isAll } = await parts.utxos.largest(owner, firstLooks, asker);
  const named = new Set(except.map(nameOf));
  const coinsOf = (listing: readonly ListedOutput[]): PaymentCoin[] =>
    listing
      .filter((output) => !named.has(nameOf(output)))
      .map((listed) => {
        const { txid, vout, value, blockHash } = listed;
        return { txid, vout, value: BigInt(value), signer, blockHash, listed };
      });
  const unproven = new Set<string>();
  const supply = new CoinSupply(
    coinsOf(outputs),
    (coins) =>
      proveFree(
        parts,
        coins.map(({ listed }) => listed),
        { tipHeight, asker, unproven },
      ),
    isAll ? null : async () => coinsOf(smaller((await parts.utxos.listed([owner], asker)).outputs, outputs)),
  );
  return { supply, unproven };
}

/**
 * Removes the largest outputs, which an earlier list has, from a later list. A block between the two lists may have
 * added larger outputs; these are removed, too.
 */
function smaller(later: readonly ListedOutput[], largest: readonly ListedOutput[]): ListedOutput[] {
  const known = new Set(largest.map(nameOf));
  const least = largest.at(-1)?.value ?? 0;
  return later.filter((output) => output.value <= least && !known.has(nameOf(output)));
}

/** The error for coins that could pay if more were known about them. */
export const unprovenCoins = (reason: string): AppError =>
  new AppError('coins_unproven', `cannot prove that these coins hold nothing, because the output ${reason}`);

interface Proof {
  readonly tipHeight: number;
  readonly asker: Asker;
  /** Receives a sentence for each kind of contents that is not searched for. */
  readonly unproven: Set<string>;
}

async function proveFree(
  { utxos: reader, pool, satributes }: CoinParts,
  outputs: readonly ListedOutput[],
  { tipHeight, asker, unproven }: Proof,
): Promise<CoinVerdict[]> {
  const utxos = await reader.inMempool(outputs, tipHeight);
  const holdings = await reader.holdings(utxos, asker);
  const stocked = new Set((await inventoryOutputsAt(pool, utxos)).map(nameOf));
  const verdicts = utxos.map((utxo, place): CoinVerdict => {
    const held = holdings[place];
    const reason = whyNotSpendable(utxo, held);
    if (reason !== null) return isUnproven(utxo, held) ? unprovenFor(reason) : kept(reason);
    return stocked.has(nameOf(utxo)) ? kept('is in the inventory of this service') : { kind: 'free' };
  });
  const types = new TypeRules(satributes).satributes;
  for (let from = 0; from < utxos.length; from += outputsOfRanges) {
    const places = range(from, Math.min(from + outputsOfRanges, utxos.length)).filter(
      (place) => verdicts[place]?.kind === 'free',
    );
    const ranges = await reader.indexedSats(
      places.flatMap((place) => utxos[place] ?? []),
      asker,
    );
    if (ranges === null) {
      unproven.add(noSatIndex);
      break;
    }
    for (const [index, place] of places.entries()) {
      const held = ranges[index] ?? 'unknown';
      if (held === 'unknown')
        verdicts[place] = unprovenFor('has sats that the index of sats does not know yet');
      else if (await hasSpecial(held, types)) verdicts[place] = kept('holds special sats');
    }
  }
  return verdicts;
}

const kept = (reason: string): CoinVerdict => ({ kind: 'kept', reason });
const unprovenFor = (reason: string): CoinVerdict => ({ kind: 'unproven', reason });

/** Whether an output is not spendable because something is unknown, and not because of its contents. */
function isUnproven({ spender, isImmature }: Utxo, holdings: Holdings | undefined): boolean {
  if (spender === 'unknown' || isImmature === null || holdings === undefined) return true;
  const { inscriptions, runes, unproven } = holdings;
  const isEmpty = (inscriptions?.length ?? 0) === 0 && (runes?.length ?? 0) === 0;
  return spender === 'none' && !isImmature && isEmpty && unproven.length > 0;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);
const nameOf = ({ txid, vout }: Outpoint): string => outpointText(displayHash(txid), vout);
