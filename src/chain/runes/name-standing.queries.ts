import type { ClientBase } from 'pg';
import { mempoolState } from '#chain/pending/pending.queries.ts';
import { type PendingClaim, pendingClaims } from '#chain/pending/pending-runes.queries.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { unlockHeight } from '#kernel/runes/unlock-schedule.ts';
import { type RuneDetail, runeDetail } from './rune.queries.ts';

/** Facts that keep a name from being etched. */
export interface NameStanding {
  /** The rune that has it; null: no block has etched it. */
  readonly rune: RuneDetail | null;
  /** The first block that may etch it; null: it is reserved, and no block may. */
  readonly unlock: number | null;
  /** Pending transactions that etch it, the first hundred; null: no mempool is followed. */
  readonly claims: readonly PendingClaim[] | null;
}

/** The same, with the revision of the mempool that it was read at; null: none is followed. */
interface ReadNameStanding extends NameStanding {
  readonly revision: number | null;
}

/** The standing of a name in the index and the mempool. Runes must be known (`requireRunes`). */
export async function nameStanding(
  client: ClientBase,
  network: NetworkParameters,
  name: Rune,
): Promise<ReadNameStanding> {
  const unlock = unlockHeight(network, name);
  const revision = await followedRevision(client);
  return {
    rune: await runeDetail(client, { kind: 'rune', rune: name }),
    unlock: unlock === null ? null : Math.max(unlock, network.firstRuneHeight),
    claims: revision === null ? null : await pendingClaims(client, name),
    revision,
  };
}

/** The revision of the mempool; null: none is followed. */
export async function followedRevision(client: ClientBase): Promise<number | null> {
  const state = await mempoolState(client);
  return state?.isFollowed === true ? state.revision : null;
}
