/** Shortest time between snapshots when polling. It is also at least ten times the duration of one. */
const pollMs = 2000;
const pollShare = 10;
/** A number that is missing this long is lost: a reorganisation sends its changes within one call. */
const missingMs = 5000;
/** Interval of snapshots, whatever the stream shows: they find losses that no number revealed. */
const snapshotEveryMs = 10 * 60_000;

/** The followed mempool: whether a snapshot joins the stream, and the number of changes lost since. */
interface Followed {
  readonly isJoined: boolean;
  readonly missing: number;
}

/** Clock for the next snapshot. */
export class SnapshotClock {
  firstAt = Date.now();
  #nextAt = 0;
  #missingSince: number | null = null;
  readonly #isPolling: boolean;

  constructor(isPolling: boolean) {
    this.#isPolling = isPolling;
  }

  isDue(session: Followed, now: number): boolean {
    if (session.missing <= 0) this.#missingSince = null;
    else this.#missingSince ??= now;
    if (this.#missingSince !== null && now - this.#missingSince > missingMs) return true;
    return !session.isJoined || now >= this.#nextAt;
  }

  /** Makes a snapshot due at once. */
  hurry(): void {
    this.#nextAt = 0;
  }

  taken(startedAt: number, endedAt: number): void {
    this.#missingSince = null;
    const between = this.#isPolling ? Math.max(pollMs, (endedAt - startedAt) * pollShare) : snapshotEveryMs;
    this.#nextAt = endedAt + between;
  }
}
