import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { HeldInscription, RuneAmount } from '#kernel/contracts/holdings.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import { outpointText, type Utxo } from '#utxos/utxo.ts';
import type { CoinParts } from './coin-parts.ts';
import { unprovenCoins } from './free-coins.ts';

/**
 * A confirmed, unspent output of any address that a request names by its outpoint. All contents of the output are
 * proven.
 */
export interface NamedOutput {
  readonly kind: 'found';
  /** `<txid>:<vout>` */
  readonly name: string;
  readonly utxo: Utxo;
  /** Inscriptions in the output, sorted by their positions. */
  readonly inscriptions: readonly HeldInscription[];
  readonly runes: readonly RuneAmount[];
}

/**
 * Looks up the output that a request names in a field. Refuses if the output is spent (also in the mempool),
 * unconfirmed, immature, or does not exist. Throws `coins_unproven`, and the codes of UtxoReader and NodeRpc.
 */
export async function namedOutput(
  parts: Pick<CoinParts, 'utxos' | 'node'>,
  outpoint: Outpoint,
  field: string,
  asker: Asker,
): Promise<NamedOutput | PsbtRefusal> {
  const name = outpointText(displayHash(outpoint.txid), outpoint.vout);
  const refuse = (words: string): PsbtRefusal => refusedPsbt(`${field}: the output ${name} ${words}.`, field);
  const [utxo = null] = await parts.utxos.outputs([outpoint]);
  if (utxo === null) return refuse(await whyNotThere(parts, outpoint));
  if (utxo.spender !== 'none') return refuse(`is spent by ${utxo.spender} in the mempool`);
  if (utxo.isImmature !== false) return refuse('is a coinbase output that is too young to be spent');
  const { unproven, placed, amounts } = await parts.utxos.contents(utxo, asker);
  if (unproven.length > 0 || amounts === null)
    throw unprovenCoins(`${name} is not proven to hold nothing else, because ${unproven.join(', ')}`);
  const inscriptions = placed.toSorted((a, b) => Number(a.offset - b.offset));
  return { kind: 'found', name, utxo, inscriptions, runes: amounts };
}

/** Explains why an output is not unspent in a block, in words that follow "the output". */
async function whyNotThere({ node }: Pick<CoinParts, 'node'>, { txid, vout }: Outpoint): Promise<string> {
  const parameters = [displayHash(txid), vout, true];
  const pending = await node.call<object | null>('gettxout', parameters);
  return pending === null
    ? 'is spent, or does not exist'
    : 'is not confirmed; wait until its transaction is in a block';
}
