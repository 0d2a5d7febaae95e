import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { eventKinds } from '#indexer/derived/event-kinds.ts';
import type { EventKind } from '#indexer/events/event-kind.ts';
import { firstCumulative, nextCumulative } from '#kernel/events/cumulative-hash.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { inTurns } from './copy-tables.ts';

/** Blocks whose texts are rebuilt at once: some 24,000 events of the generated chain. */
const blocksPerStep = 8;

interface Step {
  readonly kind: EventKind;
  readonly from: Height;
  readonly to: Height;
}

export interface CheckedTexts {
  readonly events: number;
  /** Texts that have a hash. */
  readonly compared: number;
}

/**
 * Rebuilds the event texts of all blocks from the rows. Compares their hashes, and the cumulative hashes, with those of
 * `chain.event_hashes`. The repeated chain has gaps, so its blocks have no hash to compare: their texts are rebuilt all
 * the same. Throws an assertion for the first difference.
 */
export async function checkTexts(pool: pg.Pool, network: NetworkName): Promise<CheckedTexts> {
  const { rows: stored } = await pool.query<{
    kind: number;
    height: Height;
    sha256: Buffer;
    cumulative_sha256: Buffer;
  }>('SELECT kind, height, sha256, cumulative_sha256 FROM chain.event_hashes ORDER BY kind, height');
  const hashes = new Map(stored.map(({ kind, height, sha256 }) => [`${kind} ${height}`, sha256]));
  let [kindBefore, cumulative] = [-1, firstCumulative];
  for (const { kind, height, sha256, cumulative_sha256: expected } of stored) {
    if (kind !== kindBefore) [kindBefore, cumulative] = [kind, firstCumulative];
    cumulative = nextCumulative(cumulative, sha256);
    assert(expected.equals(cumulative), `the cumulative hash of kind ${kind} at height ${height} differs`);
  }
  const { rows: blocks } = await pool.query<{ height: Height }>(
    'SELECT height FROM chain.blocks ORDER BY height',
  );
  const steps = eventKinds.flatMap((kind) => stepsOf(kind, blocks));
  const done = { events: 0, compared: 0 };
  await inTurns(pool, steps, (client, { kind, from, to }) =>
    withTransaction(client, async (tx) => {
      for (const { ref, sha256, count } of await kind.readTexts(tx, network, { from, to, keep: false })) {
        done.events += count ?? 0;
        const expected = hashes.get(`${kind.number} ${ref.height}`);
        if (expected === undefined) continue;
        assert(expected.equals(sha256), `the text of ${kind.name} at height ${ref.height} differs`);
        done.compared++;
      }
    }),
  );
  assert.equal(done.compared, stored.length, 'each hash has a block');
  return done;
}

function stepsOf(kind: EventKind, blocks: readonly { height: Height }[]): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < blocks.length; at += blocksPerStep) {
    const [first, last] = [blocks[at], blocks[Math.min(at + blocksPerStep, blocks.length) - 1]];
    if (first !== undefined && last !== undefined) steps.push({ kind, from: first.height, to: last.height });
  }
  return steps;
}
