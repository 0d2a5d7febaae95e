import { type Static, Type } from 'typebox';
import type { ChainCounts } from '#chain/blocks/block.queries.ts';
import { derivedTableReports } from '#chain/derived/derived-tables.queries.ts';
import { latestEventHashes } from '#chain/events/events.queries.ts';
import { hasAddressIndex } from '#chain/outputs/address.queries.ts';
import { mempoolState } from '#chain/pending/pending.queries.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { readSealState, type SegmentKind } from '#search/segments/segments.ts';
import { type Standing, standingAt } from './chain-lag.ts';
import type { Operations, SearchServerReport } from './operations.ts';
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
  /** It has what every indexed block from here on did, up to its tip. */
  fromHeight: Type.Integer(),
  /** `complete`: it has every block. `catching-up`: it is made for blocks that were indexed before. `waiting`: that is held up. */
  state: Type.Union([Type.Literal('complete'), Type.Literal('catching-up'), Type.Literal('waiting')]),
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
  /** Whether the node's mempool takes reveals of inscriptions (docs/node.md). */
  reveals: Type.Union([Type.Literal('accepted'), Type.Literal('refused'), Type.Literal('untested')]),
});

/** Null: no process looks for payments. */
const payments = Type.Object({
  /** Blocks up to here were looked at. */
  height: Type.Integer(),
  /** Scripts that are watched. */
  watched: Type.Integer(),
});

const searchServer = Type.Object({
  /** Who answers while it cannot. */
  fallback: Type.String(),
  /** Of the events that its index takes in. */
  kind: Type.String(),
  /** Of its index: `loading`, `complete`, `undoing`; null: not known. */
  state: nullable(Type.String()),
  tip: nullable(blockRef),
  lagBlocks: nullableInteger,
  lagSequence: nullableInteger,
  /** Why it does not answer searches now. */
  problem: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
});

const ownObject = Type.Object({
  version: Type.String(),
  role: Type.String(),
  tip: nullable(blockRef),
  tipHash: nullable(Type.String()),
  blocks: Type.Integer(),
  islands: Type.Integer(),
  /** What the index follows; null: no process that indexes has said anything. */
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
  /** Of this process. */
  problems: Type.Array(problem),
  /** Tables that are made of what blocks do, and how far each is (docs/operating.md). */
  derivedTables: Type.Array(derivedTable),
  /** Over the events of all blocks, by their kind (docs/events.md): two instances with the same are the same. */
  cumulativeHashes: Type.Record(Type.String(), nullable(cumulativeHash)),
  /** Null: no process follows one. */
  mempool: nullable(mempool),
  /** Payments to watched scripts (docs/payments.md). */
  payments: nullable(payments),
  search: Type.Object({
    engine: Type.String(),
    /** Of a search server; null: Postgres answers searches alone. */
    server: nullable(searchServer),
    /** What is not sealed is scanned by each search. */
    unsealed: Type.Object({
      contents: Type.Integer(),
      metadata: Type.Integer(),
      inscriptions: Type.Integer(),
    }),
  }),
});

// ord's keys, as ord names them; docs/http.md lists those that have no source here
const ordObject = Type.Object({
  address_index: Type.Boolean(),
  blessed_inscriptions: nullableInteger,
  chain: Type.String(),
  cursed_inscriptions: nullableInteger,
  height: nullableInteger,
  inscription_index: Type.Literal(true),
  inscriptions: Type.Integer(),
  json_api: Type.Literal(true),
  lost_sats: nullableInteger,
  rune_index: Type.Literal(false),
  sat_index: Type.Literal(false),
  started: Type.String(),
  transaction_index: Type.Literal(false),
  unrecoverably_reorged: Type.Literal(false),
  uptime: Type.Object({ secs: Type.Integer(), nanos: Type.Integer() }),
});

export const statusAnswer = Type.Object({ ...ordObject.properties, satscribe: ownObject });

/** What ord says of its index, as far as it is true of this one. */
export async function ordStatus(
  { client, tip }: Snapshot,
  { inscriptions, blessed, cursed, lostSats }: ChainCounts,
  network: NetworkParameters,
  startedAt: Date,
): Promise<Static<typeof ordObject>> {
  const uptimeMs = Math.max(0, Date.now() - startedAt.getTime());
  return {
    address_index: await hasAddressIndex(client),
    blessed_inscriptions: blessed,
    // ord calls the third test network by the name it had when it was the only one
    chain: network.name === 'testnet3' ? 'testnet' : network.name,
    cursed_inscriptions: cursed,
    height: tip?.height ?? null,
    inscription_index: true,
    inscriptions,
    json_api: true,
    lost_sats: lostSats,
    rune_index: false,
    sat_index: false,
    started: startedAt.toISOString(),
    transaction_index: false,
    // any depth is gone back
    unrecoverably_reorged: false,
    uptime: { secs: Math.floor(uptimeMs / 1000), nanos: (uptimeMs % 1000) * 1_000_000 },
  };
}

/** What is ours: the tip, what is followed, the lag, the problems, the state of searches. */
export async function ownStatus(
  snapshot: Snapshot,
  { blocks, islands }: ChainCounts,
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
    source: sourceOf(standing),
    lag: standing.lag,
    problems: health.problems().map(({ since, ...rest }) => ({ ...rest, since: since.toISOString() })),
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

async function derivedTablesOf(client: Snapshot['client']): Promise<Static<typeof derivedTable>[]> {
  const reports = await derivedTableReports(client);
  return reports.map(({ name, fromHeight, isComplete, tip, problem: held }) => ({
    name,
    fromHeight,
    state: isComplete ? 'complete' : held === null ? 'catching-up' : 'waiting',
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

/** How many ids of each kind are not in a segment yet. */
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
