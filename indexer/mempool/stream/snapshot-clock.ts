/** Shortest time between snapshots when polling, in ms. It is also at least ten times the duration of a snapshot. */
const pollMs = 2000;
const pollShare = 10;
/** How long a number must be missing until it is lost, in ms. A reorganisation sends its changes within one call. */
const missingMs = 5000;
/** How often snapshots are taken whatever the stream shows, in ms. They find losses that no number revealed. */
const snapshotEveryMs = 10 * 60_000;

/** The followed mempool: whether a snapshot is joined with the stream, and the number of changes lost since. */
interface Followed {
  readonly isJoined: boolean;
  readonly missing: number;
}

/** Decides when the next snapshot is due. */
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

  /** Makes a snapshot due immediately. */
  hurry(): void {
    this.#nextAt = 0;
  }

  taken(startedAt: number, endedAt: number): void {
    this.#missingSince = null;
    const between = this.#isPolling ? Math.max(pollMs, (endedAt - startedAt) * pollShare) : snapshotEveryMs;
    this.#nextAt = endedAt + between;
  }
}
