import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { unprovenCoins } from '#psbts/coins/free-coins.ts';
import type { Holdings } from '#utxos/held-by-outputs.ts';
import { outpointText, type Utxo } from '#utxos/utxo.ts';
import { type Contents, followContents } from './follow-contents.ts';
import type { MempoolPackage } from './mempool-package.ts';

/**
 * Maximum number of confirmed outputs that are looked up per package. A payment spends only a few. More outputs would
 * keep the node busy for longer than a second.
 */
export const confirmedMax = 500;

/** Result of the proof. `too-many`: the package spends more confirmed outputs than the maximum. */
export type ProvenContents =
  | { readonly kind: 'proven'; readonly contents: ReadonlyMap<string, Contents> }
  | { readonly kind: 'too-many' };

/**
 * Proves the contents of all outputs of unconfirmed transactions, by outpoint. The contents of the confirmed outputs
 * that the transactions spend are followed through them. Throws `coins_unproven`, and the codes of UtxoReader and
 * NodeRpc.
 */
export async function proveUnconfirmed(
  { utxos }: Pick<CoinParts, 'utxos'>,
  { transactions }: MempoolPackage,
  asker: Asker,
): Promise<ProvenContents> {
  const own = new Set<string>(transactions.map(({ txid }) => txid));
  const spent = transactions
    .flatMap(({ inputs }) => inputs.map(({ outpoint }) => outpoint))
    .filter((outpoint) => !own.has(outpoint.slice(0, txidChars)));
  if (spent.length > confirmedMax) return { kind: 'too-many' };
  const outputs = await confirmed(utxos, spent);
  const holdings = await utxos.holdings(outputs, asker);
  const sats = await utxos.indexedSats(outputs, asker);
  const known = new Map<string, Contents>();
  for (const [place, output] of outputs.entries()) {
    const name = outpointText(displayHash(output.txid), output.vout);
    const held = await provenContentsOf(utxos, output, holdings[place], asker);
    if (typeof held === 'string') throw unprovenCoins(`its ancestor ${name} ${held}`);
    const ranges = sats === null ? null : (sats[place] ?? 'unknown');
    if (ranges === 'unknown')
      throw unprovenCoins(`its ancestor ${name} has sats that the index of sats does not know yet`);
    known.set(name, { value: output.value, ...held, ranges });
  }
  return { kind: 'proven', contents: followContents(transactions, known) };
}

/**
 * Reads the inscriptions and runes of a confirmed output. If they cannot be proven, returns the reason as the end of a
 * sentence that begins with the name of the output.
 */
export async function provenContentsOf(
  utxos: CoinParts['utxos'],
  output: Utxo,
  holdings: Holdings | undefined,
  asker: Asker,
): Promise<Pick<Contents, 'inscriptions' | 'runes'> | string> {
  const { inscriptions = null, runes = null, unproven = [] } = holdings ?? {};
  if (inscriptions === null || runes === null)
    return `cannot be used, because this server cannot prove that it holds nothing: ${unproven.join(', ')}`;
  if (inscriptions.length === 0 && runes.length === 0) return { inscriptions: [], runes: [] };
  const { placed, amounts } = await utxos.contents(output, asker);
  // the index keeps only the beginning of a long script, but positions are looked up by the complete script
  const isWhole = placed.length === inscriptions.length && amounts?.length === runes.length;
  if (!isWhole) return 'holds inscriptions or runes that cannot be followed';
  return { inscriptions: placed.map(({ offset }) => Number(offset)), runes: amounts };
}

const txidChars = 64;

async function confirmed(utxos: CoinParts['utxos'], outpoints: readonly string[]): Promise<Utxo[]> {
  const found = await utxos.outputs(
    outpoints.map((outpoint) => {
      const txid = parseTxid(outpoint.slice(0, txidChars));
      if (txid === null)
        throw new AppError('node_answer_invalid', 'The node returned an input that spends no output.');
      return { txid, vout: Number(outpoint.slice(txidChars + 1)) };
    }),
  );
  return found.map((output, place) => {
    if (output !== null) return output;
    throw unprovenCoins(`its ancestor ${outpoints[place]} is no longer in the chain; try again`);
  });
}
