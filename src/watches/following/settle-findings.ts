import type pg from 'pg';
import {
  readDepartedAmong,
  readMinedAmong,
  readPendingAmong,
} from '#chain/arrivals/pending-arrivals.queries.ts';
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
    const isPending = canBePending(thing) && pending.has(hexOf(txid));
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
/**
 * The same while the tables leave transactions out for lack of room, in ms. A missing transaction may still be in the
 * mempool then, but its finding must not be pending forever.
 */
const leftOutMs = 15 * 60_000;

/** Facts of a moment that decide whether a missing transaction has left. */
interface LeavingMoment {
  readonly now: number;
  /** Whether the mempool's tables leave no transaction out for lack of room. */
  readonly hasAll: boolean;
  /**
   * Whether all rows of the chain up to this moment were matched. False while a table of the index that a watch needs
   * is being filled, or is left out by the settings.
   */
  readonly isMatched: () => Promise<boolean>;
}

/** Finds pending findings whose transaction left the mempool, or was mined without the thing. */
export class LeavingFindings {
  /** Missing transactions that are in no known block, in hex, with the time when they were first missed. */
  #missing = new Map<string, number>();

  /**
   * The states of findings that are no longer pending, in pages. Call it at a moment when all blocks of the moment were
   * matched.
   *
   * @param client sees the stored findings; `reader` sees the mempool's tables at one moment
   */
  async *statesAt(
    client: pg.ClientBase,
    reader: pg.ClientBase,
    moment: LeavingMoment,
  ): AsyncGenerator<FoundState[]> {
    const txids = await readPendingTxids(client);
    const pending = await readPendingAmong(reader, txids);
    const missing = txids.filter((txid) => !pending.has(hexOf(txid)));
    const mined = await readMinedAmong(reader, missing);
    const departures = await readDepartedAmong(reader, missing);
    const unmined = missing.map(hexOf).filter((txid) => !mined.has(txid));
    this.#missing = new Map(unmined.map((txid) => [txid, this.#missing.get(txid) ?? moment.now]));
    if (missing.length === 0) return;
    const isMatched = mined.size > 0 && (await moment.isMatched());
    for await (const findings of readPendingFindings(client, missing)) {
      yield findings.flatMap((finding): FoundState[] => {
        const { watchId, thing, txid, changedAt } = finding;
        const found = { watchId, thing, txid, facts: {}, block: null };
        if (mined.has(hexOf(txid))) return isMatched ? [{ ...found, state: 'void', replacedBy: null }] : [];
        const last = departures.get(hexOf(txid)) ?? null;
        // a transaction may come back after it left, so an older departure says nothing
        const departure = last !== null && last.at > changedAt ? last : null;
        return departure !== null || this.#isLost(txid, moment)
          ? [{ ...found, state: 'replaced', replacedBy: departure?.by ?? null }]
          : [];
      });
    }
  }

  /** Whether any transaction is missing, so that its finding must be looked at again soon. */
  get hasMissing(): boolean {
    return this.#missing.size > 0;
  }

  /** Whether a transaction has been missing for so long that it counts as gone. */
  #isLost(txid: Uint8Array, { now, hasAll }: LeavingMoment): boolean {
    return now - (this.#missing.get(hexOf(txid)) ?? now) >= (hasAll ? missingMs : leftOutMs);
  }
}

const hexOf = (txid: Uint8Array): string => Buffer.from(txid).toString('hex');

const distinct = (txids: readonly Buffer[]): Buffer[] => [
  ...new Map(txids.map((txid) => [hexOf(txid), txid])).values(),
];
