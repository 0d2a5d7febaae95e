import type { ClientBase } from 'pg';
import { blocksOf, headerFacts } from '#chain/blocks/header.queries.ts';
import { fingerprintKey, transactionPlaces } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { fingerprintsOf } from '#indexer/transaction/outpoint-candidates.ts';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { type ExplainedMove, explainMoves } from '#indexer/verify/explain-moves.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, parseBlockHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import { type OpenedSource, openSource } from '#src/app/sources/source.ts';

/** Maximum number of outputs of a transaction that are looked up to find its block. Each costs one index look-up. */
const probedOutputs = 64;
/**
 * Maximum size of a chain that is read completely, which takes some seconds. `/tx` without a node has the same bounds.
 */
const readThrough = { bytes: 256 * 1024 * 1024, blocks: 20_000 };
/** Bitcoin Core's error code for a transaction that it does not have, or cannot find without an index. */
const notFound = -5;

export interface RefusedQuestion {
  readonly txid: Txid;
  /** The height of the block with the transaction, if the operator names it. */
  readonly height: Height | undefined;
  readonly tip: string | undefined;
}

/** The moves of a transaction that contained no sale, or the reason why the moves are unknown. */
export type ExplainedRefusal =
  | { readonly height: Height; readonly moves: readonly ExplainedMove[] }
  | { readonly moves: null; readonly why: string };

/**
 * Explains why a transaction contained no sale. Reads the block of the transaction from the source of the settings, and
 * finds for each move the rule that refused it. If the source is unreachable, the result says so; this is not an error.
 */
export async function explainRefusal(
  context: CommandContext,
  database: Database,
  question: RefusedQuestion,
): Promise<ExplainedRefusal> {
  try {
    const opened = await openSource(context, database, { tip: question.tip, away: 'throw' });
    return await context.lifecycle.run('explain', (signal) => explain(database, opened, question, signal));
  } catch (error) {
    if (error instanceof AppError) return { moves: null, why: error.message };
    throw error;
  }
}

async function explain(
  { readers }: Database,
  opened: OpenedSource,
  { txid, height }: RefusedQuestion,
  signal: AbortSignal,
): Promise<ExplainedRefusal> {
  const { source } = opened;
  return withSnapshot(
    readers,
    async ({ client }) => {
      const key = await fingerprintKey(client);
      if (key === null) return { moves: null, why: 'No block is indexed.' };
      const ref = await findBlock(client, { txid, height, key }, opened, signal);
      if (typeof ref === 'string') return { moves: null, why: ref };
      const moves = await explainMoves(client, {
        source,
        fingerprintKey: Uint8Array.from(key),
        ref,
        txid,
        signal,
      });
      return moves === null
        ? {
            moves,
            why: `Block ${ref.height} of ${source.name} is missing, or the outputs that it spends are missing.`,
          }
        : { height: ref.height, moves };
    },
    signal,
  );
}

interface Searched {
  readonly txid: Txid;
  readonly height: Height | undefined;
  readonly key: Uint8Array;
}

/** Finds the indexed block of a transaction. Returns a text with the reason if the block is unknown. */
async function findBlock(
  client: ClientBase,
  { txid, height, key }: Searched,
  { source, node }: OpenedSource,
  signal: AbortSignal,
): Promise<BlockRef | string> {
  if (height !== undefined) {
    const named = await headerFacts(client, { kind: 'height', height });
    return named ?? `Block ${height} is not indexed.`;
  }
  const vouts = Array.from({ length: probedOutputs }, (_, vout) => vout);
  const fingerprints = fingerprintsOf(
    key,
    vouts.map((vout) => ({ txid, vout })),
  );
  const told = (await transactionPlaces(client, [{ txid, vouts, fingerprints }])).get(0);
  if (told !== undefined) return { height: told.height, hash: told.blockHash };
  const ofNode = node === null ? null : await blockOfNode(client, node.rpc, txid);
  if (ofNode !== null) return ofNode;
  const blocks = await blocksOf(client, readThrough);
  if (blocks === null)
    return 'No inscription in the first 64 outputs of the transaction leads to its block. Name the block with --height N, or use a node with txindex=1.';
  for (const ref of blocks.toReversed()) {
    const { bytes } = await source.read(ref, signal);
    if (hasTransaction(bytes, txid)) return ref;
  }
  return 'No indexed block has the transaction.';
}

async function blockOfNode(client: ClientBase, rpc: NodeRpc, txid: Txid): Promise<BlockRef | null> {
  try {
    const found = await rpc.call<{ blockhash?: string }>('getrawtransaction', [displayHash(txid), true]);
    const hash = parseBlockHash(found.blockhash ?? '');
    return hash === null ? null : await headerFacts(client, { kind: 'hash', hash });
  } catch (error) {
    const isUnknown =
      error instanceof AppError && error.code === 'node_call_failed' && error.details['rpcCode'] === notFound;
    if (isUnknown) return null;
    throw error;
  }
}

function hasTransaction(block: Uint8Array, txid: Txid): boolean {
  const transactions = RawTransactions.ofBlock(block);
  for (let tx = 0; tx < transactions.count; tx++)
    if (Buffer.compare(transactions.txid(tx), txid) === 0) return true;
  return false;
}
