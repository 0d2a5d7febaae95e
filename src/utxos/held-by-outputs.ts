import { knowsInscriptions } from '#chain/blocks/coverage.queries.ts';
import { blockMoments } from '#chain/blocks/header.queries.ts';
import { fingerprintKey, knownOutputs } from '#chain/outputs/output.queries.ts';
import { type RuneBalance, runesOfOutputs } from '#chain/runes/rune-balances.queries.ts';
import { fingerprintsOf } from '#indexer/transaction/outpoint-candidates.ts';
import type { HeldInscription, RuneAmount } from '#kernel/contracts/holdings.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { SpecialSats } from '#kernel/satributes/special-ranges.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { ListedOutput } from './utxo.ts';

/** Inscriptions and runes of an output. `inscriptions` or `runes` is null if there is no proof here. */
export interface Holdings {
  readonly inscriptions: readonly InscriptionId[] | null;
  readonly runes: readonly RuneBalance[] | null;
  /** Reasons why a field is null. The list is empty if everything is proven. */
  readonly unproven: readonly string[];
}

/** Contents of an output in the form that plans use. */
export interface PlacedHoldings {
  readonly placed: readonly HeldInscription[];
  /** Amounts of the runes, or null if the runes are unknown. */
  readonly amounts: readonly RuneAmount[] | null;
}

/** The sats of an output, or the reason why they are unknown. */
export type HeldSats =
  | { readonly state: 'known'; readonly ranges: readonly SatRange[]; readonly special: SpecialSats }
  | { readonly state: 'unknown'; readonly reason: string };

/** Whether it is proven that an output holds neither inscriptions nor runes. */
export const isFree = ({ inscriptions, runes }: Holdings): boolean =>
  inscriptions?.length === 0 && runes?.length === 0;

/**
 * Reads the inscriptions and runes of outputs, in the order of the outputs, if the index proves them. For a proof, the
 * index needs every block that can hold inscriptions or runes, and the output's block must be on the indexed chain.
 * Must be called in a snapshot. The number of reads does not depend on the number of outputs.
 */
export async function heldByOutputs(
  { client, tip }: Snapshot,
  outputs: readonly ListedOutput[],
): Promise<Holdings[]> {
  const key = await fingerprintKey(client);
  const isWhole = await knowsInscriptions(client);
  const runes = await runesOfOutputs(client, outputs);
  const { byPlace } =
    key === null
      ? { byPlace: new Map<number, { readonly inscriptions: readonly InscriptionId[] }>() }
      : await knownOutputs(client, outputs, fingerprintsOf(key, outputs));
  const blocks = await blockMoments(client, [...new Set(outputs.map(({ height }) => height))]);
  return outputs.map((output, place) => {
    const block = blocks.get(output.height);
    const isOther = block !== undefined && displayHash(block.hash) !== output.blockHash;
    if (tip === null || output.height > tip.height || isOther)
      return { inscriptions: null, runes: null, unproven: [isOther ? onOtherChain : notIndexed] };
    const balances = runes.of(output);
    return {
      inscriptions: isWhole ? (byPlace.get(place)?.inscriptions ?? []) : null,
      runes: balances,
      unproven: [...(isWhole ? [] : [noInscriptions]), ...(balances === null ? [noRunes] : [])],
    };
  });
}

const notIndexed = 'its block is not indexed yet';
const onOtherChain = 'its block is not part of the indexed chain';
const noInscriptions = 'not every block that can hold inscriptions is indexed';
const noRunes = 'runes are not indexed, or not for every block yet';
