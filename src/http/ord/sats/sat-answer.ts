import type { ClientBase } from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { inscriptionIds } from '#chain/inscriptions/inscription.queries.ts';
import { currentLocations, type Location } from '#chain/inscriptions/location.queries.ts';
import { inscriptionsOnSat, type RareSatPlace, rareSatPlace } from '#chain/sats/sat.queries.ts';
import { hasSatIndex } from '#chain/sats/sat-ranges.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { idText } from '#http/ord/answers/answers.ts';
import type { Outputs } from '#http/ord/outputs/outputs.ts';
import type { NodeCalls } from '#http/ord/sources/node-calls.ts';
import { nodeBlockHash, nodeHeader } from '#http/ord/sources/node-questions.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { charmNames } from '#kernel/primitives/charm.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { satCharms, satNotations, satStanding } from '#kernel/sats/notation.ts';
import type { Sat } from '#kernel/sats/sat.ts';

/** Data of a sat that only an index of sats has. */
interface SatWhereabouts {
  readonly address: string | null;
  readonly inscriptions: readonly string[];
  readonly satpoint: string | null;
}

/** The response of ord without a sat index. It has no table of sats to read. */
const withoutIndex: SatWhereabouts = { address: null, inscriptions: [], satpoint: null };
/** Maximum number of inscriptions on one sat in a response. They are 14 MB of text. ord has no maximum. */
const inscriptionsMax = 200_000;

/** Checks that there is an index of sats. Throws `not_found` with ord's message. */
export async function requireSatIndex(client: ClientBase): Promise<void> {
  if (!(await hasSatIndex(client))) throw new AppError('not_found', 'sat index required');
}

/** How long ord expects a block to take, in seconds. */
const blockSeconds = 600;

/** The time of the block that mines a sat. `expected` means that the block does not exist yet. */
interface MiningTime {
  readonly tip: Tip | null;
  /** Time in Unix seconds. `null` if neither the index nor a node has the block. */
  readonly time: number | null;
  readonly source: 'index' | 'node' | 'expected';
}

/** The data of a sat. */
export interface SatFacts extends MiningTime {
  readonly sat: Sat;
  /** The address, inscriptions and location of the sat. `null` if there is no index of sats. */
  readonly whereabouts: SatWhereabouts | null;
}

export async function satFacts(
  deps: AppDependencies,
  node: NodeCalls | null,
  outputs: Outputs,
  sat: Sat,
  asker: Asker,
): Promise<SatFacts> {
  const { height } = satStanding(sat);
  const mined = await miningTime(deps, node?.of(asker) ?? null, height, asker.signal);
  const known = await withSnapshot(deps.pool, ({ client }) => knownPlace(client, sat), asker.signal);
  const whereabouts = known === null ? null : await whereaboutsOf(known, deps, outputs, asker);
  return { sat, ...mined, whereabouts };
}

interface KnownPlace {
  readonly inscriptions: readonly string[];
  /** The index entry of a sat that is not common. */
  readonly rare: RareSatPlace | null;
  /** Location of the first inscription on a common sat. */
  readonly location: Location | null;
}

/** The known location of a sat. `null` if there is no index of sats. */
async function knownPlace(client: ClientBase, sat: Sat): Promise<KnownPlace | null> {
  if (!(await hasSatIndex(client))) return null;
  const keys = await inscriptionsOnSat(client, sat, { first: 0, limit: inscriptionsMax + 1 });
  if (keys.length > inscriptionsMax)
    throw new AppError('address_too_large', `more than ${inscriptionsMax} inscriptions are on the sat`);
  const inscriptions = (await inscriptionIds(client, keys)).map(idText);
  const rare = await rareSatPlace(client, sat);
  const [first] = keys;
  const locations = rare !== null || first === undefined ? null : await currentLocations(client, [first]);
  return { inscriptions, rare, location: (first === undefined ? null : locations?.get(first)) ?? null };
}

async function whereaboutsOf(
  { inscriptions, rare, location }: KnownPlace,
  { network }: AppDependencies,
  outputs: Outputs,
  asker: Asker,
): Promise<SatWhereabouts> {
  if (rare === null) {
    const script = location?.script ?? null;
    const address = script === null ? null : scriptToAddress(script, network);
    return { address, inscriptions, satpoint: location?.satpoint ?? null };
  }
  const address = rare.output === null ? null : await outputs.addressOf(rare.output, asker);
  return { address, inscriptions, satpoint: rare.satpoint };
}

/** The JSON of `/sat`, with ord's fields in ord's order. */
export function satJson({ sat, whereabouts: found, time: timestamp }: SatFacts): string {
  const whereabouts = found ?? withoutIndex;
  const { name, decimal, degree, percentile } = satNotations(sat);
  const { height, offset, epoch, period, cycle, rarity } = satStanding(sat);
  return JSON.stringify({
    address: whereabouts.address,
    block: height,
    charms: charmNames(satCharms(sat)),
    cycle,
    decimal,
    degree,
    epoch,
    inscriptions: whereabouts.inscriptions,
    name,
    number: sat,
    offset,
    percentile,
    period,
    rarity,
    satpoint: whereabouts.satpoint,
    timestamp,
  });
}

async function miningTime(
  { pool, network }: AppDependencies,
  node: NodeRpc | null,
  height: Height,
  signal: AbortSignal,
): Promise<MiningTime> {
  const { tip, block } = await withSnapshot(
    pool,
    async (snapshot) => ({
      tip: snapshot.tip,
      block: await blockAt(snapshot.client, { kind: 'height', height }),
    }),
    signal,
  );
  if (block !== null) return { tip, time: block.time, source: 'index' };
  const highest = tip?.height ?? 0;
  if (height > highest)
    return { tip, time: expectedTime(network.name, height - highest), source: 'expected' };
  // the index lacks the block, because it is below the first indexed block or in a gap
  return { tip, time: node === null ? null : await nodeTime(node, height), source: 'node' };
}

/**
 * The expected time of a future block, in Unix seconds. ord adds the expected duration to the current time. On regtest,
 * where blocks are mined on request, it adds the duration to 0 (the year 1970).
 */
function expectedTime(network: NetworkName, blocks: number): number {
  const now = network === 'regtest' ? 0 : Math.round(Date.now() / 1000);
  return now + blocks * blockSeconds;
}

async function nodeTime(node: NodeRpc, height: Height): Promise<number | null> {
  const hash = await nodeBlockHash(node, height);
  const header = hash === null ? null : await nodeHeader(node, hash);
  return header?.time ?? null;
}
