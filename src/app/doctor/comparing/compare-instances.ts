import type { ClientBase, Pool } from 'pg';
import { eventHashes, eventText, latestEventHashes } from '#chain/events/events.queries.ts';
import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import { storedRuneKind } from '#chain/events/rune-texts.queries.ts';
import type { StoredEventKind } from '#chain/events/stored-event-kind.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { type NetworkParameters, networks } from '#kernel/primitives/network.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { networkOf, openDatabase } from '#src/app/database/database.ts';
import { firstDifference, firstLineDifference, type LineDifference } from './first-difference.ts';
import { type OtherHashes, OtherInstance } from './other-instance.ts';

const kinds: Readonly<Record<'inscriptions' | 'runes', StoredEventKind>> = {
  inscriptions: storedInscriptionKind,
  runes: storedRuneKind,
};

/** The hashes of a block on one of the two instances. */
interface BlockHashes {
  readonly blockHash: string;
  readonly sha256: string;
}

/** The first block whose hashes differ. */
interface Difference {
  readonly height: number;
  readonly here: BlockHashes;
  readonly there: BlockHashes;
  /** False if the instances follow different branches. Then neither instance is wrong. */
  readonly isSameBlock: boolean;
  /** The first line that differs. `null` if one instance does not return the text. */
  readonly line: LineDifference | null;
}

interface Comparison {
  readonly from: number;
  readonly to: number;
  readonly difference: Difference | null;
}

/**
 * Finds and prints the first block whose events of a kind differ from the events of another instance. Throws
 * `index_differs` if there is such a block, `nothing_indexed` if no block is indexed, and `history_incomplete` if an
 * instance has no hashes to compare.
 */
export async function compareWithOther(
  context: CommandContext,
  kindName: 'inscriptions' | 'runes',
  address: URL,
): Promise<void> {
  const kind = kinds[kindName];
  const database = await openDatabase(context, 'existing');
  const name = await networkOf(database);
  if (name === null)
    throw new AppError('nothing_indexed', 'There is nothing to compare, because no block is indexed.');
  const index = { pool: database.readers, network: networks[name], kind };
  const { from, to, difference } = await context.lifecycle.run('doctor', (signal) =>
    compare(index, new OtherInstance(address, signal)),
  );
  const verdict = difference === null ? 'equal' : 'different';
  await context.print(`${JSON.stringify({ kind: kind.name, verdict, from, to, difference })}\n`);
  if (difference === null) return;
  const message = `The events of ${kind.name} differ from block ${difference.height} on.`;
  throw new AppError('index_differs', message, { height: difference.height });
}

interface Index {
  readonly pool: Pool;
  readonly network: NetworkParameters;
  readonly kind: StoredEventKind;
}

async function compare(index: Index, other: OtherInstance): Promise<Comparison> {
  const { pool, kind } = index;
  const from = kind.firstHeight(index.network);
  const last = await withSnapshot(pool, ({ client }) => latestEventHashes(client, kind), null);
  const otherLast = await other.hashes(kind, null);
  const to = Math.min(last?.height ?? -1, otherLast?.height ?? -1);
  if (to < from) {
    const where = last === null ? 'here' : 'on the other instance';
    throw new AppError(
      'history_incomplete',
      `There are no hashes of ${kind.name} ${where} to compare, because they begin at height ${from}.`,
    );
  }
  const pairs = new Map<number, readonly [OtherHashes, OtherHashes]>();
  const height = await firstDifference(from, to, async (at) => {
    // each read uses its own snapshot, so no transaction stays open while the other instance answers
    const here = await withSnapshot(pool, ({ client }) => hashesHere(client, kind, at), null);
    const there = await other.hashes(kind, at);
    if (here === null || there === null)
      throw new AppError(
        'history_incomplete',
        `There are no hashes of ${kind.name} at height ${at} to compare.`,
      );
    pairs.set(at, [here, there]);
    return here.cumulative !== there.cumulative;
  });
  const pair = height === null ? undefined : pairs.get(height);
  if (height === null || pair === undefined) return { from, to, difference: null };
  const [here, there] = pair;
  const isSameBlock = here.blockHash === there.blockHash;
  const line = await lineOf(index, other, height);
  return { from, to, difference: { height, here: shown(here), there: shown(there), isSameBlock, line } };
}

const shown = ({ blockHash, sha256 }: OtherHashes): BlockHashes => ({ blockHash, sha256 });

async function lineOf(
  { pool, network, kind }: Index,
  other: OtherInstance,
  height: number,
): Promise<LineDifference | null> {
  const here = await withSnapshot(
    pool,
    ({ client }) => eventText(client, kind, network.name, asHeight(height)),
    null,
  );
  const there = await other.text(kind, height);
  return here === null || there === null ? null : firstLineDifference(here.toString('latin1'), there);
}

async function hashesHere(
  client: ClientBase,
  kind: StoredEventKind,
  height: number,
): Promise<OtherHashes | null> {
  const [found] = await eventHashes(client, kind, asHeight(height), 1);
  if (found === undefined || found.height !== height) return null;
  return {
    height,
    blockHash: displayHash(found.blockHash),
    sha256: Buffer.from(found.sha256).toString('hex'),
    cumulative: Buffer.from(found.cumulative).toString('hex'),
  };
}
