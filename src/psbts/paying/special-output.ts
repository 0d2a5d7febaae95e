import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import { specialSats } from '#kernel/satributes/special-ranges.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { OpenOrder } from '#orders/paying/open-order.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { unprovenCoins } from '#psbts/coins/free-coins.ts';
import { type NamedOutput, namedOutput } from '#psbts/coins/named-output.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import type { SpecialInput } from './payment-layout.ts';

const field = 'specialSatsOutput';
/**
 * Number of ranges that are compared with all satributes per turn of the event loop. 100 ranges take a few
 * milliseconds.
 */
const rangesInTurn = 100;

const firstSat =
  'This server has no index of sats, so it does not know the special sat of specialSatsOutput. The first sat of the output is inscribed.';

/** The special output, and sentences about kinds of contents that were not searched for. */
export interface FoundSpecial {
  readonly kind: 'special';
  readonly special: SpecialInput;
  readonly unproven: readonly string[];
}

/**
 * Finds the sat in a named output that an order will inscribe. If the order allows only certain satributes, it is the
 * first allowed sat. Otherwise it is the first special sat according to the index of sats, or else the first sat of the
 * output. Refuses if the output is not at the ordinals address, holds an inscription or a rune, or has no such sat.
 * Throws the errors of `namedOutput`, and the codes of SatTracer.
 */
export async function specialOutput(
  parts: CoinParts,
  order: Pick<OpenOrder, 'allowedSatributes'>,
  ordinals: Signer,
  outpoint: Outpoint,
  asker: Asker,
): Promise<FoundSpecial | PsbtRefusal> {
  const found = await namedOutput(parts, outpoint, field, asker);
  if (found.kind === 'refused') return found;
  const { utxo, name } = found;
  const refuse = (words: string): PsbtRefusal => refusedPsbt(`${field}: the output ${name} ${words}.`, field);
  const words = whyNotSpecial(found, ordinals);
  if (words !== null) return refuse(words);
  const { allowedSatributes } = order;
  const placed =
    allowedSatributes === null
      ? await anySat(parts, found, asker)
      : await allowedSat(parts, found, allowedSatributes, asker);
  if (placed === null) return refuse(`has no sat that is ${(allowedSatributes ?? []).join(' or ')}`);
  const { txid, vout, value, blockHash } = utxo;
  const { place, ranges, unproven } = placed;
  const input = { txid, vout, value: BigInt(value), signer: ordinals, blockHash };
  return { kind: 'special', special: { input, place: BigInt(place), ranges }, unproven };
}

/**
 * Explains why an output must not be spent for its sats, in words that follow its name. Returns null if it may be
 * spent.
 */
function whyNotSpecial(
  { utxo, inscriptions, runes }: NamedOutput,
  { script, address }: Signer,
): string | null {
  if (Buffer.compare(utxo.script, script) !== 0) return `is not at the ordinals address ${address}`;
  const [inscription] = inscriptions;
  if (inscription !== undefined) return `holds the inscription ${inscription.id}`;
  return runes.length > 0 ? 'holds runes' : null;
}

interface PlacedSat extends Pick<SpecialInput, 'ranges'> {
  readonly place: number;
  readonly unproven: readonly string[];
}

/** Finds the first special sat according to the index of sats. Without an index, it is the first sat. */
async function anySat(parts: CoinParts, { utxo, name }: NamedOutput, asker: Asker): Promise<PlacedSat> {
  const known = await parts.utxos.indexedSats([utxo], asker);
  if (known === null) return { place: 0, ranges: null, unproven: [firstSat] };
  const [ranges = 'unknown'] = known;
  if (ranges === 'unknown') throw unprovenCoins(`${name} has sats that the index of sats does not know yet`);
  const place = (await firstSpecial(ranges, parts.satributes.findable)) ?? 0;
  return { place, ranges, unproven: [] };
}

/** Finds the first sat with one of these satributes. Returns null if there is no such sat. */
async function allowedSat(
  parts: CoinParts,
  found: NamedOutput,
  allowed: readonly string[],
  asker: Asker,
): Promise<PlacedSat | null> {
  const ranges = await rangesOf(parts, found, asker);
  const satributes = allowed.flatMap((spelling) => parts.satributes.find(spelling) ?? []);
  const place = await firstSpecial(ranges, satributes);
  return place === null ? null : { place, ranges, unproven: [] };
}

/** Reads all sats of an output. If no index has them, they are traced back. */
async function rangesOf(
  { utxos }: CoinParts,
  { utxo, name }: NamedOutput,
  asker: Asker,
): Promise<readonly SatRange[]> {
  const [sats] = await utxos.sats([utxo], asker, []);
  if (sats?.state === 'known') return sats.ranges;
  throw unprovenCoins(`${name} has unknown sats: ${sats?.reason ?? 'it is not there'}`);
}

/**
 * Number of sats of an output before its first sat with one of these satributes. Returns null if there is no such sat.
 */
async function firstSpecial(
  ranges: readonly SatRange[],
  satributes: readonly Satribute[],
): Promise<number | null> {
  let before = 0;
  for (const [at, range] of ranges.entries()) {
    const [special] = specialSats([range], satributes, 1).ranges;
    if (special !== undefined) return before + special.offset;
    before += range.end - range.start;
    if (at % rangesInTurn === rangesInTurn - 1) await nextTurn();
  }
  return null;
}
