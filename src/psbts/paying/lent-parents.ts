import { inscriptionKeys } from '#chain/inscriptions/inscription.queries.ts';
import { currentLocations, type Location } from '#chain/inscriptions/location.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { parseOutpoint } from '#kernel/bitcoin/parse-outpoint.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { OpenOrder, OpenParent } from '#orders/paying/open-order.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { unprovenCoins } from '#psbts/coins/free-coins.ts';
import { namedOutput } from '#psbts/coins/named-output.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import type { LentInput } from './payment-layout.ts';

interface FoundParents {
  readonly kind: 'parents';
  readonly parents: readonly LentInput[];
}

/** A parent that has not arrived, with its index among the parents of the order. */
type Awaited = readonly [index: number, parent: OpenParent];

/**
 * Finds the outputs of the ordinals address with the parents that an order still waits for, in the sequence of the
 * parents. Refuses if a parent is at another address, or if two parents are in one output. Also refuses if an output
 * holds contents that would not return with its parent. Throws the errors of `namedOutput`.
 */
export async function lentParents(
  parts: CoinParts,
  { parents }: Pick<OpenOrder, 'parents'>,
  ordinals: Signer,
  asker: Asker,
): Promise<FoundParents | PsbtRefusal> {
  const awaited = [...parents.entries()].filter(([, { came }]) => came === null);
  const places = await locationsOf(parts, awaited, asker);
  const byOutpoint = new Map<string, string>();
  const asked: Asked[] = [];
  for (const [at, [index, parent]] of awaited.entries()) {
    const { inscriptionId } = parent;
    const place = places[at];
    const outpoint = place?.place === 'output' ? parseOutpoint(place.outpoint) : null;
    if (place === undefined || outpoint === null)
      throw unprovenCoins(`of the parent ${inscriptionId} is not known to the index`);
    const other = byOutpoint.get(place.outpoint);
    if (other !== undefined) return refusedPsbt(togetherIn(place.outpoint, other, inscriptionId));
    byOutpoint.set(place.outpoint, inscriptionId);
    asked.push({ index, parent, outpoint, ordinals, isFirst: at === 0 });
  }
  const lent: LentInput[] = [];
  for (const each of asked) {
    const found = await lentParent(parts, each, asker);
    if (found.kind === 'refused') return found;
    lent.push(found.lent);
  }
  return { kind: 'parents', parents: lent };
}

const togetherIn = (outpoint: string, one: string, other: string): string =>
  `The parents ${one} and ${other} are in the same output, ${outpoint}, but each parent goes to its own deposit address. Move them to separate outputs first.`;

interface Asked {
  readonly index: number;
  readonly parent: OpenParent;
  readonly outpoint: Outpoint;
  readonly ordinals: Signer;
  /** Whether the deposit of this parent is the first output of the transaction. */
  readonly isFirst: boolean;
}

async function lentParent(
  parts: CoinParts,
  { index, parent, outpoint, ordinals, isFirst }: Asked,
  asker: Asker,
): Promise<{ readonly kind: 'lent'; readonly lent: LentInput } | PsbtRefusal> {
  const { inscriptionId, depositScript } = parent;
  const found = await namedOutput(parts, outpoint, `parent ${inscriptionId}`, asker);
  if (found.kind === 'refused') return refusedPsbt(found.reason);
  const { utxo, name, inscriptions, runes } = found;
  // the index may already have a block that was not yet scanned for payments of orders
  if (Buffer.compare(utxo.script, depositScript) === 0)
    return refusedPsbt(
      `The parent ${inscriptionId} is already at its deposit address, in ${name}. Try again in a few seconds, when the order knows this.`,
    );
  if (Buffer.compare(utxo.script, ordinals.script) !== 0)
    return refusedPsbt(`The parent ${inscriptionId} is not at the ordinals address ${ordinals.address}.`);
  const least = dustOf(depositScript);
  if (utxo.value < least)
    return refusedPsbt(
      `The output ${name} of the parent ${inscriptionId} has ${utxo.value} sats, but nodes relay at least ${least} sats to its deposit. Move the parent to a larger output first.`,
    );
  const other = inscriptions.find(({ id }) => id !== inscriptionId);
  if (other !== undefined)
    return refusedPsbt(
      `The output ${name} of the parent ${inscriptionId} also holds the inscription ${other.id}. Move them to separate outputs first.`,
    );
  // runes without an edict go to the first output of the transaction
  if (runes.length > 0 && !isFirst)
    return refusedPsbt(
      `The output ${name} of the parent ${inscriptionId} holds runes, which would go to the deposit of another parent. Send that parent first, or move the runes.`,
    );
  const { txid, vout, value, blockHash } = utxo;
  const input = { txid, vout, value: BigInt(value), signer: ordinals, blockHash };
  return { kind: 'lent', lent: { index, input, depositScript, runes } };
}

/**
 * Locations of inscriptions according to the index, in the same order. An element is undefined if the index does not
 * know the inscription.
 */
async function locationsOf(
  { pool }: CoinParts,
  awaited: readonly Awaited[],
  { signal }: Asker,
): Promise<(Location | undefined)[]> {
  const ids = awaited.flatMap(([, { inscriptionId }]) => parseInscriptionId(inscriptionId) ?? []);
  return withSnapshot(
    pool,
    async ({ client }) => {
      const keys = await inscriptionKeys(client, ids);
      const places = await currentLocations(
        client,
        keys.filter((key) => key !== null),
      );
      return keys.map((key) => (key === null ? undefined : places.get(key)));
    },
    signal,
  );
}
