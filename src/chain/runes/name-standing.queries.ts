import type { ClientBase } from 'pg';
import { mempoolState } from '#chain/pending/pending.queries.ts';
import { type PendingClaim, pendingClaims } from '#chain/pending/pending-runes.queries.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { unlockHeight } from '#kernel/runes/unlock-schedule.ts';
import { type EtchedBy, etchedNames } from './etched-by.queries.ts';
import { type RuneDetail, runeDetail } from './rune.queries.ts';

/** Facts that keep a name from being etched. */
export interface NameRivals {
  /** The rune that has it; null: no block has etched it. */
  readonly rune: Pick<EtchedBy, 'height'> | null;
  /** The first block that may etch it; null: the name is reserved. */
  readonly unlock: number | null;
  /** Pending transactions that etch it, the first hundred; null: no mempool is followed. */
  readonly claims: readonly PendingClaim[] | null;
}

/** The same, with all known facts of the rune. */
export interface NameStanding extends NameRivals {
  readonly rune: RuneDetail | null;
}

/** The same, with the revision of the mempool at which it was read; null: no mempool is followed. */
interface ReadNameStanding extends NameStanding {
  readonly revision: number | null;
}

/** Facts that keep a name from being etched, in the index and the mempool. Runes must be known. */
export async function nameRivals(
  client: ClientBase,
  network: NetworkParameters,
  name: Rune,
): Promise<NameRivals> {
  const rivals = await rivalsOfNames(client, network, [name]);
  return rivals(name);
}

/** The same of these names, in three reads for all. Returns the facts of each. */
export async function rivalsOfNames(
  client: ClientBase,
  network: NetworkParameters,
  names: readonly Rune[],
): Promise<(name: Rune) => NameRivals> {
  const isFollowed = (await followedRevision(client)) !== null;
  const etched = await etchedNames(client, names);
  const claims = isFollowed ? await pendingClaims(client, names) : null;
  return (name) => ({
    rune: etched.get(name) ?? null,
    unlock: unlockOf(network, name),
    claims: claims === null ? null : (claims.get(name) ?? []),
  });
}

/** The first block that may etch a name; null: it is reserved. */
function unlockOf(network: NetworkParameters, name: Rune): number | null {
  const unlock = unlockHeight(network, name);
  return unlock === null ? null : Math.max(unlock, network.firstRuneHeight);
}

/** The standing of a name in the index and the mempool. Runes must be known (`requireRunes`). */
export async function nameStanding(
  client: ClientBase,
  network: NetworkParameters,
  name: Rune,
): Promise<ReadNameStanding> {
  const revision = await followedRevision(client);
  return {
    rune: await runeDetail(client, { kind: 'rune', rune: name }),
    unlock: unlockOf(network, name),
    claims: revision === null ? null : ((await pendingClaims(client, [name])).get(name) ?? []),
    revision,
  };
}

/** The revision of the mempool; null: no mempool is followed. */
export async function followedRevision(client: ClientBase): Promise<number | null> {
  const state = await mempoolState(client);
  return state?.isFollowed === true ? state.revision : null;
}
