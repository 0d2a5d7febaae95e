import { openFacts } from '#indexer/facts/block-facts.ts';
import type { Fact } from '#indexer/facts/fact.ts';
import { readFacts } from '#indexer/facts/read-facts.ts';
import { applyBlock } from '#indexer/ledger/inscriptions/apply-block.ts';
import type { HeldInscriptions } from '#indexer/ledger/ledger-block.ts';
import { type ClassifiedMove, classifyMoves } from '#indexer/ledger/sales/classify-moves.ts';
import { type MovedBlock, tradingTransactions } from '#indexer/ledger/sales/find-moves.ts';
import { decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { BlockLayout, roomForOnce } from '#indexer/transaction/block-layout.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { BlockBuilder } from '#test/builders/block.ts';
import { SpentWriter } from '#test/builders/block-folder.ts';
import type { MarketTransaction } from './market-coins.ts';

const height = 200;
const facts = new Set<Fact>(['spent-scripts', 'signatures']);
const fingerprintKey = new Uint8Array(32).fill(7);

/** A block of some transactions, with the inscriptions that it spends, as the index sees it. */
export function marketBlock(transactions: readonly MarketTransaction[]): MovedBlock {
  const builder = new BlockBuilder();
  const spent = new SpentWriter();
  const held: { input: number; key: number; satOffset: number }[] = [];
  // input 0 of the block is that of the coinbase
  let input = 1;
  for (const { inputs, outputs } of transactions) {
    builder.add({ inputs: inputs.map((each, at) => ({ ...each, ...outpointOf(input + at) })), outputs });
    spent.add(inputs.map((each) => each.spent));
    for (const { items } of inputs) {
      for (const satOffset of items) held.push({ input, key: held.length, satOffset });
      input++;
    }
  }
  const block = builder.finish(height, new Uint8Array(32), 1_700_000_000, []);
  return blockOf(Uint8Array.from(block.bytes), Uint8Array.from(spent.finish()), held);
}

/**
 * Classes of the moves in a block, by the transaction's index. Transactions that cannot have sold anything have no
 * entry.
 */
export function classifiedBlock(block: MovedBlock): ReadonlyMap<number, ClassifiedMove[]> {
  return new Map(Array.from(tradingTransactions(block), (tx) => [tx.tx, classifyMoves(tx)]));
}

function outpointOf(serial: number): { txid: Uint8Array; vout: number } {
  const txid = Buffer.alloc(32, 1);
  txid.writeUInt32LE(serial);
  return { txid, vout: 0 };
}

function blockOf(
  bytes: Uint8Array<ArrayBuffer>,
  spent: Uint8Array<ArrayBuffer>,
  rows: readonly { input: number; key: number; satOffset: number }[],
): MovedBlock {
  const layout = new BlockLayout(roomForOnce(bytes.length));
  const fault = readLayout(bytes, layout);
  const parsed = parseBlock(bytes, { spent, fingerprintKey, layout });
  if (fault !== null || parsed.kind === 'broken') {
    throw new Error(parsed.kind === 'broken' ? parsed.message : 'a market makes whole blocks');
  }
  const columns = decodeBlockColumns(parsed.columns);
  const read = { block: bytes, spent, height: asHeight(height), network: 'regtest', fingerprintKey } as const;
  const opened = openFacts(facts, readFacts(facts, read, layout), { bytes, columns, spent });
  const { spentScripts, signatures } = opened;
  if (spentScripts == null || signatures === undefined) throw new Error('a market has spent outputs');
  const held: HeldInscriptions = {
    count: rows.length,
    input: Uint32Array.from(rows, ({ input }) => input),
    key: Int32Array.from(rows, ({ key }) => key),
    satOffset: Float64Array.from(rows, ({ satOffset }) => satOffset),
    id: new Uint8Array(36 * rows.length).map((_, at) => at % 251),
    curse: new Uint8Array(rows.length),
    height: new Int32Array(rows.length).fill(height - 1),
    step: new Uint32Array(rows.length),
  };
  const ledger = applyBlock({
    height: asHeight(height),
    network: networks.regtest,
    columns,
    block: bytes,
    fingerprintKey: expandFingerprintKey(fingerprintKey),
    hasSpent: true,
    anchored: true,
    counters: { nextKey: rows.length, sequence: rows.length, blessed: 0, cursed: 0, unbound: 0, lostSats: 0 },
    held,
  });
  return { bytes, columns, ledger, held, spent: spentScripts, signatures };
}
