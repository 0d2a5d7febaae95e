import { inscriptionKey } from '#chain/inscriptions/inscription.queries.ts';
import { currentLocations, type Location } from '#chain/inscriptions/location.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { TypeRules } from '#inventory/type-rules.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseTxid } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { type SpecialRange, specialSats } from '#kernel/satributes/special-ranges.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { unprovenCoins } from '#psbts/coins/free-coins.ts';
import { type NamedOutput, namedOutput } from '#psbts/coins/named-output.ts';
import type { PsbtInput } from '#psbts/planning/psbt-plan.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signer } from '#psbts/signers/signer.ts';

/** An output of the ordinals address with inscriptions, and its known contents. */
export interface BurnedOutput extends NamedOutput {
  readonly input: PsbtInput;
  /** Special sats in the output, of the types that the inventory has. */
  readonly special: readonly SpecialRange[];
  /** Sentences about kinds of contents that were not searched for. */
  readonly unproven: readonly string[];
}

/** Maximum number of special ranges that are read per output. One output may have thousands of palindromes. */
const specialMax = 10_000;

const noSatIndex =
  'Special sats were not looked for in the output that is burned, because this server has no index of sats.';

/**
 * Reads the output that a burn request names in the field `utxo`. Refuses if it is not an unspent, confirmed output of
 * the ordinals address, or if it holds no inscription. Throws `coins_unproven`, and the codes of UtxoReader and
 * NodeRpc.
 */
export async function burnedOutput(
  parts: CoinParts,
  ordinals: Signer,
  outpoint: Outpoint,
  asker: Asker,
): Promise<BurnedOutput | PsbtRefusal> {
  const named = await namedOutput(parts, outpoint, 'utxo', asker);
  if (named.kind === 'refused') return named;
  const { utxo, name, inscriptions } = named;
  const refuse = (words: string): PsbtRefusal => refusedPsbt(`utxo: the output ${name} ${words}.`, 'utxo');
  if (Buffer.compare(utxo.script, ordinals.script) !== 0)
    return refuse(`does not belong to ${ordinals.address}, the ordinals address`);
  if (inscriptions.length === 0) return refuse('holds no inscription');
  const { txid, vout, value, blockHash } = utxo;
  const special = await specialIn(parts, named, asker);
  return {
    ...named,
    input: { txid, vout, value: BigInt(value), signer: ordinals, blockHash },
    special: special ?? [],
    unproven: special === null ? [noSatIndex] : [],
  };
}

/** Special ranges in the output, or null if this server has no index of sats. */
async function specialIn(
  { utxos, satributes }: CoinParts,
  { utxo, name }: NamedOutput,
  asker: Asker,
): Promise<readonly SpecialRange[] | null> {
  const sats = await utxos.indexedSats([utxo], asker);
  if (sats === null) return null;
  const [ranges = 'unknown'] = sats;
  if (ranges === 'unknown') throw unprovenCoins(`${name} has sats that the index of sats does not know yet`);
  return specialSats(ranges, new TypeRules(satributes).satributes, specialMax).ranges;
}

/**
 * Finds the output that holds an inscription, according to the index. Refuses if no output holds it. Throws `not_found`
 * for an unknown inscription, and `coins_unproven` if the inscription's position is unknown.
 */
export async function outputOfInscription(
  { pool }: Pick<CoinParts, 'pool'>,
  id: InscriptionId,
  { signal }: Asker,
): Promise<Outpoint | PsbtRefusal> {
  const shown = formatInscriptionId(id.txid, id.index);
  const location = await withSnapshot(
    pool,
    async ({ client }) => {
      const key = await inscriptionKey(client, { kind: 'id', id });
      if (key === null) throw new AppError('not_found', `the inscription ${shown} is unknown`);
      return (await currentLocations(client, [key])).get(key) ?? null;
    },
    signal,
  );
  if (location === null)
    throw unprovenCoins(`of ${shown} is unknown, because blocks since its reveal are missing`);
  const refuse = (words: string): PsbtRefusal =>
    refusedPsbt(`inscriptionId: ${shown} ${words}.`, 'inscriptionId');
  if (location.place !== 'output') return refuse(`is ${location.place} and not in an output`);
  return isBurned(location) ? refuse('is burned already') : outpointOf(location);
}

const opReturn = 0x6a;
const isBurned = ({ script }: Location): boolean => script?.[0] === opReturn;

function outpointOf({ outpoint }: Location): Outpoint {
  const [hash = '', vout = ''] = outpoint.split(':');
  const txid = parseTxid(hash);
  if (txid === null) throw new AppError('node_answer_invalid', 'a place of an inscription is no output');
  return { txid, vout: Number(vout) };
}
