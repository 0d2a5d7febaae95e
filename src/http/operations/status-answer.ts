import { type Static, Type } from 'typebox';
import type { CertainTotals, ChainCounts } from '#chain/blocks/block.queries.ts';
import { initialSyncMicroseconds } from '#chain/blocks/index-tip.queries.ts';
import { derivedTableReports } from '#chain/derived/derived-tables.queries.ts';
import { latestEventHashes } from '#chain/events/events.queries.ts';
import { hasAddressIndex } from '#chain/outputs/address.queries.ts';
import { mempoolState } from '#chain/pending/pending.queries.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { hasSatIndex } from '#chain/sats/sat-ranges.queries.ts';
import type { Operations, SearchServerReport } from '#http/server/operations.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Problem } from '#kernel/reports/health.ts';
import { runeLetters } from '#kernel/runes/rune.ts';
import { minimumRuneAt } from '#kernel/runes/unlock-schedule.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { readSealState, type SegmentKind } from '#search/segments/segments.ts';
import { type Standing, standingAt } from './chain-lag.ts';
import { followerState } from './readiness.ts';

const nullable = <Schema extends Type.TSchema>(schema: Schema): Type.TUnion<[Schema, Type.TNull]> =>
  Type.Union([schema, Type.Null()]);
const nullableInteger = nullable(Type.Integer());

const blockRef = Type.Object({ height: Type.Integer(), hash: Type.String() });
const problem = Type.Object({ code: Type.String(), message: Type.String(), since: Type.String() });

const cumulativeHash = Type.Object({
  version: Type.Integer(),
  height: Type.Integer(),
  blockHash: Type.String(),
  cumulative: Type.String(),
});
const derivedTable = Type.Object({
  name: Type.String(),
  /** The first height that the table covers. The table has every indexed block from this height to its tip. */
  fromHeight: Type.Integer(),
  /**
   * State of the table:
   * - `complete`: it has every block.
   * - `catching-up`: blocks that were indexed earlier are being added.
   * - `waiting`: adding blocks is delayed.
   * - `gap`: it has every indexed block, but blocks are missing in the index, so its data is unknown.
   * - `remaking`: it has every block, and is being rebuilt by newer rules. Blocks up to `tip` already follow the newer
   *   rules.
   */
  state: Type.Union([
    Type.Literal('complete'),
    Type.Literal('catching-up'),
    Type.Literal('waiting'),
    Type.Literal('gap'),
    Type.Literal('remaking'),
  ]),
  tip: nullable(blockRef),
  problem: nullable(problem),
});
const mempool = Type.Object({
  state: Type.String(),
  source: Type.String(),
  problem: nullable(Type.String()),
  transactions: Type.Integer(),
  kept: Type.Integer(),
  leftOut: Type.Integer(),
  /** Whether the node's mempool accepts reveals of inscriptions (docs/node.md). */
  reveals: Type.Union([Type.Literal('accepted'), Type.Literal('refused'), Type.Literal('untested')]),
});

/** The search for payments to watched scripts. `null` if no process searches for payments. */
const payments = Type.Object({
  /** The height up to which blocks were scanned. */
  height: Type.Integer(),
  /** The number of watched scripts. */
  watched: Type.Integer(),
});

const searchServer = Type.Object({
  /** The engine that answers searches while the search server cannot. */
  fallback: Type.String(),
  /** The kind of events that the search server's index consumes. */
  kind: Type.String(),
  /** The state of the search server's index: `loading`, `complete` or `undoing`. `null` if unknown. */
  state: nullable(Type.String()),
  tip: nullable(blockRef),
  lagBlocks: nullableInteger,
  lagSequence: nullableInteger,
  /** The reason why the search server cannot answer searches now. `null` if it can. */
  problem: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
});

/**
 * Totals of the chain. `null` if unknown because blocks are missing. ord's fields then count only inscriptions that are
 * certainly blessed or cursed.
 */
const totals = Type.Object({ blessed: nullableInteger, cursed: nullableInteger, lostSats: nullableInteger });

const ownObject = Type.Object({
  version: Type.String(),
  role: Type.String(),
  tip: nullable(blockRef),
  tipHash: nullable(Type.String()),
  blocks: Type.Integer(),
  islands: Type.Integer(),
  totals,
  /** The source that the index follows. `null` if no indexing process has reported yet. */
  source: nullable(
    Type.Object({
      name: Type.String(),
      state: Type.String(),
      tip: nullable(blockRef),
      problem: nullable(problem),
      updatedAt: Type.String(),
    }),
  ),
  lag: nullable(Type.Object({ blocks: Type.Integer(), seconds: Type.Integer() })),
  /** Problems of this process. */
  problems: Type.Array(problem),
  /** Parts of this process that do less than usual until the operator acts. */
  degraded: Type.Array(problem),
  /** Tables that are derived from blocks, and their progress (docs/runbook.md, "Derived tables"). */
  derivedTables: Type.Array(derivedTable),
  /**
   * Hashes over the events of all blocks, for each kind of events (docs/events.md). Instances with equal hashes have
   * equal events.
   */
  cumulativeHashes: Type.Record(Type.String(), nullable(cumulativeHash)),
  /** The state of the mempool. `null` if no process follows a mempool. */
  mempool: nullable(mempool),
  /** Payments to watched scripts (docs/payments.md). */
  payments: nullable(payments),
  search: Type.Object({
    engine: Type.String(),
    /** The search server. `null` if only Postgres answers searches. */
    server: nullable(searchServer),
    /** Numbers of unsealed rows. Each search scans these rows. */
    unsealed: Type.Object({
      contents: Type.Integer(),
      metadata: Type.Integer(),
      inscriptions: Type.Integer(),
    }),
  }),
});

const duration = Type.Object({ secs: Type.Integer(), nanos: Type.Integer() });

// Fields with ord's names. ord's own client reads them into a struct in which only `height` may be null (ADR 60).
const ordObject = Type.Object({
  address_index: Type.Boolean(),
  blessed_inscriptions: Type.Integer(),
  chain: Type.String(),
  cursed_inscriptions: Type.Integer(),
  height: nullableInteger,
  initial_sync_time: duration,
  inscription_index: Type.Literal(true),
  inscriptions: Type.Integer(),
  json_api: Type.Literal(true),
  lost_sats: Type.Integer(),
  /** The name with the lowest number that the next block may etch. */
  minimum_rune_for_next_block: Type.String(),
  /** Whether the runes of all indexed blocks are known. */
  rune_index: Type.Boolean(),
  /** The number of runes. It is 0 if `rune_index` is false, as on ord. */
  runes: Type.Integer(),
  sat_index: Type.Boolean(),
  started: Type.String(),
  transaction_index: Type.Literal(false),
  unrecoverably_reorged: Type.Literal(false),
  uptime: duration,
});

export const statusAnswer = Type.Object({ ...ordObject.properties, satscribe: ownObject });

/** The fields of ord's `/status`. */
export async function ordStatus(
  { client, tip }: Snapshot,
  inscriptions: number,
  { blessed, cursed, lostSats }: CertainTotals,
  { network, startedAt }: { readonly network: NetworkParameters; readonly startedAt: Date },
): Promise<Static<typeof ordObject>> {
  const { state: runeState, count: runes } = await runeStanding(client);
  const uptimeMs = Math.max(0, Date.now() - startedAt.getTime());
  return {
    address_index: await hasAddressIndex(client),
    blessed_inscriptions: blessed,
    // ord names testnet3 `testnet`, from the time when it was the only test network
    chain: network.name === 'testnet3' ? 'testnet' : network.name,
    cursed_inscriptions: cursed,
    height: tip?.height ?? null,
    initial_sync_time: durationOf(await initialSyncMicroseconds(client)),
    inscription_index: true,
    inscriptions,
    json_api: true,
    lost_sats: lostSats,
    minimum_rune_for_next_block: runeLetters(minimumRuneAt(network, tip === null ? 0 : tip.height + 1)),
    rune_index: runeState === 'known',
    runes,
    sat_index: await hasSatIndex(client),
    started: startedAt.toISOString(),
    transaction_index: false,
    // always false, because this server can undo reorganisations of any depth
    unrecoverably_reorged: false,
    uptime: durationOf(uptimeMs * 1000),
  };
}

/** A duration in the form that Rust's serde writes. */
function durationOf(microseconds: number): Static<typeof duration> {
  return { secs: Math.floor(microseconds / 1_000_000), nanos: (microseconds % 1_000_000) * 1000 };
}

/** This server's own fields: the tip, the source, the lag, problems, and the state of searches. */
export async function ownStatus(
  snapshot: Snapshot,
  { blocks, islands, blessed, cursed, lostSats }: ChainCounts,
  { version, role, health, searchServer: report }: Operations,
  eventKinds: readonly EventKindIdentity[],
): Promise<Static<typeof ownObject>> {
  const { client, tip } = snapshot;
  const standing = await standingAt(snapshot);
  const unsealed = await unsealedOf(client);
  return {
    version,
    role,
    tip: refOf(tip),
    tipHash: tip === null ? null : displayHash(tip.hash),
    blocks,
    islands,
    totals: { blessed, cursed, lostSats },
    source: sourceOf(standing),
    lag: standing.lag,
    problems: health.problems().map(shownProblem),
    degraded: health.degraded().map(shownProblem),
    derivedTables: await derivedTablesOf(client),
    cumulativeHashes: await cumulativeHashesOf(client, eventKinds),
    mempool: await mempoolOf(client),
    payments: await paymentsOf(client),
    search: {
      engine: report?.engine ?? 'postgres',
      server: report === undefined ? null : await searchServerOf(report),
      unsealed: {
        contents: unsealed.content,
        metadata: unsealed.metadata,
        inscriptions: unsealed.inscriptions,
      },
    },
  };
}

const shownProblem = ({ since, ...rest }: Problem): Static<typeof problem> => ({
  ...rest,
  since: since.toISOString(),
});

async function derivedTablesOf(client: Snapshot['client']): Promise<Static<typeof derivedTable>[]> {
  const reports = await derivedTableReports(client);
  const runes = await runeStanding(client);
  const followed = (name: string) => (name === 'runes' && runes.state === 'gap' ? 'gap' : 'complete');
  const unfinished = (isRemade: boolean) => (isRemade ? 'remaking' : 'catching-up');
  return reports.map(({ name, fromHeight, isComplete, isRemade, tip, problem: held }) => ({
    name,
    fromHeight,
    state: isComplete ? followed(name) : held === null ? unfinished(isRemade) : 'waiting',
    tip: refOf(tip),
    problem: held === null ? null : { ...held, since: held.since.toISOString() },
  }));
}

async function searchServerOf(report: SearchServerReport): Promise<Static<typeof searchServer>> {
  const { kind, marker, problem: unread, lagBlocks, lagSequence } = await report.standing();
  const shown = report.problem() ?? unread;
  return {
    fallback: report.fallback,
    kind,
    state: marker?.state ?? null,
    tip: marker?.tip ?? null,
    lagBlocks,
    lagSequence,
    problem: shown === null ? null : { code: shown.code, message: shown.message },
  };
}

async function cumulativeHashesOf(
  client: Snapshot['client'],
  kinds: readonly EventKindIdentity[],
): Promise<Static<typeof ownObject>['cumulativeHashes']> {
  const hashes: Record<string, Static<typeof cumulativeHash> | null> = {};
  for (const kind of kinds) {
    const latest = await latestEventHashes(client, kind);
    hashes[kind.name] =
      latest === null
        ? null
        : {
            version: kind.version,
            height: latest.height,
            blockHash: displayHash(latest.blockHash),
            cumulative: Buffer.from(latest.cumulative).toString('hex'),
          };
  }
  return hashes;
}

async function mempoolOf(client: Snapshot['client']): Promise<Static<typeof mempool> | null> {
  const found = await mempoolState(client);
  if (found === null) return null;
  const { state, source, problem: reason, transactions, kept, leftOut, reveals } = found;
  return { state, source, problem: reason, transactions, kept, leftOut, reveals };
}

async function paymentsOf(client: Snapshot['client']): Promise<Static<typeof payments> | null> {
  const offset = await readPaymentsOffset(client);
  return offset === null ? null : { height: offset.height, watched: offset.scripts };
}

/** Number of unsealed ids of each kind. */
export async function unsealedOf(client: Snapshot['client']): Promise<Readonly<Record<SegmentKind, number>>> {
  const { next, segments } = await readSealState(client);
  const left = (kind: SegmentKind): number => Math.max(0, next[kind] - (segments[kind].at(-1)?.nextId ?? 0));
  return {
    content: left('content'),
    metadata: left('metadata'),
    inscriptions: left('inscriptions'),
    lengths: left('lengths'),
  };
}

function sourceOf(standing: Standing): Static<typeof ownObject>['source'] {
  const { status } = standing;
  const state = followerState(standing);
  if (status === null || state === null) return null;
  const { source: name, sourceTip, problem: reported, updatedAt } = status;
  return {
    name,
    state,
    tip: refOf(sourceTip),
    problem: reported === null ? null : { ...reported, since: reported.since.toISOString() },
    updatedAt: updatedAt.toISOString(),
  };
}

function refOf(tip: BlockRef | null): Static<typeof blockRef> | null {
  return tip === null ? null : { height: tip.height, hash: displayHash(tip.hash) };
}
