/** A txid or block hash (32 bytes, internal order) as latin-1 text: what maps and sets are keyed by. */
export type HashKey = string;

export const hashKey = (hash: Uint8Array): HashKey =>
  Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('latin1');
export const hashOfKey = (key: HashKey): Buffer => Buffer.from(key, 'latin1');

/** A message of the node's `sequence` topic, with what has to be asked for about a block. */
export type MembershipMessage =
  | { readonly kind: 'added' | 'removed'; readonly txid: HashKey; readonly sequence: bigint }
  | { readonly kind: 'block-connected'; readonly hash: HashKey; readonly txids: Iterable<HashKey> }
  | { readonly kind: 'block-disconnected'; readonly hash: HashKey };

/** All of the mempool at one moment, as `getrawmempool false true` gives it. */
export interface MempoolSnapshot {
  readonly txids: ReadonlySet<HashKey>;
  /** The number that the next change will have. */
  readonly sequence: bigint;
}

/** Ids of a snapshot that are compared in one go, some milliseconds: a full mempool has 200,000. */
const joinedAtOnce = 4000;

/** What became of a transaction. `vanished`: it is not in a snapshot, and nobody said why. */
export type MembershipChange =
  | { readonly kind: 'entered'; readonly txid: HashKey }
  | { readonly kind: 'mined'; readonly txid: HashKey; readonly block: HashKey }
  | { readonly kind: 'removed' | 'vanished'; readonly txid: HashKey };

/**
 * Which transactions are in a node's mempool: a snapshot joined with the stream of changes. Pure; told in order, it is
 * exact (docs/mempool.md, "Joining the stream", has the argument).
 *
 * A snapshot has the number N of the change that comes next, so a change below N is in it already, and everything
 * before such a change in the stream is too. Blocks have no number. One that comes behind the last change below N was
 * connected either before the snapshot, and then none of its transactions can be in it, or after it: taking them out is
 * right both ways. One that comes before such a change is old, and may be undone since: what it took out is put back.
 */
export class Membership {
  readonly #members: Set<HashKey>;
  /** Null: no snapshot yet, or one that is too old; the stream has no meaning until the next. */
  #boundary: bigint | null = null;
  /** What blocks took out while a change below the boundary may still come; null: none can. */
  #takenOut: HashKey[] | null = null;
  /** Numbers from the boundary up to the last change that was told, less those that are accounted for. */
  #unaccounted = 0;
  #last = 0n;

  constructor(members: Iterable<HashKey> = []) {
    this.#members = new Set(members);
  }

  get size(): number {
    return this.#members.size;
  }

  /** Whether the stream can be told: from the first snapshot on, and not between a gap and the next. */
  get isJoined(): boolean {
    return this.#boundary !== null;
  }

  /**
   * How many changes were not told, above those of blocks: each change takes a number, those that blocks make too. Above 0
   * for good: messages were lost without a word. It may be above 0 in the midst of a reorganisation, and below 0 until a
   * block's changes are followed by one that is told.
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

  /** Messages were lost: what comes now means nothing until a snapshot that is asked for afterwards. */
  lose(): void {
    this.#boundary = null;
    this.#takenOut = null;
  }

  /**
   * Takes a snapshot: the changes that it makes, those among so many ids at a time, so that others may have their turn between. It is
   * joined once all were taken, and until then nothing may be told. All messages that come behind the one last told are to be told
   * afterwards, those from before it was taken too.
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

  /** Takes one message; the changes that it makes, in order. */
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
        // the node adds what it takes back by messages of their own
        break;
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
