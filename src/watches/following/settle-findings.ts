import type pg from 'pg';
import { readDepartedAmong, readPendingAmong } from '#chain/arrivals/pending-arrivals.queries.ts';
import {
  type FoundState,
  type KeptFinding,
  readPendingFindings,
  readPendingTxids,
} from '#watches/store/write-findings.ts';
import { canBePending, factsWhilePending } from './found-things.ts';

/**
 * The states of findings whose block is no longer in the chain. A finding whose transaction is back in the mempool is
 * pending.
 */
export async function statesAfterUndo(
  reader: pg.ClientBase,
  findings: readonly KeptFinding[],
): Promise<FoundState[]> {
  const pending = await readPendingAmong(reader, distinct(findings.map(({ txid }) => txid)));
  return findings.map(({ watchId, thing, txid, height, hash }) => {
    const isPending = canBePending(thing) && pending.has(txid.toString('hex'));
    return {
      watchId,
      thing,
      txid,
      facts: isPending ? factsWhilePending(thing) : {},
      replacedBy: null,
      state: isPending ? 'pending' : 'reorganised',
      block: height === null || hash === null ? null : { height, hash },
    };
  });
}

/**
 * How long a transaction may be missing from the mempool's tables before it counts as gone although the mempool does
 * not say why, in ms. The mempool decides the reason within three seconds.
 */
const missingMs = 10_000;

/** Finds pending findings whose transaction left the mempool without a block. */
export class LeavingFindings {
  /** Missing transactions, in hex, with the time when they were first missed. */
  readonly #missing = new Map<string, number>();

  /**
   * The states of findings that are no longer pending. Call it at a moment when all blocks of the moment were matched.
   *
   * @param client sees the stored findings; `reader` sees the mempool's tables at one moment
   * @param hasAll whether the mempool's tables leave no transaction out for lack of room
   */
  async statesAt(
    client: pg.ClientBase,
    reader: pg.ClientBase,
    { now, hasAll }: { readonly now: number; readonly hasAll: boolean },
  ): Promise<FoundState[]> {
    const txids = await readPendingTxids(client);
    const pending = await readPendingAmong(reader, txids);
    const missing = txids.filter((txid) => !pending.has(txid.toString('hex')));
    const departed = await readDepartedAmong(reader, missing);
    const left = missing.filter(
      (txid) => departed.has(txid.toString('hex')) || this.#isGone(txid, now, hasAll),
    );
    this.#forget(missing, left);
    if (left.length === 0) return [];
    return (await readPendingFindings(client, left)).map(({ watchId, thing, txid }) => ({
      watchId,
      thing,
      txid,
      facts: {},
      state: 'replaced',
      block: null,
      replacedBy: departed.get(txid.toString('hex')) ?? null,
    }));
  }

  /** Whether any transaction is missing, so that its finding must be looked at again soon. */
  get hasMissing(): boolean {
    return this.#missing.size > 0;
  }

  #isGone(txid: Buffer, now: number, hasAll: boolean): boolean {
    const key = txid.toString('hex');
    const since = this.#missing.get(key) ?? now;
    this.#missing.set(key, since);
    return hasAll && now - since >= missingMs;
  }

  /** Forgets transactions that are pending again, or that are settled. */
  #forget(missing: readonly Buffer[], left: readonly Buffer[]): void {
    const kept = new Set(missing.map((txid) => txid.toString('hex')));
    for (const txid of left) kept.delete(txid.toString('hex'));
    for (const key of this.#missing.keys()) if (!kept.has(key)) this.#missing.delete(key);
  }
}

const distinct = (txids: readonly Buffer[]): Buffer[] => [
  ...new Map(txids.map((txid) => [txid.toString('hex'), txid])).values(),
];
