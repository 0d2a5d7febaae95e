import type { ClientBase } from 'pg';
import { mempoolState } from '#chain/pending/pending.queries.ts';
import { type PendingClaim, pendingClaims } from '#chain/pending/pending-runes.queries.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { unlockHeight } from '#kernel/runes/unlock-schedule.ts';
import { type EtchedBy, etchedNames } from './etched-by.queries.ts';
import { type RuneDetail, runeDetail } from './rune.queries.ts';

/** Everything that may prevent the etching of a name. */
export interface NameRivals {
  /** The rune that has the name. `null` if no block has etched the name. */
  readonly rune: Pick<EtchedBy, 'height'> | null;
  /** Height of the first block that may etch the name. `null` if the name is reserved. */
  readonly unlock: number | null;
  /** The first hundred pending transactions that etch the name. `null` if no mempool is followed. */
  readonly claims: readonly PendingClaim[] | null;
}

/** Like `NameRivals`, with all known data of the rune. */
export interface NameStanding extends NameRivals {
  readonly rune: RuneDetail | null;
}

/**
 * Like `NameStanding`, with the mempool revision at which it was read. The revision is `null` if no mempool is
 * followed.
 */
interface ReadNameStanding extends NameStanding {
  readonly revision: number | null;
}

/** Finds everything in the index and the mempool that prevents the etching of a name. Runes must be known. */
export async function nameRivals(
  client: ClientBase,
  network: NetworkParameters,
  name: Rune,
): Promise<NameRivals> {
  const rivals = await rivalsOfNames(client, network, [name]);
  return rivals(name);
}

/** Like `nameRivals`, for several names in three reads. */
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

/** The height of the first block that may etch a name. `null` if the name is reserved. */
function unlockOf(network: NetworkParameters, name: Rune): number | null {
  const unlock = unlockHeight(network, name);
  return unlock === null ? null : Math.max(unlock, network.firstRuneHeight);
}

/** The state of a name in the index and the mempool. Runes must be known (`requireRunes`). */
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

/** The revision of the mempool. `null` if no mempool is followed. */
export async function followedRevision(client: ClientBase): Promise<number | null> {
  const state = await mempoolState(client);
  return state?.isFollowed === true ? state.revision : null;
}
