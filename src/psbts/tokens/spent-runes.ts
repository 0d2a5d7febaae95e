import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { RawTransaction } from '#indexer/transaction/raw-transaction.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import { mempoolPackage } from '#psbts/accelerating/mempool-package.ts';
import { confirmedMax, provenContentsOf, proveUnconfirmed } from '#psbts/accelerating/prove-unconfirmed.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { unprovenCoins } from '#psbts/coins/free-coins.ts';
import { outpointText } from '#utxos/utxo.ts';

/** Runes that a transaction spends. `unknown`: the runes are unknown, and a sentence has the reason. */
export type SpentRunes =
  | {
      readonly kind: 'known';
      /** The runes of each input. */
      readonly runes: readonly RuneAmount[];
      /** Other transactions of the mempool that spend the same outputs. */
      readonly rivals: readonly TxidHex[];
    }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Maximum number of unconfirmed parents. Nodes do not relay more (Bitcoin Core, DEFAULT_CLUSTER_LIMIT). */
const parentsMax = 64;

/**
 * Reads the runes in the outputs that a transaction spends. Confirmed outputs are looked up in the index. Outputs in
 * the mempool are computed from runestones. Signatures are not checked. Throws `coins_unproven`, and the codes of
 * UtxoReader and NodeRpc.
 */
export async function spentRunes(
  { utxos, node }: Pick<CoinParts, 'utxos' | 'node'>,
  { txid, inputs }: RawTransaction,
  asker: Asker,
): Promise<SpentRunes> {
  if (inputs.length > confirmedMax)
    return unknown(
      `it spends more than ${confirmedMax} outputs, so it can be checked only once it is in a block.`,
    );
  const outpoints = inputs.map(({ previousTxid, previousVout }) => ({
    txid: previousTxid,
    vout: previousVout,
  }));
  const outputs = await utxos.outputs(outpoints);
  const confirmed = outputs.filter((output) => output !== null);
  const holdings = await utxos.holdings(confirmed, asker);
  const runes: RuneAmount[] = [];
  for (const [place, output] of confirmed.entries()) {
    const held = await provenContentsOf(utxos, output, holdings[place], asker);
    if (typeof held === 'string')
      throw unprovenCoins(`its spent output ${outpointText(displayHash(output.txid), output.vout)} ${held}`);
    runes.push(...(held.runes ?? []));
  }
  const pending = outpoints.filter((_, place) => outputs[place] === null);
  const ofMempool = await pendingRunesOf({ utxos, node }, pending, asker);
  if (ofMempool.kind === 'unknown') return ofMempool;
  const own = displayHash(txid);
  const spenders = confirmed.flatMap(({ spender }) =>
    spender === 'none' || spender === 'unknown' || spender === own ? [] : [spender],
  );
  return { kind: 'known', runes: [...runes, ...ofMempool.runes], rivals: [...new Set(spenders)] };
}

async function pendingRunesOf(
  { utxos, node }: Pick<CoinParts, 'utxos' | 'node'>,
  outpoints: readonly Outpoint[],
  asker: Asker,
): Promise<
  Exclude<SpentRunes, { kind: 'known' }> | { readonly kind: 'known'; readonly runes: RuneAmount[] }
> {
  const byParent = Map.groupBy(outpoints, ({ txid }) => displayHash(txid));
  if (byParent.size > parentsMax)
    return unknown(`it spends outputs of more than ${parentsMax} unconfirmed transactions.`);
  const runes: RuneAmount[] = [];
  for (const [parent, spent] of byParent) {
    const found = await mempoolPackage(node, parent);
    const proven = found === null ? null : await proveUnconfirmed({ utxos }, found, asker);
    if (proven?.kind === 'too-many')
      return unknown(`it spends ${parent}, which has too many ancestors in the mempool.`);
    for (const { vout } of spent) {
      const name = outpointText(parent, vout);
      const contents = proven?.contents.get(name);
      if (contents === undefined)
        return unknown(
          `it spends ${name}, which is already spent, or is in no block and no mempool that this server knows.`,
        );
      if (contents.runes === null)
        return unknown(
          `it spends ${name}, whose transaction etches or mints runes and is not in a block yet.`,
        );
      runes.push(...contents.runes);
    }
  }
  return { kind: 'known', runes };
}

const unknown = (reason: string): { readonly kind: 'unknown'; readonly reason: string } => ({
  kind: 'unknown',
  reason,
});
