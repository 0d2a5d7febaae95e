import { unreachable } from '#kernel/unreachable.ts';

/** A txid or block hash (32 bytes, internal order) as latin-1 text: the key of maps and sets. */
export type HashKey = string;

export const hashKey = (hash: Uint8Array): HashKey =>
  Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('latin1');
export const hashOfKey = (key: HashKey): Buffer => Buffer.from(key, 'latin1');

/** A message of the node's `sequence` topic, with the additional data of a block. */
export type MembershipMessage =
  | { readonly kind: 'added' | 'removed'; readonly txid: HashKey; readonly sequence: bigint }
  | { readonly kind: 'block-connected'; readonly hash: HashKey; readonly txids: Iterable<HashKey> }
  | { readonly kind: 'block-disconnected'; readonly hash: HashKey };

/** The whole mempool at one moment, as returned by `getrawmempool false true`. */
export interface MempoolSnapshot {
  readonly txids: ReadonlySet<HashKey>;
  /** The mempool sequence number that the next change will have. */
  readonly sequence: bigint;
}

/** Maximum number of snapshot ids compared in one go, which takes some milliseconds. A full mempool has 200,000 ids. */
const joinedAtOnce = 4000;

/** A change of a transaction. `vanished`: a snapshot lacks it, and no message gave the reason. */
export type MembershipChange =
  | { readonly kind: 'entered'; readonly txid: HashKey }
  | { readonly kind: 'mined'; readonly txid: HashKey; readonly block: HashKey }
  | { readonly kind: 'removed' | 'vanished'; readonly txid: HashKey };

/**
 * The transactions in a node's mempool: a snapshot joined with the stream of changes. Pure, and exact if messages are
 * passed in order (docs/mempool.md, "Joining the stream", has the argument).
 *
 * A snapshot has the number N of the next change. So it includes every change below N, and everything before such a
 * change in the stream. Blocks have no number. If a block comes after the last change below N, it was connected before
 * or after the snapshot. In the first case none of its transactions can be in the snapshot, so removing them is right
 * in both cases. If a block comes before such a change, it is old and may have been disconnected since, so its removals
 * are reversed.
 */
export class Membership {
  readonly #members: Set<HashKey>;
  /**
   * Sequence number of the snapshot. Null: there is no snapshot yet, or it is outdated; messages are then ignored until
   * the next snapshot.
   */
  #boundary: bigint | null = null;
  /**
   * Transactions that blocks removed while a change below the boundary may still come. Null: no such change can come.
   */
  #takenOut: HashKey[] | null = null;
  /** Number of missing changes between the boundary and the last received change. */
  #unaccounted = 0;
  #last = 0n;

  constructor(members: Iterable<HashKey> = []) {
    this.#members = new Set(members);
  }

  get size(): number {
    return this.#members.size;
  }

  /** Whether messages can be applied: true after the first snapshot, but false between a gap and the next snapshot. */
  get isJoined(): boolean {
    return this.#boundary !== null;
  }

  /**
   * The number of missing changes, except changes by blocks: every change takes a number, including changes by blocks.
   * If the number stays above 0, messages were lost silently. It may be above 0 in the middle of a reorganisation, and
   * below 0 until a message follows a block's changes.
   */
  get missing(): number {
    return this.#unaccounted;
  }

  has(txid: HashKey): boolean {
    return this.#members.has(txid);
  }

  txids(): Iterable<HashKey> {
    return this.#members;
  }

  /** Records that messages were lost. Later messages are ignored until a snapshot that is requested after this call. */
  lose(): void {
    this.#boundary = null;
    this.#takenOut = null;
  }

  /**
   * Takes a snapshot and yields its changes in groups of limited size, so that other tasks can run in between. The
   * snapshot is joined once all groups were consumed; until then no message may be passed. Afterwards pass all messages
   * that follow the last passed message, including messages from before the snapshot.
   */
  *join({ txids, sequence }: MempoolSnapshot): Generator<readonly MembershipChange[], void> {
    this.lose();
    let changes: MembershipChange[] = [];
    let seen = 0;
    for (const txid of this.#members) {
      if (!txids.has(txid)) {
        this.#members.delete(txid);
        changes.push({ kind: 'vanished', txid });
      }
      if (++seen % joinedAtOnce !== 0) continue;
      yield changes;
      changes = [];
    }
    for (const txid of txids) {
      this.#enter(txid, changes);
      if (++seen % joinedAtOnce !== 0) continue;
      yield changes;
      changes = [];
    }
    yield changes;
    this.#boundary = sequence;
    this.#last = sequence - 1n;
    this.#unaccounted = 0;
    this.#takenOut = [];
  }

  /** Applies one message. Returns its changes, in order. */
  tell(message: MembershipMessage): MembershipChange[] {
    const changes: MembershipChange[] = [];
    if (this.#boundary === null) return changes;
    switch (message.kind) {
      case 'added':
      case 'removed':
        this.#tellChange(message.kind, message.txid, message.sequence, changes);
        break;
      case 'block-connected':
        for (const txid of message.txids) {
          if (!this.#members.delete(txid)) continue;
          this.#takenOut?.push(txid);
          this.#unaccounted--;
          changes.push({ kind: 'mined', txid, block: message.hash });
        }
        break;
      case 'block-disconnected':
        // nothing to do: the node announces each transaction that it adds back from a disconnected block
        break;
      default:
        unreachable(message);
    }
    return changes;
  }

  #tellChange(kind: 'added' | 'removed', txid: HashKey, sequence: bigint, changes: MembershipChange[]): void {
    if (sequence < (this.#boundary as bigint)) {
      for (const taken of this.#takenOut ?? []) this.#enter(taken, changes);
      this.#unaccounted += this.#takenOut?.length ?? 0;
      if (this.#takenOut !== null) this.#takenOut = [];
      return;
    }
    this.#takenOut = null;
    this.#unaccounted += Number(sequence - this.#last) - 1;
    this.#last = sequence;
    if (kind === 'added') this.#enter(txid, changes);
    else if (this.#members.delete(txid)) changes.push({ kind: 'removed', txid });
  }

  #enter(txid: HashKey, changes: MembershipChange[]): void {
    if (this.#members.has(txid)) return;
    this.#members.add(txid);
    changes.push({ kind: 'entered', txid });
  }
}
