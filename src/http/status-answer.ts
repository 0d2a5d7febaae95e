import { type Static, Type } from 'typebox';
import type { ChainCounts } from '#chain/block.queries.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { readSealState, type SegmentKind } from '#search/segments.ts';
import type { Operations } from './operations.ts';
import { type Standing, standingAt } from './standing.ts';

const nullable = <Schema extends Type.TSchema>(schema: Schema): Type.TUnion<[Schema, Type.TNull]> =>
  Type.Union([schema, Type.Null()]);
const nullableInteger = nullable(Type.Integer());

const blockRef = Type.Object({ height: Type.Integer(), hash: Type.String() });
const problem = Type.Object({ code: Type.String(), message: Type.String(), since: Type.String() });

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
  search: Type.Object({
    engine: Type.String(),
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
export function ordStatus(
  tip: Tip | null,
  { inscriptions, blessed, cursed, lostSats }: ChainCounts,
  network: NetworkParameters,
  startedAt: Date,
): Static<typeof ordObject> {
  const uptimeMs = Math.max(0, Date.now() - startedAt.getTime());
  return {
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
  { version, role, health }: Operations,
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
    search: {
      engine: 'postgres',
      unsealed: {
        contents: unsealed.content,
        metadata: unsealed.metadata,
        inscriptions: unsealed.inscriptions,
      },
    },
  };
}

/** How many ids of each kind are not in a segment yet. */
export async function unsealedOf(client: Snapshot['client']): Promise<Readonly<Record<SegmentKind, number>>> {
  const { next, segments } = await readSealState(client);
  const left = (kind: SegmentKind): number => Math.max(0, next[kind] - (segments[kind].at(-1)?.nextId ?? 0));
  return { content: left('content'), metadata: left('metadata'), inscriptions: left('inscriptions') };
}

function sourceOf({ status }: Standing): Static<typeof ownObject>['source'] {
  if (status === null) return null;
  const { source: name, state, sourceTip, problem: reported, updatedAt } = status;
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
