import { type RuneDetail, runeDetail } from '#chain/runes/rune.queries.ts';
import { outputsWithRune } from '#chain/runes/rune-outputs.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128, trustedU128 } from '#kernel/runes/u128.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { namedOutput } from '#psbts/coins/named-output.ts';
import type { PsbtInput } from '#psbts/planning/psbt-plan.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import { etchedAgain } from '#tokenpay/order/token-order.ts';

/** Outputs of an address that provide units of a rune. */
export interface RuneInputs {
  readonly kind: 'found';
  readonly rune: RuneDetail;
  readonly inputs: readonly PsbtInput[];
  /** All runes in these outputs, by output. */
  readonly runes: readonly RuneAmount[];
}

/** Units that a transaction needs. */
export interface WantedUnits {
  readonly rune: Rune;
  /** The etching that the name must belong to. Null means any etching. */
  readonly etching: Txid | null;
  /** Base units. */
  readonly amount: bigint;
  /** The receiver in words, for example `the order`. */
  readonly taker: string;
}

/** Maximum number of inputs of one payment. A wallet shows each input, and most payments need only one. */
const inputsMax = 50;
/** Maximum number of outputs to read. Some of them may be spent or inscribed. */
const lookedAtMax = 100;

/**
 * Finds outputs of the ordinals address that together have at least the wanted units of a rune. They are confirmed, not
 * spent in the mempool, and without inscriptions. The outputs with the most units come first. Refuses if there are too
 * few units, or if another etching has the name. Throws `coins_unproven`, `not_found`, `index_missing`, and the codes
 * of UtxoReader and NodeRpc.
 */
export async function runeInputs(
  parts: CoinParts,
  ordinals: Signer,
  wanted: WantedUnits,
  asker: Asker,
): Promise<RuneInputs | PsbtRefusal> {
  const listed = await withSnapshot(
    parts.pool,
    async ({ client }) => {
      const rune = await runeDetail(client, { kind: 'rune', rune: wanted.rune });
      if (rune === null) return null;
      if (wanted.etching !== null && Buffer.compare(rune.etching, wanted.etching) !== 0) return 'other';
      return { rune, outputs: await outputsWithRune(client, ordinals.script, rune.key, lookedAtMax) };
    },
    asker.signal,
  );
  if (listed === null) return refusedPsbt('The etching of the rune is no longer in a block.');
  if (listed === 'other') return refusedPsbt(etchedAgain, 'orderId');
  const { rune, outputs } = listed;
  const inputs: PsbtInput[] = [];
  const runes: RuneAmount[] = [];
  const leftOut: string[] = [];
  let units = 0n;
  for (const output of outputs) {
    if (units >= wanted.amount || inputs.length === inputsMax) break;
    const found = await namedOutput(parts, output, 'ordinalAddress', asker);
    if (found.kind === 'refused') leftOut.push(found.reason);
    else if (found.inscriptions.length > 0) leftOut.push(`The output ${found.name} holds an inscription.`);
    else {
      const { txid, vout, value, blockHash } = found.utxo;
      inputs.push({ txid, vout, value: BigInt(value), signer: ordinals, blockHash });
      runes.push(...found.runes);
      units += output.amount;
    }
  }
  if (units >= wanted.amount) return { kind: 'found', rune, inputs, runes };
  return refusedPsbt(tooFew({ ...wanted, rune, ordinals, units, leftOut }), 'ordinalAddress');
}

/** Maximum number of reasons that are shown for omitted outputs. */
const toldMax = 5;

function tooFew({
  rune,
  ordinals,
  units,
  amount,
  taker,
  leftOut,
}: Pick<WantedUnits, 'amount' | 'taker'> & {
  readonly rune: RuneDetail;
  readonly ordinals: Signer;
  readonly units: bigint;
  readonly leftOut: readonly string[];
}): string {
  const shown = (of: bigint): string => shownAmount(trustedU128(of), rune.divisibility);
  const name = formatSpacedRune(rune);
  return [
    `ordinalAddress: ${ordinals.address} has only ${shown(units)} ${name} in at most ${inputsMax} confirmed outputs, but ${taker} needs ${shown(amount)}.`,
    ...leftOut.slice(0, toldMax),
  ].join('\n');
}

/** The id of a rune in the form of edicts. */
export const runeIdOf = ({ height, txIndex }: RuneDetail) => ({ block: asU128(height), tx: txIndex });
