import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import { outpointText } from '#utxos/utxo.ts';
import { type MempoolPackage, mempoolPackage, mempoolTransaction } from './mempool-package.ts';
import { transactionsOfOrder } from './order-transactions.ts';

/** An unconfirmed, unspent output of the payment address, and the package of its transaction. */
export interface Target {
  /** `<txid>:<vout>` */
  readonly name: string;
  readonly vout: number;
  /** Sats. */
  readonly value: number;
  readonly found: MempoolPackage;
}

/** Outputs that a child may spend, the best first. There is at least one. */
export interface Targets {
  readonly kind: 'targets';
  readonly targets: readonly [Target, ...Target[]];
}

/** Finds the output that a request names. Throws the codes of NodeRpc. */
export async function targetAt(
  { node, utxos }: Pick<CoinParts, 'node' | 'utxos'>,
  payment: Signer,
  { txid, vout }: Outpoint,
): Promise<Targets | PsbtRefusal> {
  const name = outpointText(displayHash(txid), vout);
  const refuse = (words: string): PsbtRefusal => refusedPsbt(`Output ${name} ${words}`, 'utxo');
  const [confirmed = null] = await utxos.outputs([{ txid, vout }]);
  // the public interface uses these words
  if (confirmed !== null) return refuse('already confirmed');
  const found = await mempoolPackage(node, displayHash(txid));
  if (found === null)
    return refuse('is unknown, because it is spent, or its transaction is not in the mempool.');
  const { outputs, txid: id } = found.last;
  const output = outputs[vout];
  if (output === undefined)
    return refuse(`does not exist, because its transaction has only ${outputs.length} outputs.`);
  if (Buffer.compare(output.script, payment.script) !== 0)
    return refuse(`does not belong to ${payment.address}.`);
  const [spender = null] = await spendersOf(node, id, [vout]);
  if (spender !== null) return refuse(`is spent by ${spender} in the mempool.`);
  return { kind: 'targets', targets: [{ name, vout, value: output.value, found }] };
}

/**
 * The outputs of the payment address in unconfirmed transactions of an order. Transactions with the most ancestors come
 * first, because a child pays for all these ancestors. If the numbers of ancestors are equal, the largest output comes
 * first. Throws `not_found`, and the codes of NodeRpc.
 */
export async function targetsOfOrder(
  { node, pool }: Pick<CoinParts, 'node' | 'pool'>,
  payment: Signer,
  orderId: string,
): Promise<Targets | PsbtRefusal> {
  const txids = await transactionsOfOrder(pool, orderId);
  if (txids === null) throw new AppError('not_found', `no such order ${orderId.slice(0, 64)}`);
  const all: Target[] = [];
  for (const txid of txids) {
    // transactions without an output of the payment address are skipped: reading a package takes many calls, and most
    // transactions of an order pay other addresses
    const outputs = (await mempoolTransaction(node, txid))?.outputs ?? [];
    const own = outputs.flatMap(({ script, value }, vout) =>
      Buffer.compare(script, payment.script) === 0 ? [{ vout, value }] : [],
    );
    if (own.length === 0) continue;
    const vouts = own.map(({ vout }) => vout);
    const spenders = await spendersOf(node, txid, vouts);
    const unspent = own.filter((_, place) => spenders[place] === null);
    const found = unspent.length === 0 ? null : await mempoolPackage(node, txid);
    if (found === null) continue;
    all.push(...unspent.map(({ vout, value }) => ({ name: outpointText(txid, vout), vout, value, found })));
  }
  const [best, ...others] = all.toSorted(
    (a, b) => b.found.transactions.length - a.found.transactions.length || b.value - a.value,
  );
  if (best !== undefined) return { kind: 'targets', targets: [best, ...others] };
  return refusedPsbt(
    `orderId: no unconfirmed transaction of this order has an unspent output of ${payment.address}. Name the output in utxo.`,
    'orderId',
  );
}

/**
 * Transactions of the mempool that spend these outputs, in the order of the outputs. An element is null if no
 * transaction spends the output.
 */
async function spendersOf(
  node: NodeRpc,
  txid: TxidHex,
  vouts: readonly number[],
): Promise<(TxidHex | null)[]> {
  const answers = await node.call<readonly { readonly spendingtxid?: TxidHex }[]>('gettxspendingprevout', [
    vouts.map((vout) => ({ txid, vout })),
  ]);
  return answers.map(({ spendingtxid = null }) => spendingtxid);
}
