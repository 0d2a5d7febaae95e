import { decodeFlowColumns } from '#indexer/facts/flow-columns.ts';
import { readFacts } from '#indexer/facts/read-facts.ts';
import { applySats, type SatBlock, type SatChanges } from '#indexer/ledger/sats/apply-sats.ts';
import { OutputNames, outpointsAsked } from '#indexer/ledger/sats/outpoint-name.ts';
import { type HeldSats, SatState, type SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import { decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { asHeight } from '#kernel/primitives/height.ts';

export interface FedSats {
  readonly height: number;
  readonly bytes: Uint8Array;
  readonly spent: Uint8Array | null;
}

export type Pairs = readonly (readonly [start: number, end: number])[];

const fingerprintKey = new Uint8Array(32).fill(7);
const layout = new BlockLayout();
const names = new OutputNames();
const lostOutpoint = `${'0'.repeat(64)}:4294967295`;

/** A block as its worker and the writer read it. */
export function satBlock({ height, bytes, spent }: FedSats, isUnchecked = false): SatBlock {
  const broken = readLayout(bytes, layout);
  const parsed = parseBlock(bytes, { spent, fingerprintKey, layout });
  if (broken !== null || parsed.kind === 'broken') throw new Error('the block cannot be read');
  const of = { block: bytes, spent, height: asHeight(height), network: 'regtest', fingerprintKey } as const;
  const flow = readFacts(new Set(['coin-flow']), of, layout).get('coin-flow');
  if (flow === undefined) throw new Error('the flow was not read');
  const columns = decodeBlockColumns(parsed.columns);
  const decoded = decodeFlowColumns(flow);
  const asked = outpointsAsked(bytes, decoded, columns.txFirstInput[1]!);
  return { height: asHeight(height), columns, flow: decoded, asked, isUnchecked };
}

/** `<txid>:<vout>` of an outpoint's 36 bytes. */
export function shownName(name: string): string {
  const bytes = Buffer.from(name, 'latin1');
  return `${Buffer.from(bytes.subarray(0, 32)).reverse().toString('hex')}:${bytes.readUInt32LE(32)}`;
}

export function pairsOf({ pairs, first, count }: Pick<HeldSats, 'pairs' | 'first' | 'count'>): Pairs {
  return Array.from({ length: count }, (_, at) => [pairs[(first + at) * 2]!, pairs[(first + at) * 2 + 1]!]);
}

/** Sats in memory: what the ledger gives, block by block or in batches, and the way back. */
export class SatStore {
  readonly unspent = new Map<string, HeldSats>();
  readonly blocks: SatChanges[] = [];
  /** Of each block, 32 bytes for each transaction. */
  readonly #txids: Uint8Array[] = [];
  totals: SatTotals = { lostSats: 0, replacedSats: 0 };

  apply(blocks: readonly FedSats[], isUnchecked = false): void {
    const read = blocks.map((block) => satBlock(block, isUnchecked));
    const state = new SatState(this.totals);
    for (const block of read) {
      const { spent, replaced } = block.asked;
      for (const name of [...spent, ...replaced]) {
        const held = this.unspent.get(name);
        if (held !== undefined) state.learn(name, held);
      }
    }
    const changes = read.map((block) => applySats(block, state));
    for (const { spent } of changes) for (const { name } of spent) this.unspent.delete(name);
    for (const [name, held] of state.left()) this.unspent.set(name, held);
    this.blocks.push(...changes);
    this.#txids.push(...read.map(({ flow }) => flow.txid));
    this.totals = changes.at(-1)?.after ?? this.totals;
  }

  undo(): void {
    const last = this.blocks.pop();
    this.#txids.pop();
    if (last === undefined) throw new Error('there is no block');
    for (const [name, { height }] of this.unspent) if (height === last.height) this.unspent.delete(name);
    for (const { name, held } of last.spent) this.unspent.set(name, held);
    this.totals = last.before;
  }

  /** The ranges of every unspent output with a value, by outpoint. */
  ranges(): Record<string, Pairs> {
    return Object.fromEntries(
      [...this.unspent].map(([name, held]): [string, Pairs] => [shownName(name), pairsOf(held)]),
    );
  }

  lost(): Pairs {
    return this.blocks.flatMap(({ pairs, firstLost, lostCount }) =>
      pairsOf({ pairs, first: firstLost, count: lostCount }),
    );
  }

  /** `<txid>:<vout>:<offset>` of every sat that is not common, by its number; lost ones are in the null outpoint. */
  rare(): Map<number, string> {
    const places = new Map<number, string>();
    for (const [at, { rare }] of this.blocks.entries()) {
      for (const { sat, tx, vout, offset } of rare) {
        names.enter(this.#txids[at]!, (tx ?? 0) * 32);
        const output = tx === null ? lostOutpoint : shownName(names.of(vout));
        places.set(sat, `${output}:${offset}`);
      }
    }
    return places;
  }
}
