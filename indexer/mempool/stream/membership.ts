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

/** The whole mempool at one moment, as `getrawmempool false true` gives it. */
export interface MempoolSnapshot {
  readonly txids: ReadonlySet<HashKey>;
  /** The mempool sequence number of the next change. */
  readonly sequence: bigint;
}

/** Snapshot ids compared in one go, some milliseconds: a full mempool has 200,000. */
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
 * A snapshot has the number N of the next change, so it includes every change below N, and everything before such a
 * change in the stream. Blocks have no number. A block after the last change below N was connected either before the
 * snapshot, so none of its transactions can be in it, or after it: removing them is right both ways. A block before
 * such a change is old and may have been disconnected since: its removals are reversed.
 */
export class Membership {
  readonly #members: Set<HashKey>;
  /** Null: no snapshot yet, or an outdated one. Messages have no meaning until the next one. */
  #boundary: bigint | null = null;
  /**
   * Transactions that blocks removed while a change below the boundary may still come; null: no such change can come.
   */
  #takenOut: HashKey[] | null = null;
  /** Number of changes from the boundary up to the last received one that are not accounted for. */
  #unaccounted = 0;
  #last = 0n;

  constructor(members: Iterable<HashKey> = []) {
    this.#members = new Set(members);
  }

  get size(): number {
    return this.#members.size;
  }

  /** Whether messages can be applied: after the first snapshot, and not between a gap and the next snapshot. */
  get isJoined(): boolean {
    return this.#boundary !== null;
  }

  /**
   * The number of missing changes beyond those of blocks: each change takes a number, also those made by blocks. If it
   * stays above 0, messages were lost silently. It may be above 0 in the middle of a reorganisation, and below 0 until
   * a message follows a block's changes.
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

  /** Records that messages were lost: later ones have no meaning until a snapshot that is requested after this. */
  lose(): void {
    this.#boundary = null;
    this.#takenOut = null;
  }

  /**
   * Takes a snapshot and yields its changes in groups of limited size, so that other tasks can run in between. The
   * snapshot is joined once all were consumed; until then no message may be passed. Afterwards pass all messages that
   * follow the last one passed, including those from before the snapshot.
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

  /** Takes one message; returns its changes, in order. */
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
        // the node announces each transaction that it adds back from a disconnected block
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
