import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { excessOf } from '#orders/ledger/settlements.ts';
import { hasUnspentOutput, type MempoolStanding, mempoolStanding } from '#orders/sending/mempool-standing.ts';
import { outpointOf, shownTxidOf } from '#purse/transactions/outpoint.ts';
import { holdingsOf } from '#purse/transactions/stored-holdings.ts';
import type { OverdueTransaction } from './bump.store.ts';
import type { OwnedOutput } from './plan-bump.ts';
import { type WaitingParent, wantedRate } from './stuck.ts';

/** An overdue, unmined transaction, with its output that can pay for a bump. */
export interface FoundParent extends WaitingParent {
  readonly overdue: OverdueTransaction;
  /** The transaction's unmined ancestors. An ancestor comes before its descendants. */
  readonly ancestors: readonly OverdueTransaction[];
}

export interface FoundStuck {
  readonly parents: readonly FoundParent[];
  /** Orders with a stuck transaction that none of our outputs can pay for now. */
  readonly helpless: readonly string[];
}

/** Kinds of outputs that only we spend. */
const payingKinds: ReadonlySet<string> = new Set(['service', 'change', 'anchor']);

/** Asks the node about overdue transactions, and finds those that a child can pay for. */
export async function findStuck(
  node: NodeRpc,
  overdue: readonly OverdueTransaction[],
  urgentRate: bigint,
): Promise<FoundStuck> {
  const standings = await standingsOf(node, overdue);
  const unmined = overdue.filter(({ txid }) => standings.has(displayHash(txid)));
  const byId = new Map(unmined.map((each) => [displayHash(each.txid) as string, each]));
  const spent = new Set(unmined.flatMap(({ plan }) => plan.inputs.map(({ outpoint }) => outpoint)));
  const parents: FoundParent[] = [];
  const helpless = new Set<string>();
  for (const transaction of unmined) {
    const mempool = standings.get(displayHash(transaction.txid)) ?? null;
    const ancestors = ancestorsOf(transaction, byId);
    const output = payingOutput(transaction, spent);
    // if an ancestor is not in the mempool, the transaction waits until the ancestor is bumped
    const isBlocked = ancestors.some((each) => standings.get(displayHash(each.txid)) === null);
    if (output !== null && !isBlocked && (mempool !== null || ancestors.length === 0)) {
      const [first] = ancestors;
      const cluster = first === undefined ? mempool : standings.get(displayHash(first.txid));
      parents.push({
        ...parentOf(transaction, output, unmined),
        mempool: clusterOf(mempool, cluster),
        commit: first === undefined ? null : sumOf(displayHash(first.txid), ancestors),
        wantedRate: wantedRate(transaction.feeRate, transaction.paidEstimate, urgentRate),
        ancestors,
      });
    } else if (mempool === null && ancestors.length === 0) helpless.add(transaction.orderId);
  }
  return { parents, helpless: [...helpless] };
}

function parentOf(
  transaction: OverdueTransaction,
  output: OwnedOutput,
  unmined: readonly OverdueTransaction[],
): Omit<FoundParent, 'mempool' | 'commit' | 'wantedRate' | 'ancestors'> {
  const { txid, orderId, virtualBytes } = transaction;
  const { revealed } = transaction;
  // for a burn, add its reveal, because the reveal may be mined and shows whether too much was paid
  const before = revealed === null ? [] : [{ txid, kind: 'reveal' as const, plan: revealed }];
  const excess = excessOf(transaction, [...unmined.filter((each) => each.orderId === orderId), ...before]);
  return {
    id: displayHash(txid),
    overdue: transaction,
    orderId,
    fee: BigInt(transaction.fee),
    virtualBytes,
    output,
    owed: excess !== null && outpointOf(excess) === outpointOf(output) ? excess.owed : 0n,
  };
}

/**
 * State of each transaction in the mempool, by id. Null if the transaction is not in the mempool. Mined transactions
 * are left out.
 */
async function standingsOf(
  node: NodeRpc,
  overdue: readonly OverdueTransaction[],
): Promise<Map<string, MempoolStanding | null>> {
  const standings = new Map<string, MempoolStanding | null>();
  for (const { txid, plan } of overdue) {
    const standing = await mempoolStanding(node, txid);
    const ours = plan.outputs.findIndex(({ kind }) => payingKinds.has(kind));
    const isMined =
      standing === null && (await hasUnspentOutput(node, txid, new Set([0, Math.max(ours, 0)])));
    if (!isMined) standings.set(displayHash(txid), standing);
  }
  return standings;
}

/** Unmined ancestors of a transaction. An ancestor comes before its descendants. */
function ancestorsOf(
  { plan }: OverdueTransaction,
  byId: ReadonlyMap<string, OverdueTransaction>,
): OverdueTransaction[] {
  const found = new Set<OverdueTransaction>();
  for (const { outpoint } of plan.inputs) {
    const parent = byId.get(shownTxidOf(outpoint));
    // a reveal spends several outputs of the reveal before it (the returned parents), so the same ancestor is found
    // several times
    if (parent === undefined || found.has(parent)) continue;
    for (const each of ancestorsOf(parent, byId)) found.add(each);
    found.add(parent);
  }
  return [...found];
}

function payingOutput(
  { txid, plan, ownIndex, isBurned }: OverdueTransaction,
  spent: ReadonlySet<string>,
): OwnedOutput | null {
  if (isBurned) return null;
  const vout = plan.outputs.findIndex(({ kind }) => payingKinds.has(kind));
  const output = plan.outputs[vout];
  if (output === undefined || spent.has(outpointOf({ txid, vout }))) return null;
  return {
    txid,
    vout,
    value: BigInt(output.value),
    script: Buffer.from(output.script, 'hex'),
    key: output.kind === 'anchor' ? null : { branch: 1, index: ownIndex },
    ...(output.holds === undefined ? {} : { holds: holdingsOf(output.holds) }),
  };
}

/** The transaction's own state, with the cluster of its first ancestor. Both are in the same cluster. */
const clusterOf = (
  own: MempoolStanding | null,
  first: MempoolStanding | null | undefined,
): MempoolStanding | null => (own === null || first == null ? own : { ...own, cluster: first.cluster });

const sumOf = (id: string, ancestors: readonly OverdueTransaction[]) => ({
  id,
  fee: ancestors.reduce((sum, { fee }) => sum + BigInt(fee), 0n),
  virtualBytes: ancestors.reduce((sum, { virtualBytes }) => sum + virtualBytes, 0),
});
